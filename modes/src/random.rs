//! Random numbers without state: the number of an event depends on nothing but its identity.
//!
//! A generator that is advanced gives every later event other numbers as soon as one event more
//! draws from it. Here each edge or callback has a [`Stream`], named after itself, and draws number
//! `n` for its event `n`: a new edge, another order or an event that draws twice changes nothing
//! for the others.
//!
//! For each purpose, a stream is the SplitMix64 sequence from a separate start; any of its numbers
//! can be had at once. Integer arithmetic only: the same on every machine. [`SplitMix64`] is the
//! generator with its state, for code that draws in one fixed order.
//!
//! SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
//! 2014, with the finaliser that its authors took from Stafford ("Mix13").

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The increment of SplitMix64: the golden ratio as a 64-bit fraction, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The random numbers of one edge or callback. A value: it has no state.
///
/// ```
/// use ringspin_modes::random::{Purpose, Stream};
/// let stream = Stream::new(42, "/lidar -> /points -> /fusion");
/// assert_eq!(stream.draw(7, Purpose::Delay), stream.draw(7, Purpose::Delay));
/// assert_ne!(stream.draw(7, Purpose::Delay), stream.draw(7, Purpose::Loss));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(u64);

/// Purpose of a random number. Numbers for different purposes are independent.
///
/// The values are part of the format: other ones would give every run other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// How long a message travels.
    Delay = 0,
    /// Whether it gets lost.
    Loss = 1,
    /// Whether it arrives twice.
    Duplication = 2,
    /// Whether it overtakes.
    Reordering = 3,
    /// How long its copy travels.
    CopyDelay = 4,
    /// How long a callback runs.
    Duration = 5,
    /// The delay of a message beyond that of its link.
    Jitter = 6,
    /// Which event of an instant is next.
    Tie = 7,
    /// How a callback ranks among those of an instant.
    Priority = 8,
    /// When a callback loses its rank.
    PriorityChange = 9,
}

impl Stream {
    /// The stream called `name` under `seed`. Linear in the length of the name.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(xxh3_64_with_seed(name.as_bytes(), seed))
    }

    /// The number of event `n` for `purpose`, uniform over all 64 bits. Constant time.
    #[inline]
    pub fn draw(self, n: u64, purpose: Purpose) -> u64 {
        self.at(n, purpose as u64)
    }

    /// The number of event `n` for `purpose` in `[0, 1)`: a multiple of 2^-53.
    #[inline]
    pub fn unit(self, n: u64, purpose: Purpose) -> f64 {
        to_unit(self.draw(n, purpose))
    }

    /// The number of event `n` for `purpose` below `limit`, which is not zero. Some numbers are
    /// more probable than others by a share of `limit` / 2^64.
    #[inline]
    pub fn below(self, n: u64, purpose: Purpose, limit: u64) -> u64 {
        scale(self.draw(n, purpose), limit)
    }

    /// Two numbers of event `n` for `purpose`: the first is [`draw`](Self::draw)'s.
    #[inline]
    pub fn draw_two(self, n: u64, purpose: Purpose) -> [u64; 2] {
        [self.draw(n, purpose), self.at(n, purpose as u64 | 1 << 32)]
    }

    /// Whether something happens to event `n` that happens with `probability`: never for 0,
    /// always for 1.
    #[inline]
    pub fn happens(self, n: u64, purpose: Purpose, probability: f64) -> bool {
        self.unit(n, purpose) < probability
    }

    #[inline]
    fn at(self, n: u64, sequence: u64) -> u64 {
        // Without the mixing, the sequences would be one sequence with an offset.
        let start = mix(self.0 ^ mix(sequence.wrapping_add(GOLDEN)));
        nth(start, n)
    }
}

/// The upper 53 bits as a fraction, exactly.
#[inline]
pub fn to_unit(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Output `n` of the SplitMix64 generator that was seeded with `seed`.
#[inline]
fn nth(seed: u64, n: u64) -> u64 {
    SplitMix64(seed.wrapping_add(GOLDEN.wrapping_mul(n))).draw()
}

/// The SplitMix64 generator with its state, for a search or a program that draws in one order.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number, uniform over all 64 bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// The next number below `limit`, which is not zero, with the bias of [`Stream::below`].
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        scale(self.draw(), limit)
    }
}

/// The upper half of the product scales a number of 64 bits to `0..limit`: Lemire, ACM TOMACS 29
/// (2019), without the rejection.
#[inline]
fn scale(draw: u64, limit: u64) -> u64 {
    ((u128::from(draw) * u128::from(limit)) >> 64) as u64
}

/// A bijection in which each bit of the input changes each bit of the output as often as not: the
/// finaliser of SplitMix64.
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PURPOSES: [Purpose; 6] = [
        Purpose::Delay,
        Purpose::Loss,
        Purpose::Duplication,
        Purpose::Reordering,
        Purpose::CopyDelay,
        Purpose::Duration,
    ];

    #[test]
    fn it_is_the_published_generator() {
        // The outputs that other implementations give for this seed.
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|n| nth(1_234_567, n)), published);
    }

    #[test]
    fn the_numbers_are_the_same_on_every_machine() {
        let stream = Stream::new(42, "/a #0 -> /t -> /b #0");
        let draws = PURPOSES.map(|purpose| stream.draw(7, purpose));
        assert_eq!(
            draws,
            [
                5_815_808_668_345_912_133,
                9_691_120_832_799_272_741,
                12_431_981_771_478_286_068,
                7_420_324_022_406_956_843,
                17_463_427_326_453_281_256,
                2_050_112_235_068_229_317
            ]
        );
        assert_eq!(stream.draw(u64::MAX, Purpose::Delay), 7_367_909_521_795_183_097);
        assert_eq!(stream.draw_two(7, Purpose::Delay)[1], 15_703_890_843_026_443_689);
        assert_eq!(stream.unit(7, Purpose::Delay).to_bits(), 4_599_351_120_570_587_474);
    }

    #[test]
    fn units_are_uniform_and_uncorrelated() {
        let (a, b) = (Stream::new(1, "a"), Stream::new(1, "b"));
        let count = 100_000;
        let series = |stream: Stream, purpose, lag: u64| {
            (0..count).map(move |n| stream.unit(n + lag, purpose) - 0.5)
        };
        let mean: f64 = series(a, Purpose::Delay, 0).sum::<f64>() / count as f64;
        // Standard deviations: of the mean 0.0009, of a mean of products 1/12/sqrt(n) = 0.00026.
        assert!(mean.abs() < 0.003, "{mean}");
        for (other, purpose, lag) in
            [(b, Purpose::Delay, 0), (a, Purpose::Loss, 0), (a, Purpose::Delay, 1)]
        {
            let products = series(a, Purpose::Delay, 0).zip(series(other, purpose, lag));
            let covariance = products.map(|(x, y)| x * y).sum::<f64>() / count as f64;
            assert!(covariance.abs() < 0.001, "{covariance} {purpose:?} {lag}");
        }
        let mut bins = [0u32; 64];
        (0..count).for_each(|n| bins[(a.draw(n, Purpose::Delay) >> 58) as usize] += 1);
        let expected = count as f64 / 64.0;
        let chi2: f64 = bins.iter().map(|&b| (f64::from(b) - expected).powi(2) / expected).sum();
        // 63 degrees of freedom: 1 in 1000 is above 103.4 and 1 in 1000 below 32.
        assert!((32.0..103.4).contains(&chi2), "{chi2}");
    }

    #[test]
    fn seeds_and_names_make_streams() {
        assert_ne!(Stream::new(1, "a"), Stream::new(2, "a"));
        assert_ne!(Stream::new(1, "a"), Stream::new(1, "b"));
    }

    #[test]
    fn certain_and_impossible_events() {
        let stream = Stream::new(0, "");
        assert!((0..1000).all(|n| stream.happens(n, Purpose::Loss, 1.0)));
        assert!(!(0..1000).any(|n| stream.happens(n, Purpose::Loss, 0.0)));
        assert_eq!(to_unit(u64::MAX), 1.0 - f64::EPSILON / 2.0);
        let lost = (0..100_000).filter(|&n| stream.happens(n, Purpose::Loss, 0.1)).count();
        assert!((9_600..10_400).contains(&lost), "{lost}"); // four standard deviations of 95
    }

    proptest! {
        #[test]
        fn purposes_do_not_share_numbers(seed: u64, n: u64) {
            let stream = Stream::new(seed, "x");
            let mut draws: Vec<_> =
                PURPOSES.iter().flat_map(|&purpose| stream.draw_two(n, purpose)).collect();
            draws.sort_unstable();
            draws.dedup();
            prop_assert_eq!(draws.len(), 12);
        }

        #[test]
        fn units_are_below_one(seed: u64, n: u64) {
            let unit = Stream::new(seed, "x").unit(n, Purpose::Delay);
            prop_assert!((0.0..1.0).contains(&unit));
        }
    }
}
