//! The one door to atomics, threads and cells: `std` in production, loom in the models.
//!
//! The loom test crate compiles the ring modules a second time with `--cfg ringbuf_loom` set by
//! its own build script, so no feature can leak loom into a normal build.
//!
//! Every ordering weaker than `SeqCst` is written as `order!(Release, "ready.commit")`: the
//! partner's comment refers to the name of the site, and under loom it lets a test weaken exactly
//! that site by one step and demand that a model notices. A site stronger than `Relaxed` is used in
//! one place only.

#[cfg(not(ringbuf_loom))]
mod imp {
    pub(crate) use alloc::sync::Arc;
    pub(crate) use core::cell::UnsafeCell as StdUnsafeCell;
    #[cfg(target_has_atomic = "64")]
    pub(crate) use core::sync::atomic::AtomicPtr;
    #[cfg(target_has_atomic = "64")]
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64};
    pub(crate) use core::sync::atomic::{AtomicUsize, Ordering};
    #[cfg(feature = "std")]
    pub(crate) use std::{
        sync::atomic::AtomicI64,
        sync::{Mutex, OnceLock},
        thread::{Thread, current},
    };

    /// A place at which a test may suspend the thread; nothing otherwise.
    #[cfg(all(target_has_atomic = "64", not(ringbuf_suspend)))]
    macro_rules! step {
        ($name:literal) => {};
    }
    #[cfg(ringbuf_suspend)]
    macro_rules! step {
        ($name:literal) => {
            $crate::suspend::reach($name)
        };
    }
    #[cfg(target_has_atomic = "64")]
    pub(crate) use step;

    /// Whether a model leaves out the next step, to show that it is needed; never here.
    #[cfg(feature = "std")]
    macro_rules! omitted {
        ($name:literal) => {
            false
        };
    }
    #[cfg(feature = "std")]
    pub(crate) use omitted;

    /// `core::cell::UnsafeCell` with loom's closure interface, so that both builds share one
    /// source.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(StdUnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(StdUnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }

    /// Parks this thread, without a timer of the kernel for a `timeout` of decades: to start and
    /// cancel one is a part of the time in which a thread goes to sleep and wakes.
    #[cfg(feature = "std")]
    pub(crate) fn park_timeout(timeout: std::time::Duration) {
        const NEVER: std::time::Duration = std::time::Duration::from_secs(1 << 30);
        match timeout < NEVER {
            true => std::thread::park_timeout(timeout),
            false => std::thread::park(),
        }
    }

    /// Nothing here; in the models a run fails that never drops it.
    #[cfg(feature = "std")]
    #[derive(Debug)]
    pub(crate) struct LeakCheck(());

    #[cfg(feature = "std")]
    impl LeakCheck {
        pub(crate) const fn new() -> Self {
            Self(())
        }
    }

    macro_rules! order {
        ($order:ident, $site:literal) => {
            $crate::sync::Ordering::$order
        };
    }
    pub(crate) use order;

    /// Like `order!`, for one of two accesses that [`store_load`] keeps in order.
    #[cfg(target_has_atomic = "64")]
    macro_rules! total_order {
        ($order:ident, $site:literal) => {
            $crate::sync::Ordering::SeqCst
        };
    }
    #[cfg(target_has_atomic = "64")]
    pub(crate) use total_order;

    /// The order of a write before a read of another word: of two threads that each write and then
    /// read the other one's word, one at least sees the other's write. Costs nothing here: the two
    /// accesses are `SeqCst`.
    #[cfg(feature = "std")]
    macro_rules! store_load {
        ($name:literal) => {};
    }
    #[cfg(feature = "std")]
    pub(crate) use store_load;

    /// A function that is `const` here, so that a `static` can hold its result; loom's
    /// atomics have no `const` constructors.
    #[cfg(feature = "std")]
    macro_rules! const_fn {
        ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
            $(#[$attribute])* $visibility const fn $($rest)*
        };
    }
    #[cfg(feature = "std")]
    pub(crate) use const_fn;
}

#[cfg(ringbuf_loom)]
mod imp {
    pub(crate) use crate::once::OnceLock;
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{
        AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
    pub(crate) use loom::sync::{Arc, Mutex};
    pub(crate) use loom::thread::{Thread, current};

    /// loom has no clock: a park with a timeout is modelled as a park that must be woken, which is
    /// the stricter of the two (a lost wake-up becomes a deadlock that loom reports).
    pub(crate) fn park_timeout(_: std::time::Duration) {
        loom::thread::park();
    }

    /// Fails the run if it is never dropped.
    #[derive(Debug)]
    pub(crate) struct LeakCheck(loom::alloc::Track<()>);

    impl LeakCheck {
        pub(crate) fn new() -> Self {
            Self(loom::alloc::Track::new(()))
        }
    }

    macro_rules! order {
        ($order:ident, $site:literal) => {
            $crate::mutant::ordering($site, $crate::sync::Ordering::$order)
        };
    }
    pub(crate) use order;
    pub(crate) use order as total_order;

    /// loom takes `SeqCst` accesses for `AcqRel`, but knows `SeqCst` fences.
    macro_rules! store_load {
        ($name:literal) => {
            if !$crate::sync::omitted!($name) {
                loom::sync::atomic::fence($crate::sync::Ordering::SeqCst)
            }
        };
    }
    pub(crate) use store_load;

    macro_rules! step {
        ($name:literal) => {};
    }
    pub(crate) use step;

    macro_rules! omitted {
        ($name:literal) => {
            $crate::mutant::is_omitted($name)
        };
    }
    pub(crate) use omitted;

    macro_rules! const_fn {
        ($($function:tt)*) => {
            $($function)*
        };
    }
    pub(crate) use const_fn;
}

pub(crate) use imp::*;
