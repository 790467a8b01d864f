//! What the benchmarks share: the message, the stopwatch, pinned threads, and who passes
//! messages.
//!
//! Every measurement is the same game. A token goes round between two or more players; what
//! counts is the time of one *hop*, from the moment a player hands the token on to the moment the
//! next one has it. The token carries the number of laps that are left, so the game needs no
//! shared state besides the channel under test, and each hop writes the whole message anew, as a
//! publisher does.
//!
//! | module | players |
//! |---|---|
//! | [`relay`] | nodes of a ringspin executor, in every mode |
//! | [`service`] | a client and a server, beside tasks and threads with channels |
//! | [`joint`] | several inputs of one node, joined or not; no token here, but batches |
//! | [`wake`] | a task that wakes itself |
//! | [`peers`] | a function call, threads with channels, tokio tasks, a bare cache line |
//!
//! The rings by themselves are compared in another way, see `benches/rings.rs`:
//!
//! | module | holds |
//! |---|---|
//! | [`pipes`] | games with anything that takes messages here and gives them out there |
//! | [`ring_peers`] | the rings as such pipes, ringspin's and other crates' |
//! | [`rounds`] | candidates measured side by side, round by round |
//!
//! And [`simulation`] is one model of timers and messages for several simulators.

#![forbid(unsafe_code)]

pub mod joint;
pub mod peers;
pub mod pipes;
pub mod relay;
pub mod ring_peers;
pub mod rounds;
pub mod service;
pub mod simulation;
pub mod wake;

use core_affinity::CoreId;
use std::time::{Duration, Instant};

/// Laps before the time is taken, for threads to start and caches to fill.
pub const WARM_UP_LAPS: u64 = 16;

/// The message: `WORDS` times 8 bytes, all of them written for each hop.
#[derive(Clone, Copy, Debug)]
pub struct Token<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Token<WORDS> {
    /// A token for `laps` timed laps after [`WARM_UP_LAPS`].
    pub fn new(laps: u64) -> Self {
        Self([laps + WARM_UP_LAPS; WORDS])
    }

    /// Whether the last lap is over.
    #[inline]
    pub fn is_home(&self) -> bool {
        self.0[0] == 0
    }

    /// A copy for one lap less.
    #[inline]
    pub fn next_lap(&self) -> Self {
        let mut next = *self;
        next.0[0] -= 1;
        next
    }
}

/// Times the laps after the first [`WARM_UP_LAPS`] ones.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    arrivals: u64,
    started: Instant,
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self { arrivals: 0, started: Instant::now() }
    }
}

impl Stopwatch {
    /// The token is back, and a new lap begins.
    #[inline]
    pub fn lap(&mut self) {
        if self.arrivals == WARM_UP_LAPS {
            self.started = Instant::now();
        }
        self.arrivals += 1;
    }

    /// The time since the warm-up ended.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The time of `hops` hops when `laps` laps of `hops_per_lap` took `elapsed`.
pub fn per_hops(elapsed: Duration, laps: u64, hops_per_lap: u64, hops: u64) -> Duration {
    elapsed.mul_f64(hops as f64 / (laps * hops_per_lap) as f64)
}

/// Runs `game` on a thread of its own that is pinned to `core`.
///
/// # Panics
/// If `game` does, or the core refuses this process.
pub fn on_core<R: Send>(core: usize, game: impl FnOnce() -> R + Send) -> R {
    let pinned = move || {
        assert!(core_affinity::set_for_current(CoreId { id: core }), "core {core} refuses");
        game()
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(pinned);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
