//! The sensor multiplexer: one producer, many consumers, and every consumer sees every item.
//!
//! Nothing is copied: consumers read the one item that the producer wrote, each at its own
//! position in the stream. They join and leave while it flows. The module decides how the producer
//! overwrites an item that a consumer has not read yet:
//!
//! | | [`gating`] | [`overrun`] |
//! |---|---|---|
//! | the slowest consumer | makes the producer wait | loses items, and is told how many |
//! | items | in the ring itself | in a [pool](crate::pool), the ring refers to them |
//! | a read yields | a reference | a [`Shared`](crate::Shared) that can be kept and passed on |
//! | consumers | up to a fixed maximum | any number, unknown to the producer |
//! | a stalled consumer | stops the stream once the ring is full | has no effect on others |
//!
//! # Terms
//! The *sequence* of an item counts the items before it. A consumer's *position* is the sequence of
//! the item that it reads next. A *cursor* is a position that others can see.
//!
//! # Why the news lie beside the item
//! In LMAX Disruptor the producer publishes one cursor. A waiting consumer then fetches two cache
//! lines for an item, one after the other: the cursor and the slot. Here it polls a word in the
//! item's own block, so that a small item arrives with it. And the producer stores to that without
//! a look at it before, which would fetch the line twice (50 ns more for a `u64`, once measured).
//! One way from the producer to two consumers, medians in ns of the run that the README shows:
//!
//! | | `u64` | 64 bytes | 4 kB |
//! |---|---|---|---|
//! | [`gating`] | 67 | 188 | 381 |
//! | `disruptor` (event poller) | 59 | 188 | 387 |
//! | [`overrun`] | 119 | 272 | 378 |
//! | `bus` | 140 | 684 | 2498 |
//! | `tokio::sync::broadcast` | 331 | 698 | 2494 |
//!
//! There the two cores happened to be near each other, and a line more costs little. On another
//! machine, with an older layout, [`gating`] took 143 ns for a `u64` and `disruptor` 204.

pub mod gating;
#[cfg(feature = "std")]
pub mod overrun;

#[cfg(all(test, feature = "std"))]
mod tests;
