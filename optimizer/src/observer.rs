//! Observers: what a live run tells of its machine and its graph.
//!
//! A recorder sees when callbacks start and end, not when they publish. So what is measured of a
//! hop is what a simulation needs, whose messages leave at the end of their callback: from there to
//! the start of the callback that gets the message, where nothing else kept that from starting. On
//! one core, it is the very next callback; on another, the core had nothing to do when the message
//! left. A message that leaves before the end of its callback may be there before it: its hop
//! counts as zero.
//!
//! Which call of a callback sent a message is not recorded either. It is the last one of the
//! sending loop that began before the message's own callback did: with an idle core at the other
//! end, nothing else would have let the message wait.

use crate::hop::Hop;
use crate::spread::Spread;
use ringspin_executor::{CallbackId, Completion, Dispatch, GraphInfo, Recorder, SourceId};
use ringspin_modes::graph_edges;
use ringspin_modes::models::{DurationProfile, Profiler};
use std::any::Any;
use std::collections::BTreeMap;

/// How many calls of a worker are kept: 8 MiB. Durations are measured of later ones, too.
const CALLS_MAX: usize = 1 << 18;

/// A recorder that measures how long callbacks and hops take, by the clock of their executor; for
/// [`with_recorders`](ringspin_modes::Executor::with_recorders) of a live executor.
///
/// What it takes is in [`Profile::of`](crate::Profile::of). About 8 MiB for each worker, and what
/// its [`Profiler`] needs; recording takes constant time. Hops are measured until 262 144 callbacks
/// have run on a worker.
pub struct Observer {
    profiler: Profiler,
    calls: Vec<Call>,
}

/// One call of a callback.
#[derive(Clone, Copy)]
struct Call {
    start_ns: u64,
    end_ns: u64,
    callback: CallbackId,
    source: SourceId,
}

impl Observer {
    /// Has measured nothing yet.
    pub fn new(info: &GraphInfo) -> Self {
        Self { profiler: Profiler::new(info), calls: Vec::with_capacity(CALLS_MAX) }
    }
}

impl Recorder for Observer {
    fn started(&mut self, dispatch: &Dispatch) {
        self.profiler.started(dispatch);
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.profiler.finished(dispatch, completion);
        if self.calls.len() < CALLS_MAX {
            self.calls.push(Call {
                start_ns: dispatch.time.as_nanos(),
                end_ns: completion.time.as_nanos(),
                callback: dispatch.callback,
                source: dispatch.event.source,
            });
        }
    }
}

/// What the observers among `recorders` saw of a graph: durations and hops.
pub(crate) fn observed(
    info: &GraphInfo,
    recorders: impl IntoIterator<Item = Box<dyn Recorder>>,
) -> (DurationProfile, Vec<Hop>) {
    let any = recorders.into_iter().map(|recorder| recorder as Box<dyn Any>);
    let observers = any.filter_map(|recorder| recorder.downcast::<Observer>().ok());
    let (profilers, workers): (Vec<_>, Vec<_>) =
        observers.map(|observer| (observer.profiler, observer.calls)).unzip();
    let durations = profilers.into_iter().map(|profiler| profiler.profile());
    let durations = durations.fold(DurationProfile::default(), DurationProfile::merge);
    (durations, hops(info, &workers))
}

/// The times of an edge, by whether it crosses from core to core.
#[derive(Default)]
struct Times {
    same_ns: Vec<u64>,
    cross_ns: Vec<u64>,
}

fn hops(info: &GraphInfo, workers: &[Vec<Call>]) -> Vec<Hop> {
    let edges = graph_edges(info);
    let edge_of: BTreeMap<_, _> =
        edges.iter().enumerate().map(|(n, edge)| ((edge.source, edge.callback), n)).collect();
    let calls_of = calls_by_loop(info, workers);
    let mut times: Vec<Times> = edges.iter().map(|_| Times::default()).collect();
    for (worker, calls) in workers.iter().enumerate() {
        for (n, call) in calls.iter().enumerate() {
            let Some(&edge) = edge_of.get(&(call.source, call.callback)) else { continue };
            let senders = &calls_of[edges[edge].from.0 as usize];
            let start = |&(worker, n): &(usize, usize)| workers[worker][n].start_ns;
            let began = senders.partition_point(|at| start(at) < call.start_ns);
            let Some(&(on, sender)) = began.checked_sub(1).map(|last| &senders[last]) else {
                continue;
            };
            let sent_ns = workers[on][sender].end_ns;
            let taken_ns = call.start_ns.saturating_sub(sent_ns);
            if on == worker && sender + 1 == n {
                times[edge].same_ns.push(taken_ns);
            } else if on != worker && (n == 0 || calls[n - 1].end_ns <= sent_ns) {
                times[edge].cross_ns.push(taken_ns);
            }
        }
    }
    let mut hops: Vec<Hop> = Vec::new();
    for (edge, times) in edges.iter().zip(times) {
        let [same_core, cross_core] = [times.same_ns, times.cross_ns].map(Spread::of);
        if same_core.is_none() && cross_core.is_none() {
            continue;
        }
        let [from, to] = [edge.from, edge.to].map(|id| info.loops[id.0 as usize].full_name());
        Hop { topic: edge.topic.into(), from, to, same_core, cross_core }.add_to(&mut hops);
    }
    hops
}

/// By event loop, its calls in order: worker and index there.
fn calls_by_loop(info: &GraphInfo, workers: &[Vec<Call>]) -> Vec<Vec<(usize, usize)>> {
    let mut calls_of = vec![Vec::new(); info.loops.len()];
    for (worker, calls) in workers.iter().enumerate() {
        for (n, call) in calls.iter().enumerate() {
            let event_loop = info.callbacks[call.callback.0 as usize].event_loop;
            calls_of[event_loop.0 as usize].push((worker, n));
        }
    }
    calls_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_executor::{EventId, Graph, Message, QoS, Time};
    use std::time::Duration;

    /// `/a` publishes on `/t`, which `/b` and `/c` take; `/d` has only a timer.
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

    /// A worker with these calls: of which callback, from when to when.
    fn worker(info: &GraphInfo, calls: &[(u32, u64, u64)]) -> Box<dyn Recorder> {
        let publisher = info.topics[0].publishers[0].1;
        let mut observer = Observer::new(info);
        for &(callback, start, end) in calls {
            let callback = CallbackId(callback);
            let takes = info.topics[0].subscriptions.contains(&callback);
            let source = if takes { publisher } else { SourceId(u32::MAX) };
            let dispatch = Dispatch {
                time: Time::from_nanos(start),
                event_loop: info.callbacks[callback.0 as usize].event_loop,
                callback,
                event: EventId { source, sequence: 0 },
            };
            observer.started(&dispatch);
            let time = Time::from_nanos(end);
            observer.finished(&dispatch, Completion { time, digest: None });
        }
        Box::new(observer)
    }

    #[test]
    fn only_hops_that_waited_for_nothing_count() {
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
        let (durations, hops) = observed(&info, [worker(&info, &one), worker(&info, &other)]);
        assert_eq!(durations.callbacks().len(), 4);
        let hop = |to: &str, same_core, cross_core| {
            let [topic, from, to] = ["/t", "/a", to].map(String::from);
            Hop { topic, from, to, same_core, cross_core }
        };
        assert_eq!(
            hops,
            [hop("/b", Spread::of([3, 0]), None), hop("/c", None, Spread::of([40, 0]))]
        );
    }

    #[test]
    fn nobody_to_send_is_no_hop() {
        let info = graph();
        let early = worker(&info, &[(1, 5, 6), (0, 10, 20)]);
        assert_eq!(observed(&info, [early]).1, []);
        assert_eq!(observed(&info, []), (DurationProfile::default(), vec![]));
    }
}
