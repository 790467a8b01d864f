//! Errors of spinning.

use crate::schedule::NotApplied;
use ringspin_executor::{Failure, FreezeError, Time, catch_panic};
use std::fmt;
use thiserror::Error;

/// A panic in application code other than a callback: code that builds a graph, breaks ties, ends a
/// run, or is dropped with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The part of the program, as in "the tie breaker".
    pub part: String,
    /// The simulated time, if the run had begun.
    pub time: Option<Time>,
    /// The message of the panic.
    pub reason: String,
}

impl Panicked {
    /// Calls `code` of the user; a panic becomes an error that names `part`.
    ///
    /// # Errors
    /// The panic.
    pub fn catch<R>(part: &str, time: Option<Time>, code: impl FnOnce() -> R) -> Result<R, Self> {
        catch_panic(code).map_err(|reason| Self { part: part.into(), time, reason })
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, time, reason } = self;
        match time {
            Some(time) => write!(f, "{part} panicked at {time}: {reason}"),
            None => write!(f, "{part} panicked: {reason}"),
        }
    }
}

impl std::error::Error for Panicked {}

/// Why a chain cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// Live modes do not record which callback sent a message.
    #[error("chains are followed in simulated time: use the deterministic mode, or leave them out")]
    Live,
    /// It has no steps.
    #[error("chain {chain:?} has no steps; name the event loops that it visits")]
    Empty {
        /// The chain.
        chain: String,
    },
    /// The graph has no such loop or callback.
    #[error("chain {chain:?} visits `{step}`, which the graph does not have; {way_out}")]
    Unknown {
        /// The chain.
        chain: String,
        /// The step.
        step: String,
        /// The way out.
        way_out: String,
    },
    /// Nothing goes from one step to the next.
    #[error("chain {chain:?} goes from `{from}` to `{to}`, but nothing is sent there; {way_out}")]
    NotConnected {
        /// The chain.
        chain: String,
        /// The step that sends.
        from: String,
        /// The step that would receive.
        to: String,
        /// The way out.
        way_out: String,
    },
}

/// The reason why a spin ended with an error.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpinError {
    /// The graph cannot be run as planned.
    #[error(transparent)]
    Freeze(#[from] FreezeError),
    /// The mapping does not fit the graph or the machine.
    #[error("{0}")]
    Mapping(String),
    /// A thread could not be pinned.
    #[error(
        "failed to pin a worker to core {core}: the operating system refuses that to this process; \
         choose one of the cores that it may use"
    )]
    Pin {
        /// The core as the operating system numbers it.
        core: usize,
    },
    /// A worker thread could not be started.
    #[error(
        "failed to start a worker thread: {0}; use fewer cores, or raise the limits of the process"
    )]
    Thread(String),
    /// A callback panicked or returned an error, and the policy was to stop.
    #[error(transparent)]
    Failed(#[from] Box<Failure>),
    /// A worker per core cannot be spun in steps.
    #[error("the multi-core mode has a thread per core; use `spin`, `spin_for` or `spin_until`")]
    SeveralThreads,
    /// Simulated time cannot go on.
    #[error(
        "more than {limit} callbacks ran at the simulated instant {time}, and it does not end: \
         these feed each other without delay: {callbacks}; give a link between them a delay, or \
         raise `instant_dispatches_max` if this ends by itself"
    )]
    ZeroDelayCycle {
        /// The instant.
        time: Time,
        /// The limit that was exceeded.
        limit: u64,
        /// The callbacks that took part, with their nodes.
        callbacks: String,
    },
    /// Simulated time ends.
    #[error(
        "simulated time ends at {time}, 584 years after its epoch, and {what} would go on; end the \
         run before that, or start it earlier"
    )]
    EndOfTime {
        /// The last nanosecond that 64 bits can tell.
        time: Time,
        /// The timers or callbacks.
        what: String,
    },
    /// The simulation does not fit the graph.
    #[error("{0}")]
    Simulation(String),
    /// Entries of the schedule were not applied.
    #[error(transparent)]
    NotApplied(#[from] NotApplied),
    /// The executor is to follow `/clock`, which is not available.
    #[error(
        "failed to follow /clock: {0}; connect the executor with ROS 2, or leave `use_sim_time` out"
    )]
    Clock(String),
    /// A chain cannot be followed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// An input failed.
    #[error("input {input:?} failed at {time}: {reason}")]
    Input {
        /// Its name.
        input: String,
        /// The simulated time of the error.
        time: Time,
        /// The error of the input.
        reason: String,
    },
    /// Application code other than a callback panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// No subscription takes the next item of an input, and nothing else is left to do.
    #[error(
        "failed to go on at {time}: no subscription takes the next item of input {input:?}, and \
         nothing else is left to do; the keep-all subscription that it feeds is full: raise its \
         depth, or let its callback run"
    )]
    InputStuck {
        /// Its name.
        input: String,
        /// The simulated time.
        time: Time,
    },
    /// Simulated time goes on, but nothing except timers happens.
    #[error(
        "failed to go on: no message and no request was handled since {since}, for more than \
         {limit:?}; look for a callback or task that waits for a message or response that does not \
         come, or raise `no_progress_max`"
    )]
    NoProgress {
        /// The time of the last message or request.
        since: Time,
        /// The limit that was exceeded.
        limit: std::time::Duration,
    },
}

/// The sequencer boxes errors, so that its results without an error stay small.
impl From<Box<SpinError>> for SpinError {
    fn from(error: Box<SpinError>) -> Self {
        *error
    }
}
