//! Parameters in TOML: the values of ROS 2.

use ringspin_executor::ParameterValue;
use toml::Value;

const MIXED: &str = "a list has elements of one type: bools, integers, floats such as `1.0`, or \
                     strings";

/// The parameters that `value` gives to `name`: one, or for a table those below it, with dots.
pub(super) fn flatten(
    name: &str,
    value: &Value,
    found: &mut Vec<(String, ParameterValue)>,
) -> Result<(), String> {
    if let Value::Table(table) = value {
        return table
            .iter()
            .try_for_each(|(key, value)| flatten(&format!("{name}.{key}"), value, found));
    }
    let value = match value {
        Value::Array(values) => list(values).ok_or(MIXED)?,
        Value::Datetime(_) => return Err("ROS parameters have no dates; quote it".into()),
        _ => scalar(value).ok_or(MIXED)?,
    };
    found.push((name.into(), value));
    Ok(())
}

fn scalar(value: &Value) -> Option<ParameterValue> {
    Some(match value {
        Value::Boolean(value) => ParameterValue::Bool(*value),
        Value::Integer(value) => ParameterValue::Integer(*value),
        Value::Float(value) => ParameterValue::Double(*value),
        Value::String(value) => ParameterValue::String(value.clone()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => return None,
    })
}

fn list(values: &[Value]) -> Option<ParameterValue> {
    let all = || values.iter();
    Some(match values.first() {
        // It is one of any type.
        None => ParameterValue::StringArray(Vec::new()),
        Some(Value::Boolean(_)) => {
            ParameterValue::BoolArray(all().map(Value::as_bool).collect::<Option<_>>()?)
        }
        Some(Value::Integer(_)) => {
            ParameterValue::IntegerArray(all().map(Value::as_integer).collect::<Option<_>>()?)
        }
        Some(Value::Float(_)) => {
            ParameterValue::DoubleArray(all().map(Value::as_float).collect::<Option<_>>()?)
        }
        Some(Value::String(_)) => {
            let strings = all().map(|value| value.as_str().map(String::from));
            ParameterValue::StringArray(strings.collect::<Option<_>>()?)
        }
        Some(_) => return None,
    })
}
