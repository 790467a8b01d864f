//! The single-producer, single-consumer ring. It has no read-modify-write to tear; the cells detect
//! wrong cursors.

use super::Senders;
use crate::explore::Model;
use crate::spsc::{Full, ring_at};
use shuttle::thread::yield_now;

/// Single items and batches, several laps and past the wrap of the cursors.
#[test]
fn singles_and_batches() {
    for capacity in [3, 5] {
        Model::new(1_000).check(move || run(capacity));
    }
}

fn run(capacity: usize) {
    let (producer, mut consumer) = ring_at(capacity, usize::MAX - 4);
    let producer = std::sync::Mutex::new(Some(producer));
    let senders = Senders::spawn(1, |_| {
        let mut producer = producer.lock().unwrap().take().expect("there is one sender");
        move || {
            let mut sent = 0;
            while sent < 20 {
                sent += producer.push_batch(sent..sent + 4);
                while let Err(Full(item)) = producer.push(sent) {
                    assert_eq!(item, sent);
                    yield_now();
                }
                sent += 1;
            }
            sent
        }
    });
    let mut received = Vec::new();
    let sent = senders.receive(|| {
        received.extend(consumer.pop());
        consumer.read_batch(2, |item| received.push(*item));
        consumer.pop_batch(|item| received.push(item));
    });
    assert_eq!(received, (0..sent[0]).collect::<Vec<_>>());
    assert!(consumer.is_empty());
}
