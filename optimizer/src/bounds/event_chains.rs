//! Event chains from timers to callbacks, and their worst-case response times.
//!
//! An event chain ends in a segment: callbacks on one core of which each triggers the next without
//! a transit time. Lemma 8 bounds the end of the last callback, counted from when the first one of
//! the segment becomes ready. Within a segment no release jitter is added: the lemma looks back to
//! when the core was last idle, and at that time no segment on it was half done. Work that the
//! core triggers itself therefore counts as arriving with the first callback of its segment. Only a
//! message that leaves the core can bunch with the previous one: it starts a new segment, with the
//! response time so far as its jitter.
//!
//! The mutual delays of the cores are a fixed point, approached from below.

use std::time::Duration;

use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::{RBF, Slice};
use response_time_analysis::ros2::rta_processing_chain;
use response_time_analysis::supply::Dedicated;
use response_time_analysis::time::{Duration as Ticks, Service};
use response_time_analysis::wcet::Scalar;

use super::{Callback, NoBound, Source, Trigger, nanos};

/// The largest number of event chains from timers to one callback.
pub(super) const EVENT_CHAINS_MAX: usize = 256;

/// The largest number of event chains in total.
pub(super) const TOTAL_MAX: usize = 1024;

/// The number of comparisons of two event chains before the analysis gives up: some seconds.
const COMPARISONS_MAX: usize = 50_000_000;

/// All event chains of a graph.
#[derive(Debug)]
pub(super) struct EventChains {
    core_of: Vec<usize>,
    wcets_ns: Vec<u64>,
    /// By callback.
    chains: Vec<Vec<EventChain>>,
}

/// An event chain from a timer to a callback.
#[derive(Clone, Debug)]
struct EventChain {
    /// The segment starts once per period, at most `jitter_ns` late.
    period_ns: u64,
    jitter_ns: u64,
    /// The current segment: each callback, with the index of its own event chain.
    segment: Vec<(usize, usize)>,
    /// The longest time from when the first callback of the segment is ready to the end of the
    /// last.
    response_ns: u64,
}

impl EventChains {
    /// Finds the event chains to all `callbacks`, which run on these cores.
    pub(super) fn new(
        callbacks: &[Callback],
        core_of: Vec<usize>,
        core_count: usize,
    ) -> Result<Self, NoBound> {
        let wcets_ns = callbacks.iter().map(|it| nanos(it.duration_max)).collect();
        let mut all = Self { core_of, wcets_ns, chains: vec![Vec::new(); callbacks.len()] };
        let order = topological_order(callbacks)?;
        all.build(callbacks, &order)?;
        all.check_loads(core_count)?;
        let total = all.chains.iter().map(Vec::len).sum::<usize>();
        if total > TOTAL_MAX {
            return Err(NoBound::TooManyInTotal { count: total, max: TOTAL_MAX });
        }
        let limit_ns = limit_ns(callbacks);
        let exceeds = |callback: usize, limit_ns| NoBound::Diverged {
            callback: callbacks[callback].name.clone(),
            limit: Duration::from_nanos(limit_ns),
        };
        for _ in 0..COMPARISONS_MAX / (total * total).max(1) {
            if !all.iterate(limit_ns).map_err(|callback| exceeds(callback, limit_ns))? {
                return Ok(all);
            }
            all.build(callbacks, &order)?;
        }
        // The iteration approaches from below, so the response times would only grow.
        let latest = (0..callbacks.len()).max_by_key(|&callback| all.response_ns(callback));
        let latest = latest.unwrap_or(0);
        Err(exceeds(latest, all.response_ns(latest)))
    }

    /// Whether a message of `source` continues the segment with `to`: same core, no transit time.
    pub(super) fn continues_segment(&self, source: &Source, to: usize) -> bool {
        source.same_core_max.is_zero() && self.core_of[source.callback] == self.core_of[to]
    }

    /// The longest transit time of a message of `source` to the callback `to`.
    pub(super) fn transit_ns(&self, source: &Source, to: usize) -> u64 {
        let same = self.core_of[source.callback] == self.core_of[to];
        nanos(if same { source.same_core_max } else { source.cross_core_max })
    }

    /// The longest time over all event chains from when the first of `steps` becomes ready to the
    /// end of the last one. With `is_first`, the chain may begin in the middle of a segment; the
    /// callbacks of the segment before it then count, too.
    pub(super) fn segment_ns(&self, steps: &[usize], is_first: bool) -> u64 {
        let chains = steps.last().into_iter().flat_map(|&last| &self.chains[last]);
        let matches = |chain: &&EventChain| {
            let segment = chain.segment.iter().rev().map(|&(callback, _)| callback);
            (is_first || chain.segment.len() == steps.len())
                && chain.segment.len() >= steps.len()
                && segment.zip(steps.iter().rev()).all(|(one, &other)| one == other)
        };
        chains.filter(matches).map(|chain| chain.response_ns).max().unwrap_or(0)
    }

    /// The longest time over all event chains to the end of `callback`.
    pub(super) fn response_ns(&self, callback: usize) -> u64 {
        self.chains[callback].iter().map(|chain| chain.response_ns).max().unwrap_or(0)
    }

    /// Builds all event chains from the timers, with the response times known so far as jitter.
    fn build(&mut self, callbacks: &[Callback], order: &[usize]) -> Result<(), NoBound> {
        for &index in order {
            let name = || callbacks[index].name.clone();
            let mut chains = match &callbacks[index].trigger {
                Trigger::Timer(period) => vec![self.new_segment(nanos(*period), 0, index)],
                Trigger::Messages(sources) => {
                    let chains = sources.iter().flat_map(|source| self.through(source, index));
                    chains.take(EVENT_CHAINS_MAX + 1).collect()
                }
                Trigger::Unknown => return Err(NoBound::UnknownTrigger { callback: name() }),
            };
            if chains.len() > EVENT_CHAINS_MAX {
                return Err(NoBound::TooManyEventChains {
                    callback: name(),
                    max: EVENT_CHAINS_MAX,
                });
            }
            for (number, chain) in chains.iter_mut().enumerate() {
                chain.segment.push((index, number));
                let known = self.chains[index].get(number).map(|chain| chain.response_ns);
                let own_ns = chain.segment.iter().map(|&(step, _)| self.wcets_ns[step]);
                chain.response_ns = known.unwrap_or_else(|| own_ns.fold(0, u64::saturating_add));
            }
            self.chains[index] = chains;
        }
        Ok(())
    }

    /// An event chain whose segment begins with the callback `index`, which the caller adds.
    fn new_segment(&self, period_ns: u64, jitter_ns: u64, index: usize) -> EventChain {
        EventChain { period_ns, jitter_ns, segment: Vec::new(), response_ns: self.wcets_ns[index] }
    }

    /// The event chains to the callback `index` through `source`; the caller adds the callback.
    fn through(&self, source: &Source, index: usize) -> impl Iterator<Item = EventChain> {
        let (continues_segment, transit_ns) =
            (self.continues_segment(source, index), self.transit_ns(source, index));
        self.chains[source.callback].iter().map(move |chain| match continues_segment {
            true => chain.clone(),
            false => {
                let response_ns = chain.response_ns.saturating_add(transit_ns);
                self.new_segment(
                    chain.period_ns,
                    chain.jitter_ns.saturating_add(response_ns),
                    index,
                )
            }
        })
    }

    fn check_loads(&self, core_count: usize) -> Result<(), NoBound> {
        let mut loads = vec![0.0; core_count];
        for (index, chains) in self.chains.iter().enumerate() {
            for chain in chains {
                loads[self.core_of[index]] += self.wcets_ns[index] as f64 / chain.period_ns as f64;
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

    /// Recomputes the response times of all event chains with the jitter known so far, and returns
    /// whether one has changed. The error is a callback whose response time exceeds the limit.
    fn iterate(&mut self, limit_ns: u64) -> Result<bool, usize> {
        let mut changed = false;
        for core in 0..=self.core_of.iter().copied().max().unwrap_or(0) {
            let on_core = (0..self.chains.len()).filter(|&callback| self.core_of[callback] == core);
            let places: Vec<(usize, usize)> = on_core
                .flat_map(|callback| (0..self.chains[callback].len()).map(move |n| (callback, n)))
                .collect();
            for &(callback, number) in &places {
                let response_ns = self.chain_response_ns((callback, number), &places, limit_ns);
                let response_ns = response_ns.ok_or(callback)?;
                let chain = &mut self.chains[callback][number];
                changed |= chain.response_ns != response_ns;
                chain.response_ns = response_ns;
            }
        }
        Ok(changed)
    }

    /// The response time of an event chain among those of its core. All callbacks of its segment
    /// count as arriving with the first one.
    fn chain_response_ns(
        &self,
        (callback, number): (usize, usize),
        on_core: &[(usize, usize)],
        limit_ns: u64,
    ) -> Option<u64> {
        let chain = &self.chains[callback][number];
        let (_, before) = chain.segment.split_last()?;
        let last = [self.demand(chain, callback)];
        let before: Vec<_> = before.iter().map(|&(step, _)| self.demand(chain, step)).collect();
        let full: Vec<_> = before.iter().chain(&last).cloned().collect();
        let others = on_core.iter().filter(|place| !chain.segment.contains(place));
        let others = others.map(|&(other, n)| self.demand(&self.chains[other][n], other));
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

    /// The demand of `callback` on its core within this event chain.
    fn demand(&self, chain: &EventChain, callback: usize) -> RBF<Sporadic, Scalar> {
        RBF {
            arrival_bound: Sporadic::new(
                Ticks::from(chain.period_ns),
                Ticks::from(chain.jitter_ns),
            ),
            wcet: Scalar::from(Service::from(self.wcets_ns[callback])),
        }
    }
}

/// Iteration limit: 100 times the longest period.
fn limit_ns(callbacks: &[Callback]) -> u64 {
    let periods = callbacks.iter().filter_map(|callback| match callback.trigger {
        Trigger::Timer(period) => Some(nanos(period)),
        _ => None,
    });
    periods.max().unwrap_or(0).saturating_mul(100).min(LIMIT_NS_MAX)
}

/// One day; sums of several do not overflow.
const LIMIT_NS_MAX: u64 = 86_400_000_000_000;

/// The callbacks in topological order: each after its triggers.
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
