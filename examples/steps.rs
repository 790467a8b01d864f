//! Spinning in steps within a custom loop, and the statistics at its end.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example steps` (or `single`; `multi` has a thread per
//! core, and refuses to step).

use ringspin::{ErrorKind, Executor, FromEnv, Message, QoS};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;
    let node = executor.create_node("node", 0u64)?;
    let out = node.create_publisher::<u64>("count", QoS::keep_last(1))?;
    node.create_timer(20 * MS, move |count, _| {
        // Two messages for a queue of one: the first one is overwritten and counted.
        *count += 2;
        out.publish(*count - 1)?;
        out.publish(*count)
    })?;
    node.create_subscription("count", QoS::keep_last(1), |_, n: &Message<u64>, cx| {
        println!("{}: {}", cx.now(), **n);
    })?;
    if executor.spin_some().is_err_and(|error| error.kind() == ErrorKind::Unsupported) {
        return Ok(());
    }
    while executor.statistics().overwritten() < 5 {
        executor.spin_once(10 * MS)?; // one event, or a timeout of 10 ms
        executor.spin_all(MS)?; // all ready events
    }
    for callback in executor.statistics().callbacks {
        println!("{callback:?}");
    }
    Ok(())
}
