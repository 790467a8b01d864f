//! Serialization of fields that serde's derive alone does not handle: arrays of a fixed length,
//! bounds, wide strings, bytes in one piece, messages without fields.

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeSeq, SerializeStruct, SerializeTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

pub use {ringspin_executor, serde};

/// The names of a message's fields, for errors.
pub trait FieldNames: crate::RosMessage {
    /// In order of the definition.
    const FIELD_NAMES: &'static [&'static str];
}

/// A violation of field `FIELD` of `M`.
fn violation<M: FieldNames, const FIELD: usize>(
    found: usize,
    allowed: impl fmt::Display,
) -> String {
    let field = M::FIELD_NAMES.get(FIELD).copied().unwrap_or_default();
    format!(
        "field `{field}` of {} has length {found}, but its definition says {allowed}",
        M::TYPE_NAME
    )
}

/// The form in which an element of type `T` is serialized.
pub trait Element<T> {
    /// The elements at most, or bytes of a string.
    fn check(_value: &T) -> Result<(), (usize, u32)> {
        Ok(())
    }
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;
}

/// The form that serde's derive gives it.
pub enum Plain {}

impl<T: Serialize + for<'de> Deserialize<'de>> Element<T> for Plain {
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

/// A string of at most `MAX` bytes.
pub enum BoundedString<const MAX: u32> {}

impl<const MAX: u32> Element<String> for BoundedString<MAX> {
    fn check(value: &String) -> Result<(), (usize, u32)> {
        if value.len() <= MAX as usize { Ok(()) } else { Err((value.len(), MAX)) }
    }

    fn serialize<S: Serializer>(value: &String, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}

/// A string of at most `MAX` UTF-16 units. Fast DDS, the default of ROS 2, sends 32 bits for each.
pub enum WideString<const MAX: u32> {}

impl<const MAX: u32> Element<String> for WideString<MAX> {
    fn check(value: &String) -> Result<(), (usize, u32)> {
        // No string has more units than bytes.
        match value.len() > MAX as usize && value.encode_utf16().count() > MAX as usize {
            true => Err((value.encode_utf16().count(), MAX)),
            false => Ok(()),
        }
    }

    fn serialize<S: Serializer>(value: &String, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return value.serialize(serializer);
        }
        let mut units = serializer.serialize_seq(Some(value.encode_utf16().count()))?;
        value.encode_utf16().try_for_each(|unit| units.serialize_element(&u32::from(unit)))?;
        units.end()
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer);
        }
        let wide = Vec::<u32>::deserialize(deserializer)?;
        let units: Option<Vec<_>> = wide.into_iter().map(|unit| u16::try_from(unit).ok()).collect();
        let text = units.and_then(|units| String::from_utf16(&units).ok());
        text.ok_or_else(|| D::Error::custom("a wide string is no UTF-16"))
    }
}

/// An element in its form, for serde.
struct In<V, E>(V, PhantomData<E>);

impl<T, E: Element<T>> Serialize for In<&T, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        E::serialize(self.0, serializer)
    }
}

/// Reads an element in its form.
struct Seed<T, E>(PhantomData<(T, E)>);

impl<'de, T, E: Element<T>> DeserializeSeed<'de> for Seed<T, E> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        E::deserialize(deserializer)
    }
}

/// Reads the elements of field `FIELD`.
struct Elements<M, const FIELD: usize, T, E> {
    min: u32,
    max: u32,
    types: PhantomData<(M, T, E)>,
}

impl<'de, M: FieldNames, const FIELD: usize, T, E: Element<T>> Visitor<'de>
    for Elements<M, FIELD, T, E>
{
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {} to {} elements", self.min, self.max)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        // The length of a fixed array is in the definition, not in the data.
        let mut values = Vec::with_capacity(self.min.min(FIXED_MAX) as usize);
        while let Some(value) = elements.next_element_seed(Seed::<T, E>(PhantomData))? {
            values.push(value);
            if values.len() > self.max as usize {
                break;
            }
        }
        check::<M, FIELD, T, E>(&values, self.min, self.max).map_err(A::Error::custom)?;
        Ok(values)
    }
}

/// Elements of a fixed array that are allocated before they are read.
const FIXED_MAX: u32 = 256;

/// Checks the number of elements, and the elements themselves.
fn check<M: FieldNames, const FIELD: usize, T, E: Element<T>>(
    values: &[T],
    min: u32,
    max: u32,
) -> Result<(), String> {
    let (len, allowed) = (values.len(), min as usize..=max as usize);
    if allowed.contains(&len) {
        return values.iter().try_for_each(Single::<M, FIELD, E>::check);
    }
    let exactly = if min == max { "exactly" } else { "at most" };
    Err(violation::<M, FIELD>(len, format_args!("{exactly} {max}")))
}

/// Field `FIELD` of message `M`, one element.
pub struct Single<M, const FIELD: usize, E>(PhantomData<(M, E)>);

impl<M: FieldNames, const FIELD: usize, E> Single<M, FIELD, E> {
    pub fn serialize<T, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        E: Element<T>,
    {
        Self::check(value).map_err(S::Error::custom)?;
        E::serialize(value, serializer)
    }

    pub fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
    where
        E: Element<T>,
    {
        let value = E::deserialize(deserializer)?;
        Self::check(&value).map_err(D::Error::custom)?;
        Ok(value)
    }

    fn check<T>(value: &T) -> Result<(), String>
    where
        E: Element<T>,
    {
        let error = |(found, max)| violation::<M, FIELD>(found, format_args!("at most {max}"));
        E::check(value).map_err(error)
    }
}

/// Field `FIELD` of message `M`, an array of exactly `N` elements: a tuple for serde.
pub struct Fixed<M, const FIELD: usize, const N: u32, E>(PhantomData<(M, E)>);

impl<M: FieldNames, const FIELD: usize, const N: u32, E> Fixed<M, FIELD, N, E> {
    pub fn serialize<T, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error>
    where
        E: Element<T>,
    {
        check::<M, FIELD, T, E>(values, N, N).map_err(S::Error::custom)?;
        let mut tuple = serializer.serialize_tuple(values.len())?;
        let mut elements = values.iter().map(|value| In::<_, E>(value, PhantomData));
        elements.try_for_each(|element| tuple.serialize_element(&element))?;
        tuple.end()
    }

    pub fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error>
    where
        E: Element<T>,
    {
        let elements = Elements::<M, FIELD, T, E> { min: N, max: N, types: PhantomData };
        deserializer.deserialize_tuple(N as usize, elements)
    }
}

/// Field `FIELD` of message `M`, an array of at most `N` elements.
pub struct Bounded<M, const FIELD: usize, const N: u32, E>(PhantomData<(M, E)>);

impl<M: FieldNames, const FIELD: usize, const N: u32, E> Bounded<M, FIELD, N, E> {
    pub fn serialize<T, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error>
    where
        E: Element<T>,
    {
        check::<M, FIELD, T, E>(values, 0, N).map_err(S::Error::custom)?;
        serializer.collect_seq(values.iter().map(|value| In::<_, E>(value, PhantomData)))
    }

    pub fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error>
    where
        E: Element<T>,
    {
        let elements = Elements::<M, FIELD, T, E> { min: 0, max: N, types: PhantomData };
        deserializer.deserialize_seq(elements)
    }
}

/// Bytes in one piece instead of one by one: 50 times faster for the data of images and clouds.
pub struct Bytes;

impl Bytes {
    pub fn serialize<S: Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_byte_buf(Self)
    }
}

/// Signed bytes in one piece, such as the cells of a map.
pub struct SignedBytes;

impl SignedBytes {
    pub fn serialize<S: Serializer>(value: &[i8], serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => value.serialize(serializer),
            false => {
                let bytes: Vec<_> = value.iter().map(|value| value.cast_unsigned()).collect();
                serializer.serialize_bytes(&bytes)
            }
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i8>, D::Error> {
        match deserializer.is_human_readable() {
            true => Vec::deserialize(deserializer),
            false => {
                let bytes = Bytes::deserialize(deserializer)?;
                Ok(bytes.into_iter().map(u8::cast_signed).collect())
            }
        }
    }
}

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = elements.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

/// A message without fields: middleware gives it one byte, whose value means nothing.
pub fn serialize_empty<S: Serializer>(
    name: &'static str,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match serializer.is_human_readable() {
        true => serializer.serialize_struct(name, 0)?.end(),
        false => serializer.serialize_u8(0),
    }
}

/// Reads a message without fields.
pub fn deserialize_empty<'de, D: Deserializer<'de>>(
    name: &'static str,
    deserializer: D,
) -> Result<(), D::Error> {
    match deserializer.is_human_readable() {
        true => deserializer.deserialize_struct(name, &[], NoFields),
        false => u8::deserialize(deserializer).map(drop),
    }
}

struct NoFields;

impl<'de> Visitor<'de> for NoFields {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message without fields")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _elements: A) -> Result<(), A::Error> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// Implements serde's traits for a struct without fields.
#[doc(hidden)]
#[macro_export]
macro_rules! __empty_message {
    ($name:ident) => {
        impl $crate::support::serde::Serialize for $name {
            fn serialize<S: $crate::support::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::support::serialize_empty(stringify!($name), serializer)
            }
        }
        impl<'de> $crate::support::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::support::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::support::deserialize_empty(stringify!($name), deserializer)?;
                ::core::result::Result::Ok(Self {})
            }
        }
    };
}
pub use __empty_message as empty_message;
