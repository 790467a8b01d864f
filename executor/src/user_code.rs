//! Calls of the user's code that is no callback: drops, digests, recorders, tie breakers.

use crate::control::panic_message;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `code`, and returns the message of its panic if it panics.
///
/// # Errors
/// The message of the panic, as [`panic_message`] has it. The payload is dropped; if that panics,
/// too, the second payload leaks.
///
/// ```
/// use ringspin_executor::catch_panic;
/// assert_eq!(catch_panic(|| 1), Ok(1));
/// assert_eq!(catch_panic(|| -> u8 { panic!("boom") }), Err("boom".into()));
/// ```
pub fn catch_panic<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        let message = panic_message(&*payload);
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(again); // its drop may panic, and so on
        }
        message
    })
}
