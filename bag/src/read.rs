//! Reading messages of all files of a recording, merged by time.

use std::collections::binary_heap::PeekMut;
use std::io::Read;
use std::sync::Arc;

use ringspin_executor::{Error, ErrorKind, Time};

use crate::error::FileError;
use crate::limits::CHUNK_BYTES_MAX;
use crate::mcap_file::Range;
use crate::merge::{Merge, Part};
use crate::recording::{Record, TopicId};
use crate::source::{Source, SourceCursor, ZSTD_MAGIC};

/// The messages to be read; by default all of them, by log time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The topics; `None` for all.
    pub topics: Option<Vec<TopicId>>,
    /// The earliest time, included, of the kind by which messages are ordered.
    pub start: Option<Time>,
    /// The latest time, included, of the kind by which messages are ordered.
    pub end: Option<Time>,
    /// The time by which messages are ordered.
    pub order: Order,
    /// Whether the checksums of chunks are not compared. `cargo bench -p ringspin-benches --bench
    /// recordings` shows the cost of comparing.
    pub skip_checksums: bool,
}

/// The time by which messages are ordered. Equal times are in the order of the files, and within
/// a file in the order of recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The time of reception by the recorder.
    #[default]
    LogTime,
    /// The time of publication. An MCAP file with an index is read twice: first for the
    /// publication times, which no index has. SQLite files have reception times only.
    PublishTime,
}

/// A number of messages that the recording says it has.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The part of the recording that says so.
    pub(crate) by: &'static str,
    pub(crate) name: String,
    /// The topics of this name, among which the messages are.
    pub(crate) topics: Vec<TopicId>,
    pub(crate) count: u64,
}

/// Reads the messages of a recording, by time. Memory is that of the chunks that overlap in time.
///
/// After the last message, the numbers of messages are compared with those of the index and of
/// `metadata.yaml`, unless [`ReadOptions`] leave out times. A difference is an error of kind
/// [`Parse`](ErrorKind::Parse), as is damage that hides further messages. After an error, it ends.
pub struct Reader {
    sources: Arc<[Source]>,
    /// The topics that are left out are `false`; empty for all topics.
    selected: Vec<bool>,
    times: Range,
    by_publish_time: bool,
    skip_checksums: bool,
    /// The topics with messages that may be compressed.
    compressed: Vec<bool>,
    /// The numbers that are compared after the last message.
    expected: Vec<Expected>,
    /// Whether the messages before any damage are followed by its error.
    to_end: bool,
    /// The number of messages of each topic so far.
    counts: Vec<u64>,
    files: Merge<Open>,
    warnings: Vec<String>,
}

impl Reader {
    pub(crate) fn new(
        sources: Arc<[Source]>,
        options: &ReadOptions,
        compressed: Vec<bool>,
        mut expected: Vec<Expected>,
        warnings: Vec<String>,
    ) -> Result<Self, Error> {
        let mut selected = vec![options.topics.is_none(); compressed.len()];
        for topic in options.topics.iter().flatten() {
            selected[topic.0] = true;
        }
        let first = options.start.unwrap_or_default().as_nanos();
        let last = options.end.unwrap_or(Time::MAX).as_nanos();
        let by_publish_time = options.order == Order::PublishTime;
        let all = || sources.iter().filter_map(|source| source.times());
        let from_start = match by_publish_time {
            true => first == 0,
            false => all().all(|times| first <= times.first),
        };
        let to_end = match by_publish_time {
            true => last == u64::MAX,
            false => all().all(|times| times.last <= last),
        };
        let is_whole = from_start && to_end;
        expected.retain(|of| is_whole && of.topics.iter().all(|topic| selected[topic.0]));
        let files = Merge::new(sources.iter().enumerate().filter_map(|(number, source)| {
            // The publication times of a file are not known before it is read.
            let times = match by_publish_time {
                true => Some(Range { first: 0, last: u64::MAX }),
                false => source.times(),
            };
            let times = times.filter(|times| times.first <= last && first <= times.last);
            times.map(|times| (times.first, number))
        }));
        Ok(Self {
            sources,
            selected,
            times: Range { first, last },
            by_publish_time,
            skip_checksums: options.skip_checksums,
            counts: vec![0; compressed.len()],
            compressed,
            expected,
            to_end,
            files,
            warnings,
        })
    }

    /// Problems that do not prevent reading, such as a missing end; those of the
    /// [`Bag`](crate::Bag).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn next_record(&mut self) -> Result<Option<Record>, (usize, FileError)> {
        while let Some(number) = self.files.due() {
            self.open(number).map_err(|problem| (number, problem))?;
        }
        let Some(mut open) = self.files.first() else { return Ok(None) };
        let number = open.number;
        let advance = open.content.cursor.next().map_err(|problem| (number, problem))?;
        let mut record = match advance {
            Some(next) => {
                open.time = time(&next, self.by_publish_time);
                std::mem::replace(&mut open.content.record, next)
            }
            None => PeekMut::pop(open).content.record,
        };
        if self.compressed[record.topic.0] && record.data.starts_with(ZSTD_MAGIC) {
            record.data = decompress(&record.data).map_err(|problem| (number, problem))?;
        }
        self.counts[record.topic.0] += 1;
        Ok(Some(record))
    }

    /// Compares the messages that were read with those that the recording says it has, once.
    fn reconcile(&mut self) -> Result<(), Error> {
        let to_end = std::mem::take(&mut self.to_end);
        for source in self.sources.iter().filter(|_| to_end) {
            if let Some(problem) = source.damage() {
                self.expected.clear();
                return Err(problem.of("failed to read recording", &source.path));
            }
        }
        for Expected { by, name, topics, count } in std::mem::take(&mut self.expected) {
            let read: u64 = topics.iter().map(|topic| self.counts[topic.0]).sum();
            if read != count {
                let text = format!(
                    "failed to read recording: {by} has {count} messages of topic {name}, but \
                     {read} were read; copy the recording again, or write the messages that are \
                     left to another one (`bag recover`)"
                );
                return Err(Error::new(ErrorKind::Parse, text).on_topic(name));
            }
        }
        Ok(())
    }

    fn open(&mut self, number: usize) -> Result<(), FileError> {
        let selected = |topic: TopicId| self.selected[topic.0];
        let mut cursor = self.sources[number].read(
            selected,
            self.times,
            self.by_publish_time,
            self.skip_checksums,
        )?;
        if let Some(record) = cursor.next()? {
            let time = time(&record, self.by_publish_time);
            self.files.push(Part { time, number, content: Open { record, cursor } });
        }
        Ok(())
    }
}

fn time(record: &Record, by_publish_time: bool) -> u64 {
    let time = if by_publish_time { record.publish_time } else { record.log_time };
    time.as_nanos()
}

impl Iterator for Reader {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_record() {
            Ok(Some(record)) => Some(Ok(record)),
            Ok(None) => self.reconcile().err().map(Err),
            Err((number, problem)) => {
                self.files.clear();
                self.expected.clear();
                self.to_end = false;
                Some(Err(problem.of("failed to read recording", &self.sources[number].path)))
            }
        }
    }
}

impl std::iter::FusedIterator for Reader {}

/// Decompresses a message.
fn decompress(data: &[u8]) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(data)?;
    decoder.take(CHUNK_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        bytes if bytes > CHUNK_BYTES_MAX => {
            Err(FileError::TooLarge { part: "message", bytes, limit: CHUNK_BYTES_MAX })
        }
        _ => Ok(bytes),
    }
}

/// An open file, with its next message.
struct Open {
    record: Record,
    cursor: SourceCursor,
}
