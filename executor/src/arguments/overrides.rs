//! Parameter overrides: a value for a parameter of some nodes, and where it comes from.

use super::NodePattern;
use crate::parameter_value::ParameterValue;
use std::fmt;
use std::sync::Arc;

/// A value given from outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Override {
    pub(crate) nodes: Arc<NodePattern>,
    pub(crate) parameter: String,
    pub(crate) value: ParameterValue,
    pub(crate) origin: Origin,
}

impl Override {
    pub(crate) fn is_for(&self, full_name: &str, parameter: &str) -> bool {
        self.parameter == parameter && self.nodes.matches(full_name)
    }
}

/// The origin of an override, for error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The argument, or the file's path.
    pub(crate) source: Arc<str>,
    /// Line and column in a file, from 1.
    pub(crate) position: Option<(usize, usize)>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        match self.position {
            None => Ok(()),
            Some((line, column)) => write!(f, ":{line}:{column}"),
        }
    }
}
