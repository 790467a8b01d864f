//! Chunks of messages: where they are, and their content in memory.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

use mcap::records::op;

use super::records::{ChunkHeader, PREFIX_BYTES, Raw, bounded, damaged, record_at};
use crate::error::FileError;
use crate::limits::CHUNK_BYTES_MAX;

/// Earliest and latest time of messages, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Range {
    pub(crate) fn with(range: Option<Self>, time: u64) -> Self {
        let Self { first, last } = range.unwrap_or(Self { first: time, last: time });
        Self { first: first.min(time), last: last.max(time) }
    }
}

/// Log and publication times of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    pub(crate) log: Option<Range>,
    /// Not known from the index of a file.
    pub(crate) publish: Option<Range>,
}

/// The place of messages in a file.
#[derive(Clone, Debug)]
pub(crate) struct ChunkPlace {
    /// The first byte: of a chunk record, or of records of a file without chunks.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) kind: ChunkKind,
    pub(crate) ranges: Ranges,
    /// The channels with messages, if the index says so; sorted.
    pub(crate) channels: Option<Box<[u16]>>,
}

/// The form in which messages are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkKind {
    /// A chunk record.
    Chunk,
    /// A chunk record without its end.
    CutOff,
    /// Records outside any chunk.
    Plain,
}

/// The records of a chunk.
#[derive(Default)]
pub(crate) struct Content {
    bytes: Vec<u8>,
    /// The position of the first record.
    pub(super) begin: usize,
}

impl Content {
    /// The record that begins at `at`.
    ///
    /// The outer `None` stands for the end, the inner one for a record that is cut off.
    pub(super) fn record(&self, at: usize) -> Option<Option<Raw<'_>>> {
        (at < self.bytes.len()).then(|| record_at(&self.bytes, at))
    }

    /// The bytes in which [`record`](Self::record) finds the place of a body.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads chunks of a file.
pub(crate) struct Loader {
    file: File,
    size: u64,
    stored: Vec<u8>,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    skip_checksums: bool,
}

impl Loader {
    pub(crate) fn new(file: File) -> Result<Self, FileError> {
        let size = file.metadata()?.len();
        Ok(Self { file, size, stored: Vec::new(), zstd: None, skip_checksums: false })
    }

    /// Sets whether checksums are not compared.
    pub(super) fn skip_checksums(self, skip_checksums: bool) -> Self {
        Self { skip_checksums, ..self }
    }

    /// The size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Fills `buffer` with the bytes of the file from `offset` on.
    pub(super) fn read(
        &self,
        offset: u64,
        length: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        let end = offset.checked_add(length as u64).filter(|end| *end <= self.size);
        if end.is_none() {
            return Err(damaged(offset, format!("{length} bytes expected beyond the file's end")));
        }
        // Bytes that are overwritten need not be zeroed first.
        buffer.truncate(length);
        buffer.resize(length, 0);
        Ok(self.file.read_exact_at(buffer, offset)?)
    }

    /// Loads a chunk into `content`, and reuses its memory.
    pub(super) fn load(
        &mut self,
        place: &ChunkPlace,
        content: &mut Content,
    ) -> Result<(), FileError> {
        let length = bounded("chunk", place.length, CHUNK_BYTES_MAX)?;
        content.begin = 0;
        if place.kind == ChunkKind::Plain {
            return self.read(place.offset, length, &mut content.bytes);
        }
        let mut stored = std::mem::take(&mut self.stored);
        let result = self
            .read(place.offset, length, &mut stored)
            .and_then(|()| self.unpack(place, &mut stored, content));
        self.stored = stored;
        result
    }

    fn unpack(
        &mut self,
        place: &ChunkPlace,
        stored: &mut Vec<u8>,
        content: &mut Content,
    ) -> Result<(), FileError> {
        let at = |problem: &str| damaged(place.offset, problem);
        let cut_off = place.kind == ChunkKind::CutOff;
        if stored.first() != Some(&op::CHUNK) {
            return Err(at("no chunk where the index names one"));
        }
        let body = stored.get(PREFIX_BYTES..).unwrap_or_default();
        let header = ChunkHeader::parse(body).ok_or_else(|| at("the chunk has no whole header"))?;
        let size = bounded("chunk", header.size, CHUNK_BYTES_MAX)?;
        let begin = PREFIX_BYTES + header.bytes;
        let packed = &body[header.bytes..];
        let packed = match usize::try_from(header.stored).ok().and_then(|n| packed.get(..n)) {
            Some(packed) => packed,
            None if cut_off => packed,
            None => return Err(at("the chunk ends before its records")),
        };
        let (crc, length) = (header.crc, packed.len());
        match header.compression {
            b"" => {
                stored.truncate(begin + length);
                std::mem::swap(stored, &mut content.bytes);
                content.begin = begin;
            }
            b"zstd" if cut_off => {
                salvage(zstd::stream::read::Decoder::with_buffer(packed)?, size, &mut content.bytes)
            }
            b"zstd" => {
                let bytes = &mut content.bytes;
                bytes.clear();
                bytes.reserve(size);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                zstd.decompress_to_buffer(packed, bytes).map_err(|e| at(&e.to_string()))?;
            }
            b"lz4" => {
                content.bytes.clear();
                let decoder = lz4_flex::frame::FrameDecoder::new(packed);
                if cut_off {
                    salvage(decoder, size, &mut content.bytes);
                } else {
                    let mut decoder = decoder.take(size as u64 + 1);
                    let read = decoder.read_to_end(&mut content.bytes);
                    read.map_err(|e| at(&e.to_string()))?;
                }
            }
            other => {
                let name = String::from_utf8_lossy(other).chars().take(64).collect();
                return Err(FileError::UnknownCompression(name));
            }
        }
        if cut_off {
            return Ok(());
        }
        let records = &content.bytes[content.begin..];
        if records.len() != size {
            return Err(at(&format!("{} bytes in a chunk of {size}", records.len())));
        }
        if crc != 0 && !self.skip_checksums && crc32fast::hash(records) != crc {
            return Err(at("the chunk does not have its checksum"));
        }
        Ok(())
    }
}

/// Decompresses up to the first error, at most `size` bytes.
fn salvage(decoder: impl Read, size: usize, bytes: &mut Vec<u8>) {
    bytes.clear();
    // The error is the end of the file, which the caller reports.
    let _ = decoder.take(size as u64).read_to_end(bytes);
}
