//! Parameters of our nodes, as the peer finds them.

use crate::{LONG, Peer, Spinning, executor, ros2, unique};
use ringspin::QoS;
use ringspin::messages::rcl_interfaces::srv::ListParameters;
use ringspin::parameter::{ParameterChange, ParameterValue};
use ringspin::ros2::Traffic;
use ringspin::ros2::rcl::{Client, Node, NodeOptions};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A node with parameters in its own executor, and a peer that looks at them.
struct Rig {
    peer: Peer,
    node: String,
    changes: Receiver<ParameterChange>,
    spinning: Spinning,
}

impl Rig {
    fn new(name: &str) -> Self {
        let executor = executor(Traffic::Direct);
        let namespace = unique(name);
        let (tell, changes) = channel();
        let pilot = executor.graph().create_node_in(&namespace, "pilot", tell).unwrap();
        let speed = pilot.parameter("speed").default(1.0).range(0.0..=2.0).step(0.25);
        speed.description("in m/s").declare().unwrap();
        pilot.declare_parameter("arm.joints", 6).unwrap();
        pilot.declare_parameter("arm.name", String::from("left")).unwrap();
        pilot.declare_parameter("gains", vec![1.0, 2.5]).unwrap();
        pilot.parameter("serial").default(7).read_only().declare().unwrap();
        pilot
            .parameter("mode")
            .default(String::from("slow"))
            .choices(["slow", "fast"])
            .declare()
            .unwrap();
        pilot
            .on_parameter_change(|tell: &mut Sender<ParameterChange>, changes, _| {
                changes.iter().for_each(|change| tell.send(change.clone()).unwrap());
            })
            .unwrap();
        let spinning = Spinning::start(executor);
        let node = format!("{namespace}/pilot");
        Self { peer: Peer::start("operator"), node, changes, spinning }
    }

    /// Has the peer call a parameter service.
    fn call(&mut self, service: &str, kind: &str, value: Value) -> Value {
        let name = format!("{}/{service}", self.node);
        let kind = format!("rcl_interfaces/srv/{kind}");
        self.peer.ask(json!({"do": "call", "name": name, "type": kind, "value": value}))
    }

    /// Has it set one parameter; returns why it cannot.
    fn set(&mut self, name: &str, value: Value) -> Result<(), String> {
        let parameters = json!({"parameters": [{"name": name, "value": value}]});
        let response = self.call("set_parameters", "SetParameters", parameters);
        let result = &response["results"][0];
        match result["successful"].as_bool().unwrap() {
            true => Ok(()),
            false => Err(result["reason"].as_str().unwrap().into()),
        }
    }
}

fn double(value: f64) -> Value {
    json!({"type": 3, "double_value": value})
}

#[test]
fn parameters_are_listed_described_and_read() {
    let mut rig = Rig::new("listed");
    let listed = rig.call("list_parameters", "ListParameters", json!({}));
    let names = ["arm.joints", "arm.name", "gains", "mode", "serial", "speed", "use_sim_time"];
    assert_eq!(listed["result"], json!({"names": names, "prefixes": ["arm"]}));
    let below = json!({"prefixes": ["arm"], "depth": 1});
    let listed = rig.call("list_parameters", "ListParameters", below);
    assert_eq!(listed["result"]["names"], json!(["arm.joints", "arm.name"]));

    let names = json!({"names": ["speed", "serial", "mode"]});
    let described = rig.call("describe_parameters", "DescribeParameters", names.clone());
    let [speed, serial, mode] = [0, 1, 2].map(|n| &described["descriptors"][n]);
    assert_eq!((&speed["description"], &speed["type"]), (&json!("in m/s"), &json!(3)));
    let range = json!([{"from_value": 0.0, "to_value": 2.0, "step": 0.25}]);
    assert_eq!(speed["floating_point_range"], range);
    assert_eq!((&serial["read_only"], &serial["type"]), (&json!(true), &json!(2)));
    let constraints = mode["additional_constraints"].as_str().unwrap();
    assert!(constraints.contains("slow") && constraints.contains("fast"), "{constraints}");
    let types = rig.call("get_parameter_types", "GetParameterTypes", names);
    assert_eq!(types["types"], json!([3, 2, 4]));

    let names = json!({"names": ["arm.name", "gains"]});
    let read = rig.call("get_parameters", "GetParameters", names);
    assert_eq!(read["values"][0]["string_value"], "left");
    assert_eq!(read["values"][1]["double_array_value"], json!([1.0, 2.5]));
    let read = rig.call("get_parameters", "GetParameters", json!({"names": ["speed", "spede"]}));
    assert_eq!(read["values"], json!([]), "one of them is not declared");
    rig.spinning.stop();
}

#[test]
fn parameters_are_set_or_refused_with_a_reason() {
    let mut rig = Rig::new("set");
    rig.set("speed", double(1.5)).unwrap();
    let change = rig.changes.recv_timeout(LONG).unwrap();
    let (old, new) = (ParameterValue::Double(1.0), ParameterValue::Double(1.5));
    assert_eq!(change, ParameterChange { name: "speed".into(), old, new });

    let mut refused = |name: &str, value: Value, why: &str| {
        let reason = rig.set(name, value).unwrap_err();
        assert!(reason.contains(name) && reason.contains(why), "{reason}");
    };
    refused("speed", double(2.25), "use 0.0 to 2.0");
    refused("speed", json!({"type": 2, "integer_value": 1}), "integer");
    refused("serial", json!({"type": 2, "integer_value": 8}), "read-only");
    refused("mode", json!({"type": 4, "string_value": "mad"}), "one of");
    refused("spede", double(1.0), "speed");
    refused("speed", json!({"type": 0}), "undeclared");
    refused("speed", json!({"type": 77}), "type 77");

    let both = |speed: f64, joints: i64| {
        let joints = json!({"type": 2, "integer_value": joints});
        json!({"parameters": [{"name": "arm.joints", "value": joints},
            {"name": "speed", "value": double(speed)}]})
    };
    let atomically = "set_parameters_atomically";
    let refused = rig.call(atomically, "SetParametersAtomically", both(9.0, 7));
    assert_eq!(refused["result"]["successful"], false);
    let set = rig.call(atomically, "SetParametersAtomically", both(0.5, 7));
    assert_eq!(set["result"], json!({"successful": true, "reason": ""}));
    let changes = [(); 2].map(|()| rig.changes.recv_timeout(LONG).unwrap());
    assert_eq!(changes.map(|change| change.new), [7.into(), ParameterValue::Double(0.5)]);
    rig.spinning.stop();
    assert!(rig.changes.try_recv().is_err(), "a refused value is no change");
}

#[test]
fn clients_that_do_not_wait_for_their_answers_are_no_failure() {
    let mut rig = Rig::new("deserted");
    let ros2 = ros2(Traffic::Loopback);
    let name = format!("{}/list_parameters", rig.node);
    let node = Node::new(ros2.context(), "", "hasty", NodeOptions::default()).unwrap();
    for _ in 0..20 {
        type List = ListParameters::Service;
        let client = Client::<List>::new(&node, &name, &QoS::parameters()).unwrap();
        assert!(node.wait_for(LONG, |_| client.is_available()).unwrap());
        client.send_request(&ListParameters::Request::default()).unwrap();
    }
    let listed = rig.call("list_parameters", "ListParameters", json!({}));
    assert_eq!(listed["result"]["names"].as_array().unwrap().len(), 7);
    assert_eq!(rig.spinning.stop().failures().len(), 0);
}

#[test]
fn changes_are_published() {
    let mut rig = Rig::new("published");
    let topic = "/parameter_events";
    let subscribe = json!({"do": "subscribe", "topic": topic,
        "type": "rcl_interfaces/msg/ParameterEvent", "qos": {"depth": 1000}});
    rig.peer.ask(subscribe);
    let own = |events: Value, node: &str| -> Vec<Value> {
        let events = events.as_array().unwrap().iter();
        events.filter(|event| event["node"] == node).cloned().collect()
    };
    // The peer hears them then.
    for n in (0..10_000).map(|n| n % 8) {
        rig.set("speed", double(f64::from(n) * 0.25)).unwrap();
        let received = json!({"do": "received", "topic": topic, "at_least": 0});
        let Some(event) = own(rig.peer.ask(received), &rig.node).pop() else { continue };
        assert_eq!(event["changed_parameters"][0]["name"], "speed");
        let value = event["changed_parameters"][0]["value"]["double_value"].as_f64().unwrap();
        assert!((0.0..2.0).contains(&value));
        assert_eq!(
            (&event["new_parameters"], &event["deleted_parameters"]),
            (&json!([]), &json!([]))
        );
        assert!(event["stamp"]["sec"].as_i64().unwrap() > 1_600_000_000);
        rig.spinning.stop();
        return;
    }
    panic!("no event is heard");
}
