//! Reading messages of all files of a recording, merged by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::Read;
use std::sync::Arc;

use ringspin_executor::Time;

use crate::error::{FileError, ReadError};
use crate::limits::CHUNK_BYTES_MAX;
use crate::mcap_file::Range;
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

/// Reads the messages of a recording, by time. Memory is that of the chunks that overlap in time.
///
/// After an error, it ends.
pub struct Reader {
    sources: Arc<[Source]>,
    /// The topics that are left out are `false`; empty for all topics.
    selected: Vec<bool>,
    times: Range,
    by_publish_time: bool,
    skip_checksums: bool,
    /// The topics with messages that may be compressed.
    compressed: Vec<bool>,
    /// The sources to be opened, the next one at the end: its earliest time, and its number.
    pending: Vec<Reverse<(u64, usize)>>,
    open: BinaryHeap<Open>,
    warnings: Vec<String>,
}

impl Reader {
    pub(crate) fn new(
        sources: Arc<[Source]>,
        options: &ReadOptions,
        compressed: Vec<bool>,
        warnings: Vec<String>,
    ) -> Result<Self, ReadError> {
        let mut selected = vec![options.topics.is_none(); compressed.len()];
        for topic in options.topics.iter().flatten() {
            selected[topic.0] = true;
        }
        let first = options.start.unwrap_or_default().as_nanos();
        let last = options.end.unwrap_or(Time::MAX).as_nanos();
        let by_publish_time = options.order == Order::PublishTime;
        let mut pending = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            // The publication times of a file are not known before it is read.
            let times = match by_publish_time {
                true => Some(Range { first: 0, last: u64::MAX }),
                false => source.times(),
            };
            let times = times.filter(|times| times.first <= last && first <= times.last);
            pending.extend(times.map(|times| Reverse((times.first, number))));
        }
        pending.sort_unstable();
        Ok(Self {
            sources,
            selected,
            times: Range { first, last },
            by_publish_time,
            skip_checksums: options.skip_checksums,
            compressed,
            pending,
            open: BinaryHeap::new(),
            warnings,
        })
    }

    /// Problems that do not prevent reading, such as a missing end; those of the
    /// [`Bag`](crate::Bag).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn next_record(&mut self) -> Result<Option<Record>, (usize, FileError)> {
        loop {
            let next = self.open.peek().map(|open| (open.time, open.number));
            match self.pending.last() {
                Some(Reverse(pending)) if next.is_none_or(|next| *pending < next) => {
                    let number = pending.1;
                    self.pending.pop();
                    self.open(number).map_err(|problem| (number, problem))?;
                }
                _ => break,
            }
        }
        let Some(mut open) = self.open.peek_mut() else { return Ok(None) };
        let number = open.number;
        let advance = open.cursor.next().map_err(|problem| (number, problem))?;
        let mut record = match advance {
            Some(next) => {
                open.time = time(&next, self.by_publish_time);
                std::mem::replace(&mut open.record, next)
            }
            None => PeekMut::pop(open).record,
        };
        if self.compressed[record.topic.0] && record.data.starts_with(ZSTD_MAGIC) {
            record.data = decompress(&record.data).map_err(|problem| (number, problem))?;
        }
        Ok(Some(record))
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
            self.open.push(Open { time, number, record, cursor });
        }
        Ok(())
    }
}

fn time(record: &Record, by_publish_time: bool) -> u64 {
    let time = if by_publish_time { record.publish_time } else { record.log_time };
    time.as_nanos()
}

impl Iterator for Reader {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record()
            .map_err(|(number, problem)| {
                self.pending.clear();
                self.open.clear();
                ReadError::File { path: self.sources[number].path.clone(), problem }
            })
            .transpose()
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
    time: u64,
    number: usize,
    record: Record,
    cursor: SourceCursor,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.number) == (other.time, other.number)
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    /// The greatest is the one with the next message.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.time, other.number).cmp(&(self.time, self.number))
    }
}
