//! The functions of this copy of the crate, for a library of the process that has another copy.
//!
//! A library that is loaded into a program, as a middleware is, and the program itself may both
//! have a copy. The world is then the program's, whose functions all libraries call. The library's
//! copy finds it through one of them: `syscall` with a number that no kernel has answers with the
//! functions of the copy to which it belongs.

use crate::coordinator::{self, Coordinator, Place};
use crate::current::{Inside, current};
use crate::descriptors;
use crate::wait::{NEVER, Wait, Woken};

/// The number with which `syscall` answers with the [`Functions`]: "ring", and the version of
/// their types.
pub(crate) const NUMBER: i64 = -0x7269_6e67_0005;

/// The functions of a copy of the crate. All times are in nanoseconds.
#[repr(C)]
pub(crate) struct Functions {
    pub(crate) join: extern "C" fn(Coordinator, Place) -> bool,
    pub(crate) now: extern "C" fn() -> u64,
    pub(crate) wait: extern "C-unwind" fn(u64) -> bool,
    pub(crate) wake: extern "C" fn(),
    pub(crate) finish: extern "C" fn() -> !,
}

/// The functions of this copy.
pub(crate) static OWN: Functions = Functions { join, now, wait, wake, finish: coordinator::finish };

extern "C" fn join(coordinator: Coordinator, place: Place) -> bool {
    let is_first = coordinator::set(coordinator, place);
    if is_first {
        begin();
    }
    is_first
}

/// Begins the world of the calling thread as the coordinator says, if there are both.
pub(crate) fn begin() {
    if let (Some((world, _)), Some(place)) = (current(), coordinator::place()) {
        world.begin_as(place.start, place.process, u32::try_from(place.parent).ok());
        descriptors::add_inherited();
        coordinator::program().iter().for_each(|program| (program.replace_streams)());
    }
}

extern "C" fn now() -> u64 {
    current().map_or(NEVER, |(world, _)| world.now())
}

extern "C-unwind" fn wait(nanos: u64) -> bool {
    let _inside = Inside::enter();
    let Some((world, me)) = current() else { return true };
    let deadline = world.now().saturating_add(nanos);
    world.wait(me, Wait::Process, deadline) != Woken::TimedOut
}

extern "C" fn wake() {
    if let Some((world, _)) = current() {
        let _inside = Inside::enter();
        world.state().wake(Wait::Process, usize::MAX);
    }
}
