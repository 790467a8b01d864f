//! Links: how messages travel from a publisher to a subscription, or from a client to a server and
//! back.
//!
//! A rule is for a topic or service, or some of its edges (from one publisher to one subscription):
//!
//! ```
//! use ringspin_executor::DeliveryOutcome;
//! use ringspin_simulation::models::Links;
//! use ringspin_executor::{EventId, Graph, Message, QoS, Time};
//!
//! let links = Links::from_toml(r#"
//!     [[link]]
//!     topic = "/points"
//!     delay = { normal = { mean = "10ms", deviation = "2ms" } }
//!     loss = 0.01
//!
//!     [[link]]                    # of the rules that match an edge, the last one wins
//!     topic = "/points"
//!     to = "/fusion"              # or "/node:group"; `from` likewise
//!     delay = "3ms"
//!     bandwidth = "10 MB/s"
//!     bytes = 400_000             # instead of each message's own size
//! "#)?;
//!
//! let graph = Graph::new();
//! let lidar = graph.create_node("lidar", ())?;
//! let out = lidar.create_publisher::<[f32; 8]>("points", QoS::sensor_data())?;
//! let fusion = graph.create_node("fusion", ())?;
//! fusion.create_subscription("points", QoS::sensor_data(), |_, _: &Message<[f32; 8]>, _| {})?;
//!
//! let info = graph.info();
//! let mut table = links.resolve(&info, 42)?;
//! let points = &info.topics[0];
//! let first = EventId { source: points.publishers[0].1, sequence: 0 };
//! let outcome = table.outcome(points.subscriptions[0], first, Time::ZERO, 32);
//! // 40 ms on the line, then 3 ms.
//! assert_eq!(outcome, DeliveryOutcome::Once(Time::from_nanos(43_000_000)));
//! # Ok::<(), ringspin_executor::Error>(())
//! ```
//!
//! A rule with a window is for what leaves within it (`since` inclusive, `until` exclusive); at
//! other times the rules before it count. So a partition is a rule that loses everything for a
//! while:
//!
//! ```
//! # use ringspin_simulation::models::Links;
//! let links = Links::from_toml(r#"
//!     [[link]]
//!     topic = "/points"
//!     delay = "3ms"
//!
//!     [[link]]                    # from 10 s to 12 s nothing gets through
//!     topic = "/points"
//!     to = "/fusion"
//!     since = "10 s"
//!     until = "12 s"
//!     loss = 1.0
//! "#)?;
//! # Ok::<(), ringspin_executor::Error>(())
//! ```
//!
//! Steps of a message, in this order:
//! 1. With a bandwidth, it occupies its edge for its size over the bandwidth, after the message
//!    before it.
//! 2. It may get lost. It was sent, so it has occupied the edge.
//! 3. Its delay passes. An edge keeps the order of its messages: one that would overtake arrives
//!    together with the one before it. But a message that is drawn by `reordering` has no delay,
//!    and does overtake, as in Linux' netem.
//! 4. It may arrive twice. The copy occupies the edge as well, is delayed separately, and arrives
//!    in order.
//!
//! Random values of a message depend on the seed, the names at both ends of its edge, and its
//! number: not on other edges, other rules or other messages. Where a callback group has several
//! publishers on a topic, [name](ringspin_executor::Publisher::named) them: those without a name
//! are numbered in order of creation.

mod resolve;
mod rslcpp;
mod table;
#[cfg(test)]
mod tests;

pub use table::{Link, LinkTable};

use super::distribution::Distribution;
use super::optional_time;
use ringspin_executor::{CallbackId, DeliveryOutcome, EventId, GraphInfo, Time};
use ringspin_modes::deterministic::ResolvedLinks;
use ringspin_modes::quantity::Bandwidth;
use serde::de::{Deserializer, Error, Unexpected};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How messages travel: rules, of which the last one that matches an edge wins. Edges without a
/// rule deliver at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The rules.
    #[serde(default, rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<LinkRule>,
}

/// How messages travel along some edges. Nothing is checked before
/// [`resolve`](Links::resolve) knows the graph.
///
/// ```
/// use ringspin_simulation::models::{Distribution, LinkRule};
/// use std::time::Duration;
/// let rule = LinkRule::new("/points")
///     .to("/fusion")
///     .delay(Distribution::fixed(Duration::from_millis(3)))
///     .loss(0.01);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRule {
    /// The fully qualified name of a topic, or of a service: then it is for requests and responses.
    pub topic: String,
    /// Only from this node (`/node`) or callback group (`/node:group`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Only to this node or callback group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Only for messages that leave at this simulated time or later.
    #[serde(default, with = "optional_time", skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Only for messages that leave before this simulated time.
    #[serde(default, with = "optional_time", skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// How long a message travels; no time by default.
    #[serde(default = "at_once")]
    pub delay: Distribution,
    /// The probability that a message gets lost.
    #[serde(default, deserialize_with = "probability", skip_serializing_if = "is_zero")]
    pub loss: f64,
    /// The probability that a message arrives twice.
    #[serde(default, deserialize_with = "probability", skip_serializing_if = "is_zero")]
    pub duplication: f64,
    /// The probability that a message has no delay, and overtakes those that have.
    #[serde(default, deserialize_with = "probability", skip_serializing_if = "is_zero")]
    pub reordering: f64,
    /// How much goes through each edge; without it, any amount at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// The size of each message for the bandwidth, instead of the size of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether its topic, service or nodes may be created while the graph runs. Otherwise they have
    /// to exist at the start.
    #[serde(default, skip_serializing_if = "is_false")]
    pub later: bool,
}

rule_list!(
    Links of LinkRule in "[[link]]",
    "links" with "`topic`, `from`, `to`, `since`, `until`, `delay`, `loss`, `duplication`, \
        `reordering`, `bandwidth`, `bytes` and `later`",
    dyn ResolvedLinks
);

impl ResolvedLinks for LinkTable {
    fn extend(&mut self, info: &GraphInfo) {
        Self::extend(self, info);
    }

    fn is_linked(&self, callback: CallbackId) -> bool {
        Self::is_linked(self, callback)
    }

    fn outcome(
        &mut self,
        callback: CallbackId,
        event: EventId,
        departure: Time,
        bytes: usize,
    ) -> DeliveryOutcome {
        Self::outcome(self, callback, event, departure, bytes)
    }
}

impl LinkRule {
    /// For every edge of `topic`, a topic or service: no delay, no loss, no limit.
    pub fn new(topic: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            from: None,
            to: None,
            since: None,
            until: None,
            delay: at_once(),
            loss: 0.0,
            duplication: 0.0,
            reordering: 0.0,
            bandwidth: None,
            bytes: None,
            later: false,
        }
    }

    /// Whether it is for what leaves at `departure`.
    fn is_at(&self, departure: Time) -> bool {
        self.since.is_none_or(|since| since <= departure)
            && self.until.is_none_or(|until| departure < until)
    }

    /// Whether it is for some times only.
    fn has_window(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// The probabilities, with the names of their keys.
    fn probabilities(&self) -> [(&'static str, f64); 3] {
        [("loss", self.loss), ("duplication", self.duplication), ("reordering", self.reordering)]
    }
}

setters! { LinkRule:
    /// Only from node `/node` or callback group `/node:group`.
    from(name: impl Into<String>) = Some(name.into());
    /// Only to node `/node` or callback group `/node:group`.
    to(name: impl Into<String>) = Some(name.into());
    /// Only for messages that leave at `time` or later.
    ///
    /// ```
    /// use ringspin_executor::Time;
    /// use ringspin_simulation::models::LinkRule;
    /// // Nothing reaches the planner for two seconds: a partition.
    /// let cut = LinkRule::new("/points").to("/planner").loss(1.0);
    /// let cut = cut.since(Time::from_secs(10)).until(Time::from_secs(12));
    /// ```
    since(time: Time) = Some(time);
    /// Only for messages that leave before `time`.
    until(time: Time) = Some(time);
    /// The travel time of a message.
    delay(delay: Distribution) = delay;
    /// The probability that a message gets lost.
    loss(probability: f64) = probability;
    /// The probability that a message arrives twice.
    duplication(probability: f64) = probability;
    /// The probability that a message has no delay, and overtakes those that have.
    reordering(probability: f64) = probability;
    /// The capacity of each edge.
    bandwidth(bandwidth: Bandwidth) = Some(bandwidth);
    /// The size of each message for the bandwidth, instead of the size of its type.
    bytes(bytes: u64) = Some(bytes);
    /// Whether its topic, service or nodes may be created while the graph runs.
    later(may: bool) = may;
}

fn at_once() -> Distribution {
    Distribution::fixed(Duration::ZERO)
}

pub(super) fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(probability: &f64) -> bool {
    *probability == 0.0
}

fn is_probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

/// Refuses other numbers than probabilities while the parser still knows the line and column.
fn probability<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(from)?;
    match is_probability(value) {
        true => Ok(value),
        false => {
            Err(D::Error::invalid_value(Unexpected::Float(value), &"a probability from 0 to 1"))
        }
    }
}
