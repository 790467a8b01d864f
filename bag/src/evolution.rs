//! Messages that were recorded with another definition of their type, in the definition of the
//! program.
//!
//! Fields are matched by their names, at every depth. Both definitions are compared once, when the
//! topic is opened, so that each message can be migrated; a message is then read field by field in
//! the recorded order and written in that of the program.

use crate::dynamic::{Cursor, HEADER, definitions, size_of};
use crate::error::reworded;
use crate::outlet::Outlet;
use crate::recording::{Definition, Topic};
use ringspin_executor::{BoxError, Delivery, ErrorKind, Result};
use ringspin_message_generator::{
    Array, Definitions, Element, Field, FieldType, Message, TypeName, Value,
};

/// A played topic with another definition in the recording than in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migration {
    /// The topic, by its name in the graph.
    pub topic: String,
    /// The type of its messages.
    pub type_name: String,
    /// The fields that the recording does not have, such as `poses[].covariance`: they have the
    /// default of the definition, or are zero or empty.
    pub defaulted: Vec<String>,
    /// The recorded fields that the program does not have: they are left out.
    pub left_out: Vec<String>,
}

/// The migration of serialized messages of one type.
#[derive(Debug)]
pub(crate) struct Evolution {
    recorded: Definitions,
    current: Definitions,
    name: TypeName,
}

/// Publishes migrated messages.
pub(crate) struct EvolvingOutlet {
    pub(crate) evolution: Evolution,
    pub(crate) outlet: Box<dyn Outlet>,
}

impl Outlet for EvolvingOutlet {
    fn publish(&mut self, data: &[u8]) -> Result<Delivery, BoxError> {
        self.outlet.publish(&self.evolution.migrate(data)?)
    }
}

impl Evolution {
    /// Compares the definition of a recorded topic, which is played as `topic`, with the text of
    /// the definition of the program.
    ///
    /// # Errors
    /// A definition is not known, or a field has another type in both.
    pub(crate) fn new(topic: &str, recorded: &Topic, text: &str) -> Result<(Self, Migration)> {
        let type_name = recorded.type_name.clone();
        let failed = |error: BoxError| {
            let text = |text: &str| format!("failed to play topic {topic}: {text}");
            reworded(error, ErrorKind::TypeMismatch, text).on_topic(topic)
        };
        let Some(definition) = &recorded.definition else {
            let text = format!("the recording has no definition of {type_name}");
            return Err(failed(text.into()));
        };
        let current = Definition { encoding: "ros2msg".into(), text: text.into() };
        let (name, recorded) =
            definitions(&type_name, definition).map_err(|error| failed(error.into()))?;
        let (_, current) =
            definitions(&type_name, &current).map_err(|error| failed(error.into()))?;
        let migration = Migration { topic: topic.into(), type_name, ..Migration::default() };
        let evolution = Self { recorded, current, name };
        let mut comparison = Comparison { evolution: &evolution, path: String::new(), migration };
        comparison.message(&evolution.name).map_err(|problem| failed(problem.into()))?;
        let migration = comparison.migration;
        Ok((evolution, migration))
    }

    /// The message in the definition of the program.
    ///
    /// # Errors
    /// It is not as the recorded definition says, or a sequence is too long for the program's.
    pub(crate) fn migrate(&self, message: &[u8]) -> Result<Vec<u8>> {
        let mut copy = Copy {
            evolution: self,
            from: Cursor::new(message, "recorded")?,
            to: Vec::with_capacity(message.len() + 64),
            field: &self.name.name,
        };
        copy.to.extend([0, 1, 0, 0]);
        match copy.message(&self.name) {
            Ok(()) => Ok(copy.to),
            Err(problem) => Err(copy.from.undecoded(copy.field, &problem)),
        }
    }
}

/// The message of a name. Parsing has checked all references.
fn message<'a>(definitions: &'a Definitions, name: &TypeName) -> &'a Message {
    definitions.get(name).expect("a parsed definition has all types that it names")
}

/// The field of the same name.
fn same_name<'a>(fields: &'a [Field], field: &Field) -> Option<&'a Field> {
    fields.iter().find(|other| other.name == field.name)
}

/// Whether every value of the recorded type is one of the program's, or may be one.
fn is_compatible(recorded: &FieldType, current: &FieldType) -> bool {
    let is_sequence = |array| matches!(array, Array::Bounded(_) | Array::Unbounded);
    let same_arrays = recorded.array == current.array
        || is_sequence(recorded.array) && is_sequence(current.array)
        || matches!(recorded.array, Array::Fixed(_)) && current.array == Array::Unbounded;
    let same_elements = match (&recorded.element, &current.element) {
        (Element::String(_), Element::String(None))
        | (Element::WString(_), Element::WString(None)) => true,
        (recorded, current) => recorded == current,
    };
    same_arrays && same_elements
}

/// A walk through both definitions at once.
struct Comparison<'a> {
    evolution: &'a Evolution,
    path: String,
    migration: Migration,
}

impl Comparison<'_> {
    fn message(&mut self, name: &TypeName) -> Result<(), String> {
        let recorded = &message(&self.evolution.recorded, name).fields;
        let current = &message(&self.evolution.current, name).fields;
        for field in current {
            match same_name(recorded, field) {
                None => self.migration.defaulted.push(self.path_of(field)),
                Some(of) if is_compatible(&of.ty, &field.ty) => self.nested(field)?,
                Some(of) => {
                    return Err(format!(
                        "field `{}` was recorded as {}, and is {} in the program; build the \
                         node with the recorded definition",
                        self.path_of(field),
                        of.ty,
                        field.ty
                    ));
                }
            }
        }
        let left_out = recorded.iter().filter(|field| same_name(current, field).is_none());
        let left_out: Vec<_> = left_out.map(|field| self.path_of(field)).collect();
        self.migration.left_out.extend(left_out);
        Ok(())
    }

    fn nested(&mut self, field: &Field) -> Result<(), String> {
        let Element::Message(name) = &field.ty.element else { return Ok(()) };
        let outer = self.path.len();
        self.path = self.path_of(field);
        if field.ty.array != Array::Single {
            self.path.push_str("[]");
        }
        self.path.push('.');
        self.message(name)?;
        self.path.truncate(outer);
        Ok(())
    }

    fn path_of(&self, field: &Field) -> String {
        format!("{}{}", self.path, field.name)
    }
}

/// One message on its way.
struct Copy<'a> {
    evolution: &'a Evolution,
    from: Cursor<'a>,
    /// Little-endian, after its header.
    to: Vec<u8>,
    /// The name of the innermost field, for errors.
    field: &'a str,
}

impl<'a> Copy<'a> {
    fn message(&mut self, name: &TypeName) -> Result<(), String> {
        let Evolution { recorded, current, .. } = self.evolution;
        let (recorded, current) = (message(recorded, name), message(current, name));
        let mut starts = Vec::with_capacity(recorded.fields.len());
        self.skip_message(recorded, |at| starts.push(at))?;
        let end = self.from.at;
        for field in &current.fields {
            match recorded.fields.iter().position(|other| other.name == field.name) {
                Some(index) => {
                    self.field = &field.name;
                    self.from.at = starts[index];
                    self.copy(&recorded.fields[index].ty, &field.ty)?;
                }
                None => self.default(&field.ty, field.default.as_ref()),
            }
        }
        self.from.at = end;
        if current.fields.is_empty() {
            self.to.push(0);
        }
        Ok(())
    }

    /// Skips the fields of a recorded message, with the start of each.
    fn skip_message(
        &mut self,
        message: &'a Message,
        mut starts: impl FnMut(usize),
    ) -> Result<(), String> {
        if message.fields.is_empty() {
            // Its C struct has a member all the same.
            return self.from.take(1, 1).map(drop);
        }
        for field in &message.fields {
            self.field = &field.name;
            starts(self.from.at);
            self.skip(&field.ty)?;
        }
        Ok(())
    }

    fn skip(&mut self, ty: &'a FieldType) -> Result<(), String> {
        let count = self.count(ty.array)?;
        if let (Some(size), 1..) = (size_of(&ty.element), count) {
            return self.from.take(count.saturating_mul(size), size).map(drop);
        }
        for _ in 0..count {
            match &ty.element {
                Element::Message(name) => {
                    let message = message(&self.evolution.recorded, name);
                    self.skip_message(message, |_| ())?;
                }
                Element::WString(_) => {
                    let units = self.from.count()?;
                    self.from.take(units.saturating_mul(4), 1)?;
                }
                _ => drop(self.from.text()?),
            }
        }
        Ok(())
    }

    /// The number of elements of a recorded field.
    fn count(&mut self, array: Array) -> Result<usize, String> {
        match array {
            Array::Single => Ok(1),
            Array::Fixed(count) => Ok(count as usize),
            Array::Bounded(_) | Array::Unbounded => self.from.count(),
        }
    }

    fn copy(&mut self, recorded: &'a FieldType, current: &FieldType) -> Result<(), String> {
        let count = self.count(recorded.array)?;
        match current.array {
            Array::Bounded(bound) if count > bound as usize => {
                return Err(format!("it has {count} elements, and {bound} are possible"));
            }
            Array::Bounded(_) | Array::Unbounded => self.put(count as u64, 4),
            Array::Single | Array::Fixed(_) => (),
        }
        if let (Some(size), 1.., false) =
            (size_of(&recorded.element), count, self.from.is_big_endian)
        {
            let bytes = self.from.take(count.saturating_mul(size), size)?;
            self.align(size);
            self.to.extend(bytes);
            return Ok(());
        }
        for _ in 0..count {
            self.copy_element(&recorded.element)?;
        }
        Ok(())
    }

    fn copy_element(&mut self, element: &'a Element) -> Result<(), String> {
        match element {
            Element::Message(name) => self.message(name)?,
            Element::String(_) => {
                let text = self.from.text()?;
                self.put_text(text);
            }
            Element::WString(_) => {
                let units = self.from.count()?;
                self.put(units as u64, 4);
                for _ in 0..units {
                    let unit = self.from.number(4)?;
                    self.put(unit, 4);
                }
            }
            _ => {
                let size = size_of(element).unwrap_or(1);
                let number = self.from.number(size)?;
                self.put(number, size);
            }
        }
        Ok(())
    }

    /// Writes the default of a field.
    fn default(&mut self, ty: &FieldType, default: Option<&Value>) {
        let elements: &[Value] = match default {
            Some(Value::Array(values)) => values,
            _ => &[],
        };
        match ty.array {
            Array::Single => self.default_element(&ty.element, default),
            Array::Fixed(count) => {
                for index in 0..count as usize {
                    self.default_element(&ty.element, elements.get(index));
                }
            }
            Array::Bounded(_) | Array::Unbounded => {
                self.put(elements.len() as u64, 4);
                for value in elements {
                    self.default_element(&ty.element, Some(value));
                }
            }
        }
    }

    fn default_element(&mut self, element: &Element, default: Option<&Value>) {
        let text = match default {
            Some(Value::String(text)) => text.as_str(),
            _ => "",
        };
        match element {
            Element::Message(name) => {
                let message = message(&self.evolution.current, name);
                for field in &message.fields {
                    self.default(&field.ty, field.default.as_ref());
                }
                if message.fields.is_empty() {
                    self.to.push(0);
                }
            }
            Element::String(_) => self.put_text(text.as_bytes()),
            Element::WString(_) => {
                self.put(text.encode_utf16().count() as u64, 4);
                for unit in text.encode_utf16() {
                    self.put(unit.into(), 4);
                }
            }
            _ => {
                let bits = match default {
                    Some(Value::Bool(value)) => (*value).into(),
                    Some(Value::Integer(value)) => *value as u64,
                    Some(Value::Float(value)) if *element == Element::Float32 => {
                        (*value as f32).to_bits().into()
                    }
                    Some(Value::Float(value)) => value.to_bits(),
                    _ => 0,
                };
                self.put(bits, size_of(element).unwrap_or(1));
            }
        }
    }

    fn align(&mut self, size: usize) {
        let body = (self.to.len() - HEADER).next_multiple_of(size);
        self.to.resize(HEADER + body, 0);
    }

    /// Writes an unsigned number of `size` bytes.
    fn put(&mut self, number: u64, size: usize) {
        self.align(size);
        self.to.extend(&number.to_le_bytes()[..size]);
    }

    fn put_text(&mut self, text: &[u8]) {
        self.put(text.len() as u64 + 1, 4);
        self.to.extend(text);
        self.to.push(0);
    }
}
