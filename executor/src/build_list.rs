//! A list that grows while the graph is built, and that any thread reads without a lock from then
//! on.

use crate::lock::lock;
use std::sync::{Mutex, OnceLock};

/// Items that are added until the graph is frozen.
#[derive(Debug)]
pub(crate) struct BuildList<T> {
    added: Mutex<Vec<T>>,
    frozen: OnceLock<Box<[T]>>,
}

impl<T> Default for BuildList<T> {
    fn default() -> Self {
        Self { added: Mutex::default(), frozen: OnceLock::new() }
    }
}

impl<T> BuildList<T> {
    /// Adds `item`, and returns its index.
    ///
    /// # Panics
    /// If the list is frozen.
    pub(crate) fn push(&self, item: T) -> usize {
        assert!(self.frozen.get().is_none(), "nothing is added to a frozen graph");
        let mut added = lock(&self.added);
        added.push(item);
        added.len() - 1
    }

    /// The graph is frozen: nothing is added any more.
    pub(crate) fn freeze(&self) {
        self.frozen.get_or_init(|| std::mem::take(&mut *lock(&self.added)).into());
    }

    /// The items in the order in which they were added; none until the graph is frozen. Wait-free.
    pub(crate) fn get(&self) -> &[T] {
        self.frozen.get().map_or(&[], |items| items)
    }
}
