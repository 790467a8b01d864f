//! Timers and stopping.

use crate::{Log, entries, in_every_mode, log, on_one_core, spawn_beside};
use ringspin_executor::{Message, QoS, Time, WaitStrategy};
use ringspin_modes::{Executor, Simulation};
use ringspin_simulation::Job;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_timer_fires_in_phase_with_its_anchor() {
    in_every_mode(|mut executor| {
        let times: Log<u64> = log();
        let node = executor.create_node("node", times.clone()).unwrap();
        node.create_timer(2 * MS, |times, cx| {
            let mut times = times.lock().unwrap();
            times.push(cx.now().as_nanos());
            if times.len() == 5 {
                cx.stop();
            }
        })
        .unwrap();
        executor.freeze().unwrap();
        let before = executor.now();
        executor.spin().unwrap();
        // The anchor is `before` or later. However late a call was, none came before its deadline.
        for (n, time) in (1..).zip(entries(&times)) {
            assert!(Time::from_nanos(time) >= before + n * 2 * MS, "tick {n}");
        }
    });
}

#[test]
fn simulated_time_is_exact_and_the_end_is_included() {
    let times: Log<u64> = log();
    let seen = times.clone();
    let job = Job::new(move |graph| {
        let node = graph.create_node("node", seen.clone())?;
        node.create_timer(40 * MS, |times, cx| {
            times.lock().unwrap().push(cx.now().as_nanos());
            std::thread::yield_now();
            assert_eq!(Some(&cx.now().as_nanos()), times.lock().unwrap().last());
        })?;
        Ok(())
    });
    let report = job.run_for(200 * MS).run().unwrap();
    assert_eq!(entries(&times), [40, 80, 120, 160, 200].map(|ms| ms * 1_000_000));
    assert_eq!(report.end(), Time::ZERO + 200 * MS);
}

/// The contract: data events first-in first-out before one due timer, then again; timers due
/// together by deadline, then creation.
#[test]
fn the_deterministic_order_is_the_documented_one() {
    let order: Log<(u64, &str)> = log();
    let seen = order.clone();
    let job = Job::new(move |graph| {
        let node = |name| graph.create_node(name, seen.clone());
        let first = node("first")?;
        let out = first.create_publisher("a", QoS::default())?;
        first.create_timer(20 * MS, move |log, cx| {
            log.lock().unwrap().push((cx.now().as_nanos(), "slow timer"));
            out.publish(1u8).unwrap();
            out.publish(2).unwrap();
        })?;
        first.create_timer(10 * MS, |log, cx| {
            log.lock().unwrap().push((cx.now().as_nanos(), "fast timer"));
        })?;
        let second = node("second")?;
        let relay = second.create_publisher("b", QoS::default())?;
        second.create_subscription("a", QoS::default(), move |log, n: &Message<u8>, cx| {
            log.lock().unwrap().push((cx.now().as_nanos(), if **n == 1 { "a1" } else { "a2" }));
            relay.publish(**n).unwrap();
        })?;
        let third = node("third")?;
        third.create_subscription("b", QoS::default(), |log, n: &Message<u8>, cx| {
            log.lock().unwrap().push((cx.now().as_nanos(), if **n == 1 { "b1" } else { "b2" }));
        })?;
        Ok(())
    });
    // At 25 ms both timers are overdue: by deadline, the fast one (10) is first.
    job.start_at(Time::ZERO + 25 * MS).end_at(Time::ZERO + 40 * MS).run().unwrap();
    let at = |ms: u64, names: &[&'static str]| -> Vec<(u64, &str)> {
        names.iter().map(|&name| (ms * 1_000_000, name)).collect()
    };
    let expected = [
        at(25, &["fast timer", "slow timer", "a1", "a2", "b1", "b2"]),
        at(30, &["fast timer"]),
        // Both due at 40: equal deadlines, so by creation.
        at(40, &["slow timer", "a1", "a2", "b1", "b2", "fast timer"]),
    ];
    assert_eq!(entries(&order), expected.concat());
}

#[test]
fn a_stop_from_another_thread_wakes_a_parked_worker() {
    for mut executor in [Executor::single_core(), on_one_core()] {
        executor = executor.with_wait_strategy(WaitStrategy::SpinThenPark(Duration::ZERO));
        executor.create_node("idle", ()).unwrap();
        executor.freeze().unwrap();
        let stop = executor.stop_handle();
        let spinning = std::thread::spawn(move || executor.spin());
        stop.stop();
        spinning.join().unwrap().unwrap();
    }
}

#[test]
fn a_job_without_events_ends_at_once_and_one_with_an_end_reaches_it() {
    let quiet = Job::new(|graph| Ok(graph.create_node("idle", ()).map(drop)?));
    assert_eq!(quiet.run().unwrap().end(), Time::ZERO);
    let until = Job::new(|graph| Ok(graph.create_node("idle", ()).map(drop)?));
    let report = until.end_at(Time::from_secs(9)).run().unwrap();
    assert_eq!((report.end(), report.dispatches()), (Time::from_secs(9), 0));
}

#[test]
fn spinning_in_pieces_equals_spinning_at_once() {
    let digest = |pieces: &[u64]| {
        let mut executor = Executor::deterministic(Simulation::default());
        let node = executor.create_node("node", ()).unwrap();
        node.create_timer(30 * MS, |_, _| ()).unwrap();
        node.create_timer(70 * MS, |_, _| ()).unwrap();
        for &piece in pieces {
            executor.spin_for(Duration::from_millis(piece)).unwrap();
        }
        executor.digest().unwrap()
    };
    assert_eq!(digest(&[1000]), digest(&[100, 1, 399, 500]));
    assert_ne!(digest(&[1000]).0, digest(&[1100]).0);
}

#[test]
fn a_watchdog_is_reset_by_messages_and_fires_when_they_cease() {
    let fired: Log<u64> = log();
    let seen = fired.clone();
    let job = Job::new(move |graph| {
        let source = graph.create_node("source", 0)?;
        let out = source.create_publisher("alive", QoS::default())?;
        source.create_timer(10 * MS, move |n, cx| {
            *n += 1;
            if *n == 5 {
                cx.cancel_timer();
            }
            out.publish(*n)
        })?;
        let node = graph.create_node("watchdog", seen.clone())?;
        let watchdog = node.create_one_shot_timer(25 * MS, |seen, cx| {
            seen.lock().unwrap().push(cx.now().as_nanos() / 1_000_000);
        })?;
        let alive = watchdog.clone();
        node.create_subscription("alive", QoS::default(), move |_, _: &Message<i32>, _| {
            assert!(alive.time_until_next().is_some_and(|left| left <= 25 * MS));
            alive.reset();
            assert_eq!(alive.time_until_next(), Some(25 * MS));
        })?;
        Ok(())
    });
    // Without an end: nothing is left to do once both timers are cancelled.
    assert_eq!(job.run().unwrap().end(), Time::ZERO + 75 * MS);
    assert_eq!(entries(&fired), [75]);
}

#[test]
fn a_timer_is_cancelled_changed_and_reset_from_another_thread() {
    in_every_mode(|mut executor| {
        let ticks: Log<()> = log();
        let node = executor.create_node("node", ticks.clone()).unwrap();
        let timer = node.create_timer(MS, |ticks, _| ticks.lock().unwrap().push(())).unwrap();
        let stop = executor.stop_handle();
        // Keeps the deterministic mode going, and lets its time pass.
        executor.create_node("other", ()).unwrap().create_timer(MS, |_, _| ()).unwrap();
        assert!(!timer.is_cancelled() && timer.time_until_next().is_none());
        let handle = timer.clone();
        let thread = spawn_beside(&executor, move || {
            let wait_for = |count| {
                while ticks.lock().unwrap().len() < count {
                    std::thread::yield_now();
                }
            };
            wait_for(3);
            handle.cancel();
            assert!(handle.is_cancelled() && handle.time_until_next().is_none());
            handle.set_period(2 * MS).unwrap();
            handle.reset();
            assert!(!handle.is_cancelled());
            let count = ticks.lock().unwrap().len();
            wait_for(count + 3);
            stop.stop();
        });
        executor.spin().unwrap();
        thread.join().unwrap();
        assert_eq!(timer.period(), 2 * MS);
        assert!(timer.time_until_next().is_some());
    });
}

#[test]
fn a_new_period_starts_at_the_next_deadline() {
    let times: Log<u64> = log();
    let seen = times.clone();
    let job = Job::new(move |graph| {
        let node = graph.create_node("node", seen.clone())?;
        let timer = node.create_timer(10 * MS, |seen, cx| {
            seen.lock().unwrap().push(cx.now().as_nanos() / 1_000_000);
        })?;
        node.create_one_shot_timer(15 * MS, move |_, _| timer.set_period(30 * MS))?;
        Ok(())
    });
    job.run_for(100 * MS).run().unwrap();
    assert_eq!(entries(&times), [10, 20, 50, 80]);
}
