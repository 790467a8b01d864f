//! Crates of one line in the places of message packages that colcon would generate.
//!
//! An application of rclrs that colcon builds depends on `std_msgs = "*"`, a crate that no registry
//! has. A crate of this name leads to the module of ros-env.

use crate::Error;
use crate::checkout::{Checkout, is_of_rclrs};
use crate::files::{Changes, read, relative};
use crate::manifest::{CRATES_IO, Existing, Patch, is_same_source, path_text};
use crate::messages::has_messages;
use crate::metadata::{Dependency, Metadata};
use semver::{Version, VersionReq};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A crate to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    name: String,
    version: Version,
    /// Features that the application asks for; all types have serde's traits without them.
    features: BTreeSet<String>,
}

/// The crates that the members of a workspace need: dependencies with a name of `known`.
pub fn find(members: &Metadata, known: &BTreeSet<String>) -> Result<Vec<Interface>, Error> {
    let dependencies = || members.members().flat_map(|member| &member.dependencies);
    if !dependencies().any(|on| is_of_rclrs(&on.name)) {
        return Ok(Vec::new());
    }
    let mut found: BTreeMap<&str, Interface> = BTreeMap::new();
    for on in dependencies().filter(|on| on.source.is_some()) {
        let is_star = on.req == VersionReq::STAR;
        let looks_so = ["_msgs", "_srvs", "_interfaces"].iter().any(|end| on.name.ends_with(end));
        if !known.contains(&on.name) {
            if is_star && looks_so {
                return Err(unknown(on));
            }
            continue;
        }
        let version = version(&on.req).ok_or_else(|| unusual(on))?;
        let features = on.features.iter().cloned();
        let interface = found.entry(&on.name).or_insert_with(|| Interface {
            name: on.name.clone(),
            version: version.clone(),
            features: BTreeSet::new(),
        });
        interface.features.extend(features);
        interface.version = interface.version.clone().max(version);
    }
    Ok(found.into_values().collect())
}

fn unknown(on: &Dependency) -> Error {
    let action = format!("find the messages of `{}`", on.name);
    let cause = "no package of this name is in the workspace or the sourced ROS 2";
    Error::new(action, cause, "put its folder, with `package.xml`, into the workspace")
}

fn unusual(on: &Dependency) -> Error {
    let action = format!("redirect `{}`", on.name);
    Error::new(action, format!("its requirement is `{}`", on.req), "write `*`, as colcon expects")
}

/// A version that a requirement takes.
fn version(req: &VersionReq) -> Option<Version> {
    let Some(least) = req.comparators.first() else { return Some(Version::new(0, 0, 0)) };
    let (minor, patch) = (least.minor.unwrap_or(0), least.patch.unwrap_or(0));
    Some(Version::new(least.major, minor, patch)).filter(|version| req.matches(version))
}

/// The names of the packages with messages in the sourced ROS 2, if there is one.
pub fn installed() -> BTreeSet<String> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let shares = std::env::split_paths(&prefixes).map(|prefix| prefix.join("share"));
    let entries = shares.flat_map(|share| std::fs::read_dir(share).into_iter().flatten().flatten());
    let packages = entries.filter(|entry| has_messages(&entry.path()));
    packages.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Leaves out the crates for which the manifest has a patch that leads to ros-env.
///
/// Another patch of the same crate is an error.
pub fn without_existing(
    interfaces: Vec<Interface>,
    existing: &[Existing],
    manifest: &Path,
) -> Result<Vec<Interface>, Error> {
    let mut left = Vec::new();
    for interface in interfaces {
        let is_same =
            |it: &&Existing| it.package == interface.name && is_same_source(&it.source, CRATES_IO);
        let Some(patch) = existing.iter().find(is_same) else {
            left.push(interface);
            continue;
        };
        let crate_text = match &patch.folder {
            Some(folder) => read(&folder.join("Cargo.toml"))?.unwrap_or_default(),
            None => String::new(),
        };
        if !crate_text.contains("ros-env") {
            let cause = format!(
                "{}:{} has another patch of it, without ros-env",
                manifest.display(),
                patch.line
            );
            let remedy = "remove that line, and run this again";
            return Err(Error::new(format!("redirect `{}`", interface.name), cause, remedy));
        }
    }
    Ok(left)
}

/// The patch that leads to the crate in `folder`.
pub fn patch(interface: &Interface, folder: &Path) -> Patch {
    Patch {
        source: CRATES_IO.to_owned(),
        package: interface.name.clone(),
        alias: interface.name.clone(),
        folder: folder.join(&interface.name),
    }
}

/// Writes the crate into `folder`, with a path to ros-env that is relative, or absolute for a crate
/// that is written for a moment only.
pub fn plan(
    interface: &Interface,
    folder: &Path,
    checkout: &Checkout,
    changes: &mut Changes,
) -> Result<(), Error> {
    let Interface { name, version, features } = interface;
    let place: PathBuf = folder.join(name);
    let features: String = features.iter().map(|feature| format!("{feature} = []\n")).collect();
    let ros_env = path_text(&relative(&place, &checkout.folder.join("rclrs/ros-env")));
    let manifest = format!(
        "# In the place of the crate of colcon; written by `cargo ringspin adopt`.\n\
         [package]\n\
         name = \"{name}\"\n\
         version = \"{version}\"\n\
         edition = \"2021\"\n\
         publish = false\n\n\
         [workspace]\n\n\
         [features]\n{features}\n\
         [dependencies]\n\
         ros-env = {{ path = \"{ros_env}\" }}\n"
    );
    let source = format!(
        "//! The messages of `{name}`, which are a module of ros-env.\n\n\
         pub use ros_env::{name}::*;\n"
    );
    changes.write(place.join("Cargo.toml"), manifest)?;
    changes.write(place.join("src/lib.rs"), source)
}

/// Checks that the crates in `folder` are those that the application depends on.
pub fn verify(metadata: &Metadata, interfaces: &[Interface], folder: &Path) -> Result<(), Error> {
    let is_wanted = |name: &str| interfaces.iter().any(|interface| interface.name == name);
    for requirement in metadata.requirements(is_wanted) {
        let found = requirement.resolved.folder();
        if !std::fs::canonicalize(found).is_ok_and(|found| found.starts_with(folder)) {
            let cause = format!("another patch leads to {}", found.display());
            let remedy = "remove it from the `.cargo/config.toml` of this folder or one above";
            return Err(Error::new(format!("redirect `{}`", requirement.on.name), cause, remedy));
        }
    }
    Ok(())
}
