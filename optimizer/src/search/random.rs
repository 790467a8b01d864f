//! Reproducible random numbers, and random search.

use super::run::Run;
use super::space::{Genes, Space};

/// Sebastiano Vigna's splitmix64: sufficient to draw candidates, and fixed, unlike the generators
/// of a crate.
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates the generator for one purpose; other purposes get unrelated numbers from the same
    /// seed.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self(seed);
        let start = random.next();
        Self(start ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; the bias is below `bound` / 2^64.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The upper half of a 64 x 64 bit product scales to 0..bound.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Fisher-Yates shuffle.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Evaluates independent candidates until the budget is spent or no new one turns up.
pub(super) fn search(run: &mut Run<'_, '_>, space: &Space, seed: u64) {
    let mut random = SplitMix64::new(seed, 1);
    let mut dry = 0;
    while !run.is_done() && dry < DRY_BATCHES_MAX {
        let before = run.evaluations();
        let batch: Vec<Genes> = (0..BATCH).map(|_| space.random(&mut random)).collect();
        run.evaluate(&batch);
        dry = if run.evaluations() == before { dry + 1 } else { 0 };
    }
}

/// The number of candidates evaluated at once; a multiple of common thread counts.
const BATCH: usize = 32;

/// The number of batches without a new candidate after which the space counts as exhausted.
const DRY_BATCHES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_reference_implementation() {
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_order_is_drawn_about_equally_often() {
        let mut random = SplitMix64::new(0, 0);
        let mut counts = std::collections::BTreeMap::<[u8; 3], u32>::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
