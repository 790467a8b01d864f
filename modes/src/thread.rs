//! How a worker's thread gets its core, its priority and its punctual timers. Also for tools that
//! measure a bare thread under the same conditions.

use thiserror::Error;

/// The reason why a thread did not get its SCHED_FIFO priority.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "failed to give a thread the SCHED_FIFO priority {priority}, so it keeps its normal one: \
     {cause}; grant CAP_SYS_NICE, or raise the limit (`ulimit -r`, `rtprio` in limits.conf)"
)]
pub struct FifoError {
    /// The priority.
    pub priority: u8,
    /// The operating system's reason.
    pub cause: String,
}

/// The number of cores that a set of the C library has room for.
const CORES_MAX: usize = 1024;

/// Pins this thread to `core`; returns whether that succeeded.
pub fn pin(core: usize) -> bool {
    core < CORES_MAX && core_affinity::set_for_current(core_affinity::CoreId { id: core })
}

/// Gives this thread a real-time priority of 1 to 99.
///
/// # Errors
/// [`FifoError`] if the system has no such priority, or does not permit it.
#[cfg(unix)]
pub fn set_fifo_priority(priority: u8) -> Result<(), FifoError> {
    use thread_priority::unix::{
        RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy,
        thread_native_id,
    };
    use thread_priority::{ThreadPriority, ThreadPriorityValue};
    let failed = |cause: String| FifoError { priority, cause };
    let value = ThreadPriorityValue::try_from(priority).map_err(|of| failed(of.to_owned()))?;
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let value = ThreadPriority::Crossplatform(value);
    set_thread_priority_and_policy(thread_native_id(), value, policy).map_err(|of| {
        failed(match of {
            thread_priority::Error::OS(number) => {
                std::io::Error::from_raw_os_error(number).to_string()
            }
            other => format!("{other:?}"),
        })
    })
}

/// Always fails: SCHED_FIFO exists on Unix only.
///
/// # Errors
/// [`FifoError`].
#[cfg(not(unix))]
pub fn set_fifo_priority(priority: u8) -> Result<(), FifoError> {
    Err(FifoError { priority, cause: "SCHED_FIFO exists on Unix only".into() })
}

/// Has the kernel wake this thread when its sleep ends, not up to 50 microseconds later.
pub fn reduce_timer_slack() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_timerslack(1) {
        tracing::debug!(%error, "the timer slack stays as it is; timers may be 50 us late");
    }
}
