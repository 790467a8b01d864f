//! The clone of ringspin, with the packages that take the place of others.

use crate::Error;
use semver::Version;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::DocumentMut;

/// The replaced packages: name, major and minor version, folder in the clone.
const DROP_INS: [(&str, u64, u64, &str); 12] = [
    ("r2r", 0, 9, "r2r"),
    ("r2r", 0, 8, "r2r/.0.8"),
    ("r2r", 0, 7, "r2r/.0.7"),
    ("rclrs", 0, 8, "rclrs"),
    ("rclrs", 0, 7, "rclrs/.0.7"),
    ("rclrs", 0, 6, "rclrs/.0.6"),
    ("rclrs", 0, 5, "rclrs/.0.5"),
    ("ros-env", 0, 3, "rclrs/ros-env"),
    ("rosidl_runtime_rs", 0, 7, "rclrs/rosidl_runtime_rs"),
    ("rosidl_runtime_rs", 0, 6, "rclrs/.0.7/rosidl_runtime_rs"),
    ("rosidl_runtime_rs", 0, 5, "rclrs/.0.6/rosidl_runtime_rs"),
    ("rosidl_runtime_rs", 0, 4, "rclrs/.0.5/rosidl_runtime_rs"),
];

/// Whether packages of this name are replaced.
pub fn is_replaced(name: &str) -> bool {
    DROP_INS.iter().any(|drop_in| drop_in.0 == name)
}

/// Whether a package of this name belongs to rclrs.
pub fn is_of_rclrs(name: &str) -> bool {
    is_replaced(name) && name != "r2r"
}

/// A package that takes the place of one version of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIn {
    /// Name of both packages.
    pub name: &'static str,
    /// The version of the API that it offers.
    pub version: Version,
    /// Its folder.
    pub folder: PathBuf,
}

/// A clone of ringspin.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// Its folder, without symbolic links.
    pub folder: PathBuf,
    /// Those that it has, newest first.
    pub drop_ins: Vec<DropIn>,
    /// Names of the packages of messages that the drop-ins have by themselves.
    pub common_messages: BTreeSet<String>,
}

impl Checkout {
    /// Reads the clone at `folder`.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let action = || format!("find the clone of ringspin at {}", folder.display());
        let remedy = "name its folder by `--ringspin PATH`";
        let folder = fs::canonicalize(folder).map_err(|it| Error::new(action(), it, remedy))?;
        if !folder.join("r2r/Cargo.toml").is_file() {
            return Err(Error::new(action(), "it has no `r2r/Cargo.toml`", remedy));
        }
        let mut drop_ins = Vec::new();
        for (name, _, _, path) in DROP_INS {
            let manifest = folder.join(path).join("Cargo.toml");
            if let Ok(text) = fs::read_to_string(&manifest) {
                let version = package_version(&text).ok_or_else(|| {
                    let cause = format!("{} has no package with a version", manifest.display());
                    Error::new(action(), cause, "update the clone: `git pull`")
                })?;
                drop_ins.push(DropIn { name, version, folder: folder.join(path) });
            }
        }
        let definitions = fs::read_dir(folder.join("messages/generator/definitions"));
        let names = definitions.into_iter().flatten().flatten().map(|entry| entry.file_name());
        let common_messages = names.map(|name| name.to_string_lossy().into_owned()).collect();
        Ok(Self { folder, drop_ins, common_messages })
    }

    /// The drop-in for this version.
    pub fn drop_in(&self, name: &str, version: &Version) -> Option<&DropIn> {
        let is_of = |it: &&DropIn| {
            let theirs = (it.version.major, it.version.minor);
            it.name == name && theirs == (version.major, version.minor)
        };
        self.drop_ins.iter().find(is_of)
    }

    /// The versions that can be replaced, such as `0.9, 0.8 or 0.7`; none if the clone lacks all.
    pub fn versions(&self, name: &str) -> Option<String> {
        let of_name = self.drop_ins.iter().filter(|it| it.name == name);
        let all: Vec<_> =
            of_name.map(|it| format!("{}.{}", it.version.major, it.version.minor)).collect();
        let (last, others) = all.split_last()?;
        Some(if others.is_empty() {
            last.clone()
        } else {
            format!("{} or {last}", others.join(", "))
        })
    }

    /// Whether a path, which may have symbolic links, is in the clone.
    pub fn contains(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| path.starts_with(&self.folder))
    }
}

fn package_version(manifest: &str) -> Option<Version> {
    let document: DocumentMut = manifest.parse().ok()?;
    document.get("package")?.get("version")?.as_str()?.parse().ok()
}
