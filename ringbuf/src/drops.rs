//! Drops of values whose `Drop` may panic, several of them in a row.
//!
//! A ring, queue or pool drops all values that it holds, also after one of their drops has
//! panicked. A second panic that leaves a drop while the first one unwinds would abort the process.

use core::ptr;

/// Drops the value at `value` in place.
///
/// If this thread unwinds already, a panic of the drop is caught: the panic hook reports it, and
/// the first panic goes on.
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

/// Calls `drop`, and drops the payload of its panic. A payload whose own drop panics is leaked.
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
mod tests {
    use crate::keep_last;
    use crate::keep_last_static::KeepLast;
    use crate::multiplexer::{gating, overrun};
    use crate::pool::Pool;
    use crate::spsc;
    use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
    use std::sync::Arc;

    /// Panics when it is dropped, with a payload that does so once more.
    struct Bomb(#[expect(dead_code)] Arc<()>);

    struct Payload;

    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("the payload");
        }
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any(Payload);
        }
    }

    const BOMBS: usize = 5;

    /// Runs `drop` with a maker of bombs, which must panic and leave none of them. Also if it is
    /// called while the thread unwinds.
    fn drops_all(drop: impl Fn(&dyn Fn() -> Bomb)) {
        struct OnUnwind<F: Fn()>(F);
        impl<F: Fn()> Drop for OnUnwind<F> {
            fn drop(&mut self) {
                (self.0)();
            }
        }
        let forget_payload = |caught: std::thread::Result<()>| {
            std::mem::forget(caught.expect_err("the first panic goes on"));
        };
        let held = Arc::new(());
        let bomb = || Bomb(held.clone());
        forget_payload(catch_unwind(AssertUnwindSafe(|| drop(&bomb))));
        assert_eq!(Arc::strong_count(&held), 1);
        forget_payload(catch_unwind(AssertUnwindSafe(|| {
            let _on_unwind = OnUnwind(|| drop(&bomb));
            panic!("an earlier panic");
        })));
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn queue_that_keeps_the_last_messages_drops_several_that_panic() {
        drops_all(|bomb| {
            let pool = Pool::new();
            let (producer, consumer) = keep_last::queue(&pool, BOMBS);
            (0..BOMBS).for_each(|_| drop(producer.push(pool.insert(bomb()))));
            drop((pool, consumer, producer));
        });
    }

    #[test]
    fn static_queue_drops_several_items_that_panic() {
        drops_all(|bomb| {
            let queue = KeepLast::<_, BOMBS>::new();
            let (mut producer, _consumer) = queue.split().unwrap();
            (0..BOMBS).for_each(|_| drop(producer.push(bomb())));
        });
    }

    #[test]
    fn spsc_ring_drops_several_items_that_panic() {
        drops_all(|bomb| {
            let (mut producer, _consumer) = spsc::ring(BOMBS);
            assert_eq!(producer.push_batch((0..BOMBS).map(|_| bomb())), BOMBS);
        });
    }

    #[test]
    fn multiplexers_drop_several_items_that_panic() {
        drops_all(|bomb| {
            let (mut producer, _multiplexer) = gating::multiplexer(BOMBS, 1);
            (0..BOMBS).for_each(|_| drop(producer.push(bomb())));
        });
        drops_all(|bomb| {
            let pool = Pool::new();
            let (mut producer, _multiplexer) = overrun::multiplexer(&pool, BOMBS);
            (0..BOMBS).for_each(|_| drop(producer.push(pool.insert(bomb()))));
        });
    }

    #[test]
    fn pool_drops_several_kept_messages_that_panic() {
        drops_all(|bomb| {
            let pool = Pool::new();
            let loans: Vec<_> = (0..BOMBS).map(|_| pool.loan(bomb)).collect();
            drop(loans);
        });
        drops_all(|bomb| {
            let pool = Pool::new();
            let loans: Vec<_> = (0..BOMBS).map(|_| pool.loan(bomb)).collect();
            // The last of the messages frees the slots.
            drop((pool, loans));
        });
    }

    #[test]
    fn list_of_messages_drops_several_that_panic() {
        drops_all(|bomb| {
            let pool = Pool::new();
            drop((0..BOMBS).map(|_| pool.insert(bomb())).collect::<Vec<_>>());
        });
    }
}
