//! Options of timers.

use crate::clock::Clock;
use crate::node::NodeState;
use std::time::Duration;

/// Options of a timer: a [`Duration`], or one with a clock as in
/// `Duration::from_secs(1).node_time()`, converts into them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TimerOptions<'a> {
    /// The period.
    pub period: Duration,
    /// The clock.
    pub clock: TimerClock<'a>,
}

impl TimerOptions<'_> {
    /// The default options for a period.
    pub fn new(period: Duration) -> Self {
        Self { period, clock: TimerClock::default() }
    }
}

/// The clock of a timer. See [`TimerState`](crate::TimerState) for its effect.
#[derive(Clone, Copy, Debug, Default)]
pub enum TimerClock<'a> {
    /// A clock of steady time.
    #[default]
    SteadyTime,
    /// A clock of system time.
    SystemTime,
    /// The clock of the node.
    NodeTime,
    /// Another clock.
    Clock(&'a Clock),
}

impl TimerClock<'_> {
    /// Whether it is the clock of the node by name.
    pub fn is_node_time(&self) -> bool {
        matches!(self, Self::NodeTime)
    }

    /// The clock.
    pub(super) fn of(&self, node: &NodeState) -> Clock {
        match self {
            Self::SteadyTime => Clock::steady(),
            Self::SystemTime => Clock::system(),
            Self::NodeTime => node.get_clock(),
            Self::Clock(clock) => (*clock).clone(),
        }
    }
}

/// A period, or options of a timer.
pub trait IntoTimerOptions<'a>: Sized {
    /// Converts it.
    fn into_timer_options(self) -> TimerOptions<'a>;

    /// The options with a clock of steady time, which is the default.
    fn steady_time(self) -> TimerOptions<'a> {
        TimerOptions { clock: TimerClock::SteadyTime, ..self.into_timer_options() }
    }

    /// The options with a clock of system time.
    fn system_time(self) -> TimerOptions<'a> {
        TimerOptions { clock: TimerClock::SystemTime, ..self.into_timer_options() }
    }

    /// The options with the clock of the node.
    fn node_time(self) -> TimerOptions<'a> {
        TimerOptions { clock: TimerClock::NodeTime, ..self.into_timer_options() }
    }

    /// The options with a clock.
    fn clock(self, clock: &'a Clock) -> TimerOptions<'a> {
        TimerOptions { clock: TimerClock::Clock(clock), ..self.into_timer_options() }
    }
}

impl<'a> IntoTimerOptions<'a> for TimerOptions<'a> {
    fn into_timer_options(self) -> TimerOptions<'a> {
        self
    }
}

impl<'a> IntoTimerOptions<'a> for Duration {
    fn into_timer_options(self) -> TimerOptions<'a> {
        TimerOptions::new(self)
    }
}
