//! The `[patch]` tables of the workspace's `Cargo.toml`, edited with its formatting and comments.

use crate::Error;
use crate::files::relative;
use std::path::{Path, PathBuf};
use toml_edit::{Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// The name of crates.io in a patch.
pub const CRATES_IO: &str = "crates-io";

/// A patch: a package of a source is replaced by one in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// `crates-io`, or the address of a git repository.
    pub source: String,
    /// Name of the package.
    pub package: String,
    /// Key of a second patch of the same package.
    pub alias: String,
    /// The folder that has the replacement, absolute.
    pub folder: PathBuf,
}

impl Patch {
    /// The arguments of cargo's `--config` that have the same effect.
    pub fn as_config(&self) -> [String; 2] {
        let quoted = |text: &str| Value::from(text).to_string();
        let entry = format!("patch.{}.{}", quoted(&self.source), quoted(&self.alias));
        let fields = [("package", &self.package), ("path", &path_text(&self.folder))];
        fields.map(|(field, text)| format!("{entry}.{field}={}", quoted(text)))
    }
}

/// A path with forward slashes.
pub fn path_text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

/// A patch that a manifest has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// `crates-io`, or the address of a git repository.
    pub source: String,
    /// Key of the entry.
    pub key: String,
    /// Name of the package.
    pub package: String,
    /// The folder that has the replacement; none if it is not a path.
    pub folder: Option<PathBuf>,
    /// Line in the manifest, from 1.
    pub line: usize,
}

/// The patches in a manifest in the folder `root`.
pub fn patches(text: &str, root: &Path) -> Result<Vec<Existing>, Error> {
    let document = Document::parse(text).map_err(|error| invalid(root, error))?;
    let mut all = Vec::new();
    let sources = document.get("patch").and_then(Item::as_table_like);
    for (source, entries) in sources.into_iter().flat_map(|table| table.iter()) {
        let Some(entries) = entries.as_table_like() else { continue };
        for (key, entry) in entries.iter() {
            let field = |name| entry.as_table_like()?.get(name)?.as_str();
            let span = entries.get_key_value(key).and_then(|(key, _)| key.span());
            let start = span.or_else(|| entry.span()).map_or(0, |span| span.start);
            all.push(Existing {
                source: source.to_owned(),
                key: key.to_owned(),
                package: field("package").unwrap_or(key).to_owned(),
                folder: field("path").map(|path| root.join(path)),
                line: text[..start].matches('\n').count() + 1,
            });
        }
    }
    Ok(all)
}

/// The text of a manifest in the folder `root` with further patches.
pub fn with_patches(text: &str, root: &Path, patches: &[Patch]) -> Result<String, Error> {
    let mut document: DocumentMut = text.parse().map_err(|error| invalid(root, error))?;
    let not_a_table = |name: &str| invalid(root, format!("`{name}` is not a table"));
    for patch in patches {
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        let all = document.entry("patch").or_insert(Item::Table(implicit)).as_table_like_mut();
        let all = all.ok_or_else(|| not_a_table("patch"))?;
        let known = all.iter().map(|(source, _)| source.to_owned());
        let known = known.into_iter().find(|source| is_same_source(source, &patch.source));
        let source = known.unwrap_or_else(|| patch.source.clone());
        let mut last = Table::new();
        last.set_position(Some(isize::MAX));
        let entries = all.entry(&source).or_insert(Item::Table(last)).as_table_like_mut();
        add(entries.ok_or_else(|| not_a_table(&source))?, patch, root);
    }
    Ok(document.to_string())
}

/// Adds one patch, by the name of its package if that is free.
fn add(entries: &mut dyn TableLike, patch: &Patch, root: &Path) {
    let mut entry = InlineTable::new();
    let key = match entries.contains_key(&patch.package) {
        true => {
            entry.insert("package", patch.package.as_str().into());
            &patch.alias
        }
        false => &patch.package,
    };
    entry.insert("path", path_text(&relative(root, &patch.folder)).into());
    entries.insert(key, Item::Value(Value::InlineTable(entry)));
}

/// Whether two keys below `[patch]` name one source.
pub fn is_same_source(left: &str, right: &str) -> bool {
    let normal = |source: &str| {
        let source = source.trim_end_matches('/').trim_end_matches(".git").to_lowercase();
        let index = "github.com/rust-lang/crates.io-index";
        if source.ends_with(index) { CRATES_IO.to_owned() } else { source }
    };
    normal(left) == normal(right)
}

fn invalid(root: &Path, cause: impl std::fmt::Display) -> Error {
    let action = format!("read {}", root.join("Cargo.toml").display());
    Error::new(action, cause.to_string().trim(), "repair it: `cargo metadata` has to succeed")
}
