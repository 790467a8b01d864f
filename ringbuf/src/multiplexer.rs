//! The sensor multiplexer: one producer, many consumers, and every consumer sees every item.
//!
//! Nothing is copied: consumers read the one item that the producer wrote, each at its own
//! position in the stream. They join and leave while it flows. What happens when the producer is
//! about to overwrite an item that somebody has not read yet is chosen by module:
//!
//! | | [`gating`] | [`overrun`] |
//! |---|---|---|
//! | the slowest consumer | makes the producer wait | loses items, and is told how many |
//! | items | in the ring itself | in a [pool](crate::pool), the ring refers to them |
//! | a read yields | a reference | a [`Shared`](crate::Shared) that can be kept and passed on |
//! | consumers | up to a fixed maximum | any number, unknown to the producer |
//! | a stalled consumer | stops the stream once the ring is full | disturbs nobody |
//!
//! # Terms
//! The *sequence* of an item counts the items before it. A consumer's *position* is the sequence of
//! the item that it reads next. A *cursor* is a position that others can see.
//!
//! # Why the sequence lies beside the item
//! In LMAX Disruptor the producer publishes one cursor. A waiting consumer then fetches two cache
//! lines for an item, one after the other: the cursor and the slot. Here it polls the sequence in
//! the item's own slot, so that a small item arrives with it. And the producer stores to the slot
//! without a look at it before, which would fetch the line twice. One way, medians in ns of one run
//! (two virtual CPUs, pinned threads, spinning, both rings' consumers on one thread):
//!
//! | | `u64` | 64 bytes | 4 kB |
//! |---|---|---|---|
//! | [`gating`] | 153 | 206 | 1106 |
//! | the same with a look before the store | 213 | 280 | 1161 |
//! | `disruptor` (event poller) | 230 | 304 | 1130 |
//! | `bus` | 325 | 356 | 1630 |
//! | [`overrun`] | 369 | 384 | 1298 |
//! | `tokio::sync::broadcast` | 662 | 691 | 1906 |
//!
//! A bare ring of such slots, which gates nobody and overwrites what it likes, takes 152 ns for a
//! `u64`, and with a published cursor instead 289.

pub mod gating;
#[cfg(feature = "std")]
pub mod overrun;

#[cfg(all(test, feature = "std"))]
mod tests;
