//! The clock of the live modes: real time, or the `/clock` of ROS 2 from a simulator or a
//! recording.
//!
//! Threads that give a time or switch the source write under the lock of the sleepers, and wake
//! these under it. Workers read without a lock: first the number of switches, with acquire, then
//! the time of that source. The number is odd while the clock follows, so the source and the fact
//! that it changed are one word, and a reader that finds the same number before and after two
//! readings knows that they are of one source. Sleeping workers have to be woken at each new time,
//! because a followed clock may jump past a deadline at any moment, and no real duration tells
//! when.

use crate::base::lock::lock;
use crate::base::time::{Clock, LiveClock, Time};
use ringspin_ringbuf::{Counter, FollowedTime, ReadySet};
use std::sync::{Arc, Mutex};

/// A clock that shows real time, or, while it [follows](Self::follow), the time that it is
/// [given](Self::set), in steps and from any thread. It is the `RCL_ROS_TIME` of ROS 2.
///
/// While it follows, it stands at zero until the first other time is [set](Self::set): until then
/// messages and requests are handled, but no timer runs.
///
/// ```
/// use ringspin_executor::{Clock, RosClock, Time};
/// let clock = RosClock::start();
/// assert!(clock.has_begun() && clock.now() > Time::from_secs(1_000_000));
/// clock.follow(true);
/// assert!(!clock.has_begun());
/// clock.set(Time::from_secs(100));
/// assert_eq!((clock.now(), clock.begun_at()), (Time::from_secs(100), Some(Time::from_secs(100))));
/// ```
#[derive(Debug)]
pub struct RosClock {
    real: LiveClock,
    /// Odd while it follows. Written under the lock of `sleepers`, after the fields that it
    /// concerns.
    switches: Counter,
    /// The beginning of real time: zero, or the last switch to it.
    real_begun_at: Counter,
    /// Written under the lock of `sleepers`.
    given: FollowedTime,
    /// Woken when the time jumps: workers that wait for a time.
    sleepers: Mutex<Vec<Arc<ReadySet>>>,
}

impl RosClock {
    /// Starts a clock of real time.
    pub fn start() -> Self {
        Self {
            real: LiveClock::start(),
            switches: Counter::default(),
            real_begun_at: Counter::default(),
            given: FollowedTime::default(),
            sleepers: Mutex::default(),
        }
    }

    /// Switches to the time that is [given](Self::set), or back to real time; wakes workers that
    /// wait for a time. The time given last, if there is one, holds until the next one is.
    ///
    /// Takes a lock; not for the hot path of a node.
    pub fn follow(&self, follows: bool) {
        let sleepers = lock(&self.sleepers);
        if follows == self.is_followed() {
            return;
        }
        match follows {
            true => self.given.begin_again(),
            false => self.real_begun_at.set(self.real.now().as_nanos()),
        }
        self.switches.happen();
        sleepers.iter().for_each(|sleeper| sleeper.wake());
    }

    /// Whether it follows the time that is [given](Self::set).
    #[inline]
    pub fn is_followed(&self) -> bool {
        !self.switches.happened().is_multiple_of(2)
    }

    /// The clock of real time, independent of the time that this clock shows.
    #[inline]
    pub fn real(&self) -> &LiveClock {
        &self.real
    }

    /// Gives it a time, and wakes workers that wait for one if it [follows](Self::follow). The time
    /// may go back, which is logged: timers then have their next deadline at most a period after
    /// `time`. The time that it shows, and zero before the first one, change nothing.
    ///
    /// Takes a lock; not for a callback of a node.
    pub fn set(&self, time: Time) {
        let sleepers = lock(&self.sleepers);
        let before = self.given_time();
        if time == before {
            return;
        }
        let is_followed = self.is_followed();
        if time < before && is_followed {
            tracing::warn!(%before, now = %time, "the followed clock jumped back");
        }
        self.given.set(time.as_nanos());
        if is_followed {
            // Waking goes through a lock of each sleeper, so it sees the new time afterwards.
            sleepers.iter().for_each(|sleeper| sleeper.wake());
        }
    }

    /// The time that was given last, zero before that.
    #[inline]
    fn given_time(&self) -> Time {
        self.given.now().map_or(Time::ZERO, Time::from_nanos)
    }

    /// Wakes `sleeper` whenever the time jumps, from now on.
    pub fn wake(&self, sleeper: Arc<ReadySet>) {
        lock(&self.sleepers).push(sleeper);
    }
}

impl Clock for RosClock {
    #[inline]
    fn now(&self) -> Time {
        if !self.is_followed() {
            return self.real.now();
        }
        self.given_time()
    }

    fn begun_at(&self) -> Option<Time> {
        if !self.is_followed() {
            return Some(Time::from_nanos(self.real_begun_at.get()));
        }
        self.given.begun_at().map(Time::from_nanos)
    }

    fn switches(&self) -> u64 {
        self.switches.happened()
    }
}
