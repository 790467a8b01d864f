//! The player: recordings as an input of a graph.

mod channels;
mod input;
mod report;
mod stream;

pub use report::{PlayReport, PlayerHandle};

use crate::interfaces::RecordSource;
use crate::message_types::MessageTypes;
use crate::read::Order;
use crate::recording::{Record, Topic, absolute};
use crate::requester;
use channels::Channels;
use input::{Again, PlayerInput, Routes};
use report::PlayerProgress;
use ringspin_executor::{
    Durability, Error, ErrorKind, Graph, History, QoS, Result, StopHandle, Time,
};
use ringspin_simulation::Job;
use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;
use std::time::Duration;
use stream::{Cut, Merge, Stream};

/// The time at which a recorded message is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeBase {
    /// The time of its reception by the recorder.
    #[default]
    Log,
    /// The time of its publication; SQLite files have the time of its reception only.
    Publish,
    /// The stamp in the header of the message; the time of its reception if it has no header.
    /// Messages are put in the order of their stamps, which may be up to a second before their
    /// reception.
    Stamp,
}

/// The largest number of messages of a transient-local topic that are played before an offset.
const LATCHED_MAX: usize = 1000;

/// Plays recordings into a graph.
///
/// The node `/rosbag2_player` publishes the recorded messages. In deterministic mode they are an
/// [input](ringspin_executor::ExternalInput): a message enters when everything due before it is
/// done, waits for keep-all subscriptions that are full, and simulated time jumps from message to
/// message, so that a recording is played as fast as callbacks allow. In the live modes messages
/// enter at their times by the wall clock, scaled by the [rate](Self::rate); their lag is in the
/// [report](PlayerHandle::report).
///
/// A recorded topic to which a node subscribes is deserialized into the struct of that
/// subscription, if it is in the [`MessageTypes`] with the recorded name and hash. Topics without a
/// subscription are carried as [`RawMessage`](ringspin_messages::RawMessage), their bytes as they
/// were recorded.
#[derive(Clone)]
pub struct Player {
    sources: Vec<Arc<dyn RecordSource>>,
    topics: Option<Vec<String>>,
    exclude: Vec<String>,
    remap: BTreeMap<String, String>,
    start_offset: Duration,
    end_offset: Option<Duration>,
    order: Order,
    time_base: TimeBase,
    qos: BTreeMap<String, QoS>,
    service_requests: bool,
    evolution: bool,
    clock: Option<Duration>,
    rate: f64,
    delay: Duration,
    repeats: bool,
    stop_at_end: Option<(StopHandle, Duration)>,
}

impl Player {
    /// Plays `recordings`, merged by time. Messages of equal time are played in the order of the
    /// recordings, and within one in the order in which they were recorded.
    pub fn new<S: RecordSource + 'static>(recordings: impl IntoIterator<Item = S>) -> Self {
        let sources = recordings.into_iter().map(|source| Arc::new(source) as Arc<_>);
        Self {
            sources: sources.collect(),
            topics: None,
            exclude: Vec::new(),
            remap: BTreeMap::new(),
            start_offset: Duration::ZERO,
            end_offset: None,
            order: Order::default(),
            time_base: TimeBase::default(),
            qos: BTreeMap::new(),
            service_requests: false,
            evolution: false,
            clock: None,
            rate: 1.0,
            delay: Duration::ZERO,
            repeats: false,
            stop_at_end: None,
        }
    }

    /// Plays these topics only, by their recorded names.
    #[must_use]
    pub fn topics<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.topics = Some(names.into_iter().map(absolute).collect());
        self
    }

    /// Does not play these topics, by their recorded names.
    #[must_use]
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.exclude.extend(names.into_iter().map(absolute));
        self
    }

    /// Plays the recorded topic `from` as topic `to`.
    #[must_use]
    pub fn remap(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.remap.insert(absolute(from), absolute(to));
        self
    }

    /// Leaves out messages that are, by the [order](Self::order), earlier than `offset` after the
    /// first reception.
    ///
    /// The newest ones of transient-local topics (`/tf_static`, maps) are played first, at the time
    /// of that offset: as many of each topic as its recorded publishers keep.
    #[must_use]
    pub fn start_offset(mut self, offset: Duration) -> Self {
        self.start_offset = offset;
        self
    }

    /// Leaves out messages that are, by the [order](Self::order), later than `offset` after the
    /// first reception.
    #[must_use]
    pub fn end_offset(mut self, offset: Duration) -> Self {
        self.end_offset = Some(offset);
        self
    }

    /// Sets the order of messages; by default that of their reception by the recorder.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets the times at which messages are played; by default those of their reception.
    /// [`TimeBase::Publish`] implies [`Order::PublishTime`].
    #[must_use]
    pub fn time_base(mut self, time_base: TimeBase) -> Self {
        self.time_base = time_base;
        if time_base == TimeBase::Publish {
            self.order = Order::PublishTime;
        }
        self
    }

    /// Offers `qos` on a topic, by its name in the graph, instead of the recorded QoS. Where
    /// several publishers were recorded, their strongest offers are the default. A topic that no
    /// recording has is an error of [`add_to`](Self::add_to).
    #[must_use]
    pub fn qos(mut self, topic: impl Into<String>, qos: QoS) -> Self {
        self.qos.insert(absolute(topic), qos);
        self
    }

    /// Sends the recorded requests of services again, instead of publishing their events: those of
    /// service types in the [`MessageTypes`], recorded with contents by the introspection of the
    /// service (topics that end with `/_service_event`).
    ///
    /// An action is three services: its goals are sent with their recorded identities, so that
    /// recorded requests to cancel and requests for results reach them. Its feedback and status are
    /// then not published, because its server does that. A request to cancel all goals up to a time
    /// is sent with the recorded time.
    ///
    /// The player does not wait for responses; requests without one are
    /// [counted](PlayReport::requests_unanswered). When one service has left 1000 requests without
    /// a response, the next one is an error that ends the run.
    #[must_use]
    pub fn service_requests(mut self) -> Self {
        self.service_requests = true;
        self
    }

    /// Plays topics that were recorded with another definition of their type than the program has,
    /// such as `sensor_msgs/msg/Range` of ROS 2 Humble; otherwise that is an error.
    ///
    /// Fields are matched by their names. A field that the recording does not have is filled with
    /// its default, and one that the program does not have is left out; both are in the
    /// [report](PlayReport::migrations). A field of another type remains an error.
    #[must_use]
    pub fn allow_evolution(mut self) -> Self {
        self.evolution = true;
        self
    }

    /// Publishes the time of the recording on `/clock`, every `period` from the first message on.
    #[must_use]
    pub fn clock(mut self, period: Duration) -> Self {
        self.clock = Some(period);
        self
    }

    /// Sets the speed in the live modes: twice the recorded one for 2.0. In deterministic mode it
    /// has no effect.
    #[must_use]
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = rate;
        self
    }

    /// Waits for `delay` before the first message in the live modes: nodes of other processes may
    /// need time to discover the player.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Begins again after the last message in the live modes, until the executor stops. In
    /// deterministic mode it has no effect. Time on `/clock` begins again, too.
    #[must_use]
    pub fn repeat(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Stops the executor `grace` of its time after the last message.
    #[must_use]
    pub fn stop_at_end(mut self, stop: StopHandle, grace: Duration) -> Self {
        self.stop_at_end = Some((stop, grace));
        self
    }

    /// The time of the first message that is played, by the time base; `None` if there is none. A
    /// deterministic run starts there.
    ///
    /// # Errors
    /// A recording cannot be read.
    pub fn start_time(&self, types: &MessageTypes) -> Result<Option<Time>> {
        let mut stream = Stream::open(self, types)?;
        stream.next().map(|item| item.map(|item| item.time)).transpose()
    }

    /// The time of the last message that is played, if the recordings know it: only with
    /// [`TimeBase::Log`].
    pub fn end_time(&self) -> Option<Time> {
        if self.time_base != TimeBase::Log {
            return None;
        }
        let last = self.sources.iter().map(|source| source.end()).collect::<Option<Vec<_>>>()?;
        let last = last.into_iter().max()?;
        Some(self.cut().end.map_or(last, |end| end.min(last)))
    }

    /// Has `job` start with the first message and end with the instant of the last one, if
    /// [its time](Self::end_time) is known. An end that is set afterwards replaces it.
    ///
    /// # Errors
    /// A recording cannot be read.
    ///
    /// ```
    /// use ringspin_bag::{MemoryRecording, MessageTypes, Player};
    /// use ringspin_simulation::Job;
    ///
    /// let recording = MemoryRecording::default();
    /// let (player, types) = (Player::new([recording]), MessageTypes::new());
    /// let job = Job::new(|graph| {
    ///     // Create the nodes here.
    ///     Ok(player.add_to(graph, &types)?)
    /// });
    /// let mut session = player.apply_times(job, &types)?.start()?;
    /// session.run_until_true(|player, _| player.is_finished())?;
    /// assert_eq!(session.handles.messages(), 0);
    /// # Ok::<(), ringspin_executor::BoxError>(())
    /// ```
    pub fn apply_times<'a, T>(
        &self,
        mut job: Job<'a, T>,
        types: &MessageTypes,
    ) -> Result<Job<'a, T>> {
        if let Some(start) = self.start_time(types)? {
            job = job.start_at(start);
        }
        Ok(match self.end_time() {
            Some(end) => job.end_at(end),
            None => job,
        })
    }

    /// The messages that are played, as they were recorded, each with the number of its recording:
    /// without a graph, to look at them or to write them to another recording.
    ///
    /// # Errors
    /// A recording cannot be read, or a setting names an unknown topic.
    pub fn records(&self) -> Result<impl Iterator<Item = Result<(usize, Record)>> + use<>> {
        self.check_topics()?;
        let mut merge = Merge::open(self, &MessageTypes::new())?;
        let next = move || merge.next_record();
        Ok(iter::from_fn(next).map(|next| next.map(|(source, record, _)| (source, record))))
    }

    /// Adds the player to `graph`: after the nodes that it plays to, and before a recorder.
    ///
    /// # Errors
    /// A recording cannot be read, a setting is out of range or names an unknown topic, a topic has
    /// different types, or a part of the node was not created.
    pub fn add_to(&self, graph: &Graph, types: &MessageTypes) -> Result<PlayerHandle> {
        if !(self.rate.is_finite() && self.rate > 0.0) {
            let text = format!(
                "failed to play at rate {}: it is not a positive number; use 1.0 for the recorded \
                 speed",
                self.rate
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        if self.clock.is_some_and(|period| period.is_zero()) {
            let text = "failed to publish /clock: its period is zero; use 25 ms for 40 Hz";
            return Err(Error::new(ErrorKind::InvalidArgument, text).on_topic("/clock"));
        }
        self.check_topics()?;
        let failed = |error: Error| error.reworded(|text| format!("failed to play: {text}"));
        let node = graph.create_node("rosbag2_player", ()).map_err(failed)?;
        let mut channels = Channels::new(&node, graph.info(), types);
        let mut targets = Vec::new();
        for source in &self.sources {
            let open = |topic| match self.plays(topic, types) {
                true => channels.open(self, topic).map(Some),
                false => Ok(None),
            };
            targets.push(source.topics().iter().map(open).collect::<Result<Vec<_>>>()?);
        }
        let clock = self.clock.map(|_| channels.open_clock(self)).transpose()?;
        channels.check_qos(self)?;
        let raw_topics = channels.raw_topics.clone();
        let migrations = channels.migrations.clone();
        let progress = Arc::new(PlayerProgress::new(channels.topics(), channels.responses.clone()));
        let routes = Routes { channels: channels.channels, targets, clock };
        let stream = Stream::open(self, types)?;
        let again = self.repeats.then(|| {
            let (player, types) = (self.clone(), types.clone());
            Box::new(move || Stream::open(&player, &types)) as Again
        });
        let input = PlayerInput::new(self, stream, routes, progress.clone(), again);
        node.create_input("rosbag2_player", input).map_err(failed)?;
        Ok(PlayerHandle { progress, raw_topics, migrations })
    }

    /// The name of a recorded topic in the graph, before ROS arguments rename it.
    fn played_name<'a>(&'a self, topic: &'a Topic) -> &'a String {
        self.remap.get(&topic.name).unwrap_or(&topic.name)
    }

    /// Whether messages of the topic are played.
    fn plays(&self, topic: &Topic, types: &MessageTypes) -> bool {
        self.chooses(topic) && !self.is_of_server(topic, types)
    }

    /// Whether the settings choose the topic.
    fn chooses(&self, topic: &Topic) -> bool {
        let is_listed = |names: &[String]| names.contains(&topic.name);
        self.topics.as_deref().is_none_or(is_listed) && !is_listed(&self.exclude)
    }

    /// Whether the server of an action publishes the topic again, for recorded goals that are sent.
    fn is_of_server(&self, topic: &Topic, types: &MessageTypes) -> bool {
        let Some(goals) = requester::goals_topic_of(&topic.name) else { return false };
        let sends = |of: &Topic| {
            let service = requester::service_of(&of.name, &of.type_name);
            let is_known = service.is_some_and(|(_, name)| types.requester(name).is_some());
            of.name == goals && is_known && self.chooses(of)
        };
        self.service_requests && self.sources.iter().flat_map(|from| from.topics()).any(sends)
    }

    /// The number of messages of a topic that its publishers keep for subscriptions that join
    /// later; zero unless it is transient local.
    fn latched_depth(&self, topic: &Topic) -> usize {
        let name = self.remap.get(&topic.name).unwrap_or(&topic.name);
        let qos = self.qos.get(name).map(std::slice::from_ref);
        let offers = qos.unwrap_or(&topic.offered_qos).iter();
        let latched = offers.filter(|qos| qos.durability() == Durability::TransientLocal);
        let kept = |qos: &QoS| match qos.history() {
            History::KeepAll => LATCHED_MAX,
            // A depth of zero stands for the default of the middleware.
            History::KeepLast => qos.depth().clamp(1, LATCHED_MAX),
        };
        latched.map(kept).sum::<usize>().min(LATCHED_MAX)
    }

    /// Whether the names of topics exist that the settings have.
    fn check_topics(&self) -> Result<()> {
        let recorded = self.sources.iter().flat_map(|source| source.topics());
        let recorded: Vec<_> = recorded.map(|topic| topic.name.as_str()).collect();
        let named = self.topics.iter().flatten().chain(&self.exclude).chain(self.remap.keys());
        match named.into_iter().find(|name| !recorded.contains(&name.as_str())) {
            None => Ok(()),
            Some(topic) => {
                let text = format!(
                    "failed to play topic {topic}: it is not in the recording, which has {}",
                    recorded.join(", ")
                );
                Err(Error::new(ErrorKind::NotFound, text).on_topic(topic))
            }
        }
    }

    /// The log times between which messages are played.
    fn cut(&self) -> Cut {
        let first = self.sources.iter().filter_map(|source| source.start()).min();
        let at = |offset: Duration| first.map(|first| first + offset);
        let start = (!self.start_offset.is_zero()).then_some(self.start_offset);
        Cut { start: start.and_then(at), end: self.end_offset.and_then(at) }
    }
}
