//! Messages in reused slots, shared by reference count and named by a small index.
//!
//! Publishing moves a message into a slot of its topic's pool; every subscription's queue then
//! holds the slot's 24-bit index, and the last reader to let go returns the slot. In the steady
//! state nothing is allocated. [`Pool::reserve`] makes room, about twice as much as before; it is
//! the only operation here that takes a lock. [`Pool::try_insert`] is content with the room that
//! there is; [`Pool::insert`] makes more if it has to.
//!
//! Slots are allocated without messages, and a message is written into its slot where it is. So its
//! size is limited by the stack of its maker only; [`Pool::try_loan_boxed`] copies it from the
//! heap.
//!
//! # Progress
//! * [`Pool::try_insert`], [`Pool::try_loan`]: lock-free.
//! * [`Pool::insert`], [`Pool::loan`], [`Pool::reserve`]: lock-free but for the allocator, which
//!   they call when no slot is free. If the thread that makes the pool larger is suspended, another
//!   one that finds no slot makes it larger again.
//! * Cloning and dropping a [`Shared`]: wait-free; dropping the last one is lock-free.
//!
//! The slots themselves, and how a free one is found, are in `slots.rs`.

use crate::drops::drop_value;
use crate::slots::{FREE, Handle, Slot, Slots};
use crate::sync::{Arc, order};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

/// Set in the reference count of a message that [`Pool::offer`] made open to all threads.
///
/// The meaning of a slot's count, and the threads that may change it:
///
/// | count | message | changed by |
/// |---|---|---|
/// | 1 to 2^29 | held by so many; or, at 1, perhaps gone since its only holder let go | holders |
/// | `OFFERED` and 1 or more | held by so many, entries of rings among them | any thread |
/// | `OFFERED` alone, 0, `FREE` | gone | the thread that takes the free slot |
///
/// A near slot that is free has `FREE`, and no other slot has. `ORPHANED` is set in all near slots
/// when the pool's last handle goes; nothing is offered then.
///
/// So [`Pool::try_share`], which holds nothing, raises a count only in the second row, where there
/// is a message; a slot that is free, or filled but not offered, it leaves alone. That its message
/// may be another than the one it was sent for is found out by looking at the entry again. This
/// look cannot be out of date: every value in the table was stored by a release or by a
/// read-modify-write, and these go on with the release sequence of "pool.init" or "pool.offer". So
/// a thread that reads the count of a later message, or that the slot is free, has acquired the
/// displacement of the earlier one. The shortcut in `Shared`'s drop, which takes a count of 1 for
/// its own, never meets an offered message: that one's count is not 1.
const OFFERED: u32 = 1 << 31;

/// The bits of a reference count that count.
const HOLDERS: u32 = FREE - 1;

/// A growing set of message slots. Clones are handles to the same pool.
pub struct Pool<T> {
    handle: Arc<Handle<T>>,
    /// The slots of the handle; saves a pointer indirection.
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

    /// Makes room for `capacity` messages at once, 2^24 - 4 at most, so that no later insertion
    /// allocates before that many are in use.
    pub fn reserve(&self, capacity: usize) {
        while self.capacity() < capacity {
            if !self.handle.grow(self.capacity()) {
                return;
            }
        }
    }

    /// How many slots exist, used or free.
    pub fn capacity(&self) -> usize {
        self.handle.capacity()
    }

    /// Adds the lines that an insertion touches.
    #[cfg(not(ringbuf_loom))]
    pub fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        self.slots().add_to(lines);
    }

    #[inline]
    fn slots(&self) -> &Slots<T> {
        // SAFETY: the handle keeps the slots alive.
        unsafe { self.slots.as_ref() }
    }

    /// Moves `message` into a free slot; makes room if there is none.
    ///
    /// # Panics
    /// If 2^24 messages of this pool are in use, or a message kept from an earlier loan panics when
    /// it is dropped.
    #[inline]
    pub fn insert(&self, message: T) -> Shared<T> {
        Self::fill(self.slots().take(&self.handle), message).share()
    }

    /// Moves `message` into a free slot, if there is one. Lock-free.
    ///
    /// # Errors
    /// Hands the message back if every slot is in use.
    ///
    /// # Panics
    /// If a message kept from an earlier loan panics when it is dropped.
    ///
    /// ```
    /// let pool = ringspin_ringbuf::Pool::new();
    /// assert!(pool.try_insert(0).is_err(), "a new pool has no slots");
    /// pool.reserve(2);
    /// let held: Vec<_> = (0..pool.capacity()).map_while(|n| pool.try_insert(n).ok()).collect();
    /// assert_eq!(pool.try_insert(7).unwrap_err(), 7);
    /// drop(held);
    /// assert_eq!(*pool.try_insert(7).unwrap().share(), 7);
    /// ```
    #[inline]
    pub fn try_insert(&self, message: T) -> Result<Loan<T>, T> {
        match self.slots().try_take() {
            Some(slot) => Ok(Self::fill(slot, message)),
            None => Err(message),
        }
    }

    /// Writes `message` into `slot`, which was taken from the free list.
    #[inline]
    fn fill(slot: NonNull<Slot<T>>, message: T) -> Loan<T> {
        let taken = GiveBack(slot);
        // SAFETY: a slot taken from the free list belongs to this call alone.
        let slot = unsafe { taken.0.as_ref() };
        slot.drop_kept();
        // SAFETY: as above, nothing else reads or writes the cell.
        slot.message.with_mut(|cell| unsafe { _ = (*cell).write(message) });
        taken.lend()
    }

    /// Lends a message to be filled in place and then [shared](Loan::share). It holds what the last
    /// loaned message in its slot was left with, or else `default()`: buffers keep their capacity,
    /// and nothing is allocated in the steady state. Makes room if there is none.
    ///
    /// # Panics
    /// If 2^24 messages of this pool are in use.
    #[inline]
    pub fn loan(&self, default: impl FnOnce() -> T) -> Loan<T> {
        let slot = self.slots().take(&self.handle);
        let lent = Self::lend(slot, |cell| Some(cell.write(default())));
        lent.expect("there is always a default")
    }

    /// Lends a message as [`loan`](Self::loan) does, if there is a free slot. Lock-free.
    #[inline]
    pub fn try_loan(&self, default: impl FnOnce() -> T) -> Option<Loan<T>> {
        Self::lend(self.slots().try_take()?, |cell| Some(cell.write(default())))
    }

    /// Lends a message as [`try_loan`](Self::try_loan) does, for messages that are too large for
    /// the stack: the default one is copied from the heap. There is no loan if `default` has none.
    pub fn try_loan_boxed(&self, default: impl FnOnce() -> Option<Box<T>>) -> Option<Loan<T>> {
        let slot = self.slots().try_take()?;
        Self::lend(slot, |cell| {
            let message = Box::into_raw(default()?);
            // SAFETY: the message moves from the box to the cell. What is left of the box is its
            // memory: `ManuallyDrop` has the layout of its content.
            unsafe {
                ptr::copy_nonoverlapping(message, cell.as_mut_ptr(), 1);
                drop(Box::from_raw(message.cast::<ManuallyDrop<T>>()));
                Some(cell.assume_init_mut())
            }
        })
    }

    /// Whether `loan` is from this pool.
    pub fn is_owner_of(&self, loan: &Loan<T>) -> bool {
        // SAFETY: a loan keeps its slot valid.
        unsafe { loan.0.slot.as_ref() }.is_of(self.slots)
    }

    /// Lends the message in `slot`, which was taken from the free list. If none is kept there,
    /// `init` writes one.
    #[inline]
    fn lend(
        slot: NonNull<Slot<T>>,
        init: impl FnOnce(&mut MaybeUninit<T>) -> Option<&mut T>,
    ) -> Option<Loan<T>> {
        let taken = GiveBack(slot);
        // SAFETY: a slot taken from the free list belongs to this call alone.
        let slot = unsafe { taken.0.as_ref() };
        if slot.keep.load(order!(Relaxed, "pool.keep")) == 0 {
            // SAFETY: as above, nothing else reads or writes the cell.
            slot.message.with_mut(|cell| init(unsafe { &mut *cell }).map(|_| ()))?;
            slot.keep.store(1, order!(Relaxed, "pool.keep"));
        }
        Some(taken.lend())
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

    /// Returns the index as [`release`](Self::release) does; any thread may
    /// [`try_share`](Self::try_share) the message with it.
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
        let mut seen = OFFERED | 1; // a guess that saves a look: one ring, no reader
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
            let is_countable = seen & HOLDERS < HOLDERS - (1 << 16);
            assert!(is_countable, "too many references to one message");
        }
    }

    /// Slot `index`, for a holder that remembers the pool's `first` slot, which is used with this
    /// pool only, and empty at first.
    #[inline]
    pub(crate) fn near(&self, index: u32, first: &mut Option<NonNull<Slot<T>>>) -> Released<T> {
        Released(self.slots().slot_near(index, first))
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

/// A slot whose index came from [`Pool::release`].
pub(crate) struct Released<T>(NonNull<Slot<T>>);

impl<T> Released<T> {
    /// Starts to fetch the cache line of the slot.
    #[inline]
    pub(crate) fn fetch(&self) {
        #[cfg(not(ringbuf_loom))]
        crate::prefetch::fetch(self.0.addr().get());
    }

    /// Takes over the reference as [`Pool::adopt`] does.
    ///
    /// # Safety
    /// The conditions of [`Pool::adopt`].
    #[inline]
    pub(crate) unsafe fn adopt(self) -> Shared<T> {
        Shared { slot: self.0 }
    }
}

/// A message in a pool's slot, shared by reference count like an `Arc`.
///
/// Dropping the last one drops the message and returns the slot, even if the pool itself is gone.
pub struct Shared<T> {
    slot: NonNull<Slot<T>>,
}

impl<T> Shared<T> {
    /// The number of the message's slot in its pool, from zero. No other message has it as long as
    /// this one is held. Numbers below the pool's [capacity](Pool::capacity) are used.
    #[inline]
    pub fn slot_index(&self) -> usize {
        // SAFETY: the reference keeps the slot alive.
        unsafe { self.slot.as_ref() }.index as usize
    }
}

// SAFETY: like `Arc`: any holder may read the message, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the reference keeps the slot alive and its message unchanged, and a slot with
        // references holds a message.
        unsafe { self.slot.as_ref().message.with(|cell| (*cell).assume_init_ref()) }
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: the reference keeps the slot alive.
        let references = unsafe { &self.slot.as_ref().references };
        // "pool.clone": a new reference comes from an existing one; no memory is handed over.
        let before = references.fetch_add(1, order!(Relaxed, "pool.clone"));
        if before & HOLDERS >= HOLDERS / 2 {
            // Taken back, so that no number of caught panics counts up to `FREE`.
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
        // comes from an existing one: only a holder can raise the count of a message, unless it is
        // `OFFERED`, and then the count is not 1.
        if slot.references.load(order!(Acquire, "pool.alone")) != 1 {
            let before = slot.references.fetch_sub(1, order!(Release, "pool.drop"));
            if before & HOLDERS != 1 {
                return;
            }
            slot.references.load(order!(Acquire, "pool.dead"));
        }
        let _give_back = GiveBack(self.slot);
        if slot.keep.load(order!(Relaxed, "pool.keep")) == 0 {
            // SAFETY: this was the last reference, so the message is ours to drop.
            slot.message.with_mut(|cell| unsafe { drop_value((*cell).as_mut_ptr()) });
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

impl<T> GiveBack<T> {
    /// Keeps the slot, which holds a message, for its first holder.
    #[inline]
    fn lend(self) -> Loan<T> {
        let slot = self.0;
        std::mem::forget(self);
        // SAFETY: the slot is the caller's.
        unsafe { slot.as_ref() }.count_first();
        Loan(Shared { slot })
    }
}

/// A message that only its holder sees yet.
///
/// Dropping it returns it to its pool unshared.
pub struct Loan<T>(Shared<T>);

impl<T> Loan<T> {
    /// Moves the message out, and returns the slot to its pool.
    pub fn into_inner(self) -> T {
        let slot = self.0.slot;
        std::mem::forget(self);
        let _give_back = GiveBack(slot);
        // SAFETY: a loan is the only holder of its slot, which holds a message until it is read
        // here. From then on it is no message to keep.
        unsafe {
            slot.as_ref().keep.store(0, order!(Relaxed, "pool.keep"));
            slot.as_ref().message.with(|cell| (*cell).assume_init_read())
        }
    }

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
            cell.with_mut(|cell| (*cell).assume_init_mut())
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
        // "pool.init": pairs with "pool.share" and "pool.gone". A thread that learns of the
        // message from a queue needs nothing from here: the queue releases the index.
        self.references.store(1, order!(Release, "pool.init"));
    }

    /// Drops the message that was kept for a loan. The caller owns the slot.
    #[inline]
    fn drop_kept(&self) {
        if self.keep.load(order!(Relaxed, "pool.keep")) == 1 {
            self.keep.store(0, order!(Relaxed, "pool.keep"));
            // SAFETY: a slot that keeps its message holds one, and belongs to the caller.
            self.message.with_mut(|cell| unsafe { drop_value((*cell).as_mut_ptr()) });
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
    use crate::slots::{FIRST_SEGMENT, NEAR};

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
    fn loan_keeps_its_content_until_the_next_loan_of_its_slot() {
        let witness = Arc::new(());
        let pool = Pool::new();
        let mut loan = pool.loan(Vec::new);
        loan.extend([witness.clone(), witness.clone()]);
        let buffer = loan.as_ptr();
        let shared = loan.share();
        drop((shared.clone(), shared));
        (1..NEAR).for_each(|_| assert!(pool.loan(Vec::new).is_empty()));
        let loan = pool.loan(Vec::new);
        assert_eq!((loan.as_ptr(), loan.len()), (buffer, 2), "kept");
        drop(loan);
        (0..NEAR).for_each(|_| drop(pool.insert(vec![witness.clone()])));
        assert_eq!(
            Arc::strong_count(&witness),
            1,
            "an inserted message is dropped, and what it met"
        );
        assert!(pool.loan(Vec::new).is_empty());
    }

    #[test]
    fn kept_messages_are_dropped_with_the_pool() {
        let witness = Arc::new(());
        let pool = Pool::new();
        drop(pool.loan(|| witness.clone()));
        assert_eq!(Arc::strong_count(&witness), 2);
        drop(pool);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn panicking_default_leaves_the_slot_free() {
        let pool = Pool::<u32>::new();
        for _ in 0..3 * FIRST_SEGMENT {
            let loan = || pool.loan(|| panic!("no default"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(loan)).is_err());
        }
        assert_eq!(pool.capacity(), FIRST_SEGMENT);
    }

    #[test]
    fn full_pool_hands_messages_back_and_does_not_grow() {
        let witness = Arc::new(());
        let pool = Pool::new();
        pool.reserve(5);
        assert_eq!(pool.capacity(), 12);
        let mut held: Vec<_> =
            (0..12).map(|_| pool.try_insert(witness.clone()).unwrap().share()).collect();
        for _ in 0..3 {
            assert!(pool.try_insert(witness.clone()).is_err());
            assert!(pool.try_loan(|| witness.clone()).is_none());
            assert!(pool.try_loan_boxed(|| Some(Box::new(witness.clone()))).is_none());
            assert_eq!((pool.capacity(), Arc::strong_count(&witness)), (12, 13));
            held.pop();
            held.push(pool.try_insert(witness.clone()).unwrap().share());
        }
    }

    #[test]
    fn message_that_is_moved_out_is_not_kept() {
        let (witness, pool) = (Arc::new(()), Pool::new());
        for _ in 0..3 * FIRST_SEGMENT {
            let inner = pool.loan(|| witness.clone()).into_inner();
            assert_eq!(Arc::strong_count(&witness), 2);
            let moved = pool.insert(inner);
            assert_eq!(Arc::strong_count(&witness), 2);
            drop(moved);
            assert_eq!(Arc::strong_count(&witness), 1);
        }
        assert_eq!(pool.capacity(), FIRST_SEGMENT);
    }

    #[test]
    fn boxed_default_is_moved_once_and_kept() {
        let witness = Arc::new(());
        let pool = Pool::new();
        pool.reserve(1);
        let mut loan = pool.try_loan_boxed(|| Some(Box::new((1, witness.clone())))).unwrap();
        (*loan).0 = 2;
        drop(loan.share());
        assert_eq!(Arc::strong_count(&witness), 2, "kept");
        (1..NEAR).for_each(|_| assert!(pool.try_loan_boxed(|| None).is_none()));
        assert_eq!((*pool.try_loan_boxed(|| unreachable!("there is one")).unwrap()).0, 2);
        drop(pool);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    /// A thread with less stack than a message is large.
    #[test]
    fn large_messages_need_stack_only_where_they_are_made() {
        const BYTES: usize = 8 << 20;
        let fill = || {
            let pool = Pool::<[u8; BYTES]>::new();
            pool.reserve(5);
            let zeroed = || vec![0; BYTES].into_boxed_slice().try_into().ok();
            let mut loan = pool.try_loan_boxed(zeroed).unwrap();
            loan[BYTES - 1] = 7;
            let shared = loan.share();
            assert_eq!(shared.clone()[BYTES - 1], 7);
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(fill);
        thread.unwrap().join().unwrap();
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
    fn panicking_drop_returns_the_slot() {
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
    fn clone_beyond_the_maximum_panics_and_is_not_counted() {
        let pool = Pool::new();
        let message = pool.insert(1);
        // SAFETY: the message keeps its slot alive.
        let references = || unsafe { &message.slot.as_ref().references };
        for base in [0, OFFERED] {
            references().store(base | (HOLDERS / 2 + 1), crate::sync::Ordering::Relaxed);
            for _ in 0..3 {
                let clone = std::panic::AssertUnwindSafe(|| message.clone());
                assert!(std::panic::catch_unwind(clone).is_err());
            }
            let count = references().swap(1, crate::sync::Ordering::Relaxed);
            assert_eq!(count, base | (HOLDERS / 2 + 1));
        }
    }
}
