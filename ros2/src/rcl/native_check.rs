//! Checks of a C struct for contents that a Rust message cannot hold, or that its type forbids.
//!
//! r2r turns text that is not UTF-8 into an empty string, and does not check bounds of strings and
//! of sequences of messages. The checks visit only the fields where this can occur.

use super::type_support::{Member, Members, WIDE_TEXT, field_name, fields_of, inner, members_of};
use r2r_rcl as ffi;

/// The fields of a message type that have to be looked at: none for most numbers.
pub(super) struct Contents {
    fields: Vec<Field>,
}

struct Field {
    name: String,
    offset: usize,
    many: Many,
    kind: Kind,
}

/// The number of values of a field.
enum Many {
    One,
    Array(usize),
    /// Any number; at most this one if it is not 0.
    Sequence(usize),
}

/// The kinds of values. A length of at most 0 is any length.
enum Kind {
    Text { max: usize },
    WideText { max: usize },
    Message { size: usize, contents: Contents },
    Number,
}

/// A problem, and the field that has it.
pub(super) struct Flaw(pub(super) String);

/// Text, wide text and sequences have one layout: where, how many, and room for how many.
type Span = ffi::rosidl_runtime_c__String;

// The numbers of rosidl_typesupport_introspection_c/field_types.h.
const TEXT: u8 = 16;
const MESSAGE: u8 = 18;

impl Contents {
    /// The contents of the type of `support`; none where its description is not installed.
    pub(super) fn of(support: &ffi::rosidl_message_type_support_t) -> Self {
        Self { fields: members_of(support).map(fields).unwrap_or_default() }
    }

    /// The first flaw of `message`, if it has one.
    ///
    /// # Safety
    /// `message` is an initialized C struct of this type.
    pub(super) unsafe fn flaw(&self, message: *const u8) -> Option<Flaw> {
        self.fields.iter().find_map(|field| {
            // SAFETY: the field is there, since the struct is of this type.
            let what = unsafe { field.flaw(message.add(field.offset)) }?;
            Some(Flaw(format!("{}{what}", field.name)))
        })
    }
}

/// The fields to look at.
fn fields(members: &Members) -> Vec<Field> {
    fields_of(members).iter().filter_map(field).collect()
}

/// A field to look at; `None` if nothing can be wrong with it.
fn field(member: &Member) -> Option<Field> {
    let many = match (member.is_array_, member.is_upper_bound_, member.array_size_) {
        (false, ..) => Many::One,
        (true, false, size @ 1..) => Many::Array(size),
        (true, _, max) => Many::Sequence(max),
    };
    let max = member.string_upper_bound_;
    let kind = match member.type_id_ {
        TEXT => Kind::Text { max },
        WIDE_TEXT => Kind::WideText { max },
        MESSAGE => match inner(member) {
            Some(members) => {
                let contents = Contents { fields: fields(members) };
                Kind::Message { size: members.size_of_, contents }
            }
            None => Kind::Number,
        },
        _ => Kind::Number,
    };
    let harmless = match &kind {
        Kind::Number => true,
        Kind::Message { contents, .. } => contents.fields.is_empty(),
        _ => false,
    };
    if harmless && !matches!(many, Many::Sequence(1..)) {
        return None;
    }
    Some(Field { name: field_name(member).into(), offset: member.offset_ as usize, many, kind })
}

impl Field {
    /// The problem of the field at `place`.
    ///
    /// # Safety
    /// It is there, and initialized.
    unsafe fn flaw(&self, place: *const u8) -> Option<String> {
        let (first, count) = match self.many {
            // SAFETY: as the caller promises; see `value`.
            Many::One => return unsafe { self.value(place) },
            Many::Array(count) => (place, count),
            Many::Sequence(max) => {
                // SAFETY: a sequence has the layout of a span.
                let span = unsafe { &*place.cast::<Span>() };
                if max > 0 && span.size > max {
                    return Some(format!(" has {} elements, and may have {max}", span.size));
                }
                (span.data.cast::<u8>().cast_const(), span.size)
            }
        };
        if matches!(self.kind, Kind::Number) || first.is_null() {
            return None;
        }
        (0..count).find_map(|n| {
            // SAFETY: there are so many values, one after the other.
            let what = unsafe { self.value(first.add(n * self.size())) }?;
            Some(format!("[{n}]{what}"))
        })
    }

    /// The size of one value.
    const fn size(&self) -> usize {
        match &self.kind {
            Kind::Message { size, .. } => *size,
            _ => size_of::<Span>(),
        }
    }

    /// The problem of one value of the field.
    ///
    /// # Safety
    /// It is at `place`, and initialized.
    unsafe fn value(&self, place: *const u8) -> Option<String> {
        match &self.kind {
            Kind::Number => None,
            Kind::Message { contents, .. } => {
                // SAFETY: the value is a message of that type.
                let flaw = unsafe { contents.flaw(place) };
                flaw.map(|Flaw(what)| format!(".{what}"))
            }
            Kind::Text { max } => {
                // SAFETY: text is a span of bytes.
                let text = unsafe { elements::<u8>(place) };
                if let Err(error) = std::str::from_utf8(text) {
                    return Some(format!(" is no UTF-8 ({error})"));
                }
                too_long(text.len(), *max)
            }
            Kind::WideText { max } => {
                // SAFETY: wide text is a span of 16-bit units.
                let text = unsafe { elements::<u16>(place) };
                if char::decode_utf16(text.iter().copied()).any(|unit| unit.is_err()) {
                    return Some(" is no UTF-16".into());
                }
                too_long(text.len(), *max)
            }
        }
    }
}

fn too_long(length: usize, max: usize) -> Option<String> {
    (max > 0 && length > max).then(|| format!(" has a length of {length}, and may have {max}"))
}

/// The elements of the span at `place`.
///
/// # Safety
/// There is one, of such elements, and it stays as it is for `'a`.
unsafe fn elements<'a, T>(place: *const u8) -> &'a [T] {
    // SAFETY: as the caller promises; a span that points somewhere has so many elements there.
    unsafe {
        let span = &*place.cast::<Span>();
        match span.data.is_null() {
            true => &[],
            false => std::slice::from_raw_parts(span.data.cast::<T>(), span.size),
        }
    }
}
