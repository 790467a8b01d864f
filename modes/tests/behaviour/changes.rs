//! Nodes and endpoints that are created while the graph runs: from callbacks and other threads.

use crate::{Log, entries, in_every_mode, log, spawn_beside};
use ringspin_executor::{
    Context, ErrorKind, Graph, GraphChange, Input, Latest, Message, Node, QoS, SubscriptionEvents,
    Transition, Trigger, rand_core,
};
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::Job;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn subscription_gets_what_is_published_from_its_creation_on() {
    in_every_mode(|mut executor| {
        let heard: Log<u64> = log();
        let node = executor.create_node("talker", 0u64).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let listener = executor.create_node("listener", heard.clone()).unwrap();
        node.create_timer(MS, move |n, _| {
            if *n == 3 {
                let append = |heard: &mut Log<u64>, n: &Message<u64>, cx: &mut Context<'_>| {
                    let mut heard = heard.lock().unwrap();
                    heard.push(**n);
                    if heard.len() == 3 {
                        cx.stop();
                    }
                };
                listener.create_subscription("numbers", QoS::keep_last(10_000), append).unwrap();
            }
            out.publish(*n).unwrap();
            *n += 1;
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&heard), [3, 4, 5]);
    });
}

#[test]
fn timer_counts_from_its_creation() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let late = node.clone();
        let times: Log<u64> = log();
        let seen = times.clone();
        node.create_one_shot_timer(3 * MS, move |_, cx| {
            let (created, seen) = (cx.now(), seen.clone());
            let note = move |_: &mut (), cx: &mut Context<'_>| {
                let mut seen = seen.lock().unwrap();
                seen.push(cx.now().since(created).as_nanos() as u64);
                if seen.len() == 3 {
                    cx.stop();
                }
            };
            late.create_timer(2 * MS, note).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        for (n, after) in entries(&times).into_iter().enumerate() {
            assert!(after >= 2_000_000 * (n as u64 + 1), "call {n} after {after} ns");
        }
    });
}

/// Makes a node that doubles the numbers on `from`.
fn create_relay(graph: &Graph, from: &str, to: &str) {
    let relay = graph.create_node(&format!("relay_{from}"), 0u64).unwrap();
    let out = relay.create_publisher::<u64>(to, QoS::default()).unwrap();
    relay
        .create_subscription(from, QoS::default(), move |heard, n: &Message<u64>, _| {
            *heard += 1;
            out.publish(2 * **n)
        })
        .unwrap();
}

#[test]
fn chain_of_nodes_grows_in_callbacks() {
    in_every_mode(|mut executor| {
        const RELAYS: u64 = 20;
        let ends: Log<u64> = log();
        let graph = executor.graph().clone();
        let node = executor.create_node("source", ()).unwrap();
        let out = node.create_publisher::<u64>("t0", QoS::default()).unwrap();
        let (source, seen) = (node.clone(), ends.clone());
        let mut made = 0;
        node.create_timer(MS, move |_, _| {
            if made < RELAYS {
                create_relay(&graph, &format!("t{made}"), &format!("t{}", made + 1));
            } else if made == RELAYS {
                let (seen, end) = (seen.clone(), format!("t{RELAYS}"));
                source
                    .create_subscription(&end, QoS::default(), move |_, n: &Message<u64>, cx| {
                        seen.lock().unwrap().push(**n);
                        cx.stop();
                    })
                    .unwrap();
            }
            made += 1;
            out.publish(1).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&ends)[0], 1 << RELAYS);
        let statistics = executor.statistics();
        assert_eq!(statistics.of("/relay_t0").count(), 1);
        assert!(statistics.of("/relay_t0").all(|of| of.dispatched > 0));
    });
}

#[test]
fn service_and_client_are_created_in_callbacks() {
    in_every_mode(|mut executor| {
        let answers: Log<Result<i64, String>> = log();
        let node = executor.create_node("node", ()).unwrap();
        let (late, seen, mut calls) = (node.clone(), answers.clone(), 0);
        node.create_timer(MS, move |_, _| {
            calls += 1;
            match calls {
                // The client first: a service that nothing offers yet.
                2 => {
                    let client = late.create_client::<i64, i64>("half", QoS::services()).unwrap();
                    let seen = seen.clone();
                    late.create_timer(MS, move |_, _| {
                        let seen = seen.clone();
                        let call = client.call(6, move |_, reply, cx| {
                            seen.lock().unwrap().push(Ok(reply.map_or(0, |reply| *reply)));
                            cx.stop();
                        });
                        let _ = call; // refused until there is a server
                    })
                    .unwrap();
                }
                4 => {
                    late.create_service("half", QoS::services(), |_, n: &i64, _| *n / 2).unwrap();
                }
                _ => {}
            }
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&answers)[0], Ok(3));
    });
}

#[test]
fn tasks_and_guard_conditions_are_created_in_callbacks() {
    in_every_mode(|mut executor| {
        let steps: Log<&str> = log();
        let node = executor.create_node("node", ()).unwrap();
        let (late, seen) = (node.clone(), steps.clone());
        node.create_one_shot_timer(MS, move |_, _| {
            let of_guard = seen.clone();
            let guard = late
                .create_guard_condition("end", move |_, cx| {
                    of_guard.lock().unwrap().push("guard");
                    cx.stop();
                })
                .unwrap();
            let mut interval = late.create_interval(MS).unwrap();
            let of_task = seen.clone();
            late.spawn("wait", async move {
                interval.tick().await;
                of_task.lock().unwrap().push("task");
                guard.trigger();
            })
            .unwrap();
            seen.lock().unwrap().push("timer");
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&steps), ["timer", "task", "guard"]);
    });
}

/// Creates a group with a stream, a synchronized subscription, and publishers for both.
fn create_group(late: &Node<()>, note: &(impl Fn(&'static str) + Clone + Send + 'static)) {
    let group = late.create_callback_group("group", 0u64).unwrap();
    let mut numbers = group.create_stream::<u64>("numbers", QoS::default()).unwrap();
    let of_stream = note.clone();
    group
        .spawn("listen", async move {
            loop {
                let _ = numbers.next().await;
                of_stream("stream");
            }
        })
        .unwrap();
    let of_set = note.clone();
    let inputs =
        (Input::<u64>::new("numbers", QoS::default()), Input::<u64>::new("others", QoS::default()));
    group
        .create_synchronized_subscription(inputs, Latest::new(Trigger::All), move |_, _, _| {
            of_set("set");
        })
        .unwrap();
    let out = group.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let others = group.create_publisher::<u64>("others", QoS::default()).unwrap();
    group
        .create_timer(MS, move |n, _| {
            *n += 1;
            out.publish(*n).unwrap();
            others.publish(*n).unwrap();
        })
        .unwrap();
}

/// Creates one of each other kind of entity in a callback, and lets them act on each other.
#[test]
fn every_kind_of_entity_is_created_in_a_callback() {
    in_every_mode(|mut executor| {
        let heard: Log<&str> = log();
        let node = executor.create_node("node", ()).unwrap();
        let (late, seen, stop) = (node.clone(), heard.clone(), executor.stop_handle());
        let note = move |what: &'static str| {
            let mut seen = seen.lock().unwrap();
            if !seen.contains(&what) {
                seen.push(what);
            }
            if seen.len() == 6 {
                stop.stop();
            }
        };
        node.create_one_shot_timer(MS, move |_, _| {
            create_group(&late, &note);
            let gain = late.declare_parameter("gain", 1i64).unwrap();
            let of_parameter = note.clone();
            late.on_parameter_change(move |_, _, _| of_parameter("parameter")).unwrap();
            let of_lifecycle = note.clone();
            let lifecycle =
                late.lifecycle().on_configure(move |_, _| of_lifecycle("lifecycle")).create();
            let lifecycle = lifecycle.unwrap();
            let qos = QoS::default().deadline(MS / 2);
            let of_deadline = note.clone();
            let events = SubscriptionEvents::new()
                .on_deadline_missed(move |_: &mut (), _, _| of_deadline("deadline"));
            late.create_subscription_with_events("silent", qos, events, |_, _: &Message<u8>, _| ())
                .unwrap();
            let mut random = late.create_random("dice").unwrap();
            let of_random = note.clone();
            late.create_one_shot_timer(MS, move |_, _| {
                gain.set(2).unwrap();
                lifecycle.request(Transition::Configure).unwrap();
                let _ = rand_core::Rng::next_u64(&mut random);
                of_random("random");
            })
            .unwrap();
        })
        .unwrap();
        executor.spin_for(Duration::from_secs(20)).unwrap();
        let mut heard = entries(&heard);
        heard.sort_unstable();
        assert_eq!(heard, ["deadline", "lifecycle", "parameter", "random", "set", "stream"]);
    });
}

#[test]
fn other_threads_create_nodes_while_the_executor_runs() {
    const THREADS: u64 = 3;
    const NODES: u64 = 40;
    in_every_mode(|mut executor| {
        let heard: Log<u64> = log();
        let collector = executor.create_node("collector", heard.clone()).unwrap();
        collector
            .create_subscription("found", QoS::keep_all(256), |heard, n: &Message<u64>, cx| {
                let mut heard = heard.lock().unwrap();
                heard.push(**n);
                if heard.len() as u64 == THREADS * NODES {
                    cx.stop();
                }
            })
            .unwrap();
        // The deterministic mode ends when nothing is left to do in it.
        collector.create_timer(MS, |_, _| ()).unwrap();
        executor.freeze().unwrap();
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let graph = executor.graph().clone();
                spawn_beside(&executor, move || {
                    for n in 0..NODES {
                        let name = format!("node_{thread}_{n}");
                        let node = graph.create_node(&name, ()).unwrap();
                        let out = node.create_publisher("found", QoS::default()).unwrap();
                        let of = node.clone();
                        node.spawn("once", async move {
                            let _ = of.full_name();
                            let _ = out.publish(thread * NODES + n);
                        })
                        .unwrap();
                    }
                })
            })
            .collect();
        executor.spin().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut heard = entries(&heard);
        heard.sort_unstable();
        assert_eq!(heard, (0..THREADS * NODES).collect::<Vec<_>>());
        let info = executor.graph().info();
        assert_eq!(info.loops.len() as u64, 1 + THREADS * NODES);
    });
}

/// The nodes that come and go may be part of the plan of the start, and gone by then, or not.
#[test]
fn executor_starts_while_another_thread_changes_the_graph() {
    in_every_mode(|mut executor| {
        let graph = executor.graph().clone();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let (begun, begins) = mpsc::channel();
        let thread = spawn_beside(&executor, move || {
            while !over.load(SeqCst) {
                let node = graph.create_node("short", 0u64).unwrap();
                let lane = node.create_callback_group("lane", 0u64).unwrap();
                let on = |sum: &mut u64, n: &Message<u64>, _: &mut Context<'_>| *sum += **n;
                lane.create_subscription("numbers", QoS::default(), on).unwrap();
                lane.create_timer(MS, |_, _| ()).unwrap();
                node.destroy();
                let _ = begun.send(());
            }
        });
        begins.recv().unwrap();
        executor.freeze().unwrap();
        is_over.store(true, SeqCst);
        thread.join().unwrap();
        executor.spin_for(MS).unwrap();
        assert!(executor.graph().info().loops.is_empty());
        assert_eq!(executor.monitor().unwrap().failures(), []);
    });
}

#[test]
fn executor_that_starts_without_nodes_gets_some() {
    for mut executor in [Mode::SingleCore, Mode::MultiCore(None)].map(Executor::new) {
        executor.freeze().unwrap();
        let (graph, stop) = (executor.graph().clone(), executor.stop_handle());
        let thread = spawn_beside(&executor, move || {
            let node = graph.create_node("first", ()).unwrap();
            node.create_timer(MS, move |_, _| stop.stop()).unwrap();
        });
        executor.spin().unwrap();
        thread.join().unwrap();
        assert_eq!(executor.statistics().dispatched(), 1);
    }
}

#[test]
fn what_does_not_fit_is_an_error_where_it_is_created() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let (late, graph) = (node.clone(), executor.graph().clone());
        node.create_subscription("wanted", QoS::default().reliable(), |_, _: &Message<u8>, _| ())
            .unwrap();
        node.create_one_shot_timer(MS, move |_, _| {
            let twice = graph.create_node("node", ());
            assert_eq!(twice.unwrap_err().kind(), ErrorKind::AlreadyExists);
            let misfit = late.create_publisher::<u8>("wanted", QoS::default().best_effort());
            assert_eq!(misfit.unwrap_err().kind(), ErrorKind::IncompatibleQos);
            let other = late.create_publisher::<u16>("wanted", QoS::default());
            assert_eq!(other.unwrap_err().kind(), ErrorKind::TypeMismatch);
            let zero = late.create_timer(Duration::ZERO, |_, _| ());
            let zero = zero.unwrap_err();
            assert_eq!((zero.kind(), zero.node()), (ErrorKind::InvalidArgument, Some("/node")));
            let stop = late.create_timer(MS, |_, cx| cx.stop());
            assert!(stop.is_ok(), "the graph goes on");
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(executor.monitor().unwrap().failures(), []);
        drop(executor);
        let gone = node.create_timer(MS, |_, _| ());
        assert!(gone.unwrap_err().to_string().contains("the executor was dropped"));
    });
}

/// A program of which each run makes the same changes.
fn growing(first: Duration) -> Job<'static> {
    Job::new(move |graph| {
        let root = graph.create_node("root", 0u64)?;
        let out = root.create_publisher::<u64>("numbers", QoS::default())?.digested();
        let (handle, of) = (graph.clone(), root.clone());
        root.create_timer(MS, move |n, cx| {
            *n += 1;
            let _ = out.publish(*n);
            if cx.now().as_nanos() >= first.as_nanos() as u64 && *n % 3 == 0 && *n < 60 {
                let node = handle.create_node(&format!("node{n}"), 0u64).unwrap();
                let relay = node.create_publisher::<u64>("sums", QoS::default()).unwrap();
                node.create_subscription(
                    "numbers",
                    QoS::default(),
                    move |sum, n: &Message<u64>, _| {
                        *sum += **n;
                        relay.publish(*sum)
                    },
                )
                .unwrap();
                of.create_subscription("sums", QoS::default(), |n, sum: &Message<u64>, _| {
                    *n += **sum % 2;
                })
                .unwrap();
            }
            if *n > 100 {
                cx.stop();
            }
        })?;
        Ok(())
    })
}

#[test]
fn changes_are_events_of_the_digest_and_the_trace() {
    let run = |first| growing(first).run().unwrap().digest();
    let digest = run(MS);
    for _ in 0..20 {
        assert_eq!(run(MS), digest);
    }
    assert_ne!(run(5 * MS), digest);
    let mut executor = Executor::deterministic(Default::default()).with_trace();
    let node = executor.create_node("node", ()).unwrap();
    let late = node.clone();
    node.create_one_shot_timer(MS, move |_, _| {
        late.create_one_shot_timer(MS, |_, _| ()).unwrap();
    })
    .unwrap();
    executor.spin().unwrap();
    let trace = executor.take_trace().unwrap();
    let [(after, GraphChange::CallbackAdded { name, .. })] = &trace.changes[..] else {
        panic!("{:?}", trace.changes)
    };
    assert_eq!((*after, &**name, trace.records.len()), (1, "one-shot timer 1ms", 2));
}

#[test]
fn graph_changes_between_spins_until_its_executor_is_dropped() {
    in_every_mode(|mut executor| {
        let heard: Log<u64> = log();
        let graph = executor.graph().clone();
        let node = graph.create_node("node", heard.clone()).unwrap();
        node.create_one_shot_timer(MS, |_, cx| cx.stop()).unwrap();
        executor.spin().unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let late = graph.create_node("late", heard.clone()).unwrap();
        let append = |heard: &mut Log<u64>, n: &Message<u64>, cx: &mut Context<'_>| {
            heard.lock().unwrap().push(**n);
            cx.stop();
        };
        let subscription = late.create_subscription("numbers", QoS::default(), append).unwrap();
        node.destroy();
        out.publish(7).unwrap(); // a handle of a destroyed node delivers
        executor.stop_handle().reset();
        executor.spin_for(Duration::from_secs(20)).unwrap();
        assert_eq!(entries(&heard), [7]);
        assert!(node.create_timer(MS, |_, _| ()).is_err());
        drop(executor);
        let gone = late.create_subscription("numbers", QoS::default(), append);
        assert!(gone.unwrap_err().to_string().contains("the executor was dropped"));
        let gone = graph.create_node("last", ());
        assert_eq!(gone.unwrap_err().kind(), ErrorKind::InvalidState);
        assert!(out.publish(8).is_err());
        subscription.destroy();
    });
}
