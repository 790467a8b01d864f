//! The command `record`: topics of ROS 2, of any type, as the bytes that they come as.
//!
//! It needs no graph: topics appear while it runs. One thread takes messages from the middleware's
//! queues and passes them to the writer thread. It waits for no disk, and no callback of the
//! middleware and no other process waits for it.

use crate::arguments::Record;
use crate::replay::recordings::FLUSHED_EVERY;
use crate::{Ended, Invocation, unusable};
use regex::Regex;
use ringspin_bag::{
    Definition, RecordSink, RingFull, Topic, TopicId, WriteOptions, Writer, WriterThread,
};
use ringspin_executor::{Durability, Error, QoS, Reliability, Time};
use ringspin_modes::Executor;
use ringspin_ros2::rcl::{
    Context, Endpoint, Locals, MessageInfo, Node, NodeOptions, Sequences, Subscription, type_hash,
};
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

/// How often new topics are looked for, as in rosbag2.
const LOOKED_EVERY: Duration = Duration::from_millis(100);

/// The number of messages of one topic that may wait in the middleware.
const QUEUE_DEPTH: usize = 1000;

/// The number of messages that may wait for the writer thread.
const RING_CAPACITY: usize = 1024;

impl Invocation<'_> {
    pub(super) fn record(&mut self, record: &Record) -> Result<u8, Ended> {
        let context = Context::new(&[]).map_err(unusable)?;
        let node = Node::new(&context, "", "rosbag2_recorder", NodeOptions::default());
        let node = node.map_err(unusable)?;
        let options = WriteOptions { compression: record.compression };
        let sink = Writer::create(&record.output, options).map_err(unusable)?;
        let sink = record.split.applied_to(sink)?.flush_every(FLUSHED_EVERY);
        let (mut recording, woken) = Recording::new(record, node, sink, RING_CAPACITY)?;
        // The executor only handles signals.
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
            let _ = woken.recv_timeout(LOOKED_EVERY);
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
        for track in tracks {
            writeln!(self.out, "  {}", track.summary())?;
        }
        Ok(0)
    }
}

impl Record {
    /// Whether a topic is recorded.
    fn has(&self, name: &String, types: &[String]) -> bool {
        let matches = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|p| p.is_match(name));
        let below = |of: &String| name.strip_prefix(of.as_str());
        let is_named = self.topics.contains(name)
            || self.services.iter().any(|service| below(service) == Some("/_service_event"))
            || self.actions.iter().filter_map(below).any(|rest| rest.starts_with("/_action/"));
        let is_chosen = self.all
            || matches(&self.regex)
            || types.iter().any(|of| self.topic_types.contains(of))
            || self.chooses_none();
        // ROS 2 hides topics with such a part.
        let is_shown = self.all || self.include_hidden_topics || !name.contains("/_");
        (is_named || is_chosen && is_shown)
            && !self.exclude.contains(name)
            && !matches(&self.exclude_regex)
    }

    /// Whether all topics but hidden ones are recorded.
    fn chooses_none(&self) -> bool {
        let Self { topics, topic_types, services, actions, .. } = self;
        [topics, topic_types, services, actions].iter().all(|names| names.is_empty())
            && self.regex.is_none()
    }
}

/// A recording of ROS 2.
struct Recording<'a> {
    record: &'a Record,
    node: Node,
    writer: WriterThread,
    tracks: Vec<Track>,
    /// The topics that cannot be recorded, which is said once.
    refused: BTreeSet<String>,
    /// Wakes the thread that takes. One item stands for any number of messages.
    wakes: SyncSender<()>,
}

/// A recorded topic.
struct Track {
    name: String,
    topic: TopicId,
    subscription: Subscription,
    /// Messages passed to the writer thread.
    messages: u64,
    /// Messages for which the ring to the writer thread had no room.
    overflow: u64,
    sequences: Sequences,
}

impl Track {
    /// Messages that did not reach this process, or were overwritten in the middleware's queue.
    fn lost(&self) -> u64 {
        self.sequences.skipped().unwrap_or_default()
    }

    /// The line about this topic in the report.
    fn summary(&self) -> String {
        let Self { name, messages, overflow, .. } = self;
        let mut summary = format!("{name}: {messages}");
        let lost = self.lost();
        if lost > 0 {
            summary += &format!(", {lost} lost before the recorder");
        }
        if *overflow > 0 {
            summary += &format!(", {overflow} lost because the disk was too slow");
        }
        summary
    }
}

impl<'a> Recording<'a> {
    /// A recording without topics, and the end that is woken when messages arrive.
    fn new(
        record: &'a Record,
        node: Node,
        sink: impl RecordSink + 'static,
        ring_capacity: usize,
    ) -> Result<(Self, Receiver<()>), Ended> {
        let writer = WriterThread::new(sink, ring_capacity).map_err(failed)?;
        let (wakes, woken) = sync_channel(1);
        let (tracks, refused) = (Vec::new(), BTreeSet::new());
        Ok((Self { record, node, writer, tracks, refused, wakes }, woken))
    }

    fn messages(&self) -> u64 {
        self.tracks.iter().map(|track| track.messages).sum()
    }

    /// Subscribes to the topics that have appeared.
    fn look(&mut self) -> Result<(), Ended> {
        for (name, types) in self.node.topics().map_err(failed)? {
            let is_known = self.tracks.iter().any(|track| track.name == name);
            if is_known || self.refused.contains(&name) || !self.record.has(&name, &types) {
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

    /// Subscribes to a topic; the inner error is of the topic alone.
    fn subscribe(
        &mut self,
        name: &str,
        type_name: &str,
        publishers: &[Endpoint],
    ) -> Result<Result<(), Error>, Ended> {
        let offered_qos: Vec<_> = publishers.iter().map(|publisher| publisher.qos).collect();
        // The subscription requests the QoS that every publisher offers.
        let all = |offers: fn(&QoS) -> bool| offered_qos.iter().all(offers);
        let mut qos = QoS::keep_last(QUEUE_DEPTH).best_effort();
        if all(|qos| qos.reliability() == Reliability::Reliable) {
            qos = qos.reliable();
        }
        if all(|qos| qos.durability() == Durability::TransientLocal) {
            qos = qos.transient_local();
        }
        let locals = Locals::Deliver;
        let subscription = match Subscription::named(&self.node, name, type_name, &qos, locals) {
            Ok(subscription) => subscription,
            Err(error) => return Ok(Err(error)),
        };
        let definition = ringspin_message_generator::installed_definition(type_name);
        let topic = Topic {
            name: name.into(),
            type_name: type_name.into(),
            type_hash: type_hash(type_name).unwrap_or_default(),
            definition: definition.map(|text| Definition { encoding: "ros2msg".into(), text }),
            serialization_format: "cdr".into(),
            offered_qos,
        };
        let Ok(topic) = self.writer.add_topic(&topic) else {
            return Ok(Ok(())); // The next look tries again.
        };
        let wakes = self.wakes.clone();
        let heard = subscription.on_new_message(move |_| {
            let _ = wakes.try_send(()); // Full: woken already. Closed: at the end.
        });
        let (messages, overflow, sequences) = (0, 0, Sequences::default());
        let name = name.into();
        self.tracks.push(Track { name, topic, subscription, messages, overflow, sequences });
        Ok(heard)
    }

    /// Passes the received messages to the writer thread. Does not wait.
    fn take(&mut self) -> Result<(), Ended> {
        for track in &mut self.tracks {
            let mut left = self.record.messages.unwrap_or(u64::MAX);
            while left > 0
                && let Some((bytes, info)) = track.subscription.take_serialized().map_err(failed)?
            {
                left -= 1;
                let (log_time, publish_time) = times(&info);
                let sequence = info.publication_sequence.unwrap_or_default() as u32;
                let (topic, data) = (track.topic, bytes.to_vec());
                match self.writer.write(topic, log_time, publish_time, sequence, data) {
                    Ok(()) => track.messages += 1,
                    Err(RingFull) => track.overflow += 1,
                }
                track.sequences.note(&info);
            }
        }
        self.writer.error().map_or(Ok(()), |error| Err(failed(error)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ringspin_executor::BoxError;
    use ringspin_ros2::rcl::{ContextOptions, Publisher, Reach};
    use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

    const KIND: &str = "std_msgs/msg/UInt8";
    const MESSAGES: u64 = 50;
    /// Longer than anything here takes.
    const LONG: Duration = Duration::from_secs(60);

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        record: Record,
    }

    /// A disk that does not move before the other end of its channel is dropped.
    struct StuckDisk {
        moves: Receiver<()>,
        written: Sender<usize>,
        count: usize,
    }

    impl RecordSink for StuckDisk {
        fn add_topic(&mut self, _: &Topic) -> Result<TopicId, BoxError> {
            Ok(TopicId(0))
        }

        fn write(
            &mut self,
            _: TopicId,
            _: Time,
            _: Time,
            _: u32,
            _: &[u8],
        ) -> Result<(), BoxError> {
            let moved = self.moves.recv_timeout(LONG);
            assert_eq!(moved, Err(RecvTimeoutError::Disconnected), "a call waits for the disk");
            self.count += 1;
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<(), BoxError> {
            Ok(self.written.send(self.count)?)
        }
    }

    #[test]
    fn options_choose_topics_as_those_of_rosbag2() {
        let recorded = |line: &str| {
            let words = ["record", "--output", "out"].into_iter().chain(line.split_whitespace());
            let record = Parsed::parse_from(words).record;
            let topics = [
                ("/imu", "sensor_msgs/msg/Imu"),
                ("/odometry", "nav_msgs/msg/Odometry"),
                ("/add/_service_event", "example_interfaces/srv/AddTwoInts_Event"),
                ("/walk/_action/feedback", "turtle/action/Walk_FeedbackMessage"),
            ];
            let has = |(name, of): &(&str, &str)| record.has(&(*name).into(), &[(*of).into()]);
            topics
                .iter()
                .filter(|topic| has(topic))
                .map(|(name, _)| &name[1..2])
                .collect::<String>()
        };
        for (line, expected) in [
            ("", "io"),
            ("--all", "ioaw"),
            ("-a --exclude imu", "oaw"),
            ("imu", "i"),
            ("--regex .*o.*", "o"),
            ("-e .*o.* --include-hidden-topics", "ow"),
            ("imu --topic-types nav_msgs/msg/Odometry", "io"),
            ("--exclude-regex .*o.*", "i"),
            ("--services add", "a"),
            ("imu --actions /walk", "iw"),
        ] {
            assert_eq!(recorded(line), expected, "{line}");
        }
    }

    #[test]
    fn messages_are_counted_as_lost_while_the_disk_does_not_move() {
        let domain = Some(1 + std::process::id() as usize % 101);
        let options =
            ContextOptions { domain, reach: Reach::LocalHost, console: false, log_files: false };
        let context = Context::with_options(&[], &options).unwrap();
        let node = |name| Node::new(&context, "", name, NodeOptions::default()).unwrap();
        let name = format!("/t{}/stuck", std::process::id());
        let qos = QoS::keep_last(MESSAGES as usize).transient_local();
        let publisher = Publisher::named(&node("talker"), &name, KIND, &qos).unwrap();
        let record = Record { topics: vec![name.clone()], ..Record::default() };
        let (stuck, moves) = channel();
        let (written, count) = channel();
        let sink = StuckDisk { moves, written, count: 0 };
        let (mut recording, woken) = Recording::new(&record, node("recorder"), sink, 4).unwrap();
        for n in 0..MESSAGES {
            publisher.publish_serialized(&[0, 1, 0, 0, n as u8]).unwrap();
        }
        // All are taken, though no message is written: a take that waits would wait forever.
        let taken =
            |of: &Recording<'_>| of.tracks.iter().map(|t| t.messages + t.overflow).sum::<u64>();
        let start = Instant::now();
        while taken(&recording) < MESSAGES {
            assert!(start.elapsed() < LONG, "{} taken", taken(&recording));
            recording.look().unwrap();
            let _ = woken.recv_timeout(LOOKED_EVERY);
            recording.take().unwrap();
        }
        let [track] = &recording.tracks[..] else { panic!("one topic") };
        let (messages, overflow) = (track.messages, track.overflow);
        // The ring has room for four, and the thread holds the topic or a message.
        assert!((3..=5).contains(&messages), "{messages}");
        assert_eq!((messages + overflow, track.lost()), (MESSAGES, 0));
        let line = format!("{name}: {messages}, {overflow} lost because the disk was too slow");
        assert_eq!(track.summary(), line);
        drop(stuck);
        recording.writer.finish().unwrap();
        assert_eq!(count.recv().unwrap() as u64, messages);
    }
}
