//! A managed node that creates its parts when it is configured and destroys them when it is cleaned
//! up, and a manager that takes it through this twice.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example lifecycle` (or `single`, `multi`). Over ROS 2,
//! the services `/camera/change_state` and `/camera/get_state` are those of `lifecycle_msgs`.

use ringspin::lifecycle::{LifecyclePublisher, LifecycleState, Transition};
use ringspin::{Error, Executor, FromEnv, Message, Node, QoS, Result, Subscription, Timer};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A camera, with its parts while it is configured.
#[derive(Default)]
struct Camera {
    gain: u32,
    image: Option<LifecyclePublisher<u32>>,
    set_gain: Option<Subscription>,
    exposure: Option<Timer>,
}

impl Camera {
    fn configure(&mut self, node: &Node<Self>) -> Result<()> {
        self.image = Some(node.create_lifecycle_publisher("image", QoS::sensor_data())?);
        // Images are ignored unless the camera is active.
        self.exposure = Some(node.create_timer(10 * MS, |camera, _| {
            camera.image.iter().try_for_each(|image| image.publish(camera.gain))
        })?);
        let qos = QoS::default();
        self.set_gain =
            Some(node.create_subscription("gain", qos, |camera, gain: &Message<u32>, _| {
                camera.gain = **gain;
            })?);
        Ok(())
    }

    fn release(&mut self) {
        self.image = None; // a publisher ends with its last handle
        self.exposure.take().iter().for_each(Timer::destroy);
        self.set_gain.take().iter().for_each(Subscription::destroy);
    }
}

/// Takes the camera twice through its states.
async fn manage(node: Node<()>) -> Result<()> {
    let change = node.create_client::<Transition, bool>("camera/change_state", QoS::services())?;
    let state = node.create_client::<(), LifecycleState>("camera/get_state", QoS::services())?;
    let gain = node.create_publisher("gain", QoS::default())?;
    let mut images = node.create_stream::<u32>("image", QoS::sensor_data())?;
    for round in 1..=2 {
        for transition in [Transition::Configure, Transition::Activate] {
            assert!(*change.call_async(transition).await?);
            println!("{transition:?}: {:?}", *state.call_async(()).await?);
        }
        gain.publish(round)?;
        while *images.next().await != round {}
        println!("an image with gain {round}");
        for transition in [Transition::Deactivate, Transition::Cleanup] {
            assert!(*change.call_async(transition).await?);
            println!("{transition:?}: {:?}", *state.call_async(()).await?);
        }
    }
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;

    let camera = executor.create_node("camera", Camera::default())?;
    let own = camera.clone();
    camera
        .lifecycle()
        .on_configure(move |camera: &mut Camera, _| camera.configure(&own))
        .on_cleanup(|camera, _| camera.release())
        .on_error(|camera, _| camera.release())
        .create()?;

    let manager = executor.create_node("manager", ())?;
    let own = manager.clone();
    manager.spawn_with_state("manage", |state| async move {
        manage(own).await?;
        state.with(|_, cx| cx.stop()).await;
        Ok::<(), Error>(())
    })?;

    executor.spin()?;
    println!("publishers of images: {}", executor.graph().offered_qos("/image").len());
    Ok(())
}
