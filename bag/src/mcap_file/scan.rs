//! Index of a file that has none, or a damaged one: made by reading the file from its beginning.
//! Also the messages outside of the chunks of an index, which no index names.

use std::collections::BTreeMap;

use mcap::records::op;

use super::chunk::{ChunkKind, ChunkPlace, Content, Loader, Range, Ranges};
use super::index::{Channels, McapIndex};
use super::records::{MAGIC, MESSAGE_HEADER_BYTES, MessageHeader, PREFIX_BYTES, bounded, damaged};
use crate::error::FileError;
use crate::limits::{CHUNK_BYTES_MAX, DESCRIPTION_BYTES_MAX};

/// The bytes after which messages outside of chunks begin another place.
const PLAIN_BYTES: u64 = 1 << 20;

/// The bytes that are read ahead.
const AHEAD_BYTES: u64 = 256 << 10;

/// The number of damaged places that are left out.
const LOST_MAX: usize = 1000;

/// Reads the whole file, up to its end or the first damaged place; if it `is_damaged`, up to one
/// behind which no record is found.
pub(super) fn scan(
    loader: &mut Loader,
    broken_index: Option<FileError>,
    is_damaged: bool,
) -> Result<McapIndex, FileError> {
    let mut scan = Scan { at: MAGIC.len() as u64, until: loader.size(), ..Scan::default() };
    let mut warnings = Vec::new();
    let stopped = loop {
        match scan.step(loader) {
            Ok(Step::Next) => {}
            Ok(Step::End) => break None,
            Err(error @ FileError::Io(_)) => return Err(error),
            Err(error) => {
                let at = scan.at;
                if !is_damaged || warnings.len() == LOST_MAX || !scan.skip(loader) {
                    break Some(error);
                }
                let (offset, problem) = place_of(error, at);
                warnings.push(format!("lost: byte {offset}: {problem}"));
            }
        }
    };
    scan.close_plain();
    let (mut damage, mut wrong_checksum) = (None, None);
    if let Some(error) = stopped {
        let (offset, problem) = place_of(error, scan.at);
        warnings.push(format!("{problem}: messages up to byte {offset} are read"));
        damage = has_end(loader)?.then_some((offset, problem));
    } else {
        wrong_checksum = scan.wrong_checksum(loader)?;
        if let Some(FileError::Damaged { problem, .. }) = broken_index {
            warnings.push(format!("{problem}: the file was read whole instead"));
        }
    }
    if is_damaged {
        damage = None;
        warn_of_checksum(&mut wrong_checksum, &mut warnings);
    }
    Ok(McapIndex {
        channels: scan.channels.finish(),
        chunks: scan.chunks,
        counts: scan.counts,
        times: scan.times,
        wrong_checksum,
        damage,
        warnings,
    })
}

/// The place and the problem of an error at byte `at`.
pub(super) fn place_of(error: FileError, at: u64) -> (u64, String) {
    match error {
        FileError::Damaged { offset, problem } => (offset, problem),
        error => (at, error.to_string()),
    }
}

/// Makes a wrong checksum a warning, unless damage that is known explains it.
pub(super) fn warn_of_checksum(wrong_checksum: &mut Option<u64>, warnings: &mut Vec<String>) {
    if let Some(end) = wrong_checksum.take().filter(|_| warnings.is_empty()) {
        warnings.push(format!(
            "the bytes up to byte {end} do not have their checksum: messages that no chunk's \
             checksum covers may be wrong"
        ));
    }
}

/// Whether the file was completed: an interrupted recording has no such end.
fn has_end(loader: &Loader) -> Result<bool, FileError> {
    let magic = MAGIC.len() as u64;
    let at = loader.size().saturating_sub(magic).max(magic);
    let mut bytes = Vec::new();
    loader.read(at, loader.size().saturating_sub(at) as usize, &mut bytes)?;
    Ok(bytes == MAGIC)
}

/// Adds the messages outside of `chunks` of an index, each with the end of its message indexes.
///
/// Counts and times are left out: they are those of the statistics.
pub(super) fn scan_between(
    loader: &mut Loader,
    channels: Channels,
    chunks: Vec<(ChunkPlace, u64)>,
) -> Result<McapIndex, FileError> {
    let mut scan = Scan { at: MAGIC.len() as u64, channels, ..Scan::default() };
    for (chunk, end) in chunks {
        scan.until = chunk.offset;
        while scan.at < chunk.offset && matches!(scan.step(loader)?, Step::Next) {}
        if scan.at != chunk.offset {
            // A small file could stand for endless messages, if chunks shared bytes.
            return Err(damaged(chunk.offset, "a chunk of the index is not between records"));
        }
        scan.close_plain();
        scan.chunks.push(chunk);
        scan.at = end;
    }
    scan.until = loader.size();
    while let Step::Next = scan.step(loader)? {}
    scan.close_plain();
    // Chunks have their own checksums.
    let wrong_checksum = match scan.chunks.iter().any(|place| place.kind == ChunkKind::Plain) {
        true => scan.wrong_checksum(loader)?,
        false => None,
    };
    let (channels, chunks) = (scan.channels.finish(), scan.chunks);
    Ok(McapIndex { channels, chunks, wrong_checksum, ..McapIndex::default() })
}

enum Step {
    Next,
    End,
}

#[derive(Default)]
struct Scan {
    at: u64,
    /// The place up to which is read ahead.
    until: u64,
    channels: Channels,
    chunks: Vec<ChunkPlace>,
    counts: BTreeMap<u16, u64>,
    times: Option<Range>,
    /// Messages outside of chunks; a description may be among them.
    plain: Option<ChunkPlace>,
    /// A part of the file, and its place.
    ahead: Vec<u8>,
    ahead_at: u64,
    content: Content,
    /// The end of the messages, and the checksum of the bytes before it; zero if it has none.
    data_end: Option<(u64, u32)>,
}

impl Scan {
    fn step(&mut self, loader: &mut Loader) -> Result<Step, FileError> {
        let at = self.at;
        let prefix = self.peek(loader, PREFIX_BYTES)?;
        let opcode = prefix[0];
        let length = u64::from_le_bytes(*prefix[1..].first_chunk().expect("8 bytes"));
        let end = at.checked_add(PREFIX_BYTES as u64).and_then(|body| body.checked_add(length));
        let end = end.filter(|end| *end <= loader.size());
        match opcode {
            op::DATA_END if length == 4 => {
                let record = self.peek(loader, PREFIX_BYTES + 4)?;
                let crc = record[PREFIX_BYTES..].first_chunk().expect("4 bytes");
                self.data_end = Some((at, u32::from_le_bytes(*crc)));
                return Ok(Step::End);
            }
            op::FOOTER if end == Some(loader.size() - MAGIC.len() as u64) => return Ok(Step::End),
            op::DATA_END | op::FOOTER => return Err(damaged(at, "the messages end too early")),
            op::CHUNK if end.is_none() => {
                // Any error is that of the missing end.
                let _ = self.chunk(loader, loader.size() - at, ChunkKind::CutOff);
            }
            op::CHUNK => self.chunk(loader, end.unwrap_or(at) - at, ChunkKind::Chunk)?,
            _ if end.is_none() => return Err(damaged(at, "the end of the file is missing")),
            op::SCHEMA | op::CHANNEL => {
                let length = bounded("description", length, DESCRIPTION_BYTES_MAX)?;
                let record = self.peek(loader, PREFIX_BYTES + length)?;
                let body = record[PREFIX_BYTES..].to_vec();
                self.channels.add(opcode, &body, at)?;
            }
            op::MESSAGE => {
                bounded("message", length, CHUNK_BYTES_MAX - PREFIX_BYTES as u64)?;
                let record = self.peek(loader, PREFIX_BYTES + MESSAGE_HEADER_BYTES)?;
                let header = MessageHeader::parse(&record[PREFIX_BYTES..]);
                let short = length < MESSAGE_HEADER_BYTES as u64;
                let header = header.filter(|_| !short);
                self.plain(header.ok_or_else(|| damaged(at, "a message without header"))?, length)?;
            }
            0 => return Err(damaged(at, "no record begins here")),
            _ => {}
        }
        let end = end.ok_or_else(|| damaged(loader.size(), "the end of the file is missing"))?;
        if !matches!(opcode, op::MESSAGE | op::SCHEMA | op::CHANNEL) {
            self.close_plain();
        }
        self.at = end;
        Ok(Step::Next)
    }

    /// Leaves out the record that begins here; false if its length cannot be right.
    fn skip(&mut self, loader: &Loader) -> bool {
        let Ok(&[opcode, ref length @ ..]) = self.peek(loader, PREFIX_BYTES) else { return false };
        let length = u64::from_le_bytes(*length.first_chunk().expect("8 bytes"));
        let end = (self.at + PREFIX_BYTES as u64).checked_add(length);
        let end = end.filter(|end| opcode != 0 && *end <= loader.size());
        self.close_plain();
        self.at = end.unwrap_or(self.at);
        end.is_some()
    }

    /// The next `length` bytes of the file.
    fn peek(&mut self, loader: &Loader, length: usize) -> Result<&[u8], FileError> {
        let missing = || damaged(loader.size(), "the end of the file is missing");
        let end = self.at.checked_add(length as u64).ok_or_else(missing)?;
        if end > loader.size() {
            return Err(missing());
        }
        if self.at < self.ahead_at || end > self.ahead_at + self.ahead.len() as u64 {
            let ahead = AHEAD_BYTES.min(self.until.min(loader.size()).saturating_sub(self.at));
            let bytes = ahead.max(length as u64);
            loader.read(self.at, bytes as usize, &mut self.ahead)?;
            self.ahead_at = self.at;
        }
        let begin = (self.at - self.ahead_at) as usize;
        Ok(&self.ahead[begin..begin + length])
    }

    /// Counts a message outside of chunks.
    fn plain(&mut self, header: MessageHeader, length: u64) -> Result<(), FileError> {
        self.count(header, self.at)?;
        let end = self.at + PREFIX_BYTES as u64 + length;
        if self.plain.as_ref().is_some_and(|place| end - place.offset > PLAIN_BYTES) {
            self.close_plain();
        }
        let offset = self.at;
        let place = self.plain.get_or_insert_with(|| ChunkPlace {
            offset,
            length: 0,
            kind: ChunkKind::Plain,
            ranges: Ranges::default(),
            channels: None,
        });
        place.length = end - place.offset;
        place.ranges.add(header);
        Ok(())
    }

    /// The end of the messages, if the bytes before it do not have their checksum.
    fn wrong_checksum(&self, loader: &Loader) -> Result<Option<u64>, FileError> {
        let Some((end, crc)) = self.data_end.filter(|(_, crc)| *crc != 0) else { return Ok(None) };
        let (mut at, mut bytes, mut hasher) = (0, Vec::new(), crc32fast::Hasher::new());
        while at < end {
            let length = AHEAD_BYTES.min(end - at);
            loader.read(at, length as usize, &mut bytes)?;
            hasher.update(&bytes);
            at += length;
        }
        Ok((hasher.finalize() != crc).then_some(end))
    }

    fn close_plain(&mut self) {
        self.chunks.extend(self.plain.take());
    }

    fn count(&mut self, header: MessageHeader, offset: u64) -> Result<(), FileError> {
        if !self.channels.contains(header.channel) {
            let problem = format!("a message of channel {}, which does not exist", header.channel);
            return Err(damaged(offset, problem));
        }
        *self.counts.entry(header.channel).or_default() += 1;
        self.times = Some(Range::with(self.times, header.log_time));
        Ok(())
    }

    /// Counts the messages of the chunk that begins here.
    fn chunk(
        &mut self,
        loader: &mut Loader,
        length: u64,
        kind: ChunkKind,
    ) -> Result<(), FileError> {
        let mut place =
            ChunkPlace { offset: self.at, length, kind, ranges: Ranges::default(), channels: None };
        let mut content = std::mem::take(&mut self.content);
        let loaded = loader.load(&place, &mut content);
        let counted = loaded.and_then(|()| self.chunk_records(&mut place, &content));
        self.content = content;
        // A chunk with an error inside is read up to there.
        if place.ranges.log.is_some() {
            place.kind = if counted.is_err() { ChunkKind::CutOff } else { kind };
            self.chunks.push(place);
        }
        counted
    }

    fn chunk_records(
        &mut self,
        place: &mut ChunkPlace,
        content: &Content,
    ) -> Result<(), FileError> {
        let mut at = content.begin;
        while let Some(raw) = content.record(at) {
            let Some(raw) = raw else {
                return Err(damaged(place.offset, "a record of this chunk is cut off"));
            };
            match raw.opcode {
                op::SCHEMA | op::CHANNEL => {
                    self.channels.add(raw.opcode, raw.body, place.offset)?;
                }
                op::MESSAGE => {
                    let header = MessageHeader::parse(raw.body);
                    let header =
                        header.ok_or_else(|| damaged(place.offset, "a message without header"))?;
                    self.count(header, place.offset)?;
                    place.ranges.add(header);
                }
                _ => {}
            }
            at = raw.at + raw.body.len();
        }
        Ok(())
    }
}

impl Ranges {
    pub(super) fn add(&mut self, header: MessageHeader) {
        self.log = Some(Range::with(self.log, header.log_time));
        self.publish = Some(Range::with(self.publish, header.publish_time));
    }
}
