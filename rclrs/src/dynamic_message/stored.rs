//! The values of a dynamic message: a tree with a node for each field.
//!
//! Sequences are those of `rosidl_runtime_rs`, so that they can be lent. Bytes and digests equal
//! those of the generated structs.

use super::message_structure::{BaseType, MessageFieldInfo, MessageStructure, ValueKind};
use ringspin::{Digest, DigestHasher};
use ringspin_message_generator::Value;
use ringspin_messages::support::Bytes;
use rosidl_runtime_rs::{Sequence, SequenceAlloc, String, WString};
use serde::de::value::Error as DefaultError;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, SeqAccess, Visitor,
};
use serde::ser::{SerializeStruct, SerializeTuple};
use serde::{Deserializer, Serialize, Serializer};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::ops::Deref;

/// The fields of a message, with their description, which stays as long as the program.
#[derive(Clone)]
pub struct Fields {
    pub(super) structure: &'static MessageStructure,
    pub(super) values: Vec<Stored>,
}

/// Elements of a sequence.
///
/// Proxies borrow the elements for as long as the sequence itself is borrowed, so elements that
/// replace them need another place. The next borrow drops the replaced ones.
#[derive(Default)]
pub(super) struct Elements<T: SequenceAlloc> {
    pub(super) list: Sequence<T>,
    pub(super) replaced_by: Option<Box<Elements<T>>>,
}

/// The value, or the values, of a field.
#[derive(Clone)]
pub(super) enum Slot<T: SequenceAlloc> {
    One(T),
    Array(Vec<T>),
    /// With the elements at most, if there is a bound.
    Sequence(Elements<T>, Option<usize>),
}

/// Calls a macro with each base type that needs no description: its name, the names of variants of
/// values, and its Rust type.
macro_rules! with_plain_types {
    ($macro:ident) => {
        $macro! {
            Float FloatArray FloatSequence FloatBoundedSequence: f32;
            Double DoubleArray DoubleSequence DoubleBoundedSequence: f64;
            Char CharArray CharSequence CharBoundedSequence: u8;
            WChar WCharArray WCharSequence WCharBoundedSequence: u16;
            Boolean BooleanArray BooleanSequence BooleanBoundedSequence: bool;
            Octet OctetArray OctetSequence OctetBoundedSequence: u8;
            Uint8 Uint8Array Uint8Sequence Uint8BoundedSequence: u8;
            Int8 Int8Array Int8Sequence Int8BoundedSequence: i8;
            Uint16 Uint16Array Uint16Sequence Uint16BoundedSequence: u16;
            Int16 Int16Array Int16Sequence Int16BoundedSequence: i16;
            Uint32 Uint32Array Uint32Sequence Uint32BoundedSequence: u32;
            Int32 Int32Array Int32Sequence Int32BoundedSequence: i32;
            Uint64 Uint64Array Uint64Sequence Uint64BoundedSequence: u64;
            Int64 Int64Array Int64Sequence Int64BoundedSequence: i64;
            String StringArray StringSequence StringBoundedSequence: rosidl_runtime_rs::String;
            WString WStringArray WStringSequence WStringBoundedSequence: rosidl_runtime_rs::WString;
        }
    };
}
pub(super) use with_plain_types;

macro_rules! define_stored {
    ($($name:ident $array:ident $sequence:ident $bounded:ident: $ty:ty;)*) => {
        /// The content of a field, by its base type.
        #[derive(Clone)]
        pub(super) enum Stored {
            $($name(Slot<$ty>),)*
            BoundedString(Slot<String>, NonZeroUsize),
            BoundedWString(Slot<WString>, NonZeroUsize),
            Message(Slot<Fields>, &'static MessageStructure),
        }

        impl Stored {
            /// Makes the content of a field: the default one, or from data.
            fn make<M: Make>(info: &'static MessageFieldInfo, make: M) -> Result<Self, M::Error> {
                Ok(match &info.base_type {
                    $(BaseType::$name => Self::$name(make.slot(info, Plain::any())?),)*
                    BaseType::LongDouble => Self::Double(make.slot(info, Plain::any())?),
                    BaseType::BoundedString { upper_bound: max } => {
                        Self::BoundedString(make.slot(info, Plain(max.get(), PhantomData))?, *max)
                    }
                    BaseType::BoundedWString { upper_bound: max } => {
                        Self::BoundedWString(make.slot(info, Plain(max.get(), PhantomData))?, *max)
                    }
                    BaseType::Message(of) => Self::Message(make.slot(info, Of(of))?, of),
                })
            }

            /// Whether both are the same; a NaN is the same as itself.
            fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$name(a), Self::$name(b)) => a.is_same(b),)*
                    (Self::BoundedString(a, _), Self::BoundedString(b, _)) => a.is_same(b),
                    (Self::BoundedWString(a, _), Self::BoundedWString(b, _)) => a.is_same(b),
                    (Self::Message(a, _), Self::Message(b, _)) => a.is_same(b),
                    _ => false,
                }
            }
        }

        impl Digest for Stored {
            fn digest(&self, hasher: &mut DigestHasher) {
                match self {
                    $(Self::$name(slot) => slot.digest(hasher),)*
                    Self::BoundedString(slot, _) => slot.digest(hasher),
                    Self::BoundedWString(slot, _) => slot.digest(hasher),
                    Self::Message(slot, _) => slot.digest(hasher),
                }
            }
        }

        impl Serialize for Stored {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$name(slot) => slot.serialize(serializer),)*
                    Self::BoundedString(slot, _) => slot.serialize(serializer),
                    Self::BoundedWString(slot, _) => slot.serialize(serializer),
                    Self::Message(slot, _) => slot.serialize(serializer),
                }
            }
        }
    };
}

with_plain_types!(define_stored);

impl Fields {
    /// The message with its default values.
    pub(super) fn new(structure: &'static MessageStructure) -> Self {
        let values = structure.fields.iter().map(|info| {
            let Ok(stored) = Stored::make(info, ByDefault);
            stored
        });
        Self { structure, values: values.collect() }
    }

    /// The content of the field `name`.
    pub(super) fn get(&self, name: &str) -> Option<&Stored> {
        self.values.get(self.index(name)?)
    }

    /// The content of the field `name`, which can be changed.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Stored> {
        let index = self.index(name)?;
        self.values.get_mut(index)
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.structure.fields.iter().position(|info| info.name == name)
    }
}

/// Without fields: the default that the elements of sequences need.
impl Default for Fields {
    fn default() -> Self {
        static NONE: MessageStructure = MessageStructure::none();
        Self { structure: &NONE, values: Vec::new() }
    }
}

impl Eq for Fields {}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.structure, other.structure);
        (std::ptr::eq(a, b) || a == b)
            && self.values.iter().zip(&other.values).all(|(a, b)| a.is_same(b))
    }
}

impl Digest for Fields {
    fn digest(&self, hasher: &mut DigestHasher) {
        Digest::digest_items(&self.values, hasher);
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("message", self.values.len())?;
        for (info, value) in self.structure.fields.iter().zip(&self.values) {
            fields.serialize_field(&info.name, value)?;
        }
        fields.end()
    }
}

impl<T: SequenceAlloc> Elements<T> {
    pub(super) fn new(list: Sequence<T>) -> Self {
        Self { list, replaced_by: None }
    }

    /// Drops elements that were replaced.
    pub(super) fn flattened(&mut self) -> &mut Self {
        while let Some(last) = self.replaced_by.take() {
            *self = *last;
        }
        self
    }
}

impl<T: SequenceAlloc> Deref for Elements<T> {
    type Target = Sequence<T>;

    fn deref(&self) -> &Sequence<T> {
        let mut last = self;
        while let Some(next) = &last.replaced_by {
            last = next;
        }
        &last.list
    }
}

impl<T: SequenceAlloc> Clone for Elements<T> {
    fn clone(&self) -> Self {
        Self::new((**self).clone())
    }
}

/// Without recursion.
impl<T: SequenceAlloc> Drop for Elements<T> {
    fn drop(&mut self) {
        while let Some(mut next) = self.replaced_by.take() {
            self.replaced_by = next.replaced_by.take();
        }
    }
}

/// A type of values or elements.
pub(super) trait Element: SequenceAlloc + PartialEq + Serialize + Digest {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    /// The units of a text, which its bound counts.
    fn units(&self) -> usize {
        0
    }

    fn write_all<S: Serializer>(list: &[Self], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list)
    }

    fn read_all<'de, D: Deserializer<'de>, S: DeserializeSeed<'de, Value = Self> + Copy>(
        element: S,
        deserializer: D,
    ) -> Result<Vec<Self>, D::Error> {
        deserializer.deserialize_seq(List(element))
    }
}

macro_rules! elements {
    ($($ty:ident {$($override:item)*})*) => {$(
        impl Element for $ty {
            $($override)*
        }
    )*};
}

elements! {
    Fields {} bool {} i8 {} u16 {} i16 {} u32 {} i32 {} u64 {} i64 {}
    f32 {
        fn is_same(&self, other: &Self) -> bool {
            self.to_bits() == other.to_bits()
        }
    }
    f64 {
        fn is_same(&self, other: &Self) -> bool {
            self.to_bits() == other.to_bits()
        }
    }
    String {
        fn units(&self) -> usize {
            self.len()
        }
    }
    WString {
        fn units(&self) -> usize {
            self.len()
        }
    }
    // In one piece: images and clouds are large.
    u8 {
        fn write_all<S: Serializer>(list: &[Self], serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(list)
        }

        fn read_all<'de, D: Deserializer<'de>, S: DeserializeSeed<'de, Value = Self> + Copy>(
            _: S,
            deserializer: D,
        ) -> Result<Vec<Self>, D::Error> {
            Bytes::deserialize(deserializer)
        }
    }
}

impl<T: Element> Slot<T> {
    fn values(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Array(values) => values,
            Self::Sequence(elements, _) => elements,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (self.values(), other.values());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
    }
}

impl<T: Element> Digest for Slot<T> {
    fn digest(&self, hasher: &mut DigestHasher) {
        match self {
            Self::Sequence(elements, _) => elements.digest(hasher),
            _ => T::digest_items(self.values(), hasher),
        }
    }
}

impl<T: Element> Serialize for Slot<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(value) => value.serialize(serializer),
            Self::Array(values) => {
                let mut tuple = serializer.serialize_tuple(values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_element(value))?;
                tuple.end()
            }
            Self::Sequence(elements, _) => T::write_all(elements, serializer),
        }
    }
}

/// A description of a value: its default, and how it is read.
trait Describe<T>: Copy + for<'de> DeserializeSeed<'de, Value = T> {
    /// The value in a definition, or else the default of the type.
    fn default(self, value: Option<&Value>) -> T;
}

/// A value of so many units at most.
struct Plain<T>(usize, PhantomData<T>);

impl<T> Plain<T> {
    fn any() -> Self {
        Self(usize::MAX, PhantomData)
    }
}

impl<T> Copy for Plain<T> {}

impl<T> Clone for Plain<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element + DeserializeOwned> Describe<T> for Plain<T> {
    fn default(self, value: Option<&Value>) -> T {
        let parsed: Option<Result<T, DefaultError>> = value.map(|value| match value {
            Value::Bool(value) => T::deserialize(value.into_deserializer()),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => T::deserialize(value.into_deserializer()),
                Err(_) => T::deserialize((*value as i64).into_deserializer()),
            },
            Value::Float(value) => T::deserialize(value.into_deserializer()),
            Value::String(text) => T::deserialize(text.as_str().into_deserializer()),
            Value::Array(_) => Ok(T::default()),
        });
        parsed.and_then(Result::ok).unwrap_or_default()
    }
}

impl<'de, T: Element + DeserializeOwned> DeserializeSeed<'de> for Plain<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let value = T::deserialize(deserializer)?;
        check(value.units(), self.0)?;
        Ok(value)
    }
}

/// # Errors
/// For a length beyond the bound.
fn check<E: serde::de::Error>(len: usize, upper_bound: usize) -> Result<(), E> {
    let text = || format!("length {len}, but its definition says at most {upper_bound}");
    if len <= upper_bound { Ok(()) } else { Err(E::custom(text())) }
}

/// A message of this structure.
#[derive(Clone, Copy)]
pub(super) struct Of(pub(super) &'static MessageStructure);

impl Describe<Fields> for Of {
    fn default(self, _: Option<&Value>) -> Fields {
        Fields::new(self.0)
    }
}

impl<'de> DeserializeSeed<'de> for Of {
    type Value = Fields;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_tuple(self.0.fields.len(), self)
    }
}

impl<'de> Visitor<'de> for Of {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message {}", self.0.type_name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Fields, A::Error> {
        let Self(structure) = self;
        let mut values = Vec::with_capacity(structure.fields.len());
        for info in &structure.fields {
            let value = fields.next_element_seed(OfField(info))?;
            values.push(value.ok_or_else(|| A::Error::missing_field(&info.name))?);
        }
        Ok(Fields { structure, values })
    }
}

/// The content of a field.
struct OfField(&'static MessageFieldInfo);

impl<'de> DeserializeSeed<'de> for OfField {
    type Value = Stored;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Stored, D::Error> {
        let name = &self.0.name;
        let stored = Stored::make(self.0, Read(deserializer, PhantomData));
        stored.map_err(|error| D::Error::custom(format_args!("field `{name}`: {error}")))
    }
}

/// Elements of a sequence or an array.
struct List<S>(S);

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for List<S> {
    type Value = Vec<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self.0)? {
            list.push(element);
        }
        Ok(list)
    }
}

/// A way to make the content of a field.
trait Make {
    type Error;

    /// # Errors
    /// For data that do not fit the field.
    fn slot<T: Element>(
        self,
        info: &MessageFieldInfo,
        describe: impl Describe<T>,
    ) -> Result<Slot<T>, Self::Error>;
}

/// Makes the default content.
struct ByDefault;

impl Make for ByDefault {
    type Error = Infallible;

    fn slot<T: Element>(
        self,
        info: &MessageFieldInfo,
        describe: impl Describe<T>,
    ) -> Result<Slot<T>, Infallible> {
        let all: &[Value] = match &info.default {
            Some(Value::Array(values)) => values,
            _ => &[],
        };
        let elements = || all.iter().map(|value| describe.default(Some(value))).collect();
        Ok(match info.value_kind {
            ValueKind::Simple => Slot::One(describe.default(info.default.as_ref())),
            ValueKind::Array { length } => {
                Slot::Array((0..length).map(|index| describe.default(all.get(index))).collect())
            }
            ValueKind::Sequence => Slot::Sequence(Elements::new(elements()), None),
            ValueKind::BoundedSequence { upper_bound } => {
                Slot::Sequence(Elements::new(elements()), Some(upper_bound))
            }
        })
    }
}

/// Reads the content.
struct Read<'de, D>(D, PhantomData<&'de ()>);

impl<'de, D: Deserializer<'de>> Make for Read<'de, D> {
    type Error = D::Error;

    fn slot<T: Element>(
        self,
        info: &MessageFieldInfo,
        describe: impl Describe<T>,
    ) -> Result<Slot<T>, D::Error> {
        let Self(data, _) = self;
        Ok(match info.value_kind {
            ValueKind::Simple => Slot::One(describe.deserialize(data)?),
            ValueKind::Array { length } => {
                Slot::Array(data.deserialize_tuple(length, List(describe))?)
            }
            ValueKind::Sequence => {
                Slot::Sequence(Elements::new(T::read_all(describe, data)?.into()), None)
            }
            ValueKind::BoundedSequence { upper_bound } => {
                let list = T::read_all(describe, data)?;
                check(list.len(), upper_bound)?;
                Slot::Sequence(Elements::new(list.into()), Some(upper_bound))
            }
        })
    }
}
