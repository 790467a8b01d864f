//! Quality of service: messages for late joiners, lifespans, deadlines, signs of life.

use crate::{Log, entries, in_every_mode, in_every_mode_isolating, log, spawn_beside};
use proptest::prelude::*;
use ringspin_executor::{
    BoxError, Context, DeadlineMissed, ErrorKind, FailurePolicy, Graph, LivelinessChanged, Message,
    PublisherEvents, QoS, SubscriptionEvents, Time,
};
use ringspin_modes::{Executor, Simulation};
use ringspin_simulation::Job;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Appends a number to the log that is the node's state.
fn append(log: &mut Log<u32>, n: &Message<u32>, _: &mut Context<'_>) {
    log.lock().unwrap().push(**n);
}

fn millis(cx: &Context<'_>) -> u64 {
    cx.now().as_nanos() / 1_000_000
}

#[test]
fn a_pair_that_does_not_fit_is_refused_at_its_second_end_and_named() {
    let graph = Graph::new();
    let lidar = graph.create_node("lidar", ()).unwrap();
    let planner = graph.create_node("planner", log()).unwrap();
    let _scans = lidar.create_publisher::<u32>("scan", QoS::sensor_data()).unwrap();
    let error = planner.create_subscription("scan", QoS::default(), append).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::IncompatibleQos, Some("/scan")));
    assert_eq!(
        error.to_string(),
        "failed to connect node /lidar with node /planner on topic /scan: the reliability offered \
         is best effort, but reliable is requested; let the publisher offer reliable, or the \
         subscription request best effort"
    );
    let info = graph.info();
    assert!(info.callbacks.is_empty(), "nothing was added");
    planner.create_subscription("scan", QoS::sensor_data(), append).unwrap();

    planner.create_subscription("map", QoS::default().transient_local(), append).unwrap();
    let _odometry = planner.create_stream::<u32>("odometry", QoS::default().deadline(MS)).unwrap();
    for (topic, qos, policy) in [
        ("map", QoS::default(), "durability"),
        ("odometry", QoS::default().deadline(2 * MS), "deadline"),
    ] {
        let error = lidar.create_publisher::<u32>(topic, qos).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IncompatibleQos);
        assert!(error.to_string().contains(&format!("the {policy} offered is ")), "{error}");
    }
    assert!(
        graph
            .info()
            .topics
            .iter()
            .all(|topic| topic.name == "/scan" || topic.publishers.is_empty())
    );
}

#[test]
fn messages_published_before_the_start_are_kept_for_transient_local_subscriptions() {
    in_every_mode(|mut executor| {
        let received: Log<(&str, u32)> = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let qos = QoS::keep_last(3).transient_local();
        let out = talker.create_publisher::<u32>("numbers", qos).unwrap();
        out.publish(0).unwrap();
        for (name, qos) in [("joiner", qos), ("newcomer", QoS::default())] {
            let node = executor.create_node(name, received.clone()).unwrap();
            node.create_subscription("numbers", qos, move |log, n: &Message<u32>, cx| {
                let log: &mut Log<_> = log;
                let mut log = log.lock().unwrap();
                log.push((name, **n));
                assert_eq!(cx.event().sequence, u64::from(**n));
                if log.iter().filter(|(_, n)| *n == 5).count() == 2 {
                    cx.stop();
                }
            })
            .unwrap();
        }
        (1..4).for_each(|n| out.publish(n).unwrap());
        let mut loan = out.loan().unwrap();
        *loan = 4;
        loan.publish().unwrap();
        executor.freeze().unwrap();
        out.publish(5).unwrap();
        executor.spin().unwrap();
        let of = |name| {
            let all = entries(&received).into_iter().filter(|entry| entry.0 == name);
            all.map(|entry| entry.1).collect::<Vec<_>>()
        };
        // The queue of depth 3 was full before anything was handled.
        assert_eq!(of("joiner"), [3, 4, 5]);
        assert_eq!(of("newcomer"), [5], "it requests nothing older");
        assert_eq!(executor.statistics().callbacks[0].overwritten, 1);
    });
}

#[test]
fn a_late_subscription_gets_what_is_kept_and_then_everything() {
    in_every_mode(|mut executor| {
        let received: Log<u32> = log();
        let talker = executor.create_node("talker", 0u32).unwrap();
        let qos = QoS::keep_last(2).transient_local();
        let out = talker.create_publisher::<u32>("numbers", qos).unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        let (late, has_joined) = (listener.clone(), Arc::<OnceLock<()>>::default());
        let joined = has_joined.clone();
        listener
            .create_one_shot_timer(5 * MS, move |_, _| {
                let all = QoS::keep_last(100).transient_local();
                late.create_subscription("numbers", all, |log, n, cx| {
                    append(log, n, cx);
                    if **n == 9 {
                        cx.stop();
                    }
                })
                .unwrap();
                joined.set(()).unwrap();
            })
            .unwrap();
        talker
            .create_timer(MS, move |next, _| {
                // Nine is left for after the creation.
                if *next < 9 || has_joined.get().is_some() && *next == 9 {
                    out.publish(*next).unwrap();
                    *next += 1;
                }
            })
            .unwrap();
        executor.spin().unwrap();
        let received = entries(&received);
        assert_eq!(received.last(), Some(&9));
        assert!(received.len() >= 3, "two kept ones, and the last: {received:?}");
        assert!(received.windows(2).all(|pair| pair[1] == pair[0] + 1), "{received:?}");
    });
}

#[test]
fn subscriptions_created_on_other_threads_lose_and_double_nothing() {
    in_every_mode(|mut executor| {
        const LAST: u32 = 2_000;
        let received: Log<(u32, u32)> = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let qos = QoS::keep_last(4).transient_local();
        let out = talker.create_publisher::<u32>("numbers", qos).unwrap();
        // Keeps the deterministic mode going until the threads are done.
        talker.create_timer(MS, |_, _| ()).unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        executor.freeze().unwrap();
        let _kept = out.clone(); // a publisher's kept messages end with its last handle
        let publisher = spawn_beside(&executor, move || {
            for n in 0..=LAST {
                out.publish(n).unwrap();
                if n % 64 == 0 {
                    std::thread::yield_now();
                }
            }
        });
        let joining = [1, 2].map(|number| {
            let listener = listener.clone();
            spawn_beside(&executor, move || {
                std::thread::yield_now();
                let all = QoS::keep_last(2 * LAST as usize).transient_local();
                let on_message = move |log: &mut Log<_>, n: &Message<u32>, cx: &mut Context<'_>| {
                    let mut log = log.lock().unwrap();
                    log.push((number, **n));
                    if **n == LAST && log.iter().filter(|(_, n)| *n == LAST).count() == 2 {
                        cx.stop();
                    }
                };
                listener.create_subscription("numbers", all, on_message).unwrap();
            })
        });
        executor.spin().unwrap();
        publisher.join().unwrap();
        joining.into_iter().for_each(|thread| thread.join().unwrap());
        for number in [1, 2] {
            let all = entries(&received).into_iter().filter(|(by, _)| *by == number);
            let received: Vec<_> = all.map(|(_, n)| n).collect();
            assert_eq!(received.last(), Some(&LAST));
            assert!(received.windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
    });
}

#[test]
fn a_late_subscription_that_keeps_all_refuses_what_does_not_fit() {
    in_every_mode(|mut executor| {
        let received: Log<u32> = log();
        let node = executor.create_node("node", received.clone()).unwrap();
        let qos = QoS::keep_last(5).transient_local();
        let out = node.create_publisher::<u32>("numbers", qos).unwrap();
        // Messages that the late one refuses take no place here.
        node.create_subscription("numbers", QoS::keep_all(2), |_, _: &Message<u32>, _| ()).unwrap();
        (0..5).for_each(|n| out.publish(n).unwrap());
        executor.freeze().unwrap();
        out.publish(5).unwrap();
        let late = QoS::keep_all(3).transient_local();
        node.create_subscription("numbers", late, |log, n, cx| {
            append(log, n, cx);
            if **n == 5 || **n == 8 {
                cx.stop();
            }
        })
        .unwrap();
        for _ in 0..3 {
            assert_eq!(out.publish(6).unwrap_err().into_message(), Some(6));
        }
        executor.spin().unwrap();
        executor.stop_handle().reset();
        [7, 8].into_iter().for_each(|n| out.publish(n).unwrap());
        executor.spin().unwrap();
        assert_eq!(entries(&received), [3, 4, 5, 7, 8]);
        let statistics = executor.statistics();
        assert_eq!(statistics.refused, [(String::from("/numbers"), 3)]);
        assert_eq!(statistics.overwritten(), 2, "1 and 2 did not fit");
    });
}

/// The messages of a subscription that joins after `before` messages, of which `depth` are kept.
fn joined(before: &[u32], after: &[u32], depth: usize, at_once: bool) -> Vec<u32> {
    let received: Log<u32> = log();
    let (seen, (before, after)) = (received.clone(), (before.to_vec(), after.to_vec()));
    let job = Job::new(move |graph| {
        let node = graph.create_node("node", seen.clone())?;
        let qos = QoS::keep_last(depth).transient_local();
        let out = node.create_publisher::<u32>("numbers", qos)?;
        // Some before the start, the others in callbacks.
        let (early, before) = before.split_at(before.len() / 2);
        early.iter().for_each(|n| out.publish(*n).unwrap());
        let before = before.to_vec();
        let first = out.clone();
        let after = after.clone();
        let late = node.clone();
        let qos = QoS::keep_last(64).transient_local();
        node.create_one_shot_timer(MS, move |_, _| {
            before.iter().for_each(|n| first.publish(*n).unwrap());
            if at_once {
                late.create_subscription("numbers", qos, append).unwrap();
                after.iter().for_each(|n| first.publish(*n).unwrap());
            } else {
                let (late, after) = (late.clone(), after.clone());
                let out = first.clone();
                let thread = std::thread::spawn(move || {
                    late.create_subscription("numbers", qos, append).unwrap();
                    after.iter().for_each(|n| out.publish(*n).unwrap());
                });
                thread.join().unwrap();
            }
        })?;
        Ok(())
    });
    job.run().unwrap();
    entries(&received)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_late_subscription_sees_the_newest_before_and_all_after_in_order(
        before in prop::collection::vec(any::<u32>(), 0..20),
        after in prop::collection::vec(any::<u32>(), 0..20),
        depth in 1..12usize,
        at_once in any::<bool>(),
    ) {
        let newest = &before[before.len().saturating_sub(depth)..];
        prop_assert_eq!(joined(&before, &after, depth, at_once), [newest, &after].concat());
    }
}

#[test]
fn a_message_older_than_its_lifespan_is_not_delivered_and_counted() {
    let received: Log<u32> = log();
    let seen = received.clone();
    let job = Job::new(move |graph| {
        let node = graph.create_node("node", seen.clone())?;
        let qos = QoS::keep_last(10).transient_local().lifespan(5 * MS);
        let out = node.create_publisher::<u32>("numbers", qos)?;
        out.publish(0)?; // Its age counts from the start.
        let mut next = 1;
        node.create_timer(MS, move |_, _| {
            if next <= 10 {
                out.publish(next).unwrap();
                next += 1;
            }
        })?;
        let late = node.clone();
        node.create_one_shot_timer(6 * MS, move |_, _| {
            late.create_subscription("numbers", QoS::default().transient_local(), append).map(drop)
        })?;
        Ok(())
    });
    // The simulation starts late: 0 is published then, not at time zero.
    let start = Time::from_nanos(4_000_000);
    let report = job.start_at(start).end_at(Time::ZERO + 20 * MS).run().unwrap();
    // At 10 ms the two of 4 ms are too old, 0 and that of the overdue timer; that of 5 ms just not.
    assert_eq!(report.statistics().expired(), 2);
    assert_eq!(entries(&received), (2..=10).collect::<Vec<_>>());
}

#[test]
fn a_message_that_waits_too_long_expires_live() {
    for mut executor in [Executor::single_core(), crate::on_one_core()] {
        let received: Log<u32> = log();
        let node = executor.create_node("node", received.clone()).unwrap();
        let short = QoS::keep_last(1).lifespan(MS);
        let out = node.create_publisher::<u32>("short", short).unwrap();
        let lasting = node.create_publisher::<u32>("lasting", QoS::default()).unwrap();
        node.create_subscription("short", QoS::default(), append).unwrap();
        node.create_subscription("lasting", QoS::default(), |log, n, cx| {
            append(log, n, cx);
            cx.stop();
        })
        .unwrap();
        executor.freeze().unwrap();
        out.publish(1).unwrap();
        let published = executor.now();
        while executor.now() <= published + MS {
            std::hint::spin_loop();
        }
        lasting.publish(2).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&received), [2]);
        let statistics = executor.statistics();
        assert_eq!((statistics.expired(), statistics.dispatched()), (1, 1));
    }
}

/// When a deadline of 10 ms is missed, and how often, at the subscription and at the publisher,
/// with messages at these milliseconds.
fn missed(times: &[u64], end: u64) -> [Vec<(u64, u64, u64)>; 2] {
    let (requested, offered) = (log(), log());
    let (at_subscription, at_publisher) = (requested.clone(), offered.clone());
    let times = times.to_vec();
    let job = Job::new(move |graph| {
        let qos = QoS::default().deadline(10 * MS);
        let note = |log: &mut Log<_>, missed: DeadlineMissed, cx: &mut Context<'_>| {
            let entry = (millis(cx), missed.total_count, missed.total_count_change);
            log.lock().unwrap().push(entry);
        };
        let listener = graph.create_node("listener", at_subscription.clone())?;
        let events = SubscriptionEvents::new().on_deadline_missed(note);
        listener.create_subscription_with_events("t", qos, events, |_, _: &Message<u32>, _| ())?;
        let talker = graph.create_node("talker", at_publisher.clone())?;
        let events = PublisherEvents::new().on_deadline_missed(note);
        let out = talker.create_publisher_with_events("t", qos, events)?;
        for time in times.clone() {
            let out = out.clone();
            talker.create_one_shot_timer(Duration::from_millis(time), move |_, _| {
                out.publish(0u32)
            })?;
        }
        // Keeps the publisher: after its end no deadline is missed.
        talker.create_one_shot_timer(2 * Duration::from_millis(end), move |_, _| {
            let _ = &out;
        })?;
        Ok(())
    });
    job.end_at(Time::ZERO + Duration::from_millis(end)).run().unwrap();
    [entries(&requested), entries(&offered)]
}

#[test]
fn a_deadline_is_missed_a_period_after_the_last_message_and_every_period_after_that() {
    for (times, end, expected) in [
        (&[][..], 35, &[(10, 1, 1), (20, 2, 1), (30, 3, 1)][..]),
        (&[3, 13, 20, 29], 38, &[]),
        (&[4, 25, 30], 45, &[(14, 1, 1), (24, 2, 1), (40, 3, 1)]),
    ] {
        assert_eq!(missed(times, end), [expected; 2]);
    }
}

#[test]
fn a_deadline_is_missed_in_every_mode() {
    in_every_mode(|mut executor| {
        let qos = QoS::default().deadline(2 * MS);
        let talker = executor.create_node("talker", ()).unwrap();
        talker.create_publisher::<u32>("t", qos).unwrap();
        let seen = log();
        let listener = executor.create_node("listener", seen.clone()).unwrap();
        let events = SubscriptionEvents::new().on_deadline_missed(
            |seen: &mut Log<DeadlineMissed>, missed, cx| {
                seen.lock().unwrap().push(missed);
                if missed.total_count >= 3 {
                    cx.stop();
                }
            },
        );
        let ignore = |_: &mut Log<DeadlineMissed>, _: &Message<u32>, _: &mut Context<'_>| ();
        listener.create_subscription_with_events("t", qos, events, ignore).unwrap();
        executor.spin().unwrap();
        let mut total = 0;
        for missed in entries(&seen) {
            total += missed.total_count_change;
            assert_eq!(missed.total_count, total);
        }
        assert!(total >= 3);
    });
}

type Changes = Log<(u64, u64, i64, i64)>;

fn note_change(log: &mut Changes, changed: LivelinessChanged, _: &mut Context<'_>) {
    let LivelinessChanged { alive_count, not_alive_count, .. } = changed;
    let change = (changed.alive_count_change, changed.not_alive_count_change);
    log.lock().unwrap().push((alive_count, not_alive_count, change.0, change.1));
}

#[test]
fn liveliness_is_lost_when_the_node_is_isolated() {
    in_every_mode_isolating(|mut executor| {
        let changes: Changes = log();
        let listener = executor.create_node("listener", changes.clone()).unwrap();
        let stop = executor.stop_handle();
        let events = SubscriptionEvents::new().on_liveliness_changed(
            move |log: &mut Changes, changed, cx: &mut Context<'_>| {
                note_change(log, changed, cx);
                if changed.not_alive_count == 1 {
                    stop.stop();
                }
            },
        );
        let ignore = |_: &mut Changes, _: &Message<u32>, _: &mut Context<'_>| ();
        listener.create_subscription_with_events("t", QoS::default(), events, ignore).unwrap();
        let publishers = ["robust", "fragile"].map(|name| {
            let node = executor.create_node(name, ()).unwrap();
            node.create_timer(2 * MS, move |_, _| assert_ne!(name, "fragile")).unwrap();
            node.create_publisher::<u32>("t", QoS::default()).unwrap()
        });
        executor.spin().unwrap();
        drop(publishers);
        // On another worker the failure may come before the first look.
        let changes = entries(&changes);
        assert!(
            changes == [(2, 0, 2, 0), (1, 1, -1, 1)] || changes == [(1, 1, 1, 1)],
            "{changes:?}"
        );
    });
}

#[test]
fn manual_liveliness_lasts_a_lease_from_each_sign() {
    let (changes, lost) = (log(), log());
    let (seen, own) = (changes.clone(), lost.clone());
    let job = Job::new(move |graph| {
        let qos = QoS::default().liveliness_manual_by_topic(10 * MS);
        let listener = graph.create_node("listener", seen.clone())?;
        let events = SubscriptionEvents::new().on_liveliness_changed(
            |log: &mut Log<_>, changed, cx: &mut Context<'_>| {
                let entry = (millis(cx), changed.alive_count, changed.not_alive_count);
                log.lock().unwrap().push(entry);
            },
        );
        listener.create_subscription_with_events("t", qos, events, |_, _: &Message<u32>, _| ())?;
        let talker = graph.create_node("talker", own.clone())?;
        let events = PublisherEvents::new().on_liveliness_lost(|log: &mut Log<_>, lost, cx| {
            log.lock().unwrap().push((millis(cx), lost.total_count));
        });
        let out = talker.create_publisher_with_events("t", qos, events)?;
        for (time, says_so) in [(5, true), (12, false), (20, true), (40, false), (45, true)] {
            let out = out.clone();
            talker.create_one_shot_timer(
                Duration::from_millis(time),
                move |_, _| match says_so {
                    true => out.assert_liveliness(),
                    false => out.publish(0u32).unwrap(),
                },
            )?;
        }
        Ok(())
    });
    job.end_at(Time::ZERO + 100 * MS).run().unwrap();
    assert_eq!(entries(&changes), [(5, 1, 0), (30, 0, 1), (40, 1, 0), (55, 0, 1)]);
    assert_eq!(entries(&lost), [(30, 1), (55, 2)]);
}

#[test]
fn manual_liveliness_is_lost_and_found_in_every_mode() {
    in_every_mode(|mut executor| {
        let qos = QoS::default().liveliness_manual_by_topic(2 * MS);
        let talker = executor.create_node("talker", ()).unwrap();
        let out = talker.create_publisher::<u32>("t", qos).unwrap();
        let changes: Changes = log();
        let listener = executor.create_node("listener", changes.clone()).unwrap();
        let sign = out.clone();
        let events = SubscriptionEvents::new().on_liveliness_changed(
            move |log: &mut Changes, changed, cx: &mut Context<'_>| {
                note_change(log, changed, cx);
                match log.lock().unwrap().len() {
                    2 => sign.assert_liveliness(),
                    4 => cx.stop(),
                    _ => {}
                }
            },
        );
        let ignore = |_: &mut Changes, _: &Message<u32>, _: &mut Context<'_>| ();
        listener.create_subscription_with_events("t", qos, events, ignore).unwrap();
        executor.freeze().unwrap();
        out.publish(0).unwrap();
        executor.spin().unwrap();
        let expected = [(1, 0, 1, 0), (0, 1, -1, 1), (1, 0, 1, -1), (0, 1, -1, 1)];
        assert_eq!(entries(&changes), expected);
    });
}

#[test]
fn an_event_callback_that_fails_is_a_failure_of_its_node() {
    in_every_mode_isolating(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        node.set_failure_policy(FailurePolicy::StopAll).unwrap();
        let events = PublisherEvents::new().on_deadline_missed(|_, _, _| Err("too late"));
        let qos = QoS::default().deadline(MS);
        let _out = node.create_publisher_with_events::<u32>("t", qos, events).unwrap();
        let error = executor.spin().unwrap_err().to_string();
        assert!(
            error.contains("deadline of publisher /t") && error.contains("too late"),
            "{error}"
        );
    });
}

#[test]
fn runs_with_all_policies_have_one_digest() {
    let run = || {
        let job = Job::new(|graph| {
            let qos = QoS::keep_last(3).transient_local().deadline(4 * MS).lifespan(5 * MS);
            let qos = qos.liveliness_manual_by_topic(6 * MS);
            let talker = graph.create_node("talker", 0u32)?;
            let out = talker.create_publisher("t", qos)?;
            out.publish(0)?;
            let listener = graph.create_node("listener", 0u32)?;
            let events = SubscriptionEvents::new()
                .on_deadline_missed(|sum: &mut u32, missed, _| *sum += missed.total_count as u32)
                .on_liveliness_changed(|_, _, _| ());
            listener.create_subscription_with_events("t", qos, events, |sum, n, _| {
                let n: &Message<u32> = n;
                *sum += **n;
            })?;
            talker.create_timer(3 * MS, move |count, _| {
                *count += 1;
                match *count % 7 {
                    0..3 => out.publish(*count)?,
                    3 if *count == 3 => {
                        let add =
                            |sum: &mut u32, n: &Message<u32>, _: &mut Context<'_>| *sum += **n;
                        listener.create_subscription("t", qos, add)?;
                    }
                    _ => {}
                }
                Ok::<_, BoxError>(())
            })?;
            Ok(())
        });
        let report = job.run_for(500 * MS).run().unwrap();
        (report.digest(), report.dispatches(), report.statistics().clone())
    };
    let first = run();
    assert!(first.1 > 200, "{} dispatches", first.1);
    assert_eq!(first, run());
}

#[test]
fn kept_messages_are_delivered_in_order_of_creation_of_the_publishers() {
    let simulation = Simulation::default();
    let mut executor = Executor::deterministic(simulation);
    let received: Log<u32> = log();
    let node = executor.create_node("node", received.clone()).unwrap();
    let qos = QoS::keep_last(2).transient_local();
    let outs = ["b", "a"].map(|topic| node.create_publisher::<u32>(topic, qos).unwrap());
    for topic in ["a", "b"] {
        node.create_subscription(topic, qos, append).unwrap();
    }
    outs[1].publish(3).unwrap();
    outs[0].publish(1).unwrap();
    outs[0].publish(2).unwrap();
    executor.spin().unwrap();
    assert_eq!(entries(&received), [1, 2, 3]);
}
