//! Entities of every kind that are created, used and destroyed with their nodes, over and over:
//! nothing is left of them in the DDS graph, in the file descriptors or in memory.

use crate::actions::{Action, FIBONACCI};
use crate::endings::resident_bytes;
use crate::{LONG, Peer, Spinning, on, ros2};
use ringspin::action::{
    ActionClient, ActionClientOptions, ActionServerOptions, CancelResponse, GoalCallbacks,
    GoalResponse,
};
use ringspin::lifecycle::Transition;
use ringspin::messages::geometry_msgs::msg::PointStamped;
use ringspin::messages::std_msgs::msg::Int64;
use ringspin::messages::std_srvs::srv::SetBool;
use ringspin::qos::{PublisherEvents, SubscriptionEvents};
use ringspin::ros2::{Traffic, rcl};
use ringspin::sync::{ExactTime, Input};
use ringspin::{CallError, Client, Context, Executor, Graph, Message, Node, QoS};
use ringspin_test_msgs::test_msgs::action::Fibonacci;
use serde_json::json;
use std::fs;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The state of a node: it tells the test that the entity works.
type Tell = Sender<()>;

/// A node that is about to end, and its peer.
struct Guest<'a> {
    node: Node<Tell>,
    told: Receiver<()>,
    watcher: &'a rcl::Node,
    peer: &'a mut Peer,
    /// The service and the action of the peer.
    offered: &'a str,
}

impl Guest<'_> {
    fn wait(&self) {
        self.told.recv_timeout(LONG).expect("it works");
    }

    /// Waits until `ready`, which something in ROS's graph decides.
    fn wait_until(&self, ready: impl Fn() -> bool) {
        assert!(self.watcher.wait_for(LONG, |_| Ok(ready())).unwrap());
    }
}

fn tell<M>(tell: &mut Tell, _: M, _: &mut Context<'_>) {
    let _ = tell.send(()); // the test has heard enough of a node that ends
}

fn publisher_and_subscription(guest: &mut Guest<'_>) {
    let tell = |told: &mut Tell, message: &Message<Int64>, cx: &mut Context<'_>| {
        tell(told, message, cx);
    };
    let out = guest.node.create_publisher::<Int64>("~/number", QoS::default()).unwrap();
    guest.node.create_subscription("~/number", QoS::default(), tell).unwrap();
    out.publish(Int64 { data: 1 }).unwrap();
    guest.wait();
}

fn qos_events(guest: &mut Guest<'_>) {
    let events = PublisherEvents::new().on_matched(tell).on_incompatible_qos(tell);
    let qos = QoS::default();
    let out = guest.node.create_publisher_with_events::<Int64>("~/number", qos, events).unwrap();
    let events = SubscriptionEvents::new()
        .on_matched(tell)
        .on_message_lost(tell)
        .on_liveliness_changed(tell)
        .on_incompatible_qos(tell);
    let ignore = |_: &mut Tell, _: &Message<Int64>, _: &mut Context<'_>| {};
    guest.node.create_subscription_with_events("~/number", qos, events, ignore).unwrap();
    out.publish(Int64 { data: 1 }).unwrap();
    (0..3).for_each(|_| guest.wait());
}

fn stream_and_task(guest: &mut Guest<'_>) {
    let qos = QoS::default().transient_local();
    let out = guest.node.create_publisher::<Int64>("~/number", qos).unwrap();
    let mut numbers = guest.node.create_stream::<Int64>("~/number", qos).unwrap();
    guest
        .node
        .spawn_with_state("listen", |state| async move {
            loop {
                numbers.next().await;
                state.with(|tell, cx| self::tell(tell, (), cx)).await;
            }
        })
        .unwrap();
    out.publish(Int64 { data: 1 }).unwrap();
    guest.wait();
}

fn synchronized_subscription(guest: &mut Guest<'_>) {
    let qos = QoS::default();
    let topics = ["~/left", "~/right"];
    let outs = topics.map(|topic| guest.node.create_publisher::<PointStamped>(topic, qos).unwrap());
    let [left, right] = topics.map(|topic| Input::<PointStamped>::new(topic, qos));
    guest
        .node
        .create_synchronized_subscription(
            (left, right),
            ExactTime::new(2),
            |told: &mut Tell, _: (&Message<PointStamped>, &Message<PointStamped>), cx| {
                tell(told, (), cx);
            },
        )
        .unwrap();
    outs.iter().for_each(|out| out.publish(PointStamped::default()).unwrap());
    guest.wait();
}

fn timer_guard_condition_and_parameter(guest: &mut Guest<'_>) {
    let parameter = guest.node.declare_parameter("number", 1i64).unwrap();
    guest.node.create_timer(Duration::from_millis(1), |told, cx| tell(told, (), cx)).unwrap();
    let guard = guest.node.create_guard_condition("press", |told, cx| tell(told, (), cx)).unwrap();
    parameter.set(2).unwrap();
    guard.trigger();
    (0..3).for_each(|_| guest.wait());
}

fn reentrant_group(guest: &mut Guest<'_>) {
    let out = guest.node.create_publisher::<Int64>("~/number", QoS::default()).unwrap();
    let (told, heard) = channel();
    let group = guest.node.create_reentrant_group("shared", Mutex::new(told));
    group
        .create_subscription(
            "listen",
            "~/number",
            QoS::default(),
            |told: &Mutex<Tell>, _: &Message<Int64>, _| {
                told.lock().unwrap().send(()).unwrap();
            },
        )
        .unwrap();
    drop(group);
    out.publish(Int64 { data: 1 }).unwrap();
    heard.recv_timeout(LONG).expect("it works");
}

fn lifecycle(guest: &mut Guest<'_>) {
    let lifecycle = guest.node.lifecycle().on_configure(|told, cx| tell(told, (), cx));
    let lifecycle = lifecycle.create().unwrap();
    let _out = guest.node.create_lifecycle_publisher::<Int64>("~/number", QoS::default()).unwrap();
    lifecycle.request(Transition::Configure).unwrap();
    guest.wait();
}

fn call(client: &Client<Tell, SetBool::Request, SetBool::Response>) {
    let request = SetBool::Request { data: true };
    let end = |told: &mut Tell, reply: Result<_, CallError>, cx: &mut Context<'_>| {
        reply.map(|_| tell(told, (), cx))
    };
    client.call(request, end).unwrap();
}

fn service_with_client(guest: &mut Guest<'_>) {
    let answer = |_: &mut Tell, request: &SetBool::Request, _: &mut Context<'_>| {
        SetBool::Response { success: request.data, ..Default::default() }
    };
    guest.node.create_service("~/set", QoS::services(), answer).unwrap();
    let client = guest.node.create_client("~/set", QoS::services()).unwrap();
    call(&client);
    guest.wait();
}

/// A client of the peer's service; the second call is under way when it ends.
fn client(guest: &mut Guest<'_>) {
    let client = guest.node.create_client(guest.offered, QoS::services()).unwrap();
    guest.wait_until(|| client.service_is_ready());
    guest.peer.ask(json!({"do": "client_matched", "name": guest.offered}));
    call(&client);
    guest.wait();
    call(&client);
}

fn send_goal(client: &ActionClient<Tell, Action>) {
    let callbacks = GoalCallbacks::new()
        .on_result(|told: &mut Tell, outcome, cx| outcome.map(|_| tell(told, (), cx)));
    client.send_goal(Fibonacci::Goal { order: 1 }, callbacks).unwrap();
}

fn action_server_with_client(guest: &mut Guest<'_>) {
    let node = &guest.node;
    node.create_action_server::<Action, _>(
        "~/count",
        ActionServerOptions::default(),
        |_, _, _| GoalResponse::Accept,
        |_, _, _| CancelResponse::Accept,
        |_, handle, _| handle.succeed(Fibonacci::Result::default()).unwrap(),
    )
    .unwrap();
    let client = node.create_action_client("~/count", ActionClientOptions::default()).unwrap();
    send_goal(&client);
    guest.wait();
}

/// A client of the peer's action.
fn action_client(guest: &mut Guest<'_>) {
    let options = ActionClientOptions::default();
    let client = guest.node.create_action_client(guest.offered, options).unwrap();
    guest.wait_until(|| client.server_is_ready());
    for service in ["send_goal", "cancel_goal", "get_result"] {
        let name = format!("{}/_action/{service}", guest.offered);
        guest.peer.ask(json!({"do": "client_matched", "name": name}));
    }
    send_goal(&client);
    guest.wait();
}

/// Creates and uses an entity.
type Create = fn(&mut Guest<'_>);

/// Each kind of entity.
const KINDS: [(&str, Create); 11] = [
    ("publisher and subscription", publisher_and_subscription),
    ("QoS events", qos_events),
    ("stream and task", stream_and_task),
    ("synchronized subscription", synchronized_subscription),
    ("timer, guard condition, parameter", timer_guard_condition_and_parameter),
    ("reentrant group", reentrant_group),
    ("lifecycle", lifecycle),
    ("service with client", service_with_client),
    ("client", client),
    ("action server with client", action_server_with_client),
    ("action client", action_client),
];

/// Limit of the growth of each node with its entities, once the process is warm.
const GROWTH_BYTES_MAX: usize = 2048;

/// A graph that runs, and a peer with a service and an action.
struct Soak {
    graph: Graph,
    spinning: Spinning,
    watcher: rcl::Node,
    peer: Peer,
    /// The name of each node, and part of the names of all endpoints.
    name: String,
    offered: String,
}

impl Soak {
    fn start() -> Self {
        let ros2 = ros2(Traffic::Direct);
        let executor = on(&ros2, Executor::single_core());
        let options = rcl::NodeOptions::default();
        let watcher = rcl::Node::new(ros2.context(), "", "watcher", options).unwrap();
        let graph = executor.graph().clone();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("other");
        let name = format!("soak{}", std::process::id());
        let offered = format!("/{name}_offered");
        let kind = "std_srvs/srv/SetBool";
        peer.ask(json!({"do": "service", "name": offered, "type": kind}));
        peer.ask(json!({"do": "action_server", "name": offered, "type": FIBONACCI}));
        Self { graph, spinning, watcher, peer, name, offered }
    }

    /// Creates, uses and ends a node with entities of one kind. The peer sees it come and go: Fast
    /// DDS keeps memory of a node that ends earlier (67 kB of one with a timer only).
    fn cycle(&mut self, create: Create) {
        let (tell, told) = channel();
        let node = self.graph.create_node(&self.name, tell).unwrap();
        let Self { watcher, peer, offered, .. } = self;
        let mut guest = Guest { node, told, watcher, peer, offered };
        create(&mut guest);
        let name = format!("/{}", self.name);
        guest.peer.ask(json!({"do": "wait_for_nodes", "name": name}));
        guest.node.destroy();
        guest.peer.ask(json!({"do": "wait_for_nodes", "name": name, "count": 0}));
    }

    /// Runs `cycles`; nothing is left of them in the DDS graph.
    fn run(&mut self, cycles: usize, create: Create) {
        let before = self.peer.ask(json!({"do": "graph", "part": self.name}));
        (0..cycles).for_each(|_| self.cycle(create));
        let wait = json!({"do": "wait_for_graph", "part": self.name, "seen": before});
        self.peer.ask(wait);
    }
}

#[test]
fn nothing_is_left_of_entities_in_the_graph() {
    let mut soak = Soak::start();
    for (kind, create) in KINDS {
        println!("{kind}");
        soak.run(3, create);
    }
    let executor = soak.spinning.stop();
    assert_eq!((executor.failures(), executor.graph().info().callbacks.len()), (vec![], 0));
}

#[test]
#[ignore = "slow: 400 nodes of each kind; scripts/test-ros2 slow runs it"]
fn slow_nothing_is_left_of_entities_in_graph_files_and_memory() {
    let mut soak = Soak::start();
    let mut leaks = Vec::new();
    for (kind, create) in KINDS {
        let resources = [(); 4].map(|()| {
            soak.run(100, create);
            (fs::read_dir("/proc/self/fd").unwrap().count(), resident_bytes())
        });
        let [_, (warm_files, warm_bytes), _, (files, bytes)] = resources;
        let growth_bytes = bytes.saturating_sub(warm_bytes) / 200;
        println!("{kind}: {growth_bytes} bytes each; files and bytes {resources:?}");
        if files > warm_files || growth_bytes > GROWTH_BYTES_MAX {
            leaks.push((kind, [warm_files, files], growth_bytes));
        }
    }
    assert_eq!(soak.spinning.stop().failures(), []);
    assert_eq!(leaks, []);
}
