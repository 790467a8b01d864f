//! Spinning in steps, inside a loop of one's own, and every counter at the end.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example steps` (or `single`; `multi` has a thread per
//! core, and says so).

use ringspin::{Executor, Message, Mode, QoS, SpinError};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let mode = Mode::from_env()?;
    let several_threads = matches!(mode, Mode::MultiCore(_));
    let mut executor = Executor::new(mode);
    let node = executor.create_node("node", 0u64)?;
    let out = node.create_publisher::<u64>("count", QoS::keep_last(1))?;
    node.create_timer(20 * MS, move |count, _| {
        // Two at once into a queue of one: the first is overwritten, and counted.
        *count += 2;
        out.publish(*count - 1)?;
        out.publish(*count)
    })?;
    node.create_subscription("count", QoS::keep_last(1), |_, n: &Message<u64>, cx| {
        println!("{}: {}", cx.now(), **n);
    })?;
    if several_threads {
        assert_eq!(executor.spin_some(), Err(SpinError::SeveralThreads));
        return Ok(());
    }
    while executor.statistics().overwritten() < 5 {
        executor.spin_once(10 * MS)?; // one event, or 10 ms without
        executor.spin_all(MS)?; // and all that is ready then
    }
    for callback in executor.statistics().callbacks {
        println!("{callback:?}");
    }
    Ok(())
}
