//! Serialization of fields that serde's derive alone does not handle: arrays of a fixed length,
//! bounds, wide strings, bytes in one piece.

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeSeq, SerializeTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

pub use {ringspin_executor, serde};

/// A stamp of a header that is not the struct of this crate.
pub fn stamp(sec: i32, nanosec: u32) -> crate::builtin_interfaces::msg::Time {
    crate::builtin_interfaces::msg::Time { sec, nanosec }
}

/// The names of a message's fields, for errors.
pub trait FieldNames: crate::RosMessage {
    /// The fields in the order of the definition.
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

/// A value that was read; or its length, and the elements or bytes that its bound allows.
pub type Checked<T> = Result<T, (usize, u32)>;

/// The form in which an element of type `T` is serialized; by default that of serde's derive.
pub trait Element<T: Serialize + DeserializeOwned> {
    /// The elements at most, or bytes of a string.
    fn check(_value: &T) -> Checked<()> {
        Ok(())
    }

    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Checked<T>, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self::check(&value).map(|()| value))
    }
}

/// A value without a bound.
pub enum Plain {}

impl<T: Serialize + DeserializeOwned> Element<T> for Plain {}

/// A string of at most `MAX` bytes.
pub enum BoundedString<const MAX: u32> {}

impl<const MAX: u32> Element<String> for BoundedString<MAX> {
    fn check(value: &String) -> Checked<()> {
        if value.len() <= MAX as usize { Ok(()) } else { Err((value.len(), MAX)) }
    }
}

/// A string of at most `MAX` UTF-16 units. Fast DDS, the default of ROS 2, sends 32 bits for each.
pub enum WideString<const MAX: u32> {}

impl<const MAX: u32> Element<String> for WideString<MAX> {
    fn check(value: &String) -> Checked<()> {
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

    fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Checked<String>, D::Error> {
        let text = match deserializer.is_human_readable() {
            true => String::deserialize(deserializer)?,
            false => wide_text(Vec::deserialize(deserializer)?)
                .ok_or_else(|| D::Error::custom("a wide string is no UTF-16"))?,
        };
        Ok(Self::check(&text).map(|()| text))
    }
}

/// The text of UTF-16 units; `None` if they are none.
fn wide_text(units: Vec<u32>) -> Option<String> {
    let units: Option<Vec<_>> = units.into_iter().map(|unit| u16::try_from(unit).ok()).collect();
    String::from_utf16(&units?).ok()
}

/// An element in its form, for serde.
struct In<V, E>(V, PhantomData<E>);

impl<T: Serialize + DeserializeOwned, E: Element<T>> Serialize for In<&T, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        E::serialize(self.0, serializer)
    }
}

/// Reads an element of a field as `Single`.
struct Seed<T, S>(PhantomData<(T, S)>);

impl<'de, T, M, const FIELD: usize, E> DeserializeSeed<'de> for Seed<T, Single<M, FIELD, E>>
where
    T: Serialize + DeserializeOwned,
    M: FieldNames,
    E: Element<T>,
{
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        Single::<M, FIELD, E>::deserialize(deserializer)
    }
}

/// Elements of a fixed array that are allocated before they are read.
const FIXED_MAX: u32 = 256;

/// Field `FIELD` of message `M`, one element.
pub struct Single<M, const FIELD: usize, E>(PhantomData<(M, E)>);

impl<M: FieldNames, const FIELD: usize, E> Single<M, FIELD, E> {
    pub fn serialize<T, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Serialize + DeserializeOwned,
        E: Element<T>,
    {
        Self::check(value).map_err(S::Error::custom)?;
        E::serialize(value, serializer)
    }

    pub fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
    where
        T: Serialize + DeserializeOwned,
        E: Element<T>,
    {
        E::deserialize(deserializer)?.map_err(|limit| D::Error::custom(Self::violation(limit)))
    }

    fn check<T>(value: &T) -> Result<(), String>
    where
        T: Serialize + DeserializeOwned,
        E: Element<T>,
    {
        E::check(value).map_err(Self::violation)
    }

    fn violation((found, max): (usize, u32)) -> String {
        violation::<M, FIELD>(found, format_args!("at most {max}"))
    }
}

/// Field `FIELD` of message `M`, an array of `MIN` to `MAX` elements. One of exactly `MAX` is a
/// tuple for serde: its length is in the definition, not in the data.
pub struct Array<M, const FIELD: usize, const MIN: u32, const MAX: u32, E>(PhantomData<(M, E)>);

impl<M: FieldNames, const FIELD: usize, const MIN: u32, const MAX: u32, E>
    Array<M, FIELD, MIN, MAX, E>
{
    pub fn serialize<T, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Serialize + DeserializeOwned,
        E: Element<T>,
    {
        Self::check(values).map_err(S::Error::custom)?;
        let mut elements = values.iter().map(|value| In::<_, E>(value, PhantomData));
        if MIN < MAX {
            return serializer.collect_seq(elements);
        }
        let mut tuple = serializer.serialize_tuple(values.len())?;
        elements.try_for_each(|element| tuple.serialize_element(&element))?;
        tuple.end()
    }

    /// Reads a `Vec`, an array, or another container that has the length of the definition.
    pub fn deserialize<'de, C, D: Deserializer<'de>>(deserializer: D) -> Result<C, D::Error>
    where
        C: IntoIterator<Item: Serialize + DeserializeOwned> + TryFrom<Vec<C::Item>>,
        E: Element<C::Item>,
    {
        let elements = Elements::<C::Item, Self>(PhantomData);
        let values = match MIN < MAX {
            true => deserializer.deserialize_seq(elements)?,
            false => deserializer.deserialize_tuple(MAX as usize, elements)?,
        };
        let len = values.len();
        C::try_from(values).map_err(|_| D::Error::custom(Self::violation(len)))
    }

    /// Checks the number of elements, and the elements themselves.
    fn check<T: Serialize + DeserializeOwned>(values: &[T]) -> Result<(), String>
    where
        E: Element<T>,
    {
        Self::check_len(values.len())?;
        values.iter().try_for_each(Single::<M, FIELD, E>::check)
    }

    fn check_len(len: usize) -> Result<(), String> {
        let is_allowed = (MIN as usize..=MAX as usize).contains(&len);
        if is_allowed { Ok(()) } else { Err(Self::violation(len)) }
    }

    fn violation(len: usize) -> String {
        let exactly = if MIN == MAX { "exactly" } else { "at most" };
        violation::<M, FIELD>(len, format_args!("{exactly} {MAX}"))
    }
}

/// Reads the elements of an `Array`.
struct Elements<T, A>(PhantomData<(T, A)>);

impl<'de, T, M, const FIELD: usize, const MIN: u32, const MAX: u32, E> Visitor<'de>
    for Elements<T, Array<M, FIELD, MIN, MAX, E>>
where
    T: Serialize + DeserializeOwned,
    M: FieldNames,
    E: Element<T>,
{
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {MIN} to {MAX} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let seed = || Seed::<T, Single<M, FIELD, E>>(PhantomData);
        let mut values = Vec::with_capacity(MIN.min(FIXED_MAX) as usize);
        while let Some(value) = elements.next_element_seed(seed())? {
            values.push(value);
            if values.len() > MAX as usize {
                break;
            }
        }
        Array::<M, FIELD, MIN, MAX, E>::check_len(values.len()).map_err(A::Error::custom)?;
        Ok(values)
    }
}

/// Bytes in one piece instead of one by one: 50 times faster for the data of images and clouds.
pub struct Bytes;

impl Bytes {
    pub fn serialize<S: Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(value)
    }

    pub fn deserialize<'de, C: From<Vec<u8>>, D>(deserializer: D) -> Result<C, D::Error>
    where
        D: Deserializer<'de>,
    {
        deserializer.deserialize_byte_buf(Self).map(C::from)
    }
}

/// Signed bytes in one piece, such as the cells of a map.
pub struct SignedBytes;

impl SignedBytes {
    pub fn serialize<S: Serializer>(value: &[i8], serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => value.serialize(serializer),
            false => serializer.serialize_bytes(bytemuck::cast_slice(value)),
        }
    }

    pub fn deserialize<'de, C: From<Vec<i8>>, D>(deserializer: D) -> Result<C, D::Error>
    where
        D: Deserializer<'de>,
    {
        let values = match deserializer.is_human_readable() {
            true => Vec::deserialize(deserializer)?,
            false => {
                let bytes = Bytes::deserialize::<Vec<_>, D>(deserializer)?;
                bytes.into_iter().map(u8::cast_signed).collect()
            }
        };
        Ok(C::from(values))
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
