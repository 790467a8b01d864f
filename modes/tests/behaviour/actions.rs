//! Actions: goals, feedback, results and cancellations, in every mode.

use crate::{Log, entries, in_every_mode, in_every_mode_isolating, log};
use proptest::prelude::*;
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, CancelReturnCode, GoalStatusArray,
};
use ringspin_executor::action::{GoalEvent, GoalInfo};
use ringspin_executor::{
    Action, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions, CallError,
    CallRefused, CancelResponse, CreateError, FailurePolicy, GoalCallbacks, GoalError, GoalHandle,
    GoalId, GoalResponse, GoalStatus, Graph, Message, Node, QoS, Reply, SendGoalError, Time,
};
use ringspin_modes::Job;
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
) -> Result<ActionServer<Count>, CreateError> {
    let node = graph.create_node("counter", Running::new()).unwrap();
    node.create_timer(MS, |running, _| count(running))?;
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

/// A client of action `count`, in a node of its own.
fn client(graph: &Graph) -> (Node<()>, ActionClient<(), Count>) {
    let node = graph.create_node("client", ()).unwrap();
    let client = client_of(&node);
    (node, client)
}

/// What a client sees.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Accepted,
    Refused(SendGoalError),
    Feedback(u32),
    Ended(GoalStatus, u32),
    Failed(CallError),
    Cancel(CancelReturnCode, usize),
}

use Seen::{Accepted, Ended, Refused};

/// Sees what becomes of goals, and stops the executor when so many have come to an end.
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

    /// What is called at the answer to a request to cancel.
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

/// What is seen of a goal that is counted up to `n`.
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
                again.cancel_goal(id, |_, _, _| ()).unwrap();
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

#[test]
fn an_accepted_cancellation_is_completed_and_a_second_one_comes_too_late() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let watch = Watch::new(1);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let (again, cancels) = (client.clone(), seen.clone());
            let mut is_first = true;
            let callbacks = seen.callbacks("goal").on_feedback(move |_, n, _| {
                if std::mem::take(&mut is_first) {
                    let unknown = GoalId([7; 16]);
                    again.cancel_goal(unknown, cancels.cancel("unknown")).unwrap();
                    again.cancel_goal(n.goal_id(), cancels.cancel("first")).unwrap();
                    again.cancel_goal(n.goal_id(), cancels.cancel("second")).unwrap();
                    again.cancel_all(cancels.cancel("all")).unwrap();
                }
            });
            client.send_goal(FAR, callbacks).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        let [Accepted, Ended(GoalStatus::Canceled, _)] = watch.of("goal")[..] else {
            panic!("{watch:?}", watch = watch.of("goal"));
        };
        use CancelReturnCode as Code;
        // The goal may end before the answers are there, which stops the executor: they are seen
        // in order, as far as they are seen.
        let seen: Vec<_> =
            entries(&watch.seen).into_iter().filter(|(of, _)| *of != "goal").collect();
        let all = [
            ("unknown", Seen::Cancel(Code::UnknownGoalId, 0)),
            ("first", Seen::Cancel(Code::None, 1)),
            ("second", Seen::Cancel(Code::GoalTerminated, 0)),
            ("all", Seen::Cancel(Code::None, 0)),
        ];
        assert!(seen.len() >= 2, "{seen:?}");
        assert_eq!(seen, all[..seen.len()]);
    });
}

#[test]
fn a_rejected_cancellation_leaves_the_goal_alone() {
    in_every_mode(|mut executor| {
        let state = (0, None::<GoalHandle<Count>>);
        let node = executor.create_node("server", state).unwrap();
        node.create_action_server::<Count, _>(
            "count",
            ActionServerOptions::default(),
            |_, _, _| GoalResponse::Accept,
            |(rejected, _), handle, _| {
                *rejected += 1;
                assert!(!handle.is_canceling());
                CancelResponse::Reject
            },
            |(_, goal), handle, _| *goal = Some(handle),
        )
        .unwrap();
        node.create_timer(MS, |(rejected, goal), _| {
            if let Some(handle) = goal.take_if(|_| *rejected == 2) {
                handle.succeed(*rejected).unwrap();
            }
        })
        .unwrap();
        let (node, client) = client(executor.graph());
        let watch = Watch::new(1);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let id = client.send_goal(5, seen.callbacks("goal")).unwrap();
            client.cancel_goal(id, seen.cancel("cancel")).unwrap();
            client.cancel_all(seen.cancel("cancel")).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Accepted, Ended(GoalStatus::Succeeded, 2)]);
        let rejected = Seen::Cancel(CancelReturnCode::Rejected, 0);
        assert_eq!(watch.of("cancel"), [rejected.clone(), rejected]);
    });
}

/// A server whose goals are handled at once by `pursue`; what it returns is kept in the state.
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
        // Keeps the deterministic mode from ending before the thread has come to its end.
        node.create_timer(MS, |(), _| ()).unwrap();
        let watch = sending(executor.graph(), &[5]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), counted_to(5));
    });
}

#[test]
fn goals_of_a_node_that_fails_are_aborted_wherever_their_handles_are() {
    in_every_mode_isolating(|mut executor| {
        let outside: Arc<Mutex<Running>> = Arc::default();
        let kept = outside.clone();
        let node =
            at_once(executor.graph(), GoalResponse::Accept, vec![], move |inside, handle| {
                match **handle.goal() {
                    1 => inside.push(handle),
                    2 => kept.lock().unwrap().push((0, handle)),
                    _ => panic!("three is too many"),
                }
            });
        node.create_timer(MS, |_, _| ()).unwrap();
        let watch = sending(executor.graph(), &[1, 2, 3, 4]);
        executor.spin().unwrap();
        let seen = watch.of("goal");
        let aborted = seen.iter().filter(|seen| **seen == Ended(GoalStatus::Aborted, 0)).count();
        let is_lost = |seen: &&Seen| {
            let gone = [CallError::ServiceStopped, CallError::Unanswered];
            matches!(seen, Seen::Failed(e) | Refused(SendGoalError::Call(e)) if gone.contains(e))
        };
        let lost = seen.iter().filter(is_lost).count();
        // The requests for the results of three goals were answered, or came too late; the fourth
        // goal was never seen.
        assert_eq!(aborted + lost, 4, "{seen:?}");
        assert_eq!(seen.iter().filter(|seen| **seen == Accepted).count(), 3, "{seen:?}");
        let (_, handle) = outside.lock().unwrap().pop().unwrap();
        assert_eq!(handle.status(), GoalStatus::Aborted);
        assert_eq!(executor.failures().len(), 1);
    });
}

/// The goal is on its way, and its result awaited, when the server fails.
#[test]
fn who_awaits_the_result_of_a_node_that_fails_gets_an_answer() {
    in_every_mode_isolating(|mut executor| {
        let outside: Arc<Mutex<Running>> = Arc::default();
        let (kept, seen) = (outside.clone(), outside.clone());
        let node = at_once(executor.graph(), GoalResponse::Accept, (), move |(), handle| {
            kept.lock().unwrap().push((0, handle));
        });
        let watch = sending(executor.graph(), &[FAR]);
        let responded = watch.clone();
        node.create_timer(MS, move |(), _| {
            let mut running = seen.lock().unwrap();
            if responded.of("goal").len() > 3 {
                drop(running);
                panic!("in the middle of it");
            }
            count(&mut running);
        })
        .unwrap();
        executor.spin().unwrap();
        let seen = watch.of("goal");
        assert_eq!(seen.last(), Some(&Ended(GoalStatus::Aborted, 0)), "{seen:?}");
        assert_eq!(outside.lock().unwrap()[0].1.status(), GoalStatus::Aborted);
    });
}

#[test]
fn a_server_that_fails_to_decide_does_not_leave_the_client_waiting() {
    in_every_mode_isolating(|mut executor| {
        let node = executor.create_node("server", ()).unwrap();
        node.create_action_server::<Count, _>(
            "count",
            ActionServerOptions::default(),
            |_, _, _| panic!("undecided"),
            |_, _, _| CancelResponse::Reject,
            |_, _, _| (),
        )
        .unwrap();
        let watch = sending(executor.graph(), &[1]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Refused(CallError::Unanswered.into())]);
    });
}

#[test]
fn what_cannot_be_sent_is_handed_back() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let node = graph.create_node("client", ()).unwrap();
        let options = ActionClientOptions { goals_max: 2, ..Default::default() };
        let client = node.create_action_client::<Count>("count", options).unwrap();
        let nobody = node.create_action_client::<Count>("nobody", options).unwrap();
        let refused = |result: Result<GoalId, CallRefused<Arc<u32>>>| {
            result.map_err(|refused| (*refused.request, refused.reason)).unwrap_err()
        };
        let early = client.send_goal(3, GoalCallbacks::new());
        assert_eq!(refused(early), (3, CallError::NotFrozen));
        let watch = Watch::new(3);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            assert!(!nobody.server_is_ready());
            let nowhere = nobody.send_goal(1, GoalCallbacks::new());
            assert_eq!(refused(nowhere), (1, CallError::NoService));
            client.send_goal(3, seen.callbacks("first")).unwrap();
            // When the first one is at its end, its place is free.
            let (again, after) = (client.clone(), seen.clone());
            let second = seen.callbacks("second").on_result(move |_, outcome, cx| {
                after.see("second", Ended(outcome.unwrap().status, 0), cx);
                again.send_goal(1, after.callbacks("third")).unwrap();
            });
            client.send_goal(2, second).unwrap();
            let third = client.send_goal(5, GoalCallbacks::new());
            assert_eq!(refused(third), (5, CallError::TooManyCalls));
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(watch.of("first"), counted_to(3));
        assert_eq!(watch.of("third"), counted_to(1));
    });
}

#[test]
fn a_task_awaits_a_goal_its_feedback_and_its_end() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let seen: Log<Seen> = log();
        let log = seen.clone();
        node.spawn_with_state("goals", |state| async move {
            let see = |what| log.lock().unwrap().push(what);
            let rejected = client.send_goal_async(0).await.unwrap_err();
            see(Refused(rejected));
            let mut goal = client.send_goal_async(3).await?;
            let mut feedback = goal.feedback();
            while let Some(n) = feedback.next().await {
                assert_eq!(n.goal_id(), goal.goal_id());
                see(Seen::Feedback(*n));
            }
            let outcome = goal.result().await?;
            see(Ended(outcome.status, *outcome.result));
            assert_eq!(goal.result().await?.goal_id, goal.goal_id());
            assert_eq!(goal.overwritten_feedback(), 0);
            let mut far = client.send_goal_async(FAR).await?;
            assert!(far.feedback().next().await.is_some());
            let answer = far.cancel().await?;
            let info = GoalInfo { goal_id: far.goal_id(), stamp: far.stamp() };
            assert_eq!(answer.goals_canceling, [info]);
            see(Ended(far.result().await?.status, 0));
            let none = client.cancel_async(CancelGoalRequest::all()).await?;
            see(Seen::Cancel(none.return_code, none.goals_canceling.len()));
            state.with(|_, cx| cx.stop()).await;
            Ok::<(), SendGoalError>(())
        })
        .unwrap();
        executor.spin().unwrap();
        let expected = [
            Refused(SendGoalError::Rejected),
            Seen::Feedback(1),
            Seen::Feedback(2),
            Ended(GoalStatus::Succeeded, 3),
            Ended(GoalStatus::Canceled, 0),
            Seen::Cancel(CancelReturnCode::None, 0),
        ];
        assert_eq!(entries(&seen), expected);
    });
}

#[test]
fn who_awaits_a_goal_of_a_node_that_fails_learns_of_it() {
    in_every_mode_isolating(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let waiting = graph.create_node("waiting", ()).unwrap();
        waiting.set_failure_policy(FailurePolicy::StopAll).unwrap();
        let seen: Log<CallError> = log();
        let ended = seen.clone();
        let fail = node.create_guard_condition("fail", |_, _| panic!("on purpose")).unwrap();
        waiting
            .spawn_with_state("wait", |state| async move {
                let mut goal = client.send_goal_async(FAR).await?;
                fail.trigger();
                while goal.feedback().next().await.is_some() {}
                let error = goal.result().await.unwrap_err();
                ended.lock().unwrap().push(error);
                let late = client.send_goal_async(FAR).await.unwrap_err();
                assert_eq!(late, SendGoalError::Call(CallError::ClientStopped));
                state.with(|_, cx| cx.stop()).await;
                Ok::<(), SendGoalError>(())
            })
            .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&seen), [CallError::ClientStopped]);
    });
}

/// The status arrays of action `count`, without the stamps, as a node sees them that looks on.
fn statuses(graph: &Graph) -> Log<Vec<GoalStatus>> {
    let seen: Log<Vec<GoalStatus>> = log();
    let node = graph.create_node("onlooker", seen.clone()).unwrap();
    let qos = QoS::keep_last(100).transient_local();
    node.create_subscription("count/_action/status", qos, |seen, all: &Message<_>, _| {
        let GoalStatusArray { status_list } = &**all;
        seen.lock().unwrap().push(status_list.iter().map(|entry| entry.status).collect());
    })
    .unwrap();
    seen
}

#[test]
fn every_change_of_status_is_published() {
    let seen: Mutex<Log<Vec<GoalStatus>>> = Mutex::default();
    let job = Job::new(|graph| {
        let options = ActionServerOptions { results_max: 1, ..Default::default() };
        counting(graph, options, CancelResponse::Accept)?;
        *seen.lock().unwrap() = statuses(graph);
        let (node, client) = client(graph);
        node.create_one_shot_timer(MS / 2, move |_, _| {
            client.send_goal(2, GoalCallbacks::new()).unwrap();
            let id = client.send_goal(FAR, GoalCallbacks::new()).unwrap();
            client.cancel_goal(id, |_, _, _| ()).unwrap();
            client.send_goal(3, GoalCallbacks::new()).unwrap();
        })?;
        Ok(())
    });
    job.run_for(Duration::from_secs(1)).run().unwrap();
    use GoalStatus::{Canceled, Canceling, Executing, Succeeded};
    let expected = [
        vec![Executing],
        vec![Executing, Executing],
        vec![Executing, Canceling],
        vec![Executing, Canceling, Executing],
        vec![Executing, Canceled, Executing],
        // With the second result, the first one is forgotten: after it was published.
        vec![Succeeded, Canceled, Executing],
        vec![Succeeded, Succeeded],
    ];
    assert_eq!(entries(&seen.lock().unwrap()), expected);
}

/// Asks for the results of a goal at these times, in milliseconds; the goal ends at 10 ms.
fn asked_at(times: &'static [u32], options: ActionServerOptions) -> Vec<(u64, GoalStatus, u32)> {
    let seen = log();
    let log = seen.clone();
    let job = Job::new(move |graph| {
        counting(graph, options, CancelResponse::Accept)?;
        let (node, client) = client(graph);
        let id: Arc<Mutex<GoalId>> = Arc::default();
        let (sent, sender) = (id.clone(), client.clone());
        node.create_one_shot_timer(MS / 2, move |_, _| {
            *sent.lock().unwrap() = sender.send_goal(10, GoalCallbacks::new()).unwrap();
        })?;
        for &time in times {
            let (id, client, log) = (id.clone(), client.clone(), log.clone());
            node.create_one_shot_timer(time * MS, move |_, _| {
                let log = log.clone();
                let asked = client.get_result(*id.lock().unwrap(), move |_, outcome, cx| {
                    let (outcome, ms) = (outcome.unwrap(), cx.now().as_nanos() / 1_000_000);
                    log.lock().unwrap().push((ms, outcome.status, *outcome.result));
                });
                asked.unwrap();
            })?;
        }
        Ok(())
    });
    job.run_for(Duration::from_secs(60)).run().unwrap();
    entries(&seen)
}

#[test]
fn a_result_is_kept_for_its_time_and_then_the_goal_is_unknown() {
    use GoalStatus::{Succeeded, Unknown};
    let early_and_late = asked_at(&[5, 9, 11, 10_010, 10_011], Default::default());
    let expected = [
        (10, Succeeded, 10),
        (10, Succeeded, 10),
        (11, Succeeded, 10),
        (10_010, Succeeded, 10),
        (10_011, Unknown, 0),
    ];
    assert_eq!(early_and_late, expected);
    let at_once = ActionServerOptions { result_timeout: Duration::ZERO, ..Default::default() };
    assert_eq!(asked_at(&[9, 11], at_once), [(10, Succeeded, 10), (11, Unknown, 0)]);
    let for_ever = ActionServerOptions { result_timeout: Duration::MAX, ..Default::default() };
    assert_eq!(asked_at(&[50_000], for_ever), [(50_000, Succeeded, 10)]);
    let none = ActionServerOptions { results_max: 0, ..Default::default() };
    assert_eq!(asked_at(&[9, 11], none), [(10, Succeeded, 10), (11, Unknown, 0)]);
}

#[test]
fn cancellation_by_time_takes_what_was_accepted_until_then() {
    // Goals are accepted at 1, 2, 3 and 4 ms, and the request comes at 10 ms.
    let canceled = |stamp_ms: u64, with_id: bool| {
        let watch = Watch::new(usize::MAX);
        let seen = watch.clone();
        let job = Job::new(move |graph| {
            counting(graph, Default::default(), CancelResponse::Accept)?;
            let (node, client) = client(graph);
            let last: Arc<Mutex<GoalId>> = Arc::default();
            for (ms, name) in (1u32..).zip(["1", "2", "3", "4"]) {
                let (client, seen, last) = (client.clone(), seen.clone(), last.clone());
                node.create_one_shot_timer(ms * MS, move |_, _| {
                    let callbacks = seen.callbacks(name).on_feedback(|_, _, _| ());
                    *last.lock().unwrap() = client.send_goal(FAR, callbacks).unwrap();
                })?;
            }
            let seen = seen.clone();
            node.create_one_shot_timer(10 * MS, move |_, _| {
                let stamp = Time::from_nanos(stamp_ms * 1_000_000);
                if with_id {
                    let goal_id = *last.lock().unwrap();
                    let request = CancelGoalRequest { goal_info: GoalInfo { goal_id, stamp } };
                    client.cancel(request, seen.cancel("cancel")).unwrap();
                } else {
                    client.cancel_before(stamp, seen.cancel("cancel")).unwrap();
                }
            })?;
            Ok(())
        });
        job.run_for(20 * MS).run().unwrap();
        let ended =
            |name: &&&str| matches!(watch.of(name).last(), Some(Ended(GoalStatus::Canceled, _)));
        let names: String = ["1", "2", "3", "4"].iter().filter(ended).copied().collect();
        let answer = Seen::Cancel(CancelReturnCode::None, names.len());
        assert_eq!(watch.of("cancel"), [answer]);
        names
    };
    assert_eq!(canceled(2, false), "12");
    assert_eq!(canceled(2, true), "124");
    assert_eq!(canceled(100, false), "1234");
    assert_eq!(canceled(0, false), "1234", "zero stands for all");
    assert_eq!(canceled(0, true), "4", "one goal");
}

#[test]
fn a_result_that_does_not_come_in_time_is_given_up_and_ignored_later() {
    let watch = Watch::new(usize::MAX);
    let seen = watch.clone();
    let job = Job::new(move |graph| {
        counting(graph, Default::default(), CancelResponse::Accept)?;
        let (node, client) = client(graph);
        let client = client.with_timeout(MS).with_result_timeout(5 * MS);
        let seen = seen.clone();
        node.create_one_shot_timer(MS / 2, move |_, _| {
            client.send_goal(4, seen.callbacks("in time")).unwrap();
            client.send_goal(8, seen.callbacks("late")).unwrap();
        })?;
        Ok(())
    });
    job.run_for(100 * MS).run().unwrap();
    assert_eq!(watch.of("in time"), counted_to(4));
    let mut late = counted_to(8);
    late.truncate(1 + 5); // accepted, and feedback until 5.5 ms
    late.push(Seen::Failed(CallError::TimedOut));
    assert_eq!(watch.of("late"), late);
}

#[test]
fn a_slow_listener_loses_the_oldest_feedback_and_can_count_it() {
    let seen = log();
    let log = seen.clone();
    let job = Job::new(move |graph| {
        counting(graph, Default::default(), CancelResponse::Accept)?;
        let node = graph.create_node("client", ())?;
        let options = ActionClientOptions { feedback_depth: 3, ..Default::default() };
        let client = node.create_action_client::<Count>("count", options)?;
        let log = log.clone();
        node.spawn("goal", async move {
            let mut goal = client.send_goal_async(10).await?;
            goal.result().await?;
            let mut feedback = goal.feedback();
            while let Some(n) = feedback.next().await {
                log.lock().unwrap().push(*n);
            }
            log.lock().unwrap().push(100 + goal.overwritten_feedback() as u32);
            Ok::<(), SendGoalError>(())
        })?;
        Ok(())
    });
    job.run_for(100 * MS).run().unwrap();
    assert_eq!(entries(&seen), [7, 8, 9, 106]);
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
    assert!(matches!(error, CreateError::DuplicateService { .. }), "{error}");
    let nothing = ActionServerOptions { goals_max: 0, ..Default::default() };
    let error = serve("nothing", nothing).unwrap_err();
    assert!(matches!(error, CreateError::Depth { .. }), "{error}");
    let error = serve("1st", Default::default()).unwrap_err();
    assert!(error.to_string().contains("invalid action name"), "{error}");
    struct Other;
    impl Action for Other {
        type Goal = u64;
        type Result = u32;
        type Feedback = u32;
    }
    let error = node.create_action_client::<Other>("count", Default::default()).unwrap_err();
    assert!(matches!(error, CreateError::ServiceTypeMismatch { .. }), "{error}");
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

/// What may be done about a goal, each at its own millisecond.
#[derive(Clone, Copy, Debug)]
enum Step {
    Execute,
    Succeed,
    Abort,
    Canceled,
    Feedback,
    /// The client asks to cancel, and this is the server's answer.
    Cancel(CancelResponse),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Execute),
        1 => Just(Step::Succeed),
        1 => Just(Step::Abort),
        1 => Just(Step::Canceled),
        3 => Just(Step::Feedback),
        2 => Just(Step::Cancel(CancelResponse::Accept)),
        1 => Just(Step::Cancel(CancelResponse::Reject)),
    ];
    prop::collection::vec(step, 0..12)
}

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Led {
    Done,
    Illegal,
    Answer(CancelReturnCode, usize),
}

/// What is to be seen of a goal: where each step led, the feedback, and the end.
type Story = (Vec<Led>, Vec<u32>, (GoalStatus, u32));

/// The plain model: a table of legal steps, and what a client hears.
fn model(deferred: bool, steps: &[Step]) -> Story {
    use GoalStatus as S;
    let mut status = if deferred { S::Accepted } else { S::Executing };
    let (mut led, mut feedback, mut result) = (Vec::new(), Vec::new(), 0);
    for (n, step) in (1u32..).zip(steps) {
        let cancelable = matches!(status, S::Accepted | S::Executing);
        let endable = matches!(status, S::Executing | S::Canceling);
        let active = cancelable || endable;
        let to = match step {
            Step::Execute if status == S::Accepted => Some(S::Executing),
            Step::Succeed if endable => Some(S::Succeeded),
            Step::Abort if endable => Some(S::Aborted),
            Step::Canceled if status == S::Canceling => Some(S::Canceled),
            Step::Feedback if active => Some(status),
            Step::Cancel(CancelResponse::Accept) if cancelable => Some(S::Canceling),
            _ => None,
        };
        led.push(match (step, to) {
            (Step::Cancel(_), Some(_)) => Led::Answer(CancelReturnCode::None, 1),
            (Step::Cancel(_), None) if cancelable => Led::Answer(CancelReturnCode::Rejected, 0),
            (Step::Cancel(_), None) => Led::Answer(CancelReturnCode::GoalTerminated, 0),
            (_, Some(_)) => Led::Done,
            (_, None) => Led::Illegal,
        });
        if let (Step::Feedback, Some(_)) = (step, to) {
            feedback.push(n);
        }
        if let Some(to) = to {
            status = to;
            if matches!(to, S::Succeeded | S::Aborted | S::Canceled) {
                result = n;
            }
        }
    }
    let dropped = matches!(status, S::Accepted | S::Executing | S::Canceling);
    (led, feedback, if dropped { (S::Aborted, 0) } else { (status, result) })
}

#[derive(Default)]
struct Stepping {
    handle: Option<GoalHandle<Count>>,
    next: usize,
}

/// The server of such a goal, which takes down where its steps led.
fn stepping(
    graph: &Graph,
    deferred: bool,
    steps: &[Step],
    led: &Log<(usize, Led)>,
) -> Result<(), CreateError> {
    let node = graph.create_node("server", Stepping::default()).unwrap();
    let answers = steps.to_vec();
    node.create_action_server::<Count, _>(
        "count",
        ActionServerOptions::default(),
        move |_, _, _| if deferred { GoalResponse::Defer } else { GoalResponse::Accept },
        move |stepping, _, _| match answers[stepping.next - 1] {
            Step::Cancel(answer) => answer,
            step => panic!("nobody asked to cancel at {step:?}"),
        },
        |stepping, handle, _| stepping.handle = Some(handle),
    )?;
    let (script, seen) = (steps.to_vec(), led.clone());
    node.create_timer(10 * MS, move |stepping: &mut Stepping, _| {
        let Some(step) = script.get(stepping.next) else {
            stepping.handle = None;
            return;
        };
        stepping.next += 1;
        let n = stepping.next as u32;
        let handle = stepping.handle.as_ref().expect("the goal was accepted");
        let is_done = match step {
            Step::Execute => handle.execute().is_ok(),
            Step::Succeed => handle.succeed(n).is_ok(),
            Step::Abort => handle.abort(n).is_ok(),
            Step::Canceled => handle.canceled(n).is_ok(),
            Step::Feedback => handle.publish_feedback(n).is_ok(),
            Step::Cancel(_) => return,
        };
        let led = if is_done { Led::Done } else { Led::Illegal };
        seen.lock().unwrap().push((stepping.next, led));
    })?;
    Ok(())
}

/// The same by the real thing. The `n`th step is done at `10 n` ms.
fn reality(deferred: bool, steps: &[Step]) -> Story {
    let led: Log<(usize, Led)> = log();
    let feedback: Log<u32> = log();
    let end: Log<(GoalStatus, u32)> = log();
    let job = Job::new(|graph| {
        stepping(graph, deferred, steps, &led)?;
        let (node, client) = client(graph);
        let (heard, ended, sender) = (feedback.clone(), end.clone(), client.clone());
        let id: Arc<Mutex<GoalId>> = Arc::default();
        let sent = id.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let (heard, ended) = (heard.clone(), ended.clone());
            let callbacks = GoalCallbacks::new()
                .on_feedback(move |_, n, _| heard.lock().unwrap().push(**n))
                .on_result(move |_, outcome, _| {
                    let outcome = outcome.unwrap();
                    ended.lock().unwrap().push((outcome.status, *outcome.result));
                });
            *sent.lock().unwrap() = sender.send_goal(0, callbacks).unwrap();
        })?;
        for (n, _) in (1..).zip(steps).filter(|(_, step)| matches!(step, Step::Cancel(_))) {
            let (client, seen, id) = (client.clone(), led.clone(), id.clone());
            node.create_one_shot_timer(n as u32 * 10 * MS + MS, move |_, _| {
                let seen = seen.clone();
                let asked = client.cancel_goal(*id.lock().unwrap(), move |_, reply, _| {
                    let reply = reply.unwrap();
                    let led = Led::Answer(reply.return_code, reply.goals_canceling.len());
                    seen.lock().unwrap().push((n, led));
                });
                asked.unwrap();
            })?;
        }
        Ok(())
    });
    job.run_for(Duration::from_secs(1)).run().unwrap();
    let mut led = entries(&led);
    led.sort_by_key(|(n, _)| *n);
    let led = led.into_iter().map(|(_, led)| led).collect();
    let end = entries(&end);
    assert_eq!(end.len(), 1, "a goal ends once");
    (led, entries(&feedback), end[0])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_goal_goes_the_way_of_a_plain_model(deferred in any::<bool>(), steps in steps()) {
        prop_assert_eq!(reality(deferred, &steps), model(deferred, &steps));
    }
}
