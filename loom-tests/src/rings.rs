//! The modules of `ringbuf`, compiled once more for loom.
//!
//! The crate re-exports them at its root, where they expect each other.

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../ringbuf/src"]
mod all {
    pub(crate) mod announcements;
    pub(crate) mod blocks;
    pub(crate) mod cells;
    pub(crate) mod changes;
    pub(crate) mod counter;
    pub(crate) mod drops;
    pub(crate) mod inbox;
    pub(crate) mod keep_last;
    pub(crate) mod leaves;
    pub(crate) mod list;
    pub(crate) mod multiplexer;
    pub(crate) mod notifier;
    pub(crate) mod pool;
    pub(crate) mod ready;
    pub(crate) mod ready_set;
    pub(crate) mod reclaim;
    pub(crate) mod sleeper;
    pub(crate) mod slots;
    pub(crate) mod spsc;
    pub(crate) mod strand;
    pub(crate) mod sync;
    pub(crate) mod table;
    pub(crate) mod wait;
}
pub(crate) use all::*;
