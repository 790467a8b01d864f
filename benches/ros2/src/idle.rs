//! The cost of an idle graph: twenty nodes with fifty subscriptions.

use crate::measure::BoxError;
use ringspin_executor::{Message, QoS};
use ringspin_messages::std_msgs::msg::String as Text;
use ringspin_modes::Executor;
use ringspin_ros2::Ros2;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

pub(crate) const CONTENDERS: &[&str] = &[
    "ringspin, single",
    "r2r, one node",
    "r2r, a thread per node",
    "rclrs, one thread",
    "rclrs, a worker per node",
    "rclpy",
];

pub(crate) const NODES: usize = 20;
const SUBSCRIPTIONS: usize = 50;
const SETTLING: Duration = Duration::from_secs(4);
const MEASURED: Duration = Duration::from_secs(10);

/// The topics of node `number`: two or three.
pub(crate) fn topics(number: usize) -> impl Iterator<Item = String> {
    (number..SUBSCRIPTIONS).step_by(NODES).map(|topic| format!("/topic_{topic}"))
}

pub(crate) fn run(name: &str) -> Result<(), BoxError> {
    match name {
        "ringspin, single" => ringspin(),
        _ => Err(format!("no contender {name:?}").into()),
    }
}

fn ringspin() -> Result<(), BoxError> {
    let ros2 = Arc::new(Ros2::builder().connect()?);
    let mut executor = Executor::single_core().with_middleware(ros2)?;
    for number in 0..NODES {
        let node = executor.create_node(&format!("node_{number}"), ())?;
        for topic in topics(number) {
            node.create_subscription(&topic, QoS::default(), |(), _: &Message<Text>, _| ())?;
        }
    }
    println!("ready");
    executor.spin()?;
    Ok(())
}

/// Measures `child` from outside, and ends it.
pub(crate) fn measure(mut child: Child) -> Result<Value, BoxError> {
    let figures = look_at(&mut child);
    child.kill()?;
    child.wait()?;
    figures
}

fn look_at(child: &mut Child) -> Result<Value, BoxError> {
    let output = child.stdout.as_mut().ok_or("the contender has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    if line.trim() != "ready" {
        return Err("the contender is not ready".into());
    }
    sleep(SETTLING);
    let before = Threads::of(child.id())?;
    sleep(MEASURED);
    let after = Threads::of(child.id())?;
    let seconds = MEASURED.as_secs_f64();
    let per_second = |after: u64, before: u64| (after - before) as f64 / seconds;
    Ok(json!({
        "CPU %": per_second(after.busy_ns, before.busy_ns) / 1e7,
        "of which Fast DDS's threads": per_second(after.dds_busy_ns, before.dds_busy_ns) / 1e7,
        "wake-ups a second of the contender's threads": per_second(after.waits, before.waits),
        "of Fast DDS's": per_second(after.dds_waits, before.dds_waits),
        "threads of its own": after.own,
    }))
}

/// Cumulative figures of the threads of a process.
#[derive(Default)]
struct Threads {
    own: u64,
    busy_ns: u64,
    dds_busy_ns: u64,
    /// The number of sleeps, which equals the number of wake-ups.
    waits: u64,
    dds_waits: u64,
}

impl Threads {
    fn of(process: u32) -> Result<Self, BoxError> {
        let mut threads = Self::default();
        for thread in fs::read_dir(format!("/proc/{process}/task"))? {
            let folder = thread?.path();
            let read = |file: &str| fs::read_to_string(folder.join(file));
            let (name, status, times) = (read("comm")?, read("status")?, read("schedstat")?);
            let busy_ns: u64 = times.split(' ').next().unwrap_or_default().parse()?;
            let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
            let waits: u64 = line.unwrap_or_default().trim().parse()?;
            threads.busy_ns += busy_ns;
            if name.starts_with("dds.") {
                threads.dds_busy_ns += busy_ns;
                threads.dds_waits += waits;
            } else {
                threads.own += 1;
                threads.waits += waits;
            }
        }
        Ok(threads)
    }
}
