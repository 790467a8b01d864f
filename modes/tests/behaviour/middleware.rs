//! Messages that enter and leave the process, with a fake middleware.

mod calls;
mod clock;
mod events;
mod fake_middleware;
mod faults;
mod warnings;

use crate::{Log, entries, log, on_one_core, spawn_beside};
use fake_middleware::{FakeMiddleware, Fault, Private, SOURCE_TIMESTAMP, Stamp, WAYS, Way};
use ringspin_executor::{
    CallbackStatistics, Context, Domain, Error, ExactTime, FailurePolicy, Input, Message, Monitor,
    PublishError, QoS, RemoteNode, RemoteNotifier, RemotePublisher, RemoteSubscription, Transition,
    TypeName, WaitStrategy,
};
use ringspin_modes::{Executor, Mode};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// More ticks than anything here takes: a test that waits for what does not come fails.
const TICKS_MAX: u32 = 60_000;

/// The last message.
const END: u64 = 1_000_000;

/// Runs `test` with one worker, single-core and multi-core, connected with each kind of fake.
fn in_every_way(test: impl Fn(Executor, FakeMiddleware)) {
    for way in WAYS {
        println!("delivered {way:?}");
        test(Executor::single_core(), FakeMiddleware::new(way));
        test(on_one_core(), FakeMiddleware::new(way));
    }
}

/// Runs `test` [`in_every_way`], and with the nodes dealt out to all cores, spinning and parking.
fn on_all_cores(test: impl Fn(Executor, FakeMiddleware)) {
    in_every_way(&test);
    for way in WAYS {
        for wait in [WaitStrategy::default(), WaitStrategy::SpinThenPark(Duration::ZERO)] {
            println!("on all cores, {wait:?}, delivered {way:?}");
            test(
                Executor::new(Mode::MultiCore(None)).with_wait_strategy(wait),
                FakeMiddleware::new(way),
            );
        }
    }
}

/// Connects `executor` with `fake`, and limits how long it runs.
fn connect(executor: &Executor, fake: FakeMiddleware) {
    executor.graph().set_middleware(Arc::new(fake)).unwrap();
    stop_when(executor, || false);
}

/// Stops the executor once `done` says so; fails when that takes too long.
fn stop_when(executor: &Executor, mut done: impl FnMut() -> bool + Send + 'static) {
    let name = format!("observer{}", executor.graph().info().loops.len());
    let node = executor.create_node(&name, 0u32).unwrap();
    node.set_failure_policy(FailurePolicy::StopAll).unwrap();
    node.create_timer(MS, move |ticks, cx| {
        *ticks += 1;
        assert!(*ticks < TICKS_MAX, "it does not come");
        if done() {
            cx.stop();
        }
    })
    .unwrap();
}

/// A node `/name` that records the messages on `topic`, and stops at [`END`].
fn listening(executor: &Executor, name: &str, topic: &str, qos: QoS) -> Log<u64> {
    let heard = log();
    let node = executor.create_node(name, heard.clone()).unwrap();
    node.create_subscription(topic, qos, |heard, n: &Message<u64>, cx| {
        heard.lock().unwrap().push(**n);
        if **n == END {
            cx.stop();
        }
    })
    .unwrap();
    heard
}

/// Publishes on `topic` from outside.
fn sender(fake: &FakeMiddleware, topic: &str, qos: QoS) -> Arc<dyn RemotePublisher> {
    fake.outside().advertise(topic, TypeName::of::<u64>(), qos).unwrap().unwrap()
}

/// Listens to `topic` outside.
fn receiver(fake: &FakeMiddleware, topic: &str) -> Box<dyn RemoteSubscription> {
    let (of, qos) = (TypeName::of::<u64>(), QoS::keep_all(1000));
    fake.outside().subscribe(topic, of, qos, RemoteNotifier::default()).unwrap().unwrap()
}

/// The messages that `receiver` has received.
fn received(receiver: &mut dyn RemoteSubscription) -> Vec<u64> {
    std::iter::from_fn(|| {
        let mut message: Option<u64> = None;
        assert_eq!(receiver.take(&mut message).unwrap(), message.is_some());
        message
    })
    .collect()
}

/// The statistics of the first callback of `node`.
fn first_of(executor: &Executor, node: &str) -> CallbackStatistics {
    executor.statistics().of(node).next().unwrap().clone()
}

/// Spins until nothing is left to do: several times, the one worker called its observer a few times
/// in a row, without a callback in between. Several times, because other work, such as a
/// subscription that joins, may still bring messages that are under way.
fn spin_on(executor: &mut Executor, fake: &FakeMiddleware) {
    let (mut time, mut quiet) = (5 * MS, 0);
    let mut before = (0, 0);
    while quiet < 3 {
        fake.flush();
        executor.stop_handle().reset();
        executor.spin_for(time).unwrap();
        let statistics = executor.statistics();
        let all = statistics.callbacks.iter().chain([&statistics.removed]);
        let (observers, others): (Vec<_>, Vec<_>) =
            all.partition(|callback| callback.node.starts_with("/observer"));
        let observed = observers[0].dispatched;
        let others = others.iter().map(|c| c.dispatched + c.discarded).sum::<u64>();
        let (new_observed, new_others) = (observed - before.0, others - before.1);
        before = (observed, others);
        match (new_others, new_observed) {
            (0, 4..) => quiet += 1,
            (0, _) => time = (time * 2).min(1000 * MS), // a slow machine
            _ => quiet = 0,
        }
    }
}

#[test]
fn graph_has_a_domain_or_a_middleware() {
    let (domain, fake) = (Domain::new(), || Arc::new(FakeMiddleware::new(WAYS[0])));
    let executor = Executor::single_core().in_domain(&domain).unwrap();
    let error = executor.graph().set_middleware(fake()).unwrap_err().to_string();
    assert!(error.contains("it is in a domain"), "{error}");
    let executor = Executor::single_core().with_middleware(fake()).unwrap();
    let error = executor.graph().join(&domain).unwrap_err().to_string();
    assert!(error.contains("hear each other already; choose one"), "{error}");
}

#[test]
fn ten_thousand_messages_arrive_in_order_however_slow_the_subscription_is() {
    const MANY: u64 = 10_000;
    for waits in [true, false] {
        on_all_cores(|mut executor, fake| {
            connect(&executor, fake.another());
            let heard: Log<(u64, u64)> = log();
            let (all_sent, wait) = mpsc::channel();
            let node = executor.create_node("slow", heard.clone()).unwrap();
            let qos = QoS::keep_last(MANY as usize);
            node.create_subscription("numbers", qos, move |heard, n: &Message<u64>, cx| {
                if **n == 0 && waits {
                    wait.recv().unwrap();
                }
                thread::yield_now();
                heard.lock().unwrap().push((cx.event().sequence, **n));
                if **n == MANY - 1 {
                    cx.stop();
                }
            })
            .unwrap();
            executor.freeze().unwrap();
            let (out, bus) = (sender(&fake, "/numbers", QoS::default()), fake.clone());
            let sending = spawn_beside(&executor, move || {
                (0..MANY).for_each(|n| out.publish(&n).unwrap());
                bus.flush();
                let _ = all_sent.send(()); // it may have stopped already if it does not wait
            });
            executor.spin().unwrap();
            sending.join().unwrap();
            assert_eq!(entries(&heard), (0..MANY).map(|n| (n, n)).collect::<Vec<_>>());
            let statistics = first_of(&executor, "/slow");
            assert_eq!((statistics.dispatched, statistics.overwritten), (MANY, 0));
        });
    }
}

#[test]
fn messages_that_arrive_while_the_graph_is_built_are_delivered_after_the_start() {
    on_all_cores(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "numbers", QoS::keep_last(8));
        let out = sender(&fake, "/numbers", QoS::default());
        out.publish(&1u64).unwrap();
        fake.flush();
        executor.freeze().unwrap();
        out.publish(&2u64).unwrap();
        out.publish(&END).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&heard), [1, 2, END]);
    });
}

#[test]
fn messages_from_outside_have_the_times_of_the_middleware() {
    in_every_way(|mut executor, network| {
        connect(&executor, network.another());
        let seen = log();
        let node = executor.create_node("listener", seen.clone()).unwrap();
        let qos = QoS::keep_last(3).message_times();
        node.create_subscription("numbers", qos, |seen, n: &Message<u64>, cx| {
            seen.lock().unwrap().push((n.times().unwrap(), cx.now()));
        })
        .unwrap();
        executor.freeze().unwrap();
        let out = sender(&network, "/numbers", QoS::default());
        (0..3u64).for_each(|n| out.publish(&n).unwrap());
        network.flush();
        spin_on(&mut executor, &network);
        let seen = entries(&seen);
        assert_eq!(seen.len(), 3);
        for (times, handled) in seen {
            assert_eq!(times.source_timestamp, SOURCE_TIMESTAMP);
            // It does not say when they were received: then they are when they are taken.
            assert!(times.received_timestamp > SOURCE_TIMESTAMP);
            assert!(times.received_timestamp <= handled + Duration::from_secs(1));
        }
    });
}

#[test]
fn keep_last_1_gives_the_newest_and_counts_the_others() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "numbers", QoS::keep_last(1));
        executor.freeze().unwrap();
        let out = sender(&fake, "/numbers", QoS::default());
        (0..9u64).for_each(|n| out.publish(&n).unwrap());
        out.publish(&END).unwrap();
        fake.flush();
        executor.spin().unwrap();
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [END]);
        let statistics = first_of(&executor, "/listener");
        assert_eq!((statistics.dispatched, statistics.overwritten), (1, 9));
        // It continues as if nothing had happened.
        out.publish(&7u64).unwrap();
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [END, 7]);
        assert_eq!(first_of(&executor, "/listener").overwritten, 9);
    });
}

#[test]
fn messages_that_do_not_arrive_are_counted_as_lost() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        listening(&executor, "listener", "numbers", QoS::keep_last(4));
        executor.freeze().unwrap();
        let out = sender(&fake, "/numbers", QoS::default());
        let (mut lost, mut sent) = (0, 0);
        for not_sent in [0, 3, 0, 2] {
            fake.lose("/numbers", not_sent);
            fake.fail(Fault::Take, 1);
            (0..9u64).for_each(|n| out.publish(&n).unwrap());
            fake.flush();
            spin_on(&mut executor, &fake);
            (lost, sent) = (lost + not_sent + 1, sent + 9 + not_sent);
            let listener = first_of(&executor, "/listener");
            assert_eq!(listener.lost, lost);
            assert_eq!(listener.dispatched + listener.overwritten + listener.lost, sent);
        }
    });
}

/// Each call brings more messages than it takes, so the middleware never runs out of them.
#[test]
fn every_message_is_accounted_for_while_a_subscription_is_behind() {
    const DEPTH: u64 = 4;
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let node = executor.create_node("listener", 0u64).unwrap();
        let monitor: Arc<OnceLock<Monitor>> = Arc::default();
        let (seen, bus) = (monitor.clone(), fake.clone());
        let out = sender(&fake, "/numbers", QoS::default());
        let first = out.clone();
        let listen = move |calls: &mut u64, _: &Message<u64>, cx: &mut Context<'_>| {
            // Before this call three messages came with each, and five at first.
            let announced = 5 + 3 * *calls;
            let overwritten = seen.get().unwrap().statistics().overwritten();
            let waiting = DEPTH - 1;
            *calls += 1;
            assert_eq!(announced, *calls + overwritten + waiting);
            (0..3u64).for_each(|n| out.publish(&n).unwrap());
            bus.flush();
            if *calls == 100 {
                cx.stop();
            }
        };
        node.create_subscription("numbers", QoS::keep_last(DEPTH as usize), listen).unwrap();
        executor.freeze().unwrap();
        let _ = monitor.set(executor.monitor().unwrap());
        (0..5u64).for_each(|n| first.publish(&n).unwrap());
        fake.flush();
        executor.spin().unwrap();
        assert_eq!(executor.failures(), []);
        let statistics = first_of(&executor, "/listener");
        assert_eq!((statistics.dispatched, statistics.overwritten), (100, 202 - DEPTH + 1));
    });
}

#[test]
fn local_and_remote_messages_are_taken_in_turns() {
    const EACH: u64 = 500;
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "numbers", QoS::keep_last(EACH as usize));
        let talker = executor.create_node("talker", ()).unwrap();
        let inside = talker.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        executor.freeze().unwrap();
        let outside = sender(&fake, "/numbers", QoS::default());
        (0..EACH).for_each(|n| inside.publish(n).unwrap());
        (0..EACH).for_each(|n| outside.publish(&(EACH + n)).unwrap());
        spin_on(&mut executor, &fake);
        let heard = entries(&heard);
        let (inner, outer): (Vec<u64>, Vec<u64>) = heard.iter().partition(|n| **n < EACH);
        assert_eq!(inner, (0..EACH).collect::<Vec<_>>());
        assert_eq!(outer, (EACH..2 * EACH).collect::<Vec<_>>());
        for both in heard.chunks(2) {
            assert!((both[0] < EACH) != (both[1] < EACH), "not in turns: {both:?} of {heard:?}");
        }
    });
}

#[test]
fn publishers_inside_and_outside_race_and_nothing_is_lost_or_comes_twice() {
    const EACH: u64 = 2_000;
    // The ready ring has exactly the places that are needed: their number is a power of two.
    for depth in [8 * EACH as usize, 3] {
        on_all_cores(|mut executor, fake| {
            connect(&executor, fake.another());
            let heard: Log<u64> = log();
            let node = executor.create_node("listener", heard.clone()).unwrap();
            node.create_subscription("numbers", QoS::keep_last(depth), |heard, n, _| {
                let n: &Message<u64> = n;
                heard.lock().unwrap().push(**n);
            })
            .unwrap();
            let talker = executor.create_node("talker", ()).unwrap();
            let inside = talker.create_publisher::<u64>("numbers", QoS::default()).unwrap();
            let monitor: Arc<OnceLock<Monitor>> = Arc::default();
            let seen = monitor.clone();
            stop_when(&executor, move || {
                let statistics = seen.get().unwrap().statistics();
                let listener = statistics.of("/listener").next().unwrap();
                listener.dispatched + listener.overwritten == 3 * EACH
            });
            executor.freeze().unwrap();
            let _ = monitor.set(executor.monitor().unwrap());
            let outside = [(); 2].map(|()| sender(&fake, "/numbers", QoS::default()));
            let sending = spawn_beside(&executor, move || {
                thread::scope(|scope| {
                    scope.spawn(|| (0..EACH).for_each(|n| inside.publish(n).unwrap()));
                    for (id, out) in (1..).zip(&outside) {
                        scope.spawn(move || {
                            (0..EACH).for_each(|n| out.publish(&(id * EACH + n)).unwrap());
                        });
                    }
                });
            });
            executor.spin().unwrap();
            sending.join().unwrap();
            let heard = entries(&heard);
            for id in 0..3 {
                let of = heard.iter().copied().filter(|n| n / EACH == id).collect::<Vec<_>>();
                assert!(of.is_sorted_by(|a, b| a < b), "{id}: {of:?}");
            }
            let overwritten = first_of(&executor, "/listener").overwritten;
            assert_eq!(heard.len() as u64 + overwritten, 3 * EACH, "depth {depth}");
            assert!(overwritten == 0 || depth == 3);
        });
    }
}

#[test]
fn each_message_is_delivered_once_bypassed_or_not() {
    for is_bypassed in [true, false] {
        in_every_way(|mut executor, fake| {
            let process = fake.another();
            let process = if is_bypassed { process } else { process.not_bypassed() };
            connect(&executor, process);
            let other = listening(&executor, "other", "numbers", QoS::keep_last(100));
            let talker = executor.create_node("talker", ()).unwrap();
            let qos = QoS::keep_last(100).transient_local();
            let latched = talker.create_publisher::<u64>("numbers", qos).unwrap();
            let plain = talker.create_publisher::<u64>("numbers", QoS::default()).unwrap();
            let private = talker.create_publisher::<Private>("private", QoS::default()).unwrap();
            let private_heard: Log<u64> = log();
            let node = executor.create_node("private_listener", private_heard.clone()).unwrap();
            node.create_subscription(
                "private",
                QoS::default(),
                |heard, n: &Message<Private>, _| {
                    heard.lock().unwrap().push(n.0);
                },
            )
            .unwrap();
            let mut outside = receiver(&fake, "/numbers");
            executor.freeze().unwrap();
            private.publish(Private(5)).unwrap();
            for n in (0..40).step_by(2) {
                plain.publish(n).unwrap();
                latched.publish(n + 1).unwrap();
            }
            let mut loan = plain.loan().unwrap();
            *loan = END;
            loan.publish().unwrap();
            executor.spin().unwrap();
            spin_on(&mut executor, &fake);
            let all: Vec<u64> = (0..40).chain([END]).collect();
            assert_eq!(entries(&other), all);
            assert_eq!(received(&mut *outside), all);
            assert_eq!(entries(&private_heard), [5]);
        });
    }
}

#[test]
fn two_processes_talk_both_ways() {
    const ROUNDS: u64 = 100;
    on_all_cores(|mut executor, fake| {
        connect(&executor, fake.another());
        let (ready, peer_is_ready) = mpsc::channel();
        let bus = fake.clone();
        let peer = thread::spawn(move || {
            let mut executor = Executor::single_core();
            connect(&executor, bus.another());
            let node = executor.create_node("peer", ()).unwrap();
            let pong = node.create_publisher::<u64>("pong", QoS::default()).unwrap();
            node.create_subscription("ping", QoS::default(), move |_, n: &Message<u64>, cx| {
                pong.publish(**n).unwrap();
                if **n == ROUNDS {
                    cx.stop();
                }
            })
            .unwrap();
            executor.freeze().unwrap();
            ready.send(()).unwrap();
            executor.spin().unwrap();
            first_of(&executor, "/peer").dispatched
        });
        let heard = log();
        let node = executor.create_node("asking", heard.clone()).unwrap();
        let ping = node.create_publisher::<u64>("ping", QoS::default()).unwrap();
        let answer = ping.clone();
        node.create_subscription("pong", QoS::default(), move |heard, n: &Message<u64>, cx| {
            let heard: &mut Log<u64> = heard;
            heard.lock().unwrap().push(**n);
            match **n {
                ROUNDS => cx.stop(),
                n => answer.publish(n + 1).unwrap(),
            }
        })
        .unwrap();
        executor.freeze().unwrap();
        peer_is_ready.recv().unwrap();
        ping.publish(0).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&heard), (0..=ROUNDS).collect::<Vec<_>>());
        assert_eq!(peer.join().unwrap(), ROUNDS + 1);
    });
}

#[test]
fn a_late_subscription_joins_inside_and_outside() {
    for is_bypassed in [true, false] {
        in_every_way(|mut executor, fake| {
            let process = fake.another();
            let process = if is_bypassed { process } else { process.not_bypassed() };
            connect(&executor, process);
            let qos = QoS::keep_last(10).transient_local();
            let outside = sender(&fake, "/map", qos);
            let heard: Log<u64> = log();
            let node = executor.create_node("listener", heard.clone()).unwrap();
            let add = |heard: &mut Log<u64>, n: &Message<u64>, _: &mut Context<'_>| {
                heard.lock().unwrap().push(**n);
            };
            let add_private = |heard: &mut Log<u64>, n: &Message<Private>, _: &mut Context<'_>| {
                heard.lock().unwrap().push(n.0);
            };
            let inside = node.create_publisher::<u64>("map", qos).unwrap();
            let private = node.create_publisher::<Private>("private", qos).unwrap();
            executor.freeze().unwrap();
            outside.publish(&1u64).unwrap();
            inside.publish(2).unwrap();
            private.publish(Private(3)).unwrap();
            spin_on(&mut executor, &fake);
            assert!(entries(&heard).is_empty());
            node.create_subscription("map", qos, add).unwrap();
            node.create_subscription("private", qos, add_private).unwrap();
            outside.publish(&4u64).unwrap();
            inside.publish(5).unwrap();
            private.publish(Private(6)).unwrap();
            spin_on(&mut executor, &fake);
            let mut heard = entries(&heard);
            for pair in [[1, 4], [2, 5], [3, 6]] {
                let both: Vec<u64> = heard.iter().copied().filter(|n| pair.contains(n)).collect();
                assert_eq!(both, pair, "bypassed: {is_bypassed}");
            }
            heard.sort_unstable();
            assert_eq!(heard, [1, 2, 3, 4, 5, 6]);
        });
    }
}

/// The middleware announces kept messages before it has handed over the subscription, and the event
/// loop runs at once.
#[test]
fn a_late_subscription_loses_nothing_while_it_joins() {
    in_every_way(|mut executor, fake| {
        let (joining, is_joining) = mpsc::channel();
        let (go_on, wait) = mpsc::channel();
        let (joining, wait) = (Mutex::new(joining), Mutex::new(wait));
        connect(
            &executor,
            fake.another().pausing(move || {
                joining.lock().unwrap().send(()).unwrap();
                wait.lock().unwrap().recv().unwrap();
            }),
        );
        let qos = QoS::keep_last(10).transient_local();
        let outside = sender(&fake, "/map", qos);
        let heard: Log<u64> = log();
        let node = executor.create_node("listener", heard.clone()).unwrap();
        executor.freeze().unwrap();
        (1..4u64).for_each(|n| outside.publish(&n).unwrap());
        let joining = thread::spawn(move || {
            let add = |heard: &mut Log<u64>, n: &Message<u64>, _: &mut Context<'_>| {
                heard.lock().unwrap().push(**n);
            };
            node.create_subscription("map", qos, add).unwrap();
        });
        is_joining.recv().unwrap();
        spin_on(&mut executor, &fake);
        assert!(entries(&heard).is_empty(), "it comes in vain");
        go_on.send(()).unwrap();
        joining.join().unwrap();
        spin_on(&mut executor, &fake);
        outside.publish(&4u64).unwrap();
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [1, 2, 3, 4]);
        assert_eq!(first_of(&executor, "/listener").overwritten, 0);
    });
}

#[test]
fn synchronizers_and_streams_get_what_comes_from_outside() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let joined: Log<(u64, u64)> = log();
        let node = executor.create_node("fusion", joined.clone()).unwrap();
        let inputs = ["left", "right"].map(|topic| Input::<Stamp>::new(topic, QoS::keep_last(20)));
        let [left, right] = inputs;
        node.create_synchronized_subscription(
            (left, right),
            ExactTime::new(20),
            |joined, (a, b), _| joined.lock().unwrap().push((a.0, b.0)),
        )
        .unwrap();
        let awaited: Log<u64> = log();
        let node = executor.create_node("task", ()).unwrap();
        let mut stream = node.create_stream::<u64>("numbers", QoS::keep_last(20)).unwrap();
        let seen = awaited.clone();
        node.spawn("await", async move {
            loop {
                let n = stream.next().await;
                seen.lock().unwrap().push(*n);
            }
        })
        .unwrap();
        let inside = node.create_publisher::<Stamp>("left", QoS::default()).unwrap();
        executor.freeze().unwrap();
        let of = TypeName::of::<Stamp>();
        let right = fake.outside().advertise("/right", of, QoS::default()).unwrap().unwrap();
        let numbers = sender(&fake, "/numbers", QoS::default());
        for n in 0..10 {
            inside.publish(Stamp(n)).unwrap();
            right.publish(&Stamp(n)).unwrap();
            numbers.publish(&n).unwrap();
        }
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&joined), (0..10).map(|n| (n, n)).collect::<Vec<_>>());
        assert_eq!(entries(&awaited), (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn a_lifecycle_publisher_is_heard_outside_only_while_it_is_active() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let node = executor.create_node("camera", ()).unwrap();
        let lifecycle = node.lifecycle().create().unwrap();
        let out = lifecycle.publisher(node.create_publisher("image", QoS::default()).unwrap());
        let mut outside = receiver(&fake, "/image");
        executor.freeze().unwrap();
        out.publish(1u64).unwrap();
        lifecycle.request(Transition::Configure).unwrap();
        lifecycle.request(Transition::Activate).unwrap();
        spin_on(&mut executor, &fake);
        out.publish(2u64).unwrap();
        fake.flush();
        assert_eq!(received(&mut *outside), [2]);
    });
}

#[test]
fn simulated_time_refuses_what_receives_and_is_not_changed_by_what_is_only_told() {
    let run = |fake: Option<FakeMiddleware>| {
        let mut executor = Executor::deterministic(Default::default());
        if let Some(fake) = fake {
            executor.graph().set_middleware(Arc::new(fake)).unwrap();
        }
        let heard = listening(&executor, "listener", "numbers", QoS::keep_last(10));
        let talker = executor.create_node("talker", 0u64).unwrap();
        let out = talker.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        talker
            .create_timer(MS, move |n, cx| {
                *n += 1;
                out.publish(*n)?;
                if *n == 20 {
                    cx.stop();
                }
                Ok::<(), PublishError<u64>>(())
            })
            .unwrap();
        executor.spin()?;
        Ok::<_, Error>((executor.digest().unwrap(), entries(&heard)))
    };
    let without = run(None).unwrap();
    assert!(without.1.len() >= 19);
    for bypassed in [true, false] {
        let fake = FakeMiddleware::new(Way::AtOnce);
        let process = fake.another();
        let process = if bypassed { process } else { process.not_bypassed() };
        let error = run(Some(process.clone())).unwrap_err().to_string();
        assert!(error.contains("the fake") && error.contains("publish"), "{error}");
        let mut outside = receiver(&fake, "/numbers");
        let told = run(Some(process.publishing_only())).unwrap();
        assert_eq!(told, without);
        assert_eq!(received(&mut *outside), (1..=20).collect::<Vec<_>>());
    }
}
