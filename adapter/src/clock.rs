//! The clocks of the operating system that ROS 2 reads. They are simulated in deterministic mode.

use std::time::{Duration, SystemTime};

/// The system time: since 1970.
pub fn system_now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// The steady time: since the start of the machine, as `CLOCK_MONOTONIC` has it.
#[cfg(unix)]
pub fn steady_now() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default()
}

/// The steady time: since the first call.
#[cfg(not(unix))]
pub fn steady_now() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed()
}
