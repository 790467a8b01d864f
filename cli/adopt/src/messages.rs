//! Packages of messages of the application, which the drop-ins generate from `RINGSPIN_MESSAGES`.
//!
//! That variable names folders which have packages in them. In `.cargo/config.toml` only one folder
//! can be relative to the workspace, so packages in several places are linked into one.

use crate::Error;
use crate::checkout::Checkout;
use crate::files::{Changes, read, relative};
use crate::manifest::path_text;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

/// The variable that names the folders.
pub const VARIABLE: &str = "RINGSPIN_MESSAGES";

/// The folder of links, where packages are in several places.
pub const LINKS: &str = "ringspin_messages";

/// The folder of the crates in the places of message packages.
pub const INTERFACES: &str = "ringspin_interfaces";

/// The folders of a package that have definitions, and their endings.
const KINDS: [&str; 3] = ["msg", "srv", "action"];

/// Depth of the search, which ends in any case.
const DEPTH_MAX: usize = 8;

/// A package with `msg`, `srv` or `action` beside its `package.xml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessagePackage {
    /// Name in `package.xml`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
}

/// The packages of messages in the workspace at `root`, and in the `src` of its colcon workspace.
pub fn find(root: &Path, members: &[&Path], checkout: &Checkout) -> Vec<MessagePackage> {
    let start = colcon_source(root, members).unwrap_or(root);
    let mut found = Vec::new();
    search(start, DEPTH_MAX, checkout, &mut found);
    found.retain(|package| !checkout.common_messages.contains(&package.name));
    found.sort();
    found.dedup_by(|later, first| later.name == first.name);
    found
}

/// The folder `src` above, if this is a part of a colcon workspace.
fn colcon_source<'a>(root: &'a Path, members: &[&Path]) -> Option<&'a Path> {
    let is_source = |folder: &&Path| folder.file_name().is_some_and(|name| name == "src");
    let source = root.ancestors().skip(1).find(is_source)?;
    let is_ros = |folder: &Path| folder.join("package.xml").is_file();
    let is_built = source.parent().is_some_and(|top| top.join("install/COLCON_IGNORE").exists());
    (is_built || is_ros(root) || members.iter().any(|folder| is_ros(folder))).then_some(source)
}

fn search(folder: &Path, depth: usize, checkout: &Checkout, found: &mut Vec<MessagePackage>) {
    let ignored = ["CACHEDIR.TAG", "COLCON_IGNORE", "AMENT_IGNORE"];
    let is_ignored = ignored.iter().any(|name| folder.join(name).exists());
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_ours = [LINKS, INTERFACES].contains(&&*name) || folder == checkout.folder;
    if is_ignored || is_ours {
        return;
    }
    if has_messages(folder)
        && let Ok(xml) = fs::read_to_string(folder.join("package.xml"))
    {
        let name = package_name(&xml).unwrap_or(&name).to_owned();
        found.push(MessagePackage { name, folder: folder.to_path_buf() });
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // Symbolic links are left out: they can form a circle.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for entry in folders {
        let name = entry.file_name();
        let is_skipped = name.to_string_lossy().starts_with('.') || name == "node_modules";
        if depth > 0 && !is_skipped && name != "target" {
            search(&entry.path(), depth - 1, checkout, found);
        }
    }
}

/// Whether a folder has definitions of messages, services or actions.
pub fn has_messages(folder: &Path) -> bool {
    KINDS.into_iter().any(|kind| {
        let files = fs::read_dir(folder.join(kind)).into_iter().flatten().flatten();
        files.map(|file| file.path()).any(|file| file.extension().is_some_and(|it| it == kind))
    })
}

fn package_name(xml: &str) -> Option<&str> {
    let (_, rest) = xml.split_once("<name>")?;
    rest.split_once("</name>").map(|(name, _)| name.trim())
}

/// Adds the variable for `packages`, unless a configuration has it. Returns a note, if any.
pub fn plan(
    packages: &[MessagePackage],
    root: &Path,
    changes: &mut Changes,
) -> Result<Option<String>, Error> {
    if packages.is_empty() {
        return Ok(None);
    }
    for folder in root.ancestors() {
        let path = config_path(folder);
        if read(&path)?.is_some_and(|text| has_variable(&text)) {
            return Ok(Some(format!("{VARIABLE} is set in {}, and stays", path.display())));
        }
    }
    let path = config_path(root);
    let text = read(&path)?.unwrap_or_default();
    let value = path_text(&relative(root, &place(packages, root, changes)));
    let text = with_variable(&text, &value).map_err(|cause| {
        let remedy = "repair it, or set the variable by hand: docs/r2r.md, \"Messages\"";
        Error::new(format!("set {VARIABLE} in {}", path.display()), cause, remedy)
    })?;
    changes.write(path, text)?;
    let is_in_environment = std::env::var_os(VARIABLE).is_some();
    let note = || format!("{VARIABLE} of the environment wins over that of the configuration");
    Ok(is_in_environment.then(note))
}

/// The folder that has all packages, one of links if need be.
///
/// Cargo watches all of the folder. One with the workspace in it has build outputs, and would let
/// each build begin anew.
fn place(packages: &[MessagePackage], root: &Path, changes: &mut Changes) -> PathBuf {
    let is_named =
        |it: &MessagePackage| it.folder.file_name().is_some_and(|name| *name == *it.name);
    let places: BTreeSet<_> = packages.iter().filter_map(|it| it.folder.parent()).collect();
    if let [place] = Vec::from_iter(places)[..]
        && packages.iter().all(is_named)
        && !root.starts_with(place)
    {
        return place.to_path_buf();
    }
    let links = root.join(LINKS);
    for package in packages {
        let folder = links.join(&package.name);
        for kind in KINDS.into_iter().filter(|kind| package.folder.join(kind).is_dir()) {
            let target = relative(&folder, &package.folder.join(kind));
            changes.link(folder.join(kind), target);
        }
    }
    links
}

/// Whether a configuration has the variable. One that cannot be read fails in cargo.
fn has_variable(text: &str) -> bool {
    let document: DocumentMut = text.parse().unwrap_or_default();
    let variables = document.get("env").and_then(Item::as_table_like);
    variables.is_some_and(|variables| variables.contains_key(VARIABLE))
}

/// The configuration of cargo in a folder; of two forms, the one that cargo prefers.
fn config_path(folder: &Path) -> PathBuf {
    let old = folder.join(".cargo/config");
    if old.is_file() { old } else { folder.join(".cargo/config.toml") }
}

/// A configuration with the variable, relative to its workspace.
fn with_variable(text: &str, value: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let all = document.entry("env").or_insert(Item::Table(Table::new())).as_table_like_mut();
    let mut entry = InlineTable::new();
    entry.insert("value", value.into());
    entry.insert("relative", true.into());
    all.ok_or("`env` is not a table")?.insert(VARIABLE, Value::InlineTable(entry).into());
    Ok(document.to_string())
}
