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
//! [callback.durations]
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

use super::histogram::{DurationHistogram, Measured};
use super::profile_file::{ProfileFileError, ProfileText, profile_text, save_profile};
use ringspin_executor::{Completion, Dispatch, GraphInfo, Recorder};
use ringspin_modes::names::callback_labels;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

/// The version of the file that is written and read.
const VERSION: u32 = 1;

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
    /// The durations of its calls.
    pub durations: DurationHistogram,
}

/// Why a profile could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file is no profile, or could not be read or written.
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
    /// assert_eq!(profile.callbacks()[0].durations.count, 1);
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
        let mut merged = BTreeMap::<_, DurationHistogram>::new();
        for CallbackProfile { node, callback, durations } in
            self.callbacks.into_iter().chain(other.callbacks)
        {
            let key = (node, callback);
            let durations = match merged.remove(&key) {
                Some(before) => before.merge(durations),
                None => durations,
            };
            merged.insert(key, durations);
        }
        let callbacks = merged.into_iter().map(|((node, callback), durations)| CallbackProfile {
            node,
            callback,
            durations,
        });
        Self { version: VERSION, callbacks: callbacks.collect() }
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
        Self::parse(&ProfileText::load(path.as_ref())?)
    }

    /// Writes the profile to a file, which is replaced.
    ///
    /// # Errors
    /// [`ProfileFileError::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProfileError> {
        Ok(save_profile(path.as_ref(), self)?)
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
            let problem = callback.durations.problem().or(twice.then_some("it has two entries"));
            if let Some(problem) = problem {
                let (node, callback) = (callback.node.clone(), callback.callback.clone());
                return Err(ProfileError::Invalid { origin, node, callback, problem });
            }
        }
        Ok(())
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
        let callbacks = ran.map(|((node, callback), measured)| CallbackProfile {
            node: node.clone(),
            callback: callback.clone(),
            durations: measured.histogram(),
        });
        DurationProfile::default()
            .merge(DurationProfile { version: VERSION, callbacks: callbacks.collect() })
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
