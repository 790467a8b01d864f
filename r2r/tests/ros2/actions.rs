//! Actions: goals of the peer for servers of this process, and the other way round.

use crate::{Peer, Result, node, peer, spin, unique, within};
use futures::{Stream, StreamExt, TryFutureExt};
use r2r::test_msgs::action::Fibonacci::{Action, Feedback, Goal, Result as Sequence};
use r2r::{ActionServerGoalRequest, Error, GoalStatus, IsAvailablePollable, Node};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

const FIBONACCI: &str = "test_msgs/action/Fibonacci";

/// The goal that is told of until the peer has heard it.
const TELLING: i32 = 20;
const ABORTED: i32 = 13;
const CANCELED: i32 = 50;

/// Accepts goals from 1 on.
async fn serve(
    mut requests: impl Stream<Item = ActionServerGoalRequest<Action>> + Unpin,
    is_heard: Arc<Notify>,
) {
    while let Some(request) = requests.next().await {
        match request.goal.order {
            1.. => drop(tokio::spawn(pursue(request, is_heard.clone()))),
            _ => request.reject().unwrap(),
        }
    }
}

async fn pursue(request: ActionServerGoalRequest<Action>, is_heard: Arc<Notify>) {
    let (mut goal, mut cancel_requests) = request.accept().unwrap();
    let order = goal.goal.order;
    let result = Sequence { sequence: (0..order).collect() };
    match order {
        TELLING => {
            let mut is_heard = std::pin::pin!(is_heard.notified());
            let period = Duration::from_millis(5);
            while tokio::time::timeout(period, is_heard.as_mut()).await.is_err() {
                goal.publish_feedback(Feedback { sequence: vec![4, 2] }).unwrap();
            }
            goal.succeed(result).unwrap();
        }
        ABORTED => goal.abort(result).unwrap(),
        CANCELED => {
            cancel_requests.next().await.unwrap().accept();
            assert!(goal.is_cancelling().unwrap());
            goal.cancel(result).unwrap();
        }
        _ => goal.succeed(result).unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_of_the_peer_are_served() -> Result {
    let (action, is_heard) = (unique("served"), Arc::<Notify>::default());
    let mut node = node("serves")?;
    tokio::spawn(serve(node.create_action_server::<Action>(&action)?, is_heard.clone()));
    let _spinning = spin(node);
    let mut peer = peer("wishes");
    let status = format!("{action}/_action/status");
    peer.ask(json!({"do": "subscribe", "topic": status, "type": "action_msgs/msg/GoalStatusArray",
        "qos": {"durability": "transient_local", "depth": 1}}));
    let goal = |order: i32, cancel: bool| {
        json!({"do": "goal", "name": action, "type": FIBONACCI, "value": {"order": order},
            "cancel": cancel})
    };
    let numbers = |order: i32| json!({"sequence": (0..order).collect::<Vec<_>>()});
    let ends = |status: GoalStatus, order: i32| {
        json!({"accepted": true, "status": status.to_rcl(), "feedback": [],
            "result": numbers(order)})
    };
    assert_eq!(peer.ask(goal(6, false)), ends(GoalStatus::Succeeded, 6));
    assert_eq!(peer.ask(goal(-1, false)), json!({"accepted": false}));
    assert_eq!(peer.ask(goal(ABORTED, false)), ends(GoalStatus::Aborted, ABORTED));
    assert_eq!(peer.ask(goal(CANCELED, true)), ends(GoalStatus::Canceled, CANCELED));
    let telling = peer.tell(goal(TELLING, false));
    peer.ask(json!({"do": "feedback", "name": action}));
    is_heard.notify_one();
    let told = peer.answer(telling);
    assert_eq!((&told["status"], &told["result"]), (&json!(4), &numbers(TELLING)));
    assert_eq!(told["feedback"][0], json!({"sequence": [4, 2]}));
    let all_have_ended = |message: &Value| {
        let codes = message["status_list"].as_array().unwrap().iter();
        let codes: Vec<_> = codes.map(|goal| goal["status"].as_i64().unwrap()).collect();
        codes == [4, 6, 5, 4]
    };
    while !peer
        .ask(json!({"do": "received", "topic": status}))
        .as_array()
        .is_some_and(|messages| messages.iter().any(all_have_ended))
    {}
    Ok(())
}

/// The end of a goal: its status, result and feedback.
type Outcome = std::result::Result<(GoalStatus, Value, Vec<Value>), Error>;

/// Has the peer serve an action as `offer` says; returns its name.
fn offer(peer: &mut Peer, name: &str, mut offer: Value) -> String {
    let action = unique(name);
    (offer["do"], offer["name"]) = (json!("action_server"), json!(action));
    offer["type"] = json!(FIBONACCI);
    peer.ask(offer);
    action
}

/// Waits until `client` and the peer's server of `action` have found each other.
async fn meet(peer: &mut Peer, action: &str, client: &dyn IsAvailablePollable) -> Result {
    within(Node::is_available(client)?).await?;
    for service in ["send_goal", "cancel_goal", "get_result"] {
        let name = format!("{action}/_action/{service}");
        peer.ask(json!({"do": "client_matched", "name": name}));
    }
    Ok(())
}

/// The outcome of a goal after `after` messages of feedback: then it is canceled, or `finish`ed by
/// the peer.
async fn outcome(
    mut feedback: impl Stream<Item = Value> + Unpin,
    after: usize,
    cancel: Option<impl Future<Output = std::result::Result<(), Error>>>,
    finish: impl FnOnce(),
    result: impl Future<Output = std::result::Result<(GoalStatus, Value), Error>>,
) -> Outcome {
    let mut told = Vec::new();
    while told.len() < after {
        told.push(within(feedback.next()).await.unwrap());
    }
    match cancel {
        Some(cancel) => within(cancel).await?,
        None => finish(),
    }
    let (status, result) = within(result).await?;
    Ok((status, result, told))
}

/// The outcome of a goal of this process for a server as `of` offers it.
async fn typed(
    peer: &mut Peer,
    name: &str,
    of: Value,
    after: usize,
    cancels: bool,
) -> Result<Outcome> {
    let action = offer(peer, name, of);
    let mut node = node(&format!("sends_{name}"))?;
    let client = node.create_action_client::<Action>(&action)?;
    let _spinning = spin(node);
    meet(peer, &action, &client).await?;
    let (goal, result, feedback) = match within(client.send_goal_request(Goal { order: 3 })?).await
    {
        Ok(sent) => sent,
        Err(error) => return Ok(Err(error)),
    };
    let finish = || drop(peer.ask(json!({"do": "finish", "name": action})));
    let cancel = cancels.then(|| goal.cancel()).transpose()?;
    let result = result.map_ok(|(status, result)| (status, json!(result)));
    let outcome = outcome(feedback.map(|it| json!(it)), after, cancel, finish, result).await?;
    assert_eq!(goal.get_status()?, outcome.0);
    Ok(Ok(outcome))
}

/// Same as [`typed`], with an untyped client.
async fn untyped(
    peer: &mut Peer,
    name: &str,
    of: Value,
    after: usize,
    cancels: bool,
) -> Result<Outcome> {
    let action = offer(peer, name, of);
    let mut node = node(&format!("sends_{name}"))?;
    let client = node.create_action_client_untyped(&action, FIBONACCI)?;
    let _spinning = spin(node);
    meet(peer, &action, &client).await?;
    let sent = within(client.send_goal_request(json!({"order": 3}))?).await;
    let (goal, result, feedback) = match sent {
        Ok(sent) => sent,
        Err(error) => return Ok(Err(error)),
    };
    let finish = || drop(peer.ask(json!({"do": "finish", "name": action})));
    let cancel = cancels.then(|| goal.cancel()).transpose()?;
    let result = result.map_ok(|(status, result)| (status, result.unwrap()));
    let outcome = outcome(feedback.map(|it| it.unwrap()), after, cancel, finish, result).await?;
    assert_eq!(goal.get_status()?, outcome.0);
    Ok(Ok(outcome))
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_are_pursued_by_the_peer() -> Result {
    let mut peer = peer("serves_actions");
    let feedback = [json!({"sequence": [0, 1]}), json!({"sequence": [0, 1, 1]})];
    let numbers = |numbers: &[i32]| json!({"sequence": numbers});
    let plain = json!({"feedback": feedback, "result": {"sequence": [7, 8]}, "waits": true});
    let holding = json!({"feedback": feedback, "result": {"sequence": [9]}, "hold": true});
    let aborting = json!({"abort": true, "result": {"sequence": [5]}});
    let succeeds = (GoalStatus::Succeeded, numbers(&[7, 8]), feedback.to_vec());
    let canceled = (GoalStatus::Canceled, numbers(&[9]), vec![]);
    let aborted = (GoalStatus::Aborted, numbers(&[5]), vec![]);
    assert_eq!(typed(&mut peer, "plain", plain.clone(), 2, false).await??, succeeds);
    assert_eq!(typed(&mut peer, "holding", holding.clone(), 0, true).await??, canceled);
    assert_eq!(typed(&mut peer, "aborting", aborting.clone(), 0, false).await??, aborted);
    let rejected = typed(&mut peer, "rejecting", json!({"accept": false}), 0, false).await?;
    assert!(matches!(rejected, Err(Error::RCL_RET_ACTION_GOAL_REJECTED)));
    assert_eq!(untyped(&mut peer, "untyped_plain", plain, 2, false).await??, succeeds);
    assert_eq!(untyped(&mut peer, "untyped_holding", holding, 0, true).await??, canceled);
    assert_eq!(untyped(&mut peer, "untyped_aborting", aborting, 0, false).await??, aborted);
    let rejected =
        untyped(&mut peer, "untyped_rejecting", json!({"accept": false}), 0, false).await?;
    assert!(matches!(rejected, Err(Error::RCL_RET_ACTION_GOAL_REJECTED)));
    Ok(())
}
