//! The edges of a graph that have a rule, and what becomes of each of their messages.
//!
//! The simulated network asks for each message once, under its lock, in the order of the departures
//! of an edge. The table keeps for each edge until when earlier messages occupy it and when the
//! last one arrives, so messages of an edge stay in order unless a rule says otherwise. Random
//! numbers come from the stream of the edge, by the number of the message and the purpose: with
//! numbers drawn in turn, a rule that adds loss would shift all later delays, and two runs could
//! not be compared.

use super::{LinkRule, Links};
use ringspin_executor::{CallbackId, DeliveryOutcome, EventId, SourceId, Table, Time};
use ringspin_modes::random::{Purpose, Stream};
use std::time::Duration;

/// The links of a graph, resolved, with the messages that are under way.
#[derive(Clone, Debug, Default)]
pub struct LinkTable {
    /// The rules.
    pub(super) links: Links,
    pub(super) seed: u64,
    /// By the receiving callback; each list in the order of its sources, and not empty.
    edges: Table<CallbackId, Vec<Edge>>,
}

/// The way from one source to one callback.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    source: SourceId,
    link: Link,
}

/// One way with rules, and the messages that are under way there.
#[derive(Clone, Debug)]
pub struct Link {
    /// The first window that contains a message counts. There is at least one.
    rules: Vec<LinkRule>,
    /// For when none counts: at once, but in order.
    none: LinkRule,
    stream: Stream,
    /// The end of its occupation by earlier messages.
    busy_until: Time,
    /// When the last message in order arrives.
    last_arrival: Time,
}

impl LinkTable {
    pub(super) fn new(links: Links, seed: u64) -> Self {
        Self { links, seed, edges: Table::new() }
    }

    /// Adds the edge from `source` to a callback, unless there is one.
    pub(super) fn add(
        &mut self,
        to: CallbackId,
        source: SourceId,
        edge: impl FnOnce() -> Option<Edge>,
    ) {
        let of_callback = self.edges.get(to).map_or(&[][..], |edges| edges);
        if let Err(place) = of_callback.binary_search_by_key(&source, |edge| edge.source)
            && let Some(edge) = edge()
        {
            self.edges.get_or_insert_with(to, Vec::new).insert(place, edge);
        }
    }

    /// Removes the edges that `stays` does not keep.
    pub(super) fn retain(&mut self, stays: impl Fn(CallbackId, SourceId) -> bool) {
        for id in self.edges.keys().collect::<Vec<_>>() {
            let edges = &mut self.edges[id];
            edges.retain(|edge| stays(id, edge.source));
            if edges.is_empty() {
                self.edges.remove(id);
            }
        }
    }

    /// Whether there is no edge with a rule.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Whether any edge to `callback` has a rule. Constant time.
    #[inline]
    pub fn is_linked(&self, callback: CallbackId) -> bool {
        self.edges.contains(callback)
    }

    /// Decides the delivery of the message `event` of `bytes`, which leaves for `subscription` at
    /// `departure`. On an edge without a rule, it arrives at once.
    ///
    /// Call this once for each message, and for the messages of one edge in the order of their
    /// departures. For a service, `subscription` is the server's callback (`event` is then of the
    /// client's requests) or the client's (of the responses to it). Logarithmic in the edges of the
    /// callback.
    pub fn outcome(
        &mut self,
        subscription: CallbackId,
        event: EventId,
        departure: Time,
        bytes: usize,
    ) -> DeliveryOutcome {
        let edges = self.edges.get_mut(subscription);
        let edge = edges.and_then(|edges| {
            let place = edges.binary_search_by_key(&event.source, |edge| edge.source).ok()?;
            edges.get_mut(place)
        });
        edge.map_or(DeliveryOutcome::Once(departure), |edge| {
            edge.link.outcome(event.sequence, departure, bytes)
        })
    }
}

impl Edge {
    pub(super) fn new(source: SourceId, link: Link) -> Self {
        Self { source, link }
    }
}

impl Links {
    /// The link of one way, for which these rules are, with random numbers of this stream; `None`
    /// without a rule. For networks other than a graph's, which ask for each message of the way
    /// once, in the order of departures. O(rules).
    pub fn link(&self, stream: Stream, is_for: impl Fn(&LinkRule) -> bool) -> Option<Link> {
        let mut rules: Vec<LinkRule> = Vec::new();
        for rule in self.rules.iter().rev().filter(|rule| is_for(rule)) {
            rules.push(rule.clone());
            if !rule.has_window() {
                break; // those before it never count
            }
        }
        let (none, busy_until, last_arrival) = (LinkRule::new(""), Time::ZERO, Time::ZERO);
        (!rules.is_empty()).then_some(Link { rules, none, stream, busy_until, last_arrival })
    }
}

impl Link {
    /// Decides the delivery of message `n` of `bytes`, which leaves at `departure`.
    pub fn outcome(&mut self, n: u64, departure: Time, bytes: usize) -> DeliveryOutcome {
        let Self { rules, none, stream, busy_until, last_arrival } = self;
        let rule = rules.iter().find(|rule| rule.is_at(departure)).unwrap_or(none);
        let happens = |purpose, probability| stream.happens(n, purpose, probability);
        let is_lost = happens(Purpose::Loss, rule.loss);
        let overtakes = happens(Purpose::Reordering, rule.reordering);
        let has_copy = happens(Purpose::Duplication, rule.duplication);
        // When it is on its way, after what occupies the edge.
        let mut send = || {
            let Some(bandwidth) = rule.bandwidth else { return departure };
            let bytes = rule.bytes.unwrap_or(bytes as u64);
            *busy_until = departure.max(*busy_until) + bandwidth.time_for(bytes);
            *busy_until
        };
        // When it arrives in order.
        let mut arrive = |sent: Time, purpose| {
            let delay = Duration::from_nanos(rule.delay.sample(*stream, n, purpose));
            *last_arrival = (sent + delay).max(*last_arrival);
            *last_arrival
        };
        let sent = send();
        if is_lost {
            return DeliveryOutcome::Lost;
        }
        let arrival = match overtakes {
            // Messages that leave later do not arrive earlier, so the order stays.
            true => sent,
            false => arrive(sent, Purpose::Delay),
        };
        if !has_copy {
            return DeliveryOutcome::Once(arrival);
        }
        let copy_sent = send();
        DeliveryOutcome::Twice(arrival, arrive(copy_sent, Purpose::CopyDelay))
    }
}
