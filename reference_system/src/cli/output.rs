//! Output to stdout or to files. Files are created before the run, so that an unwritable path fails
//! before any measurement.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

/// Writes `text` to stdout. A reader that closes the pipe early, such as `head`, is not an error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("failed to write to standard output"),
    }
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
            false => Some(File::create(path).with_context(|| way_out(path))?),
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
            Some(mut file) => file.write_all(text.as_bytes()).with_context(|| way_out(&self.path)),
        }
    }

    /// Writes the output of `write` to a file.
    pub(super) fn write_with(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut out: Box<dyn Write> = match self.file {
            Some(file) => Box::new(BufWriter::new(file)),
            None => Box::new(io::stdout().lock()),
        };
        write(&mut out).and_then(|()| out.flush()).with_context(|| way_out(&self.path))
    }

    /// Writes each of `values` as one line of JSON.
    pub(super) fn write_lines<T: Serialize>(self, values: &[T]) -> Result<()> {
        let Some(file) = self.file else {
            let lines: Result<Vec<String>, _> = values.iter().map(serde_json::to_string).collect();
            return print(&(lines?.join("\n") + "\n"));
        };
        let mut out = BufWriter::new(file);
        for value in values {
            serde_json::to_writer(&mut out, value).with_context(|| way_out(&self.path))?;
            out.write_all(b"\n").with_context(|| way_out(&self.path))?;
        }
        out.flush().with_context(|| way_out(&self.path))
    }
}

fn way_out(path: &Path) -> String {
    format!(
        "failed to write `{}`; choose a path in a directory that exists and is writable",
        path.display()
    )
}
