//! An action: Fibonacci numbers with feedback; one client uses callbacks, the other a task that
//! cancels its goal.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example actions` (or `single`, `multi`).

use ringspin::action::{
    Action, ActionClientOptions, ActionServerOptions, CancelResponse, GoalCallbacks, GoalHandle,
    GoalResponse, GoalStatus, SendGoalError,
};
use ringspin::{Executor, FromEnv};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

struct Fibonacci;

impl Action for Fibonacci {
    /// The number of Fibonacci numbers.
    type Goal = usize;
    type Result = Vec<u64>;
    type Feedback = Vec<u64>;
}

/// A goal in execution.
struct Sequence {
    handle: GoalHandle<Fibonacci>,
    numbers: Vec<u64>,
}

impl Sequence {
    /// Computes a number, and publishes feedback or the result.
    fn advance(&mut self) -> anyhow::Result<()> {
        let numbers = &mut self.numbers;
        numbers.push(match numbers[..] {
            [.., a, b] => a + b,
            _ => numbers.len() as u64,
        });
        match (self.handle.is_canceling(), numbers.len() == **self.handle.goal()) {
            (true, _) => self.handle.canceled(numbers.clone())?,
            (false, true) => self.handle.succeed(numbers.clone())?,
            (false, false) => self.handle.publish_feedback(numbers.clone())?,
        }
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let mut executor = Executor::from_env()?;

    let server = executor.create_node("mathematician", Vec::<Sequence>::new())?;
    server.create_action_server::<Fibonacci, _>(
        "fibonacci",
        ActionServerOptions::default(),
        |_, goal, _| match goal {
            1..=50 => GoalResponse::Accept,
            _ => GoalResponse::Reject,
        },
        |_, _, _| CancelResponse::Accept,
        |sequences, handle, _| sequences.push(Sequence { handle, numbers: Vec::new() }),
    )?;
    server.create_timer(10 * MS, |sequences, _| {
        sequences.iter_mut().try_for_each(Sequence::advance)?;
        sequences.retain(|sequence| sequence.handle.is_active());
        anyhow::Ok(())
    })?;

    // Two clients: one with callbacks...
    let node = executor.create_node("callbacks", ())?;
    let client =
        node.create_action_client::<Fibonacci>("fibonacci", ActionClientOptions::default())?;
    node.create_one_shot_timer(MS, move |_, _| {
        let callbacks = GoalCallbacks::new()
            .on_response(|_, accepted, _| accepted.map(|goal| println!("{} begins", goal.goal_id)))
            .on_feedback(|_, numbers, cx| println!("{}: {:?}", cx.now(), **numbers))
            .on_result(|_, outcome, _| {
                outcome.map(|outcome| println!("{}: {:?}", outcome.status, outcome.result))
            });
        client.send_goal(8, callbacks).map(|_| ())
    })?;

    // ... and one that awaits feedback, cancels after 12 numbers, and stops the program.
    let node = executor.create_node("task", ())?;
    let client =
        node.create_action_client::<Fibonacci>("fibonacci", ActionClientOptions::default())?;
    node.spawn_with_state("impatient", |state| async move {
        let error = client.send_goal_async(1000).await.unwrap_err();
        assert_eq!(error, SendGoalError::Rejected);
        let mut goal = client.send_goal_async(50).await?;
        let mut feedback = goal.feedback();
        while let Some(numbers) = feedback.next().await {
            if numbers.len() >= 12 {
                goal.cancel().await?;
            }
        }
        let outcome = goal.result().await?;
        assert_eq!(outcome.status, GoalStatus::Canceled);
        println!("cancelled after {} numbers", outcome.result.len());
        state.with(|_, cx| cx.stop()).await;
        Ok::<(), SendGoalError>(())
    })?;

    executor.spin()?;
    Ok(())
}
