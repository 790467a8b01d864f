//! Parameters: values, structs of them, and the services by which others set them.

mod handler;
mod structs;
mod value;

pub(crate) use handler::Handler;
pub use structs::RosParams;
pub use value::{ParameterValue, WrongParameterType};

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its value.
    pub value: ParameterValue,
    /// Its purpose.
    pub description: &'static str,
}

impl Parameter {
    /// A parameter without a description.
    pub fn new(value: ParameterValue) -> Self {
        Self { value, description: "" }
    }

    /// A parameter that is not set.
    pub fn empty() -> Self {
        Self::new(ParameterValue::NotSet)
    }
}
