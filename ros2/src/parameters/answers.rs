//! Answers of the parameter services, the same as rclcpp's: about a parameter that is not declared,
//! the services that ask for values give an empty list.

use super::values::{description, from_message, to_message, type_number};
use ringspin_executor::{ParameterClient, ParameterInfo, ParameterValue};
use ringspin_messages::rcl_interfaces::msg::{Parameter, SetParametersResult};
use ringspin_messages::rcl_interfaces::srv;

/// One result for each name, in this order; empty if a name is not declared.
fn all_of<T>(
    parameters: &ParameterClient,
    names: &[String],
    of: impl Fn(&ParameterInfo) -> T,
) -> Vec<T> {
    let list = parameters.list();
    let find = |name: &String| list.iter().find(|info| info.descriptor.name == *name).map(&of);
    names.iter().map(find).collect::<Option<_>>().unwrap_or_default()
}

pub(super) fn get_parameters(
    parameters: &ParameterClient,
    request: srv::GetParameters::Request,
) -> srv::GetParameters::Response {
    let values = all_of(parameters, &request.names, |info| to_message(&info.value));
    srv::GetParameters::Response { values }
}

pub(super) fn get_parameter_types(
    parameters: &ParameterClient,
    request: srv::GetParameterTypes::Request,
) -> srv::GetParameterTypes::Response {
    let type_of = |info: &ParameterInfo| type_number(info.descriptor.parameter_type);
    srv::GetParameterTypes::Response { types: all_of(parameters, &request.names, type_of) }
}

pub(super) fn describe_parameters(
    parameters: &ParameterClient,
    request: srv::DescribeParameters::Request,
) -> srv::DescribeParameters::Response {
    let descriptors = all_of(parameters, &request.names, |info| description(&info.descriptor));
    srv::DescribeParameters::Response { descriptors }
}

/// Sets each parameter on its own.
pub(super) fn set_parameters(
    parameters: &ParameterClient,
    request: srv::SetParameters::Request,
) -> srv::SetParameters::Response {
    let set = |parameter| set_at_once(parameters, vec![parameter]);
    srv::SetParameters::Response { results: request.parameters.into_iter().map(set).collect() }
}

/// Sets all parameters or none.
pub(super) fn set_parameters_atomically(
    parameters: &ParameterClient,
    request: srv::SetParametersAtomically::Request,
) -> srv::SetParametersAtomically::Response {
    let result = set_at_once(parameters, request.parameters);
    srv::SetParametersAtomically::Response { result }
}

fn set_at_once(parameters: &ParameterClient, changes: Vec<Parameter>) -> SetParametersResult {
    let set = || {
        let changes: Result<Vec<(String, ParameterValue)>, String> =
            changes.into_iter().map(value_of).collect();
        parameters.set_all(changes?).map_err(|error| error.to_string())
    };
    match set() {
        Ok(()) => SetParametersResult { successful: true, reason: String::new() },
        Err(reason) => SetParametersResult { successful: false, reason },
    }
}

fn value_of(parameter: Parameter) -> Result<(String, ParameterValue), String> {
    let Parameter { name, value } = parameter;
    match (value.type_, from_message(value)) {
        (_, Some(value)) => Ok((name, value)),
        (0, None) => Err(format!("parameter `{name}` cannot be undeclared: its node uses it")),
        (other, None) => Err(format!("parameter `{name}` cannot have type {other}: use 1 to 9")),
    }
}

/// Names are paths with dots; `depth` limits the levels that are listed below each prefix.
pub(super) fn list_parameters(
    parameters: &ParameterClient,
    request: srv::ListParameters::Request,
) -> srv::ListParameters::Response {
    let mut response = srv::ListParameters::Response::default();
    for ParameterInfo { descriptor, .. } in parameters.list() {
        if !is_listed(&descriptor.name, &request.prefixes, request.depth) {
            continue;
        }
        if let Some((prefix, _)) = descriptor.name.rsplit_once('.') {
            let prefixes = &mut response.result.prefixes;
            if !prefixes.iter().any(|known| known == prefix) {
                prefixes.push(prefix.into());
            }
        }
        response.result.names.push(descriptor.name);
    }
    response
}

fn is_listed(name: &str, prefixes: &[String], depth: u64) -> bool {
    // Zero is `DEPTH_RECURSIVE`.
    let is_near = |below: &str| depth == 0 || (below.matches('.').count() as u64) < depth;
    let is_below = |prefix: &String| match name.strip_prefix(prefix.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(is_near),
        None => false,
    };
    if prefixes.is_empty() { is_near(name) } else { prefixes.iter().any(is_below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_depth_choose_what_is_listed() {
        let listed = |prefixes: &[&str], depth| {
            let prefixes: Vec<String> = prefixes.iter().map(ToString::to_string).collect();
            let names = ["a", "a.b", "a.b.c", "ab", "d.e"];
            let is_listed = |name: &&str| is_listed(name, &prefixes, depth);
            names.into_iter().filter(is_listed).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(listed(&[], 0), "a a.b a.b.c ab d.e");
        assert_eq!(listed(&[], 1), "a ab");
        assert_eq!(listed(&[], 2), "a a.b ab d.e");
        assert_eq!(listed(&["a"], 0), "a a.b a.b.c");
        assert_eq!(listed(&["a"], 1), "a a.b");
        assert_eq!(listed(&["a.b", "d"], 1), "a.b a.b.c d.e");
        assert_eq!(listed(&["c"], 0), "");
    }
}
