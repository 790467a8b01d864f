//! The real-time priority of a thread, which the standard library cannot set.
//!
//! It is here because this crate is the one that may contain `unsafe`, and because a call of the C
//! library is smaller than the three crates of a safe wrapper.

use std::io;

/// Schedules this thread by SCHED_IDLE: when no other one wants its core.
///
/// # Errors
/// The operating system's.
#[cfg(target_os = "linux")]
pub fn set_idle_priority() -> io::Result<()> {
    schedule(libc::SCHED_IDLE, 0)
}

/// Schedules this thread by SCHED_FIFO, with a priority of 1 to 99.
///
/// # Errors
/// The operating system's: the priority is out of range, the process lacks the permission, or the
/// system has no such priorities.
#[cfg(unix)]
pub fn set_fifo_priority(priority: u8) -> io::Result<()> {
    schedule(libc::SCHED_FIFO, priority.into())
}

/// Fails: this system has no such priorities.
#[cfg(not(unix))]
pub fn set_fifo_priority(_priority: u8) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn schedule(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: the structure consists of integers, for which zero is a valid value.
    let mut parameters: libc::sched_param = unsafe { core::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the handle is that of the running thread, and the parameters outlive the call.
    let error =
        unsafe { libc::pthread_setschedparam(libc::pthread_self(), policy, &raw const parameters) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

#[cfg(all(test, unix, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn priority_out_of_range_is_refused() {
        for priority in [0, 100] {
            let error = set_fifo_priority(priority).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
