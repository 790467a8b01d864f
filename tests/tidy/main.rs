//! Style that a formatter cannot check: file headers, lengths, language, places of `unsafe`.

mod language;

use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 800;

/// Pages that are to be read at one sitting; details belong in `docs/` or module docs.
const SHORT_PAGES: [&str; 2] = ["README.md", "ARCHITECTURE.md"];
const PAGE_CHARACTERS_MAX: usize = 8_000;

/// The Rust sources of the workspace, with their text.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.to_path_buf()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let is_generated = name.starts_with("target") || name == "bindings";
                folders.extend((!name.starts_with('.') && !is_generated).then_some(path));
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).unwrap();
                sources.push((path.strip_prefix(root).unwrap().to_path_buf(), text));
            }
        }
    }
    assert!(sources.len() > 30, "the sources were not found");
    sources
}

/// The lines before the unit tests, which are at the end of a file.
fn production(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]") && !is_test_module(line))
}

fn is_test_module(line: &str) -> bool {
    line.starts_with("#[cfg(all(test")
}

/// Asserts that `problems` is empty, and shows all of them otherwise.
fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_file_says_why_it_exists() {
    let headed = |text: &str| text.starts_with("//!") || text.starts_with("#![doc");
    let missing = sources().into_iter().filter(|(_, text)| !headed(text));
    none(missing.map(|(path, _)| format!("{}: no //! header", path.display())).collect());
}

#[test]
fn lines_and_files_stay_short() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        for (n, line) in text.lines().enumerate() {
            if line.chars().count() > COLUMNS_MAX {
                problems.push(format!("{}:{}: over {COLUMNS_MAX} columns", path.display(), n + 1));
            }
        }
        let lines = production(&text).count();
        let is_test = path.starts_with("loom-tests")
            || path.iter().any(|part| part == "tests" || part == "tests.rs");
        if lines > FILE_LINES_MAX && !is_test {
            problems.push(format!("{}: {lines} lines before the tests", path.display()));
        }
    }
    none(problems);
}

/// The root of the facade has the everyday types; the others are in modules by concept.
#[test]
fn facade_root_stays_small() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let text = fs::read_to_string(path).unwrap();
    let root = text.split("pub mod prelude").next().unwrap();
    let code: String = root.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let names_in = |list: &str| {
        let names = list.split(';').next().unwrap().split(',');
        names.filter(|name| !name.trim_end_matches('}').trim().is_empty()).count()
    };
    let names: usize = code.split("pub use ").skip(1).map(names_in).sum();
    assert!((20..=40).contains(&names), "{names} names in the facade's root, 40 allowed");
}

#[test]
fn front_pages_stay_short() {
    let too_long = |name: &&str| {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        let count = text.chars().count();
        assert!(count > 0, "{name} is empty");
        (count > PAGE_CHARACTERS_MAX)
            .then(|| format!("{name}: {count} characters, {PAGE_CHARACTERS_MAX} allowed"))
    };
    none(SHORT_PAGES.iter().filter_map(too_long).collect());
}

/// The name of the function that is declared on this line, without its indentation.
fn declared_function(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let qualifiers = ["const", "async", "unsafe", "extern", "\"C\"", "default"];
    let mut words = before.split_whitespace();
    if !words.all(|word| word.starts_with("pub") || qualifiers.contains(&word)) {
        return None;
    }
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then(|| &after[..end])
}

/// The lines of the function that `lines` begins with, its signature and its closing brace
/// included; 0 for a declaration without a body. Relies on rustfmt's indentation.
fn function_lines(lines: &[&str]) -> usize {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let indent = depth(lines[0]);
    let mut has_body = false;
    for (n, line) in lines.iter().enumerate() {
        let at_indent = depth(line) == indent;
        let is_end = line.trim_start().starts_with('}') || n == 0 && line.ends_with('}');
        match at_indent {
            true if is_end => return n + 1,
            true if !has_body && line.ends_with(';') => return 0,
            true if line.ends_with('{') => has_body = true,
            _ => {}
        }
    }
    0
}

#[test]
fn functions_stay_short() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<_> = text.lines().collect();
        for (first, line) in lines.iter().enumerate() {
            let Some(name) = declared_function(line.trim_start()) else { continue };
            let count = function_lines(&lines[first..]);
            if count > FUNCTION_LINES_MAX {
                let at = format!("{}:{}", path.display(), first + 1);
                problems.push(format!("{at}: `{name}` has {count} lines; split it"));
            }
        }
    }
    none(problems);
}

/// A new variant must not break callers.
#[test]
fn error_enums_are_non_exhaustive() {
    let mut problems = Vec::new();
    let mut count = 0;
    for (path, text) in sources() {
        // Those of rclrs are exhaustive, and applications match them so.
        if path.starts_with("rclrs/src") {
            continue;
        }
        let lines: Vec<_> = text.lines().map(str::trim_start).collect();
        for (n, line) in lines.iter().enumerate() {
            let enumeration = line.strip_prefix("pub enum ");
            let name = enumeration.and_then(|rest| rest.split([' ', '<']).next());
            let Some(name) = name.filter(|name| name.ends_with("Error")) else { continue };
            let attributes = lines[..n].iter().rev().take_while(|line| line.starts_with('#'));
            count += 1;
            if !attributes.clone().any(|line| *line == "#[non_exhaustive]") {
                problems.push(format!("{}:{}: `{name}` is exhaustive", path.display(), n + 1));
            }
        }
    }
    assert!(count > 5, "the error enums were not found");
    none(problems);
}

#[test]
fn unsafe_lives_in_the_rings_at_libc_and_at_rcl_and_atomics_behind_their_facade() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        let rings =
            ["ringbuf", "simulated_threads", "rmw"].iter().any(|name| path.starts_with(name));
        let models = path.starts_with("loom-tests");
        let confined = match path.starts_with("ros2") {
            // Only its module for rcl may allow it again.
            true => text.contains("deny(unsafe_code)"),
            false => text.contains("forbid(unsafe_code)"),
        };
        if path.ends_with("src/lib.rs") && !rings && !models && !confined {
            problems.push(format!("{}: does not forbid unsafe code", path.display()));
        }
        if text.contains("allow(unsafe_code)")
            && !path.ends_with("ros2/src/rcl.rs")
            && !path.starts_with("tests/tidy")
        {
            problems.push(format!("{}: unsafe code is in ros2/src/rcl only", path.display()));
        }
        let facade = path.ends_with("ringbuf/src/sync.rs");
        let names_atomics = text.contains("sync::atomic") && !path.starts_with("tests/tidy");
        if names_atomics
            && !facade
            && !models
            && !path.starts_with("simulated_threads")
            && path.iter().any(|part| part == "src")
        {
            problems.push(format!("{}: atomics come from ringbuf only", path.display()));
        }
    }
    none(problems);
}
