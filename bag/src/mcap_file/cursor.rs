//! The messages of an MCAP file in the order of a time, chunk by chunk.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::sync::Arc;

use mcap::records::op;
use ringspin_executor::Time;

use super::chunk::{ChunkKind, ChunkPlace, Content, Loader, Range, Ranges};
use super::index::McapIndex;
use super::records::{MESSAGE_HEADER_BYTES, MessageHeader, damaged};
use crate::error::FileError;
use crate::limits::OPEN_BYTES_MAX;
use crate::recording::{Record, TopicId};

/// The messages that are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// The topic of each channel, by its number; `None` for a channel that is left out.
    pub(crate) topics: Vec<Option<TopicId>>,
    /// The times, both included.
    pub(crate) times: Range,
    /// Whether times are those of publication.
    pub(crate) by_publish_time: bool,
    /// Whether checksums are not compared.
    pub(crate) skip_checksums: bool,
}

/// Reads messages by time; equal times in the order of the file.
///
/// A chunk is loaded when its first message may be next, and dropped after its last one. So one
/// chunk is in memory at a time, or as many as overlap.
pub(crate) struct Cursor {
    loader: Loader,
    index: Arc<McapIndex>,
    selection: Selection,
    /// The chunks to be loaded, the next one at the end: its first time, and its number.
    pending: Vec<Reverse<(u64, usize)>>,
    open: BinaryHeap<OpenChunk>,
    open_bytes: u64,
    /// A chunk that was read, for its memory.
    spare: OpenChunk,
}

impl Cursor {
    pub(crate) fn new(
        file: File,
        index: Arc<McapIndex>,
        selection: Selection,
    ) -> Result<Self, FileError> {
        let mut cursor = Self {
            loader: Loader::new(file)?.skip_checksums(selection.skip_checksums),
            index,
            selection,
            pending: Vec::new(),
            open: BinaryHeap::new(),
            open_bytes: 0,
            spare: OpenChunk::default(),
        };
        let index = Arc::clone(&cursor.index);
        for (number, place) in index.chunks.iter().enumerate() {
            if !cursor.has_selected_channel(place) {
                continue;
            }
            let range = match cursor.selection.by_publish_time {
                false => place.ranges.log,
                true if place.ranges.publish.is_some() => place.ranges.publish,
                true => cursor.publish_range(place)?,
            };
            let times = cursor.selection.times;
            let range =
                range.filter(|range| range.first <= times.last && times.first <= range.last);
            cursor.pending.extend(range.map(|range| Reverse((range.first, number))));
        }
        cursor.pending.sort_unstable();
        Ok(cursor)
    }

    fn has_selected_channel(&self, place: &ChunkPlace) -> bool {
        let is_selected = |channel: &u16| {
            matches!(self.selection.topics.get(usize::from(*channel)), Some(Some(_)))
        };
        place.channels.as_ref().is_none_or(|channels| channels.iter().any(is_selected))
    }

    /// The publication times of a chunk, which no index has.
    fn publish_range(&mut self, place: &ChunkPlace) -> Result<Option<Range>, FileError> {
        self.loader.load(place, &mut self.spare.content)?;
        let mut ranges = Ranges::default();
        for_each_message(place, &self.spare.content, |header, _| {
            ranges.add(header);
            Ok(())
        })?;
        Ok(ranges.publish)
    }

    /// The next message; `None` after the last one. After an error, the rest is not defined.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, FileError> {
        loop {
            let next = self.open.peek().map(OpenChunk::key);
            match self.pending.last() {
                Some(Reverse(pending)) if next.is_none_or(|next| *pending < next) => {
                    let number = pending.1;
                    self.pending.pop();
                    self.load(number)?;
                }
                _ => break,
            }
        }
        let Some(mut chunk) = self.open.peek_mut() else { return Ok(None) };
        let record = chunk.record(&self.selection.topics);
        chunk.next += 1;
        if chunk.next == chunk.messages.len() {
            let chunk = PeekMut::pop(chunk);
            self.open_bytes -= chunk.content.bytes().len() as u64;
            self.spare = chunk;
        }
        Ok(Some(record))
    }

    fn load(&mut self, number: usize) -> Result<(), FileError> {
        let mut chunk = std::mem::take(&mut self.spare);
        let place = &self.index.chunks[number];
        self.loader.load(place, &mut chunk.content)?;
        chunk.number = number;
        chunk.next = 0;
        let OpenChunk { content, messages, .. } = &mut chunk;
        messages.clear();
        let Selection { topics, times, by_publish_time, .. } = &self.selection;
        let mut is_sorted = true;
        for_each_message(place, content, |header, at| {
            let time = if *by_publish_time { header.publish_time } else { header.log_time };
            let topic = topics.get(usize::from(header.channel));
            let topic = topic.ok_or_else(|| {
                let problem = format!("message of unknown channel {}", header.channel);
                damaged(place.offset, problem)
            })?;
            if topic.is_some() && (times.first..=times.last).contains(&time) {
                is_sorted &= messages.last().is_none_or(|last| last.time <= time);
                messages.push(Entry { time, at });
            }
            Ok(())
        })?;
        if !is_sorted {
            messages.sort_by_key(|entry| entry.time);
        }
        if chunk.messages.is_empty() {
            self.spare = chunk;
            return Ok(());
        }
        self.open_bytes += chunk.content.bytes().len() as u64;
        if self.open_bytes > OPEN_BYTES_MAX {
            return Err(FileError::Overlap { bytes: self.open_bytes, limit: OPEN_BYTES_MAX });
        }
        self.open.push(chunk);
        Ok(())
    }
}

/// Calls `visit` with each message of a chunk, and the position of its body.
fn for_each_message(
    place: &ChunkPlace,
    content: &Content,
    mut visit: impl FnMut(MessageHeader, usize) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let mut at = content.begin;
    while let Some(raw) = content.record(at) {
        let message = match raw {
            Some(raw) if raw.opcode != op::MESSAGE => {
                at = raw.at + raw.body.len();
                continue;
            }
            Some(raw) => MessageHeader::parse(raw.body).map(|header| (header, raw)),
            None => None,
        };
        let visited = match message {
            Some((header, raw)) => {
                at = raw.at + raw.body.len();
                visit(header, raw.at)
            }
            None => Err(damaged(place.offset, "a record of this chunk is cut off")),
        };
        match visited {
            // The scan has reported this place, and counted the messages before it.
            Err(_) if place.kind == ChunkKind::CutOff => return Ok(()),
            visited => visited?,
        }
    }
    Ok(())
}

/// A message of a loaded chunk.
struct Entry {
    time: u64,
    /// The position of its body.
    at: usize,
}

/// A loaded chunk; its messages that are asked for, by time.
#[derive(Default)]
struct OpenChunk {
    /// The number of the chunk in the file.
    number: usize,
    content: Content,
    messages: Vec<Entry>,
    /// The index of the next message.
    next: usize,
}

impl OpenChunk {
    /// The order among chunks; equal times in the order of the file.
    fn key(&self) -> (u64, usize) {
        (self.messages.get(self.next).map_or(u64::MAX, |entry| entry.time), self.number)
    }

    /// The next message.
    fn record(&self, topics: &[Option<TopicId>]) -> Record {
        let at = self.messages[self.next].at;
        let bytes = self.content.bytes();
        let length = u64::from_le_bytes(*bytes[at - 8..].first_chunk().expect("a record's length"));
        let body = &bytes[at..at + length as usize];
        let header = MessageHeader::parse(body).expect("the message was parsed when it was loaded");
        Record {
            topic: topics[usize::from(header.channel)].expect("the message is selected"),
            log_time: Time::from_nanos(header.log_time),
            publish_time: Time::from_nanos(header.publish_time),
            sequence: header.sequence,
            data: body[MESSAGE_HEADER_BYTES..].to_vec(),
        }
    }
}

impl PartialEq for OpenChunk {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for OpenChunk {}

impl PartialOrd for OpenChunk {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OpenChunk {
    /// The greatest is the one with the next message.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.key().cmp(&self.key())
    }
}
