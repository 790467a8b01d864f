//! One hop of a message between two nodes on one core: `scripts/test-path` steps through it in a
//! debugger.

use ringspin_executor::{Context, Message, Publisher, QoS, Result};
use ringspin_modes::{Executor, Mode};

/// The callback that publishes: the path starts where it calls `publish`.
#[inline(never)]
fn forward(hop: &Publisher<u64>, message: u64) -> Result<()> {
    Ok(hop.publish(message)?)
}

/// The callback that receives: the path ends here.
#[inline(never)]
fn receive(received: &mut u64, message: u64, cx: &Context<'_>) {
    *received += message;
    if *received == 2 {
        cx.stop();
    }
}

fn main() -> Result<()> {
    let mut executor = Executor::new(Mode::SingleCore);
    let sender = executor.create_node("sender", ())?;
    let start = sender.create_publisher::<u64>("start", QoS::default())?;
    let hop = sender.create_publisher::<u64>("hop", QoS::default())?;
    let callback =
        move |_: &mut (), message: &Message<u64>, _: &mut Context<'_>| forward(&hop, **message);
    sender.create_subscription("start", QoS::default(), callback)?;
    let receiver = executor.create_node("receiver", 0)?;
    let callback = |received: &mut u64, message: &Message<u64>, cx: &mut Context<'_>| {
        receive(received, **message, cx);
    };
    receiver.create_subscription("hop", QoS::default(), callback)?;

    // The first message allocates; the second one shows the steady state.
    executor.freeze()?;
    start.publish(1)?;
    executor.spin_all(std::time::Duration::from_secs(1))?;
    start.publish(1)?;
    executor.spin()?;
    Ok(())
}
