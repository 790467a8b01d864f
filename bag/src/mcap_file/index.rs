//! The index of an MCAP file: from its summary, or else from a scan of the file.

use std::collections::BTreeMap;
use std::fs::File;

use mcap::records::op;

use super::chunk::{ChunkKind, ChunkPlace, Loader, Range, Ranges};
use super::records::{Fields, MAGIC, PREFIX_BYTES, bounded, damaged, record_at};
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
            Ok(Some(summary)) => Ok(summary.into_index()),
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
        let added = match opcode {
            op::SCHEMA => self.add_schema(Fields(body)),
            _ => self.add_channel(Fields(body)),
        };
        added.ok_or_else(|| damaged(offset, "a description is cut off"))
    }

    fn add_schema(&mut self, mut fields: Fields) -> Option<()> {
        let (id, name, encoding) = (fields.u16()?, fields.text()?, fields.text()?);
        let definition = Definition { encoding, text: fields.text()? };
        self.schemas.insert(id, (name, definition));
        Some(())
    }

    fn add_channel(&mut self, mut fields: Fields) -> Option<()> {
        let (id, schema) = (fields.u16()?, fields.u16()?);
        let record = ChannelRecord {
            topic: fields.text()?,
            encoding: fields.text()?,
            metadata: fields.map(|entry| Some((entry.text()?, entry.text()?)))?,
            schema: None,
        };
        self.channels.insert(id, (schema, record));
        Some(())
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

/// The records after the messages.
#[derive(Default)]
struct Summary {
    channels: Channels,
    chunks: Vec<ChunkPlace>,
    statistics: Option<Statistics>,
}

/// The numbers of messages, channels and chunks.
struct Statistics {
    messages: u64,
    channels: u64,
    chunks: u64,
    times: Range,
    counts: BTreeMap<u16, u64>,
}

impl Statistics {
    fn parse(mut fields: Fields) -> Option<Self> {
        let (messages, _schemas, channels) = (fields.u64()?, fields.u16()?, fields.u32()?);
        let (_attachments, _metadata, chunks) = (fields.u32()?, fields.u32()?, fields.u32()?);
        Some(Self {
            messages,
            channels: channels.into(),
            chunks: chunks.into(),
            times: Range { first: fields.u64()?, last: fields.u64()? },
            counts: fields.map(|entry| Some((entry.u16()?, entry.u64()?)))?,
        })
    }
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
        let mut fields = Fields(raw.body);
        let footer = (fields.u64(), fields.u64(), fields.u32());
        let (Some(start), _, Some(crc)) = footer else { unreachable!("a footer has 20 bytes") };
        if start == 0 {
            return Ok(None);
        }
        let Some(length) = footer_at.checked_sub(start) else {
            return Err(damaged(footer_at, "the index would begin after its end"));
        };
        let length = bounded("index", length, INDEX_BYTES_MAX)?;
        // The checksum covers the beginning of the footer.
        let covered = length + PREFIX_BYTES + 16;
        loader.read(start, covered, bytes)?;
        if crc != 0 && crc32fast::hash(bytes) != crc {
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
            let cut_off = || damaged(offset, "the index is cut off");
            let raw = record_at(bytes, at).ok_or_else(cut_off)?;
            match raw.opcode {
                op::SCHEMA | op::CHANNEL => summary.channels.add(raw.opcode, raw.body, offset)?,
                op::CHUNK_INDEX => {
                    let place = place(Fields(raw.body)).ok_or_else(cut_off)?;
                    summary.chunks.push(place);
                }
                op::STATISTICS => {
                    let statistics = Statistics::parse(Fields(raw.body)).ok_or_else(cut_off)?;
                    summary.statistics = Some(statistics);
                }
                _ => {}
            }
            at = raw.at + raw.body.len();
        }
        summary.chunks.sort_by_key(|chunk| chunk.offset);
        summary.check_overlap()?;
        Ok(summary)
    }

    /// Refuses chunks that share bytes: a small file could then stand for endless messages.
    fn check_overlap(&self) -> Result<(), FileError> {
        for (chunk, next) in self.chunks.iter().zip(self.chunks.iter().skip(1)) {
            if chunk.offset.saturating_add(chunk.length) > next.offset {
                return Err(damaged(next.offset, "two chunks of the index overlap"));
            }
        }
        Ok(())
    }

    /// Whether it has every channel and every message.
    fn is_index(&self) -> bool {
        let Some(statistics) = &self.statistics else { return false };
        let mut counts = statistics.counts.iter();
        statistics.chunks == self.chunks.len() as u64
            && (statistics.messages == 0 || !self.chunks.is_empty())
            && counts.clone().all(|(channel, _)| self.channels.contains(*channel))
            && counts.try_fold(0u64, |sum, (_, n)| sum.checked_add(*n)) == Some(statistics.messages)
            && statistics.channels == self.channels.channels.len() as u64
    }

    fn into_index(self) -> McapIndex {
        let statistics = self.statistics.filter(|statistics| statistics.messages > 0);
        let (times, counts) = statistics.map(|found| (found.times, found.counts)).unzip();
        McapIndex {
            channels: self.channels.finish(),
            chunks: self.chunks,
            counts: counts.unwrap_or_default(),
            times: times.filter(|times| times.first <= times.last),
            warnings: Vec::new(),
        }
    }
}

/// The place of a chunk, of a chunk index.
fn place(mut fields: Fields) -> Option<ChunkPlace> {
    let range = Range { first: fields.u64()?, last: fields.u64()? };
    let (offset, length) = (fields.u64()?, fields.u64()?);
    let channels = fields.map(|entry| Some((entry.u16()?, entry.u64()?)))?;
    Some(ChunkPlace {
        offset,
        length,
        kind: ChunkKind::Chunk,
        ranges: Ranges { log: Some(range), publish: None },
        // Writers may leave the message indexes out: then nothing is known about the channels.
        channels: (!channels.is_empty()).then(|| channels.into_keys().collect()),
    })
}
