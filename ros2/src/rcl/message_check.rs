//! Checks that a Rust message fits the C struct of its type, before r2r copies it: r2r panics
//! otherwise, which ends a program that is built with `panic = "abort"`.
//!
//! r2r's messages are serializable, so a serializer that writes nothing walks through them, beside
//! the description of their C struct.

use super::type_support::{Member, Members, WIDE_TEXT, field_name, fields_of, inner, members_of};
use r2r_rcl::rosidl_message_type_support_t;
use serde::ser::{self, Impossible, Serialize, Serializer};
use std::cell::Cell;
use std::fmt;

thread_local! {
    /// The misfit of a message that this thread was to copy.
    static REPORT: Cell<Option<String>> = const { Cell::new(None) };
}

/// Reports to the caller of the copy that a message was not copied.
pub(super) fn report(reason: String) {
    REPORT.set(Some(reason));
}

/// Takes the report.
pub(super) fn take_report() -> Option<String> {
    REPORT.take()
}

/// The first misfit of `message`, with its field; `None` if r2r can copy it.
pub(super) fn misfit<T: Serialize>(
    message: &T,
    support: &rosidl_message_type_support_t,
) -> Option<String> {
    if !std::mem::needs_drop::<T>() {
        return None; // Numbers only: text, arrays and sequences are on the heap.
    }
    match message.serialize(Look { members: members_of(support), member: None, is_wide: false }) {
        Err(Stop::Misfit(text)) => Some(text.trim_start_matches('.').into()),
        Ok(()) | Err(Stop::Harmless) => None,
    }
}

/// Why the walk ends.
#[derive(Debug)]
enum Stop {
    /// Nothing in this value can be wrong: the rest of a sequence of numbers is left out.
    Harmless,
    /// A field and its fault.
    Misfit(String),
}

impl Stop {
    /// The same, within `place`.
    fn within(self, place: impl FnOnce() -> String) -> Self {
        match self {
            Self::Harmless => Self::Harmless,
            Self::Misfit(text) => Self::Misfit(format!("{}{text}", place())),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Stop {}

impl ser::Error for Stop {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Misfit(format!(": {text}"))
    }
}

/// Looks at one value.
struct Look<'a> {
    /// The description of the message, if it is one.
    members: Option<&'static Members>,
    /// The field that it is, if it is one.
    member: Option<&'a Member>,
    /// Whether text is of 16-bit units, which have room for a NUL character.
    is_wide: bool,
}

impl Look<'_> {
    fn elements(self, count: Option<usize>) -> Result<Elements, Stop> {
        let bound = self.member.filter(|m| m.is_array_ && m.array_size_ > 0);
        if let (Some(member), Some(count)) = (bound, count) {
            let size = member.array_size_;
            if member.is_upper_bound_ && count > size {
                return Err(Stop::Misfit(format!(" has {count} elements, and may have {size}")));
            }
            if !member.is_upper_bound_ && count != size {
                return Err(Stop::Misfit(format!(" has {count} elements, and needs {size}")));
            }
        }
        Ok(Elements { members: self.members, is_wide: self.is_wide, number: 0 })
    }
}

/// Looks at the elements of a sequence.
struct Elements {
    members: Option<&'static Members>,
    is_wide: bool,
    number: usize,
}

impl Elements {
    fn look<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Stop> {
        // The bound is that of the sequence, not of what is in its elements.
        let look = Look { members: self.members, member: None, is_wide: self.is_wide };
        let number = self.number;
        value.serialize(look).map_err(|stop| stop.within(|| format!("[{number}]")))?;
        self.number += 1;
        Ok(())
    }
}

macro_rules! elements {
    ($($kind:ident),*) => {
        $(impl ser::$kind for Elements {
            type Ok = ();
            type Error = Stop;
            fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Stop> {
                self.look(value)
            }
            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        })*
    };
}

elements!(SerializeSeq, SerializeTuple);

/// Looks at the fields of a message.
struct Fields(Option<&'static Members>);

impl ser::SerializeStruct for Fields {
    type Ok = ();
    type Error = Stop;
    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        let is_it = |member: &&Member| field_name(member) == name;
        let member = self.0.and_then(|members| fields_of(members).iter().find(is_it));
        let is_wide = member.is_some_and(|member| member.type_id_ == WIDE_TEXT);
        match value.serialize(Look { members: member.and_then(inner), member, is_wide }) {
            Ok(()) | Err(Stop::Harmless) => Ok(()),
            Err(stop) => Err(stop.within(|| format!(".{name}"))),
        }
    }
    fn end(self) -> Result<(), Stop> {
        Ok(())
    }
}

/// Values in which nothing can be wrong.
macro_rules! harmless {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method(self, _: $kind) -> Result<(), Stop> {
            Err(Stop::Harmless)
        })*
    };
}

impl Serializer for Look<'_> {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeStruct = Fields;
    type SerializeTupleStruct = Impossible<(), Stop>;
    type SerializeTupleVariant = Impossible<(), Stop>;
    type SerializeMap = Impossible<(), Stop>;
    type SerializeStructVariant = Impossible<(), Stop>;

    harmless! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char,
        serialize_bytes: &[u8], serialize_unit_struct: &'static str
    }

    fn serialize_str(self, text: &str) -> Result<(), Stop> {
        match text.find('\0') {
            Some(at) if !self.is_wide => {
                Err(Stop::Misfit(format!(" has a NUL character at byte {at}")))
            }
            _ => Ok(()),
        }
    }
    fn serialize_none(self) -> Result<(), Stop> {
        Err(Stop::Harmless)
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Stop> {
        Err(Stop::Harmless)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Stop> {
        Err(Stop::Harmless)
    }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self)
    }
    fn serialize_seq(self, count: Option<usize>) -> Result<Elements, Stop> {
        self.elements(count)
    }
    fn serialize_tuple(self, count: usize) -> Result<Elements, Stop> {
        self.elements(Some(count))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, Stop> {
        Ok(Fields(self.members))
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Stop> {
        Err(Stop::Harmless)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Stop> {
        Err(Stop::Harmless)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Stop> {
        Err(Stop::Harmless)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Stop> {
        Err(Stop::Harmless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcl::RosMessage;
    use r2r::test_msgs::msg::{Arrays, Strings};

    /// With `panic = "abort"` a panic of the copy would end the program, so there is none.
    #[test]
    fn message_that_does_not_fit_is_reported_and_not_copied() {
        let refused = |message: &dyn Fn(&mut <Strings as RosMessage>::Native)| {
            let native = <Strings as RosMessage>::create();
            // SAFETY: it was just created, and is destroyed once, when nothing borrows it.
            unsafe {
                message(&mut *native);
                <Strings as RosMessage>::destroy(native);
            }
            take_report().expect("a misfit")
        };
        let text = Strings { string_value: "ab\0".into(), ..Default::default() };
        let report = refused(&|native| text.to_native(native));
        assert_eq!(report, "string_value has a NUL character at byte 2");
        let short = Arrays { bool_values: vec![], ..Default::default() };
        let report = misfit(&short, <Arrays as RosMessage>::type_support()).unwrap();
        assert_eq!(report, "bool_values has 0 elements, and needs 3");
        assert!(misfit(&Arrays::default(), <Arrays as RosMessage>::type_support()).is_none());
    }
}
