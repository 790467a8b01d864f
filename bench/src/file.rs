//! Results as a file. It is replaced at once, so that a full disk or a crash leaves the last one.

use ringspin_report::results::{Results, SCHEMA};
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a file of results could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It could not be read.
    #[error("failed to read `{}`; check the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It could not be written. What was there before is still there.
    #[error(
        "failed to write `{}`, which still has what it had before; free some space, or choose a \
         file in a directory that is writable", path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It has other content.
    #[error("`{}` has no measurements; give a file that `bench --out` wrote", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// It has another version of the format.
    #[error(
        "`{}` has format {found}, this program reads {SCHEMA}; use the program of that time, or \
         measure again", path.display()
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// Reads the results in a file.
///
/// # Errors
/// [`FileError`].
pub fn load(path: &Path) -> Result<Results, FileError> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let own = || path.to_owned();
    let text =
        std::fs::read_to_string(path).map_err(|source| FileError::Read { path: own(), source })?;
    let content = |source| FileError::Content { path: own(), source };
    let Version { schema } = serde_json::from_str(&text).map_err(content)?;
    if schema != SCHEMA {
        return Err(FileError::Schema { path: own(), found: schema });
    }
    serde_json::from_str(&text).map_err(content)
}

/// Writes the results to a file, replacing it at once.
///
/// # Errors
/// [`FileError::Write`], with the file as it was.
pub fn save(results: &Results, path: &Path) -> Result<(), FileError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = write(results, Path::new(&beside), path);
    written.map_err(|source| {
        let _ = std::fs::remove_file(&beside);
        FileError::Write { path: path.to_owned(), source }
    })
}

fn write(results: &Results, beside: &Path, path: &Path) -> io::Result<()> {
    let mut file = File::create(beside)?;
    let text = serde_json::to_vec(results)?;
    file.write_all(&text)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(title: &str) -> Results {
        Results { schema: SCHEMA, title: title.into(), ..Results::default() }
    }

    #[test]
    fn results_survive_their_file_and_a_failed_write_keeps_the_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        save(&named("first"), &path).unwrap();
        assert_eq!(load(&path).unwrap(), named("first"));
        // The file beside it cannot be created.
        std::fs::create_dir(folder.path().join("results.json.new")).unwrap();
        let error = save(&named("second"), &path).unwrap_err();
        assert!(error.to_string().contains("still has what it had before"), "{error}");
        assert_eq!(load(&path).unwrap(), named("first"));
    }

    #[test]
    fn other_files_and_other_formats_are_refused_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        assert!(matches!(load(&path), Err(FileError::Read { .. })));
        for (text, way_out) in
            [("[1]", "bench --out"), (r#"{"schema":1}"#, "bench --out"), (r#"{"schema":99}"#, "99")]
        {
            std::fs::write(&path, text).unwrap();
            let error = load(&path).unwrap_err().to_string();
            assert!(error.contains(way_out) && error.contains("results.json"), "{error}");
        }
    }
}
