//! Definitions of messages, as parsed.

use crate::name::TypeName;

/// A message type.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its name.
    pub name: TypeName,
    /// The fields, in order.
    pub fields: Vec<Field>,
    /// The constants, in order.
    pub constants: Vec<Constant>,
    /// The text of the definition.
    pub text: String,
    /// The file of the definition, or another name of its text, for errors.
    pub origin: String,
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: FieldType,
    /// Its default value, if the definition has one.
    pub default: Option<Value>,
    /// The line of the definition, from one.
    pub line: usize,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// The type, of one element if it is an array.
    pub element: Element,
    /// Whether it is an array.
    pub array: Array,
}

/// The type of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// `bool`
    Bool,
    /// `byte`: eight bits without a meaning as a number.
    Byte,
    /// `char`: in ROS 2 an unsigned number of eight bits.
    Char,
    /// `int8`
    Int8,
    /// `uint8`
    UInt8,
    /// `int16`
    Int16,
    /// `uint16`
    UInt16,
    /// `int32`
    Int32,
    /// `uint32`
    UInt32,
    /// `int64`
    Int64,
    /// `uint64`
    UInt64,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `string`, or `string<=N` with a bound in bytes.
    String(Option<u32>),
    /// `wstring`, or `wstring<=N` with a bound in UTF-16 units.
    WString(Option<u32>),
    /// Another message.
    Message(TypeName),
}

impl Element {
    /// The primitive type in Rust; `None` for strings and messages.
    pub fn rust_primitive(&self) -> Option<&'static str> {
        Some(match self {
            Self::Bool => "bool",
            Self::Byte | Self::Char | Self::UInt8 => "u8",
            Self::Int8 => "i8",
            Self::Int16 => "i16",
            Self::UInt16 => "u16",
            Self::Int32 => "i32",
            Self::UInt32 => "u32",
            Self::Int64 => "i64",
            Self::UInt64 => "u64",
            Self::Float32 => "f32",
            Self::Float64 => "f64",
            Self::String(_) | Self::WString(_) | Self::Message(_) => return None,
        })
    }
}

/// Whether, and how, a field is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    /// No array.
    Single,
    /// `[N]`: always N elements, more than zero.
    Fixed(u32),
    /// `[<=N]`: at most N elements.
    Bounded(u32),
    /// `[]`
    Unbounded,
}

/// A constant of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its type; no message.
    pub ty: Element,
    /// Its value.
    pub value: Value,
    /// The line of the definition, from one.
    pub line: usize,
}

/// A value in a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For [`Element::Bool`].
    Bool(bool),
    /// For numbers without fraction, within the bounds of their type.
    Integer(i128),
    /// For [`Element::Float32`] and [`Element::Float64`].
    Float(f64),
    /// For both kinds of strings.
    String(String),
    /// For arrays.
    Array(Vec<Value>),
}
