//! Quality of service: a map for late joiners, and a lidar with a deadline.
//!
//! ```text
//! RINGSPIN_MODE=deterministic cargo run --example qos
//! ```
//!
//! The map is published once, before the start, and the planner subscribes when it needs it. The
//! lidar offers a deadline of 100 ms and misses it. A publisher that offers less than the planner
//! requests cannot be created.

use ringspin::qos::SubscriptionEvents;
use ringspin::{Context, Executor, FromEnv, Message, QoS};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const MAP: QoS = QoS::keep_last(1).transient_local();
const SCAN: QoS = QoS::sensor_data().deadline(Duration::from_millis(100));

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut executor = Executor::from_env()?;

    let server = executor.create_node("map_server", ())?;
    // The data that it keeps for late joiners goes with its last handle.
    let map = server.create_publisher("map", MAP)?;
    map.publish(String::from("a room with two doors"))?;

    let lidar = executor.create_node("lidar", 0u32)?;
    let scan = lidar.create_publisher("scan", SCAN)?;
    lidar.create_timer(50 * MS, move |count, _| {
        *count += 1;
        match *count {
            5..12 => Ok(()), // out of order from 250 to 550 ms
            n => scan.publish(n),
        }
    })?;

    let planner = executor.create_node("planner", String::from("no map"))?;
    let events = SubscriptionEvents::new()
        .on_deadline_missed(|_, missed, cx| println!("{}: no scan, {missed:?}", cx.now()))
        .on_liveliness_changed(|_, changed, cx| println!("{}: {changed:?}", cx.now()));
    let request = SCAN.deadline(150 * MS);
    planner.create_subscription_with_events("scan", request, events, {
        let planner = planner.clone();
        move |known: &mut String, n: &Message<u32>, cx| {
            println!("{}: scan {} with {known}", cx.now(), **n);
            match **n {
                3 => drop(planner.create_subscription("map", MAP, read_map)?),
                13 => cx.stop(),
                _ => {}
            }
            Ok::<_, ringspin::Error>(())
        }
    })?;

    executor.spin()?;
    if let Some((digest, dispatches)) = executor.digest() {
        println!("digest of {dispatches} dispatches: {digest}");
    }
    Ok(())
}

fn read_map(known: &mut String, text: &Message<String>, cx: &mut Context<'_>) {
    println!("{}: the map is {}", cx.now(), **text);
    known.clone_from(text);
}
