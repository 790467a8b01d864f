//! Comparison of two recordings: the first message that differs, field by field.
//!
//! Messages are compared topic by topic in the order of their numbers, regardless of the order
//! among topics. Both recordings are read once, side by side.

use crate::dynamic::{FieldDifference, MessageComparer};
use crate::{Record, Topic, TopicId};
use ringspin_executor::{Error, ErrorKind, Result, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// The maximum size in bytes of the messages of one recording that wait for their counterparts: 256
/// MiB.
pub const PENDING_BYTES_MAX: usize = 256 << 20;

/// The settings of a comparison.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Whether times are compared; they are by default.
    pub stamps: bool,
    /// The number of fields that are described; by default 20.
    pub fields_max: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { stamps: true, fields_max: 20 }
    }
}

/// The first difference of two recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A topic is in one of them only.
    Topic {
        /// The topic.
        name: String,
        /// The recording that has it.
        only_in: Side,
    },
    /// A topic has another type, or its type another definition.
    Type {
        /// The topic.
        topic: String,
        /// The left type, with its hash.
        left: String,
        /// The right type, with its hash.
        right: String,
    },
    /// A topic has more messages in one of them.
    Message {
        /// The topic.
        topic: String,
        /// The zero-based number of the message within its topic.
        index: u64,
        /// The recording that has it.
        only_in: Side,
        /// The time of its reception.
        log_time: Time,
    },
    /// A message differs.
    Content {
        /// The topic.
        topic: String,
        /// The type.
        type_name: String,
        /// The zero-based number of the message within its topic.
        index: u64,
        /// The differing values: stamps, then fields.
        fields: Vec<FieldDifference>,
        /// The number of further fields.
        more: u64,
        /// The reason why bytes are compared instead of fields.
        note: Option<String>,
    },
}

/// One of the two recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first one.
    Left,
    /// The second one.
    Right,
}

fn too_far() -> Error {
    let text = format!(
        "failed to compare: {PENDING_BYTES_MAX} bytes of messages wait for their counterparts; \
         compare the topics one by one (`--topics`)"
    );
    Error::new(ErrorKind::LimitReached, text)
}

/// The first difference of two recordings, given by their topics and messages; `None` if they are
/// equal.
///
/// Quality of service, sequence numbers, padding and the file format are no difference.
///
/// # Errors
/// A recording cannot be read; of kind [`LimitReached`](ErrorKind::LimitReached), the order of
/// topics differs so much that messages do not fit into memory.
pub fn first_difference(
    left: (&[Topic], impl Iterator<Item = Result<Record>>),
    right: (&[Topic], impl Iterator<Item = Result<Record>>),
    options: &DiffOptions,
) -> Result<Option<Difference>> {
    if let Some(difference) = topic_difference(left.0, right.0) {
        return Ok(Some(difference));
    }
    let mut comparison = Comparison::new(left.0, right.0, options.clone());
    let (mut left, mut right) = (left.1.fuse(), right.1.fuse());
    loop {
        let next = [left.next(), right.next()];
        if next.iter().all(Option::is_none) {
            return Ok(comparison.first_left_over());
        }
        for (side, record) in [Side::Left, Side::Right].into_iter().zip(next) {
            let Some(record) = record else { continue };
            let found = comparison.add(side, record?);
            if let Some(difference) = found.map_err(|TooFar| too_far())? {
                return Ok(Some(difference));
            }
        }
    }
}

/// The first topic, by name, that is not the same on both sides.
fn topic_difference(left: &[Topic], right: &[Topic]) -> Option<Difference> {
    let names: BTreeSet<_> = left.iter().chain(right).map(|topic| &*topic.name).collect();
    names.into_iter().find_map(|name| {
        let find = |topics: &[Topic]| topics.iter().find(|topic| topic.name == name).cloned();
        let only_in = |only_in| Some(Difference::Topic { name: name.into(), only_in });
        let (left, right) = match (find(left), find(right)) {
            (Some(left), Some(right)) => (left, right),
            (Some(_), None) => return only_in(Side::Left),
            (None, _) => return only_in(Side::Right),
        };
        let same_hash = left.hash().zip(right.hash()).is_none_or(|(left, right)| left == right);
        let text = |topic: Topic| match topic.hash() {
            Some(hash) if !same_hash => format!("{} ({hash})", topic.type_name),
            _ => topic.type_name,
        };
        let differs = left.type_name != right.type_name || !same_hash;
        let topic = name.into();
        differs.then(|| Difference::Type { topic, left: text(left), right: text(right) })
    })
}

/// More messages wait for their counterparts than memory should hold.
struct TooFar;

/// A comparison under way.
struct Comparison<'a> {
    options: DiffOptions,
    /// For each topic of the left side, and of the right side, its place in `streams`.
    places: [Vec<usize>; 2],
    streams: Vec<Stream<'a>>,
    /// The bytes that wait.
    pending: usize,
}

/// The messages of one topic.
struct Stream<'a> {
    topic: &'a Topic,
    /// The definition, or the reason why there is none; made when it is needed.
    comparer: Option<Result<MessageComparer, String>>,
    /// The number of compared messages.
    index: u64,
    /// The messages of one side that wait for their counterparts.
    waiting: VecDeque<Record>,
    /// The side of these messages.
    side: Side,
}

impl<'a> Comparison<'a> {
    fn new(left: &'a [Topic], right: &'a [Topic], options: DiffOptions) -> Self {
        let stream = |topic| Stream {
            topic,
            comparer: None,
            index: 0,
            waiting: VecDeque::new(),
            side: Side::Left,
        };
        let streams: Vec<_> = left.iter().map(stream).collect();
        let by_name: BTreeMap<_, _> =
            left.iter().enumerate().map(|(index, topic)| (&*topic.name, index)).collect();
        let right = right.iter().map(|topic| by_name[&*topic.name]).collect();
        let places = [left.iter().map(|topic| by_name[&*topic.name]).collect(), right];
        Self { options, places, streams, pending: 0 }
    }

    /// Adds a message; compares it, if its counterpart is there.
    fn add(&mut self, side: Side, record: Record) -> Result<Option<Difference>, TooFar> {
        let TopicId(topic) = record.topic;
        let stream = &mut self.streams[self.places[side as usize][topic]];
        if stream.side == side || stream.waiting.is_empty() {
            stream.side = side;
            self.pending += record.data.len();
            stream.waiting.push_back(record);
            return if self.pending > PENDING_BYTES_MAX { Err(TooFar) } else { Ok(None) };
        }
        let Some(other) = stream.waiting.pop_front() else { return Ok(None) };
        self.pending -= other.data.len();
        let difference = match side {
            Side::Left => stream.compare(&record, &other, &self.options),
            Side::Right => stream.compare(&other, &record, &self.options),
        };
        stream.index += 1;
        Ok(difference)
    }

    /// The earliest message without a counterpart.
    fn first_left_over(&self) -> Option<Difference> {
        let waiting = self.streams.iter().filter_map(|it| Some((it, it.waiting.front()?)));
        let first = waiting.min_by_key(|(stream, record)| (record.log_time, &stream.topic.name));
        first.map(|(stream, record)| Difference::Message {
            topic: stream.topic.name.clone(),
            index: stream.index,
            only_in: stream.side,
            log_time: record.log_time,
        })
    }
}

impl Stream<'_> {
    fn compare(
        &mut self,
        left: &Record,
        right: &Record,
        options: &DiffOptions,
    ) -> Option<Difference> {
        let mut fields = Vec::new();
        if options.stamps {
            let mut stamp = |name: &str, left: Time, right: Time| {
                if left != right {
                    let (field, left, right) = (name.into(), text(left), text(right));
                    fields.push(FieldDifference { field, left, right });
                }
            };
            stamp("(log time)", left.log_time, right.log_time);
            stamp("(publish time)", left.publish_time, right.publish_time);
        }
        let (mut more, mut note) = (0, None);
        if left.data != right.data {
            let comparer = self.comparer.get_or_insert_with(|| comparer(self.topic));
            let differences = comparer.as_ref().map_err(String::clone).and_then(|comparer| {
                let found = comparer.differences(&left.data, &right.data, options.fields_max);
                found.map_err(|error| error.to_string())
            });
            match differences {
                Ok(differences) => {
                    fields.extend(differences.fields);
                    more = differences.more;
                }
                Err(reason) => {
                    fields.push(byte_difference(&left.data, &right.data));
                    note = Some(reason);
                }
            }
        }
        (!fields.is_empty() || more > 0).then(|| Difference::Content {
            topic: self.topic.name.clone(),
            type_name: self.topic.type_name.clone(),
            index: self.index,
            fields,
            more,
            note,
        })
    }
}

fn comparer(topic: &Topic) -> Result<MessageComparer, String> {
    match &topic.definition {
        Some(definition) => MessageComparer::new(&topic.type_name, definition)
            .map_err(|error| format!("{error}; bytes are compared")),
        None => Err("the recording has no definition of the type; bytes are compared".into()),
    }
}

/// The first byte that differs.
fn byte_difference(left: &[u8], right: &[u8]) -> FieldDifference {
    let at = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let value = |bytes: &[u8]| match bytes.get(at) {
        Some(byte) => format!("0x{byte:02x}, of {} bytes", bytes.len()),
        None => format!("end, after {} bytes", bytes.len()),
    };
    FieldDifference { field: format!("(byte {at})"), left: value(left), right: value(right) }
}

/// Seconds with nanoseconds.
fn text(time: Time) -> String {
    format!("{}.{:09}", time.as_nanos() / 1_000_000_000, time.as_nanos() % 1_000_000_000)
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Right => "right",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic { name, only_in } => write!(f, "topic {name} is only in the {only_in} one"),
            Self::Type { topic, left, right } => {
                write!(f, "topic {topic} has different types\n  left:  {left}\n  right: {right}")
            }
            Self::Message { topic, index, only_in, log_time } => {
                let time = text(*log_time);
                write!(f, "{topic}: message {index} at {time} is only in the {only_in} one")
            }
            Self::Content { topic, type_name, index, fields, more, note } => {
                write!(f, "{topic}: message {index} ({type_name}) differs")?;
                for FieldDifference { field, left, right } in fields {
                    write!(f, "\n  {field}: {left} | {right}")?;
                }
                if *more > 0 {
                    write!(f, "\n  and {more} more fields")?;
                }
                note.iter().try_for_each(|note| write!(f, "\n  ({note})"))
            }
        }
    }
}
