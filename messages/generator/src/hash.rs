//! Hashes of types (REP 2016).

use crate::definition::{Array, Element, Field, Message};
use crate::name::TypeName;
use crate::types::Definitions;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The name of the member that middleware gives to messages without fields, and its type.
pub const FILLER: (&str, Element) = ("structure_needs_at_least_one_member", Element::UInt8);

impl Definitions {
    /// The hash of a type, such as `RIHS01_7d9a...`: of its name, and of the names and types of its
    /// fields and of all types that it contains. Constants and default values do not count.
    ///
    /// `None` without its definition.
    pub fn type_hash(&self, name: &TypeName) -> Option<String> {
        let mut referenced = self.dependencies(name);
        referenced.sort_by_key(|message| message.name.to_string());
        let described: Vec<_> = referenced.into_iter().map(describe).collect();
        let text = format!(
            "{{\"type_description\": {}, \"referenced_type_descriptions\": [{}]}}",
            describe(self.get(name)?),
            described.join(", ")
        );
        let mut hash = String::from("RIHS01_");
        for byte in Sha256::digest(text) {
            let _ = write!(hash, "{byte:02x}");
        }
        Some(hash)
    }
}

/// The description of one type, as JSON in the form of the standard.
fn describe(message: &Message) -> String {
    let mut fields: Vec<_> = message
        .fields
        .iter()
        .map(|Field { name, ty, .. }| field(name, &ty.element, ty.array))
        .collect();
    if fields.is_empty() {
        fields.push(field(FILLER.0, &FILLER.1, Array::Single));
    }
    let fields = fields.join(", ");
    format!("{{\"type_name\": \"{}\", \"fields\": [{fields}]}}", message.name)
}

fn field(name: &str, element: &Element, array: Array) -> String {
    let (id, nested) = type_id(element);
    let (offset, capacity) = match array {
        Array::Single => (0, 0),
        Array::Fixed(n) => (48, n),
        Array::Bounded(n) => (96, n),
        Array::Unbounded => (144, 0),
    };
    let string_capacity = match element {
        Element::String(bound) | Element::WString(bound) => bound.unwrap_or(0),
        _ => 0,
    };
    format!(
        "{{\"name\": \"{name}\", \"type\": {{\"type_id\": {}, \"capacity\": {capacity}, \
         \"string_capacity\": {string_capacity}, \"nested_type_name\": \"{nested}\"}}}}",
        id + offset
    )
}

/// The number of a type in `type_description_interfaces/msg/FieldType`, and the name of a message.
fn type_id(element: &Element) -> (u32, String) {
    let id = match element {
        Element::Message(name) => return (1, name.to_string()),
        Element::String(None) => 17,
        Element::WString(None) => 18,
        Element::String(Some(_)) => 21,
        Element::WString(Some(_)) => 22,
        primitive => {
            let mut primitives = Element::PRIMITIVES.iter();
            primitives.find(|(element, ..)| element == primitive).map_or(0, |(.., id)| *id)
        }
    };
    (id, String::new())
}
