//! The message type of the reference system, with the size of upstream's `Message4kb`.
//!
//! Every message carries the history of the samples it was made from. The history is the measuring
//! instrument, so its merge rules determine the reported latency. They follow upstream: a node is
//! listed at most once, and a full history (63 entries) accepts no further entry.
//!
//! The layout equals the wire format: `size`, 63 x 64 bytes of [`TransmissionStats`], seven
//! integers.

use std::fmt;

/// The number of entries in a message's history.
pub const HISTORY_CAPACITY: usize = 63;

/// The size of a node name on the wire, in bytes, with its terminating NUL.
pub const NODE_NAME_BYTES: usize = 48;

/// The reference system's message: 4096 bytes, the type of every topic. It begins on a cache line,
/// because copies between other addresses take half as long again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Message4kb {
    /// The number of used entries of `stats`. Values from the wire are not validated: use
    /// [`history`](Self::history), which clamps it to 63.
    pub size: u64,
    /// The history, oldest first; only the first `size` entries are valid.
    pub stats: [TransmissionStats; HISTORY_CAPACITY],
    /// The payload; `data[0]` is the prime count of the publishing node's work.
    pub data: [i64; 7],
}

/// One node's entry in a message's history: 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct TransmissionStats {
    /// When the node's callback started, before its work, in nanoseconds of the executor's clock.
    pub timestamp: u64,
    /// The node's own output sequence number.
    pub sequence_number: u32,
    /// The number of samples that the node saw dropped on its inputs, by gaps in sequence numbers.
    pub dropped_samples: u32,
    /// The node's name, UTF-8, NUL-terminated; see [`NodeName`].
    pub node_name: [u8; NODE_NAME_BYTES],
}

const _: () = assert!(size_of::<Message4kb>() == 4096);
const _: () = assert!(size_of::<TransmissionStats>() == 64);

impl Message4kb {
    /// A message without history and with zeroed data.
    #[must_use]
    pub const fn new() -> Self {
        Self { size: 0, stats: [TransmissionStats::EMPTY; HISTORY_CAPACITY], data: [0; 7] }
    }

    /// The entries in use, oldest first. A larger `size` counts as 63.
    #[must_use]
    pub fn history(&self) -> &[TransmissionStats] {
        &self.stats[..self.used()]
    }

    /// Appends the publishing node's own entry. Like upstream, a full history of 63 entries stays
    /// unchanged.
    pub fn append(
        &mut self,
        name: &NodeName,
        sequence_number: u32,
        dropped_samples: u32,
        timestamp_ns: u64,
    ) {
        self.push(TransmissionStats {
            timestamp: timestamp_ns,
            sequence_number,
            dropped_samples,
            node_name: name.0,
        });
    }

    /// Appends the entries of `other` for nodes that this history does not list, in their order, up
    /// to 63 entries. The data stays unchanged.
    ///
    /// Only the entries present *before* the merge are compared (as upstream does), so merging into
    /// an empty message compares nothing. Otherwise O(own entries x entries of `other`).
    pub fn merge(&mut self, other: &Message4kb) {
        let present = self.used();
        for entry in other.history() {
            let known = self.stats[..present].iter().any(|own| own.node_name == entry.node_name);
            if !known {
                self.push(*entry);
            }
        }
    }

    /// The first entry of the node called `name`. O(entries).
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&TransmissionStats> {
        self.history().iter().find(|entry| entry.is_from(name))
    }

    /// The newest entry: the one of the publishing node.
    #[must_use]
    pub fn last(&self) -> Option<&TransmissionStats> {
        self.history().last()
    }

    /// Stores the result of the publishing node's work in `data[0]`.
    pub fn set_prime_count(&mut self, primes: i64) {
        self.data[0] = primes;
    }

    fn used(&self) -> usize {
        usize::try_from(self.size).unwrap_or(HISTORY_CAPACITY).min(HISTORY_CAPACITY)
    }

    fn push(&mut self, entry: TransmissionStats) {
        let used = self.used();
        if used < HISTORY_CAPACITY {
            self.stats[used] = entry;
            self.size = used as u64 + 1;
        }
    }
}

impl Default for Message4kb {
    fn default() -> Self {
        Self::new()
    }
}

impl TransmissionStats {
    const EMPTY: Self = Self {
        timestamp: 0,
        sequence_number: 0,
        dropped_samples: 0,
        node_name: [0; NODE_NAME_BYTES],
    };

    /// The node's name up to its NUL; truncated at the first invalid UTF-8 byte from the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.node_name.split(|&byte| byte == 0).next().unwrap_or_default();
        name.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }

    /// Whether this entry belongs to the node `name`. Compares bytes, without decoding.
    #[must_use]
    pub fn is_from(&self, name: &str) -> bool {
        let length = name.len();
        length < NODE_NAME_BYTES
            && self.node_name[..length] == *name.as_bytes()
            && self.node_name[length] == 0
    }
}

impl fmt::Debug for TransmissionStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransmissionStats")
            .field("node_name", &self.name())
            .field("sequence_number", &self.sequence_number)
            .field("timestamp", &self.timestamp)
            .field("dropped_samples", &self.dropped_samples)
            .finish()
    }
}

/// A node's name in wire format, created once during construction: publishing copies 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeName([u8; NODE_NAME_BYTES]);

impl NodeName {
    /// Creates the wire format of `name`.
    ///
    /// # Errors
    /// An error if the name is longer than 47 bytes or contains a NUL.
    pub const fn new(name: &str) -> Result<Self, &'static str> {
        let source = name.as_bytes();
        if source.len() >= NODE_NAME_BYTES {
            return Err("the name of a node in a message has at most 47 bytes: shorten it");
        }
        let mut bytes = [0; NODE_NAME_BYTES];
        let mut at = 0;
        while at < source.len() {
            if source[at] == 0 {
                return Err("the name of a node in a message may not contain a NUL: remove it");
            }
            bytes[at] = source[at];
            at += 1;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> NodeName {
        NodeName::new(text).unwrap()
    }

    fn names(message: &Message4kb) -> Vec<&str> {
        message.history().iter().map(TransmissionStats::name).collect()
    }

    #[test]
    fn a_new_message_has_no_history() {
        let message = Message4kb::new();
        assert!(message.history().is_empty());
        assert_eq!(message.last(), None);
        assert_eq!(message, Message4kb::default());
    }

    #[test]
    fn append_adds_the_entry_last_and_find_returns_it() {
        let mut message = Message4kb::new();
        message.append(&name("first"), 1, 0, 100);
        message.append(&name("second"), 7, 2, 200);
        assert_eq!(names(&message), ["first", "second"]);
        let last = message.last().unwrap();
        assert_eq!((last.sequence_number, last.dropped_samples, last.timestamp), (7, 2, 200));
        assert_eq!(message.find("first").unwrap().timestamp, 100);
        assert_eq!(message.find("fir"), None);
        assert_eq!(message.find("first2"), None);
    }

    #[test]
    fn nothing_is_appended_to_a_full_history() {
        let mut message = Message4kb::new();
        for sequence in 0..70 {
            message.append(&name(&format!("node{sequence}")), sequence, 0, 0);
        }
        assert_eq!(message.size, 63);
        assert_eq!(message.last().unwrap().name(), "node62");
    }

    #[test]
    fn merge_adds_unknown_nodes_in_order_and_keeps_the_known_entry() {
        let mut front = Message4kb::new();
        front.append(&name("lidar"), 5, 0, 10);
        front.append(&name("front"), 5, 0, 20);
        let mut rear = Message4kb::new();
        rear.append(&name("camera"), 3, 0, 11);
        rear.append(&name("lidar"), 4, 0, 9);
        rear.append(&name("rear"), 4, 0, 21);
        front.merge(&rear);
        assert_eq!(names(&front), ["lidar", "front", "camera", "rear"]);
        assert_eq!(front.find("lidar").unwrap().sequence_number, 5);
    }

    #[test]
    fn merge_stops_at_63_entries() {
        let (mut left, mut right) = (Message4kb::new(), Message4kb::new());
        for index in 0..40 {
            left.append(&name(&format!("left{index}")), 0, 0, 0);
            right.append(&name(&format!("right{index}")), 0, 0, 0);
        }
        left.merge(&right);
        assert_eq!(left.history().len(), 63);
        assert_eq!(left.last().unwrap().name(), "right22");
    }

    #[test]
    fn a_size_from_the_wire_beyond_the_capacity_is_clamped() {
        let mut message = Message4kb { size: u64::MAX, ..Message4kb::new() };
        assert_eq!(message.history().len(), 63);
        message.append(&name("late"), 0, 0, 0);
        assert_eq!(message.find("late"), None);
    }

    #[test]
    fn a_name_of_47_bytes_fits_and_of_48_is_refused() {
        let longest = "n".repeat(47);
        let mut message = Message4kb::new();
        message.append(&name(&longest), 0, 0, 0);
        assert_eq!(message.find(&longest).unwrap().name(), longest);
        let error = NodeName::new(&"n".repeat(48)).unwrap_err();
        assert!(error.contains("at most 47 bytes"), "{error}");
        assert!(NodeName::new("a\0b").unwrap_err().contains("NUL"));
    }

    #[test]
    fn a_name_from_the_wire_that_is_not_utf8_ends_early() {
        let mut entry = TransmissionStats::EMPTY;
        entry.node_name[..3].copy_from_slice(&[b'o', b'k', 0xff]);
        assert_eq!(entry.name(), "ok");
        entry.node_name = [b'x'; NODE_NAME_BYTES];
        assert_eq!(entry.name().len(), 48);
    }

    #[test]
    fn the_prime_count_is_the_first_datum() {
        let mut message = Message4kb::new();
        message.set_prime_count(564);
        assert_eq!(message.data, [564, 0, 0, 0, 0, 0, 0]);
    }
}
