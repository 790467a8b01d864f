//! The one way in which this crate locks a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex under which nothing of the user runs, so that poisoning means nothing.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
