//! Panics and errors of the user's code, caught with everything that comes with them.
//!
//! A panic's payload and an error are the user's values: their `Drop` and `Display` may panic in
//! turn. Everything that is caught here becomes a text at once, so that no such value is dropped
//! elsewhere.

use std::any::Any;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The error that a callback may return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The text of a panic, if it has one.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).into()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a text".into()
    }
}

/// Calls `f`, which may leave borrowed data in an unfinished state if it panics.
///
/// ```
/// use ringspin_executor::catch_panic;
/// assert_eq!(catch_panic(|| 7), Ok(7));
/// assert_eq!(catch_panic(|| -> u32 { panic!("no {}", 7) }), Err("no 7".into()));
/// ```
///
/// # Errors
/// The text of the panic. Its payload is dropped; if that panics as well, the second payload is
/// leaked.
#[inline]
pub fn catch_panic<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(into_text)
}

#[cold]
fn into_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic_message(&*panic);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(panic);
    }
    text
}

/// The text of an error, which is dropped. Panics of its `Display` and `Drop` are caught, and
/// become part of the text.
#[cold]
pub fn error_message(error: BoxError) -> String {
    let mut text = String::new();
    let written = catch_panic(|| write!(text, "{error}"));
    let problem = match written {
        Ok(Ok(())) => None,
        Ok(Err(_)) => Some("its `Display` failed".into()),
        Err(panic) => Some(format!("its `Display` panicked: {panic}")),
    };
    if let Some(problem) = problem {
        let begun = if text.is_empty() { "" } else { " after " };
        text = format!("an error without a text, {problem}{begun}{text}");
    }
    if let Err(panic) = catch_panic(|| drop(error)) {
        write!(text, " (its `Drop` panicked: {panic})").expect("a string takes all text");
    }
    text
}

/// Drops each of `items`, which are the user's. Returns the text of the first panic.
pub(crate) fn try_drop_each<T>(items: impl IntoIterator<Item = T>) -> Result<(), String> {
    let mut result = Ok(());
    for item in items {
        result = result.and(catch_panic(|| drop(item)));
    }
    result
}

/// Drops each of `items` like [`try_drop_each`]. Then the first panic is resumed, unless this
/// thread unwinds already: a second panic would abort the process.
pub(crate) fn drop_each<T>(items: impl IntoIterator<Item = T>) {
    if let Err(panic) = try_drop_each(items)
        && !std::thread::panicking()
    {
        resume_unwind(Box::new(panic));
    }
}

/// Logs the panic of a drop that no caller can be told of.
pub(crate) fn log_drop(part: &str, dropped: Result<(), String>) {
    if let Err(panic) = dropped {
        // The log's subscriber is user code as well.
        let _ = catch_panic(|| tracing::error!(part, panic, "a drop panicked"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

    /// Panics when it is dropped, with another one as its payload.
    struct Payload(u32);

    impl Drop for Payload {
        fn drop(&mut self) {
            if self.0 > 0 && !std::thread::panicking() {
                std::panic::panic_any(Payload(self.0 - 1));
            }
        }
    }

    #[test]
    fn payload_whose_drop_panics_does_not_escape() {
        for depth in 0..4 {
            let caught = catch_panic(|| std::panic::panic_any(Payload(depth)));
            assert_eq!(caught, Err::<(), _>("a panic without a text".into()), "{depth}");
        }
    }

    #[derive(Debug)]
    struct Error {
        display: fn(&mut fmt::Formatter<'_>) -> fmt::Result,
        drop_panics: bool,
    }

    impl fmt::Display for Error {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.display)(f)
        }
    }

    impl std::error::Error for Error {}

    impl Drop for Error {
        fn drop(&mut self) {
            assert!(!self.drop_panics, "not droppable");
        }
    }

    #[test]
    fn error_without_a_text_gets_one() {
        let message =
            |display, drop_panics| error_message(Box::new(Error { display, drop_panics }));
        assert_eq!(message(|f| f.write_str("broken"), false), "broken");
        let failed = message(|f| f.write_str("part").and(Err(fmt::Error)), false);
        assert_eq!(failed, "an error without a text, its `Display` failed after part");
        let panicked = message(|_| panic!("mute"), false);
        assert_eq!(panicked, "an error without a text, its `Display` panicked: mute");
        let dropped = message(|f| f.write_str("broken"), true);
        assert_eq!(dropped, "broken (its `Drop` panicked: not droppable)");
    }
}
