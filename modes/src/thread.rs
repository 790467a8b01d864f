//! How a worker's thread gets its core, its priority and its punctual timers. Also for tools that
//! measure a bare thread under the same conditions.

use ringspin_executor::{Error, ErrorKind, Result};

/// The number of cores that a set of the C library has room for.
const CORES_MAX: usize = 1024;

/// Pins this thread to `core`; returns whether that succeeded.
pub fn pin(core: usize) -> bool {
    core < CORES_MAX && core_affinity::set_for_current(core_affinity::CoreId { id: core })
}

/// The cores that this thread may run on, as the operating system numbers them: all cores of the
/// process, unless the thread was pinned. Executors pin only threads that they start.
pub fn allowed_cores() -> Vec<usize> {
    core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|core| core.id).collect()
}

/// Gives this thread a real-time priority of 1 to 99.
///
/// # Errors
/// Fails if the system has no such priority, or does not permit it.
pub fn set_fifo_priority(priority: u8) -> Result<()> {
    let set = ringspin_ringbuf::priority::set_fifo_priority(priority);
    set.map_err(|error| {
        let text = format!(
            "failed to give a thread the SCHED_FIFO priority {priority}, so it keeps its normal \
             one: {error}; grant CAP_SYS_NICE, or raise the limit (`ulimit -r`, `rtprio` in \
             limits.conf)"
        );
        Error::new(ErrorKind::PermissionDenied, text)
    })
}

/// Has this thread run when no other one wants its core, where the system can do that.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = ringspin_ringbuf::priority::set_idle_priority() {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}

/// Has the kernel wake this thread when its sleep ends, not up to 50 microseconds later.
pub fn reduce_timer_slack() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_timerslack(1) {
        tracing::debug!(%error, "the timer slack stays as it is; timers may be 50 us late");
    }
}
