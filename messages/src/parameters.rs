//! The six services of a node's parameters, for any store of parameters.
//!
//! A native node over ROS 2 offers them on its [`ParameterClient`], the API of r2r on its own
//! table. The store decides about values and descriptions; requests, responses, prefixes and depths
//! of names are handled here.

mod values;

use crate::GeneratedService;
use crate::rcl_interfaces::msg::{
    ListParametersResult, Parameter, ParameterDescriptor, ParameterValue, SetParametersResult,
};
use crate::rcl_interfaces::srv;
use ringspin_executor::{ParameterClient, ParameterInfo};

/// The parameters of a node.
pub trait ParameterStore {
    /// The names of all parameters.
    fn names(&self) -> Vec<String>;

    /// The values of parameters.
    fn get(&self, names: &[String]) -> Vec<ParameterValue>;

    /// The descriptions of parameters.
    fn describe(&self, names: &[String]) -> Vec<ParameterDescriptor>;

    /// Sets all parameters or none.
    ///
    /// # Errors
    /// The reason why none was set.
    fn set_all(&self, parameters: Vec<Parameter>) -> Result<(), String>;

    /// Sets a parameter.
    ///
    /// # Errors
    /// The reason why it was not set.
    fn set(&self, parameter: Parameter) -> Result<(), String> {
        self.set_all(vec![parameter])
    }
}

/// One of the services.
pub trait ParameterService: GeneratedService {
    /// Its name within those of its node.
    const NAME: &'static str;

    /// Answers a request.
    fn answer(store: &impl ParameterStore, request: Self::Request) -> Self::Response;
}

macro_rules! services {
    ($($service:ident $name:literal, |$store:ident, $request:ident| $answer:expr;)*) => {$(
        impl ParameterService for srv::$service::Service {
            const NAME: &'static str = $name;

            fn answer(
                $store: &impl ParameterStore,
                $request: srv::$service::Request,
            ) -> srv::$service::Response {
                $answer
            }
        }
    )*};
}

services! {
    GetParameters "get_parameters", |store, request| {
        srv::GetParameters::Response { values: store.get(&request.names) }
    };
    SetParameters "set_parameters", |store, request| {
        let set = |parameter| result_message(store.set(parameter));
        srv::SetParameters::Response { results: request.parameters.into_iter().map(set).collect() }
    };
    SetParametersAtomically "set_parameters_atomically", |store, request| {
        let result = result_message(store.set_all(request.parameters));
        srv::SetParametersAtomically::Response { result }
    };
    ListParameters "list_parameters", |store, request| list(store, &request);
    DescribeParameters "describe_parameters", |store, request| {
        srv::DescribeParameters::Response { descriptors: store.describe(&request.names) }
    };
    GetParameterTypes "get_parameter_types", |store, request| {
        let types = store.describe(&request.names).into_iter().map(|descriptor| descriptor.type_);
        srv::GetParameterTypes::Response { types: types.collect() }
    };
}

fn result_message(result: Result<(), String>) -> SetParametersResult {
    let reason = result.err();
    SetParametersResult { successful: reason.is_none(), reason: reason.unwrap_or_default() }
}

/// Names are paths with dots; `depth` limits the levels that are listed below each prefix.
fn list(
    store: &impl ParameterStore,
    request: &srv::ListParameters::Request,
) -> srv::ListParameters::Response {
    let mut result = ListParametersResult::default();
    for name in store.names().into_iter().filter(|name| is_listed(name, request)) {
        let prefix = name.rsplit_once('.').map(|(prefix, _)| prefix.to_owned());
        result.prefixes.extend(prefix.filter(|prefix| !result.prefixes.contains(prefix)));
        result.names.push(name);
    }
    srv::ListParameters::Response { result }
}

fn is_listed(name: &str, request: &srv::ListParameters::Request) -> bool {
    let is_near = |below: &str| {
        request.depth == srv::ListParameters::Request::DEPTH_RECURSIVE
            || (below.matches('.').count() as u64) < request.depth
    };
    let is_below = |prefix: &String| match name.strip_prefix(prefix.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(is_near),
        None => false,
    };
    match request.prefixes.is_empty() {
        true => is_near(name),
        false => request.prefixes.iter().any(is_below),
    }
}

/// As in rclcpp, the values and the descriptions are an empty list if a parameter is not declared,
/// unless the node allows undeclared ones: then such a parameter is not set.
impl ParameterStore for ParameterClient {
    fn names(&self) -> Vec<String> {
        self.list().into_iter().map(|info| info.descriptor.name).collect()
    }

    fn get(&self, names: &[String]) -> Vec<ParameterValue> {
        let value = |info: &ParameterInfo| ParameterValue::from_value(&info.value);
        all_of(self, names, value, |_| ParameterValue::default())
    }

    fn describe(&self, names: &[String]) -> Vec<ParameterDescriptor> {
        let description = |info: &ParameterInfo| values::description(&info.descriptor);
        let not_set = |name| ParameterDescriptor { name, ..ParameterDescriptor::default() };
        all_of(self, names, description, not_set)
    }

    fn set_all(&self, parameters: Vec<Parameter>) -> Result<(), String> {
        let values: Result<Vec<_>, String> = parameters.into_iter().map(value_of).collect();
        ParameterClient::set_all(self, values?).map_err(|error| error.to_string())
    }
}

/// One result for each name, in this order; empty if a name is not declared, and has to be.
fn all_of<T>(
    parameters: &ParameterClient,
    names: &[String],
    of: impl Fn(&ParameterInfo) -> T,
    not_set: impl Fn(String) -> T,
) -> Vec<T> {
    let (list, has_all) = (parameters.list(), parameters.allows_undeclared());
    let find = |name: &String| {
        let known = list.iter().find(|info| info.descriptor.name == *name).map(&of);
        known.or_else(|| has_all.then(|| not_set(name.clone())))
    };
    names.iter().map(find).collect::<Option<_>>().unwrap_or_default()
}

fn value_of(
    Parameter { name, value }: Parameter,
) -> Result<(String, ringspin_executor::ParameterValue), String> {
    match (value.type_, value.into_value()) {
        (_, Some(value)) => Ok((name, value)),
        (0, None) => Err(format!("parameter `{name}` cannot be undeclared: its node uses it")),
        (other, None) => Err(format!("parameter `{name}` cannot have type {other}: use 1 to 9")),
    }
}
