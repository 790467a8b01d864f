//! The signal that wakes a ring's consumer.

use super::join;
use crate::explore::Model;
use crate::ready::ring_at;
use crate::wait::{Park, Signal};
use shuttle::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// Two producers and a consumer that parks whenever it finds no item; a lost notification is a
/// deadlock.
#[test]
fn a_parked_consumer_receives_every_item() {
    Model::new(1_000).check(|| {
        let (producer, mut consumer) = ring_at(16, 0);
        let signal = Arc::new(Signal::new());
        let threads = [0, 1].map(|id| {
            let (producer, signal) = (producer.clone(), signal.clone());
            spawn(move || {
                for n in 0..5 {
                    producer.push(id * 10 + n).unwrap();
                    signal.notify();
                }
            })
        });
        let receiver = spawn(move || {
            for _ in 0..10 {
                assert!(signal.wait_for(&mut Park, Duration::MAX, || consumer.pop()).is_some());
            }
        });
        join(threads);
        join([receiver]);
    });
}
