//! Conversions between times of messages and of executors.

use crate::builtin_interfaces::msg;
use ringspin_executor::Time;

impl msg::Time {
    /// The time as executors have it. Times before the epoch, which those do not have, are zero.
    pub fn to_time(&self) -> Time {
        self.checked_to_time().unwrap_or(Time::ZERO)
    }

    /// The time as executors have it; `None` before the epoch.
    pub fn checked_to_time(&self) -> Option<Time> {
        // The sign of the seconds decides: `nanosec` of another process may exceed one second.
        let seconds = u64::try_from(self.sec).ok()?;
        Some(Time::from_nanos(seconds * 1_000_000_000 + u64::from(self.nanosec)))
    }

    /// The message for a time. Times that it cannot have, after the year 2038, are its latest.
    pub fn from_time(time: Time) -> Self {
        let seconds = time.as_nanos() / 1_000_000_000;
        match i32::try_from(seconds) {
            Ok(sec) => Self { sec, nanosec: (time.as_nanos() % 1_000_000_000) as u32 },
            Err(_) => Self { sec: i32::MAX, nanosec: 999_999_999 },
        }
    }
}
