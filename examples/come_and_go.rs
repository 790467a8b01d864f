//! A parameter that moves a subscription to another topic, and an action with one publisher for
//! each goal.
//!
//! `RINGSPIN_MODE=deterministic cargo run --example come_and_go` (or `single`, `multi`).

use ringspin::action::{
    Action, ActionClientOptions, ActionServerOptions, CancelResponse, GoalHandle, GoalResponse,
};
use ringspin::{Error, Executor, FromEnv, Message, Publisher, QoS, Result, Subscription};
use std::time::Duration;

struct Count;

impl Action for Count {
    /// The topic of the numbers.
    type Goal = String;
    type Result = ();
    type Feedback = ();
}

/// A goal in execution. Its publisher ends with it.
struct Counting {
    handle: GoalHandle<Count>,
    numbers: Publisher<u64>,
    last: u64,
}

impl Counting {
    /// Publishes a number, until the goal is canceled.
    fn advance(&mut self) -> Result<()> {
        if self.handle.is_canceling() {
            return Ok(self.handle.canceled(())?);
        }
        self.last += 1;
        Ok(self.numbers.publish(self.last)?)
    }
}

fn create_counter(executor: &Executor) -> Result<()> {
    let node = executor.create_node("counter", Vec::<Counting>::new())?;
    let own = node.clone();
    node.create_action_server::<Count, _>(
        "count",
        ActionServerOptions::default(),
        |_, _, _| GoalResponse::Accept,
        |_, _, _| CancelResponse::Accept,
        move |goals, handle, _| {
            let numbers = own.create_publisher(handle.goal(), QoS::default())?;
            goals.push(Counting { handle, numbers, last: 0 });
            Ok::<(), Error>(())
        },
    )?;
    node.create_timer(Duration::from_millis(10), |goals, _| {
        goals.iter_mut().try_for_each(Counting::advance)?;
        goals.retain(|goal| goal.handle.is_active());
        Ok::<(), Error>(())
    })?;
    Ok(())
}

fn main() -> Result<()> {
    let mut executor = Executor::from_env()?;
    create_counter(&executor)?;

    let listener = executor.create_node("listener", None::<Subscription>)?;
    let topic = listener.declare_parameter("topic", String::from("nothing"))?;
    let heard = listener.create_publisher("heard", QoS::default())?;
    let (own, parameter) = (listener.clone(), topic.clone());
    listener.on_parameter_change(move |subscription, _, _| {
        subscription.take().iter().for_each(Subscription::destroy);
        let (topic, heard) = (parameter.get(), heard.clone());
        let name = topic.clone();
        let moved =
            own.create_subscription(&topic, QoS::default(), move |_, _: &Message<u64>, _| {
                heard.publish(name.clone())
            })?;
        *subscription = Some(moved);
        Ok::<(), Error>(())
    })?;

    let operator = executor.create_node("operator", ())?;
    let client = operator.create_action_client::<Count>("count", ActionClientOptions::default())?;
    let mut heard = operator.create_stream::<String>("heard", QoS::default())?;
    operator.spawn_with_state("operate", |state| async move {
        let mut goals = Vec::new();
        for name in ["left", "right"] {
            goals.push(client.send_goal_async(name.to_owned()).await?);
        }
        for name in ["left", "right", "left"] {
            topic.set(name.into())?;
            while *heard.next().await != name {}
            println!("the listener hears {name}");
        }
        for mut goal in goals {
            goal.cancel().await?;
            println!("a goal is {}", goal.result().await?.status);
        }
        state.with(|_, cx| cx.stop()).await;
        Ok::<(), Error>(())
    })?;

    executor.spin()?;
    for topic in ["/left", "/right"] {
        println!("publishers on {topic}: {}", executor.graph().offered_qos(topic).len());
    }
    Ok(())
}
