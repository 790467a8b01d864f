//! Values and descriptions of parameters, as messages.

use ringspin_executor::{ParameterDescriptor, ParameterRange, ParameterType, ParameterValue};
use ringspin_messages::rcl_interfaces::msg;

/// The number of a type in `rcl_interfaces/msg/ParameterType`.
pub(super) fn type_number(parameter_type: ParameterType) -> u8 {
    match parameter_type {
        ParameterType::Bool => 1,
        ParameterType::Integer => 2,
        ParameterType::Double => 3,
        ParameterType::String => 4,
        ParameterType::ByteArray => 5,
        ParameterType::BoolArray => 6,
        ParameterType::IntegerArray => 7,
        ParameterType::DoubleArray => 8,
        ParameterType::StringArray => 9,
    }
}

pub(super) fn to_message(value: &ParameterValue) -> msg::ParameterValue {
    let mut message = msg::ParameterValue {
        type_: type_number(value.parameter_type()),
        ..msg::ParameterValue::default()
    };
    match value.clone() {
        ParameterValue::Bool(value) => message.bool_value = value,
        ParameterValue::Integer(value) => message.integer_value = value,
        ParameterValue::Double(value) => message.double_value = value,
        ParameterValue::String(value) => message.string_value = value,
        ParameterValue::ByteArray(values) => message.byte_array_value = values,
        ParameterValue::BoolArray(values) => message.bool_array_value = values,
        ParameterValue::IntegerArray(values) => message.integer_array_value = values,
        ParameterValue::DoubleArray(values) => message.double_array_value = values,
        ParameterValue::StringArray(values) => message.string_array_value = values,
    }
    message
}

/// The value in a message; `None` for a parameter that is not set.
pub(super) fn from_message(message: msg::ParameterValue) -> Option<ParameterValue> {
    Some(match message.type_ {
        1 => ParameterValue::Bool(message.bool_value),
        2 => ParameterValue::Integer(message.integer_value),
        3 => ParameterValue::Double(message.double_value),
        4 => ParameterValue::String(message.string_value),
        5 => ParameterValue::ByteArray(message.byte_array_value),
        6 => ParameterValue::BoolArray(message.bool_array_value),
        7 => ParameterValue::IntegerArray(message.integer_array_value),
        8 => ParameterValue::DoubleArray(message.double_array_value),
        9 => ParameterValue::StringArray(message.string_array_value),
        _ => return None,
    })
}

pub(super) fn description(descriptor: &ParameterDescriptor) -> msg::ParameterDescriptor {
    let (mut integer_range, mut floating_point_range) = (Vec::new(), Vec::new());
    match descriptor.range {
        None => {}
        Some(ParameterRange::Integer { from, to, step }) => {
            let step = u64::try_from(step).unwrap_or(0);
            integer_range.push(msg::IntegerRange { from_value: from, to_value: to, step });
        }
        Some(ParameterRange::FloatingPoint { from, to, step }) => {
            let range = msg::FloatingPointRange { from_value: from, to_value: to, step };
            floating_point_range.push(range);
        }
    }
    let choices: Vec<_> = descriptor.choices.iter().map(ToString::to_string).collect();
    let additional_constraints =
        if choices.is_empty() { String::new() } else { format!("one of {}", choices.join(", ")) };
    msg::ParameterDescriptor {
        name: descriptor.name.clone(),
        type_: type_number(descriptor.parameter_type),
        description: descriptor.description.clone(),
        additional_constraints,
        read_only: descriptor.read_only,
        // Types never change.
        dynamic_typing: false,
        floating_point_range,
        integer_range,
    }
}
