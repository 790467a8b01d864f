//! Scenarios of the rings that are too long for loom's exhaustive search, under random schedules of
//! Shuttle.
//!
//! Shuttle runs all atomic operations as sequentially consistent: it finds wrong interleavings, but
//! not orderings that are too weak. Its mutants therefore differ from loom's. Each model names
//! operations to *tear*: the read-modify-write becomes a load and then a store, with a possible
//! thread switch in between, and the model must fail. Unlike loom, Shuttle only covers schedules
//! that it draws.
//!
//! | module | content |
//! |---|---|
//! | `explore` | runs a model under random schedules, and its mutants |
//! | `facade` | for `ringbuf/src/sync.rs`: atomics to tear, a cell that detects overlapping use |
//! | `models` | the models, one module per module of `ringbuf` |
//!
//! The schedules are the same in every run. For others, and more of them:
//! `SHUTTLE_RANDOM_SEED=7 RINGSPIN_SHUTTLE_FACTOR=100 cargo test -p ringspin-shuttle-tests`.

#[cfg(test)]
extern crate alloc;

#[cfg(test)]
mod explore;
#[cfg(test)]
mod facade;
#[cfg(test)]
mod models;

#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/blocks.rs"]
mod blocks;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/cells.rs"]
mod cells;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/counter.rs"]
mod counter;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/inbox.rs"]
mod inbox;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/keep_last.rs"]
mod keep_last;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../ringbuf/src/multiplexer"]
mod multiplexer {
    pub(crate) mod gating;
    pub(crate) mod overrun;
}
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/pool.rs"]
mod pool;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/ready.rs"]
mod ready;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/ready_set.rs"]
mod ready_set;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/sleeper.rs"]
mod sleeper;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/slots.rs"]
mod slots;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../ringbuf/src/spsc.rs"]
mod spsc;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/spsc_ring.rs"]
mod spsc_ring;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/sync.rs"]
mod sync;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/wait.rs"]
mod wait;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/word.rs"]
mod word;
