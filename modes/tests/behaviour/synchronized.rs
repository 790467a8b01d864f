//! Synchronized subscriptions: the joined messages are the same in every mode, at any speed.

use crate::{Log, entries, in_every_mode, in_every_mode_isolating, log};
use ringspin_executor::{
    ApproximateTime, BoxError, Context, ErrorKind, ExactTime, Graph, Input, Latest, Message, Node,
    QoS, Result, Stamped, SynchronizedSubscription, Time, Trigger,
};
use ringspin_simulation::Job;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(1);

/// A depth and queue size that hold everything, however far one sensor gets ahead of another.
const PLENTY: usize = 64;

/// Later than all others, so that nothing is left to wait for.
const END: u64 = 1_000_000;

struct Scan(u64);

impl Stamped for Scan {
    fn stamp(&self) -> Time {
        Time::from_nanos(self.0)
    }
}

struct Image {
    stamp: Time,
    pixels: [u8; 3],
}

impl Stamped for Image {
    fn stamp(&self) -> Time {
        self.stamp
    }
}

fn image(stamp: u64) -> Image {
    Image { stamp: Time::from_nanos(stamp), pixels: [stamp as u8; 3] }
}

/// A node that publishes a message for each of `stamps` and for the end, one per tick.
fn sensor<M: Send + Sync + 'static>(
    graph: &Graph,
    topic: &str,
    tick: Duration,
    stamps: Vec<u64>,
    message: fn(u64) -> M,
) -> Result<(), BoxError> {
    let mut stamps = stamps.into_iter().chain([END]);
    let node = graph.create_node(&format!("{topic}_sensor"), ())?;
    let out = node.create_publisher(topic, QoS::default())?;
    node.create_timer(tick, move |_, _| match stamps.next() {
        Some(stamp) => out.publish(message(stamp)).map_err(|error| error.to_string()),
        None => Ok(()),
    })?;
    Ok(())
}

fn input<M>(topic: &str) -> Input<M> {
    Input::new(topic, QoS::keep_last(PLENTY))
}

fn unmatched(statistics: &ringspin_executor::Statistics) -> Vec<u64> {
    let inputs = statistics.callbacks.iter().filter(|c| c.callback.starts_with("synchronized"));
    inputs.map(|input| input.unmatched).collect()
}

/// A scanner every 10, and a camera every 20 that is 3 behind, ticks at another rate; its images
/// pass another node, which holds each back until the next one arrives.
fn build_fusion(graph: &Graph, joined: &Log<(u64, u64)>) -> Result<(), BoxError> {
    sensor(graph, "scan", TICK, (0..20).map(|n| 10 * n).collect(), Scan)?;
    let stamps = (0..10).map(|n| 20 * n + 3).chain([END]).collect(); // the last one stays behind
    sensor(graph, "raw_image", TICK * 3 / 2, stamps, image)?;
    let relay = graph.create_node("relay", None)?;
    let out = relay.create_publisher("image", QoS::default())?;
    let hold_back =
        move |held: &mut Option<u64>, raw: &Message<Image>, _: &mut Context<'_>| match held
            .replace(raw.stamp.as_nanos())
        {
            Some(stamp) => out.publish(image(stamp)).map_err(|error| error.to_string()),
            None => Ok(()),
        };
    relay.create_subscription("raw_image", QoS::keep_last(PLENTY), hold_back)?;
    graph.create_node("fusion", joined.clone())?.create_synchronized_subscription(
        (input::<Scan>("scan"), input::<Image>("image")),
        ApproximateTime::new(PLENTY),
        |joined, (scan, image), cx| {
            assert_eq!(image.pixels, [image.stamp.as_nanos() as u8; 3]);
            joined.lock().unwrap().push((scan.0, image.stamp.as_nanos()));
            if scan.0 == END {
                cx.stop();
            }
        },
    )?;
    Ok(())
}

/// Each image with the scan 3 before it; the scans in between are too far away.
fn expected_fusion() -> Vec<(u64, u64)> {
    (0..10).map(|n| (20 * n, 20 * n + 3)).chain([(END, END)]).collect()
}

#[test]
fn sensors_of_different_rate_and_delay_are_joined_by_their_stamps() {
    in_every_mode(|mut executor| {
        let joined = log();
        build_fusion(executor.graph(), &joined).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&joined), expected_fusion());
        assert_eq!(unmatched(&executor.statistics()), [10, 0], "every other scan");
    });
}

#[test]
fn a_deterministic_run_joins_the_same_in_the_same_events() {
    let run = || {
        let joined = log();
        let job = Job::new(|graph| build_fusion(graph, &joined));
        let report = job.run_for(Duration::from_secs(1)).run().unwrap();
        (entries(&joined), report)
    };
    let (joined, report) = run();
    assert_eq!(joined, expected_fusion());
    for _ in 0..3 {
        assert_eq!(run(), (joined.clone(), report.clone()));
    }
}

#[test]
fn exact_time_joins_the_stamps_that_all_have() {
    in_every_mode(|mut executor| {
        let joined = log();
        let graph = executor.graph();
        let stamps = |missing: u64| (0..30).filter(|n: &u64| !n.is_multiple_of(missing)).collect();
        sensor(graph, "a", TICK, stamps(2), Scan).unwrap();
        sensor(graph, "b", TICK, stamps(3), image).unwrap();
        sensor(graph, "c", TICK, stamps(5), Time::from_nanos).unwrap();
        let node = graph.create_node("join", joined.clone()).unwrap();
        node.create_synchronized_subscription(
            (input::<Scan>("a"), input::<Image>("b"), input::<Time>("c")),
            ExactTime::new(PLENTY),
            |joined, (a, b, c), cx| {
                assert_eq!((a.stamp(), a.stamp()), (b.stamp, **c));
                joined.lock().unwrap().push(a.0);
                if a.0 == END {
                    cx.stop();
                }
            },
        )
        .unwrap();
        executor.spin().unwrap();
        let all = |n: &u64| [2, 3, 5].iter().all(|missing| !n.is_multiple_of(*missing));
        let expected: Vec<u64> = (0..30).filter(all).chain([END]).collect();
        assert_eq!(entries(&joined), expected);
        let sets = expected.len() as u64 - 1;
        assert_eq!(unmatched(&executor.statistics()), [15 - sets, 20 - sets, 24 - sets]);
    });
}

/// Publishes `messages` on the topics `0` and `1` from outside, in this order, and one that stops
/// the node; `create` adds the synchronizer.
fn feed(
    mut executor: ringspin_modes::Executor,
    messages: &[(usize, u64)],
    create: impl Fn(&Node<Log<Vec<u64>>>) -> Result<SynchronizedSubscription>,
) -> (Vec<Vec<u64>>, Vec<u64>) {
    let calls = log();
    let node = executor.create_node("join", calls.clone()).unwrap();
    let out = ["in0", "in1"].map(|topic| node.create_publisher(topic, QoS::default()).unwrap());
    let last = node.create_publisher::<()>("last", QoS::default()).unwrap();
    create(&node).unwrap();
    let stop = |_: &mut _, _: &Message<()>, cx: &mut Context<'_>| cx.stop();
    node.create_subscription("last", QoS::default(), stop).unwrap();
    executor.freeze().unwrap();
    for &(input, stamp) in messages {
        out[input].publish(Time::from_nanos(stamp)).unwrap();
    }
    last.publish(()).unwrap();
    executor.spin().unwrap();
    let statistics = executor.statistics();
    assert_eq!(statistics.dispatched(), messages.len() as u64 + 1, "each arrival is a dispatch");
    (entries(&calls), unmatched(&statistics))
}

fn ns(message: &Message<Time>) -> u64 {
    message.as_nanos()
}

#[test]
fn latest_hands_over_what_is_there() {
    in_every_mode(|executor| {
        let messages = [(0, 1), (1, 2), (1, 3), (0, 4), (1, 5), (1, 6), (0, 7)];
        let (calls, unmatched) = feed(executor, &messages, |node| {
            node.create_synchronized_subscription(
                (input::<Time>("in0"), input::<Time>("in1").cached()),
                Latest::new(Trigger::Any),
                |calls, (fresh, cached), _| calls.lock().unwrap().push(vec![ns(fresh), ns(cached)]),
            )
        });
        assert_eq!(calls, [[1, 2], [4, 3], [7, 6]]);
        assert_eq!(unmatched, [0, 1]);
    });
    in_every_mode(|executor| {
        let messages = [(1, 1), (1, 2), (0, 3), (0, 4)];
        let (calls, unmatched) = feed(executor, &messages, |node| {
            node.create_synchronized_subscription(
                (input::<Time>("in0"), input::<Time>("in1").optional()),
                Latest::new(Trigger::One(0)),
                |calls, (one, other), _| {
                    calls
                        .lock()
                        .unwrap()
                        .push([Some(one), other].into_iter().flatten().map(ns).collect())
                },
            )
        });
        assert_eq!(calls, [vec![3, 2], vec![4]]);
        assert_eq!(unmatched, [0, 1]);
    });
}

#[test]
fn a_full_queue_gives_up_its_oldest_message_and_counts_it() {
    in_every_mode(|executor| {
        let messages: Vec<_> = (0..10).map(|n| (0, n)).chain([(1, 7), (1, 9), (0, 1)]).collect();
        let (calls, unmatched) = feed(executor, &messages, |node| {
            node.create_synchronized_subscription(
                (Input::<Time>::new("in0", QoS::keep_all(20)), input::<Time>("in1")),
                ExactTime::new(4),
                |calls, (a, b), _| calls.lock().unwrap().push(vec![ns(a), ns(b)]),
            )
        });
        assert_eq!(calls, [[7, 7], [9, 9]]);
        assert_eq!(unmatched, [8, 0]);
    });
}

#[test]
fn one_arrival_may_complete_several_sets() {
    in_every_mode(|executor| {
        let messages = [(0, 0), (1, 10), (1, 40), (0, 40)];
        let (calls, _) = feed(executor, &messages, |node| {
            node.create_synchronized_subscription(
                (input::<Time>("in0"), input::<Time>("in1")),
                ApproximateTime::new(5),
                |calls, (a, b), cx| {
                    assert_eq!(cx.event().sequence, 1, "the second message of the first input");
                    calls.lock().unwrap().push(vec![ns(a), ns(b)]);
                },
            )
        });
        assert_eq!(calls, [[0, 10], [40, 40]]);
    });
}

#[test]
fn a_failing_synchronizer_is_isolated_and_others_get_the_messages_uncopied() {
    in_every_mode_isolating(|mut executor| {
        let (calls, seen) = (log(), log());
        let node = executor.create_node("fragile", calls.clone()).unwrap();
        node.create_synchronized_subscription(
            (input::<Scan>("a"), input::<Scan>("b")),
            ExactTime::new(2),
            |calls: &mut Log<usize>, (a, _), _| {
                calls.lock().unwrap().push(std::ptr::from_ref::<Scan>(a) as usize);
                Err::<(), _>("cannot bear it")
            },
        )
        .unwrap();
        let node = executor.create_node("robust", seen.clone()).unwrap();
        node.create_subscription("a", QoS::keep_last(9), |seen, scan: &Message<Scan>, cx| {
            seen.lock().unwrap().push(std::ptr::from_ref::<Scan>(scan) as usize);
            if scan.0 == 3 {
                cx.stop();
            }
        })
        .unwrap();
        let out = ["a", "b"].map(|topic| node.create_publisher(topic, QoS::default()).unwrap());
        executor.freeze().unwrap();
        for stamp in 1..=3 {
            out.iter().for_each(|out| out.publish(Scan(stamp)).unwrap());
        }
        executor.spin().unwrap();
        let (calls, seen) = (entries(&calls), entries(&seen));
        assert_eq!(seen.len(), 3);
        assert!(calls.iter().all(|address| *address == seen[0]), "shared, not copied");
        if let [failure] = &executor.failures()[..] {
            assert_eq!(failure.node, "/fragile");
            assert_eq!(failure.callback, "synchronized subscription /b");
            assert_eq!((calls.len(), failure.event.sequence), (1, 0));
        } else {
            // On another core it may not have had its turn before the end.
            assert!(calls.is_empty());
        }
    });
}

#[test]
fn a_set_is_not_handed_over_again_after_a_panic() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("join", 0).unwrap();
        node.create_synchronized_subscription(
            (input::<Scan>("a"), input::<Scan>("b")),
            ExactTime::new(2),
            |count, (a, _), cx| {
                *count += 1;
                assert_eq!(a.0, *count, "each once");
                assert!(a.0 != 1, "not the first");
                cx.stop();
            },
        )
        .unwrap();
        let out = ["a", "b"].map(|topic| node.create_publisher(topic, QoS::default()).unwrap());
        executor.freeze().unwrap();
        for stamp in 1..=2 {
            out.iter().for_each(|out| out.publish(Scan(stamp)).unwrap());
        }
        let error = executor.spin().unwrap_err().to_string();
        assert!(error.contains("not the first"), "{error}");
        executor.stop_handle().reset();
        let _ = executor.spin(); // reports the old failure again, or nothing
        assert_eq!(executor.failures().len(), 1);
        assert_eq!(executor.statistics().unmatched(), 0);
    });
}

#[test]
fn nine_inputs() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("join", ()).unwrap();
        let a = |topic| input::<Scan>(topic);
        let b = |topic| input::<Time>(topic);
        node.create_synchronized_subscription(
            (a("a0"), b("b1"), a("a2"), b("b3"), a("a4"), b("b5"), a("a6"), b("b7"), a("a8")),
            ApproximateTime::new(2),
            |(), (a0, b1, _, _, _, _, _, _, a8), cx| {
                assert_eq!((a0.0, b1.as_nanos(), a8.0), (10, 11, 18));
                cx.stop();
            },
        )
        .unwrap();
        let scans = ["a0", "a2", "a4", "a6", "a8"]
            .map(|topic| node.create_publisher::<Scan>(topic, QoS::default()).unwrap());
        let times = ["b1", "b3", "b5", "b7"]
            .map(|topic| node.create_publisher::<Time>(topic, QoS::default()).unwrap());
        executor.freeze().unwrap();
        for round in [10, 50] {
            scans.iter().zip(0..).for_each(|(s, n)| s.publish(Scan(round + 2 * n)).unwrap());
            times.iter().zip(0..).for_each(|(t, n)| {
                t.publish(Time::from_nanos(round + 2 * n + 1)).unwrap();
            });
        }
        executor.spin().unwrap();
    });
}

#[test]
fn contradictory_settings_are_refused_with_the_reason() {
    let graph = Graph::new();
    let node = graph.create_node("join", ()).unwrap();
    let _images = node.create_publisher::<Image>("image", QoS::default()).unwrap();
    let refused = |inputs, policy| {
        node.create_synchronized_subscription(inputs, policy, |(), (_, _), _| ()).unwrap_err()
    };
    let error = refused((input::<Scan>("scan"), input::<Scan>("scan")), ExactTime::new(0));
    assert_eq!((error.kind(), error.node()), (ErrorKind::InvalidArgument, Some("/join")));
    assert!(error.to_string().contains("/join: a queue size of 0"), "{error}");
    let error = refused((input::<Scan>("scan"), input::<Scan>("image")), ExactTime::new(1));
    assert_eq!(error.kind(), ErrorKind::TypeMismatch, "{error}");
    let deep = Input::new("scan", QoS::keep_last(0));
    let error = refused((deep, input::<Scan>("scan")), ExactTime::new(1));
    assert!(error.to_string().contains("its depth of 0 is out of range"), "{error}");
    let error = refused((input::<Scan>("9"), input::<Scan>("scan")), ExactTime::new(1));
    assert_eq!(error.kind(), ErrorKind::InvalidName, "{error}");
    assert!(graph.info().callbacks.is_empty(), "refused inputs leave nothing behind");
}

#[test]
fn refused_synchronizer_leaves_no_request_behind() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let best_effort = QoS::default().best_effort();
    let _right = node.create_publisher::<Scan>("right", best_effort).unwrap();
    node.create_subscription("left", best_effort, |_, _: &Message<Scan>, _| ()).unwrap();
    let refused = node.create_synchronized_subscription(
        (input::<Scan>("left"), input::<Scan>("right")),
        ExactTime::new(1),
        |_, _, _| (),
    );
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::IncompatibleQos);
    // Only the first subscription requests anything of it.
    node.create_publisher::<Scan>("left", best_effort).unwrap();
}
