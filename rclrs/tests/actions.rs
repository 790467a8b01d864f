//! Actions as applications use them: servers, clients, goals in every state, and dropped handles.

use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use futures::future::join3;
use rclrs::*;
use ros_env::action_msgs::srv::{CancelGoal, CancelGoal_Request, CancelGoal_Response};
use ros_env::builtin_interfaces::msg::Time;
use ros_env::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result, Fibonacci_SendGoal,
    Fibonacci_SendGoal_Request, Fibonacci_SendGoal_Response,
};
use ros_env::tf2_msgs::action::{LookupTransform, LookupTransform_Goal, LookupTransform_Result};
use ros_env::unique_identifier_msgs::msg::UUID;
use std::future::{Future, pending, poll_fn, ready};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

/// Far more than any of these tests takes.
const LONG: Duration = Duration::from_secs(60);

/// An executor with a node.
fn node() -> (Executor, Node) {
    let executor = Context::default().create_basic_executor();
    let node = executor.create_node("node").unwrap();
    (executor, node)
}

/// Spins until `future` has its output, which it returns.
fn spin<F>(executor: &mut Executor, future: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let commands = executor.commands().clone();
    let (mut output, notice) = commands.create_notice(commands.run(future));
    let options = SpinOptions::new().until_promise_resolved(notice).timeout(LONG);
    executor.spin(options).first_error().unwrap();
    output.try_recv().expect("the future has panicked").unwrap()
}

fn sequence(order: i32) -> Vec<i32> {
    let mut numbers = vec![1, 1];
    while numbers.len() < order.max(0) as usize {
        numbers.push(numbers[numbers.len() - 2] + numbers[numbers.len() - 1]);
    }
    numbers.truncate(order.max(0) as usize);
    numbers
}

fn goal(order: i32) -> Fibonacci_Goal {
    Fibonacci_Goal { order }
}

fn feedback(order: i32) -> Fibonacci_Feedback {
    Fibonacci_Feedback { sequence: sequence(order) }
}

fn result(order: i32) -> Fibonacci_Result {
    Fibonacci_Result { sequence: sequence(order) }
}

/// Lets the other futures of the node run.
async fn pause() {
    for _ in 0..20 {
        let mut has_paused = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            match std::mem::replace(&mut has_paused, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

/// Rejects goals below zero, and aborts those of order zero. Publishes each number as feedback.
async fn fibonacci(requested: RequestedGoal<Fibonacci>) -> TerminatedGoal {
    let order = requested.goal().order;
    if order < 0 {
        return requested.reject();
    }
    let executing = match requested.accept().begin() {
        BeginAcceptedGoal::Execute(executing) => executing,
        BeginAcceptedGoal::Cancel(cancelling) => return cancelling.cancelled_with(result(0)),
    };
    for count in 1..=order {
        executing.publish_feedback(feedback(count));
        pause().await;
    }
    match order {
        0 => executing.aborted_with(result(0)),
        _ => executing.succeeded_with(result(order)),
    }
}

const fn can_be_shared<T: Send + Sync>() {}

const _: () = {
    can_be_shared::<RequestedGoal<Fibonacci>>();
    can_be_shared::<ExecutingGoal<Fibonacci>>();
    can_be_shared::<FeedbackPublisher<Fibonacci>>();
    can_be_shared::<ActionGoalReceiver<Fibonacci>>();
    can_be_shared::<ActionServer<Fibonacci>>();
    can_be_shared::<GoalClient<Fibonacci>>();
    can_be_shared::<RequestedGoalClient<Fibonacci>>();
};

/// A server that puts its goals into a channel.
fn collecting(node: &Node) -> (ActionServer<Fibonacci>, mpsc::UnboundedReceiver<Requested>) {
    let (sender, goals) = mpsc::unbounded();
    let server = node.create_action_server("act", move |goal| {
        let id = *goal.goal_id();
        let (ended, end) = oneshot::channel();
        sender.unbounded_send((goal, ended)).unwrap();
        async move {
            let terminated: TerminatedGoal = end.await.unwrap();
            assert_eq!(*terminated.uuid(), id);
            terminated
        }
    });
    (server.unwrap(), goals)
}

type Requested = (RequestedGoal<Fibonacci>, oneshot::Sender<TerminatedGoal>);

#[test]
fn a_goal_has_feedback_a_status_and_a_result() {
    let (mut executor, node) = node();
    let _server = node.create_action_server("act", fibonacci).unwrap();
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    // Before the first spin.
    let requested = client.request_goal(goal(10));
    let id = *requested.goal_id();
    let mut statuses = client.receive_status(id);
    let watcher = statuses.watch();
    let seen = spin(&mut executor, async move {
        let client = requested.await.unwrap();
        assert!(client.stamp.sec > 0);
        let (mut stream, mut counts) = (client.stream(), Vec::new());
        while let Some(event) = stream.next().await {
            match event {
                GoalEvent::Feedback(feedback) => {
                    assert_eq!(feedback.sequence, sequence(counts.len() as i32 + 1));
                    counts.push(feedback.sequence.len());
                }
                GoalEvent::Status(status) => {
                    assert_eq!(status.goal_id, id);
                    assert!(!matches!(status.code, GoalStatusCode::Unknown), "{status:?}");
                }
                GoalEvent::Result((code, end)) => {
                    assert_eq!((code, end), (GoalStatusCode::Succeeded, result(10)));
                    break;
                }
            }
        }
        assert_eq!(counts.len(), 10);
        let mut codes = Vec::new();
        while codes.last() != Some(&GoalStatusCode::Succeeded) {
            codes.push(statuses.recv().await.unwrap().code);
        }
        codes
    });
    assert!(seen.is_sorted() && seen.contains(&GoalStatusCode::Executing), "{seen:?}");
    assert_eq!(watcher.borrow().code, GoalStatusCode::Succeeded);
}

#[test]
fn a_goal_is_rejected_or_aborted_or_its_events_are_read_late() {
    let (mut executor, node) = node();
    let _server = node.create_action_server("act", fibonacci).unwrap();
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    spin(&mut executor, async move {
        assert!(client.request_goal(goal(-1)).await.is_none());
        let aborted = client.request_goal(goal(0)).await.unwrap();
        assert_eq!(aborted.result.await, (GoalStatusCode::Aborted, result(0)));
        // Of several events that wait, the result is the last one.
        let ended = client.request_goal(goal(2)).await.unwrap();
        assert_eq!(ended.result.clone().await.0, GoalStatusCode::Succeeded);
        let kind = |event| match event {
            GoalEvent::Feedback(_) => "feedback",
            GoalEvent::Status(_) => "status",
            GoalEvent::Result(_) => "result",
        };
        let kinds: Vec<_> = ended.stream().map(kind).take(4).collect().await;
        assert_eq!(kinds, ["feedback", "feedback", "status", "result"]);
    });
}

/// The decisions of [`cancelled`] on the first requests.
const REFUSED: usize = 3;

/// Rejects some requests to cancel, and accepts one: then continues until `go_on` is dropped.
async fn cancelled(
    requested: RequestedGoal<Fibonacci>,
    go_on: oneshot::Receiver<()>,
) -> TerminatedGoal {
    let order = requested.goal().order;
    let executing = requested.accept().execute();
    assert_eq!(executing.unless_cancel_requested(ready(5)).await, Ok(5));
    let mut work = Box::pin(pending::<()>());
    for _ in 0..REFUSED {
        work = executing.until_cancel_requested(work).await.unwrap_err();
        executing.reject_cancellation();
    }
    assert!(executing.unless_cancel_requested(pending::<()>()).await.is_err());
    let cancelling = executing.begin_cancelling();
    cancelling.publish_feedback(feedback(1));
    let _ = go_on.await;
    match order {
        0 => cancelling.aborted_with(result(order)),
        1 => cancelling.succeeded_with(result(order)),
        _ => cancelling.cancelled_with(result(order)),
    }
}

#[test]
fn requests_to_cancel_are_accepted_or_rejected() {
    let (mut executor, node) = node();
    let (sender, mut going_on) = mpsc::unbounded();
    let _server = node.create_action_server("act", move |goal| {
        let (go_on, may_go_on) = oneshot::channel();
        sender.unbounded_send(go_on).unwrap();
        cancelled(goal, may_go_on)
    });
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    spin(&mut executor, async move {
        use GoalStatusCode::{Aborted, Cancelled, Succeeded};
        for (order, code) in [(0, Aborted), (1, Succeeded), (2, Cancelled)] {
            let GoalClient { cancellation, result: end, mut feedback, mut status, .. } =
                client.request_goal(goal(order)).await.unwrap();
            let go_on = going_on.next().await.unwrap();
            for _ in 0..REFUSED {
                let rejected = cancellation.cancel().await;
                assert!(rejected.is_rejected() && rejected.stamp.is_none());
            }
            let accepted = cancellation.cancel().await;
            assert!(accepted.is_accepted() && accepted.stamp.is_some());
            assert_eq!(feedback.recv().await.unwrap().sequence, [1]);
            status.wait_for(|it| it.code == GoalStatusCode::Cancelling).await.unwrap();
            assert!(cancellation.cancel().await.is_accepted());
            drop(go_on);
            assert_eq!(end.await, (code, result(order)));
            let late = cancellation.cancel().await;
            assert_eq!(late.code, CancelResponseCode::GoalTerminated);
        }
        let unknown = client.cancel_goal(GoalUuid([7; 16])).await;
        assert_eq!(unknown.code, CancelResponseCode::UnknownGoal);
    });
}

#[test]
fn a_goal_can_be_cancelled_before_its_execution_or_end_without_a_decision() {
    let (mut executor, node) = node();
    let (_server, mut goals) = collecting(&node);
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    spin(&mut executor, async move {
        let requested = client.request_goal(goal(1));
        let (asked, ended) = goals.next().await.unwrap();
        let accepted = asked.accept();
        let of_client = requested.await.unwrap();
        let cancelled = of_client.cancellation.cancel();
        assert!(accepted.unless_cancel_requested(pending::<()>()).await.is_err());
        let BeginAcceptedGoal::Cancel(cancelling) = accepted.begin() else { panic!("it executes") };
        assert!(cancelled.await.is_accepted());
        assert_eq!(cancelling.goal().order, 1);
        ended.send(cancelling.cancelled_with(result(1))).unwrap();
        assert_eq!(of_client.result.await, (GoalStatusCode::Cancelled, result(1)));

        let requested = client.request_goal(goal(2));
        let (asked, ended) = goals.next().await.unwrap();
        let executing = asked.accept().execute();
        let of_client = requested.await.unwrap();
        let undecided = of_client.cancellation.cancel();
        assert!(executing.unless_cancel_requested(pending::<()>()).await.is_err());
        // A publisher of feedback does not delay the response.
        let publisher = executing.feedback_publisher();
        ended.send(executing.succeeded_with(result(2))).unwrap();
        assert!(undecided.await.is_rejected());
        assert_eq!(publisher.publish(feedback(2)), Err(feedback(2)));
    });
}

#[test]
fn several_goals_are_pursued_and_cancelled_at_once() {
    let (mut executor, node) = node();
    // Of goal 2, the request to cancel is rejected.
    let (sender, mut executing) = mpsc::unbounded();
    let server = move |requested: RequestedGoal<Fibonacci>| {
        let sender = sender.clone();
        async move {
            let order = requested.goal().order;
            let executing = requested.accept().execute();
            sender.unbounded_send(order).unwrap();
            assert!(executing.unless_cancel_requested(pending::<()>()).await.is_err());
            if order == 2 {
                executing.reject_cancellation();
                return executing.succeeded_with(result(order));
            }
            executing.begin_cancelling().cancelled_with(result(order))
        }
    };
    let _server = node.create_action_server("act", server).unwrap();
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    let (clock, of_all) = (node.get_clock(), client.clone());
    spin(&mut executor, async move {
        let client = of_all;
        assert!(client.cancel_all_goals().await.is_rejected());
        let goals = [1, 2, 3].map(|order| client.request_goal(goal(order)));
        let ids = [0, 1, 2].map(|index: usize| *goals[index].goal_id());
        let [first, second, third] = goals;
        let (first, second, third) = join3(first, second, third).await;
        let before = first.as_ref().unwrap().stamp.clone();
        let results = [first, second, third].map(|it| it.unwrap().result);
        assert_eq!(executing.next().await, Some(1));
        // Those before the first one: none.
        let earlier = Time { sec: before.sec - 1, nanosec: 0 };
        assert!(client.cancel_goals_prior_to(earlier).await.is_rejected());
        let accepted = client.cancel_goals_prior_to(clock.now().to_ros_msg().unwrap()).await;
        assert!(accepted.is_accepted());
        let mut cancelled: Vec<_> = accepted.stamps.into_keys().collect();
        cancelled.sort();
        let mut expected = vec![ids[0], ids[2]];
        expected.sort();
        assert_eq!(cancelled, expected);
        let mut codes = Vec::new();
        for result in results {
            codes.push(result.await.0);
        }
        use GoalStatusCode::{Cancelled, Succeeded};
        assert_eq!(codes, [Cancelled, Succeeded, Cancelled]);
    });
    let all = client.cancel_all_goals();
    assert!(spin(&mut executor, all).is_rejected());
}

#[test]
fn dropped_goals_are_rejected_or_aborted() {
    let (mut executor, node) = node();
    let mut receiver = node.create_goal_receiver::<Fibonacci>("act").unwrap();
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    spin(&mut executor, async move {
        let requested = client.request_goal(goal(1));
        drop(receiver.recv().await.unwrap());
        assert!(requested.await.is_none());
        for state in 0..3 {
            let requested = client.request_goal(goal(1));
            let accepted = receiver.recv().await.unwrap().accept();
            let of_client = requested.await.unwrap();
            match state {
                0 => drop(accepted),
                1 => drop(accepted.execute()),
                _ => drop(accepted.begin_cancelling()),
            }
            assert_eq!(of_client.result.await, (GoalStatusCode::Aborted, result(0)));
        }
        // Goals that wait in a receiver are rejected with it; later ones as well.
        let (waiting, live) = (client.request_goal(goal(1)), client.request_goal(goal(2)));
        let live_goal = {
            drop(receiver.recv().await.unwrap());
            receiver.recv().await.unwrap().accept().execute()
        };
        let in_queue = client.request_goal(goal(3));
        while receiver.is_empty() {
            pause().await;
        }
        drop(receiver);
        assert!(waiting.await.is_none() && in_queue.await.is_none());
        let live = live.await.unwrap();
        assert!(client.request_goal(goal(4)).await.is_none());
        // The accepted goal runs to its end.
        live_goal.publish_feedback(feedback(2));
        live_goal.succeeded_with(result(2));
        assert_eq!(live.result.await, (GoalStatusCode::Succeeded, result(2)));
        // The server ends with that.
        assert!(client.request_goal(goal(5)).await.is_none());
        assert!(!client.server_is_available().unwrap());
    });
    // So there can be another one.
    node.create_goal_receiver::<Fibonacci>("act").unwrap();
}

#[test]
fn a_dropped_server_rejects_goals_and_pursues_its_own() {
    let (mut executor, node) = node();
    let (server, mut goals) = collecting(&node);
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    spin(&mut executor, async move {
        let requested = client.request_goal(goal(1));
        let (asked, ended) = goals.next().await.unwrap();
        let executing = asked.accept().execute();
        let of_client = requested.await.unwrap();
        drop(server);
        assert!(client.request_goal(goal(2)).await.is_none());
        assert!(goals.next().await.is_none());
        let cancelled = of_client.cancellation.cancel();
        assert!(executing.unless_cancel_requested(pending::<()>()).await.is_err());
        ended.send(executing.begin_cancelling().cancelled_with(result(1))).unwrap();
        assert!(cancelled.await.is_accepted());
        assert_eq!(of_client.result.await, (GoalStatusCode::Cancelled, result(1)));
    });
}

#[test]
fn a_client_forgets_dropped_parts_and_keeps_others() {
    let (mut executor, node) = node();
    let (_server, mut goals) = collecting(&node);
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    spin(&mut executor, async move {
        // Nothing waits for the decision.
        drop(client.request_goal(goal(1)));
        let (asked, ended) = goals.next().await.unwrap();
        ended.send(asked.accept().execute().succeeded_with(result(1))).unwrap();

        let requested = client.request_goal(goal(2));
        let (asked, ended) = goals.next().await.unwrap();
        let executing = asked.accept().execute();
        let GoalClient { feedback: mut first, status, result: end, cancellation, .. } =
            requested.await.unwrap();
        executing.publish_feedback(feedback(1));
        assert_eq!(first.recv().await, Some(feedback(1)));
        let (mut second, other_end, id) = (first.clone(), end.clone(), status.borrow().goal_id);
        drop((first, status, end, cancellation));
        executing.publish_feedback(feedback(2));
        assert_eq!(second.recv().await, Some(feedback(2)));
        ended.send(executing.succeeded_with(result(2))).unwrap();
        assert_eq!(other_end.await, (GoalStatusCode::Succeeded, result(2)));
        // A goal can be followed by its id, also later and by another client.
        assert_eq!(client.receive_result(id).await, (GoalStatusCode::Succeeded, result(2)));
        let unknown = client.receive_result(GoalUuid([7; 16])).await;
        assert_eq!(unknown, (GoalStatusCode::Unknown, result(0)));
    });
}

#[test]
fn a_server_changes_its_callback_and_becomes_a_receiver_and_back() {
    let (mut executor, node) = node();
    let server = node.create_action_server("act", fibonacci).unwrap();
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    let run = client.clone();
    let status = async move |order| match run.request_goal(goal(order)).await {
        Some(goal) => goal.result.await.0,
        None => GoalStatusCode::Unknown,
    };
    let abort = async |goal: RequestedGoal<_>| goal.accept().execute().aborted_with(result(0));
    spin(&mut executor, async move {
        assert_eq!(status(1).await, GoalStatusCode::Succeeded);
        server.set_callback(abort);
        assert_eq!(status(1).await, GoalStatusCode::Aborted);
        let mut receiver = Arc::into_inner(server).unwrap().into_goal_receiver();
        let first = client.request_goal(goal(1));
        receiver.recv().await.unwrap().accept().execute().succeeded_with(result(1));
        assert_eq!(first.await.unwrap().result.await.0, GoalStatusCode::Succeeded);
        let waiting = [4, 5, 6].map(|order| client.request_goal(goal(order)));
        while receiver.len() < waiting.len() {
            pause().await;
        }
        let orders = Arc::new(Mutex::new(Vec::new()));
        let seen = orders.clone();
        let server = receiver.into_action_server(move |requested| {
            seen.lock().unwrap().push(requested.goal().order);
            ready(requested.reject())
        });
        assert!(client.request_goal(goal(7)).await.is_none());
        for rejected in waiting {
            assert!(rejected.await.is_none());
        }
        assert_eq!(*orders.lock().unwrap(), [4, 5, 6, 7]);
        server.set_callback(fibonacci);
        assert_eq!(status(1).await, GoalStatusCode::Succeeded);
    });
}

#[test]
fn a_client_waits_for_a_server() {
    let (mut executor, node) = node();
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    assert!(!client.server_is_available().unwrap());
    // Without a server, nothing waits for ever.
    let (early, lost) = (client.request_goal(goal(1)), client.receive_result(GoalUuid([7; 16])));
    let cancelled = client.cancel_all_goals();
    let (of_node, of_client) = (node.clone(), client.clone());
    let server = spin(&mut executor, async move {
        assert!(early.await.is_none());
        assert_eq!(lost.await.0, GoalStatusCode::Unknown);
        assert!(cancelled.await.is_rejected());
        let is_ready = of_client.notify_on_server_ready();
        let server = of_node.create_action_server("act", fibonacci).unwrap();
        is_ready.await.unwrap();
        assert!(of_client.server_is_available().unwrap());
        server
    });
    spin(&mut executor, async move {
        let (requested, _server) = (client.request_goal(goal(1)), server);
        assert_eq!(requested.await.unwrap().result.await.0, GoalStatusCode::Succeeded);
    });
}

#[test]
fn goals_with_the_same_id_are_rejected() {
    let (mut executor, node) = node();
    let (_server, mut goals) = collecting(&node);
    let send = node.create_client::<Fibonacci_SendGoal>("act/_action/send_goal").unwrap();
    spin(&mut executor, async move {
        let request = |order| {
            let goal_id = UUID { uuid: [7; 16] };
            let request = Fibonacci_SendGoal_Request { goal_id, goal: goal(order) };
            let sent: Promise<Fibonacci_SendGoal_Response> = send.call(request).unwrap();
            async { sent.await.unwrap().accepted }
        };
        let (first, second) = (request(1), request(2));
        let (asked, ended) = goals.next().await.unwrap();
        assert!(!second.await);
        ended.send(asked.accept().execute().succeeded_with(result(1))).unwrap();
        assert!(first.await && !request(3).await);
    });
}

#[test]
fn goals_and_results_that_their_definitions_forbid_are_refused() {
    let (mut executor, node) = node();
    let mut receiver = node.create_goal_receiver::<LookupTransform>("look").unwrap();
    let client = node.create_action_client::<LookupTransform>("look").unwrap();
    let target_frame = "map\0".to_owned();
    let goal = LookupTransform_Goal { target_frame, ..Default::default() };
    let error = client.try_request_goal(goal).err().unwrap().to_string();
    assert!(error.contains("look/_action/send_goal") && error.contains("NUL"), "{error}");
    spin(&mut executor, async move {
        let requested = client.request_goal(LookupTransform_Goal::default());
        let executing = receiver.recv().await.unwrap().accept().execute();
        let mut forbidden = LookupTransform_Result::default();
        forbidden.transform.child_frame_id = "map\0".to_owned();
        executing.succeeded_with(forbidden);
        let (code, result) = requested.await.unwrap().result.await;
        assert_eq!((code, result), (GoalStatusCode::Aborted, LookupTransform_Result::default()));
    });
}

#[test]
fn actions_with_a_wrong_name_or_type_or_a_second_server_are_refused() {
    let (_executor, node) = node();
    let error = node.create_action_client::<Fibonacci>("a b").err().unwrap().to_string();
    assert!(error.contains("a b"), "{error}");
    let server = node.create_action_server("act", fibonacci).unwrap();
    let own = node.create_action_server("{node}/act", fibonacci).unwrap();
    let error = node.create_action_server("~/act", fibonacci).err().unwrap().to_string();
    assert!(error.contains("/node/act/_action/"), "{error}");
    drop(own);
    let error = node.create_action_server("act", fibonacci).err().unwrap().to_string();
    assert!(error.contains("/act/_action/"), "{error}");
    let error = node.create_action_client::<LookupTransform>("act").err().unwrap().to_string();
    assert!(error.contains("has type example_interfaces/action/Fibonacci"), "{error}");
    drop(server);
    node.create_action_server("act", fibonacci).unwrap();
}

#[test]
fn codes_of_other_processes_have_the_nearest_meaning() {
    assert_eq!(GoalStatusCode::from(5), GoalStatusCode::Cancelled);
    assert_eq!(GoalStatusCode::from(7), GoalStatusCode::Unknown);
    assert_eq!(CancelResponseCode::from(3), CancelResponseCode::GoalTerminated);
    assert_eq!(CancelResponseCode::from(-1), CancelResponseCode::Reject);
    let id = GoalUuid(std::array::from_fn(|n| n as u8));
    assert_eq!(id.to_string(), "00010203-0405-0607-0809-0a0b0c0d0e0f");
}

/// The events of goals that run side by side, one of which is cancelled by the clock of the server,
/// and of a result that is forgotten.
fn log_of_goals() -> Vec<String> {
    let (mut executor, node) = node();
    let options = "act".goal_expiration_timeout(Duration::from_secs(10));
    let _server =
        node.create_action_server(options, async |requested: RequestedGoal<Fibonacci>| {
            let order = requested.goal().order;
            let executing = requested.accept().execute();
            for count in 1..=order {
                executing.publish_feedback(feedback(count));
                if executing.unless_cancel_requested(pause()).await.is_err() {
                    return executing.begin_cancelling().cancelled_with(result(count));
                }
            }
            executing.succeeded_with(result(order))
        });
    let client = node.create_action_client::<Fibonacci>("act").unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut ids = Vec::new();
    for order in [3, 5, 4000] {
        let requested = client.request_goal(goal(order));
        ids.push(*requested.goal_id());
        let (log, is_long) = (log.clone(), order > 5);
        let _running = executor.commands().run(async move {
            let of_client = requested.await.unwrap();
            if is_long {
                of_client.cancellation.cancel().await;
            }
            let mut stream = of_client.stream();
            while let Some(event) = stream.next().await {
                let (text, has_ended) = match event {
                    GoalEvent::Feedback(feedback) => (format!("{:?}", feedback.sequence), false),
                    GoalEvent::Status(status) => {
                        (format!("{:?} {:?}", status.code, status.stamp), false)
                    }
                    GoalEvent::Result((code, result)) => (format!("{code:?} {result:?}"), true),
                };
                log.lock().unwrap().push(format!("{order}: {text}"));
                if has_ended {
                    return;
                }
            }
        });
    }
    for seconds in [1, 8, 2] {
        let options = SpinOptions::new().timeout(Duration::from_secs(seconds));
        executor.spin(options).timeout_ok().first_error().unwrap();
        let known = spin(&mut executor, client.receive_result(ids[0]));
        log.lock().unwrap().push(format!("{known:?}"));
    }
    let cancel = node.create_client::<CancelGoal>("act/_action/cancel_goal").unwrap();
    let forgotten: Promise<CancelGoal_Response> =
        cancel.call(CancelGoal_Request::default()).unwrap();
    let forgotten = spin(&mut executor, forgotten).unwrap();
    log.lock().unwrap().push(format!("{forgotten:?} {ids:?}"));
    Arc::into_inner(log).unwrap().into_inner().unwrap()
}

#[test]
fn simulated_goals_have_the_same_events_in_every_run() {
    let run = || ringspin_simulated_threads::run(log_of_goals).unwrap();
    let log = run();
    let known = "(Succeeded, Fibonacci_Result { sequence: [1, 1, 2] })";
    assert_eq!(log.iter().filter(|line| *line == known).count(), 2, "{log:#?}");
    assert!(log.iter().any(|line| line.starts_with("(Unknown, ")), "{log:#?}");
    assert!(log.iter().any(|line| line.starts_with("4000: Cancelled ")), "{log:#?}");
    assert_eq!(log, run());
}

#[test]
fn a_greater_depth_of_its_services_raises_the_limits_of_an_action() {
    const REQUESTS: usize = 1100;
    let (_executor, node) = node();
    let deep = QoSProfile::services_default().keep_last(REQUESTS as u32);
    let mut options = ActionServerOptions::new("act");
    options.goal_service_qos = deep;
    options.result_service_qos = deep;
    options.cancel_service_qos = deep;
    let _server = node.create_action_server(options, fibonacci).unwrap();
    let mut options = ActionClientOptions::new("act");
    options.goal_service_qos = deep;
    options.result_service_qos = deep;
    options.cancel_service_qos = deep;
    let client = node.create_action_client::<Fibonacci>(options).unwrap();
    let counts = |mut request: Box<dyn FnMut() -> bool>| (0..=REQUESTS).position(|_| !request());
    let id = GoalUuid([1; 16]);
    let (of_goals, of_results, of_cancels) = (client.clone(), client.clone(), client);
    let counted = [
        counts(Box::new(move || of_goals.try_request_goal(goal(1)).is_ok())),
        counts(Box::new(move || of_results.try_receive_result(id).is_ok())),
        counts(Box::new(move || of_cancels.try_cancel_goal(id).is_ok())),
    ];
    assert_eq!(counted, [Some(REQUESTS); 3]);
}
