//! Times of clocks.

use super::ClockState;
use ros_env::builtin_interfaces;
use std::num::TryFromIntError;
use std::ops::{Add, Sub};
use std::sync::Weak;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A reading of a [`Clock`](crate::Clock).
///
/// Sums and differences that 64 bits do not hold, beyond 292 years, are the latest or earliest
/// time; rclrs panics there.
#[derive(Clone, Debug)]
pub struct Time {
    /// Nanoseconds since the epoch of the clock: 1970, except for steady time.
    pub nsec: i64,
    /// The clock that was read.
    pub clock: Weak<ClockState>,
}

impl Time {
    /// Calls `f` with the nanoseconds of both times; `None` if they are of different clocks.
    pub fn compare_with<U, F>(&self, rhs: &Time, f: F) -> Option<U>
    where
        F: FnOnce(i64, i64) -> U,
    {
        if !Weak::ptr_eq(&self.clock, &rhs.clock) {
            return None;
        }
        Some(f(self.nsec, rhs.nsec))
    }

    /// Returns the time as a message.
    ///
    /// # Errors
    /// Fails if its seconds exceed 32 bits: from 2038 on, and before 1901.
    pub fn to_ros_msg(&self) -> Result<builtin_interfaces::msg::Time, TryFromIntError> {
        self.to_sec_nanosec().map(|(sec, nanosec)| builtin_interfaces::msg::Time { sec, nanosec })
    }

    /// Returns the seconds, rounded down, and the nanoseconds after them. So -0.5 s is -1 s and
    /// 500,000,000 ns, as messages have it; rclrs refuses negative times.
    ///
    /// # Errors
    /// Fails if the seconds exceed 32 bits.
    pub fn to_sec_nanosec(&self) -> Result<(i32, u32), TryFromIntError> {
        let sec = i32::try_from(self.nsec.div_euclid(NANOS_PER_SEC))?;
        let nanosec = u32::try_from(self.nsec.rem_euclid(NANOS_PER_SEC))?;
        Ok((sec, nanosec))
    }
}

/// Nanoseconds of a duration, at most what 64 bits hold.
fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

impl Add<Duration> for Time {
    type Output = Self;

    /// Returns the later time of the same clock, at most the latest.
    fn add(self, other: Duration) -> Self {
        Self { nsec: self.nsec.saturating_add(nanos(other)), ..self }
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    /// Returns the earlier time of the same clock, at least the earliest.
    fn sub(self, other: Duration) -> Self {
        Self { nsec: self.nsec.saturating_sub(nanos(other)), ..self }
    }
}

/// A time of the executor as applications have it in information about messages and requests;
/// `None` of zero, which stands for an unknown time.
pub(crate) fn to_system_time(time: ringspin::Time) -> Option<SystemTime> {
    match time {
        ringspin::Time::ZERO => None,
        time => UNIX_EPOCH.checked_add(Duration::from_nanos(time.as_nanos())),
    }
}
