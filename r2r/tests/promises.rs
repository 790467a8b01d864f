//! Promises that r2r 0.9.7 does not keep: `scripts/compare-clients` runs this file on it as well,
//! where each test has to fail.

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

#[test]
fn a_stream_that_is_full_keeps_the_newest_message() -> Result {
    let mut node = node("newest")?;
    let qos = QosProfile::default;
    let mut messages = node.subscribe::<Int32>("newest/numbers", qos())?;
    let publisher = node.create_publisher::<Int32>("newest/numbers", qos())?;
    wait_for_subscription(&mut node, &publisher)?;
    for data in 0..30 {
        publisher.publish(&Int32 { data })?;
        node.spin_once(STEP);
    }
    // So often in vain only where it is lost.
    let newest = (0..500).find_map(|_| {
        node.spin_once(STEP);
        let mut heard = std::iter::from_fn(|| messages.next().now_or_never().flatten());
        heard.find(|message| message.data == 29)
    });
    assert!(newest.is_some());
    Ok(())
}

#[test]
fn one_spin_takes_all_that_has_come() -> Result {
    let mut node = node("several")?;
    let mut messages = node.subscribe::<Int32>("several/numbers", QosProfile::default())?;
    let publisher = node.create_publisher::<Int32>("several/numbers", QosProfile::default())?;
    wait_for_subscription(&mut node, &publisher)?;
    let mut taken_max = 0;
    // So often in vain only where a spin takes one message.
    for _ in 0..100 {
        for data in 0..5 {
            publisher.publish(&Int32 { data })?;
        }
        node.spin_once(STEP);
        let taken = std::iter::from_fn(|| messages.next().now_or_never().flatten()).count();
        taken_max = taken_max.max(taken);
    }
    assert!(taken_max > 1);
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
