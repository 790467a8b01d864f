//! The numbers that publishers give their messages.

use super::MessageInfo;
use std::collections::BTreeMap;

/// Publishers that are remembered at a time. Nothing tells a subscription that one has ended.
const PUBLISHERS_MAX: usize = 1024;

/// Counts the messages of publishers that a subscription did not take, by their numbers.
///
/// Messages before the first one of a publisher are not among them. With more than 1024 publishers
/// of a topic, messages may be left out as well.
#[derive(Debug, Default)]
pub struct Sequences {
    /// The number of the last message, by publisher.
    last: BTreeMap<[u8; 16], u64>,
    skipped: Option<u64>,
}

impl Sequences {
    /// Notes a message that was taken.
    pub fn note(&mut self, info: &MessageInfo) {
        let Some(sequence) = info.publication_sequence else { return };
        if self.last.len() >= PUBLISHERS_MAX && !self.last.contains_key(&info.publisher) {
            self.last.clear();
        }
        let last = self.last.entry(info.publisher).or_insert(sequence);
        let skipped = sequence.saturating_sub(*last + 1);
        *last = sequence.max(*last);
        *self.skipped.get_or_insert_default() += skipped;
    }

    /// The number of messages between those that were noted; `None` before the first one, and if
    /// the middleware does not number messages.
    pub fn skipped(&self) -> Option<u64> {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_each_publisher_are_summed() {
        let mut sequences = Sequences::default();
        let mut skipped = |publisher, publication_sequence| {
            let publisher = [publisher; 16];
            sequences.note(&MessageInfo { publisher, publication_sequence, ..Default::default() });
            sequences.skipped()
        };
        let noted = [
            skipped(1, None),
            skipped(1, Some(7)),
            skipped(2, Some(100)),
            skipped(1, Some(8)),
            skipped(1, Some(11)),
            skipped(2, Some(102)),
            skipped(1, Some(9)),
            skipped(1, Some(12)),
        ];
        let expected = [0, 0, 0, 2, 3, 3, 3].map(Some);
        assert_eq!((noted[0], &noted[1..]), (None, &expected[..]));
    }
}
