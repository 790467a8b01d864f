//! Ties: in which order the events of one instant are dispatched, where the contract leaves no
//! choice and a bug may.
//!
//! The contract has a total order. A robot has none: what happens in the same instant of simulated
//! time happens in any order on the machine. A tie policy tries such orders, each reproducible from
//! its seed. What two events of one callback are, and what became ready at different times for one
//! loop, keeps its order under every policy.

use super::schedule::{Deviation, Schedule};
use crate::models::random::{Purpose, Stream};
use ringspin_executor::{CallbackId, Time};
use std::collections::BTreeMap;

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
        /// How many events have to come in a certain order for the bug; at least one.
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
    /// Which of the candidates is next; there are two at least, in the contract's order. A number
    /// that is too great counts as the last.
    fn choose(&mut self, now: Time, candidates: &[Candidate]) -> usize;
}

impl TiePolicy {
    /// What chooses; `None` for the contract's order.
    pub(super) fn breaker(&self) -> Option<Box<dyn TieBreaker>> {
        Some(match self {
            Self::Fifo => return None,
            Self::Reverse => Box::new(Reverse),
            Self::Shuffle { seed } => {
                Box::new(Shuffle { stream: Stream::new(*seed, "shuffle"), choices: 0 })
            }
            Self::Pct { seed, depth, steps } => Box::new(Pct::new(*seed, *depth, *steps)),
            Self::Scripted(schedule) => Box::new(Script::new(schedule)),
        })
    }
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

/// Follows a script.
struct Script {
    deviations: BTreeMap<(Time, u32), u32>,
    now: Time,
    choices: u32,
}

impl Script {
    fn new(schedule: &Schedule) -> Self {
        let deviations = schedule.deviations.iter();
        let deviations =
            deviations.map(|&Deviation { time, choice, taken }| ((time, choice), taken));
        Self { deviations: deviations.collect(), now: Time::ZERO, choices: 0 }
    }
}

impl TieBreaker for Script {
    fn choose(&mut self, now: Time, _: &[Candidate]) -> usize {
        if now != self.now {
            (self.now, self.choices) = (now, 0);
        }
        let taken = self.deviations.get(&(now, self.choices));
        self.choices += 1;
        taken.map_or(0, |&taken| taken as usize)
    }
}
