//! Durations and rates as people write them: `1.5 ms`, `10 MB/s`. Exact, without floating point.

#[cfg(feature = "toml")]
mod serialized;

use ringspin_executor::{Error, ErrorKind, Result};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

/// The units of durations, in nanoseconds. The first that fits is written.
const TIMES: [(&str, u64); 7] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("µs", 1_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The units of rates, in bits per second. The first that fits is written.
const RATES: [(&str, u64); 11] = [
    ("GB/s", 8_000_000_000),
    ("MB/s", 8_000_000),
    ("kB/s", 8_000),
    ("B/s", 8),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("KiB/s", 8 << 10),
    ("MiB/s", 8 << 20),
    ("GiB/s", 8 << 30),
];

const A_DURATION: &str =
    "a duration of whole nanoseconds up to 584 years; write it as \"10ms\", \"1.5 s\", \"250us\"";
const A_BANDWIDTH: &str =
    "a bandwidth of whole bits per second above zero; write it as \"10 MB/s\", \"100 Mbit/s\"";

/// Throughput of an edge, in bits per second.
///
/// ```
/// use ringspin_modes::quantity::Bandwidth;
/// use std::time::Duration;
/// let bandwidth: Bandwidth = "10 MB/s".parse()?;
/// assert_eq!(bandwidth.time_for(400_000), Duration::from_millis(40));
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth(NonZeroU64);

impl Bandwidth {
    /// A throughput in bytes per second, at most 2^61.
    pub fn bytes_per_second(rate: NonZeroU64) -> Self {
        Self(rate.saturating_mul(NonZeroU64::MIN.saturating_add(7)))
    }

    /// How long `bytes` occupy the edge: whole nanoseconds, rounded up, at most 584 years.
    pub fn time_for(self, bytes: u64) -> Duration {
        let ns = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(self.0.get()));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl FromStr for Bandwidth {
    type Err = Error;

    /// A decimal number and one of `B/s`, `kB/s`, `MB/s`, `GB/s`, `KiB/s`, `MiB/s`, `GiB/s`,
    /// `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s`.
    fn from_str(text: &str) -> Result<Self> {
        let rate = with_unit(text, &RATES).and_then(NonZeroU64::new).map(Self);
        rate.ok_or_else(|| invalid(text, A_BANDWIDTH))
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_unit(self.0.get(), &RATES, " ", f)
    }
}

/// A duration in nanoseconds, which is written with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

impl From<Duration> for Nanos {
    /// The maximum is that of 64 bits.
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl FromStr for Nanos {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let ns = with_unit(text, &TIMES).map(Self);
        ns.ok_or_else(|| invalid(text, A_DURATION))
    }
}

/// Reads a duration: a decimal number and one of `ns`, `us`, `ms`, `s`, `min`, `h`.
///
/// ```
/// use ringspin_modes::quantity::parse_duration;
/// use std::time::Duration;
/// assert_eq!(parse_duration("1.5 ms")?, Duration::from_micros(1_500));
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
///
/// # Errors
/// [`Error`] with an example.
pub fn parse_duration(text: &str) -> Result<Duration> {
    text.parse::<Nanos>().map(|nanos| Duration::from_nanos(nanos.0))
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_unit(self.0, &TIMES, "", f)
    }
}

fn invalid(text: &str, wanted: &str) -> Error {
    Error::new(ErrorKind::Parse, format!("`{text}` is not {wanted}"))
}

/// A number and a unit, with or without blanks around them.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let &(_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    decimal(number, factor)
}

/// The decimal number `text` times `factor`, if that is a whole number that fits. More than 19
/// decimal places never do.
pub fn decimal(text: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut sum = 0u64;
    for digit in whole.bytes() {
        sum = sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    let fraction = fraction.trim_end_matches('0');
    let (mut parts, mut scale) = (0u64, 1u64);
    for digit in fraction.bytes() {
        scale = scale.checked_mul(10)?; // so at most 19 digits
        parts = parts * 10 + u64::from(digit - b'0');
    }
    let parts = u128::from(parts) * u128::from(factor);
    let scale = u128::from(scale);
    if !parts.is_multiple_of(scale) {
        return None;
    }
    sum.checked_mul(factor)?.checked_add(u64::try_from(parts / scale).ok()?)
}

/// Writes `value` in the first unit of which it is a multiple.
fn write_with_unit(
    value: u64,
    units: &[(&str, u64)],
    between: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let unit = units.iter().find(|(_, factor)| value.is_multiple_of(*factor));
    let (name, factor) = unit.expect("every number is a multiple of one");
    write!(f, "{}{between}{name}", value / factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(text: &str) -> Option<u64> {
        text.parse::<Nanos>().ok().map(|nanos| nanos.0)
    }

    fn bits(text: &str) -> Option<u64> {
        text.parse::<Bandwidth>().ok().map(|rate| rate.0.get())
    }

    #[test]
    fn durations_are_exact() {
        assert_eq!(ns("10ms"), Some(10_000_000));
        assert_eq!(ns(" 1.5 ms "), Some(1_500_000));
        assert_eq!(ns("250us"), ns("250 µs"));
        assert_eq!(ns("3s"), Some(3_000_000_000));
        assert_eq!(ns("0.1s"), Some(100_000_000));
        assert_eq!(ns("1.000000001s"), Some(1_000_000_001));
        assert_eq!(ns("1.0000000010000s"), Some(1_000_000_001));
        assert_eq!(ns("1.5min"), Some(90_000_000_000));
        assert_eq!(ns("0.25h"), Some(900_000_000_000));
        assert_eq!(ns("0ns"), Some(0));
        assert_eq!(ns(".5us"), Some(500));
        assert_eq!(ns("18446744073709551615ns"), Some(u64::MAX));
    }

    #[test]
    fn invalid_durations_are_refused_with_an_example() {
        let wrong = "|ms|10|-1ms|1e3ms|1,5ms|0.5ns|1.2.3ms|10 sec|.s|18446744073709551616ns|\
                     18446744073.709551616s|99999999999999999999h|0.0000000001s|ms10|NaN s|٣s";
        for text in wrong.split('|') {
            assert_eq!(ns(text), None, "{text}");
        }
        let deep = format!("0.{}1h", "0".repeat(40));
        assert_eq!(ns(&deep), None);
        assert_eq!(
            "10".parse::<Nanos>().unwrap_err().to_string(),
            "`10` is not a duration of whole nanoseconds up to 584 years; write it as \"10ms\", \
             \"1.5 s\", \"250us\""
        );
    }

    #[test]
    fn rates_are_exact() {
        assert_eq!(bits("10 MB/s"), Some(80_000_000));
        assert_eq!(bits("1.5kB/s"), Some(12_000));
        assert_eq!(bits("1 MiB/s"), Some(8 << 20));
        assert_eq!(bits("0.125 KiB/s"), Some(1024));
        assert_eq!(bits("100 Mbit/s"), bits("12.5 MB/s"));
        for text in ["0 B/s", "10", "10 MB", "10 mb/s", "-1 B/s", "0.5 bit/s"] {
            assert_eq!(bits(text), None, "{text}");
        }
        assert_eq!(
            "10 MB".parse::<Bandwidth>().unwrap_err().to_string(),
            "`10 MB` is not a bandwidth of whole bits per second above zero; write it as \
             \"10 MB/s\", \"100 Mbit/s\""
        );
    }

    #[test]
    fn the_time_of_a_message_is_rounded_up() {
        let rate = |bytes| Bandwidth::bytes_per_second(NonZeroU64::new(bytes).unwrap());
        let ns = |rate: Bandwidth, bytes| rate.time_for(bytes).as_nanos();
        assert_eq!(ns(rate(3), 1), 333_333_334);
        assert_eq!(ns(rate(3), 3), 1_000_000_000);
        assert_eq!(ns(rate(1_000_000_000), 7), 7);
        assert_eq!(ns(rate(10_000_000_000), 1), 1);
        assert_eq!(ns(rate(1), 0), 0);
        assert_eq!(ns(rate(1), u64::MAX), u128::from(u64::MAX));
        assert_eq!(rate(u64::MAX), Bandwidth(NonZeroU64::MAX));
    }

    proptest! {
        #[test]
        fn durations_come_back(ns: u64) {
            prop_assert_eq!(Nanos(ns).to_string().parse(), Ok(Nanos(ns)));
        }

        #[test]
        fn bandwidths_come_back(bits in 1u64..) {
            let rate = Bandwidth(NonZeroU64::new(bits).unwrap());
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }

        #[test]
        fn decimals_agree_with_integers(ms in 0u64..1_000_000, fraction in 0u64..1_000_000) {
            let text = format!("{ms}.{fraction:06}");
            prop_assert_eq!(decimal(&text, 1_000_000), Some(ms * 1_000_000 + fraction));
        }

        #[test]
        fn no_text_panics(text in "[0-9.a-zA-Zµ/ -]{0,48}") {
            let _ = (text.parse::<Nanos>(), text.parse::<Bandwidth>(), decimal(&text, u64::MAX));
        }
    }
}
