//! The concurrency under ringspin: lock-free rings, a message pool, and how threads wait.
//!
//! Everything that crosses threads in ringspin crosses here, and nothing here knows of ROS. The
//! rings differ from their relatives in one point: an item enters by a single compare-and-exchange
//! of sequence and value together, so there is no claimed-but-unfinished slot at which a pre-empted
//! producer could hold up its peers or the consumer.
//!
//! | module | holds |
//! |---|---|
//! | [`ready`] | the first-in first-out ring of tokens that feeds an event loop |
//! | [`keep_last`] | a subscription's queue: the newest `depth` messages |
//! | [`pool`] | reused message slots and [`pool::Shared`], the reference to one |
//! | [`ready_set`] | which loops of a worker have work; parking and waking the worker |
//! | [`wait`] | spin, yield, or spin then park |
//! | [`counter`] | relaxed counters, flags and permits for the crates above |

#[cfg(ringbuf_loom)]
compile_error!("loom models compile the modules, not this crate: see the loom-tests member");

pub mod counter;
pub mod keep_last;
pub mod pool;
pub mod ready;
pub mod ready_set;
mod sync;
pub mod wait;
mod word;

pub use counter::{Counter, Flag, Permits};
pub use pool::{Pool, Shared};
pub use ready_set::ReadySet;
pub use wait::{WaitStrategy, Waiter};
pub use word::MAX_VALUE as MAX_TOKEN;
