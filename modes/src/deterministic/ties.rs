//! Ties: in which order the events of one instant are dispatched, where the contract leaves no
//! choice and a bug may.
//!
//! The contract has a total order. A robot has none: what happens in the same instant of simulated
//! time happens in any order on the machine. A tie policy tries such orders, each reproducible from
//! its seed. What two events of one callback are, and what became ready at different times for one
//! loop, keeps its order under every policy.

use crate::random::{Purpose, Stream};
use crate::schedule::{Deviation, InstantEvent, Postponement, Schedule};
use ringspin_executor::{CallbackId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// In which order events of the same instant are dispatched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TiePolicy {
    /// The contract's total order: first-in first-out, and due timers, by deadline, when there is
    /// no other event.
    #[default]
    Fifo,
    /// The reverse: due timers first, the last of them before the others, then the newest event.
    Reverse,
    /// Any event or due timer, each with the same probability.
    Shuffle {
        /// Another seed is another order.
        seed: u64,
    },
    /// Probabilistic concurrency testing: each callback has a random priority, and the highest goes
    /// first, but for `depth - 1` points where the one that would go is given the lowest. A bug
    /// that needs `depth` events in a certain order is found with a probability of at least
    /// 1 / (callbacks * steps^(depth - 1)) in each run.
    ///
    /// From: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with
    /// probabilistic guarantees of finding bugs", ASPLOS 2010.
    Pct {
        /// Another seed is another order.
        seed: u64,
        /// Number of events that must occur in a certain order for the bug; at least one.
        depth: u32,
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

/// Chooses among the events of an instant: for tie policies of one's own.
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
            Self::Scripted(schedule) => return Some(Chooser::Script(Script::new(schedule))),
        }))
    }
}

/// Chooses among the events of an instant.
pub(super) enum Chooser {
    Breaker(Box<dyn TieBreaker>),
    Script(Script),
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

struct Pct {
    stream: Stream,
    /// By callback: those that were changed are below all others, the later the lower.
    lowered: BTreeMap<CallbackId, u64>,
    /// At which choices a priority changes, in order.
    changes: Vec<u64>,
    choices: u64,
}

impl Pct {
    fn new(seed: u64, depth: u32, steps: u64) -> Self {
        let stream = Stream::new(seed, "pct");
        let draw = |n| stream.below(n, Purpose::PriorityChange, steps.max(1));
        let mut changes: Vec<u64> = (1..u64::from(depth.max(1))).map(draw).collect();
        changes.sort_unstable();
        Self { stream, lowered: BTreeMap::new(), changes, choices: 0 }
    }

    fn highest(&self, candidates: &[Candidate]) -> usize {
        let priority = |candidate: &Candidate| match self.lowered.get(&candidate.callback) {
            Some(&change) => (0, u64::MAX - change),
            None => (1, self.stream.draw(u64::from(candidate.callback.0), Purpose::Priority)),
        };
        let priorities = candidates.iter().map(priority).enumerate();
        // Of equal ones the first: a callback that is ready and a due timer of it cannot both be.
        let highest = priorities.max_by_key(|&(n, priority)| (priority, std::cmp::Reverse(n)));
        highest.map_or(0, |(n, _)| n)
    }
}

impl TieBreaker for Pct {
    fn choose(&mut self, _: Time, candidates: &[Candidate]) -> usize {
        while self.changes.first().is_some_and(|&change| change <= self.choices) {
            let highest = candidates[self.highest(candidates)].callback;
            self.lowered.insert(highest, self.choices);
            self.changes.remove(0);
        }
        self.choices += 1;
        self.highest(candidates)
    }
}

/// Follows a schedule.
pub(super) struct Script {
    deviations: BTreeMap<(Time, u32), u32>,
    postponements: BTreeMap<Time, Vec<Postponement>>,
    /// The postponements of which an event waits.
    waiting: BTreeSet<Postponement>,
    /// The postponements of which an event has waited until the other one was taken.
    applied: BTreeSet<Postponement>,
}

impl Script {
    fn new(schedule: &Schedule) -> Self {
        let deviations = schedule.deviations.iter();
        let deviations =
            deviations.map(|&Deviation { time, choice, taken }| ((time, choice), taken));
        let mut postponements: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for postponement in &schedule.postponements {
            postponements.entry(postponement.time).or_default().push(*postponement);
        }
        let (waiting, applied) = (BTreeSet::new(), BTreeSet::new());
        Self { deviations: deviations.collect(), postponements, waiting, applied }
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
        if let Some(&taken) = self.deviations.get(&(now, choice))
            && (1..candidates.len()).contains(&(taken as usize))
        {
            return (taken as usize, true);
        }
        let Some(postponements) = self.postponements.get(&now) else { return (0, false) };
        let holds = |candidate: &Candidate, postponement: &&Postponement| {
            taken.is_next(candidate.callback, postponement.held) && !taken.has(postponement.until)
        };
        let held_by = |candidate| postponements.iter().filter(move |p| holds(candidate, p));
        let free = candidates.iter().position(|candidate| held_by(candidate).next().is_none());
        // If all are held back, none can wait for another one.
        let chosen = free.unwrap_or(0);
        self.waiting.extend(candidates[..chosen].iter().flat_map(held_by));
        (chosen, false)
    }

    /// An event is taken after those of `taken`.
    pub(super) fn take(&mut self, callback: CallbackId, taken: &TakenEvents) {
        let Self { waiting, applied, .. } = self;
        waiting.retain(|postponement| {
            let is_over = taken.is_next(callback, postponement.until);
            if is_over {
                applied.insert(*postponement);
            }
            // If it cannot wait any longer, nothing else was left to do.
            !is_over && !taken.is_next(callback, postponement.held)
        });
    }

    /// The postponements that were kept so far.
    pub(super) fn applied(&self) -> impl Iterator<Item = Postponement> {
        self.applied.iter().copied()
    }
}

/// How many events of each callback were taken at an instant.
#[derive(Debug, Default)]
pub(super) struct TakenEvents(BTreeMap<CallbackId, u32>);

impl TakenEvents {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn take(&mut self, callback: CallbackId) {
        *self.0.entry(callback).or_default() += 1;
    }

    fn count(&self, callback: CallbackId) -> u32 {
        self.0.get(&callback).copied().unwrap_or(0)
    }

    fn is_next(&self, callback: CallbackId, turn: InstantEvent) -> bool {
        callback == turn.callback && self.count(callback) == turn.number
    }

    fn has(&self, turn: InstantEvent) -> bool {
        self.count(turn.callback) > turn.number
    }
}
