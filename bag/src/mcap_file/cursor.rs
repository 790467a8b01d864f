//! The messages of an MCAP file in the order of a time, chunk by chunk.

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
use crate::merge::{Merge, Part};
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
    chunks: Merge<OpenChunk>,
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
        if let Some(end) = index.wrong_checksum.filter(|_| !selection.skip_checksums) {
            return Err(damaged(end, "the bytes up to here do not have their checksum"));
        }
        let mut cursor = Self {
            loader: Loader::new(file)?.skip_checksums(selection.skip_checksums),
            index,
            selection,
            chunks: Merge::new([]),
            open_bytes: 0,
            spare: OpenChunk::default(),
        };
        let index = Arc::clone(&cursor.index);
        let mut pending = Vec::new();
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
            pending.extend(range.map(|range| (range.first, number)));
        }
        cursor.chunks = Merge::new(pending);
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
        while let Some(number) = self.chunks.due() {
            self.load(number)?;
        }
        let Some(mut part) = self.chunks.first() else { return Ok(None) };
        let chunk = &mut part.content;
        let record = chunk.record(&self.selection.topics);
        chunk.next += 1;
        match chunk.messages.get(chunk.next).map(|entry| entry.time) {
            Some(time) => part.time = time,
            None => {
                let chunk = PeekMut::pop(part).content;
                self.open_bytes -= chunk.content.bytes().len() as u64;
                self.spare = chunk;
            }
        }
        Ok(Some(record))
    }

    fn load(&mut self, number: usize) -> Result<(), FileError> {
        let mut chunk = std::mem::take(&mut self.spare);
        let place = &self.index.chunks[number];
        self.loader.load(place, &mut chunk.content)?;
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
        let Some(time) = chunk.messages.first().map(|entry| entry.time) else {
            self.spare = chunk;
            return Ok(());
        };
        self.open_bytes += chunk.content.bytes().len() as u64;
        if self.open_bytes > OPEN_BYTES_MAX {
            return Err(FileError::Overlap { bytes: self.open_bytes, limit: OPEN_BYTES_MAX });
        }
        self.chunks.push(Part { time, number, content: chunk });
        Ok(())
    }
}

/// Calls `visit` with each message of a chunk, and the position of its body.
pub(super) fn for_each_message(
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
    content: Content,
    messages: Vec<Entry>,
    /// The index of the next message.
    next: usize,
}

impl OpenChunk {
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
