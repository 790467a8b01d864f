//! Flight records of runs over ROS 2, replayed without it.

use crate::{
    LIVE, Peer, Spinning, advertise, builder, on, received, ros2, subscribe, unique, unique_to,
};
use ringspin::flight::{FlightFile, FlightRecord};
use ringspin::messages::std_msgs::msg::{Empty, Int64};
use ringspin::messages::std_srvs::srv::SetBool::{Request, Response};
use ringspin::messages::{Replayed, Settings};
use ringspin::middleware::Connection;
use ringspin::ros2::{Traffic, Types};
use ringspin::{ErrorKind, Executor, Message, Mode, QoS, Result};
use ringspin_test_msgs::test_msgs::msg::BasicTypes;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const INT64: &str = "std_msgs/msg/Int64";
const SET_BOOL: &str = "std_srvs/srv/SetBool";

/// A file that is removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("ringspin_flight{}_{}.mcap", unique(name).replace('/', "_"), name);
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    fn load(&self) -> Mode {
        Mode::Replay(Arc::new(FlightRecord::load(&self.0).unwrap()))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The output of the callbacks of a node, in order.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<String>>>);

impl Output {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn wait_for(&self, text: &str, count: usize) {
        for _ in 0..6_000 {
            if self.lines().iter().filter(|line| line.contains(text)).count() >= count {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{count} times {text:?}: {:?}", self.lines());
    }
}

/// A node that has messages, requests, responses and parameters of the peer, and one that hears it
/// and the peer.
fn pilot(executor: &Executor, name: &str) -> Result<[Output; 2]> {
    let outputs = [Output::default(), Output::default()];
    let pilot = executor.graph().create_node_in(name, "pilot", outputs[0].clone())?;
    pilot.declare_parameter("speed", 1.0)?;
    pilot.on_parameter_change(|output, changes, cx| {
        changes.iter().for_each(|change| output.add(format!("{change:?} {:?}", cx.now())));
    })?;
    let ticks = pilot.create_publisher::<Int64>("ticks", QoS::keep_last(100))?;
    let mut tick = 0;
    pilot.create_timer(Duration::from_millis(1), move |output: &mut Output, cx| {
        tick += 1;
        output.add(format!("tick {tick} {:?}", cx.now()));
        ticks.publish(Int64 { data: tick })
    })?;
    let client = pilot.create_client::<Request, Response>("offered", QoS::services())?;
    let qos = QoS::keep_last(100).message_times();
    pilot.create_subscription("commands", qos, move |output, command: &Message<Int64>, cx| {
        let times = command.times();
        let is_ready = client.service_is_ready();
        output.add(format!("command {} {times:?} {is_ready} {:?}", command.data, cx.now()));
        let request = Request { data: command.data % 3 == 0 };
        let called = client.call(request, |output, response, cx| {
            output.add(format!("response {:?} {:?}", response.as_deref(), cx.now()));
        });
        called.map(drop).map_err(|error| error.reason)
    })?;
    pilot.create_service("asked", QoS::services(), |output, request: &Request, cx| {
        output.add(format!("request {} {:?}", request.data, cx.now()));
        Response { success: !request.data, message: "here".into() }
    })?;
    let sink = executor.graph().create_node_in(name, "sink", outputs[1].clone())?;
    let qos = QoS::keep_last(1000);
    sink.create_subscription("ticks", qos, |output, tick: &Message<Int64>, cx| {
        output.add(format!("heard {} {:?}", tick.data, cx.now()));
    })?;
    Ok(outputs)
}

/// Commands, requests and parameters of the peer.
fn fly(peer: &mut Peer, name: &str, output: &Output) {
    let topic = |topic: &str| format!("{name}/{topic}");
    peer.ask(json!({"do": "service", "name": topic("offered"), "type": SET_BOOL,
        "answer": {"success": true, "message": "Grüße"}}));
    peer.ask(json!({"do": "client_matched", "name": topic("offered")}));
    subscribe(peer, &topic("ticks"), INT64, json!({"depth": 10}));
    received(peer, &topic("ticks"), 1);
    for name in ["commands", "ticks"] {
        advertise(peer, &topic(name), INT64, json!({"depth": 100}));
    }
    for round in 0..5 {
        for n in [3 * round, 3 * round + 1, 3 * round + 2] {
            peer.ask(json!({"do": "publish", "topic": topic("commands"), "value": {"data": n}}));
            peer.ask(json!({"do": "publish", "topic": topic("ticks"), "value": {"data": -n}}));
        }
        let value = json!({"data": round % 2 == 0});
        let asked = topic("asked");
        peer.ask(json!({"do": "call", "name": asked, "type": SET_BOOL, "value": value}));
        let value = json!({"type": 3, "double_value": 2.0 + f64::from(round)});
        let parameters = json!({"parameters": [{"name": "speed", "value": value}]});
        peer.ask(json!({"do": "call", "name": topic("pilot/set_parameters"),
            "type": "rcl_interfaces/srv/SetParameters", "value": parameters}));
    }
    output.wait_for("response Ok", 15);
}

#[test]
fn a_run_with_a_peer_is_replayed_without_it() {
    for (number, traffic) in LIVE.into_iter().cycle().take(4).enumerate() {
        let mode = if number < 2 { Mode::SingleCore } else { Mode::MultiCore(None) };
        let name = unique_to(traffic, &format!("flight{number}"));
        let file = Temporary::new(&format!("pilot{number}"));
        let mut executor = on(&ros2(traffic), Executor::new(mode));
        executor.record_flight(FlightFile::create(&file.0).unwrap());
        let live = pilot(&executor, &name).unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("tower");
        fly(&mut peer, &name, &live[0]);
        drop(spinning.stop());
        peer.leave();
        for text in ["speed", "command 14", "request true"] {
            live[0].wait_for(text, 1);
        }
        live[1].wait_for("heard -14", 1);

        for _ in 0..2 {
            let replay = Executor::new(file.load()).connected(Connection::InProcess).unwrap();
            let mut replay = replay;
            let again = pilot(&replay, &name).unwrap();
            replay.spin().unwrap();
            for (live, again) in live.iter().zip(&again) {
                assert_eq!(live.lines(), again.lines());
            }
        }
    }
}

/// A node with messages of a type that is not installed.
fn exotic(executor: &Executor, name: &str) -> Result<Output> {
    let output = Output::default();
    let node = executor.graph().create_node_in(name, "exotic", output.clone())?;
    let qos = QoS::keep_last(10);
    node.create_subscription("basics", qos, |output, message: &Message<BasicTypes>, _| {
        output.add(format!("{message:?}"));
    })?;
    node.create_subscription("end", qos, |_, _: &Message<Empty>, cx| cx.stop())?;
    Ok(output)
}

#[test]
fn a_replay_without_a_recorded_type_names_it() {
    let (name, file) = (unique("exotic"), Temporary::new("exotic"));
    let mut executor = on(&builder(Traffic::Direct).connect().unwrap(), Executor::single_core());
    executor.record_flight(FlightFile::create(&file.0).unwrap());
    let live = exotic(&executor, &name).unwrap();
    let spinning = Spinning::start(executor);
    let mut peer = Peer::start("stranger");
    let topic = format!("{name}/basics");
    advertise(&mut peer, &topic, "test_msgs/msg/BasicTypes", json!({}));
    let publish = json!({"do": "publish", "topic": topic, "value": {"int32_value": 7}});
    peer.ask(publish);
    live.wait_for("int32_value: 7", 1);
    drop(spinning.stop());

    let mut replay = Executor::new(file.load()).connected(Connection::Ros2).unwrap();
    exotic(&replay, &name).unwrap();
    let error = replay.spin().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Diverged);
    let text = error.to_string();
    assert!(text.contains(&topic) && text.contains("test_msgs/msg/BasicTypes"), "{text}");

    let mut types = Types::installed();
    ringspin_test_msgs::visit_types(&mut types);
    let settings = Settings { types, ..Settings::of_record("ros2").unwrap() };
    let replay = Executor::new(file.load());
    let mut replay = replay.with_middleware(Arc::new(Replayed::new(settings))).unwrap();
    let again = exotic(&replay, &name).unwrap();
    replay.spin().unwrap();
    assert_eq!(live.lines(), again.lines());
}
