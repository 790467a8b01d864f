//! Messages in reused slots, shared by reference count and named by a small index.
//!
//! Publishing moves a message into a slot of its topic's pool; every subscription's queue then
//! holds the slot's 24-bit index, and the last reader to let go returns the slot. In the steady
//! state nothing is allocated. A pool that runs dry doubles; that is the only operation here that
//! takes a lock, and [`Pool::reserve`] moves it to start-up.
//!
//! # Progress
//! * [`Pool::insert`]: lock-free while a slot is free, otherwise it allocates under a lock.
//! * Cloning and dropping a [`Shared`]: wait-free; dropping the last one is lock-free.
//!
//! Free slots form a stack (Treiber 1986). Its head carries a 39-bit tag that grows with each
//! removal, so that a slot which left and came back in between is not taken for unchanged.

use crate::sync::{
    Arc, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, LeakCheck, Mutex, UnsafeCell, order,
};
use crate::word::{EMPTY, Word};
use crossbeam_utils::CachePadded;
use std::ptr::{self, NonNull};

/// Segment `k` holds `FIRST_SEGMENT << k` slots.
const FIRST_SEGMENT: usize = 4;
const SEGMENTS: usize = 22;

/// The value that closes the free list: an index that no slot has.
const END: u32 = EMPTY;
/// What the free list's head becomes when the last pool handle is gone.
const CLOSED: u64 = u64::MAX;
/// Tags stay below the one in `CLOSED`.
const TAG_MASK: u64 = (1 << 39) - 1;

/// Set in the reference count of a message that [`Pool::offer`] made open to everybody.
const OFFERED: u32 = 1 << 31;

/// A growing set of message slots. Clones are handles to the same pool.
pub struct Pool<T> {
    handle: Arc<Handle<T>>,
}

/// Owns the slots on behalf of all clones of a pool; outstanding messages may outlive it.
struct Handle<T> {
    slots: NonNull<Slots<T>>,
}

struct Slots<T> {
    /// The free list: tag and index of its first slot.
    free: CachePadded<AtomicU64>,
    segments: [AtomicPtr<Slot<T>>; SEGMENTS],
    /// How many segments exist; held while one is added.
    growth: Mutex<usize>,
    /// Used once the free list is closed: how many slots are still out.
    outstanding: AtomicI64,
    _leak_check: LeakCheck,
}

/// On cache lines of its own: a slot travels between cores without its neighbours.
#[repr(align(64))]
struct Slot<T> {
    pool: NonNull<Slots<T>>,
    index: u32,
    /// How many `Shared` and queue entries refer to the message, and `OFFERED`.
    references: AtomicU32,
    /// The next free slot, while this one is free.
    next: AtomicU32,
    /// Whether the message stays when its last reader goes, for the next loan; 0 or 1. Like the
    /// message, it belongs to whoever took the slot or dropped the last reference.
    keep: AtomicU32,
    /// `Some` while somebody holds the message, and while it is kept.
    message: UnsafeCell<Option<T>>,
}

// SAFETY: a pool hands each message to one owner at a time until it is shared, and shares it only
// by `Shared`, whose bounds are stricter; all bookkeeping is atomic.
unsafe impl<T: Send + Sync> Send for Handle<T> {}
// SAFETY: as above; every method of the pool takes `&self` and synchronises by the free list.
unsafe impl<T: Send + Sync> Sync for Handle<T> {}

impl<T> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone() }
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

/// The slots before segment `segment`.
const fn slots_before(segment: usize) -> usize {
    (FIRST_SEGMENT << segment) - FIRST_SEGMENT
}

/// Which segment holds slot `index`, and where in it.
#[inline]
const fn locate(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST_SEGMENT;
    let segment = (shifted.ilog2() - FIRST_SEGMENT.ilog2()) as usize;
    (segment, shifted - (FIRST_SEGMENT << segment))
}

impl<T> Pool<T> {
    /// An empty pool; it allocates its first slots when they are needed or reserved.
    pub fn new() -> Self {
        let slots = Box::new(Slots {
            free: CachePadded::new(AtomicU64::new(Word::new(0, END).bits())),
            segments: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            growth: Mutex::new(0),
            outstanding: AtomicI64::new(0),
            _leak_check: LeakCheck::new(),
        });
        let slots = NonNull::from(Box::leak(slots));
        Self { handle: Arc::new(Handle { slots }) }
    }

    #[inline]
    fn slots(&self) -> &Slots<T> {
        // SAFETY: the handle keeps the slots alive.
        unsafe { self.handle.slots.as_ref() }
    }

    /// Makes room for `capacity` messages at once, so that no later insertion allocates before that
    /// many are in use.
    pub fn reserve(&self, capacity: usize) {
        while self.capacity() < capacity {
            self.grow(self.capacity());
        }
    }

    /// How many slots exist, used or free.
    pub fn capacity(&self) -> usize {
        slots_before(*self.slots().growth.lock().expect("growing a pool does not panic"))
    }

    /// Moves `message` into a free slot.
    ///
    /// # Panics
    /// If 2^24 messages of this pool are in use, or a message kept from an earlier loan panics when
    /// it is dropped.
    #[inline]
    pub fn insert(&self, message: T) -> Shared<T> {
        let slot = self.take_slot();
        // SAFETY: a slot taken from the free list belongs to this call alone.
        let slot_ref = unsafe { slot.as_ref() };
        slot_ref.keep.store(0, order!(Relaxed, "pool.keep"));
        // SAFETY: as above, nobody else reads or writes the cell.
        let kept = slot_ref.message.with_mut(|cell| unsafe { (*cell).replace(message) });
        slot_ref.count_first();
        let shared = Shared { slot };
        drop(kept); // only now, because it may panic
        shared
    }

    /// Lends a message to be filled in place and then [shared](Loan::share). It holds what the last
    /// loaned message in its slot was left with, or else `default()`: buffers keep their capacity,
    /// and nothing is allocated in the steady state.
    ///
    /// # Panics
    /// If 2^24 messages of this pool are in use.
    #[inline]
    pub fn loan(&self, default: impl FnOnce() -> T) -> Loan<T> {
        let reserved = GiveBack(self.take_slot());
        // SAFETY: a slot taken from the free list belongs to this call alone.
        let slot = unsafe { reserved.0.as_ref() };
        slot.message.with_mut(|cell| {
            // SAFETY: as above, nobody else reads or writes the cell.
            unsafe { &mut *cell }.get_or_insert_with(default);
        });
        slot.keep.store(1, order!(Relaxed, "pool.keep"));
        slot.count_first();
        let slot = reserved.0;
        std::mem::forget(reserved);
        Loan(Shared { slot })
    }

    #[inline]
    fn take_slot(&self) -> NonNull<Slot<T>> {
        loop {
            match self.slots().pop_free() {
                Some(slot) => return slot,
                None => self.grow(0),
            }
        }
    }

    /// Adds a segment, unless there is more room than `seen` slots or a free slot by now.
    #[cold]
    fn grow(&self, seen: usize) {
        let slots = self.slots();
        let mut segments = slots.growth.lock().expect("growing a pool does not panic");
        let capacity = slots_before(*segments);
        // "pool.glance": whoever grew the pool in the meantime did so under this lock.
        let free = Word::from_bits(slots.free.load(order!(Relaxed, "pool.glance")));
        if (seen == 0 && !free.is_empty()) || (seen != 0 && capacity > seen) {
            return;
        }
        let segment = *segments;
        assert!(segment < SEGMENTS, "more than 2^24 messages of one topic are in use");
        let length = FIRST_SEGMENT << segment;
        let new: Box<[Slot<T>]> = (0..length)
            .map(|offset| Slot {
                pool: self.handle.slots,
                index: (capacity + offset) as u32,
                references: AtomicU32::new(0),
                next: AtomicU32::new((capacity + offset + 1) as u32),
                keep: AtomicU32::new(0),
                message: UnsafeCell::new(None),
            })
            .collect();
        let new = Box::into_raw(new).cast::<Slot<T>>();
        // "pool.segment": released with the indices of the new slots by "pool.free".
        slots.segments[segment].store(new, order!(Relaxed, "pool.segment"));
        *segments += 1;
        // SAFETY: the new slots are ours, and the pool's handle keeps the list alive.
        unsafe {
            Slots::push_free(self.handle.slots, capacity as u32, (capacity + length - 1) as u32);
        }
    }

    /// Gives up `message` and returns its index, which now stands for the reference.
    ///
    /// # Panics
    /// If `message` belongs to another pool.
    #[inline]
    pub(crate) fn release(&self, message: Shared<T>) -> u32 {
        // SAFETY: a reference keeps its slot valid.
        let slot = unsafe { message.slot.as_ref() };
        assert!(slot.pool == self.handle.slots, "the message belongs to another pool");
        std::mem::forget(message);
        slot.index
    }

    /// As [`release`](Self::release), for an index with which anybody may
    /// [`try_share`](Self::try_share) the message.
    #[inline]
    pub(crate) fn offer(&self, message: Shared<T>) -> u32 {
        let slot = message.slot;
        let index = self.release(message);
        // SAFETY: the reference that `index` stands for keeps the slot valid.
        let references = unsafe { &slot.as_ref().references };
        // "pool.sole": only a holder raises a count that is not `OFFERED`, so a 1 is ours to change.
        if references.load(order!(Relaxed, "pool.sole")) == 1 {
            // "pool.offer": takes the place of "pool.init", and pairs with "pool.share" likewise.
            references.store(OFFERED | 1, order!(Release, "pool.offer"));
        } else {
            // "pool.mark": an exchange, so that "pool.share" reads on from "pool.init".
            references.fetch_or(OFFERED, order!(Relaxed, "pool.mark"));
        }
        index
    }

    /// A reference to the message in slot `index`, if that one is on offer.
    ///
    /// It may be another message than the caller expects, if the expected one is gone and its slot
    /// was filled anew. All that happened before that is visible to the caller then, also if there
    /// is nothing on offer; so it can find out by looking once more where it found the index.
    ///
    /// # Safety
    /// `index` came from `offer` on this pool, and that happened before this call.
    #[inline]
    pub(crate) unsafe fn try_share(&self, index: u32) -> Option<Shared<T>> {
        let slot = self.slots().slot(index);
        // SAFETY: slots live as long as the pool.
        let references = unsafe { &slot.as_ref().references };
        let mut seen = OFFERED | 1; // a guess, which saves a look: nobody else reads it now
        loop {
            // "pool.share" and "pool.gone": pair with "pool.offer", "pool.init" and "pool.drop".
            let raised = references.compare_exchange_weak(
                seen,
                seen + 1,
                order!(Acquire, "pool.share"),
                order!(Acquire, "pool.gone"),
            );
            match raised {
                Ok(_) => return Some(Shared { slot }),
                Err(found) if found <= OFFERED => return None,
                Err(found) => seen = found,
            }
            assert!(seen < u32::MAX - (1 << 16), "too many references to one message");
        }
    }

    /// Turns an index from [`release`](Self::release) back into the reference it stands for.
    ///
    /// # Safety
    /// `index` came from `release` on this pool, each of them is adopted once, and the release
    /// happens before the adoption.
    #[inline]
    pub(crate) unsafe fn adopt(&self, index: u32) -> Shared<T> {
        Shared { slot: self.slots().slot(index) }
    }
}

impl<T> Slots<T> {
    #[inline]
    fn slot(&self, index: u32) -> NonNull<Slot<T>> {
        let (segment, offset) = locate(index);
        // "pool.locate": whoever holds an index already acquired the segment that it lies in.
        let first = self.segments[segment].load(order!(Relaxed, "pool.locate"));
        // SAFETY: an index is only handed out after its segment was stored.
        unsafe { NonNull::new_unchecked(first.add(offset)) }
    }

    #[inline]
    fn pop_free(&self) -> Option<NonNull<Slot<T>>> {
        // "pool.look" and "pool.relook" pair with "pool.free": they acquire the first slot's `next`
        // and its segment, and what the slot's last reader did.
        let mut head = Word::from_bits(self.free.load(order!(Acquire, "pool.look")));
        loop {
            if head.is_empty() {
                return None;
            }
            let slot = self.slot(head.value());
            // SAFETY: slots live as long as the pool. If the slot was taken meanwhile, `next` may
            // be out of date, but then the tag has changed and the exchange fails.
            let next = unsafe { slot.as_ref() }.next.load(order!(Relaxed, "pool.next"));
            let removed = Word::new((head.tag() + 1) & TAG_MASK, next);
            // "pool.take": nothing is left to acquire. What this replaces is the very word that
            // was looked at, for the tag lets no word come twice.
            match self.free.compare_exchange_weak(
                head.bits(),
                removed.bits(),
                order!(Relaxed, "pool.take"),
                order!(Acquire, "pool.relook"),
            ) {
                Ok(_) => return Some(slot),
                Err(found) => head = Word::from_bits(found),
            }
        }
    }

    /// Puts the chain of slots from `first` to `last` back; false once the list is closed.
    ///
    /// By pointer, not by reference: once the chain is back, another thread may free everything.
    ///
    /// # Safety
    /// The caller owns the chain, and nobody frees `slots` before it is back.
    #[inline]
    unsafe fn push_free(slots: NonNull<Self>, first: u32, last: u32) -> bool {
        // SAFETY: by the contract the slots live at least until the exchange below.
        let slots = unsafe { slots.as_ref() };
        // SAFETY: the caller owns the chain, so its slots exist.
        let last = unsafe { slots.slot(last).as_ref() };
        let mut head = slots.free.load(order!(Relaxed, "pool.retry"));
        loop {
            if head == CLOSED {
                return false;
            }
            let found = Word::from_bits(head);
            last.next.store(found.value(), order!(Relaxed, "pool.next"));
            let added = Word::new(found.tag(), first);
            // "pool.free": pairs with "pool.look", "pool.relook" and "pool.close".
            match slots.free.compare_exchange_weak(
                head,
                added.bits(),
                order!(Release, "pool.free"),
                order!(Relaxed, "pool.retry"),
            ) {
                Ok(_) => return true,
                Err(found) => head = found,
            }
        }
    }

    /// Frees the slots.
    ///
    /// # Safety
    /// The pool is closed, no message is outstanding, and the caller is the one that learnt so.
    unsafe fn destroy(slots: NonNull<Self>) {
        // SAFETY: by the contract nobody else can reach the slots; they came from a leaked box.
        let slots = unsafe { Box::from_raw(slots.as_ptr()) };
        for (segment, first) in slots.segments.iter().enumerate() {
            let first = first.load(order!(Relaxed, "pool.locate"));
            if !first.is_null() {
                let all = ptr::slice_from_raw_parts_mut(first, FIRST_SEGMENT << segment);
                // SAFETY: this is the box that `grow` leaked. What is kept in it is dropped with
                // it.
                let all = unsafe { Box::from_raw(all) };
                // Compiles to nothing; in the models it proves that all use is over.
                all.iter().for_each(|slot| slot.message.with_mut(|_| ()));
            }
        }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: this handle was keeping the slots alive.
        let slots = unsafe { self.slots.as_ref() };
        // From here on a released slot is counted instead of listed. "pool.close": pairs with
        // "pool.free", to follow the list; who finds it closed acquires from "pool.settle".
        let mut next = Word::from_bits(slots.free.swap(CLOSED, order!(Acquire, "pool.close")));
        let segments = *slots.growth.lock().expect("growing a pool does not panic");
        let mut out = slots_before(segments) as i64;
        while !next.is_empty() {
            out -= 1;
            // SAFETY: a listed slot exists, and the list was closed.
            let slot = unsafe { slots.slot(next.value()).as_ref() };
            next = Word::new(0, slot.next.load(order!(Relaxed, "pool.next")));
        }
        // "pool.settle" and "pool.last": whoever brings the balance to zero has acquired what all
        // others released when they let go.
        if slots.outstanding.fetch_add(out, order!(AcqRel, "pool.settle")) + out == 0 {
            // SAFETY: closed, and the balance says that nothing is outstanding.
            unsafe { Slots::destroy(self.slots) };
        }
    }
}

/// A message in a pool's slot, shared by reference count like an `Arc`.
///
/// Dropping the last one drops the message and returns the slot, even if the pool itself is gone.
pub struct Shared<T> {
    slot: NonNull<Slot<T>>,
}

// SAFETY: like `Arc`: any holder may read the message, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the reference keeps the slot alive and its message unchanged, and a slot that
        // somebody refers to holds a message.
        unsafe { self.slot.as_ref().message.with(|cell| (*cell).as_ref().unwrap_unchecked()) }
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: the reference keeps the slot alive.
        let references = unsafe { &self.slot.as_ref().references };
        // "pool.clone": a new reference comes from an existing one; no memory is handed over.
        let before = references.fetch_add(1, order!(Relaxed, "pool.clone"));
        assert!(before & !OFFERED < OFFERED / 2, "too many references to one message");
        Self { slot: self.slot }
    }
}

impl<T> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference keeps the slot alive.
        let slot = unsafe { self.slot.as_ref() };
        // "pool.drop": releases this holder's reads to the holder that drops the message, which
        // acquires them by the load below (a load instead of a fence: ThreadSanitizer sees it).
        // "pool.alone": a sole holder needs no count. This holds because a reference only ever
        // comes from an existing one: nobody can raise the count of a message that they do not
        // hold, unless it is `OFFERED`, and then the count is not 1.
        if slot.references.load(order!(Acquire, "pool.alone")) != 1 {
            let before = slot.references.fetch_sub(1, order!(Release, "pool.drop"));
            if before & !OFFERED != 1 {
                return;
            }
            slot.references.load(order!(Acquire, "pool.dead"));
        }
        let _give_back = GiveBack(self.slot);
        if slot.keep.load(order!(Relaxed, "pool.keep")) == 0 {
            // SAFETY: this was the last reference, so the message is ours to drop.
            drop(slot.message.with_mut(|cell| unsafe { (*cell).take() }));
        }
    }
}

/// Returns a slot that belongs to its holder alone when it goes, even by a panic.
struct GiveBack<T>(NonNull<Slot<T>>);

impl<T> Drop for GiveBack<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the slot has no other holder.
        unsafe { Slot::give_back(self.0) };
    }
}

/// A message that nobody else sees yet.
///
/// Dropping it returns it to its pool unshared.
pub struct Loan<T>(Shared<T>);

impl<T> Loan<T> {
    /// Makes the message immutable and shareable.
    #[inline]
    pub fn share(self) -> Shared<T> {
        self.0
    }
}

impl<T> std::ops::Deref for Loan<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> std::ops::DerefMut for Loan<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: a loan is the only reference to its slot, which therefore holds a message and is
        // neither read nor freed by anyone else.
        unsafe {
            let cell = &self.0.slot.as_ref().message;
            cell.with_mut(|cell| (*cell).as_mut().unwrap_unchecked())
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Loan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Slot<T> {
    /// Starts the count of a message's references. The caller owns the slot.
    #[inline]
    fn count_first(&self) {
        // "pool.init": pairs with "pool.share" and "pool.gone". Whoever learns of the message from
        // a queue needs nothing from here: the queue releases the index.
        self.references.store(1, order!(Release, "pool.init"));
    }

    /// Returns the slot to its pool. By pointer, not by reference: the slot may be freed here.
    ///
    /// # Safety
    /// The slot has no holder but the caller, and no message unless it is kept.
    #[inline]
    unsafe fn give_back(slot: NonNull<Self>) {
        // SAFETY: the slot is still ours.
        let (pool, index) = unsafe { (slot.as_ref().pool, slot.as_ref().index) };
        // SAFETY: as above; the slots outlive their last outstanding message, this one or later.
        if unsafe { Slots::push_free(pool, index, index) } {
            return;
        }
        // SAFETY: the list was closed, so the slots wait for the balance below.
        let slots = unsafe { pool.as_ref() };
        // "pool.last": see the handle's drop.
        if slots.outstanding.fetch_sub(1, order!(AcqRel, "pool.last")) == 1 {
            // SAFETY: closed, and the balance says that nothing is outstanding.
            unsafe { Slots::destroy(pool) };
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;

    #[test]
    fn indices_cover_the_segments_without_gap() {
        let mut expected = 0;
        for segment in 0..6 {
            assert_eq!(slots_before(segment), expected);
            for offset in 0..FIRST_SEGMENT << segment {
                assert_eq!(locate(expected as u32), (segment, offset));
                expected += 1;
            }
        }
    }

    #[test]
    fn slots_are_reused_and_growth_stops() {
        let pool = Pool::new();
        for n in 0..1000 {
            let held = [pool.insert(n), pool.insert(n + 1), pool.insert(n + 2)];
            assert_eq!(*held[1].clone(), n + 1);
        }
        assert_eq!(pool.capacity(), FIRST_SEGMENT);
        pool.reserve(30);
        assert_eq!(pool.capacity(), 60);
    }

    #[test]
    fn a_loan_comes_back_as_it_was_left_and_nothing_else_does() {
        let witness = Arc::new(());
        let pool = Pool::new();
        let mut loan = pool.loan(Vec::new);
        loan.extend([witness.clone(), witness.clone()]);
        let buffer = loan.as_ptr();
        let shared = loan.share();
        drop((shared.clone(), shared));
        let loan = pool.loan(Vec::new);
        assert_eq!((loan.as_ptr(), loan.len()), (buffer, 2), "kept");
        drop(loan);
        drop(pool.insert(vec![witness.clone()]));
        assert_eq!(
            Arc::strong_count(&witness),
            1,
            "an inserted message is dropped, and what it met"
        );
        assert!(pool.loan(Vec::new).is_empty());
    }

    #[test]
    fn what_is_kept_is_dropped_with_the_pool() {
        let witness = Arc::new(());
        let pool = Pool::new();
        drop(pool.loan(|| witness.clone()));
        assert_eq!(Arc::strong_count(&witness), 2);
        drop(pool);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn a_panicking_default_leaves_the_slot_free() {
        let pool = Pool::<u32>::new();
        for _ in 0..3 * FIRST_SEGMENT {
            let loan = || pool.loan(|| panic!("no default"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(loan)).is_err());
        }
        assert_eq!(pool.capacity(), FIRST_SEGMENT);
    }

    #[test]
    fn messages_outlive_their_pool() {
        let witness = Arc::new(());
        let pool = Pool::new();
        let kept: Vec<_> = (0..9).map(|_| pool.insert(witness.clone())).collect();
        drop(pool);
        assert_eq!(Arc::strong_count(&witness), 10);
        drop(kept);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn a_panicking_drop_still_returns_the_slot() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("a message that cannot be dropped");
            }
        }
        let pool = Pool::new();
        for _ in 0..3 * FIRST_SEGMENT {
            let bomb = pool.insert(Bomb);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(bomb)));
            assert!(result.is_err());
        }
        assert_eq!(pool.capacity(), FIRST_SEGMENT);
    }
}
