//! Parameter overrides: a value for a parameter of some nodes, and where it comes from.

use super::NodePattern;
use crate::base::parameter_value::ParameterValue;
use std::sync::Arc;

/// A value given from outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Override {
    pub(crate) nodes: Arc<NodePattern>,
    pub(crate) parameter: String,
    pub(crate) value: ParameterValue,
    /// The argument, or the path of the file with line and column, for error messages.
    pub(crate) origin: String,
}

impl Override {
    pub(crate) fn is_for(&self, full_name: &str, parameter: &str) -> bool {
        self.parameter == parameter && self.nodes.matches(full_name)
    }
}
