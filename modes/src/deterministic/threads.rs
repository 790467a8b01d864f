//! Threads of the application that share the time of a deterministic executor.
//!
//! Usually only the steps of the spinning thread are ordered; events of other threads come at times
//! that no other run repeats. The crate `ringspin-simulated-threads` runs all threads of a program
//! one at a time, under one simulated time. An executor in deterministic mode is then one of them,
//! the last one at each instant: while others can run at an instant, they do; then it dispatches
//! its events of that instant; when nothing is left, time goes to the earliest deadline of a thread
//! or event of the executor.

use super::{Deviation, TiePolicy};
use ringspin_executor::{SimClock, Time};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// How the wait of an executor for its next event ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// It is due.
    Reached,
    /// Other threads ran, at this or an earlier time.
    OthersRan,
    /// It waited for no time, and nor does any other thread: none runs again by itself.
    Quiet,
}

/// A thread of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its number in order of creation, from zero.
    pub number: u64,
    /// Empty unless it was given one.
    pub name: Arc<str>,
}

impl fmt::Display for ThreadInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.name {
            "" => write!(f, "thread {}", self.number),
            name => write!(f, "thread {} ({name:?})", self.number),
        }
    }
}

/// A choice at which another thread than the first candidate ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadDeviation {
    /// When, and which candidate.
    pub deviation: Deviation,
    /// The thread that ran.
    pub thread: ThreadInfo,
    /// The one that would have.
    pub instead_of: ThreadInfo,
}

impl fmt::Display for ThreadDeviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deviation, thread, instead_of } = self;
        write!(f, "at {}: {thread} before {instead_of}", deviation.time)
    }
}

/// Threads that run one at a time under one simulated time. Each function is about the world of the
/// calling thread, which is in one but for [`join`](Self::join) and
/// [`isolate`](Self::isolate).
pub trait SimulatedThreads: Send + Sync {
    /// If the calling thread is in a world: `clock` shows its time from now on, unless it is ahead,
    /// and the result is true.
    fn join(&self, clock: &Arc<SimClock>) -> bool;

    /// The time.
    fn now(&self) -> Time;

    /// Other threads that can run at this instant do so, until each of them waits.
    fn run_others(&self);

    /// Waits until `time`, or until another thread ran; [`Time::MAX`] is for no time.
    fn wait_until(&self, time: Time) -> WaitEnd;

    /// Calls `run` in a new world, in which the calling thread is the first, random numbers have
    /// this seed, and the order of threads is chosen as `ties` says: of a schedule, its
    /// [`threads`](crate::Schedule::threads) are followed. The threads of the caller's world stand
    /// still meanwhile.
    fn isolate(&self, seed: u64, ties: &TiePolicy, run: &mut dyn FnMut());

    /// The digest of dispatched events: it becomes part of [that](Self::digest) of the threads.
    fn note(&self, digest: u64);

    /// How often so far the next thread was chosen among several; zero if they run in the order in
    /// which they became ready.
    fn choices(&self) -> u64;

    /// How the order of threads deviated so far from that in which they became ready.
    fn deviations(&self) -> Vec<ThreadDeviation>;

    /// A digest of which thread ran when; `None` as long as only one did.
    fn digest(&self) -> Option<u64>;
}

static THREADS: OnceLock<&'static dyn SimulatedThreads> = OnceLock::new();

/// From now on, deterministic executors ask `threads` whether they spin on one of them. Only the
/// first call has an effect.
pub fn register(threads: &'static dyn SimulatedThreads) {
    let _ = THREADS.set(threads);
}

/// Calls `run`: if the calling thread is in a world, then in a new one, with the same start. So
/// each run of a job is the same, whatever ran before.
pub fn isolated<R>(seed: u64, ties: &TiePolicy, run: impl FnOnce() -> R) -> R {
    let Some(threads) = registered() else { return run() };
    let (mut run, mut result) = (Some(run), None);
    threads.isolate(seed, ties, &mut || result = run.take().map(|run| run()));
    result.expect("it was called")
}

/// The threads of which the calling one may be.
pub(crate) fn registered() -> Option<&'static dyn SimulatedThreads> {
    THREADS.get().copied()
}
