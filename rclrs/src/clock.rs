//! Clocks.
//!
//! A [`Time`] compares only with times of the same clock, so it refers to the [`ClockState`] that
//! all clones of a [`Clock`] share. A [`ClockSource`] writes the time of a clock of ROS time under
//! a lock; any thread reads it. The clock of a node reads that of the graph while it follows
//! `/clock`, and the system time otherwise. Times of the system are those of the adapter, which
//! are simulated in deterministic mode: the clock of the graph shows the instant of the last event
//! there, which threads of the application may be ahead of.

mod time;

pub use time::Time;
pub(crate) use time::to_system_time;

use ringspin::time::{Clock as _, NodeClock};
use ringspin_adapter::{clock, lock};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The type of a clock.
#[derive(Clone, Copy, Debug)]
pub enum ClockType {
    /// The time of a [`ClockSource`] or of `/clock`, and the system time without them.
    RosTime = 1,
    /// The time since 1970; in deterministic mode it is simulated.
    SystemTime = 2,
    /// The time since an unspecified instant, which never goes back; in deterministic mode it is
    /// simulated.
    SteadyTime = 3,
}

/// A clock. Clones are the same clock.
///
/// ```
/// # use rclrs::Clock;
/// let (clock, source) = Clock::with_source();
/// source.set_ros_time_override(7);
/// assert_eq!(clock.now().nsec, 7);
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    kind: ClockType,
    state: Arc<ClockState>,
}

/// Sets the time of a [`Clock`] of ROS time. When it is dropped, the clock shows the system time.
#[derive(Debug)]
pub struct ClockSource(Arc<Mutex<Option<i64>>>);

/// The part of a clock that its clones share.
#[derive(Debug)]
pub struct ClockState(Reading);

/// The way to read a clock.
#[derive(Debug)]
enum Reading {
    System,
    Steady,
    /// The time of a [`ClockSource`]; `None` without one.
    Given(Arc<Mutex<Option<i64>>>),
    Node(NodeTime),
}

/// The time of a node.
#[derive(Debug)]
struct NodeTime {
    clock: NodeClock,
    follows_at_start: bool,
}

impl NodeTime {
    /// Whether it is that of `/clock`. A clock of the graph has no switches before the executor
    /// runs; then it begins with real time.
    fn is_followed(&self) -> bool {
        match self.clock.switches() {
            0 => self.follows_at_start && !self.clock.has_begun(),
            switches => !switches.is_multiple_of(2),
        }
    }
}

impl Clock {
    /// Creates a clock of [`ClockType::SystemTime`].
    pub fn system() -> Self {
        Self::reading(ClockType::SystemTime, Reading::System)
    }

    /// Creates a clock of [`ClockType::SteadyTime`].
    pub fn steady() -> Self {
        Self::reading(ClockType::SteadyTime, Reading::Steady)
    }

    /// Creates a clock of [`ClockType::RosTime`], which stands at zero, and the source that sets
    /// its time.
    pub fn with_source() -> (Self, ClockSource) {
        let given = Arc::new(Mutex::new(Some(0)));
        let clock = Self::reading(ClockType::RosTime, Reading::Given(given.clone()));
        (clock, ClockSource(given))
    }

    /// Creates a clock, for [`ClockType::RosTime`] with a source.
    pub fn new(kind: ClockType) -> (Self, Option<ClockSource>) {
        match kind {
            ClockType::SystemTime => (Self::system(), None),
            ClockType::SteadyTime => (Self::steady(), None),
            ClockType::RosTime => {
                let (clock, source) = Self::with_source();
                (clock, Some(source))
            }
        }
    }

    /// Creates the clock of a node; a node has one, so that its times can be compared.
    ///
    /// With [`ClockType::RosTime`] it shows the time of `/clock` while the graph follows it, from
    /// zero on, and the system time otherwise. `follows_at_start` says whether the graph is going
    /// to follow it when the executor starts: [`Graph::wants_clock`](ringspin::Graph::wants_clock)
    /// of a graph with a middleware. Until then the clock stands at zero.
    pub(crate) fn of_node(kind: ClockType, clock: NodeClock, follows_at_start: bool) -> Self {
        match kind {
            ClockType::SystemTime => Self::system(),
            ClockType::SteadyTime => Self::steady(),
            ClockType::RosTime => {
                Self::reading(kind, Reading::Node(NodeTime { clock, follows_at_start }))
            }
        }
    }

    fn reading(kind: ClockType, reading: Reading) -> Self {
        Self { kind, state: Arc::new(ClockState(reading)) }
    }

    /// Returns the type. The clock of a node has [`ClockType::RosTime`] unless its options say
    /// otherwise, also while it shows the system time.
    pub fn clock_type(&self) -> ClockType {
        self.kind
    }

    /// Returns whether a [`ClockSource`] sets the time.
    pub(crate) fn has_source(&self) -> bool {
        matches!(&self.state.0, Reading::Given(given) if lock(given).is_some())
    }

    /// Returns the time.
    pub fn now(&self) -> Time {
        let nsec = match &self.state.0 {
            Reading::System => system_now(),
            Reading::Steady => nanos(clock::steady_now()),
            Reading::Given(given) => lock(given).unwrap_or_else(system_now),
            Reading::Node(time) if time.is_followed() => {
                nanos(Duration::from_nanos(time.clock.now().as_nanos()))
            }
            Reading::Node(_) => system_now(),
        };
        Time { nsec, clock: Arc::downgrade(&self.state) }
    }
}

impl ClockSource {
    /// Sets the time of the clock, in nanoseconds. It may go back.
    pub fn set_ros_time_override(&self, nanoseconds: i64) {
        *lock(&self.0) = Some(nanoseconds);
    }
}

impl Drop for ClockSource {
    fn drop(&mut self) {
        *lock(&self.0) = None;
    }
}

impl PartialEq for ClockSource {
    /// Returns whether both set the same clock.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn system_now() -> i64 {
    nanos(clock::system_now())
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
