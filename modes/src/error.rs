//! Errors of spinning that several places report.

use ringspin_executor::{Error, ErrorKind, Result, Time, catch_panic};

/// Calls application code other than a callback: code that builds a graph, breaks ties, ends a run,
/// or is dropped with it. `part` names it in the error, as in "the tie breaker"; `time` is the
/// simulated time, if the run had begun.
///
/// # Errors
/// The panic of `code`, of kind [`ErrorKind::Panicked`].
pub fn catch_part<R>(part: &str, time: Option<Time>, code: impl FnOnce() -> R) -> Result<R> {
    catch_panic(code).map_err(|reason| panicked(part, time, &reason))
}

pub(crate) fn panicked(part: &str, time: Option<Time>, reason: &str) -> Error {
    let at = time.map_or(String::new(), |time| format!(" at {time}"));
    Error::new(ErrorKind::Panicked, format!("{part} panicked{at}: {reason}"))
}

pub(crate) fn thread_not_started(reason: &str) -> Error {
    let text = format!(
        "failed to start a worker thread: {reason}; use fewer cores, or raise the limits of the \
         process"
    );
    Error::new(ErrorKind::Io, text)
}
