//! Descriptions of message types: fields with their types and default values.

use ringspin_message_generator::{
    Array, Definitions, Element, FILLER, Field, FieldType, TypeName, Value,
};
use std::num::NonZeroUsize;

/// Limits of a type: definitions of a few lines can describe more than fits in memory.
const FIELDS_MAX: usize = 1 << 18;
const BYTES_MAX: usize = 1 << 28;

/// The type of a field, or of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseType {
    /// `float32`
    Float,
    /// `float64`
    Double,
    /// None: definitions have no such type.
    LongDouble,
    /// None: the `char` of definitions is [`Uint8`](Self::Uint8).
    Char,
    /// None: definitions have no such type.
    WChar,
    /// `bool`
    Boolean,
    /// `byte`
    Octet,
    /// `uint8`, `char`
    Uint8,
    /// `int8`
    Int8,
    /// `uint16`
    Uint16,
    /// `int16`
    Int16,
    /// `uint32`
    Uint32,
    /// `int32`
    Int32,
    /// `uint64`
    Uint64,
    /// `int64`
    Int64,
    /// `string`
    String,
    /// `string<=N`
    BoundedString {
        /// The bytes at most.
        upper_bound: NonZeroUsize,
    },
    /// `wstring`
    WString,
    /// `wstring<=N`
    BoundedWString {
        /// The UTF-16 units at most.
        upper_bound: NonZeroUsize,
    },
    /// A message.
    Message(Box<MessageStructure>),
}

/// A field of a message type.
#[derive(Clone, Debug)]
pub struct MessageFieldInfo {
    /// The name.
    pub name: String,
    /// The type, of one element if there are several.
    pub base_type: BaseType,
    /// Whether there is one value, or how many there are.
    pub value_kind: ValueKind,
    pub(super) default: Option<Value>,
}

impl Eq for MessageFieldInfo {}

impl PartialEq for MessageFieldInfo {
    fn eq(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.name.clone(), it.base_type.clone(), it.value_kind);
        parts(self) == parts(other)
    }
}

/// A message type: its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageStructure {
    /// The fields, in order.
    pub fields: Vec<MessageFieldInfo>,
    /// The bytes of the type's C struct, which is not used here.
    pub size: usize,
    /// The package and the kind, as in `geometry_msgs__msg`.
    pub namespace: String,
    /// The name without the package.
    pub type_name: String,
}

/// The number of values that a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// One.
    Simple,
    /// An array.
    Array {
        /// The number of elements.
        length: usize,
    },
    /// Any number.
    Sequence,
    /// A number up to a bound.
    BoundedSequence {
        /// The elements at most.
        upper_bound: usize,
    },
}

impl MessageStructure {
    /// The field of this name.
    pub fn get_field_info(&self, field_name: &str) -> Option<&MessageFieldInfo> {
        self.fields.iter().find(|field| field.name == field_name)
    }

    /// A structure without fields.
    pub(super) const fn none() -> Self {
        Self { fields: Vec::new(), size: 0, namespace: String::new(), type_name: String::new() }
    }

    /// # Errors
    /// For a type without a definition, or with too many fields or elements.
    pub(super) fn new(definitions: &Definitions, name: &TypeName) -> Result<Self, String> {
        let (mut left, too_large) = (FIELDS_MAX, || {
            format!(
                "{name} is too large: it has more than {FIELDS_MAX} fields or {BYTES_MAX} bytes"
            )
        });
        let structure = build(definitions, name, &mut left).ok_or_else(too_large)?;
        if structure.size > BYTES_MAX { Err(too_large()) } else { Ok(structure) }
    }

    /// The alignment of the C struct.
    fn alignment(&self) -> usize {
        self.fields.iter().map(|field| field.layout().1).max().unwrap_or(1)
    }
}

/// `None` with more fields than `left`, and without a definition.
fn build(definitions: &Definitions, name: &TypeName, left: &mut usize) -> Option<MessageStructure> {
    let message = definitions.get(name)?;
    let filler = || {
        let ty = FieldType { element: FILLER.1, array: Array::Single };
        vec![Field { name: FILLER.0.into(), ty, default: None, line: 1 }]
    };
    let fields = if message.fields.is_empty() { &filler() } else { &message.fields };
    *left = left.checked_sub(fields.len())?;
    let fields = fields.iter().map(|field| MessageFieldInfo::new(definitions, field, left));
    let mut structure = MessageStructure {
        fields: fields.collect::<Option<_>>()?,
        size: 0,
        namespace: format!("{}__{}", name.package, name.kind.folder()),
        type_name: name.name.clone(),
    };
    let end = structure.fields.iter().map(MessageFieldInfo::layout).fold(
        0,
        |end: usize, (size, align)| {
            size.saturating_add(end.next_multiple_of(align)).min(usize::MAX / 2)
        },
    );
    structure.size = end.next_multiple_of(structure.alignment());
    Some(structure)
}

impl MessageFieldInfo {
    fn new(definitions: &Definitions, field: &Field, left: &mut usize) -> Option<Self> {
        let value_kind = match field.ty.array {
            Array::Single => ValueKind::Simple,
            Array::Fixed(length) => ValueKind::Array { length: length as usize },
            Array::Bounded(bound) => ValueKind::BoundedSequence { upper_bound: bound as usize },
            Array::Unbounded => ValueKind::Sequence,
        };
        let bound = |bound: u32| NonZeroUsize::new(bound as usize);
        let base_type = match &field.ty.element {
            Element::Bool => BaseType::Boolean,
            Element::Byte => BaseType::Octet,
            Element::Char | Element::UInt8 => BaseType::Uint8,
            Element::Int8 => BaseType::Int8,
            Element::Int16 => BaseType::Int16,
            Element::UInt16 => BaseType::Uint16,
            Element::Int32 => BaseType::Int32,
            Element::UInt32 => BaseType::Uint32,
            Element::Int64 => BaseType::Int64,
            Element::UInt64 => BaseType::Uint64,
            Element::Float32 => BaseType::Float,
            Element::Float64 => BaseType::Double,
            Element::String(None) => BaseType::String,
            Element::String(Some(n)) => BaseType::BoundedString { upper_bound: bound(*n)? },
            Element::WString(None) => BaseType::WString,
            Element::WString(Some(n)) => BaseType::BoundedWString { upper_bound: bound(*n)? },
            Element::Message(name) => BaseType::Message(Box::new(build(definitions, name, left)?)),
        };
        let (name, default) = (field.name.clone(), field.default.clone());
        Some(Self { name, base_type, value_kind, default })
    }

    /// The size and the alignment in a C struct.
    fn layout(&self) -> (usize, usize) {
        let (size, align) = match &self.base_type {
            BaseType::Boolean | BaseType::Char | BaseType::Octet => (1, 1),
            BaseType::Uint8 | BaseType::Int8 => (1, 1),
            BaseType::WChar | BaseType::Uint16 | BaseType::Int16 => (2, 2),
            BaseType::Float | BaseType::Uint32 | BaseType::Int32 => (4, 4),
            BaseType::Double | BaseType::Uint64 | BaseType::Int64 => (8, 8),
            BaseType::LongDouble => (16, 16),
            BaseType::String | BaseType::BoundedString { .. } => SEQUENCE,
            BaseType::WString | BaseType::BoundedWString { .. } => SEQUENCE,
            BaseType::Message(structure) => (structure.size, structure.alignment()),
        };
        match self.value_kind {
            ValueKind::Simple => (size, align),
            ValueKind::Array { length } => (size.saturating_mul(length), align),
            ValueKind::Sequence | ValueKind::BoundedSequence { .. } => SEQUENCE,
        }
    }
}

/// The size and the alignment of a string or sequence in C: a pointer and two numbers.
const SEQUENCE: (usize, usize) = (24, 8);
