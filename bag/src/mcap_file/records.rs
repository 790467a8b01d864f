//! The framing of MCAP: records of an opcode, a length and a body.

use std::collections::BTreeMap;

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

/// Takes fields off the body of a record; `None` if the body is too short. Nothing is allocated
/// that the body does not have, whatever length it claims.
#[derive(Clone)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*number)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_le_bytes)
    }

    /// Bytes after their length: a text, a definition, or a map.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        self.bytes().map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// A map; `entry` takes each entry.
    pub(super) fn map<K: Ord, V>(
        &mut self,
        entry: impl Fn(&mut Self) -> Option<(K, V)>,
    ) -> Option<BTreeMap<K, V>> {
        let mut entries = Self(self.bytes()?);
        std::iter::from_fn(|| (!entries.0.is_empty()).then(|| entry(&mut entries))).collect()
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
        let mut fields = Fields(body);
        let _times = (fields.u64()?, fields.u64()?);
        let (size, crc) = (fields.u64()?, fields.u32()?);
        let (compression, stored) = (fields.bytes()?, fields.u64()?);
        Some(Self { size, crc, compression, stored, bytes: body.len() - fields.0.len() })
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
