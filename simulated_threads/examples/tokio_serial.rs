//! A driver in a node of a tokio program: a task of the node reads a device through a descriptor,
//! and the program's own runtime spins the executor, without a further thread. Run it once, and
//! twice with `RINGSPIN_MODE=deterministic`.

use ringspin::{Executor, FromEnv, Message, QoS};
use ringspin_simulated_threads as _;
use std::error::Error;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{interval, sleep};

/// The device, here at the other end of a pair of sockets: a line each 20 ms.
async fn measure(mut line: UnixStream) -> io::Result<()> {
    let mut period = interval(Duration::from_millis(20));
    for n in 0..50 {
        period.tick().await;
        line.write_all(format!("range {}\n", n * n).as_bytes()).await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (device, port) = UnixStream::pair()?; // or a port of the crate `tokio-serial`
    let measuring = tokio::spawn(measure(device));
    let mut executor = Executor::from_env()?;

    let driver = executor.create_node("driver", 0u32)?;
    let ranges = driver.create_publisher::<u32>("range", QoS::sensor_data())?;
    driver.spawn_with_state("read", |state| async move {
        let mut lines = BufReader::new(port).lines();
        while let Some(line) = lines.next_line().await? {
            let range = line.strip_prefix("range ").unwrap_or_default().parse()?;
            ranges.publish(range)?;
            state.with(|count, _| *count += 1).await;
        }
        state.with(|count, cx| println!("{count} lines until {}", cx.now())).await;
        state.with(|_, cx| cx.stop()).await;
        Ok::<(), Box<dyn Error + Send + Sync>>(())
    })?;

    let listener = executor.create_node("listener", ())?;
    listener.create_subscription("range", QoS::sensor_data(), |_, range: &Message<u32>, cx| {
        if range.is_multiple_of(400) {
            println!("{}: {} mm", cx.now(), **range);
        }
    })?;

    executor.spin_async(sleep).await?;
    measuring.await??;
    Ok(())
}
