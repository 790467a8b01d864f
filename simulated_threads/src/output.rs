//! Messages on the standard error.

/// Writes to the standard error, whatever locks other threads hold.
pub(crate) fn say(text: &str) {
    let line = format!("ringspin: {text}\n");
    // SAFETY: as many bytes as the line has.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Says that a call of the program fails here: what, why, and what to do instead.
pub(crate) fn refuse(what: &str, why: &str, way_out: &str) {
    say(&format!("{what} was refused: {why}; {way_out}"));
}

/// Ends the process because of what `text` says, with the status of a failed Rust program.
pub(crate) fn die(text: &str) -> ! {
    say(text);
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(101) }
}
