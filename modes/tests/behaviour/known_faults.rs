//! Known faults of other executors of ROS 2, as tests that would fail there. Each names the public
//! report that it is about. The tests count dispatches and wake-ups, never seconds.

use crate::{Log, entries, in_every_mode, log, spawn_beside};
use ringspin_executor::{GuardCondition, Message, Monitor, QoS, Time, WaitStrategy};
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// ros2/rclcpp#2532: entities lay in a hash map, so callbacks that became ready together ran in an
/// order that could not be predicted. Here it is the order of creation, independent of any hash of
/// names.
#[test]
fn callbacks_that_are_ready_together_run_in_order_of_creation() {
    for round in 0..8 {
        in_every_mode(|mut executor| {
            const SUBSCRIPTIONS: usize = 12;
            let order: Log<usize> = log();
            let source = executor.create_node("source", ()).unwrap();
            let out = source.create_publisher::<u32>("topic", QoS::default()).unwrap();
            let node = executor.create_node(&format!("node{round}"), order.clone()).unwrap();
            for n in 0..SUBSCRIPTIONS {
                node.create_subscription(
                    "topic",
                    QoS::default(),
                    move |order: &mut Log<_>, m, cx| {
                        let _: &Message<u32> = m;
                        let mut order = order.lock().unwrap();
                        order.push(n);
                        if order.len() == SUBSCRIPTIONS {
                            cx.stop();
                        }
                    },
                )
                .unwrap();
            }
            executor.freeze().unwrap();
            out.publish(0).unwrap();
            executor.spin().unwrap();
            assert_eq!(entries(&order), (0..SUBSCRIPTIONS).collect::<Vec<_>>());
        });
    }
}

/// ros2/rclcpp#392: a timer that is always due kept a service from ever being served.
#[test]
fn a_timer_that_is_always_due_does_not_starve_other_callbacks() {
    let mut executor = Executor::single_core();
    let order: Log<&str> = log();
    let greedy = executor.create_node("greedy", order.clone()).unwrap();
    greedy
        .create_timer(Duration::from_nanos(1), |order, _| order.lock().unwrap().push("timer"))
        .unwrap();
    greedy
        .create_service("service", QoS::services(), |order, _: &(), _| {
            order.lock().unwrap().push("request");
        })
        .unwrap();
    let asking = executor.create_node("asking", ()).unwrap();
    let client = asking.create_client::<(), ()>("service", QoS::services()).unwrap();
    let seen = order.clone();
    let asked = client.clone();
    asking
        .create_one_shot_timer(MS, move |_, _| {
            seen.lock().unwrap().push("call");
            asked.call((), |_, _, cx| cx.stop())
        })
        .unwrap();
    executor.spin().unwrap();
    let order = entries(&order);
    let at = |what| order.iter().position(|entry| *entry == what).unwrap();
    // A turn of the greedy node's, at most, before the request in the same loop.
    assert!(at("request") - at("call") <= 4, "{} dispatches", at("request") - at("call"));
}

/// ros2/rclcpp#2645 and #2360: with two threads, one of two callbacks of a mutually exclusive group
/// was chosen again and again, the other one never.
#[test]
fn a_flooding_neighbour_gets_no_more_than_its_turns() {
    let executors = || [Executor::single_core(), crate::on_one_core()];
    // Two flooding nodes with turns of four events each, or of one that takes over a millisecond.
    executors().into_iter().for_each(|executor| flood(executor, Duration::ZERO, 1000, 2 * 4));
    executors().into_iter().for_each(|executor| flood(executor, 2 * MS, 20, 2));
}

/// Two nodes flood themselves with callbacks of this duration, and a third one has so many, with
/// `longest` events of the others at most in between.
fn flood(mut executor: Executor, duration: Duration, count: u32, longest: u64) {
    let order: Log<&str> = log();
    for name in ["first", "second"] {
        let node = executor.create_node(name, order.clone()).unwrap();
        let again = node.create_publisher::<u64>(name, QoS::default()).unwrap();
        let start = again.clone();
        // Each of its messages brings about two more: it is always ready, as deep as it can.
        node.create_subscription(name, QoS::keep_last(100), move |_, n: &Message<u64>, _| {
            let begun = Instant::now();
            while begun.elapsed() < duration {
                std::hint::spin_loop();
            }
            again.publish(**n + 1).and(again.publish(**n + 1))
        })
        .unwrap();
        node.create_one_shot_timer(MS, move |_, _| start.publish(0)).unwrap();
    }
    let quiet = executor.create_node("quiet", order.clone()).unwrap();
    let echo = quiet.create_publisher::<u32>("quiet", QoS::default()).unwrap();
    let first = echo.clone();
    quiet.create_one_shot_timer(2 * MS, move |_, _| first.publish(0)).unwrap();
    quiet
        .create_subscription("quiet", QoS::keep_last(1), move |_, n: &Message<u32>, cx| {
            if **n == count {
                cx.stop();
            }
            echo.publish(**n + 1)
        })
        .unwrap();
    executor = executor.with_recorders(|_, _| Gaps::default());
    executor.spin().unwrap();
    let recorder: Box<dyn std::any::Any> = executor.take_recorders().remove(0);
    let gaps = recorder.downcast::<Gaps>().unwrap();
    assert!(gaps.quiet > u64::from(count), "the quiet node was served");
    assert!(gaps.longest <= longest, "{} dispatches in between", gaps.longest);
}

/// The longest time, in dispatches, that the third node was ready and others had their turns.
#[derive(Default)]
struct Gaps {
    quiet: u64,
    since: u64,
    longest: u64,
}

impl ringspin_executor::Recorder for Gaps {
    fn started(&mut self, dispatch: &ringspin_executor::Dispatch) {
        if dispatch.event_loop.0 == 2 {
            if self.quiet > 1 {
                self.longest = self.longest.max(self.since);
            }
            self.quiet += 1;
            self.since = 0;
        } else {
            self.since += 1;
        }
    }
}

/// ros2/rclcpp#2012, #3240 and #2053: a callback group was left out of the wait set while it was
/// busy, or once no handle held it, and events that became ready for it meanwhile were forgotten.
#[test]
fn a_callback_group_is_never_forgotten() {
    in_every_mode(|mut executor| {
        const ROUNDS: u32 = 2_000;
        let node = executor.create_node("node", ()).unwrap();
        // The groups' handles are dropped at once.
        for (name, from, to) in [("ping", "a", "b"), ("pong", "b", "a")] {
            let group = node.create_callback_group(name, 0).unwrap();
            let out = group.create_publisher::<u32>(to, QoS::default()).unwrap();
            // Two messages while the other group is busy with the first of them.
            group
                .create_subscription(from, QoS::keep_all(2), move |count, n: &Message<u32>, cx| {
                    *count += 1;
                    if *count == ROUNDS {
                        cx.stop();
                    }
                    match *count % 2 {
                        0 => out.publish(**n + 1).and(out.publish(**n + 2)),
                        _ => Ok(()),
                    }
                })
                .unwrap();
        }
        let out = node.create_publisher::<u32>("a", QoS::default()).unwrap();
        drop(node);
        executor.freeze().unwrap();
        out.publish(0).and(out.publish(1)).unwrap();
        executor.spin().unwrap();
        let counts: Vec<_> =
            executor.statistics().callbacks.iter().map(|callback| callback.dispatched).collect();
        assert!(counts.iter().all(|count| *count + 2 >= u64::from(ROUNDS)), "{counts:?}");
    });
}

/// ros2/rclcpp#2771: the expiries of a timer with a slow callback were queued, and ran in a burst
/// afterwards. ros2/ros2#1026: after a long callback, intervals were too short.
#[test]
fn a_timer_does_not_make_up_for_a_stall() {
    in_every_mode(|mut executor| {
        const PERIOD: Duration = Duration::from_millis(2);
        let times: Log<Time> = log();
        let node = executor.create_node("node", times.clone()).unwrap();
        node.create_timer(PERIOD, |times, cx| {
            let mut times = times.lock().unwrap();
            times.push(cx.now());
            if times.len() == 3 {
                // The stall, in the executor's time if that advances by itself.
                std::thread::sleep(10 * PERIOD);
            }
            if times.len() == 8 {
                cx.stop();
            }
        })
        .unwrap();
        executor.freeze().unwrap();
        let before = executor.now();
        executor.spin().unwrap();
        let periods = (executor.now() - before).as_nanos() / PERIOD.as_nanos();
        let tick = &executor.statistics().callbacks[0];
        assert_eq!(tick.dispatched, 8);
        // The anchor is `before` or later: no period was called for, or missed, twice.
        assert!(u128::from(tick.dispatched + tick.missed) <= periods, "{tick:?}, {periods}");
        let times = entries(&times);
        // In simulated time, callbacks take none.
        let stalled = times[3] - times[2] >= 10 * PERIOD;
        assert!(!stalled || tick.missed >= 8, "{tick:?}");
    });
}

/// ros2/rcl#289: each period began when the callback was called, so that delays added up.
#[test]
fn a_million_periods_do_not_drift() {
    const PERIODS: u64 = 1_000_000;
    let job = Job::new(|graph| {
        let node = graph.create_node("node", 0u64)?;
        node.create_timer(MS, |count, cx| {
            *count += 1;
            assert_eq!(cx.now(), Time::ZERO + Duration::from_millis(*count));
        })?;
        Ok(())
    });
    let report = job.end_at(Time::ZERO + Duration::from_millis(PERIODS)).run().unwrap();
    assert_eq!((report.dispatches(), report.failures().len()), (PERIODS, 0));
}

/// sequenceplanner/r2r#130: with a history of keep-last 1, a slow reader got the oldest message,
/// not the newest. For callbacks, `delivery` has such a test.
#[test]
fn a_slow_task_gets_the_newest_message() {
    let numbers: Log<u32> = log();
    let seen = numbers.clone();
    let job = Job::new(move |graph| {
        let talker = graph.create_node("talker", 0u32)?;
        let out = talker.create_publisher("numbers", QoS::default())?;
        talker.create_timer(100 * MS, move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        let slow = graph.create_node("slow", ())?;
        let mut stream = slow.create_stream::<u32>("numbers", QoS::keep_last(1))?;
        let mut pause = slow.create_sleeper()?;
        let seen = seen.clone();
        slow.spawn("read", async move {
            loop {
                pause.sleep(550 * MS).await;
                let number = *stream.next().await;
                seen.lock().unwrap().push(number);
            }
        })?;
        Ok(())
    });
    job.run_for(Duration::from_secs(3)).run().unwrap();
    assert_eq!(entries(&numbers), [5, 11, 16, 22, 27]);
}

/// Waits, from another thread, until the one worker has parked once more.
fn wait_for_sleep(monitor: &Monitor, sleeps: u64) {
    while monitor.statistics().workers[0].sleeps <= sleeps {
        std::thread::yield_now();
    }
}

/// ros2/rclcpp#825 and #1637: a spinning executor rebuilt its wait set and polled, so that an idle
/// one was never at rest.
#[test]
fn an_idle_executor_sleeps_until_there_is_something_to_do() {
    const TRIGGERS: u64 = 50;
    for executor in [Executor::single_core(), crate::on_one_core()] {
        let mut executor = executor.with_wait_strategy(WaitStrategy::SpinThenPark(Duration::ZERO));
        let node = executor.create_node("node", 0).unwrap();
        node.create_timer(Duration::from_secs(3600), |_, _| ()).unwrap();
        let guard: GuardCondition = node
            .create_guard_condition("guard", |count, cx| {
                *count += 1;
                if *count == TRIGGERS {
                    cx.stop();
                }
            })
            .unwrap();
        executor.freeze().unwrap();
        let monitor = executor.monitor().unwrap();
        let watched = monitor.clone();
        let waker = spawn_beside(&executor, move || {
            for n in 0..TRIGGERS {
                wait_for_sleep(&watched, n);
                guard.trigger();
            }
        });
        executor.spin().unwrap();
        waker.join().unwrap();
        let worker = monitor.statistics().workers[0];
        assert!(worker.sleeps >= TRIGGERS, "{worker:?}");
        // A sleep may end for no reason, and it may begin while the trigger is under way.
        assert!(worker.sleeps <= 2 * TRIGGERS + 10, "{worker:?}");
        assert!(worker.idle <= worker.sleeps + 10, "it parks when nothing is ready: {worker:?}");
    }
}
