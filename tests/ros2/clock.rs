//! Time from rclpy, and simulated time for it.

use crate::{Heard, LIVE, Peer, Spinning, builder, unique};
use ringspin::messages::std_msgs::msg::Int32;
use ringspin::ros2::Traffic;
use ringspin::{Arguments, Executor, Message, QoS, Time};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const CLOCK: &str = "rosgraph_msgs/msg/Clock";

/// Both tests use `/clock`, which is one for all.
static ONE_CLOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn timers_fire_by_the_clock_of_a_peer() {
    let _one = ONE_CLOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for traffic in LIVE {
        let line = ["--ros-args", "-p", "use_sim_time:=true"];
        let ros2 = Arc::new(builder(traffic).connect().unwrap());
        let executor = Executor::single_core().with_arguments(Arguments::parse(line).unwrap().0);
        let executor = executor.with_middleware(ros2).unwrap();
        let (ticks, heard) = (Heard::<Time>::new(), Heard::<Time>::new());
        let node = executor.create_node("follows", ()).unwrap();
        let tell = ticks.sender();
        node.create_timer(10 * MS, move |(), cx| tell.send(cx.now()).unwrap()).unwrap();
        let (tell, topic) = (heard.sender(), unique("before"));
        node.create_subscription(&topic, QoS::default(), move |(), _: &Message<Int32>, cx| {
            tell.send(cx.now()).unwrap();
        })
        .unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("clock");
        let value = peer.ask(json!({"do": "call", "name": "/follows/get_parameters",
            "type": "rcl_interfaces/srv/GetParameters", "value": {"names": ["use_sim_time"]}}));
        assert_eq!(value["values"][0]["bool_value"], true, "{value}");
        peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/Int32"}));
        peer.ask(json!({"do": "matched", "topic": topic}));
        peer.ask(json!({"do": "publish", "topic": topic}));
        assert_eq!(heard.next("a message without a time", |_| true), Time::ZERO);
        peer.ask(json!({"do": "publisher", "topic": "/clock", "type": CLOCK}));
        peer.ask(json!({"do": "matched", "topic": "/clock"}));
        let tell = |peer: &mut Peer, ms: u32| {
            peer.ask(json!({"do": "publish", "topic": "/clock",
                "value": {"clock": {"sec": 1000, "nanosec": ms * 1_000_000}}}));
        };
        // It is best effort: what our side does not know of its publisher yet is lost.
        loop {
            tell(&mut peer, 0);
            peer.ask(json!({"do": "publish", "topic": topic}));
            match heard.next("a message", |_| true) {
                Time::ZERO => {}
                time => break assert_eq!(time, Time::from_secs(1000)),
            }
        }
        for ms in [10, 20, 100] {
            tell(&mut peer, ms);
            let at = Time::from_secs(1000) + MS * ms;
            assert_eq!(ticks.next("a tick", |_| true), at, "{traffic:?}");
        }
        let executor = spinning.stop();
        assert_eq!(executor.now(), Time::from_secs(1000) + 100 * MS);
    }
}

#[test]
fn use_sim_time_is_switched_by_a_peer_while_nodes_run() {
    const REAL: Time = Time::from_secs(1_000_000_000);
    let _one = ONE_CLOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ros2 = Arc::new(builder(Traffic::Direct).connect().unwrap());
    let executor = Executor::single_core().with_middleware(ros2).unwrap();
    let ticks = Heard::<Time>::new();
    let node = executor.create_node("switches", ()).unwrap();
    let tell = ticks.sender();
    node.create_timer(10 * MS, move |(), cx| tell.send(cx.now()).unwrap()).unwrap();
    let spinning = Spinning::start(executor);
    let mut peer = Peer::start("switcher");
    peer.ask(json!({"do": "publisher", "topic": "/clock", "type": CLOCK}));
    let set = |peer: &mut Peer, value: bool| {
        let value = json!({"name": "use_sim_time", "value": {"type": 1, "bool_value": value}});
        let answer = peer.ask(json!({"do": "call", "name": "/switches/set_parameters",
            "type": "rcl_interfaces/srv/SetParameters", "value": {"parameters": [value]}}));
        assert_eq!(answer["results"][0]["successful"], true, "{answer}");
    };
    for round in 0..2 {
        ticks.next("a tick of real time", |time| *time > REAL);
        set(&mut peer, true);
        // It is best effort, and each switch is a new subscription: the first times may be lost.
        for n in 0.. {
            peer.ask(json!({"do": "publish", "topic": "/clock",
                "value": {"clock": {"sec": 1000 + n, "nanosec": 0}}}));
            if std::iter::from_fn(|| ticks.already()).any(|time| time < REAL) {
                break;
            }
            assert!(n < 10_000, "round {round}: no tick of /clock");
        }
        set(&mut peer, false);
    }
    ticks.next("a tick of real time", |time| *time > REAL);
    assert!(spinning.stop().now() > REAL);
}

#[test]
fn simulated_time_is_published_for_a_display() {
    let _one = ONE_CLOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut peer = Peer::start("display");
    peer.ask(json!({"do": "subscribe", "topic": "/clock", "type": CLOCK}));
    let ros2 = builder(Traffic::PublishOnly).publish_clock(100 * MS).connect().unwrap();
    peer.ask(json!({"do": "matched", "topic": "/clock"}));
    let executor = Executor::deterministic(Default::default());
    let mut executor = executor.with_middleware(Arc::new(ros2.clone())).unwrap();
    let node = executor.create_node("simulated", ()).unwrap();
    node.create_timer(50 * MS, |(), _| {}).unwrap();
    ros2.wait_for_subscribers("/clock", Duration::from_secs(60)).unwrap();
    executor.spin_for(Duration::from_secs(1)).unwrap();
    let times = peer.ask(json!({"do": "received", "topic": "/clock", "at_least": 10}));
    let ns = times.as_array().unwrap().iter().map(|time| time["clock"]["nanosec"].as_u64());
    let expected = [50, 150, 250, 350, 450, 550, 650, 750, 850, 950];
    assert_eq!(ns.flatten().map(|ns| ns / 1_000_000).collect::<Vec<_>>(), expected);
}
