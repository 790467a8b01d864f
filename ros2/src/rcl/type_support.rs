//! Type supports: the search by name, and the descriptions of their C structs.

use super::error::forget;
use super::ffi::{self as ffi, rosidl_message_type_support_t, rosidl_service_type_support_t};
use libloading::Library;
use ringspin_executor::{Error, ErrorKind};
use ringspin_messages::{CdrService, CdrType};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The type parameter of an entity whose ROS type is known at run time: by a table, or by name.
pub enum Dynamic {}

/// The names of the message, service and action types of the sourced ROS, such as
/// `std_msgs/msg/String`, in alphabetical order. It reads the index of each prefix.
pub fn type_names() -> Vec<String> {
    let mut names = BTreeSet::new();
    for index in prefixes().map(|p| p.join("share/ament_index/resource_index/rosidl_interfaces")) {
        for package in index.read_dir().into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(package.path()).unwrap_or_default();
            let package = package.file_name().to_string_lossy().into_owned();
            let names_of = text.lines().filter_map(|line| line.rsplit_once('.'));
            names.extend(names_of.map(|(name, _)| format!("{package}/{name}")));
        }
    }
    names.into_iter().collect()
}

fn prefixes() -> impl Iterator<Item = PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    std::env::split_paths(&prefixes).collect::<Vec<_>>().into_iter()
}

/// The description of a C struct.
pub(super) type Members = ffi::rosidl_typesupport_introspection_c__MessageMembers_s;

/// The description of the C struct of `support`; `None` where its library is not installed.
pub(super) fn members_of(support: &rosidl_message_type_support_t) -> Option<&'static Members> {
    let find = support.func?;
    // SAFETY: the function is the one that belongs to this type support, and the identifier ends
    // with NUL. The symbol is a static of the type's library, which stays loaded.
    unsafe {
        let found = find(support, c"rosidl_typesupport_introspection_c".as_ptr());
        if found.is_null() {
            forget();
            return None;
        }
        (*found).data.cast::<Members>().as_ref()
    }
}

/// A struct that a library of a package has for each of its types.
pub(super) trait TypeSupport: Sized + 'static {
    /// The kinds of interfaces that have one.
    const KINDS: &[&str];
    /// The name of the function that returns one begins like this.
    const FUNCTION: &str;

    /// The tables of Rust types for this kind of ROS types.
    type Table: 'static;
    /// The table for CDR bytes.
    const RAW: &'static Self::Table;

    /// The name and the hash of the ROS type of a table.
    fn name_and_hash(table: &'static Self::Table) -> (&'static str, &'static str);

    /// The hash of the type's definition; `None` where its library has none.
    fn hash(&self) -> Option<String>;
}

impl TypeSupport for rosidl_message_type_support_t {
    const KINDS: &[&str] = &["msg", "srv", "action"];
    const FUNCTION: &str = "rosidl_typesupport_c__get_message_type_support_handle__";
    type Table = CdrType;
    const RAW: &'static CdrType = CdrType::raw();

    fn name_and_hash(table: &'static CdrType) -> (&'static str, &'static str) {
        (table.name(), table.hash())
    }

    fn hash(&self) -> Option<String> {
        // SAFETY: the function belongs to this type support; the result is a static of the type's
        // library, which stays loaded.
        unsafe { self.get_type_hash_func?(self).as_ref() }.map(hash_text)
    }
}

impl TypeSupport for rosidl_service_type_support_t {
    const KINDS: &[&str] = &["srv", "action"];
    const FUNCTION: &str = "rosidl_typesupport_c__get_service_type_support_handle__";
    type Table = CdrService;
    const RAW: &'static CdrService = CdrService::raw();

    fn name_and_hash(table: &'static CdrService) -> (&'static str, &'static str) {
        (table.name(), table.hash())
    }

    fn hash(&self) -> Option<String> {
        // SAFETY: as for a message.
        unsafe { self.get_type_hash_func?(self).as_ref() }.map(hash_text)
    }
}

fn hash_text(hash: &ffi::rosidl_type_hash_t) -> String {
    let digits: String = hash.value.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("RIHS{:02}_{digits}", hash.version)
}

/// The type support of the message or service type `name`, from the library of its package, where
/// also the messages and services of actions are.
///
/// # Errors
/// [`ErrorKind::NotFound`] for an unknown type, with the known types.
pub(super) fn by_name<S: TypeSupport>(name: &str) -> Result<&'static S, Error> {
    let parts: Vec<_> = name.split('/').collect();
    let is_word = |part: &&str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match parts[..] {
        [package, kind, last] if S::KINDS.contains(&kind) && parts.iter().all(is_word) => {
            let symbol = format!("{}{package}__{kind}__{last}", S::FUNCTION);
            load(package, &symbol).map_err(|reason| unknown(name, S::KINDS[0], reason))
        }
        _ => {
            let example =
                if S::KINDS[0] == "msg" { "std_msgs/msg/String" } else { "std_srvs/srv/SetBool" };
            let reason = format!("a type is named as in {example}");
            Err(unknown(name, S::KINDS[0], reason))
        }
    }
}

/// The ROS type of an entity: the table of its Rust type, its name, and its type support.
pub(super) struct Resolved<'a, S: TypeSupport> {
    pub(super) table: &'static S::Table,
    pub(super) name: &'a str,
    pub(super) support: &'static S,
}

impl<'a, S: TypeSupport> Resolved<'a, S> {
    /// The type of `table`.
    pub(super) fn of_table(table: &'static S::Table) -> Result<Self, Error> {
        let (name, hash) = S::name_and_hash(table);
        Ok(Self { table, name, support: by_name_and_hash(name, hash)? })
    }

    /// The type `name`, for CDR bytes.
    pub(super) fn named(name: &'a str) -> Result<Self, Error> {
        Ok(Self { table: S::RAW, name, support: by_name(name)? })
    }
}

/// The same, checked to be of a definition with `hash`, such as `RIHS01_7d9a...`. A library without
/// hashes fits any `hash`, and an empty `hash` fits any library.
///
/// # Errors
/// [`ErrorKind::NotFound`] for an unknown type, [`ErrorKind::TypeMismatch`] for another hash.
pub(super) fn by_name_and_hash<S: TypeSupport>(
    name: &str,
    hash: &str,
) -> Result<&'static S, Error> {
    let support = by_name::<S>(name)?;
    match support.hash() {
        Some(installed) if installed != hash && !hash.is_empty() => {
            let text = format!(
                "failed to use type {name}: its hash is {hash} in this program or recording and \
                 {installed} in the sourced ROS 2; use the same definition in both"
            );
            Err(Error::new(ErrorKind::TypeMismatch, text))
        }
        _ => Ok(support),
    }
}

/// Checks that the sourced ROS defines the message type `name` by a definition of `hash`, such as
/// `RIHS01_7d9a...`. A library without hashes fits any `hash`.
///
/// # Errors
/// [`ErrorKind::NotFound`] for an unknown type, [`ErrorKind::TypeMismatch`] for another hash.
pub fn check_type_hash(name: &str, hash: &str) -> Result<(), Error> {
    by_name_and_hash::<rosidl_message_type_support_t>(name, hash).map(drop)
}

/// The hash of the message type `name` in the sourced ROS; `None` where its library has none.
///
/// # Errors
/// [`ErrorKind::NotFound`] for an unknown type.
pub fn type_hash(name: &str) -> Result<Option<String>, Error> {
    by_name::<rosidl_message_type_support_t>(name).map(TypeSupport::hash)
}

/// The result of `symbol`, a function of the library of `package`.
fn load<S: TypeSupport>(package: &str, symbol: &str) -> Result<&'static S, String> {
    let file = format!("lib{package}__rosidl_typesupport_c.so");
    let places = prefixes().map(|prefix| prefix.join("lib").join(&file));
    let places = places.filter(|path| path.is_file()).chain([PathBuf::from(&file)]);
    let mut reason = String::new();
    for place in places {
        match load_from(&place, symbol) {
            Ok(Some(support)) => return Ok(support),
            Ok(None) => reason = format!("{} has it not", place.display()),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(reason)
}

fn load_from<S: TypeSupport>(
    library: &Path,
    symbol: &str,
) -> Result<Option<&'static S>, libloading::Error> {
    // SAFETY: a library of a ROS package only registers its types when it is loaded; the symbol is
    // that of a function without arguments that returns a static `S`, by rosidl's own naming.
    unsafe {
        let library = Library::new(library)?;
        type Get<S> = unsafe extern "C" fn() -> *const S;
        let support = library.get::<Get<S>>(symbol.as_bytes())?();
        std::mem::forget(library); // Type supports live as long as the program.
        Ok(support.as_ref())
    }
}

fn unknown(name: &str, kind: &str, reason: String) -> Error {
    let package = name.split('/').next().unwrap_or_default();
    let all = type_names();
    let of_package = format!("{package}/{kind}/");
    let types: Vec<_> =
        all.iter().map(String::as_str).filter(|known| known.starts_with(&of_package)).collect();
    let known = if types.is_empty() {
        let mut packages: Vec<_> = all.iter().filter_map(|name| name.split('/').next()).collect();
        packages.dedup();
        format!("source the workspace of package {package:?}; known are {}", packages.join(", "))
    } else {
        format!("the package has {}", types.join(", "))
    };
    Error::new(ErrorKind::NotFound, format!("unknown type {name:?}: {reason}; {known}"))
}
