//! Unit tests of `spsc`.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn remaining_items_are_dropped_with_the_ring() {
    let witness = Arc::new(());
    let (mut producer, mut consumer) = ring(4);
    assert_eq!(producer.push_batch((0..9).map(|_| witness.clone())), 4);
    drop(consumer.pop());
    drop((producer, consumer));
    assert_eq!(Arc::strong_count(&witness), 1);
}

/// Where positions wrap, and where the sign of a position changes.
const ORIGINS: [usize; 4] = [0, usize::MAX - 20, usize::MAX, isize::MAX as usize - 20];

type Ends<T> = (Producer<T>, Consumer<T>);

/// Pushes batches of `pushed` and pops `popped` items one by one in turns, then drops the ends.
/// Every item was dropped then.
fn fill_and_drop<const WORDS: usize>(
    (mut producer, mut consumer): Ends<(Arc<()>, [u64; WORDS])>,
    witness: &Arc<()>,
    [pushed, popped]: [usize; 2],
) {
    let mut inside = 0;
    for _ in 0..3 {
        inside += producer.push_batch((0..pushed).map(|_| (witness.clone(), [0; WORDS])));
        inside -= (0..popped).filter_map(|_| consumer.pop()).count();
        assert_eq!(Arc::strong_count(witness), 1 + inside);
    }
}

fn batches_of_every_size_are_dropped<const WORDS: usize>() {
    for (capacity, origin) in [1, 2, 8, 40].into_iter().flat_map(|c| ORIGINS.map(|o| (c, o))) {
        for pushed in 0..=capacity {
            for popped in 0..=pushed {
                let witness = Arc::new(());
                let ends = ring_at(capacity, origin);
                fill_and_drop::<WORDS>(ends, &witness, [pushed, popped]);
                assert_eq!(
                    Arc::strong_count(&witness),
                    1,
                    "{capacity} slots from {origin}, {pushed} pushed and {popped} popped"
                );
            }
        }
    }
}

#[test]
fn dropped_ring_drops_the_rest_of_every_batch() {
    batches_of_every_size_are_dropped::<0>();
    batches_of_every_size_are_dropped::<8>();
}

#[test]
fn ring_drops_all_items_even_if_a_drop_panics() {
    struct Bomb(bool, #[expect(dead_code)] Arc<()>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "an item that panics when it is dropped");
        }
    }
    let witness = Arc::new(());
    let (mut producer, mut consumer) = ring(40);
    producer.push_batch((0..40).map(|n| Bomb(n == 17, witness.clone())));
    (0..5).for_each(|_| drop(consumer.pop()));
    assert!(catch_unwind(AssertUnwindSafe(|| drop((producer, consumer)))).is_err());
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn items_read_in_place_are_dropped_there_even_by_a_panic() {
    let witness = Arc::new(());
    let (mut producer, mut consumer) = ring(20);
    assert_eq!(producer.write_batch(30, |slot| slot.write(Some(witness.clone()))), 20);
    assert_eq!(consumer.read_batch(2, |item| drop(item.take())), 2);
    assert_eq!(Arc::strong_count(&witness), 19);
    let mut seen = 0;
    let panicking = AssertUnwindSafe(|| {
        consumer.read_batch(9, |_| {
            seen += 1;
            assert!(seen < 3);
        })
    });
    assert!(catch_unwind(panicking).is_err());
    assert_eq!(Arc::strong_count(&witness), 16, "three were shown");
    assert_eq!(producer.push_batch((0..9).map(|_| None)), 5, "and their slots are free");
    assert_eq!(consumer.read_batch(usize::MAX, |_| ()), 20);
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn a_slot_counts_as_filled_only_if_it_was() {
    let (mut producer, mut consumer) = ring(4);
    let mut filled = 0;
    let forge = AssertUnwindSafe(|| {
        producer.write_batch(4, |slot| {
            filled += 1;
            if filled < 3 { slot.write(filled) } else { Box::leak(Box::new(0)) }
        })
    });
    assert!(catch_unwind(forge).is_err());
    assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some(1), Some(2), None]);
}

#[test]
fn panic_in_a_batch_loses_only_taken_items() {
    let (mut producer, mut consumer) = ring(8);
    producer.push_batch([Box::new(1), Box::new(2), Box::new(3)]);
    let result = catch_unwind(AssertUnwindSafe(|| {
        consumer.pop_batch(|item| assert_ne!(*item, 2));
    }));
    assert!(result.is_err());
    assert_eq!(consumer.pop().as_deref(), Some(&3));
    let items = std::iter::once(Box::new(4)).chain(std::iter::from_fn(|| panic!("no fifth")));
    assert!(catch_unwind(AssertUnwindSafe(|| producer.push_batch(items))).is_err());
    assert_eq!(consumer.pop().as_deref(), Some(&4));
}

#[test]
fn threads_pass_everything_on_in_order() {
    const ITEMS: u64 = 100_000;
    let (mut producer, mut consumer) = ring_at(16, usize::MAX - 50_000);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = 0;
            while next < ITEMS {
                let single = next % 3 == 0 && producer.push(Box::new(next)).is_ok();
                next += u64::from(single);
                let batch = next..ITEMS.min(next + 5);
                next += producer.push_batch(batch.map(Box::new)) as u64;
                std::thread::yield_now();
            }
        });
        let mut expected = 0;
        while expected < ITEMS {
            if let Some(item) = consumer.pop() {
                assert_eq!(*item, expected);
                expected += 1;
            }
            consumer.pop_batch(|item| {
                assert_eq!(*item, expected);
                expected += 1;
            });
            std::thread::yield_now();
        }
    });
}

proptest! {
    #[test]
    fn behaves_like_a_bounded_deque(
        capacity in prop_oneof![1usize..9, 14usize..50],
        origin in prop_oneof![Just(0), Just(usize::MAX - 13), Just(usize::MAX / 2 - 12)],
        actions in proptest::collection::vec((0u8..7, 0usize..40), 0..200),
    ) {
        let witness = Arc::new(());
        let item = |n: usize| (n, witness.clone());
        let (mut producer, mut consumer) = ring_at(capacity, origin);
        prop_assert_eq!(producer.capacity(), capacity);
        let mut model = VecDeque::new();
        for (n, (action, count)) in actions.into_iter().enumerate() {
            let room = capacity - model.len();
            match action {
                0 | 1 => {
                    prop_assert_eq!(producer.push(item(n)).is_ok(), room > 0);
                    model.extend((room > 0).then_some(n));
                }
                2 => {
                    let pushed = producer.push_batch((n..).take(count).map(item));
                    prop_assert_eq!(pushed, room.min(count));
                    model.extend((n..).take(pushed));
                }
                3 => {
                    let mut popped = Vec::new();
                    consumer.pop_batch(|item| popped.push(item.0));
                    prop_assert_eq!(popped, model.drain(..).collect::<Vec<_>>());
                }
                4 => {
                    let mut numbers = n..;
                    let written = producer.write_batch(count, |slot| {
                        slot.write(item(numbers.next().expect("numbers do not end")))
                    });
                    prop_assert_eq!(written, room.min(count));
                    model.extend((n..).take(written));
                }
                5 => {
                    let mut seen = Vec::new();
                    let due = count.min(model.len());
                    prop_assert_eq!(consumer.read_batch(count, |item| seen.push(item.0)), due);
                    prop_assert_eq!(seen, model.drain(..due).collect::<Vec<_>>());
                }
                _ => {
                    prop_assert_eq!(consumer.pop().map(|item| item.0), model.pop_front());
                }
            }
            prop_assert_eq!(consumer.is_empty(), model.is_empty());
            prop_assert_eq!(Arc::strong_count(&witness), 1 + model.len());
        }
        drop((producer, consumer));
        prop_assert_eq!(Arc::strong_count(&witness), 1, "the ring drops its remaining items");
    }
}
