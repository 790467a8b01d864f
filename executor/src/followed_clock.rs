//! A clock that another program sets: the `/clock` of ROS 2, from a simulator or a recording.

use crate::lock::lock;
use crate::time::{Clock, Time};
use ringspin_ringbuf::{FollowedTime, ReadySet};
use std::sync::{Arc, Mutex};

/// A clock that stands still until it is [set](Self::set), in steps and from any thread.
///
/// It stands at zero until it is set to another time for the first time: until then messages and
/// requests are handled, but no timer runs.
///
/// ```
/// use ringspin_executor::{Clock, FollowedClock, Time};
/// let clock = FollowedClock::new();
/// assert!(!clock.has_begun());
/// clock.set(Time::from_secs(100));
/// assert_eq!((clock.now(), clock.begun_at()), (Time::from_secs(100), Some(Time::from_secs(100))));
/// ```
#[derive(Debug, Default)]
pub struct FollowedClock {
    /// Written under the lock of `sleepers`.
    time: FollowedTime,
    /// Workers to wake when it is set, because they wait for a time.
    sleepers: Mutex<Vec<Arc<ReadySet>>>,
}

impl FollowedClock {
    /// A clock that stands at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets it, and wakes who waits for a time. It may go back, which is logged: timers then have
    /// their next deadline at most a period after `time`. The time that it shows, and zero before
    /// the first one, change nothing.
    ///
    /// Takes a lock; not for a callback of a node.
    pub fn set(&self, time: Time) {
        let sleepers = lock(&self.sleepers);
        let before = self.now();
        if time == before {
            return;
        }
        if time < before {
            tracing::warn!(%before, now = %time, "the clock that is followed jumped back");
        }
        self.time.set(time.as_nanos());
        // Waking goes through a lock of each sleeper, so it sees the new time afterwards.
        sleepers.iter().for_each(|sleeper| sleeper.wake());
    }

    /// Has `sleeper` woken whenever it is set.
    pub fn wake(&self, sleeper: Arc<ReadySet>) {
        lock(&self.sleepers).push(sleeper);
    }
}

impl Clock for FollowedClock {
    #[inline]
    fn now(&self) -> Time {
        self.time.now().map_or(Time::ZERO, Time::from_nanos)
    }

    fn begun_at(&self) -> Option<Time> {
        self.time.begun_at().map(Time::from_nanos)
    }
}
