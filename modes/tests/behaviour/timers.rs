//! Timers and stopping.

use crate::{Log, entries, in_every_mode, log, on_one_core};
use ringspin_executor::{Message, QoS, Time, WaitStrategy};
use ringspin_modes::{Executor, Job, Simulation};
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
        let node = graph.create_node("node", seen)?;
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
