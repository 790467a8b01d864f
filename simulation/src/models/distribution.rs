//! How long something takes, as a distribution of which every sample is the same on every machine.
//!
//! Floating point is used only where a normal distribution needs it, and only with what gives the
//! same bits everywhere: the basic operations and the square root, which IEEE 754 defines exactly,
//! and `ln` and `cos` of the crate `libm`, which is such operations (those of `std` are the
//! platform's, and differ). Everything else is integer arithmetic on nanoseconds.

use ringspin_executor::{Error, ErrorKind};
use ringspin_modes::quantity::Nanos;
use ringspin_modes::random::{Purpose, Stream, to_unit};
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// A distribution of durations: of the delay of a message, or the time that a callback takes.
///
/// In a file, a fixed duration is a text and everything else a table:
///
/// ```
/// use ringspin_simulation::models::Distribution;
/// use std::collections::BTreeMap;
/// use std::time::Duration;
///
/// let delays: BTreeMap<String, Distribution> = toml::from_str(r#"
///     fixed = "10ms"
///     uniform = { uniform = ["1ms", "5ms"] }
///     normal = { normal = { mean = "10ms", deviation = "1.5 ms" } }
///     recorded = { empirical = ["1ms", "1.2ms", "980us"] }
/// "#)?;
/// assert_eq!(delays["fixed"], Distribution::fixed(Duration::from_millis(10)));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Fixed(u64),
    Uniform { min: u64, max: u64 },
    Normal { mean: u64, deviation: u64 },
    Empirical(Values),
}

/// The distinct values of an empirical distribution, ascending, each with the number of samples
/// that are not above it.
#[derive(Clone, Debug, PartialEq)]
struct Values(Box<[(u64, u64)]>);

impl Distribution {
    /// Always `duration`. Durations beyond 584 years count as 584 years, here and below.
    pub fn fixed(duration: Duration) -> Self {
        Self(Kind::Fixed(Nanos::from(duration).0))
    }

    /// Every nanosecond from `min` to `max`, inclusive, is as probable.
    ///
    /// # Errors
    /// An error if `min` is above `max`.
    pub fn uniform(min: Duration, max: Duration) -> Result<Self, Error> {
        match min <= max {
            true => Ok(Self(Kind::Uniform { min: Nanos::from(min).0, max: Nanos::from(max).0 })),
            false => Err(empty_range(min, max)),
        }
    }

    /// The normal distribution, with negative values replaced by zero: where `deviation` is not
    /// well below `mean`, zero is frequent and the mean of the samples above `mean`.
    pub fn normal(mean: Duration, deviation: Duration) -> Self {
        Self(Kind::Normal { mean: Nanos::from(mean).0, deviation: Nanos::from(deviation).0 })
    }

    /// Each of `samples` is as probable as any other; one that occurs twice is twice as probable.
    /// O(n log n).
    ///
    /// # Errors
    /// An error without samples.
    pub fn empirical(samples: impl IntoIterator<Item = Duration>) -> Result<Self, Error> {
        Self::weighted(samples.into_iter().map(|sample| (sample, 1)))
    }

    /// Each value as often as the weight beside it says. O(n log n).
    ///
    /// # Errors
    /// An error if there is none with a weight above zero.
    pub fn weighted(values: impl IntoIterator<Item = (Duration, u64)>) -> Result<Self, Error> {
        let of = values.into_iter().filter(|(_, weight)| *weight > 0);
        let mut values: Vec<_> = of.map(|(value, weight)| (Nanos::from(value).0, weight)).collect();
        values.sort_unstable();
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 = kept.1.saturating_add(if same { next.1 } else { 0 });
            same
        });
        let mut sum = 0u64;
        values.iter_mut().for_each(|(_, weight)| {
            sum = sum.saturating_add(*weight);
            *weight = sum;
        });
        match values.is_empty() {
            true => Err(Error::new(
                ErrorKind::InvalidArgument,
                "an empirical distribution needs a sample; add one, or leave the distribution out",
            )),
            false => Ok(Self(Kind::Empirical(Values(values.into())))),
        }
    }

    /// The shortest duration that it can give.
    pub fn least(&self) -> Duration {
        Duration::from_nanos(match &self.0 {
            Kind::Fixed(ns) => *ns,
            Kind::Uniform { min, .. } => *min,
            Kind::Normal { mean, deviation: 0 } => *mean,
            Kind::Normal { .. } => 0,
            Kind::Empirical(Values(values)) => values[0].0,
        })
    }

    /// The duration of event `n` for `purpose`, in nanoseconds: a pure function. Constant time; for
    /// an empirical distribution logarithmic in its values.
    pub fn sample(&self, stream: Stream, n: u64, purpose: Purpose) -> u64 {
        match &self.0 {
            Kind::Fixed(ns) => *ns,
            Kind::Uniform { min, max } => {
                let count = u128::from(max - min) + 1;
                min + scaled(stream.draw(n, purpose), count)
            }
            Kind::Normal { mean, deviation } => {
                let offset = *deviation as f64 * standard_normal(stream.draw_two(n, purpose));
                // The conversion saturates.
                mean.saturating_add_signed((offset + 0.5).floor() as i64)
            }
            Kind::Empirical(Values(values)) => {
                let count = values[values.len() - 1].1;
                let rank = scaled(stream.draw(n, purpose), u128::from(count));
                values[values.partition_point(|(_, below)| *below <= rank)].0
            }
        }
    }
}

/// `draw` scaled from 64 bits down to `0..count`. No value is more probable than another by more
/// than `count` / 2^64.
#[inline]
fn scaled(draw: u64, count: u128) -> u64 {
    match u64::try_from(count) {
        Ok(count) => ((u128::from(draw) * u128::from(count)) >> 64) as u64,
        Err(_) => draw, // 2^64 values
    }
}

/// A sample of the standard normal distribution, by Box and Muller's transform. Its magnitude is
/// at most 8.6.
fn standard_normal([radius, angle]: [u64; 2]) -> f64 {
    // 1 - [0, 1) is never zero, so the logarithm is finite.
    let radius = (-2.0 * libm::log(1.0 - to_unit(radius))).sqrt();
    radius * libm::cos(std::f64::consts::TAU * to_unit(angle))
}

/// A distribution that is no text, as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Table {
    Uniform([Nanos; 2]),
    Normal(Normal),
    Empirical(Vec<Nanos>),
    /// Value and weight.
    Weighted(Vec<(Nanos, u64)>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Normal {
    mean: Nanos,
    deviation: Nanos,
}

fn empty_range(min: Duration, max: Duration) -> Error {
    let (min, max) = (Nanos::from(min), Nanos::from(max));
    let text = format!("the uniform distribution from {min} to {max} has no value; swap the two");
    Error::new(ErrorKind::InvalidArgument, text)
}

impl TryFrom<Table> for Distribution {
    type Error = Error;

    fn try_from(table: Table) -> Result<Self, Error> {
        let duration = |nanos: Nanos| Duration::from_nanos(nanos.0);
        match table {
            Table::Uniform([min, max]) => Self::uniform(duration(min), duration(max)),
            Table::Normal(Normal { mean, deviation }) => {
                Ok(Self::normal(duration(mean), duration(deviation)))
            }
            Table::Empirical(samples) => Self::empirical(samples.into_iter().map(duration)),
            Table::Weighted(values) => {
                Self::weighted(values.into_iter().map(|(value, weight)| (duration(value), weight)))
            }
        }
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let table = match &self.0 {
            Kind::Fixed(ns) => return Nanos(*ns).serialize(to),
            Kind::Uniform { min, max } => Table::Uniform([Nanos(*min), Nanos(*max)]),
            Kind::Normal { mean, deviation } => {
                Table::Normal(Normal { mean: Nanos(*mean), deviation: Nanos(*deviation) })
            }
            Kind::Empirical(Values(values)) => {
                let mut below = 0;
                let weights = values
                    .iter()
                    .map(|&(ns, upto)| (Nanos(ns), upto - std::mem::replace(&mut below, upto)));
                Table::Weighted(weights.collect())
            }
        };
        table.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOrTable)
    }
}

struct TextOrTable;

impl<'de> Visitor<'de> for TextOrTable {
    type Value = Distribution;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a duration such as \"10ms\", or a table such as { uniform = [\"1ms\", \"5ms\"] }",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Distribution, E> {
        text.parse().map(|Nanos(ns)| Distribution(Kind::Fixed(ns))).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Distribution, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        table.try_into().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn parse(value: &str) -> Result<Distribution, toml::de::Error> {
        let mut table: BTreeMap<String, Distribution> = toml::from_str(&format!("d = {value}"))?;
        Ok(table.remove("d").unwrap())
    }

    fn samples(distribution: &Distribution, count: u64) -> Vec<u64> {
        let stream = Stream::new(42, "samples");
        (0..count).map(|n| distribution.sample(stream, n, Purpose::Delay)).collect()
    }

    /// Mean and standard deviation.
    fn moments(samples: &[u64]) -> (f64, f64) {
        let count = samples.len() as f64;
        let mean = samples.iter().map(|&s| s as f64).sum::<f64>() / count;
        let variance = samples.iter().map(|&s| (s as f64 - mean).powi(2)).sum::<f64>() / count;
        (mean, variance.sqrt())
    }

    #[test]
    fn the_samples_are_the_same_on_every_machine() {
        let of = |distribution| samples(&distribution, 4);
        assert_eq!(of(Distribution::fixed(ms(1))), [1_000_000; 4]);
        assert_eq!(
            of(Distribution::uniform(ms(1), ms(5)).unwrap()),
            [2_280_974, 2_527_584, 2_313_382, 4_029_962]
        );
        assert_eq!(
            of(Distribution::normal(ms(10), ms(2))),
            [11_745_353, 8_286_822, 10_849_877, 8_514_224]
        );
        assert_eq!(
            of(Distribution::empirical([ms(1), ms(2), ms(3)]).unwrap()),
            [1_000_000, 2_000_000, 1_000_000, 3_000_000]
        );
        // All bits of many samples: a single differing bit of ln or cos would show.
        let many = samples(&Distribution::normal(ms(1 << 40), ms(1 << 30)), 10_000);
        let bytes: Vec<u8> = many.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&bytes), 14_820_899_292_588_467_799);
    }

    #[test]
    fn moments_are_as_asked_for() {
        // Tolerances: four standard deviations of the estimate.
        let (mean, deviation) = moments(&samples(&Distribution::normal(ms(10), ms(2)), 100_000));
        assert!((mean - 10e6).abs() < 26e3, "{mean}");
        assert!((deviation - 2e6).abs() < 18e3, "{deviation}");
        let uniform = Distribution::uniform(ms(1), ms(5)).unwrap();
        let (mean, deviation) = moments(&samples(&uniform, 100_000));
        assert!((mean - 3e6).abs() < 15e3, "{mean}");
        assert!((deviation - 4e6 / 12f64.sqrt()).abs() < 8e3, "{deviation}");
    }

    #[test]
    fn normal_samples_have_normal_tails() {
        let samples = samples(&Distribution::normal(ms(100), ms(1)), 100_000);
        let beyond = |sigmas: f64| {
            let count = samples.iter().filter(|&&s| (s as f64 - 1e8).abs() > sigmas * 1e6).count();
            count as f64 / 1e5
        };
        assert!((beyond(1.0) - 0.3173).abs() < 0.006, "{}", beyond(1.0));
        assert!((beyond(2.0) - 0.0455).abs() < 0.003, "{}", beyond(2.0));
        assert!((beyond(3.0) - 0.0027).abs() < 0.0007, "{}", beyond(3.0));
    }

    #[test]
    fn negative_values_of_a_normal_distribution_are_zero() {
        let samples = samples(&Distribution::normal(Duration::ZERO, ms(1)), 10_000);
        let zero = samples.iter().filter(|&&s| s == 0).count();
        assert!((4_800..5_200).contains(&zero), "{zero}");
    }

    #[test]
    fn the_largest_and_smallest_draws_stay_in_range() {
        assert_eq!(standard_normal([0, 0]), 0.0);
        assert!(standard_normal([u64::MAX, 0]).abs() < 8.6);
        assert_eq!((scaled(0, 10), scaled(u64::MAX, 10)), (0, 9));
        assert_eq!(scaled(u64::MAX, 1 << 64), u64::MAX);
    }

    #[test]
    fn empirical_values_come_as_often_as_their_weights() {
        let weighted = Distribution::weighted([(ms(3), 1), (ms(1), 2), (ms(2), 0), (ms(3), 1)]);
        let weighted = weighted.unwrap();
        assert_eq!(weighted, Distribution::empirical([1, 1, 3, 3].map(ms)).unwrap());
        let samples = samples(&weighted, 100_000);
        let ones = samples.iter().filter(|&&s| s == 1_000_000).count();
        assert!((49_300..50_700).contains(&ones), "{ones}");
        assert!(samples.iter().all(|&s| s == 1_000_000 || s == 3_000_000));
    }

    #[test]
    fn files_are_read_and_written() {
        for text in [
            r#""1500us""#,
            r#"{ uniform = ["1ms", "5ms"] }"#,
            r#"{ normal = { mean = "10ms", deviation = "2ms" } }"#,
            r#"{ weighted = [["1ms", 2], ["2ms", 1]] }"#,
        ] {
            let distribution = parse(text).unwrap();
            let written = toml::to_string(&BTreeMap::from([("d", &distribution)])).unwrap();
            let read: BTreeMap<String, Distribution> = toml::from_str(&written).unwrap();
            assert_eq!(read["d"], distribution, "{written}");
        }
        let empirical = parse(r#"{ empirical = ["1ms", "2ms", "1 ms"] }"#).unwrap();
        assert_eq!(empirical, parse(r#"{ weighted = [["1ms", 2], ["2ms", 1]] }"#).unwrap());
    }

    #[test]
    fn errors_say_what_to_write() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        for (text, expected) in [
            ("10", "expected a duration such as \"10ms\", or a table such as { uniform"),
            (r#""10""#, "`10` is not a duration of whole nanoseconds"),
            (
                r#"{ uniform = ["5ms", "1ms"] }"#,
                "the uniform distribution from 5ms to 1ms has no value; swap the two",
            ),
            (r#"{ uniform = ["5ms"] }"#, "invalid length 1, expected an array of length 2"),
            ("{ empirical = [] }", "an empirical distribution needs a sample; add one, or"),
            (r#"{ weighted = [["1s", 0]] }"#, "an empirical distribution needs a sample"),
            (r#"{ gauss = "1s" }"#, "unknown variant `gauss`, expected one of `uniform`, `normal`"),
            (r#"{ normal = { mean = "1s" } }"#, "missing field `deviation`"),
            (r#"{ normal = { mean = "1s", sigma = "1s" } }"#, "unknown field `sigma`"),
            (r#"{ normal = { mean = 3, deviation = "1s" } }"#, "expected a duration of whole"),
            (r#"{ weighted = [["1s", -1]] }"#, "expected u64"),
        ] {
            let message = message(text);
            assert!(message.contains(expected), "{text}: {message}");
            assert!(message.contains("line 1, column"), "{message}");
        }
    }

    fn distributions() -> impl Strategy<Value = Distribution> {
        let ns = || nanos().prop_map(Duration::from_nanos);
        prop_oneof![
            ns().prop_map(Distribution::fixed),
            (ns(), ns()).prop_map(|(a, b)| Distribution::uniform(a.min(b), a.max(b)).unwrap()),
            (ns(), ns()).prop_map(|(mean, deviation)| Distribution::normal(mean, deviation)),
            prop::collection::vec((ns(), 1u64..), 1..9)
                .prop_map(|values| Distribution::weighted(values).unwrap()),
        ]
    }

    fn nanos() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..10, any::<u64>(), Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn uniform_samples_are_within_their_limits(a: u64, b: u64, seed: u64, n: u64) {
            let (min, max) = (a.min(b), a.max(b));
            let limits = [min, max].map(Duration::from_nanos);
            let distribution = Distribution::uniform(limits[0], limits[1]).unwrap();
            let sample = distribution.sample(Stream::new(seed, ""), n, Purpose::Delay);
            prop_assert!((min..=max).contains(&sample));
        }

        #[test]
        fn samples_are_of_the_list(values in prop::collection::vec(0u64..100, 1..20), n: u64) {
            let durations = values.iter().copied().map(Duration::from_nanos);
            let distribution = Distribution::empirical(durations).unwrap();
            let sample = distribution.sample(Stream::new(0, ""), n, Purpose::Delay);
            prop_assert!(values.contains(&sample));
        }

        #[test]
        fn no_distribution_panics(distribution in distributions(), seed: u64, n: u64) {
            let _ = distribution.sample(Stream::new(seed, ""), n, Purpose::Duration);
        }
    }
}
