//! Timers that are cancelled, reset and changed, and a guard condition triggered by another thread.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example timers` (or `single`, `multi`).

use ringspin::{Executor, FromEnv, Message, QoS};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;

    // Publishes, then faster, then stops.
    let motor = executor.create_node("motor", 0u32)?;
    let alive = motor.create_publisher::<u32>("alive", QoS::default())?;
    let beat = motor.create_timer(40 * MS, move |count, cx| {
        *count += 1;
        if *count == 6 {
            cx.cancel_timer();
        }
        alive.publish(*count)
    })?;
    motor.create_one_shot_timer(100 * MS, move |_, _| beat.set_period(20 * MS))?;

    // Each message resets the watchdog.
    let watchdog = executor.create_node("watchdog", ())?;
    let bark = watchdog.create_one_shot_timer(60 * MS, |_, cx| {
        println!("{}: the motor has stopped", cx.now());
        cx.stop();
    })?;
    watchdog.create_subscription("alive", QoS::default(), move |_, n: &Message<u32>, cx| {
        println!("{}: beat {}, {:?} were left", cx.now(), **n, bark.time_until_next());
        bark.reset();
    })?;

    // Code outside the graph can trigger a callback; here, before the start.
    let button = executor.create_node("button", ())?;
    let pressed = button.create_guard_condition("pressed", |_, cx| {
        println!("{}: the button was pressed", cx.now());
    })?;
    #[allow(clippy::disallowed_methods, reason = "it is joined before the start, so in order")]
    std::thread::spawn(move || pressed.trigger()).join().expect("it does not panic");

    executor.spin()?;
    Ok(())
}
