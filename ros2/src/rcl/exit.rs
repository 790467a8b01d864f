//! The exit of the process, at which everything of rcl is freed, also objects that are still in
//! use.
//!
//! Fast DDS frees its global objects then, and crashes if a participant is left.

use super::{error, lock};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

type Function = Box<dyn FnOnce() + Send>;

struct Registry {
    /// The functions that stop the users of the middleware; `None` from the exit on.
    stops: Option<Vec<Function>>,
    /// Frees the structs of rcl, in order of their initialization.
    frees: BTreeMap<u64, Function>,
    next: u64,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { stops: Some(Vec::new()), frees: BTreeMap::new(), next: 0 });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes how to free a struct. The caller has the lock for entities, here and below.
pub(super) fn add(free: impl FnOnce() + Send + 'static) -> u64 {
    let mut registry = registry();
    let number = registry.next;
    registry.next += 1;
    registry.frees.insert(number, Box::new(free));
    number
}

/// Hands back the function that frees the struct with this number.
pub(super) fn remove(number: u64) -> Option<Function> {
    registry().frees.remove(&number)
}

/// Has `stop` called when the process exits, and frees the rest of rcl after it.
///
/// To be called after the first node was created: functions that are registered later are called
/// earlier, so this one is called before Fast DDS frees its objects.
pub(crate) fn at_exit(stop: impl FnOnce() + Send + 'static) {
    let Some(stops) = &mut registry().stops else { return };
    stops.push(Box::new(stop));
    // SAFETY: the function needs no arguments, and stays where it is until the process ends. Where
    // memory lacks it is not called: the exit is then one without it.
    unsafe { atexit(exit) };
}

extern "C" fn exit() {
    // Each connection registers it; once is enough.
    let Some(stops) = registry().stops.take() else { return };
    stops.into_iter().for_each(|stop| stop());
    mem::forget((lock::all_uses(), lock::entities()));
    let frees = mem::take(&mut registry().frees);
    frees.into_values().rev().for_each(|free| free());
    error::forget();
}
