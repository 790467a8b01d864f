//! Lists the definitions in `definitions/`, so that they are part of the crate.

use std::fmt::Write;
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = root.join("definitions");
    println!("cargo::rerun-if-changed={}", root.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut table = String::from("&[\n");
    for package in sorted(&root)?.into_iter().filter(|path| path.is_dir()) {
        for kind in sorted(&package)? {
            for file in sorted(&kind)? {
                let [package, kind, name] = [&package, &kind, &file].map(|path| stem(path));
                let row = format!("({package:?}, {kind:?}, {name:?}, include_str!({file:?})),\n");
                table += &row;
            }
        }
    }
    let _ = writeln!(table, "]");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    fs::write(out.join("definitions.rs"), table)
}

/// The entries of a folder, in order of their names.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries: Vec<_> = entries.collect::<Result<_>>()?;
    entries.sort();
    Ok(entries)
}

/// The name of a file or folder without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
