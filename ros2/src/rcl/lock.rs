//! One lock for the process: rcl's functions that make and free things are not thread-safe, not
//! even for different things, because of tables that they share.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ENTITIES: Mutex<()> = Mutex::new(());

/// Held while entities are made, freed, or looked for.
///
/// No callback of the middleware may wait for it: to free an entity waits for its callbacks.
pub(super) fn entities() -> MutexGuard<'static, ()> {
    ENTITIES.lock().unwrap_or_else(PoisonError::into_inner)
}
