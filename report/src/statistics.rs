//! Is one variant faster than another? Intervals for the ratio of two measured series.
//!
//! Successive latencies depend on each other, and those of one turn have the machine's mood in
//! common. So a replicate draws turns, and from each of them blocks of successive samples (a block
//! bootstrap of two levels); of `t` turns it draws `t - 1`, which makes its variance unbiased. The
//! interval is the spread of the replicates, in logarithms, times the quantile of Student's t for
//! the few turns that there are. The replicates are the same on every machine.

use ringspin_modes::random::{Purpose, Stream};
use serde::Serialize;

const REPLICATES: usize = 400;

/// The 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
const STUDENT: [f64; 10] = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// A figure of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The median.
    P50,
    /// The 99th percentile; it needs 500 samples.
    P99,
}

impl Statistic {
    /// All of them. Of a maximum, no interval can be given.
    pub const ALL: [Self; 3] = [Self::Mean, Self::P50, Self::P99];

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    fn samples_min(self) -> usize {
        match self {
            Self::Mean | Self::P50 => 20,
            Self::P99 => 500,
        }
    }

    /// The figure of samples in any order, which are reordered.
    fn of(self, samples: &mut [u64]) -> f64 {
        let mut quantile = |per_cent: usize| {
            let rank = (samples.len() * per_cent).div_ceil(100).max(1) - 1;
            *samples.select_nth_unstable(rank).1 as f64
        };
        match self {
            Self::P50 => quantile(50),
            Self::P99 => quantile(99),
            Self::Mean => samples.iter().map(|&ns| ns as f64).sum::<f64>() / samples.len() as f64,
        }
    }
}

/// The ratio of two figures with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Ratio {
    /// `faster` or `slower` if the interval has 1 outside of it, else `cannot tell`.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.low, self.high) {
            (_, high) if high < 1.0 => "faster",
            (low, _) if low > 1.0 => "slower",
            _ => "cannot tell",
        }
    }
}

/// The ratio of `own` to `base`, both by turn. `None` unless both have two turns with a sample, and
/// enough samples for the statistic. O(samples), some hundred times.
#[must_use]
pub fn ratio(own: &[&[u64]], base: &[&[u64]], statistic: Statistic) -> Option<Ratio> {
    let (own, base) = (nonempty(own), nonempty(base));
    for turns in [&own, &base] {
        let samples: usize = turns.iter().map(|turn| turn.len()).sum();
        if turns.len() < 2 || samples < statistic.samples_min() {
            return None;
        }
    }
    let mut both = (own.concat(), base.concat());
    let ratio = statistic.of(&mut both.0) / statistic.of(&mut both.1);
    // Two streams: with a common one, equal series would seem to be certainly equal.
    let [of_own, of_base] = [("own", &own), ("base", &base)].map(|(name, turns)| {
        let mut draws = Draws { stream: Stream::new(0, name), next: 0 };
        variance_of_log(&mut draws, turns, statistic)
    });
    // Welch and Satterthwaite: the degrees of freedom of a difference of two means.
    let per = |variance: f64, turns: usize| variance.powi(2) / (turns - 1) as f64;
    let freedom = (of_own + of_base).powi(2) / (per(of_own, own.len()) + per(of_base, base.len()));
    let student = STUDENT.get((freedom as usize).max(1) - 1).copied().unwrap_or(2.2);
    let factor = (student * (of_own + of_base).sqrt()).exp();
    (ratio.is_finite() && factor.is_finite()).then(|| Ratio {
        ratio,
        low: ratio / factor,
        high: ratio * factor,
    })
}

/// The variance of the logarithm of the replicates.
fn variance_of_log(draws: &mut Draws, turns: &[&[u64]], statistic: Statistic) -> f64 {
    let logs = (0..REPLICATES).map(|_| draws.replicate(turns, statistic).ln());
    let logs: Vec<f64> = logs.collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64
}

fn nonempty<'a>(turns: &[&'a [u64]]) -> Vec<&'a [u64]> {
    turns.iter().copied().filter(|turn| !turn.is_empty()).collect()
}

/// Random numbers that are used up.
struct Draws {
    stream: Stream,
    next: u64,
}

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.next += 1;
        self.stream.below(self.next, Purpose::Tie, limit as u64) as usize
    }

    /// The figure of one replicate.
    fn replicate(&mut self, turns: &[&[u64]], statistic: Statistic) -> f64 {
        let mut drawn = Vec::new();
        for _ in 1..turns.len() {
            let turn = turns[self.below(turns.len())];
            let block = turn.len().isqrt();
            let end = drawn.len() + turn.len();
            while drawn.len() < end {
                // A block that reaches the end of its turn continues at the beginning.
                let (start, length) = (self.below(turn.len()), block.min(end - drawn.len()));
                let (last, around) = (turn.len().min(start + length), start + length);
                drawn.extend_from_slice(&turn[start..last]);
                drawn.extend_from_slice(&turn[..around.saturating_sub(turn.len())]);
            }
        }
        statistic.of(&mut drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns of samples around 100 us that depend on the sample before and on the turn.
    fn turns(name: &str, count: usize, samples: usize, factor: f64) -> Vec<Vec<u64>> {
        let mut draws = Draws { stream: Stream::new(7, name), next: 0 };
        let mut unit = move || draws.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5;
        let mut turn = || {
            let (mood, mut last) = (20_000.0 * unit(), 0.0);
            let mut sample = || {
                last = 0.8 * last + 4_000.0 * unit();
                (factor * (100_000.0 + mood + last)) as u64
            };
            (0..samples).map(|_| sample()).collect()
        };
        (0..count).map(|_| turn()).collect()
    }

    fn slices(turns: &[Vec<u64>]) -> Vec<&[u64]> {
        turns.iter().map(Vec::as_slice).collect()
    }

    const PAIRS: usize = 60;

    fn verdicts(count: usize, factor: f64) -> [usize; 3] {
        let mut found = [0; 3];
        for pair in 0..PAIRS {
            let own = turns(&format!("own {pair}"), count, 40, factor);
            let base = turns(&format!("base {pair}"), count, 40, 1.0);
            let ratio = ratio(&slices(&own), &slices(&base), Statistic::Mean).unwrap();
            let verdicts = ["faster", "slower", "cannot tell"];
            found[verdicts.iter().position(|of| *of == ratio.verdict()).unwrap()] += 1;
        }
        found
    }

    #[test]
    fn equal_variants_are_rarely_told_apart_though_samples_depend_on_their_turn() {
        for count in [2, 4] {
            let [faster, slower, _] = verdicts(count, 1.0);
            assert!(faster + slower <= 6, "{faster} faster and {slower} slower of {PAIRS}");
        }
    }

    #[test]
    fn a_clear_difference_is_found_and_has_the_right_sign() {
        let [faster, slower, _] = verdicts(5, 0.8);
        assert!(faster >= PAIRS - 3 && slower == 0, "{faster} faster, {slower} slower");
        let [faster, slower, _] = verdicts(5, 1.25);
        assert!(slower >= PAIRS - 3 && faster == 0, "{faster} faster, {slower} slower");
    }

    #[test]
    fn too_little_data_has_no_interval_and_equal_data_one_around_one() {
        let one = turns("one", 1, 100, 1.0);
        let two = turns("two", 2, 100, 1.0);
        assert_eq!(ratio(&slices(&two), &slices(&one), Statistic::Mean), None, "one turn");
        assert_eq!(ratio(&slices(&two), &slices(&two), Statistic::P99), None, "200 samples");
        let equal = ratio(&slices(&two), &slices(&two), Statistic::P50).unwrap();
        assert!(equal.low < 1.0 && equal.ratio == 1.0 && equal.high > 1.0, "{equal:?}");
        assert_eq!(ratio(&slices(&two), &slices(&two), Statistic::P50), Some(equal), "repeated");
        let empty: Vec<&[u64]> = vec![&[], &[]];
        assert_eq!(ratio(&empty, &slices(&two), Statistic::Mean), None);
        let zero: Vec<&[u64]> = vec![&[0; 20], &[0; 20]];
        assert_eq!(ratio(&slices(&two), &zero, Statistic::Mean), None, "not a number");
    }
}
