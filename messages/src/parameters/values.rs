//! Values and descriptions of parameters, as messages.

use crate::rcl_interfaces::msg;
use ringspin_executor::{ParameterDescriptor, ParameterRange, ParameterType, ParameterValue};

/// Defines the conversions by the number of a type in `rcl_interfaces/msg/ParameterType`, its name
/// and the field of its value.
macro_rules! values {
    ($($number:literal $variant:ident $field:ident;)*) => {
        fn type_number(parameter_type: ParameterType) -> u8 {
            match parameter_type {
                $(ParameterType::$variant => $number,)*
                ParameterType::NotSet => 0,
            }
        }

        impl msg::ParameterValue {
            /// The message with a value.
            pub fn from_value(value: &ParameterValue) -> Self {
                let type_ = type_number(value.parameter_type());
                match value.clone() {
                    $(ParameterValue::$variant($field) => {
                        Self { type_, $field, ..Self::default() }
                    })*
                    ParameterValue::NotSet => Self::default(),
                }
            }

            /// The value in a message; `None` for a parameter that is not set.
            pub fn into_value(self) -> Option<ParameterValue> {
                Some(match self.type_ {
                    $($number => ParameterValue::$variant(self.$field),)*
                    _ => return None,
                })
            }
        }
    };
}

values! {
    1 Bool bool_value;
    2 Integer integer_value;
    3 Double double_value;
    4 String string_value;
    5 ByteArray byte_array_value;
    6 BoolArray bool_array_value;
    7 IntegerArray integer_array_value;
    8 DoubleArray double_array_value;
    9 StringArray string_array_value;
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
    let choices = (!choices.is_empty()).then(|| format!("one of {}", choices.join(", ")));
    let text = Some(descriptor.additional_constraints.clone()).filter(|text| !text.is_empty());
    let constraints: Vec<_> = choices.into_iter().chain(text).collect();
    msg::ParameterDescriptor {
        name: descriptor.name.clone(),
        type_: type_number(descriptor.parameter_type),
        description: descriptor.description.clone(),
        additional_constraints: constraints.join("; "),
        read_only: descriptor.read_only,
        dynamic_typing: descriptor.dynamic_typing,
        floating_point_range,
        integer_range,
    }
}
