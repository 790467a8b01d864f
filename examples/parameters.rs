//! A pilot with parameters, and an operator that changes them: the same nodes in every mode.
//!
//! ```text
//! cargo run --example parameters -- --ros-args -p speed:=0.5 -r pilot:__node:=captain
//! RINGSPIN_MODE=deterministic cargo run --example parameters
//! RINGSPIN_ROS_ARGS="--params-file examples/pilot.yaml" cargo run --example parameters
//! ```
//!
//! The operator raises the speed until its limit refuses. Each change is an event of the pilot.

use ringspin::ErrorKind;
use ringspin::parameter::ParameterChange;
use ringspin::{Executor, FromEnv};
use std::time::Duration;

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let (mut executor, args) = Executor::from_args_and_env()?;
    if let Some(argument) = args.get(1) {
        anyhow::bail!("no argument `{argument}` here; put ROS arguments after `--ros-args`");
    }

    let pilot = executor.create_node("pilot", ())?;
    let speed = pilot
        .parameter("speed")
        .default(1.0)
        .range(0.0..=2.0)
        .step(0.25)
        .description("the fastest that the robot may drive, in m/s")
        .declare()?;
    pilot.on_parameter_change(|(), changes, cx| {
        for change in changes {
            let ParameterChange { name, old, new } = change;
            println!("{}: {} changed {name} from {old} to {new}", cx.now(), cx.node());
        }
    })?;

    let operator = executor.create_node("operator", ())?;
    operator.create_timer(Duration::from_millis(100), move |(), cx| {
        match speed.set(speed.get() + 0.25) {
            Err(refusal) if refusal.kind() == ErrorKind::InvalidArgument => {
                println!("{}: {refusal}", cx.now());
                cx.stop();
                Ok(())
            }
            result => result,
        }
    })?;

    executor.spin()?;
    if let Some((digest, dispatches)) = executor.digest() {
        println!("digest of {dispatches} dispatches: {digest}");
    }
    Ok(())
}
