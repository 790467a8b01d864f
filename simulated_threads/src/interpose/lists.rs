//! Programs that are started with a list of arguments: `execl` and its relatives.
//!
//! libc declares them with variable arguments, which on the platforms of this crate are where fixed
//! ones would be: in registers, then on the stack of the caller. So they are defined with more than
//! any program passes, and the end of the list says which are arguments.

use super::{children, fail, interpose, names};
use libc::{c_char, c_int};

/// Calls `execute` with the arguments up to the null, and the environment after it.
fn with_list(
    list: &[*const c_char],
    execute: impl FnOnce(*const *const c_char, *const *const c_char) -> c_int,
) -> c_int {
    match list.iter().position(|argument| argument.is_null()) {
        Some(end) if end + 1 < list.len() => execute(list.as_ptr(), list[end + 1].cast()),
        _ => fail(libc::E2BIG),
    }
}

macro_rules! define_with {
    ($($argument:ident)*) => {
        interpose! {
            /// Replaces the program.
            #[allow(clippy::too_many_arguments, reason = "see the module")]
            fn execl(path: *const c_char, $($argument: *const c_char),*) -> c_int = |_, _| {
                // SAFETY: the caller passes a path and a list of texts, which ends with a null.
                with_list(&[$($argument),*], |list, _| unsafe { names::execv(path, list) })
            }

            /// Replaces the program by one of `PATH`.
            #[allow(clippy::too_many_arguments, reason = "see the module")]
            fn execlp(file: *const c_char, $($argument: *const c_char),*) -> c_int = |_, _| {
                // SAFETY: as in `execl`.
                with_list(&[$($argument),*], |list, _| unsafe { names::execvp(file, list) })
            }

            /// Replaces the program, with the environment that is after the list.
            #[allow(clippy::too_many_arguments, reason = "see the module")]
            fn execle(path: *const c_char, $($argument: *const c_char),*) -> c_int = |_, _| {
                with_list(&[$($argument),*], |list, environment| {
                    // SAFETY: as in `execl`; the environment is a list of texts as well.
                    unsafe { children::execve(path, list, environment) }
                })
            }
        }
    };
}

define_with! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25
    a26 a27 a28 a29 a30 a31
}
