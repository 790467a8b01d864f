//! The memory that events will touch, so that it can be fetched in time.
//!
//! In simulated time the next timer is known: it has the next deadline. In a large graph its data
//! is far away in memory, and along a chain of pointers. See [`PrefetchPlan`]. In the live modes a
//! thread that rested for long has nothing of its graph in a near cache; it wakes a little before a
//! deadline, and fetches all that its workers may touch.

use super::Worker;
use crate::base::event::{CallbackId, LoopId};
use crate::base::info::{GraphInfo, TopicInfo};
use crate::base::table::Table;
use crate::delivery::topic::{AnyTopic, NamedTopic};
use ringspin_ringbuf::{CacheLines, PrefetchPlan};
use std::sync::{Arc, Weak};

/// Above this the near caches cannot hold the memory of a worker.
const CALLBACKS_MAX: usize = 1_000;

/// Below this the near caches hold everything anyway.
const LARGE_BYTES: usize = 256 << 10;

/// A topic of the graph's description, and the topic.
type Described<'a> = (&'a TopicInfo, &'a Arc<dyn AnyTopic>);

/// The topics to which each loop publishes.
fn published<'a>(
    info: &'a GraphInfo,
    topics: &'a [NamedTopic],
) -> Table<LoopId, Vec<Described<'a>>> {
    let mut published = info.loops.map(|_, _| Vec::new());
    // The topics of services come after the others.
    for (described, (_, topic)) in info.topics.iter().zip(topics) {
        for &(publisher, _) in &described.publishers {
            published[publisher].push((described, topic));
        }
    }
    published
}

impl Worker {
    /// The memory that its events may touch, and the messages that they publish; now, so that it
    /// has to be asked again when that has grown; none of a worker with more than a thousand
    /// callbacks, because their memory finds no room in a near cache. Allocates.
    pub fn cache_lines(&self) -> CacheLines {
        let mut lines = CacheLines::default();
        if self.routes.len() > CALLBACKS_MAX {
            return lines;
        }
        lines.add(self);
        lines.add_shared(&self.counters);
        self.inbox.add_to(&mut lines);
        self.picker.add_to(&mut lines);
        (0..self.routes.len()).for_each(|token| self.add_to(token as u32, &mut lines));
        lines.add(&self.callback_counters[..]);
        lines.add(&self.loops[..]);
        lines.add(&self.names[..]);
        self.names.iter().for_each(|name| lines.add(&**name));
        let topics = self.published.iter().filter_map(Weak::upgrade);
        topics.for_each(|topic| topic.add_to(&mut lines));
        lines.dedup();
        lines
    }

    /// Notes the topics of `info` to which its loops publish.
    pub(crate) fn note_published(&mut self, topics: &[NamedTopic], info: &GraphInfo) {
        let published = published(info, topics);
        let loops = self.loops.iter().filter_map(|id| published.get(*id));
        self.published = loops.flatten().map(|(_, topic)| Arc::downgrade(topic)).collect();
    }

    /// Collects the memory that the expiries of its timers touch: directly, and through the
    /// messages that they may publish; not for small graphs. `topics` are those of `info`, in its
    /// order; `token` is the worker's number of each callback.
    pub(crate) fn plan_prefetches(
        &mut self,
        topics: &[NamedTopic],
        token: &dyn Fn(CallbackId) -> u32,
        info: &GraphInfo,
    ) {
        let published = published(info, topics);
        let mut prefetch_plan = PrefetchPlan::default();
        for callback in self.timers.callbacks() {
            let mut lines = CacheLines::default();
            self.add_to(token(callback), &mut lines);
            let event_loop = info.callbacks[callback].event_loop;
            for (described, topic) in &published[event_loop] {
                topic.add_to(&mut lines);
                let subscriptions = described.subscriptions.iter();
                subscriptions.for_each(|callback| self.add_to(token(*callback), &mut lines));
            }
            prefetch_plan.add(lines);
        }
        if prefetch_plan.bytes() >= LARGE_BYTES {
            self.timers.set_prefetch_plan(prefetch_plan);
        }
    }

    /// Adds the lines that the dispatch of `token` touches.
    fn add_to(&self, token: u32, lines: &mut CacheLines) {
        let route = self.routes.get(token as usize).filter(|route| route.is_callback());
        let Some(route) = route else { return };
        lines.add(route);
        lines.add(self.calls.of(token as usize));
        if let Some(timer) = route.timer.get() {
            self.timers.add_to(timer, lines);
        }
        let body = &self.bodies[route.loop_index as usize];
        lines.add(body);
        body.add_to(route.target.entity, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::qos::QoS;
    use crate::base::stop::StopHandle;
    use crate::base::time::{LiveClock, Time};
    use crate::delivery::control::FailurePolicy;
    use crate::delivery::message::Message;
    use crate::delivery::sim_network::{Direct, Scope, SimNetwork};
    use crate::running::graph::{Graph, Plan, ReadyOrder, TimeSource};
    use std::time::Duration;

    const LINE_BYTES: usize = 64;

    /// Lines of a timer, and of the message that its callback publishes; on average, for the
    /// smaller values share lines. More of them would not arrive in time, and each of them that is
    /// not planned is waited for.
    const LINES_MAX: usize = 22;

    /// The worker of `nodes` nodes in simulated time, each with a timer that sends a message to
    /// the next node.
    fn ring(nodes: usize) -> (Graph, Worker) {
        let graph = Graph::new();
        for n in 0..nodes {
            let node = graph.create_node(&format!("node_{n}"), 0_u64).unwrap();
            let next = format!("to_{}", (n + 1) % nodes);
            let output = node.create_publisher(&next, QoS::keep_last(1)).unwrap();
            let send = move |seen: &mut u64, _: &mut crate::Context<'_>| output.publish(*seen);
            node.create_timer(Duration::from_millis(1), send).unwrap();
            let count = |seen: &mut u64, _: &Message<u64>, _: &mut crate::Context<'_>| *seen += 1;
            node.create_subscription(&format!("to_{n}"), QoS::keep_last(1), count).unwrap();
        }
        let plan = Plan::new(vec![graph.info().topological_order()], ReadyOrder::Fifo);
        let network = SimNetwork::new(Time::ZERO, Box::new(Direct), Scope::default());
        let time = TimeSource::Simulated(Arc::new(network));
        let policy = FailurePolicy::IsolateNode;
        let frozen = graph.freeze(&plan, &StopHandle::default(), policy, &time).unwrap();
        let worker = frozen.workers.into_iter().next().unwrap();
        (graph, worker)
    }

    #[test]
    fn expiry_and_its_message_touch_few_cache_lines() {
        const NODES: usize = 512;
        let (_graph, worker) = ring(NODES);
        let lines = worker.timers.planned_bytes() / LINE_BYTES;
        assert!(lines > 0, "a graph of this size is planned");
        assert!(lines <= LINES_MAX * NODES, "{lines} lines of {NODES} timers");
    }

    /// Beside its own memory that of the topics to which it publishes.
    #[test]
    fn live_worker_knows_the_memory_of_its_messages() {
        let graph = Graph::new();
        let node = graph.create_node("node", ()).unwrap();
        let out = node.create_publisher::<u64>("heard", QoS::keep_last(1)).unwrap();
        let seen = graph.create_node("seen", ()).unwrap();
        let hear = |_: &mut (), _: &Message<u64>, _: &mut crate::Context<'_>| ();
        seen.create_subscription("heard", QoS::keep_last(1), hear).unwrap();
        let loops = graph.info().topological_order();
        let loops = loops.into_iter().map(|id| vec![id]).collect();
        let time = TimeSource::Live(Arc::new(LiveClock::start()));
        let policy = FailurePolicy::IsolateNode;
        let plan = Plan::new(loops, ReadyOrder::RoundRobin);
        let frozen = graph.freeze(&plan, &StopHandle::default(), policy, &time).unwrap();
        out.publish(1).unwrap();
        let of_topics = frozen.workers.into_iter().map(|mut worker| {
            let all = worker.cache_lines().len();
            worker.published.clear();
            all - worker.cache_lines().len()
        });
        let of_topics: Vec<_> = of_topics.collect();
        assert!(of_topics[0] > 0 && of_topics[1] == 0, "{of_topics:?}");
    }

    #[test]
    fn small_graph_is_not_planned() {
        let (_graph, worker) = ring(32);
        assert_eq!(worker.timers.planned_bytes(), 0);
    }
}
