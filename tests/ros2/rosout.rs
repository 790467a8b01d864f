//! The log of the program on `/rosout`, read by rclpy.

use crate::{Peer, Spinning, builder};
use ringspin::ros2::Traffic;
use ringspin::{Context, Executor};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::layer::SubscriberExt;

#[test]
fn logs_of_callbacks_reach_rosout_under_the_names_of_their_nodes() {
    let ros2 = builder(Traffic::Direct).connect().unwrap();
    let executor = Executor::single_core().with_middleware(Arc::new(ros2.clone())).unwrap();
    let _first = executor.create_node("first", ()).unwrap();
    let second = executor.create_node("second", ()).unwrap();
    let subscriber = || tracing_subscriber::registry().with(ros2.log_layer().unwrap());
    let logs = tracing::Dispatch::new(subscriber());
    let say = move |(): &mut (), _: &mut Context<'_>| {
        tracing::dispatcher::with_default(&logs, || tracing::info!("in a callback"));
    };
    let speak = second.create_guard_condition("speak", say).unwrap();
    let mut peer = Peer::start("reads_log");
    peer.ask(json!({"do": "subscribe", "topic": "/rosout", "type": "rcl_interfaces/msg/Log",
        "qos": {"durability": "transient_local", "depth": 100}}));
    assert!(ros2.wait_for_subscribers("/rosout", Duration::from_secs(60)).unwrap());
    let spinning = Spinning::start(executor);
    tracing::subscriber::with_default(subscriber(), || {
        tracing::warn!(node = "/second", volts = 11, "the battery is low");
        tracing::info_span!("callback", node = "/second").in_scope(|| tracing::error!("in a span"));
        tracing::info!("no node's");
    });
    let mut lines = Vec::new();
    let mut read_until = |count| {
        while lines.len() < count {
            let heard = peer.ask(json!({"do": "received", "topic": "/rosout"}));
            let heard = heard.as_array().unwrap().iter();
            lines.extend(heard.filter(|log| log["file"] == file!()).cloned());
        }
    };
    read_until(3);
    speak.trigger();
    read_until(4);
    // Each node has a separate publisher: the lines of each are in order.
    lines.sort_by_key(|log| log["name"].as_str().map(ToOwned::to_owned));
    let shown: Vec<_> =
        lines.iter().map(|log| (&log["name"], &log["level"], &log["msg"])).collect();
    let expected = [
        (json!("first"), json!(20), json!("no node's")),
        (json!("second"), json!(30), json!("the battery is low volts=11")),
        (json!("second"), json!(40), json!("in a span")),
        (json!("second"), json!(20), json!("in a callback")),
    ];
    assert_eq!(shown, expected.each_ref().map(|(name, level, msg)| (name, level, msg)));
    assert!(lines[0]["line"].as_u64().unwrap() > 0);
    spinning.stop();
}
