//! Time as ROS messages have it.

use ringspin_executor::Time;
use ringspin_messages::builtin_interfaces::msg::Time as Stamp;

const SECOND_NS: u64 = 1_000_000_000;

/// Cut off at the end of what 32 bits of seconds hold.
pub(crate) fn to_stamp(time: Time) -> Stamp {
    let sec = i32::try_from(time.as_nanos() / SECOND_NS).unwrap_or(i32::MAX);
    Stamp { sec, nanosec: (time.as_nanos() % SECOND_NS) as u32 }
}

/// `None` before the epoch.
pub(crate) fn to_time(stamp: &Stamp) -> Option<Time> {
    let ns = i64::from(stamp.sec) * SECOND_NS as i64 + i64::from(stamp.nanosec);
    u64::try_from(ns).ok().map(Time::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_nanoseconds_since_the_epoch() {
        for (sec, nanosec, ns) in [(0, 0, 0), (0, 1, 1), (1, 2, 1_000_000_002)] {
            let stamp = Stamp { sec, nanosec };
            assert_eq!(to_time(&stamp), Some(Time::from_nanos(ns)));
            assert_eq!(to_stamp(Time::from_nanos(ns)), stamp);
        }
        let last = Time::from_nanos(i32::MAX as u64 * SECOND_NS + 999_999_999);
        assert_eq!(to_time(&to_stamp(last)), Some(last));
        assert_eq!(to_stamp(Time::MAX).sec, i32::MAX);
        assert_eq!(to_time(&Stamp { sec: -1, nanosec: 5 }), None);
    }
}
