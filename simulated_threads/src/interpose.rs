//! The functions of libc through which a thread waits, reads a time or draws a random number.
//!
//! Each one is defined here under its own name, so that the linker takes it instead of libc's. For
//! a thread of a world it asks the world; for any other thread it calls the original.

mod c11;
#[cfg(target_arch = "x86_64")]
mod calls;
mod children;
mod clock;
mod descriptors;
mod file_locks;
mod files;
mod futex;
mod lists;
mod locks;
mod machine;
mod named_pipes;
mod names;
mod pipes;
mod random;
mod signal_timers;
mod signals;
mod sockets;
mod streams;
mod thread;
mod traps;
mod unix_sockets;

pub(crate) use signals::signal_of;
pub(crate) use streams::replace_streams;
pub(crate) use thread::adopt;
pub(crate) use traps::{are_caught, calls_are_caught};

use crate::copies::{self, Functions};
use crate::os;
use crate::wait::Nanos;
use libc::{c_int, c_long, timespec};
use std::ptr;

/// Defines functions of libc. A thread of a world runs the body, with the world and the slot of the
/// thread bound to the names before it; any other thread calls the original. A body that is marked
/// `before` runs before the original, which the thread calls as well unless the body returns. A
/// body that is marked `after` runs after the original, with its result. A third name before one of
/// the other bodies is bound to the original.
///
/// They may unwind, since the end of a thread by `pthread_cancel` does. The names and addresses of
/// all of them are in `DEFINITIONS`.
macro_rules! interpose {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?)
        $(-> $result:ty)? = $(|$world:pat_param, $me:pat_param $(, $call:ident)?| $body:block)?
        $(before |$caller_world:pat_param, $caller:pat_param $(, $first_call:ident)?| $first:block)?
        $(after |$own_world:pat_param, $own:pat_param, $returned:pat_param| $last:block)?)*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// The caller keeps the rules of the function of this name in libc.
        #[unsafe(no_mangle)]
        #[allow(clippy::let_unit_value, clippy::let_and_return, reason = "some return nothing")]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) $(-> $result)? {
            // Looked up where it is called: an older libc does not have all of the functions.
            let original = || crate::original::original!($name: fn($($type),*) $(-> $result)?);
            $(if let Some(($world, $me)) = crate::current::current() {
                let _inside = crate::current::Inside::enter();
                $(let $call = original();)?
                return $body;
            })?
            $(if let Some(($caller_world, $caller)) = crate::current::current() {
                let _inside = crate::current::Inside::enter();
                $(let $first_call = original();)?
                $first
            })?
            // SAFETY: the caller keeps the contract of the original.
            let result = unsafe { original()($($argument),*) };
            $(if let Some(($own_world, $own)) = crate::current::current() {
                let _inside = crate::current::Inside::enter();
                let $returned = result;
                $last
            })?
            result
        }
    )*
        pub(super) const DEFINITIONS: &[super::Definition] =
            &[$((concat!(stringify!($name), "\0"), $name as *const ())),*];
    };
}
pub(crate) use interpose;

/// The name of a function of libc, which ends with a zero, and the address of the one here.
type Definition = (&'static str, *const ());

/// Why a copy of the crate is of no use, and the way out.
pub(crate) const COPIES: &str = "two objects of this process have ringspin-simulated-threads: link \
                                 it into the program itself and into no library that it loads, or \
                                 build the program and the middleware of its run from one source";

/// Whether this copy of the crate has the functions that libraries of the process call: a program
/// and a library that it loads may both have one.
pub(crate) fn is_called() -> bool {
    os::object_of(futex::syscall as *const ()) == os::object_of(is_called as *const ())
}

/// The functions of the copy of the crate that the process calls instead of this one.
pub(crate) fn other() -> Option<&'static Functions> {
    type Call = unsafe extern "C-unwind" fn(c_long) -> c_long;
    // SAFETY: the process has this function of libc.
    let call: Call = unsafe { std::mem::transmute(os::definition_of("syscall\0")) };
    // SAFETY: the kernel has no call of this number.
    let answer = unsafe { call(copies::NUMBER) };
    if answer == -1 {
        return None;
    }
    // SAFETY: a copy of the crate answers with a static of this type: the number has its version.
    let functions = unsafe { ptr::with_exposed_provenance::<Functions>(answer as usize).as_ref() };
    // A copy of another version passes the call on, and may answer here with this one.
    functions.filter(|functions| !ptr::eq(*functions, &copies::OWN))
}

/// The first of the functions here instead of which libraries of the process call another one.
pub(crate) fn not_called() -> Option<&'static str> {
    let all = [
        &[("syscall\0", futex::syscall as *const ())],
        c11::DEFINITIONS,
        children::DEFINITIONS,
        clock::DEFINITIONS,
        descriptors::DEFINITIONS,
        file_locks::DEFINITIONS,
        files::DEFINITIONS,
        lists::DEFINITIONS,
        locks::DEFINITIONS,
        machine::DEFINITIONS,
        names::DEFINITIONS,
        pipes::DEFINITIONS,
        random::DEFINITIONS,
        signal_timers::DEFINITIONS,
        signals::DEFINITIONS,
        sockets::DEFINITIONS,
        streams::DEFINITIONS,
        thread::DEFINITIONS,
    ];
    first_other(all.into_iter().flatten())
}

fn first_other<'a>(mut own: impl Iterator<Item = &'a Definition>) -> Option<&'static str> {
    // An older libc does not have all of them: no library calls those.
    let is_own = |called: *const (), own| called.is_null() || called == own;
    own.find(|(name, address)| !is_own(os::definition_of(name), *address))
        .map(|(name, _)| name.trim_end_matches('\0'))
}

const SECOND: Nanos = 1_000_000_000;

/// A time or duration; `None` if it is none.
fn nanos(time: timespec) -> Option<Nanos> {
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (nanos < SECOND).then(|| seconds.saturating_mul(SECOND).saturating_add(nanos))
}

fn to_timespec(nanos: Nanos) -> timespec {
    timespec { tv_sec: (nanos / SECOND) as libc::time_t, tv_nsec: (nanos % SECOND) as _ }
}

/// The error of the last function that failed.
fn errno() -> c_int {
    // SAFETY: the address of this thread's own `errno`.
    unsafe { *libc::__errno_location() }
}

/// A failure of a function of libc.
fn fail(error: c_int) -> c_int {
    // SAFETY: the address of this thread's own `errno`.
    unsafe { *libc::__errno_location() = error };
    -1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vfork_outside_of_a_world_returns_in_both_processes() {
        // SAFETY: takes no argument.
        let child = unsafe { children::vfork() };
        if child == 0 {
            // SAFETY: ends the child.
            unsafe { libc::_exit(7) };
        }
        let mut status = 0;
        // SAFETY: a place for the status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(libc::WEXITSTATUS(status), 7);
    }

    #[test]
    fn function_of_another_library_is_named() {
        assert_eq!(not_called(), None);
        let (own, other) = (libc::getpid as *const (), libc::strlen as *const ());
        let newer = ("a_function_of_a_newer_libc\0", other);
        assert_eq!(first_other([("getpid\0", own), newer].iter()), None);
        assert_eq!(first_other([("getpid\0", own), ("strnlen\0", other)].iter()), Some("strnlen"));
    }
}
