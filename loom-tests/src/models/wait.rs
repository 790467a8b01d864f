//! Parking of a ring's consumer, and its wake-up.

use crate::model::Model;
use crate::ready::ring;
use crate::wait::Signal;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Release};
use loom::thread::spawn;

/// Two pushes, each with its notification, against a consumer that parks whenever it finds no item:
/// a lost wake-up would leave it parked for ever, which loom reports as a deadlock.
///
/// Without its release, the notification lets the consumer park without seeing the item, and so
/// does the sleep without its acquire; the other two let the notifier see no thread to wake.
#[test]
fn no_wake_up_is_lost() {
    Model::new(50)
        .preemptions(3)
        .kills("signal.notify", Acquire)
        .kills("signal.notify", Release)
        .kills("signal.sleep", Acquire)
        .kills("signal.sleep", Release)
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
                let mut next = || signal.wait_for(|| consumer.pop());
                [next(), next()]
            });
            pusher.join().unwrap();
            assert_eq!(waiter.join().unwrap(), [1, 2]);
        });
}
