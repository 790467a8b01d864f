//! Parameters that are set without a declaration, in a node that allows it.
//!
//! The first set adds the parameter to the node's table; it takes values of any type. A later
//! declaration replaces it and begins with its value.

use super::descriptor::ParameterDescriptor;
use super::table::{AnyEntry, check};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parameter_value::sealed::Cell;
use crate::base::parameter_value::{ParameterType, ParameterValue, text};
use std::sync::{Arc, RwLock};

/// A parameter that was set but not declared.
pub(super) struct Undeclared {
    descriptor: ParameterDescriptor,
    /// Not set until the value that adds it is stored.
    value: RwLock<ParameterValue>,
}

impl Undeclared {
    /// An entry for the table of `node`.
    pub(super) fn entry(node: &str, name: &str) -> Result<Arc<dyn AnyEntry>> {
        text::check_name(name).map_err(|reason| {
            Error::new(ErrorKind::InvalidName, format!("node {node}: {reason}")).in_node(node)
        })?;
        let descriptor = ParameterDescriptor {
            name: name.into(),
            parameter_type: ParameterType::NotSet,
            dynamic_typing: true,
            description: String::new(),
            read_only: false,
            range: None,
            choices: Vec::new(),
            additional_constraints: String::new(),
        };
        Ok(Arc::new(Self { descriptor, value: RwLock::new(ParameterValue::NotSet) }))
    }
}

impl AnyEntry for Undeclared {
    fn descriptor(&self) -> &ParameterDescriptor {
        &self.descriptor
    }

    fn value(&self) -> ParameterValue {
        Cell::get(&self.value)
    }

    fn check(&self, node: &str, value: &ParameterValue) -> Result<()> {
        check::<ParameterValue>(&self.descriptor, None, node, value).map(drop)
    }

    fn store(&self, value: &ParameterValue) {
        Cell::set(&self.value, value.clone());
    }

    fn is_declared(&self) -> bool {
        false
    }
}
