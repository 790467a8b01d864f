//! Messages on the standard error.

use crate::os;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Writes to the standard error, also while other threads hold its lock.
pub(crate) fn say(text: &str) {
    let line = format!("ringspin: {text}\n");
    os::write(libc::STDERR_FILENO, line.as_bytes());
}

/// Reports that a call of the program fails here, with the reason and the way out: once for each
/// kind of call, since a program may try again in a loop.
pub(crate) fn refuse(what: &str, why: &str, way_out: &str) {
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = REPORTED.lock().unwrap_or_else(PoisonError::into_inner).insert(what.into());
    if is_new {
        say(&format!("{what} was refused: {why}; {way_out}"));
    }
}

/// Ends the process with `text` as the reason, with the status of a failed Rust program.
pub(crate) fn die(text: &str) -> ! {
    say(text);
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(101) }
}
