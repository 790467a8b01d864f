//! Clocks.

use crate::builtin_interfaces::msg;
use crate::error::Result;
use ringspin_adapter::clock::{steady_now, system_now};
use std::time::Duration;

/// The type of a clock.
#[derive(Debug, Copy, Clone)]
pub enum ClockType {
    /// The system time, or that of `/clock`: see [`TimeSource`](crate::TimeSource).
    RosTime,
    /// The time since 1970; in deterministic mode it is simulated.
    SystemTime,
    /// A time that never goes back, since some point; in deterministic mode it is simulated.
    SteadyTime,
}

/// A clock.
pub struct Clock {
    clock_type: ClockType,
    /// The time of `/clock`, if that is followed.
    ros_time: Option<Duration>,
}

impl Clock {
    /// A clock of some type.
    ///
    /// # Errors
    /// None.
    pub fn create(ct: ClockType) -> Result<Self> {
        Ok(Self { clock_type: ct, ros_time: None })
    }

    /// The time.
    ///
    /// # Errors
    /// If the operating system refuses it.
    pub fn get_now(&mut self) -> Result<Duration> {
        Ok(match (self.ros_time, self.clock_type) {
            (Some(time), _) => time,
            (None, ClockType::SteadyTime) => steady_now(),
            (None, ClockType::RosTime | ClockType::SystemTime) => system_now(),
        })
    }

    /// The type.
    pub fn get_clock_type(&self) -> ClockType {
        self.clock_type
    }

    /// A time since 1970 as a message; seconds beyond 32 bits are cut off, as in r2r.
    pub fn to_builtin_time(d: &Duration) -> msg::Time {
        msg::Time { sec: d.as_secs() as i32, nanosec: d.subsec_nanos() }
    }

    /// Follows `/clock` at this time; `None` ends it.
    pub(crate) fn set_ros_time(&mut self, time: Option<Duration>) {
        self.ros_time = time;
    }
}
