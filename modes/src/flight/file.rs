//! Flight records as MCAP files, which `ros2 bag` and Foxglove open.
//!
//! The file has two topics: one message with the description of the run, then messages with some
//! entries of one log each, in rounds. The items of other processes are messages of their topics,
//! before the message of the log that took them. A round is written as soon as a log fills up, or
//! after a quarter of a second, and ends its chunk, so that a process that is killed loses no more
//! than that. A reader takes complete rounds only.

use super::entry::{Entry, EntryKind};
use super::log::{FlightTape, FlightWriter, LogPart};
use super::record::{FlightBuilder, FlightHeader, FlightRecord};
use mcap::records::MessageHeader;
use mcap::{McapError, MessageStream, WriteOptions};
use ringspin_executor::observed::{RemoteChannel, RemoteItem};
use ringspin_executor::{CallbackId, Error, ErrorKind, Result, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The age of entries at which they are written.
const AGE_MAX: Duration = Duration::from_millis(250);

/// Serialized messages begin with this: plain CDR, little-endian.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// The metadata of a channel with the hash of its type, as `ros2 bag` names it.
const TYPE_HASH: &str = "topic_type_hash";

const RUN_TOPIC: &str = "/ringspin/run";
const RUN_TYPE: &str = "ringspin_msgs/msg/Run";
const RUN: &str = "\
uint64 seed      # of the random streams
uint64 start     # nanoseconds of the executor's time
uint32 logs      # one for each worker, and one for the ends of spins
uint32[] ids
string[] callbacks
string middleware # with the messages of other processes
";

const EVENTS_TOPIC: &str = "/ringspin/events";
const EVENTS_TYPE: &str = "ringspin_msgs/msg/Events";
const EVENTS: &str = "\
uint32 log       # the last one ends a round: earlier entries do not depend on later rounds
uint64 lost      # entries of this log so far for which there was no room
Event[] events
Item[] items     # the messages since the last one of this topic, which this log took
================================================================================
MSG: ringspin_msgs/Event
uint64 order     # nanoseconds of the real clock
uint64 time      # nanoseconds of the executor's time
uint64 sequence  # of the event in its source
uint64 extra     # timer: its deadline; read: a time or count; finished: a digest
uint32 source    # of the event
uint32 what      # callback (28 bits), then the kind: message, timer, other event, skipped, refused,
                 # read, finished, end of a spin, item
================================================================================
MSG: ringspin_msgs/Item
int64 number     # of the call of a response
uint64 source    # nanoseconds of the sender's time
uint64 received  # nanoseconds of the middleware's time
";

#[derive(Serialize, Deserialize)]
struct Run {
    seed: u64,
    start: u64,
    logs: u32,
    ids: Vec<u32>,
    callbacks: Vec<String>,
    middleware: String,
}

#[derive(Serialize, Deserialize)]
struct Events {
    log: u32,
    lost: u64,
    events: Vec<Event>,
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize)]
struct Item {
    number: i64,
    source: u64,
    received: u64,
}

#[derive(Serialize, Deserialize)]
struct Event {
    order: u64,
    time: u64,
    sequence: u64,
    extra: u64,
    source: u32,
    what: u32,
}

impl From<&Entry> for Event {
    fn from(entry: &Entry) -> Self {
        let Entry { order, time, sequence, extra, source, what } = *entry;
        Self { order, time, sequence, extra, source, what }
    }
}

impl From<Event> for Entry {
    fn from(event: Event) -> Self {
        let Event { order, time, sequence, extra, source, what } = event;
        Self { order, time, sequence, extra, source, what }
    }
}

/// A flight record that is being written.
pub struct FlightFile {
    path: PathBuf,
    file: mcap::Writer<BufWriter<File>>,
    run: u16,
    events: u16,
    /// The channels of items, by topic and type.
    items: BTreeMap<(String, String), u16>,
    messages: u32,
}

impl FlightFile {
    /// Creates the file `path`.
    ///
    /// # Errors
    /// If there is a file of this name, or it cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |error: McapError| write_error(path, error);
        let file = File::create_new(path).map_err(|error| failed(error.into()))?;
        let options = WriteOptions::new().compression(None).profile("ros2").library("ringspin");
        let file = BufWriter::new(file);
        let mut file = options.chunk_size(None).create(file).map_err(failed)?;
        let mut topic = |name, type_name, definition: &str| {
            let schema = file.add_schema(type_name, "ros2msg", definition.as_bytes())?;
            file.add_channel(schema, name, "cdr", &BTreeMap::new())
        };
        let run = topic(RUN_TOPIC, RUN_TYPE, RUN).map_err(failed)?;
        let events = topic(EVENTS_TOPIC, EVENTS_TYPE, EVENTS).map_err(failed)?;
        let (path, items) = (path.into(), BTreeMap::new());
        Ok(Self { path, file, run, events, items, messages: 0 })
    }

    fn write_message(&mut self, channel: u16, time: u64, message: &impl Serialize) -> Result<()> {
        let mut data = ENCAPSULATION.to_vec();
        let body = cdr_encoding::to_vec::<_, byteorder::LittleEndian>(message);
        data.extend(body.expect("numbers and texts can be serialized"));
        self.write_bytes(channel, (time, time), &data)
    }

    fn write_bytes(
        &mut self,
        channel_id: u16,
        (log_time, publish_time): (u64, u64),
        data: &[u8],
    ) -> Result<()> {
        let sequence = self.messages;
        self.messages = sequence.wrapping_add(1);
        let header = MessageHeader { channel_id, sequence, log_time, publish_time };
        let written = self.file.write_to_known_channel(&header, data);
        written.map_err(|error| write_error(&self.path, error))
    }

    fn write_item(&mut self, item: &RemoteItem, time: u64) -> Result<()> {
        let RemoteChannel { topic, type_name, definition, type_hash } = &*item.channel;
        let key = (topic.clone(), type_name.clone());
        let channel = match self.items.get(&key) {
            Some(channel) => *channel,
            None => {
                let failed = |error: McapError| write_error(&self.path, error);
                let schema = self.file.add_schema(type_name, "ros2msg", definition.as_bytes());
                let metadata = BTreeMap::from([(TYPE_HASH.to_owned(), type_hash.clone())]);
                let schema = schema.map_err(failed)?;
                let added = self.file.add_channel(schema, topic, "cdr", &metadata);
                *self.items.entry(key).or_insert(added.map_err(failed)?)
            }
        };
        let sent = if item.source_ns == 0 { time } else { item.source_ns };
        self.write_bytes(channel, (time, sent), &item.bytes)
    }

    fn write_all(&mut self, mut tape: FlightTape) -> Result<()> {
        let FlightHeader { callbacks, seed, start, middleware } = tape.header().clone();
        let (ids, callbacks) = callbacks.into_iter().map(|(id, name)| (id.0, name)).unzip();
        let (start, logs) = (start.as_nanos(), tape.logs() as u32);
        let run = Run { seed, start, logs, ids, callbacks, middleware };
        self.write_message(self.run, start, &run)?;
        self.flush()?;
        let last = tape.logs() - 1;
        let mut lost_before = 0;
        while let Some(round) = tape.next_round(AGE_MAX) {
            let lost = round.iter().map(|part| part.lost).sum();
            let lost_more = lost > std::mem::replace(&mut lost_before, lost);
            let is_empty = |part: &LogPart| part.entries.is_empty() && part.items.is_empty();
            if !lost_more && round.iter().all(is_empty) {
                continue;
            }
            for (log, part) in round.iter().enumerate() {
                if !is_empty(part) || part.lost > 0 || log == last {
                    self.write_part(log, part, start)?;
                }
            }
            self.flush()?;
        }
        Ok(())
    }

    fn write_part(&mut self, log: usize, part: &LogPart, start: u64) -> Result<()> {
        let LogPart { entries, items, lost } = part;
        let time = entries.first().map_or(start, |entry| entry.order);
        let mut times = entries.iter().filter(|entry| entry.kind() == EntryKind::Item);
        for item in items {
            // An item of the next round gets the time of this one.
            self.write_item(item, times.next().map_or(time, |entry| entry.order))?;
        }
        let events = entries.iter().map(Event::from).collect();
        let items = items.iter().map(|item| Item {
            number: item.number,
            source: item.source_ns,
            received: item.received_ns,
        });
        let events = Events { log: log as u32, lost: *lost, events, items: items.collect() };
        self.write_message(self.events, time, &events)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush().map_err(|error| write_error(&self.path, error))
    }
}

impl FlightWriter for FlightFile {
    fn write(mut self: Box<Self>, tape: FlightTape) -> Result<()> {
        self.write_all(tape).inspect_err(|error| {
            tracing::error!(%error, "the flight record ends here");
        })?;
        self.file.finish().map(drop).map_err(|error| write_error(&self.path, error))
    }
}

impl FlightRecord {
    /// Reads a flight record. One that ends early, because its process was killed or its disk full,
    /// is read as far as it goes.
    ///
    /// # Errors
    /// If the file cannot be read, or is no flight record.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| read_error(path, ErrorKind::Io, error))?;
        let refused = |text: &str| read_error(path, ErrorKind::Parse, text);
        let options = mcap::read::Options::IgnoreEndMagic.into();
        let messages = MessageStream::new_with_options(&bytes, options);
        let messages = messages.map_err(|error| read_error(path, ErrorKind::Parse, error))?;
        let mut run: Option<(FlightBuilder, u32)> = None;
        let (mut round, mut is_cut) = (Vec::new(), false);
        let mut remote = RemoteItems::default();
        for message in messages {
            let Ok(message) = message else {
                is_cut = true;
                break;
            };
            let body = message.data.get(ENCAPSULATION.len()..).unwrap_or_default();
            match (&*message.channel.topic, &mut run) {
                (RUN_TOPIC, None) => {
                    let (header, logs) = read_run(body)
                        .ok_or_else(|| refused("its description of the run is damaged"))?;
                    run = Some((FlightBuilder::new(header), logs));
                }
                (EVENTS_TOPIC, Some((builder, logs))) => {
                    let events = decode::<Events>(body);
                    let events = events.ok_or_else(|| refused("some of its events are damaged"))?;
                    let is_last = events.log + 1 == *logs;
                    let items = remote.take(&events.items);
                    let items = items.ok_or_else(|| refused("some of its messages are missing"))?;
                    round.push((events, items));
                    if is_last {
                        round.drain(..).for_each(|part| add(builder, part));
                    }
                }
                (_, Some(_)) => remote.add(&message),
                (_, None) => {}
            }
        }
        if is_cut || !round.is_empty() {
            tracing::warn!(path = %path.display(), "the flight record ends early, without its end");
        }
        let (builder, _) = run.ok_or_else(|| {
            refused("it has no description of a run: it is no flight record, or ends before that")
        })?;
        Ok(builder.finish())
    }
}

/// The messages since the last events.
#[derive(Default)]
struct RemoteItems {
    channels: BTreeMap<u16, Arc<RemoteChannel>>,
    waiting: Vec<(u16, Vec<u8>)>,
}

impl RemoteItems {
    fn add(&mut self, message: &mcap::Message<'_>) {
        let from = &message.channel;
        self.channels.entry(from.id).or_insert_with(|| {
            let schema = from.schema.as_ref();
            let definition = schema.map(|schema| String::from_utf8_lossy(&schema.data).into());
            Arc::new(RemoteChannel {
                topic: from.topic.clone(),
                type_name: schema.map(|schema| schema.name.clone()).unwrap_or_default(),
                definition: definition.unwrap_or_default(),
                type_hash: from.metadata.get(TYPE_HASH).cloned().unwrap_or_default(),
            })
        });
        self.waiting.push((from.id, message.data.to_vec()));
    }

    /// The items of which the rest is in `items`; `None` if there are other messages.
    fn take(&mut self, items: &[Item]) -> Option<Vec<Arc<RemoteItem>>> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.len() != items.len() {
            return None;
        }
        let item = |((channel, bytes), item): ((u16, _), &Item)| {
            let Item { number, source, received } = *item;
            let channel = self.channels[&channel].clone();
            let (source_ns, received_ns) = (source, received);
            Arc::new(RemoteItem { channel, number, source_ns, received_ns, bytes })
        };
        Some(waiting.into_iter().zip(items).map(item).collect())
    }
}

fn add(
    builder: &mut FlightBuilder,
    (Events { log, lost, events, .. }, items): (Events, Vec<Arc<RemoteItem>>),
) {
    builder.add_items(log as usize, items);
    builder.add(log as usize, events.into_iter().map(Entry::from));
    if lost > 0 {
        builder.add_gap(log as usize);
    }
}

fn decode<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    cdr_encoding::from_bytes::<T, byteorder::LittleEndian>(body).ok().map(|(value, _)| value)
}

/// The description of a run, and the number of its logs.
fn read_run(body: &[u8]) -> Option<(FlightHeader, u32)> {
    let Run { seed, start, logs, ids, callbacks, middleware } = decode(body)?;
    let callbacks = ids.into_iter().map(CallbackId).zip(callbacks).collect();
    let start = Time::from_nanos(start);
    Some((FlightHeader { callbacks, seed, start, middleware }, logs))
}

fn write_error(path: &Path, error: McapError) -> Error {
    let way_out = match &error {
        McapError::Io(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            "; remove it, or choose another name"
        }
        _ => "",
    };
    let text = format!("failed to write the flight record {}: {error}{way_out}", path.display());
    Error::new(ErrorKind::Io, text).at_path(path)
}

fn read_error(path: &Path, kind: ErrorKind, reason: impl std::fmt::Display) -> Error {
    let text = format!("failed to read the flight record {}: {reason}", path.display());
    Error::new(kind, text).at_path(path)
}
