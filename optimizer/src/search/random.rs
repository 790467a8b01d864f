//! Reproducible random numbers.

use ringspin_modes::random;

/// The SplitMix64 generator of the modes with indices instead of numbers of 64 bits.
pub(super) struct SplitMix64(random::SplitMix64);

impl SplitMix64 {
    /// Creates the generator for one purpose; other purposes get unrelated numbers from the same
    /// seed.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let start = random::SplitMix64(seed).draw();
        Self(random::SplitMix64(start ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    /// A number below `bound`; the bias is below `bound` / 2^64.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// Fisher-Yates shuffle.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
