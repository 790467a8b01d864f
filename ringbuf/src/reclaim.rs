//! Values that one thread replaces while others read them, and their memory afterwards.
//!
//! Quiescent-state-based reclamation: a worker thread reads without any announcement, and tells
//! between two events, at a *quiescent point*, that it holds no reference from before. A value that
//! was replaced is *retired*, and dropped once every thread has passed such a point or reads
//! nothing.
//!
//! A [`Domain`] has the threads that read and the garbage that waits for them: one for each graph,
//! so that a long callback of one graph keeps no memory of another graph. Until it returns, it
//! keeps the garbage of the graph that runs it. Any thread may read values of any domain, each of
//! them under a [`Pin`] of that domain; a worker [enters](Domain::enter) the domain of its graph,
//! in which a pin is a count.
//!
//! | | on a thread within [`Domain::enter`] | on any other thread |
//! |---|---|---|
//! | [`Domain::pin`], [`Published::load`] | a count, loads | and two `SeqCst` stores |
//! | [`Reading::pass`] | a load, if nothing changed | |
//! | [`Published::replace`], [`Domain::retire`] | an allocation, three exchanges | the same |
//!
//! ```
//! use ringspin_ringbuf::reclaim::{Domain, Published};
//! use std::sync::Arc;
//! let domain = Arc::new(Domain::new());
//! let list = Published::new(vec![1], &domain);
//! let mut reading = domain.enter(); // this thread runs a worker
//! assert!(reading.pass(), "the first pass reports a change");
//! assert_eq!(*list.load(), [1]);
//! list.replace(vec![1, 2]);
//! assert!(reading.pass() && !reading.pass());
//! assert_eq!(*list.load(), [1, 2]);
//! ```
//!
//! # Why nothing is freed too early
//! Garbage carries the version of its domain that its retirement made. A thread that announced
//! this version, or a later one, has seen the exchange before. A thread that was offline when its
//! slot was looked at goes online by a store of its slot, and then reads the version; the retiring
//! side writes the version, and then reads the slots. These four accesses are in one total order,
//! so that the thread sees the new version, and with it the exchange.
//!
//! # When garbage runs
//! In a [`Domain::collect`]: of a worker at a quiescent point, of the thread that made a
//! [`Change`], of a thread that ends, and at the latest where the domain is dropped. The end of a
//! [`Pin`] runs none, because it ends in each `publish`.

use crate::list::List;
use crate::sync::{
    AtomicPtr, AtomicU64, AtomicUsize, UnsafeCell, order, step, store_load, total_order,
};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use std::fmt;
use std::iter::successors;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{self, NonNull};

#[cfg(ringbuf_loom)]
pub(crate) use reading::Replaced;
pub use reading::{Change, Guard, Pin, Published, Reading};

/// The slot's number of a thread that reads nothing: later than every version.
const OFFLINE: u64 = u64::MAX;

/// Runs once no thread reads the values any more that it frees.
type Garbage = Box<dyn FnOnce() + Send>;

/// The threads that read the values of a graph, and the garbage that waits for them.
///
/// No thread waits for another one here, so one that is suspended at any step stops no other:
/// places and retired garbage are in lists that a thread extends by an exchange, and a thread that
/// finds a collection in progress leaves its request to it.
pub struct Domain {
    /// The number of changes; every worker reads it at each quiescent point.
    version: CachePadded<AtomicU64>,
    /// The number of items of garbage.
    waiting: AtomicUsize,
    /// The places of all threads, the newest first. A place stays in the list until the domain is
    /// dropped, and another thread takes it when its owner ends.
    places: AtomicPtr<Place>,
    /// The garbage that no collection has seen.
    retired: List<Retired>,
    /// The requests that the present collection serves; 0 without one.
    requests: AtomicU64,
    /// The garbage that earlier collections found too young, the oldest first. Only the collection
    /// uses it.
    aging: UnsafeCell<VecDeque<Retired>>,
}

// SAFETY: garbage is `Send`, and `aging` belongs to the thread that raised `requests` from 0 until
// it sets them to 0.
unsafe impl Send for Domain {}
// SAFETY: as above.
unsafe impl Sync for Domain {}

/// Garbage that panics leaves nothing of the domain half done.
impl UnwindSafe for Domain {}
impl RefUnwindSafe for Domain {}

struct Place {
    /// The latest version of which the owner has said that it holds nothing from before, or
    /// [`OFFLINE`].
    seen: CachePadded<AtomicU64>,
    is_taken: AtomicUsize,
    /// The place that was added before.
    next: *const Place,
}

struct Retired {
    /// The version that the retirement made.
    version: u64,
    garbage: Garbage,
}

impl Domain {
    /// Creates a domain without threads.
    pub fn new() -> Self {
        Self {
            version: CachePadded::new(AtomicU64::new(1)),
            waiting: AtomicUsize::new(0),
            places: AtomicPtr::new(ptr::null_mut()),
            retired: List::new(),
            requests: AtomicU64::new(0),
            aging: UnsafeCell::new(VecDeque::new()),
        }
    }

    /// The number of changes so far. The caller sees the exchanges before each of them.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        // "reclaim.version": pairs with "reclaim.announce".
        self.version.load(order!(Acquire, "reclaim.version"))
    }

    /// Lets the next pass of every worker in the domain return true. Does not wake a worker that
    /// sleeps.
    pub fn announce(&self) {
        self.next_version();
    }

    /// Adds a change, and returns its version.
    fn next_version(&self) -> u64 {
        // "reclaim.announce": pairs with "reclaim.version". In the total order for the sake of
        // "reclaim.online_version".
        self.version.fetch_add(1, total_order!(Release, "reclaim.announce")) + 1
    }

    /// Runs `garbage` once no thread can hold a reference that it got before this call: after an
    /// exchange that made the old value unreachable. [Announces](Self::announce) a change as well.
    /// The caller [collects](Self::collect) afterwards: threads that see the change may look for
    /// the garbage before it is in the list.
    ///
    /// It runs on any thread, with no lock held. It may publish, retire and pin. A panic of it is
    /// caught, after the panic hook has reported it.
    pub fn retire(&self, garbage: impl FnOnce() + Send + 'static) {
        let garbage = Box::new(garbage);
        // Before the change, so that a thread that sees the change looks for it. In the total order
        // for the sake of a thread that goes offline.
        self.waiting.fetch_add(1, total_order!(Relaxed, "reclaim.waiting"));
        let version = self.next_version();
        step!("reclaim.retiring");
        self.retired.push(Retired { version, garbage });
    }

    /// Whether there may be garbage. A thread that went offline and finds none here had none that
    /// waited for it.
    #[inline]
    fn has_garbage(&self) -> bool {
        // In the total order: see `Slot::offline`.
        self.waiting.load(total_order!(Relaxed, "reclaim.waiting")) > 0
    }

    /// The number of items of garbage that have not run.
    pub fn garbage(&self) -> u64 {
        self.waiting.load(order!(Relaxed, "reclaim.garbage")) as u64
    }

    /// Runs the garbage that is due; a load if none waits.
    ///
    /// Every worker calls it when it finds a change, pauses or ends. A thread that retires calls it
    /// when it holds no lock that garbage may need (the end of a change does so), since it may be
    /// that no worker runs. While another thread collects, it returns at once.
    pub fn collect(&self) {
        if !self.has_garbage() {
            return;
        }
        while let Some(garbage) = self.due() {
            run(garbage);
        }
    }

    /// Takes the oldest garbage, if it is due and no other thread collects.
    #[cold]
    fn due(&self) -> Option<Garbage> {
        loop {
            // "reclaim.request": pairs with "reclaim.served". In the total order: a collection that
            // continues for this request sees the place of this thread as it is here.
            if self.requests.fetch_add(1, total_order!(Acquire, "reclaim.request")) > 0 {
                return None;
            }
            step!("reclaim.collecting");
            // SAFETY: this thread raised the requests from 0.
            let due = self.aging.with_mut(|aging| self.take_due(unsafe { &mut *aging }));
            // "reclaim.served": pairs with "reclaim.request".
            let requests = self.requests.swap(0, total_order!(Release, "reclaim.served"));
            // After garbage, `collect` comes back by itself.
            if due.is_some() || requests == 1 {
                return due;
            }
        }
    }

    /// Takes the oldest garbage out of `aging`, after all that was retired meanwhile, if it is due.
    fn take_due(&self, aging: &mut VecDeque<Retired>) -> Option<Garbage> {
        aging.extend(self.retired.take());
        let oldest = aging.front()?.version;
        // The change of the retirement was made visible here when it was taken.
        store_load!("reclaim.collect");
        if self.places().any(|place| {
            // "reclaim.seen": pairs with "reclaim.pass", "reclaim.online" and "reclaim.offline":
            // the reads before them are over.
            place.seen.load(total_order!(Acquire, "reclaim.seen")) < oldest
        }) {
            return None;
        }
        self.waiting.fetch_sub(1, total_order!(Relaxed, "reclaim.waiting"));
        Some(aging.pop_front()?.garbage)
    }

    /// The places of all threads.
    fn places(&self) -> impl Iterator<Item = &Place> {
        // "reclaim.places": pairs with "reclaim.join". In the total order: a thread that is not
        // found here sees the change of the garbage when it goes online.
        let newest = self.places.load(total_order!(Acquire, "reclaim.places")).cast_const();
        // SAFETY: places are freed with the domain.
        let place = |place: *const Place| unsafe { place.as_ref() };
        successors(place(newest), move |of| place(of.next))
    }

    /// Takes a place that is free, or adds one.
    fn join(&self) -> NonNull<Place> {
        step!("reclaim.joining");
        // "reclaim.owner": pairs with "reclaim.leave": the writes of the owner before to the place
        // are older than those of this thread. Both are in the total order for that.
        let failed = order!(Relaxed, "reclaim.owned");
        let order = (total_order!(Relaxed, "reclaim.owner"), failed);
        let take = |of: &&Place| of.is_taken.compare_exchange(0, 1, order.0, order.1).is_ok();
        if let Some(place) = self.places().find(take) {
            return NonNull::from(place);
        }
        let seen = CachePadded::new(AtomicU64::new(OFFLINE));
        let place = Box::new(Place { seen, is_taken: AtomicUsize::new(1), next: ptr::null() });
        let place = NonNull::from(Box::leak(place));
        let mut next = self.places.load(order!(Relaxed, "reclaim.newest"));
        // "reclaim.join": pairs with "reclaim.places".
        let order = (total_order!(Release, "reclaim.join"), order!(Relaxed, "reclaim.newest"));
        loop {
            // SAFETY: it is in no list yet.
            unsafe { (*place.as_ptr()).next = next };
            match self.places.compare_exchange(next, place.as_ptr(), order.0, order.1) {
                Ok(_) => return place,
                Err(newest) => next = newest,
            }
        }
    }
}

/// Runs `garbage`. In a model, its panics are failures of the model.
fn run(garbage: Garbage) {
    #[cfg(not(ringbuf_loom))]
    crate::drops::swallow_panic(garbage);
    #[cfg(ringbuf_loom)]
    garbage();
}

impl Default for Domain {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Domain {
    /// Runs the remaining garbage: a thread that reads borrows the domain.
    fn drop(&mut self) {
        // Models assert that none remains.
        #[cfg(not(ringbuf_loom))]
        {
            // SAFETY: no other thread has the domain.
            let aging = self.aging.with_mut(|aging| std::mem::take(unsafe { &mut *aging }));
            aging.into_iter().chain(self.retired.take()).for_each(|of| run(of.garbage));
        }
        let mut place = self.places.load(order!(Relaxed, "reclaim.drop"));
        while !place.is_null() {
            // SAFETY: it came from a box, and no slot borrows the domain any more.
            place = unsafe { Box::from_raw(place) }.next.cast_mut();
        }
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
    place: NonNull<Place>,
}

// SAFETY: the place is shared by atomics, and lives as long as the domain.
unsafe impl<D: Deref<Target = Domain> + Send> Send for Slot<D> {}

impl<D: Deref<Target = Domain>> Slot<D> {
    /// Takes a place in `domain`, until this is dropped.
    pub(crate) fn new(domain: D) -> Self {
        let place = domain.join();
        Self { domain, place }
    }

    #[inline]
    fn seen(&self) -> &AtomicU64 {
        // SAFETY: it is freed with the domain, which is there as long as `self` is used.
        &unsafe { self.place.as_ref() }.seen
    }

    /// The thread reads from here on.
    #[inline]
    pub(crate) fn online(&self) {
        // A guess that may be too old; a version that is stored here has been seen below.
        let version = self.domain.version.load(order!(Relaxed, "reclaim.guess"));
        // "reclaim.online": in the total order before the load below. Being `SeqCst`, it releases
        // the reads before the thread was offline, too.
        self.seen().store(version, total_order!(Relaxed, "reclaim.online"));
        store_load!("reclaim.online_fence");
        // "reclaim.online_version": sees the change of all garbage that a collection freed because
        // this thread was offline, and with it the exchange. Being `SeqCst`, it acquires.
        self.domain.version.load(total_order!(Relaxed, "reclaim.online_version"));
    }

    /// The thread holds no reference from before it saw `version`.
    pub(crate) fn pass(&self, version: u64) {
        // "reclaim.pass": pairs with "reclaim.seen".
        self.seen().store(version, order!(Release, "reclaim.pass"));
    }

    /// The thread reads nothing from here on. If the caller [collects](Domain::collect) afterwards,
    /// either it finds garbage that had to wait for this thread, or the collection that found this
    /// thread online is the earlier one, and another one follows.
    #[inline]
    pub(crate) fn offline(&self) {
        // "reclaim.offline": pairs with "reclaim.seen".
        self.seen().store(OFFLINE, total_order!(Release, "reclaim.offline"));
        store_load!("reclaim.offline_fence");
    }
}

impl<D: Deref<Target = Domain>> Drop for Slot<D> {
    fn drop(&mut self) {
        self.offline();
        // SAFETY: as in `seen`.
        let place = unsafe { self.place.as_ref() };
        // "reclaim.leave": pairs with "reclaim.owner".
        place.is_taken.store(0, total_order!(Relaxed, "reclaim.leave"));
    }
}

mod reading;

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
