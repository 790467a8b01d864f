//! A list that grows, and that any thread reads without a lock.

use crate::lock::lock;
use ringspin_ringbuf::reclaim::{Pin, Published, pin};
use std::fmt;
use std::sync::Mutex;

/// Items in the order in which they were added.
pub(crate) struct SharedList<T> {
    items: Published<Vec<T>>,
    /// Held while an item is added.
    adding: Mutex<()>,
}

impl<T: Send + Sync + 'static> Default for SharedList<T> {
    fn default() -> Self {
        Self { items: Published::new(Vec::new()), adding: Mutex::default() }
    }
}

impl<T: Clone + Send + Sync + 'static> SharedList<T> {
    /// Adds `item`, and returns its index. Linear in the number of items.
    pub(crate) fn push(&self, item: T) -> usize {
        let pin = pin();
        let _adding = lock(&self.adding);
        let mut items = self.get(&pin).to_vec();
        items.push(item);
        let index = items.len() - 1;
        self.items.replace(items);
        index
    }

    /// Removes the items that `keeps` refuses. Linear in the number of items.
    pub(crate) fn retain(&self, keeps: impl Fn(&T) -> bool) {
        let pin = pin();
        let _adding = lock(&self.adding);
        let items = self.get(&pin).iter().filter(|item| keeps(item)).cloned().collect();
        self.items.replace(items);
    }

    /// The items in the order in which they were added. Wait-free.
    pub(crate) fn get<'a>(&'a self, pin: &'a Pin) -> &'a [T] {
        self.items.get(pin)
    }
}

impl<T> fmt::Debug for SharedList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedList").finish_non_exhaustive()
    }
}
