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
//! The slots themselves, and how a free one is found, are in `slots.rs`.

use crate::slots::{Handle, Slot, Slots};
use crate::sync::{Arc, order};
use std::ptr::NonNull;

/// Set in the reference count of a message that [`Pool::offer`] made open to everybody.
///
/// What a slot's count says, and who may change it:
///
/// | count | message | changed by |
/// |---|---|---|
/// | 1 to 2^30 | held by so many; or, at 1, perhaps gone since its only holder let go | holders |
/// | `OFFERED` and 1 or more | held by so many, entries of rings among them | anybody |
/// | `OFFERED` alone, 0 | gone | who takes the free slot |
///
/// So [`Pool::try_share`], which holds nothing, raises a count only in the second row, where there
/// is a message; a slot that is free, or filled but not offered, it leaves alone. That its message
/// may be another than the one it was sent for is found out by looking at the entry again. This
/// look cannot be out of date: every value in the table was stored by a release or by a
/// read-modify-write, and these go on with the release sequence of "pool.init" or "pool.offer". So
/// whoever reads the count of a later message, or that the slot is free, has acquired the
/// displacement of the earlier one. The shortcut in `Shared`'s drop, which takes a count of 1 for
/// its own, never meets an offered message: that one's count is not 1.
const OFFERED: u32 = 1 << 31;

/// A growing set of message slots. Clones are handles to the same pool.
pub struct Pool<T> {
    handle: Arc<Handle<T>>,
    /// Those of the handle, which costs one more look elsewhere.
    slots: NonNull<Slots<T>>,
}

// SAFETY: as for its handle, which keeps the slots alive.
unsafe impl<T: Send + Sync> Send for Pool<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Pool<T> {}

impl<T> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), slots: self.slots }
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

impl<T> Pool<T> {
    /// An empty pool; it allocates its first slots when they are needed or reserved.
    pub fn new() -> Self {
        let handle = Handle::new();
        let slots = handle.slots();
        Self { handle: Arc::new(handle), slots }
    }

    /// Makes room for `capacity` messages at once, so that no later insertion allocates before that
    /// many are in use.
    pub fn reserve(&self, capacity: usize) {
        while self.capacity() < capacity {
            self.handle.grow(self.capacity());
        }
    }

    /// How many slots exist, used or free.
    pub fn capacity(&self) -> usize {
        self.handle.capacity()
    }

    /// Adds the lines that an insertion touches.
    #[cfg(not(ringbuf_loom))]
    pub fn add_to(&self, lines: &mut crate::lines::Lines) {
        self.slots().add_to(lines);
    }

    #[inline]
    fn slots(&self) -> &Slots<T> {
        // SAFETY: the handle keeps the slots alive.
        unsafe { self.slots.as_ref() }
    }

    /// Moves `message` into a free slot.
    ///
    /// # Panics
    /// If 2^24 messages of this pool are in use, or a message kept from an earlier loan panics when
    /// it is dropped.
    #[inline]
    pub fn insert(&self, message: T) -> Shared<T> {
        let slot = self.slots().take(&self.handle);
        // SAFETY: a slot taken from the free list belongs to this call alone.
        let slot_ref = unsafe { slot.as_ref() };
        slot_ref.keep.store(0, order!(Relaxed, "pool.keep"));
        // SAFETY: as above, nobody else reads or writes the cell.
        let kept = slot_ref.message.with_mut(|cell| match unsafe { &mut *cell } {
            // Not `replace`, which copies the nothing, too: as many bytes as a message has.
            none @ None => {
                *none = Some(message);
                None
            }
            Some(kept) => Some(std::mem::replace(kept, message)),
        });
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
        let reserved = GiveBack(self.slots().take(&self.handle));
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

    /// Gives up `message` and returns its index, which now stands for the reference.
    ///
    /// # Panics
    /// If `message` belongs to another pool.
    #[inline]
    pub(crate) fn release(&self, message: Shared<T>) -> u32 {
        // SAFETY: a reference keeps its slot valid.
        let slot = unsafe { message.slot.as_ref() };
        assert!(slot.is_of(self.slots), "the message belongs to another pool");
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
        // "pool.sole": only a holder raises a count that is not `OFFERED`, so a 1 is ours to
        // change.
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

    /// As [`adopt`](Self::adopt), for a holder who remembers the pool's `first` slot.
    ///
    /// # Safety
    /// As for [`adopt`](Self::adopt); and `first` is used with this pool only, empty at first.
    #[inline]
    pub(crate) unsafe fn adopt_near(
        &self,
        index: u32,
        first: &mut Option<NonNull<Slot<T>>>,
    ) -> Shared<T> {
        Shared { slot: self.slots().slot_near(index, first) }
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
        if before & !OFFERED >= OFFERED / 2 {
            // Taken back, so that no number of caught panics counts up to `OFFERED`.
            references.fetch_sub(1, order!(Relaxed, "pool.clone"));
            panic!("too many references to one message");
        }
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
}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use crate::slots::FIRST_SEGMENT;

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

    #[test]
    fn a_clone_too_many_panics_and_does_not_count() {
        let pool = Pool::new();
        let message = pool.insert(1);
        // SAFETY: the message keeps its slot alive.
        let references = || unsafe { &message.slot.as_ref().references };
        for base in [0, OFFERED] {
            references().store(base | (OFFERED / 2), crate::sync::Ordering::Relaxed);
            for _ in 0..3 {
                let clone = std::panic::AssertUnwindSafe(|| message.clone());
                assert!(std::panic::catch_unwind(clone).is_err());
            }
            let count = references().swap(1, crate::sync::Ordering::Relaxed);
            assert_eq!(count, base | (OFFERED / 2));
        }
    }
}
