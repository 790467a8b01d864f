//! Bursts of slow callbacks: how long a due timer and the end of a spin wait for them.
//!
//! Nothing here depends on the speed of the machine: a slow callback takes a multiple of the
//! timer's period by the executor's own clock, so the timer is due after each of them.

use crate::{Log, entries, log, on_one_core};
use ringspin_executor::{Clock, Context, Message, Node, QoS, ReadyOrder, WaitStrategy};
use ringspin_modes::Executor;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const PERIOD: Duration = MS;
const SLOW: Duration = Duration::from_millis(2);

/// An entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Timer,
    Quick,
    Slow,
}

/// Computes for `duration` of the executor's time.
fn compute(clock: &impl Clock, duration: Duration) {
    let end = clock.now() + duration;
    while clock.now() < end {}
}

/// A node with a timer of [`PERIOD`] that logs its calls.
fn ticking(executor: &Executor, calls: &Log<Call>) -> Node<Log<Call>> {
    let node = executor.create_node("control", calls.clone()).unwrap();
    node.create_timer(PERIOD, |calls, _| calls.lock().unwrap().push(Call::Timer)).unwrap();
    node
}

/// Adds a subscription: its callback returns at once for 0 and takes [`SLOW`] for other messages,
/// and queues `quick` and then `slow` of them; the last one stops the executor.
fn burden(executor: &mut Executor, calls: &Log<Call>, [quick, slow]: [usize; 2]) {
    let node = executor.create_node("bulk", calls.clone()).unwrap();
    let (clock, all) = (node.clock(), quick + slow);
    let mut seen = 0;
    let callback = move |calls: &mut Log<Call>, n: &Message<u8>, cx: &mut Context<'_>| {
        seen += 1;
        if seen == all {
            cx.stop();
        }
        let call = if **n == 0 { Call::Quick } else { Call::Slow };
        calls.lock().unwrap().push(call);
        if call == Call::Slow {
            compute(&clock, SLOW);
        }
    };
    node.create_subscription("jobs", QoS::keep_last(all), callback).unwrap();
    let out = node.create_publisher::<u8>("jobs", QoS::default()).unwrap();
    executor.freeze().unwrap();
    (0..quick).for_each(|_| out.publish(0).unwrap());
    (0..slow).for_each(|_| out.publish(1).unwrap());
}

/// Most slow calls without a call of the timer in between.
fn longest_burst(calls: &[Call]) -> usize {
    let bursts = calls.split(|call| *call == Call::Timer);
    let slow = |burst: &[Call]| burst.iter().filter(|call| **call == Call::Slow).count();
    bursts.map(slow).max().unwrap_or_default()
}

fn live_modes() -> [Executor; 3] {
    let spinning = on_one_core().with_wait_strategy(WaitStrategy::Spin);
    [Executor::single_core(), on_one_core(), spinning]
}

/// Quick calls before the slow ones must not be taken for a forecast.
const HISTORIES: [[usize; 2]; 5] = [[0, 10], [0, 64], [64, 30], [1_000, 12], [20_000, 12]];

#[test]
fn due_timer_of_higher_priority_waits_for_one_callback_at_most() {
    for history in HISTORIES {
        for mut executor in live_modes() {
            let calls = log();
            ticking(&executor, &calls).set_priority(10).unwrap();
            burden(&mut executor, &calls, history);
            executor.spin().unwrap();
            assert_eq!(longest_burst(&entries(&calls)), 1, "{history:?}");
        }
    }
}

/// A node that has only timer events waits for one turn of each other node.
#[test]
fn due_timer_of_equal_priority_waits_for_one_turn_of_each_other_node() {
    const TURN: usize = 4;
    for history in HISTORIES {
        for mut executor in live_modes() {
            let calls = log();
            ticking(&executor, &calls);
            burden(&mut executor, &calls, history);
            executor.spin().unwrap();
            // One call may begin just before the timer is due, and is not one of the turn's.
            assert!(longest_burst(&entries(&calls)) <= TURN + 1, "{history:?}");
        }
    }
}

/// The end of a spin is obeyed like a timer, also without any timer.
#[test]
fn spin_for_returns_after_the_callback_that_reaches_its_end() {
    for history in HISTORIES {
        for order in [ReadyOrder::RoundRobin, ReadyOrder::Fifo] {
            for executor in live_modes() {
                let mut executor = executor.with_ready_order(order);
                let calls = log();
                burden(&mut executor, &calls, history);
                executor.spin_for(3 * SLOW).unwrap();
                let slow = entries(&calls).iter().filter(|call| **call == Call::Slow).count();
                assert!(slow <= 3, "{slow} calls of {SLOW:?} within 3 of them, {history:?}");
            }
        }
    }
}

/// `spin_all` with its limit, too.
#[test]
fn spin_all_returns_after_the_callback_that_reaches_its_limit() {
    let mut executor = Executor::single_core();
    let calls = log();
    burden(&mut executor, &calls, [0, 30]);
    assert_eq!(executor.spin_all(SLOW), Ok(1));
}

/// A timer that is moved to an earlier deadline while callbacks run is noticed as well.
#[test]
fn timer_that_a_callback_starts_is_noticed_after_one_more_callback() {
    for mut executor in live_modes() {
        let calls = log();
        let control = executor.create_node("control", calls.clone()).unwrap();
        control.set_priority(10).unwrap();
        let timer = control
            .create_one_shot_timer(Duration::from_secs(3600), |calls: &mut Log<Call>, _| {
                calls.lock().unwrap().push(Call::Timer);
            })
            .unwrap();
        let starter = executor.create_node("starter", ()).unwrap();
        starter
            .create_subscription("jobs", QoS::keep_last(1_000), move |(), n: &Message<u8>, cx| {
                if **n == 1 {
                    timer.start_at(cx.now() + MS / 2);
                }
            })
            .unwrap();
        burden(&mut executor, &calls, [64, 20]);
        executor.spin().unwrap();
        let calls = entries(&calls);
        // The starter has 20 messages that start it, in turns of at most four, and a turn after
        // each slow callback of the other node. An interrupted machine shortens the turns before,
        // so that the first start may be later.
        let is_timer = |call: &Call| *call == Call::Timer;
        let timers = calls.iter().filter(|call| is_timer(call)).count();
        assert!(timers >= 4, "{calls:?}");
        let first = calls.iter().position(is_timer).unwrap();
        let last = calls.iter().rposition(is_timer).unwrap();
        assert!(longest_burst(&calls[first..last]) <= 2, "{calls:?}");
    }
}
