//! Streams of other runtimes: live, messages reach them without the executor.

use crate::{in_every_mode, on_one_core};
use ringspin_executor::{MessageStream, QoS};
use ringspin_modes::Executor;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn live() -> [Executor; 2] {
    [Executor::single_core(), on_one_core()]
}

/// The messages that wait.
fn taken(numbers: &mut MessageStream<u64>) -> Vec<u64> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut next = || match pin!(numbers.next()).poll(&mut cx) {
        Poll::Ready(number) => Some(*number),
        Poll::Pending => None,
    };
    std::iter::from_fn(&mut next).collect()
}

#[test]
fn messages_come_live_without_the_executor_and_the_newest_stay() {
    for qos in [QoS::keep_last(2), QoS::keep_all(2)] {
        for mut executor in live() {
            let node = executor.create_node("node", ()).unwrap();
            let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
            let mut numbers = node.create_detached_stream::<u64>("numbers", qos).unwrap();
            executor.freeze().unwrap();
            assert!(taken(&mut numbers).is_empty());
            (0..5).for_each(|number| out.publish(number).unwrap());
            assert_eq!(taken(&mut numbers), [3, 4]);
            let statistics = executor.statistics();
            assert_eq!((statistics.dispatched(), statistics.overwritten()), (5, 3));
        }
    }
}

#[test]
fn messages_are_events_in_simulated_time() {
    let mut executor = Executor::deterministic(Default::default());
    let node = executor.create_node("node", ()).unwrap();
    let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let qos = QoS::keep_last(3);
    let mut numbers = node.create_detached_stream::<u64>("numbers", qos).unwrap();
    executor.freeze().unwrap();
    (0..5).for_each(|number| out.publish(number).unwrap());
    assert!(taken(&mut numbers).is_empty());
    executor.spin_for(MS).unwrap();
    assert_eq!(taken(&mut numbers), [2, 3, 4]);
    let statistics = executor.statistics();
    assert_eq!((statistics.dispatched(), statistics.overwritten()), (3, 2));
    let expiring =
        node.create_publisher::<u64>("numbers", QoS::default().lifespan(5 * MS)).unwrap();
    expiring.publish(5).unwrap();
    executor.spin_for(5 * MS).unwrap();
    expiring.publish(6).unwrap();
    executor.spin_for(MS).unwrap();
    assert_eq!(taken(&mut numbers), [6]);
    assert_eq!(executor.statistics().expired(), 1);
}

#[test]
fn late_stream_gets_what_was_kept_and_ends_with_its_handle_or_node() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let qos = QoS::keep_last(2).transient_local();
        let out = node.create_publisher::<u64>("numbers", qos).unwrap();
        executor.freeze().unwrap();
        (0..3).for_each(|number| out.publish(number).unwrap());
        let mut first = node.create_detached_stream::<u64>("numbers", qos).unwrap();
        let other = executor.create_node("other", ()).unwrap();
        let mut second = other.create_detached_stream::<u64>("numbers", qos).unwrap();
        executor.spin_for(MS).unwrap();
        assert_eq!([taken(&mut first), taken(&mut second)], [[1, 2]; 2]);
        drop(first);
        assert_eq!(out.subscription_count().unwrap(), 1);
        out.publish(3).unwrap();
        executor.spin_for(MS).unwrap();
        other.destroy();
        executor.spin_for(MS).unwrap();
        out.publish(4).unwrap();
        assert!(taken(&mut second).is_empty(), "what waits is dropped");
        assert_eq!(out.subscription_count().unwrap(), 0);
    });
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// A wake-up that is lost would leave the thread parked for ever.
#[test]
fn thread_that_awaits_gets_each_message_of_other_threads_once_and_in_order() {
    const EACH: u64 = 2_000;
    const LAST: u64 = 1 << 32;
    let mut executor = Executor::single_core();
    let node = executor.create_node("node", ()).unwrap();
    let depth = QoS::keep_last(64);
    let mut numbers = node.create_detached_stream::<u64>("numbers", depth).unwrap();
    let outs = [0, 1].map(|_| node.create_publisher::<u64>("numbers", QoS::default()).unwrap());
    executor.freeze().unwrap();
    let heard = thread::spawn(move || {
        let (mut next, mut heard) = ([0; 2], 0);
        while next != [LAST + 1; 2] {
            let number = *block_on(numbers.next());
            let of = &mut next[(number % 2) as usize];
            assert!(number / 2 >= *of, "{number} comes twice or too late");
            *of = number / 2 + 1;
            heard += 1;
        }
        heard
    });
    thread::scope(|scope| {
        for (number, out) in (0..).zip(&outs) {
            scope.spawn(move || {
                (0..EACH).for_each(|n| out.publish(2 * n + number).unwrap());
            });
        }
    });
    outs.iter().zip(0..).for_each(|(out, number)| out.publish(2 * LAST + number).unwrap());
    let heard: u64 = heard.join().unwrap();
    let statistics = executor.statistics();
    assert_eq!(heard + statistics.overwritten(), 2 * (EACH + 1));
    assert_eq!(statistics.dispatched(), 2 * (EACH + 1));
}
