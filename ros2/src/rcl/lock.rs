//! One lock for the process: the functions of rcl that create and free entities are not
//! thread-safe, not even for different entities, because they share tables.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ENTITIES: Mutex<()> = Mutex::new(());

/// Held while entities are created, freed, or looked up.
///
/// No callback of the middleware may wait for it: to free an entity waits for its callbacks.
pub(super) fn entities() -> MutexGuard<'static, ()> {
    ENTITIES.lock().unwrap_or_else(PoisonError::into_inner)
}
