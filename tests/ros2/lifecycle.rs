//! A managed node, which the peer takes through its states, and sees its endpoints come and go.

use crate::{LIVE, Peer, Spinning, executor, unique_to};
use ringspin::lifecycle::LifecyclePublisher;
use ringspin::{BoxError, Message, Node, QoS, Subscription, Timer};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Default)]
struct Camera {
    gain: i32,
    image: Option<LifecyclePublisher<i32>>,
    set_gain: Option<Subscription>,
    exposure: Option<Timer>,
}

impl Camera {
    fn configure(&mut self, node: &Node<Self>) -> Result<(), BoxError> {
        self.image = Some(node.create_lifecycle_publisher("~/image", QoS::default())?);
        self.exposure = Some(node.create_timer(Duration::from_millis(1), |camera, _| {
            camera.image.iter().try_for_each(|image| image.publish(camera.gain))
        })?);
        let qos = QoS::default();
        self.set_gain =
            Some(node.create_subscription("~/gain", qos, |camera, gain: &Message<i32>, _| {
                camera.gain = **gain;
            })?);
        Ok(())
    }

    fn release(&mut self) {
        self.image = None;
        self.exposure.take().iter().for_each(Timer::destroy);
        self.set_gain.take().iter().for_each(Subscription::destroy);
    }
}

/// The peer as a manager of the camera.
struct Manager {
    peer: Peer,
    camera: String,
}

impl Manager {
    fn call(&mut self, service: &str, kind: &str, value: &Value) -> Value {
        let (name, kind) =
            (format!("/{}/{service}", self.camera), format!("lifecycle_msgs/srv/{kind}"));
        self.peer.ask(json!({"do": "call", "name": name, "type": kind, "value": value}))
    }

    fn change(&mut self, id: u8, label: &str) -> bool {
        let value = json!({"transition": {"id": id, "label": label}});
        self.call("change_state", "ChangeState", &value)["success"] == true
    }

    fn state(&mut self) -> (u64, String) {
        let state = &self.call("get_state", "GetState", &json!({}))["current_state"];
        (state["id"].as_u64().unwrap(), state["label"].as_str().unwrap().into())
    }

    /// The transitions from the current state, with their ids.
    fn available(&mut self) -> Vec<(u64, String)> {
        let found = self.call("get_available_transitions", "GetAvailableTransitions", &json!({}));
        let found = found["available_transitions"].as_array().unwrap().iter();
        let part =
            |of: &Value| (of["id"].as_u64().unwrap(), of["label"].as_str().unwrap().to_owned());
        found.map(|of| part(&of["transition"])).collect()
    }

    /// Waits until the camera has an endpoint on its topic `name`, or has none.
    fn endpoints(&mut self, name: &str, present: bool) {
        let topic = format!("/{}/{name}", self.camera);
        let node = &self.camera;
        self.peer
            .ask(json!({"do": "endpoints_of", "topic": topic, "node": node, "present": present}));
    }

    /// Takes the camera up and down again.
    fn round(&mut self, gain: i32) {
        let named = |all: &[(u64, &str)]| -> Vec<(u64, String)> {
            all.iter().map(|(id, label)| (*id, (*label).to_owned())).collect()
        };
        assert_eq!(self.state(), (1, "unconfigured".into()));
        assert_eq!(self.available(), named(&[(1, "configure"), (5, "shutdown")]));
        assert!(!self.change(3, ""), "it is not configured");
        assert!(self.change(1, ""));
        assert_eq!(self.state(), (2, "inactive".into()));
        self.endpoints("image", true);
        self.endpoints("gain", true);
        assert!(!self.change(99, ""), "there is no such transition");
        assert!(self.change(0, "activate"), "a label goes before an id");
        assert_eq!(self.available(), named(&[(4, "deactivate"), (7, "shutdown")]));
        let topic = |name| format!("/{}/{name}", self.camera);
        let (images, gains) = (topic("image"), topic("gain"));
        self.peer.ask(json!({"do": "matched", "topic": gains}));
        self.peer.ask(json!({"do": "publish", "topic": gains, "value": {"data": gain}}));
        loop {
            let heard = self.peer.ask(json!({"do": "received", "topic": images}));
            if heard.as_array().unwrap().iter().any(|image| image["data"] == gain) {
                break;
            }
        }
        assert!(self.change(4, ""));
        assert!(self.change(2, ""));
        self.endpoints("image", false);
        self.endpoints("gain", false);
    }
}

#[test]
fn the_peer_manages_a_node_and_sees_its_endpoints_come_and_go() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let name = unique_to(traffic, "camera").trim_start_matches('/').replace('/', "_");
        let camera = executor.create_node(&name, Camera::default()).unwrap();
        let own = camera.clone();
        camera
            .lifecycle()
            .on_configure(move |camera: &mut Camera, _| camera.configure(&own))
            .on_cleanup(|camera, _| camera.release())
            .create()
            .unwrap();
        let spinning = Spinning::start(executor);
        let mut manager = Manager { peer: Peer::start("manager"), camera: name.clone() };
        let kind = "std_msgs/msg/Int32";
        for (what, topic) in [("subscribe", "image"), ("publisher", "gain")] {
            let topic = format!("/{name}/{topic}");
            manager.peer.ask(json!({"do": what, "topic": topic, "type": kind}));
        }
        manager.round(1);
        manager.round(2);
        assert!(manager.change(0, "shutdown"));
        assert_eq!(manager.state(), (4, "finalized".into()));
        assert_eq!(manager.available(), []);
        let executor = spinning.stop();
        assert_eq!(executor.failures(), []);
    }
}
