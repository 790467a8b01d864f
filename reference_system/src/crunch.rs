//! The work of a node: counts primes by trial division, with a cost controlled by one number.
//!
//! The loop is slow on purpose: it has no square-root shortcut and no sieve, and the optimiser must
//! not remove or share it; otherwise no figure would compare with a published one.
//! [`calibrate`] measures the cost of one crunch on this machine, which is the unit of every load.
//!
//! The same N is a different load on other systems. Rust's code generator tests each 64-bit
//! division for 32-bit operands and uses the faster instruction, which GCC does not: on one Xeon a
//! crunch of N = 4096 took 1.8 ms here, and 3.0 ms as the same loop under GCC 12. Figures of two
//! programs compare only relative to their calibrations.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ringspin_report::Definition;
use serde::{Deserialize, Serialize};

use crate::description::total_crunches_per_second;

/// The default crunch limit of upstream.
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

/// The cost of one crunch on this machine, in nanoseconds of wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// The crunch limit that was measured.
    pub n: u64,
    /// The return value of the crunch.
    pub primes: u64,
    /// The fastest crunch, in nanoseconds: the cost without disturbance.
    pub min_ns: u64,
    /// The median crunch, in nanoseconds.
    pub median_ns: u64,
    /// The slowest crunch, in nanoseconds.
    pub max_ns: u64,
}

/// Measures `repeats` crunches (at least one) of limit `n` after a warm-up crunch.
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

impl Calibration {
    /// The lower bound of the hot path's latency from sample to start: its crunches times the
    /// *fastest* one, so that a disturbed calibration does not make a measured latency look better.
    #[must_use]
    pub fn floor_ns(&self) -> u64 {
        u64::from(Definition::SampleToStart.floor_crunches()) * self.min_ns
    }

    /// The load of the whole system in cores: its crunches per second times the median crunch.
    #[must_use]
    pub fn load_cores(&self) -> f64 {
        total_crunches_per_second() * self.median_ns as f64 * 1e-9
    }
}

/// Calibrates like [`calibrate`], with the number of crunches that fit in `budget`: 3 to 1001.
#[must_use]
pub fn calibrate_within(n: u64, budget: Duration) -> Calibration {
    let fitting = budget.as_nanos() / u128::from(estimate_ns(n).max(1));
    calibrate(n, fitting.clamp(3, 1001) as usize)
}

/// The approximate cost of one crunch of limit `n`, in nanoseconds. Never runs a long one: above
/// [`DEFAULT_CRUNCH_LIMIT`], the cost there is scaled by n²/ln n.
#[must_use]
pub fn estimate_ns(n: u64) -> u64 {
    let measured = n.min(DEFAULT_CRUNCH_LIMIT);
    // The fastest: others were disturbed.
    let cost_ns = calibrate(measured, 5).min_ns;
    if n == measured {
        return cost_ns;
    }
    let divisions = |n: u64| (n as f64).powi(2) / (n as f64).ln();
    (cost_ns as f64 * divisions(n) / divisions(measured)) as u64
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

    #[test]
    fn the_floor_is_four_fastest_crunches_and_the_load_190_median_ones() {
        let calibration =
            Calibration { n: 64, primes: 18, min_ns: 900, median_ns: 1_000_000, max_ns: 2_000_000 };
        assert_eq!(calibration.floor_ns(), 3_600);
        assert!((calibration.load_cores() - 0.19).abs() < 1e-9);
    }

    #[test]
    fn a_long_crunch_is_estimated_without_being_run() {
        // Running this crunch would take hours.
        assert!(estimate_ns(10_000_000) > 100 * estimate_ns(DEFAULT_CRUNCH_LIMIT));
    }
}
