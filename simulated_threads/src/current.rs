//! The world of a thread.

use crate::wait::Slot;
use crate::world::World;
use std::cell::Cell;

thread_local! {
    // Without a destructor: a thread belongs to its world until its last destructor has run.
    static CURRENT: Cell<Option<(&'static World, Slot)>> = const { Cell::new(None) };
}

/// The world of the calling thread and its place there, if it is in one.
#[inline]
pub(crate) fn current() -> Option<(&'static World, Slot)> {
    CURRENT.get()
}

/// The calling thread has this place from now on.
pub(crate) fn enter(world: &'static World, slot: Slot) {
    CURRENT.set(Some((world, slot)));
}

/// The calling thread is in no world any more.
pub(crate) fn leave() {
    CURRENT.set(None);
}
