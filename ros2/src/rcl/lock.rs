//! One lock for the process: the functions of rcl that create and free entities are not
//! thread-safe, not even for different entities, because they share tables.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static ENTITIES: Mutex<()> = Mutex::new(());

/// Held while entities are created, freed, or looked up.
///
/// No callback of the middleware may wait for it: to free an entity waits for its callbacks.
pub(super) fn entities() -> MutexGuard<'static, ()> {
    ENTITIES.lock().unwrap_or_else(PoisonError::into_inner)
}

static USES: RwLock<()> = RwLock::new(());

/// Held by a thread while it sends through an entity, asks for its state, or sets its callback,
/// which takes no other lock. Not to be waited for with the lock for entities.
pub(super) fn one_use() -> RwLockReadGuard<'static, ()> {
    USES.read().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no thread sends, and keeps all from it.
pub(super) fn all_uses() -> RwLockWriteGuard<'static, ()> {
    USES.write().unwrap_or_else(PoisonError::into_inner)
}
