//! The serializer: appends to a buffer that is used again, names the field of an error, and refuses
//! strings that ROS 2 would cut off. Without a buffer it only checks a message.

use serde::ser::{self, Impossible, Serialize};
use std::fmt;

/// Serializes to the end of a buffer, little-endian.
pub(super) struct Serializer<'a, B> {
    bytes: &'a mut B,
    /// The position from which alignment counts.
    start: usize,
}

/// The place of the bytes.
pub(super) trait Buffer {
    fn len(&self) -> usize;
    fn append(&mut self, bytes: &[u8]);
}

impl Buffer for Vec<u8> {
    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Keeps no bytes, so that loops over numbers have no effect, and the compiler removes them.
pub(super) struct NoBuffer;

impl Buffer for NoBuffer {
    #[inline]
    fn len(&self) -> usize {
        0
    }

    #[inline]
    fn append(&mut self, _: &[u8]) {}
}

impl<'a, B: Buffer> Serializer<'a, B> {
    pub(super) fn new(bytes: &'a mut B) -> Self {
        let start = bytes.len();
        Self { bytes, start }
    }

    /// Appends a number, aligned to its size.
    #[inline]
    fn put<const N: usize>(&mut self, number: [u8; N]) -> Result<(), SerializeError> {
        let padding = (self.bytes.len() - self.start).wrapping_neg() & (N - 1);
        // The elements of a sequence are aligned by the first one.
        if padding != 0 {
            self.bytes.append(&[0; 8][..padding]);
        }
        self.bytes.append(&number);
        Ok(())
    }

    fn put_length(&mut self, length: usize) -> Result<(), SerializeError> {
        let too_long = |_| SerializeError::new("more elements than 32 bits can count");
        self.put(u32::try_from(length).map_err(too_long)?.to_le_bytes())
    }

    fn elements(&mut self) -> Elements<'_, 'a, B> {
        Elements { serializer: self, index: 0 }
    }
}

/// A value that cannot be serialized. Of one word, so that it is returned in a register.
#[derive(Debug)]
pub(super) struct SerializeError(Box<Problem>);

#[derive(Debug)]
struct Problem {
    /// The field, from the outermost message; empty if the message itself is none.
    place: String,
    reason: String,
}

impl SerializeError {
    #[cold]
    fn new(reason: impl Into<String>) -> Self {
        Self(Box::new(Problem { place: String::new(), reason: reason.into() }))
    }

    /// The same error, within `outer`: a field, or an element as in `[2]`.
    #[cold]
    fn within(mut self, outer: &str) -> Self {
        let inner = &self.0.place;
        let separator = if inner.is_empty() || inner.starts_with('[') { "" } else { "." };
        self.0.place = format!("{outer}{separator}{inner}");
        self
    }
}

impl fmt::Display for SerializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { place, reason } = &*self.0;
        let separator = if place.is_empty() { "" } else { ": " };
        write!(f, "{place}{separator}{reason}")
    }
}

impl std::error::Error for SerializeError {}

impl ser::Error for SerializeError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self::new(reason.to_string())
    }
}

fn not_in_ros(what: &str) -> SerializeError {
    SerializeError::new(format!("ROS 2 messages have no {what}"))
}

macro_rules! numbers {
    ($($function:ident: $number:ty),*) => {$(
        #[inline]
        fn $function(self, value: $number) -> Result<(), SerializeError> {
            self.put(value.to_le_bytes())
        }
    )*};
}

impl<'a, 'b, B: Buffer> ser::Serializer for &'a mut Serializer<'b, B> {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Elements<'a, 'b, B>;
    type SerializeTuple = Elements<'a, 'b, B>;
    type SerializeTupleStruct = Elements<'a, 'b, B>;
    type SerializeStruct = Fields<'a, 'b, B>;
    type SerializeTupleVariant = Impossible<(), SerializeError>;
    type SerializeMap = Impossible<(), SerializeError>;
    type SerializeStructVariant = Impossible<(), SerializeError>;

    numbers! {
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_f32: f32, serialize_f64: f64
    }

    fn serialize_bool(self, value: bool) -> Result<(), SerializeError> {
        self.put([u8::from(value)])
    }

    fn serialize_char(self, value: char) -> Result<(), SerializeError> {
        self.put(u32::from(value).to_le_bytes())
    }

    fn serialize_str(self, text: &str) -> Result<(), SerializeError> {
        if let Some(at) = text.bytes().position(|byte| byte == 0) {
            let reason =
                format!("a string has a NUL character at byte {at}, where ROS 2 would cut it off");
            return Err(SerializeError::new(reason));
        }
        self.put_length(text.len() + 1)?;
        self.bytes.append(text.as_bytes());
        self.put([0])
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), SerializeError> {
        self.put_length(bytes.len())?;
        self.bytes.append(bytes);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), SerializeError> {
        Err(not_in_ros("optional values"))
    }

    fn serialize_some<T: ?Sized + Serialize>(self, _: &T) -> Result<(), SerializeError> {
        self.serialize_none()
    }

    fn serialize_unit(self) -> Result<(), SerializeError> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerializeError> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), SerializeError> {
        self.put(index.to_le_bytes())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), SerializeError> {
        Err(not_in_ros("variants"))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Elements<'a, 'b, B>, SerializeError> {
        let length = length.ok_or_else(|| not_in_ros("sequences of unknown length"))?;
        self.put_length(length)?;
        Ok(self.elements())
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements<'a, 'b, B>, SerializeError> {
        Ok(self.elements())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Elements<'a, 'b, B>, SerializeError> {
        Ok(self.elements())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, SerializeError> {
        Err(not_in_ros("variants"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, SerializeError> {
        Err(not_in_ros("maps"))
    }

    /// Middleware gives a message without fields one byte without a meaning.
    fn serialize_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<Fields<'a, 'b, B>, SerializeError> {
        if length == 0 {
            self.put([0])?;
        }
        Ok(Fields(self))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, SerializeError> {
        Err(not_in_ros("variants"))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Serializes the fields of a struct.
pub(super) struct Fields<'a, 'b, B>(&'a mut Serializer<'b, B>);

impl<B: Buffer> ser::SerializeStruct for Fields<'_, '_, B> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        value.serialize(&mut *self.0).map_err(|error| error.within(name))
    }

    fn end(self) -> Result<(), SerializeError> {
        Ok(())
    }
}

/// Serializes the elements of a sequence or tuple.
pub(super) struct Elements<'a, 'b, B> {
    serializer: &'a mut Serializer<'b, B>,
    index: usize,
}

impl<B: Buffer> Elements<'_, '_, B> {
    #[inline]
    fn put<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), SerializeError> {
        let index = self.index;
        self.index += 1;
        value.serialize(&mut *self.serializer).map_err(|error| error.within(&format!("[{index}]")))
    }
}

macro_rules! elements {
    ($($of:ident::$function:ident),*) => {$(
        impl<B: Buffer> ser::$of for Elements<'_, '_, B> {
            type Ok = ();
            type Error = SerializeError;

            fn $function<T: ?Sized + Serialize>(
                &mut self,
                value: &T,
            ) -> Result<(), SerializeError> {
                self.put(value)
            }

            fn end(self) -> Result<(), SerializeError> {
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field
}
