//! Time as callbacks see it: nanoseconds of the executor's clock. Live clocks advance by
//! themselves; the simulated clock is written by the sequencer alone and read by everything that
//! runs at that instant.
//!
//! [`SimClock`] holds the time and, for the callback that runs, its end and the departure of its
//! messages. One thread at a time writes them, with plain stores; callbacks on that thread read
//! them, and another thread may read a value that is out of date. The end is apart from the time,
//! so that a callback that takes time reads the instant of its begin. A [`NodeClock`] is set once,
//! by the freeze: handles from before it show the time from then on, and no reader takes a lock.

use crate::base::observed;
use ringspin_ringbuf::Counter;
use std::fmt;
use std::ops::{Add, Sub};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point in time: nanoseconds since the epoch of the clock that gave it.
///
/// Live, that is the Unix epoch as in ROS 2; in deterministic mode it is simulated time, which
/// starts wherever the job says. 64 bits last for 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The clock's epoch.
    pub const ZERO: Self = Self(0);
    /// The latest time.
    pub const MAX: Self = Self(u64::MAX);

    /// `ns` nanoseconds after the epoch.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// `s` seconds after the epoch.
    ///
    /// # Panics
    /// If that is more than 584 years.
    pub const fn from_secs(s: u64) -> Self {
        match s.checked_mul(1_000_000_000) {
            Some(ns) => Self(ns),
            None => panic!("time is out of range"),
        }
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this one; zero if it is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Nanoseconds of a duration, at most what 64 bits hold.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for Time {
    type Output = Self;

    /// Stays at [`Time::MAX`] instead of overflowing.
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

impl Sub for Time {
    type Output = Duration;

    /// Returns [`Time::since`].
    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// A clock from which a worker reads the time.
pub trait Clock: Send + Sync {
    /// The current time; never goes backwards, unless it is a clock that is
    /// [followed](crate::RosClock).
    fn now(&self) -> Time;

    /// The beginning of the time that it shows. A clock that is [followed](crate::RosClock) stands
    /// at zero until it is set; `None` until then.
    fn begun_at(&self) -> Option<Time> {
        Some(Time::ZERO)
    }

    /// The number of switches of its source between real time and one that is
    /// [followed](crate::RosClock). Times from before a switch cannot be compared with later ones.
    fn switches(&self) -> u64 {
        0
    }

    /// Whether the clock has begun.
    fn has_begun(&self) -> bool {
        self.begun_at().is_some()
    }

    /// The time that is recorded for a callback that returns now. In simulated time the end of a
    /// callback with a duration is set before it runs.
    fn completion(&self) -> Time {
        self.now()
    }

    /// The time that is recorded for a message that is sent now. In simulated time the messages of
    /// a callback with a duration leave at its end.
    fn departure(&self) -> Time {
        self.now()
    }
}

/// The live clock: wall time when it was created, then advanced by the monotonic clock.
///
/// It never jumps, so a correction of the system's wall clock does not reach callbacks.
#[derive(Debug)]
pub struct LiveClock {
    started_at: Time,
    started: Instant,
}

impl LiveClock {
    /// A clock that agrees with the system's wall clock now.
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started_at: Time::ZERO + wall, started: Instant::now() }
    }
}

impl Clock for LiveClock {
    #[inline]
    fn now(&self) -> Time {
        self.started_at + self.started.elapsed()
    }
}

/// The simulated clock: stands still until the sequencer moves it.
#[derive(Debug, Default)]
pub struct SimClock {
    /// The time, or [`FROM_RECORD`].
    now: Counter,
    /// The end of the running callback; before now if it takes no time.
    completion: Counter,
    /// The departure of its messages; before now if they leave at once.
    departure: Counter,
    /// The time while callbacks read it [from a record](Self::show_record).
    instant: Counter,
}

/// Stands for a time of a record. No simulation comes to this time.
const FROM_RECORD: u64 = u64::MAX;

impl SimClock {
    /// Moves the clock to `time`; only the sequencer does so.
    #[inline]
    pub fn set(&self, time: Time) {
        self.now.set(time.as_nanos());
    }

    /// From now on callbacks read their times from the record that they [replay](observed::replay),
    /// or not any more.
    pub fn show_record(&self, shows: bool) {
        match shows {
            true => {
                self.instant.set(self.now.get());
                self.now.set(FROM_RECORD);
            }
            false if self.now.get() == FROM_RECORD => self.now.set(self.instant.get()),
            false => {}
        }
    }

    #[cold]
    fn recorded(&self) -> Time {
        observed::next().map_or_else(|| self.instant(), Time)
    }

    /// The time of the instant, also while callbacks read it from a record.
    #[inline]
    pub(crate) fn instant(&self) -> Time {
        match self.now.get() {
            FROM_RECORD => Time(self.instant.get()),
            now => Time(now),
        }
    }

    /// The departure of messages that are sent now, also then.
    pub(crate) fn instant_departure(&self) -> Time {
        Time(self.departure.get()).max(self.instant())
    }

    /// Sets the end of the running callback to `completion`, and the departure of its messages to
    /// `departure`.
    pub(crate) fn take_until(&self, completion: Time, departure: Time) {
        self.completion.set(completion.as_nanos());
        self.departure.set(departure.as_nanos());
    }
}

impl Clock for SimClock {
    #[inline]
    fn now(&self) -> Time {
        match self.now.get() {
            FROM_RECORD => self.recorded(),
            now => Time(now),
        }
    }

    #[inline]
    fn completion(&self) -> Time {
        Time(self.completion.get()).max(self.instant())
    }

    fn departure(&self) -> Time {
        Time(self.departure.get()).max(self.now())
    }
}

/// The clock of a graph's nodes: the executor's once it runs, zero before that. Cheap to clone.
#[derive(Clone, Default)]
pub struct NodeClock(Arc<OnceLock<Arc<dyn Clock>>>);

impl NodeClock {
    pub(crate) fn run_by(&self, clock: Arc<dyn Clock>) {
        assert!(self.0.set(clock).is_ok(), "a graph is frozen once");
    }
}

impl Clock for NodeClock {
    #[inline]
    fn now(&self) -> Time {
        self.0.get().map_or(Time::ZERO, |clock| clock.now())
    }

    fn begun_at(&self) -> Option<Time> {
        self.0.get()?.begun_at()
    }

    fn switches(&self) -> u64 {
        self.0.get().map_or(0, |clock| clock.switches())
    }

    fn departure(&self) -> Time {
        self.0.get().map_or(Time::ZERO, |clock| clock.departure())
    }
}

impl fmt::Debug for NodeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeClock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_and_displays_in_seconds() {
        let time = Time::from_secs(3) + Duration::from_nanos(14);
        assert_eq!(time.to_string(), "3.000000014 s");
        assert_eq!(Time::ZERO - time, Duration::ZERO);
        assert_eq!(Time::MAX + Duration::from_secs(1), Time::MAX);
        assert_eq!(time - Time::from_secs(1), Duration::from_nanos(2_000_000_014));
    }

    #[test]
    fn the_live_clock_starts_at_wall_time_and_does_not_go_back() {
        let clock = LiveClock::start();
        let first = clock.now();
        assert!(first > Time::from_secs(1_700_000_000));
        assert!(clock.now() >= first);
    }
}
