//! Separate call durations for calls that send a message and calls that do not.
//!
//! A node that waits for its other input returns at once; once it has both, it works and sends.
//! The mapping decides which input comes last, and therefore which callback works. Durations per
//! callback alone would place that work wrongly for any mapping but the measured one.

use super::hop::merged;
use super::profiler::{Arrival, Edge, Log, Names};
use crate::models::histogram::DurationHistogram;
use ringspin_executor::{CallbackId, EventId, LoopId, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Durations of the calls of one callback, by whether they sent a message, as far as observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Its event loop: `/node`, or `/node:group` if it is not of the default group.
    pub node: String,
    /// Its name, with a number if its loop has several of that name.
    pub callback: String,
    /// Durations of the calls that sent nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<DurationHistogram>,
    /// Durations of the calls that sent a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sending: Option<DurationHistogram>,
}

impl Calls {
    /// Merges this entry into the one of the same callback in `all`, which stays sorted.
    pub(super) fn add_to(self, all: &mut Vec<Self>) {
        match all.binary_search_by(|other| other.key().cmp(&self.key())) {
            Err(place) => all.insert(place, self),
            Ok(place) => {
                all[place].quiet = merged(all[place].quiet.take(), self.quiet);
                all[place].sending = merged(all[place].sending.take(), self.sending);
            }
        }
    }

    /// Identifies the callback within a profile.
    pub(super) fn key(&self) -> [&str; 2] {
        [&self.node, &self.callback]
    }
}

/// Classification of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quiet,
    Sending,
    /// The call may have sent a message that no callback received, or that waited too long to be
    /// attributed.
    Unknown,
}

/// Returns the calls of those loops that have both sending and quiet calls.
pub(super) fn calls(edges: &[Edge], names: &Names, log: &Log) -> Vec<Calls> {
    let mut all = Vec::new();
    for (event_loop, kinds) in kinds(edges, log).iter() {
        if !kinds.contains(&Kind::Quiet) || !kinds.contains(&Kind::Sending) {
            continue;
        }
        let mut times = BTreeMap::<CallbackId, [Vec<u64>; 2]>::new();
        for (&(worker, n), kind) in log.by_loop[event_loop].iter().zip(kinds) {
            let call = &log.workers[worker][n];
            let [quiet, sending] = times.entry(call.callback).or_default();
            let took_ns = call.end_ns.saturating_sub(call.start_ns);
            match kind {
                Kind::Quiet => quiet.push(took_ns),
                Kind::Sending => sending.push(took_ns),
                Kind::Unknown => {}
            }
        }
        for (callback, [quiet, sending]) in times {
            // One that came and went has no name any more.
            let Some((node, callback)) = names.get(callback).cloned() else { continue };
            let (quiet, sending) = (DurationHistogram::of(quiet), DurationHistogram::of(sending));
            Calls { node, callback, quiet, sending }.add_to(&mut all);
        }
    }
    all
}

/// Classifies every call, by loop and in order.
fn kinds(edges: &[Edge], log: &Log) -> Table<LoopId, Vec<Kind>> {
    // For each source with a receiver: the first arrival of each message, by sequence number.
    let mut taken = BTreeMap::new();
    let mut sender_of = BTreeMap::new();
    for edge in edges {
        taken.entry(edge.source).or_insert_with(|| (edge.from, BTreeMap::<u64, Arrival>::new()));
        sender_of.insert((edge.source, edge.callback), edge.from);
    }
    for (worker, calls) in log.workers.iter().enumerate() {
        for (n, call) in calls.iter().enumerate() {
            let EventId { source, sequence } = call.event;
            let Some(&from) = sender_of.get(&(source, call.callback)) else { continue };
            let Some(arrival) = log.arrival(worker, n, from) else { continue };
            let Some((_, taken)) = taken.get_mut(&source) else { continue };
            let first = taken.entry(sequence).or_insert(arrival);
            // A message with several receivers counts for the one that did not wait.
            let rank = |of: &Arrival| (of.hop_ns.is_none(), of.sender);
            if rank(&arrival) < rank(first) {
                *first = arrival;
            }
        }
    }
    let mut kinds = log.by_loop.map(|_, calls| vec![Kind::Quiet; calls.len()]);
    for (from, taken) in taken.into_values() {
        let Some(kinds) = kinds.get_mut(from) else { continue };
        // Everything before `next` (sequence number) and `known` (call) is attributed.
        let (mut next, mut known) = (0, 0);
        for (sequence, Arrival { sender, hop_ns, .. }) in taken {
            // For a message that waited, the sender is certain only if a single call is possible.
            let certain = hop_ns.is_some() || (next == sequence && known == sender);
            if next != sequence || !certain {
                mark_unknown(kinds, known, sender + 1);
            }
            if certain {
                kinds[sender] = Kind::Sending;
            }
            (next, known) = (sequence + 1, (sender + 1).max(known));
        }
        let len = kinds.len();
        mark_unknown(kinds, known, len);
    }
    kinds
}

/// Marks the quiet calls in `start..end` as unknown.
fn mark_unknown(kinds: &mut [Kind], start: usize, end: usize) {
    let quiet_calls = kinds.get_mut(start..end).unwrap_or_default().iter_mut();
    quiet_calls.filter(|kind| **kind == Kind::Quiet).for_each(|kind| *kind = Kind::Unknown);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::profile::Profiler;
    use crate::models::profile::profiler::{Call, edges, recorded};
    use ringspin_executor::{Graph, GraphInfo, Message, QoS, Recorder, SourceId};

    const ONE: u32 = 0;
    const OTHER: u32 = 1;
    const SINK: u32 = 2;

    /// A graph in which `/join` subscribes to `/one` and `/other` and publishes to `/sink`.
    fn graph() -> (GraphInfo, SourceId) {
        let graph = Graph::new();
        let join = graph.create_node("join", ()).unwrap();
        let out = join.create_publisher::<u8>("out", QoS::default()).unwrap();
        for name in ["one", "other"] {
            join.create_subscription(name, QoS::default(), |_, _: &Message<u8>, _| {}).unwrap();
        }
        let sink = graph.create_node("sink", ()).unwrap();
        sink.create_subscription("out", QoS::default(), |_, _: &Message<u8>, _| {}).unwrap();
        sink.create_timer(std::time::Duration::from_secs(1), |_, _| {}).unwrap();
        let info = graph.info();
        drop(out);
        let source = info.topics.iter().find(|topic| topic.name == "/out").unwrap();
        let source = source.publishers[0].1;
        (info, source)
    }

    /// The quiet and sending durations of both inputs. Each call is given as its callback, begin,
    /// end, and the sequence number that it receives.
    fn times(calls: &[(u32, u64, u64, u64)]) -> Vec<(String, Vec<u64>, Vec<u64>)> {
        let (info, source) = graph();
        let call = |&(callback, start_ns, end_ns, sequence): &(u32, u64, u64, u64)| Call {
            start_ns,
            end_ns,
            callback: CallbackId(callback),
            event_loop: info.callbacks[CallbackId(callback)].event_loop,
            event: EventId {
                source: if callback == SINK { source } else { SourceId(99) },
                sequence,
            },
        };
        let log = Log::new(vec![calls.iter().map(call).collect()]);
        let names = recorded(&info, [Box::new(Profiler::new(&info)) as Box<dyn Recorder>]).names;
        let ns = |durations: Option<DurationHistogram>| {
            let durations = durations.into_iter();
            durations.flat_map(|of| [of.min_ns, of.max_ns, of.count]).collect()
        };
        let all = super::calls(&edges(&info, &info), &names, &log).into_iter();
        all.map(|calls| (calls.callback, ns(calls.quiet), ns(calls.sending))).collect()
    }

    #[test]
    fn a_message_is_attributed_to_the_last_call_before_it() {
        let seen = times(&[
            (ONE, 0, 3, 0),
            (OTHER, 10, 60, 0),
            (SINK, 70, 75, 0),
            (OTHER, 100, 104, 0),
            (ONE, 110, 170, 0),
            (SINK, 170, 175, 1),
        ]);
        let name = |topic: &str| format!("subscription {topic}");
        let expected = [
            (name("/one"), vec![3, 3, 1], vec![60, 60, 1]),
            (name("/other"), vec![4, 4, 1], vec![50, 50, 1]),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_waiting_message_is_attributed_only_to_a_single_possible_sender() {
        let seen = times(&[
            (ONE, 0, 3, 0),
            (OTHER, 10, 60, 0),
            (SINK, 60, 65, 0),
            (OTHER, 100, 160, 0),
            (SINK + 1, 165, 170, 0), // something else comes first
            (SINK, 170, 175, 1),
            (ONE, 200, 207, 0),
            (OTHER, 210, 280, 0),
            (SINK, 290, 295, 2),
        ]);
        assert_eq!((&seen[0].1, &seen[0].2), (&vec![3, 7, 2], &vec![]));
        assert_eq!((&seen[1].1, &seen[1].2), (&vec![], &vec![50, 70, 3]));
        let waited = times(&[
            (ONE, 0, 3, 0),
            (OTHER, 10, 60, 0),
            (SINK + 1, 65, 70, 0),
            (SINK, 70, 75, 0), // of either
            (ONE, 80, 84, 0),
            (OTHER, 90, 150, 0),
            (SINK, 150, 155, 1),
        ]);
        assert_eq!((&waited[0].1, &waited[0].2), (&vec![4, 4, 1], &vec![]));
        assert_eq!((&waited[1].1, &waited[1].2), (&vec![], &vec![60, 60, 1]));
    }

    #[test]
    fn overwritten_messages_leave_calls_unclassified() {
        let sent = [
            (ONE, 0, 3, 0),
            (OTHER, 10, 60, 0),
            (SINK, 70, 75, 0),
            (ONE, 100, 104, 0),
            (OTHER, 110, 180, 0), // sends number 1, which is overwritten
            (ONE, 200, 205, 0),
            (OTHER, 210, 290, 0),
            (SINK, 300, 305, 2),
            (ONE, 400, 406, 0), // nothing says that nothing was sent from here on
        ];
        let seen = times(&sent);
        assert_eq!((&seen[0].1, &seen[0].2), (&vec![3, 3, 1], &vec![]));
        assert_eq!((&seen[1].1, &seen[1].2), (&vec![], &vec![50, 80, 2]));
        assert_eq!(times(&[(ONE, 0, 3, 0), (SINK, 5, 6, 0)]), [], "all of them send");
        assert_eq!(times(&[(ONE, 0, 3, 0), (OTHER, 5, 6, 0)]), [], "none is known to");
    }
}
