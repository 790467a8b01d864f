//! The interface for build scripts.

use crate::common::common_definitions;
use crate::environment;
use crate::error::DefinitionError;
use crate::form::{Form, RUNTIME};
use crate::name::{InterfaceKind, TypeName, is_identifier};
use crate::rust::Writer;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};
use thiserror::Error;

/// The file within `OUT_DIR` that [`Generator::generate_to_out_dir`] writes.
const OUT_FILE: &str = "messages.rs";

/// Packages that cannot be generated.
///
/// Its `Debug` is its `Display`, because that is how a build script shows the error of `main`.
#[derive(Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A definition is not valid.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A folder without a definition.
    #[error("found no definition in {0}: name a package's folder, with `msg`, `srv` or `action`")]
    Empty(PathBuf),
    /// A folder or file with a name that is no name of a package or type.
    #[error("invalid name {0}: use letters, digits and underscores, a letter first")]
    InvalidName(PathBuf),
    /// A package of ROS 2.
    #[error("package `{0}` is part of `ringspin_messages` already; use its module")]
    CommonPackage(String),
    /// A file cannot be read or written.
    #[error("failed to access {path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// There is no build script under way.
    #[error("OUT_DIR is not set: call this from a build script")]
    NoOutDir,
}

impl fmt::Debug for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl GenerateError {
    fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.into(), error }
    }
}

/// Generates structs for the packages of an application, from a build script.
///
/// A package is a folder with the folders `msg`, `srv` and `action` of a ROS 2 package; its name
/// is the folder's. Fields may refer to the common packages of ROS 2, which are modules of
/// `ringspin_messages`.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), ringspin_message_generator::GenerateError> {
///     ringspin_message_generator::Generator::new()
///         .package_folder("my_msgs")
///         .generate_to_out_dir()
/// }
/// ```
///
/// The crate includes the modules by `ringspin_messages::include_messages!();`, and has
/// `my_msgs::msg::Foo`, `my_msgs::srv::Bar::{Request, Response, Service}` and the like.
#[derive(Clone, Debug)]
pub struct Generator {
    folders: Vec<PathBuf>,
    common: bool,
    rosidl: bool,
    crate_path: Option<String>,
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

impl Generator {
    /// A generator without packages.
    pub fn new() -> Self {
        Self { folders: Vec::new(), common: false, rosidl: false, crate_path: None }
    }

    /// Adds the package in `folder`, relative to the folder of the build script's package.
    #[must_use]
    pub fn package_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Sets the path of the crate with the trait `RosMessage` and the common packages. The
    /// default is `::ringspin_messages`; a crate that depends on the facade alone sets
    /// `::ringspin::messages`.
    ///
    /// With [`rosidl`](Self::rosidl) it is the crate with the common packages, by default
    /// `::ros_env`.
    #[must_use]
    pub fn crate_path(mut self, path: &str) -> Self {
        self.crate_path = Some(path.into());
        self
    }

    /// Writes the structs that rosidl has for Rust, instead of those of `ringspin_messages`: for
    /// applications of `rclrs`, which have `my_msgs::msg::Foo`, `my_msgs::msg::rmw::Foo`,
    /// `my_msgs::srv::{Bar, Bar_Request, Bar_Response}` and the like. The crate depends on
    /// `rosidl_runtime_rs`.
    #[must_use]
    pub fn rosidl(mut self) -> Self {
        self.rosidl = true;
        self
    }

    /// Adds the packages that the environment of the build names, for a crate with the modules of
    /// all packages: those in the folders of `RINGSPIN_MESSAGES`, and those of a sourced ROS 2 that
    /// `IDL_PACKAGE_FILTER` allows. Of two packages with one name, the first is used; the common
    /// packages are not replaced.
    ///
    /// Tells Cargo when to run the build script again, and reports a folder of `RINGSPIN_MESSAGES`
    /// without a package as an error of the build.
    #[must_use]
    pub fn environment_packages(mut self) -> Self {
        self.folders.extend(environment::package_folders(&common_names()));
        self
    }

    /// Generates the common packages themselves.
    #[doc(hidden)]
    #[must_use]
    pub fn common_packages(mut self) -> Self {
        self.common = true;
        self
    }

    /// The Rust source of the modules.
    ///
    /// # Errors
    /// [`GenerateError`]; of a definition with its file and line.
    pub fn generate(&self) -> Result<String, GenerateError> {
        let mut definitions = common_definitions().clone();
        let common = common_names();
        let mut packages = BTreeSet::new();
        for folder in &self.folders {
            let package = name_of(folder)?;
            if common.contains(&*package) {
                return Err(GenerateError::CommonPackage(package));
            }
            for (kind, path) in files(folder)? {
                let name = TypeName::new(&package, kind, &name_of(&path)?);
                let text = fs::read_to_string(&path).map_err(|it| GenerateError::io(&path, it))?;
                definitions.add(&name, &text, &path.to_string_lossy())?;
            }
            packages.insert(package);
        }
        definitions.check()?;
        let mut packages: BTreeSet<_> = packages.iter().map(|package| &**package).collect();
        packages.extend(common.iter().filter(|_| self.common));
        let crate_path = |default| self.crate_path.as_deref().unwrap_or(default);
        let runtime = format!("{RUNTIME}::ringspin_messages");
        let (form, root, packages_root) = match self.rosidl {
            true => (Form::Idiomatic, &*runtime, crate_path("::ros_env")),
            false => {
                let root = crate_path("::ringspin_messages");
                (Form::Ringspin, root, root)
            }
        };
        Ok(Writer { definitions: &definitions, packages, form, root, packages_root }.write())
    }

    /// Writes the modules to the output folder of the build script, and tells Cargo to run it
    /// again when a file changes.
    ///
    /// # Errors
    /// [`GenerateError`] of a definition, with its file and line, and for a file that cannot be
    /// written.
    pub fn generate_to_out_dir(&self) -> Result<(), GenerateError> {
        for folder in &self.folders {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
        println!("cargo::rerun-if-changed=build.rs");
        let text = self.generate()?;
        let out = std::env::var_os("OUT_DIR").ok_or(GenerateError::NoOutDir)?;
        let path = Path::new(&out).join(OUT_FILE);
        fs::write(&path, text).map_err(|error| GenerateError::io(&path, error))
    }
}

/// The names of the common packages.
fn common_names() -> BTreeSet<&'static str> {
    common_definitions().iter().map(|message| &*message.name.package).collect()
}

/// The definitions of a package, in order of their names.
fn files(folder: &Path) -> Result<Vec<(InterfaceKind, PathBuf)>, GenerateError> {
    let mut files = Vec::new();
    for kind in [InterfaceKind::Message, InterfaceKind::Service, InterfaceKind::Action] {
        let folder = folder.join(kind.folder());
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(|error| GenerateError::io(&folder, error))? {
            let path = entry.map_err(|error| GenerateError::io(&folder, error))?.path();
            if path.extension().is_some_and(|extension| extension == kind.folder()) {
                files.push((kind, path));
            }
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(GenerateError::Empty(folder.into()));
    }
    Ok(files)
}

/// The name of a folder or file without its extension, which has to be an identifier.
fn name_of(path: &Path) -> Result<String, GenerateError> {
    let name = path.file_stem().and_then(|name| name.to_str()).filter(|name| is_identifier(name));
    name.map(String::from).ok_or_else(|| GenerateError::InvalidName(path.into()))
}
