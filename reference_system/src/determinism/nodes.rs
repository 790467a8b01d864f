//! The benchmark as ringspin nodes, created from its table of callbacks.

use super::{CALLBACKS, Callback, Input, NODES, Output, SERVICE, START};
use crate::sleep::sleep_up_to;
use ringspin_executor::{
    BoxError, CallError, Client, Context, Graph, Message, Node, PublishError, Publisher, QoS,
    Reply, StopHandle,
};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// A queue of depth one: keeps the newest message.
const NEWEST: QoS = QoS::keep_last(1);

/// A client of [`SERVICE`], a `Trigger`.
type Trigger = Client<State, (), u64>;

/// The behaviour of the nodes outside the benchmark itself.
#[derive(Clone)]
pub struct RunEnvironment {
    /// The longest random sleep at the start of each callback.
    pub sleep_max: Duration,
    /// Ends the run after the current callback.
    pub stop: StopHandle,
    /// Called with every simulated second that has passed.
    pub on_second: Arc<dyn Fn() + Send + Sync>,
}

impl RunEnvironment {
    /// Runs at the start of every callback.
    fn disturb(&self, cx: &Context<'_>) {
        sleep_up_to(self.sleep_max);
        if self.stop.is_stopped() {
            cx.stop();
        }
    }
}

/// A node's state. Dropping the node sends its number and hash.
struct State {
    node: usize,
    hash: u64,
    end: Sender<(usize, u64)>,
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = self.end.send((self.node, self.hash)); // the receiver is dropped after a failure
    }
}

/// A callback that mixes its payload into the node's state.
#[derive(Clone)]
struct Step {
    callback: Callback,
    environment: RunEnvironment,
}

impl Step {
    /// Updates the node's state and returns it.
    fn take(&self, state: &mut State, payload: Option<u64>, cx: &Context<'_>) -> u64 {
        self.environment.disturb(cx);
        state.hash = self.callback.next_state(state.hash, cx.now(), payload);
        state.hash
    }
}

/// Declares the four nodes in `graph`. When the nodes are dropped at the end of the run, `states`
/// receives the number and the state of each.
///
/// # Errors
/// An error if `graph` already has nodes of these names, or these topics with other types.
pub fn build(
    graph: &Graph,
    environment: &RunEnvironment,
    states: &Sender<(usize, u64)>,
) -> Result<(), BoxError> {
    for (node, (name, hash)) in NODES.into_iter().enumerate() {
        let handle = graph.create_node(name, State { node, hash, end: states.clone() })?;
        for callback in CALLBACKS.into_iter().filter(|callback| callback.node == node) {
            let step = Step { callback, environment: environment.clone() };
            create(&handle, step)?;
        }
    }
    Ok(())
}

fn create(node: &Node<State>, step: Step) -> Result<(), BoxError> {
    match (step.callback.input, step.callback.output) {
        (Input::Timer(period_ms), Output::Topic(topic)) => timer(node, period_ms, topic, step),
        (Input::Topic(topic), Output::Call) => {
            let (client, response) = client(node, &step)?;
            subscribe(node, topic, step, move |_| call(&client, &response))
        }
        (Input::Topic(from), Output::Topic(to)) => {
            let publisher = node.create_publisher::<u64>(to, NEWEST)?;
            subscribe(node, from, step, move |state| Ok(publisher.publish(state)?))
        }
        (Input::Topic(topic), _) => subscribe(node, topic, step, |_| Ok(())),
        (Input::Request, _) => {
            let answer =
                move |state: &mut State, (): &(), cx: &mut Context<'_>| step.take(state, None, cx);
            node.create_service(SERVICE, NEWEST, answer)?;
            Ok(())
        }
        // Belongs to the client, which exists already.
        (Input::Response, _) => Ok(()),
        (Input::Timer(_), output) => Err(format!("a timer with {output:?} is not planned").into()),
    }
}

fn timer(node: &Node<State>, period_ms: u64, topic: &str, step: Step) -> Result<(), BoxError> {
    let publisher: Publisher<u64> = node.create_publisher(topic, NEWEST)?;
    let second = Duration::from_secs(1).as_nanos() as u64;
    let fire = move |state: &mut State, cx: &mut Context<'_>| -> Result<(), PublishError<u64>> {
        publisher.publish(step.take(state, None, cx))?;
        if period_ms == 100 && cx.now() > START && cx.now().as_nanos().is_multiple_of(second) {
            (step.environment.on_second)();
        }
        Ok(())
    };
    node.create_timer(Duration::from_millis(period_ms), fire)?;
    Ok(())
}

fn subscribe(
    node: &Node<State>,
    topic: &str,
    step: Step,
    hand_on: impl Fn(u64) -> Result<(), BoxError> + Send + 'static,
) -> Result<(), BoxError> {
    let taken = move |state: &mut State, message: &Message<u64>, cx: &mut Context<'_>| {
        hand_on(step.take(state, Some(**message), cx))
    };
    node.create_subscription(topic, NEWEST, taken)?;
    Ok(())
}

/// Creates the client of a node, and the step of its responses.
fn client(node: &Node<State>, caller: &Step) -> Result<(Trigger, Step), BoxError> {
    let mut responses = CALLBACKS.into_iter().filter(|callback| {
        callback.node == caller.callback.node && callback.input == Input::Response
    });
    let callback = responses.next().ok_or("a node that calls takes responses")?;
    let response = Step { callback, environment: caller.environment.clone() };
    Ok((node.create_client(SERVICE, NEWEST)?, response))
}

fn call(client: &Trigger, response: &Step) -> Result<(), BoxError> {
    let response = response.clone();
    let taken =
        move |state: &mut State, reply: Result<Reply<u64>, CallError>, cx: &mut Context<'_>| {
            reply.map(|reply| {
                response.take(state, Some(*reply), cx);
            })
        };
    client.call((), taken)?;
    Ok(())
}
