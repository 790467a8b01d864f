//! Tests of the ready ring and of its entries.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

#[test]
fn full_ring_hands_the_token_back() {
    let (producer, mut consumer) = ring(2);
    producer.push(1).unwrap();
    producer.push(2).unwrap();
    assert_eq!(producer.push(3), Err(Full(3)));
    assert_eq!(consumer.pop(), Some(1));
    producer.push(3).unwrap();
    assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some(2), Some(3), None]);
}

#[test]
fn stale_hint_is_repaired_from_the_entries() {
    let (producer, mut consumer) = ring(4);
    for token in 0..103 {
        producer.push(token).unwrap();
        assert_eq!(consumer.pop(), Some(token));
        producer.ring.tail.store(u64::from(token) / 2, crate::sync::Ordering::Relaxed);
    }
}

#[test]
fn threads_lose_no_token_and_keep_the_order_of_each_producer() {
    const PRODUCERS: u32 = 3;
    const EACH: u32 = 20_000;
    let (producer, mut consumer) = ring(64);
    std::thread::scope(|scope| {
        for id in 0..PRODUCERS {
            let producer = producer.clone();
            scope.spawn(move || {
                for n in 0..EACH {
                    while producer.push(id * EACH + n).is_err() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let mut next = [0; PRODUCERS as usize];
        let mut left = PRODUCERS * EACH;
        while left > 0 {
            let Some(token) = consumer.pop() else {
                std::thread::yield_now();
                continue;
            };
            let (id, n) = (token / EACH, token % EACH);
            assert_eq!(next[id as usize], n, "producer {id}");
            next[id as usize] += 1;
            left -= 1;
        }
    });
    assert_eq!(consumer.pop(), None);
}

/// The messages are plain memory, so that ThreadSanitizer notices if only luck makes
/// them visible: `scripts/test-tsan` reports a race here when "ready.commit" is relaxed.
#[test]
fn message_is_visible_to_the_thread_that_pops_its_token() {
    const EACH: u64 = 2_000;
    let pool = crate::pool::Pool::new();
    let (producer, mut consumer) = ring(8);
    std::thread::scope(|scope| {
        for id in 0..3 {
            let (producer, pool) = (producer.clone(), pool.clone());
            scope.spawn(move || {
                for n in 0..EACH {
                    let token = pool.release(pool.insert(id * EACH + n));
                    while producer.push(token).is_err() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let mut sum = 0;
        for _ in 0..3 * EACH {
            let token = loop {
                match consumer.pop() {
                    Some(token) => break token,
                    None => std::thread::yield_now(),
                }
            };
            // SAFETY: a producer released this index before its push, and it is popped once.
            sum += *unsafe { pool.adopt(token) };
        }
        assert_eq!(sum, (0..3 * EACH).sum());
    });
}

#[test]
fn threads_keep_the_order_of_each_producer_while_the_ring_grows() {
    const PRODUCERS: u32 = 3;
    const EACH: u32 = 20_000;
    let (producer, mut consumer) = ring(2);
    std::thread::scope(|scope| {
        for id in 0..PRODUCERS {
            let producer = producer.clone();
            scope.spawn(move || {
                for n in 0..EACH {
                    while producer.push(id * EACH + n).is_err() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        scope.spawn(move || {
            for capacity in (2..12).map(|n| 1 << n) {
                while !producer.reserve(capacity) {
                    std::thread::yield_now();
                }
            }
        });
        let mut next = [0; PRODUCERS as usize];
        for _ in 0..PRODUCERS * EACH {
            let token = loop {
                match consumer.pop() {
                    Some(token) => break token,
                    None => std::thread::yield_now(),
                }
            };
            let (id, n) = (token / EACH, token % EACH);
            assert_eq!(next[id as usize], n, "producer {id}");
            next[id as usize] += 1;
        }
    });
    assert_eq!(consumer.pop(), None);
}

#[test]
fn rings_that_were_left_are_freed() {
    let (producer, mut consumer) = ring(1);
    let first = Arc::downgrade(&producer.ring);
    assert!(producer.reserve(2) && producer.reserve(4));
    let newest = producer.newest();
    let second = Arc::as_ptr(&newest.ring);
    drop(producer);
    assert!(first.upgrade().is_some(), "the consumer is still there");
    assert_eq!(consumer.pop(), None);
    assert!(first.upgrade().is_none());
    newest.push(1).unwrap();
    assert_eq!((consumer.pop(), Arc::as_ptr(&consumer.ring)), (Some(1), second));
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Push,
    Pop,
    Grow,
    Clone,
}

proptest! {
    #[test]
    fn behaves_like_a_bounded_deque(
        capacity in 1usize..9,
        origin in prop_oneof![Just(0), Just((1u64 << 40) - 3), Just(u64::MAX / 2 - 2)],
        actions in proptest::collection::vec(
            prop_oneof![
                20 => Just(Action::Push),
                20 => Just(Action::Pop),
                2 => Just(Action::Grow),
                1 => Just(Action::Clone),
            ],
            0..300,
        ),
    ) {
        let (producer, mut consumer) = ring_at(capacity, origin);
        let mut capacity = capacity.next_power_of_two();
        let mut producers = vec![producer];
        let (mut model, mut seen) = (VecDeque::new(), origin);
        // Tokens from before the ring grew take no place in the larger one.
        let mut pushed = 0;
        for (n, action) in actions.into_iter().enumerate() {
            let producer = &producers[n % producers.len()];
            match action {
                Action::Push => {
                    let expected = pushed.min(model.len()) < capacity;
                    prop_assert_eq!(producer.push(n as u32).is_ok(), expected);
                    if expected {
                        model.push_back(n as u32);
                        pushed += 1;
                    }
                }
                Action::Pop => prop_assert_eq!(consumer.pop(), model.pop_front()),
                Action::Grow if capacity < 1 << 12 => {
                    let is_full = pushed.min(model.len()) == capacity;
                    prop_assert_eq!(producers[0].reserve(2 * capacity), !is_full);
                    if !is_full {
                        (capacity, pushed) = (2 * capacity, 0);
                    }
                }
                Action::Grow | Action::Clone => producers.push(producers[0].newest()),
            }
            prop_assert_eq!(producers[0].capacity(), capacity);
            prop_assert_eq!(consumer.is_empty(), model.is_empty());
            prop_assert_eq!(consumer.len(), model.len());
            if n % 3 == 0 {
                seen = consumer.end_after(seen);
                let end = consumer.head().wrapping_add(model.len() as u64);
                prop_assert_eq!(seen, end);
            }
        }
    }
}

#[test]
fn distance_survives_the_wrap_of_the_stored_sequence() {
    for position in [0, 1, (1 << 40) - 1, 1 << 40, (1 << 40) + 5, u64::MAX] {
        for distance in [-7i64, -1, 0, 1, 1000] {
            let word = Word::new(position.wrapping_add(distance as u64), 3);
            assert_eq!(word.ahead_of(position), distance, "position {position}");
            assert_eq!(word.emptied().ahead_of(position), distance);
        }
    }
}

#[test]
fn value_and_emptiness_are_told_apart() {
    let word = Word::new(9, MAX_VALUE);
    assert_eq!((word.value(), word.is_empty()), (MAX_VALUE, false));
    assert!(word.emptied().is_empty());
}
