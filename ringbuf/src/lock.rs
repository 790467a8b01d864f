//! The one way in which the crates above lock a mutex, with a step at which a test suspends the
//! thread that has it.

use crate::sync::step;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex under which nothing of the user runs, so that poisoning means nothing.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let locked = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    step!("locked");
    locked
}
