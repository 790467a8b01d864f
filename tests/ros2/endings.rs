//! Nodes and endpoints that come and go, as rclpy sees them.

use crate::{LIVE, Peer, Spinning, advertise, executor, subscribe, unique_to};
use ringspin::messages::std_msgs::msg::Int64;
use ringspin::ros2::Traffic;
use ringspin::{Context, Graph, Message, QoS};
use serde_json::json;

const INT64: &str = "std_msgs/msg/Int64";

/// The cycles after which a process has all memory that it keeps in any case.
const WARM: usize = 1_000;
/// Limit of the growth of each cycle. It was 31 bytes where that of rclpy with the same Fast DDS
/// was 105 kB.
const GROWTH_BYTES_MAX: usize = 512;

/// The memory of this process that is in RAM.
pub(crate) fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn resident_bytes_of(peer: &mut Peer) -> usize {
    peer.ask(json!({"do": "resident"})).as_u64().unwrap() as usize
}

/// The nodes that are there at once.
const GUESTS: usize = 20;

/// Creates nodes with endpoints and destroys them, over and over; each time the peer sees both.
fn come_and_go(graph: &Graph, peer: &mut Peer, topic: &str, cycles: usize) {
    let mut wait_for = |ends: usize| {
        peer.ask(json!({"do": "count", "topic": topic, "publishers": ends, "subscriptions": ends}));
    };
    let create = |n: usize| {
        let node = graph.create_node(&format!("guest{n}"), 0i64).unwrap();
        let out = node.create_publisher::<Int64>(topic, QoS::default()).unwrap();
        let add = |sum: &mut i64, n: &Message<Int64>, _: &mut Context<'_>| *sum += n.data;
        node.create_subscription(topic, QoS::default(), add).unwrap();
        (node, out)
    };
    for _ in 0..cycles / GUESTS {
        let guests: Vec<_> = (0..GUESTS).map(create).collect();
        wait_for(1 + GUESTS);
        guests[0].1.publish(Int64 { data: 1 }).unwrap();
        guests.iter().for_each(|(node, _)| node.destroy());
        drop(guests);
        wait_for(1);
    }
}

/// The executor, and a peer with both ends of `topic`.
fn begin(traffic: Traffic, topic: &str) -> (Graph, Spinning, Peer) {
    let executor = executor(traffic);
    let graph = executor.graph().clone();
    let spinning = Spinning::start(executor);
    let mut peer = Peer::start("watcher");
    subscribe(&mut peer, topic, INT64, json!({}));
    advertise(&mut peer, topic, INT64, json!({}));
    (graph, spinning, peer)
}

#[test]
fn peer_sees_endpoints_come_and_go() {
    for traffic in LIVE {
        let topic = unique_to(traffic, "guests");
        let (graph, spinning, mut peer) = begin(traffic, &topic);
        come_and_go(&graph, &mut peer, &topic, 100);
        let executor = spinning.stop();
        assert_eq!((executor.failures().len(), graph.info().callbacks.len()), (0, 0));
    }
}

#[test]
#[ignore = "slow: ten thousand cycles; scripts/test-ros2 slow runs it"]
fn slow_memory_is_flat_while_endpoints_come_and_go() {
    const CYCLES: usize = 10_000;
    let topic = unique_to(Traffic::Direct, "guests");
    let (graph, spinning, mut peer) = begin(Traffic::Direct, &topic);
    come_and_go(&graph, &mut peer, &topic, WARM);
    let warm = [resident_bytes(), resident_bytes_of(&mut peer)];
    let mut last = warm;
    for thousand in 1..=CYCLES / 1_000 {
        come_and_go(&graph, &mut peer, &topic, 1_000);
        let now = [resident_bytes(), resident_bytes_of(&mut peer)];
        let grown = [0, 1].map(|n| now[n] as i64 - last[n] as i64);
        println!("{thousand}000 cycles: {now:?} bytes here and in rclpy, {grown:?} more");
        last = now;
    }
    let own = last[0].saturating_sub(warm[0]) / CYCLES;
    println!("growth of each cycle here: {own} bytes");
    let mut of_rclpy = || {
        let topic = format!("{topic}_own");
        peer.ask(json!({"do": "come_and_go", "topic": topic, "type": INT64, "cycles": 100}));
        resident_bytes_of(&mut peer)
    };
    let first = of_rclpy();
    (0..3).for_each(|_| _ = of_rclpy());
    let grown = of_rclpy().saturating_sub(first);
    println!("growth of each cycle of rclpy's own: {} bytes", grown / 400);
    assert_eq!(spinning.stop().failures(), []);
    assert!(own < GROWTH_BYTES_MAX, "{own} bytes");
}
