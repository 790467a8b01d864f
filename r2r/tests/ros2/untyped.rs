//! Topics and services of types that are known by name.

use crate::{Result, node, peer, spin, unique, until, within};
use futures::StreamExt;
use r2r::{Error, Node, QosProfile};
use ringspin_ros2::rcl;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_calls_are_json() -> Result {
    let (there, back, service) = (unique("there"), unique("back"), unique("set"));
    let kind = "geometry_msgs/msg/PointStamped";
    let mut node = node("speaks_json")?;
    let publisher = node.create_publisher_untyped(&there, kind, QosProfile::default())?;
    let mut messages = node.subscribe_untyped(&back, kind, QosProfile::default())?;
    let set = "std_srvs/srv/SetBool";
    let client = node.create_client_untyped(&service, set, QosProfile::services_default())?;
    let (is_available, is_matched) =
        (Node::is_available(&client)?, publisher.wait_for_inter_process_subscribers()?);
    let _spinning = spin(node);
    let mut peer = peer("hears_json");
    peer.ask(json!({"do": "subscribe", "topic": there, "type": kind}));
    peer.ask(json!({"do": "publisher", "topic": back, "type": kind}));
    peer.ask(json!({"do": "service", "name": service, "type": set,
        "answer": {"success": true, "message": "añ"}}));
    within(is_matched).await?;
    publisher.publish(json!({"header": {"frame_id": "map"}, "point": {"y": 1.5}}))?;
    let heard = peer.ask(json!({"do": "received", "topic": there}))[0].take();
    let expected = json!({"header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": "map"},
        "point": {"x": 0.0, "y": 1.5, "z": 0.0}});
    assert_eq!(heard, expected);
    peer.ask(json!({"do": "matched", "topic": back}));
    peer.ask(json!({"do": "publish", "topic": back, "value": expected}));
    assert_eq!(within(messages.next()).await.unwrap()?, expected);
    within(is_available).await?;
    peer.ask(json!({"do": "client_matched", "name": service}));
    let response = within(client.request(json!({"data": true}))?).await??;
    assert_eq!(response, json!({"success": true, "message": "añ"}));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_can_be_of_any_installed_type() -> Result {
    let (there, back) = (unique("raw_there"), unique("raw_back"));
    // Its package is installed without `.msg` files, so there is no struct. Nor has rclpy one.
    let kind = "reference_interfaces/msg/Message4kb";
    let mut node = node("carries_bytes")?;
    let publisher = node.create_publisher_untyped(&back, kind, QosProfile::default())?;
    let mut echo = node.subscribe_raw(&back, kind, QosProfile::default())?;
    let mut bytes = node.subscribe_raw(&there, kind, QosProfile::default())?;
    let json = publisher.publish(json!({}));
    assert!(matches!(json, Err(Error::InvalidMessageType { .. })), "{json:?}");
    let untyped = node.subscribe_untyped(&there, kind, QosProfile::default());
    assert!(matches!(untyped.map(drop), Err(Error::InvalidMessageType { .. })));
    for unknown in ["reference_interfaces/msg/Message5kb", "std_msgs/msg/Strin", "nothing"] {
        let subscribed = node.subscribe_raw("/refused", unknown, QosProfile::default()).map(drop);
        let Err(Error::InvalidMessageType { msgtype }) = subscribed else { panic!("{unknown}") };
        assert!(msgtype.contains(unknown), "{msgtype}");
    }
    let context = rcl::Context::new(&[])?;
    let peer = rcl::Node::new(&context, "", "peer_of_bytes", rcl::NodeOptions::default())?;
    let qos = ringspin::QoS::default();
    let out = rcl::Publisher::named(&peer, &there, kind, &qos)?;
    let mut heard = rcl::Subscription::named(&peer, &back, kind, &qos, rcl::Locals::Deliver)?;
    until("all have found each other", || {
        let count = publisher.get_inter_process_subscription_count().unwrap();
        (out.subscription_count().unwrap() == 1 && count == 2).then_some(())
    });
    let _spinning = spin(node);
    out.publish_serialized(&[0, 1, 0, 0, 77])?;
    let message = within(bytes.next()).await.unwrap();
    assert_eq!(message[..5], [0, 1, 0, 0, 77]);
    publisher.publish_raw(&message)?;
    until("the peer hears it", || {
        heard.take_serialized().unwrap().map(|(bytes, _)| assert_eq!(bytes[..5], message[..5]))
    });
    assert_eq!(within(echo.next()).await, Some(message));
    Ok(())
}
