//! Creation, end and joining of threads.

use super::interpose;
use crate::current;
use crate::original::original;
use crate::turn::Turn;
use crate::world::{NEVER, Slot, Wait, World};
use libc::{c_int, c_void, pthread_attr_t, pthread_key_t, pthread_t};
use std::ptr;
use std::sync::{Arc, OnceLock};

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;

/// The begin of a new thread.
struct Start {
    world: &'static World,
    slot: Slot,
    turn: Arc<Turn>,
    routine: Routine,
    argument: *mut c_void,
}

/// How often glibc calls the destructors of a thread's keys at most:
/// `PTHREAD_DESTRUCTOR_ITERATIONS`.
const ROUNDS: usize = 4;

/// The key whose destructor ends a thread in its world.
fn key() -> pthread_key_t {
    static KEY: OnceLock<pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a place for the key; the destructor is a function of the process.
        match unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } {
            0 => key,
            error => crate::os::die(&format!("no key for threads: error {error}")),
        }
    })
}

/// Ends the calling thread in its world, after the destructors of all other keys.
unsafe extern "C" fn end(round: *mut c_void) {
    let round = round.addr();
    if round < ROUNDS {
        // SAFETY: the key exists; its value is a number.
        unsafe { libc::pthread_setspecific(key(), ptr::without_provenance_mut(round + 1)) };
        return;
    }
    if let Some((world, me)) = current::current() {
        current::leave();
        world.end(me);
    }
}

/// The calling thread, whose turn it is, belongs to `world` from now on.
pub(crate) fn adopt(world: &'static World) {
    let (slot, turn) = world.add(false);
    turn.belongs_to_this_thread();
    let _ = key();
    current::enter(world, slot);
}

extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` below made the box for this thread alone.
    let Start { world, slot, turn, routine, argument } =
        *unsafe { Box::from_raw(start.cast::<Start>()) };
    turn.belongs_to_this_thread();
    turn.wait();
    current::enter(world, slot);
    // SAFETY: the key exists; its value is a number.
    unsafe { libc::pthread_setspecific(key(), ptr::without_provenance(1)) };
    routine(argument)
}

interpose! {
    /// Creates a thread in the world of the calling one.
    fn pthread_create(
        thread: *mut pthread_t,
        attributes: *const pthread_attr_t,
        routine: Routine,
        argument: *mut c_void,
    ) -> c_int = |world, me| {
        let (slot, turn) = world.add(true);
        let start = Box::into_raw(Box::new(Start { world, slot, turn, routine, argument }));
        let create = original!(
            pthread_create:
                fn(*mut pthread_t, *const pthread_attr_t, Routine, *mut c_void) -> c_int
        );
        // SAFETY: the caller's promise; the box lives until the thread takes it.
        let result = unsafe { create(thread, attributes, begin, start.cast()) };
        match result {
            // SAFETY: it was written.
            0 => world.name(slot, unsafe { *thread } as usize),
            _ => {
                world.forget(slot);
                // SAFETY: no thread has it.
                drop(unsafe { Box::from_raw(start) });
            }
        }
        world.pass(me);
        result
    }

    /// Waits for the end of a thread.
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int = |world, me| {
        if let Some(number) = world.thread_of(thread as usize) {
            world.wait(me, Wait::Join(number), NEVER);
        }
        // The thread is past its last turn: this is a moment.
        let join = original!(pthread_join: fn(pthread_t, *mut *mut c_void) -> c_int);
        // SAFETY: the caller's promise.
        unsafe { join(thread, result) }
    }
}
