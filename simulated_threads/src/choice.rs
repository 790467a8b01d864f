//! The choice of the next thread among several that can run.

use crate::random::Random;
use crate::wait::Nanos;
use ringspin_executor::Time;
use ringspin_modes::threads::{ThreadDeviation, ThreadInfo};
use ringspin_modes::{Deviation, Schedule};
use std::collections::BTreeMap;

/// How the next thread is chosen. The first candidate is the one that runs and could go on, or the
/// one that has been ready for the longest time.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Any of them, each with the same probability; one that runs goes on three times of four.
    Shuffle { seed: u64 },
    /// Probabilistic concurrency testing: each thread has a random priority, and the highest goes
    /// first, but for `depth - 1` points where the one that would go is given the lowest.
    ///
    /// From: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with
    /// probabilistic guarantees of finding bugs", ASPLOS 2010.
    Priorities { seed: u64, depth: u32, steps: u64 },
    /// The first one, but for the deviations of threads of this schedule.
    Scripted(Schedule),
}

/// Chooses threads, and notes how that deviates from the first candidates.
pub(crate) struct Chooser {
    order: Kind,
    random: Random,
    /// Of the current instant.
    choices: u32,
    instant: Nanos,
    /// In all.
    made: u64,
    taken: Vec<ThreadDeviation>,
}

enum Kind {
    Shuffle,
    Priorities(Priorities),
    Scripted(BTreeMap<(Time, u32), u32>),
}

/// Priorities by number of the thread.
struct Priorities {
    of: BTreeMap<u64, u64>,
    /// The choices at which a priority is lowered, in order.
    changes: Vec<u64>,
}

/// Priorities that were not lowered are above this.
const LOWERED: u64 = 1 << 32;

impl Priorities {
    fn new(depth: u32, steps: u64, random: &mut Random) -> Self {
        let mut changes: Vec<_> = (1..depth).map(|_| random.below(steps.max(1))).collect();
        changes.sort_unstable();
        Self { of: BTreeMap::new(), changes }
    }

    fn highest(&mut self, threads: &[&ThreadInfo], random: &mut Random) -> usize {
        let mut priority =
            |thread| *self.of.entry(thread).or_insert_with(|| LOWERED + random.below(LOWERED));
        let all = threads.iter().map(|thread| priority(thread.number)).enumerate();
        all.max_by_key(|(_, priority)| *priority).map_or(0, |(n, _)| n)
    }

    fn choose(&mut self, made: u64, threads: &[&ThreadInfo], random: &mut Random) -> usize {
        let mut highest = self.highest(threads, random);
        while self.changes.first().is_some_and(|change| *change <= made) {
            self.changes.remove(0);
            // The later it is lowered, the lower it is.
            self.of.insert(threads[highest].number, self.changes.len() as u64);
            highest = self.highest(threads, random);
        }
        highest
    }
}

impl Chooser {
    pub(crate) fn new(order: &Order) -> Self {
        let seed = match order {
            Order::Shuffle { seed } | Order::Priorities { seed, .. } => *seed,
            Order::Scripted(_) => 0,
        };
        let mut random = Random::new(seed);
        let order = match order {
            Order::Shuffle { .. } => Kind::Shuffle,
            Order::Priorities { depth, steps, .. } => {
                Kind::Priorities(Priorities::new(*depth, *steps, &mut random))
            }
            Order::Scripted(schedule) => {
                let deviations = schedule.threads.iter();
                Kind::Scripted(deviations.map(|of| ((of.time, of.choice), of.taken)).collect())
            }
        };
        Self { order, random, choices: 0, instant: 0, made: 0, taken: Vec::new() }
    }

    /// The index of the next thread among at least two; `runs` if the first one runs.
    pub(crate) fn choose(&mut self, now: Nanos, threads: &[&ThreadInfo], runs: bool) -> usize {
        if now != self.instant {
            (self.instant, self.choices) = (now, 0);
        }
        let (time, choice) = (Time::from_nanos(now), self.choices);
        let random = &mut self.random;
        let taken = match &mut self.order {
            Kind::Shuffle if runs && random.below(4) > 0 => 0,
            Kind::Shuffle => random.below(threads.len() as u64) as usize,
            Kind::Priorities(priorities) => priorities.choose(self.made, threads, random),
            Kind::Scripted(deviations) => {
                let taken = deviations.get(&(time, choice)).map_or(0, |taken| *taken as usize);
                if taken < threads.len() { taken } else { 0 }
            }
        };
        if taken > 0 {
            let deviation = Deviation { time, choice, taken: taken as u32 };
            let (thread, instead_of) = (threads[taken].clone(), threads[0].clone());
            self.taken.push(ThreadDeviation { deviation, thread, instead_of });
        }
        self.choices += 1;
        self.made += 1;
        taken
    }

    /// The number of choices so far, and those of another candidate than the first.
    pub(crate) fn made(&self) -> (u64, &[ThreadDeviation]) {
        (self.made, &self.taken)
    }
}

/// The choices among threads in a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// How many there were.
    pub(crate) made: u64,
    /// Those that did not take the first candidate.
    pub(crate) taken: Vec<ThreadDeviation>,
}
