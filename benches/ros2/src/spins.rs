//! A hundred thousand spins that do not wait, of a node with a subscription without messages.

use crate::measure::BoxError;
use ringspin_executor::{Message, QoS};
use ringspin_messages::std_msgs::msg::String as Text;
use ringspin_modes::Executor;
use ringspin_ros2::Ros2;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

pub(crate) const CONTENDERS: &[&str] = &["ringspin, single", "r2r, one node", "rclrs, one node"];

const TO_SKIP: usize = 1000;
const COUNT: usize = 100_000;

pub(crate) fn run(name: &str) -> Result<(), BoxError> {
    if name != "ringspin, single" {
        return Err(format!("no contender {name:?}").into());
    }
    let ros2 = Arc::new(Ros2::builder().connect()?);
    let mut executor = Executor::single_core().with_middleware(ros2)?;
    let node = executor.create_node("node", ())?;
    node.create_subscription("/spins", QoS::default(), |(), _: &Message<Text>, _| ())?;
    let spin = || executor.spin_some().map(drop).map_err(Into::into);
    println!("{}", measure(spin)?);
    Ok(())
}

/// The time of a call of `spin`, and by how much the memory of the process grows.
pub(crate) fn measure(mut spin: impl FnMut() -> Result<(), BoxError>) -> Result<Value, BoxError> {
    (0..TO_SKIP).try_for_each(|_| spin())?;
    let (before_kib, since) = (resident_kib()?, Instant::now());
    (0..COUNT).try_for_each(|_| spin())?;
    let us = since.elapsed().as_secs_f64() * 1e6 / COUNT as f64;
    Ok(json!({ "us a spin": us, "KiB grown": resident_kib()? - before_kib }))
}

fn resident_kib() -> Result<f64, BoxError> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.unwrap_or_default().trim().trim_end_matches(" kB").parse()?)
}
