//! Drops of several values in a row that may panic in `Drop`.
//!
//! A ring, queue or pool drops all values that it holds, also after one of their drops has
//! panicked. A second panic that leaves a drop while the first one unwinds would abort the process.

use core::ptr;

/// Drops the value at `value` in place.
///
/// If this thread unwinds already, a panic of the drop is caught: the panic hook reports it, and
/// the first panic is resumed.
///
/// # Safety
/// The conditions of [`ptr::drop_in_place`].
#[inline(always)]
pub(crate) unsafe fn drop_value<T>(value: *mut T) {
    #[cfg(feature = "std")]
    if core::mem::needs_drop::<T>() && std::thread::panicking() {
        // SAFETY: as the caller says.
        return swallow_panic(|| unsafe { ptr::drop_in_place(value) });
    }
    // SAFETY: as the caller says.
    unsafe { ptr::drop_in_place(value) }
}

/// Calls `drop`, and drops the payload of its panic. A payload that panics when dropped is leaked.
#[cfg(feature = "std")]
#[cold]
pub(crate) fn swallow_panic(drop: impl FnOnce()) {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let Err(payload) = catch_unwind(AssertUnwindSafe(drop)) else { return };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| core::mem::drop(payload))) {
        core::mem::forget(payload);
    }
}

#[cfg(all(test, feature = "std", not(ringbuf_loom)))]
mod tests;
