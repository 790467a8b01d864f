//! Message packages that the environment of a build names: those of the application and of the
//! sourced ROS 2.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A list of folders that have packages in them.
const MESSAGES: &str = "RINGSPIN_MESSAGES";
/// The prefixes of a sourced ROS 2.
const PREFIXES: &str = "AMENT_PREFIX_PATH";
/// The packages to generate, separated by semicolons; as r2r has it.
const FILTER: &str = "IDL_PACKAGE_FILTER";

/// The folders of the packages except `common`, in order of their names.
///
/// Tells Cargo to run the build script again when the variables or the places change, warns of a
/// package of the application that is among `common`, and reports a folder without packages.
pub(crate) fn package_folders(common: &BTreeSet<&str>) -> Vec<PathBuf> {
    for variable in [MESSAGES, PREFIXES, FILTER] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let crate_name = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let mut folders = Vec::new();
    for (name, package) in packages() {
        if !common.contains(&*name) {
            folders.push(package.folder);
        } else if package.is_own {
            println!("cargo::warning={name} of {MESSAGES} is not used: it is part of {crate_name}");
        }
    }
    folders
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
