//! Results as a file. It is replaced at once, so that a full disk or a crash leaves the last one.

use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_report::results::{Results, SCHEMA};
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Reads the results in a file.
///
/// # Errors
/// The file cannot be read, or has other content or another version of the format.
pub fn load(path: &Path) -> Result<Results> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|cause| {
        let text = format!("failed to read `{name}`; check the path");
        Error::new(ErrorKind::Io, text).at_path(path).caused_by(cause)
    })?;
    let content = |cause: serde_json::Error| {
        let text = format!("`{name}` has no measurements; give a file that `bench --out` wrote");
        Error::new(ErrorKind::Parse, text).at_path(path).caused_by(cause)
    };
    let Version { schema } = serde_json::from_str(&text).map_err(content)?;
    if schema != SCHEMA {
        let text = format!(
            "`{name}` has format {schema}, this program reads {SCHEMA}; use the program of that \
             time, or measure again"
        );
        return Err(Error::new(ErrorKind::Unsupported, text).at_path(path));
    }
    serde_json::from_str(&text).map_err(content)
}

/// Writes the results to a file, replacing it at once.
///
/// # Errors
/// The file cannot be written; it is as it was.
pub fn save(results: &Results, path: &Path) -> Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = write(results, Path::new(&beside), path);
    written.map_err(|cause| {
        let _ = std::fs::remove_file(&beside);
        let text = format!(
            "failed to write `{}`, which keeps its old content; free some space, or choose a file \
             in a directory that is writable",
            path.display()
        );
        Error::new(ErrorKind::Io, text).at_path(path).caused_by(cause)
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
        assert!(error.to_string().contains("keeps its old content"), "{error}");
        assert_eq!(load(&path).unwrap(), named("first"));
    }

    #[test]
    fn other_files_and_other_formats_are_refused_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let error = load(&path).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(&*path)));
        for (text, way_out) in
            [("[1]", "bench --out"), (r#"{"schema":1}"#, "bench --out"), (r#"{"schema":99}"#, "99")]
        {
            std::fs::write(&path, text).unwrap();
            let error = load(&path).unwrap_err().to_string();
            assert!(error.contains(way_out) && error.contains("results.json"), "{error}");
        }
    }
}
