//! Both multiplexers on one thread and on several: against models, under joins and leaves, with
//! drops that panic.

use super::{gating, overrun};
use crate::pool::{Pool, Shared};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Where stored sequences wrap, or the sign of a difference would change.
fn origins() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just((1u64 << 40) - 5), Just(u64::MAX / 2 - 5)]
}

/// A step of a thread or a property test; the number is the consumer's, or that of repetitions.
#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    PushBatch(usize),
    Read(usize),
    ReadBatch(usize, usize),
    Join,
    Leave(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Push),
        1 => (0usize..40).prop_map(Step::PushBatch),
        8 => (0usize..9).prop_map(Step::Read),
        2 => (0usize..9, 0usize..30).prop_map(|(who, count)| Step::ReadBatch(who, count)),
        1 => Just(Step::Join),
        1 => (0usize..9).prop_map(Step::Leave),
    ];
    proptest::collection::vec(step, 0..200)
}

/// Neighbouring items differ in all words, so a torn or foreign one does not add up.
fn block(sequence: u64) -> [u64; 8] {
    std::array::from_fn(|n| (sequence + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 << n))
}

fn sequence_of(block: &[u64; 8]) -> u64 {
    let sequence = block[0].wrapping_mul(0xF1DE_83E1_9937_733D).wrapping_sub(1);
    assert_eq!(*block, self::block(sequence), "the item is damaged");
    sequence
}

#[test]
fn handles_are_send_and_sync() {
    fn assert<T: Send + Sync>() {}
    assert::<(gating::Producer<u8>, gating::Multiplexer<u8>, gating::Consumer<u8>)>();
    assert::<(overrun::Producer<u8>, overrun::Multiplexer<u8>, overrun::Consumer<u8>)>();
}

/// Panics when it is dropped, if told so.
#[derive(Debug)]
struct Bomb {
    live: bool,
    _witness: Arc<()>,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.live, "an item that cannot be dropped");
    }
}

fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(f()))).is_err()
}

mod gating_ring {
    use super::*;

    struct Reader {
        consumer: gating::Consumer<Arc<u64>>,
        expected: VecDeque<u64>,
    }

    fn push_batch(
        producer: &mut gating::Producer<Arc<u64>>,
        readers: &mut [Reader],
        next: u64,
        count: usize,
    ) -> usize {
        let room = readers.iter().map(|reader| producer.capacity() - reader.expected.len());
        let room = room.min().unwrap_or(producer.capacity());
        let mut items = (next..).map(Arc::new).take(count);
        let pushed = producer.push_batch(&mut items);
        assert_eq!(pushed, count.min(room));
        assert_eq!(items.count(), count - pushed, "what was not pushed is left");
        readers.iter_mut().for_each(|reader| reader.expected.extend(next..next + pushed as u64));
        pushed
    }

    proptest! {
        #[test]
        fn every_consumer_sees_a_bounded_deque(
            capacity in prop_oneof![1usize..9, 15usize..40],
            origin in origins(),
            steps in steps(),
        ) {
            const CONSUMERS: usize = 3;
            let (mut producer, multiplexer) = gating::multiplexer_at(capacity, CONSUMERS, origin);
            let mut readers = Vec::<Reader>::new();
            let mut next = 0;
            for step in steps {
                let count = readers.len().max(1);
                match step {
                    Step::Push => {
                        let full = |r: &Reader| r.expected.len() == producer.capacity();
                        let accepted = !readers.iter().any(full);
                        prop_assert_eq!(producer.push(Arc::new(next)).is_ok(), accepted);
                        if accepted {
                            readers.iter_mut().for_each(|reader| reader.expected.push_back(next));
                            next += 1;
                        }
                    }
                    Step::PushBatch(count) => {
                        next += push_batch(&mut producer, &mut readers, next, count) as u64;
                    }
                    Step::Join => match multiplexer.join() {
                        Ok(consumer) => {
                            readers.push(Reader { consumer, expected: VecDeque::new() });
                        }
                        Err(_) => prop_assert_eq!(readers.len(), CONSUMERS),
                    },
                    Step::Leave(who) if !readers.is_empty() => {
                        readers.swap_remove(who % count);
                    }
                    Step::Read(who) if !readers.is_empty() => {
                        let Reader { consumer, expected } = &mut readers[who % count];
                        prop_assert_eq!(consumer.is_empty(), expected.is_empty());
                        prop_assert_eq!(consumer.read().map(|item| **item), expected.pop_front());
                    }
                    Step::ReadBatch(who, most) if !readers.is_empty() => {
                        let Reader { consumer, expected } = &mut readers[who % count];
                        let mut seen = Vec::new();
                        let read = consumer.read_batch(most, |item| seen.push(**item));
                        let due = expected.drain(..most.min(expected.len())).collect::<Vec<_>>();
                        prop_assert_eq!((read, &seen), (due.len(), &due));
                    }
                    _ => (),
                }
            }
        }
    }

    #[test]
    fn items_are_dropped_when_overwritten_and_with_the_ring() {
        let witness = Arc::new(());
        let (mut producer, multiplexer) = gating::multiplexer(4, 1);
        for pushed in 1..=11 {
            producer.push(witness.clone()).unwrap();
            assert_eq!(Arc::strong_count(&witness), 1 + pushed.min(4));
        }
        let consumer = multiplexer.join().unwrap();
        drop((producer, multiplexer));
        assert_eq!(Arc::strong_count(&witness), 5);
        assert!(consumer.is_abandoned());
        drop(consumer);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn dropped_multiplexer_drops_the_rest_of_every_batch() {
        for (capacity, origin) in [(1, 0), (8, (1 << 40) - 5), (40, 0), (40, u64::MAX / 2 - 5)] {
            for (pushed, read) in (0..=capacity).flat_map(|n| (0..=n).map(move |m| (n, m))) {
                let witness = Arc::new(());
                let (mut producer, multiplexer) = gating::multiplexer_at(capacity, 1, origin);
                let mut consumer = multiplexer.join().unwrap();
                for _ in 0..3 {
                    producer.push_batch(&mut (0..pushed).map(|_| witness.clone()));
                    consumer.read_batch(read, |_| ());
                }
                drop((producer, multiplexer, consumer));
                let left = Arc::strong_count(&witness) - 1;
                assert_eq!(left, 0, "{capacity} from {origin}, {pushed} pushed and {read} read");
            }
        }
    }

    #[test]
    fn little_more_than_the_capacity_stays() {
        for (capacity, stays) in [(1, 1), (15, 15), (16, 16), (17, 18), (60, 60), (100, 105)] {
            let witness = Arc::new(());
            let (mut producer, multiplexer) = gating::multiplexer(capacity, 1);
            for pushed in 0..300 {
                assert_eq!(Arc::strong_count(&witness), 1 + pushed.min(stays));
                producer.push(witness.clone()).unwrap();
            }
            drop((producer, multiplexer));
            assert_eq!(Arc::strong_count(&witness), 1);
        }
    }

    #[test]
    fn panicking_batch_is_published_up_to_the_panic() {
        let (mut producer, multiplexer) = gating::multiplexer(20, 1);
        let mut consumer = multiplexer.join().unwrap();
        let mut items = (0..).inspect(|n| assert!(*n < 17, "no eighteenth"));
        assert!(panics(|| producer.push_batch(&mut items)));
        let mut sum = 0;
        assert_eq!(consumer.read_batch(usize::MAX, |item| sum += item), 17);
        assert_eq!(sum, (0..17).sum());
        assert_eq!(producer.push_batch(&mut (0..30)), 20);
    }

    #[test]
    fn place_is_free_after_its_consumer_left() {
        let (mut producer, multiplexer) = gating::multiplexer(1, 1);
        for n in 0..5 {
            let mut consumer = multiplexer.join().unwrap();
            assert!(multiplexer.join().is_err());
            if n % 2 == 0 {
                continue; // leaves before it was admitted
            }
            producer.push(n).unwrap();
            assert!(producer.push(n).is_err());
            assert_eq!(*consumer.read().unwrap(), n);
        }
        producer.push(7).expect("no consumer gates");
    }

    #[test]
    fn item_of_a_forgotten_guard_is_read_again() {
        let (mut producer, multiplexer) = gating::multiplexer(1, 1);
        let mut consumer = multiplexer.join().unwrap();
        producer.push(1).unwrap();
        std::mem::forget(consumer.read());
        assert!(producer.push(2).is_err());
        assert_eq!(*consumer.read().unwrap(), 1);
        producer.push(2).unwrap();
        std::mem::forget(consumer);
        assert!(producer.push(3).is_err(), "gated for ever");
    }

    #[test]
    fn panicking_reader_has_read_the_shown_items() {
        let (mut producer, multiplexer) = gating::multiplexer(4, 1);
        let mut consumer = multiplexer.join().unwrap();
        assert_eq!(producer.push_batch(&mut (0..4)), 4);
        assert!(panics(|| consumer.read_batch(9, |item| assert_ne!(*item, 1))));
        assert!(panics(|| {
            let guard = consumer.read().unwrap();
            assert_ne!(*guard, 2);
        }));
        assert_eq!(consumer.read().as_deref(), Some(&3));
        assert!(consumer.is_empty());
        assert_eq!(producer.push_batch(&mut (4..9)), 4, "all were passed");
    }

    #[test]
    fn ring_works_after_a_panicking_drop() {
        let witness = Arc::new(());
        let bomb = |live| Bomb { live, _witness: witness.clone() };
        let (mut producer, multiplexer) = gating::multiplexer(2, 1);
        let mut consumer = multiplexer.join().unwrap();
        assert!(producer.push(bomb(true)).is_ok());
        assert!(producer.push(bomb(false)).is_ok());
        assert_eq!(consumer.read_batch(2, |_| ()), 2);
        assert!(panics(|| producer.push(bomb(true)).is_ok()));
        assert!(consumer.read().unwrap().live, "the push went through");
        assert!(producer.push(bomb(false)).is_ok());
        drop((producer, multiplexer));
        assert!(panics(|| drop(consumer)));
        assert_eq!(Arc::strong_count(&witness), 1, "nothing is dropped twice or left");
    }

    /// Reads on until the producer is gone; answers how many.
    fn follow(mut consumer: gating::Consumer<[u64; 8]>, batch: usize) -> u64 {
        let mut last = None;
        let mut count = 0;
        loop {
            let was_abandoned = consumer.is_abandoned();
            let read = consumer.read_batch(batch, |item| {
                let sequence = sequence_of(item);
                assert!(last.is_none_or(|last| sequence == last + 1), "{last:?} then {sequence}");
                last = Some(sequence);
                count += 1;
            });
            match read {
                0 if was_abandoned => return count,
                0 => std::thread::yield_now(),
                _ => (),
            }
        }
    }

    #[test]
    fn threads_see_every_item_while_others_come_and_go() {
        const ITEMS: u64 = 40_000;
        for capacity in [1, 4, 64] {
            let (mut producer, multiplexer) = gating::multiplexer(capacity, 3);
            let residents = [1, 7].map(|batch| (multiplexer.join().unwrap(), batch));
            std::thread::scope(|scope| {
                let residents =
                    residents.map(|(consumer, batch)| scope.spawn(move || follow(consumer, batch)));
                let visitors = scope.spawn(move || {
                    let mut visits = 0;
                    let mut abandoned = false;
                    while !abandoned {
                        let mut visitor = multiplexer.join().unwrap();
                        let mut last = None;
                        for _ in 0..20 {
                            if let Some(item) = visitor.read() {
                                let sequence = sequence_of(&item);
                                assert!(last.is_none_or(|last| sequence == last + 1));
                                last = Some(sequence);
                            }
                            std::thread::yield_now();
                        }
                        visits += 1;
                        abandoned = visitor.is_abandoned();
                    }
                    visits
                });
                for sequence in 0..ITEMS {
                    while producer.push(block(sequence)).is_err() {
                        std::thread::yield_now();
                    }
                }
                drop(producer);
                for resident in residents {
                    assert_eq!(resident.join().unwrap(), ITEMS);
                }
                assert!(visitors.join().unwrap() > 0);
            });
        }
    }
}

mod overrun_ring {
    use super::*;

    #[test]
    fn dropped_multiplexer_drops_the_rest_of_every_batch() {
        for origin in [0, (1 << 40) - 5, u64::MAX / 2 - 5] {
            for (pushed, read) in (0..=11).flat_map(|n| (0..=n).map(move |m| (n, m))) {
                let (witness, pool) = (Arc::new(()), Pool::new());
                let (mut producer, multiplexer) = overrun::multiplexer_at(&pool, 8, origin);
                let mut consumer = multiplexer.join();
                for _ in 0..3 {
                    producer.push_batch((0..pushed).map(|_| pool.insert(witness.clone())));
                    (0..read).for_each(|_| drop(consumer.read()));
                }
                drop((producer, multiplexer, consumer));
                let left = Arc::strong_count(&witness) - 1;
                assert_eq!(left, 0, "from {origin}, {pushed} pushed and {read} read");
            }
        }
    }

    /// A deque of the newest messages, and how many fell out in front since the last read.
    struct Reader {
        consumer: overrun::Consumer<u64>,
        expected: VecDeque<u64>,
        lost: u64,
    }

    impl Reader {
        fn note(&mut self, message: u64, capacity: usize) {
            if self.expected.len() == capacity {
                self.expected.pop_front();
                self.lost += 1;
            }
            self.expected.push_back(message);
        }

        fn read(&mut self) {
            assert_eq!(self.consumer.is_empty(), self.expected.is_empty());
            match self.consumer.read() {
                Ok(message) => {
                    assert_eq!(self.lost, 0);
                    assert_eq!(message.as_deref().copied(), self.expected.pop_front());
                }
                Err(overrun) => {
                    assert_eq!(overrun.lost, self.lost);
                    self.lost = 0;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_consumer_sees_a_deque_that_drops_its_front(
            capacity in 1usize..9,
            origin in origins(),
            steps in steps(),
        ) {
            let pool = Pool::new();
            let (mut producer, multiplexer) = overrun::multiplexer_at(&pool, capacity, origin);
            let capacity = producer.capacity();
            let mut readers = Vec::<Reader>::new();
            let mut next = 0u64;
            for step in steps {
                let count = readers.len().max(1);
                match step {
                    Step::Push => {
                        let displaced = producer.push(pool.insert(next)).map(|message| *message);
                        prop_assert_eq!(displaced, next.checked_sub(capacity as u64));
                        readers.iter_mut().for_each(|reader| reader.note(next, capacity));
                        next += 1;
                    }
                    Step::PushBatch(count) => {
                        let messages = (next..next + count as u64).map(|n| pool.insert(n));
                        producer.push_batch(messages);
                        for _ in 0..count {
                            readers.iter_mut().for_each(|reader| reader.note(next, capacity));
                            next += 1;
                        }
                    }
                    Step::Join => {
                        let (consumer, expected) = (multiplexer.join(), VecDeque::new());
                        readers.push(Reader { consumer, expected, lost: 0 });
                    }
                    Step::Leave(who) if !readers.is_empty() => {
                        readers.swap_remove(who % count);
                    }
                    Step::Read(who) if !readers.is_empty() => readers[who % count].read(),
                    Step::ReadBatch(who, reads) if !readers.is_empty() => {
                        (0..reads).for_each(|_| readers[who % count].read());
                    }
                    _ => (),
                }
            }
            prop_assert!(pool.capacity() <= (capacity + 1).next_power_of_two() * 2);
        }
    }

    #[test]
    fn clone_continues_from_the_same_position() {
        let pool = Pool::new();
        let (mut producer, multiplexer) = overrun::multiplexer(&pool, 4);
        let mut first = multiplexer.join();
        producer.push_batch([1, 2].map(|n| pool.insert(n)));
        assert_eq!(first.read().unwrap().as_deref(), Some(&1));
        let mut second = first.clone();
        assert_eq!(second.read().unwrap().as_deref(), Some(&2));
        assert_eq!(first.read().unwrap().as_deref(), Some(&2));
        assert!(multiplexer.join().is_empty());
    }

    #[test]
    fn messages_are_dropped_with_the_ring_unless_they_are_held() {
        let witness = Arc::new(());
        let pool = Pool::new();
        let (mut producer, multiplexer) = overrun::multiplexer(&pool, 2);
        let mut consumer = multiplexer.join();
        producer.push(pool.insert(witness.clone()));
        let held = consumer.read().unwrap();
        producer.push_batch((0..6).map(|_| pool.insert(witness.clone())));
        assert_eq!(Arc::strong_count(&witness), 1 + 2 + 1);
        drop((producer, multiplexer, pool));
        assert!(consumer.is_abandoned());
        drop(consumer);
        assert_eq!(Arc::strong_count(&witness), 1 + 1);
        drop(held);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn message_leaves_two_rings_one_after_the_other() {
        let witness = Arc::new(());
        let pool = Pool::new();
        let rings = [(); 2].map(|()| overrun::multiplexer(&pool, 1));
        let message = pool.insert(witness.clone());
        let mut rings = rings.map(|(mut producer, multiplexer)| {
            let mut consumer = multiplexer.join();
            assert!(producer.push(message.clone()).is_none());
            let read: Shared<_> = consumer.read().unwrap().unwrap();
            assert!(Arc::ptr_eq(&read, &message));
            (producer, consumer)
        });
        drop(message);
        for (producer, consumer) in &mut rings {
            assert_eq!(Arc::strong_count(&witness), 2);
            producer.push(pool.insert(Arc::new(())));
            assert!(consumer.read().is_ok());
        }
        assert_eq!(Arc::strong_count(&witness), 1);
        assert_eq!(pool.capacity(), 4);
    }

    #[test]
    #[should_panic(expected = "another pool")]
    fn message_of_another_pool_is_refused() {
        let (mut producer, _multiplexer) = overrun::multiplexer(&Pool::new(), 1);
        producer.push(Pool::new().insert(1));
    }

    #[test]
    fn ring_works_after_a_panicking_drop() {
        let witness = Arc::new(());
        let bomb = |live| Bomb { live, _witness: witness.clone() };
        let pool = Pool::new();
        let (mut producer, multiplexer) = overrun::multiplexer(&pool, 2);
        let mut consumer = multiplexer.join();
        producer.push_batch([true, true].map(|live| pool.insert(bomb(live))));
        assert!(panics(|| producer.push(pool.insert(bomb(false)))));
        assert!(panics(|| producer.push_batch([pool.insert(bomb(true))])));
        assert_eq!(consumer.read().unwrap_err().lost, 2);
        assert!(!consumer.read().unwrap().unwrap().live);
        producer.push(pool.insert(bomb(false)));
        drop((producer, multiplexer));
        assert!(panics(|| drop(consumer)));
        assert_eq!(Arc::strong_count(&witness), 1, "nothing is dropped twice or left");
    }

    /// Reads until the producer is gone, and accounts for every message since `next`.
    fn follow(mut consumer: overrun::Consumer<[u64; 8]>, next: Option<u64>) -> u64 {
        let mut next = next;
        let mut lost_since = 0;
        let mut held = VecDeque::new();
        loop {
            let was_abandoned = consumer.is_abandoned();
            match consumer.read() {
                Ok(Some(message)) => {
                    let sequence = sequence_of(&message);
                    assert_eq!(next.map_or(sequence, |next| next + lost_since), sequence);
                    next = Some(sequence + 1);
                    lost_since = 0;
                    held.push_back((sequence, message));
                    if held.len() > 5 {
                        let (sequence, message) = held.pop_front().unwrap();
                        assert_eq!(sequence_of(&message), sequence, "overwritten while held");
                    }
                }
                Ok(None) if was_abandoned => return next.unwrap_or(0) + lost_since,
                Ok(None) => std::thread::yield_now(),
                Err(overrun) => lost_since += overrun.lost,
            }
        }
    }

    #[test]
    fn threads_account_for_every_message_while_others_come_and_go() {
        const MESSAGES: u64 = 60_000;
        for capacity in [1, 2, 64] {
            let pool = Pool::new();
            let (mut producer, multiplexer) = overrun::multiplexer(&pool, capacity);
            let residents = [(); 2].map(|()| multiplexer.join());
            std::thread::scope(|scope| {
                let residents =
                    residents.map(|consumer| scope.spawn(move || follow(consumer, Some(0))));
                scope.spawn(move || {
                    while !multiplexer.join().is_abandoned() {
                        let mut visitor = multiplexer.join();
                        for _ in 0..20 {
                            if let Ok(Some(message)) = visitor.read() {
                                sequence_of(&message);
                            }
                        }
                        std::thread::yield_now();
                    }
                    assert_eq!(follow(multiplexer.join(), None), 0, "nothing comes after the end");
                });
                for sequence in 0..MESSAGES {
                    producer.push(pool.insert(block(sequence)));
                    if sequence % 64 == 0 {
                        std::thread::yield_now();
                    }
                }
                drop(producer);
                for resident in residents {
                    assert_eq!(resident.join().unwrap(), MESSAGES);
                }
            });
        }
    }
}
