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

/// Defines the values by variant, Rust type, and name of the type.
macro_rules! values {
    ($($(#[$doc:meta])* $variant:ident $ty:ty, $name:literal;)*) => {
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

            pub(crate) fn from_message(message: msg::ParameterValue) -> Self {
                message.into_value().map_or(Self::NotSet, Self::from)
            }

            pub(crate) fn into_message(self) -> msg::ParameterValue {
                match self {
                    Self::NotSet => msg::ParameterValue::default(),
                    $(Self::$variant(value) => {
                        msg::ParameterValue::from_value(&Value::$variant(value))
                    })*
                }
            }
        }

        impl From<Value> for ParameterValue {
            fn from(value: Value) -> Self {
                match value {
                    $(Value::$variant(value) => Self::$variant(value),)*
                    Value::NotSet => Self::NotSet,
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
    Bool bool, "boolean";
    /// An integer.
    Integer i64, "integer";
    /// A double.
    Double f64, "double";
    /// A string.
    String String, "string";
    /// Bools.
    BoolArray Vec<bool>, "boolean array";
    /// Bytes.
    ByteArray Vec<u8>, "byte array";
    /// Integers.
    IntegerArray Vec<i64>, "integer array";
    /// Doubles.
    DoubleArray Vec<f64>, "double array";
    /// Strings.
    StringArray Vec<String>, "string array";
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
