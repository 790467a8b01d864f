//! Messages decoded by the definition that a recording has of their type: without a struct of it.

use crate::Definition;
use crate::dynamic::{Cursor, definitions, size_of};
use ringspin_executor::Result;
use ringspin_message_generator::{Array, Definitions, Element, FieldType, Message, TypeName};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;
use std::fmt::Write;

/// Decodes serialized messages of one type.
///
/// It trusts neither definitions nor messages: time and memory are bounded by their sizes.
///
/// ```
/// use ringspin_bag::{Definition, MessageDecoder};
///
/// let definition = Definition { encoding: "ros2msg".into(), text: "int8 x\nbool[] set".into() };
/// let decoder = MessageDecoder::new("my_msgs/msg/Point", &definition)?;
/// let message = decoder.decode(&[0, 1, 0, 0, 255, 0, 0, 0, 2, 0, 0, 0, 1, 0])?;
/// assert_eq!(serde_json::to_string(&message)?, r#"{"x":-1,"set":[true,false]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MessageDecoder {
    definitions: Definitions,
    name: TypeName,
}

impl MessageDecoder {
    /// A decoder of messages of type `type_name`, such as `sensor_msgs/msg/Imu`.
    ///
    /// # Errors
    /// The name or the definition is not one of ROS 2.
    pub fn new(type_name: &str, definition: &Definition) -> Result<Self> {
        let (name, definitions) = definitions(type_name, definition)?;
        Ok(Self { definitions, name })
    }

    /// Decodes a message, with its header.
    ///
    /// # Errors
    /// The message is not as the definition says.
    pub fn decode<'a>(&'a self, data: &'a [u8]) -> Result<DecodedMessage<'a>> {
        let cursor = Cursor::new(data, "recorded")?;
        let mut decoding = Decoding { definitions: &self.definitions, cursor, path: String::new() };
        let message = self.definitions.get(&self.name);
        let message = message.expect("a parsed definition has its own type");
        decoding.fields(message).map(Value::Message).map(DecodedMessage)
    }
}

/// A decoded message. It is serialized as a map of its fields, in their order; NaN and infinities
/// as the texts `NaN`, `Infinity` and `-Infinity`.
#[derive(Debug)]
pub struct DecodedMessage<'a>(Value<'a>);

impl Serialize for DecodedMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The values of a message with the names of their fields.
type Fields<'a> = Vec<(&'a str, Value<'a>)>;

/// A decoded value.
#[derive(Debug)]
enum Value<'a> {
    /// The bits of a number.
    Number(&'a Element, u64),
    /// An array of numbers, little-endian.
    Numbers(&'a Element, Cow<'a, [u8]>),
    Text(&'a [u8]),
    WideText(String),
    List(Vec<Value<'a>>),
    Message(Fields<'a>),
}

/// A message that is being decoded.
struct Decoding<'a> {
    definitions: &'a Definitions,
    cursor: Cursor<'a>,
    /// The field that is decoded, for errors.
    path: String,
}

impl<'a> Decoding<'a> {
    fn fields(&mut self, message: &'a Message) -> Result<Fields<'a>> {
        if message.fields.is_empty() {
            // Its C struct has a member all the same.
            self.read(|cursor| cursor.take(1, 1))?;
        }
        let mut fields = Vec::new();
        for field in &message.fields {
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&field.name);
            fields.push((&*field.name, self.field(&field.ty)?));
            self.path.truncate(length);
        }
        Ok(fields)
    }

    fn field(&mut self, ty: &'a FieldType) -> Result<Value<'a>> {
        let count = match ty.array {
            Array::Single => return self.element(&ty.element),
            Array::Fixed(count) => count as usize,
            Array::Bounded(_) | Array::Unbounded => self.read(Cursor::count)?,
        };
        if let Some(size) = size_of(&ty.element) {
            let bytes = self.read(|cursor| cursor.numbers(count, size))?;
            return Ok(Value::Numbers(&ty.element, bytes));
        }
        let mut values = Vec::new();
        let length = self.path.len();
        for index in 0..count {
            // A text cannot fail to grow.
            let _ = write!(self.path, "[{index}]");
            values.push(self.element(&ty.element)?);
            self.path.truncate(length);
        }
        Ok(Value::List(values))
    }

    fn element(&mut self, element: &'a Element) -> Result<Value<'a>> {
        match element {
            Element::Message(name) => {
                let message = self.definitions.get(name);
                let message = message.expect("parsing has checked all references");
                self.fields(message).map(Value::Message)
            }
            Element::String(_) => self.read(Cursor::text).map(Value::Text),
            Element::WString(_) => self.read(Cursor::wide_text).map(Value::WideText),
            _ => {
                let size = size_of(element).unwrap_or(1);
                let bits = self.read(|cursor| cursor.number(size))?;
                Ok(Value::Number(element, bits))
            }
        }
    }

    fn read<T>(&mut self, read: impl FnOnce(&mut Cursor<'a>) -> Result<T, String>) -> Result<T> {
        read(&mut self.cursor).map_err(|problem| self.cursor.undecoded(&self.path, &problem))
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Number(element, bits) => number(serializer, element, *bits),
            Value::Numbers(element, bytes) => {
                let size = size_of(element).unwrap_or(1);
                let mut list = serializer.serialize_seq(Some(bytes.len() / size))?;
                for bytes in bytes.chunks_exact(size) {
                    let mut bits = [0; 8];
                    bits[..size].copy_from_slice(bytes);
                    list.serialize_element(&Value::Number(element, u64::from_le_bytes(bits)))?;
                }
                list.end()
            }
            Value::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            Value::WideText(text) => serializer.serialize_str(text),
            Value::List(values) => values.serialize(serializer),
            Value::Message(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// Serializes the number with these bits.
fn number<S: Serializer>(serializer: S, element: &Element, bits: u64) -> Result<S::Ok, S::Error> {
    match element {
        Element::Bool => serializer.serialize_bool(bits != 0),
        Element::Int8 => serializer.serialize_i8(bits as i8),
        Element::Int16 => serializer.serialize_i16(bits as i16),
        Element::Int32 => serializer.serialize_i32(bits as i32),
        Element::Int64 => serializer.serialize_i64(bits as i64),
        Element::Float32 | Element::Float64 => {
            let single = f32::from_bits(bits as u32);
            let is_single = *element == Element::Float32;
            let value = if is_single { single.into() } else { f64::from_bits(bits) };
            match value {
                _ if value.is_nan() => serializer.serialize_str("NaN"),
                f64::INFINITY => serializer.serialize_str("Infinity"),
                f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
                _ if is_single => serializer.serialize_f32(single),
                _ => serializer.serialize_f64(value),
            }
        }
        _ => serializer.serialize_u64(bits),
    }
}
