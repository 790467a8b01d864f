//! Unit tests of `keep_last`.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

#[test]
fn remaining_messages_are_dropped_with_the_queue() {
    let witness = Arc::new(());
    let pool = Pool::new();
    let (producer, consumer) = queue(&pool, 3);
    for _ in 0..5 {
        let _ = producer.push(pool.insert(witness.clone()));
    }
    assert_eq!(Arc::strong_count(&witness), 4);
    drop((producer, consumer));
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn queue_drops_all_messages_even_if_a_drop_panics() {
    struct Bomb(bool, #[expect(dead_code)] Arc<()>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "a message that panics when it is dropped");
        }
    }
    let (witness, pool) = (Arc::new(()), Pool::new());
    let (producer, consumer) = queue(&pool, 8);
    for n in 0..8 {
        let _ = producer.push(pool.insert(Bomb(n == 3, witness.clone())));
    }
    let dropping = std::panic::AssertUnwindSafe(|| drop((producer, consumer)));
    assert!(std::panic::catch_unwind(dropping).is_err());
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
#[should_panic(expected = "another pool")]
fn message_of_another_pool_is_refused() {
    let (producer, _consumer) = queue(&Pool::new(), 1);
    let _ = producer.push(Pool::new().insert(1));
}

#[test]
fn threads_see_every_message_once_taken_or_overwritten_and_in_order() {
    const PRODUCERS: u64 = 3;
    const EACH: u64 = 20_000;
    for depth in [1, 3] {
        let pool = Pool::new();
        let (producer, mut consumer) = queue(&pool, depth);
        let grown = AtomicU64::new(0);
        let overwritten = AtomicU64::new(0);
        let finished = AtomicU64::new(0);
        let relaxed = crate::sync::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for id in 0..PRODUCERS {
                let (producer, pool) = (producer.clone(), pool.clone());
                let (grown, overwritten, finished) = (&grown, &overwritten, &finished);
                scope.spawn(move || {
                    for n in 0..EACH {
                        match producer.push(pool.insert((id, n))) {
                            Pushed::Grew => grown.fetch_add(1, relaxed),
                            Pushed::Overwrote(_) => overwritten.fetch_add(1, relaxed),
                        };
                    }
                    finished.fetch_add(1, relaxed);
                });
            }
            let mut last = [None; PRODUCERS as usize];
            let mut taken = 0;
            loop {
                let last_look = finished.load(relaxed) == PRODUCERS;
                while let Some(message) = consumer.take() {
                    let (id, n) = *message;
                    assert!(last[id as usize] < Some(n), "producer {id} went backwards");
                    last[id as usize] = Some(n);
                    taken += 1;
                }
                if last_look {
                    break;
                }
                std::thread::yield_now();
            }
            assert_eq!(taken, grown.load(relaxed));
            assert_eq!(taken + overwritten.load(relaxed), PRODUCERS * EACH);
        });
    }
}

proptest! {
    #[test]
    fn behaves_like_a_deque_that_drops_its_front(
        depth in 1usize..6,
        origin in prop_oneof![Just(0), Just((1u64 << 40) - 3), Just(u64::MAX / 2 - 2)],
        pushes in proptest::collection::vec(any::<bool>(), 0..200),
    ) {
        let (witness, pool) = (Arc::new(()), Pool::new());
        let (producer, mut consumer) = queue_at(&pool, depth, origin);
        let mut model = VecDeque::new();
        for (n, push) in pushes.into_iter().enumerate() {
            if push {
                let oldest = if model.len() == depth { model.pop_front() } else { None };
                model.push_back(n);
                match producer.push(pool.insert((n, witness.clone()))) {
                    Pushed::Grew => prop_assert_eq!(oldest, None),
                    Pushed::Overwrote(message) => prop_assert_eq!(oldest, Some(message.0)),
                }
            } else {
                prop_assert_eq!(consumer.take().map(|m| m.0), model.pop_front());
            }
            prop_assert_eq!(Arc::strong_count(&witness), 1 + model.len());
        }
        drop((producer, consumer));
        prop_assert_eq!(Arc::strong_count(&witness), 1, "the queue drops its remaining items");
    }
}
