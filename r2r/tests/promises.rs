//! Promises that r2r 0.9.7 does not keep: `scripts/compare-r2r` runs this file on it as well, where
//! each test has to fail.

use futures::{FutureExt, StreamExt};
use r2r::std_msgs::msg::Int32;
use r2r::std_srvs::srv::Trigger;
use r2r::{Context, Node, Publisher, QosProfile};
use std::time::{Duration, Instant};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const STEP: Duration = Duration::from_millis(10);

fn node(name: &str) -> Result<Node> {
    Ok(Node::create(Context::create()?, name, "")?)
}

/// Spins `node` until `publisher` has a subscription.
fn wait_for_subscription(node: &mut Node, publisher: &Publisher<Int32>) -> Result {
    let mut matched = publisher.wait_for_inter_process_subscribers()?;
    while (&mut matched).now_or_never().is_none() {
        node.spin_once(STEP);
    }
    Ok(())
}

/// Publishes `count` numbers on `topic`, for a reader that `spin` lets wait after each of them, and
/// then a mark on another topic. Returns what the reader has when the mark has come.
fn heard_until_mark(name: &str, count: i32, spin: impl Fn(&mut Node)) -> Result<Vec<i32>> {
    let mut node = node(name)?;
    let (topic, end) = (format!("{name}/numbers"), format!("{name}/end"));
    let qos = QosProfile::default;
    let mut messages = node.subscribe::<Int32>(&topic, qos())?;
    let mut mark = node.subscribe::<Int32>(&end, qos())?;
    let publisher = node.create_publisher::<Int32>(&topic, qos())?;
    let last = node.create_publisher::<Int32>(&end, qos())?;
    wait_for_subscription(&mut node, &publisher)?;
    wait_for_subscription(&mut node, &last)?;
    for data in 0..count {
        publisher.publish(&Int32 { data })?;
        spin(&mut node);
    }
    last.publish(&Int32 { data: 0 })?;
    while mark.next().now_or_never().is_none() {
        node.spin_once(STEP);
    }
    let mut heard = Vec::new();
    while let Some(Some(message)) = messages.next().now_or_never() {
        heard.push(message.data);
    }
    Ok(heard)
}

#[test]
fn a_stream_that_is_full_keeps_the_newest_messages() -> Result {
    let heard = heard_until_mark("newest", 30, |node| node.spin_once(STEP))?;
    assert_eq!(heard, (20..30).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_spin_takes_all_that_has_come() -> Result {
    assert_eq!(heard_until_mark("all", 5, |_| ())?, [0, 1, 2, 3, 4]);
    Ok(())
}

#[test]
fn a_node_that_only_publishes_waits_in_spin_once() -> Result {
    let mut node = node("waits")?;
    let _publisher = node.create_publisher::<Int32>("waits/numbers", QosProfile::default())?;
    let begin = Instant::now();
    for _ in 0..5 {
        node.spin_once(STEP);
    }
    assert!(begin.elapsed() >= 5 * STEP, "a thread that spins is busy all the time");
    Ok(())
}

#[test]
fn a_call_without_a_server_ends() -> Result {
    let mut node = node("calls")?;
    let qos = QosProfile::services_default();
    let client = node.create_client::<Trigger::Service>("calls/nowhere", qos)?;
    let mut call = client.request(&Trigger::Request::default())?;
    // So often in vain only where it never ends.
    let end = (0..500).find_map(|_| {
        node.spin_once(STEP);
        (&mut call).now_or_never()
    });
    assert!(matches!(end, Some(Err(_))));
    Ok(())
}
