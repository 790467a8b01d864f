//! Actions: goals, feedback, results and cancellations, in every mode.

mod cancelling;
mod failures;
mod model;
mod results;
mod tasks;

use crate::{Log, entries, in_every_mode, in_every_mode_isolating, log};
use Seen::{Accepted, Ended, Refused};
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, CancelReturnCode, GoalStatusArray,
};
use ringspin_executor::action::{GoalEvent, GoalInfo};
use ringspin_executor::{
    Action, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions, CallError,
    CallRefused, CancelResponse, ErrorKind, FailurePolicy, GoalCallbacks, GoalError, GoalHandle,
    GoalId, GoalResponse, GoalStatus, Graph, Message, Node, QoS, Reply, Result, SendGoalError,
    Time,
};
use ringspin_simulation::Job;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A goal that would not be reached while a test runs.
const FAR: u32 = 1_000_000;

/// Counts to the goal, one a millisecond.
struct Count;

impl Action for Count {
    type Goal = u32;
    type Result = u32;
    type Feedback = u32;
}

type Running = Vec<(u32, GoalHandle<Count>)>;

/// One more millisecond of counting.
fn count(running: &mut Running) {
    for (n, handle) in running.iter_mut().filter(|(_, handle)| handle.is_active()) {
        *n += 1;
        match () {
            () if handle.is_canceling() => handle.canceled(*n).unwrap(),
            () if *n == **handle.goal() => handle.succeed(*n).unwrap(),
            () => handle.publish_feedback(*n).unwrap(),
        }
    }
    running.retain(|(_, handle)| handle.is_active());
}

/// A node that counts, if the goal is not zero, and says `cancel` to requests to cancel.
fn counting(
    graph: &Graph,
    options: ActionServerOptions,
    cancel: CancelResponse,
) -> Result<ActionServer<Count>> {
    let node = graph.create_node("counter", Running::new()).unwrap();
    node.create_timer(MS, |running, _| count(running)).unwrap();
    node.create_action_server::<Count, _>(
        "count",
        options,
        |_, goal, _| if *goal > 0 { GoalResponse::Accept } else { GoalResponse::Reject },
        move |_, _, _| cancel,
        |running, handle, _| running.push((0, handle)),
    )
}

fn client_of(node: &Node<()>) -> ActionClient<(), Count> {
    node.create_action_client::<Count>("count", ActionClientOptions::default()).unwrap()
}

/// A client of action `count`, in a separate node.
fn client(graph: &Graph) -> (Node<()>, ActionClient<(), Count>) {
    let node = graph.create_node("client", ()).unwrap();
    let client = client_of(&node);
    (node, client)
}

/// An event that a client sees.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Accepted,
    Refused(SendGoalError),
    Feedback(u32),
    Ended(GoalStatus, u32),
    Failed(CallError),
    Cancel(CancelReturnCode, usize),
}

/// Records the outcomes of goals, and stops the executor after a number of them.
#[derive(Clone)]
struct Watch {
    seen: Log<(&'static str, Seen)>,
    ends: usize,
}

impl Watch {
    fn new(ends: usize) -> Self {
        Self { seen: log(), ends }
    }

    fn see(&self, goal: &'static str, seen: Seen, cx: &ringspin_executor::Context<'_>) {
        let mut all = self.seen.lock().unwrap();
        all.push((goal, seen));
        let is_end = |seen: &Seen| matches!(seen, Refused(_) | Ended(..) | Seen::Failed(_));
        if all.iter().filter(|(_, seen)| is_end(seen)).count() == self.ends {
            cx.stop();
        }
    }

    fn callbacks<S>(&self, goal: &'static str) -> GoalCallbacks<S, Count> {
        let [response, feedback, result] = [(); 3].map(|()| self.clone());
        GoalCallbacks::new()
            .on_response(move |_, accepted, cx| {
                response.see(goal, accepted.map_or_else(Refused, |_| Accepted), cx);
            })
            .on_feedback(move |_, n, cx| feedback.see(goal, Seen::Feedback(**n), cx))
            .on_result(move |_, outcome, cx| {
                let ended = outcome.map(|outcome| Ended(outcome.status, *outcome.result));
                result.see(goal, ended.unwrap_or_else(Seen::Failed), cx);
            })
    }

    /// The callback for the answer to a request to cancel.
    fn cancel<S>(
        &self,
        goal: &'static str,
    ) -> impl FnOnce(
        &mut S,
        Result<Reply<CancelGoalResponse>, CallError>,
        &mut ringspin_executor::Context<'_>,
    ) + Send
    + 'static {
        let watch = self.clone();
        move |_, reply, cx| {
            let reply = reply.unwrap();
            watch.see(goal, Seen::Cancel(reply.return_code, reply.goals_canceling.len()), cx);
        }
    }

    fn of(&self, goal: &str) -> Vec<Seen> {
        let all = entries(&self.seen).into_iter();
        all.filter(|(of, _)| *of == goal).map(|(_, seen)| seen).collect()
    }
}

/// The events of a goal that is counted up to `n`.
fn counted_to(n: u32) -> Vec<Seen> {
    let mut seen = vec![Accepted];
    seen.extend((1..n).map(Seen::Feedback));
    seen.push(Ended(GoalStatus::Succeeded, n));
    seen
}

#[test]
fn two_goals_at_once_each_get_their_feedback_and_their_result() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        let server = counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        // Another client of the same node hears nothing of the first one's goals.
        let other = client_of(&node);
        let watch = Watch::new(4);
        let seen = watch.clone();
        assert!(!client.server_is_ready(), "it is still being built");
        node.create_one_shot_timer(MS, move |_, _| {
            assert!(client.server_is_ready());
            let ids = [
                client.send_goal(4, seen.callbacks("four")).unwrap(),
                client.send_goal(2, seen.callbacks("two")).unwrap(),
                other.send_goal(3, seen.callbacks("three")).unwrap(),
                other.send_goal(0, seen.callbacks("none")).unwrap(),
            ];
            assert!((1..4).all(|n| !ids[..n].contains(&ids[n])), "{ids:?}");
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(watch.of("two"), counted_to(2));
        assert_eq!(watch.of("three"), counted_to(3));
        assert_eq!(watch.of("four"), counted_to(4));
        assert_eq!(watch.of("none"), [Refused(SendGoalError::Rejected)]);
        assert_eq!((server.action(), server.rejected_goals()), ("/count", 0));
        assert_eq!((server.active_goals(), server.kept_results()), (0, 3));
    });
}

#[test]
fn a_server_has_as_many_goals_as_it_may_and_rejects_the_others() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        let options = ActionServerOptions { goals_max: 2, ..Default::default() };
        let server = counting(graph, options, CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let watch = Watch::new(4);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            client.send_goal(FAR, GoalCallbacks::new()).unwrap();
            let (again, after) = (client.clone(), seen.clone());
            // Once this one has been cancelled, there is a place again.
            let second = seen.callbacks("second").on_result(move |_, outcome, cx| {
                let outcome = outcome.unwrap();
                after.see("second", Ended(outcome.status, 0), cx);
                again.send_goal(1, after.callbacks("fifth")).unwrap();
            });
            let id = client.send_goal(FAR, second).unwrap();
            client.send_goal(1, seen.callbacks("third")).unwrap();
            let (again, after) = (client.clone(), seen.clone());
            let fourth = GoalCallbacks::new().on_response(move |_, accepted, cx| {
                after.see("fourth", Refused(accepted.unwrap_err()), cx);
                again.cancel(CancelGoalRequest::goal(id), |_, _, _| ()).unwrap();
            });
            client.send_goal(1, fourth).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(watch.of("third"), [Refused(SendGoalError::Rejected)]);
        assert_eq!(watch.of("fourth"), [Refused(SendGoalError::Rejected)]);
        assert_eq!(watch.of("second").last(), Some(&Ended(GoalStatus::Canceled, 0)));
        assert_eq!(watch.of("fifth"), counted_to(1));
        assert_eq!((server.rejected_goals(), server.active_goals()), (2, 1));
    });
}

/// A server that handles goals at once by `pursue`; the state keeps the returned outcomes.
fn at_once<K: Send + 'static>(
    graph: &Graph,
    response: GoalResponse,
    kept: K,
    mut pursue: impl FnMut(&mut K, GoalHandle<Count>) + Send + 'static,
) -> Node<K> {
    let node = graph.create_node("server", kept).unwrap();
    node.create_action_server::<Count, _>(
        "count",
        ActionServerOptions::default(),
        move |_, _, _| response,
        |_, _, _| CancelResponse::Accept,
        move |kept, handle, _| pursue(kept, handle),
    )
    .unwrap();
    node
}

/// Sends these goals one millisecond after the start; all are called `goal`.
fn sending(graph: &Graph, goals: &'static [u32]) -> Watch {
    let (node, client) = client(graph);
    let watch = Watch::new(goals.len());
    let seen = watch.clone();
    node.create_one_shot_timer(MS, move |_, _| {
        for &goal in goals {
            client.send_goal(goal, seen.callbacks("goal")).unwrap();
        }
    })
    .unwrap();
    watch
}

#[test]
fn goals_continue_after_the_last_handle_of_their_client_is_dropped() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let (watch, mut client, awaiting) = (Watch::new(3), Some(client), node.clone());
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let client = client.take().unwrap();
            client.send_goal(3, seen.callbacks("called")).unwrap();
            client.send_goal(0, seen.callbacks("rejected")).unwrap();
            let (sent, seen) = (client.send_goal_async(3), seen.clone());
            let awaited = awaiting.spawn_with_state("await", |state| async move {
                let mut goal = sent.await?;
                let mut feedback = goal.feedback();
                while let Some(n) = feedback.next().await {
                    assert!((1..3).contains(&*n));
                }
                let outcome = goal.result().await?;
                let ended = Ended(outcome.status, *outcome.result);
                state.with(move |_, cx| seen.see("awaited", ended, cx)).await;
                Ok::<(), SendGoalError>(())
            });
            awaited.unwrap();
        })
        .unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert_eq!(watch.of("called"), counted_to(3));
        assert_eq!(watch.of("rejected"), [Refused(SendGoalError::Rejected)]);
        assert_eq!(watch.of("awaited"), [Ended(GoalStatus::Succeeded, 3)]);
    });
}

#[test]
fn a_goal_may_be_aborted_and_ends_once() {
    in_every_mode(|mut executor| {
        at_once(executor.graph(), GoalResponse::Accept, (), |(), handle| {
            assert_eq!(handle.status(), GoalStatus::Executing);
            let early = handle.canceled(1).unwrap_err();
            let (event, status) = (GoalEvent::Canceled, GoalStatus::Executing);
            assert_eq!((early.value, early.reason), (1, GoalError::Illegal { event, status }));
            handle.abort(2).unwrap();
            let late = handle.succeed(3).unwrap_err();
            let (event, status) = (GoalEvent::Succeed, GoalStatus::Aborted);
            assert_eq!((late.value, late.reason), (3, GoalError::Illegal { event, status }));
            let late = handle.publish_feedback(4).unwrap_err();
            assert_eq!((late.value, late.reason), (4, GoalError::Ended(GoalStatus::Aborted)));
            assert!(late.to_string().contains("aborted"), "{late}");
        });
        let watch = sending(executor.graph(), &[10]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Accepted, Ended(GoalStatus::Aborted, 2)]);
    });
}

#[test]
fn a_deferred_goal_is_accepted_now_and_executed_later() {
    in_every_mode(|mut executor| {
        let node = at_once(
            executor.graph(),
            GoalResponse::Defer,
            Vec::new(),
            |kept: &mut Vec<GoalHandle<Count>>, handle| {
                assert_eq!(handle.status(), GoalStatus::Accepted);
                let early = handle.succeed(1).unwrap_err();
                let (event, status) = (GoalEvent::Succeed, GoalStatus::Accepted);
                assert_eq!(early.reason, GoalError::Illegal { event, status });
                kept.push(handle);
            },
        );
        node.create_timer(5 * MS, |kept, _| {
            for handle in kept.drain(..) {
                handle.execute().unwrap();
                let twice = handle.execute().unwrap_err();
                let (event, status) = (GoalEvent::Execute, GoalStatus::Executing);
                assert_eq!(twice, GoalError::Illegal { event, status });
                handle.succeed(10 * **handle.goal()).unwrap();
            }
        })
        .unwrap();
        let watch = sending(executor.graph(), &[7]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Accepted, Ended(GoalStatus::Succeeded, 70)]);
    });
}

#[test]
fn a_server_may_give_up_a_goal_for_a_newer_one() {
    in_every_mode(|mut executor| {
        let current: Option<GoalHandle<Count>> = None;
        let node = at_once(executor.graph(), GoalResponse::Accept, current, |current, handle| {
            if let Some(older) = current.replace(handle) {
                older.abort(**older.goal()).unwrap();
            }
        });
        node.create_timer(20 * MS, |current, _| {
            if let Some(handle) = current.take_if(|handle| **handle.goal() == 3) {
                handle.succeed(3).unwrap();
            }
        })
        .unwrap();
        let watch = sending(executor.graph(), &[1, 2, 3]);
        executor.spin().unwrap();
        let ends: Vec<_> =
            watch.of("goal").into_iter().filter(|s| matches!(s, Ended(..))).collect();
        use GoalStatus::{Aborted, Succeeded};
        assert_eq!(ends, [Ended(Aborted, 1), Ended(Aborted, 2), Ended(Succeeded, 3)]);
    });
}

#[test]
fn a_goal_whose_handles_are_dropped_is_aborted() {
    in_every_mode(|mut executor| {
        at_once(executor.graph(), GoalResponse::Defer, (), |(), handle| drop(handle.clone()));
        let watch = sending(executor.graph(), &[1]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Accepted, Ended(GoalStatus::Aborted, 0)]);
    });
}

#[test]
fn a_goal_may_be_pursued_by_another_thread() {
    in_every_mode(|mut executor| {
        let node = at_once(executor.graph(), GoalResponse::Accept, (), |(), handle| {
            std::thread::spawn(move || {
                for n in 1..**handle.goal() {
                    handle.publish_feedback(n).unwrap();
                }
                handle.succeed(**handle.goal()).unwrap();
            });
        });
        // Keeps the deterministic mode from ending before the thread ends.
        node.create_timer(MS, |(), _| ()).unwrap();
        let watch = sending(executor.graph(), &[5]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), counted_to(5));
    });
}

#[test]
fn runs_are_the_same_to_the_bit_and_goal_ids_come_from_the_seed() {
    let run = |seed: u64| {
        let ids: Log<GoalId> = log();
        let seen = ids.clone();
        let job = Job::new(move |graph| {
            counting(graph, Default::default(), CancelResponse::Accept)?;
            let (node, client) = client(graph);
            let again = client_of(&node);
            let (sender, log) = (client.clone(), seen.clone());
            node.create_timer(3 * MS, move |_, cx| {
                let callbacks = GoalCallbacks::new().on_result(|_, outcome, cx| {
                    let outcome = outcome.unwrap();
                    cx.digest(&(outcome.goal_id, outcome.status));
                });
                let id = sender.send_goal(2, callbacks).unwrap();
                cx.digest(&id);
                log.lock().unwrap().push(id);
            })?;
            let log = seen.clone();
            node.spawn("far", async move {
                let goal = again.send_goal_async(FAR).await?;
                log.lock().unwrap().push(goal.goal_id());
                for _ in 0..5 {
                    goal.feedback().next().await;
                }
                goal.cancel().await?;
                Ok::<(), SendGoalError>(())
            })?;
            Ok(())
        });
        let job = job.simulate(|simulation| simulation.seed = seed).run_for(50 * MS);
        (job.run().unwrap().digest(), entries(&ids))
    };
    let (digest, ids) = run(1);
    assert!(ids.len() > 10);
    let mut different = ids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), ids.len());
    assert_eq!(run(1), (digest, ids.clone()));
    let (other, other_ids) = run(2);
    assert_ne!(other, digest);
    assert!(other_ids.iter().all(|id| !ids.contains(id)));
}

#[test]
fn an_action_has_one_server_one_set_of_types_and_ros_2s_names() {
    let graph = Graph::new();
    counting(&graph, Default::default(), CancelResponse::Accept).unwrap();
    let node = graph.create_node("second", ()).unwrap();
    let serve = |name: &str, options| {
        node.create_action_server::<Count, _>(
            name,
            options,
            |_, _, _| GoalResponse::Reject,
            |_, _, _| CancelResponse::Reject,
            |_, _, _| (),
        )
    };
    let error = serve("count", Default::default()).unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::AlreadyExists, Some("/second")));
    let nothing = ActionServerOptions { goals_max: 0, ..Default::default() };
    let error = serve("nothing", nothing).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::InvalidArgument, Some("/nothing")));
    assert!(error.to_string().contains("its depth of 0 is out of range"), "{error}");
    let error = serve("1st", Default::default()).unwrap_err();
    assert!(error.to_string().contains("invalid action name"), "{error}");
    struct Other;
    impl Action for Other {
        type Goal = u64;
        type Result = u32;
        type Feedback = u32;
    }
    let error = node.create_action_client::<Other>("count", Default::default()).unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::TypeMismatch, Some("/second")));
    let info = graph.info();
    let services: Vec<_> = info.services.iter().map(|service| &*service.name).collect();
    for name in ["send_goal", "cancel_goal", "get_result"] {
        assert!(services.contains(&&*format!("/count/_action/{name}")), "{services:?}");
    }
    let topics: Vec<_> = info.topics.iter().map(|topic| &*topic.name).collect();
    assert_eq!(topics, ["/count/_action/feedback", "/count/_action/status"]);
}

#[test]
fn an_action_is_remapped_by_its_name() {
    let graph = Graph::new();
    let arguments = ["--ros-args", "-r", "count:=/fleet/count"];
    let (arguments, _) = ringspin_executor::Arguments::parse(arguments).unwrap();
    graph.set_arguments(arguments);
    let server = counting(&graph, Default::default(), CancelResponse::Accept).unwrap();
    assert_eq!(server.action(), "/fleet/count");
    assert_eq!(graph.info().services[0].name, "/fleet/count/_action/cancel_goal");
}
