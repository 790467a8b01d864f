//! Settings of a world.

use std::num::NonZeroUsize;
use std::time::Duration;

/// The settings of a world.
///
/// ```
/// use ringspin_simulated_threads::Settings;
/// use std::time::{Duration, Instant};
///
/// let slept = Settings { seed: 7, ..Settings::default() }.run(|| {
///     let begin = Instant::now();
///     std::thread::sleep(Duration::from_secs(3600));
///     begin.elapsed()
/// });
/// assert_eq!(slept?, Duration::from_secs(3600));
/// # Ok::<(), ringspin_simulated_threads::Stuck>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of all random numbers that the operating system would give.
    pub seed: u64,
    /// The time at the start, since 1970.
    pub start: Duration,
    /// For a whole program: the simulated time after which it ends, as by a signal; `None` if it
    /// ends by itself.
    pub duration: Option<Duration>,
    /// How far each reading of a clock advances the time, in nanoseconds; zero if time stands still
    /// while a thread runs. With 1, two readings in succession are never equal.
    pub clock_step_ns: u64,
    /// Times since 1970, each with the nanoseconds by which the clock of the calendar jumps then.
    /// Waits that have begun keep their ends.
    pub clock_jumps: Vec<(Duration, i64)>,
    /// The number of processors that programs see, and thus the usual number of their workers.
    pub processors: NonZeroUsize,
    /// Whether sockets may be created. Data arrives there at times that no other run repeats.
    pub allows_sockets: bool,
    /// The real time that a thread may be in a call of the operating system that no world sees.
    pub blocked_max: Duration,
    /// The real time that a thread may run between two calls that a world sees, wait for a disk, or
    /// for a child process.
    pub busy_max: Duration,
    /// How many times threads may run at one instant. More is reported as a loop: its threads wake
    /// each other, and time does not advance.
    pub instant_switches_max: u64,
}

impl Default for Settings {
    /// Seed 0, in 1970, no end, readings that take no time, no jumps, two processors, no sockets;
    /// blocked for 3 s, busy for 60 s, ten million switches at an instant.
    fn default() -> Self {
        Self {
            seed: 0,
            start: Duration::ZERO,
            duration: None,
            clock_step_ns: 0,
            clock_jumps: Vec::new(),
            processors: NonZeroUsize::MIN.saturating_add(1),
            allows_sockets: false,
            blocked_max: Duration::from_secs(3),
            busy_max: Duration::from_secs(60),
            instant_switches_max: 10_000_000,
        }
    }
}

impl Settings {
    /// The settings in the environment.
    ///
    /// | variable | setting |
    /// |---|---|
    /// | `RINGSPIN_SEED` | [`seed`](Self::seed) |
    /// | `RINGSPIN_START` | [`start`](Self::start), in whole seconds |
    /// | `RINGSPIN_DURATION` | [`duration`](Self::duration), in seconds |
    /// | `RINGSPIN_CLOCK_STEP_NS` | [`clock_step_ns`](Self::clock_step_ns) |
    /// | `RINGSPIN_CLOCK_JUMPS` | [`clock_jumps`](Self::clock_jumps), in seconds: `3:5,9.5:-0.2` |
    /// | `RINGSPIN_PROCESSORS` | [`processors`](Self::processors) |
    /// | `RINGSPIN_SOCKETS` | [`allows_sockets`](Self::allows_sockets): `allow` or `refuse` |
    /// | `RINGSPIN_BLOCKED_MAX_MS` | [`blocked_max`](Self::blocked_max), in milliseconds |
    /// | `RINGSPIN_BUSY_MAX_MS` | [`busy_max`](Self::busy_max), in milliseconds |
    /// | `RINGSPIN_INSTANT_SWITCHES_MAX` | [`instant_switches_max`](Self::instant_switches_max) |
    ///
    /// # Errors
    /// The variable that has no valid value, in words.
    pub fn from_environment() -> Result<Self, String> {
        let default = Self::default();
        let millis = |name, default| {
            let read = read(name, "a number of milliseconds", |text| text.parse().ok())?;
            Ok::<_, String>(read.map_or(default, Duration::from_millis))
        };
        let whole = "a whole number";
        let start = read("RINGSPIN_START", "whole seconds since 1970", |text| text.parse().ok())?;
        let processors = read("RINGSPIN_PROCESSORS", "a number from 1 to 1024", |text| {
            text.parse().ok().filter(|count: &NonZeroUsize| count.get() <= 1024)
        })?;
        let sockets = one_of("RINGSPIN_SOCKETS", ["allow", "refuse"], "`allow` or `refuse`")?;
        let step = read("RINGSPIN_CLOCK_STEP_NS", "a number of nanoseconds up to 1000", |text| {
            text.parse().ok().filter(|step| *step <= 1000)
        })?;
        let expected = "times and jumps in seconds, such as 3:5,9.5:-0.2";
        let jumps = read("RINGSPIN_CLOCK_JUMPS", expected, |text| {
            text.split(',').map(clock_jump).collect()
        })?;
        let switches = read("RINGSPIN_INSTANT_SWITCHES_MAX", whole, |text| text.parse().ok())?;
        Ok(Self {
            seed: read("RINGSPIN_SEED", whole, |text| text.parse().ok())?.unwrap_or(default.seed),
            start: start.map_or(default.start, Duration::from_secs),
            duration: read("RINGSPIN_DURATION", "seconds, such as 2.5", |text| {
                Duration::try_from_secs_f64(text.parse().ok()?).ok()
            })?,
            clock_step_ns: step.unwrap_or(default.clock_step_ns),
            clock_jumps: jumps.unwrap_or_default(),
            processors: processors.unwrap_or(default.processors),
            allows_sockets: sockets.is_some_and(|chosen| chosen == "allow"),
            blocked_max: millis("RINGSPIN_BLOCKED_MAX_MS", default.blocked_max)?,
            busy_max: millis("RINGSPIN_BUSY_MAX_MS", default.busy_max)?,
            instant_switches_max: switches.unwrap_or(default.instant_switches_max),
        })
    }
}

/// A time and a jump, in seconds.
fn clock_jump(text: &str) -> Option<(Duration, i64)> {
    let (at, by) = text.split_once(':')?;
    let by = by.parse::<f64>().ok().filter(|by| by.is_finite())?;
    let at = Duration::try_from_secs_f64(at.parse().ok()?).ok()?;
    Some((at, (by * 1e9).round() as i64))
}

/// Reads a variable, if it is set.
pub(crate) fn read<T>(
    name: &str,
    expected: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let parsed = value.to_str().and_then(parse);
    parsed.map(Some).ok_or_else(|| format!("{name} is {value:?}: use {expected}"))
}

/// Reads a variable that has one of these values, if it is set.
pub(crate) fn one_of<const N: usize>(
    name: &str,
    values: [&'static str; N],
    expected: &str,
) -> Result<Option<&'static str>, String> {
    read(name, expected, |text| values.into_iter().find(|value| *value == text))
}
