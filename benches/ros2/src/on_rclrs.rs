//! The contenders of rclrs. All nodes of its executor share one thread, and each worker has a
//! thread, which takes messages and calls callbacks; those of a node's subscriptions are called by
//! the thread that spins.

mod system;

use crate::hop::{COUNT, DEPTH, PERIOD, TO_SKIP, TOPIC, cloud, stamp_ns};
use crate::measure::{BoxError, Recorder};
use crate::nodes::locked;
use crate::timers::{MEASURED, TIMERS, period};
use crate::{idle, spins, timers};
use rclrs::*;
use ringspin_bench::process::CpuMeter;
use ros_env::sensor_msgs::msg::PointCloud2;
use ros_env::std_msgs::msg::String as Text;
use serde_json::Value;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) fn run(comparison: &str, name: &str) -> Result<(), BoxError> {
    let figures = match (comparison, name) {
        ("hop", "rclrs, one node") => hop(false)?,
        ("hop", "rclrs, two workers") => hop(true)?,
        ("system", "rclrs, one thread") => system::run(false)?,
        ("system", "rclrs, a worker per node") => system::run(true)?,
        ("idle", "rclrs, one thread") => return idle(false),
        ("idle", "rclrs, a worker per node") => return idle(true),
        ("timers", "rclrs, one node") => timers()?,
        ("spins", "rclrs, one node") => spins()?,
        _ => return Err(format!("no contender {name:?}").into()),
    };
    println!("{figures}");
    Ok(())
}

/// An error that names the cause: some of rclrs's are only a code.
fn failed(errors: Vec<RclrsError>) -> Result<(), BoxError> {
    Ok(errors.timeout_ok().first_error()?)
}

fn hop(is_in_workers: bool) -> Result<Value, BoxError> {
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("both")?;
    let out = node.create_publisher::<PointCloud2>(TOPIC.keep_last(DEPTH as u32))?;
    let (sender, figures) = channel();
    let (recorder, commands) = (Recorder::new(TO_SKIP, COUNT), executor.commands().clone());
    let mut recorder = recorder;
    let arrived = move |cloud: PointCloud2| {
        if let Some(figures) = recorder.arrived(stamp_ns!(cloud)) {
            let _ = sender.send(figures);
            commands.halt_spinning();
        }
    };
    let publish = move || out.publish(cloud!(PointCloud2)).expect("the context is there");
    let topic = TOPIC.keep_last(DEPTH as u32);
    if is_in_workers {
        let (talker, listener) = (node.create_worker(()), node.create_worker(arrived));
        let _timer = talker.create_timer_repeating(PERIOD, move |_: &mut ()| publish())?;
        let _subscription = listener.create_subscription(topic, call_payload)?;
        failed(executor.spin(SpinOptions::new()))?;
    } else {
        let arrived = Mutex::new(arrived);
        let _timer = node.create_timer_repeating(PERIOD, publish)?;
        let arrived = move |cloud: PointCloud2| locked(&arrived)(cloud);
        let _subscription = node.create_subscription(topic, arrived)?;
        failed(executor.spin(SpinOptions::new()))?;
    }
    Ok(figures.try_recv()?)
}

/// Calls the payload of a worker with a message.
fn call_payload<F: FnMut(PointCloud2)>(call: &mut F, cloud: PointCloud2) {
    call(cloud);
}

fn idle(is_in_workers: bool) -> Result<(), BoxError> {
    let mut executor = Context::default().create_basic_executor();
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    for number in 0..idle::NODES {
        let node = executor.create_node(&*format!("node_{number}"))?;
        let worker = is_in_workers.then(|| node.create_worker(()));
        for topic in idle::topics(number) {
            match &worker {
                Some(worker) => {
                    let ignore = |_: &mut (), _: Text| ();
                    kept.push(Box::new(worker.create_subscription(&*topic, ignore)?));
                }
                None => kept.push(Box::new(node.create_subscription(&*topic, |_: Text| ())?)),
            }
        }
        kept.push(Box::new((node, worker)));
    }
    println!("ready");
    failed(executor.spin(SpinOptions::new()))
}

fn timers() -> Result<Value, BoxError> {
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("timers")?;
    let ticks = Arc::new(Mutex::new(0));
    let mut kept = Vec::new();
    for number in 0..TIMERS {
        let ticks = ticks.clone();
        kept.push(node.create_timer_repeating(period(number), move || *locked(&ticks) += 1)?);
    }
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    failed(executor.spin(SpinOptions::new().timeout(MEASURED)))?;
    let ticks = *locked(&ticks);
    timers::figures(ticks, &meter, since)
}

fn spins() -> Result<Value, BoxError> {
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("node")?;
    let _subscription = node.create_subscription("/spins", |_: Text| ())?;
    let options = || SpinOptions::spin_once().timeout(std::time::Duration::ZERO);
    spins::measure(|| failed(executor.spin(options())))
}
