//! Spinning in steps, and stopping in time.

use crate::{Log, entries, in_every_mode, log, spawn_beside};
use ringspin_executor::{Context, ErrorKind, Message, QoS, Time, running_node};
use ringspin_modes::{Executor, Mode};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// A node that forwards each number until it receives 3.
fn counting(executor: &Executor) -> Log<u32> {
    let seen = log();
    let node = executor.create_node("node", seen.clone()).unwrap();
    let out = node.create_publisher::<u32>("n", QoS::default()).unwrap();
    let again = out.clone();
    node.create_subscription(
        "n",
        QoS::default(),
        move |seen: &mut Log<u32>, n: &Message<u32>, _| {
            seen.lock().unwrap().push(**n);
            if **n < 3 { again.publish(**n + 1) } else { Ok(()) }
        },
    )
    .unwrap();
    let start = node.create_guard_condition("start", move |_, _| out.publish(1)).unwrap();
    start.trigger();
    seen
}

fn in_steps(test: impl Fn(Executor)) {
    test(Executor::single_core());
    test(Executor::deterministic(Default::default()));
}

#[test]
fn spin_once_dispatches_one_event() {
    in_steps(|mut executor| {
        let seen = counting(&executor);
        for expected in [&[][..], &[1], &[1, 2], &[1, 2, 3]] {
            assert!(executor.spin_once(Duration::ZERO).unwrap());
            assert_eq!(entries(&seen), expected);
        }
        assert!(!executor.spin_once(Duration::ZERO).unwrap());
        let before = executor.now();
        assert!(!executor.spin_once(2 * MS).unwrap());
        assert!(executor.now() >= before + 2 * MS, "it waited");
    });
}

/// Which of several events comes first does not depend on what ran before the pause.
#[test]
fn after_a_pause_the_nodes_are_visited_from_the_first_one() {
    let names = ["first", "second", "third"];
    let mut executor = Executor::single_core();
    let seen = log();
    let triggers = names.map(|name| {
        let node = executor.create_node(name, seen.clone()).unwrap();
        node.create_guard_condition("start", move |seen: &mut Log<&str>, _| {
            seen.lock().unwrap().push(name);
        })
        .unwrap()
    });
    for before in &triggers {
        before.trigger();
        while executor.spin_once(Duration::ZERO).unwrap() {}
        seen.lock().unwrap().clear();
        triggers.iter().rev().for_each(|trigger| trigger.trigger());
        while executor.spin_once(Duration::ZERO).unwrap() {}
        assert_eq!(entries(&seen), names);
    }
}

/// Data that never ends must not keep timers from firing.
#[test]
fn spin_once_has_time_for_timers() {
    let mut executor = Executor::single_core();
    let fired = log();
    let node = executor.create_node("node", fired.clone()).unwrap();
    let out = node.create_publisher::<u8>("again", QoS::default()).unwrap();
    let first = out.clone();
    node.create_subscription("again", QoS::default(), move |_, n: &Message<u8>, _| {
        out.publish(**n)
    })
    .unwrap();
    node.create_timer(MS, |fired: &mut Log<Time>, cx| fired.lock().unwrap().push(cx.now()))
        .unwrap();
    executor.freeze().unwrap();
    first.publish(1).unwrap();
    let start = Instant::now();
    while entries(&fired).is_empty() && start.elapsed() < Duration::from_secs(60) {
        assert!(executor.spin_once(Duration::ZERO).unwrap());
    }
    assert!(!entries(&fired).is_empty());
}

#[test]
fn the_node_whose_callback_runs_is_known_to_its_thread() {
    in_every_mode(|mut executor| {
        let seen = log();
        for name in ["first", "second"] {
            let node = executor.create_node(name, seen.clone()).unwrap();
            node.create_timer(MS, |seen: &mut Log<Option<String>>, cx| {
                seen.lock().unwrap().push(running_node());
                let heard = seen.lock().unwrap();
                let all = ["/first", "/second", "/third"];
                if all.iter().all(|name| heard.iter().flatten().any(|node| node == name)) {
                    cx.stop();
                }
            })
            .unwrap();
        }
        let node = executor.create_node("third", ()).unwrap();
        let group = node.create_callback_group("aside", seen.clone()).unwrap();
        group
            .create_timer(MS, |seen: &mut Log<_>, _| seen.lock().unwrap().push(running_node()))
            .unwrap();
        executor.spin().unwrap();
        assert_eq!(running_node(), None);
        assert!(entries(&seen).iter().all(Option::is_some));
    });
}

#[test]
fn spin_once_waits_for_a_timer() {
    in_steps(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        // However slow the machine is, it is not due yet.
        let timer = node.create_timer(Duration::from_secs(3600), |_, _| ()).unwrap();
        assert!(!executor.spin_once(Duration::ZERO).unwrap());
        timer.start_at(executor.now() + 2 * MS);
        assert!(executor.spin_once(Duration::from_secs(60)).unwrap());
        assert_eq!(executor.statistics().dispatched(), 1);
    });
}

#[test]
fn spin_some_leaves_what_becomes_ready_meanwhile() {
    in_steps(|mut executor| {
        let seen = counting(&executor);
        for expected in [&[][..], &[1], &[1, 2], &[1, 2, 3]] {
            assert_eq!(executor.spin_some().unwrap(), 1);
            assert_eq!(entries(&seen), expected);
        }
        assert_eq!(executor.spin_some().unwrap(), 0);
    });
}

/// More events than a turn has: the other node's turn comes, with events that are not due yet.
#[test]
fn spin_some_leaves_them_also_when_another_loop_has_its_turn() {
    in_steps(|mut executor| {
        let seen = log();
        let first = executor.create_node("first", ()).unwrap();
        let out = first.create_publisher::<u32>("second", QoS::default()).unwrap();
        first
            .create_subscription("first", QoS::default(), move |_, n: &Message<u32>, _| {
                out.publish(**n)
            })
            .unwrap();
        let second = executor.create_node("second", seen.clone()).unwrap();
        let start = second.create_publisher::<u32>("first", QoS::default()).unwrap();
        second
            .create_subscription("second", QoS::default(), |seen, n: &Message<u32>, _| {
                seen.lock().unwrap().push(**n);
            })
            .unwrap();
        executor.freeze().unwrap();
        (0..6).for_each(|n| start.publish(n).unwrap());
        assert_eq!(executor.spin_some().unwrap(), 6);
        assert!(entries(&seen).is_empty());
        assert_eq!(executor.spin_some().unwrap(), 6);
        assert_eq!(entries(&seen), [0, 1, 2, 3, 4, 5]);
    });
}

/// The other node's turn comes after all its events of this call, which stay for the next one.
#[test]
fn spin_some_finds_events_again_that_it_has_set_aside() {
    in_steps(|mut executor| {
        let seen = log();
        let first = executor.create_node("first", ()).unwrap();
        let out = first.create_publisher::<u32>("second", QoS::default()).unwrap();
        let forward = move |_: &mut (), n: &Message<u32>, _: &mut Context<'_>| match **n {
            0 => (0..3).try_for_each(|n| out.publish(n)),
            _ => Ok(()),
        };
        first.create_subscription("first", QoS::default(), forward).unwrap();
        let second = executor.create_node("second", seen.clone()).unwrap();
        let start = second.create_publisher::<u32>("first", QoS::default()).unwrap();
        let note = |seen: &mut Log<u32>, n: &Message<u32>, _: &mut Context<'_>| {
            seen.lock().unwrap().push(**n);
        };
        second.create_subscription("second", QoS::default(), note).unwrap();
        executor.freeze().unwrap();
        (0..10).for_each(|n| start.publish(n).unwrap());
        assert_eq!(executor.spin_some().unwrap(), 10);
        assert_eq!(executor.spin_some().unwrap(), 3);
        assert_eq!(entries(&seen), [0, 1, 2]);
    });
}

#[test]
fn spin_some_dispatches_every_timer_that_is_due() {
    let mut executor = Executor::single_core();
    for n in 0..5 {
        let node = executor.create_node(&format!("node_{n}"), ()).unwrap();
        node.create_one_shot_timer(MS, |(), _| ()).unwrap();
    }
    let first = executor.spin_some().unwrap(); // starts the time
    std::thread::sleep(2 * MS);
    assert_eq!(first + executor.spin_some().unwrap(), 5);
}

/// Among timers that have become due while a callback ran, the priority decides, and not which of
/// them was due first.
#[test]
fn of_all_timers_that_are_due_the_highest_priority_comes_first() {
    let mut executor = Executor::single_core();
    let order = log();
    for (name, priority, due) in [("low", 1, 2), ("high", 2, 3), ("busy", 3, 1)] {
        let node = executor.create_node(name, order.clone()).unwrap();
        node.set_priority(priority).unwrap();
        node.create_one_shot_timer(due * MS, move |order: &mut Log<&str>, cx| {
            order.lock().unwrap().push(name);
            match name {
                "busy" => std::thread::sleep(5 * MS),
                "low" => cx.stop(),
                _ => {}
            }
        })
        .unwrap();
    }
    executor.spin().unwrap();
    assert_eq!(entries(&order), ["busy", "high", "low"]);
}

#[test]
fn spin_all_goes_on_until_nothing_is_left() {
    in_steps(|mut executor| {
        let seen = counting(&executor);
        assert_eq!(executor.spin_all(Duration::from_secs(60)).unwrap(), 4);
        assert_eq!(entries(&seen), [1, 2, 3]);
        assert_eq!(executor.spin_all(Duration::from_secs(60)).unwrap(), 0);
    });
}

#[test]
fn stepping_a_simulation_gives_the_digest_of_running_it() {
    let build = || {
        let executor = Executor::deterministic(Default::default());
        for (name, period) in [("a", 30), ("b", 20)] {
            let node = executor.create_node(name, ()).unwrap();
            let out = node.create_publisher::<()>("tick", QoS::default()).unwrap();
            node.create_timer(period * MS, move |_, _| out.publish(())).unwrap();
            node.create_subscription("tick", QoS::default(), |_, _: &Message<()>, _| ()).unwrap();
        }
        executor
    };
    let end = Time::ZERO + 100 * MS;
    let mut run = build();
    run.spin_until(end).unwrap();
    let mut once = build();
    while once.spin_once(end - once.now()).unwrap() {}
    let mut some = build();
    loop {
        while some.spin_some().unwrap() > 0 {}
        if some.now() == end {
            break;
        }
        some.spin_once(end - some.now()).unwrap();
    }
    let digest = run.digest();
    assert_eq!(digest, once.digest());
    assert_eq!(digest, some.digest());
    assert_eq!(digest.unwrap().1, (3 + 5) * 3);
}

#[test]
fn a_thread_per_core_is_not_spun_in_steps() {
    let mut executor = Executor::new(Mode::MultiCore(None));
    executor.create_node("node", ()).unwrap();
    let refused = [
        executor.spin_some().map(drop),
        executor.spin_once(MS).map(drop),
        executor.spin_all(MS).map(drop),
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn stopping_waits_for_the_workers_and_names_a_callback_that_does_not_return() {
    in_every_mode(|mut executor| {
        let (enter, entered) = std::sync::mpsc::channel();
        let (leave, left) = std::sync::mpsc::channel::<()>();
        let node = executor.create_node("node", ()).unwrap();
        node.create_one_shot_timer(MS, move |_, _| {
            enter.send(()).unwrap();
            left.recv().unwrap();
        })
        .unwrap();
        executor.freeze().unwrap();
        let stop = executor.stop_handle();
        let stopper = spawn_beside(&executor, move || {
            entered.recv().unwrap();
            let error = stop.stop_and_wait(MS).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            let stuck = "still running 1ms after the stop: /node `one-shot timer 1ms`";
            assert_eq!(error.to_string(), stuck);
            leave.send(()).unwrap();
            stop.stop_and_wait(Duration::from_secs(60))
        });
        executor.spin().unwrap();
        assert_eq!(stopper.join().unwrap(), Ok(()));
        assert_eq!(executor.stop_handle().running_callbacks(), [""; 0]);
    });
}

#[test]
fn a_callback_cannot_wait_for_its_own_end() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let stop = executor.stop_handle();
        node.create_one_shot_timer(MS, move |_, _| {
            assert_eq!(stop.stop_and_wait(MS).unwrap_err().kind(), ErrorKind::Deadlock);
        })
        .unwrap();
        executor.spin().unwrap();
    });
}
