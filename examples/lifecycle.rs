//! A managed node: a camera that another node configures, activates and deactivates.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example lifecycle` (or `single`, `multi`).

use ringspin::lifecycle::Transition;
use ringspin::{Executor, FromEnv, Message, QoS};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;

    let camera = executor.create_node("camera", 0u32)?;
    let out = camera.create_publisher::<u32>("image", QoS::sensor_data())?;
    let lifecycle = camera
        .lifecycle()
        .on_configure(|images, cx| {
            *images = 0;
            println!("{}: configured", cx.now());
        })
        .on_activate(|_, cx| println!("{}: active", cx.now()))
        .on_deactivate(|images, cx| println!("{}: at rest after {images}", cx.now()))
        .create()?;
    let out = lifecycle.publisher(out);
    camera.create_timer(10 * MS, move |images, _| {
        *images += 1;
        out.publish(*images) // ignored unless the camera is active
    })?;

    let viewer = executor.create_node("viewer", ())?;
    viewer.create_subscription("image", QoS::sensor_data(), |_, image: &Message<u32>, cx| {
        println!("{}: image {}", cx.now(), **image);
    })?;

    let operator = executor.create_node("operator", 0)?;
    operator.create_timer(25 * MS, move |step, cx| {
        let steps = [Transition::Configure, Transition::Activate, Transition::Deactivate];
        match steps.get(*step) {
            Some(&transition) => lifecycle.request(transition)?,
            None => cx.stop(),
        }
        *step += 1;
        anyhow::Ok(())
    })?;

    executor.spin()?;
    Ok(())
}
