//! The peer itself: the requests of the tests work between two of its kind.

use crate::{Peer, unique};
use serde_json::{Value, json};

const FIBONACCI: &str = "test_msgs/action/Fibonacci";

/// Has `peer` send a goal, and returns its outcome.
fn goal(peer: &mut Peer, name: &str, cancel: bool) -> Value {
    let value = json!({"order": 5});
    let goal =
        json!({"do": "goal", "name": name, "type": FIBONACCI, "value": value, "cancel": cancel});
    peer.ask(goal)
}

#[test]
fn actions_succeed_are_cancelled_and_are_rejected() {
    let (mut server, mut client) = (Peer::start("acting"), Peer::start("wishing"));
    let [plain, held, refused] = ["plain", "held", "refused"].map(unique);
    let feedback = json!([{"sequence": [0, 1]}, {"sequence": [0, 1, 1]}]);
    let action = |name: &str| json!({"do": "action_server", "name": name, "type": FIBONACCI});
    let mut plainly = action(&plain);
    plainly["result"] = json!({"sequence": [0, 1, 1, 2]});
    plainly["feedback"] = feedback.clone();
    plainly["waits"] = json!(true);
    server.ask(plainly);
    let mut holding = action(&held);
    holding["hold"] = json!(true);
    server.ask(holding);
    let mut refusing = action(&refused);
    refusing["accept"] = json!(false);
    server.ask(refusing);

    for name in [&plain, &held, &refused] {
        client.ask(json!({"do": "goal_client", "name": name, "type": FIBONACCI}));
        for service in ["send_goal", "cancel_goal", "get_result"] {
            let name = format!("{name}/_action/{service}");
            server.ask(json!({"do": "client_matched", "name": name}));
        }
    }

    let goal_of_plain = json!({"do": "goal", "name": plain, "type": FIBONACCI,
        "value": {"order": 5}, "feedback": 2});
    let number = client.tell(goal_of_plain);
    let heard = client.tell(json!({"do": "feedback", "name": plain, "at_least": 2}));
    assert_eq!(client.answer(heard), true);
    server.ask(json!({"do": "finish", "name": plain}));
    let done = client.answer(number);
    assert_eq!((&done["status"], &done["feedback"]), (&json!(4), &feedback));
    assert_eq!(done["result"]["sequence"], json!([0, 1, 1, 2]));
    assert_eq!(goal(&mut client, &held, true)["status"], 5);
    assert_eq!(goal(&mut client, &refused, false)["accepted"], false);
}

#[test]
fn parameters_are_listed_read_and_set() {
    let (mut owner, mut asker) = (Peer::start("owner"), Peer::start("asker"));
    owner.ask(json!({"do": "declare_parameter", "name": "gain", "value": 1.5}));
    let mut call = |service: &str, kind: &str, value: Value| {
        let name = format!("/owner/{service}");
        let kind = format!("rcl_interfaces/srv/{kind}");
        asker.ask(json!({"do": "call", "name": name, "type": kind, "value": value}))
    };
    let listed = call("list_parameters", "ListParameters", json!({}));
    let names = listed["result"]["names"].as_array().unwrap();
    assert!(names.contains(&json!("gain")), "{listed}");
    let read = call("get_parameters", "GetParameters", json!({"names": ["gain"]}));
    assert_eq!(read["values"][0]["double_value"], 1.5);
    let value = json!({"type": 3, "double_value": 2.5});
    let set = json!({"parameters": [{"name": "gain", "value": value}]});
    let set = call("set_parameters", "SetParameters", set);
    assert_eq!(set["results"][0]["successful"], true, "{set}");
    let described = call("describe_parameters", "DescribeParameters", json!({"names": ["gain"]}));
    assert_eq!(described["descriptors"][0]["type"], 3);
    assert_eq!(owner.ask(json!({"do": "get_parameter", "name": "gain"})), 2.5);
}

#[test]
fn commands_that_fail_are_answered_with_errors() {
    let mut peer = Peer::start("clumsy");
    let number = peer.tell(json!({"do": "publish", "topic": "unknown"}));
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| peer.answer(number)));
    let text = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("publish: KeyError"), "{text}");
    let wait = json!({"do": "received", "topic": "nothing", "timeout": 0.1});
    let number = peer.tell(wait);
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| peer.answer(number)));
    let text = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("time is up with 0 messages"), "{text}");
    assert!(peer.ask(json!({"do": "nodes"})).as_array().unwrap().contains(&json!("/clumsy")));
}
