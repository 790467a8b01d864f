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

/// The bits of a reference count that count. A near slot that is free has `FREE` instead, which no
/// number of references reaches, and `ORPHANED` is set in near slots once the pool's last handle is
/// dropped (`slots.rs`).
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

    /// Lends a message to be filled in place and then [shared](Loan::share). It holds the last
    /// loaned message of its slot, or else `default()`: buffers keep their capacity, and nothing is
    /// allocated in the steady state. Makes room if there is none.
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
            // SAFETY: the message moves from the box to the cell. The rest of the box is its
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

/// A slot with an index from [`Pool::release`].
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
/// Dropping the last one drops the message and returns the slot, even after the drop of the pool.
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
        // comes from an existing one: only a holder can raise the count of a message.
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
        // "pool.init": nothing to release: a thread learns of the message from a queue, which
        // releases the index.
        self.references.store(1, order!(Relaxed, "pool.init"));
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
mod tests;
