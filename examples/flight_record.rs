//! A bug that shows on several cores only now and then: record the run, and replay it.
//!
//! ```text
//! export RINGSPIN_RECORD=target/run.mcap
//! RINGSPIN_MODE=multi cargo run --features flight --example flight_record
//! unset RINGSPIN_RECORD
//! RINGSPIN_REPLAY=target/run.mcap cargo run --features flight --example flight_record
//! ```
//!
//! A camera and a lidar measure every 2 ms, and a fusion joins each scan with the newest frame. It
//! assumes that the frame of the same cycle comes first. The camera is faster, so it usually does;
//! on several cores, now and then, the load of the moment delays it. The replay joins the same
//! wrong pairs at the same times, as often as it runs: under a debugger, or with more output in the
//! callbacks.

use ringspin::prelude::*;
use std::hint::black_box;
use std::time::Duration;

const PAIRS: u64 = 500;
const PERIOD: Duration = Duration::from_millis(2);

/// The work of a sensor's driver.
fn compute(steps: u32) {
    for step in 0..steps {
        black_box(step);
    }
}

#[derive(Default)]
struct Fusion {
    frame: Time,
    pairs: u64,
    wrong: u64,
}

fn main() -> ringspin::Result<()> {
    let mut executor = Executor::from_env()?;
    for (name, topic, steps) in [("camera", "frame", 1_000), ("lidar", "scan", 5_000)] {
        let node = executor.create_node(name, ())?;
        let out = node.create_publisher::<Time>(topic, QoS::default())?;
        node.create_timer(PERIOD, move |_, cx| {
            compute(steps);
            out.publish(cx.scheduled_time().unwrap_or_default())
        })?;
    }
    let fusion = executor.create_node("fusion", Fusion::default())?;
    fusion.create_subscription("frame", QoS::default(), |fusion, frame: &Message<Time>, _| {
        fusion.frame = **frame;
    })?;
    fusion.create_subscription("scan", QoS::default(), |fusion, scan: &Message<Time>, cx| {
        fusion.pairs += 1;
        if fusion.frame != **scan {
            fusion.wrong += 1;
            let apart = scan.since(fusion.frame).max(fusion.frame.since(**scan));
            println!("{}: pair {} is {apart:?} apart", cx.now(), fusion.pairs);
        }
        if fusion.pairs == PAIRS {
            println!("{} of {PAIRS} pairs are wrong", fusion.wrong);
            cx.stop();
        }
    })?;
    executor.spin()
}
