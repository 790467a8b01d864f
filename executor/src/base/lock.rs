//! The way in which this crate locks a mutex, and a list that is read without a lock. Code that
//! changes the graph writes the list, rarely; publishers and workers read it for each message or
//! look, and must not wait for that change.

use crate::base::event::CallbackId;
use ringspin_ringbuf::List;
pub(crate) use ringspin_ringbuf::lock;
use ringspin_ringbuf::reclaim::{Domain, Guard, Published};
use std::fmt;
use std::ops::DerefMut;
use std::sync::{Arc, Mutex};

/// A value under a lock that knows of callbacks. A worker that has removed a callback does not wait
/// for the lock: the next thread that has it takes the callback out of the value.
pub(crate) struct ByCallback<T> {
    value: Mutex<T>,
    removed: List<CallbackId>,
    remove: fn(&mut T, CallbackId),
}

impl<T: Default> ByCallback<T> {
    /// An empty value, out of which `remove` takes callbacks.
    pub(crate) fn new(remove: fn(&mut T, CallbackId)) -> Self {
        Self { value: Mutex::default(), removed: List::new(), remove }
    }

    /// The value without the callbacks that were removed.
    pub(crate) fn lock(&self) -> impl DerefMut<Target = T> {
        let mut value = lock(&self.value);
        self.removed.take().into_iter().for_each(|callback| (self.remove)(&mut value, callback));
        value
    }

    /// Has the next [`lock`](Self::lock) take `callback` out. Lock-free.
    pub(crate) fn remove(&self, callback: CallbackId) {
        self.removed.push(callback);
    }
}

impl<T> fmt::Debug for ByCallback<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByCallback").finish_non_exhaustive()
    }
}

/// Items in the order in which they were added.
pub(crate) struct SharedList<T> {
    items: Published<Vec<T>>,
    /// Held while an item is added.
    adding: Mutex<()>,
}

impl<T: Clone + Send + Sync + 'static> SharedList<T> {
    /// An empty list, which threads read in `domain`.
    pub(crate) fn new(domain: &Arc<Domain>) -> Self {
        Self { items: Published::new(Vec::new(), domain), adding: Mutex::default() }
    }

    /// Adds `item`, and returns its index. Linear in the number of items.
    pub(crate) fn push(&self, item: T) -> usize {
        let _change = self.items.domain().change();
        let _adding = lock(&self.adding);
        let mut items = self.items.load().clone();
        items.push(item);
        let index = items.len() - 1;
        self.items.replace(items);
        index
    }

    /// Removes the items that `keeps` refuses. Linear in the number of items.
    pub(crate) fn retain(&self, keeps: impl Fn(&T) -> bool) {
        let _change = self.items.domain().change();
        let _adding = lock(&self.adding);
        let items = self.items.load().iter().filter(|item| keeps(item)).cloned().collect();
        self.items.replace(items);
    }

    /// The items in the order in which they were added. Wait-free.
    pub(crate) fn load(&self) -> Guard<'_, Vec<T>> {
        self.items.load()
    }
}

impl<T> fmt::Debug for SharedList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedList").finish_non_exhaustive()
    }
}
