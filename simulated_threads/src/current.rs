//! The world of a thread.

use crate::wait::Slot;
use crate::world::World;
use std::cell::Cell;

thread_local! {
    // Without a destructor: a thread belongs to its world until its last destructor has run.
    static CURRENT: Cell<Option<(&'static World, Slot)>> = const { Cell::new(None) };
    #[cfg(ringspin_instrumented)]
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The world of the calling thread and its place there, if it is in one.
#[inline]
pub(crate) fn current() -> Option<(&'static World, Slot)> {
    CURRENT.get()
}

/// While it lives, atomic operations of the calling thread are no switch points: they are those of
/// its world. Does nothing in a program that is not instrumented.
pub(crate) struct Inside(#[cfg(ringspin_instrumented)] bool);

impl Inside {
    #[inline]
    pub(crate) fn enter() -> Self {
        Self(
            #[cfg(ringspin_instrumented)]
            IS_INSIDE.replace(true),
        )
    }
}

#[cfg(ringspin_instrumented)]
impl Drop for Inside {
    fn drop(&mut self) {
        IS_INSIDE.set(self.0);
    }
}

/// Whether the calling thread works for its world.
#[cfg(ringspin_instrumented)]
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.get()
}

/// The calling thread has this place from now on.
pub(crate) fn enter(world: &'static World, slot: Slot) {
    CURRENT.set(Some((world, slot)));
}

/// The calling thread is in no world any more.
pub(crate) fn leave() {
    CURRENT.set(None);
}
