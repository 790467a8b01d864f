//! A talker and a listener: the same nodes in every mode.
//!
//! ```text
//! RINGSPIN_MODE=single        cargo run --example talker_listener
//! RINGSPIN_MODE=multi         cargo run --example talker_listener
//! RINGSPIN_MODE=deterministic cargo run --example talker_listener
//! ```
//!
//! In live modes, ten messages take a second. In deterministic mode they take no real time, and the
//! digest at the end is the same on every machine.

use ringspin::{Executor, FromEnv, Message, QoS};
use std::time::Duration;

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut executor = Executor::from_env()?;
    executor.stop_on_ctrl_c()?;

    let talker = executor.create_node("talker", 0u32)?;
    let chatter = talker.create_publisher("chatter", QoS::default())?;
    talker.create_timer(Duration::from_millis(100), move |count, _| {
        *count += 1;
        chatter.publish(format!("hello {count}"))
    })?;

    let listener = executor.create_node("listener", 0u32)?;
    listener.create_subscription(
        "chatter",
        QoS::default(),
        |heard, text: &Message<String>, cx| {
            println!("{}: {} heard `{}`", cx.now(), cx.node(), **text);
            *heard += 1;
            if *heard == 10 {
                cx.stop();
            }
        },
    )?;

    executor.spin()?;
    if let Some((digest, dispatches)) = executor.digest() {
        println!("digest of {dispatches} dispatches: {digest}");
    }
    Ok(())
}
