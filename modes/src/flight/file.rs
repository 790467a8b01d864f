//! Flight records as MCAP files, which `ros2 bag` and Foxglove open.
//!
//! The file has two topics: one message with the description of the run, then messages with some
//! entries of one log each, in rounds. A round is written as soon as a log fills up, or after a
//! quarter of a second, and ends its chunk, so that a process that is killed loses no more than
//! that. A reader takes complete rounds only.

use super::entry::Entry;
use super::log::{FlightTape, FlightWriter, LogPart};
use super::record::{FlightBuilder, FlightHeader, FlightRecord};
use mcap::records::MessageHeader;
use mcap::{McapError, MessageStream, WriteOptions};
use ringspin_executor::{CallbackId, Error, ErrorKind, Result, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The age of entries at which they are written.
const AGE_MAX: Duration = Duration::from_millis(250);

/// Serialized messages begin with this: plain CDR, little-endian.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

const RUN_TOPIC: &str = "/ringspin/run";
const RUN_TYPE: &str = "ringspin_msgs/msg/Run";
const RUN: &str = "\
uint64 seed      # of the random streams
uint64 start     # nanoseconds of the executor's time
uint32 logs      # one for each worker, and one for the ends of spins
uint32[] ids
string[] callbacks
";

const EVENTS_TOPIC: &str = "/ringspin/events";
const EVENTS_TYPE: &str = "ringspin_msgs/msg/Events";
const EVENTS: &str = "\
uint32 log       # the last one ends a round: earlier entries do not depend on later rounds
uint64 lost      # entries of this log so far for which there was no room
Event[] events
================================================================================
MSG: ringspin_msgs/Event
uint64 order     # nanoseconds of the real clock
uint64 time      # nanoseconds of the executor's time
uint64 sequence  # of the event in its source
uint64 extra     # timer: its deadline; read: a time or count; finished: a digest
uint32 source    # of the event
uint32 what      # callback (29 bits), then the kind: message, timer, other event, skipped, refused,
                 # read, finished, end of a spin
";

#[derive(Serialize, Deserialize)]
struct Run {
    seed: u64,
    start: u64,
    logs: u32,
    ids: Vec<u32>,
    callbacks: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Events {
    log: u32,
    lost: u64,
    events: Vec<Event>,
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
        Ok(Self { path: path.into(), file, run, events, messages: 0 })
    }

    fn write_message(&mut self, channel: u16, time: u64, message: &impl Serialize) -> Result<()> {
        let mut data = ENCAPSULATION.to_vec();
        let body = cdr_encoding::to_vec::<_, byteorder::LittleEndian>(message);
        data.extend(body.expect("numbers and texts can be serialized"));
        let (sequence, log_time) = (self.messages, time);
        self.messages += 1;
        let header = MessageHeader { channel_id: channel, sequence, log_time, publish_time: time };
        let written = self.file.write_to_known_channel(&header, &data);
        written.map_err(|error| write_error(&self.path, error))
    }

    fn write_all(&mut self, mut tape: FlightTape) -> Result<()> {
        let FlightHeader { callbacks, seed, start } = tape.header().clone();
        let (ids, callbacks) = callbacks.into_iter().map(|(id, name)| (id.0, name)).unzip();
        let (start, logs) = (start.as_nanos(), tape.logs() as u32);
        self.write_message(self.run, start, &Run { seed, start, logs, ids, callbacks })?;
        self.flush()?;
        let last = tape.logs() - 1;
        let mut lost_before = 0;
        while let Some(round) = tape.next_round(AGE_MAX) {
            let lost = round.iter().map(|part| part.lost).sum();
            let lost_more = lost > std::mem::replace(&mut lost_before, lost);
            if !lost_more && round.iter().all(|part| part.entries.is_empty()) {
                continue;
            }
            for (log, LogPart { entries, lost }) in round.iter().enumerate() {
                if entries.is_empty() && *lost == 0 && log < last {
                    continue;
                }
                let time = entries.first().map_or(start, |entry| entry.order);
                let events = entries.iter().map(Event::from).collect();
                let events = Events { log: log as u32, lost: *lost, events };
                self.write_message(self.events, time, &events)?;
            }
            self.flush()?;
        }
        Ok(())
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
                    round.push(events.ok_or_else(|| refused("some of its events are damaged"))?);
                    if round.last().is_some_and(|part| part.log + 1 == *logs) {
                        round.drain(..).for_each(|part| add(builder, part));
                    }
                }
                _ => {}
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

fn add(builder: &mut FlightBuilder, Events { log, lost, events }: Events) {
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
    let Run { seed, start, logs, ids, callbacks } = decode(body)?;
    let callbacks = ids.into_iter().map(CallbackId).zip(callbacks).collect();
    Some((FlightHeader { callbacks, seed, start: Time::from_nanos(start) }, logs))
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
