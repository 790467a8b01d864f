//! Profiles: what a machine needs for a graph, measured there, to be optimized anywhere.
//!
//! A [`Profile`] is measured [live](Profile::measure), single-core and then multi-core, and is a
//! TOML file. So that of a small machine can be optimized on a large one:
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
//! # ... as in `ringspin_modes::models::profile`
//! [[hop]]                                 # what each edge costs
//! topic = "/points"
//! from = "/lidar"
//! to = "/fusion"
//! [hop.cross_core]                        # `same_core` likewise
//! count = 3
//! total_ns = 24_000
//! min_ns = 5_000
//! max_ns = 12_000
//! groups = [[5_000, 1], [7_000, 1], [12_000, 1]]
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

use crate::calls::Calls;
use crate::hop::{Hop, pooled};
use crate::observer::{Observed, observed};
use crate::spread::Spread;
use ringspin_executor::{GraphInfo, LoopInfo, Recorder};
use ringspin_modes::allowed_cores;
use ringspin_modes::models::DurationProfile;
use ringspin_modes::models::profile_file::{ProfileText, profile_text, save_profile};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file that is written and read.
const VERSION: u32 = 1;

/// How many times an edge needs of its own; with fewer, those of all edges count for it.
const HOP_TIMES_MIN: u64 = 10;

/// What one machine needs for one graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    version: u32,
    /// The event loops of the graph, in order of creation.
    pub loops: Vec<String>,
    /// Where it was measured.
    pub machine: ProfiledMachine,
    /// How long each callback takes.
    pub durations: DurationProfile,
    /// What the edges cost, as far as that was measured, in the order of topic, from, to.
    #[serde(default, rename = "hop")]
    pub hops: Vec<Hop>,
    /// Of the event loops of which only some calls send something, what each callback took when it
    /// did and when it did not, in the order of their names.
    #[serde(default, rename = "calls", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Calls>,
}

/// A machine, as a profile names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfiledMachine {
    /// What it is called.
    pub name: String,
    /// Its processor's architecture, as Rust names it: `x86_64`, `aarch64`.
    pub architecture: String,
    /// How many cores the process could use.
    pub cores: usize,
}

impl ProfiledMachine {
    /// This one, by the name that its system gives it.
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
    /// What the [`Observer`](crate::Observer)s among `recorders` saw of a graph on this machine.
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
        let Observed { durations, calls, hops } = observed(info, recorders);
        let machine = ProfiledMachine::here();
        Self { version: VERSION, loops: loops_of(info), machine, durations, hops, calls }
    }

    /// Both together: of several runs of one graph on one machine.
    ///
    /// # Errors
    /// [`ProfileError::OtherGraph`] and [`ProfileError::OtherMachine`] if it is not that.
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

    /// Whether it is a profile of this graph: one with the same event loops.
    ///
    /// # Errors
    /// [`ProfileError::OtherGraph`] names what differs.
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

    /// What a message costs on this edge with both loops on one core: by its own times if there are
    /// ten at least, otherwise by those of all edges. `None` if none was measured at all.
    pub fn same_core(&self, topic: &str, from: &str, to: &str) -> Option<Spread> {
        self.cost(topic, from, to, |hop| hop.same_core.as_ref())
    }

    /// The same with the loops on different cores.
    pub fn cross_core(&self, topic: &str, from: &str, to: &str) -> Option<Spread> {
        self.cost(topic, from, to, |hop| hop.cross_core.as_ref())
    }

    fn cost(
        &self,
        topic: &str,
        from: &str,
        to: &str,
        of: impl Fn(&Hop) -> Option<&Spread>,
    ) -> Option<Spread> {
        let place = self.hops.binary_search_by(|hop| hop.key().cmp(&[topic, from, to])).ok();
        let own = place.and_then(|place| of(&self.hops[place]));
        let own = own.filter(|spread| spread.count >= HOP_TIMES_MIN).cloned();
        own.or_else(|| pooled(self.hops.iter().filter_map(&of)))
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
            let spreads = [&hop.same_core, &hop.cross_core].into_iter().flatten();
            let problem = spreads.filter_map(Spread::problem).next();
            let twice = profile.hops.iter().any(|other| other.key() == hop.key());
            let problem = problem.or(twice.then_some("it has two entries"));
            if let Some(problem) = problem {
                let [topic, from, to] = hop.key().map(String::from);
                return Err(ProfileError::Hop { origin, topic, from, to, problem });
            }
            hop.add_to(&mut profile.hops);
        }
        for calls in std::mem::take(&mut profile.calls) {
            let spreads = [&calls.quiet, &calls.sending].into_iter().flatten();
            let problem = spreads.filter_map(Spread::problem).next();
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
