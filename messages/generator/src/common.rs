//! The definitions of the common packages.

use crate::error::DefinitionError;
use crate::name::{InterfaceKind, TypeName};
use crate::types::Definitions;
use std::sync::LazyLock;

/// Package, folder, name and text of each.
const FILES: &[(&str, &str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The definitions of the packages that `ringspin-messages` has as structs: those of ROS 2 Jazzy.
pub fn common_definitions() -> &'static Definitions {
    static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
        // Tests read all files: an error cannot occur here.
        parse().unwrap_or_else(|error| panic!("failed to parse a definition of ROS 2: {error}"))
    });
    &DEFINITIONS
}

fn parse() -> Result<Definitions, DefinitionError> {
    let mut definitions = Definitions::default();
    for (package, folder, name, text) in FILES {
        let kind = InterfaceKind::from_folder(folder).unwrap_or(InterfaceKind::Message);
        let name = TypeName::new(package, kind, name);
        definitions.add(&name, text, &format!("{name}.{folder}"))?;
    }
    definitions.check()?;
    Ok(definitions)
}
