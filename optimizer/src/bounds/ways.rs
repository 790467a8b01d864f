//! The ways from timers to callbacks, and how late a message can be on each of them.
//!
//! A way is a row of callbacks, of which each triggers the next one, on one core without a pause.
//! How late its last one ends is told by lemma 8, counted from when the first one became ready.
//! Between these, nothing is more irregular than at the first one: the lemma looks back to when the
//! core was idle last, and then no row on it was half done. So what comes from a core's own work
//! counts as work that came with the first one of its row. Only a message that leaves the core
//! can bunch with the one before it there: it starts a new row, as late as it can be.
//!
//! The cores' influence on each other is a fixed point, which is approached from below.

use std::time::Duration;

use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::{RBF, Slice};
use response_time_analysis::ros2::rta_processing_chain;
use response_time_analysis::supply::Dedicated;
use response_time_analysis::time::{Duration as Ticks, Service};
use response_time_analysis::wcet::Scalar;

use super::{Callback, NoBound, Source, Trigger, nanos};

/// How many ways from timers to one callback are told apart.
pub(super) const WAYS_MAX: usize = 256;

/// How many ways there can be in all.
pub(super) const TOTAL_MAX: usize = 1024;

/// How often one way is looked at beside another one, until the analysis gives up: some seconds.
const LOOKS_MAX: usize = 50_000_000;

/// All ways.
#[derive(Debug)]
pub(super) struct Ways {
    core_of: Vec<usize>,
    wcets_ns: Vec<u64>,
    /// By callback.
    ways: Vec<Vec<Way>>,
}

/// A way from a timer to a callback.
#[derive(Clone, Debug)]
struct Way {
    /// How often the row begins: once a period, and at most so much late.
    period_ns: u64,
    jitter_ns: u64,
    /// The row: each callback, and which of its ways this is.
    row: Vec<(usize, usize)>,
    /// The longest from when the first of the row becomes ready to the end of the last one.
    late_ns: u64,
}

impl Ways {
    /// Follows the ways to all `callbacks`, which run on these cores.
    pub(super) fn new(
        callbacks: &[Callback],
        core_of: Vec<usize>,
        core_count: usize,
    ) -> Result<Self, NoBound> {
        let wcets_ns = callbacks.iter().map(|it| nanos(it.duration_max)).collect();
        let mut all = Self { core_of, wcets_ns, ways: vec![Vec::new(); callbacks.len()] };
        let order = topological_order(callbacks)?;
        all.follow(callbacks, &order)?;
        all.check_loads(core_count)?;
        let total = all.ways.iter().map(Vec::len).sum::<usize>();
        if total > TOTAL_MAX {
            return Err(NoBound::TooManyInAll { count: total, max: TOTAL_MAX });
        }
        let limit_ns = limit_ns(callbacks);
        let exceeds = |callback: usize, limit_ns| NoBound::Diverged {
            callback: callbacks[callback].name.clone(),
            limit: Duration::from_nanos(limit_ns),
        };
        for _ in 0..LOOKS_MAX / (total * total).max(1) {
            if !all.delay(limit_ns).map_err(|callback| exceeds(callback, limit_ns))? {
                return Ok(all);
            }
            all.follow(callbacks, &order)?;
        }
        // From below: it would only grow from here on.
        let latest = (0..callbacks.len()).max_by_key(|&callback| all.response_ns(callback));
        let latest = latest.unwrap_or(0);
        Err(exceeds(latest, all.response_ns(latest)))
    }

    /// Whether a message of `source` lets `to` go on with the row: on its core, and at once.
    pub(super) fn goes_on(&self, source: &Source, to: usize) -> bool {
        source.same_core_max.is_zero() && self.core_of[source.callback] == self.core_of[to]
    }

    /// The longest that a message of `source` is under way to the callback `to`.
    pub(super) fn under_way_ns(&self, source: &Source, to: usize) -> u64 {
        let same = self.core_of[source.callback] == self.core_of[to];
        nanos(if same { source.same_core_max } else { source.cross_core_max })
    }

    /// The longest by any way from when the first of `steps` becomes ready to the end of the last
    /// one. Nothing comes before them on their core but, where a chain begins with `is_first` in
    /// the middle of a row, the rest of that.
    pub(super) fn row_ns(&self, steps: &[usize], is_first: bool) -> u64 {
        let ways = steps.last().into_iter().flat_map(|&last| &self.ways[last]);
        let is_it = |way: &&Way| {
            let row = way.row.iter().rev().map(|&(callback, _)| callback);
            (is_first || way.row.len() == steps.len())
                && way.row.len() >= steps.len()
                && row.zip(steps.iter().rev()).all(|(one, &other)| one == other)
        };
        ways.filter(is_it).map(|way| way.late_ns).max().unwrap_or(0)
    }

    /// The longest by any way to the end of `callback`.
    pub(super) fn response_ns(&self, callback: usize) -> u64 {
        self.ways[callback].iter().map(|way| way.late_ns).max().unwrap_or(0)
    }

    /// Follows all ways from the timers, each message as late as is known so far.
    fn follow(&mut self, callbacks: &[Callback], order: &[usize]) -> Result<(), NoBound> {
        for &index in order {
            let name = || callbacks[index].name.clone();
            let mut ways = match &callbacks[index].trigger {
                Trigger::Timer(period) => vec![self.begun(nanos(*period), 0, index)],
                Trigger::Messages(sources) => {
                    let ways = sources.iter().flat_map(|source| self.by(source, index));
                    ways.take(WAYS_MAX + 1).collect()
                }
                Trigger::Unknown => return Err(NoBound::UnknownTrigger { callback: name() }),
            };
            if ways.len() > WAYS_MAX {
                return Err(NoBound::TooManyWays { callback: name(), max: WAYS_MAX });
            }
            for (number, way) in ways.iter_mut().enumerate() {
                way.row.push((index, number));
                let known = self.ways[index].get(number).map(|way| way.late_ns);
                let own_ns = way.row.iter().map(|&(step, _)| self.wcets_ns[step]);
                way.late_ns = known.unwrap_or_else(|| own_ns.fold(0, u64::saturating_add));
            }
            self.ways[index] = ways;
        }
        Ok(())
    }

    /// A row that begins with the callback `index`, which is still to be added.
    fn begun(&self, period_ns: u64, jitter_ns: u64, index: usize) -> Way {
        Way { period_ns, jitter_ns, row: Vec::new(), late_ns: self.wcets_ns[index] }
    }

    /// The ways by messages of `source` to the callback `index`, which is still to be added.
    fn by(&self, source: &Source, index: usize) -> impl Iterator<Item = Way> {
        let (goes_on, under_way_ns) =
            (self.goes_on(source, index), self.under_way_ns(source, index));
        self.ways[source.callback].iter().map(move |way| match goes_on {
            true => way.clone(),
            false => {
                let late_ns = way.late_ns.saturating_add(under_way_ns);
                self.begun(way.period_ns, way.jitter_ns.saturating_add(late_ns), index)
            }
        })
    }

    fn check_loads(&self, core_count: usize) -> Result<(), NoBound> {
        let mut loads = vec![0.0; core_count];
        for (index, ways) in self.ways.iter().enumerate() {
            for way in ways {
                loads[self.core_of[index]] += self.wcets_ns[index] as f64 / way.period_ns as f64;
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

    /// Finds how late all ways end if they begin as late as is known so far; whether any is later
    /// than before. Fails with a callback that comes to no end.
    fn delay(&mut self, limit_ns: u64) -> Result<bool, usize> {
        let mut changed = false;
        for core in 0..=self.core_of.iter().copied().max().unwrap_or(0) {
            let on_core = (0..self.ways.len()).filter(|&callback| self.core_of[callback] == core);
            let places: Vec<(usize, usize)> = on_core
                .flat_map(|callback| (0..self.ways[callback].len()).map(move |n| (callback, n)))
                .collect();
            for &(callback, number) in &places {
                let late_ns = self.late_ns((callback, number), &places, limit_ns);
                let late_ns = late_ns.ok_or(callback)?;
                let way = &mut self.ways[callback][number];
                changed |= way.late_ns != late_ns;
                way.late_ns = late_ns;
            }
        }
        Ok(changed)
    }

    /// How late a way ends, among all of its core. All of its row come when the first one does.
    fn late_ns(
        &self,
        (callback, number): (usize, usize),
        on_core: &[(usize, usize)],
        limit_ns: u64,
    ) -> Option<u64> {
        let way = &self.ways[callback][number];
        let (_, before) = way.row.split_last()?;
        let last = [self.demand(way, callback)];
        let before: Vec<_> = before.iter().map(|&(step, _)| self.demand(way, step)).collect();
        let full: Vec<_> = before.iter().chain(&last).cloned().collect();
        let others = on_core.iter().filter(|place| !way.row.contains(place));
        let others = others.map(|&(other, n)| self.demand(&self.ways[other][n], other));
        let others: Vec<_> = others.collect();
        let found = rta_processing_chain(
            &Dedicated::new(),
            &Slice::of(&last),
            &Slice::of(&before),
            &Slice::of(&full),
            &Slice::of(&others),
            Ticks::from(limit_ns),
        );
        found.ok().map(u64::from)
    }

    /// What `callback` asks of its core as a part of this way.
    fn demand(&self, way: &Way, callback: usize) -> RBF<Sporadic, Scalar> {
        RBF {
            arrival_bound: Sporadic::new(Ticks::from(way.period_ns), Ticks::from(way.jitter_ns)),
            wcet: Scalar::from(Service::from(self.wcets_ns[callback])),
        }
    }
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
