//! The functions of libc through which a thread waits, reads a time or draws a random number.
//!
//! Each one is defined here under its own name, so that the linker takes it instead of libc's. For
//! a thread of a world it asks the world; for any other thread it calls the original.

mod clock;
mod descriptors;
mod futex;
mod locks;
mod machine;
mod thread;

pub(crate) use thread::adopt;

use crate::wait::Nanos;
use libc::{c_int, timespec};

/// Defines functions of libc: the body is what a thread of a world does, which is bound to the
/// names before it; any other thread calls the original.
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
    )*};
}
pub(crate) use interpose;

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
