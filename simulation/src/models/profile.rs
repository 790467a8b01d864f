//! Profiles: the measured costs of a graph on one machine, as a file.
//!
//! A [`Profiler`] records a live run, [`Profile::measure`] does several. A simulation takes the
//! durations of its callbacks from a profile, the optimizer also the costs of messages. There is
//! one format for both, as TOML; everything but the version can be left out:
//!
//! ```toml
//! version = 2
//! loops = ["/lidar", "/fusion", "/fusion:settings"]   # of the graph, to refuse another one
//! [machine]
//! name = "robot"
//! architecture = "aarch64"
//! cores = 4
//! slowdown_percent = 190                  # duration beside busy cores, in percent of that alone
//! [[callback]]                            # how long each callback takes
//! node = "/fusion"                        # or "/node:group"
//! callback = "subscription /points"       # numbered among namesakes: "timer 10ms#1"
//! [callback.durations]
//! count = 3
//! total_ns = 62_000
//! min_ns = 20_000
//! max_ns = 21_500
//! histogram = [[20_000, 1], [20_500, 1], [21_500, 1]]  # nanoseconds, and how often
//! [[hop]]                                 # what each edge costs
//! topic = "/points"
//! from = "/lidar"
//! to = "/fusion"
//! [hop.cross_core]                        # `same_core` likewise
//! count = 1
//! # ...
//! [[calls]]                               # where only some calls send something
//! node = "/fusion"
//! callback = "subscription /points"
//! [calls.quiet]                           # `sending` likewise
//! count = 1
//! # ...
//! ```
//!
//! Count, total, minimum and maximum are exact. The values of the histogram are within 1 % of the
//! durations that they stand for, and the last one is the maximum; from an hour on, they are not
//! told apart.

mod calls;
mod hop;
mod measure;
mod profiler;

pub use calls::Calls;
pub use hop::Hop;
pub use profiler::Profiler;

use super::histogram::DurationHistogram;
use hop::pooled;
use profiler::Recorded;
use ringspin_executor::{Error, ErrorKind, GraphInfo, Recorder, Result};
use ringspin_modes::toml_text;
use ringspin_modes::{Contention, allowed_cores};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The version of the file that is written and read.
const VERSION: u32 = 2;

/// The number of times below which an edge uses the pooled times of all edges.
const HOP_TIMES_MIN: u64 = 10;

/// The measured times of one graph on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    version: u32,
    /// The event loops at the start, in order of creation; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<String>,
    /// The machine it was measured on, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<ProfiledMachine>,
    /// The durations of the callbacks that ran, sorted by loop and callback.
    #[serde(default, rename = "callback")]
    pub callbacks: Vec<CallbackProfile>,
    /// The costs of the edges, as far as measured, sorted by topic, from, to.
    #[serde(default, rename = "hop", skip_serializing_if = "Vec::is_empty")]
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
    /// The duration of the graph's callbacks while all other cores are busy with the same work, in
    /// percent of their duration alone; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown_percent: Option<u32>,
}

/// The durations of one callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackProfile {
    /// Its event loop: `/node`, or `/node:group` if it is not of the default group.
    pub node: String,
    /// Its name, with a number if its loop has several of that name: `timer 10ms#1`.
    pub callback: String,
    /// Whether it was created while the graph ran.
    #[serde(default, skip_serializing_if = "super::links::is_false")]
    pub later: bool,
    /// The durations of its calls.
    pub durations: DurationHistogram,
}

impl CallbackProfile {
    /// Identifies the callback within a profile.
    fn key(&self) -> [&str; 2] {
        [&self.node, &self.callback]
    }

    /// Merges this entry into the one of the same callback in `all`, which stays sorted.
    fn add_to(self, all: &mut Vec<Self>) {
        match all.binary_search_by(|other| other.key().cmp(&self.key())) {
            Err(place) => all.insert(place, self),
            Ok(place) => {
                let before = all.remove(place);
                let durations = before.durations.merge(self.durations);
                let later = before.later && self.later;
                all.insert(place, Self { durations, later, ..self });
            }
        }
    }
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
        Self { name, architecture, cores: allowed_cores().len(), slowdown_percent: None }
    }
}

impl Default for Profile {
    /// Holds no measurements.
    fn default() -> Self {
        let (loops, callbacks) = (Vec::new(), Vec::new());
        let (hops, calls) = (Vec::new(), Vec::new());
        Self { version: VERSION, loops, machine: None, callbacks, hops, calls }
    }
}

impl Profile {
    /// Combines the measurements of the [`Profiler`]s among `recorders` on this machine; `info` is
    /// the graph at the end. Its callbacks are all that lived within the span, its loops those at
    /// the start; its hops are of edges at the start or the end.
    ///
    /// ```
    /// use ringspin_modes::Executor;
    /// use ringspin_simulation::models::{Profile, Profiler};
    /// use std::time::Duration;
    /// let mut executor = Executor::single_core().with_recorders(|info, _| Profiler::new(info));
    /// let node = executor.graph().create_node("node", ())?;
    /// node.create_timer(Duration::from_millis(1), |_, cx| cx.stop())?;
    /// executor.spin()?;
    /// let info = executor.graph().info();
    /// let profile = Profile::of(&info, executor.take_recorders());
    /// assert_eq!(profile.callbacks[0].callback, "timer 1ms");
    /// assert_eq!(profile.callbacks[0].durations.count, 1);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn of(info: &GraphInfo, recorders: impl IntoIterator<Item = Box<dyn Recorder>>) -> Self {
        let Recorded { start, callbacks, names, log } = profiler::recorded(info, recorders);
        let edges = profiler::edges(&start, info);
        Self {
            loops: loops_of(&start),
            machine: Some(ProfiledMachine::here()),
            callbacks,
            hops: profiler::hops(&edges, &log),
            calls: calls::calls(&edges, &names, &log),
            ..Self::default()
        }
    }

    /// Merges the profiles of several runs of one graph on one machine. Of two slowdowns, the
    /// larger one counts.
    ///
    /// # Errors
    /// An error if they do not match.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        self.check_loops(&other.loops)?;
        let slowdown_percent = other.machine.as_ref().and_then(|machine| machine.slowdown_percent);
        if let Some(machine) = &mut self.machine {
            machine.slowdown_percent = machine.slowdown_percent.max(slowdown_percent);
        }
        if !same_machine(&self.machine, &other.machine) {
            let name = |of: Option<ProfiledMachine>| of.map_or("unknown".into(), |of| of.name);
            let [one, other] = [self.machine, other.machine].map(name);
            let text = format!(
                "one profile is of machine `{one}`, the other of `{other}`, or of other cores of \
                 it; merge those of one machine only"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        other.callbacks.into_iter().for_each(|callback| callback.add_to(&mut self.callbacks));
        other.hops.into_iter().for_each(|hop| hop.add_to(&mut self.hops));
        other.calls.into_iter().for_each(|calls| calls.add_to(&mut self.calls));
        Ok(self)
    }

    /// Replaces the costs of messages: none on one core, and `crossing` from core to core.
    pub fn assume_hops(&mut self, crossing: Duration) {
        self.hops.truncate(1); // edges without times have those of all
        for hop in &mut self.hops {
            hop.same_core = DurationHistogram::of([0]);
            hop.cross_core = DurationHistogram::of([crossing.as_nanos() as u64]);
        }
    }

    /// How much the cores of the machine slow each other down; not at all if that is unknown.
    pub fn contention(&self) -> Contention {
        let measured = self.machine.as_ref().and_then(|machine| {
            let cores = u32::try_from(machine.cores).unwrap_or(u32::MAX);
            Some(Contention { slowdown_percent: machine.slowdown_percent?, cores })
        });
        measured.unwrap_or_default()
    }

    /// Checks that the profile is of this graph: that the event loops are the same, if it names
    /// any.
    ///
    /// # Errors
    /// An error with the differences.
    pub fn check_graph(&self, info: &GraphInfo) -> Result<()> {
        match self.loops.is_empty() {
            true => Ok(()),
            false => self.check_loops(&loops_of(info)),
        }
    }

    fn check_loops(&self, graph: &[String]) -> Result<()> {
        let without = |these: &[String], those: &[String]| {
            these.iter().filter(|name| !those.contains(name)).cloned().collect::<Vec<_>>()
        };
        let (missing, unknown) = (without(graph, &self.loops), without(&self.loops, graph));
        match missing.is_empty() && unknown.is_empty() {
            true => Ok(()),
            false => Err(other_graph(&missing, &unknown)),
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
    /// An error if the text is not a profile or is inconsistent.
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::parse(text, "the text")
    }

    /// Formats the profile as a TOML document.
    pub fn to_toml_string(&self) -> String {
        toml::to_string(self).expect("numbers and texts can be written")
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// An error with the file name.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| io_error("read", path, error))?;
        let profile = Self::parse(&text, &format!("`{}`", path.display()));
        profile.map_err(|error| error.at_path(path))
    }

    /// Writes the profile to a file, replacing it.
    ///
    /// # Errors
    /// An error with the file name.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let written = std::fs::write(path, self.to_toml_string());
        written.map_err(|error| io_error("write", path, error))
    }

    /// Reads a profile; `origin` is a file in backquotes, or "the text". The version comes first,
    /// because another version may have other keys.
    fn parse(text: &str, origin: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let problem = format!("{origin} is not a profile");
        let parse_error = |text| Error::new(ErrorKind::Parse, text);
        let Version { version } = toml_text::parse(text, &problem, "measure it again")?;
        if version != VERSION {
            return Err(parse_error(format!(
                "{origin} is a profile of version {version}, not {VERSION}; measure it again"
            )));
        }
        let profile: Self = toml_text::parse(text, &problem, "measure it again")?;
        match profile.contradiction() {
            None => Ok(profile.sorted()),
            Some((part, problem)) => Err(parse_error(format!(
                "{origin} contradicts itself about {part}: {problem}; measure it again"
            ))),
        }
    }

    /// The first part of the profile with a problem, and the problem.
    fn contradiction(&self) -> Option<(String, &'static str)> {
        let callbacks = self.callbacks.iter().map(|of| (of.key(), [Some(&of.durations), None]));
        let calls = self.calls.iter();
        let calls = calls.map(|of| (of.key(), [of.quiet.as_ref(), of.sending.as_ref()]));
        let hops = self.hops.iter();
        let hops = hops.map(|of| (of.key(), [of.same_core.as_ref(), of.cross_core.as_ref()]));
        first_problem(callbacks, |[node, callback]| format!("`{node}`, `{callback}`"))
            .or_else(|| {
                first_problem(hops, |[topic, from, to]| {
                    format!("the way from `{from}` to `{to}` by `{topic}`")
                })
            })
            .or_else(|| {
                first_problem(calls, |[node, callback]| {
                    format!("the calls of `{node}`, `{callback}`")
                })
            })
    }

    /// The same profile with each list in its order.
    fn sorted(mut self) -> Self {
        self.callbacks.sort_by(|one, other| one.key().cmp(&other.key()));
        self.hops.sort_by(|one, other| one.key().cmp(&other.key()));
        self.calls.sort_by(|one, other| one.key().cmp(&other.key()));
        self
    }
}

/// Whether these are one machine; its slowdown may differ.
fn same_machine(one: &Option<ProfiledMachine>, other: &Option<ProfiledMachine>) -> bool {
    let of = |machine: &Option<ProfiledMachine>| {
        let ProfiledMachine { name, architecture, cores, .. } = machine.clone()?;
        Some((name, architecture, cores))
    };
    of(one) == of(other)
}

/// The first entry with a problem, in words, and its problem.
fn first_problem<'a, K: Ord + Copy>(
    entries: impl Iterator<Item = (K, [Option<&'a DurationHistogram>; 2])>,
    in_words: impl Fn(K) -> String,
) -> Option<(String, &'static str)> {
    let mut known = BTreeSet::new();
    for (key, durations) in entries {
        let twice = (!known.insert(key)).then_some("it has two entries");
        let problem = durations.into_iter().flatten().find_map(DurationHistogram::problem);
        if let Some(problem) = problem.or(twice) {
            return Some((in_words(key), problem));
        }
    }
    None
}

/// The names of the event loops of a graph.
fn loops_of(info: &GraphInfo) -> Vec<String> {
    info.loops.values().map(|of| of.full_name()).collect()
}

#[cfg(test)]
mod tests;

fn io_error(action: &str, path: &Path, error: io::Error) -> Error {
    let name = path.display();
    let text = format!(
        "failed to {action} the profile `{name}`: {error}; check the path and its permissions"
    );
    Error::new(ErrorKind::Io, text).at_path(path).caused_by(error)
}

/// The error of a profile of another graph, with the differences, at most three names each.
fn other_graph(missing: &[String], unknown: &[String]) -> Error {
    let some = |names: &[String]| match names.len() {
        0..=3 => names.join(", "),
        len => format!("{} and {} more", names[..3].join(", "), len - 3),
    };
    let differences = match (missing, unknown) {
        (missing, []) => format!("it does not have {}", some(missing)),
        ([], unknown) => format!("the graph does not have {}", some(unknown)),
        _ => format!("it does not have {}, the graph not {}", some(missing), some(unknown)),
    };
    let text = format!("the profile is of another graph: {differences}; measure it with this one");
    Error::new(ErrorKind::InvalidArgument, text)
}
