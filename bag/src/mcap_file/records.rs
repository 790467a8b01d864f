//! The framing of MCAP: records of an opcode, a length and a body.

use crate::error::FileError;

/// The first and the last bytes of a file.
pub(super) const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";

/// The bytes of an opcode and a length.
pub(super) const PREFIX_BYTES: usize = 9;

/// The bytes of a message's body before its data.
pub(super) const MESSAGE_HEADER_BYTES: usize = 22;

/// A record within a larger part of a file.
pub(super) struct Raw<'a> {
    pub(super) opcode: u8,
    /// The position of its body in that part.
    pub(super) at: usize,
    pub(super) body: &'a [u8],
}

/// The record of `bytes` that begins at `at`; `None` if it is cut off.
#[inline]
pub(super) fn record_at(bytes: &[u8], at: usize) -> Option<Raw<'_>> {
    let (&[opcode], rest) = bytes.get(at..)?.split_first_chunk()?;
    let (&length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
    Some(Raw { opcode, at: at + PREFIX_BYTES, body: rest.get(..length)? })
}

/// The part of a message's body before its data.
#[derive(Clone, Copy)]
pub(super) struct MessageHeader {
    pub(super) channel: u16,
    pub(super) sequence: u32,
    pub(super) log_time: u64,
    pub(super) publish_time: u64,
}

impl MessageHeader {
    #[inline]
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let header: &[u8; MESSAGE_HEADER_BYTES] = body.first_chunk()?;
        let u64_at = |at: usize| u64::from_le_bytes(*header[at..].first_chunk().expect("8 bytes"));
        Some(Self {
            channel: u16::from_le_bytes([header[0], header[1]]),
            sequence: u32::from_le_bytes([header[2], header[3], header[4], header[5]]),
            log_time: u64_at(6),
            publish_time: u64_at(14),
        })
    }
}

/// The part of a chunk's body before its records.
pub(super) struct ChunkHeader<'a> {
    pub(super) size: u64,
    pub(super) crc: u32,
    pub(super) compression: &'a [u8],
    pub(super) stored: u64,
    /// The number of bytes of this header.
    pub(super) bytes: usize,
}

impl<'a> ChunkHeader<'a> {
    pub(super) fn parse(body: &'a [u8]) -> Option<Self> {
        let (times, rest) = body.split_at_checked(16)?;
        let (&size, rest) = rest.split_first_chunk()?;
        let (&crc, rest) = rest.split_first_chunk()?;
        let (&name, rest) = rest.split_first_chunk()?;
        let name = usize::try_from(u32::from_le_bytes(name)).ok()?;
        let (compression, rest) = rest.split_at_checked(name)?;
        let (&stored, _) = rest.split_first_chunk()?;
        Some(Self {
            size: u64::from_le_bytes(size),
            crc: u32::from_le_bytes(crc),
            compression,
            stored: u64::from_le_bytes(stored),
            bytes: times.len() + 8 + 4 + 4 + name + 8,
        })
    }
}

/// A [`FileError::Damaged`].
pub(super) fn damaged(offset: u64, problem: impl Into<String>) -> FileError {
    FileError::Damaged { offset, problem: problem.into() }
}

/// `bytes` as a length in memory, if they are at most `limit`.
pub(super) fn bounded(part: &'static str, bytes: u64, limit: u64) -> Result<usize, FileError> {
    match usize::try_from(bytes) {
        Ok(length) if bytes <= limit => Ok(length),
        _ => Err(FileError::TooLarge { part, bytes, limit }),
    }
}
