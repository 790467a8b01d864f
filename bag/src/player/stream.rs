//! The messages of all recordings in the order in which they are played.

use super::{Player, TimeBase};
use crate::error::reworded;
use crate::interfaces::{RecordSource, Records};
use crate::message_types::MessageTypes;
use crate::read::{Order, ReadOptions};
use crate::recording::{Record, Topic, TopicId};
use ringspin_executor::{BoxError, Error, ErrorKind, Result, Time};
use std::collections::{BTreeMap, VecDeque};
use std::iter::Peekable;
use std::time::Duration;

/// The log time within which messages are put in the order of their stamps.
const REORDERING: Duration = Duration::from_secs(1);

/// The log times between which messages are played, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) start: Option<Time>,
    pub(super) end: Option<Time>,
}

/// A message to be played.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) time: Time,
    pub(super) content: Content,
}

/// The content of an [`Item`].
#[derive(Debug)]
pub(super) enum Content {
    /// A recorded message.
    Message {
        /// The recording, in the order of the player's.
        source: usize,
        topic: TopicId,
        data: Vec<u8>,
    },
    /// The time itself.
    Clock,
}

/// All messages, one after the other. After an error there are no more.
pub(super) struct Stream {
    messages: Peekable<Box<dyn Iterator<Item = Result<Item>> + Send>>,
    /// The time of the next [`Content::Clock`], and its period.
    clock: Option<(Option<Time>, Duration)>,
}

impl Stream {
    pub(super) fn open(player: &Player, types: &MessageTypes) -> Result<Self> {
        let merge = Merge::open(player, types)?;
        let messages: Box<dyn Iterator<Item = _> + Send> = match player.time_base {
            TimeBase::Stamp => Box::new(ByStamp::new(merge)),
            _ => Box::new(merge.map(|next| next.map(|(item, _)| item))),
        };
        let clock = player.clock.map(|period| (None, period));
        Ok(Self { messages: messages.peekable(), clock })
    }
}

impl Iterator for Stream {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some((tick, period)) = &mut self.clock else { return self.messages.next() };
        let Some(Ok(Item { time, .. })) = self.messages.peek() else { return self.messages.next() };
        let due = *tick.get_or_insert(*time);
        if due > *time {
            return self.messages.next();
        }
        *tick = Some(due + *period);
        Some(Ok(Item { time: due, content: Content::Clock }))
    }
}

/// The messages of several recordings, merged by time.
pub(super) struct Merge {
    readers: Vec<Reader>,
    order: Order,
    time_base: TimeBase,
}

/// One recording that is read.
struct Reader {
    name: String,
    records: Peekable<Records>,
    /// Indexed by topic: whether its messages begin with a header.
    has_header: Vec<bool>,
    /// The number of messages that come first because they are latched at the start.
    latched: usize,
}

impl Merge {
    pub(super) fn open(player: &Player, types: &MessageTypes) -> Result<Self> {
        let Cut { start, end } = player.cut();
        let mut readers = Vec::new();
        for source in &player.sources {
            let topics = source.topics().iter().enumerate();
            let played = topics.filter(|(_, topic)| player.plays(topic, types));
            let topics = Some(played.map(|(n, _)| TopicId(n)).collect());
            let options =
                ReadOptions { topics, start, end, order: player.order, ..ReadOptions::default() };
            let records =
                source.records(&options).map_err(|error| failed(&source.name(), error))?;
            let latched = latched(player, &**source, &options)
                .map_err(|error| failed(&source.name(), error))?;
            let (count, records) = (latched.len(), latched.into_iter().map(Ok).chain(records));
            let has_header = source.topics().iter().map(|topic| has_header(topic, types));
            readers.push(Reader {
                name: source.name(),
                records: (Box::new(records) as Records).peekable(),
                has_header: has_header.collect(),
                latched: count,
            });
        }
        Ok(Self { readers, order: player.order, time_base: player.time_base })
    }

    /// The number of the recording with the next message.
    fn first(&mut self) -> Option<usize> {
        let order = self.order;
        let key = |next: &Result<Record, BoxError>| match (next, order) {
            (Err(_), _) => Time::ZERO,
            (Ok(record), Order::LogTime) => record.log_time,
            (Ok(record), Order::PublishTime) => record.publish_time,
        };
        let readers = self.readers.iter_mut().enumerate();
        let keys = readers.filter_map(|(n, reader)| Some((key(reader.records.peek()?), n)));
        keys.min().map(|(_, n)| n)
    }

    /// The next message with the number of its recording, and whether it is latched.
    pub(super) fn next_record(&mut self) -> Option<Result<(usize, Record, bool)>> {
        let source = self.first()?;
        let Reader { name, records, latched, .. } = &mut self.readers[source];
        match records.next()? {
            Ok(record) => {
                let is_latched = *latched > 0;
                *latched = latched.saturating_sub(1);
                Some(Ok((source, record, is_latched)))
            }
            Err(error) => {
                let failed = failed(name, error);
                self.readers.clear(); // nothing follows an error
                Some(Err(failed))
            }
        }
    }
}

impl Iterator for Merge {
    /// The message with its time (in [`TimeBase::Stamp`] zero if it has no stamp), and its log
    /// time.
    type Item = Result<(Item, Time)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (source, record, is_latched) = match self.next_record()? {
            Ok(next) => next,
            Err(error) => return Some(Err(error)),
        };
        let Record { topic, log_time, publish_time, data, .. } = record;
        let time = match self.time_base {
            TimeBase::Log => log_time,
            TimeBase::Publish => publish_time,
            TimeBase::Stamp if self.readers[source].has_header[topic.0] && !is_latched => {
                stamp(&data).unwrap_or(Time::ZERO)
            }
            TimeBase::Stamp => Time::ZERO,
        };
        Some(Ok((Item { time, content: Content::Message { source, topic, data } }, log_time)))
    }
}

/// The newest messages of transient-local topics before the start of `options`, at that time: a
/// subscription that joins there would get them from their publishers. Of each topic, as many as
/// its publishers keep together.
fn latched(
    player: &Player,
    source: &dyn RecordSource,
    options: &ReadOptions,
) -> std::result::Result<Vec<Record>, BoxError> {
    let Some(start) = options.start.filter(|start| *start > Time::ZERO) else {
        return Ok(Vec::new());
    };
    let end = Time::from_nanos(start.as_nanos() - 1);
    let depth = |topic: &TopicId| player.latched_depth(&source.topics()[topic.0]);
    let topics = options.topics.iter().flatten().copied().filter(|topic| depth(topic) > 0);
    let topics: Vec<_> = topics.collect();
    if topics.is_empty() {
        return Ok(Vec::new());
    }
    let mut kept: BTreeMap<TopicId, VecDeque<(usize, Record)>> = BTreeMap::new();
    let before =
        ReadOptions { topics: Some(topics), start: None, end: Some(end), ..options.clone() };
    for (number, record) in source.records(&before)?.enumerate() {
        let record = record?;
        let of_topic = kept.entry(record.topic).or_default();
        if of_topic.len() == depth(&record.topic) {
            of_topic.pop_front();
        }
        of_topic.push_back((number, record));
    }
    let mut latched: Vec<_> = kept.into_values().flatten().collect();
    latched.sort_by_key(|(number, _)| *number);
    let at_start = |(_, record)| Record { log_time: start, publish_time: start, ..record };
    Ok(latched.into_iter().map(at_start).collect())
}

/// Messages in the order of their stamps; those without a stamp stay behind the message before
/// them.
struct ByStamp {
    merge: Merge,
    /// Messages that wait for earlier ones, by time and number of reception.
    waiting: BTreeMap<(Time, u64), Item>,
    /// The keys in the order of reception, with their log times; some do not wait any more.
    arrivals: VecDeque<((Time, u64), Time)>,
    /// Messages from before the first stamp.
    unstamped: Vec<(Item, Time)>,
    /// The stamp of the newest message that has one.
    stamp: Option<Time>,
    count: u64,
    error: Option<Error>,
}

impl ByStamp {
    fn new(merge: Merge) -> Self {
        Self {
            merge,
            waiting: BTreeMap::new(),
            arrivals: VecDeque::new(),
            unstamped: Vec::new(),
            stamp: None,
            count: 0,
            error: None,
        }
    }

    fn insert(&mut self, item: Item, log_time: Time, time: Time) {
        let key = (time, self.count);
        self.count += 1;
        self.waiting.insert(key, Item { time, ..item });
        self.arrivals.push_back((key, log_time));
    }

    /// Reads one message; false at the end.
    fn read(&mut self) -> bool {
        let (item, log_time) = match self.merge.next() {
            Some(Ok(next)) => next,
            Some(Err(error)) => {
                self.error = Some(error);
                return false;
            }
            None => return false,
        };
        match (item.time, self.stamp) {
            (Time::ZERO, Some(stamp)) => self.insert(item, log_time, stamp),
            (Time::ZERO, None) => self.unstamped.push((item, log_time)),
            (stamp, _) => {
                self.stamp = Some(stamp);
                self.resolve(Some(stamp));
                self.insert(item, log_time, stamp);
            }
        }
        true
    }

    /// Plays the messages from before the first stamp at `stamp`, or at their log times.
    fn resolve(&mut self, stamp: Option<Time>) {
        for (item, log_time) in std::mem::take(&mut self.unstamped) {
            self.insert(item, log_time, stamp.unwrap_or(log_time));
        }
    }

    /// Whether messages of more than [`REORDERING`] wait.
    fn is_full(&self) -> bool {
        let ends = (self.arrivals.front(), self.arrivals.back());
        matches!(ends, (Some((_, first)), Some((_, last))) if *last - *first >= REORDERING)
    }

    /// Whether messages of more than [`REORDERING`] had no stamp.
    fn is_unstamped(&self) -> bool {
        let ends = (self.unstamped.first(), self.unstamped.last());
        matches!(ends, (Some((_, first)), Some((_, last))) if *last - *first >= REORDERING)
    }
}

impl Iterator for ByStamp {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_full() {
            if self.is_unstamped() || !self.read() {
                self.resolve(self.stamp);
                break;
            }
        }
        let Some((_, item)) = self.waiting.pop_first() else {
            return self.error.take().map(Err);
        };
        while self.arrivals.front().is_some_and(|(key, _)| !self.waiting.contains_key(key)) {
            self.arrivals.pop_front();
        }
        Some(Ok(item))
    }
}

/// The error of a recording that cannot be read.
pub(super) fn failed(recording: &str, error: BoxError) -> Error {
    reworded(error, ErrorKind::Io, |text| format!("failed to read {recording}: {text}"))
}

/// Whether the messages of `topic` begin with a `std_msgs/msg/Header`.
fn has_header(topic: &Topic, types: &MessageTypes) -> bool {
    let recorded = topic.definition.as_ref().filter(|of| of.encoding == "ros2msg");
    let text = recorded.map(|definition| &*definition.text);
    text.or_else(|| types.definition(&topic.type_name)).is_some_and(begins_with_header)
}

/// Whether the first field of a message definition is a header.
fn begins_with_header(definition: &str) -> bool {
    let lines = definition.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let fields = lines.take_while(|line| !line.starts_with("====")).filter(|line| {
        let name = line.split_once(char::is_whitespace).map_or("", |(_, name)| name).trim_start();
        let after_name = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        !name.is_empty() && !after_name.trim_start().starts_with('=')
    });
    let first = fields.map(|line| line.split_whitespace().next().unwrap_or_default()).next();
    first.is_some_and(|of| matches!(of, "std_msgs/Header" | "std_msgs/msg/Header" | "Header"))
}

/// The stamp of a serialized message that begins with a header; `None` if it is zero or invalid.
fn stamp(data: &[u8]) -> Option<Time> {
    let is_little_endian = data.get(1)? & 1 == 1;
    let word = |at: usize| {
        let bytes = data.get(at..at + 4)?.try_into().ok()?;
        Some(if is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let (sec, nanosec) = (i32::try_from(word(4)?).ok()?, word(8)?);
    let time = Time::from_secs(sec as u64) + Duration::from_nanos(nanosec.into());
    (time != Time::ZERO).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_behind_comments_and_constants() {
        assert!(begins_with_header(
            "# a scan\n\nuint8 KIND=3\nstring S = \"a\"\nstd_msgs/Header header\n"
        ));
        assert!(!begins_with_header(
            "uint8 kind 3 # std_msgs/Header header\nstd_msgs/Header header"
        ));
        assert!(!begins_with_header("uint8 KIND=3\n====\nMSG: std_msgs/Header\nHeader header"));
        assert!(!begins_with_header(""));
    }

    #[test]
    fn stamps_are_read_in_either_byte_order() {
        let little = [0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
        let big = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3];
        assert_eq!(stamp(&little), Some(Time::from_nanos(2_000_000_003)));
        assert_eq!(stamp(&big), Some(Time::from_nanos(2_000_000_003)));
        assert_eq!(stamp(&little[..10]), None);
        assert_eq!(stamp(&[0, 1, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0]), None);
    }
}
