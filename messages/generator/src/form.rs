//! Forms in which definitions are written as Rust.

use crate::definition::{Array, Element, Field, FieldType, Message, Value};
use crate::hash::FILLER;
use crate::name::{InterfaceKind, TypeName, rust_name};
use std::borrow::Cow;

/// The path of the crate with the types and traits of [`Form::Idiomatic`] and [`Form::Rmw`].
pub(crate) const RUNTIME: &str = "::rosidl_runtime_rs";

/// A form of a definition in Rust: names, modules and types of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The structs of `ringspin_messages`: `srv::SetBool::Request`, with `Vec` for each array.
    Ringspin,
    /// The idiomatic structs of rosidl for Rust: `srv::SetBool_Request`, with types of the standard
    /// library except for bounds.
    Idiomatic,
    /// The structs of rosidl for Rust for the middleware: `srv::rmw::SetBool_Request`, with strings
    /// and sequences of `rosidl_runtime_rs`.
    Rmw,
}

impl Form {
    /// The modules below the package, and the name of the struct: `msg` and `Imu`, or
    /// `srv::SetBool` and `Request`, or `action::Fibonacci::SendGoal` and `Service`; of rosidl
    /// `srv::rmw` and `SetBool_Request`.
    pub(crate) fn place(self, name: &TypeName) -> (Vec<String>, String) {
        let mut path = vec![name.kind.folder().to_string()];
        if self != Self::Ringspin {
            path.extend((self == Self::Rmw).then(|| "rmw".into()));
            return (path, rust_name(&name.name));
        }
        if name.kind == InterfaceKind::Message {
            return (path, rust_name(&name.name));
        }
        let marker = if name.kind == InterfaceKind::Action { "Action" } else { "Service" };
        let mut parts: Vec<_> = name.name.split('_').map(rust_name).collect();
        match parts.last().map(String::as_str) {
            Some("SendGoal" | "GetResult") if name.kind == InterfaceKind::Action => {
                parts.push("Service".into());
            }
            _ if parts.len() == 1 => parts.push(marker.into()),
            _ => {}
        }
        let rust = parts.pop().unwrap_or_default();
        path.extend(parts);
        (path, rust)
    }

    /// The fields of a struct. One of rosidl has at least one, as in C.
    pub(crate) fn fields(self, message: &Message) -> Cow<'_, [Field]> {
        if self == Self::Ringspin || !message.fields.is_empty() {
            return Cow::Borrowed(&message.fields);
        }
        let ty = FieldType { element: FILLER.1, array: Array::Single };
        Cow::Owned(vec![Field { name: FILLER.0.into(), ty, default: None, line: 1 }])
    }

    /// The form of an array's elements.
    pub(crate) fn of_elements(self, array: Array) -> Self {
        match (self, array) {
            (Self::Idiomatic, Array::Bounded(_)) => Self::Rmw,
            _ => self,
        }
    }

    /// The type of a value that is no message.
    pub(crate) fn value_type(self, element: &Element) -> String {
        if let Some(primitive) = element.rust_primitive() {
            return primitive.into();
        }
        match (self, element) {
            (Self::Idiomatic | Self::Rmw, Element::String(Some(bound))) => {
                format!("{RUNTIME}::BoundedString<{bound}>")
            }
            (Self::Idiomatic | Self::Rmw, Element::WString(Some(bound))) => {
                format!("{RUNTIME}::BoundedWString<{bound}>")
            }
            (Self::Rmw, Element::WString(None)) => format!("{RUNTIME}::WString"),
            (Self::Rmw, _) => format!("{RUNTIME}::String"),
            _ => "::std::string::String".into(),
        }
    }

    /// The type of a field with elements of type `element`.
    pub(crate) fn array_type(self, element: String, array: Array) -> String {
        match (self, array) {
            (_, Array::Single) => element,
            (Self::Idiomatic | Self::Rmw, Array::Fixed(len)) => format!("[{element}; {len}]"),
            (Self::Idiomatic | Self::Rmw, Array::Bounded(bound)) => {
                format!("{RUNTIME}::BoundedSequence<{element}, {bound}>")
            }
            (Self::Rmw, Array::Unbounded) => format!("{RUNTIME}::Sequence<{element}>"),
            _ => format!("::std::vec::Vec<{element}>"),
        }
    }

    /// The default value of a field.
    pub(crate) fn default_of(self, field: &Field) -> String {
        let default = "::core::default::Default::default()";
        match (&field.default, field.ty.array) {
            (Some(value), array) => self.literal(value, &field.ty.element, array),
            (None, Array::Fixed(len)) if self == Self::Ringspin => {
                format!("::std::vec![{default}; {len}]")
            }
            (None, Array::Fixed(_)) => format!("::core::array::from_fn(|_| {default})"),
            (None, _) => default.into(),
        }
    }

    /// A value as Rust has it.
    fn literal(self, value: &Value, element: &Element, array: Array) -> String {
        let values = match value {
            Value::Array(values) => values,
            Value::String(text) => return self.text(text, element),
            value => return number(value, element),
        };
        let form = self.of_elements(array);
        let values: Vec<_> =
            values.iter().map(|value| form.literal(value, element, Array::Single)).collect();
        let values = values.join(", ");
        match array {
            _ if self == Self::Ringspin => format!("::std::vec![{values}]"),
            Array::Fixed(_) => format!("[{values}]"),
            _ => format!("::core::iter::FromIterator::from_iter([{values}])"),
        }
    }

    /// A string, which the parser has compared with its bound.
    fn text(self, text: &str, element: &Element) -> String {
        let is_bounded = matches!(element, Element::String(Some(_)) | Element::WString(Some(_)));
        if self != Self::Ringspin && is_bounded {
            return format!("::core::convert::TryFrom::try_from({text:?}).unwrap_or_default()");
        }
        format!("{}::from({text:?})", self.value_type(element))
    }
}

/// A number or truth value as Rust has it.
pub(crate) fn number(value: &Value, element: &Element) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => match element {
            Element::Float32 => format!("{:?}", *value as f32),
            _ => format!("{value:?}"),
        },
        Value::Float(value) => {
            let name = match value.is_nan() {
                true => "NAN",
                false if *value > 0.0 => "INFINITY",
                false => "NEG_INFINITY",
            };
            format!("::core::primitive::{}::{name}", element.rust_primitive().unwrap_or_default())
        }
        Value::String(_) | Value::Array(_) => String::new(),
    }
}
