//! The index of an MCAP file: from its summary, or else from a scan of the file.

use std::collections::BTreeMap;
use std::fs::File;

use mcap::records::op;

use super::chunk::{ChunkKind, ChunkPlace, Content, Loader, Range, Ranges};
use super::cursor::for_each_message;
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
    /// The chunks in the order of the file.
    pub(crate) chunks: Vec<ChunkPlace>,
    /// The messages of each channel.
    pub(crate) counts: BTreeMap<u16, u64>,
    /// The log times.
    pub(crate) times: Option<Range>,
    /// The end of the messages, if the bytes before it do not have their checksum.
    pub(crate) wrong_checksum: Option<u64>,
    /// The place and the problem behind the last message, unless the end of the file is missing.
    pub(crate) damage: Option<(u64, String)>,
    /// Problems that do not prevent reading.
    pub(crate) warnings: Vec<String>,
}

impl McapIndex {
    /// Reads the index of `file`; of a damaged one, that of the parts that can be read.
    pub(crate) fn read(file: File, is_damaged: bool) -> Result<Self, FileError> {
        let mut loader = Loader::new(file)?;
        let mut bytes = Vec::new();
        let magic = usize::try_from(loader.size()).unwrap_or(usize::MAX).min(MAGIC.len());
        loader.read(0, magic, &mut bytes)?;
        if bytes != MAGIC {
            return Err(damaged(0, "not an MCAP file"));
        }
        match Summary::read(&mut loader, &mut bytes) {
            Ok(Some(mut index)) => {
                if is_damaged {
                    index.leave_out_damage(&mut loader);
                }
                Ok(index)
            }
            Ok(None) => scan::scan(&mut loader, None, is_damaged),
            Err(error @ FileError::Io(_)) => Err(error),
            Err(error) => scan::scan(&mut loader, Some(error), is_damaged),
        }
    }

    /// Leaves out chunks that cannot be read, with warnings.
    fn leave_out_damage(&mut self, loader: &mut Loader) {
        let Self { channels, chunks, warnings, .. } = self;
        let mut content = Content::default();
        chunks.retain(|place| {
            let read = loader.load(place, &mut content).and_then(|()| {
                for_each_message(place, &content, |header, _| {
                    let is_known = channels.contains_key(&header.channel);
                    is_known.then_some(()).ok_or_else(|| damaged(place.offset, "unknown channel"))
                })
            });
            let Err(problem) = read else { return true };
            let of = place.channels.iter().flatten().filter_map(|id| channels.get(id));
            let topics: Vec<_> = of.map(|channel| channel.topic.as_str()).collect();
            let topics =
                if topics.is_empty() { "unknown topics".into() } else { topics.join(", ") };
            let (offset, problem) = scan::place_of(problem, place.offset);
            warnings.push(format!("lost: byte {offset}: {problem}; it has messages of {topics}"));
            false
        });
        scan::warn_of_checksum(&mut self.wrong_checksum, &mut self.warnings);
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
    /// The chunks, and the end of the message indexes behind each.
    chunks: Vec<(ChunkPlace, u64)>,
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
    /// Reads the index; `None` if the file has no summary, or one that is too short for an index.
    fn read(loader: &mut Loader, bytes: &mut Vec<u8>) -> Result<Option<McapIndex>, FileError> {
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
        summary.is_index().then(|| summary.into_index(loader)).transpose()
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
        summary.chunks.sort_by_key(|(chunk, _)| chunk.offset);
        Ok(summary)
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

    fn into_index(self, loader: &mut Loader) -> Result<McapIndex, FileError> {
        let statistics = self.statistics.filter(|statistics| statistics.messages > 0);
        let (times, counts) = statistics.map(|found| (found.times, found.counts)).unzip();
        Ok(McapIndex {
            counts: counts.unwrap_or_default(),
            times: times.filter(|times| times.first <= times.last),
            ..scan::scan_between(loader, self.channels, self.chunks)?
        })
    }
}

/// The place of a chunk, and the end of its message indexes, of a chunk index.
fn place(mut fields: Fields) -> Option<(ChunkPlace, u64)> {
    let range = Range { first: fields.u64()?, last: fields.u64()? };
    let (offset, length) = (fields.u64()?, fields.u64()?);
    let channels = fields.map(|entry| Some((entry.u16()?, entry.u64()?)))?;
    let end = offset.saturating_add(length).saturating_add(fields.u64()?);
    let place = ChunkPlace {
        offset,
        length,
        kind: ChunkKind::Chunk,
        ranges: Ranges { log: Some(range), publish: None },
        // Writers may leave the message indexes out: then nothing is known about the channels.
        channels: (!channels.is_empty()).then(|| channels.into_keys().collect()),
    };
    Some((place, end))
}
