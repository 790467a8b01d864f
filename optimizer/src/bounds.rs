//! How long a chain can take at the very worst: a bound, where one can be given.
//!
//! A simulation shows what happened, an analysis what can happen. This one is that of D. Casini et
//! al., *Response-Time Analysis of ROS 2 Processing Chains under Reservation-Based Scheduling*
//! (ECRTS 2019), as the crate `response-time-analysis` has it.
//!
//! # What of it holds for this executor
//! * Its lemmas 4, 5 and 8, of callbacks and chains that any other work may overtake, hold: they
//!   ask that a core is never idle while it has work, that a callback runs to its end, and that
//!   the events of one callback keep their order. The order among callbacks does not matter to
//!   them, so the bounds hold with any priorities, for the sweep and for first-in first-out.
//! * Its lemma 3, of timers that go before everything else, does not hold: here timers take turns.
//! * The analyses of T. Blaß et al. (RTSS 2021) do not hold: they count on a wait set that lets
//!   every callback run once between two polls. Here a loop has up to four events in a turn, and
//!   priorities; a bound by them could be too low.
//!
//! # What it takes
//! Every callback is triggered by a timer, or by messages of callbacks that are; nothing takes
//! longer than its [`duration_max`](Callback::duration_max), which a measurement can only suggest;
//! every call sends at most one message to each callback that it triggers; and the operating
//! system takes no time from the cores. A callback that waits for a second message, or a timer
//! in the middle of a chain, adds waiting that is not counted: [`Analysis::chain`] refuses a
//! chain whose steps are not triggered by one another.
//! A sample that a newer one displaces never arrives, and has no latency.

mod error;

use std::time::Duration;

use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::{RBF, Slice};
use response_time_analysis::fixed_point::SearchResult;
use response_time_analysis::ros2::{rta_polling_point_callback, rta_processing_chain};
use response_time_analysis::supply::Dedicated;
use response_time_analysis::time::{Duration as Ticks, Service};
use response_time_analysis::wcet::Scalar;

use crate::assignment::Assignment;

pub use error::NoBound;

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

/// How many ways from timers to one callback are told apart.
const WAYS_MAX: usize = 256;

/// How often the cores' influence on each other is followed. Every round gets nearer, from below.
const ROUNDS_MAX: usize = 10_000;

/// A way from a timer to a callback: it comes once a period, and at most so much late.
#[derive(Clone, Copy, Debug)]
struct Way {
    period_ns: u64,
    jitter_ns: u64,
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
    core_of: Vec<usize>,
    /// From timers to here, of each callback.
    ways: Vec<Vec<Way>>,
    /// From becoming ready to the end, of each callback.
    response_ns: Vec<u64>,
    limit_ns: u64,
}

impl<'a> Analysis<'a> {
    /// Bounds the response time of every callback: from when it becomes ready (a timer's
    /// deadline, a message's arrival) to its end.
    ///
    /// # Errors
    /// A [`NoBound`] if any callback has none: all of them may depend on it.
    pub fn new(callbacks: &'a [Callback], assignment: &Assignment) -> Result<Self, NoBound> {
        let core_of = callbacks.iter().map(|callback| {
            let core = assignment.cores().get(callback.event_loop).copied();
            core.ok_or_else(|| NoBound::Malformed { callback: callback.name.clone() })
        });
        let core_of = core_of.collect::<Result<Vec<usize>, NoBound>>()?;
        let mut analysis = Self {
            callbacks,
            core_of,
            ways: vec![Vec::new(); callbacks.len()],
            response_ns: callbacks.iter().map(|it| nanos(it.duration_max)).collect(),
            limit_ns: limit_ns(callbacks),
        };
        let order = topological_order(callbacks)?;
        analysis.follow_ways(&order)?;
        analysis.check_loads(assignment.core_count())?;
        for _ in 0..ROUNDS_MAX {
            let next = analysis.next_responses()?;
            if next == analysis.response_ns {
                return Ok(analysis);
            }
            analysis.response_ns = next;
            analysis.follow_ways(&order)?;
        }
        Err(analysis.diverged(0))
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
            let length = self.segment_length(rest);
            let (segment, after) = rest.split_at(length);
            let steps = segment.iter().map(|&step| self.response_ns[step]);
            let apart = steps.fold(0, u64::saturating_add);
            // Both are bounds.
            total_ns = total_ns.saturating_add(apart.min(self.segment(segment).unwrap_or(apart)));
            if let (Some(&last), Some(&next)) = (segment.last(), after.first()) {
                total_ns = total_ns.saturating_add(self.delay_ns(last, next)?);
            }
            rest = after;
        }
        Ok(Duration::from_nanos(total_ns))
    }

    /// The worst response time of one callback, by index: from when it becomes ready to its end.
    pub fn response(&self, callback: usize) -> Option<Duration> {
        self.response_ns.get(callback).copied().map(Duration::from_nanos)
    }

    /// How far `path` stays on one core without a pause, through callbacks that nothing else
    /// triggers: lemma 8 can be applied so far.
    fn segment_length(&self, path: &[usize]) -> usize {
        let goes_on = |pair: &[usize]| {
            let alone = matches!(
                &self.callbacks[pair[1]].trigger,
                Trigger::Messages(sources) if matches!(
                    sources[..],
                    [Source { callback, same_core_max: Duration::ZERO, .. }] if callback == pair[0]
                )
            );
            alone && self.core_of[pair[0]] == self.core_of[pair[1]]
        };
        1 + path.windows(2).take_while(|pair| goes_on(pair)).count()
    }

    /// The longest that a message from one step to the next is under way.
    fn delay_ns(&self, from: usize, to: usize) -> Result<u64, NoBound> {
        let not_triggered = || NoBound::NotTriggered {
            from: self.callbacks[from].name.clone(),
            to: self.callbacks[to].name.clone(),
        };
        let Trigger::Messages(sources) = &self.callbacks[to].trigger else {
            return Err(not_triggered());
        };
        let source = sources.iter().find(|source| source.callback == from);
        Ok(self.under_way_ns(source.ok_or_else(not_triggered)?, to))
    }

    fn under_way_ns(&self, source: &Source, to: usize) -> u64 {
        let same = self.core_of[source.callback] == self.core_of[to];
        nanos(if same { source.same_core_max } else { source.cross_core_max })
    }

    /// Follows all ways from the timers, each callback as late as is known so far.
    fn follow_ways(&mut self, order: &[usize]) -> Result<(), NoBound> {
        for &index in order {
            let callback = &self.callbacks[index];
            self.ways[index] = match &callback.trigger {
                Trigger::Timer(period) => {
                    vec![Way { period_ns: nanos(*period), jitter_ns: 0 }]
                }
                Trigger::Messages(sources) => {
                    let ways = sources.iter().flat_map(|source| {
                        let late_ns = self.response_ns[source.callback]
                            .saturating_add(self.under_way_ns(source, index));
                        let later = move |way: &Way| Way {
                            jitter_ns: way.jitter_ns.saturating_add(late_ns),
                            ..*way
                        };
                        self.ways[source.callback].iter().map(later)
                    });
                    ways.take(WAYS_MAX + 1).collect()
                }
                Trigger::Unknown => {
                    return Err(NoBound::UnknownTrigger { callback: callback.name.clone() });
                }
            };
            if self.ways[index].len() > WAYS_MAX {
                let callback = callback.name.clone();
                return Err(NoBound::TooManyWays { callback, max: WAYS_MAX });
            }
        }
        Ok(())
    }

    fn check_loads(&self, core_count: usize) -> Result<(), NoBound> {
        let mut loads = vec![0.0; core_count];
        for (index, callback) in self.callbacks.iter().enumerate() {
            for way in &self.ways[index] {
                loads[self.core_of[index]] +=
                    nanos(callback.duration_max) as f64 / way.period_ns as f64;
            }
        }
        match loads.iter().position(|load| *load > 1.0) {
            Some(core) => {
                let percent = (loads[core] * 100.0).round() as u64;
                Err(NoBound::Overloaded { core, percent: percent.max(101) })
            }
            None => Ok(()),
        }
    }

    /// What `callback` asks of its core when it comes by `ways`.
    fn demand(&self, ways: &[Way], callback: usize) -> Vec<RBF<Sporadic, Scalar>> {
        let wcet = Scalar::from(Service::from(nanos(self.callbacks[callback].duration_max)));
        let bound = |way: &Way| RBF {
            arrival_bound: Sporadic::new(Ticks::from(way.period_ns), Ticks::from(way.jitter_ns)),
            wcet,
        };
        ways.iter().map(bound).collect()
    }

    /// What all callbacks of the core of `callbacks` but these ask of it.
    fn demand_beside(&self, callbacks: &[usize]) -> Vec<RBF<Sporadic, Scalar>> {
        let core = self.core_of[callbacks[0]];
        let others = (0..self.callbacks.len())
            .filter(|other| self.core_of[*other] == core && !callbacks.contains(other));
        others.flat_map(|other| self.demand(&self.ways[other], other)).collect()
    }

    /// The responses if nothing came later than is known so far.
    fn next_responses(&self) -> Result<Vec<u64>, NoBound> {
        let response = |index: usize| {
            let own = self.demand(&self.ways[index], index);
            let others = self.demand_beside(&[index]);
            let limit = Ticks::from(self.limit_ns);
            let found = rta_polling_point_callback(
                &Dedicated::new(),
                &Slice::of(&own),
                &Slice::of(&others),
                limit,
            );
            found_ns(found).ok_or_else(|| self.diverged(index))
        };
        (0..self.callbacks.len()).map(response).collect()
    }

    /// The longest from when the first of `segment` becomes ready to the end of the last one.
    fn segment(&self, segment: &[usize]) -> Option<u64> {
        let (&last, before) = segment.split_last()?;
        // All of them come when the first one does.
        let ways = &self.ways[segment[0]];
        let last = self.demand(ways, last);
        let before: Vec<_> = before.iter().flat_map(|&step| self.demand(ways, step)).collect();
        let full: Vec<_> = before.iter().chain(&last).cloned().collect();
        let others = self.demand_beside(segment);
        found_ns(rta_processing_chain(
            &Dedicated::new(),
            &Slice::of(&last),
            &Slice::of(&before),
            &Slice::of(&full),
            &Slice::of(&others),
            Ticks::from(self.limit_ns),
        ))
    }

    fn diverged(&self, callback: usize) -> NoBound {
        let callback = self.callbacks.get(callback).map_or(String::new(), |it| it.name.clone());
        NoBound::Diverged { callback, limit: Duration::from_nanos(self.limit_ns) }
    }
}

fn found_ns(found: SearchResult) -> Option<u64> {
    found.ok().map(u64::from)
}

/// Saturates after 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A hundred of the longest periods: who waits longer than that waits in vain.
fn limit_ns(callbacks: &[Callback]) -> u64 {
    let periods = callbacks.iter().filter_map(|callback| match callback.trigger {
        Trigger::Timer(period) => Some(nanos(period)),
        _ => None,
    });
    periods.max().unwrap_or(0).saturating_mul(100).min(LIMIT_NS_MAX)
}

/// A day; sums of some of these do not overflow.
const LIMIT_NS_MAX: u64 = 86_400_000_000_000;

/// Every callback after those that trigger it.
fn topological_order(callbacks: &[Callback]) -> Result<Vec<usize>, NoBound> {
    let mut order = Vec::new();
    let mut placed = vec![false; callbacks.len()];
    for callback in callbacks {
        let malformed = match &callback.trigger {
            Trigger::Timer(period) => period.is_zero(),
            Trigger::Messages(sources) => {
                sources.iter().any(|source| source.callback >= callbacks.len())
            }
            Trigger::Unknown => false,
        };
        if malformed {
            return Err(NoBound::Malformed { callback: callback.name.clone() });
        }
    }
    while order.len() < callbacks.len() {
        let is_next = |index: &usize| {
            !placed[*index]
                && match &callbacks[*index].trigger {
                    Trigger::Messages(sources) => sources.iter().all(|it| placed[it.callback]),
                    _ => true,
                }
        };
        let Some(next) = (0..callbacks.len()).find(is_next) else {
            let stuck = placed.iter().position(|placed| !placed).unwrap_or(0);
            return Err(NoBound::Cycle { callback: callbacks[stuck].name.clone() });
        };
        placed[next] = true;
        order.push(next);
    }
    Ok(order)
}

#[cfg(test)]
mod tests;
