//! Unit tests of `drops`.

use crate::keep_last;
use crate::multiplexer::multiplexer;
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
        std::mem::forget(caught.expect_err("the first panic is resumed"));
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
fn spsc_ring_drops_several_items_that_panic() {
    drops_all(|bomb| {
        let (mut producer, _consumer) = spsc::ring(BOMBS);
        assert_eq!(producer.push_batch((0..BOMBS).map(|_| bomb())), BOMBS);
    });
}

#[test]
fn multiplexer_drops_several_items_that_panic() {
    drops_all(|bomb| {
        let (mut producer, _multiplexer) = multiplexer(BOMBS, 1);
        (0..BOMBS).for_each(|_| drop(producer.push(bomb())));
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
