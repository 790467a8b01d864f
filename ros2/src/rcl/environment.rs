//! The environment of this process, as far as it may be changed.

use std::ffi::OsStr;

/// Sets an environment variable if the calling thread is the only one of this process; false
/// otherwise.
pub(crate) fn set_variable_while_alone(name: &str, value: impl AsRef<OsStr>) -> bool {
    if threads() != Some(1) {
        return false;
    }
    // SAFETY: there is no other thread that could read or write the environment meanwhile, and only
    // this one could start another.
    unsafe { std::env::set_var(name, value) };
    true
}

/// How many threads this process has, where the system says so.
fn threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_another_thread_the_environment_stays_as_it_is() {
        // The harness runs a test on a thread of its own, beside that of `main`.
        assert!(threads().is_some_and(|threads| threads > 1));
        assert!(!set_variable_while_alone("RINGSPIN_NOT_SET", "value"));
        assert!(std::env::var_os("RINGSPIN_NOT_SET").is_none());
    }
}
