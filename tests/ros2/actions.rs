//! Actions: the peer's goals for our server, ours for the peer's, and both of one graph.

use crate::{LIVE, LONG, Peer, Spinning, executor, on, ros2, subscribe, unique, unique_to, wait};
use ringspin::Executor;
use ringspin::action::{
    ActionClientOptions, ActionServerOptions, CancelResponse, GoalHandle, GoalResponse, GoalStatus,
    SendGoalError,
};
use ringspin::ros2::Traffic;
use ringspin_test_msgs::test_msgs::action::Fibonacci;
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub(crate) const FIBONACCI: &str = "test_msgs/action/Fibonacci";

pub(crate) type Action = Fibonacci::Action;

/// A goal on its way.
struct Sequence {
    handle: GoalHandle<Action>,
    numbers: Vec<i32>,
}

impl Sequence {
    /// Adds a number, and says so; the goal of 13 brings bad luck.
    fn advance(&mut self) {
        let (handle, numbers) = (&self.handle, &mut self.numbers);
        numbers.push(match numbers[..] {
            [.., a, b] => a + b,
            _ => numbers.len() as i32,
        });
        let sequence = numbers.clone();
        let result = Fibonacci::Result { sequence: sequence.clone() };
        let order = handle.goal().order as usize;
        match numbers.len() {
            _ if handle.is_canceling() => handle.canceled(result).unwrap(),
            3 if order == 13 => handle.abort(result).unwrap(),
            len if len == order => handle.succeed(result).unwrap(),
            // More than anybody needs: it waits for its cancellation.
            len if len > 20 => {}
            _ => handle.publish_feedback(Fibonacci::Feedback { sequence }).unwrap(),
        }
    }
}

/// A node that counts as far as it is asked to, up to 50.
pub(crate) fn serve(executor: &Executor, action: &str) {
    let node = executor.create_node("mathematician", Vec::<Sequence>::new()).unwrap();
    node.create_action_server::<Action, _>(
        action,
        ActionServerOptions::default(),
        |_, goal, _| match goal.order {
            1..=50 => GoalResponse::Accept,
            _ => GoalResponse::Reject,
        },
        |_, _, _| CancelResponse::Accept,
        |sequences, handle, _| sequences.push(Sequence { handle, numbers: Vec::new() }),
    )
    .unwrap();
    node.create_timer(Duration::from_millis(5), |sequences, _| {
        sequences.iter_mut().for_each(Sequence::advance);
        sequences.retain(|sequence| sequence.handle.is_active());
    })
    .unwrap();
}

fn goal(action: &str, order: i32) -> Value {
    json!({"do": "goal", "name": action, "type": FIBONACCI, "value": {"order": order}})
}

#[test]
fn the_peer_has_goals_for_us() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let action = unique_to(traffic, "served");
        serve(&executor, &action);
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("wishing");
        let status = format!("{action}/_action/status");
        let latched = json!({"durability": "transient_local", "depth": 1});
        subscribe(&mut peer, &status, "action_msgs/msg/GoalStatusArray", latched);

        let done = peer.ask(goal(&action, 6));
        assert_eq!((&done["accepted"], &done["status"]), (&json!(true), &json!(4)), "{done}");
        assert_eq!(done["result"]["sequence"], json!([0, 1, 1, 2, 3, 5]));
        for feedback in done["feedback"].as_array().unwrap() {
            let sequence = feedback["sequence"].as_array().unwrap();
            assert_eq!(sequence[..], json!([0, 1, 1, 2, 3]).as_array().unwrap()[..sequence.len()]);
        }
        let mut known = Value::Null;
        while known["status_list"][0]["status"] != 4 {
            known = crate::received(&mut peer, &status, 1).pop().unwrap();
        }
        let stamp = &known["status_list"][0]["goal_info"]["stamp"]["sec"];
        assert!(stamp.as_i64().unwrap() > 1_600_000_000, "{known}");

        assert_eq!(peer.ask(goal(&action, 51)), json!({"accepted": false}));
        let aborted = peer.ask(goal(&action, 13));
        assert_eq!(
            (&aborted["status"], &aborted["result"]["sequence"]),
            (&json!(6), &json!([0, 1, 1]))
        );
        let mut cancelled = goal(&action, 50);
        cancelled["cancel"] = json!(true);
        let cancelled = peer.ask(cancelled);
        assert_eq!(cancelled["status"], 5, "{cancelled}");
        // All there is of it: the client hears as long as it waits.
        let mut telling = goal(&action, 20);
        telling["feedback"] = json!(1);
        assert_eq!(peer.ask(telling)["result"]["sequence"].as_array().unwrap().len(), 20);
        spinning.stop();
    }
}

/// The outcome of a goal of ours.
type Outcome = Result<(GoalStatus, Vec<i32>, Vec<Vec<i32>>), SendGoalError>;

/// A node that sends a goal, and cancels it, if it is to, after so much feedback.
fn pursue(
    executor: &Executor,
    action: &str,
    order: i32,
    cancel_after: Option<usize>,
) -> (Receiver<Outcome>, impl Fn() -> bool + use<>) {
    let node = executor.create_node("operator", ()).unwrap();
    let options = ActionClientOptions { feedback_depth: 100, ..Default::default() };
    let client = node.create_action_client::<Action>(action, options).unwrap();
    let (tell, told) = channel();
    let sending = client.clone();
    let pursued = async move {
        let mut goal = sending.send_goal_async(Fibonacci::Goal { order }).await?;
        let (mut feedback, mut heard) = (goal.feedback(), Vec::new());
        if cancel_after == Some(0) {
            assert_eq!(goal.cancel().await?.goals_canceling.len(), 1);
        }
        while let Some(numbers) = feedback.next().await {
            heard.push(numbers.sequence.clone());
            if cancel_after == Some(heard.len()) {
                assert_eq!(goal.cancel().await?.goals_canceling[0].goal_id, goal.goal_id());
            }
        }
        let outcome = goal.result().await?;
        Ok((outcome.status, outcome.result.sequence.clone(), heard))
    };
    node.spawn("pursue", async move { tell.send(pursued.await).unwrap() }).unwrap();
    (told, move || client.server_is_ready())
}

/// The outcome of a goal for the action of `peer`.
fn outcome(peer: &mut Peer, order: i32, cancel_after: Option<usize>, server: Value) -> Outcome {
    let ros2 = ros2(Traffic::Direct);
    let executor = on(&ros2, Executor::single_core());
    let action = unique(&format!("offered{order}"));
    let mut offer = server;
    (offer["do"], offer["name"]) = (json!("action_server"), json!(action));
    offer["type"] = json!(FIBONACCI);
    peer.ask(offer);
    let (told, is_ready) = pursue(&executor, &action, order, cancel_after);
    wait(&ros2, "the server is there", is_ready);
    for service in ["send_goal", "cancel_goal", "get_result"] {
        let name = format!("{action}/_action/{service}");
        peer.ask(json!({"do": "client_matched", "name": name}));
    }
    let spinning = Spinning::start(executor);
    let outcome = told.recv_timeout(LONG).expect("it ends");
    spinning.stop();
    outcome
}

#[test]
fn we_have_goals_for_the_peer() {
    let mut peer = Peer::start("serving");
    let feedback = json!([{"sequence": [0, 1]}, {"sequence": [0, 1, 1]}]);
    let result = json!({"sequence": [0, 1, 1, 2]});
    let plain = json!({"feedback": feedback, "result": result});
    let (status, numbers, heard) = outcome(&mut peer, 1, None, plain).unwrap();
    assert_eq!((status, numbers), (GoalStatus::Succeeded, vec![0, 1, 1, 2]));
    // The result may overtake the last of it.
    let all = [vec![0, 1], vec![0, 1, 1]];
    assert!(all.starts_with(&heard), "{heard:?}");

    let holding = json!({"hold": true, "result": {"sequence": [9]}});
    let (status, numbers, _) = outcome(&mut peer, 2, Some(0), holding).unwrap();
    assert_eq!((status, numbers), (GoalStatus::Canceled, vec![9]));
    let holding = json!({"hold": true, "feedback": [{"sequence": [5]}]});
    let (status, _, heard) = outcome(&mut peer, 3, Some(1), holding).unwrap();
    assert_eq!((status, heard), (GoalStatus::Canceled, vec![vec![5]]));

    let rejected = outcome(&mut peer, 4, None, json!({"accept": false}));
    assert_eq!(rejected, Err(SendGoalError::Rejected));
    let aborting = json!({"abort": true, "result": {"sequence": [7]}});
    let (status, numbers, _) = outcome(&mut peer, 5, None, aborting).unwrap();
    assert_eq!((status, numbers), (GoalStatus::Aborted, vec![7]));
}

#[test]
fn nodes_of_one_graph_share_an_action_with_the_peer() {
    for traffic in LIVE {
        let ros2 = ros2(traffic);
        let executor = on(&ros2, Executor::single_core());
        let action = unique_to(traffic, "shared");
        serve(&executor, &action);
        let (told, is_ready) = pursue(&executor, &action, 50, Some(5));
        if traffic == Traffic::Loopback {
            // Before its task begins; in the process the server is there from the start.
            wait(&ros2, "the server is there", is_ready);
        }
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("guest");
        let done = peer.ask(goal(&action, 10));
        assert_eq!(done["status"], 4);
        let (status, numbers, heard) = told.recv_timeout(LONG).unwrap().unwrap();
        assert_eq!(status, GoalStatus::Canceled);
        assert!(heard.len() >= 5 && numbers.len() >= heard.len(), "{numbers:?} {heard:?}");
        assert!(heard.windows(2).all(|pair| pair[0].len() < pair[1].len()), "each comes once");
        spinning.stop();
    }
}
