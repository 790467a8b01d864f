//! The multiplexer on one thread and on several: against models, under joins and leaves, with
//! drops that panic.

use super::{Consumer, Multiplexer, Producer, multiplexer, multiplexer_at};
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
    assert::<(Producer<u8>, Multiplexer<u8>, Consumer<u8>)>();
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

struct Reader {
    consumer: Consumer<Arc<u64>>,
    expected: VecDeque<u64>,
}

fn push_batch(
    producer: &mut Producer<Arc<u64>>,
    readers: &mut [Reader],
    next: u64,
    count: usize,
) -> usize {
    let room = readers.iter().map(|reader| producer.capacity() - reader.expected.len());
    let room = room.min().unwrap_or(producer.capacity());
    let mut items = (next..).map(Arc::new).take(count);
    let pushed = producer.push_batch(&mut items);
    assert_eq!(pushed, count.min(room));
    assert_eq!(items.count(), count - pushed, "items that were not pushed are left");
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
        let (mut producer, multiplexer) = multiplexer_at(capacity, CONSUMERS, origin);
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
    let (mut producer, multiplexer) = multiplexer(4, 1);
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
            let (mut producer, multiplexer) = multiplexer_at(capacity, 1, origin);
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
        let (mut producer, multiplexer) = multiplexer(capacity, 1);
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
    let (mut producer, multiplexer) = multiplexer(20, 1);
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
    let (mut producer, multiplexer) = multiplexer(1, 1);
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
    let (mut producer, multiplexer) = multiplexer(1, 1);
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
    let (mut producer, multiplexer) = multiplexer(4, 1);
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
    let (mut producer, multiplexer) = multiplexer(2, 1);
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

/// Reads until the producer is dropped; returns the number of items.
fn follow(mut consumer: Consumer<[u64; 8]>, batch: usize) -> u64 {
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
        let (mut producer, multiplexer) = multiplexer(capacity, 3);
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
