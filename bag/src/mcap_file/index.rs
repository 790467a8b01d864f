//! The index of an MCAP file: from its summary, or else from a scan of the file.

use std::collections::BTreeMap;
use std::fs::File;

use mcap::records::{ChunkIndex, Record, Statistics, op};

use super::chunk::{ChunkKind, ChunkPlace, Loader, Range, Ranges};
use super::records::{MAGIC, PREFIX_BYTES, bounded, damaged, record_at};
use super::scan;
use crate::error::FileError;
use crate::limits::INDEX_BYTES_MAX;
use crate::recording::Definition;

/// The bytes of a footer's body.
const FOOTER_BYTES: usize = 20;

/// A channel with its schema.
#[derive(Clone, Debug)]
pub(crate) struct ChannelRecord {
    pub(crate) topic: String,
    pub(crate) encoding: String,
    pub(crate) metadata: BTreeMap<String, String>,
    /// The name of the type, and its definition.
    pub(crate) schema: Option<(String, Definition)>,
}

/// The channels and chunks of a file.
#[derive(Debug, Default)]
pub(crate) struct McapIndex {
    pub(crate) channels: BTreeMap<u16, ChannelRecord>,
    /// In the order of the file.
    pub(crate) chunks: Vec<ChunkPlace>,
    /// The messages of each channel.
    pub(crate) counts: BTreeMap<u16, u64>,
    /// The log times.
    pub(crate) times: Option<Range>,
    /// Problems that do not prevent reading.
    pub(crate) warnings: Vec<String>,
}

impl McapIndex {
    /// Reads the index of `file`.
    pub(crate) fn read(file: File) -> Result<Self, FileError> {
        let mut loader = Loader::new(file)?;
        let mut bytes = Vec::new();
        let magic = usize::try_from(loader.size()).unwrap_or(usize::MAX).min(MAGIC.len());
        loader.read(0, magic, &mut bytes)?;
        if bytes != MAGIC {
            return Err(damaged(0, "not an MCAP file"));
        }
        match Summary::read(&loader, &mut bytes) {
            Ok(Some(summary)) => summary.into_index(),
            Ok(None) => scan::scan(&mut loader, None),
            Err(error @ FileError::Io(_)) => Err(error),
            Err(error) => scan::scan(&mut loader, Some(error)),
        }
    }
}

/// Collects schemas and channels, which come in any order.
#[derive(Default)]
pub(super) struct Channels {
    schemas: BTreeMap<u16, (String, Definition)>,
    channels: BTreeMap<u16, (u16, ChannelRecord)>,
}

impl Channels {
    /// Adds a schema or channel, at `offset` of the file.
    pub(super) fn add(&mut self, opcode: u8, body: &[u8], offset: u64) -> Result<(), FileError> {
        match parse(opcode, body, offset)? {
            Record::Schema { header, data } => {
                let text = String::from_utf8_lossy(&data).into_owned();
                let definition = Definition { encoding: header.encoding, text };
                self.schemas.insert(header.id, (header.name, definition));
            }
            Record::Channel(channel) => {
                let record = ChannelRecord {
                    topic: channel.topic,
                    encoding: channel.message_encoding,
                    metadata: channel.metadata,
                    schema: None,
                };
                self.channels.insert(channel.id, (channel.schema_id, record));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether there is such a channel.
    pub(super) fn contains(&self, channel: u16) -> bool {
        self.channels.contains_key(&channel)
    }

    pub(super) fn finish(self) -> BTreeMap<u16, ChannelRecord> {
        let Self { schemas, channels } = self;
        let with_schema = |(id, (schema, mut channel)): (u16, (u16, ChannelRecord))| {
            channel.schema = schemas.get(&schema).cloned();
            (id, channel)
        };
        channels.into_iter().map(with_schema).collect()
    }
}

/// Parses a record other than a message, a chunk and an attachment.
pub(super) fn parse(opcode: u8, body: &[u8], offset: u64) -> Result<Record<'_>, FileError> {
    mcap::parse_record(opcode, body).map_err(|error| damaged(offset, error.to_string()))
}

/// The records after the messages.
#[derive(Default)]
struct Summary {
    channels: Channels,
    chunks: Vec<ChunkIndex>,
    statistics: Option<Statistics>,
}

impl Summary {
    /// Reads the summary; `None` if the file has none, or one that is too short to be an index.
    fn read(loader: &Loader, bytes: &mut Vec<u8>) -> Result<Option<Self>, FileError> {
        let end = (PREFIX_BYTES + FOOTER_BYTES + MAGIC.len()) as u64;
        let Some(footer_at) = loader.size().checked_sub(end) else {
            return Err(damaged(loader.size(), "the end of the file is missing"));
        };
        loader.read(footer_at, end as usize, bytes)?;
        let footer = record_at(bytes, 0).filter(|raw| raw.opcode == op::FOOTER);
        let whole = bytes.ends_with(&MAGIC);
        let Some(raw) = footer.filter(|raw| whole && raw.body.len() == FOOTER_BYTES) else {
            return Err(damaged(loader.size(), "the end of the file is missing"));
        };
        let Record::Footer(footer) = parse(raw.opcode, raw.body, footer_at)? else {
            unreachable!("a footer is parsed as one");
        };
        if footer.summary_start == 0 {
            return Ok(None);
        }
        let start = footer.summary_start;
        let Some(length) = footer_at.checked_sub(start) else {
            return Err(damaged(footer_at, "the index would begin after its end"));
        };
        let length = bounded("index", length, INDEX_BYTES_MAX)?;
        // The checksum covers the beginning of the footer.
        let covered = length + PREFIX_BYTES + 16;
        loader.read(start, covered, bytes)?;
        if footer.summary_crc != 0 && crc32fast::hash(bytes) != footer.summary_crc {
            return Err(damaged(start, "the index does not have its checksum"));
        }
        let summary = Self::parse(&bytes[..length], start)?;
        Ok(summary.is_index().then_some(summary))
    }

    fn parse(bytes: &[u8], start: u64) -> Result<Self, FileError> {
        let mut summary = Self::default();
        let mut at = 0;
        while at < bytes.len() {
            let offset = start + at as u64;
            let raw =
                record_at(bytes, at).ok_or_else(|| damaged(offset, "the index is cut off"))?;
            match raw.opcode {
                op::SCHEMA | op::CHANNEL => summary.channels.add(raw.opcode, raw.body, offset)?,
                op::CHUNK_INDEX | op::STATISTICS => match parse(raw.opcode, raw.body, offset)? {
                    Record::ChunkIndex(chunk) => summary.chunks.push(chunk),
                    Record::Statistics(statistics) => summary.statistics = Some(statistics),
                    _ => {}
                },
                _ => {}
            }
            at = raw.at + raw.body.len();
        }
        Ok(summary)
    }

    /// Whether it has every channel and every message.
    fn is_index(&self) -> bool {
        let Some(statistics) = &self.statistics else { return false };
        let mut counted = statistics.channel_message_counts.iter();
        let is_channel = |channel: &u16| self.channels.contains(*channel);
        u64::from(statistics.chunk_count) == self.chunks.len() as u64
            && (statistics.message_count == 0 || !self.chunks.is_empty())
            && counted.clone().all(|(channel, _)| is_channel(channel))
            && counted.try_fold(0u64, |sum, (_, n)| sum.checked_add(*n))
                == Some(statistics.message_count)
            && self.channels.channels.len() as u64 == u64::from(statistics.channel_count)
    }

    fn into_index(self) -> Result<McapIndex, FileError> {
        let statistics = self.statistics.unwrap_or_default();
        let mut chunks: Vec<_> = self.chunks.into_iter().map(place).collect();
        chunks.sort_by_key(|chunk| chunk.offset);
        let (first, last) = (statistics.message_start_time, statistics.message_end_time);
        let times =
            (statistics.message_count > 0 && first <= last).then_some(Range { first, last });
        Ok(McapIndex {
            channels: self.channels.finish(),
            chunks,
            counts: statistics.channel_message_counts,
            times,
            warnings: Vec::new(),
        })
    }
}

fn place(index: ChunkIndex) -> ChunkPlace {
    let (first, last) = (index.message_start_time, index.message_end_time);
    // Writers may leave the message indexes out: then nothing is known about the channels.
    let channels = index.message_index_offsets;
    ChunkPlace {
        offset: index.chunk_start_offset,
        length: index.chunk_length,
        kind: ChunkKind::Chunk,
        ranges: Ranges { log: Some(Range { first, last }), publish: None },
        channels: (!channels.is_empty()).then(|| channels.into_keys().collect()),
    }
}
