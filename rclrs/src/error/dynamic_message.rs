//! Errors of dynamic messages.

use super::RclrsError;
use std::error::Error;
use std::fmt;

/// An error of a message type that is known by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DynamicMessageError {
    /// No place has the package.
    RequiredPrefixNotSourced {
        /// The package that was not found.
        package: String,
    },
    /// The name of the type does not have the form `package/msg/Name`.
    InvalidMessageTypeSyntax {
        /// The name.
        input: String,
    },
    /// The package has no such message type; the log names both.
    InvalidMessageType,
    /// A message has another type than the operation expects.
    MessageTypeMismatch,
    /// The definition of the type is not valid, or a message does not fit it. In rclrs it is the
    /// error of a C library.
    LibraryLoadingError(InvalidDefinition),
}

/// The reason why a definition, or a message of it, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDefinition(String);

impl fmt::Display for InvalidDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for InvalidDefinition {}

impl DynamicMessageError {
    pub(crate) fn invalid(error: impl fmt::Display) -> Self {
        Self::LibraryLoadingError(InvalidDefinition(error.to_string()))
    }
}

impl fmt::Display for DynamicMessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RequiredPrefixNotSourced { package } => write!(
                f,
                "found no package {package:?}: source its workspace, or name the folder of \
                 packages by RINGSPIN_MESSAGES"
            ),
            Self::InvalidMessageTypeSyntax { input } => {
                write!(f, "invalid message type {input:?}: use the form package/msg/Name")
            }
            Self::InvalidMessageType => {
                f.write_str("the package has no such message type; the log names it")
            }
            Self::MessageTypeMismatch => {
                f.write_str("the message has another type; create it with the type of the topic")
            }
            Self::LibraryLoadingError(error) => error.fmt(f),
        }
    }
}

impl Error for DynamicMessageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::LibraryLoadingError(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DynamicMessageError> for RclrsError {
    fn from(err: DynamicMessageError) -> Self {
        Self::DynamicMessageError { err }
    }
}
