//! The sourced ROS 2, as the environment describes it.

use std::path::{Path, PathBuf};
use std::{env, fs};

const VARIABLES: [&str; 2] = ["AMENT_PREFIX_PATH", "ROS_DISTRO"];
/// The libraries with the functions of `bindings/common.rs`.
const LIBRARIES: [&str; 4] = ["rcl", "rcutils", "rmw", "rmw_implementation"];

/// A ROS 2 to build against.
pub(super) struct Ros {
    /// The folders with libraries.
    folders: Vec<PathBuf>,
    /// The declarations of what differs between distributions.
    bindings: PathBuf,
}

/// Links the sourced ROS 2.
pub(super) fn run() {
    println!("cargo::rerun-if-changed=bindings");
    for name in VARIABLES {
        println!("cargo::rerun-if-env-changed={name}");
    }
    match sourced() {
        Ok(ros) => ros.link(),
        Err(error) => {
            println!("cargo::error=failed to build ringspin with live ROS 2: {error}");
        }
    }
}

impl Ros {
    fn link(&self) {
        for folder in &self.folders {
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
        for library in LIBRARIES {
            println!("cargo::rustc-link-lib=dylib={library}");
        }
        println!("cargo::rustc-env=RINGSPIN_RCL_BINDINGS={}", self.bindings.display());
    }
}

/// The sourced ROS 2.
pub(super) fn sourced() -> Result<Ros, String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let source = "source it first, as in `source /opt/ros/jazzy/setup.bash`, or make one by \
                  `eval \"$(scripts/ros2-env)\"`";
    let Some(prefixes) = set("AMENT_PREFIX_PATH") else {
        return Err(format!("no ROS 2 is sourced (AMENT_PREFIX_PATH is not set); {source}"));
    };
    let Some(distribution) = set("ROS_DISTRO") else {
        return Err(format!("ROS_DISTRO is not set, so the ROS 2 is not sourced fully; {source}"));
    };
    let folders: Vec<_> = env::split_paths(&prefixes).map(|prefix| prefix.join("lib")).collect();
    if !folders.iter().any(|folder| folder.join("librcl.so").is_file()) {
        return Err(format!(
            "no folder of AMENT_PREFIX_PATH ({prefixes}) has lib/librcl.so; {source}, or install \
             the package ros-{distribution}-rcl"
        ));
    }
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings");
    let known = distributions(&bindings);
    if !known.contains(&distribution) {
        return Err(format!(
            "ROS_DISTRO is {distribution:?}, for which there are no bindings of rcl; source {}, \
             or add bindings by scripts/rcl-bindings of ringspin",
            known.join(" or ")
        ));
    }
    Ok(Ros { folders, bindings: bindings.join(distribution + ".rs") })
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
