//! The atomics and cells that `ringbuf/src/sync.rs` uses under Shuttle instead of the standard
//! library's.

use crate::mutant::is_mutant;
use shuttle::sync::atomic::Ordering::{self, SeqCst};
use std::cell::{Cell, UnsafeCell as StdUnsafeCell};

thread_local! {
    /// Whether the next operation is torn. Shuttle runs all threads on one, and no other thread
    /// runs between an operation's arguments and the operation.
    static TORN: Cell<bool> = const { Cell::new(false) };
}

/// The expansion of `order!` in the models: notes whether `site` is the mutant.
pub(crate) fn at(site: &'static str, order: Ordering) -> Ordering {
    if is_mutant(site) {
        TORN.set(true);
    }
    order
}

macro_rules! atomic {
    ($($name:ident: $int:ty),*) => {$(
        /// An atomic whose read-modify-writes can be torn into a load and a store.
        #[derive(Debug, Default)]
        pub(crate) struct $name(shuttle::sync::atomic::$name);

        #[allow(dead_code)]
        impl $name {
            pub(crate) const fn new(value: $int) -> Self {
                Self(shuttle::sync::atomic::$name::new(value))
            }

            pub(crate) fn load(&self, _: Ordering) -> $int {
                TORN.take();
                self.0.load(SeqCst)
            }

            pub(crate) fn store(&self, value: $int, _: Ordering) {
                TORN.take();
                self.0.store(value, SeqCst);
            }

            fn modify(&self, f: impl Fn($int) -> $int) -> $int {
                let torn = TORN.take();
                loop {
                    let found = self.0.load(SeqCst);
                    let new = f(found);
                    if torn {
                        self.0.store(new, SeqCst);
                        return found;
                    }
                    if self.0.compare_exchange(found, new, SeqCst, SeqCst).is_ok() {
                        return found;
                    }
                }
            }

            pub(crate) fn compare_exchange(
                &self,
                current: $int,
                new: $int,
                _: Ordering,
                _: Ordering,
            ) -> Result<$int, $int> {
                if !TORN.take() {
                    return self.0.compare_exchange(current, new, SeqCst, SeqCst);
                }
                let found = self.0.load(SeqCst);
                if found != current {
                    return Err(found);
                }
                self.0.store(new, SeqCst);
                Ok(found)
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                self.compare_exchange(current, new, success, failure)
            }

            pub(crate) fn fetch_update(
                &self,
                _: Ordering,
                _: Ordering,
                f: impl FnMut($int) -> Option<$int>,
            ) -> Result<$int, $int> {
                TORN.take();
                self.0.fetch_update(SeqCst, SeqCst, f)
            }

            pub(crate) fn swap(&self, value: $int, _: Ordering) -> $int {
                self.modify(|_| value)
            }

            pub(crate) fn fetch_add(&self, value: $int, _: Ordering) -> $int {
                self.modify(|found| found.wrapping_add(value))
            }

            pub(crate) fn fetch_sub(&self, value: $int, _: Ordering) -> $int {
                self.modify(|found| found.wrapping_sub(value))
            }

            pub(crate) fn fetch_or(&self, value: $int, _: Ordering) -> $int {
                self.modify(|found| found | value)
            }

            pub(crate) fn fetch_and(&self, value: $int, _: Ordering) -> $int {
                self.modify(|found| found & value)
            }

            pub(crate) fn fetch_min(&self, value: $int, _: Ordering) -> $int {
                self.modify(|found| found.min(value))
            }
        }
    )*};
}
atomic!(AtomicI64: i64, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize);

/// A cell that fails the model when a use overlaps with a write. Every use is a point at which
/// Shuttle may switch threads.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T> {
    /// The number of readers, or the mark of a writer.
    users: shuttle::sync::atomic::AtomicU32,
    value: StdUnsafeCell<T>,
}

const WRITER: u32 = 1 << 16;

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        let users = shuttle::sync::atomic::AtomicU32::new(0);
        Self { users, value: StdUnsafeCell::new(value) }
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        assert!(self.users.fetch_add(1, SeqCst) < WRITER, "a cell is read while it is written");
        let result = f(self.value.get());
        self.users.fetch_sub(1, SeqCst);
        result
    }

    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        assert_eq!(self.users.fetch_add(WRITER, SeqCst), 0, "a cell is written while it is used");
        let result = f(self.value.get());
        self.users.fetch_sub(WRITER, SeqCst);
        result
    }
}

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// Fails the model if an instance is still alive at its end.
#[derive(Debug)]
pub(crate) struct LeakCheck(());

impl LeakCheck {
    pub(crate) fn new() -> Self {
        LIVE.set(LIVE.get() + 1);
        Self(())
    }

    /// Asserts that no instance is alive; called at the end of the model.
    pub(crate) fn assert_none_left() {
        assert_eq!(LIVE.get(), 0, "something was leaked");
    }
}

impl Drop for LeakCheck {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}
