//! Executors of one process whose topics meet in a domain.

use crate::{Log, entries, log, spawn_beside};
use ringspin_executor::{
    Context, Domain, ErrorKind, Message, PublishError, Publisher, QoS, WaitStrategy,
};
use ringspin_modes::{Executor, Mode};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// The last message.
const END: u64 = 50_000;

/// Two executors of a domain, in each pair of live modes.
fn in_live_modes(test: impl Fn(Executor, Executor)) {
    let parks = WaitStrategy::SpinThenPark(Duration::ZERO);
    for (first, second) in [
        (Mode::SingleCore, Mode::SingleCore),
        (Mode::SingleCore, Mode::MultiCore(None)),
        (Mode::MultiCore(None), Mode::MultiCore(None)),
    ] {
        let domain = Domain::new();
        let of = |mode| Executor::new(mode).in_domain(&domain).unwrap().with_wait_strategy(parks);
        test(of(first), of(second));
    }
}

fn in_domain(domain: &Domain) -> Executor {
    Executor::single_core().in_domain(domain).unwrap()
}

fn publisher(executor: &Executor, node: &str, topic: &str, qos: QoS) -> Publisher<u64> {
    executor.create_node(node, ()).unwrap().create_publisher(topic, qos).unwrap()
}

/// A node `/listener` that records the messages on `topic`, and stops at [`END`].
fn listening(executor: &Executor, topic: &str, qos: QoS) -> Log<u64> {
    let heard = log();
    let node = executor.create_node("listener", heard.clone()).unwrap();
    let hear = |heard: &mut Log<u64>, n: &Message<u64>, cx: &mut Context<'_>| {
        heard.lock().unwrap().push(**n);
        if **n == END {
            cx.stop();
        }
    };
    node.create_subscription(topic, qos, hear).unwrap();
    heard
}

/// Publishes `n`, again as long as a subscription is full; false once the executor is gone.
fn publish(out: &Publisher<u64>, n: u64) -> bool {
    loop {
        match out.publish(n) {
            Ok(()) => return true,
            Err(PublishError::Full(_)) => thread::yield_now(),
            Err(PublishError::Gone(_)) => return false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Spins on another thread, for a minute at most; returns the executor.
fn spin(mut executor: Executor) -> thread::JoinHandle<Executor> {
    thread::spawn(move || {
        executor.spin_for(Duration::from_secs(60)).unwrap();
        executor
    })
}

#[test]
fn messages_both_ways_are_all_accounted_for() {
    in_live_modes(|mut first, mut second| {
        let (keep_all, keep_last) = (QoS::keep_all(100), QoS::keep_last(3));
        let there = publisher(&first, "there", "there", keep_all);
        let back = publisher(&second, "back", "back", keep_last);
        let all = listening(&second, "there", keep_all);
        let newest = listening(&first, "back", keep_last);
        first.freeze().unwrap();
        second.freeze().unwrap();
        let threads = [
            spawn_beside(&second, move || assert!((1..=END).all(|n| publish(&there, n)))),
            spawn_beside(&first, move || assert!((1..=END).all(|n| publish(&back, n)))),
        ];
        let (first, second) = (spin(first).join().unwrap(), spin(second).join().unwrap());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(entries(&all), (1..=END).collect::<Vec<_>>());
        let newest = entries(&newest);
        assert!(newest.is_sorted_by(|a, b| a < b) && newest.last() == Some(&END));
        let of = |executor: &Executor| {
            let statistics = executor.statistics();
            let of = statistics.of("/listener").next().unwrap();
            (of.dispatched, of.overwritten, of.lost)
        };
        assert_eq!(of(&second), (END, 0, 0));
        let (dispatched, overwritten, lost) = of(&first);
        assert_eq!((dispatched, lost), (newest.len() as u64, 0));
        assert_eq!(dispatched + overwritten, END);
    });
}

#[test]
fn executor_comes_and_goes_while_another_one_publishes() {
    const TIMES: u64 = 30;
    let domain = Domain::new();
    let mut steady = in_domain(&domain);
    let qos = QoS::keep_all(100);
    let out = publisher(&steady, "steady", "numbers", qos);
    let own = listening(&steady, "numbers", qos);
    steady.freeze().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    let numbers = spawn_beside(&steady, move || {
        let mut n = 0;
        while !over.load(SeqCst) {
            n += 1;
            assert!(publish(&out, if n == END { n + 1 } else { n }));
        }
        assert!(publish(&out, END));
        n
    });
    let steady = spin(steady);
    for n in 0..TIMES {
        let mode = if n % 2 == 0 { Mode::SingleCore } else { Mode::MultiCore(None) };
        let mut guest = Executor::new(mode).in_domain(&domain).unwrap();
        let heard = listening(&guest, "numbers", qos);
        let node = guest.create_node("watch", heard.clone()).unwrap();
        let stop_later = |heard: &mut Log<u64>, cx: &mut Context<'_>| {
            if heard.lock().unwrap().len() > 500 {
                cx.stop();
            }
        };
        node.create_timer(Duration::from_millis(1), stop_later).unwrap();
        guest.spin_for(Duration::from_secs(60)).unwrap();
        drop(guest);
        let heard = entries(&heard);
        assert!(heard.len() > 500, "it stopped with {} messages", heard.len());
        let gap = heard.windows(2).find(|pair| pair[0] + 1 != pair[1] && pair[1] != END + 1);
        assert_eq!(gap, None, "a message was lost or came twice");
    }
    is_over.store(true, SeqCst);
    let last = numbers.join().unwrap();
    steady.join().unwrap();
    assert_eq!(entries(&own).len() as u64, last + 1);
}

#[test]
fn publisher_of_a_dropped_executor_leaves_the_others_alone() {
    let domain = Domain::new();
    let mut gone = in_domain(&domain);
    let mut stays = in_domain(&domain);
    let out = publisher(&gone, "gone", "numbers", QoS::keep_last(10));
    let heard = stays.create_node("collector", ()).unwrap();
    let heard = heard.create_collector::<u64>("numbers", QoS::keep_last(10)).unwrap();
    gone.freeze().unwrap();
    stays.freeze().unwrap();
    out.publish(1).unwrap();
    drop(gone);
    assert!(matches!(out.publish(2), Err(PublishError::Gone(_))));
    stays.spin_for(Duration::from_millis(5)).unwrap();
    assert_eq!(heard.values(), [1]);
    let again = in_domain(&domain);
    let out = publisher(&again, "again", "numbers", QoS::keep_last(10));
    let mut again = again;
    again.freeze().unwrap();
    out.publish(3).unwrap();
    stays.spin_for(Duration::from_millis(5)).unwrap();
    assert_eq!(heard.values(), [3]);
}

#[test]
fn subscription_of_a_dropped_executor_refuses_no_message() {
    let domain = Domain::new();
    let (mut stays, mut gone) = (in_domain(&domain), in_domain(&domain));
    let out = publisher(&stays, "stays", "numbers", QoS::keep_all(1));
    let _heard = listening(&gone, "numbers", QoS::keep_all(1));
    stays.freeze().unwrap();
    gone.freeze().unwrap();
    out.publish(1).unwrap();
    assert!(matches!(out.publish(2), Err(PublishError::Full(_))), "it does not spin");
    assert_eq!(out.subscription_count().unwrap(), 1);
    drop(gone);
    (2..5).for_each(|n| out.publish(n).unwrap());
    assert_eq!(out.subscription_count().unwrap(), 0);
}

#[test]
fn messages_are_shared_and_outlive_their_executor() {
    let domain = Domain::new();
    let (mut first, mut second) = (in_domain(&domain), in_domain(&domain));
    let out = publisher(&first, "first", "numbers", QoS::default());
    let beside = publisher(&second, "second", "numbers", QoS::default());
    let local = first.create_node("local", ()).unwrap();
    let local = local.create_collector::<u64>("numbers", QoS::keep_last(10)).unwrap();
    let remote = second.create_node("remote", ()).unwrap();
    let remote = remote.create_collector::<u64>("numbers", QoS::keep_last(10)).unwrap();
    assert_eq!((out.subscription_count().unwrap(), beside.subscription_count().unwrap()), (2, 2));
    first.freeze().unwrap();
    second.freeze().unwrap();
    out.publish(7).unwrap();
    beside.publish(8).unwrap();
    first.spin_for(Duration::from_millis(5)).unwrap();
    second.spin_for(Duration::from_millis(5)).unwrap();
    let (local, remote) = (local.take(), remote.take());
    assert!(std::ptr::eq(&raw const *local[0].1, &raw const *remote[0].1), "one copy");
    assert_ne!(remote[0].1.id().source, remote[1].1.id().source);
    drop((first, second, out, beside));
    assert_eq!((*remote[0].1, *remote[1].1), (7, 8));
}

#[test]
fn messages_that_are_held_here_and_queued_there_have_slots() {
    const DEPTH: u64 = 30_000;
    let domain = Domain::new();
    let (mut first, mut second) = (in_domain(&domain), in_domain(&domain));
    let node = first.create_node("first", Vec::new()).unwrap();
    let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let hold = |held: &mut Vec<Message<u64>>, n: &Message<u64>, _: &mut Context<'_>| {
        if **n <= DEPTH {
            held.push(n.clone());
        }
    };
    node.create_subscription("numbers", QoS::keep_last(1).held(DEPTH as usize), hold).unwrap();
    let heard = second.create_node("second", ()).unwrap();
    let heard = heard.create_collector::<u64>("numbers", QoS::keep_last(DEPTH as usize)).unwrap();
    first.freeze().unwrap();
    second.freeze().unwrap();
    for n in 1..=DEPTH {
        out.publish(n).unwrap();
        first.spin_some().unwrap();
    }
    (DEPTH + 1..=2 * DEPTH).for_each(|n| out.publish(n).unwrap());
    let mut spins = 0..1_000;
    while heard.len() < DEPTH as usize && spins.next().is_some() {
        second.spin_for(Duration::from_millis(5)).unwrap();
    }
    assert_eq!(heard.values(), (DEPTH + 1..=2 * DEPTH).collect::<Vec<_>>());
}

#[test]
fn late_executor_gets_transient_local_messages_once() {
    let domain = Domain::new();
    let mut first = in_domain(&domain);
    let qos = QoS::keep_all(1_000).transient_local();
    let out = publisher(&first, "map", "map", qos);
    assert!(publish(&out, 1), "before the start");
    first.freeze().unwrap();
    let (started, start) = mpsc::channel();
    let publishing = thread::spawn(move || {
        for n in 2..=500 {
            assert!(publish(&out, n));
            if n == 100 {
                started.send(()).unwrap();
            }
        }
        assert!(publish(&out, END));
        out
    });
    start.recv().unwrap();
    let late = in_domain(&domain);
    let heard = listening(&late, "map", qos);
    spin(late).join().unwrap();
    drop(publishing.join().unwrap());
    assert_eq!(entries(&heard), (1..=500).chain([END]).collect::<Vec<_>>());
}

#[test]
fn incompatible_qos_is_an_error_until_the_other_executor_is_gone() {
    let domain = Domain::new();
    let (first, second) = (in_domain(&domain), in_domain(&domain));
    let best_effort = QoS::keep_last(1).best_effort();
    let _out = publisher(&first, "offers", "numbers", best_effort);
    let node = second.create_node("requests", ()).unwrap();
    let subscribe = || node.create_collector::<u64>("numbers", QoS::keep_last(1)).map(|_| ());
    let error = subscribe().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IncompatibleQos);
    assert!(error.to_string().contains("/offers with node /requests"), "{error}");
    drop(first);
    subscribe().unwrap();
    let third = in_domain(&domain);
    let node = third.create_node("offers", ()).unwrap();
    let error = node.create_publisher::<u64>("numbers", best_effort).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IncompatibleQos);
}

#[test]
fn another_type_is_an_error_until_the_other_executor_is_gone() {
    let domain = Domain::new();
    let (first, second) = (in_domain(&domain), in_domain(&domain));
    let _out = publisher(&first, "numbers", "numbers", QoS::default());
    let node = second.create_node("texts", ()).unwrap();
    let publish = || node.create_publisher::<String>("numbers", QoS::default());
    let error = publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    let text = error.to_string();
    assert!(text.contains("node /numbers uses it with u64; use the same type"), "{text}");
    drop((first, _out));
    publish().unwrap();
}

#[test]
fn domain_needs_a_live_mode_and_an_empty_graph_without_another_one() {
    let domain = Domain::new();
    let mut executor = Executor::deterministic(Default::default()).in_domain(&domain).unwrap();
    let error = executor.spin().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("put their nodes into one executor"), "{error}");
    let refused = |executor: &Executor| {
        let error = executor.graph().join(&domain).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidState);
        error.to_string()
    };
    assert!(refused(&in_domain(&domain)).contains("it has one already"));
    let executor = Executor::single_core();
    executor.create_node("node", ()).unwrap();
    assert!(refused(&executor).contains("before its first node"));
}

/// Lists of ports that another executor replaced are freed, though the first one never spins.
#[test]
fn changes_of_another_executor_leave_no_garbage() {
    let domain = Domain::new();
    let mut first = in_domain(&domain);
    let _out = publisher(&first, "first", "numbers", QoS::default());
    first.freeze().unwrap();
    for _ in 0..10 {
        let mut second = in_domain(&domain);
        let node = second.create_node("second", ()).unwrap();
        second.freeze().unwrap();
        let heard = |_: &mut (), _: &Message<u64>, _: &mut Context<'_>| ();
        let late = node.create_subscription("numbers", QoS::default(), heard).unwrap();
        assert_eq!(first.graph().domain().garbage(), 0);
        late.destroy();
        assert_eq!(first.graph().domain().garbage(), 0);
        node.create_subscription("numbers", QoS::default(), heard).unwrap();
    }
    assert_eq!(first.graph().domain().garbage(), 0);
}
