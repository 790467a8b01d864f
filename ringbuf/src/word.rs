//! A ring entry in one atomic word: the sequence that wrote it, and what it wrote.
//!
//! | bits   | field    | meaning |
//! |--------|----------|---------|
//! | 63..24 | sequence | low 40 bits of the position in the stream that last used the entry |
//! | 23..0  | value    | the 24-bit value, or [`EMPTY`] once it has been consumed |
//!
//! Because sequence and value change together in one compare-and-exchange, an item is either not in
//! the ring or completely in it. There is no gap between claiming a slot and committing it in which
//! a pre-empted producer could hold up its peers. The sequence also makes the exchange safe against
//! ABA: it would take a thread that sleeps through exactly 2^40 pushes to be fooled.

/// The largest value an entry can carry.
pub(crate) const MAX_VALUE: u32 = EMPTY - 1;

/// The value of an entry that holds nothing.
pub(crate) const EMPTY: u32 = (1 << VALUE_BITS) - 1;

const VALUE_BITS: u32 = 24;

/// An entry's content; see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    #[inline]
    pub(crate) const fn new(sequence: u64, value: u32) -> Self {
        debug_assert!(value <= EMPTY);
        Self(sequence << VALUE_BITS | value as u64)
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn value(self) -> u32 {
        self.0 as u32 & EMPTY
    }

    /// The stored sequence itself, for a word whose sequence is a change counter.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) const fn tag(self) -> u64 {
        self.0 >> VALUE_BITS
    }

    #[cfg(feature = "std")]
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.value() == EMPTY
    }

    /// The same entry after its value was taken out.
    #[inline]
    pub(crate) const fn emptied(self) -> Self {
        Self(self.0 | EMPTY as u64)
    }

    /// How many positions this entry's sequence lies ahead of `position`, modulo 2^40.
    #[inline]
    pub(crate) const fn ahead_of(self, position: u64) -> i64 {
        let difference = (self.0 & !(EMPTY as u64)).wrapping_sub(position << VALUE_BITS);
        difference as i64 >> VALUE_BITS
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;

    #[test]
    fn distance_survives_the_wrap_of_the_stored_sequence() {
        for position in [0, 1, (1 << 40) - 1, 1 << 40, (1 << 40) + 5, u64::MAX] {
            for distance in [-7i64, -1, 0, 1, 1000] {
                let word = Word::new(position.wrapping_add(distance as u64), 3);
                assert_eq!(word.ahead_of(position), distance, "position {position}");
                assert_eq!(word.emptied().ahead_of(position), distance);
            }
        }
    }

    #[test]
    fn value_and_emptiness_are_told_apart() {
        let word = Word::new(9, MAX_VALUE);
        assert_eq!((word.value(), word.is_empty()), (MAX_VALUE, false));
        assert!(word.emptied().is_empty());
    }
}
