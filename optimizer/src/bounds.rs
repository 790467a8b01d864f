//! How long a chain can take at the very worst: a bound, where one can be given.
//!
//! A simulation shows what happened, an analysis what can happen. This one is that of D. Casini et
//! al., *Response-Time Analysis of ROS 2 Processing Chains under Reservation-Based Scheduling*
//! (ECRTS 2019), as the crate `response-time-analysis` has it.
//!
//! # What of it holds for this executor
//! * Its lemma 8, of chains that any other work may overtake, holds: it asks that a core is never
//!   idle while it has work, that a callback runs to its end, and that the events of one callback
//!   keep their order. The order among callbacks does not matter to it, so the bounds hold with any
//!   priorities, for the sweep and for first-in first-out.
//! * Its lemma 3, of timers that go before everything else, does not hold: here timers take turns.
//! * The analyses of T. Blaß et al. (RTSS 2021) do not hold: they count on a wait set that lets
//!   every callback run once between two polls. Here a loop has up to four events in a turn, and
//!   priorities; a bound by them could be too low.
//!
//! # What it takes
//! Every callback is triggered by a timer, or by messages of callbacks that are; nothing takes
//! longer than its [`duration_max`](Callback::duration_max), which a measurement can only
//! suggest; every call sends at most one message for each [`Source`] that names its callback; and
//! the operating system takes no time from the cores.
//!
//! What is bounded is the latency of a sample whose message at each step made the next one run.
//! Where a node waits for a second message, that is the one that came last; a timer in the middle
//! of a chain adds waiting that is not known, and is refused. A sample that a newer one displaces
//! never arrives, and has no latency.

mod error;
mod graph;
mod ways;

use std::time::Duration;

use crate::assignment::Assignment;
use ways::Ways;

pub use error::NoBound;
pub use graph::callbacks_of;
pub(crate) use graph::timer_period;

/// What makes a callback run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A timer with this period.
    Timer(Duration),
    /// Every message of each of these callbacks, by index.
    Messages(Vec<Source>),
    /// Something of which nobody knows how often it comes: an input, a service, a task.
    Unknown,
}

/// Where messages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The callback that sends them, by index.
    pub callback: usize,
    /// The longest that one is under way between two loops of one core.
    pub same_core_max: Duration,
    /// The longest that one is under way from core to core.
    pub cross_core_max: Duration,
}

impl Source {
    /// Messages that arrive when they are sent.
    pub fn immediate(callback: usize) -> Self {
        Self { callback, same_core_max: Duration::ZERO, cross_core_max: Duration::ZERO }
    }
}

/// A callback, for the analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Its name, for errors.
    pub name: String,
    /// Its event loop, by index into [`Assignment::loops`].
    pub event_loop: usize,
    /// The longest that it runs.
    pub duration_max: Duration,
    /// What makes it run.
    pub trigger: Trigger,
}

/// The worst response times of some callbacks on the cores of an assignment.
///
/// ```
/// use std::time::Duration;
/// use ringspin_optimizer::Assignment;
/// use ringspin_optimizer::bounds::{Analysis, Callback, Source, Trigger};
///
/// let ms = Duration::from_millis;
/// let callback = |name: &str, event_loop, duration_max, trigger| {
///     Callback { name: name.into(), event_loop, duration_max, trigger }
/// };
/// let from = |callback| Trigger::Messages(vec![Source::immediate(callback)]);
/// let callbacks = [
///     callback("lidar", 0, ms(2), Trigger::Timer(ms(100))),
///     callback("fusion", 1, ms(5), from(0)),
///     callback("viewer", 2, ms(30), Trigger::Timer(ms(1000))),
/// ];
/// let loops = ["/lidar", "/fusion", "/viewer"].map(String::from);
/// let worst = |cores: [usize; 3]| {
///     let assignment = Assignment::new(loops.clone(), cores.into(), 2);
///     Analysis::new(&callbacks, &assignment)?.chain(&[0, 1])
/// };
/// assert_eq!(worst([0, 0, 1])?, ms(7));
/// assert_eq!(worst([0, 0, 0])?, ms(37));
/// # Ok::<(), ringspin_optimizer::bounds::NoBound>(())
/// ```
#[derive(Debug)]
pub struct Analysis<'a> {
    callbacks: &'a [Callback],
    ways: Ways,
}

impl<'a> Analysis<'a> {
    /// Bounds the response times of all callbacks.
    ///
    /// # Errors
    /// A [`NoBound`] if any callback has none: all of them may depend on it.
    pub fn new(callbacks: &'a [Callback], assignment: &Assignment) -> Result<Self, NoBound> {
        let core_of = callbacks.iter().map(|callback| {
            let core = assignment.cores().get(callback.event_loop).copied();
            core.ok_or_else(|| NoBound::Malformed { callback: callback.name.clone() })
        });
        let core_of = core_of.collect::<Result<Vec<usize>, NoBound>>()?;
        let ways = Ways::new(callbacks, core_of, assignment.core_count())?;
        Ok(Self { callbacks, ways })
    }

    /// The longest from when the first callback of `path` becomes ready to the end of the last
    /// one, by index.
    ///
    /// # Errors
    /// [`NoBound::NotTriggered`] when a step is triggered by something else than the one before,
    /// [`NoChain`](NoBound::NoChain) without steps.
    pub fn chain(&self, path: &[usize]) -> Result<Duration, NoBound> {
        if path.is_empty() || path.iter().any(|&step| step >= self.callbacks.len()) {
            return Err(NoBound::NoChain);
        }
        let mut total_ns = 0_u64;
        let mut rest = path;
        while !rest.is_empty() {
            let (row, after) = rest.split_at(self.row_length(rest));
            let is_first = rest.len() == path.len();
            total_ns = total_ns.saturating_add(self.ways.row_ns(row, is_first));
            if let (Some(&last), Some(&next)) = (row.last(), after.first()) {
                total_ns = total_ns.saturating_add(self.delay_ns(last, next)?);
            }
            rest = after;
        }
        Ok(Duration::from_nanos(total_ns))
    }

    /// The worst response time of one callback, by index: from when it becomes ready to its end.
    /// Where that is for a message from its own core, from when the first callback of the row
    /// became ready that stays there.
    pub fn response(&self, callback: usize) -> Option<Duration> {
        let known = callback < self.callbacks.len();
        known.then(|| Duration::from_nanos(self.ways.response_ns(callback)))
    }

    /// How far `path` stays on one core without a pause.
    fn row_length(&self, path: &[usize]) -> usize {
        let goes_on = |pair: &[usize]| {
            let source = self.source(pair[0], pair[1]);
            source.is_some_and(|source| self.ways.goes_on(source, pair[1]))
        };
        1 + path.windows(2).take_while(|pair| goes_on(pair)).count()
    }

    /// Whether `to` can come after `from` in a chain.
    fn leads(&self, from: Option<usize>, to: usize) -> Result<(), NoBound> {
        if to >= self.callbacks.len() {
            return Err(NoBound::NoChain);
        }
        from.map_or(Ok(()), |from| self.delay_ns(from, to).map(|_| ()))
    }

    fn name(&self, callback: Option<usize>) -> String {
        let callback = callback.and_then(|index| self.callbacks.get(index));
        callback.map_or(String::new(), |callback| callback.name.clone())
    }

    fn source(&self, from: usize, to: usize) -> Option<&Source> {
        match &self.callbacks[to].trigger {
            Trigger::Messages(sources) => sources.iter().find(|source| source.callback == from),
            Trigger::Timer(_) | Trigger::Unknown => None,
        }
    }

    /// The longest that a message from one step to the next is under way.
    fn delay_ns(&self, from: usize, to: usize) -> Result<u64, NoBound> {
        let source = self.source(from, to).ok_or_else(|| NoBound::NotTriggered {
            from: self.callbacks[from].name.clone(),
            to: self.callbacks[to].name.clone(),
        })?;
        Ok(self.ways.under_way_ns(source, to))
    }
}

/// Saturates after 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
