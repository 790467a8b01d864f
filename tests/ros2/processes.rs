//! Processes that come and go, on either side.

use crate::peer::DOMAIN;
use crate::{
    LIVE, LONG, Peer, Spinning, advertise, domain, executor, received, subscribe, unique, unique_to,
};
use ringspin::messages::std_msgs::msg::{Int64, String as Text};
use ringspin::ros2::Traffic;
use ringspin::{Arguments, Executor, Message, QoS};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

const INT64: &str = "std_msgs/msg/Int64";
const TEXT: &str = "std_msgs/msg/String";

/// A node that forwards its messages.
fn listener(executor: &Executor, topic: &str) -> Receiver<i64> {
    let (tell, told) = channel();
    let node = executor.create_node("listener", ()).unwrap();
    node.create_subscription(topic, QoS::keep_last(100_000), move |(), n: &Message<Int64>, _| {
        tell.send(n.data).unwrap();
    })
    .unwrap();
    told
}

fn next(heard: &Receiver<i64>) -> i64 {
    heard.recv_timeout(LONG).expect("a message comes")
}

fn publish(peer: &mut Peer, topic: &str, data: i64) {
    peer.ask(json!({"do": "publish", "topic": topic, "value": {"data": data}}));
}

#[test]
fn a_publisher_restarts() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let topic = unique_to(traffic, "restarted");
        let heard = listener(&executor, &topic);
        let spinning = Spinning::start(executor);
        for start in 0..2 {
            let mut peer = Peer::start("restarting");
            for time in 0..2 {
                advertise(&mut peer, &topic, INT64, json!({}));
                publish(&mut peer, &topic, 10 * start + time);
                assert_eq!(next(&heard), 10 * start + time);
                peer.ask(json!({"do": "unpublish", "topic": topic}));
            }
            peer.leave();
        }
        spinning.stop();
    }
}

#[test]
fn a_peer_is_killed_in_mid_stream() {
    let executor = executor(Traffic::Direct);
    let topic = unique("stream");
    let heard = listener(&executor, &topic);
    let spinning = Spinning::start(executor);
    for _ in 0..3 {
        let mut peer = Peer::start("victim");
        advertise(&mut peer, &topic, INT64, json!({"depth": 1000}));
        peer.ask(json!({"do": "publish", "topic": topic, "field": "data", "count": 100}));
        for n in 0..100 {
            assert_eq!(next(&heard), n);
        }
        // It would never end.
        peer.tell(json!({"do": "publish", "topic": topic, "field": "data", "first": 100,
            "count": 1i64 << 40}));
        let mut last = next(&heard);
        drop(peer); // kills it
        // Messages that had left it are in order, though a flood overwrites some of its messages.
        let mut survivor = Peer::start("survivor");
        advertise(&mut survivor, &topic, INT64, json!({}));
        publish(&mut survivor, &topic, -1);
        loop {
            let n = next(&heard);
            if n == -1 {
                break;
            }
            assert!(n > last, "{n} after {last}");
            last = n;
        }
    }
    assert_eq!(spinning.stop().failures().len(), 0);
}

/// Runs this test program's `twin` in a child process.
struct Twin(Child);

impl Twin {
    fn start(topic: &str, word: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "processes::twin", "--nocapture"]);
        command.env("RINGSPIN_TEST_TWIN", format!("{topic} {word}"));
        command.env(DOMAIN, domain().to_string()).stdin(Stdio::piped()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Has it end, and waits for that.
    fn end(mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The role of a twin: it says its word on its topic, and answers on it, until its input ends.
#[test]
fn twin() {
    let Ok(given) = std::env::var("RINGSPIN_TEST_TWIN") else { return };
    let (topic, word) = given.split_once(' ').unwrap();
    let executor = executor(Traffic::Direct);
    let node = executor.create_node(&twin_name(topic), ()).unwrap();
    let qos = QoS::keep_last(10).transient_local();
    let out = node.create_publisher::<Text>(topic, qos).unwrap();
    let (answers, word) = (out.clone(), word.to_owned());
    let answer = word.clone();
    node.create_subscription(&format!("{topic}/ask"), qos, move |(), text: &Message<Text>, _| {
        answers.publish(Text { data: format!("{answer} heard {}", text.data) })
    })
    .unwrap();
    let spinning = Spinning::start(executor);
    out.publish(Text { data: word }).unwrap();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    spinning.stop();
    std::io::stderr().flush().unwrap();
}

fn twin_name(topic: &str) -> String {
    format!("twin{}", topic.trim_start_matches("/t").split('/').next().unwrap())
}

fn texts(received: &[Value]) -> Vec<&str> {
    let mut texts: Vec<_> = received.iter().map(|text| text["data"].as_str().unwrap()).collect();
    texts.sort_unstable();
    texts
}

#[test]
fn two_processes_have_the_same_names() {
    let topic = unique("twins");
    let ask = format!("{topic}/ask");
    let mut peer = Peer::start("mother");
    let latched = json!({"durability": "transient_local"});
    subscribe(&mut peer, &topic, TEXT, latched.clone());
    let twins = ["castor", "pollux"].map(|word| Twin::start(&topic, word));
    let mut first = Vec::new();
    while first.len() < 2 {
        first.extend(received(&mut peer, &topic, 1));
    }
    assert_eq!(texts(&first), ["castor", "pollux"]);
    advertise(&mut peer, &ask, TEXT, latched);
    peer.ask(json!({"do": "publish", "topic": ask, "value": {"data": "you"}}));
    let mut answers = Vec::new();
    while answers.len() < 2 {
        answers.extend(received(&mut peer, &topic, 1));
    }
    assert_eq!(texts(&answers), ["castor heard you", "pollux heard you"]);
    let name = format!("/{}", twin_name(&topic));
    peer.ask(json!({"do": "wait_for_nodes", "name": name, "count": 2}));
    // One goes, the other one stays.
    let [castor, pollux] = twins;
    castor.end();
    peer.ask(json!({"do": "publish", "topic": ask, "value": {"data": "him"}}));
    assert_eq!(texts(&received(&mut peer, &topic, 1)), ["pollux heard him"]);
    pollux.end();
    peer.ask(json!({"do": "wait_for_nodes", "name": name, "count": 0}));
    let seen = peer.ask(json!({"do": "endpoints", "topic": topic}));
    assert_eq!(seen["publishers"], json!([]));
}

#[test]
fn nothing_stays_behind_when_an_executor_goes() {
    let mut peer = Peer::start("staying");
    for traffic in LIVE {
        let executor = executor(traffic);
        let name = format!("going{}", std::process::id());
        let topic = unique_to(traffic, "going");
        let node = executor.create_node(&name, ()).unwrap();
        let qos = QoS::default().transient_local();
        let out = node.create_publisher::<Int64>(&topic, qos).unwrap();
        node.create_subscription(&topic, qos, |(), _: &Message<Int64>, _| {}).unwrap();
        node.create_service(&topic, QoS::services(), |(), n: &i64, _| *n).unwrap();
        let spinning = Spinning::start(executor);
        out.publish(Int64 { data: 1 }).unwrap();
        let full_name = format!("/{name}");
        peer.ask(json!({"do": "wait_for_nodes", "name": full_name}));
        // A handle that outlives the executor keeps its publisher, and no node.
        drop((spinning.stop(), node));
        drop(out);
        peer.ask(json!({"do": "wait_for_nodes", "name": full_name, "count": 0}));
        let seen = peer.ask(json!({"do": "endpoints", "topic": topic}));
        assert_eq!(seen, json!({"publishers": [], "subscriptions": []}), "{traffic:?}");
    }
}

#[test]
fn names_are_remapped_as_the_arguments_say() {
    let pid = std::process::id();
    let rules = [
        "--ros-args".into(),
        "-r".into(),
        format!("__ns:=/fleet{pid}"),
        "-r".into(),
        format!("pilot:__node:=captain{pid}"),
        "-r".into(),
        format!("chatter:=/news{pid}"),
        "-r".into(),
        "stop:=halt".to_owned(),
    ];
    let (arguments, rest) = Arguments::parse(rules).unwrap();
    assert!(rest.is_empty());
    let executor = executor(Traffic::Direct).with_arguments(arguments);
    let node = executor.create_node("pilot", ()).unwrap();
    let qos = QoS::default().transient_local();
    let out = node.create_publisher::<Text>("chatter", qos).unwrap();
    let _status = node.create_publisher::<Text>("status", qos).unwrap();
    use ringspin::messages::std_srvs::srv::SetBool::{Request, Response};
    node.create_service("stop", QoS::services(), |(), request: &Request, _| Response {
        success: request.data,
        message: String::new(),
    })
    .unwrap();
    let spinning = Spinning::start(executor);
    out.publish(Text { data: "hello".into() }).unwrap();
    let mut peer = Peer::start("reader");
    let name = format!("/fleet{pid}/captain{pid}");
    peer.ask(json!({"do": "wait_for_nodes", "name": name}));
    let news = format!("/news{pid}");
    subscribe(&mut peer, &news, TEXT, json!({"durability": "transient_local"}));
    assert_eq!(texts(&received(&mut peer, &news, 1)), ["hello"]);
    let seen = peer.ask(json!({"do": "endpoints", "topic": news}));
    assert_eq!(seen["publishers"][0]["namespace"], format!("/fleet{pid}"));
    assert_eq!(seen["publishers"][0]["node"], format!("captain{pid}"));
    let topics = peer.ask(json!({"do": "topics"}));
    assert!(topics[format!("/fleet{pid}/status")].is_array(), "{topics}");
    let name = format!("/fleet{pid}/halt");
    let call = json!({"do": "call", "name": name, "type": "std_srvs/srv/SetBool",
        "value": {"data": true}});
    assert_eq!(peer.ask(call)["success"], true);
    // Its parameter services have its name.
    let name = format!("/fleet{pid}/captain{pid}/list_parameters");
    let call = json!({"do": "call", "name": name, "type": "rcl_interfaces/srv/ListParameters"});
    assert_eq!(peer.ask(call)["result"]["names"], json!(["use_sim_time"]));
    spinning.stop();
}
