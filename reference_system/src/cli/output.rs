//! Output to stdout or to files. Files are created before the run, so that an unwritable path fails
//! before any measurement.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use reference_system::trace::{created, not_written};
use serde::Serialize;

/// Writes `text` to stdout. A reader that closes the pipe early, such as `head`, is not an error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("failed to write to standard output"),
    }
}

/// The command line, with the program name instead of its path.
pub(super) fn command_line() -> String {
    let mut words = vec!["reference-system".to_owned()];
    words.extend(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// A file or stdout, to be written later.
pub(super) struct Output {
    path: PathBuf,
    /// `None` for stdout.
    file: Option<File>,
}

impl Output {
    /// Creates or truncates the file at `path`; `-` selects stdout if allowed.
    pub(super) fn create(path: &Path, may_be_stdout: bool) -> Result<Self> {
        let file = match may_be_stdout && path.as_os_str() == "-" {
            true => None,
            false => Some(created(path)?),
        };
        Ok(Self { path: path.into(), file })
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Writes `value` as one indented JSON document.
    pub(super) fn write_json(self, value: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.write_text(&text)
    }

    /// Writes `text` unchanged.
    pub(super) fn write_text(self, text: &str) -> Result<()> {
        match self.file {
            None => print(text),
            Some(mut file) => {
                let written = file.write_all(text.as_bytes());
                Ok(written.map_err(|error| not_written(&self.path, &error))?)
            }
        }
    }
}
