//! The trace of a deterministic run as JSON lines: one object per dispatch, in order.

use ringspin_executor::{Dispatch, GraphInfo, Recorder};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes each dispatch to a file as it happens.
pub struct TraceWriter {
    path: PathBuf,
    out: BufWriter<File>,
    info: GraphInfo,
    /// The first failure, after which nothing more is written.
    error: Option<io::Error>,
}

/// One line of a trace.
#[derive(Serialize)]
struct Line<'a> {
    time_ns: u64,
    node: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    callback: &'a str,
    source: u32,
    sequence: u64,
}

impl TraceWriter {
    /// Creates or empties the file at `path`.
    ///
    /// # Errors
    /// The error of the operating system, with the path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(created(path)?);
        Ok(Self { path: path.into(), out, info: GraphInfo::default(), error: None })
    }

    /// Takes the names from `info`.
    #[must_use]
    pub fn with_names(mut self, info: &GraphInfo) -> Self {
        self.info = info.clone();
        self
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// The first failure of this or any earlier write, with the path.
    pub fn finish(mut self) -> io::Result<()> {
        let result = match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        };
        result.map_err(|error| not_written(&self.path, &error))
    }

    fn write(&mut self, dispatch: &Dispatch) -> io::Result<()> {
        let event_loop = self.info.loop_of(dispatch.callback);
        let line = Line {
            time_ns: dispatch.time.as_nanos(),
            node: &event_loop.node,
            group: &event_loop.group,
            callback: &self.info.callbacks[dispatch.callback].name,
            source: dispatch.event.source.0,
            sequence: dispatch.event.sequence,
        };
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }
}

impl Recorder for TraceWriter {
    fn started(&mut self, dispatch: &Dispatch) {
        if self.error.is_none() {
            self.error = self.write(dispatch).err();
        }
    }
}

/// Creates or empties a file before the run, so that an unwritable path fails early.
///
/// # Errors
/// The error of the operating system, with the path.
pub fn created(path: &Path) -> io::Result<File> {
    File::create(path).map_err(|error| not_written(path, &error))
}

/// An error of the operating system with the path and the remedy.
#[must_use]
pub fn not_written(path: &Path, error: &io::Error) -> io::Error {
    let message = format!(
        "failed to write `{}`: {error}; choose a path in a directory that exists and is writable",
        path.display()
    );
    io::Error::new(error.kind(), message)
}
