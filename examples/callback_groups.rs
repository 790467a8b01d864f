//! Callback groups: concurrency and priorities.
//!
//! `RINGSPIN_MODE=multi cargo run --example callback_groups` (or `single`, `deterministic`).

use ringspin::{Executor, FromEnv, Message, QoS};
use std::sync::Mutex;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;
    let node = executor.create_node("planner", 0u32)?;
    let out = node.create_publisher::<u32>("steps", QoS::keep_all(10))?;
    node.create_timer(10 * MS, move |step, _| {
        *step += 1;
        out.publish(*step)
    })?;

    // Mutually exclusive: the group has its own state, with `&mut` access.
    let urgent = node.create_callback_group("urgent", Vec::new())?;
    urgent.set_priority(1)?; // dispatched before the other groups of its core
    urgent.create_subscription("steps", QoS::keep_all(10), |seen, step: &Message<u32>, _| {
        seen.push(**step);
    })?;

    // Reentrant: callbacks share the state, and a mapping may assign each its own core.
    let shared = node.create_reentrant_group("shared", Mutex::new(0));
    for name in ["a", "b"] {
        shared.create_subscription(
            name,
            "steps",
            QoS::keep_all(10),
            move |sum, step: &Message<u32>, cx| {
                let mut sum = sum.lock().expect("nothing panics under this lock");
                *sum += **step;
                println!("{}: {name} has step {}, the sum is {sum}", cx.now(), **step);
                if *sum >= 2 * (1 + 2 + 3) {
                    cx.stop();
                }
            },
        )?;
    }
    executor.spin()?;
    Ok(())
}
