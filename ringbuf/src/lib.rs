//! The concurrency under ringspin: lock-free rings, a message pool, and wait strategies.
//!
//! Everything that crosses threads in ringspin crosses here, and nothing here depends on ROS. The
//! rings differ from their relatives in one point: an item enters by a single compare-and-exchange
//! of sequence and value together, so there is no claimed-but-unfinished slot at which a pre-empted
//! producer could hold up its peers or the consumer.
//!
//! | module | holds |
//! |---|---|
//! | [`ready`] | the first-in first-out ring of tokens that feeds an event loop |
//! | [`spsc`] | the ring of one producer and one consumer, with batches |
//! | [`keep_last`] | a subscription's queue: the newest `depth` messages |
//! | [`multiplexer`](mod@multiplexer) | one producer, many consumers, each sees every item |
//! | [`pool`] | reused message slots and [`pool::Shared`], the reference to one |
//! | [`inbox`] | a worker's events, which arrive whatever thread is suspended halfway |
//! | [`notifier`] | an event without data: notified any number of times, handled once |
//! | [`ready_set`] | the loops of a worker that have work; parking and waking the worker |
//! | [`wait`] | wait strategies, and the signal that wakes a ring's consumer |
//! | [`changes`] | changes that any thread prepares for a worker |
//! | [`list`] | values that any thread adds and one takes all at once |
//! | [`reclaim`] | values that a thread replaces while others read them, and their memory |
//! | [`EntryLine`] | a cache line with the entries of a queue and of a ready ring |
//! | [`prefetch`] | cache lines that are fetched before they are needed |
//! | [`table`] | values that any thread stores and one takes by a ticket |
//! | [`counter`] | counters, flags, times, notices, requests and permits for the crates above |
//! | [`priority`] | the real-time priority of a thread |
//! | [`ticks()`] | the processor's counter of time, a hint when to read the clock |
//!
//! # Panics of drops
//! Whatever holds several values drops all of them, also after the `Drop` of one has panicked. That
//! panic is resumed; those of further drops are caught, because a second panic would abort the
//! process (with feature `std`; without it panics cannot be caught).
//!
//! # Features
//! * `std` (default): everything.
//! * Without it: [`spsc`] and [`prefetch`], and on processors with 64-bit atomics also [`counter`],
//!   [`ready`] and [`multiplexer`](mod@multiplexer). They need an allocator, but only to create a
//!   ring: `examples/bare_metal` runs them on a Cortex-M4.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(ringbuf_loom)]
compile_error!("loom models compile the modules, not this crate: see the loom-tests member");

extern crate alloc;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub mod announcements;
mod blocks;
mod cells;
#[cfg(feature = "std")]
pub mod changes;
#[cfg(target_has_atomic = "64")]
pub mod counter;
mod drops;
#[cfg(feature = "std")]
pub mod inbox;
#[cfg(feature = "std")]
pub mod keep_last;
#[cfg(feature = "std")]
mod leaves;
#[cfg(feature = "std")]
pub mod list;
#[cfg(feature = "std")]
mod lock;
#[cfg(target_has_atomic = "64")]
pub mod multiplexer;
#[cfg(feature = "std")]
pub mod notifier;
#[cfg(feature = "std")]
pub mod pool;
pub mod prefetch;
#[cfg(feature = "std")]
pub mod priority;
#[cfg(target_has_atomic = "64")]
pub mod ready;
#[cfg(feature = "std")]
pub mod ready_set;
#[cfg(feature = "std")]
pub mod reclaim;
#[cfg(feature = "std")]
mod sleeper;
#[cfg(feature = "std")]
mod slots;
pub mod spsc;
#[cfg(feature = "std")]
pub mod strand;
#[cfg(ringbuf_suspend)]
pub mod suspend;
mod sync;
#[cfg(feature = "std")]
pub mod table;
mod ticks;
#[cfg(feature = "std")]
pub mod wait;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use announcements::{Announcements, Attempt, Next, Round, Takes};
#[cfg(target_has_atomic = "64")]
pub use counter::{Counter, Flag, FollowedTime, Latest, Notice, Permits, Request};
#[cfg(feature = "std")]
pub use inbox::{Announce, Announcer, Inbox, Registrar};
#[cfg(feature = "std")]
pub use list::List;
#[cfg(feature = "std")]
pub use lock::lock;
#[cfg(feature = "std")]
pub use notifier::Notifier;
#[cfg(feature = "std")]
pub use pool::{Pool, Shared};
pub use prefetch::{CacheLines, PrefetchPlan};
#[cfg(feature = "std")]
pub use ready::EntryLine;
#[cfg(target_has_atomic = "64")]
pub use ready::MAX_TOKEN;
#[cfg(feature = "std")]
pub use ready_set::ReadySet;
#[cfg(feature = "std")]
pub use strand::Strand;
#[cfg(feature = "std")]
pub use table::Table;
pub use ticks::ticks;
#[cfg(feature = "std")]
pub use wait::{Signal, WaitStrategy};
