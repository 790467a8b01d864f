//! Worst-case latency bounds of chains.
//!
//! A simulation shows one possible run; an analysis covers all of them. This one follows D. Casini
//! et al., *Response-Time Analysis of ROS 2 Processing Chains under Reservation-Based Scheduling*
//! (ECRTS 2019), as implemented by the crate `response-time-analysis`.
//!
//! # Validity for this executor
//! * Lemma 8 (chains that any other work may overtake) holds. It requires that a core is never idle
//!   while it has work, that a callback runs to completion, and that the events of one callback
//!   keep their order. It assumes no order among callbacks, so the bounds hold with any priorities,
//!   for round-robin and for first-in first-out dispatch.
//! * Lemma 3 (timers before everything else) does not hold: timers take turns with other callbacks.
//! * The analyses of T. Blaß et al. (RTSS 2021) do not hold: they assume a wait set that runs every
//!   callback at most once between two polls. Here a loop dispatches up to four events per turn, by
//!   priority; a bound derived from these analyses could be too low.
//!
//! # Assumptions
//! Every callback is triggered by a timer, or by messages of callbacks that are. No call takes
//! longer than [`duration_max`](Callback::duration_max), which a measurement can only suggest.
//! Every call sends at most one message for each [`Source`] that names its callback. The operating
//! system takes no time from the cores.
//!
//! The bound applies to a sample whose message triggers the next callback at each step. Where a
//! node waits for a second message, the later one counts. A timer in the middle of a chain adds an
//! unknown wait and is refused. A sample that is displaced by a newer one never arrives and has no
//! latency.

mod error;
mod event_chains;
mod graph;

use std::time::Duration;

use crate::assignment::Assignment;
use event_chains::EventChains;

pub use error::NoBound;
pub use graph::{callbacks_of, places_of};
pub(crate) use graph::{places, timer_period};

/// The trigger of a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A timer with this period.
    Timer(Duration),
    /// Every message of each of these callbacks, by index.
    Messages(Vec<Source>),
    /// Events of unknown rate: an input, a service, a task.
    Unknown,
}

/// The origin of a callback's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The callback that sends them, by index.
    pub callback: usize,
    /// The longest transit time of a message between two loops of one core.
    pub same_core_max: Duration,
    /// The longest transit time of a message from core to core.
    pub cross_core_max: Duration,
}

impl Source {
    /// A source whose messages arrive as soon as they are sent.
    pub fn immediate(callback: usize) -> Self {
        Self { callback, same_core_max: Duration::ZERO, cross_core_max: Duration::ZERO }
    }
}

/// A callback as the analysis sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Its name, used in errors.
    pub name: String,
    /// Its event loop, by index into [`Assignment::loops`].
    pub event_loop: usize,
    /// Its longest execution time.
    pub duration_max: Duration,
    /// Its trigger.
    pub trigger: Trigger,
}

/// The worst-case response times of a set of callbacks on the cores of an assignment.
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
    event_chains: EventChains,
}

impl<'a> Analysis<'a> {
    /// Bounds the response times of all callbacks.
    ///
    /// # Errors
    /// A [`NoBound`] if any callback has none: the others may depend on it.
    pub fn new(callbacks: &'a [Callback], assignment: &Assignment) -> Result<Self, NoBound> {
        if assignment.preempts() {
            return Err(NoBound::Preemption);
        }
        let core_of = callbacks.iter().map(|callback| {
            let core = assignment.cores().get(callback.event_loop).copied();
            core.ok_or_else(|| NoBound::Malformed { callback: callback.name.clone() })
        });
        let core_of = core_of.collect::<Result<Vec<usize>, NoBound>>()?;
        let event_chains = EventChains::new(callbacks, core_of, assignment.core_count())?;
        Ok(Self { callbacks, event_chains })
    }

    /// The longest time from when the first callback of `path` becomes ready to the end of the last
    /// one. `path` lists callbacks by index.
    ///
    /// # Errors
    /// [`NoBound::NotTriggered`] when a step is not triggered by the previous one,
    /// [`NoChain`](NoBound::NoChain) without steps.
    pub fn chain(&self, path: &[usize]) -> Result<Duration, NoBound> {
        if path.is_empty() || path.iter().any(|&step| step >= self.callbacks.len()) {
            return Err(NoBound::NoChain);
        }
        let mut total_ns = 0_u64;
        let mut rest = path;
        while !rest.is_empty() {
            let (segment, after) = rest.split_at(self.segment_length(rest));
            let is_first = rest.len() == path.len();
            total_ns = total_ns.saturating_add(self.event_chains.segment_ns(segment, is_first));
            if let (Some(&last), Some(&next)) = (segment.last(), after.first()) {
                total_ns = total_ns.saturating_add(self.delay_ns(last, next)?);
            }
            rest = after;
        }
        Ok(Duration::from_nanos(total_ns))
    }

    /// The worst-case response time of one callback, by index: from when it becomes ready to its
    /// end. If a callback on the same core triggers it, the time starts when the first callback of
    /// that core's segment becomes ready.
    pub fn response(&self, callback: usize) -> Option<Duration> {
        let known = callback < self.callbacks.len();
        known.then(|| Duration::from_nanos(self.event_chains.response_ns(callback)))
    }

    /// The number of callbacks at the start of `path` that form one segment.
    fn segment_length(&self, path: &[usize]) -> usize {
        let continues_segment = |pair: &[usize]| {
            let source = self.source(pair[0], pair[1]);
            source.is_some_and(|source| self.event_chains.continues_segment(source, pair[1]))
        };
        1 + path.windows(2).take_while(|pair| continues_segment(pair)).count()
    }

    /// Checks that `to` can follow `from` in a chain.
    fn check_step(&self, from: Option<usize>, to: usize) -> Result<(), NoBound> {
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

    /// The longest transit time of a message from one step to the next.
    fn delay_ns(&self, from: usize, to: usize) -> Result<u64, NoBound> {
        let source = self.source(from, to).ok_or_else(|| NoBound::NotTriggered {
            from: self.callbacks[from].name.clone(),
            to: self.callbacks[to].name.clone(),
        })?;
        Ok(self.event_chains.transit_ns(source, to))
    }
}

/// Converts to nanoseconds; saturates after 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
