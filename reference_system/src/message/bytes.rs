//! Serialization of a message for a middleware: its fields in order, little-endian.

use super::{Message4kb, NODE_NAME_BYTES, TransmissionStats};

/// Bytes of a message on the wire.
pub const BYTES: usize = size_of::<Message4kb>();

impl Message4kb {
    /// Serializes to 4096 bytes. Unused entries of the history are zero.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        self.write_to(&mut bytes);
        bytes
    }

    /// Serializes in place; see [`to_bytes`](Self::to_bytes).
    pub fn write_to(&self, bytes: &mut [u8; BYTES]) {
        let data = BYTES - size_of_val(&self.data);
        let mut rest = &mut bytes[..data];
        put(&mut rest, &self.size.to_le_bytes());
        for entry in self.history() {
            put(&mut rest, &entry.timestamp.to_le_bytes());
            put(&mut rest, &entry.sequence_number.to_le_bytes());
            put(&mut rest, &entry.dropped_samples.to_le_bytes());
            put(&mut rest, &entry.node_name);
        }
        rest.fill(0);
        for (to, value) in bytes[data..].chunks_exact_mut(8).zip(&self.data) {
            to.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// Deserializes bytes of any origin: missing bytes are zero, excess bytes are ignored.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut rest = bytes;
        let mut message = Self::new();
        message.size = u64::from_le_bytes(get(&mut rest));
        let used = message.used();
        for entry in &mut message.stats[..used] {
            *entry = TransmissionStats {
                timestamp: u64::from_le_bytes(get(&mut rest)),
                sequence_number: u32::from_le_bytes(get(&mut rest)),
                dropped_samples: u32::from_le_bytes(get(&mut rest)),
                node_name: get::<NODE_NAME_BYTES>(&mut rest),
            };
        }
        let data = BYTES - size_of_val(&message.data);
        rest = bytes.get(data..).unwrap_or_default();
        message.data = std::array::from_fn(|_| i64::from_le_bytes(get(&mut rest)));
        message
    }
}

fn put(to: &mut &mut [u8], bytes: &[u8]) {
    let (first, rest) = std::mem::take(to).split_at_mut(bytes.len());
    first.copy_from_slice(bytes);
    *to = rest;
}

/// Reads the next `N` bytes; zeros beyond the end.
fn get<const N: usize>(from: &mut &[u8]) -> [u8; N] {
    let (first, rest) = from.split_at(N.min(from.len()));
    *from = rest;
    let mut bytes = [0; N];
    bytes[..first.len()].copy_from_slice(first);
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::{HISTORY_CAPACITY, NodeName};
    use super::*;

    fn message(entries: u32) -> Message4kb {
        let mut message = Message4kb::new();
        for n in 0..entries {
            let name = NodeName::new(&format!("node_{n}")).unwrap();
            message.append(&name, n + 1, n + 2, u64::from(n) << 40);
        }
        message.data = [1, -2, 3, i64::MIN, i64::MAX, 6, 7];
        message
    }

    #[test]
    fn messages_round_trip_through_bytes() {
        for entries in [0, 1, 5, HISTORY_CAPACITY as u32] {
            let message = message(entries);
            assert_eq!(Message4kb::from_bytes(&message.to_bytes()), message);
        }
    }

    #[test]
    fn the_byte_layout_matches_the_message() {
        let bytes = message(2).to_bytes();
        assert_eq!(bytes[..8], 2u64.to_le_bytes());
        assert_eq!(bytes[8 + 64..8 + 64 + 8], (1u64 << 40).to_le_bytes());
        assert_eq!(&bytes[8 + 64 + 16..8 + 64 + 22], b"node_1");
        assert_eq!(bytes[BYTES - 48..BYTES - 40], (-2i64).to_le_bytes());
    }

    #[test]
    fn bytes_of_any_length_are_accepted() {
        let bytes = [0xff; BYTES + 100];
        for length in [0, 3, 8, 100, BYTES - 1, BYTES, BYTES + 100] {
            let message = Message4kb::from_bytes(&bytes[..length]);
            assert!(message.history().len() <= HISTORY_CAPACITY, "{length} bytes");
        }
        assert_eq!(Message4kb::from_bytes(&[]), Message4kb::new());
    }
}
