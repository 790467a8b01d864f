//! A value that threads read through a pointer, and that any thread replaces by one exchange.

#[cfg(not(ringbuf_loom))]
use super::{Pin, retire};
use crate::sync::{AtomicPtr, order};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A value that any thread reads without a lock, and that any thread replaces meanwhile.
///
/// ```
/// use ringspin_ringbuf::reclaim::{Published, pin};
/// let name = Published::new("before".to_owned());
/// let pin = pin();
/// let before = name.get(&pin);
/// name.replace("after".to_owned());
/// assert_eq!((&**before, &**name.get(&pin)), ("before", "after"));
/// ```
pub struct Published<T> {
    value: AtomicPtr<T>,
    owned: PhantomData<T>,
}

impl<T> Published<T> {
    /// Publishes a first value.
    pub fn new(value: T) -> Self {
        Self { value: AtomicPtr::new(Box::into_raw(Box::new(value))), owned: PhantomData }
    }

    /// The present value.
    ///
    /// # Safety
    /// As long as the reference is used, the calling thread is online in the domain in which the
    /// results of [`exchange`](Self::exchange) are retired, and does not pass a quiescent point.
    #[inline]
    pub(crate) unsafe fn read(&self) -> &T {
        // "published.get": pairs with "published.replace".
        let value = self.value.load(order!(Acquire, "published.get"));
        // SAFETY: it came from a box. The thread was online before it loaded the pointer, so the
        // value is dropped after this thread is offline, or has passed a quiescent point.
        unsafe { &*value }
    }

    /// Publishes `value`, and returns the one before.
    ///
    /// # Safety
    /// The result is dropped only when no thread can hold a reference to it any more.
    pub(crate) unsafe fn exchange(&self, value: T) -> Replaced<T> {
        let new = Box::into_raw(Box::new(value));
        // "published.replace": pairs with "published.get", and with itself: the value that is
        // replaced may be another thread's.
        let old = self.value.swap(new, order!(AcqRel, "published.replace"));
        Replaced { value: NonNull::new(old).expect("the pointer of a box"), owned: PhantomData }
    }
}

#[cfg(not(ringbuf_loom))]
impl<T: Send + Sync + 'static> Published<T> {
    /// The present value, for as long as the pin is held.
    #[inline]
    pub fn get<'a>(&'a self, pin: &'a Pin) -> &'a T {
        let _ = pin;
        // SAFETY: a pin keeps the thread online, and it does not pass a quiescent point.
        unsafe { self.read() }
    }

    /// Starts to fetch the first two lines of the present value.
    #[inline]
    pub fn fetch(&self) {
        // "published.fetch": nothing is read through the pointer.
        let value = self.value.load(order!(Relaxed, "published.fetch"));
        crate::prefetch::fetch(value.addr());
        if size_of::<T>() > 64 {
            crate::prefetch::fetch(value.addr() + 64);
        }
    }

    /// Publishes `value`. The one before is [retired](retire): it is dropped after the last read,
    /// by the thread that [collects](super::collect) it.
    pub fn replace(&self, value: T) {
        // SAFETY: garbage runs when no thread holds a reference from before its retirement.
        let replaced = unsafe { self.exchange(value) };
        retire(move || drop(replaced));
    }
}

// SAFETY: as a box of the value, which only `drop` gets by value or mutably.
unsafe impl<T: Send> Send for Published<T> {}
// SAFETY: gives out shared references to the value, and moves values in and out.
unsafe impl<T: Send + Sync> Sync for Published<T> {}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        let value = self.value.load(order!(Relaxed, "published.drop"));
        // SAFETY: it came from a box; a reference would borrow `self`.
        drop(unsafe { Box::from_raw(value) });
    }
}

impl<T> fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Published").finish_non_exhaustive()
    }
}

/// A value that is published no more, and that may still be read. No box, because a box must not
/// move while others refer to its content.
pub(crate) struct Replaced<T> {
    value: NonNull<T>,
    owned: PhantomData<T>,
}

// SAFETY: as a box of the value. Other threads may refer to it still, hence `Sync`.
unsafe impl<T: Send + Sync> Send for Replaced<T> {}

impl<T> Replaced<T> {
    /// The value.
    #[cfg(ringbuf_loom)]
    pub(crate) fn value(&self) -> &T {
        // SAFETY: it is dropped with `self`.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Drop for Replaced<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and by the promise of `exchange` no reference is left.
        drop(unsafe { Box::from_raw(self.value.as_ptr()) });
    }
}
