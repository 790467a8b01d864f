//! The work of a node: counting primes the slow way, so that its cost scales with one number.
//!
//! The cost is the point. There is no square-root shortcut and no sieve, and the optimiser is kept
//! from removing or sharing the loop; otherwise no figure would compare with a published one.
//! [`calibrate`] tells what one crunch costs on this machine, which is the unit of every load.
//!
//! One N is not one load everywhere. Rust's code generator tests each 64-bit division for operands
//! of 32 bits and then divides those, which GCC does not: on one Xeon a crunch of N = 4096 took
//! 1.8 ms here and 3.0 ms as the same loop under GCC 12. Figures of two programs compare only
//! beside their calibrations.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The crunch limit that upstream uses unless told otherwise.
pub const DEFAULT_CRUNCH_LIMIT: u64 = 4096;

/// Counts the primes in `2..=n` by trial division of each number by every smaller one, up to its
/// first divisor. An `n` of 2 or less returns 2, as upstream does.
///
/// About O(n²/ln n) divisions; allocates nothing.
#[must_use]
pub fn number_cruncher(n: u64) -> u64 {
    let limit = black_box(n);
    if limit <= 2 {
        return 2;
    }
    let mut primes = 0;
    for candidate in 2..=limit {
        let is_prime = (2..candidate).all(|divisor| candidate % divisor != 0);
        if black_box(is_prime) {
            primes += 1;
        }
    }
    black_box(primes)
}

/// What one crunch costs on this machine, in nanoseconds of wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// The crunch limit that was measured.
    pub n: u64,
    /// What the crunch returned.
    pub primes: u64,
    /// The fastest crunch, in nanoseconds: the cost without disturbance.
    pub min_ns: u64,
    /// The median crunch, in nanoseconds.
    pub median_ns: u64,
    /// The slowest crunch, in nanoseconds.
    pub max_ns: u64,
}

/// Measures `repeats` crunches (at least one) of limit `n` after one that warms up.
///
/// Takes about `repeats + 1` crunches of wall time and runs on the calling thread.
#[must_use]
pub fn calibrate(n: u64, repeats: usize) -> Calibration {
    let primes = number_cruncher(n);
    let mut costs_ns: Vec<u64> = (0..repeats.max(1))
        .map(|_| {
            let start = Instant::now();
            black_box(number_cruncher(n));
            u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
        })
        .collect();
    costs_ns.sort_unstable();
    Calibration {
        n,
        primes,
        min_ns: costs_ns[0],
        median_ns: costs_ns[costs_ns.len() / 2],
        max_ns: costs_ns[costs_ns.len() - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primes_up_to_known_limits_are_counted() {
        // 25 primes up to 100, 168 up to 1000, 564 up to 4096 (and 4093 is one of them).
        assert_eq!(number_cruncher(3), 2);
        assert_eq!(number_cruncher(64), 18);
        assert_eq!(number_cruncher(100), 25);
        assert_eq!(number_cruncher(1000), 168);
        assert_eq!(number_cruncher(4096), 564);
    }

    #[test]
    fn two_and_less_return_two() {
        assert_eq!([0, 1, 2].map(number_cruncher), [2, 2, 2]);
    }

    #[test]
    fn a_calibration_orders_its_costs_and_repeats_at_least_once() {
        for repeats in [0, 1, 5] {
            let calibration = calibrate(64, repeats);
            assert_eq!((calibration.n, calibration.primes), (64, 18));
            assert!(calibration.min_ns <= calibration.median_ns);
            assert!(calibration.median_ns <= calibration.max_ns);
        }
    }
}
