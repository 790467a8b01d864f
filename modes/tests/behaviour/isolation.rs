//! Restarts, and nodes that are taken out of service with all that waits for them.

use crate::{Log, entries, failure_of, in_every_mode, in_every_mode_isolating, log, spawn_beside};
use ringspin_executor::{
    Action, ActionClientOptions, ActionServerOptions, CallError, CallbackId, CancelResponse, Cause,
    Context, FailurePolicy, GoalCallbacks, GoalResponse, Input, Latest, Message, Node, Publisher,
    QoS, Responder, StopHandle, SubscriptionEvents, Trigger,
};
use ringspin_modes::Executor;
use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// More ticks than anything here takes: a test that waits for what does not come fails.
const TICKS_MAX: u32 = 3_000;

/// A node that stops the executor once `done` says so.
fn stop_when(executor: &Executor, mut done: impl FnMut() -> bool + Send + 'static) {
    let node = executor.create_node("observer", 0u32).unwrap();
    node.set_failure_policy(FailurePolicy::StopAll).unwrap();
    node.create_timer(MS, move |ticks, cx| {
        *ticks += 1;
        if done() || *ticks == TICKS_MAX {
            assert!(*ticks < TICKS_MAX, "it does not come");
            cx.stop();
        }
    })
    .unwrap();
}

type Kept = Vec<Responder<u32>>;

/// A node that offers `service`, and keeps its requests.
fn keeping(executor: &Executor, name: &str, service: &str) -> Node<Kept> {
    let node = executor.create_node(name, Kept::new()).unwrap();
    let keep = |kept: &mut Kept, _: &u32, responder, _: &mut Context<'_>| kept.push(responder);
    node.create_deferred_service(service, QoS::services(), keep).unwrap();
    node
}

/// Panics when it is dropped while it is armed.
struct Bomb(Arc<Mutex<bool>>);

impl Drop for Bomb {
    fn drop(&mut self) {
        let armed = std::mem::take(&mut *self.0.lock().unwrap());
        assert!(!armed, "a state that cannot be dropped");
    }
}

#[test]
fn restarts_run_out_and_then_the_policy_decides() {
    in_every_mode_isolating(|mut executor| {
        let ticks: Log<u32> = log();
        let seen = ticks.clone();
        let node = executor.graph().create_restartable_node("fragile", 2, || 0u32).unwrap();
        node.create_timer(MS, move |count, _| {
            *count += 1;
            seen.lock().unwrap().push(*count);
            if *count == 3 { Err("three is too many") } else { Ok(()) }
        })
        .unwrap();
        // Another group of the same node is out of service with it, but is not restarted.
        let group = node.create_callback_group("group", ticks.clone()).unwrap();
        group.create_timer(MS, |_, _| ()).unwrap();
        let witness = ticks.clone();
        // The state of the group and the callback hold it; they go when the node does.
        stop_when(&executor, move || Arc::strong_count(&witness) == 2);
        executor.spin().unwrap();
        assert_eq!(entries(&ticks), [1, 2, 3, 1, 2, 3, 1, 2, 3], "two restarts, each from anew");
        let failures = executor.failures();
        assert_eq!(failures.len(), 3);
        assert!(failures.iter().all(|failure| failure.node == "/fragile"));
        let sequences: Vec<_> = failures.iter().map(|failure| failure.event.sequence).collect();
        assert_eq!(sequences, [2, 5, 8], "the timer's phase and numbers continue");
    });
}

#[test]
fn restarts_run_out_and_stop_everything_if_that_is_the_policy() {
    in_every_mode(|mut executor| {
        let node = executor.graph().create_restartable_node("fragile", 1, || ()).unwrap();
        node.create_timer(MS, |_, _| Err::<(), _>("always")).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!(failure.event.sequence, 1, "the first failure was forgiven");
        assert_eq!(executor.failures().len(), 2);
    });
}

#[test]
fn a_factory_that_panics_is_a_second_failure_and_the_policy_decides() {
    in_every_mode_isolating(|mut executor| {
        let made = log();
        let seen = made.clone();
        let factory = move || {
            let mut made = seen.lock().unwrap();
            made.push(());
            assert!(made.len() < 2, "no second state");
        };
        let node = executor.graph().create_restartable_node("fragile", 5, factory).unwrap();
        let calls = log();
        let counted = calls.clone();
        node.create_timer(MS, move |_, _| {
            counted.lock().unwrap().push(());
            Err::<(), _>("once")
        })
        .unwrap();
        stop_when(&executor, {
            let calls = calls.clone();
            move || !entries(&calls).is_empty()
        });
        executor.spin().unwrap();
        let failures = executor.failures();
        let causes: Vec<_> = failures.into_iter().map(|failure| failure.cause).collect();
        let restart = "the restart failed: no second state".into();
        assert_eq!(causes, [Cause::Error("once".into()), Cause::Panic(restart)]);
        assert_eq!(entries(&calls).len(), 1, "without a state nothing is called");
    });
}

#[test]
fn a_nodes_own_policy_comes_before_the_executors() {
    in_every_mode(|mut executor| {
        let tolerated = executor.create_node("tolerated", ()).unwrap();
        tolerated.create_one_shot_timer(MS, |_, _| Err::<(), _>("no matter")).unwrap();
        tolerated.set_failure_policy(FailurePolicy::IsolateNode).unwrap();
        let vital = executor.create_node("vital", ()).unwrap();
        vital.create_one_shot_timer(2 * MS, |_, _| Err::<(), _>("the end")).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!(failure.node, "/vital");
    });
    in_every_mode_isolating(|mut executor| {
        let vital = executor.create_node("vital", ()).unwrap();
        vital.create_one_shot_timer(MS, |_, _| Err::<(), _>("the end")).unwrap();
        vital.set_failure_policy(FailurePolicy::StopAll).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!(failure.node, "/vital");
    });
}

/// The state's drop panics; later entities of the same loop are dropped all the same.
#[test]
fn a_panic_in_the_drop_of_a_state_does_not_keep_the_rest_from_retiring() {
    in_every_mode_isolating(|mut executor| {
        let armed = Arc::new(Mutex::new(true));
        let node = executor.create_node("fragile", Bomb(armed.clone())).unwrap();
        let held = Arc::new(());
        let kept = [held.clone(), held.clone()];
        let tasks = kept.map(|kept| {
            let future = async move {
                let _kept = kept;
                pending::<()>().await;
            };
            node.spawn("wait", future).unwrap()
        });
        node.create_one_shot_timer(MS, |_, _| Err::<(), _>("broken")).unwrap();
        let group = node.create_callback_group("group", held.clone()).unwrap();
        group.create_timer(MS, |_, _| ()).unwrap();
        let witness = held.clone();
        stop_when(&executor, move || Arc::strong_count(&witness) == 2);
        executor.spin().unwrap();
        assert!(tasks.iter().all(|task| task.is_finished()));
        assert!(!*armed.lock().unwrap(), "its drop was tried");
        let [failure, drop] = &executor.failures()[..] else { panic!("two failures") };
        assert_eq!(failure.callback, "one-shot timer 1ms");
        assert_eq!((&*drop.node, drop.callback_id), ("/fragile", CallbackId::NONE));
        assert_eq!(drop.cause, Cause::Panic("a state that cannot be dropped".into()));
    });
}

/// A task with a future that panics when dropped, too.
#[test]
fn a_panic_in_the_drop_of_a_cancelled_task_is_a_failure_of_that_task() {
    in_every_mode(|mut executor| {
        let armed = Arc::new(Mutex::new(true));
        let node = executor.create_node("node", ()).unwrap();
        let bomb = Bomb(armed);
        let task = node
            .spawn("bomb", async move {
                let _bomb = bomb;
                pending::<()>().await;
            })
            .unwrap();
        let handle = task.clone();
        node.create_one_shot_timer(MS, move |_, _| handle.cancel()).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!((&*failure.callback, failure.event.sequence), ("task bomb", 1));
        assert!(task.is_finished());
    });
}

/// A node with everything that can wait, and a failure.
#[test]
fn events_of_an_isolated_node_are_discarded_and_its_callers_get_errors() {
    in_every_mode_isolating(|mut executor| {
        let held = Arc::new(());
        let answers: Log<(&str, Result<u32, CallError>)> = log();
        let node = keeping(&executor, "fragile", "fragile_service");
        let guard = node.create_guard_condition("guard", |_, _| ()).unwrap();
        let other = keeping(&executor, "other", "other_service");
        // A task of the node waits for a service that does not answer; a task of the other one for
        // the node's.
        let client = node.create_client::<u32, u32>("other_service", QoS::services()).unwrap();
        let kept = held.clone();
        let call = client.clone();
        let waiting = node
            .spawn("wait", async move {
                let _kept = kept;
                let _ = call.call_async(1).await;
            })
            .unwrap();
        let asking = other.create_client::<u32, u32>("fragile_service", QoS::services()).unwrap();
        let seen = answers.clone();
        let asker = other
            .spawn("ask", async move {
                let answer = asking.call_async(2).await.map(|reply| *reply);
                seen.lock().unwrap().push(("first", answer));
                let answer = asking.call_async(3).await.map(|reply| *reply);
                seen.lock().unwrap().push(("second", answer));
            })
            .unwrap();
        node.create_timer(MS, |kept, _| assert!(kept.is_empty(), "it cannot bear a request"))
            .unwrap();
        let (witness, done) = (held.clone(), asker.clone());
        stop_when(&executor, move || {
            guard.trigger();
            done.is_finished() && Arc::strong_count(&witness) == 2
        });
        executor.spin().unwrap();
        assert!(waiting.is_finished());
        let lost = |error: CallError| Err::<u32, _>(error);
        let expected =
            [("first", lost(CallError::Unanswered)), ("second", lost(CallError::ServiceStopped))];
        assert_eq!(entries(&answers), expected);
        let [failure] = &executor.failures()[..] else { panic!("one failure") };
        assert_eq!(failure.node, "/fragile");
    });
}

#[test]
fn a_client_of_an_isolated_node_refuses_calls_instead_of_losing_them() {
    in_every_mode_isolating(|mut executor| {
        let node = executor.create_node("fragile", ()).unwrap();
        let client = node.create_client::<u32, u32>("service", QoS::keep_all(1)).unwrap();
        node.create_one_shot_timer(MS, |_, _| Err::<(), _>("broken")).unwrap();
        keeping(&executor, "server", "service");
        stop_when(&executor, move || {
            let refused = client.call(1, |_, _, _| panic!("the client's node is isolated"));
            refused.is_err_and(|refused| refused.reason == CallError::ClientStopped)
        });
        executor.spin().unwrap();
    });
}

#[test]
fn a_thread_that_waits_for_a_response_learns_that_the_executor_is_gone() {
    let mut executor = Executor::single_core();
    let node = keeping(&executor, "server", "service");
    node.create_timer(MS, |kept, cx| {
        if !kept.is_empty() {
            cx.stop();
        }
    })
    .unwrap();
    let client = executor.create_node("caller", ()).unwrap();
    let client = client.create_client::<u32, u32>("service", QoS::services()).unwrap();
    executor.freeze().unwrap();
    let thread = spawn_beside(&executor, move || {
        let ends = client.call_and_wait(1, Duration::from_secs(60));
        [ends.map(|_| ()), client.call_and_wait(1, Duration::from_secs(60)).map(|_| ())]
    });
    executor.spin().unwrap();
    drop(executor);
    assert_eq!(thread.join().unwrap(), [Err(CallError::ClientStopped); 2]);
}

/// Messages that come for it later are dropped at once; the topic's other subscriptions get them.
#[test]
fn an_isolated_node_does_not_hold_up_a_topic_that_keeps_everything() {
    in_every_mode_isolating(|mut executor| {
        let received = log();
        let source = executor.create_node("source", 0u32).unwrap();
        let out = source.create_publisher::<u32>("numbers", QoS::default()).unwrap();
        let next = Mutex::new(0);
        for (name, fails) in [("fragile", true), ("robust", false)] {
            let node = executor.create_node(name, received.clone()).unwrap();
            node.create_subscription(
                "numbers",
                QoS::keep_all(2),
                move |seen, n: &Message<u32>, _| {
                    if fails {
                        return Err("at the first");
                    }
                    seen.lock().unwrap().push(**n);
                    Ok(())
                },
            )
            .unwrap();
        }
        let seen = received.clone();
        stop_when(&executor, move || {
            // A full subscription hands the message back: then it is published again later.
            let mut next = next.lock().unwrap();
            if out.publish(*next).is_ok() {
                *next += 1;
            }
            seen.lock().unwrap().len() >= 10
        });
        executor.spin().unwrap();
        let received = entries(&received);
        assert!(received.len() >= 10 && received.iter().copied().eq(0..received.len() as u32));
        let statistics = executor.statistics();
        let fragile = statistics.of("/fragile").next().unwrap();
        // It is at most the two messages of its queue behind.
        assert_eq!(fragile.dispatched, 1);
        assert!(fragile.discarded + 3 >= received.len() as u64, "{statistics:?}");
        assert_eq!(statistics.discarded(), fragile.discarded);
        assert_eq!(executor.failures().len(), 1);
    });
}

/// A message that publishes the next one when dropped: discarding would never end by itself.
struct Hydra(Arc<Lair>);

struct Lair {
    out: OnceLock<Publisher<Hydra>>,
    heads: Mutex<u32>,
    stop: StopHandle,
}

impl Drop for Hydra {
    fn drop(&mut self) {
        let heads = {
            let mut heads = self.0.heads.lock().unwrap();
            *heads += 1;
            *heads
        };
        if heads == 100 {
            self.0.stop.stop();
        }
        // Not for ever, so that the test fails instead of hanging.
        if heads < 100_000 {
            let _ = self.0.out.get().unwrap().publish(Hydra(self.0.clone()));
        }
    }
}

#[test]
fn a_flood_of_discarded_messages_does_not_keep_the_executor_from_stopping() {
    in_every_mode_isolating(|mut executor| {
        let stop = executor.stop_handle();
        let lair = Arc::new(Lair { out: OnceLock::new(), heads: Mutex::default(), stop });
        let node = executor.create_node("fragile", ()).unwrap();
        let out = node.create_publisher("hydra", QoS::default()).unwrap();
        assert!(lair.out.set(out.clone()).is_ok());
        node.create_subscription("hydra", QoS::keep_last(1), |_, _: &Message<Hydra>, _| {
            Err::<(), _>("it is slain, but")
        })
        .unwrap();
        executor.freeze().unwrap();
        assert!(out.publish(Hydra(lair.clone())).is_ok());
        executor.spin().unwrap();
        let heads = *lair.heads.lock().unwrap();
        assert!((100..1_000).contains(&heads), "{heads} heads");
    });
}

/// A responder that a callback's captures hold, not the state, is answered as well.
#[test]
fn callers_of_captured_responders_learn_of_the_isolation() {
    in_every_mode_isolating(|mut executor| {
        let node = executor.create_node("fragile", ()).unwrap();
        let mut captured = Vec::new();
        node.create_deferred_service(
            "service",
            QoS::services(),
            move |_: &mut (), _: &u32, responder: Responder<u32>, _: &mut Context<'_>| {
                captured.push(responder);
            },
        )
        .unwrap();
        // The node fails once both callers wait.
        let calls: Arc<Mutex<u32>> = Arc::default();
        let made = calls.clone();
        node.create_timer(MS, move |_, _| assert!(*made.lock().unwrap() < 2, "broken")).unwrap();
        let answers: Log<Result<u32, CallError>> = log();
        let (seen, made) = (answers.clone(), calls.clone());
        let caller = executor.create_node("caller", ()).unwrap();
        let client = caller.create_client::<u32, u32>("service", QoS::services()).unwrap();
        let outside = client.clone();
        caller
            .create_one_shot_timer(MS, move |_, _| {
                let (seen, made) = (seen.clone(), made.clone());
                client
                    .call(1, move |_, reply, _| {
                        seen.lock().unwrap().push(reply.map(|reply| *reply));
                    })
                    .unwrap();
                *made.lock().unwrap() += 1;
            })
            .unwrap();
        executor.freeze().unwrap();
        let (seen, made) = (answers.clone(), calls);
        let waiting = std::thread::spawn(move || {
            let answer = loop {
                *made.lock().unwrap() += 1;
                match outside.call_and_wait(2, Duration::from_secs(3600)) {
                    // In simulated time the executor may have ended.
                    Err(CallError::NotFrozen) => std::thread::yield_now(),
                    answer => break answer.map(|reply| *reply),
                }
            };
            seen.lock().unwrap().push(answer);
        });
        while entries(&answers).len() < 2 {
            executor.spin_for(10 * MS).unwrap();
        }
        waiting.join().unwrap();
        let told = |answer: &Result<u32, CallError>| {
            let gone = [CallError::Unanswered, CallError::ServiceStopped];
            answer.is_err_and(|error| gone.contains(&error))
        };
        assert!(entries(&answers).iter().all(told), "{:?}", entries(&answers));
    });
}

struct Count;

impl Action for Count {
    type Goal = u32;
    type Result = u32;
    type Feedback = u32;
}

/// Every kind of callback, each with something captured.
fn all_kinds_of_callbacks(executor: &Executor, node: &Node<Arc<()>>, held: &Arc<()>) {
    let keep = || held.clone();
    let (kept, qos) = (keep(), QoS::default());
    node.create_subscription("a", qos, move |_, _: &Message<u8>, _| drop(kept.clone())).unwrap();
    let kept = keep();
    let own = node.clone();
    node.create_one_shot_timer(MS, move |_, _| {
        let kept = kept.clone();
        let on = move |_: &mut _, _: &Message<u8>, _: &mut Context<'_>| drop(kept.clone());
        own.create_subscription("b", qos, on).map(drop)
    })
    .unwrap();
    let kept = keep();
    let missed = SubscriptionEvents::new().on_deadline_missed(move |_, _, _| drop(kept.clone()));
    let qos_d = qos.deadline(Duration::from_secs(3600));
    node.create_subscription_with_events("c", qos_d, missed, |_, _: &Message<u8>, _| ()).unwrap();
    let kept = keep();
    node.create_timer(MS, move |_, _| drop(kept.clone())).unwrap();
    let kept = keep();
    node.create_guard_condition("guard", move |_, _| drop(kept.clone())).unwrap();
    let kept = keep();
    node.create_service("service", qos, move |_, _: &u8, _| {
        drop(kept.clone());
        0u8
    })
    .unwrap();
    let kept = keep();
    node.create_deferred_service("deferred", qos, move |_, _: &u8, _: Responder<u8>, _| {
        drop(kept.clone());
    })
    .unwrap();
    let (kept, predicate) = (keep(), keep());
    let trigger = Trigger::when(move |_| Arc::strong_count(&predicate) > 0);
    let inputs = (Input::<u8>::new("a", qos), Input::<u8>::new("b", qos));
    node.create_synchronized_subscription(inputs, Latest::new(trigger), move |_, _, _| {
        drop(kept.clone());
    })
    .unwrap();
    let kept = keep();
    let lifecycle = node.lifecycle().on_configure(move |_, _| drop(kept.clone())).create();
    lifecycle.unwrap();
    let kept = keep();
    node.on_parameter_change(move |_, _, _| drop(kept.clone())).unwrap();
    let kept = [keep(), keep(), keep()];
    let [on_goal, on_cancel, on_accepted] = kept;
    node.create_action_server::<Count, _>(
        "action",
        ActionServerOptions::default(),
        move |_, _, _| {
            drop(on_goal.clone());
            GoalResponse::Accept
        },
        move |_, _, _| {
            drop(on_cancel.clone());
            CancelResponse::Accept
        },
        move |_, _, _| drop(on_accepted.clone()),
    )
    .unwrap();
    let kept = keep();
    let endless = async move {
        let _kept = kept;
        pending::<()>().await;
    };
    node.spawn("task", endless).unwrap();
    calls_that_wait(executor, node, held);
}

/// Calls and a goal of `node` that are never answered, with captures.
fn calls_that_wait(executor: &Executor, node: &Node<Arc<()>>, held: &Arc<()>) {
    let other = keeping(executor, "silent", "silence");
    other
        .create_action_server::<Count, _>(
            "silent_action",
            ActionServerOptions::default(),
            |_, _, _| GoalResponse::Accept,
            |_, _, _| CancelResponse::Reject,
            |_, goal, _| std::mem::forget(goal),
        )
        .unwrap();
    let client = node.create_client::<u32, u32>("silence", QoS::services()).unwrap();
    let options = ActionClientOptions::default();
    let goals = node.create_action_client::<Count>("silent_action", options).unwrap();
    let kept = held.clone();
    node.create_one_shot_timer(MS, move |_, _| {
        let (one, two, three) = (kept.clone(), kept.clone(), kept.clone());
        client.call(1, move |_, _, _| drop(one)).unwrap();
        let callbacks = GoalCallbacks::new()
            .on_feedback(move |_, _, _| drop(two.clone()))
            .on_result(move |_, _, _| drop(three));
        goals.send_goal(1, callbacks).unwrap();
        // A handle that outlives the node keeps nothing of it.
        std::mem::forget((client.clone(), goals.clone()));
    })
    .unwrap();
}

#[test]
fn isolated_node_keeps_nothing_that_its_callbacks_captured() {
    in_every_mode_isolating(|mut executor| {
        let held = Arc::new(());
        let create = held.clone();
        let node = executor.graph();
        let node = node.create_restartable_node("fragile", 0, move || create.clone()).unwrap();
        all_kinds_of_callbacks(&executor, &node, &held);
        let group = node.create_callback_group("group", held.clone()).unwrap();
        let kept = held.clone();
        group.create_timer(MS, move |_, _| drop(kept.clone())).unwrap();
        let out = node.create_publisher("a", QoS::default()).unwrap();
        let started = Arc::new(Mutex::new(false));
        let go = started.clone();
        node.create_timer(5 * MS, move |_, _| {
            out.publish(1u8).unwrap();
            if std::mem::replace(&mut *go.lock().unwrap(), true) { Err("broken") } else { Ok(()) }
        })
        .unwrap();
        let witness = held.clone();
        stop_when(&executor, move || *started.lock().unwrap() && Arc::strong_count(&witness) == 2);
        executor.spin().unwrap();
        assert_eq!(executor.failures().len(), 1);
    });
}
