//! Hops: what it costs that a message goes from one event loop to another.

use crate::spread::Spread;
use ringspin_modes::models::LinkRule;
use serde::{Deserialize, Serialize};

/// What an edge of the graph costs: from the end of the callback that sends to the start of the
/// callback that gets the message, when nothing else keeps that from starting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The topic or service.
    pub topic: String,
    /// The loop that sends: `/node`, or `/node:group` if it is not of the default group.
    pub from: String,
    /// The loop that receives.
    pub to: String,
    /// With both loops on one core, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_core: Option<Spread>,
    /// With the loops on different cores, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_core: Option<Spread>,
}

impl Hop {
    /// Adds its times to those of the same edge among `hops`, which stay in order.
    pub(crate) fn add_to(self, hops: &mut Vec<Self>) {
        match hops.binary_search_by(|other| other.key().cmp(&self.key())) {
            Err(place) => hops.insert(place, self),
            Ok(place) => {
                let hop = &mut hops[place];
                hop.same_core = Spread::joined(hop.same_core.take(), self.same_core);
                hop.cross_core = Spread::joined(hop.cross_core.take(), self.cross_core);
            }
        }
    }

    /// What tells its edge from others.
    pub(crate) fn key(&self) -> [&str; 3] {
        [&self.topic, &self.from, &self.to]
    }

    /// The rule for messages of this edge alone.
    pub(crate) fn rule(topic: &str, from: &str, to: &str) -> LinkRule {
        LinkRule::new(topic).from(Self::exact(from)).to(Self::exact(to))
    }

    /// The name of an event loop for a rule that is for no other group of its node.
    pub(crate) fn exact(name: &str) -> String {
        match name.contains(':') {
            true => name.to_owned(),
            false => format!("{name}:"),
        }
    }
}

/// All spreads together.
pub(crate) fn pooled<'a>(spreads: impl Iterator<Item = &'a Spread>) -> Option<Spread> {
    spreads.cloned().reduce(Spread::merge)
}
