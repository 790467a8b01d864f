//! Type supports: their names, the descriptions of their C structs, and the search by name.

use super::error::{RosError, forget};
use libloading::Library;
use r2r_rcl::{self as ffi, rosidl_message_type_support_t};
use std::ffi::CStr;
use std::path::PathBuf;

/// The names, written by build.rs.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// The names of all types that this program was built with, such as `std_msgs/msg/String`.
pub fn type_names() -> impl Iterator<Item = &'static str> {
    generated::NAMES.iter().copied()
}

/// The description of a C struct field by field.
pub(super) type Members = ffi::rosidl_typesupport_introspection_c__MessageMembers_s;

/// The description of one field.
pub(super) type Member = ffi::rosidl_typesupport_introspection_c__MessageMember_s;

/// The number of wide text in rosidl_typesupport_introspection_c/field_types.h.
pub(super) const WIDE_TEXT: u8 = 17;

/// The fields of a message.
pub(super) fn fields_of(members: &Members) -> &[Member] {
    if members.member_count_ == 0 {
        return &[];
    }
    // SAFETY: the description is a static of the type's library, with so many fields.
    unsafe { std::slice::from_raw_parts(members.members_, members.member_count_ as usize) }
}

/// The description of the messages in a field of messages.
pub(super) fn inner(member: &Member) -> Option<&'static Members> {
    // SAFETY: a field that is a message has the type support of it, a static.
    unsafe { member.members_.as_ref() }.and_then(members_of)
}

/// The name of a field.
pub(super) fn field_name(member: &Member) -> &str {
    // SAFETY: the name is a static string that ends with NUL.
    unsafe { CStr::from_ptr(member.name_) }.to_str().unwrap_or_default()
}

/// The description of the C struct of `support`; `None` where its library is not installed.
pub(super) fn members_of(support: &rosidl_message_type_support_t) -> Option<&'static Members> {
    let find = support.func?;
    // SAFETY: the function is the one that belongs to this type support, and the identifier ends
    // with NUL. What it finds is a static of the type's library, which stays loaded.
    unsafe {
        let found = find(support, c"rosidl_typesupport_introspection_c".as_ptr());
        if found.is_null() {
            forget();
            return None;
        }
        (*found).data.cast::<Members>().as_ref()
    }
}

/// The name of a message type, such as `std_msgs/msg/String`.
pub(super) fn name_of(support: &rosidl_message_type_support_t) -> String {
    let Some(members) = members_of(support) else { return "unknown type".into() };
    // SAFETY: both are static strings of the type's library.
    let [space, name] = [members.message_namespace_, members.message_name_]
        .map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    format!("{}/{name}", space.replace("__", "/"))
}

/// The type support of the message type `name`: from this program, or else from the library of its
/// package, where also the messages of services and actions are.
///
/// # Errors
/// [`RosError::UnknownType`], with what is known.
pub(super) fn by_name(name: &str) -> Result<&'static rosidl_message_type_support_t, RosError> {
    if let Ok(message) = r2r::WrappedNativeMsgUntyped::new_from(name) {
        return Ok(message.ts);
    }
    let parts: Vec<_> = name.split('/').collect();
    let is_word = |part: &&str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match parts[..] {
        [package, kind @ ("msg" | "srv" | "action"), last] if parts.iter().all(is_word) => {
            load(name, package, &format!("{package}__{kind}__{last}"))
        }
        _ => Err(unknown(name, "a type is named as in std_msgs/msg/String".into())),
    }
}

/// Checks that the sourced ROS defines the message type `name` by a definition of `hash`, such as
/// `RIHS01_7d9a...`. A ROS before Iron has no hashes, and any `hash` is right.
///
/// # Errors
/// [`RosError::UnknownType`], [`RosError::OtherDefinition`].
pub fn check_type_hash(name: &str, hash: &str) -> Result<(), RosError> {
    match type_hash(name)? {
        Some(installed) if installed != hash => Err(RosError::OtherDefinition {
            name: name.into(),
            program: hash.into(),
            installed: installed.into(),
        }),
        _ => Ok(()),
    }
}

/// The hash of the message type `name` in the sourced ROS; `None` for a ROS before Iron.
///
/// # Errors
/// [`RosError::UnknownType`].
pub fn type_hash(name: &str) -> Result<Option<String>, RosError> {
    by_name(name).map(hash_of)
}

#[cfg(has_type_hashes)]
fn hash_of(support: &rosidl_message_type_support_t) -> Option<String> {
    let get = support.get_type_hash_func?;
    // SAFETY: the function belongs to this type support; what it finds is a static of the type's
    // library, which stays loaded.
    let hash = unsafe { get(support).as_ref() }?;
    let digits: String = hash.value.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("RIHS{:02}_{digits}", hash.version))
}

#[cfg(not(has_type_hashes))]
fn hash_of(_: &rosidl_message_type_support_t) -> Option<String> {
    None
}

/// From the library of the package, where it is called `symbol`.
fn load(
    name: &str,
    package: &str,
    symbol: &str,
) -> Result<&'static rosidl_message_type_support_t, RosError> {
    let file = format!("lib{package}__rosidl_typesupport_c.so");
    let symbol = format!("rosidl_typesupport_c__get_message_type_support_handle__{symbol}");
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let places = std::env::split_paths(&prefixes).map(|prefix| prefix.join("lib").join(&file));
    let places = places.filter(|path| path.is_file()).chain([PathBuf::from(&file)]);
    let mut reason = String::new();
    for place in places {
        // SAFETY: what a library of a ROS package does when it is loaded is to register its types;
        // the symbol is that of a function without arguments, by rosidl's own naming.
        let found = unsafe {
            Library::new(&place).and_then(|library| {
                type Get = unsafe extern "C" fn() -> *const rosidl_message_type_support_t;
                let support = library.get::<Get>(symbol.as_bytes())?();
                std::mem::forget(library); // Type supports live as long as the program.
                Ok(support.as_ref())
            })
        };
        match found {
            Ok(Some(support)) => return Ok(support),
            Ok(None) => reason = format!("{} has it not", place.display()),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(unknown(name, reason))
}

fn unknown(name: &str, reason: String) -> RosError {
    let package = name.split('/').next().unwrap_or_default();
    let kinds = type_names().filter(|known| known.starts_with(&format!("{package}/msg/")));
    let kinds: Vec<_> = kinds.collect();
    let known = if kinds.is_empty() {
        let mut packages: Vec<_> = type_names().filter_map(|n| n.split('/').next()).collect();
        packages.dedup();
        format!("source the workspace of package {package:?}; known are {}", packages.join(", "))
    } else {
        format!("the package has {}", kinds.join(", "))
    };
    RosError::UnknownType { name: name.into(), reason: reason.into(), known: known.into() }
}
