//! Actions as applications use them, on the runtimes that they use, within one process.

use Fibonacci::{Action, Feedback, FeedbackMessage, GetResult, Goal, Result as Sequence, SendGoal};
use futures::channel::oneshot;
use futures::executor::{LocalPool, block_on};
use futures::future::join;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, Stream, StreamExt};
use r2r::action_msgs::msg::{GoalInfo, GoalStatusArray};
use r2r::action_msgs::srv::CancelGoal;
#[cfg(not(ros_is_sourced))]
use r2r::example_interfaces::action::Fibonacci;
// The same; a sourced ROS 2 need not have the other one.
#[cfg(ros_is_sourced)]
use r2r::test_msgs::action::Fibonacci;
use r2r::unique_identifier_msgs::msg::UUID;
use r2r::uuid::Uuid;
use r2r::{
    ActionClient, ActionServerGoal, ActionServerGoalRequest, Context, Error, GoalStatus, Node,
    QosProfile,
};
use ringspin_messages::RosAction;
use std::pin::pin;
use std::time::Duration;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const STEP: Duration = Duration::from_millis(100);

fn node(name: &str) -> Result<Node> {
    Ok(Node::create(Context::create()?, name, "")?)
}

fn sequence(order: i32) -> Vec<i32> {
    (0..order).collect()
}

fn result(order: i32) -> Sequence {
    Sequence { sequence: sequence(order) }
}

/// A node with a client and a server of one action.
fn ends(
    name: &str,
) -> Result<(
    Node,
    ActionClient<Action>,
    impl Stream<Item = ActionServerGoalRequest<Action>> + Unpin + use<>,
)> {
    let mut node = node(name)?;
    let requests = node.create_action_server::<Action>(&format!("{name}/act"))?;
    let client = node.create_action_client::<Action>(&format!("{name}/act"))?;
    Ok((node, client, requests))
}

fn publish(goal: &ActionServerGoal<Action>, order: i32) {
    goal.publish_feedback(Feedback { sequence: sequence(order) }).unwrap();
}

#[test]
fn goals_are_accepted_later_by_another_task() -> Result {
    let (mut node, client, mut requests) = ends("later")?;
    let (mut pool, (sender, request)) = (LocalPool::new(), oneshot::channel());
    let spawner = pool.spawner();
    spawner.spawn_local(async move {
        let (first, second) = (requests.next().await.unwrap(), requests.next().await.unwrap());
        // The second goal is decided first, and ends first.
        let (mut goal, _cancel) = second.accept().unwrap();
        publish(&goal, 2);
        goal.succeed(result(goal.goal.order)).unwrap();
        assert!(sender.send(first).is_ok());
    })?;
    let mut timer = node.create_wall_timer(Duration::from_millis(5))?;
    spawner.spawn_local(async move {
        let request: ActionServerGoalRequest<Action> = request.await.unwrap();
        timer.tick().await.unwrap();
        let (mut goal, _cancel) = request.accept().unwrap();
        for order in 1..=20 {
            publish(&goal, order);
        }
        goal.abort(result(goal.goal.order)).unwrap();
        assert!(matches!(goal.succeed(result(0)), Err(Error::RCL_RET_ACTION_GOAL_EVENT_INVALID)));
    })?;
    let run = |order| {
        let sent = client.send_goal_request(Goal { order }).unwrap();
        async move {
            let (goal, result, feedback) = sent.await.unwrap();
            // No pinning, as in r2r.
            let (status, result) = movable(result).await.unwrap();
            assert_eq!(goal.get_status().unwrap(), status);
            let feedback: Vec<_> = feedback.map(|feedback| feedback.sequence.len()).collect().await;
            (status, result.sequence.len(), feedback)
        }
    };
    let both = spawner.spawn_local_with_handle(join(run(7), run(8)))?;
    let mut both = std::pin::pin!(both);
    let (first, second) = loop {
        node.spin_once(STEP);
        pool.run_until_stalled();
        if let Some(both) = both.as_mut().now_or_never() {
            break both;
        }
    };
    assert_eq!(first, (GoalStatus::Aborted, 7, (1..=20).collect()));
    assert_eq!(second, (GoalStatus::Succeeded, 8, vec![2]));
    Ok(())
}

/// Goals and results that another process could not get. Only where no ROS 2 is sourced, which need
/// not have the action.
#[cfg(not(ros_is_sourced))]
#[test]
fn goals_and_results_that_their_definitions_forbid_are_refused() -> Result {
    use r2r::geometry_msgs::msg::TransformStamped;
    use r2r::tf2_msgs::action::LookupTransform as Lookup;
    let mut node = node("forbidden")?;
    let mut requests = node.create_action_server::<Lookup::Action>("forbidden/look")?;
    let client = node.create_action_client::<Lookup::Action>("forbidden/look")?;
    let named =
        node.create_action_client_untyped("forbidden/look", "tf2_msgs/action/LookupTransform")?;
    let cut = || "map\0".to_owned();
    let refused = |result: r2r::Result<()>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::SerdeError { .. }), "{error}");
        assert!(error.to_string().contains("a string has a NUL"), "{error}");
    };
    let goal = Lookup::Goal { target_frame: cut(), ..Default::default() };
    refused(client.send_goal_request(goal.clone()).map(drop));
    refused(named.send_goal_request(serde_json::to_value(&goal)?).map(drop));
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    spawner.spawn_local(async move {
        let (mut goal, _cancel) = requests.next().await.unwrap().accept().unwrap();
        let transform = TransformStamped { child_frame_id: cut(), ..Default::default() };
        refused(goal.succeed(Lookup::Result { transform, ..Default::default() }));
        goal.abort(Lookup::Result::default()).unwrap(); // it has not ended before
    })?;
    let sent = client.send_goal_request(Lookup::Goal::default())?;
    let run = spawner.spawn_local_with_handle(async move {
        let (_, result, _) = sent.await.unwrap();
        result.await.unwrap().0
    })?;
    let mut run = pin!(run);
    let status = loop {
        node.spin_once(STEP);
        pool.run_until_stalled();
        if let Some(status) = run.as_mut().now_or_never() {
            break status;
        }
    };
    assert_eq!(status, GoalStatus::Aborted);
    Ok(())
}

fn movable<F: Future + Unpin>(future: F) -> F {
    future
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_to_cancel_are_accepted_or_rejected() -> Result {
    let (node, client, mut requests) = ends("cancelling")?;
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            if request.goal.order < 0 {
                request.reject().unwrap();
                continue;
            }
            tokio::spawn(async move {
                let order = request.goal.order;
                let (mut goal, mut cancel) = request.accept().unwrap();
                publish(&goal, order);
                assert!(!goal.is_cancelling().unwrap());
                cancel.next().await.unwrap().reject();
                let again = cancel.next().await.unwrap();
                assert_eq!(again.uuid, goal.uuid);
                again.accept();
                assert!(goal.is_cancelling().unwrap());
                match order {
                    0 => goal.succeed(result(order)).unwrap(),
                    _ => goal.cancel(result(order)).unwrap(),
                }
                assert!(cancel.next().await.is_none());
            });
        }
    });
    let rejected = client.send_goal_request(Goal { order: -1 })?.await;
    assert!(matches!(rejected, Err(Error::RCL_RET_ACTION_GOAL_REJECTED)));
    for (order, status) in [(0, GoalStatus::Succeeded), (3, GoalStatus::Canceled)] {
        let (goal, end, mut feedback) = client.send_goal_request(Goal { order })?.await?;
        assert_eq!(feedback.next().await.unwrap().sequence, sequence(order));
        let goal = tokio::spawn(async move {
            assert!(matches!(goal.cancel().unwrap().await, Err(Error::GoalCancelRejected)));
            goal.cancel().unwrap().await.unwrap();
            goal
        });
        assert_eq!(end.await?, (status, result(order)));
        let goal = goal.await?;
        assert_eq!(goal.get_status()?, status);
        let late = goal.cancel()?.await;
        assert!(matches!(late, Err(Error::GoalCancelAlreadyTerminated)));
    }
    drop(node);
    Ok(())
}

#[test]
fn an_untyped_client_meets_a_typed_server() -> Result {
    let (mut node, _, mut requests) = ends("untyped")?;
    let kind = <Action as RosAction>::TYPE_NAME;
    let client = node.create_action_client_untyped("untyped/act", kind)?;
    let unknown = node.create_action_client_untyped("untyped/act", &kind.replace("Fib", "Fob"));
    let error = unknown.err().unwrap().to_string();
    assert!(error.contains(kind), "{error}");
    let available = Node::is_available(&client)?;
    let misspelled = client.send_goal_request(serde_json::json!({ "order": "5" })).err();
    assert!(matches!(misspelled, Some(Error::SerdeError { .. })));
    let sent = client.send_goal_request(serde_json::json!({ "order": 2 }))?;
    let serve = async {
        let (mut goal, _cancel) = requests.next().await.unwrap().accept().unwrap();
        publish(&goal, goal.goal.order);
        goal.succeed(result(3)).unwrap();
    };
    let call = async {
        available.await.unwrap();
        let (goal, result, feedback) = sent.await.unwrap();
        let (status, result) = result.await.unwrap();
        assert_eq!((status, goal.get_status().unwrap()), (GoalStatus::Succeeded, status));
        assert_eq!(result.unwrap(), serde_json::json!({ "sequence": [0, 1, 2] }));
        let feedback: Vec<_> = feedback.map(|feedback| feedback.unwrap()).collect().await;
        assert_eq!(feedback, [serde_json::json!({ "sequence": [0, 1] })]);
    };
    let mut both = pin!(join(serve, call));
    while both.as_mut().now_or_never().is_none() {
        node.spin_once(STEP);
    }
    Ok(())
}

#[test]
fn a_goal_ends_with_the_node_of_its_server_or_client() -> Result {
    let (client_node, _, _requests) = ends("caller")?;
    let mut client_node = client_node;
    let mut server_node = node("ending")?;
    let mut requests = server_node.create_action_server::<Action>("ending/act")?;
    let client = client_node.create_action_client::<Action>("ending/act")?;
    let own = client_node.create_action_client::<Action>("caller/act")?;
    let unanswered = own.send_goal_request(Goal { order: 1 })?;
    let sent = client.send_goal_request(Goal { order: 1 })?;
    let (goal, mut cancel) = block_on(requests.next()).unwrap().accept()?;
    let (handle, end, mut feedback) = block_on(sent)?;
    let canceled = handle.cancel()?;
    let cancel_request = block_on(cancel.next()).unwrap();
    drop(server_node);
    assert!(block_on(end).is_err());
    cancel_request.accept();
    assert!(block_on(canceled).is_err());
    assert!(block_on(requests.next()).is_none());
    assert!(block_on(cancel.next()).is_none());
    assert!(block_on(feedback.next()).is_none());
    let error = goal.is_cancelling().unwrap_err();
    assert!(matches!(error, Error::RCL_RET_ACTION_SERVER_INVALID), "{error}");
    let error = goal.publish_feedback(Feedback::default()).unwrap_err();
    assert!(matches!(error, Error::RCL_RET_ACTION_SERVER_INVALID), "{error}");
    drop(client_node);
    assert!(matches!(block_on(unanswered), Err(Error::RCL_RET_ACTION_CLIENT_INVALID)));
    assert!(matches!(handle.get_status(), Err(Error::RCL_RET_ACTION_CLIENT_INVALID)));
    assert!(client.send_goal_request(Goal { order: 1 }).is_err());
    Ok(())
}

#[test]
fn what_the_server_drops_ends() -> Result {
    let (node, client, mut requests) = ends("dropping")?;
    let sent = client.send_goal_request(Goal { order: 1 })?;
    drop(block_on(requests.next()));
    assert!(matches!(block_on(sent), Err(Error::RCL_RET_ACTION_GOAL_REJECTED)));
    let sent = client.send_goal_request(Goal { order: 1 })?;
    let (goal, cancel) = block_on(requests.next()).unwrap().accept()?;
    let (handle, end, _) = block_on(sent)?;
    drop(cancel);
    assert!(matches!(block_on(handle.cancel()?), Err(Error::GoalCancelRejected)));
    let other = goal.clone();
    drop(goal);
    assert!(!other.is_cancelling()?);
    drop(other);
    assert_eq!(block_on(end)?, (GoalStatus::Aborted, Sequence::default()));
    let sent = client.send_goal_request(Goal { order: 1 })?;
    let (goal, mut cancel) = block_on(requests.next()).unwrap().accept()?;
    let (handle, end, _) = block_on(sent)?;
    let canceled = handle.cancel()?;
    block_on(cancel.next()).unwrap().accept();
    block_on(canceled)?;
    drop(goal);
    assert_eq!(block_on(end)?.0, GoalStatus::Canceled);
    drop(node);
    Ok(())
}

#[test]
fn a_server_is_available_once_all_its_five_ends_are_there() -> Result {
    let mut node = node("five")?;
    let client = node.create_action_client::<Action>("five/act")?;
    let mut available = Node::is_available(&client)?;
    let name = |part| format!("five/act/_action/{part}");
    let qos = QosProfile::default;
    let mut is_available = |node: &mut Node| {
        node.spin_once(Duration::ZERO);
        (&mut available).now_or_never().is_some()
    };
    let _send = node.create_service::<SendGoal::Service>(&name("send_goal"), qos())?;
    let _cancel = node.create_service::<CancelGoal::Service>(&name("cancel_goal"), qos())?;
    let _result = node.create_service::<GetResult::Service>(&name("get_result"), qos())?;
    assert!(!is_available(&mut node));
    let _feedback = node.create_publisher::<FeedbackMessage>(&name("feedback"), qos())?;
    assert!(!is_available(&mut node));
    let status = qos().transient_local();
    let _status = node.create_publisher::<GoalStatusArray>(&name("status"), status)?;
    assert!(is_available(&mut node));
    Ok(())
}

#[test]
fn each_change_is_published_on_the_status_topic() -> Result {
    let (mut node, client, mut requests) = ends("status")?;
    let qos = QosProfile::default().transient_local();
    let statuses = node.subscribe::<GoalStatusArray>("status/act/_action/status", qos)?;
    let sent = client.send_goal_request(Goal { order: 1 })?;
    let (mut goal, mut cancel) = block_on(requests.next()).unwrap().accept()?;
    let (handle, end, _) = block_on(sent)?;
    let canceled = handle.cancel()?;
    block_on(cancel.next()).unwrap().accept();
    block_on(canceled)?;
    let sent = client.send_goal_request(Goal { order: 2 })?;
    let (mut other, _cancel) = block_on(requests.next()).unwrap().accept()?;
    let _other = block_on(sent)?;
    goal.cancel(result(1))?;
    other.succeed(result(2))?;
    block_on(end)?;
    let published = statuses.take(5).map(|message| {
        let of = |goal: &r2r::action_msgs::msg::GoalStatus| goal.goal_info.goal_id.uuid.clone();
        let ids: Vec<_> = message.status_list.iter().map(of).collect();
        let all = [goal.uuid, other.uuid].map(|uuid| uuid.as_bytes().to_vec());
        assert_eq!(ids, all[..ids.len()]);
        let statuses = message.status_list.iter().map(|goal| GoalStatus::from_rcl(goal.status));
        statuses.collect::<Vec<_>>()
    });
    use GoalStatus::{Canceled, Canceling, Executing, Succeeded};
    assert_eq!(
        block_on(published.collect::<Vec<_>>()),
        [
            vec![Executing],
            vec![Canceling],
            vec![Canceling, Executing],
            vec![Canceled, Executing],
            vec![Canceled, Succeeded]
        ]
    );
    Ok(())
}

fn request(uuid: Uuid, order: i32) -> SendGoal::Request {
    let goal_id = UUID { uuid: uuid.as_bytes().to_vec() };
    SendGoal::Request { goal_id, goal: Goal { order } }
}

#[test]
fn a_second_goal_with_the_same_id_is_rejected() -> Result {
    let (mut node, _, mut requests) = ends("same")?;
    let qos = QosProfile::services_default();
    let send = node.create_client::<SendGoal::Service>("same/act/_action/send_goal", qos)?;
    let uuid = Uuid::new_v4();
    let sent = [1, 2].map(|order| send.request(&request(uuid, order)).unwrap());
    let (first, second) = (block_on(requests.next()).unwrap(), block_on(requests.next()).unwrap());
    assert_eq!((first.uuid, second.uuid), (uuid, uuid));
    let (mut goal, _cancel) = first.accept()?;
    assert!(second.accept().is_err());
    goal.succeed(result(1))?;
    let third = block_on(send.request(&request(uuid, 3))?)?;
    let accepted: Vec<_> = sent.into_iter().map(|sent| block_on(sent).unwrap().accepted).collect();
    assert_eq!((accepted, third.accepted), (vec![true, false], false));
    Ok(())
}

/// The log of goals that are canceled by id and by time, and of the time at which their results
/// are forgotten.
fn cancel_and_forget() -> Result<Vec<String>> {
    let (mut node, client, mut requests) = ends("simulated")?;
    let (mut log, qos) = (Vec::new(), QosProfile::services_default());
    let name = |part| format!("simulated/act/_action/{part}");
    let get = node.create_client::<GetResult::Service>(&name("get_result"), qos.clone())?;
    let cancel = node.create_client::<CancelGoal::Service>(&name("cancel_goal"), qos)?;
    let (mut goals, mut cancels, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for order in 0..4 {
        let sent = client.send_goal_request(Goal { order })?;
        let (goal, cancel) = block_on(requests.next()).unwrap().accept()?;
        goals.push(goal);
        cancels.push(cancel);
        ends.push(block_on(sent)?.1);
        std::thread::sleep(Duration::from_secs(1));
    }
    // By time: those of the first two seconds; and by id: the last one.
    let now = r2r::Clock::create(r2r::ClockType::RosTime)?.get_now()?;
    let stamp = r2r::Clock::to_builtin_time(&(now - Duration::from_millis(2500)));
    let goal_id = UUID { uuid: goals[3].uuid.as_bytes().to_vec() };
    for goal_info in [
        GoalInfo { goal_id: goal_id.clone(), stamp },
        GoalInfo { goal_id, ..GoalInfo::default() },
        GoalInfo::default(),
        GoalInfo { goal_id: UUID { uuid: vec![7; 16] }, ..GoalInfo::default() },
    ] {
        let answer = cancel.request(&CancelGoal::Request { goal_info })?;
        std::thread::sleep(Duration::from_millis(10));
        for cancel in &mut cancels {
            if let Some(Some(request)) = cancel.next().now_or_never() {
                request.accept();
            }
        }
        let answer = block_on(answer)?;
        let position = |id: &[u8]| goals.iter().position(|goal| goal.uuid.as_bytes()[..] == *id);
        let canceling = answer.goals_canceling.iter();
        let canceling: Vec<_> =
            canceling.map(|goal| position(&goal.goal_id.uuid).unwrap()).collect();
        log.push(format!("{} {canceling:?}", answer.return_code));
    }
    goals[0].succeed(result(3))?;
    log.push(format!("{:?}", block_on(ends.remove(0))?));
    for pause in [0, 9, 2] {
        std::thread::sleep(Duration::from_secs(pause));
        let goal_id = UUID { uuid: goals[0].uuid.as_bytes().to_vec() };
        let answer = block_on(get.request(&GetResult::Request { goal_id })?)?;
        log.push(format!("{} {:?}", answer.status, answer.result.sequence));
    }
    let forgotten = goals[0].abort(result(1));
    assert!(matches!(forgotten, Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID)));
    log.extend(goals.iter().map(|goal| goal.uuid.to_string()));
    Ok(log)
}

fn simulated() -> Vec<String> {
    let run = || cancel_and_forget().map_err(|error| error.to_string());
    ringspin_simulated_threads::run(run).unwrap().unwrap()
}

#[test]
fn results_are_forgotten_after_ten_seconds() {
    let log = simulated();
    let expected = [
        "0 [0, 1, 3]",
        "3 []",
        "0 [2]",
        "2 []",
        "(Succeeded, Result { sequence: [0, 1, 2] })",
        "4 [0, 1, 2]",
        "4 [0, 1, 2]",
        "0 []",
    ];
    assert_eq!(log[..expected.len()], expected);
    assert_eq!(log, simulated());
}
