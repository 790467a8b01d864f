//! Ties: in which order the events of one instant are dispatched, where the contract leaves no
//! choice and a bug may.
//!
//! The contract has a total order. A robot has none: events of one instant of simulated time happen
//! in any order on the machine. A tie policy tries such orders, each reproducible from its seed.
//! Two events of one callback, and events that became ready at different times for one loop, keep
//! their order under every policy.
//!
//! While callbacks take time, the candidates of a choice are, in this order:
//!
//! 1. Of each loop that is free, the oldest event of each callback, among the events that became
//!    ready at the same instant as the loop's first one.
//! 2. The due timers, without those of a free loop in which an event waits from an earlier instant.
//!    A timer of a busy loop counts: if it is chosen, its expiry becomes an event that waits for
//!    the loop, and the next choice follows.
//!
//! So a loop that becomes free first handles the events that became ready at the earliest instant,
//! in the order of the policy, then those of the next one. Threads that are shared by loops, as on
//! [mapped cores](crate::Cores), expire all due timers before a choice, and take further rules from
//! the live workers.

use crate::exploration::{Mixed, Pct, Script};
use crate::random::{Purpose, Stream};
use crate::schedule::{InstantEvent, Postponement, Schedule};
use ringspin_executor::{CallbackId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// In which order events of the same instant are dispatched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TiePolicy {
    /// The contract's total order: first-in first-out, and due timers, by deadline, when there is
    /// no other event.
    #[default]
    Fifo,
    /// The reverse: the last of the candidates. Due timers come first, the last of them before the
    /// others, then the newest event. A loop that was busy has the events of the earliest instant
    /// as its candidates: it handles these from the newest to the oldest before those of later
    /// instants.
    Reverse,
    /// Any event or due timer, each with the same probability.
    Shuffle {
        /// Another seed is another order.
        seed: u64,
    },
    /// Probabilistic concurrency testing: by random priorities of callbacks, as [`Pct`] has it. A
    /// bug that needs `depth` events in a certain order is found with a probability of at least
    /// 1 / (callbacks * steps^(depth - 1)) in each run.
    Pct {
        /// Another seed is another order.
        seed: u64,
        /// Number of events that must occur in a certain order for the bug; at least one.
        depth: u32,
        /// About how many choices a run has.
        steps: u64,
    },
    /// Another strategy with each seed, as [`Mixed`] has them: the default of an exploration.
    Mixed {
        /// Another seed is another strategy, or another order.
        seed: u64,
        /// About how many choices a run has.
        steps: u64,
    },
    /// The contract's order but for these deviations.
    Scripted(Schedule),
}

/// An event that could be dispatched next, or a timer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its callback.
    pub callback: CallbackId,
    /// Whether it is a timer that is due, and not yet an event.
    pub due_timer: bool,
}

/// Chooses among the events of an instant: for tie policies of an application.
pub trait TieBreaker: Send {
    /// Chooses the next of at least two candidates, which are in the contract's order. A number
    /// that is too great counts as the last.
    fn choose(&mut self, now: Time, candidates: &[Candidate]) -> usize;
}

impl TiePolicy {
    /// Chooses among the events of an instant; `None` for the contract's order.
    pub(super) fn chooser(&self) -> Option<Chooser> {
        Some(Chooser::Breaker(match self {
            Self::Fifo => return None,
            Self::Reverse => Box::new(Reverse),
            Self::Shuffle { seed } => {
                Box::new(Shuffle { stream: Stream::new(*seed, "shuffle"), choices: 0 })
            }
            Self::Pct { seed, depth, steps } => Box::new(Pct::new(*seed, *depth, *steps)),
            Self::Mixed { seed, steps } => Box::new(Mixed::new(*seed, *steps)),
            Self::Scripted(schedule) => return Some(Chooser::Script(InstantScript::new(schedule))),
        }))
    }
}

/// Chooses among the events of an instant.
pub(super) enum Chooser {
    Breaker(Box<dyn TieBreaker>),
    Script(InstantScript),
}

struct Reverse;

impl TieBreaker for Reverse {
    fn choose(&mut self, _: Time, candidates: &[Candidate]) -> usize {
        candidates.len() - 1
    }
}

struct Shuffle {
    stream: Stream,
    choices: u64,
}

impl TieBreaker for Shuffle {
    fn choose(&mut self, _: Time, candidates: &[Candidate]) -> usize {
        self.choices += 1;
        self.stream.below(self.choices, Purpose::Tie, candidates.len() as u64) as usize
    }
}

impl TieBreaker for Pct {
    fn choose(&mut self, _: Time, candidates: &[Candidate]) -> usize {
        Self::choose(self, candidates.iter().map(|candidate| u64::from(candidate.callback.0)))
    }
}

impl TieBreaker for Mixed {
    fn choose(&mut self, now: Time, candidates: &[Candidate]) -> usize {
        let callbacks = candidates.iter().map(|candidate| u64::from(candidate.callback.0));
        Self::choose(self, now, callbacks)
    }
}

/// Follows the deviations and postponements of a schedule.
pub(super) struct InstantScript {
    deviations: Script,
    /// By instant and the event that waits: the events for which it waits.
    postponements: BTreeMap<(Time, InstantEvent), Vec<InstantEvent>>,
    /// The postponements of which an event waits.
    waiting: BTreeSet<Postponement>,
    /// The postponements of which an event has waited until the other one was taken.
    applied: BTreeSet<Postponement>,
}

impl InstantScript {
    fn new(schedule: &Schedule) -> Self {
        let deviations = Script::new(&schedule.deviations);
        let mut postponements: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for &Postponement { time, held, until } in &schedule.postponements {
            postponements.entry((time, held)).or_default().push(until);
        }
        let (waiting, applied) = (BTreeSet::new(), BTreeSet::new());
        Self { deviations, postponements, waiting, applied }
    }

    /// The index of the candidate for choice number `choice` of the instant `now`, at which these
    /// events have been `taken`; and whether a deviation says so.
    pub(super) fn choose(
        &mut self,
        now: Time,
        choice: u32,
        candidates: &[Candidate],
        taken: &TakenEvents,
    ) -> (usize, bool) {
        if let Some(taken) = self.deviations.taken(now, choice, candidates.len()) {
            return (taken, true);
        }
        let held_by = |candidate: &Candidate| {
            let held = taken.next(candidate.callback);
            let untils = self.postponements.get(&(now, held)).into_iter().flatten();
            let untils = untils.filter(|until| !taken.has(**until));
            untils.map(move |&until| Postponement { time: now, held, until })
        };
        let free = candidates.iter().position(|candidate| held_by(candidate).next().is_none());
        // If all are held back, none can wait for another one.
        let chosen = free.unwrap_or(0);
        self.waiting.extend(candidates[..chosen].iter().flat_map(held_by));
        (chosen, false)
    }

    /// An event is taken after those of `taken`.
    pub(super) fn take(&mut self, callback: CallbackId, taken: &TakenEvents) {
        let event = taken.next(callback);
        let Self { waiting, applied, .. } = self;
        waiting.retain(|&postponement| {
            // If it cannot wait any longer, nothing else was left to do.
            let is_held = event == postponement.held;
            let is_over = is_held || event == postponement.until;
            if is_over {
                let until = taken.last.filter(|_| is_held).unwrap_or(postponement.until);
                applied.insert(Postponement { until, ..postponement });
            }
            !is_over
        });
    }

    /// The postponements that were kept so far. An event that waited less than it was to, at the
    /// instant `now` also one that still waits, is postponed until the one `taken` last before it:
    /// with these postponements, the run is the same.
    pub(super) fn applied(&self, now: Time, taken: &TakenEvents) -> BTreeSet<Postponement> {
        let waiting = self.waiting.iter().filter(|postponement| postponement.time == now);
        let so_far = |&of| taken.last.map(|until| Postponement { until, ..of });
        self.applied.iter().copied().chain(waiting.filter_map(so_far)).collect()
    }
}

/// The events that were taken at an instant.
#[derive(Debug, Default)]
pub(super) struct TakenEvents {
    counts: BTreeMap<CallbackId, u32>,
    last: Option<InstantEvent>,
}

impl TakenEvents {
    pub(super) fn clear(&mut self) {
        self.counts.clear();
        self.last = None;
    }

    pub(super) fn take(&mut self, callback: CallbackId) {
        self.last = Some(self.next(callback));
        *self.counts.entry(callback).or_default() += 1;
    }

    /// The next event of `callback`.
    fn next(&self, callback: CallbackId) -> InstantEvent {
        let number = self.counts.get(&callback).copied().unwrap_or(0);
        InstantEvent { callback, number }
    }

    fn has(&self, event: InstantEvent) -> bool {
        self.next(event.callback).number > event.number
    }
}
