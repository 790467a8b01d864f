//! Errors of declaring and setting parameters.

use super::{PARAMETER_CHANGES_MAX, ParameterRange};
use crate::graph::AddError;
use crate::parameter_value::{ParameterType, ParameterValue};
use thiserror::Error;

/// The reason why a value is not one of a parameter.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParameterValueError {
    /// The value has another type than the parameter.
    #[error("node {node}: parameter `{parameter}` is of type {declared}, not {given}{hint}")]
    Type {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
        /// Its type.
        declared: ParameterType,
        /// The type of the value.
        given: ParameterType,
        /// Advice how to write a value of its type, for common mistakes.
        hint: &'static str,
    },
    /// The value is outside of the parameter's range.
    #[error("node {node}: parameter `{parameter}` cannot be {value}; use {range}")]
    OutOfRange {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
        /// The value.
        value: ParameterValue,
        /// The allowed values.
        range: ParameterRange,
    },
    /// The value is none of the parameter's choices.
    #[error("node {node}: parameter `{parameter}` cannot be {value}; use one of {choices}")]
    NotAChoice {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
        /// The value.
        value: ParameterValue,
        /// The allowed values.
        choices: String,
    },
    /// The parameter's constraint does not allow the value.
    #[error("node {node}: parameter `{parameter}` cannot be {value}: {reason}")]
    Rejected {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
        /// The value.
        value: ParameterValue,
        /// The message of the constraint.
        reason: String,
    },
}

/// A parameter that the node does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("node {node} has no parameter `{parameter}`; it has {declared}")]
pub struct NotDeclaredError {
    /// The node.
    pub node: String,
    /// The name as given.
    pub parameter: String,
    /// The names that it has, or "none".
    pub declared: String,
}

/// The reason why a parameter was not set.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The parameter was undeclared.
    #[error(transparent)]
    NotDeclared(#[from] NotDeclaredError),
    /// The value is not one of the parameter.
    #[error(transparent)]
    Value(#[from] ParameterValueError),
    /// The parameter was declared as read-only.
    #[error("node {node}: parameter `{parameter}` is read-only; override it at the start instead")]
    ReadOnly {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
    },
    /// The queue of changes of a callback is full; the changes are handed back.
    #[error(
        "node {node}: {max} parameter changes already wait for a callback; set less often, or \
         again later",
        max = PARAMETER_CHANGES_MAX
    )]
    Full {
        /// The node.
        node: String,
        /// The refused values.
        changes: Vec<(String, ParameterValue)>,
    },
}

/// The reason why parameters were not set by name: none of them is.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SetParametersError {
    /// The node has no such parameter.
    #[error(transparent)]
    NotDeclared(#[from] NotDeclaredError),
    /// One request sets a parameter twice.
    #[error("node {node}: parameter `{parameter}` is set twice at once; give it one value")]
    Repeated {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
    },
    /// One of the parameters was not set.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// The reason why a parameter was not declared.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// The name is not valid for a parameter.
    #[error("node {node}: {reason}")]
    Name {
        /// The node.
        node: String,
        /// The fault, and the allowed form.
        reason: String,
    },
    /// The node has a parameter of this name.
    #[error(
        "node {node} already has a parameter `{parameter}`; keep its handle, or ask \
             `Node::parameters`"
    )]
    Duplicate {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
    },
    /// The parameter has no default, and no override gives it a value.
    #[error(
        "node {node}: parameter `{parameter}` ({declared}) has no default; give it a value, \
             for example `--ros-args -p {parameter}:=...`"
    )]
    NoValue {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
        /// Its type.
        declared: ParameterType,
    },
    /// The default does not satisfy the declaration.
    #[error("the default does not fit: {0}")]
    Default(Box<ParameterValueError>),
    /// An override does not satisfy the declaration.
    #[error("{origin}: {error}")]
    Override {
        /// The argument, or file, line and column.
        origin: String,
        /// The fault, and the allowed form.
        error: Box<ParameterValueError>,
    },
    /// The range or its step makes no sense.
    #[error(
        "node {node}: the range of parameter `{parameter}` is empty or has a step that is not \
             positive: {range}"
    )]
    Range {
        /// The node.
        node: String,
        /// The parameter.
        parameter: String,
        /// The range.
        range: ParameterRange,
    },
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}
