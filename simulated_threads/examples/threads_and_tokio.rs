//! A robot application of threads, tokio and a node, as anybody would write it: two sensors, a
//! controller, a log. Run it twice, and twice with `RINGSPIN_MODE=deterministic`.

use ringspin::{Executor, FromEnv, Message, QoS, StopHandle};
use ringspin_simulated_threads as _;
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{interval, sleep, timeout};

type Sample = (&'static str, u64);

/// Builds the node, with its two sensors, and spins until it is stopped.
fn spin(
    mut executor: Executor,
    log: UnboundedSender<String>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let node = executor.create_node("controller", 0u64)?;
    let samples = node.create_publisher::<Sample>("samples", QoS::sensor_data())?;
    let begin = Instant::now();
    node.create_subscription("samples", QoS::sensor_data(), {
        move |count: &mut u64, sample: &Message<Sample>, _| {
            let (sensor, n) = **sample;
            *count += 1;
            log.send(format!("{:?} {sensor} {n}, {count} in all", begin.elapsed()))
        }
    })?;
    // A driver that blocks, on a separate thread.
    let lidar = samples.clone();
    thread::spawn(move || {
        for n in 0.. {
            thread::sleep(Duration::from_millis(100));
            if lidar.publish(("lidar", n)).is_err() {
                return;
            }
        }
    });
    // Another one, as a task, which often comes late.
    tokio::spawn(async move {
        let mut period = interval(Duration::from_millis(30));
        for n in 0.. {
            period.tick().await;
            sleep(Duration::from_micros(rand::random_range(0..40_000))).await;
            if samples.publish(("imu", n)).is_err() {
                return;
            }
        }
    });
    Ok(executor.spin()?)
}

/// Shows the last lines of the log, and says how often no sample came for 30 ms.
async fn show(mut log: UnboundedReceiver<String>) {
    let (mut lines, mut pauses) = (Vec::new(), 0);
    loop {
        match timeout(Duration::from_millis(30), log.recv()).await {
            Ok(Some(line)) => lines.push(line),
            Ok(None) => break,
            Err(_) => pauses += 1,
        }
    }
    for line in lines.iter().rev().take(3).rev() {
        println!("{line}");
    }
    println!("{} lines, {pauses} pauses", lines.len());
}

async fn stop_later(stop: StopHandle) {
    sleep(Duration::from_secs(5)).await;
    stop.stop();
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (log, lines) = unbounded_channel();
    let executor = Executor::from_env()?;
    tokio::spawn(stop_later(executor.stop_handle()));
    let shown = tokio::spawn(show(lines));
    tokio::task::spawn_blocking(move || spin(executor, log)).await??;
    shown.await?;
    Ok(())
}
