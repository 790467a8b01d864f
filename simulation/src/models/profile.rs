//! Profiles: how long each callback of a live run took, to be its duration in a simulation.
//!
//! A [`Profiler`] is a recorder that keeps a histogram for each callback, a [`DurationProfile`]
//! what several of them saw, as a TOML file:
//!
//! ```toml
//! version = 1
//! [[callback]]
//! node = "/fusion"                    # or "/node:group"
//! callback = "subscription /points"   # with a number where there are namesakes: "timer 10ms#1"
//! count = 3
//! total_ns = 62_000
//! min_ns = 20_000
//! max_ns = 21_500
//! histogram = [[20_000, 1], [20_500, 1], [21_500, 1]]  # nanoseconds, and how often
//! ```
//!
//! Count, total, minimum and maximum are exact. The values of the histogram are within 1 % of the
//! durations that they stand for, and the last one is the maximum; from an hour on, they are not
//! told apart.

use super::distribution::Distribution;
use super::profile_file::{
    ProfileFileError, ProfileIoError, ProfileText, profile_text, save_profile,
};
use hdrhistogram::Histogram;
use ringspin_executor::{Completion, Dispatch, GraphInfo, Recorder};
use ringspin_modes::names::callback_labels;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// The version of the file that is written and read.
const VERSION: u32 = 1;
/// The longest duration that a histogram tells from longer ones: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// The largest number that a TOML file holds: 292 years in nanoseconds.
const NUMBER_MAX: u64 = i64::MAX as u64;
/// Significant decimal digits of a histogram's values.
const DIGITS: u8 = 2;

/// How long callbacks took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationProfile {
    version: u32,
    #[serde(default, rename = "callback")]
    callbacks: Vec<CallbackProfile>,
}

/// How long one callback took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackProfile {
    /// Its event loop: `/node`, or `/node:group` if it is not of the default group.
    pub node: String,
    /// Its name, with a number if its loop has several of that name: `timer 10ms#1`.
    pub callback: String,
    /// How often it ran.
    pub count: u64,
    /// How long all its calls took together.
    pub total_ns: u64,
    /// The shortest call.
    pub min_ns: u64,
    /// The longest call.
    pub max_ns: u64,
    /// Durations within 1 %, ascending, and how often they occurred.
    histogram: Vec<(u64, u64)>,
}

/// The reason why durations were not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file or text is not a profile, or was not read.
    #[error(transparent)]
    File(#[from] ProfileFileError),
    /// The numbers of a callback contradict each other.
    #[error(
        "{origin} contradicts itself about `{node}`, `{callback}`: {problem}; measure it again"
    )]
    Invalid {
        /// The file, or "the text".
        origin: String,
        /// The callback's event loop.
        node: String,
        /// The callback.
        callback: String,
        /// The contradiction.
        problem: &'static str,
    },
}

impl Default for DurationProfile {
    /// Without callbacks.
    fn default() -> Self {
        Self { version: VERSION, callbacks: Vec::new() }
    }
}

impl DurationProfile {
    /// Merges the measurements of the [`Profiler`]s among `recorders`.
    ///
    /// ```
    /// use ringspin_simulation::models::{DurationProfile, Profiler};
    /// use ringspin_modes::Executor;
    /// use std::time::Duration;
    /// let mut executor = Executor::single_core().with_recorders(|info, _| Profiler::new(info));
    /// let node = executor.graph().create_node("node", ())?;
    /// node.create_timer(Duration::from_millis(1), |_, cx| cx.stop())?;
    /// executor.spin()?;
    /// let profile = DurationProfile::of(executor.take_recorders());
    /// assert_eq!(profile.callbacks()[0].callback, "timer 1ms");
    /// assert_eq!(profile.callbacks()[0].count, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(recorders: impl IntoIterator<Item = Box<dyn Recorder>>) -> Self {
        let any = recorders.into_iter().map(|recorder| recorder as Box<dyn Any>);
        let profilers = any.filter_map(|recorder| recorder.downcast::<Profiler>().ok());
        profilers.fold(Self::default(), |profile, profiler| profile.merge(profiler.profile()))
    }

    /// The callbacks, in the order of their names.
    pub fn callbacks(&self) -> &[CallbackProfile] {
        &self.callbacks
    }

    /// Both together: of several workers, or several runs.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let mut merged = BTreeMap::<_, CallbackProfile>::new();
        for callback in self.callbacks.into_iter().chain(other.callbacks) {
            let key = (callback.node.clone(), callback.callback.clone());
            match merged.get_mut(&key) {
                Some(before) => before.add(callback),
                None => drop(merged.insert(key, callback)),
            }
        }
        Self { version: VERSION, callbacks: merged.into_values().collect() }
    }

    /// Reads a profile from a TOML document.
    ///
    /// # Errors
    /// [`ProfileError`] if it is none, or contradicts itself.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        Self::parse(&ProfileText::new(text))
    }

    /// The profile as a TOML document.
    pub fn to_toml_string(&self) -> String {
        profile_text(self)
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// [`ProfileError`], with the name of the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProfileError> {
        let text = ProfileText::load(path.as_ref()).map_err(ProfileFileError::from)?;
        Self::parse(&text)
    }

    /// Writes the profile to a file, which is replaced.
    ///
    /// # Errors
    /// [`ProfileIoError`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProfileIoError> {
        save_profile(path.as_ref(), self)
    }

    fn parse(text: &ProfileText) -> Result<Self, ProfileError> {
        let profile: Self = text.parse(VERSION)?;
        profile.check(&text.origin)?;
        Ok(profile)
    }

    /// Checks a profile that was deserialized as a part of something else, `origin`: a file in
    /// backquotes, or "the text". O(n²) in the callbacks.
    ///
    /// # Errors
    /// [`ProfileFileError::Version`] and [`ProfileError::Invalid`].
    pub fn check(&self, origin: &str) -> Result<(), ProfileError> {
        let origin = origin.to_owned();
        if self.version != VERSION {
            let (version, expected) = (self.version, VERSION);
            return Err(ProfileFileError::Version { origin, version, expected }.into());
        }
        for (n, callback) in self.callbacks.iter().enumerate() {
            let is_same = |other: &CallbackProfile| {
                (&other.node, &other.callback) == (&callback.node, &callback.callback)
            };
            let twice = self.callbacks[..n].iter().any(is_same);
            if let Some(problem) = callback.problem(twice) {
                let (node, callback) = (callback.node.clone(), callback.callback.clone());
                return Err(ProfileError::Invalid { origin, node, callback, problem });
            }
        }
        Ok(())
    }
}

impl CallbackProfile {
    /// The durations with their frequencies.
    pub fn distribution(&self) -> Distribution {
        self.distribution_after(Duration::ZERO)
    }

    /// The same, if each call takes `extra` longer.
    pub fn distribution_after(&self, extra: Duration) -> Distribution {
        let values = self.histogram.iter();
        let values = values.map(|&(ns, count)| (Duration::from_nanos(ns) + extra, count));
        Distribution::weighted(values).expect("a callback is in a profile once it has run")
    }

    /// The mean duration.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.total_ns.checked_div(self.count).unwrap_or(0))
    }

    /// The duration that a fraction `q` of the calls does not exceed, within 1 %; from 0, the
    /// shortest, to 1, the longest, both exact. What lies outside counts as the nearer one of them.
    pub fn quantile(&self, q: f64) -> Duration {
        let rank = (q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        if rank <= 1 {
            return Duration::from_nanos(self.min_ns);
        }
        let mut below = 0u64;
        for &(value, count) in &self.histogram {
            below = below.saturating_add(count);
            if below >= rank {
                return Duration::from_nanos(value);
            }
        }
        Duration::from_nanos(self.max_ns)
    }

    fn add(&mut self, other: Self) {
        let mut histogram: BTreeMap<u64, u64> = self.histogram.drain(..).collect();
        for (value, count) in other.histogram {
            let sum = histogram.entry(value).or_default();
            *sum = sum.saturating_add(count).min(NUMBER_MAX);
        }
        self.histogram = histogram.into_iter().collect();
        self.count = self.count.saturating_add(other.count).min(NUMBER_MAX);
        self.total_ns = self.total_ns.saturating_add(other.total_ns).min(NUMBER_MAX);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// A contradiction between the fields, if there is one.
    fn problem(&self, twice: bool) -> Option<&'static str> {
        let sum = self.histogram.iter().map(|(_, count)| u128::from(*count)).sum::<u128>();
        let last = self.histogram.last().map(|(value, _)| *value);
        let within = |(value, _): &(u64, u64)| (self.min_ns..=self.max_ns).contains(value);
        let problems = [
            (twice, "it has two entries"),
            (self.count == 0, "it never ran"),
            (sum != u128::from(self.count), "its histogram has not as many calls as its count"),
            (!self.histogram.iter().all(within), "its histogram is not within its limits"),
            (!self.histogram.is_sorted_by(|a, b| a.0 < b.0), "its histogram does not ascend"),
            (last != Some(self.max_ns), "its histogram does not end with its maximum"),
        ];
        problems.into_iter().find_map(|(is_so, problem)| is_so.then_some(problem))
    }
}

/// A recorder that measures how long callbacks take, by the clock of their executor.
///
/// About 35 KiB for each callback, allocated when it runs for the first time; after that, recording
/// allocates nothing and takes constant time. In deterministic mode it sees the time of the
/// simulation.
pub struct Profiler {
    /// Event loop and callback, indexed by callback.
    names: Vec<(String, String)>,
    measured: Vec<Option<Measured>>,
}

struct Measured {
    histogram: Histogram<u64>,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Profiler {
    /// Has measured nothing yet. For [`with_recorders`](ringspin_modes::Executor::with_recorders).
    pub fn new(info: &GraphInfo) -> Self {
        let loops = info.callbacks.iter().map(|c| info.loops[c.event_loop.0 as usize].full_name());
        let names: Vec<_> = loops.zip(callback_labels(info)).collect();
        let measured = names.iter().map(|_| None).collect();
        Self { names, measured }
    }

    /// The measurements so far.
    pub fn profile(&self) -> DurationProfile {
        let all = self.names.iter().zip(&self.measured);
        let ran = all.filter_map(|(name, measured)| Some((name, measured.as_ref()?)));
        let callbacks = ran.map(|((node, callback), measured)| measured.of(node, callback));
        DurationProfile::default()
            .merge(DurationProfile { version: VERSION, callbacks: callbacks.collect() })
    }
}

impl Measured {
    fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        let histogram = histogram.expect("the bounds are in order, the digits few");
        Self { histogram, total_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    fn record(&mut self, ns: u64) {
        let ns = ns.min(NUMBER_MAX);
        self.histogram.saturating_record(ns);
        self.total_ns = self.total_ns.saturating_add(ns).min(NUMBER_MAX);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn of(&self, node: &str, callback: &str) -> CallbackProfile {
        let mut histogram = BTreeMap::<u64, u64>::new();
        for bin in self.histogram.iter_recorded() {
            let middle = self.histogram.median_equivalent(bin.value_iterated_to());
            let value = middle.clamp(self.min_ns, self.max_ns);
            *histogram.entry(value).or_default() += bin.count_at_value();
        }
        if let Some(longest) = histogram.pop_last() {
            *histogram.entry(self.max_ns).or_default() += longest.1;
        }
        CallbackProfile {
            node: node.into(),
            callback: callback.into(),
            count: self.histogram.len(),
            total_ns: self.total_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: histogram.into_iter().collect(),
        }
    }
}

impl Recorder for Profiler {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if let Some(measured) = self.measured.get_mut(dispatch.callback.0 as usize) {
            let ns = completion.time.since(dispatch.time).as_nanos() as u64;
            measured.get_or_insert_with(Measured::new).record(ns);
        }
    }
}

#[cfg(test)]
mod tests;
