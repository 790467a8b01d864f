//! Default mappings on disk, so that only the first run of a program for a load searches.

use ringspin_executor::BoxError;
use ringspin_modes::Mapping;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

/// The mapping that is kept for `key`, or else the one that `find` returns, which is kept from then
/// on. A file that cannot be read or written costs a search, and is no error.
pub(super) fn cached(
    key: &impl Hash,
    find: impl FnOnce() -> Result<Mapping, BoxError>,
) -> Result<Mapping, BoxError> {
    match directory().zip(program()) {
        Some((directory, program)) => cached_in(&directory, &(key, program), find),
        None => find(),
    }
}

/// `ringspin` in the user's directory for caches; none in debug builds, whose searches are short.
fn directory() -> Option<PathBuf> {
    if cfg!(debug_assertions) {
        return None;
    }
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|of| of.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(caches?.join("ringspin"))
}

/// The program and when it was built: another one may have another graph, or search otherwise.
fn program() -> Option<impl Hash> {
    let path = env::current_exe().ok()?;
    let modified = fs::metadata(&path).ok()?.modified().ok()?;
    Some((path, modified))
}

fn cached_in(
    directory: &Path,
    key: &impl Hash,
    find: impl FnOnce() -> Result<Mapping, BoxError>,
) -> Result<Mapping, BoxError> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let path = directory.join(format!("{:016x}.toml", hasher.finish()));
    if let Ok(mapping) = Mapping::load(&path) {
        return Ok(mapping);
    }
    let mapping = find()?;
    let _ = keep(&path, &mapping);
    Ok(mapping)
}

/// Writes the file at once, so that no other process reads a part of it.
fn keep(path: &Path, mapping: &Mapping) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let written = path.with_extension(process::id().to_string());
    fs::write(&written, mapping.to_toml_string())?;
    fs::rename(written, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn mapping_is_found_once_for_each_key_and_again_if_its_file_is_broken() {
        let directory = tempfile::tempdir().unwrap();
        let kept = directory.path().join("ringspin");
        let searches = Cell::new(0);
        let mapping = |key: u32| {
            let found = cached_in(&kept, &key, || {
                searches.set(searches.get() + 1);
                Ok(Mapping::new().default_core(3).core(key as usize, ["/node"]))
            });
            found.unwrap()
        };
        let first = mapping(1);
        assert_eq!((mapping(1), searches.get()), (first.clone(), 1));
        assert_ne!((mapping(2), searches.get()), (first.clone(), 1));
        for file in fs::read_dir(&kept).unwrap() {
            fs::write(file.unwrap().path(), "[[core]").unwrap();
        }
        assert_eq!((mapping(1), searches.get()), (first.clone(), 3));
        assert_eq!((mapping(1), searches.get()), (first, 3));
        // A directory that cannot be created.
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let found = cached_in(&file.join("below"), &1, || Ok(Mapping::new()));
        assert_eq!(found.unwrap(), Mapping::new());
    }
}
