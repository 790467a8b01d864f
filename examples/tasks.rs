//! Tasks: `async` code that awaits ticks, messages and responses, with the ordering of callbacks.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example tasks` (or `single`, `multi`).

use ringspin::{CallError, Executor, FromEnv, PublishError, QoS};
use std::time::Duration;

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;

    let sensor = executor.create_node("sensor", ())?;
    let out = sensor.create_publisher::<u64>("distance", QoS::sensor_data())?;
    let mut interval = sensor.create_interval(Duration::from_millis(20))?;
    sensor.spawn("measure", async move {
        loop {
            let tick = interval.tick().await;
            out.publish(tick.number * tick.number)?;
            if tick.number == 1000 {
                return Ok::<(), PublishError<u64>>(());
            }
        }
    })?;

    let scaler = executor.create_node("scaler", ())?;
    scaler.create_service("to_mm", QoS::services(), |_, metres: &u64, _| metres * 1000)?;

    let node = executor.create_node("report", Vec::new())?;
    let mut distances = node.create_stream::<u64>("distance", QoS::sensor_data())?;
    let to_mm = node.create_client::<u64, u64>("to_mm", QoS::services())?;
    node.spawn_with_state("collect", |state| async move {
        loop {
            let metres = distances.next().await;
            let millimetres = *to_mm.call_async(*metres).await?;
            let collected = state.with(move |all: &mut Vec<u64>, cx| {
                all.push(millimetres);
                println!("{}: {all:?}", cx.now());
                all.len()
            });
            if collected.await == 5 {
                state.with(|_, cx| cx.stop()).await;
                return Ok::<(), CallError>(());
            }
        }
    })?;

    executor.spin()?;
    Ok(())
}
