//! Definitions of messages, as parsed.

use crate::name::TypeName;
use std::fmt;

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
    /// Each primitive type, with its names in definitions and in Rust and its number in
    /// `type_description_interfaces/msg/FieldType`.
    pub(crate) const PRIMITIVES: [(Self, &'static str, &'static str, u32); 13] = [
        (Self::Int8, "int8", "i8", 2),
        (Self::UInt8, "uint8", "u8", 3),
        (Self::Int16, "int16", "i16", 4),
        (Self::UInt16, "uint16", "u16", 5),
        (Self::Int32, "int32", "i32", 6),
        (Self::UInt32, "uint32", "u32", 7),
        (Self::Int64, "int64", "i64", 8),
        (Self::UInt64, "uint64", "u64", 9),
        (Self::Float32, "float32", "f32", 10),
        (Self::Float64, "float64", "f64", 11),
        (Self::Bool, "bool", "bool", 15),
        (Self::Byte, "byte", "u8", 16),
        (Self::Char, "char", "u8", 3),
    ];

    /// The primitive type in Rust; `None` for strings and messages.
    pub fn rust_primitive(&self) -> Option<&'static str> {
        let mut primitives = Self::PRIMITIVES.iter();
        primitives.find(|(element, ..)| element == self).map(|(_, _, rust, _)| *rust)
    }
}

/// As definitions have it, such as `float64[36]`; messages with their packages.
impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounded = |bound: &Option<u32>| bound.map(|n| format!("<={n}")).unwrap_or_default();
        match &self.element {
            Element::String(bound) => write!(f, "string{}", bounded(bound))?,
            Element::WString(bound) => write!(f, "wstring{}", bounded(bound))?,
            Element::Message(name) => write!(f, "{}/{}", name.package, name.name)?,
            element => {
                let mut primitives = Element::PRIMITIVES.iter();
                let known = primitives.find(|(primitive, ..)| primitive == element);
                f.write_str(known.map_or("", |(_, name, ..)| name))?;
            }
        }
        match self.array {
            Array::Single => Ok(()),
            Array::Fixed(count) => write!(f, "[{count}]"),
            Array::Bounded(bound) => write!(f, "[<={bound}]"),
            Array::Unbounded => f.write_str("[]"),
        }
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
    /// A number without fraction, within the bounds of its type.
    Integer(i128),
    /// A number of [`Element::Float32`] or [`Element::Float64`].
    Float(f64),
    /// A string of either kind.
    String(String),
    /// The values of an array.
    Array(Vec<Value>),
}
