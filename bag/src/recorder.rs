//! The recorder: a node that subscribes to topics and writes their messages.

mod tape;

use crate::inlet::{Inlet, Tap};
use crate::interfaces::RecordSink;
use crate::message_types::{Carried, MessageTypes, Subscribe, subscribe_raw};
use crate::recording::{Definition, Topic, absolute};
use crate::writer_thread::{Shared, WriterThread, incomplete};
use ringspin_executor::{Durability, Error, ErrorKind, Graph, QoS, Reliability, Result};
use std::collections::BTreeMap;
use std::sync::Arc;
use tape::{Tape, TopicCounters};

/// The number of messages of one topic that may wait for the recorder, unless it is chosen.
const QUEUE_DEPTH: usize = 1000;

/// The number of messages on their way to the writing thread, unless it is chosen.
const RING_CAPACITY: usize = 1024;

/// Records the messages of topics.
///
/// The node `/rosbag2_recorder` shares each message with a thread that serializes and writes it; no
/// callback waits for a disk. Between them is a ring of fixed size. Live, a message for which it
/// has no room is not recorded and is counted. In deterministic mode time stands still until it has
/// room, and the times of the recording are simulated ones: equal runs write equal recordings.
pub struct Recorder {
    sink: Box<dyn RecordSink>,
    topics: Option<Vec<String>>,
    exclude: Vec<String>,
    includes_hidden: bool,
    raw: BTreeMap<String, Topic>,
    queue_depth: usize,
    ring_capacity: usize,
}

/// The completed recording of a recorder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordReport {
    /// The recorded topics, in order of their names.
    pub topics: Vec<RecordedTopic>,
    /// The topics that are not recorded because their messages are no known ROS messages.
    pub unrecorded: Vec<String>,
    /// The topics that are not recorded because they are hidden, such as service events.
    pub hidden: Vec<String>,
}

/// The messages of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedTopic {
    /// The name.
    pub name: String,
    /// The number of recorded messages.
    pub messages: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Messages that are not recorded because the writing thread was behind.
    pub overflow: u64,
    /// Messages that are not recorded because they did not reach the recorder: its queue was full,
    /// or they were lost on their way.
    pub missed: u64,
}

impl RecordReport {
    /// The number of recorded messages.
    pub fn messages(&self) -> u64 {
        self.topics.iter().map(|topic| topic.messages).sum()
    }

    /// The number of messages that are not recorded.
    pub fn lost(&self) -> u64 {
        self.topics.iter().map(|topic| topic.overflow + topic.missed).sum()
    }
}

impl Recorder {
    /// A recorder of all topics but hidden ones, those with a part that begins with `_`.
    pub fn new(sink: impl RecordSink + 'static) -> Self {
        Self {
            sink: Box::new(sink),
            topics: None,
            exclude: Vec::new(),
            includes_hidden: false,
            raw: BTreeMap::new(),
            queue_depth: QUEUE_DEPTH,
            ring_capacity: RING_CAPACITY,
        }
    }

    /// Records these topics only; hidden ones may be among them.
    #[must_use]
    pub fn topics<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.topics = Some(names.into_iter().map(absolute).collect());
        self
    }

    /// Records hidden topics as well.
    #[must_use]
    pub fn include_hidden(mut self) -> Self {
        self.includes_hidden = true;
        self
    }

    /// Does not record these topics.
    #[must_use]
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.exclude.extend(names.into_iter().map(absolute));
        self
    }

    /// Describes topics that carry [`RawMessage`](ringspin_messages::RawMessage), such as those of
    /// [a player](crate::PlayerHandle::raw_topics): their bytes are recorded as they are. A
    /// described topic that is not in the graph is subscribed to as well.
    #[must_use]
    pub fn raw_topics(mut self, topics: impl IntoIterator<Item = Topic>) -> Self {
        self.raw.extend(topics.into_iter().map(|topic| (topic.name.clone(), topic)));
        self
    }

    /// Sets the number of messages of each topic that may wait for the recorder, 1000 by default.
    #[must_use]
    pub fn queue_depth(mut self, messages: usize) -> Self {
        self.queue_depth = messages;
        self
    }

    /// Sets the number of messages that may wait for the writing thread, 1024 by default. They are
    /// shared, not copied.
    ///
    /// # Panics
    /// If it is zero.
    #[must_use]
    pub fn ring_capacity(mut self, messages: usize) -> Self {
        assert!(messages > 0, "the ring of a recorder has room for at least one message");
        self.ring_capacity = messages;
        self
    }

    /// Adds the recorder to `graph`, after the nodes that it records: it subscribes to the topics
    /// that are there.
    ///
    /// # Errors
    /// A chosen topic is not in the graph or has no known type, or the node, a subscription or the
    /// recording was not created.
    pub fn add_to(mut self, graph: &Graph, types: &MessageTypes) -> Result<RecorderHandle> {
        let (chosen, left_out) = self.choose(graph, types)?;
        let ids = chosen.iter().map(|of| self.sink.add_topic(&of.topic).map_err(incomplete));
        let ids = ids.collect::<Result<Vec<_>>>()?;
        let counters: Arc<[_]> = chosen.iter().map(|_| TopicCounters::default()).collect();
        let writer = WriterThread::with_topics(self.sink, ids, self.ring_capacity)?;
        let shared = writer.shared().clone();
        let tape = Tape::new(writer, counters.clone());
        let node = graph.create_node::<Box<dyn Tap>>("rosbag2_recorder", Box::new(tape));
        let node = node.map_err(|e| e.reworded(|text| format!("failed to record: {text}")))?;
        let names: Vec<_> = chosen.iter().map(|chosen| chosen.topic.name.clone()).collect();
        for (index, Chosen { topic, qos, subscribe }) in chosen.into_iter().enumerate() {
            let inlet = Inlet { topic: topic.name.clone(), index, qos };
            subscribe(&node, inlet).map_err(|error| {
                error.reworded(|text| format!("failed to record topic {}: {text}", topic.name))
            })?;
        }
        Ok(RecorderHandle { shared, counters, names, left_out })
    }

    /// The topics to record, and a report with the names of those that are left out.
    fn choose(
        &mut self,
        graph: &Graph,
        types: &MessageTypes,
    ) -> Result<(Vec<Chosen>, RecordReport)> {
        let info = graph.info();
        let known = info.topics.iter().map(|topic| topic.name.clone());
        let known: Vec<_> = known.collect();
        let mut names = match &self.topics {
            Some(names) => names.clone(),
            None => known.iter().chain(self.raw.keys()).cloned().collect::<Vec<_>>(),
        };
        names.retain(|name| !self.exclude.contains(name));
        names.sort_unstable();
        names.dedup();
        let (mut chosen, mut left_out) = (Vec::new(), RecordReport::default());
        let is_left_out =
            |name: &mut String| self.topics.is_none() && !self.includes_hidden && is_hidden(name);
        left_out.hidden = names.extract_if(.., is_left_out).collect();
        for name in names {
            let rust_type = match (types.carried(&info, &name), self.raw.get(&name)) {
                (Carried::Typed(of), _) => {
                    let definition =
                        Definition { encoding: "ros2msg".into(), text: of.definition.into() };
                    let topic = Topic {
                        name: name.clone(),
                        type_name: of.name.into(),
                        type_hash: Some(of.hash.into()),
                        definition: Some(definition),
                        serialization_format: "cdr".into(),
                        offered_qos: Vec::new(),
                    };
                    chosen.push(self.chosen(graph, topic, of.subscribe));
                    continue;
                }
                (Carried::Raw | Carried::Nothing, Some(topic)) => {
                    chosen.push(self.chosen(graph, types.defined(topic), subscribe_raw));
                    continue;
                }
                (Carried::Nothing, None) => {
                    let text = format!(
                        "failed to record topic {name}: no node publishes it or subscribes to it; \
                         add the recorder after the nodes, or use one of {}",
                        known.join(", ")
                    );
                    return Err(Error::new(ErrorKind::NotFound, text).on_topic(name));
                }
                (Carried::Raw, None) => "RawMessage",
                (Carried::Unknown(rust_type), _) => rust_type,
            };
            if self.topics.is_some() {
                let text = format!(
                    "failed to record topic {name}: its messages of type {rust_type} are no known \
                     ROS messages; add the type by `MessageTypes::with`"
                );
                return Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(name));
            }
            tracing::warn!(topic = name, rust_type, "not recorded: no known ROS messages");
            left_out.unrecorded.push(name);
        }
        Ok((chosen, left_out))
    }

    fn chosen(&self, graph: &Graph, mut topic: Topic, subscribe: Subscribe) -> Chosen {
        let offered: Vec<_> =
            graph.offered_qos(&topic.name).into_iter().map(|(_, qos)| qos).collect();
        let mut qos = QoS::keep_last(self.queue_depth).best_effort().message_times();
        qos = qos.held(self.ring_capacity + 1);
        if !offered.is_empty() {
            topic.offered_qos = offered;
        }
        // The subscription requests no more than every publisher offers.
        let all = |offers: fn(&QoS) -> bool| {
            !topic.offered_qos.is_empty() && topic.offered_qos.iter().all(offers)
        };
        if all(|qos| qos.reliability() == Reliability::Reliable) {
            qos = qos.reliable();
        }
        if all(|qos| qos.durability() == Durability::TransientLocal) {
            qos = qos.transient_local();
        }
        Chosen { topic, qos, subscribe }
    }
}

/// A topic that is to be recorded.
struct Chosen {
    topic: Topic,
    qos: QoS,
    subscribe: Subscribe,
}

/// Whether ROS 2 tools hide the topic unless it is asked for.
fn is_hidden(topic: &str) -> bool {
    topic.contains("/_")
}

/// The running recording of a recorder; cheap to clone.
#[derive(Clone, Debug)]
pub struct RecorderHandle {
    shared: Arc<Shared>,
    /// The counters of each topic, by topic number.
    counters: Arc<[TopicCounters]>,
    names: Vec<String>,
    /// The names of the topics that are not recorded.
    left_out: RecordReport,
}

impl RecorderHandle {
    /// Completes the recording, once the executor has returned from spinning, and returns the
    /// report; when it is called again, too. A dropped executor completes the recording as well,
    /// and logs an error.
    ///
    /// # Errors
    /// The recording is not complete.
    pub fn finish(&self) -> Result<RecordReport> {
        let written = self.shared.finish()?;
        let topics = self.names.iter().zip(&*self.counters).zip(written);
        let topics = topics.map(|((name, counters), written)| RecordedTopic {
            name: name.clone(),
            messages: written.messages,
            bytes: written.bytes,
            overflow: counters.overflow.get(),
            missed: counters.missed.get(),
        });
        let report = RecordReport { topics: topics.collect(), ..self.left_out.clone() };
        for RecordedTopic { name, overflow, missed, .. } in &report.topics {
            if overflow + missed > 0 {
                tracing::warn!(topic = name, overflow, missed, "messages are not recorded");
            }
        }
        Ok(report)
    }

    /// The messages that are not recorded so far.
    pub fn lost(&self) -> u64 {
        let lost = |topic: &TopicCounters| topic.overflow.get() + topic.missed.get();
        self.counters.iter().map(lost).sum()
    }
}
