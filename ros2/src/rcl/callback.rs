//! Closures that the middleware calls when items have arrived.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// A function that is called with the number of new items since the last call.
///
/// On a thread of the middleware, or on the one that publishes within this process.
pub(super) type OnNew = dyn Fn(usize) + Send + Sync;

/// The closure of one entity. It lives until it is replaced or the entity is freed, and neither
/// happens while it runs.
#[derive(Default)]
pub(super) struct Callback {
    // Boxed twice, because a pointer of C has no room for that of a trait object.
    closure: Mutex<Option<Box<Box<OnNew>>>>,
}

/// The function that the middleware calls.
pub(super) type Trampoline = Option<unsafe extern "C" fn(*const c_void, usize)>;

impl Callback {
    /// Replaces the closure. `tell` says so to the middleware.
    ///
    /// The middleware calls a callback under a lock that it also takes to replace it, so once
    /// `tell` has returned for "none", the old closure runs nowhere and can be freed.
    pub(super) fn set<E>(
        &self,
        closure: Option<Box<OnNew>>,
        tell: impl Fn(Trampoline, *const c_void) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut held = self.closure.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            tell(None, std::ptr::null())?;
            *held = None;
        }
        if let Some(closure) = closure {
            let closure = held.insert(Box::new(closure));
            tell(Some(call), (&raw const **closure).cast())?;
        }
        Ok(())
    }
}

/// Calls the closure at `user_data`. A panic of it ends here, since C cannot unwind.
///
/// # Safety
/// `user_data` is the pointer that [`Callback::set`] gave to the middleware, and has not been
/// freed.
unsafe extern "C" fn call(user_data: *const c_void, count: usize) {
    // SAFETY: `set` gave a pointer to a `Box<OnNew>`, and clears it before it frees the box.
    let closure = unsafe { &*user_data.cast::<Box<OnNew>>() };
    if catch_unwind(AssertUnwindSafe(|| closure(count))).is_err() {
        tracing::error!("a callback for new data panicked; the data stays until it is taken");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;

    #[test]
    fn an_old_closure_is_freed_only_after_the_middleware_forgot_it() {
        let callback = Callback::default();
        let alive = Arc::new(());
        let told = RefCell::new(Vec::new());
        let tell = |function: Trampoline, data: *const c_void| {
            told.borrow_mut().push((function.is_some(), Arc::strong_count(&alive)));
            if let Some(function) = function {
                // SAFETY: `data` belongs to `function`.
                unsafe { function(data, 3) };
            }
            Ok::<_, ()>(())
        };
        let seen = Arc::new(Mutex::new(Vec::new()));
        for name in ["first", "second"] {
            let (held, seen) = (alive.clone(), seen.clone());
            let closure: Box<OnNew> = Box::new(move |count| {
                let _held = &held;
                seen.lock().unwrap().push((name, count));
            });
            callback.set(Some(closure), tell).unwrap();
        }
        callback.set(None, tell).unwrap();
        // The middleware had no callback while the old one was freed, then it got the new one.
        assert_eq!(*told.borrow(), [(true, 2), (false, 3), (true, 2), (false, 2)]);
        assert_eq!(*seen.lock().unwrap(), [("first", 3), ("second", 3)]);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_panic_of_a_closure_stays_within() {
        let callback = Callback::default();
        let closure: Box<OnNew> = Box::new(|_| panic!("expected by the test"));
        let called = callback.set(Some(closure), |function, data| {
            // SAFETY: `data` belongs to `function`.
            function.into_iter().for_each(|function| unsafe { function(data, 1) });
            Ok::<_, ()>(())
        });
        assert!(called.is_ok());
    }
}
