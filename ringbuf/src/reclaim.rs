//! Values that one thread replaces while others read them, and their memory afterwards.
//!
//! Quiescent-state-based reclamation: a worker thread reads without any announcement, and tells
//! between two events, at a *quiescent point*, that it holds no reference from before. A value that
//! was replaced is *retired*, and dropped once every thread has passed such a point or reads
//! nothing. All threads of the process share one domain, so that a worker of one executor may read
//! values of another one.
//!
//! | | on a thread within [`enter`] | on any other thread |
//! |---|---|---|
//! | [`pin`], [`Published::get`] | a thread-local count, a load | also two `SeqCst` stores, loads |
//! | [`Reading::pass`] | a load, if nothing changed | |
//! | [`Published::replace`], [`retire`] | a lock for some instructions | the same |
//!
//! ```
//! use ringspin_ringbuf::reclaim::{self, Published};
//! let list = Published::new(vec![1]);
//! let mut reading = reclaim::enter(); // this thread runs a worker
//! assert!(reading.pass(), "the first pass reports a change");
//! assert_eq!(list.get(&reclaim::pin()), &[1]);
//! list.replace(vec![1, 2]);
//! assert!(reading.pass() && !reading.pass());
//! assert_eq!(list.get(&reclaim::pin()), &[1, 2]);
//! ```
//!
//! # Why nothing is freed too early
//! Garbage carries the version of the process that its retirement made. A thread that announced
//! this version, or a later one, has seen the exchange before. A thread that was offline when its
//! slot was looked at goes online by a store of its slot, and then reads the version; the retiring
//! side writes the version, and then reads the slots. These four accesses are in one total order,
//! so that the thread sees the new version, and with it the exchange.

use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, const_fn, order, store_load, total_order};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

mod published;
#[cfg(not(ringbuf_loom))]
mod thread;

pub use published::Published;
#[cfg(ringbuf_loom)]
pub(crate) use published::Replaced;
#[cfg(not(ringbuf_loom))]
pub use thread::{Pin, Reading, announce, collect, enter, pin, retire};

/// The slot's number of a thread that reads nothing: later than every version.
const OFFLINE: u64 = u64::MAX;

/// Runs once no thread reads any more what it frees.
pub(crate) type Garbage = Box<dyn FnOnce() + Send>;

/// The threads that read, and the garbage that waits for them.
pub(crate) struct Domain {
    /// The number of changes; every worker reads it at each quiescent point.
    version: CachePadded<AtomicU64>,
    /// The length of the queue of garbage.
    waiting: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    slots: Vec<Arc<Seen>>,
    /// The garbage with the version of its retirement, in this order.
    garbage: VecDeque<(u64, Garbage)>,
}

/// The latest version of which a thread has said that it holds nothing from before, or [`OFFLINE`].
type Seen = CachePadded<AtomicU64>;

impl Domain {
    const_fn! {
        /// Creates a domain without threads.
        pub(crate) fn new() -> Self {
            Self {
                version: CachePadded::new(AtomicU64::new(1)),
                waiting: AtomicUsize::new(0),
                state: Mutex::new(State { slots: Vec::new(), garbage: VecDeque::new() }),
            }
        }
    }

    fn lock(&self) -> impl DerefMut<Target = State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of changes so far. The caller sees the exchanges before each of them.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        // "reclaim.version": pairs with "reclaim.announce".
        self.version.load(order!(Acquire, "reclaim.version"))
    }

    /// Adds a change, and returns its version.
    pub(crate) fn announce(&self) -> u64 {
        // "reclaim.announce": pairs with "reclaim.version". In the total order for the sake of
        // "reclaim.online_version".
        self.version.fetch_add(1, total_order!(Release, "reclaim.announce")) + 1
    }

    /// Adds garbage, to run once no thread can hold a reference that it got before this call.
    pub(crate) fn retire(&self, garbage: Garbage) {
        let mut state = self.lock();
        // Before the change, so that a thread that sees the change finds it. In the total order for
        // the sake of a thread that goes offline.
        let waiting = state.garbage.len() + 1;
        self.waiting.store(waiting, total_order!(Relaxed, "reclaim.waiting"));
        let version = self.announce();
        state.garbage.push_back((version, garbage));
    }

    /// Whether there may be garbage. A thread that has gone offline and finds none here had none
    /// that waited for it.
    #[inline]
    pub(crate) fn has_garbage(&self) -> bool {
        // In the total order: see `Slot::offline`.
        self.waiting.load(total_order!(Relaxed, "reclaim.waiting")) > 0
    }

    /// Runs the garbage that is due, without the lock. A panic of one goes on; the rest is left to
    /// the next call.
    pub(crate) fn collect(&self) {
        if !self.has_garbage() {
            return;
        }
        while let Some(garbage) = self.due() {
            garbage();
        }
    }

    /// Takes the oldest garbage out of the queue, if it is due.
    #[cold]
    fn due(&self) -> Option<Garbage> {
        let mut state = self.lock();
        let retired = state.garbage.front()?.0;
        // After the retirement, whose change the lock makes visible here.
        store_load!("reclaim.collect");
        // "reclaim.seen": pairs with "reclaim.pass", "reclaim.online" and "reclaim.offline": the
        // reads before them are over.
        let seen = |slot: &Seen| slot.load(total_order!(Acquire, "reclaim.seen"));
        if state.slots.iter().any(|slot| seen(slot) < retired) {
            return None;
        }
        let (_, garbage) = state.garbage.pop_front()?;
        self.waiting.store(state.garbage.len(), total_order!(Relaxed, "reclaim.waiting"));
        Some(garbage)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").finish_non_exhaustive()
    }
}

/// A thread's place in a domain, which says whether the thread reads, and since when. It starts
/// offline.
pub(crate) struct Slot<D: Deref<Target = Domain>> {
    domain: D,
    seen: Arc<Seen>,
}

impl<D: Deref<Target = Domain>> Slot<D> {
    /// Adds a place to `domain`, until this is dropped.
    pub(crate) fn new(domain: D) -> Self {
        let seen = Arc::new(CachePadded::new(AtomicU64::new(OFFLINE)));
        domain.lock().slots.push(seen.clone());
        Self { domain, seen }
    }

    /// The thread reads from here on.
    #[inline]
    pub(crate) fn online(&self) {
        // A guess that may be too old; a version that is stored here has been seen below.
        let version = self.domain.version.load(order!(Relaxed, "reclaim.guess"));
        // "reclaim.online": in the total order before the load below. Being `SeqCst`, it releases
        // the reads before the thread was offline, too.
        self.seen.store(version, total_order!(Relaxed, "reclaim.online"));
        store_load!("reclaim.online_fence");
        // "reclaim.online_version": sees the change of all garbage whose collection has found this
        // thread offline, and with it the exchange. Being `SeqCst`, it acquires.
        self.domain.version.load(total_order!(Relaxed, "reclaim.online_version"));
    }

    /// The thread holds no reference from before it saw `version`.
    pub(crate) fn pass(&self, version: u64) {
        // "reclaim.pass": pairs with "reclaim.seen".
        self.seen.store(version, order!(Release, "reclaim.pass"));
    }

    /// The thread reads nothing from here on. The caller [collects](Domain::collect) afterwards:
    /// either it finds garbage that had to wait for this thread, or the collection that found this
    /// thread online is the earlier one, and another one follows.
    #[inline]
    pub(crate) fn offline(&self) {
        // "reclaim.offline": pairs with "reclaim.seen".
        self.seen.store(OFFLINE, total_order!(Release, "reclaim.offline"));
        store_load!("reclaim.offline_fence");
    }
}

impl<D: Deref<Target = Domain>> Drop for Slot<D> {
    fn drop(&mut self) {
        let mut state = self.domain.lock();
        state.slots.retain(|slot| !std::ptr::eq(&**slot, &*self.seen));
    }
}
