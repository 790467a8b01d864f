//! The sourced ROS 2, as the environment describes it.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The variables that the bindings of rcl depend on.
const VARIABLES: [&str; 4] =
    ["AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "ROS_DISTRO", "LIBCLANG_PATH"];
/// The ROS distributions that the bindings of rcl know.
const DISTRIBUTIONS: [&str; 7] =
    ["foxy", "galactic", "humble", "iron", "jazzy", "lyrical", "rolling"];
/// The ROS distributions whose message types have no hashes.
const WITHOUT_HASHES: [&str; 3] = ["foxy", "galactic", "humble"];
/// Checks the environment.
pub(super) fn run() {
    for name in VARIABLES {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if let Err(error) = check_environment() {
        eprintln!("\nerror: failed to build ringspin with live ROS 2: {error}\n");
        std::process::exit(1);
    }
    // Since Iron, whose type supports have functions for it.
    println!("cargo:rustc-check-cfg=cfg(has_type_hashes)");
    if !env::var("ROS_DISTRO").is_ok_and(|name| WITHOUT_HASHES.contains(&name.as_str())) {
        println!("cargo:rustc-cfg=has_type_hashes");
    }
}

pub(super) fn check_environment() -> Result<(), String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let source = "source it first, as in `source /opt/ros/jazzy/setup.bash`, or make one by \
                  `eval \"$(scripts/ros2-env)\"`";
    let Some(prefixes) = set("AMENT_PREFIX_PATH") else {
        return Err(format!("no ROS 2 is sourced (AMENT_PREFIX_PATH is not set); {source}"));
    };
    let Some(distribution) = set("ROS_DISTRO") else {
        return Err(format!("ROS_DISTRO is not set, so the ROS 2 is not sourced fully; {source}"));
    };
    if !DISTRIBUTIONS.contains(&distribution.as_str()) {
        return Err(format!(
            "ROS_DISTRO is {distribution:?}, which r2r_rcl does not support; {source}; \
             supported are {}",
            DISTRIBUTIONS.join(", ")
        ));
    }
    let has_rcl = |prefix: PathBuf| prefix.join("include/rcl").is_dir();
    if !env::split_paths(&prefixes).any(has_rcl) {
        return Err(format!(
            "no folder of AMENT_PREFIX_PATH ({prefixes}) has include/rcl; {source}, or install \
             the package ros-{distribution}-rcl"
        ));
    }
    if find_libclang().is_none() {
        return Err("bindgen needs libclang, and it is not installed; install it, as in \
                    `apt install libclang-dev`, or name its folder in LIBCLANG_PATH"
            .into());
    }
    Ok(())
}

/// A folder with libclang. bindgen looks in more places, and asks llvm-config; where that is
/// installed, it is left to find the library.
fn find_libclang() -> Option<PathBuf> {
    if let Some(path) = env::var_os("LIBCLANG_PATH").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let folder = if path.is_file() { path.parent()?.to_owned() } else { path };
        return has_libclang(&folder).then_some(folder);
    }
    let in_path = |name: &str| {
        let paths = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&paths).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    if let Some(tool) = in_path("llvm-config") {
        return Some(tool);
    }
    let mut folders: Vec<PathBuf> = env::var_os("LD_LIBRARY_PATH")
        .map(|paths| env::split_paths(&paths).collect())
        .unwrap_or_default();
    let fixed = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/lib", "/lib64"];
    folders.extend(fixed.map(PathBuf::from));
    for parent in ["/usr/lib", "/usr/lib64", "/usr/local"] {
        for folder in entries(Path::new(parent)) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("llvm") {
                folders.extend([folder.join("lib"), folder.join("lib64")]);
            } else if name.ends_with("-linux-gnu") {
                folders.push(folder);
            }
        }
    }
    folders.into_iter().find(|folder| has_libclang(folder))
}

/// Whether `folder` has libclang itself; libclang-cpp is another library.
fn has_libclang(folder: &Path) -> bool {
    entries(folder).iter().filter_map(|file| file.file_name()?.to_str()).any(|name| {
        let rest = name.strip_prefix("libclang");
        rest.is_some_and(|rest| {
            rest.starts_with(".so")
                || (rest.starts_with('-') && !rest.starts_with("-cpp") && rest.contains(".so"))
        })
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}
