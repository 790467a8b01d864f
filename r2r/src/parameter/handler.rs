//! The services of a node's parameters.

use super::{Parameter, ParameterValue, RosParams};
use crate::error::Result;
use crate::lock;
use crate::rcl_interfaces::msg::{
    ListParametersResult, Parameter as ParameterMessage, ParameterDescriptor, SetParametersResult,
};
use crate::rcl_interfaces::srv::ListParameters;
use futures::channel::mpsc::UnboundedSender;
use indexmap::IndexMap;
use std::sync::{Arc, Mutex};

/// The separator of the parts of a name.
const SEPARATOR: char = '.';

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
    pub(crate) fn get(&self, name: &str) -> ParameterValue {
        let field = self.fields.as_ref().and_then(|it| lock(it).get_parameter(name).ok());
        let known = || lock(&self.params).get(name).map(|known| known.value.clone());
        field.or_else(known).unwrap_or(ParameterValue::NotSet)
    }

    /// Sets a parameter; the message says whether it was possible.
    pub(crate) fn set(&self, parameter: &ParameterMessage) -> SetParametersResult {
        let result = self.try_set(parameter);
        let reason = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        SetParametersResult { successful: result.is_ok(), reason }
    }

    fn try_set(&self, parameter: &ParameterMessage) -> Result<()> {
        let value = ParameterValue::from_message(parameter.value.clone());
        if let Some(fields) = &self.fields {
            lock(fields).set_parameter(&parameter.name, &value)?;
        }
        let mut params = lock(&self.params);
        let known = params.entry(parameter.name.clone()).or_insert_with(Parameter::empty);
        if known.value != value {
            known.value = value.clone();
            // The receiver may be gone.
            let _ = self.changes.unbounded_send((parameter.name.clone(), value));
        }
        Ok(())
    }

    /// Sets all parameters or none.
    pub(crate) fn set_all(&self, parameters: &[ParameterMessage]) -> SetParametersResult {
        if let Some(fields) = &self.fields {
            for parameter in parameters {
                let value = ParameterValue::from_message(parameter.value.clone());
                if let Err(error) = lock(fields).check_parameter(&parameter.name, &value) {
                    let reason = format!("Can't set parameter {}: {error}", parameter.name);
                    return SetParametersResult { successful: false, reason };
                }
            }
        }
        let refused = parameters.iter().map(|it| self.set(it)).find(|result| !result.successful);
        refused.unwrap_or(SetParametersResult { successful: true, reason: String::new() })
    }

    pub(crate) fn describe(&self, name: &str) -> ParameterDescriptor {
        let params = lock(&self.params);
        let known = params.get(name);
        ParameterDescriptor {
            name: name.to_owned(),
            type_: known.map_or(0, |known| known.value.number()),
            description: known.map(|known| known.description.to_owned()).unwrap_or_default(),
            ..Default::default()
        }
    }

    pub(crate) fn list(&self, request: &ListParameters::Request) -> ListParametersResult {
        let params = lock(&self.params);
        let names = params.keys().filter(|name| is_listed(name, request)).cloned();
        let mut result = ListParametersResult { names: names.collect(), prefixes: Vec::new() };
        for name in &result.names {
            let prefix = name.rsplit_once(SEPARATOR).map(|(prefix, _)| prefix.to_owned());
            result.prefixes.extend(prefix.filter(|prefix| !result.prefixes.contains(prefix)));
        }
        result
    }
}

/// Whether a parameter is at or below one of the prefixes, not deeper than asked for.
fn is_listed(name: &str, request: &ListParameters::Request) -> bool {
    let is_shallow = |rest: &str| {
        request.depth == ListParameters::Request::DEPTH_RECURSIVE
            || (rest.matches(SEPARATOR).count() as u64) < request.depth
    };
    let is_below = |prefix: &String| {
        let rest = name.strip_prefix(&**prefix);
        rest.is_some_and(|it| it.is_empty() || it.strip_prefix(SEPARATOR).is_some_and(is_shallow))
    };
    match request.prefixes.is_empty() {
        true => is_shallow(name),
        false => request.prefixes.iter().any(is_below),
    }
}
