//! Shared parts of the benchmarks: message, stopwatch, pinned threads, and contenders.
//!
//! Most benchmarks measure the same game. A token travels between two or more players; the figure
//! is the time of one *hop*, from the moment a player passes the token on to the moment the next
//! one has it. The token carries the number of remaining laps, so the game needs no shared state
//! besides the channel under test, and each hop writes the whole message, as a publisher does.
//!
//! | module | players |
//! |---|---|
//! | [`relay`] | nodes of a ringspin executor, in every mode |
//! | [`service`] | a client and a server, and tasks and threads with channels |
//! | [`joint`] | inputs of one node, with and without synchronization; batches, no token |
//! | [`wake`] | a task that wakes itself |
//! | [`peers`] | a function call, threads with channels, tokio tasks, a bare cache line |
//!
//! `benches/crossing.rs` plays it in turns with a bare cache line, for the price of a hop in lines.
//!
//! The rings are compared separately, see `benches/rings.rs`:
//!
//! | module | content |
//! |---|---|
//! | [`pipes`] | games for anything with a sending and a receiving end |
//! | [`ring_peers`] | ringspin's and other crates' rings as such pipes |
//! | [`rounds`] | round-by-round comparison of candidates |
//!
//! [`simulation`] is one model of timers and messages for several simulators.

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

use std::time::{Duration, Instant};

/// The laps before the measurement, in which threads start and caches fill.
pub const WARM_UP_LAPS: u64 = 16;

/// The message: `WORDS` times 8 bytes, all of them written for each hop.
#[derive(Clone, Copy, Debug)]
pub struct Token<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Token<WORDS> {
    /// Creates a token for `laps` timed laps after [`WARM_UP_LAPS`].
    pub fn new(laps: u64) -> Self {
        Self([laps + WARM_UP_LAPS; WORDS])
    }

    /// Whether the last lap is over.
    #[inline]
    pub fn is_home(&self) -> bool {
        self.0[0] == 0
    }

    /// A copy with one lap less.
    #[inline]
    pub fn next_lap(&self) -> Self {
        let mut next = *self;
        next.0[0] -= 1;
        next
    }
}

/// Times the laps after the first [`WARM_UP_LAPS`].
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
    /// Records that a new lap begins.
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

/// Runs `game` on a separate thread pinned to `core`.
///
/// # Panics
/// Panics if `game` does, or if this process may not use the core.
pub fn on_core<R: Send>(core: usize, game: impl FnOnce() -> R + Send) -> R {
    let pinned = move || {
        assert!(ringspin_modes::thread::pin(core), "core {core} refuses");
        game()
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(pinned);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
