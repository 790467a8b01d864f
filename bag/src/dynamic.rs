//! Messages compared field by field, by the definition that a recording has of their type: without
//! a struct of it.

use crate::Definition;
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_message_generator::{
    Array, Definitions, Element, FieldType, Message, TypeName, parse_schema,
};
use std::borrow::Cow;
use std::fmt::Write;

/// Compares serialized messages of one type.
///
/// It trusts neither definitions nor messages: time and memory are bounded by their sizes.
#[derive(Debug)]
pub struct MessageComparer {
    definitions: Definitions,
    name: TypeName,
}

/// The fields in which two messages differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The first fields, at most as many as asked for.
    pub fields: Vec<FieldDifference>,
    /// The number of further ones.
    pub more: u64,
}

/// A field with two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDifference {
    /// The path of the field, such as `pose.covariance[3]`.
    pub field: String,
    /// The left value, as text.
    pub left: String,
    /// The right value, as text.
    pub right: String,
}

impl MessageComparer {
    /// A comparer for messages of type `type_name`, such as `sensor_msgs/msg/Imu`.
    ///
    /// # Errors
    /// The name or the definition is not one of ROS 2.
    pub fn new(type_name: &str, definition: &Definition) -> Result<Self> {
        let (name, definitions) = definitions(type_name, definition)?;
        Ok(Self { definitions, name })
    }

    /// The fields in which two messages differ, of which up to `fields_max` are described.
    ///
    /// Numbers are compared by their bits, so that a NaN equals itself. Padding, bytes after the
    /// last field, and the byte order are no difference.
    ///
    /// # Errors
    /// A message is not as the definition says.
    pub fn differences(&self, left: &[u8], right: &[u8], fields_max: usize) -> Result<Differences> {
        let mut walk = Walk {
            definitions: &self.definitions,
            sides: [Some(Cursor::new(left, "left")?), Some(Cursor::new(right, "right")?)],
            path: String::new(),
            found: Differences::default(),
            fields_max,
        };
        match self.definitions.get(&self.name) {
            Some(message) => walk.message(message)?,
            None => unreachable!("a parsed definition has its own type"),
        }
        Ok(walk.found)
    }
}

/// The definition of messages of type `type_name`, and those that it contains.
///
/// # Errors
/// The name or the definition is not one of ROS 2.
pub(crate) fn definitions(
    type_name: &str,
    definition: &Definition,
) -> Result<(TypeName, Definitions)> {
    let name = TypeName::parse(type_name);
    let name = name.ok_or_else(|| {
        let text = format!(
            "failed to decode messages of type `{type_name}`: a type is named as in \
             std_msgs/msg/String"
        );
        Error::new(ErrorKind::InvalidName, text)
    })?;
    if definition.encoding != "ros2msg" {
        let text = format!(
            "failed to decode messages of type {type_name}: its definition is in `{}`; record \
             it with `ros2msg` definitions",
            definition.encoding
        );
        return Err(Error::new(ErrorKind::Unsupported, text));
    }
    let definitions = parse_schema(&name, &definition.text, type_name).map_err(|error| {
        let text = format!("failed to decode messages: {error}");
        Error::new(ErrorKind::Parse, text).caused_by(error)
    })?;
    Ok((name, definitions))
}

/// A walk through two messages at once.
struct Walk<'a> {
    definitions: &'a Definitions,
    /// Left and right; `None` within elements that one of them does not have.
    sides: [Option<Cursor<'a>>; 2],
    path: String,
    found: Differences,
    fields_max: usize,
}

impl<'a> Walk<'a> {
    fn message(&mut self, message: &'a Message) -> Result<()> {
        if message.fields.is_empty() {
            // Its C struct has a member all the same.
            self.each(|cursor| cursor.take(1, 1).map(drop))?;
        }
        for field in &message.fields {
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&field.name);
            self.field(&field.ty)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    fn field(&mut self, ty: &'a FieldType) -> Result<()> {
        let counts = match ty.array {
            Array::Single => return self.element(&ty.element),
            Array::Fixed(count) => [count as usize; 2],
            Array::Bounded(_) | Array::Unbounded => {
                let counts = self.each(Cursor::count)?;
                if let [Some(left), Some(right)] = counts
                    && left != right
                {
                    self.differ(|| (format!("{left} elements"), format!("{right} elements")));
                }
                counts.map(Option::unwrap_or_default)
            }
        };
        if let Some(size) = size_of(&ty.element)
            && self.are_equal_blocks(counts, size)?
        {
            return Ok(());
        }
        let common = counts[0].min(counts[1]);
        self.elements(&ty.element, 0..common)?;
        // Only one of them has more; the other side rests meanwhile.
        for side in [0, 1] {
            if counts[side] > common && self.sides[side].is_some() {
                let other = self.sides[1 - side].take();
                let walked = self.elements(&ty.element, common..counts[side]);
                self.sides[1 - side] = other;
                walked?;
            }
        }
        Ok(())
    }

    fn elements(&mut self, element: &'a Element, range: std::ops::Range<usize>) -> Result<()> {
        let length = self.path.len();
        for index in range {
            // A text cannot fail to grow.
            let _ = write!(self.path, "[{index}]");
            self.element(element)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    /// Skips numbers that are the same bytes on both sides.
    fn are_equal_blocks(&mut self, counts: [usize; 2], size: usize) -> Result<bool> {
        let [Some(left), Some(right)] = &mut self.sides else { return Ok(false) };
        if counts[0] != counts[1] || left.is_big_endian != right.is_big_endian || counts[0] == 0 {
            return Ok(counts == [0, 0]);
        }
        let starts = [left.at, right.at];
        let length = counts[0].saturating_mul(size);
        let blocks = [left.take(length, size), right.take(length, size)];
        let equal = match blocks {
            [Ok(left), Ok(right)] => left == right,
            _ => false, // The element that is missing is found one by one.
        };
        if !equal {
            [left.at, right.at] = starts;
        }
        Ok(equal)
    }

    fn element(&mut self, element: &'a Element) -> Result<()> {
        match element {
            Element::Message(name) => {
                let message = self.definitions.get(name);
                return self.message(message.expect("parsing has checked all references"));
            }
            Element::String(_) => {
                if let [Some(left), Some(right)] = self.each(Cursor::text)?
                    && left != right
                {
                    self.differ(|| (quoted(left), quoted(right)));
                }
            }
            Element::WString(_) => {
                if let [Some(left), Some(right)] = self.each(Cursor::wide_text)?
                    && left != right
                {
                    self.differ(|| (format!("{left:?}"), format!("{right:?}")));
                }
            }
            _ => {
                let size = size_of(element).unwrap_or(1);
                if let [Some(left), Some(right)] = self.each(|cursor| cursor.number(size))?
                    && left != right
                {
                    self.differ(|| (number_text(element, left), number_text(element, right)));
                }
            }
        }
        Ok(())
    }

    /// Reads the same from each side.
    fn each<T>(
        &mut self,
        mut read: impl FnMut(&mut Cursor<'a>) -> Result<T, String>,
    ) -> Result<[Option<T>; 2]> {
        let mut values = [None, None];
        for (value, side) in values.iter_mut().zip(&mut self.sides) {
            let Some(cursor) = side else { continue };
            *value = Some(read(cursor).map_err(|problem| cursor.undecoded(&self.path, &problem))?);
        }
        Ok(values)
    }

    /// Notes a difference of the field at the path.
    fn differ(&mut self, values: impl FnOnce() -> (String, String)) {
        if self.found.fields.len() == self.fields_max {
            self.found.more += 1;
            return;
        }
        let (left, right) = values();
        self.found.fields.push(FieldDifference { field: self.path.clone(), left, right });
    }
}

/// The error of a message that is not as its definition says.
fn undecoded(side: &str, offset: usize, field: &str, problem: &str) -> Error {
    let text =
        format!("failed to decode the {side} message at byte {offset}, field `{field}`: {problem}");
    Error::new(ErrorKind::Parse, text)
}

/// The length of the header that says how a message is serialized.
pub(crate) const HEADER: usize = 4;

/// The longest text that is shown, in characters.
const SHOWN_MAX: usize = 80;

/// The rest of a serialized message.
pub(crate) struct Cursor<'a> {
    side: &'static str,
    /// The message without its header.
    body: &'a [u8],
    pub(crate) at: usize,
    pub(crate) is_big_endian: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(message: &'a [u8], side: &'static str) -> Result<Self> {
        let fail = |problem: String| undecoded(side, 0, "", &problem);
        let Some((header, body)) = message.split_first_chunk::<HEADER>() else {
            return Err(fail(format!("it has {} bytes, no header", message.len())));
        };
        let is_big_endian = match header[..2] {
            [0, 0] => true,
            [0, 1] => false,
            _ => return Err(fail(format!("its encapsulation {:?} is not CDR", &header[..2]))),
        };
        Ok(Self { side, body, at: 0, is_big_endian })
    }

    /// The error of a message that is not as its definition says, at this place.
    pub(crate) fn undecoded(&self, field: &str, problem: &str) -> Error {
        undecoded(self.side, self.at + HEADER, field, problem)
    }

    /// The next `length` bytes, from a multiple of `alignment` on.
    pub(crate) fn take(&mut self, length: usize, alignment: usize) -> Result<&'a [u8], String> {
        let start = self.at.next_multiple_of(alignment);
        let bytes = start.checked_add(length).and_then(|end| self.body.get(start..end));
        let bytes = bytes.ok_or_else(|| {
            let left = self.body.len().saturating_sub(start);
            format!("{length} bytes are needed, and {left} are left")
        })?;
        self.at = start + length;
        Ok(bytes)
    }

    /// An unsigned number of `size` bytes.
    pub(crate) fn number(&mut self, size: usize) -> Result<u64, String> {
        let is_big_endian = self.is_big_endian;
        let bytes = self.take(size, size)?;
        let add = |number, byte: &u8| number << 8 | u64::from(*byte);
        Ok(match is_big_endian {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        })
    }

    /// Numbers of `size` bytes, little-endian.
    pub(crate) fn numbers(&mut self, count: usize, size: usize) -> Result<Cow<'a, [u8]>, String> {
        if count == 0 {
            return Ok(Cow::Borrowed(&[])); // Without padding.
        }
        let mut bytes = Cow::Borrowed(self.take(count.saturating_mul(size), size)?);
        if self.is_big_endian && size > 1 {
            bytes.to_mut().chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(bytes)
    }

    /// The number of elements of a sequence. Each has at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize, String> {
        let count = self.number(4)? as usize;
        let left = self.body.len() - self.at;
        match count <= left {
            true => Ok(count),
            false => Err(format!("it has {count} elements, and {left} bytes are left")),
        }
    }

    /// A text, without the NUL at its end.
    pub(crate) fn text(&mut self) -> Result<&'a [u8], String> {
        let length = self.count()?;
        let bytes = self.take(length, 1)?;
        Ok(bytes.strip_suffix(&[0]).unwrap_or(bytes))
    }

    /// A text of 16-bit units, each in 32 bits as Fast DDS has them.
    pub(crate) fn wide_text(&mut self) -> Result<String, String> {
        let count = self.count()?;
        let unit = |wide| u16::try_from(wide).map_err(|_| format!("{wide:#x} is no 16-bit unit"));
        let units = (0..count).map(|_| self.number(4).and_then(unit));
        let units = units.collect::<Result<Vec<_>, String>>()?;
        Ok(String::from_utf16_lossy(&units))
    }
}

/// The size of a number in bytes; `None` for text and messages.
pub(crate) fn size_of(element: &Element) -> Option<usize> {
    match element {
        Element::Bool | Element::Byte | Element::Char | Element::Int8 | Element::UInt8 => Some(1),
        Element::Int16 | Element::UInt16 => Some(2),
        Element::Int32 | Element::UInt32 | Element::Float32 => Some(4),
        Element::Int64 | Element::UInt64 | Element::Float64 => Some(8),
        Element::String(_) | Element::WString(_) | Element::Message(_) => None,
    }
}

/// The value of a number with these bits.
fn number_text(element: &Element, bits: u64) -> String {
    match element {
        Element::Bool if bits < 2 => (bits == 1).to_string(),
        Element::Int8 => (bits as i8).to_string(),
        Element::Int16 => (bits as i16).to_string(),
        Element::Int32 => (bits as i32).to_string(),
        Element::Int64 => (bits as i64).to_string(),
        Element::Float32 => float_text(f32::from_bits(bits as u32).into(), bits),
        Element::Float64 => float_text(f64::from_bits(bits), bits),
        _ => bits.to_string(),
    }
}

/// NaNs differ in their bits only.
fn float_text(value: f64, bits: u64) -> String {
    match value.is_nan() {
        true => format!("NaN (0x{bits:x})"),
        false => format!("{value:?}"),
    }
}

fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut shown = format!("{:?}", text.chars().take(SHOWN_MAX).collect::<String>());
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown += "...";
    }
    shown
}
