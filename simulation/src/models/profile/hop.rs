//! Hops: the cost of passing a message from one event loop to another.

use crate::models::histogram::DurationHistogram;
use serde::{Deserialize, Serialize};

/// The cost of an edge of the graph: the time from the end of the sending callback to the start of
/// the receiving one, when nothing else delays that start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The topic or service.
    pub topic: String,
    /// The loop that sends: `/node`, or `/node:group` if it is not of the default group.
    pub from: String,
    /// The loop that receives.
    pub to: String,
    /// The cost with both loops on one core, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_core: Option<DurationHistogram>,
    /// The cost with the loops on different cores, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_core: Option<DurationHistogram>,
}

impl Hop {
    /// Merges this entry into the one of the same edge in `hops`, which stays sorted.
    pub(super) fn add_to(self, hops: &mut Vec<Self>) {
        match hops.binary_search_by(|other| other.key().cmp(&self.key())) {
            Err(place) => hops.insert(place, self),
            Ok(place) => {
                let hop = &mut hops[place];
                hop.same_core = merged(hop.same_core.take(), self.same_core);
                hop.cross_core = merged(hop.cross_core.take(), self.cross_core);
            }
        }
    }

    /// Identifies the edge within a profile.
    pub(super) fn key(&self) -> [&str; 3] {
        [&self.topic, &self.from, &self.to]
    }
}

/// Merges all histograms into one.
pub(super) fn pooled<'a>(
    histograms: impl Iterator<Item = &'a DurationHistogram>,
) -> Option<DurationHistogram> {
    histograms.cloned().reduce(DurationHistogram::merge)
}

/// Merges two histograms, if present.
pub(super) fn merged(
    one: Option<DurationHistogram>,
    other: Option<DurationHistogram>,
) -> Option<DurationHistogram> {
    one.into_iter().chain(other).reduce(DurationHistogram::merge)
}
