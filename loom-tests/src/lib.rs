//! Loom models of everything in `ringbuf` that crosses threads.
//!
//! The modules of that crate are compiled here a second time, on loom's atomics, and every model
//! runs under all schedules and weak-memory outcomes that loom covers. A passing model proves
//! little unless it can fail. Each one therefore names *mutants*, single orderings made one step
//! weaker, and must fail under each of them. `coverage` requires a mutant for every ordering in
//! `ringbuf` that is stronger than `Relaxed`.
//!
//! | module | content |
//! |---|---|
//! | `model` | runs a model, counts its schedules, runs its mutants |
//! | `mutant` | weakens the ordering under test |
//! | `models` | the models, one module per module of `ringbuf`, and two for the executor |
//! | `coverage` | no ordering without a model that needs it |
//!
//! To list the models that need a given ordering:
//! `RINGSPIN_LOOM_MUTANT=ready.commit=Relaxed cargo test -p ringspin-loom-tests`.
//!
//! # Limits
//! Loom explores a subset of the C++20 memory model: a load cannot return a value that is stored
//! later, at most seven stores of an atomic are remembered, and weak exchanges do not fail
//! spuriously. Where a model bounds the number of preemptions, schedules beyond it are not
//! explored.

#[cfg(test)]
extern crate alloc;

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod model;
#[cfg(test)]
mod models;
#[cfg(test)]
mod mutant;

#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/announcements.rs"]
mod announcements;
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
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/keep_last_static.rs"]
mod keep_last_static;
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
#[path = "../../ringbuf/src/table.rs"]
mod table;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/wait.rs"]
mod wait;
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../ringbuf/src/word.rs"]
mod word;
