//! Index of a file that has none, or a damaged one: made by reading the file from its beginning.

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

/// Reads the whole file, up to its end or the first damaged place.
pub(super) fn scan(
    loader: &mut Loader,
    broken_index: Option<FileError>,
) -> Result<McapIndex, FileError> {
    let mut scan = Scan { at: MAGIC.len() as u64, ..Scan::default() };
    let stopped = loop {
        match scan.step(loader) {
            Ok(Step::Next) => {}
            Ok(Step::End) => break None,
            Err(error @ FileError::Io(_)) => return Err(error),
            Err(error) => break Some(error),
        }
    };
    scan.close_plain();
    let mut warnings = Vec::new();
    if let Some(FileError::Damaged { offset, problem }) = stopped {
        warnings.push(format!("{problem}: messages up to byte {offset} are read"));
    } else if let Some(error) = stopped {
        warnings.push(format!("{error}: messages up to byte {} are read", scan.at));
    } else if let Some(FileError::Damaged { problem, .. }) = broken_index {
        warnings.push(format!("{problem}: the file was read whole instead"));
    }
    Ok(McapIndex {
        channels: scan.channels.finish(),
        chunks: scan.chunks,
        counts: scan.counts,
        times: scan.times,
        warnings,
    })
}

enum Step {
    Next,
    End,
}

#[derive(Default)]
struct Scan {
    at: u64,
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
            op::DATA_END | op::FOOTER => return Ok(Step::End),
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

    /// The next `length` bytes of the file.
    fn peek(&mut self, loader: &Loader, length: usize) -> Result<&[u8], FileError> {
        let missing = || damaged(loader.size(), "the end of the file is missing");
        let end = self.at.checked_add(length as u64).ok_or_else(missing)?;
        if end > loader.size() {
            return Err(missing());
        }
        if self.at < self.ahead_at || end > self.ahead_at + self.ahead.len() as u64 {
            let bytes = AHEAD_BYTES.min(loader.size() - self.at).max(length as u64);
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
