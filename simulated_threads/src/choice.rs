//! The choice of the next thread among several that can run.
//!
//! A world with another [`TiePolicy`] than the usual order has one [`Chooser`]. The world asks it
//! for the next thread, in the turn of the thread that waits or could lose its turn; the
//! exploration and the executors of the world read its deviations when the run has ended. The first
//! candidate is the thread that runs and could continue, or the one that has been ready for the
//! longest time. In a process of a run, the deviations are written to a file of the coordinator.

use crate::os::Descriptor;
use crate::wait::Nanos;
use ringspin_executor::Time;
use ringspin_modes::exploration::{Mixed, Pct, Script, Strategy};
use ringspin_modes::random::{SplitMix64, mix};
use ringspin_modes::threads::{ThreadDeviation, ThreadInfo};
use ringspin_modes::{Deviation, TiePolicy};
use std::io::Write;

/// Chooses threads, and notes how that deviates from the first candidates.
pub(crate) struct Chooser {
    order: Order,
    /// Zero-based number of the next choice of the current instant.
    choices: u32,
    instant: Nanos,
    made: u64,
    taken: Vec<ThreadDeviation>,
    /// Gets the deviations in place of `taken`.
    log: Option<Descriptor>,
}

enum Order {
    /// Each candidate with the same probability; a thread that runs continues three times of four.
    Shuffle(SplitMix64),
    Pct(Pct),
    Mixed(Mixed),
    Scripted(Script),
}

/// The generator of a world's random numbers.
pub(crate) fn generator(seed: u64) -> SplitMix64 {
    SplitMix64(mix(seed ^ 0x7269_6e67_7370_696e))
}

impl Chooser {
    /// Creates the chooser of this policy; `None` for the usual order.
    pub(crate) fn new(ties: &TiePolicy) -> Option<Self> {
        let order = match *ties {
            TiePolicy::Fifo | TiePolicy::Reverse => return None,
            TiePolicy::Mixed { seed, steps } if Strategy::of(seed) != Strategy::Shuffle => {
                Order::Mixed(Mixed::new(seed, steps))
            }
            TiePolicy::Shuffle { seed } | TiePolicy::Mixed { seed, .. } => {
                Order::Shuffle(generator(seed))
            }
            TiePolicy::Pct { seed, depth, steps } => Order::Pct(Pct::new(seed, depth, steps)),
            TiePolicy::Scripted(ref schedule) => Order::Scripted(Script::new(&schedule.threads)),
        };
        Some(Self { order, choices: 0, instant: 0, made: 0, taken: Vec::new(), log: None })
    }

    /// Writes a line for each deviation: how many choices there were before, the time in
    /// nanoseconds, the number of the choice, the candidate, and words about it.
    pub(crate) fn with_log(self, log: Descriptor) -> Self {
        Self { log: Some(log), ..self }
    }

    /// The index of the next thread among at least two; `runs` if the first one runs.
    pub(crate) fn choose(&mut self, now: Nanos, threads: &[&ThreadInfo], runs: bool) -> usize {
        if now != self.instant {
            (self.instant, self.choices) = (now, 0);
        }
        let (time, choice) = (Time::from_nanos(now), self.choices);
        let taken = match &mut self.order {
            Order::Shuffle(random) => match runs && random.below(4) > 0 {
                true => 0,
                false => random.below(threads.len() as u64) as usize,
            },
            Order::Pct(pct) => pct.choose(threads.iter().map(|thread| thread.number)),
            Order::Mixed(mixed) => mixed.choose(time, threads.iter().map(|thread| thread.number)),
            Order::Scripted(script) => script.taken(time, choice, threads.len()).unwrap_or(0),
        };
        if taken > 0 {
            let deviation = Deviation { time, choice, taken: taken as u32 };
            let (thread, instead_of) = (threads[taken].clone(), threads[0].clone());
            let deviation = ThreadDeviation { deviation, thread, instead_of };
            match &mut self.log {
                None => self.taken.push(deviation),
                Some(log) => {
                    let ThreadDeviation { thread, instead_of, .. } = deviation;
                    let words = format!("{thread} before {instead_of}");
                    let line = format!("{} {now} {choice} {taken} {words}\n", self.made);
                    let _ = log.write_all(line.as_bytes()); // memory of the coordinator
                }
            }
        }
        self.choices += 1;
        self.made += 1;
        taken
    }

    pub(crate) fn made(&self) -> Choices {
        Choices { made: self.made, taken: self.taken.clone() }
    }
}

/// The choices among threads in a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    pub(crate) made: u64,
    /// The choices that did not take the first candidate.
    pub(crate) taken: Vec<ThreadDeviation>,
}
