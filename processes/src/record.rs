//! The record of a run: a line for each thing that happens, the digest of all lines, and the
//! output of the processes.
//!
//! Two runs are equal if their records are. So the digest is that of the record's text, and a
//! comparison of two runs shows the first line that differs: there is one mechanism for both.

use ringspin_executor::Time;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Sees the output and the time of a run. A function with the arguments of [`line`](Self::line) is
/// one.
pub trait Observer {
    /// A process prints a line; `is_error` if to its standard error.
    fn line(&mut self, time: Time, process: &str, is_error: bool, line: &str);

    /// Something happens at `time`, which may be the time of the last call.
    fn time(&mut self, time: Time) {
        let _ = time;
    }

    /// Whether the run is to [pause](Self::pause) before the next event, at `time`.
    fn pauses(&mut self, time: Time) -> bool {
        let _ = time;
        false
    }

    /// All processes wait, until this returns and `event` happens to one of them: the one with this
    /// number of the operating system, if it runs.
    fn pause(&mut self, time: Time, event: &str, process: Option<u32>) {
        let _ = (time, event, process);
    }
}

impl<F: FnMut(Time, &str, bool, &str)> Observer for F {
    fn line(&mut self, time: Time, process: &str, is_error: bool, line: &str) {
        self(time, process, is_error, line);
    }
}

/// The most digests that a record keeps.
const MARKS_MAX: usize = 64;

pub(crate) struct Record<'a> {
    digest: Xxh3,
    lines: u64,
    /// The digest after each number of lines that the step divides, in words.
    marks: Vec<(u64, String)>,
    step: u64,
    file: Option<BufWriter<File>>,
    observer: &'a mut dyn Observer,
    line: Vec<u8>,
    failed: Option<io::Error>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(file: Option<File>, observer: &'a mut dyn Observer) -> Self {
        let file = file.map(BufWriter::new);
        Self {
            digest: Xxh3::new(),
            lines: 0,
            marks: Vec::new(),
            step: 1,
            file,
            observer,
            line: Vec::new(),
            failed: None,
        }
    }

    /// Something happens at `now` to or in the process `name`.
    pub(crate) fn note(&mut self, now: u64, name: &str, event: fmt::Arguments<'_>) {
        self.observer.time(Time::from_nanos(now));
        self.line.clear();
        // A vector takes everything.
        let _ = writeln!(self.line, "{} {name} {event}", Time::from_nanos(now));
        self.digest.update(&self.line);
        self.mark(now);
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(&self.line)
        {
            (self.file, self.failed) = (None, Some(error));
        }
    }

    pub(crate) fn pauses(&mut self, now: u64) -> bool {
        self.observer.pauses(Time::from_nanos(now))
    }

    pub(crate) fn pause(&mut self, now: u64, event: &str, process: Option<u32>) {
        self.observer.pause(Time::from_nanos(now), event, process);
    }

    /// A line about the process `name` that is no event.
    pub(crate) fn show(&mut self, now: u64, name: &str, line: &str) {
        self.observer.line(Time::from_nanos(now), name, false, line);
    }

    /// Keeps the digest, and every other one of those before once there are too many.
    fn mark(&mut self, now: u64) {
        self.lines += 1;
        if !self.lines.is_multiple_of(self.step) {
            return;
        }
        let (time, digest) = (Time::from_nanos(now), self.digest.digest());
        self.marks.push((self.lines, format!("line {} at {time}, {digest:016x}", self.lines)));
        if self.marks.len() > MARKS_MAX {
            self.step *= 2;
            self.marks.retain(|(lines, _)| lines.is_multiple_of(self.step));
        }
    }

    /// The process `name` has printed a line.
    pub(crate) fn print(&mut self, now: u64, name: &str, is_error: bool, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        self.note(now, name, format_args!("prints {text:?}"));
        self.observer.line(Time::from_nanos(now), name, is_error, &text);
    }

    /// The digest of all that happened, and those after some numbers of lines, in words.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn finish(mut self) -> io::Result<(u64, Vec<String>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)?;
        Ok((self.digest.digest(), self.marks.into_iter().map(|(_, words)| words).collect()))
    }
}

/// A digest of bytes, for lines of the record.
pub(crate) struct Contents<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Contents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, {:016x}", self.0.len(), xxh3_64(self.0))
    }
}
