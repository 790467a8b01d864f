//! Message types, by the tables of `rosidl_typesupport_introspection_c` and `_cpp`.
//!
//! A program has code for each of its types that describes the fields. The tables of C and C++ have
//! one layout, and differ in the strings and sequences that they describe. They are in libraries of
//! the messages, which no program unloads while it uses a message of theirs.

use crate::bindings::*;
use crate::ffi::Failure;
use std::ffi::{CStr, c_char};

pub(crate) type Table = rosidl_typesupport_introspection_c__MessageMembers_s;
pub(crate) type Member = rosidl_typesupport_introspection_c__MessageMember_s;

/// A message type: its table, and whether its messages are C++'s.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    pub(crate) table: &'static Table,
    pub(crate) is_cpp: bool,
}

impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// The identifier of the tables, for the language of a type support.
fn tables(identifier: *const c_char) -> (&'static CStr, bool) {
    match crate::ffi::text(identifier).ends_with("_cpp") {
        true => (c"rosidl_typesupport_introspection_cpp", true),
        false => (c"rosidl_typesupport_introspection_c", false),
    }
}

fn no_tables() -> Failure {
    Failure::new("the type has no introspection; install its rosidl_typesupport_introspection_c")
}

impl Type {
    /// The type of this type support.
    pub(crate) fn of(support: Option<&rosidl_message_type_support_t>) -> Result<Self, Failure> {
        let support = crate::ffi::given(support, "the type support")?;
        let (identifier, is_cpp) = tables(support.typesupport_identifier);
        let find = support.func.ok_or_else(no_tables)?;
        // SAFETY: the type support's own function; it returns one of the kind asked for, or null,
        // and that has such a table as its data.
        unsafe {
            let found = find(support, identifier.as_ptr()).as_ref().ok_or_else(no_tables)?;
            let table = found.data.cast::<Table>().as_ref().ok_or_else(no_tables)?;
            Ok(Self { table, is_cpp })
        }
    }

    /// The types of requests and responses of a service, and its name.
    pub(crate) fn of_service(
        support: Option<&rosidl_service_type_support_t>,
    ) -> Result<(Self, Self, String), Failure> {
        type Services = rosidl_typesupport_introspection_c__ServiceMembers_s;
        let support = crate::ffi::given(support, "the type support")?;
        let (identifier, is_cpp) = tables(support.typesupport_identifier);
        let find = support.func.ok_or_else(no_tables)?;
        // SAFETY: as above; the table of a service has pointers to those of its messages at the
        // same places in C and C++.
        unsafe {
            let found = find(support, identifier.as_ptr()).as_ref().ok_or_else(no_tables)?;
            let service = found.data.cast::<Services>().as_ref().ok_or_else(no_tables)?;
            let of = |table: *const Table| {
                Ok::<_, Failure>(Self { table: table.as_ref().ok_or_else(no_tables)?, is_cpp })
            };
            let name = full_name(service.service_namespace_, service.service_name_);
            Ok((of(service.request_members_)?, of(service.response_members_)?, name))
        }
    }

    /// Such as `std_msgs/msg/String`.
    pub(crate) fn name(self) -> String {
        full_name(self.table.message_namespace_, self.table.message_name_)
    }

    /// The fields.
    pub(crate) fn members(self) -> &'static [Member] {
        let count = self.table.member_count_ as usize;
        match self.table.members_.is_null() {
            true => &[],
            // SAFETY: the table has so many fields.
            false => unsafe { std::slice::from_raw_parts(self.table.members_, count) },
        }
    }

    /// The type of a field that is a message.
    pub(crate) fn of_member(self, member: &Member) -> Result<Self, Failure> {
        // SAFETY: null, or the type support of the field, of the same language; its data is a
        // table.
        unsafe {
            let support = member.members_.as_ref().ok_or_else(no_tables)?;
            let table = support.data.cast::<Table>().as_ref().ok_or_else(no_tables)?;
            Ok(Self { table, is_cpp: self.is_cpp })
        }
    }
}

/// `std_msgs__msg` and `String`, or `std_msgs::msg` and `String`, as one name.
fn full_name(namespace: *const c_char, name: *const c_char) -> String {
    let [namespace, name] = [namespace, name].map(crate::ffi::text);
    format!("{}/{name}", namespace.replace("__", "/").replace("::", "/"))
}

/// A version and 32 bytes; zeros without a hash.
pub(crate) fn hash(hash: *const rosidl_type_hash_t) -> Vec<u8> {
    // SAFETY: null, or a hash, which lives as long as its type.
    match unsafe { hash.as_ref() } {
        Some(hash) => [&[hash.version][..], &hash.value[..]].concat(),
        None => vec![0; 33],
    }
}
