//! Values of parameters.

use crate::rcl_interfaces::msg;
use ringspin::parameter::ParameterValue as Value;

/// A value that has not the type that was asked for.
#[derive(Debug)]
pub struct WrongParameterType {
    /// The type that was asked for.
    pub expected_type_name: &'static str,
    /// The type of the value.
    pub actual_type_name: &'static str,
}

impl std::error::Error for WrongParameterType {}

impl std::fmt::Display for WrongParameterType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "got `{}`, expected `{}`", self.actual_type_name, self.expected_type_name)
    }
}

/// Defines the values by variant, Rust type, name, field of the message, and number of the type in
/// `rcl_interfaces/msg/ParameterType`.
macro_rules! values {
    ($($(#[$doc:meta])* $variant:ident $ty:ty, $name:literal, $field:ident, $number:literal;)*) => {
        /// The value of a parameter.
        #[derive(Debug, PartialEq, Clone)]
        pub enum ParameterValue {
            /// None.
            NotSet,
            $($(#[$doc])* $variant($ty),)*
        }

        impl ParameterValue {
            /// The name of the type.
            pub fn type_name(&self) -> &'static str {
                match self {
                    Self::NotSet => "not set",
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// The number of the type.
            pub(crate) fn number(&self) -> u8 {
                match self {
                    Self::NotSet => 0,
                    $(Self::$variant(_) => $number,)*
                }
            }

            pub(crate) fn from_message(message: msg::ParameterValue) -> Self {
                match message.type_ {
                    $($number => Self::$variant(message.$field),)*
                    _ => Self::NotSet,
                }
            }

            pub(crate) fn into_message(self) -> msg::ParameterValue {
                let type_ = self.number();
                let mut message = msg::ParameterValue { type_, ..Default::default() };
                match self {
                    Self::NotSet => {}
                    $(Self::$variant(value) => message.$field = value,)*
                }
                message
            }
        }

        impl From<Value> for ParameterValue {
            fn from(value: Value) -> Self {
                match value {
                    $(Value::$variant(value) => Self::$variant(value),)*
                }
            }
        }

        $(
            impl TryFrom<ParameterValue> for $ty {
                type Error = WrongParameterType;

                fn try_from(value: ParameterValue) -> Result<Self, WrongParameterType> {
                    match value {
                        ParameterValue::$variant(value) => Ok(value),
                        other => Err(other.is_not($name)),
                    }
                }
            }

            impl TryFrom<ParameterValue> for Option<$ty> {
                type Error = WrongParameterType;

                fn try_from(value: ParameterValue) -> Result<Self, WrongParameterType> {
                    match value {
                        ParameterValue::NotSet => Ok(None),
                        value => value.try_into().map(Some),
                    }
                }
            }
        )*
    };
}

values! {
    /// A bool.
    Bool bool, "boolean", bool_value, 1;
    /// An integer.
    Integer i64, "integer", integer_value, 2;
    /// A double.
    Double f64, "double", double_value, 3;
    /// A string.
    String String, "string", string_value, 4;
    /// Bools.
    BoolArray Vec<bool>, "boolean array", bool_array_value, 6;
    /// Bytes.
    ByteArray Vec<u8>, "byte array", byte_array_value, 5;
    /// Integers.
    IntegerArray Vec<i64>, "integer array", integer_array_value, 7;
    /// Doubles.
    DoubleArray Vec<f64>, "double array", double_array_value, 8;
    /// Strings.
    StringArray Vec<String>, "string array", string_array_value, 9;
}

impl ParameterValue {
    fn is_not(&self, expected_type_name: &'static str) -> WrongParameterType {
        WrongParameterType { expected_type_name, actual_type_name: self.type_name() }
    }
}

impl TryFrom<ParameterValue> for () {
    type Error = WrongParameterType;

    fn try_from(value: ParameterValue) -> Result<Self, WrongParameterType> {
        match value {
            ParameterValue::NotSet => Ok(()),
            other => Err(other.is_not("not set")),
        }
    }
}
