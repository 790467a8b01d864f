//! Messages and nodes leave nothing behind. It is a separate process, because it looks at its
//! memory.

#![cfg(ros_is_sourced)]

#[path = "common/peer.rs"]
mod peer;

use peer::{domain, unique};
use ringspin_executor::QoS;
use ringspin_messages::std_msgs::msg::String as Text;
use ringspin_ros2::rcl::{
    Context, ContextOptions, Locals, Node, NodeOptions, Publisher, Reach, Subscription,
    live_messages,
};
use std::time::Duration;

const MESSAGES: usize = 1_000_000;
const BATCH: usize = 100;
/// Bytes by which the process may grow, once warm: less than three bytes for each message.
const GROWTH_BYTES_MAX: usize = 2 << 20;

/// The memory of this process that is in RAM.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn context() -> Context {
    let (domain, reach) = (Some(domain()), Reach::LocalHost);
    let options = ContextOptions { domain, reach, log_files: false, console: true };
    Context::with_options(&[], &options).unwrap()
}

#[test]
fn nodes_end_their_publishers_of_logs() {
    let context = context();
    let create = |name: &str| Node::new(&context, "", name, NodeOptions::default()).unwrap();
    let observer = create("observer");
    (0..10).for_each(|n| drop(create(&format!("guest_{n}"))));
    // One is its own, and one may be of the other test.
    let are_gone = |node: &Node| Ok(node.count_publishers("/rosout")? <= 2);
    assert!(observer.wait_for(Duration::from_secs(10), are_gone).unwrap());
}

#[test]
fn a_million_messages_leave_nothing_behind() {
    let context = context();
    let node = Node::new(&context, "", "endless", NodeOptions::default()).unwrap();
    let qos = QoS::keep_last(BATCH);
    let publisher = Publisher::<Text>::new(&node, &unique("endless"), &qos).unwrap();
    let mut subscription =
        Subscription::<Text>::new(&node, &unique("endless"), &qos, Locals::Deliver).unwrap();
    let matched = |_: &Node| Ok(publisher.subscription_count()? == 1);
    assert!(node.wait_for(Duration::from_secs(30), matched).unwrap());
    assert_eq!(live_messages(), 0, "topics need no C structs");
    let message = Text { data: "longer than a string that fits where its pointer is".into() };
    let mut warm_bytes = 0;
    for batch in 0..MESSAGES / BATCH {
        if batch == MESSAGES / BATCH / 10 {
            warm_bytes = resident_bytes();
        }
        for _ in 0..BATCH {
            publisher.publish(&message).unwrap();
        }
        for _ in 0..BATCH {
            // Within one process the message is there when publish returns.
            let (taken, _) = subscription.take().unwrap().expect("a message");
            assert_eq!(taken, message);
        }
        assert_eq!(live_messages(), 0, "topics need no C structs");
    }
    let growth_bytes = resident_bytes().saturating_sub(warm_bytes);
    println!("{MESSAGES} messages: {growth_bytes} bytes more than after a tenth of them");
    assert!(growth_bytes < GROWTH_BYTES_MAX, "{growth_bytes} bytes");
    drop((publisher, subscription));
    assert_eq!(live_messages(), 0);
}
