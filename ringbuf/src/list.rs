//! Values that any thread adds, and that one thread takes all at once.
//!
//! A value is added by an exchange of the newest one, and all are taken by an exchange with none.
//! So a thread that is suspended in between stops no other.

use crate::sync::{AtomicPtr, const_fn, order, step};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

/// Values in the order in which they were added. The thread that takes a value sees all writes of
/// its thread before it was added.
pub struct List<T> {
    /// The newest value; null if there is none.
    newest: AtomicPtr<Node<T>>,
    owned: PhantomData<T>,
}

struct Node<T> {
    value: T,
    older: *mut Node<T>,
}

// SAFETY: values are moved in and out.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: as above; no reference to a value is given out.
unsafe impl<T: Send> Sync for List<T> {}

impl<T> List<T> {
    const_fn! {
        /// An empty list.
        pub fn new() -> Self {
            Self { newest: AtomicPtr::new(ptr::null_mut()), owned: PhantomData }
        }
    }

    /// Adds `value`. Lock-free.
    pub fn push(&self, value: T) {
        let mut older = self.newest.load(order!(Relaxed, "list.newest"));
        let node = Box::into_raw(Box::new(Node { value, older }));
        step!("list.adding");
        // "list.push": pairs with "list.take".
        let order = (order!(Release, "list.push"), order!(Relaxed, "list.newest"));
        while let Err(newest) = self.newest.compare_exchange(older, node, order.0, order.1) {
            older = newest;
            // SAFETY: it is in no list yet.
            unsafe { (*node).older = older };
        }
    }

    /// Whether there is no value; the answer may be out of date.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.newest.load(order!(Relaxed, "list.newest")).is_null()
    }

    /// Takes all values, the oldest first. Wait-free.
    pub fn take(&self) -> Vec<T> {
        // "list.take": pairs with "list.push".
        let mut newest = self.newest.swap(ptr::null_mut(), order!(Acquire, "list.take"));
        let mut values = Vec::new();
        while !newest.is_null() {
            // SAFETY: it came from a box, and the exchange made it this thread's.
            let Node { value, older } = *unsafe { Box::from_raw(newest) };
            values.push(value);
            newest = older;
        }
        values.reverse();
        values
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn values_are_taken_in_the_order_in_which_they_were_added() {
        let list = List::new();
        assert!(list.is_empty() && list.take().is_empty());
        (0..5).for_each(|n| list.push(n));
        assert!(!list.is_empty());
        assert_eq!(list.take(), [0, 1, 2, 3, 4]);
        assert!(list.is_empty());
    }

    #[test]
    fn values_that_are_not_taken_are_dropped() {
        let (list, value) = (List::new(), Arc::new(()));
        (0..3).for_each(|_| list.push(value.clone()));
        drop(list);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
