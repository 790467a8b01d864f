//! Profiles: the durations and hop costs of a graph on one machine, as a file.
//!
//! A [`Profile`] is measured [live](Profile::measure), single-core and then multi-core, and saved
//! as TOML. The profile of a small machine can be used to optimize on a large one:
//!
//! ```toml
//! version = 1
//! loops = ["/lidar", "/fusion", "/fusion:settings"]   # of the graph, to refuse another one
//! [machine]
//! name = "robot"
//! architecture = "aarch64"
//! cores = 4
//! [durations]                             # how long each callback takes
//! version = 1
//! [[durations.callback]]
//! node = "/fusion"
//! callback = "subscription /points"
//! # ... as in `ringspin_simulation::models::profile`
//! [[hop]]                                 # what each edge costs
//! topic = "/points"
//! from = "/lidar"
//! to = "/fusion"
//! [hop.cross_core]                        # `same_core` likewise
//! count = 3
//! total_ns = 24_000
//! min_ns = 5_000
//! max_ns = 12_000
//! histogram = [[5_000, 1], [7_000, 1], [12_000, 1]]
//! [[calls]]                               # where only some calls send something
//! node = "/fusion"
//! callback = "subscription /points"
//! [calls.quiet]                           # `sending` likewise
//! count = 1
//! # ...
//! ```

mod error;
mod measure;

pub use error::ProfileError;

use crate::calls::{Calls, calls};
use crate::hop::{Hop, pooled};
use crate::observer::{hops, recorded};
use ringspin_executor::{GraphInfo, LoopInfo, Recorder};
use ringspin_modes::allowed_cores;
use ringspin_simulation::models::profile_file::{ProfileText, profile_text, save_profile};
use ringspin_simulation::models::{DurationHistogram, DurationProfile};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file that is written and read.
const VERSION: u32 = 1;

/// The number of times below which an edge uses the pooled times of all edges.
const HOP_TIMES_MIN: u64 = 10;

/// The measured times of one graph on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    version: u32,
    /// The event loops of the graph, in order of creation.
    pub loops: Vec<String>,
    /// The machine it was measured on.
    pub machine: ProfiledMachine,
    /// The durations of each callback.
    pub durations: DurationProfile,
    /// The costs of the edges, as far as measured, sorted by topic, from, to.
    #[serde(default, rename = "hop")]
    pub hops: Vec<Hop>,
    /// For event loops of which only some calls send a message: the durations of sending and quiet
    /// calls per callback, sorted by name.
    #[serde(default, rename = "calls", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Calls>,
}

/// A machine, as named in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfiledMachine {
    /// Its name.
    pub name: String,
    /// Its processor architecture, as Rust names it: `x86_64`, `aarch64`.
    pub architecture: String,
    /// The number of cores available to the process.
    pub cores: usize,
}

impl ProfiledMachine {
    /// This machine, with the host name of its system.
    pub fn here() -> Self {
        let named = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = match named.trim() {
            "" => "unnamed".to_owned(),
            name => name.to_owned(),
        };
        let architecture = std::env::consts::ARCH.into();
        Self { name, architecture, cores: allowed_cores().len() }
    }
}

impl Profile {
    /// Combines the measurements of the [`Observer`](crate::Observer)s among `recorders` on this
    /// machine.
    ///
    /// ```
    /// use ringspin_modes::Executor;
    /// use ringspin_optimizer::{Observer, Profile};
    /// use std::time::Duration;
    /// let mut executor = Executor::single_core().with_recorders(|info, _| Observer::new(info));
    /// let node = executor.graph().create_node("node", ())?;
    /// node.create_timer(Duration::from_millis(1), |_, cx| cx.stop())?;
    /// executor.spin()?;
    /// let info = executor.graph().info();
    /// let profile = Profile::of(&info, executor.take_recorders());
    /// assert_eq!(profile.durations.callbacks()[0].callback, "timer 1ms");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(info: &GraphInfo, recorders: impl IntoIterator<Item = Box<dyn Recorder>>) -> Self {
        let (durations, log) = recorded(info, recorders);
        let (hops, calls) = (hops(info, &log), calls(info, &log));
        let machine = ProfiledMachine::here();
        Self { version: VERSION, loops: loops_of(info), machine, durations, hops, calls }
    }

    /// Merges the profiles of several runs of one graph on one machine.
    ///
    /// # Errors
    /// [`ProfileError::OtherGraph`] or [`ProfileError::OtherMachine`] if they do not match.
    pub fn merge(mut self, other: Self) -> Result<Self, ProfileError> {
        self.check_loops(&other.loops)?;
        if self.machine != other.machine {
            let [one, other] = [self.machine, other.machine].map(|machine| machine.name);
            return Err(ProfileError::OtherMachine { one, other });
        }
        self.durations = self.durations.merge(other.durations);
        other.hops.into_iter().for_each(|hop| hop.add_to(&mut self.hops));
        other.calls.into_iter().for_each(|calls| calls.add_to(&mut self.calls));
        Ok(self)
    }

    /// Checks that the profile is of this graph: that the event loops are the same.
    ///
    /// # Errors
    /// [`ProfileError::OtherGraph`] with the differences.
    pub fn check_graph(&self, info: &GraphInfo) -> Result<(), ProfileError> {
        self.check_loops(&loops_of(info))
    }

    fn check_loops(&self, graph: &[String]) -> Result<(), ProfileError> {
        let without = |these: &[String], those: &[String]| {
            these.iter().filter(|name| !those.contains(name)).cloned().collect::<Vec<_>>()
        };
        let (missing, unknown) = (without(graph, &self.loops), without(&self.loops, graph));
        match missing.is_empty() && unknown.is_empty() {
            true => Ok(()),
            false => Err(ProfileError::OtherGraph { missing, unknown }),
        }
    }

    /// The cost of a message on this edge with both loops on one core. Uses the times of the edge
    /// if there are at least ten, otherwise those of all edges; `None` if none was measured.
    pub fn same_core(&self, topic: &str, from: &str, to: &str) -> Option<DurationHistogram> {
        self.cost(topic, from, to, |hop| hop.same_core.as_ref())
    }

    /// The cost of a message on this edge with the loops on different cores; see
    /// [`same_core`](Self::same_core).
    pub fn cross_core(&self, topic: &str, from: &str, to: &str) -> Option<DurationHistogram> {
        self.cost(topic, from, to, |hop| hop.cross_core.as_ref())
    }

    fn cost(
        &self,
        topic: &str,
        from: &str,
        to: &str,
        of: impl Fn(&Hop) -> Option<&DurationHistogram>,
    ) -> Option<DurationHistogram> {
        let place = self.hops.binary_search_by(|hop| hop.key().cmp(&[topic, from, to])).ok();
        let own = place.and_then(|place| of(&self.hops[place]));
        let own = own.filter(|durations| durations.count >= HOP_TIMES_MIN).cloned();
        own.or_else(|| pooled(self.hops.iter().filter_map(&of)))
    }

    /// Reads a profile from a TOML document.
    ///
    /// # Errors
    /// [`ProfileError`] if the text is not a profile or is inconsistent.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        Self::parse(&ProfileText::new(text))
    }

    /// Formats the profile as a TOML document.
    pub fn to_toml_string(&self) -> String {
        profile_text(self)
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// [`ProfileError`] with the file name.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProfileError> {
        Self::parse(&ProfileText::load(path.as_ref())?)
    }

    /// Writes the profile to a file, replacing it.
    ///
    /// # Errors
    /// [`ProfileError::File`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProfileError> {
        Ok(save_profile(path.as_ref(), self)?)
    }

    fn parse(text: &ProfileText) -> Result<Self, ProfileError> {
        let mut profile: Self = text.parse(VERSION)?;
        let origin = text.origin.clone();
        profile.durations.check(&origin)?;
        let hops = std::mem::take(&mut profile.hops);
        for hop in hops {
            let costs = [&hop.same_core, &hop.cross_core].into_iter().flatten();
            let problem = costs.filter_map(DurationHistogram::problem).next();
            let twice = profile.hops.iter().any(|other| other.key() == hop.key());
            let problem = problem.or(twice.then_some("it has two entries"));
            if let Some(problem) = problem {
                let [topic, from, to] = hop.key().map(String::from);
                return Err(ProfileError::Hop { origin, topic, from, to, problem });
            }
            hop.add_to(&mut profile.hops);
        }
        for calls in std::mem::take(&mut profile.calls) {
            let durations = [&calls.quiet, &calls.sending].into_iter().flatten();
            let problem = durations.filter_map(DurationHistogram::problem).next();
            let twice = profile.calls.iter().any(|other| other.key() == calls.key());
            if let Some(problem) = problem.or(twice.then_some("it has two entries")) {
                let [node, callback] = calls.key().map(String::from);
                return Err(ProfileError::Calls { origin, node, callback, problem });
            }
            calls.add_to(&mut profile.calls);
        }
        Ok(profile)
    }
}

/// The names of the event loops of a graph.
pub(crate) fn loops_of(info: &GraphInfo) -> Vec<String> {
    info.loops.iter().map(LoopInfo::full_name).collect()
}

#[cfg(test)]
mod tests;
