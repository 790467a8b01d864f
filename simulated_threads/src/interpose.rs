//! The functions of libc through which a thread waits, reads a time or draws a random number.
//!
//! Each one is defined here under its own name, so that the linker takes it instead of libc's. For
//! a thread of a world it asks the world; for any other thread it calls the original.

mod c11;
mod clock;
mod descriptors;
mod futex;
mod locks;
mod machine;
mod thread;

pub(crate) use thread::adopt;

use crate::os;
use crate::wait::Nanos;
use libc::{c_int, timespec};

/// Defines functions of libc: the body is what a thread of a world does, which is bound to the
/// names before it; any other thread calls the original.
///
/// The names and addresses of all of them are in `DEFINITIONS`.
macro_rules! interpose {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?)
        $(-> $result:ty)? = |$world:pat_param, $me:pat_param| $body:block)*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// The caller keeps the rules of the function of this name in libc.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            match crate::current::current() {
                Some(($world, $me)) => $body,
                None => {
                    let original = crate::original::original!(
                        $name: fn($($type),*) $(-> $result)?
                    );
                    // SAFETY: the caller promises what the original asks for.
                    unsafe { original($($argument),*) }
                }
            }
        }
    )*
        pub(super) const DEFINITIONS: &[super::Definition] =
            &[$((concat!(stringify!($name), "\0"), $name as *const ())),*];
    };
}
pub(crate) use interpose;

/// The name of a function of libc, which ends with a zero, and the address of the one here.
type Definition = (&'static str, *const ());

/// The first of the functions here instead of which libraries of the process call another one.
pub(crate) fn not_called() -> Option<&'static str> {
    let all = [
        &[("syscall\0", futex::syscall as *const ())],
        c11::DEFINITIONS,
        clock::DEFINITIONS,
        descriptors::DEFINITIONS,
        locks::DEFINITIONS,
        machine::DEFINITIONS,
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
    fn function_of_another_library_is_named() {
        assert_eq!(not_called(), None);
        let (own, other) = (libc::getpid as *const (), libc::strlen as *const ());
        let newer = ("a_function_of_a_newer_libc\0", other);
        assert_eq!(first_other([("getpid\0", own), newer].iter()), None);
        assert_eq!(first_other([("getpid\0", own), ("strnlen\0", other)].iter()), Some("strnlen"));
    }
}
