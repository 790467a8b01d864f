//! The sourced ROS 2, as the environment describes it.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The variables that a sourced ROS 2 has set.
pub(super) const VARIABLES: [&str; 2] = ["AMENT_PREFIX_PATH", "ROS_DISTRO"];
/// The libraries with the functions of `bindings/common.rs`.
const LIBRARIES: [&str; 4] = ["rcl", "rcutils", "rmw", "rmw_implementation"];

/// A ROS 2 to build against.
pub(super) struct Ros {
    /// The folders with libraries.
    folders: Vec<PathBuf>,
    /// The declarations of what differs between distributions.
    bindings: PathBuf,
}

impl Ros {
    /// Has the library built against it, and tells dependents.
    pub(super) fn link(&self) {
        println!("cargo::rustc-cfg=ros_is_sourced");
        println!("cargo::metadata=is_sourced=1");
        for folder in &self.folders {
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
        for library in LIBRARIES {
            println!("cargo::rustc-link-lib=dylib={library}");
        }
        println!("cargo::rustc-env=RINGSPIN_RCL_BINDINGS={}", self.bindings.display());
    }
}

/// The sourced ROS 2, if there is one.
pub(super) fn sourced() -> Result<Option<Ros>, String> {
    let [prefixes, distribution] = VARIABLES.map(|name| env::var(name).unwrap_or_default());
    if prefixes.is_empty() || distribution.is_empty() {
        return Ok(None);
    }
    let folders: Vec<_> = env::split_paths(&prefixes).map(|prefix| prefix.join("lib")).collect();
    if !folders.iter().any(|folder| folder.join("librcl.so").is_file()) {
        return Err(format!(
            "no folder of AMENT_PREFIX_PATH ({prefixes}) has lib/librcl.so; install the package \
             ros-{distribution}-rcl"
        ));
    }
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings");
    let known = distributions(&bindings);
    if !known.contains(&distribution) {
        return Err(format!(
            "ROS_DISTRO is {distribution:?}, for which ringspin has no bindings of rcl; source {}, \
             or add bindings by its scripts/rcl-bindings",
            known.join(" or ")
        ));
    }
    Ok(Some(Ros { folders, bindings: bindings.join(distribution + ".rs") }))
}

/// The distributions that have bindings, in alphabetical order.
fn distributions(bindings: &Path) -> Vec<String> {
    let files = fs::read_dir(bindings).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let names = names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned()));
    let mut names: Vec<_> = names.filter(|name| name != "common").collect();
    names.sort();
    names
}
