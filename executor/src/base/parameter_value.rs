//! Parameter values, of the types of ROS 2.

pub(crate) mod sealed;
pub(crate) mod text;

use ringspin_derive::Digest;
use std::fmt;

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParameterType {
    /// `bool`.
    Bool,
    /// `i64`.
    Integer,
    /// `f64`.
    Double,
    /// `String`.
    String,
    /// `Vec<u8>`.
    ByteArray,
    /// `Vec<bool>`.
    BoolArray,
    /// `Vec<i64>`.
    IntegerArray,
    /// `Vec<f64>`.
    DoubleArray,
    /// `Vec<String>`.
    StringArray,
    /// The type of a parameter that is not set.
    NotSet,
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::String => "string",
            Self::ByteArray => "byte array",
            Self::BoolArray => "bool array",
            Self::IntegerArray => "integer array",
            Self::DoubleArray => "double array",
            Self::StringArray => "string array",
            Self::NotSet => "not set",
        })
    }
}

/// A parameter's value, of any type. Displayed as YAML that is read back as this value.
///
/// ```
/// use ringspin_executor::ParameterValue;
/// assert_eq!(ParameterValue::from(vec![1.0, 2.5]).to_string(), "[1.0, 2.5]");
/// ```
#[derive(Clone, Debug, PartialEq, Digest)]
#[digest(crate = "crate")]
pub enum ParameterValue {
    /// A bool.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A double.
    Double(f64),
    /// A string.
    String(String),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Bools.
    BoolArray(Vec<bool>),
    /// Integers.
    IntegerArray(Vec<i64>),
    /// Doubles.
    DoubleArray(Vec<f64>),
    /// Strings.
    StringArray(Vec<String>),
    /// No value: of an optional parameter, an `Option<T>`, that is `None`.
    NotSet,
}

impl ParameterValue {
    /// The type.
    pub const fn parameter_type(&self) -> ParameterType {
        match self {
            Self::Bool(_) => ParameterType::Bool,
            Self::Integer(_) => ParameterType::Integer,
            Self::Double(_) => ParameterType::Double,
            Self::String(_) => ParameterType::String,
            Self::ByteArray(_) => ParameterType::ByteArray,
            Self::BoolArray(_) => ParameterType::BoolArray,
            Self::IntegerArray(_) => ParameterType::IntegerArray,
            Self::DoubleArray(_) => ParameterType::DoubleArray,
            Self::StringArray(_) => ParameterType::StringArray,
            Self::NotSet => ParameterType::NotSet,
        }
    }

    /// Whether it is an array without elements, which YAML cannot give a type.
    fn is_empty_array(&self) -> bool {
        match self {
            Self::ByteArray(values) => values.is_empty(),
            Self::BoolArray(values) => values.is_empty(),
            Self::IntegerArray(values) => values.is_empty(),
            Self::DoubleArray(values) => values.is_empty(),
            Self::StringArray(values) => values.is_empty(),
            _ => false,
        }
    }

    /// This value, read from YAML, as the declared type: an empty array is one of any type, and
    /// integers up to 255 are bytes, because YAML has no notation for either.
    pub(crate) fn fit(&self, declared: ParameterType) -> Option<Self> {
        if self.parameter_type() == declared {
            return Some(self.clone());
        }
        match (self, declared) {
            (Self::IntegerArray(values), ParameterType::ByteArray) => {
                let bytes: Result<_, _> = values.iter().map(|&value| u8::try_from(value)).collect();
                bytes.ok().map(Self::ByteArray)
            }
            (value, _) if !value.is_empty_array() => None,
            (_, ParameterType::ByteArray) => Some(Self::ByteArray(Vec::new())),
            (_, ParameterType::BoolArray) => Some(Self::BoolArray(Vec::new())),
            (_, ParameterType::IntegerArray) => Some(Self::IntegerArray(Vec::new())),
            (_, ParameterType::DoubleArray) => Some(Self::DoubleArray(Vec::new())),
            _ => None,
        }
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(self, f)
    }
}

impl From<&str> for ParameterValue {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

/// A Rust type that a parameter can have.
///
/// | type | parameter |
/// |---|---|
/// | `bool`, `i64`, `f64`, `String`, or a `Vec` of one of them or of `u8` | of that type |
/// | [`ParameterValue`] | takes values of any type, but has always one |
/// | `Option` of one of these | may have no value |
pub trait ParameterVariant: sealed::Variant {}

/// A type of parameters with values of any type: [`ParameterValue`], or an `Option` of it.
pub trait Dynamic: ParameterVariant {}

impl Dynamic for ParameterValue {}

impl Dynamic for Option<ParameterValue> {}

impl sealed::Variant for ParameterValue {
    const TYPE: ParameterType = ParameterType::NotSet;
    type Cell = std::sync::RwLock<Self>;

    fn from_value(value: &ParameterValue) -> Option<Self> {
        (*value != Self::NotSet).then(|| value.clone())
    }

    fn to_value(&self) -> ParameterValue {
        self.clone()
    }
}

impl ParameterVariant for ParameterValue {}

impl<T: ParameterVariant> sealed::Variant for Option<T> {
    const TYPE: ParameterType = T::TYPE;
    type Cell = std::sync::RwLock<Self>;

    fn from_value(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::NotSet => Some(None),
            value => T::from_value(value).map(Some),
        }
    }

    fn to_value(&self) -> ParameterValue {
        self.as_ref().map_or(ParameterValue::NotSet, T::to_value)
    }
}

impl<T: ParameterVariant> ParameterVariant for Option<T> {}

impl<T: ParameterVariant> From<Option<T>> for ParameterValue {
    fn from(value: Option<T>) -> Self {
        sealed::Variant::to_value(&value)
    }
}

macro_rules! variant {
    ($rust:ty, $name:ident, $cell:ty) => {
        impl sealed::Variant for $rust {
            const TYPE: ParameterType = ParameterType::$name;
            type Cell = $cell;

            fn from_value(value: &ParameterValue) -> Option<Self> {
                match value {
                    ParameterValue::$name(value) => Some(value.clone()),
                    _ => None,
                }
            }

            fn to_value(&self) -> ParameterValue {
                ParameterValue::$name(self.clone())
            }
        }

        impl ParameterVariant for $rust {}

        impl From<$rust> for ParameterValue {
            fn from(value: $rust) -> Self {
                Self::$name(value)
            }
        }
    };
}

variant!(bool, Bool, sealed::Scalar<Self>);
variant!(i64, Integer, sealed::Scalar<Self>);
variant!(f64, Double, sealed::Scalar<Self>);
variant!(String, String, std::sync::RwLock<Self>);
variant!(Vec<u8>, ByteArray, std::sync::RwLock<Self>);
variant!(Vec<bool>, BoolArray, std::sync::RwLock<Self>);
variant!(Vec<i64>, IntegerArray, std::sync::RwLock<Self>);
variant!(Vec<f64>, DoubleArray, std::sync::RwLock<Self>);
variant!(Vec<String>, StringArray, std::sync::RwLock<Self>);
