//! Nodes and endpoints that are destroyed while the graph runs.

use crate::{Log, entries, in_every_mode, log};
use ringspin_executor::{
    Action, ActionClientOptions, ActionServer, ActionServerOptions, CallError, CancelResponse,
    Context, ErrorKind, FailurePolicy, GoalCallbacks, GoalHandle, GoalOutcome, GoalResponse,
    GoalStatus, Graph, GuardCondition, Input, Latest, Lifecycle, LifecycleState, Message, Node,
    ParameterCallback, ParameterChange, ParameterValue, PublishError, PublisherEvents, QoS, Reply,
    Responder, Subscription, SubscriptionEvents, SynchronizedSubscription, Timer, Transition,
    Trigger,
};
use ringspin_modes::{Executor, Mode};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Beyond it a test fails instead of waiting.
const LIMIT: Duration = Duration::from_secs(20);

/// Spins until the counters of a graph show `events` that were handled or dropped: an event under
/// way to a destroyed callback is counted once no thread can send it any more.
///
/// # Panics
/// If there are more, or still fewer after many more spins than that takes.
fn spin_until_all_count(executor: &mut Executor, events: u64) {
    executor.stop_handle().reset();
    let mut counted = 0;
    for _ in 0..100_000 {
        let of = executor.statistics();
        counted = of.dispatched() + of.discarded() + of.overwritten();
        if counted >= events {
            break;
        }
        executor.spin_for(MS / 100).unwrap();
    }
    assert_eq!(counted, events, "{:?}", executor.statistics());
}

#[test]
fn destroyed_subscription_gets_nothing_more() {
    in_every_mode(|mut executor| {
        let heard: Log<u64> = log();
        let node = executor.create_node("talker", 0u64).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let listener = executor.create_node("listener", heard.clone()).unwrap();
        let append = |heard: &mut Log<u64>, n: &Message<u64>, _: &mut Context<'_>| {
            heard.lock().unwrap().push(**n);
        };
        let subscription =
            listener.create_subscription("numbers", QoS::keep_last(8), append).unwrap();
        let captured = Arc::new(());
        let kept = captured.clone();
        let other = listener
            .create_subscription("numbers", QoS::keep_last(8), move |_, _: &Message<u64>, _| {
                let _ = &kept;
            })
            .unwrap();
        let (graph, weak) = (executor.graph().clone(), Arc::downgrade(&captured));
        drop(captured);
        let calls = Arc::new(AtomicU64::new(0));
        let calls_of_timer = calls.clone();
        node.create_timer(MS, move |n, cx| {
            out.publish(*n).unwrap();
            *n += 1;
            if *n == 4 {
                subscription.destroy();
                subscription.destroy();
                other.destroy();
                assert_eq!(graph.info().topics[0].subscriptions, []);
            }
            // Live, another thread drops its callback, once it gets to run.
            if *n >= 8 && weak.upgrade().is_none() {
                calls_of_timer.store(*n, Relaxed);
                cx.cancel_timer();
                cx.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        let heard = entries(&heard);
        assert!(heard.len() <= 4, "{heard:?}");
        assert_eq!(heard, (0..heard.len() as u64).collect::<Vec<_>>());
        spin_until_all_count(&mut executor, calls.load(Relaxed) + 2 * 4);
        assert_eq!(executor.statistics().callbacks.len(), 1);
    });
}

#[test]
fn entities_destroy_themselves_in_their_callbacks() {
    in_every_mode(|mut executor| {
        let calls: Log<&str> = log();
        let node = executor.create_node("node", calls.clone()).unwrap();
        let own: Arc<OnceLock<Timer>> = Arc::default();
        let timer = own.clone();
        let first = node.create_timer(MS, move |calls, _| {
            calls.lock().unwrap().push("timer");
            timer.get().unwrap().destroy();
        });
        own.set(first.unwrap()).unwrap();
        let own: Arc<OnceLock<GuardCondition>> = Arc::default();
        let (inner, outer) = (own.clone(), own.clone());
        let guard = node.create_guard_condition("once", move |calls, _| {
            calls.lock().unwrap().push("guard");
            inner.get().unwrap().destroy();
        });
        assert!(own.set(guard.unwrap()).is_ok());
        let mut ticks = 0;
        node.create_timer(2 * MS, move |_, cx| {
            outer.get().unwrap().trigger();
            ticks += 1;
            if ticks == 5 {
                cx.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&calls), ["timer", "guard"]);
        assert_eq!(executor.monitor().unwrap().failures(), []);
    });
}

#[test]
fn calls_of_a_destroyed_server_end_with_an_error() {
    in_every_mode(|mut executor| {
        let ends: Log<Result<u8, CallError>> = log();
        let server = executor.create_node("server", Vec::new()).unwrap();
        let qos = QoS::services();
        let keep = |kept: &mut Vec<Responder<u8>>, _: &u8, responder, _: &mut Context<'_>| {
            kept.push(responder);
        };
        let service = server.create_deferred_service("late", qos, keep).unwrap();
        let node = executor.create_node("client", ends.clone()).unwrap();
        let client = node.create_client::<u8, u8>("late", qos).unwrap();
        let late = server.clone();
        let mut ticks = 0;
        node.create_timer(MS, move |_, _| {
            ticks += 1;
            if ticks == 2 {
                service.destroy();
                late.create_service("late", qos, |_, n: &u8, _| *n + 1).unwrap();
            }
            let _ = client.call(ticks, |ends: &mut Log<_>, reply, cx| {
                let mut ends = ends.lock().unwrap();
                ends.push(reply.map(|reply| *reply));
                if matches!(ends.last(), Some(Ok(_))) {
                    cx.stop();
                }
            });
        })
        .unwrap();
        executor.spin().unwrap();
        let ends = entries(&ends);
        assert!(ends.iter().any(|end| end.is_ok()), "{ends:?}");
    });
}

#[test]
fn calls_that_wait_for_a_destroyed_server_end_with_an_error() {
    in_every_mode(|mut executor| {
        const CALLS: u64 = 3;
        let ends: Log<Result<u8, CallError>> = log();
        let qos = QoS::services();
        let server = executor.create_node("server", ()).unwrap();
        let service = server.create_service("double", qos, |(), n: &u8, _| 2 * *n).unwrap();
        let node = executor.create_node("client", ends.clone()).unwrap();
        let client = node.create_client::<u8, u8>("double", qos).unwrap();
        node.create_one_shot_timer(MS, move |_, _| {
            for n in 0..CALLS {
                let note =
                    |ends: &mut Log<_>, reply: Result<Reply<u8>, _>, cx: &mut Context<'_>| {
                        let mut ends = ends.lock().unwrap();
                        ends.push(reply.map(|reply| *reply));
                        if ends.len() as u64 == CALLS {
                            cx.stop();
                        }
                    };
                client.call(n as u8, note).unwrap();
            }
            service.destroy();
        })
        .unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        let ends = entries(&ends);
        let lost = ends.iter().filter(|end| **end == Err(CallError::Unanswered)).count() as u64;
        let answered = ends.iter().filter(|end| end.is_ok()).count() as u64;
        assert_eq!((lost + answered, ends.len() as u64), (CALLS, CALLS), "{ends:?}");
        // One worker has no time to answer in between.
        assert!(lost == CALLS || executor.statistics().workers.len() > 1, "{ends:?}");
        spin_until_all_count(&mut executor, 1 + CALLS + CALLS);
    });
}

#[test]
fn destroyed_subscription_is_not_called_for_what_was_ready() {
    for mode in [Mode::SingleCore, Mode::Deterministic(Default::default())] {
        let mut executor = Executor::new(mode);
        let heard: Log<&str> = log();
        let node = executor.create_node("node", heard.clone()).unwrap();
        let out = node.create_publisher::<u8>("numbers", QoS::default()).unwrap();
        let second: Arc<OnceLock<Subscription>> = Arc::default();
        let destroyed = second.clone();
        node.create_subscription("numbers", QoS::default(), move |heard, _: &Message<u8>, _| {
            heard.lock().unwrap().push("first");
            destroyed.get().unwrap().destroy();
        })
        .unwrap();
        let on_second = |heard: &mut Log<_>, _: &Message<u8>, _: &mut Context<'_>| {
            heard.lock().unwrap().push("second");
        };
        let subscription = node.create_subscription("numbers", QoS::default(), on_second).unwrap();
        assert!(second.set(subscription).is_ok());
        executor.freeze().unwrap();
        while executor.spin_some().unwrap() > 0 {}
        out.publish(1).unwrap();
        while executor.spin_some().unwrap() > 0 {}
        assert_eq!(entries(&heard), ["first"]);
        spin_until_all_count(&mut executor, 2);
    }
}

/// Publishers and clients that only a destroyed callback holds end with it, at one point of the
/// trace.
#[test]
fn handles_in_a_destroyed_callback_end_with_it() {
    let mut executor = Executor::deterministic(Default::default()).with_trace();
    let node = executor.create_node("node", ()).unwrap();
    let client = node.create_client::<u8, u8>("service", QoS::services()).unwrap();
    let inner = move |_: &mut (), _: &Message<u8>, _: &mut Context<'_>| drop(client.clone());
    let subscription = node.create_subscription("numbers", QoS::default(), inner).unwrap();
    node.create_one_shot_timer(MS, move |_, _| subscription.destroy()).unwrap();
    node.create_one_shot_timer(MS, |_, _| ()).unwrap();
    executor.spin().unwrap();
    let trace = executor.take_trace().unwrap();
    // The subscription, the client, and its timeouts.
    assert_eq!(trace.changes.iter().map(|(after, _)| *after).collect::<Vec<_>>(), [1, 1, 1]);
}

/// The same of a node that is isolated: its handles end before the next event.
#[test]
fn handles_of_an_isolated_node_end_before_the_next_event() {
    let mut executor = Executor::deterministic(Default::default()).with_trace();
    let node = executor.create_node("node", ()).unwrap();
    node.set_failure_policy(FailurePolicy::IsolateNode).unwrap();
    let client = node.create_client::<u8, u8>("service", QoS::services()).unwrap();
    node.create_one_shot_timer(MS, move |_, _| {
        let _ = &client;
        Err("it fails")
    })
    .unwrap();
    let other = executor.create_node("other", ()).unwrap();
    let guard = other.create_guard_condition("guard", |_, _| ()).unwrap();
    let out = other.create_publisher::<u8>("numbers", QoS::default()).unwrap();
    other.create_one_shot_timer(MS, move |_, _| out.publish(1)).unwrap();
    let on_number = move |_: &mut (), _: &Message<u8>, _: &mut Context<'_>| guard.trigger();
    other.create_subscription("numbers", QoS::default(), on_number).unwrap();
    executor.spin().unwrap();
    let trace = executor.take_trace().unwrap();
    assert_eq!(trace.changes.iter().map(|(after, _)| *after).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn memory_of_destroyed_entities_is_used_again() {
    const ROUNDS: u64 = 200;
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", 0u64).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let late = node.clone();
        let mut rounds = 0;
        node.create_timer(MS / 10, move |_, cx| {
            for _ in 0..10 {
                let on = |sum: &mut u64, n: &Message<u64>, _: &mut Context<'_>| *sum += **n;
                let subscription = late.create_subscription("numbers", QoS::default(), on).unwrap();
                let timer = late.create_timer(MS, |_, _| ()).unwrap();
                out.publish(rounds).unwrap();
                subscription.destroy();
                timer.destroy();
            }
            rounds += 1;
            if rounds == ROUNDS {
                cx.cancel_timer();
                cx.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(executor.graph().info().callbacks.len(), 1);
        spin_until_all_count(&mut executor, ROUNDS + 10 * ROUNDS);
    });
}

/// Notes when it is dropped, and on which thread.
struct Dropped(Log<std::thread::ThreadId>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(std::thread::current().id());
    }
}

/// Counts the callbacks of a loop that another loop destroys: on another core some may run before
/// the destroying callback does, however short its delay.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicU64>);

impl Calls {
    fn count<S>(&self) -> impl FnMut(&mut S, &mut Context<'_>) + use<S> {
        let calls = self.0.clone();
        move |_, _| {
            calls.fetch_add(1, Relaxed);
        }
    }

    /// Asks how often it was asked since the first `drops`.
    ///
    /// # Panics
    /// The closure panics if there were callbacks after that.
    fn after<T: Clone + Send + 'static>(&self, drops: &Log<T>) -> impl FnMut() -> u64 + use<T> {
        let (calls, drops, mut at_drop, mut asked) = (self.0.clone(), drops.clone(), None, 0);
        move || {
            if !entries(&drops).is_empty() {
                let calls = calls.load(Relaxed);
                assert_eq!(*at_drop.get_or_insert(calls), calls, "called after its end");
                asked += 1;
            }
            asked
        }
    }
}

#[test]
fn destroy_of_a_callback_group_leaves_its_node() {
    in_every_mode(|mut executor| {
        let drops = log();
        let node = executor.create_node("node", 0u64).unwrap();
        let group = node.create_callback_group("group", Dropped(drops.clone())).unwrap();
        let calls = Calls::default();
        group.create_timer(2 * MS, calls.count()).unwrap();
        let out = group.create_publisher::<u8>("end", QoS::default()).unwrap();
        node.create_one_shot_timer(MS, move |_, _| {
            group.destroy();
            group.destroy();
            let late = group.create_timer(MS, |_, _| ());
            assert_eq!(late.unwrap_err().kind(), ErrorKind::InvalidState);
            out.publish(1).unwrap();
        })
        .unwrap();
        let own = node.clone();
        let mut after = calls.after(&drops);
        node.create_timer(MS, move |_, cx| {
            if after() == 10 {
                own.create_callback_group("group", ()).unwrap();
                cx.stop();
            }
        })
        .unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert_eq!(executor.monitor().unwrap().failures(), []);
        let info = executor.graph().info();
        let loops: Vec<_> = info.loops.values().map(|of| of.full_name()).collect();
        assert_eq!(loops, ["/node", "/node:group"]);
        node.destroy();
        assert!(executor.graph().info().loops.is_empty());
    });
}

#[test]
fn state_of_a_destroyed_node_is_dropped_once_on_its_own_loop() {
    in_every_mode(|mut executor| {
        let (drops, threads) = (log(), log());
        let graph = executor.graph().clone();
        let node = graph.create_node("short", Dropped(drops.clone())).unwrap();
        let (seen, own) = (threads.clone(), node.clone());
        let out = node.create_publisher::<u8>("end", QoS::default()).unwrap();
        node.create_one_shot_timer(MS, move |_, _| {
            seen.lock().unwrap().push(std::thread::current().id());
            own.destroy();
            own.destroy();
            let late = own.create_timer(MS, |_, _| ());
            assert!(late.unwrap_err().to_string().contains("the node was destroyed"));
            assert!(own.create_callback_group("group", ()).is_err());
            assert!(own.declare_parameter("gain", 1i64).is_err());
            out.publish(1).unwrap();
        })
        .unwrap();
        node.create_timer(2 * MS, |_, _| panic!("the node is gone")).unwrap();
        node.create_service("service", QoS::services(), |_, n: &u8, _| *n).unwrap();
        node.create_client::<u8, u8>("service", QoS::services()).unwrap();
        node.spawn("task", std::future::pending::<()>()).unwrap();
        let group = node.create_callback_group("group", ()).unwrap();
        let calls = Calls::default();
        group.create_timer(5 * MS, calls.count()).unwrap();
        let mut after = calls.after(&drops);
        let other = executor.create_node("other", 0u64).unwrap();
        other.create_subscription("end", QoS::default(), |_, _: &Message<u8>, _| ()).unwrap();
        other
            .create_timer(MS, move |_, cx| {
                if after() == 10 {
                    let again = graph.create_node("short", ()).unwrap();
                    again.create_callback_group("group", ()).unwrap();
                    cx.stop();
                }
            })
            .unwrap();
        executor.spin().unwrap();
        let is_here = |threads: &Log<ThreadId>| {
            let threads = entries(threads);
            assert_eq!(threads.len(), 1);
            threads[0] == std::thread::current().id()
        };
        // In multi-core mode the loop may have moved to another of its threads.
        assert_eq!(is_here(&drops), is_here(&threads));
        assert_eq!(executor.monitor().unwrap().failures(), []);
        let info = executor.graph().info();
        let loops: Vec<_> = info.loops.values().map(|of| of.full_name()).collect();
        assert_eq!(loops, ["/other", "/short", "/short:group"]);
        assert_eq!(info.callbacks.len(), 2);
    });
}

#[test]
fn places_of_destroyed_nodes_are_used_again() {
    in_every_mode(|mut executor| {
        const ROUNDS: u64 = 300;
        let (graph, mut rounds) = (executor.graph().clone(), 0);
        let node = executor.create_node("root", ()).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let mut last = None; // handles of destroyed nodes do no harm
        node.create_timer(MS / 10, move |_, cx| {
            let child = graph.create_node("child", 0u64).unwrap();
            let on = |sum: &mut u64, n: &Message<u64>, _: &mut Context<'_>| *sum += **n;
            child.create_subscription("numbers", QoS::default(), on).unwrap();
            child.create_timer(MS / 20, |_, _| ()).unwrap();
            out.publish(rounds).unwrap();
            child.destroy();
            last.replace(child);
            rounds += 1;
            if rounds == ROUNDS {
                cx.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        let info = executor.graph().info();
        assert_eq!((info.loops.len(), info.callbacks.len()), (1, 1));
        let statistics = executor.statistics();
        assert_eq!(statistics.callbacks.len(), 1);
        assert_eq!(executor.monitor().unwrap().failures(), []);
    });
}

struct Wait;

impl Action for Wait {
    type Goal = ();
    type Result = ();
    type Feedback = ();
}

type Goals = Vec<GoalHandle<Wait>>;

/// A server that keeps its goals, and ends them if `succeeds`.
fn wait_server(node: &Node<Goals>, succeeds: bool, kept: &Arc<()>) -> ActionServer<Wait> {
    let kept = kept.clone();
    node.create_action_server::<Wait, _>(
        "wait",
        ActionServerOptions::default(),
        |_, (), _| GoalResponse::Accept,
        |_, _, _| CancelResponse::Accept,
        move |goals, handle, _| {
            let _ = &kept;
            if succeeds {
                handle.succeed(()).unwrap();
            }
            goals.push(handle);
        },
    )
    .unwrap()
}

#[test]
fn goals_of_a_destroyed_action_server_are_aborted() {
    in_every_mode(|mut executor| {
        let ends: Log<Option<GoalStatus>> = log();
        let node = executor.create_node("server", Goals::new()).unwrap();
        let kept = Arc::new(());
        let server = wait_server(&node, false, &kept);
        let parts = executor.graph().info().callbacks.len();
        let client = executor.create_node("client", ends.clone()).unwrap();
        let asks = client.create_action_client("wait", ActionClientOptions::default()).unwrap();
        client
            .create_timer(MS, move |ends, _| {
                let done =
                    |ends: &mut Log<_>, end: Result<GoalOutcome<Wait>, _>, _: &mut Context<'_>| {
                        ends.lock().unwrap().push(end.ok().map(|end| end.status));
                    };
                // Refused while there is no server.
                if ends.lock().unwrap().len() < 100 {
                    let _ = asks.send_goal((), GoalCallbacks::new().on_result(done));
                }
            })
            .unwrap();
        let (first, seen, late) = (Arc::downgrade(&kept), ends.clone(), node.clone());
        drop(kept);
        let mut next = None;
        node.create_timer(MS, move |goals, cx| {
            if server.active_goals() > 0 {
                server.destroy();
                server.destroy();
                next.get_or_insert_with(|| wait_server(&late, true, &Arc::default()));
            }
            let is_served = entries(&seen).contains(&Some(GoalStatus::Succeeded));
            if is_served && first.upgrade().is_none() {
                assert_eq!(goals[0].status(), GoalStatus::Aborted);
                cx.stop();
            }
        })
        .unwrap();
        executor.spin_for(LIMIT).unwrap();
        let ends = entries(&ends);
        // Or an error, or unknown to the next server, if its client asked for the result late.
        assert_ne!(ends[0], Some(GoalStatus::Succeeded), "{ends:?}");
        assert!(ends.contains(&Some(GoalStatus::Succeeded)), "{ends:?}");
        let info = executor.graph().info();
        let callbacks = info.callbacks.values();
        let of_server = callbacks.filter(|of| info.loops[of.event_loop].node == "/server");
        assert_eq!(of_server.count(), parts + 1);
        assert_eq!(executor.monitor().unwrap().failures(), []);
    });
}

#[test]
fn failed_action_server_leaves_nothing() {
    let graph = Graph::new();
    let node = graph.create_node("node", Goals::new()).unwrap();
    let taken = node.create_service("wait/_action/get_result", QoS::services(), |_, (), _| ());
    let taken = taken.unwrap();
    let refused = node.create_action_server::<Wait, ()>(
        "wait",
        ActionServerOptions::default(),
        |_, (), _| GoalResponse::Accept,
        |_, _, _| CancelResponse::Accept,
        |_, _, _| (),
    );
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::TypeMismatch, Some("/node")));
    assert_eq!(error.topic(), Some("/wait/_action/get_result"));
    assert_eq!(graph.info().callbacks.len(), 1);
    taken.destroy();
    wait_server(&node, true, &Arc::default());
}

#[test]
fn action_clients_and_event_callbacks_end_with_their_handles() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    drop(node.create_action_client::<Wait>("wait", ActionClientOptions::default()).unwrap());
    let events = PublisherEvents::new().on_matched(|_, _, _| ());
    drop(node.create_publisher_with_events::<u8>("numbers", QoS::default(), events).unwrap());
    let events = SubscriptionEvents::new().on_matched(|_, _, _| ());
    let ignore = |_: &mut (), _: &Message<u8>, _: &mut Context<'_>| ();
    let watched = node.create_subscription_with_events("numbers", QoS::default(), events, ignore);
    assert_eq!(graph.info().callbacks.len(), 2);
    watched.unwrap().destroy();
    assert!(graph.info().callbacks.is_empty());
}

#[test]
fn synchronizer_is_destroyed_in_its_callback() {
    in_every_mode(|mut executor| {
        const SETS: u64 = 5;
        let node = executor.create_node("node", 0u64).unwrap();
        let input = |name| Input::<u64>::new(name, QoS::keep_last(10));
        let own: Arc<OnceLock<SynchronizedSubscription>> = Arc::default();
        let (inner, captured) = (own.clone(), Arc::new(()));
        let weak = Arc::downgrade(&captured);
        let joined = node.create_synchronized_subscription(
            (input("left"), input("right")),
            Latest::new(Trigger::All),
            move |calls, _, _| {
                let _ = &captured;
                *calls += 1;
                inner.get().unwrap().destroy();
            },
        );
        own.set(joined.unwrap()).unwrap();
        let left = node.create_publisher::<u64>("left", QoS::default()).unwrap();
        let right = node.create_publisher::<u64>("right", QoS::default()).unwrap();
        node.create_one_shot_timer(MS, move |_, _| {
            for n in 0..SETS {
                left.publish(n).unwrap();
                right.publish(n).unwrap();
            }
        })
        .unwrap();
        let calls: Log<u64> = log();
        let seen = calls.clone();
        let watch = node.create_timer(MS, move |calls, cx| {
            if weak.upgrade().is_none() {
                seen.lock().unwrap().push(*calls);
                cx.cancel_timer();
                cx.stop();
            }
        });
        watch.unwrap();
        executor.spin_for(LIMIT).unwrap();
        assert_eq!(entries(&calls), [1]);
        let statistics = executor.statistics();
        assert_eq!((statistics.removed.dispatched, statistics.discarded()), (2, 2 * SETS - 2));
        assert!(executor.graph().info().topics.iter().all(|of| of.subscriptions.is_empty()));
    });
}

#[test]
fn lifecycle_is_destroyed_in_its_transition_and_replaced() {
    in_every_mode(|mut executor| {
        let calls: Log<&str> = log();
        let node = executor.create_node("node", calls.clone()).unwrap();
        let own: Arc<OnceLock<Lifecycle>> = Arc::default();
        let (inner, late) = (own.clone(), node.clone());
        let configure = move |calls: &mut Log<&str>, _: &mut Context<'_>| {
            calls.lock().unwrap().push("first");
            let first = inner.get().unwrap();
            first.destroy();
            let late_request = first.request(Transition::Activate);
            assert!(matches!(late_request, Err(PublishError::Gone(_))));
            let again = |calls: &mut Log<&str>, cx: &mut Context<'_>| {
                calls.lock().unwrap().push("second");
                cx.stop();
            };
            let second = late.lifecycle().on_configure(again).create().unwrap();
            second.request(Transition::Configure).unwrap();
        };
        let _ = own.set(node.lifecycle().on_configure(configure).create().unwrap());
        let first = own.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let first = first.get().unwrap();
            first.request(Transition::Configure).unwrap();
            first.request(Transition::Activate).unwrap();
        })
        .unwrap();
        executor.spin_for(LIMIT).unwrap();
        assert_eq!(entries(&calls), ["first", "second"]);
        assert_eq!(own.get().unwrap().state(), LifecycleState::Inactive);
        spin_until_all_count(&mut executor, 4);
        assert_eq!(executor.statistics().discarded(), 1);
    });
}

#[test]
fn parameters_and_their_callbacks_are_removed() {
    in_every_mode(|mut executor| {
        let calls: Log<(&str, ParameterValue)> = log();
        let node = executor.create_node("node", calls.clone()).unwrap();
        let note = |calls: &mut Log<_>, by, changes: &[ParameterChange]| {
            calls.lock().unwrap().push((by, changes[0].new.clone()));
        };
        let own: Arc<OnceLock<ParameterCallback>> = Arc::default();
        let (inner, late) = (own.clone(), node.clone());
        let gain = node.declare_parameter("gain", 0i64).unwrap();
        let callback = node.on_parameter_change(move |calls, changes, _| {
            note(calls, "first", changes);
            inner.get().unwrap().destroy();
            gain.undeclare();
            let error = gain.set(2);
            assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
            let text = late.declare_parameter("gain", "one".to_string()).unwrap();
            text.set("unheard".into()).unwrap();
            late.on_parameter_change(move |calls, changes, cx| {
                note(calls, "second", changes);
                cx.stop();
            })
            .unwrap();
            text.set("two".into()).unwrap();
            gain.undeclare();
            assert_eq!(late.parameters().get("gain"), Ok("two".into()));
        });
        own.set(callback.unwrap()).unwrap();
        let parameters = node.parameters();
        node.create_one_shot_timer(MS, move |_, _| parameters.set("gain", 1).unwrap()).unwrap();
        executor.spin_for(LIMIT).unwrap();
        assert_eq!(entries(&calls), [("first", 1.into()), ("second", "two".into())]);
        assert_eq!(executor.monitor().unwrap().failures(), []);
    });
}
