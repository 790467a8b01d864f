//! Errors of declarations and of sets.

use super::RclrsError;
use ringspin::ErrorKind;
use ringspin::parameter::RefusedByConstraint;
use std::error::Error;
use std::fmt;

/// The reason why a parameter was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValueError {
    /// The value is out of the range.
    OutOfRange,
    /// The parameter has another type.
    TypeMismatch,
    /// The parameter is read-only.
    ReadOnly,
    /// The [validation](crate::ParameterBuilder::validate) refused the value, for this reason.
    ValidationFailed(String),
}

impl ParameterValueError {
    /// The error for one of the graph.
    pub(crate) fn of(error: &ringspin::Error) -> Self {
        match (error.cause(), error.kind()) {
            (Some(RefusedByConstraint(reason)), _) => Self::ValidationFailed(reason.clone()),
            (None, ErrorKind::InvalidArgument) => Self::OutOfRange,
            (None, ErrorKind::TypeMismatch) => Self::TypeMismatch,
            (None, ErrorKind::InvalidState) => Self::ReadOnly,
            (None, _) => Self::ValidationFailed(error.to_string()),
        }
    }
}

impl fmt::Display for ParameterValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange => f.write_str("the value is out of the parameter's range"),
            Self::TypeMismatch => f.write_str("the parameter has another type than the value"),
            Self::ReadOnly => f.write_str("the parameter is read-only; override it at the start"),
            Self::ValidationFailed(reason) => write!(f, "the value was refused: {reason}"),
        }
    }
}

impl Error for ParameterValueError {}

/// The reason why a parameter was not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclarationError {
    /// The node has the parameter.
    AlreadyDeclared,
    /// A mandatory or read-only parameter has no default, no override and no prior value.
    NoValueAvailable,
    /// The override has another type.
    /// [`ignore_override`](crate::ParameterBuilder::ignore_override) avoids the error.
    OverrideValueTypeMismatch,
    /// The value that was set before the declaration has another type.
    /// [`discard_mismatching_prior_value`] avoids the error.
    ///
    /// [`discard_mismatching_prior_value`]:
    /// crate::ParameterBuilder::discard_mismatching_prior_value
    PriorValueTypeMismatch,
    /// The initial value is out of the range.
    InitialValueOutOfRange,
    /// The range is empty, or its step is not positive.
    InvalidRange,
    /// The [validation](crate::ParameterBuilder::validate) refused the initial value, for this
    /// reason. Also the error for an invalid name.
    InitialValueRejected(String),
}

impl DeclarationError {
    /// The error for one of the graph.
    pub(crate) fn of(error: &ringspin::Error) -> Self {
        match (error.cause(), error.kind()) {
            (Some(RefusedByConstraint(reason)), _) => Self::InitialValueRejected(reason.clone()),
            // Another thread was faster.
            (None, ErrorKind::AlreadyExists) => Self::AlreadyDeclared,
            (None, _) => Self::InitialValueRejected(error.to_string()),
        }
    }
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyDeclared => "the node has the parameter already",
            Self::NoValueAvailable => {
                "the parameter needs a value: give it a default, or an override such as \
                 `--ros-args -p name:=value`"
            }
            Self::OverrideValueTypeMismatch => "the override has another type than the parameter",
            Self::PriorValueTypeMismatch => {
                "the parameter was set before its declaration, to a value of another type"
            }
            Self::InitialValueOutOfRange => "the initial value is out of the parameter's range",
            Self::InvalidRange => "the range is empty, or its step is not positive",
            Self::InitialValueRejected(reason) => {
                return write!(f, "the initial value was refused: {reason}");
            }
        })
    }
}

impl Error for DeclarationError {}

impl From<DeclarationError> for RclrsError {
    fn from(error: DeclarationError) -> Self {
        Self::ParameterDeclarationError(error)
    }
}
