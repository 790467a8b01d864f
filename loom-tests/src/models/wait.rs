//! Parking of a ring's consumer, and its wake-up.

use crate::model::Model;
use crate::ready::ring;
use crate::wait::{Park, Signal};
use loom::sync::Arc;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::time::Duration;

/// Two pushes, each with its notification, against a consumer that parks whenever it finds no item:
/// a lost wake-up would leave it parked for ever, which loom reports as a deadlock.
///
/// Kills the relaxed notification and the relaxed announcement of sleep: with either one, the
/// consumer can park without seeing the item.
#[test]
fn no_wake_up_is_lost() {
    Model::new(50)
        .preemptions(3)
        .kills("signal.notify", Relaxed)
        .kills("signal.sleep", Relaxed)
        .check(|| {
            let (producer, mut consumer) = ring(2);
            let signal = Arc::new(Signal::new());
            let notifier = signal.clone();
            let pusher = spawn(move || {
                for token in 1..=2 {
                    producer.push(token).unwrap();
                    notifier.notify();
                }
            });
            let waiter = spawn(move || {
                let mut next = || signal.wait_for(&mut Park, Duration::MAX, || consumer.pop());
                [next(), next()]
            });
            pusher.join().unwrap();
            assert_eq!(waiter.join().unwrap(), [Some(1), Some(2)]);
        });
}
