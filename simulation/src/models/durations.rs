//! Durations: how long callbacks run in simulated time, and when their messages appear.
//!
//! Each rule is for a node or some of its callbacks. Several rules add up: of those that give a
//! callback a duration, a scale or a logical execution time, the last one wins.
//!
//! ```
//! use ringspin_simulation::models::Durations;
//! use ringspin_executor::{Graph, LoopId, Message, QoS};
//! use std::time::Duration;
//!
//! let durations = Durations::from_toml(r#"
//!     [[execution]]
//!     node = "/perception"                # or "/node:group"
//!     callback = "subscription /points"   # without it, all callbacks of the node
//!     duration = { uniform = ["20ms", "30ms"] }
//!
//!     [[execution]]
//!     node = "/perception"
//!     scale = 0.85                        # 15 % faster
//!
//!     [[execution]]
//!     node = "/control"
//!     duration = "2ms"
//!     logical = "5ms"                     # publishes 5 ms after the event, whatever it took
//! "#)?;
//!
//! let graph = Graph::new();
//! let perception = graph.create_node("perception", ())?;
//! perception.create_subscription("points", QoS::keep_last(1), |_, _: &Message<u8>, _| {})?;
//! let control = graph.create_node("control", ())?;
//! control.create_timer(Duration::from_millis(10), |_, _| {})?;
//!
//! let info = graph.info();
//! let table = durations.resolve(&info, 42)?;
//! let [points, timer] = [LoopId(0), LoopId(1)].map(|id| info.loops[id].callbacks[0]);
//! let first = table.execution(points, 0).duration;
//! assert!(first >= Duration::from_millis(17) && first <= Duration::from_micros(25_500));
//! assert_eq!(table.execution(timer, 0).logical, Some(Duration::from_millis(5)));
//! # Ok::<(), ringspin_executor::Error>(())
//! ```
//!
//! The duration drawn for a call depends on the seed, the names of callback and node, and the
//! number of the call: not on other callbacks, rules or calls.

#[cfg(test)]
mod tests;

use super::distribution::Distribution;
use super::profile::Profile;
use ringspin_executor::{CallbackId, Error, ErrorKind, GraphInfo, Result, Table};
use ringspin_modes::deterministic::{Execution, ResolvedDurations};
use ringspin_modes::names::{callback_labels, callback_number, exact_name, names_loop, way_out};
use ringspin_modes::quantity::Nanos;
use ringspin_modes::random::{Purpose, Stream};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// How long callbacks run: rules, of which the last one that says something wins. Callbacks without
/// a rule take no time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Durations {
    /// The rules.
    #[serde(default, rename = "execution", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<DurationRule>,
}

/// How long some callbacks run. Nothing is checked before [`resolve`](Durations::resolve) knows the
/// graph.
///
/// ```
/// use ringspin_simulation::models::{Distribution, DurationRule};
/// use std::time::Duration;
/// let rule = DurationRule::new("/perception")
///     .callback("subscription /points")
///     .duration(Distribution::fixed(Duration::from_millis(20)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationRule {
    /// The node (`/node`), or one of its callback groups (`/node:group`).
    pub node: String,
    /// The callback's name, for example `subscription /points` or `timer 100ms`; of namesakes all,
    /// or one of them as `timer 100ms#0`. Without it, all callbacks of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    /// How long a call takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Distribution>,
    /// How long a call takes that sends something, if that differs: `duration` is then for those
    /// that send nothing, as of a node that waits for its other input. A later rule with a duration
    /// and without this is again for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sending: Option<Distribution>,
    /// By which factor the durations are multiplied, wherever they come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// The logical execution time: the messages of a call appear exactly so long after its event
    /// was ready, unless it took longer. If another callback shares its publisher, the messages of
    /// that callback wait meanwhile, because one publisher's messages do not overtake each other.
    #[serde(
        default,
        deserialize_with = "read_duration",
        serialize_with = "write_duration",
        skip_serializing_if = "Option::is_none"
    )]
    pub logical: Option<Duration>,
    /// Whether its node or callbacks may be created while the graph runs. Otherwise they have to
    /// exist at the start.
    #[serde(default, skip_serializing_if = "super::links::is_false")]
    pub later: bool,
}

/// The durations of a graph's callbacks, resolved.
#[derive(Clone, Debug, Default)]
pub struct DurationTable {
    /// The rules.
    durations: Durations,
    seed: u64,
    entries: Table<CallbackId, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    duration: Option<Distribution>,
    sending: Option<Distribution>,
    scale: f64,
    logical: Option<Duration>,
    stream: Stream,
}

rule_list!(
    Durations of DurationRule in "[[execution]]",
    "durations" with "`node`, `callback`, `duration`, `sending`, `scale`, `logical` and `later`",
    dyn ResolvedDurations
);

impl Durations {
    /// A rule for each callback of `profile`: its durations are as probable as they were frequent.
    pub fn from_profile(profile: &Profile) -> Self {
        let rules = profile.callbacks.iter().map(|callback| {
            DurationRule::new(exact_name(&callback.node))
                .callback(&callback.callback)
                .duration(callback.durations.distribution(|duration| duration))
                .later(callback.later)
        });
        Self { rules: rules.collect() }
    }

    /// Finds the callbacks of each rule. O(callbacks * rules).
    ///
    /// # Errors
    /// The error of the first rule that matches no callback of the graph, or has no valid effect.
    pub fn resolve(&self, info: &GraphInfo, seed: u64) -> Result<DurationTable> {
        let table = self.table(info, seed);
        let labels = callback_labels(info);
        let mut unscaled = None;
        for (rule, number) in self.rules.iter().zip(1..) {
            let name = rule.describe(number);
            rule.check(&name)?;
            let callbacks = rule.callbacks(info, &labels);
            if callbacks.is_empty() {
                rule.check_names(info, &labels, &name)?;
                continue;
            }
            let lacks_duration = |callback: &CallbackId| {
                table.entries.get(*callback).is_none_or(Entry::lacks_duration)
            };
            if rule.scale.is_some() && callbacks.iter().all(lacks_duration) {
                unscaled = unscaled.or(Some(name));
            }
        }
        match unscaled {
            None => Ok(table),
            Some(rule) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "{rule}: none of its callbacks has a duration to scale; give them one, or load \
                     a recorded profile"
                ),
            )),
        }
    }

    /// The callbacks of each rule; none of rules for what does not exist.
    fn table(&self, info: &GraphInfo, seed: u64) -> DurationTable {
        let labels = callback_labels(info);
        let mut entries = Table::<CallbackId, Entry>::new();
        for rule in &self.rules {
            for callback in rule.callbacks(info, &labels) {
                let entry = entries.get_or_insert_with(callback, || Entry {
                    duration: None,
                    sending: None,
                    scale: 1.0,
                    logical: None,
                    stream: Stream::new(seed, &stream_name(info, callback)),
                });
                if rule.duration.is_some() {
                    (entry.duration, entry.sending) = (rule.duration.clone(), None);
                }
                entry.sending = rule.sending.clone().or(entry.sending.take());
                entry.scale = rule.scale.unwrap_or(entry.scale);
                entry.logical = rule.logical.or(entry.logical);
            }
        }
        DurationTable { durations: self.clone(), seed, entries }
    }
}

impl DurationRule {
    /// Creates a rule for all callbacks of `node`, without an effect yet.
    pub fn new(node: impl Into<String>) -> Self {
        Self { node: node.into(), ..Self::default() }
    }

    fn describe(&self, number: usize) -> String {
        match &self.callback {
            Some(callback) => format!("execution {number} (`{}`, `{callback}`)", self.node),
            None => format!("execution {number} (`{}`)", self.node),
        }
    }

    fn check(&self, name: &str) -> Result<()> {
        if let Some(scale) = self.scale.filter(|scale| !scale.is_finite() || *scale < 0.0) {
            let text =
                format!("{name}: the scale is {scale}; give a finite factor that is not negative");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let durations = self.duration.as_ref().or(self.sending.as_ref());
        match (durations, self.scale, self.logical) {
            (None, None, None) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "{name} has no effect; give a `duration`, a `scale` or a `logical` execution \
                     time"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Checks that its names may come later, as it is for no callback so far.
    fn check_names(
        &self,
        info: &GraphInfo,
        labels: &Table<CallbackId, String>,
        name: &str,
    ) -> Result<()> {
        if self.later {
            return Ok(());
        }
        let mut loops = info.loops.values().filter(|of| names_loop(&self.node, of)).peekable();
        if loops.peek().is_none() {
            let known = info.loops.values().flat_map(|l| [l.node.clone(), l.full_name()]);
            let way_out = way_out(&self.node, known, "the graph has no nodes; create them first");
            return Err(self.unknown(format!("{name}: the graph has no such node; {way_out}")));
        }
        let known = loops.flat_map(|of| of.callbacks.iter().map(|id| labels[*id].clone()));
        let wanted = self.callback.as_deref().unwrap_or_default();
        let way_out = way_out(wanted, known, "it has none at all");
        Err(self.unknown(format!("{name}: the node has no such callback; {way_out}")))
    }

    fn unknown(&self, text: String) -> Error {
        let text = format!("{text} (set `later = true` if it is created while the graph runs)");
        Error::new(ErrorKind::NotFound, text).in_node(&self.node)
    }

    fn callbacks(&self, info: &GraphInfo, labels: &Table<CallbackId, String>) -> Vec<CallbackId> {
        let loops = info.loops.values().filter(|event_loop| names_loop(&self.node, event_loop));
        let all = loops.flat_map(|of| of.callbacks.iter().copied());
        let is_wanted = |callback: &CallbackId| {
            let label = &labels[*callback];
            let wanted = self.callback.as_deref();
            wanted.is_none_or(|name| name == label || name == info.callbacks[*callback].name)
        };
        all.filter(is_wanted).collect()
    }
}

setters! { DurationRule:
    /// Only for the callbacks with this name.
    callback(name: impl Into<String>) = Some(name.into());
    /// The duration of a call.
    duration(duration: Distribution) = Some(duration);
    /// The duration of a call that sends something; the others take the
    /// [duration](Self::duration).
    sending(duration: Distribution) = Some(duration);
    /// The factor by which the duration is multiplied.
    scale(factor: f64) = Some(factor);
    /// The time from the event of a call to the appearance of its messages.
    logical(time: Duration) = Some(time);
    /// Whether its node or callbacks may be created while the graph runs.
    later(may: bool) = may;
}

impl Entry {
    fn lacks_duration(&self) -> bool {
        self.duration.is_none() && self.sending.is_none()
    }

    /// The duration that call `n` draws from `distribution`.
    #[inline]
    fn drawn(&self, distribution: &Distribution, n: u64) -> Duration {
        let ns = distribution.sample(self.stream, n, Purpose::Duration);
        Duration::from_nanos(times(ns, self.scale))
    }
}

impl DurationTable {
    /// Whether any callback takes another time if it sends something.
    pub fn depends_on_sending(&self) -> bool {
        self.entries.values().any(|entry| entry.sending.is_some())
    }

    /// Whether every callback takes no time.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How long call `n` of `callback` takes; a callback without a rule takes no time. Constant
    /// time, or logarithmic in the values of an empirical distribution.
    #[inline]
    pub fn execution(&self, callback: CallbackId, n: u64) -> Execution {
        let Some(entry) = self.entries.get(callback) else {
            return Execution::default();
        };
        let drawn = |of: &Distribution| entry.drawn(of, n);
        Execution {
            duration: entry.duration.as_ref().map_or(Duration::ZERO, drawn),
            sending: entry.sending.as_ref().map(drawn),
            logical: entry.logical,
        }
    }
}

impl ResolvedDurations for DurationTable {
    fn extend(&mut self, info: &GraphInfo) {
        let mut entries = self.durations.table(info, self.seed).entries;
        for id in entries.keys().collect::<Vec<_>>() {
            if let Some(entry) = self.entries.remove(id) {
                entries.insert(id, entry); // another name would be another random stream
            }
        }
        self.entries = entries;
    }

    fn depends_on_sending(&self) -> bool {
        Self::depends_on_sending(self)
    }

    fn execution(&self, callback: CallbackId, n: u64) -> Execution {
        Self::execution(self, callback, n)
    }
}

/// `ns` times `scale`, rounded. Exact to the nanosecond up to 104 days; multiplication and
/// rounding give the same bits on every machine.
#[inline]
fn times(ns: u64, scale: f64) -> u64 {
    match scale {
        1.0 => ns,
        _ => (ns as f64 * scale).round() as u64,
    }
}

/// A name that is unique to the callback and does not depend on other callbacks.
fn stream_name(info: &GraphInfo, callback: CallbackId) -> String {
    let event_loop = info.loop_of(callback).full_name();
    let number = callback_number(info, callback);
    format!("{event_loop} runs {} #{number}", info.callbacks[callback].name)
}

fn read_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    Nanos::deserialize(from).map(|Nanos(ns)| Some(Duration::from_nanos(ns)))
}

fn write_duration<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    duration.map(Nanos::from).serialize(to)
}
