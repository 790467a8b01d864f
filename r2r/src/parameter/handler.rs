//! The services of a node's parameters.

use super::{Parameter, ParameterValue, RosParams};
use crate::error::Result;
use crate::lock;
use crate::rcl_interfaces::msg::{self, Parameter as ParameterMessage, ParameterDescriptor};
use futures::channel::mpsc::UnboundedSender;
use indexmap::IndexMap;
use ringspin_messages::ParameterStore;
use std::sync::{Arc, Mutex};

/// The parameters of a node, for its services.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) params: Arc<Mutex<IndexMap<String, Parameter>>>,
    /// The struct whose fields are the parameters, if there is one.
    pub(crate) fields: Option<Arc<Mutex<dyn RosParams + Send>>>,
    /// Gets each change.
    pub(crate) changes: UnboundedSender<(String, ParameterValue)>,
}

impl Handler {
    fn value(&self, name: &str) -> ParameterValue {
        let field = self.fields.as_ref().and_then(|it| lock(it).get_parameter(name).ok());
        let known = || lock(&self.params).get(name).map(|known| known.value.clone());
        field.or_else(known).unwrap_or(ParameterValue::NotSet)
    }

    fn description(&self, name: &str) -> ParameterDescriptor {
        let known = lock(&self.params).get(name).cloned().unwrap_or_else(Parameter::empty);
        ParameterDescriptor {
            name: name.to_owned(),
            type_: known.value.into_message().type_,
            description: known.description.to_owned(),
            ..Default::default()
        }
    }

    fn try_set(&self, ParameterMessage { name, value }: ParameterMessage) -> Result<()> {
        let value = ParameterValue::from_message(value);
        if let Some(fields) = &self.fields {
            lock(fields).set_parameter(&name, &value)?;
        }
        let mut params = lock(&self.params);
        let known = params.entry(name.clone()).or_insert_with(Parameter::empty);
        if known.value != value {
            known.value = value.clone();
            // The receiver may be gone.
            let _ = self.changes.unbounded_send((name, value));
        }
        Ok(())
    }
}

/// A parameter that is not declared is not set, and setting it declares it, unless the parameters
/// are fields of a struct.
impl ParameterStore for Handler {
    fn names(&self) -> Vec<String> {
        lock(&self.params).keys().cloned().collect()
    }

    fn get(&self, names: &[String]) -> Vec<msg::ParameterValue> {
        names.iter().map(|name| self.value(name).into_message()).collect()
    }

    fn describe(&self, names: &[String]) -> Vec<ParameterDescriptor> {
        names.iter().map(|name| self.description(name)).collect()
    }

    fn set(&self, parameter: ParameterMessage) -> std::result::Result<(), String> {
        self.try_set(parameter).map_err(|error| error.to_string())
    }

    fn set_all(&self, parameters: Vec<ParameterMessage>) -> std::result::Result<(), String> {
        for ParameterMessage { name, value } in &parameters {
            let Some(fields) = &self.fields else { break };
            let value = ParameterValue::from_message(value.clone());
            let checked = lock(fields).check_parameter(name, &value);
            checked.map_err(|error| format!("Can't set parameter {name}: {error}"))?;
        }
        parameters.into_iter().try_for_each(|parameter| self.set(parameter))
    }
}
