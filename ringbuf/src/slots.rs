//! The memory under a [pool](crate::pool): slots in segments, and the list of the free ones.
//!
//! The first two slots, the *near* ones, are taken and given back in place: their reference count
//! says that they are free. A publisher takes them in turn, so that it finds one that was given
//! back long ago, and exchanges one cache line, which it is going to write anyway. Publishers that
//! find theirs in use, because messages pile up, take one from a list, and look before they try the
//! next time.
//!
//! The other free slots form that list, a stack (Treiber 1986). Its head carries a 39-bit tag that
//! grows with each removal, so that a slot which left and came back in between is not taken for
//! unchanged. Segments double in size and never move, so a slot's address is valid as long as the
//! pool or any of its messages lives.

use crate::drops::drop_value;
use crate::ready::{EMPTY, Word};
use crate::sync::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, LeakCheck, UnsafeCell, order, step};
use crossbeam_utils::CachePadded;
use std::alloc::{Layout, alloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Segment `k` holds `FIRST_SEGMENT << k` slots.
pub(crate) const FIRST_SEGMENT: usize = 4;
const SEGMENTS: usize = 22;

/// The slots that are taken in place: one for a message that is being read, and one for the next.
/// More would cost memory and cache. Fewer in the models, so that they reach the list.
pub(crate) const NEAR: usize = if cfg!(ringbuf_loom) { 1 } else { 2 };

/// How many bytes of a slot are fetched ahead: its header, and a small message. The processor sees
/// by itself that a large one is written from front to end.
#[cfg(not(ringbuf_loom))]
const FETCHED_BYTES: usize = 256;

/// In the reference count of a near slot: the slot is free.
pub(crate) const FREE: u32 = 1 << 29;
/// In the reference count of a near slot: the last pool handle is dropped.
pub(crate) const ORPHANED: u32 = 1 << 30;

/// The value that closes the free list: an index that no slot has.
const END: u32 = EMPTY;
/// The head of the free list once the last pool handle is dropped.
const CLOSED: u64 = u64::MAX;
/// Tags stay below the one in `CLOSED`.
const TAG_MASK: u64 = (1 << 39) - 1;

/// Owns the slots on behalf of all clones of a pool; outstanding messages may outlive it.
pub(crate) struct Handle<T> {
    slots: NonNull<Slots<T>>,
}

pub(crate) struct Slots<T> {
    free: CachePadded<Free<T>>,
    /// In order: a segment is added when all before it exist.
    segments: [AtomicPtr<Slot<T>>; SEGMENTS],
    /// Used once the free list is closed: how many slots are still out.
    outstanding: AtomicI64,
    _leak_check: LeakCheck,
}

/// The state that taking a slot needs, on one cache line, which only publishers write as long as
/// the near slots suffice.
struct Free<T> {
    /// The near slot in turn; a hint, modulo their number.
    turn: AtomicU32,
    /// Whether the near slot tried last was in use; a hint.
    missed: AtomicU32,
    /// The near slots: the beginning of the first segment.
    near: AtomicPtr<Slot<T>>,
    /// The free list: tag and index of its first slot.
    head: AtomicU64,
}

/// On separate cache lines: a slot travels between cores without its neighbours.
#[repr(align(64))]
pub(crate) struct Slot<T> {
    pool: NonNull<Slots<T>>,
    pub(crate) index: u32,
    /// How many `Shared` and queue entries refer to the message, and flags.
    pub(crate) references: AtomicU32,
    /// The next free slot, while this one is free.
    next: AtomicU32,
    /// Whether the message stays when its last reader goes, for the next loan; 0 or 1. In a free
    /// slot: whether it holds a message. Like the message, it belongs to the thread that took the
    /// slot or dropped the last reference.
    pub(crate) keep: AtomicU32,
    /// Initialised while the message has a holder, and while it is kept. (Not an `Option`: its
    /// constructor and its drop would move large messages over the stack.)
    pub(crate) message: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Drop for Slot<T> {
    /// The place is that of a free slot.
    fn drop(&mut self) {
        // As "pool.keep": the thread that frees the slots has acquired all others' past.
        if self.keep.load(order!(Relaxed, "pool.keep")) == 1 {
            // SAFETY: a slot that is kept holds a message.
            self.message.with_mut(|message| unsafe { drop_value((*message).as_mut_ptr()) });
        }
    }
}

// SAFETY: a pool hands each message to one owner at a time until it is shared, and shares it only
// by `Shared`, which has stricter bounds; all bookkeeping is atomic.
unsafe impl<T: Send + Sync> Send for Handle<T> {}
// SAFETY: as above; every method of the pool takes `&self` and synchronises by the free list.
unsafe impl<T: Send + Sync> Sync for Handle<T> {}

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

impl<T> Handle<T> {
    pub(crate) fn new() -> Self {
        let slots = Box::new(Slots {
            free: CachePadded::new(Free {
                turn: AtomicU32::new(0),
                missed: AtomicU32::new(0),
                near: AtomicPtr::new(ptr::null_mut()),
                head: AtomicU64::new(Word::new(0, END).bits()),
            }),
            segments: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            outstanding: AtomicI64::new(0),
            _leak_check: LeakCheck::new(),
        });
        Self { slots: NonNull::from(Box::leak(slots)) }
    }

    pub(crate) fn slots(&self) -> NonNull<Slots<T>> {
        self.slots
    }

    /// How many slots exist, used or free.
    pub(crate) fn capacity(&self) -> usize {
        slots_before(self.slots_ref().segments())
    }

    fn slots_ref(&self) -> &Slots<T> {
        // SAFETY: the handle keeps the slots alive.
        unsafe { self.slots.as_ref() }
    }

    /// Adds a segment, unless there is more room than `seen` slots or a free slot by now. False if
    /// the pool is as large as it can get. Lock-free: while the thread that added a segment is
    /// suspended before its slots are free, others add the next one.
    #[cold]
    pub(crate) fn grow(&self, seen: usize) -> bool {
        let slots = self.slots_ref();
        let segment = slots.segments();
        let capacity = slots_before(segment);
        // "pool.glance": only a hint; a free slot is acquired when it is taken.
        let free = Word::from_bits(slots.free.head.load(order!(Relaxed, "pool.glance")));
        if (seen == 0 && !free.is_empty()) || (seen != 0 && capacity > seen) {
            return true;
        }
        if segment == SEGMENTS {
            return false;
        }
        let length = FIRST_SEGMENT << segment;
        let new = Slot::segment(self.slots, capacity as u32, length);
        // "pool.segment": released with the indices of the new slots by "pool.free".
        let added = slots.segments[segment].compare_exchange(
            ptr::null_mut(),
            new,
            order!(Relaxed, "pool.segment"),
            order!(Relaxed, "pool.segment"),
        );
        if added.is_err() {
            // SAFETY: the segment is new, and no other thread has seen it.
            drop(unsafe { Slot::take_segment(new, length) });
            return true;
        }
        step!("pool.grew");
        let listed = if segment == 0 { NEAR } else { capacity };
        if listed < capacity + length {
            // SAFETY: the new slots are ours, and the pool's handle keeps the list alive.
            unsafe {
                let last = slots.slot((capacity + length - 1) as u32);
                Slots::push_free(self.slots, listed as u32, last);
            }
        }
        if segment == 0 {
            // "pool.settle_near": pairs with "pool.near".
            slots.free.near.store(new, order!(Release, "pool.settle_near"));
        }
        true
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: this handle was keeping the slots alive.
        let slots = unsafe { self.slots.as_ref() };
        // From here on a released slot is counted instead of listed. "pool.close": pairs with
        // "pool.free", to follow the list; a thread that finds it closed acquires from
        // "pool.settle".
        let mut next = Word::from_bits(slots.free.head.swap(CLOSED, order!(Acquire, "pool.close")));
        let capacity = slots_before(slots.segments());
        let mut out = capacity as i64;
        for index in 0..capacity.min(NEAR) {
            // SAFETY: the slot exists.
            let references = unsafe { &slots.slot(index as u32).as_ref().references };
            // "pool.orphan": pairs with "pool.return".
            let before = references.fetch_or(ORPHANED, order!(Acquire, "pool.orphan"));
            out -= i64::from(before == FREE);
        }
        while !next.is_empty() {
            out -= 1;
            // SAFETY: a listed slot exists, and the list was closed.
            let slot = unsafe { slots.slot(next.value()).as_ref() };
            next = Word::new(0, slot.next.load(order!(Relaxed, "pool.next")));
        }
        // "pool.settle" and "pool.last": the thread that brings the balance to zero has acquired
        // the releases of all others.
        if slots.outstanding.fetch_add(out, order!(AcqRel, "pool.settle")) + out == 0 {
            // SAFETY: closed, and the balance says that nothing is outstanding.
            unsafe { Slots::destroy(self.slots) };
        }
    }
}

impl<T> Slots<T> {
    /// Slot `index`, which came from this pool.
    #[inline]
    pub(crate) fn slot(&self, index: u32) -> NonNull<Slot<T>> {
        let (segment, offset) = locate(index);
        // "pool.locate": the holder of an index has already acquired the segment of its slot.
        let first = self.segments[segment].load(order!(Relaxed, "pool.locate"));
        // SAFETY: an index is only handed out after its segment was stored.
        unsafe { NonNull::new_unchecked(first.add(offset)) }
    }

    /// Slot `index`, for a holder that remembers the `first` slot.
    #[inline]
    pub(crate) fn slot_near(
        &self,
        index: u32,
        first: &mut Option<NonNull<Slot<T>>>,
    ) -> NonNull<Slot<T>> {
        if index as usize >= FIRST_SEGMENT {
            return self.slot(index);
        }
        let first = *first.get_or_insert_with(|| self.slot(0));
        // SAFETY: it is the first segment, and the index lies in it.
        unsafe { first.add(index as usize) }
    }

    /// Adds the lines that taking and giving back slots touches, as long as one slot is enough: of
    /// a large message only the first ones.
    #[cfg(not(ringbuf_loom))]
    pub(crate) fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        lines.add(&*self.free);
        if self.segments() > 0 {
            let turn = self.free.turn.load(order!(Relaxed, "pool.turn"));
            // SAFETY: the first segment exists, and with it all near slots.
            lines.add_front(unsafe { self.slot(turn % NEAR as u32).as_ref() }, FETCHED_BYTES);
        }
    }

    /// How many segments exist; the answer may be out of date.
    fn segments(&self) -> usize {
        // "pool.glance": only a hint; the holder of an index has acquired its segment.
        let is_none =
            |first: &AtomicPtr<Slot<T>>| first.load(order!(Relaxed, "pool.glance")).is_null();
        self.segments.iter().position(is_none).unwrap_or(self.segments.len())
    }

    /// A free slot, which belongs to the caller alone; grows the pool by its handle if there is
    /// none.
    ///
    /// # Panics
    /// If the pool is as large as it can get, and has no free slot.
    #[inline]
    pub(crate) fn take(&self, handle: &Handle<T>) -> NonNull<Slot<T>> {
        loop {
            if let Some(slot) = self.try_take() {
                return slot;
            }
            assert!(handle.grow(0), "more than 2^24 messages of one pool are in use");
        }
    }

    /// A free slot, which belongs to the caller alone.
    #[inline]
    pub(crate) fn try_take(&self) -> Option<NonNull<Slot<T>>> {
        // "pool.near": pairs with "pool.settle_near"; acquires that the slots are initialised.
        let near = self.free.near.load(order!(Acquire, "pool.near"));
        let turn = self.free.turn.load(order!(Relaxed, "pool.turn"));
        let taken = self.take_near(near, turn).or_else(|| self.take_listed());
        taken.or_else(|| (1..NEAR as u32).find_map(|n| self.take_near(near, turn.wrapping_add(n))))
    }

    /// The near slot of this `turn`, if it is free.
    #[inline]
    #[allow(clippy::modulo_one, reason = "there is one near slot in the models")]
    fn take_near(&self, near: *mut Slot<T>, turn: u32) -> Option<NonNull<Slot<T>>> {
        let near = NonNull::new(near)?;
        self.free.turn.store(turn.wrapping_add(1), order!(Relaxed, "pool.turn"));
        // SAFETY: there are as many near slots, and they live as long as the pool.
        let slot = unsafe { near.add(turn as usize % NEAR) };
        // SAFETY: as above.
        let references = unsafe { &slot.as_ref().references };
        // An exchange without a look before fetches the cache line once instead of twice; but while
        // messages pile up, it would cost as much as one that succeeds.
        let missed = &self.free.missed;
        let has_missed = missed.load(order!(Relaxed, "pool.missed")) != 0;
        if has_missed && references.load(order!(Relaxed, "pool.retry")) != FREE {
            return None;
        }
        // "pool.claim": pairs with "pool.return"; acquires the work of the slot's last reader.
        let claimed = references.compare_exchange(
            FREE,
            1,
            order!(Acquire, "pool.claim"),
            order!(Relaxed, "pool.retry"),
        );
        if claimed.is_err() != has_missed {
            missed.store(claimed.is_err().into(), order!(Relaxed, "pool.missed"));
        }
        claimed.ok()?;
        #[cfg(not(ringbuf_loom))]
        {
            // The slot of the next message, given back by now, on this core in time.
            let next = near.as_ptr().wrapping_add(turn.wrapping_add(1) as usize % NEAR);
            crate::prefetch::fetch_to_write(next.addr());
        }
        Some(slot)
    }

    /// A free slot from the list, which belongs to the caller alone.
    #[inline]
    fn take_listed(&self) -> Option<NonNull<Slot<T>>> {
        // "pool.look" and "pool.relook" pair with "pool.free": they acquire the first slot's `next`
        // and its segment, and the work of the slot's last reader.
        let mut head = Word::from_bits(self.free.head.load(order!(Acquire, "pool.look")));
        loop {
            if head.is_empty() {
                return None;
            }
            let slot = self.slot(head.value());
            // SAFETY: slots live as long as the pool. If the slot was taken meanwhile, `next` may
            // be out of date, but then the tag has changed and the exchange fails.
            let next = unsafe { slot.as_ref() }.next.load(order!(Relaxed, "pool.next"));
            let removed = Word::new((head.tag() + 1) & TAG_MASK, next);
            // "pool.take": nothing is left to acquire. This replaces the very word that was looked
            // at, for the tag lets no word come twice.
            match self.free.head.compare_exchange_weak(
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
    /// The caller owns the chain, and `slots` is not freed before it is back.
    #[inline]
    unsafe fn push_free(slots: NonNull<Self>, first: u32, last: NonNull<Slot<T>>) -> bool {
        // SAFETY: by the contract the slots live at least until the exchange below.
        let slots = unsafe { slots.as_ref() };
        // SAFETY: the caller owns the chain, so its slots exist.
        let last = unsafe { last.as_ref() };
        let mut head = slots.free.head.load(order!(Relaxed, "pool.retry"));
        loop {
            if head == CLOSED {
                return false;
            }
            let found = Word::from_bits(head);
            last.next.store(found.value(), order!(Relaxed, "pool.next"));
            let added = Word::new(found.tag(), first);
            // "pool.free": pairs with "pool.look", "pool.relook" and "pool.close".
            match slots.free.head.compare_exchange_weak(
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
        // SAFETY: by the contract no other thread can reach the slots; they came from a leaked box.
        let slots = unsafe { Box::from_raw(slots.as_ptr()) };
        // Messages that are kept are dropped with it: as a `Vec`, so that all are, even if one
        // panics.
        let mut segments = Vec::new();
        for (segment, first) in slots.segments.iter().enumerate() {
            let first = first.load(order!(Relaxed, "pool.locate"));
            if !first.is_null() {
                // SAFETY: all slots are free.
                segments.push(unsafe { Slot::take_segment(first, FIRST_SEGMENT << segment) });
            }
        }
    }
}

impl<T> Slot<T> {
    /// Allocates `length` free slots without messages, numbered from `first`.
    ///
    /// They are written field by field, because a slot may be larger than the stack. The memory of
    /// the messages is not touched, and costs nothing until it is used.
    fn segment(pool: NonNull<Slots<T>>, first: u32, length: usize) -> *mut Self {
        let layout = Layout::array::<Self>(length).expect("the messages fit in the address space");
        // SAFETY: a slot has a size.
        let slots = unsafe { alloc(layout) }.cast::<Self>();
        if slots.is_null() {
            handle_alloc_error(layout);
        }
        for offset in 0..length {
            let index = first + offset as u32;
            // SAFETY: the layout has room for the slot, and these are all of its fields. A message
            // that is not initialised needs no write, but loom's cell has further parts.
            unsafe {
                let slot = slots.add(offset);
                (&raw mut (*slot).pool).write(pool);
                (&raw mut (*slot).index).write(index);
                let references = if (index as usize) < NEAR { FREE } else { 0 };
                (&raw mut (*slot).references).write(AtomicU32::new(references));
                (&raw mut (*slot).next).write(AtomicU32::new(index + 1));
                (&raw mut (*slot).keep).write(AtomicU32::new(0));
                #[cfg(ringbuf_loom)]
                (&raw mut (*slot).message).write(UnsafeCell::new(MaybeUninit::uninit()));
            }
        }
        slots
    }

    /// The `length` slots from `first`, to be freed.
    ///
    /// # Safety
    /// `first` came from [`segment`](Self::segment) with this length, and all use of it is over.
    unsafe fn take_segment(first: *mut Self, length: usize) -> Box<[Self]> {
        let all = ptr::slice_from_raw_parts_mut(first, length);
        // SAFETY: `Slot::segment` allocated it as a box would.
        let all = unsafe { Box::from_raw(all) };
        // Compiles to nothing; in the models it proves that all use is over.
        all.iter().for_each(|slot| slot.message.with_mut(|_| ()));
        all
    }

    /// Whether it is one of this pool's.
    #[inline]
    pub(crate) fn is_of(&self, pool: NonNull<Slots<T>>) -> bool {
        self.pool == pool
    }

    /// Returns the slot to its pool. By pointer, not by reference: the slot may be freed here.
    ///
    /// # Safety
    /// The slot has no holder but the caller, and no message unless it is kept.
    #[inline]
    pub(crate) unsafe fn give_back(slot: NonNull<Self>) {
        // SAFETY: the slot is still ours.
        let (pool, index) = unsafe { (slot.as_ref().pool, slot.as_ref().index) };
        let is_back = if (index as usize) < NEAR {
            // SAFETY: as above.
            let references = unsafe { &slot.as_ref().references };
            // "pool.return": pairs with "pool.claim" and "pool.orphan".
            references.swap(FREE, order!(Release, "pool.return")) & ORPHANED == 0
        } else {
            // SAFETY: as above; the slots outlive their last outstanding message, this one or
            // later.
            unsafe { Slots::push_free(pool, index, slot) }
        };
        if is_back {
            return;
        }
        // SAFETY: the pool was closed before, so the slots wait for the balance below.
        let slots = unsafe { pool.as_ref() };
        // "pool.last": see the handle's drop.
        if slots.outstanding.fetch_sub(1, order!(AcqRel, "pool.last")) == 1 {
            // SAFETY: closed, and the balance says that nothing is outstanding.
            unsafe { Slots::destroy(pool) };
        }
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
}
