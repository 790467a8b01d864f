//! Panics, errors and cycles: reported with a name, and never a hang.

use crate::{entries, failure_of, in_every_mode, in_every_mode_isolating, log};
use ringspin_executor::{Cause, ErrorKind, EventId, Message, QoS, SourceId, Time};
use ringspin_modes::{Executor, Simulation};
use ringspin_simulation::Job;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(1);

#[test]
fn a_panic_stops_everything_and_names_node_callback_and_event() {
    in_every_mode(|mut executor| {
        let bystander = executor.create_node("bystander", ()).unwrap();
        bystander.create_timer(TICK, |_, _| ()).unwrap();
        let node = executor.create_node("fragile", 0).unwrap();
        node.create_timer(TICK, |count, _| {
            *count += 1;
            assert!(*count < 3, "on the third tick");
        })
        .unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!((&*failure.node, &*failure.callback), ("/fragile", "timer 1ms"));
        assert_eq!(failure.event, EventId { source: SourceId(1), sequence: 2 });
        assert_eq!(failure.cause, Cause::Panic("on the third tick".into()));
        assert!(failure.to_string().contains("/fragile"), "{failure}");
    });
}

#[test]
fn a_returned_error_is_a_failure_too() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("parser", ()).unwrap();
        node.create_timer(TICK, |_, _| "x".parse::<u32>().map(drop)).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!(failure.cause, Cause::Error("invalid digit found in string".into()));
    });
}

#[test]
fn an_isolated_node_is_silent_while_the_others_go_on() {
    in_every_mode_isolating(|mut executor| {
        let received = log();
        let talker = executor.create_node("talker", 0u32).unwrap();
        let out = talker.create_publisher("numbers", QoS::default()).unwrap();
        talker
            .create_timer(TICK, move |next, _| {
                *next += 1;
                out.publish(*next)
            })
            .unwrap();
        let fragile = executor.create_node("fragile", received.clone()).unwrap();
        fragile
            .create_subscription("numbers", QoS::default(), |log, n: &Message<u32>, _| {
                log.lock().unwrap().push(("fragile", **n));
                if **n >= 2 {
                    return Err("cannot bear a two");
                }
                Ok(())
            })
            .unwrap();
        let robust = executor.create_node("robust", received.clone()).unwrap();
        robust
            .create_subscription("numbers", QoS::default(), |log, n: &Message<u32>, cx| {
                let mut log = log.lock().unwrap();
                log.push(("robust", **n));
                // The other worker may be late: the failure has to have happened.
                if **n >= 6 && log.iter().any(|entry| entry.0 == "fragile" && entry.1 >= 2) {
                    cx.stop();
                }
            })
            .unwrap();
        executor.spin().unwrap();
        let of = |name| {
            let all = entries(&received).into_iter();
            all.filter(|entry| entry.0 == name).map(|entry| entry.1).collect::<Vec<_>>()
        };
        assert_eq!(of("fragile").iter().filter(|n| **n >= 2).count(), 1);
        assert!(of("robust").is_sorted() && of("robust").last() >= Some(&6));
        let failures = executor.failures();
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].node, "/fragile");
    });
}

#[test]
fn a_cycle_without_delay_is_detected_and_named() {
    let simulation = Simulation { instant_dispatches_max: 1000, ..Simulation::default() };
    let mut executor = Executor::deterministic(simulation);
    for (node, from, to) in [("ping", "a", "b"), ("pong", "b", "a")] {
        let node = executor.create_node(node, ()).unwrap();
        let out = node.create_publisher(to, QoS::default()).unwrap();
        node.create_subscription(from, QoS::default(), move |_, n: &Message<u64>, _| {
            out.publish(**n + 1)
        })
        .unwrap();
    }
    let spark = executor.create_node("spark", ()).unwrap();
    let out = spark.create_publisher("a", QoS::default()).unwrap();
    spark.create_timer(Duration::from_secs(1), move |_, _| out.publish(0u64)).unwrap();
    let error = executor.spin().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ZeroDelayCycle);
    let expected = format!(
        "more than 1000 callbacks ran at the simulated instant {}, and it does not end: these feed \
         each other without delay: /ping `subscription /a`, /pong `subscription /b`;",
        Time::from_secs(1)
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn a_failing_build_is_the_jobs_error() {
    let job = Job::new(|graph| Ok(graph.create_node("not valid", ()).map(drop)?));
    assert!(job.run().unwrap_err().to_string().contains("not valid"));
}
