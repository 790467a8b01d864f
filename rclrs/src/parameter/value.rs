//! Values, their types, and their conversions.

use super::range::{ParameterRange, ParameterRanges};
use crate::error::ParameterValueError;
use ringspin::parameter::{ParameterType, ParameterValue as GraphValue};
use ros_env::rcl_interfaces::msg::ParameterValue as Message;
use ros_env::rcl_interfaces::msg::rmw::ParameterValue as RmwParameterValue;
use rosidl_runtime_rs::Message as _;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A type of parameters: `bool`, `i64`, `f64`, `Arc<str>`, an `Arc` of a slice of one of them or of
/// `u8`, or [`ParameterValue`] for values of any type.
pub trait ParameterVariant:
    Into<ParameterValue> + Clone + TryFrom<ParameterValue> + 'static
{
    /// The type of ranges.
    type Range: Into<ParameterRanges> + Default + Clone;

    /// Returns the kind of the type.
    fn kind() -> ParameterKind;
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterKind {
    /// A bool.
    Bool,
    /// An integer.
    Integer,
    /// A double.
    Double,
    /// A string.
    String,
    /// Bytes.
    ByteArray,
    /// Bools.
    BoolArray,
    /// Integers.
    IntegerArray,
    /// Doubles.
    DoubleArray,
    /// Strings.
    StringArray,
    /// Any of these types.
    Dynamic,
}

fn owned<T: Clone>(values: &Arc<[T]>) -> Vec<T> {
    values.to_vec()
}

fn shared<T>(values: Vec<T>) -> Arc<[T]> {
    values.into()
}

/// Defines values by variant, type, type of ranges, and the number and the field of the type in a
/// message. `$to` makes the value of the graph, which owns it, and `$from` is the way back.
macro_rules! values {
    ($($(#[$doc:meta])+ $variant:ident($ty:ty), $range:ty, $number:literal $field:ident,
        $to:expr, $from:expr;)*) => {
        /// A value of a parameter.
        ///
        /// The examples are values on the command line, as in `-p name:=1`, or in a parameter file.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ParameterValue {
            $($(#[$doc])+ $variant($ty),)*
        }

        impl ParameterValue {
            /// The value in the graph.
            pub(super) fn to_graph(&self) -> GraphValue {
                match self {
                    $(Self::$variant(value) => {
                        let to: fn(&$ty) -> _ = $to;
                        GraphValue::$variant(to(value))
                    })*
                }
            }

            /// The value of one in the graph; `None` if that is not set.
            pub(super) fn from_graph(value: GraphValue) -> Option<Self> {
                Some(match value {
                    $(GraphValue::$variant(value) => {
                        let from: fn(_) -> $ty = $from;
                        Self::$variant(from(value))
                    })*
                    GraphValue::NotSet => return None,
                })
            }
        }

        impl ParameterKind {
            /// The type in the graph.
            pub(super) fn to_graph(&self) -> ParameterType {
                match self {
                    $(Self::$variant => ParameterType::$variant,)*
                    Self::Dynamic => ParameterType::NotSet,
                }
            }
        }

        $(
            impl From<$ty> for ParameterValue {
                fn from(value: $ty) -> Self {
                    Self::$variant(value)
                }
            }

            impl TryFrom<ParameterValue> for $ty {
                type Error = ParameterValueError;

                fn try_from(value: ParameterValue) -> Result<Self, ParameterValueError> {
                    match value {
                        ParameterValue::$variant(value) => Ok(value),
                        _ => Err(ParameterValueError::TypeMismatch),
                    }
                }
            }

            impl ParameterVariant for $ty {
                type Range = $range;

                fn kind() -> ParameterKind {
                    ParameterKind::$variant
                }
            }
        )*

        impl From<ParameterValue> for RmwParameterValue {
            fn from(value: ParameterValue) -> Self {
                let message = match value.to_graph() {
                    $(GraphValue::$variant($field) => {
                        Message { type_: $number, $field, ..Message::default() }
                    })*
                    GraphValue::NotSet => Message::default(),
                };
                Message::into_rmw_message(Cow::Owned(message)).into_owned()
            }
        }

        impl TryFrom<RmwParameterValue> for ParameterValue {
            type Error = RmwParameterConversionError;

            fn try_from(value: RmwParameterValue) -> Result<Self, RmwParameterConversionError> {
                let message = Message::from_rmw_message(value);
                let value = match message.type_ {
                    $($number => GraphValue::$variant(message.$field),)*
                    _ => GraphValue::NotSet,
                };
                Self::from_graph(value).ok_or(RmwParameterConversionError::InvalidParameterType)
            }
        }
    };
}

values! {
    /// A bool, such as `true`, `True`, `yes` or `y`.
    Bool(bool), (), 1 bool_value, |value| *value, |value| value;
    /// An integer, such as `1`, `-30` or `0x7C`.
    Integer(i64), ParameterRange<i64>, 2 integer_value, |value| *value, |value| value;
    /// A double, such as `2.0` or `8e-3`.
    Double(f64), ParameterRange<f64>, 3 double_value, |value| *value, |value| value;
    /// A string, such as `"map"`. Without quotes, some are values of other types.
    String(Arc<str>), (), 4 string_value, |value| (**value).to_owned(),
        |value: String| value.into();
    /// Bytes; as integers, such as `[1, 255]`, if the parameter is declared with this type.
    ByteArray(Arc<[u8]>), (), 5 byte_array_value, owned, shared;
    /// Bools, such as `[true, false]`.
    BoolArray(Arc<[bool]>), (), 6 bool_array_value, owned, shared;
    /// Integers, such as `[3, 4]`.
    IntegerArray(Arc<[i64]>), (), 7 integer_array_value, owned, shared;
    /// Doubles, such as `[5.0, 6e2]`.
    DoubleArray(Arc<[f64]>), (), 8 double_array_value, owned, shared;
    /// Strings, such as `["left", "right"]`.
    StringArray(Arc<[Arc<str>]>), (), 9 string_array_value,
        |values| values.iter().map(|value| (**value).to_owned()).collect(),
        |values: Vec<String>| values.into_iter().map(Into::into).collect();
}

impl ParameterVariant for ParameterValue {
    type Range = ParameterRanges;

    fn kind() -> ParameterKind {
        ParameterKind::Dynamic
    }
}

/// A value of the graph as `T`; `None` if it is not set, or has another type.
pub(super) fn typed<T: ParameterVariant>(value: GraphValue) -> Option<T> {
    ParameterValue::from_graph(value)?.try_into().ok()
}

/// The error of the conversion of a message to a [`ParameterValue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmwParameterConversionError {
    /// The message has no value, or one of an unknown type.
    InvalidParameterType,
}

impl fmt::Display for RmwParameterConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message has no value, or one of an unknown type")
    }
}

impl Error for RmwParameterConversionError {}
