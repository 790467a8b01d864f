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
    /// The number of processors that programs see, and thus the usual number of their workers.
    pub processors: NonZeroUsize,
    /// Whether sockets may be created. What arrives there comes at times that no other run repeats.
    pub allows_sockets: bool,
    /// How long, in real time, a thread may be in a call of the operating system that no world
    /// sees.
    pub blocked_max: Duration,
    /// How long, in real time, a thread may run between two calls that a world sees.
    pub busy_max: Duration,
    /// How many times threads may run at one instant. More is reported as a loop: its threads wake
    /// each other, and time does not go on.
    pub instant_switches_max: u64,
}

impl Default for Settings {
    /// Seed 0, in 1970, no end, two processors, no sockets; blocked for 3 s, busy for 60 s, ten
    /// million switches at an instant.
    fn default() -> Self {
        Self {
            seed: 0,
            start: Duration::ZERO,
            duration: None,
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
    /// | `RINGSPIN_PROCESSORS` | [`processors`](Self::processors) |
    /// | `RINGSPIN_SOCKETS` | [`allows_sockets`](Self::allows_sockets): `allow` or `refuse` |
    /// | `RINGSPIN_BLOCKED_MAX_MS` | [`blocked_max`](Self::blocked_max), in milliseconds |
    /// | `RINGSPIN_BUSY_MAX_MS` | [`busy_max`](Self::busy_max), in milliseconds |
    /// | `RINGSPIN_INSTANT_SWITCHES_MAX` | [`instant_switches_max`](Self::instant_switches_max) |
    ///
    /// # Errors
    /// In words, with the variable whose value is none.
    pub fn from_environment() -> Result<Self, String> {
        let mut settings = Self::default();
        read("RINGSPIN_SEED", "a whole number", |text| {
            settings.seed = text.parse().ok()?;
            Some(())
        })?;
        read("RINGSPIN_START", "whole seconds since 1970", |text| {
            settings.start = Duration::from_secs(text.parse().ok()?);
            Some(())
        })?;
        read("RINGSPIN_DURATION", "seconds, such as 2.5", |text| {
            settings.duration = Some(Duration::try_from_secs_f64(text.parse().ok()?).ok()?);
            Some(())
        })?;
        read("RINGSPIN_PROCESSORS", "a number from 1 to 1024", |text| {
            let processors: NonZeroUsize = text.parse().ok()?;
            (processors.get() <= 1024).then(|| settings.processors = processors)
        })?;
        read("RINGSPIN_SOCKETS", "`allow` or `refuse`", |text| {
            settings.allows_sockets = match text {
                "allow" => true,
                "refuse" => false,
                _ => return None,
            };
            Some(())
        })?;
        read("RINGSPIN_INSTANT_SWITCHES_MAX", "a whole number", |text| {
            settings.instant_switches_max = text.parse().ok()?;
            Some(())
        })?;
        let limits = [
            ("RINGSPIN_BLOCKED_MAX_MS", &mut settings.blocked_max),
            ("RINGSPIN_BUSY_MAX_MS", &mut settings.busy_max),
        ];
        for (name, limit) in limits {
            read(name, "a number of milliseconds", |text| {
                *limit = Duration::from_millis(text.parse().ok()?);
                Some(())
            })?;
        }
        Ok(settings)
    }
}

/// Reads a variable, if it is set.
pub(crate) fn read(
    name: &str,
    expected: &str,
    set: impl FnOnce(&str) -> Option<()>,
) -> Result<(), String> {
    let Some(value) = std::env::var_os(name) else { return Ok(()) };
    value.to_str().and_then(set).ok_or_else(|| format!("{name} is {value:?}: use {expected}"))
}
