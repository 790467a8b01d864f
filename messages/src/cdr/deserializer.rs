//! The deserializer: of either byte order, bounded by its input.

use serde::de::{self, DeserializeSeed, IntoDeserializer, SeqAccess, Visitor};
use std::fmt;

/// Deserializes from the front of bytes, big-endian if `BIG`.
pub(super) struct Deserializer<'de, const BIG: bool> {
    /// All bytes, from which alignment counts.
    bytes: &'de [u8],
    position: usize,
}

impl<'de, const BIG: bool> Deserializer<'de, BIG> {
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    fn rest(&self) -> &'de [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// The next bytes of a number, which is aligned to its size, in little-endian order.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DeserializeError> {
        self.position += self.position.wrapping_neg() & (N - 1);
        let mut taken = *self.rest().first_chunk().ok_or_else(ends_early)?;
        self.position += N;
        if BIG {
            taken.reverse();
        }
        Ok(taken)
    }

    fn take_length(&mut self) -> Result<usize, DeserializeError> {
        usize::try_from(u32::from_le_bytes(self.take()?)).map_err(|_| ends_early())
    }

    /// The bytes after their length.
    fn take_bytes(&mut self) -> Result<&'de [u8], DeserializeError> {
        let length = self.take_length()?;
        let taken = self.rest().get(..length).ok_or_else(ends_early)?;
        self.position += length;
        Ok(taken)
    }
}

/// The reason why bytes are no message of a type.
#[derive(Debug)]
pub(super) struct DeserializeError(Box<str>);

impl From<String> for DeserializeError {
    #[cold]
    fn from(reason: String) -> Self {
        Self(reason.into())
    }
}

#[cold]
fn ends_early() -> DeserializeError {
    String::from("unexpected end of the data").into()
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeserializeError {}

impl de::Error for DeserializeError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        reason.to_string().into()
    }
}

macro_rules! numbers {
    ($($function:ident, $visit:ident: $number:ty;)*) => {$(
        #[inline]
        fn $function<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
            visitor.$visit(<$number>::from_le_bytes(self.take()?))
        }
    )*};
}

impl<'de, const BIG: bool> de::Deserializer<'de> for &mut Deserializer<'de, BIG> {
    type Error = DeserializeError;

    numbers! {
        deserialize_u8, visit_u8: u8;
        deserialize_u16, visit_u16: u16;
        deserialize_u32, visit_u32: u32;
        deserialize_u64, visit_u64: u64;
        deserialize_i8, visit_i8: i8;
        deserialize_i16, visit_i16: i16;
        deserialize_i32, visit_i32: i32;
        deserialize_i64, visit_i64: i64;
        deserialize_f32, visit_f32: f32;
        deserialize_f64, visit_f64: f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.take()? {
            [0] => visitor.visit_bool(false),
            [1] => visitor.visit_bool(true),
            [other] => Err(format!("{other} is neither true (1) nor false (0)").into()),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let code = u32::from_le_bytes(self.take()?);
        let invalid = || DeserializeError::from(format!("{code:#x} is no character"));
        visitor.visit_char(char::from_u32(code).ok_or_else(invalid)?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let bytes = self.take_bytes()?;
        // The last one is a NUL; some writers send none for an empty string.
        let text = bytes.split_last().map_or(bytes, |(_, text)| text);
        let text = std::str::from_utf8(text);
        visitor.visit_str(
            text.map_err(|error| DeserializeError::from(format!("UTF-8 error: {error}")))?,
        )
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_borrowed_bytes(self.take_bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_borrowed_bytes(self.take_bytes()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let left = self.take_length()?;
        visitor.visit_seq(Elements { deserializer: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_seq(Elements { deserializer: self, left: length })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        if fields.is_empty() {
            self.take::<1>()?; // as the serializer writes it
        }
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DeserializeError> {
        let unknown = "optional values, maps, names of fields, or values that say their own type";
        Err(format!("ROS 2 messages have no {unknown}").into())
    }

    serde::forward_to_deserialize_any! { ignored_any identifier option map }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_enum(u32::from_le_bytes(self.take()?).into_deserializer())
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Deserializes the elements of a sequence, or the fields of a struct.
struct Elements<'a, 'de, const BIG: bool> {
    deserializer: &'a mut Deserializer<'de, BIG>,
    left: usize,
}

impl<'de, const BIG: bool> SeqAccess<'de> for Elements<'_, 'de, BIG> {
    type Error = DeserializeError;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeserializeError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.deserializer).map(Some)
    }

    /// The elements to have room for at first. Few: one may take much more memory here than there.
    fn size_hint(&self) -> Option<usize> {
        Some(self.left.min(self.deserializer.rest().len() / 8).min(512))
    }
}
