//! The order of threads in a file: written by one run, compared by another.
//!
//! Both allocate the same, so that neither moves the program's allocations.

use crate::os::Descriptor;
use crate::settings;
use crate::wait::Nanos;
use ringspin_executor::Time;
use ringspin_modes::threads::ThreadInfo;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

/// The variables that name the file.
const WRITTEN: &str = "RINGSPIN_TRACE";
const COMPARED: &str = "RINGSPIN_COMPARE";

const BUFFER_BYTES: usize = 64 << 10;

/// A file with a line for each switch of threads.
pub(crate) struct Trace {
    path: String,
    file: Access,
    switches: u64,
    line: String,
    before: String,
    expected: Vec<u8>,
}

enum Access {
    Written(BufWriter<Descriptor>),
    Compared(BufReader<Descriptor>),
}

impl Trace {
    /// The trace for which the environment asks.
    ///
    /// # Errors
    /// In words, with the file that cannot be opened.
    pub(crate) fn from_environment() -> Result<Option<Self>, String> {
        let mut trace = None;
        for (name, is_written) in [(WRITTEN, true), (COMPARED, false)] {
            let expected = "the path of a file, and one of RINGSPIN_TRACE, RINGSPIN_COMPARE";
            let is_first = trace.is_none();
            let path = settings::read(name, expected, |path| {
                (is_first && !path.is_empty()).then(|| path.to_owned())
            })?;
            trace = trace.or(path.map(|path| (path, is_written)));
        }
        let Some((path, is_written)) = trace else { return Ok(None) };
        let opened = if is_written { File::create(&path) } else { File::open(&path) };
        let opened = opened.and_then(Descriptor::new);
        let file = opened.map_err(|error| format!("failed to open the trace {path}: {error}"))?;
        let file = match is_written {
            true => Access::Written(BufWriter::with_capacity(BUFFER_BYTES, file)),
            false => Access::Compared(BufReader::with_capacity(BUFFER_BYTES, file)),
        };
        let line = || String::with_capacity(128);
        let expected = Vec::with_capacity(128);
        Ok(Some(Self { path, file, switches: 0, line: line(), before: line(), expected }))
    }

    /// The thread runs from now on.
    ///
    /// # Errors
    /// In words, with the first switch that differs from the file's.
    pub(crate) fn note(&mut self, now: Nanos, thread: &ThreadInfo) -> Result<(), String> {
        std::mem::swap(&mut self.line, &mut self.before);
        self.line.clear();
        let _ = writeln!(self.line, "{} {thread}", Time::from_nanos(now));
        self.switches += 1;
        match &mut self.file {
            Access::Written(file) => {
                let written = file.write_all(self.line.as_bytes());
                written.map_err(|error| self.failed(&error))
            }
            Access::Compared(_) => self.compare(),
        }
    }

    /// No thread runs any more.
    ///
    /// # Errors
    /// In words, if the file has more switches.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        match &mut self.file {
            Access::Written(file) => {
                let flushed = file.flush();
                flushed.map_err(|error| self.failed(&error))
            }
            Access::Compared(_) => {
                std::mem::swap(&mut self.line, &mut self.before);
                self.line.clear();
                self.switches += 1;
                self.compare()
            }
        }
    }

    /// Compares the next line with the one in the file.
    fn compare(&mut self) -> Result<(), String> {
        let Access::Compared(file) = &mut self.file else { return Ok(()) };
        self.expected.clear();
        if let Err(error) = file.read_until(b'\n', &mut self.expected) {
            return Err(self.failed(&error));
        }
        if self.expected == self.line.as_bytes() {
            return Ok(());
        }
        let or_end = |line: &str| match line.trim_end() {
            "" => "the end".to_owned(),
            line => line.to_owned(),
        };
        Err(format!(
            "the order of threads differs from that in {} at switch {}: {} here, {} there, after \
             {} in both",
            self.path,
            self.switches,
            or_end(&self.line),
            or_end(&String::from_utf8_lossy(&self.expected)),
            if self.before.is_empty() { "the begin" } else { self.before.trim_end() },
        ))
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("failed to access the trace {}: {error}", self.path)
    }
}
