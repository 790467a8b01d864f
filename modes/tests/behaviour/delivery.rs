//! Messages: order, sharing, depth, and the outcome of a full queue.

use crate::{entries, in_every_mode, log};
use ringspin_executor::{Message, PublishError, QoS};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(1);

#[test]
fn messages_arrive_complete_and_in_order() {
    in_every_mode(|mut executor| {
        let received = log();
        let talker = executor.create_node("talker", 0u32).unwrap();
        let out = talker.create_publisher::<u32>("numbers", QoS::default()).unwrap();
        talker
            .create_timer(TICK, move |next, _| {
                // Seven at a time, less than the depth, into a listener on perhaps another core.
                for _ in 0..7 {
                    out.publish(*next).unwrap();
                    *next += 1;
                }
            })
            .unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        listener
            .create_subscription("numbers", QoS::keep_last(1000), |log, n: &Message<u32>, cx| {
                log.lock().unwrap().push(**n);
                assert_eq!(cx.event().sequence, u64::from(**n));
                if **n == 69 {
                    cx.stop();
                }
            })
            .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&received), (0..70).collect::<Vec<_>>());
    });
}

#[test]
fn every_subscription_sees_the_same_message_not_a_copy() {
    in_every_mode(|mut executor| {
        let seen = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let out = talker.create_publisher("text", QoS::default()).unwrap();
        for n in 0..3 {
            let listener = executor.create_node(&format!("listener{n}"), seen.clone()).unwrap();
            listener
                .create_subscription(
                    "text",
                    QoS::keep_last(1),
                    |seen, text: &Message<String>, cx| {
                        let mut seen = seen.lock().unwrap();
                        seen.push((text.as_ptr() as usize, text.clone()));
                        if seen.len() == 3 {
                            cx.stop();
                        }
                    },
                )
                .unwrap();
        }
        executor.freeze().unwrap();
        out.publish(String::from("one for all")).unwrap();
        executor.spin().unwrap();
        let seen = entries(&seen);
        assert_eq!(seen.len(), 3);
        assert!(
            seen.iter()
                .all(|(address, text)| { *address == seen[0].0 && text.as_str() == "one for all" })
        );
    });
}

#[test]
fn keep_last_gives_the_newest_and_counts_what_it_overwrote() {
    in_every_mode(|mut executor| {
        let received = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let out = talker.create_publisher::<u32>("numbers", QoS::default()).unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        for depth in [1, 3] {
            listener
                .create_subscription("numbers", QoS::keep_last(depth), move |log, n, cx| {
                    let n: &Message<u32> = n;
                    let mut log = log.lock().unwrap();
                    log.push((depth, **n));
                    if log.len() == 4 {
                        cx.stop();
                    }
                })
                .unwrap();
        }
        executor.freeze().unwrap();
        for n in 0..10 {
            out.publish(n).unwrap();
        }
        executor.spin().unwrap();
        // Ready order: the token of depth 1, then the three of depth 3.
        assert_eq!(entries(&received), [(1, 9), (3, 7), (3, 8), (3, 9)]);
        let lost: Vec<_> =
            executor.statistics().callbacks.iter().map(|callback| callback.overwritten).collect();
        assert_eq!(lost, [9, 7]);
    });
}

#[test]
fn keep_all_returns_a_message_that_does_not_fit_and_delivers_it_to_no_subscription() {
    in_every_mode(|mut executor| {
        let received = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let out = talker.create_publisher::<u32>("numbers", QoS::default()).unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        for qos in [QoS::keep_all(100), QoS::keep_all(4)] {
            listener
                .create_subscription("numbers", qos, |log, n: &Message<u32>, cx| {
                    let mut log = log.lock().unwrap();
                    log.push(**n);
                    if log.len() == 8 {
                        cx.stop();
                    }
                })
                .unwrap();
        }
        executor.freeze().unwrap();
        (0..4).for_each(|n| out.publish(n).unwrap());
        for n in 4..6 {
            let error = out.publish(n).unwrap_err();
            assert!(matches!(error, PublishError::Full(back) if *back == n));
        }
        executor.spin().unwrap();
        assert_eq!(entries(&received), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(executor.statistics().refused, [(String::from("/numbers"), 2)]);
        assert!((10..14).all(|n| out.publish(n).is_ok()), "taken messages made room");
    });
}

#[test]
fn publishing_before_the_graph_is_frozen_is_an_error() {
    in_every_mode(|executor| {
        let node = executor.create_node("talker", ()).unwrap();
        let out = node.create_publisher("numbers", QoS::default()).unwrap();
        let error = out.publish(5).unwrap_err();
        assert!(matches!(error, PublishError::NotFrozen(_)));
        assert!(error.to_string().contains("freeze"));
        assert_eq!(error.into_message(), Some(5));
    });
}

#[test]
fn a_loop_dispatches_in_the_order_in_which_events_became_ready() {
    in_every_mode(|mut executor| {
        let received = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let left = talker.create_publisher("left", QoS::default()).unwrap();
        let right = talker.create_publisher("right", QoS::default()).unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        for topic in ["left", "right"] {
            listener
                .create_subscription(topic, QoS::default(), move |log, n: &Message<u32>, cx| {
                    log.lock().unwrap().push((topic, **n));
                    if **n == 5 {
                        cx.stop();
                    }
                })
                .unwrap();
        }
        executor.freeze().unwrap();
        for (n, publisher) in [&left, &right, &right, &left, &right, &left].into_iter().enumerate()
        {
            publisher.publish(n as u32).unwrap();
        }
        executor.spin().unwrap();
        let (l, r) = ("left", "right");
        assert_eq!(entries(&received), [(l, 0), (r, 1), (r, 2), (l, 3), (r, 4), (l, 5)]);
    });
}

#[test]
fn a_message_that_is_kept_outlives_the_executor() {
    in_every_mode(|mut executor| {
        let received = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let out = talker.create_publisher::<String>("text", QoS::default()).unwrap();
        let listener = executor.create_node("listener", received.clone()).unwrap();
        listener
            .create_subscription("text", QoS::default(), |log, text: &Message<String>, cx| {
                log.lock().unwrap().push(text.clone());
                cx.stop();
            })
            .unwrap();
        executor.freeze().unwrap();
        out.publish("kept".into()).unwrap();
        executor.spin().unwrap();
        drop((executor, out));
        assert_eq!(received.lock().unwrap()[0].as_str(), "kept");
    });
}

/// The times of the messages lie between those before and after the calls of `publish`.
#[test]
fn messages_have_publication_and_reception_times_on_request() {
    in_every_mode(|mut executor| {
        let (sent, seen) = (log(), log());
        let talker = executor.create_node("talker", sent.clone()).unwrap();
        let out = talker.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        talker
            .create_timer(TICK, move |sent, cx| {
                let before = cx.now();
                out.publish(cx.event().sequence).unwrap();
                sent.lock().unwrap().push((before, cx.now()));
            })
            .unwrap();
        for (name, qos) in [("asks", QoS::default().message_times()), ("plain", QoS::default())] {
            let listener = executor.create_node(name, seen.clone()).unwrap();
            listener
                .create_subscription("numbers", qos, move |seen, n: &Message<u64>, cx| {
                    let kept = n.clone(); // has the times, too
                    let mut seen = seen.lock().unwrap();
                    seen.push((name, **n, kept.times(), cx.now()));
                    if ["asks", "plain"].iter().all(|of| seen.iter().any(|s| s.0 == *of)) {
                        cx.stop();
                    }
                })
                .unwrap();
        }
        executor.spin().unwrap();
        let sent = entries(&sent);
        for (name, n, times, handled) in entries(&seen) {
            assert_eq!(times.is_some(), name == "asks");
            let Some(times) = times else { continue };
            // Of the last one, the timer's callback may not have returned.
            let Some((before, after)) = sent.get(n as usize) else { continue };
            assert!((*before..=*after).contains(&times.source_timestamp), "message {n}");
            assert_eq!(times.received_timestamp, times.source_timestamp);
            assert!(times.received_timestamp <= handled);
        }
    });
}
