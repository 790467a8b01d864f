//! A node without violations: it takes time, randomness, order and configuration from ringspin.

use rand::RngExt;
use ringspin_executor::rand_core::Rng;
use ringspin_executor::{BoxError, Digest, DigestHasher, Graph, Message, QoS, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The state: landmarks with the time of their last observation.
#[derive(Default, Digest)]
#[digest(crate = "ringspin_executor")]
pub struct Tracker {
    seen: BTreeMap<u32, Time>,
    lost: BTreeSet<u32>,
}

/// Adds the node to `graph`.
///
/// # Errors
/// The errors of the graph.
pub fn tracker(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("tracker", Tracker::default())?;
    let patience = node.declare_parameter("patience", 0.5)?;
    let digests = node.create_publisher::<u64>("digests", QoS::default())?;
    let mut noise = node.create_random("noise")?;
    let mut identities = node.create_random("identities")?;

    node.create_subscription(
        "landmarks",
        QoS::keep_last(8),
        move |state, id: &Message<u32>, cx| {
            let error = Duration::from_secs_f64(noise.random_range(0.0..1e-3));
            state.lost.remove(id);
            state.seen.insert(**id, cx.now() + error);
        },
    )?;
    node.create_timer(Duration::from_millis(100), move |state: &mut Tracker, cx| {
        let patience = Duration::from_secs_f64(patience.get());
        let is_late = |seen: &Time| cx.now() - *seen > patience;
        state.lost.extend(state.seen.iter().filter(|(_, seen)| is_late(seen)).map(|(id, _)| *id));
        digests.publish(DigestHasher::of(state) ^ identities.next_u64())
    })?;
    let mut interval = node.create_interval(Duration::from_secs(1))?;
    node.spawn("reminder", async move {
        for _ in 0..3 {
            interval.tick().await;
        }
    })?;
    Ok(())
}
