//! The sourced ROS 2, as the environment describes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

/// The variables that r2r reads.
const VARIABLES: [&str; 6] = [
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "CMAKE_IDL_PACKAGES",
    "IDL_PACKAGE_FILTER",
    "ROS_DISTRO",
    "LIBCLANG_PATH",
];
/// The ROS distributions that r2r knows.
const DISTRIBUTIONS: [&str; 7] =
    ["foxy", "galactic", "humble", "iron", "jazzy", "lyrical", "rolling"];
/// The ROS distributions whose message types have no hashes.
const WITHOUT_HASHES: [&str; 3] = ["foxy", "galactic", "humble"];
/// The packages that r2r needs, whatever IDL_PACKAGE_FILTER says.
const NEEDED: [&str; 4] =
    ["rcl_interfaces", "builtin_interfaces", "unique_identifier_msgs", "action_msgs"];

/// The file with the environment of the last build.
const ENVIRONMENT: &str = "environment.txt";

/// The environment, as far as r2r reads it.
fn environment() -> String {
    let value = |name: &&str| format!("{name}={:?}\n", env::var_os(name));
    VARIABLES.iter().map(value).collect()
}

/// Checks the environment, and writes the tables.
pub(super) fn run() {
    for name in VARIABLES {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let checked = check_environment().and_then(|()| check_bindings());
    if let Err(error) = checked {
        eprintln!("\nerror: failed to build ringspin with live ROS 2: {error}\n");
        std::process::exit(1);
    }
    // Since Iron, whose type supports have functions for it.
    println!("cargo:rustc-check-cfg=cfg(has_type_hashes)");
    if !env::var("ROS_DISTRO").is_ok_and(|name| WITHOUT_HASHES.contains(&name.as_str())) {
        println!("cargo:rustc-cfg=has_type_hashes");
    }
    let types = types();
    watch(&types);
    write(&types);
    let remembered = fs::write(out_folder().join(ENVIRONMENT), environment());
    remembered.expect("the folder for generated files");
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
            "ROS_DISTRO is {distribution:?}, which r2r does not support; {source}; \
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

/// The folders that may have packages, in the order in which r2r looks.
fn prefixes() -> Vec<PathBuf> {
    let paths = ["AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"].map(env::var_os);
    paths.iter().flatten().flat_map(env::split_paths).collect()
}

/// A definition of an interface.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Interface {
    package: String,
    /// `msg`, `srv` or `action`.
    kind: String,
    name: String,
}

/// The interfaces for which r2r makes types: the same choice as in `r2r_common`.
fn types() -> BTreeSet<Interface> {
    let mut lines = Vec::new();
    if let Ok(folders) = env::var("CMAKE_IDL_PACKAGES") {
        for folder in folders.split(':').filter_map(|folder| Path::new(folder).parent()) {
            let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for kind in ["msg", "srv", "action"] {
                for file in entries(&folder.join(kind)) {
                    let name = file.file_name().unwrap_or_default().to_string_lossy();
                    if name.ends_with(".idl") {
                        lines.push((package.clone(), format!("{kind}/{name}")));
                    }
                }
            }
        }
    } else {
        let index = "share/ament_index/resource_index/rosidl_interfaces";
        for file in prefixes().iter().flat_map(|prefix| entries(&prefix.join(index))) {
            let package = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).unwrap_or_default();
            lines.extend(text.lines().map(|line| (package.clone(), line.to_owned())));
        }
    }
    let filter = env::var("IDL_PACKAGE_FILTER").ok();
    let is_wanted = |package: &str| {
        let by_filter = filter.as_ref().is_none_or(|list| list.split(';').any(|p| p == package));
        package != "libstatistics_collector" && (by_filter || NEEDED.contains(&package))
    };
    lines.retain(|(package, _)| is_wanted(package));
    lines.into_iter().filter_map(|(package, line)| interface(package, &line)).collect()
}

/// The interface of a line such as `msg/String.idl`.
fn interface(package: String, line: &str) -> Option<Interface> {
    let (kind, file) = line.split_once('/')?;
    let (name, extension) = file.rsplit_once('.')?;
    let is_it =
        matches!(kind, "msg" | "srv" | "action") && (extension == "idl" || extension == kind);
    is_it.then(|| Interface { package, kind: kind.into(), name: name.into() })
}

/// The files of definitions in the sourced folders, one folder for each kind of a package.
fn folders(types: &BTreeSet<Interface>) -> BTreeSet<PathBuf> {
    let pairs: BTreeSet<_> = types.iter().map(|of| (&of.package, &of.kind)).collect();
    let all = prefixes();
    pairs
        .into_iter()
        .flat_map(|(package, kind)| {
            all.iter().map(move |prefix| prefix.join("share").join(package).join(kind))
        })
        .filter(|folder| folder.is_dir())
        .collect()
}

/// Has cargo run this again when a definition changes, or one is added.
fn watch(types: &BTreeSet<Interface>) {
    for folder in folders(types) {
        println!("cargo:rerun-if-changed={}", folder.display());
    }
    for prefix in prefixes() {
        let index = prefix.join("share/ament_index/resource_index/rosidl_interfaces");
        if index.is_dir() {
            println!("cargo:rerun-if-changed={}", index.display());
        }
    }
}

/// Refuses bindings that r2r made before a definition was changed: r2r watches no files, and would
/// use the old layout of the struct.
fn check_bindings() -> Result<(), String> {
    let last = fs::read_to_string(out_folder().join(ENVIRONMENT));
    if last.ok() != Some(environment()) {
        return Ok(()); // r2r makes them anew.
    }
    let Some(made) = bindings_made() else { return Ok(()) };
    let changed = |file: &PathBuf| fs::metadata(file).and_then(|f| f.modified()).ok() > Some(made);
    let files = folders(&types()).into_iter().flat_map(|folder| entries(&folder));
    match files.into_iter().find(changed) {
        None => Ok(()),
        Some(file) => Err(format!(
            "{} has changed since r2r made its bindings, which it does not notice; run \
             `cargo clean -p r2r_msg_gen`, with the `--release` or `--target` of this build",
            file.display()
        )),
    }
}

/// The time at which r2r last made the bindings of messages for this build; `None` if it never did.
fn bindings_made() -> Option<SystemTime> {
    let out = out_folder();
    let builds = out.parent()?.parent()?;
    let is_it = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("r2r_msg_gen-"))
    };
    let made = |path: PathBuf| {
        fs::metadata(path.join("out/msg_bindings.rs")).and_then(|file| file.modified()).ok()
    };
    entries(builds).into_iter().filter(is_it).filter_map(made).max()
}

/// Writes the files that src/types.rs and src/rcl/type_support.rs include.
fn write(all: &BTreeSet<Interface>) {
    let name = |of: &Interface| format!("\"{}/{}/{}\"", of.package, of.kind, of.name);
    let names = table("NAMES", "&str", all.iter().map(name));
    let tables = [
        table(
            "MESSAGES",
            "&MessageType",
            all.iter().flat_map(messages).map(|path| format!("MessageType::of::<r2r::{path}>()")),
        ),
        table(
            "SERVICES",
            "&ServiceType",
            all.iter()
                .flat_map(services)
                .map(|path| format!("ServiceType::of::<r2r::{path}::Service>()")),
        ),
        table(
            "ACTIONS",
            "&ActionTypes",
            all.iter()
                .filter(|of| of.kind == "action")
                .map(|of| format!("ActionTypes::of::<r2r::{}::Action>()", path(of))),
        ),
    ];
    for (file, text) in [("names.rs", names), ("types.rs", tables.concat())] {
        fs::write(out_folder().join(file), text).expect("the folder for generated files");
    }
}

fn out_folder() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

/// A static list of `kind`.
fn table(name: &str, kind: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("    {line},\n")).collect();
    format!("pub(super) static {name}: &[{kind}] = &[\n{lines}];\n")
}

/// The path of a definition in r2r.
fn path(of: &Interface) -> String {
    format!("{}::{}::{}", of.package, of.kind, of.name)
}

/// The messages that a definition brings, by their paths in r2r.
fn messages(of: &Interface) -> Vec<String> {
    let path = path(of);
    let own: &[&str] = match of.kind.as_str() {
        "msg" => return vec![path],
        "action" => &["Goal", "Result", "Feedback", "FeedbackMessage"],
        _ => &[],
    };
    let own = own.iter().map(|name| format!("{path}::{name}"));
    let of_services = services(of).into_iter();
    let of_services =
        of_services.flat_map(|path| ["Request", "Response"].map(|m| format!("{path}::{m}")));
    own.chain(of_services).collect()
}

/// The services that a definition brings, by their paths in r2r.
fn services(of: &Interface) -> Vec<String> {
    let path = path(of);
    match of.kind.as_str() {
        "srv" => vec![path],
        "action" => ["SendGoal", "GetResult"].map(|s| format!("{path}::{s}")).into(),
        _ => Vec::new(),
    }
}
