//! Kept messages: the number that a topic holds, and the outcome beyond it.

use crate::{Log, entries, in_every_mode, log};
use ringspin_executor::{
    CallError, Context, HeldMessages, Input, Latest, LoanError, Message, OutOfSlots, PublishError,
    QoS, Reply, Trigger,
};
use ringspin_modes::Executor;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TICK: Duration = Duration::from_micros(200);

/// Publications after which one would have to be refused.
const PUBLICATIONS_MAX: u64 = 5_000;

/// The most refused publications before a test gives up hope that one succeeds.
const REFUSALS_MAX: u32 = 100_000;

fn out_of_slots<T>(error: PublishError<T>) -> OutOfSlots {
    match error {
        PublishError::NoSlot { out_of_slots, .. } => *out_of_slots,
        other => panic!("{other:?}"),
    }
}

/// Publishes numbers on `kept` until it is refused, then stops. Returns the refusals.
fn publish_until_refused(executor: &mut Executor) -> Vec<OutOfSlots> {
    let refusals = log();
    let talker = executor.create_node("talker", refusals.clone()).unwrap();
    let out = talker.create_publisher::<u64>("kept", QoS::default()).unwrap();
    talker
        .create_timer(TICK, move |refusals, cx| {
            if let Err(error) = out.publish(7) {
                let is_seven =
                    matches!(&error, PublishError::NoSlot { message, .. } if **message == 7);
                assert!(is_seven, "{error:?}");
                refusals.lock().unwrap().push(out_of_slots(error));
                cx.stop();
            }
            if cx.event().sequence == PUBLICATIONS_MAX {
                cx.stop();
            }
        })
        .unwrap();
    executor.spin().unwrap();
    let refusals = entries(&refusals);
    assert!(!refusals.is_empty(), "{PUBLICATIONS_MAX} messages are kept, and none is refused");
    refusals
}

/// That `refusal` names topic `kept`, and first of all `node` with `callback`.
fn assert_blames(refusal: &OutOfSlots, node: &str, callback: &str) {
    let OutOfSlots { topic, held, .. } = refusal;
    let HeldMessages { node: by, callback: of, messages, max } = &held[0];
    assert_eq!((&**topic, &**by, &**of), ("/kept", node, callback), "{refusal}");
    assert!(messages > max, "{refusal}");
    let text = refusal.to_string();
    assert!(text.contains(topic) && text.contains(node) && text.contains(callback), "{text}");
}

#[test]
fn publisher_is_told_which_subscription_keeps_too_many_messages() {
    in_every_mode(|mut executor| {
        let innocent = executor.create_node("innocent", None).unwrap();
        innocent
            .create_subscription("kept", QoS::default(), |latest, n: &Message<u64>, _| {
                *latest = Some(n.clone());
            })
            .unwrap();
        let hoarder = executor.create_node("hoarder", Vec::new()).unwrap();
        hoarder
            .create_subscription("kept", QoS::default(), |kept, n: &Message<u64>, _| {
                kept.push(n.clone());
            })
            .unwrap();
        let refusals = publish_until_refused(&mut executor);
        assert_blames(&refusals[0], "/hoarder", "subscription /kept");
        assert_eq!(executor.statistics().refused, [("/kept".to_owned(), 1)]);
        assert!(executor.failures().is_empty());
    });
}

#[test]
fn stream_whose_messages_a_task_keeps_is_named() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("hoarder", ()).unwrap();
        let mut numbers = node.create_stream::<u64>("kept", QoS::keep_last(3)).unwrap();
        node.spawn("keep", async move {
            let mut kept = Vec::new();
            loop {
                kept.push(numbers.next().await);
            }
        })
        .unwrap();
        let refusals = publish_until_refused(&mut executor);
        assert_blames(&refusals[0], "/hoarder", "stream /kept");
    });
}

#[test]
fn synchronizer_whose_messages_are_kept_is_named() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("hoarder", Vec::new()).unwrap();
        let kept = Input::<u64>::new("kept", QoS::default());
        let other = Input::<u64>::new("other", QoS::default()).optional();
        node.create_synchronized_subscription(
            (kept, other),
            Latest::new(Trigger::Any),
            |kept: &mut Vec<Message<u64>>, (message, _), _| kept.push(message.clone()),
        )
        .unwrap();
        let refusals = publish_until_refused(&mut executor);
        assert_blames(&refusals[0], "/hoarder", "synchronized subscription /kept");
    });
}

#[test]
fn subscriptions_may_keep_what_they_declared() {
    in_every_mode(|mut executor| {
        const MESSAGES: u64 = 2_000;
        for (n, held) in [(0, 16), (1, 0), (2, 300)] {
            let keeper = executor.create_node(&format!("keeper{n}"), Vec::new()).unwrap();
            let qos = match held {
                16 => QoS::keep_last(1),
                _ => QoS::keep_last(1).held(held),
            };
            keeper
                .create_subscription("kept", qos, move |kept, n: &Message<u64>, _| {
                    if kept.len() == held {
                        kept.clear();
                    }
                    kept.extend((held > 0).then(|| n.clone()));
                })
                .unwrap();
        }
        let talker = executor.create_node("talker", 0).unwrap();
        let out = talker.create_publisher::<u64>("kept", QoS::default().held(0)).unwrap();
        talker
            .create_timer(Duration::from_micros(20), move |next, cx| {
                *next += 1;
                if *next == MESSAGES {
                    cx.stop();
                }
                out.publish(*next)
            })
            .unwrap();
        executor.spin().unwrap();
        assert!(executor.failures().is_empty());
    });
}

#[test]
fn publisher_goes_on_when_kept_messages_are_dropped() {
    in_every_mode(|mut executor| {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let hoarder = executor.create_node("hoarder", kept.clone()).unwrap();
        hoarder
            .create_subscription("kept", QoS::keep_last(1), |kept, n: &Message<u64>, _| {
                kept.lock().unwrap().push(n.clone());
            })
            .unwrap();
        let talker = executor.create_node("talker", 0).unwrap();
        let out = talker.create_publisher::<u64>("kept", QoS::default()).unwrap();
        let outside = out.clone();
        let all = kept.clone();
        talker
            .create_timer(TICK, move |refused: &mut u32, cx| match out.publish(1) {
                Ok(()) if *refused >= 3 => cx.stop(),
                Ok(()) => assert!(cx.event().sequence < 4 * PUBLICATIONS_MAX, "never refused"),
                Err(_) => {
                    *refused += 1;
                    assert!(*refused < REFUSALS_MAX);
                    if *refused >= 3 {
                        all.lock().unwrap().clear();
                    }
                }
            })
            .unwrap();
        executor.spin().unwrap();
        // Messages and publishers outlive the executor.
        drop(executor);
        outside.publish(2).ok();
        assert!(kept.lock().unwrap().iter().all(|message| **message == 1));
    });
}

#[test]
fn transient_local_publisher_is_refused_without_losing_what_it_keeps() {
    in_every_mode(|mut executor| {
        let refusals = log();
        let talker = executor.create_node("talker", refusals.clone()).unwrap();
        let qos = QoS::keep_last(3).transient_local();
        let out = talker.create_publisher::<u64>("kept", qos).unwrap();
        (0..5).for_each(|n| out.publish(n).unwrap());
        let hoarder = executor.create_node("hoarder", Vec::new()).unwrap();
        hoarder
            .create_subscription("kept", qos, |kept, n: &Message<u64>, _| kept.push(n.clone()))
            .unwrap();
        let seen = log();
        let late = executor.create_node("late", seen.clone()).unwrap();
        let on_message = |seen: &mut Log<u64>, n: &Message<u64>, cx: &mut Context<'_>| {
            let mut seen = seen.lock().unwrap();
            seen.push(**n);
            if seen.len() == 3 {
                cx.stop();
            }
        };
        talker
            .create_timer(TICK, move |refusals, cx| {
                let next = cx.event().sequence + 5;
                if let Err(error) = out.publish(next) {
                    cx.cancel_timer();
                    refusals.lock().unwrap().push((next, out_of_slots(error)));
                    late.create_subscription("kept", qos, on_message).unwrap();
                }
                assert!(next < 4 * PUBLICATIONS_MAX, "never refused");
            })
            .unwrap();
        executor.spin().unwrap();
        let [(refused, error)] = &entries(&refusals)[..] else { panic!("it was cancelled") };
        assert_blames(error, "/hoarder", "subscription /kept");
        assert_eq!(entries(&seen), [refused - 3, refused - 2, refused - 1], "the newest three");
    });
}

#[test]
fn loans_beyond_all_slots_are_refused() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("camera", ()).unwrap();
    let out = node.create_publisher::<u64>("kept", QoS::default()).unwrap();
    executor.freeze().unwrap();
    let mut loans = Vec::new();
    let refused = loop {
        match out.loan() {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
        assert!(loans.len() < 100_000);
    };
    assert!(matches!(&refused, LoanError::NoSlot(why) if why.topic == "/kept"), "{refused}");
    assert!(loans.len() >= 16);
    assert!(matches!(out.publish(1), Err(PublishError::NoSlot { message, .. }) if *message == 1));
    drop(loans);
    assert!(out.loan().is_ok());
}

#[test]
fn loan_that_is_not_published_keeps_its_content() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("camera", ()).unwrap();
    let out = node.create_publisher::<u64>("kept", QoS::default()).unwrap();
    let other = node.create_publisher::<u64>("other", QoS::default()).unwrap();
    let mut loan = out.loan().unwrap();
    *loan = 7;
    let early = loan.publish().unwrap_err();
    assert!(matches!(early, PublishError::NotFrozen(_)));
    let message = early.into_returned().unwrap();
    let message = other.resume(message).expect_err("it is on loan from another topic");
    executor.freeze().unwrap();
    let loan = out.resume(message).unwrap();
    assert_eq!(*loan, 7);
    loan.publish().unwrap();
}

#[test]
fn threads_that_share_a_publisher_are_not_refused() {
    const THREADS: u64 = 48;
    const EACH: u64 = 500;
    let mut executor = Executor::single_core();
    let listener = executor.create_node("listener", 0).unwrap();
    listener
        .create_subscription("kept", QoS::keep_last(1), |sum, n: &Message<u64>, _| *sum += **n)
        .unwrap();
    let talker = executor.create_node("talker", ()).unwrap();
    let out = talker.create_publisher::<u64>("kept", QoS::default().held(0)).unwrap();
    executor.freeze().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let out = out.clone();
            scope.spawn(move || (0..EACH).for_each(|n| out.publish(n).unwrap()));
        }
    });
    assert!(executor.statistics().refused.is_empty());
}

#[test]
fn client_that_keeps_replies_is_refused_and_its_service_goes_on() {
    in_every_mode(|mut executor| {
        let server = executor.create_node("server", 0u64).unwrap();
        server.create_service("add", QoS::services(), |sum, n: &u64, _| *sum + n).unwrap();
        let refused = log();
        let log_of = refused.clone();
        let node = executor.create_node("node", Vec::<Reply<u64>>::new()).unwrap();
        let qos = QoS::keep_last(2).held(3);
        let client = node.create_client::<u64, u64>("add", qos).unwrap();
        node.create_timer(TICK, move |kept: &mut Vec<_>, cx| {
            let called = client.call(kept.len() as u64, |kept, reply, _| kept.push(reply.unwrap()));
            let Err(why) = called else { return };
            if why.reason == CallError::TooManyReplies {
                let mut log = log_of.lock().unwrap();
                log.push((kept.len(), kept.iter().map(|reply| **reply).max()));
                kept.clear();
                if log.len() == 3 {
                    cx.stop();
                }
            }
        })
        .unwrap();
        executor.spin().unwrap();
        for (kept, newest) in entries(&refused) {
            assert!((4..=6).contains(&kept), "{kept} replies");
            assert!(newest.is_some());
        }
        assert!(executor.failures().is_empty());
    });
}
