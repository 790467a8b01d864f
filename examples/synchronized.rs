//! Synchronized subscriptions: a camera and a lidar, joined by measurement time.
//!
//! ```text
//! RINGSPIN_MODE=single        cargo run --example synchronized
//! RINGSPIN_MODE=multi         cargo run --example synchronized
//! RINGSPIN_MODE=deterministic cargo run --example synchronized
//! ```
//!
//! The camera takes 30 images a second, the lidar turns 10 times a second. Each sweep is joined
//! with the nearest image; the other images are dropped and counted.

use ringspin::sync::{ApproximateTime, Input, Stamped};
use ringspin::{Executor, FromEnv, QoS, Time};
use std::time::Duration;

struct Image {
    taken: Time,
    number: u64,
}

impl Stamped for Image {
    fn stamp(&self) -> Time {
        self.taken
    }
}

struct Sweep {
    middle: Time,
}

impl Stamped for Sweep {
    fn stamp(&self) -> Time {
        self.middle
    }
}

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut executor = Executor::from_env()?;
    executor.stop_on_ctrl_c()?;

    let camera = executor.create_node("camera", ())?;
    let images = camera.create_publisher("image", QoS::sensor_data())?;
    camera.create_timer(Duration::from_nanos(1_000_000_000 / 30), move |(), cx| {
        images.publish(Image { taken: cx.now(), number: cx.event().sequence })
    })?;

    let lidar = executor.create_node("lidar", ())?;
    let sweeps = lidar.create_publisher("sweep", QoS::sensor_data())?;
    // A sweep is complete half a turn after its middle.
    lidar.create_timer(Duration::from_millis(100), move |(), cx| {
        let half_a_turn_ns = 50_000_000;
        sweeps.publish(Sweep { middle: Time::from_nanos(cx.now().as_nanos() - half_a_turn_ns) })
    })?;

    let fusion = executor.create_node("fusion", 0)?;
    fusion.create_synchronized_subscription(
        (
            Input::<Image>::new("image", QoS::sensor_data()),
            Input::<Sweep>::new("sweep", QoS::sensor_data()),
        ),
        ApproximateTime::new(10),
        |joined, (image, sweep), cx| {
            let apart = image.taken - sweep.middle + (sweep.middle - image.taken);
            println!("{}: image {} and a sweep, {apart:?} apart", cx.now(), image.number);
            *joined += 1;
            if *joined == 10 {
                cx.stop();
            }
        },
    )?;

    executor.spin()?;
    println!("images without a sweep: {}", executor.statistics().unmatched());
    if let Some((digest, dispatches)) = executor.digest() {
        println!("digest of {dispatches} dispatches: {digest}");
    }
    Ok(())
}
