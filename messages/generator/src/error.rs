//! Errors in definitions, with file and line.

use crate::name::TypeName;
use thiserror::Error;

/// A definition that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{origin}:{line}: {problem}")]
pub struct DefinitionError {
    /// The file, or another name of the text.
    pub origin: String,
    /// The line, from one.
    pub line: usize,
    /// The cause.
    pub problem: Problem,
}

/// The reason why a definition is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// A line without a name.
    #[error("failed to parse `{0}`: no name after the type; write `type name`")]
    NoName(String),
    /// A name that is no identifier.
    #[error("invalid name `{0}`: use letters, digits and underscores, a letter first")]
    InvalidName(String),
    /// A type that is no name of one.
    #[error("invalid type `{0}`: use a primitive type, `Name` or `package/Name`")]
    InvalidType(String),
    /// An array or string without a valid bound.
    #[error("invalid bound in `{0}`: use a number from 1 to 4294967295")]
    InvalidBound(String),
    /// A value that is none of its type.
    #[error("invalid value `{text}` of type {ty}")]
    InvalidValue {
        /// The text of the value.
        text: String,
        /// The type.
        ty: String,
    },
    /// A name that two fields or two constants have.
    #[error("duplicate name `{0}`: rename one of its fields or constants")]
    DuplicateName(String),
    /// A constant whose type is no primitive one.
    #[error("constant `{0}` is no primitive value: use a number, `bool` or `string`")]
    InvalidConstant(String),
    /// A service or action without the right number of `---` lines.
    #[error("found {found} parts, but a {kind} has {expected}; separate them by lines `---`")]
    Parts {
        /// `service` or `action`.
        kind: &'static str,
        /// The number of parts of the text.
        found: usize,
        /// The number of parts of this kind.
        expected: usize,
    },
    /// A type without a definition.
    #[error("unknown type `{0}`: add the definition of its package")]
    UnknownType(TypeName),
    /// A type that contains itself.
    #[error("type `{0}` contains itself; a message cannot")]
    Cycle(TypeName),
    /// Messages that contain messages, deeper than allowed.
    #[error("type `{name}` is nested more than {depth_max} levels deep")]
    TooDeep {
        /// The type at the limit.
        name: TypeName,
        /// The limit.
        depth_max: usize,
    },
    /// A type that is defined twice, with different fields.
    #[error("type `{0}` is defined twice; remove one definition")]
    DuplicateType(TypeName),
    /// A section of a recording's definition that is no message.
    #[error("invalid section `{0}`: expected `MSG: package/Name`")]
    InvalidSection(String),
}

impl DefinitionError {
    pub(crate) fn new(origin: &str, line: usize, problem: Problem) -> Self {
        Self { origin: origin.into(), line, problem }
    }
}
