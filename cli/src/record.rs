//! The command `record`: topics of ROS 2, of any type, as the bytes that they come as.
//!
//! It needs no graph: topics appear while it runs. The thread that records takes messages from the
//! middleware's queues, and no other process waits for it.

use crate::arguments::Record;
use crate::{Ended, Invocation, definitions, unusable};
use ringspin_bag::{Definition, Topic, TopicId, WriteOptions, Writer};
use ringspin_executor::{Durability, QoS, Reliability, Time};
use ringspin_modes::Executor;
use ringspin_ros2::rcl::{
    Context, Endpoint, Locals, MessageInfo, Node, NodeOptions, RawSubscription, RosError, type_hash,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant, SystemTime};

/// How often new topics are looked for, as in rosbag2.
const LOOKED_EVERY: Duration = Duration::from_millis(100);

/// The number of messages of one topic that may wait to be written.
const QUEUE_DEPTH: usize = 1000;

impl Invocation<'_> {
    pub(super) fn record(&mut self, record: &Record) -> Result<u8, Ended> {
        let context = Context::new(&[]).map_err(unusable)?;
        let node = Node::new(&context, "", "rosbag2_recorder", NodeOptions::default());
        let writer = Writer::create(
            &record.output,
            WriteOptions { compression: record.compression.map(Into::into) },
        );
        let (wakes, woken) = channel();
        let mut recording = Recording {
            record,
            node: node.map_err(unusable)?,
            writer: writer.map_err(unusable)?,
            tracks: Vec::new(),
            refused: BTreeSet::new(),
            wakes,
        };
        // For its handler of signals.
        let mut signals = Executor::single_core();
        signals.stop_on_ctrl_c().map_err(unusable)?;
        let stop = signals.stop_handle();
        let start = Instant::now();
        let mut looked = None::<Instant>;
        let is_over = |recording: &Recording<'_>| {
            stop.is_stopped()
                || record.duration.is_some_and(|limit| start.elapsed() >= limit)
                || record.messages.is_some_and(|limit| recording.messages() >= limit)
        };
        while !is_over(&recording) {
            if looked.is_none_or(|at| at.elapsed() >= LOOKED_EVERY) {
                recording.look()?;
                looked = Some(Instant::now());
            }
            // One message may stand for many.
            let _ = woken.recv_timeout(LOOKED_EVERY);
            while woken.try_recv().is_ok() {}
            recording.take()?;
        }
        self.say_what_was_recorded(record, recording)
    }

    fn say_what_was_recorded(
        &mut self,
        record: &Record,
        recording: Recording<'_>,
    ) -> Result<u8, Ended> {
        let (messages, path) = (recording.messages(), record.output.display());
        let Recording { writer, tracks, .. } = recording;
        writer.finish().map_err(failed)?;
        writeln!(self.out, "{messages} messages recorded in {path}")?;
        for Track { name, messages, lost, .. } in tracks {
            let lost = if lost > 0 { format!(", {lost} lost") } else { String::new() };
            writeln!(self.out, "  {name}: {messages}{lost}")?;
        }
        Ok(0)
    }
}

/// A recording of ROS 2.
struct Recording<'a> {
    record: &'a Record,
    node: Node,
    writer: Writer,
    tracks: Vec<Track>,
    /// The topics that cannot be recorded, which is said once.
    refused: BTreeSet<String>,
    wakes: Sender<()>,
}

/// A recorded topic.
struct Track {
    name: String,
    topic: TopicId,
    subscription: RawSubscription,
    messages: u64,
    lost: u64,
    /// The number of the last message, by publisher.
    last: BTreeMap<[u8; 16], u64>,
}

impl Recording<'_> {
    fn messages(&self) -> u64 {
        self.tracks.iter().map(|track| track.messages).sum()
    }

    /// Subscribes to the topics that have appeared.
    fn look(&mut self) -> Result<(), Ended> {
        for (name, types) in self.node.topics().map_err(failed)? {
            let is_known = self.tracks.iter().any(|track| track.name == name);
            if is_known || self.refused.contains(&name) || !self.is_wanted(&name) {
                continue;
            }
            let publishers = self.node.publishers(&name).map_err(failed)?;
            let [type_name] = &types[..] else {
                self.refuse(name, format!("it has the types {}", types.join(", ")));
                continue;
            };
            if publishers.is_empty() {
                continue; // Its QoS is not known yet.
            }
            if let Err(error) = self.subscribe(&name, type_name, &publishers)? {
                self.refuse(name, error.to_string());
            }
        }
        Ok(())
    }

    fn refuse(&mut self, name: String, reason: String) {
        eprintln!("warning: {name} is not recorded: {reason}");
        self.refused.insert(name);
    }

    fn is_wanted(&self, name: &String) -> bool {
        let Record { topics, exclude, .. } = self.record;
        // ROS 2 hides topics with such a part.
        let is_wanted =
            if topics.is_empty() { !name.contains("/_") } else { topics.contains(name) };
        is_wanted && !exclude.contains(name)
    }

    /// Subscribes to a topic; the inner error is of the topic alone.
    fn subscribe(
        &mut self,
        name: &str,
        type_name: &str,
        publishers: &[Endpoint],
    ) -> Result<Result<(), RosError>, Ended> {
        let offered_qos: Vec<_> = publishers.iter().map(|publisher| publisher.qos).collect();
        // As much as every publisher offers.
        let all = |offers: fn(&QoS) -> bool| offered_qos.iter().all(offers);
        let mut qos = QoS::keep_last(QUEUE_DEPTH).best_effort();
        if all(|qos| qos.reliability() == Reliability::Reliable) {
            qos = qos.reliable();
        }
        if all(|qos| qos.durability() == Durability::TransientLocal) {
            qos = qos.transient_local();
        }
        let locals = Locals::Deliver;
        let subscription = match RawSubscription::new(&self.node, name, type_name, &qos, locals) {
            Ok(subscription) => subscription,
            Err(error) => return Ok(Err(error)),
        };
        let definition = definitions::installed(type_name);
        let topic = Topic {
            name: name.into(),
            type_name: type_name.into(),
            type_hash: type_hash(type_name).unwrap_or_default(),
            definition: definition.map(|text| Definition { encoding: "ros2msg".into(), text }),
            serialization_format: "cdr".into(),
            offered_qos,
        };
        let topic = self.writer.add_topic(&topic).map_err(failed)?;
        let wakes = self.wakes.clone();
        let heard = subscription.on_new_message(move |_| {
            let _ = wakes.send(()); // At the end nothing listens.
        });
        let (messages, lost, last) = (0, 0, BTreeMap::new());
        let name = name.into();
        self.tracks.push(Track { name, topic, subscription, messages, lost, last });
        Ok(heard)
    }

    /// Writes the messages that have come.
    fn take(&mut self) -> Result<(), Ended> {
        for track in &mut self.tracks {
            let mut left = self.record.messages.unwrap_or(u64::MAX);
            while left > 0
                && let Some((bytes, info)) = track.subscription.take().map_err(failed)?
            {
                left -= 1;
                let (log_time, publish_time) = times(&info);
                let sequence = info.publication_sequence.unwrap_or_default();
                self.writer
                    .write(track.topic, log_time, publish_time, sequence as u32, bytes)
                    .map_err(failed)?;
                track.messages += 1;
                if let Some(sequence) = info.publication_sequence {
                    let last = track.last.insert(info.publisher, sequence);
                    let expected = last.map_or(sequence, |last| last + 1);
                    track.lost += sequence.saturating_sub(expected);
                }
            }
        }
        Ok(())
    }
}

/// The times of reception and publication; now, where the middleware does not tell.
fn times(info: &MessageInfo) -> (Time, Time) {
    let known = |ns: i64| u64::try_from(ns).ok().filter(|ns| *ns > 0).map(Time::from_nanos);
    let now = || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Time::from_nanos(now.map_or(0, |now| now.as_nanos() as u64))
    };
    let received = known(info.received_timestamp_ns).unwrap_or_else(now);
    (received, known(info.source_timestamp_ns).unwrap_or(received))
}

fn failed(error: impl std::fmt::Display) -> Ended {
    Ended::Failed(error.to_string())
}
