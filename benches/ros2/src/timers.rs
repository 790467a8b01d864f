//! A thousand timers of one node, with periods of 10 to 1000 ms.

use crate::measure::BoxError;
use ringspin_bench::process::CpuMeter;
use ringspin_modes::Executor;
use ringspin_ros2::Ros2;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const CONTENDERS: &[&str] = &["ringspin, single", "r2r, one node", "rclrs, one node"];

pub(crate) const TIMERS: u64 = 1000;
pub(crate) const MEASURED: Duration = Duration::from_secs(5);

pub(crate) fn period(number: u64) -> Duration {
    Duration::from_millis(10 + number * 990 / TIMERS)
}

pub(crate) fn run(name: &str) -> Result<(), BoxError> {
    let figures = match name {
        "ringspin, single" => ringspin()?,
        _ => return Err(format!("no contender {name:?}").into()),
    };
    println!("{figures}");
    Ok(())
}

/// The figures since `since`, when `meter` began.
pub(crate) fn figures(ticks: u64, meter: &CpuMeter, since: Instant) -> Result<Value, BoxError> {
    let elapsed = since.elapsed();
    Ok(json!({
        "CPU %": meter.cpu_percent_of_one_core(elapsed)?,
        "ticks a second": ticks as f64 / elapsed.as_secs_f64(),
    }))
}

fn ringspin() -> Result<Value, BoxError> {
    let mut executor =
        Executor::single_core().with_middleware(Arc::new(Ros2::builder().connect()?))?;
    let node = executor.create_node("timers", 0_u64)?;
    for number in 0..TIMERS {
        node.create_timer(period(number), |ticks, _| *ticks += 1)?;
    }
    let (sender, ticks) = std::sync::mpsc::channel();
    let stop = executor.stop_handle();
    node.create_timer(MEASURED, move |ticks, _| {
        let _ = sender.send(*ticks);
        stop.stop();
    })?;
    executor.freeze()?;
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    executor.spin()?;
    figures(ticks.try_recv()?, &meter, since)
}
