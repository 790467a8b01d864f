//! The API over a real ROS 2, with rclpy as the peer: topics, services, parameters, the graph.
//!
//! Nothing here sleeps to give something time: each wait is for a condition, with a bound that only
//! a failure reaches.

#![cfg(ros_is_sourced)]

#[path = "../../ros2/tests/common/peer.rs"]
mod peer;

use futures::channel::oneshot;
use peer::{Peer, unique};
use rclrs::*;
use ros_env::std_msgs::msg::String as Text;
use ros_env::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use serde_json::json;
use std::sync::mpsc;
use std::time::Duration;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// A peer with the node `name`, in the domain of this process.
fn peer(name: &str) -> Peer {
    let domain = std::env::var("ROS_DOMAIN_ID").ok().and_then(|domain| domain.parse().ok());
    Peer::start_in(domain.unwrap_or(0), name)
}

/// An executor that spins on another thread until this is dropped, with a node.
struct Spinning {
    node: Node,
    thread: Option<std::thread::JoinHandle<Vec<RclrsError>>>,
}

fn spinning(name: &str) -> Spinning {
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node(name).unwrap();
    let thread = Some(std::thread::spawn(move || executor.spin(SpinOptions::default())));
    Spinning { node, thread }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.node.commands().halt_spinning();
        let errors = self.thread.take().unwrap().join().unwrap();
        assert!(errors.is_empty() || std::thread::panicking(), "{errors:?}");
    }
}

/// Waits for a promise.
fn wait<T: Send + 'static>(spinning: &Spinning, promise: Promise<T>) -> T {
    let (sender, receiver) = mpsc::channel();
    drop(spinning.node.commands().run(async move {
        let _ = sender.send(promise.await);
    }));
    receiver.recv_timeout(LONG).expect("it comes in time").expect("it is not cancelled")
}

#[test]
fn messages_go_to_rclpy_and_come_back() {
    let (there, back) = (unique("there"), unique("back"));
    let mut peer = peer("echoes");
    peer.ask(json!({"do": "subscribe", "topic": there, "type": "std_msgs/msg/String"}));
    peer.ask(json!({"do": "publisher", "topic": back, "type": "std_msgs/msg/String"}));
    let spinning = spinning("echoed");
    let worker = spinning.node.create_worker(Vec::new());
    let _subscription = worker.create_subscription(
        &*back,
        |seen: &mut Vec<String>, message: Text, info: MessageInfo| {
            assert!(info.source_timestamp.is_some());
            seen.push(message.data);
        },
    );
    let publisher = spinning.node.create_publisher::<Text>(&*there).unwrap();
    wait(&spinning, publisher.notify_on_subscriber_ready());
    publisher.publish(Text { data: "hello".into() }).unwrap();
    assert_eq!(peer.ask(json!({"do": "received", "topic": there}))[0]["data"], "hello");
    peer.ask(json!({"do": "matched", "topic": back}));
    let all = worker.listen_until(|seen| (seen.len() == 3).then(|| seen.clone()));
    peer.ask(json!({"do": "publish", "topic": back, "count": 3, "value": {"data": "hi"}}));
    assert_eq!(wait(&spinning, all), ["hi", "hi", "hi"]);
    let topics = spinning.node.get_topic_names_and_types().unwrap();
    assert_eq!(topics[&back], ["std_msgs/msg/String"]);
    assert_eq!(spinning.node.count_publishers(&back), Ok(1));
}

#[test]
fn dynamic_messages_go_to_rclpy_and_come_back() {
    const TYPE: &str = "test_msgs/msg/WStrings";
    let (there, back) = (unique("dynamic_there"), unique("dynamic_back"));
    let mut peer = peer("dynamic_echoes");
    peer.ask(json!({"do": "subscribe", "topic": there, "type": TYPE}));
    peer.ask(json!({"do": "publisher", "topic": back, "type": TYPE}));
    let spinning = spinning("dynamic");
    let worker = spinning.node.create_worker(Vec::new());
    let _subscription = worker.create_dynamic_subscription(
        TYPE.try_into().unwrap(),
        &*back,
        |seen: &mut Vec<String>, message: DynamicMessage, info: MessageInfo| {
            assert!(info.source_timestamp.is_some());
            let Some(Value::Simple(SimpleValue::WString(text))) = message.get("wstring_value")
            else {
                panic!("{message:?}")
            };
            seen.push(text.to_string());
        },
    );
    let publisher =
        spinning.node.create_dynamic_publisher(TYPE.try_into().unwrap(), &*there).unwrap();
    let matched = publisher.clone();
    let is_matched = move || matched.get_subscription_count() == Ok(1);
    wait(&spinning, spinning.node.notify_on_graph_change(is_matched));
    let mut message = DynamicMessage::new(TYPE.try_into().unwrap()).unwrap();
    if let Some(ValueMut::Simple(SimpleValueMut::WString(text))) = message.get_mut("wstring_value")
    {
        *text = "hellö".into();
    }
    publisher.publish(message).unwrap();
    let received = peer.ask(json!({"do": "received", "topic": there}))[0].clone();
    assert_eq!(received["wstring_value"], "hellö");
    assert_eq!(received["wstring_value_default3"], "ハローワールド");
    peer.ask(json!({"do": "matched", "topic": back}));
    let all = worker.listen_until(|seen| (seen.len() == 2).then(|| seen.clone()));
    let value = json!({"wstring_value": "grüße"});
    peer.ask(json!({"do": "publish", "topic": back, "count": 2, "value": value}));
    assert_eq!(wait(&spinning, all), ["grüße", "grüße"]);
    assert_eq!(spinning.node.get_topic_names_and_types().unwrap()[&there], [TYPE]);
}

#[test]
fn services_are_called_both_ways() {
    let (ours, theirs) = (unique("ours"), unique("theirs"));
    let mut peer = peer("caller");
    peer.ask(json!({"do": "service", "name": theirs, "type": "std_srvs/srv/SetBool",
        "answer": {"success": true, "message": "from rclpy"}}));
    let spinning = spinning("called");
    let respond = |request: SetBool_Request| SetBool_Response {
        success: request.data,
        message: "from rclrs".into(),
    };
    let _service = spinning.node.create_service::<SetBool, _>(&*ours, respond).unwrap();
    let answer = peer.ask(json!({"do": "call", "name": ours, "type": "std_srvs/srv/SetBool",
        "value": {"data": true}}));
    assert_eq!(answer, json!({"success": true, "message": "from rclrs"}));
    let client = spinning.node.create_client::<SetBool>(&*theirs).unwrap();
    wait(&spinning, client.notify_on_service_ready());
    peer.ask(json!({"do": "client_matched", "name": theirs}));
    let promise: Promise<SetBool_Response> = client.call(SetBool_Request { data: true }).unwrap();
    assert_eq!(wait(&spinning, promise).message, "from rclpy");
}

/// Reliable ends of these services and the best-effort ones of the peer do not match.
#[test]
fn services_and_clients_have_the_policies_of_their_options() {
    let (ours, theirs) = (unique("our_effort"), unique("their_effort"));
    let mut peer = peer("best");
    peer.ask(json!({"do": "service", "name": theirs, "type": "std_srvs/srv/SetBool",
        "answer": {"success": true}, "reliability": "best_effort"}));
    let spinning = spinning("effort");
    let node = &spinning.node;
    let respond = |_: SetBool_Request| SetBool_Response { success: true, ..Default::default() };
    let _service = node.create_service::<SetBool, _>(ours.best_effort(), respond).unwrap();
    let client = node.create_client::<SetBool>(theirs.best_effort()).unwrap();
    wait(&spinning, client.notify_on_service_ready());
    peer.ask(json!({"do": "client_matched", "name": theirs}));
    let promise: Promise<SetBool_Response> = client.call(SetBool_Request { data: true }).unwrap();
    assert!(wait(&spinning, promise).success);
    let answer = peer.ask(json!({"do": "call", "name": ours, "type": "std_srvs/srv/SetBool",
        "reliability": "best_effort", "again": 1}));
    assert_eq!(answer["success"], true);
}

#[test]
fn parameters_have_their_services() {
    let mut peer = peer("tuner");
    let name = unique("tuned").replace('/', "_");
    let spinning = spinning(&name);
    let gain = spinning.node.declare_parameter("gain").default(2.5).mandatory().unwrap();
    let get = json!({"do": "call", "name": format!("/{name}/get_parameters"),
        "type": "rcl_interfaces/srv/GetParameters", "value": {"names": ["gain"]}});
    assert_eq!(peer.ask(get)["values"][0]["double_value"], 2.5);
    let set = json!({"do": "call", "name": format!("/{name}/set_parameters"),
        "type": "rcl_interfaces/srv/SetParameters",
        "value": {"parameters": [{"name": "gain", "value": {"type": 3, "double_value": 0.5}}]}});
    assert_eq!(peer.ask(set)["results"][0]["successful"], true);
    assert_eq!(gain.get(), 0.5);
}

#[test]
fn spin_ends_on_a_promise_from_another_process() {
    let topic = unique("once");
    let mut peer = peer("sender");
    peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/String"}));
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("receiver").unwrap();
    let (sender, received) = oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let _subscription = node.create_subscription(&*topic, move |message: Text| {
        if let Some(sender) = sender.lock().unwrap().take() {
            sender.send(message.data).unwrap();
        }
    });
    peer.ask(json!({"do": "matched", "topic": topic}));
    peer.ask(json!({"do": "publish", "topic": topic, "value": {"data": "now"}}));
    let (mut received, notice) = executor.commands().create_notice(received);
    let options = SpinOptions::new().until_promise_resolved(notice).timeout(LONG);
    executor.spin(options).first_error().unwrap();
    assert_eq!(received.try_recv().unwrap().as_deref(), Some("now"));
}

#[test]
fn actions_are_pursued_both_ways() {
    use ros_env::test_msgs::action::{Fibonacci, Fibonacci_Goal, Fibonacci_Result};
    const TYPE: &str = "test_msgs/action/Fibonacci";
    let (ours, theirs) = (unique("our_action"), unique("their_action"));
    let mut peer = peer("wishes");
    peer.ask(json!({"do": "action_server", "name": theirs, "type": TYPE,
        "result": {"sequence": [1, 2]}}));
    let spinning = spinning("pursues");
    let pursue = |requested: RequestedGoal<Fibonacci>| async move {
        let sequence = (0..requested.goal().order).collect();
        match requested.accept().begin() {
            BeginAcceptedGoal::Execute(goal) => goal.succeeded_with(Fibonacci_Result { sequence }),
            BeginAcceptedGoal::Cancel(goal) => goal.cancelled_with(Fibonacci_Result::default()),
        }
    };
    let _server = spinning.node.create_action_server(&*ours, pursue).unwrap();
    let goal = json!({"do": "goal", "name": ours, "type": TYPE, "value": {"order": 3}});
    let answer = peer.ask(goal);
    assert_eq!(
        (&answer["status"], &answer["result"]),
        (&json!(4), &json!({"sequence": [0, 1, 2]}))
    );
    let client = spinning.node.create_action_client::<Fibonacci>(&*theirs).unwrap();
    let ended = spinning.node.commands().run(async move {
        client.notify_on_server_ready().await.unwrap();
        let goal = client.request_goal(Fibonacci_Goal { order: 2 }).await.unwrap();
        goal.result.await
    });
    let (code, result) = wait(&spinning, ended);
    assert_eq!((code, result.sequence), (GoalStatusCode::Succeeded, vec![1, 2]));
}

#[test]
fn a_goal_before_the_first_spin_reaches_its_server() {
    use ros_env::test_msgs::action::{Fibonacci, Fibonacci_Goal};
    let action = unique("early_action");
    let mut peer = peer("early_wishes");
    peer.ask(json!({"do": "action_server", "name": action, "type": "test_msgs/action/Fibonacci",
        "result": {"sequence": [1, 2]}}));
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("early").unwrap();
    let client = node.create_action_client::<Fibonacci>(&*action).unwrap();
    while !client.server_is_available().unwrap() {
        std::thread::yield_now();
    }
    let requested = client.request_goal(Fibonacci_Goal { order: 2 });
    let ended = executor.commands().run(async move {
        let goal = requested.await.expect("it is accepted");
        goal.result.await
    });
    let (sender, receiver) = mpsc::channel();
    let done = executor.commands().run(async move {
        let _ = sender.send(ended.await);
    });
    executor.spin(SpinOptions::default().until_promise_resolved(done).timeout(LONG));
    let (code, result) = receiver.try_recv().unwrap().unwrap();
    assert_eq!((code, result.sequence), (GoalStatusCode::Succeeded, vec![1, 2]));
}
