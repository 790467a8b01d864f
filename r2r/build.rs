//! Generates the modules of message packages: those of `ringspin_messages`, and further ones of the
//! sourced ROS 2 and of folders that the application names. Sets `ros_is_sourced` where
//! `ringspin_ros2` is more than empty.

use ringspin_message_generator::{GenerateError, Generator, common_definitions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A list of folders that have packages in them.
const MESSAGES: &str = "RINGSPIN_MESSAGES";
/// The prefixes of a sourced ROS 2.
const PREFIXES: &str = "AMENT_PREFIX_PATH";
/// The packages to generate, separated by semicolons; as r2r has it.
const FILTER: &str = "IDL_PACKAGE_FILTER";

fn main() -> Result<(), GenerateError> {
    for variable in [MESSAGES, PREFIXES, FILTER] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    println!("cargo::rustc-check-cfg=cfg(ros_is_sourced)");
    if env::var_os("DEP_RINGSPIN_ROS2_IS_SOURCED").is_some() {
        println!("cargo::rustc-cfg=ros_is_sourced");
    }
    println!("cargo::rustc-check-cfg=cfg(r2r__rosgraph_msgs__msg__Clock)");
    println!("cargo::rustc-cfg=r2r__rosgraph_msgs__msg__Clock");
    let common: BTreeSet<_> =
        common_definitions().iter().map(|message| message.name.package.clone()).collect();
    let mut generator = Generator::new();
    for (name, package) in packages() {
        if !common.contains(&name) {
            generator = generator.package_folder(package.folder);
        } else if package.is_own {
            println!("cargo::warning={name} of {MESSAGES} is not used: it is part of r2r");
        }
    }
    let modules: Vec<_> = common.into_iter().collect();
    let text = format!("pub use ::ringspin_messages::{{{}}};\n", modules.join(", "));
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let path = out.join("common.rs");
    fs::write(&path, text).map_err(|error| GenerateError::Io { path, error })?;
    generator.generate_to_out_dir()
}

/// A package with messages.
struct Package {
    folder: PathBuf,
    /// Whether the application names its place.
    is_own: bool,
}

/// The packages with messages, by name; of two with one name, the first.
fn packages() -> BTreeMap<String, Package> {
    let list = |variable| env::var_os(variable).unwrap_or_default();
    let (own, prefixes) = (list(MESSAGES), list(PREFIXES));
    let own = env::split_paths(&own).filter(|place| !place.as_os_str().is_empty());
    let own = own.map(|place| (place, true));
    let shares = env::split_paths(&prefixes).map(|prefix| (prefix.join("share"), false));
    let places = own.chain(shares).inspect(|(place, is_own)| watch(place, *is_own));
    let wanted = env::var(FILTER).unwrap_or_default();
    let wanted: BTreeSet<_> = wanted.split(';').filter(|name| !name.is_empty()).collect();
    let mut packages = BTreeMap::new();
    for (place, is_own) in places {
        let found = folders(&place);
        if is_own && found.is_empty() {
            let place = place.display();
            println!(
                "cargo::error={MESSAGES} names {place}, which has no package: a folder with `msg`, \
                 `srv` or `action` in it"
            );
        }
        for folder in found {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if is_own || wanted.is_empty() || wanted.contains(&*name) {
                packages.entry(name).or_insert(Package { folder, is_own });
            }
        }
    }
    packages
}

/// Lets cargo run this again when a package is added to `place`: a folder of the application, or
/// one of an installation, which has an index of its packages with messages.
fn watch(place: &Path, is_own: bool) {
    let index = place.join("ament_index/resource_index");
    let messages = index.join("rosidl_interfaces");
    let watched = if is_own { [place, place] } else { [&*messages, &*index] };
    if let Some(watched) = watched.into_iter().find(|folder| folder.exists()) {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
}

/// The folders in `place` that have definitions of messages, services or actions.
fn folders(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|folder| has_definitions(folder)).collect()
}

fn has_definitions(package: &Path) -> bool {
    ["msg", "srv", "action"].into_iter().any(|kind| {
        let files = fs::read_dir(package.join(kind)).into_iter().flatten().flatten();
        files.map(|file| file.path()).any(|file| file.extension().is_some_and(|it| it == kind))
    })
}
