//! The recorder that measures callback durations and hop costs in a live run.
//!
//! A recorder sees when callbacks start and end, not when they publish. In a simulation, messages
//! leave at the end of their callback, so a hop is measured from there to the start of the
//! receiving callback, provided that nothing else delayed that start. On one core, the receiving
//! callback must be the next one; on another core, the core must be idle when the message leaves. A
//! message that leaves before the end of its callback may be dispatched before that end: its hop
//! counts as zero.
//!
//! The sending call is not recorded either. It is inferred as the last call of the sending loop
//! that began before the receiving callback, which can only be wrong for a message that waited for
//! something else.

use super::CallbackProfile;
use super::hop::Hop;
use crate::models::histogram::{DurationHistogram, Measured};
use ringspin_executor::{
    CallbackId, Completion, Dispatch, EventId, GraphChange, GraphInfo, LoopId, Recorder, SourceId,
    Table,
};
use ringspin_modes::names::callback_labels;
use ringspin_modes::{GraphEdge, graph_edges};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// The number of calls kept per worker: 10 MiB. Later calls still contribute durations.
const CALLS_MAX: usize = 1 << 18;

/// A recorder that measures the durations of callbacks and hops by the clock of their executor.
/// Pass it to [`with_recorders`](ringspin_modes::Executor::with_recorders).
///
/// See [`Profile::of`](super::Profile::of) for an example. Uses about 10 MiB per worker, and 35 KiB
/// for each callback from its first call on; after that, recording allocates nothing and takes
/// constant time. Hops are measured for the first 262 144 calls of a worker. In deterministic mode
/// it sees the time of the simulation.
///
/// Callbacks that come and go have their durations in the profile, too: those of one name and loop
/// together.
pub struct Profiler {
    /// The graph at the start.
    start: GraphInfo,
    /// The names of the loops that exist.
    loops: Table<LoopId, String>,
    /// The callbacks of the start, and the later ones that exist.
    names: Names,
    measured: Table<CallbackId, Measured>,
    /// The later callbacks that were destroyed.
    gone: Vec<CallbackProfile>,
    calls: Vec<Call>,
    /// How many calls are kept.
    calls_max: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) callback: CallbackId,
    pub(super) event_loop: LoopId,
    pub(super) event: EventId,
}

#[derive(Clone, Copy)]
pub(super) struct Arrival {
    /// The inferred sending call: zero-based index among the calls of its loop.
    pub(super) sender: usize,
    /// Whether the message crossed from another core.
    pub(super) crosses: bool,
    /// The hop time, if nothing else delayed the receiving callback.
    pub(super) hop_ns: Option<u64>,
}

/// The calls of all workers, each in order.
pub(super) struct Log {
    pub(super) workers: Vec<Vec<Call>>,
    /// By event loop: worker and index of its calls, in order.
    pub(super) by_loop: Table<LoopId, Vec<(usize, usize)>>,
}

impl Profiler {
    /// Creates a profiler without measurements.
    pub fn new(info: &GraphInfo) -> Self {
        Self::with_calls(info, CALLS_MAX)
    }

    /// Likewise, for hops of the first `calls_max` calls of a worker, for each of which it takes 40
    /// bytes at once.
    pub fn with_calls(info: &GraphInfo, calls_max: usize) -> Self {
        Self {
            start: info.clone(),
            loops: info.loops.map(|_, of| of.full_name()),
            names: callback_labels(info)
                .map(|id, label| (info.loop_of(id).full_name(), label.clone())),
            measured: Table::new(),
            gone: Vec::new(),
            calls: Vec::with_capacity(calls_max),
            calls_max,
        }
    }

    /// The durations of a callback that ran.
    fn callback(&self, id: CallbackId, measured: &Measured) -> Option<CallbackProfile> {
        let (node, callback) = self.names.get(id)?.clone();
        let (later, durations) = (!self.start.callbacks.contains(id), measured.histogram());
        Some(CallbackProfile { node, callback, later, durations })
    }

    fn callbacks(&self) -> impl Iterator<Item = CallbackProfile> {
        let measured = self.measured.iter();
        let existing = measured.filter_map(|(id, measured)| self.callback(id, measured));
        existing.chain(self.gone.iter().cloned())
    }

    /// Keeps the durations of a later callback that was destroyed by its name only.
    fn forget(&mut self, id: CallbackId) {
        if self.start.callbacks.contains(id) {
            return;
        }
        let measured = self.measured.remove(id);
        if let Some(gone) = measured.and_then(|measured| self.callback(id, &measured)) {
            gone.add_to(&mut self.gone);
        }
        self.names.remove(id);
    }
}

impl Recorder for Profiler {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        let ns = completion.time.since(dispatch.time).as_nanos() as u64;
        let measured = self.measured.get_or_insert_with(dispatch.callback, Measured::new);
        measured.record(ns);
        if self.calls.len() < self.calls_max {
            self.calls.push(Call {
                start_ns: dispatch.time.as_nanos(),
                end_ns: completion.time.as_nanos(),
                callback: dispatch.callback,
                event_loop: dispatch.event_loop,
                event: dispatch.event,
            });
        }
    }

    fn changed(&mut self, change: &GraphChange) {
        match change {
            GraphChange::LoopAdded { event_loop, name } => {
                self.loops.insert(*event_loop, name.clone());
            }
            GraphChange::CallbackAdded { callback, event_loop, name } => {
                let of = self.loops.get(*event_loop).cloned().unwrap_or_default();
                self.names.insert(*callback, (of, name.clone()));
            }
            GraphChange::LoopRemoved { event_loop } => _ = self.loops.remove(*event_loop),
            GraphChange::CallbackRemoved { callback } | GraphChange::CallbackEnded { callback } => {
                self.forget(*callback)
            }
            _ => {}
        }
    }
}

pub(super) struct Recorded {
    /// The graph at the start of the span.
    pub(super) start: GraphInfo,
    pub(super) callbacks: Vec<CallbackProfile>,
    pub(super) names: Names,
    pub(super) log: Log,
}

/// Combines the records of the profilers among `recorders`; `end` is the graph at the end, or at
/// the start if there is none.
pub(super) fn recorded(
    end: &GraphInfo,
    recorders: impl IntoIterator<Item = Box<dyn Recorder>>,
) -> Recorded {
    let any = recorders.into_iter().map(|recorder| recorder as Box<dyn Any>);
    let (mut start, mut callbacks, mut workers) = (None, Vec::new(), Vec::new());
    let mut names = Names::new();
    for profiler in any.filter_map(|recorder| recorder.downcast::<Profiler>().ok()) {
        profiler.callbacks().for_each(|callback| callback.add_to(&mut callbacks));
        let Profiler { start: at_start, names: own, calls, .. } = *profiler;
        own.iter().for_each(|(id, name)| _ = names.insert(id, name.clone()));
        start.get_or_insert(at_start);
        workers.push(calls);
    }
    let start = start.unwrap_or_else(|| end.clone());
    Recorded { start, callbacks, names, log: Log::new(workers) }
}

/// Event loop and label of each callback.
pub(super) type Names = Table<CallbackId, (String, String)>;

/// An edge of the graph at the start or at the end of a span.
pub(super) struct Edge {
    topic: String,
    pub(super) source: SourceId,
    pub(super) callback: CallbackId,
    pub(super) from: LoopId,
    /// The names of the loops.
    ends: [String; 2],
}

/// The edges at the start and at the end of a span, each once.
pub(super) fn edges(start: &GraphInfo, end: &GraphInfo) -> Vec<Edge> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for info in [start, end] {
        for edge in graph_edges(info) {
            let GraphEdge { topic, source, from, callback, to } = edge;
            if seen.insert((source, callback)) {
                let ends = [from, to].map(|id| info.loops[id].full_name());
                all.push(Edge { topic: topic.into(), source, callback, from, ends });
            }
        }
    }
    all
}

impl Log {
    pub(super) fn new(workers: Vec<Vec<Call>>) -> Self {
        let mut by_loop = Table::<LoopId, Vec<_>>::new();
        for (worker, calls) in workers.iter().enumerate() {
            for (n, call) in calls.iter().enumerate() {
                by_loop.get_or_insert_with(call.event_loop, Vec::new).push((worker, n));
            }
        }
        Self { workers, by_loop }
    }

    /// The arrival of the message of call `n` of a worker, from the loop `from`. The sender is the
    /// last call of that loop that began before; `None` if there is none.
    pub(super) fn arrival(&self, worker: usize, n: usize, from: LoopId) -> Option<Arrival> {
        let (calls, senders) = (&self.workers[worker], self.by_loop.get(from)?);
        let start_ns = calls[n].start_ns;
        let began = |&(worker, n): &(usize, usize)| self.workers[worker][n].start_ns < start_ns;
        let sender = senders.partition_point(began).checked_sub(1)?;
        let (on, last) = senders[sender];
        let sent_ns = self.workers[on][last].end_ns;
        let crosses = on != worker;
        let waited = match crosses {
            false => last + 1 != n,
            true => n > 0 && calls[n - 1].end_ns > sent_ns,
        };
        let hop_ns = (!waited).then(|| start_ns.saturating_sub(sent_ns));
        Some(Arrival { sender, crosses, hop_ns })
    }
}

/// The hop times of an edge, on one core and across cores.
#[derive(Default)]
struct Times {
    same_ns: Vec<u64>,
    cross_ns: Vec<u64>,
}

/// The costs of the edges that were observed.
pub(super) fn hops(edges: &[Edge], log: &Log) -> Vec<Hop> {
    let edge_of: BTreeMap<_, _> =
        edges.iter().enumerate().map(|(n, edge)| ((edge.source, edge.callback), n)).collect();
    let mut times: Vec<Times> = edges.iter().map(|_| Times::default()).collect();
    for (worker, calls) in log.workers.iter().enumerate() {
        for (n, call) in calls.iter().enumerate() {
            let Some(&edge) = edge_of.get(&(call.event.source, call.callback)) else { continue };
            let arrival = log.arrival(worker, n, edges[edge].from);
            if let Some(Arrival { crosses, hop_ns: Some(hop_ns), .. }) = arrival {
                let Times { same_ns, cross_ns } = &mut times[edge];
                if crosses { cross_ns } else { same_ns }.push(hop_ns);
            }
        }
    }
    let mut hops: Vec<Hop> = Vec::new();
    for (edge, times) in edges.iter().zip(times) {
        let [same_core, cross_core] = [times.same_ns, times.cross_ns].map(DurationHistogram::of);
        if same_core.is_none() && cross_core.is_none() {
            continue;
        }
        let [from, to] = edge.ends.clone();
        Hop { topic: edge.topic.clone(), from, to, same_core, cross_core }.add_to(&mut hops);
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_executor::{Graph, Message, QoS, SourceId, Time};
    use std::time::Duration;

    /// A graph in which `/a` publishes on `/t`, to which `/b` and `/c` subscribe; `/d` has only a
    /// timer.
    fn graph() -> GraphInfo {
        let graph = Graph::new();
        let a = graph.create_node("a", ()).unwrap();
        let out = a.create_publisher::<u8>("t", QoS::default()).unwrap();
        a.create_timer(Duration::from_millis(1), move |_, _| out.publish(1)).unwrap();
        for name in ["b", "c"] {
            let node = graph.create_node(name, ()).unwrap();
            node.create_subscription("t", QoS::default(), |_, _: &Message<u8>, _| {}).unwrap();
        }
        let d = graph.create_node("d", ()).unwrap();
        d.create_timer(Duration::from_millis(1), |_, _| {}).unwrap();
        graph.info()
    }

    /// A worker with these calls: callback, begin, end.
    fn worker(info: &GraphInfo, calls: &[(u32, u64, u64)]) -> Box<dyn Recorder> {
        let publisher = info.topics[0].publishers[0].1;
        let mut profiler = Profiler::new(info);
        for &(callback, start, end) in calls {
            let callback = CallbackId(callback);
            let takes = info.topics[0].subscriptions.contains(&callback);
            let source = if takes { publisher } else { SourceId(u32::MAX) };
            let dispatch = Dispatch {
                time: Time::from_nanos(start),
                event_loop: info.callbacks[callback].event_loop,
                callback,
                event: EventId { source, sequence: 0 },
            };
            profiler.started(&dispatch);
            let time = Time::from_nanos(end);
            profiler.finished(&dispatch, Completion { time, digest: None });
        }
        Box::new(profiler)
    }

    #[test]
    fn hops_count_only_without_waiting() {
        let info = graph();
        let [a, b, c, d] = [0, 1, 2, 3];
        let one = [
            (a, 100, 110),
            (b, 113, 120), // at once: 3
            (a, 200, 210),
            (d, 211, 220),
            (b, 221, 230), // after another one
            (a, 300, 310),
            (b, 307, 312), // cannot be on one core; the clock's fault counts as zero
        ];
        let other = [
            (c, 150, 160), // idle until then: 40
            (d, 205, 215),
            (c, 217, 220), // was busy at 210
            (c, 305, 320), // there before the end
        ];
        let both = [worker(&info, &one), worker(&info, &other)];
        let Recorded { callbacks, log, .. } = recorded(&info, both);
        assert_eq!(callbacks.len(), 4);
        let hop = |to: &str, same_core, cross_core| {
            let [topic, from, to] = ["/t", "/a", to].map(String::from);
            Hop { topic, from, to, same_core, cross_core }
        };
        assert_eq!(
            hops(&edges(&info, &info), &log),
            [
                hop("/b", DurationHistogram::of([3, 0]), None),
                hop("/c", None, DurationHistogram::of([40, 0]))
            ]
        );
    }

    #[test]
    fn a_message_without_a_sender_is_not_a_hop() {
        let info = graph();
        let early = worker(&info, &[(1, 5, 6), (0, 10, 20)]);
        let edges = edges(&info, &info);
        assert_eq!(hops(&edges, &recorded(&info, [early]).log), []);
        let Recorded { callbacks, log, .. } = recorded(&info, []);
        assert_eq!((callbacks, hops(&edges, &log)), (vec![], vec![]));
    }
}
