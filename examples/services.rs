//! A service, a client with callbacks and a timeout, and a service with deferred responses.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example services` (or `single`, `multi`).

use ringspin::{CallError, Executor, FromEnv, QoS, Responder};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;

    let calculator = executor.create_node("calculator", ())?;
    calculator.create_service("add", QoS::services(), |_, (a, b): &(i64, i64), _| a + b)?;

    // Queues its requests, and responds to one of them every 50 ms.
    let oracle = executor.create_node("oracle", Vec::<Responder<String>>::new())?;
    oracle.create_deferred_service("ask", QoS::services(), |kept, _: &String, responder, _| {
        kept.push(responder);
    })?;
    oracle.create_timer(50 * MS, |kept, _| {
        if let Some(responder) = kept.pop() {
            responder.respond("42".into());
        }
    })?;

    let node = executor.create_node("asking", 0)?;
    let add = node.create_client::<(i64, i64), i64>("add", QoS::services())?;
    let ask = node.create_client::<String, String>("ask", QoS::services())?;
    let hasty = ask.clone().with_timeout(20 * MS);
    node.create_one_shot_timer(10 * MS, move |_, _| -> anyhow::Result<()> {
        add.call((40, 2), |sum, reply, cx| {
            *sum = *reply?;
            println!("{}: the sum is {sum}", cx.now());
            Ok::<(), CallError>(())
        })?;
        hasty.call("quickly?".into(), |_, reply, cx| {
            assert_eq!(reply.unwrap_err(), CallError::TimedOut);
            println!("{}: no answer within 20 ms", cx.now());
        })?;
        ask.call("at leisure".into(), |_, reply, cx| {
            println!("{}: the answer is {}", cx.now(), *reply?);
            cx.stop();
            Ok::<(), CallError>(())
        })?;
        Ok(())
    })?;

    executor.spin()?;
    Ok(())
}
