//! Topics, publishers and subscriptions of other processes.

use crate::{Result, node, peer, spin, unique, until, within};
use r2r::QosProfile;
use r2r::qos::{DurabilityPolicy, HistoryPolicy, ReliabilityPolicy};
use r2r::std_msgs::msg::{Int32, String as Text};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_of_other_processes_are_waited_for_and_counted() -> Result {
    let (typed, untyped, kind) = (unique("typed"), unique("untyped"), "std_msgs/msg/String");
    let (mut counts, mut listens) = (node("counts")?, node("listens")?);
    let of_typed = counts.create_publisher::<Text>(&typed, QosProfile::default())?;
    let of_untyped = counts.create_publisher_untyped(&untyped, kind, QosProfile::default())?;
    assert_eq!(of_typed.get_inter_process_subscription_count()?, 0);
    let waits = (
        of_typed.wait_for_inter_process_subscribers()?,
        of_untyped.wait_for_inter_process_subscribers()?,
    );
    let _spinning = spin(counts);
    let mut peer = peer("listener");
    for topic in [&typed, &untyped] {
        peer.ask(json!({"do": "subscribe", "topic": topic, "type": kind}));
    }
    within(waits.0).await?;
    within(waits.1).await?;
    assert_eq!(of_typed.get_inter_process_subscription_count()?, 1);
    assert_eq!(of_untyped.get_inter_process_subscription_count()?, 1);
    // One of this process is counted, too, and once.
    let messages = listens.subscribe::<Text>(&typed, QosProfile::default())?;
    assert_eq!(of_typed.get_inter_process_subscription_count()?, 2);
    peer.ask(json!({"do": "unsubscribe", "topic": typed}));
    let count = || of_typed.get_inter_process_subscription_count();
    until("the peer's subscription has ended", || matches!(count(), Ok(1)).then_some(()));
    drop(messages);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_and_publishers_of_other_processes_are_known() -> Result {
    let topic = unique("known");
    let mut own = node("asks")?;
    let mut peer = peer("talker");
    peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/Int32",
        "qos": {"reliability": "best_effort", "durability": "transient_local"}}));
    let types =
        until("the topic is known", || own.get_topic_names_and_types().unwrap().remove(&topic));
    assert_eq!(types, ["std_msgs/msg/Int32"]);
    // The node of a publisher is known a moment after the publisher.
    let talker = until("its publisher is known", || {
        let mut publishers = own.get_publishers_info_by_topic(&topic, false).unwrap();
        publishers.pop().filter(|publisher| publisher.node_name == "talker")
    });
    assert_eq!((&*talker.node_namespace, &*talker.topic_type), ("/", "std_msgs/msg/Int32"));
    let qos = &talker.qos_profile;
    assert_eq!(qos.reliability, ReliabilityPolicy::BestEffort);
    assert_eq!(qos.durability, DurabilityPolicy::TransientLocal);
    assert_eq!(qos.history, HistoryPolicy::Unknown, "DDS does not tell it");
    let of_dds = own.get_publishers_info_by_topic(&format!("rt{topic}"), true)?;
    assert_eq!(of_dds[0].topic_type, "std_msgs::msg::dds_::Int32_");
    assert_eq!(of_dds[0].endpoint_gid, talker.endpoint_gid);
    let _publisher = own.create_publisher::<Int32>(&topic, QosProfile::default())?;
    until("this process's own is known as well", || {
        let publishers = own.get_publishers_info_by_topic(&topic, false).unwrap();
        let is_own = |publisher: &r2r::TopicEndpointInfo| publisher.node_name == "asks";
        (publishers.len() == 2 && publishers.iter().any(is_own)).then_some(())
    });
    assert!(own.get_publishers_info_by_topic("not a name", false).is_err());
    Ok(())
}
