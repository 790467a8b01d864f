//! Failures: a node that is restarted, one that is isolated, and the errors that callers receive.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example failures` (or `single`, `multi`).

use ringspin::{CallError, Executor, FailurePolicy, FromEnv, QoS};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn main() -> anyhow::Result<()> {
    let executor = Executor::from_env()?;
    let mut executor = executor.with_failure_policy(FailurePolicy::IsolateNode);

    // Its first two failures reset its state; the third one isolates it.
    let camera = executor.graph().create_restartable_node("camera", 2, || 0)?;
    camera.create_timer(10 * MS, |frames, _| {
        *frames += 1;
        if *frames == 3 { Err("the cable came off") } else { Ok(()) }
    })?;

    // Fails at its first request.
    let gripper = executor.create_node("gripper", ())?;
    gripper.create_deferred_service::<u32, (), _, _>(
        "grip",
        QoS::services(),
        |_, force, _, _| Err::<(), _>(format!("{force} newtons are too much")),
    )?;

    let node = executor.create_node("arm", 0)?;
    let grip = node.create_client::<u32, ()>("grip", QoS::services())?;
    node.create_timer(100 * MS, move |calls, cx| {
        *calls += 1;
        if *calls == 3 {
            cx.stop();
        }
        grip.call(500, |_, reply, _| match reply {
            Err(error @ (CallError::Unanswered | CallError::ServiceStopped)) => println!("{error}"),
            other => panic!("{other:?}"),
        })
    })?;

    executor.spin()?;
    executor.failures().iter().for_each(|failure| println!("{failure}"));
    assert_eq!(executor.failures().len(), 3 + 1);
    Ok(())
}
