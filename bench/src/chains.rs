//! Latencies of chains in a live run, from its timeline.
//!
//! A recorder sees when callbacks start and end, not when they publish. The call that sent a
//! message is the one with the message's number, where the sender's callback sends one message in
//! each call; otherwise the last call of the sender that started before the message was received,
//! which is too late a call if the message waited for longer than the sender's period.

use ringspin_executor::GraphInfo;
use ringspin_modes::{ChainError, ChainPath, graph_edges};
use ringspin_report::results::Series;
use ringspin_simulation::timeline::{Span, Timeline};
use std::collections::BTreeMap;
use std::time::Duration;

/// A chain to be measured, with its deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The path through the graph.
    pub path: ChainPath,
    /// The longest latency; a longer one is a miss.
    pub deadline: Option<Duration>,
}

impl Chain {
    /// A chain through `steps` (see [`ChainPath`]) without a deadline.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        steps: impl IntoIterator<Item = S>,
    ) -> Self {
        Self { path: ChainPath::new(name, steps), deadline: None }
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The latencies in a timeline of this graph, from the start of the first callback to the end
    /// of the last one, for each call of the last callback whose message came along the path.
    /// O(n log n) in the calls.
    ///
    /// # Errors
    /// [`ChainError`] if the graph cannot have this chain.
    pub fn latencies(&self, timeline: &Timeline, info: &GraphInfo) -> Result<Series, ChainError> {
        let steps = self.path.resolve(info)?;
        let place: BTreeMap<_, _> = info.callbacks.keys().zip(0..).collect();
        let steps: Vec<Vec<usize>> =
            steps.iter().map(|step| step.iter().map(|id| place[id]).collect()).collect();
        let calls = Calls::new(timeline, info);
        let last = steps.last().map_or(&[][..], Vec::as_slice);
        let ends = timeline.spans().iter().filter(|span| last.contains(&span.callback));
        let latency = |end: &Span| {
            let mut first = end;
            for step in steps.iter().rev().skip(1) {
                first = calls.sender(first, step)?;
            }
            Some(end.end_ns - first.start_ns)
        };
        let deadline_ns = self.deadline.map(|of| u64::try_from(of.as_nanos()).unwrap_or(u64::MAX));
        let series = Series::new(&self.path.name, ends.filter_map(latency).collect());
        Ok(Series { deadline_ns, ..series })
    }
}

/// The calls of a timeline by their sender.
struct Calls<'a> {
    /// By callback, in order.
    by_callback: Vec<Vec<&'a Span>>,
    /// By source of messages: the callbacks of the loop that sends them.
    senders: BTreeMap<u32, Vec<usize>>,
    /// The sources whose messages have the numbers of the calls of a callback.
    numbered: BTreeMap<u32, usize>,
}

impl<'a> Calls<'a> {
    fn new(timeline: &'a Timeline, info: &GraphInfo) -> Self {
        let mut by_callback = vec![Vec::new(); timeline.callbacks().len()];
        for span in timeline.spans() {
            by_callback[span.callback].push(span);
        }
        let place: BTreeMap<_, _> = info.callbacks.keys().zip(0..).collect();
        let callbacks_of = |event_loop| -> Vec<usize> {
            let of = &info.callbacks;
            let of = of.iter().filter(|(_, callback)| callback.event_loop == event_loop);
            of.map(|(id, _)| place[&id]).collect()
        };
        let edges = graph_edges(info);
        let senders: BTreeMap<_, _> =
            edges.iter().map(|edge| (edge.source.0, callbacks_of(edge.from))).collect();
        let mut calls = Self { by_callback, senders, numbered: BTreeMap::new() };
        if timeline.displaced() == 0 {
            calls.numbered = calls.numbered_sources(timeline);
        }
        calls
    }

    /// Finds the callbacks that send one message in each call: as many messages as calls, but for
    /// those under way at the end, and no message before its call.
    fn numbered_sources(&self, timeline: &Timeline) -> BTreeMap<u32, usize> {
        let mut received: BTreeMap<u32, Vec<&Span>> = BTreeMap::new();
        for span in timeline.spans() {
            received.entry(span.source).or_default().push(span);
        }
        let sends = |callback: usize, received: &[&Span]| {
            let calls = &self.by_callback[callback];
            let newest = received.iter().map(|span| span.sequence).max().unwrap_or(0) as usize;
            let is_after = |span: &&Span| {
                calls.get(span.sequence as usize).is_some_and(|of| of.start_ns <= span.start_ns)
            };
            newest + 3 > calls.len() && received.iter().all(is_after)
        };
        let of = |(source, callbacks): (&u32, &Vec<usize>)| {
            let received = received.get(source)?;
            let callback = callbacks.iter().find(|&&callback| sends(callback, received))?;
            Some((*source, *callback))
        };
        self.senders.iter().filter_map(of).collect()
    }

    /// The call of one of the callbacks of `step` that sent the message of `call`.
    fn sender(&self, call: &Span, step: &[usize]) -> Option<&'a Span> {
        let callbacks = self.senders.get(&call.source)?;
        if let Some(callback) = self.numbered.get(&call.source) {
            let sender = self.by_callback[*callback].get(call.sequence as usize)?;
            return step.contains(callback).then_some(*sender);
        }
        let before = |callback: &usize| {
            let calls = &self.by_callback[*callback];
            let count = calls.partition_point(|of| of.start_ns < call.start_ns);
            count.checked_sub(1).map(|last| calls[last])
        };
        let last = callbacks.iter().filter_map(before).max_by_key(|span| span.start_ns)?;
        step.contains(&last.callback).then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_executor::{Graph, Message, QoS};
    use ringspin_simulation::timeline::{Lane, Parts, TimelineCallback};

    /// `/source` publishes to `/work`, which publishes to `/sink`; `/work` has a timer, too.
    fn graph() -> GraphInfo {
        let graph = Graph::new();
        let source = graph.create_node("source", ()).unwrap();
        let first = source.create_publisher::<u8>("first", QoS::default()).unwrap();
        source.create_timer(Duration::from_millis(1), move |_, _| first.publish(1)).unwrap();
        let work = graph.create_node("work", ()).unwrap();
        let second = work.create_publisher::<u8>("second", QoS::default()).unwrap();
        work.create_subscription("first", QoS::default(), move |_, _: &Message<u8>, _| {
            second.publish(1)
        })
        .unwrap();
        work.create_timer(Duration::from_millis(1), |_, _| {}).unwrap();
        let sink = graph.create_node("sink", ()).unwrap();
        sink.create_subscription("second", QoS::default(), |_, _: &Message<u8>, _| {}).unwrap();
        graph.info()
    }

    /// A timeline of calls: callback, start, end, number of the message.
    fn timeline(info: &GraphInfo, calls: &[(usize, u64, u64, u64)]) -> Timeline {
        let source_of = |topic: &str| {
            let topic = info.topics.iter().find(|of| of.name == topic).unwrap();
            topic.publishers[0].1.0
        };
        let sources = [u32::MAX, source_of("/first"), u32::MAX, source_of("/second")];
        let spans = calls.iter().map(|&(callback, start_ns, end_ns, sequence)| Span {
            lane: 0,
            callback,
            start_ns,
            end_ns,
            source: sources[callback],
            sequence,
        });
        let callback = TimelineCallback { event_loop: String::new(), name: String::new() };
        let parts = Parts {
            lanes: vec![Lane { name: String::new(), core: None }],
            callbacks: vec![callback; 4],
            spans: spans.collect(),
            ..Parts::default()
        };
        Timeline::try_from(parts).unwrap()
    }

    const SOURCE: usize = 0;
    const WORK: usize = 1;
    const TIMER: usize = 2;
    const SINK: usize = 3;

    fn chain() -> Chain {
        Chain::new("all", ["/source", "/work", "/sink"]).with_deadline(Duration::from_nanos(70))
    }

    #[test]
    fn messages_that_waited_are_attributed_to_their_own_call() {
        let info = graph();
        let calls = [
            (SOURCE, 100, 110, 0),
            (WORK, 120, 130, 0),
            (SINK, 140, 150, 0),
            (SOURCE, 200, 210, 1),
            (SOURCE, 215, 218, 2),
            (WORK, 220, 230, 1), // waited, and the next one was sent already
            (WORK, 231, 240, 2),
            (SINK, 250, 280, 1),
            (SINK, 281, 290, 2),
        ];
        let latencies = chain().latencies(&timeline(&info, &calls), &info).unwrap();
        assert_eq!(latencies.samples_ns, [50, 80, 75]);
        assert_eq!((latencies.deadline_ns, latencies.misses()), (Some(70), 2));
    }

    #[test]
    fn a_message_of_another_callback_of_the_sender_is_no_sample() {
        let info = graph();
        // The timer of the node in the middle sent the second message to the sink.
        let calls = [
            (SOURCE, 100, 110, 0),
            (WORK, 120, 130, 0),
            (SINK, 140, 150, 0),
            (TIMER, 160, 170, 0),
            (SINK, 180, 190, 1),
            (SINK, 200, 210, 9),
        ];
        let latencies = chain().latencies(&timeline(&info, &calls), &info).unwrap();
        assert_eq!(latencies.samples_ns, [50]);
        let unknown = Chain::new("no", ["/source", "/sink"]);
        assert!(unknown.latencies(&timeline(&info, &calls), &info).is_err());
    }
}
