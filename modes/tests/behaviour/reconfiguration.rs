//! Nodes that change their endpoints at a request: by a parameter, and for each goal of an action.

use crate::{Log, entries, in_every_mode, log};
use ringspin_executor::action::{
    Action, ActionClientOptions, ActionServerOptions, CancelResponse, GoalHandle, GoalResponse,
    GoalStatus,
};
use ringspin_executor::{BoxError, Graph, Message, Publisher, QoS, Subscription};
use ringspin_simulation::Job;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

struct Count;

impl Action for Count {
    type Goal = String;
    type Result = u64;
    type Feedback = ();
}

/// A goal in execution, with its publisher.
struct Counting {
    handle: GoalHandle<Count>,
    numbers: Publisher<u64>,
    last: u64,
}

impl Counting {
    fn advance(&mut self) -> Result<(), BoxError> {
        if self.handle.is_canceling() {
            return Ok(self.handle.canceled(self.last)?);
        }
        self.last += 1;
        Ok(self.numbers.publish(self.last)?)
    }
}

/// Counts on the topic that a goal names, until the goal is canceled.
fn create_counter(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("counter", Vec::<Counting>::new())?;
    let own = node.clone();
    node.create_action_server::<Count, _>(
        "count",
        ActionServerOptions::default(),
        |_, _, _| GoalResponse::Accept,
        |_, _, _| CancelResponse::Accept,
        move |goals, handle, _| {
            let numbers = own.create_publisher(handle.goal(), QoS::default())?;
            goals.push(Counting { handle, numbers, last: 0 });
            Ok::<(), BoxError>(())
        },
    )?;
    node.create_timer(MS, |goals, _| {
        goals.iter_mut().try_for_each(Counting::advance)?;
        goals.retain(|goal| goal.handle.is_active());
        Ok::<(), BoxError>(())
    })?;
    Ok(())
}

/// Says on the topic `heard` which topic it hears: the one that its parameter names.
fn create_listener(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("listener", None::<Subscription>)?;
    let topic = node.declare_parameter("topic", String::new())?;
    let heard = node.create_publisher::<String>("heard", QoS::default())?;
    let own = node.clone();
    node.on_parameter_change(move |subscription, _, _| {
        subscription.take().iter().for_each(Subscription::destroy);
        let (name, heard) = (topic.get(), heard.clone());
        let on_number = own.create_subscription(
            &topic.get(),
            QoS::default(),
            move |_, _: &Message<u64>, _| heard.publish(name.clone()),
        )?;
        *subscription = Some(on_number);
        Ok::<(), BoxError>(())
    })?;
    Ok(())
}

/// Pursues two goals, and lets the listener move between their topics.
fn create_operator(graph: &Graph, steps: Log<String>) -> Result<(), BoxError> {
    let node = graph.create_node("operator", ())?;
    let parameters = graph.parameter_client("/listener").ok_or("no listener")?;
    let client = node.create_action_client::<Count>("count", ActionClientOptions::default())?;
    let mut heard = node.create_stream::<String>("heard", QoS::default())?;
    let graph = graph.clone();
    node.spawn_with_state("operate", move |state| async move {
        let mut goals = Vec::new();
        for name in ["left", "right"] {
            goals.push(client.send_goal_async(name.to_owned()).await?);
        }
        for name in ["left", "right", "left", "right"] {
            parameters.set("topic", name)?;
            while *heard.next().await != name {}
            let other = if name == "left" { "/right" } else { "/left" };
            assert_eq!(subscriptions(&graph, other), 0);
            steps.lock().unwrap().push(name.into());
        }
        for mut goal in goals {
            goal.cancel().await?;
            let outcome = goal.result().await?;
            assert_eq!(outcome.status, GoalStatus::Canceled);
            assert!(*outcome.result > 0);
        }
        state.with(|_, cx| cx.stop()).await;
        Ok::<(), BoxError>(())
    })?;
    Ok(())
}

fn subscriptions(graph: &Graph, topic: &str) -> usize {
    let info = graph.info();
    info.topics.iter().filter(|of| of.name == topic).map(|of| of.subscriptions.len()).sum()
}

/// The numbers of callbacks of counter and listener.
fn callbacks(graph: &Graph) -> [usize; 2] {
    let info = graph.info();
    let of = |node| info.loops.values().filter(move |of| of.node == node);
    ["/counter", "/listener"].map(|node| of(node).map(|of| of.callbacks.len()).sum())
}

fn create_all(graph: &Graph, steps: Log<String>) -> Result<(), BoxError> {
    create_counter(graph)?;
    create_listener(graph)?;
    create_operator(graph, steps)
}

#[test]
fn parameter_moves_a_subscription_and_each_goal_has_a_publisher() {
    in_every_mode(|mut executor| {
        let steps = log();
        create_all(executor.graph(), steps.clone()).unwrap();
        let before = callbacks(executor.graph());
        executor.spin().unwrap();
        assert_eq!(entries(&steps), ["left", "right", "left", "right"]);
        for topic in ["/left", "/right"] {
            assert_eq!(executor.graph().offered_qos(topic), [], "{topic}");
        }
        assert_eq!(subscriptions(executor.graph(), "/right"), 1);
        let [counter, listener] = callbacks(executor.graph());
        assert_eq!([counter, listener], [before[0], before[1] + 1]);
        assert_eq!(executor.failures(), []);
    });
}

#[test]
fn reconfiguration_is_deterministic() {
    let run = || Job::new(|graph| create_all(graph, log())).run().unwrap().digest();
    let digest = run();
    for _ in 0..20 {
        assert_eq!(run(), digest);
    }
}
