//! Messages on the standard error.

/// Writes to the standard error, whatever locks other threads hold.
pub(crate) fn say(text: &str) {
    let line = format!("ringspin: {text}\n");
    // SAFETY: as many bytes as the line has.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Ends the process because of what `text` says, with the status of a failed Rust program.
pub(crate) fn die(text: &str) -> ! {
    say(text);
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(101) }
}
