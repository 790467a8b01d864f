//! Managed nodes: lifecycle transitions are events.
//!
//! ```text
//!                  configure            activate
//!  Unconfigured ──────────────▶ Inactive ───────▶ Active
//!               ◀──────────────          ◀───────
//!                   cleanup             deactivate           each ── shutdown ──▶ Finalized
//! ```
//!
//! A thin layer: a request is a message on a topic that only this node has, or a call of its
//! service `~/change_state`; its callback runs the transition, and the state is a number that
//! publishers read. As in `rclcpp_lifecycle`, messages that are published while the node is not
//! active are ignored, and timers and subscriptions run in every state until they are destroyed.
//! The differences: a callback that returns an error leaves the node in its state, as rclcpp's
//! `FAILURE` does, unless [`on_error`](LifecycleBuilder::on_error) handles errors; a panic is the
//! node's failure as always; the transitional states cannot be seen, because one callback is one
//! event.
//!
//! A [restart](crate::Graph::create_restartable_node) of the callback group that runs the
//! transitions takes the node back to unconfigured, unless it is finalized: no transition ran for
//! the new state.

use crate::base::departure::End;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::CallbackId;
use crate::base::lock::lock;
use crate::base::qos::QoS;
use crate::base::table::Table;
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::delivery::topic::{PublishError, Publisher};
use crate::features::internal_topic::{internal_publisher, internal_subscription, internal_topic};
use crate::features::service::Service;
use crate::running::event_loop::{BoxError, CallbackResult, OnRestart};
use crate::running::graph::GraphBuilder;
use crate::running::node::Node;
use ringspin_derive::Digest;
use ringspin_ringbuf::Counter;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Limit of the waiting requests.
const REQUESTS_MAX: usize = 16;

/// The state of a managed node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub enum LifecycleState {
    /// The state after creation or cleanup.
    #[default]
    Unconfigured,
    /// Configured, but not active: its messages are ignored.
    Inactive,
    /// Active: its messages are published.
    Active,
    /// Shut down for good.
    Finalized,
}

/// A transition that can be requested of a managed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// Leads from unconfigured to inactive.
    Configure,
    /// Leads from inactive to active.
    Activate,
    /// Leads from active to inactive.
    Deactivate,
    /// Leads from inactive to unconfigured.
    Cleanup,
    /// Leads from any state but finalized to finalized.
    Shutdown,
    /// Another process requested a transition that does not exist. It is never possible.
    Unknown,
}

impl Transition {
    /// All transitions that exist.
    pub const ALL: [Self; 5] =
        [Self::Configure, Self::Activate, Self::Deactivate, Self::Cleanup, Self::Shutdown];

    /// The state to which it leads from `state`, if it is allowed there.
    pub const fn from(self, state: LifecycleState) -> Option<LifecycleState> {
        use LifecycleState as S;
        match (self, state) {
            (Self::Configure, S::Unconfigured) | (Self::Deactivate, S::Active) => Some(S::Inactive),
            (Self::Activate, S::Inactive) => Some(S::Active),
            (Self::Cleanup, S::Inactive) => Some(S::Unconfigured),
            (Self::Shutdown, S::Unconfigured | S::Inactive | S::Active) => Some(S::Finalized),
            _ => None,
        }
    }
}

/// The state as it is shared; written by the node's event loop only.
#[derive(Default)]
struct Shared(Counter);

impl Shared {
    fn state(&self) -> LifecycleState {
        match self.0.get() {
            0 => LifecycleState::Unconfigured,
            1 => LifecycleState::Inactive,
            2 => LifecycleState::Active,
            _ => LifecycleState::Finalized,
        }
    }

    fn set(&self, state: LifecycleState) {
        self.0.set(state as u64);
    }
}

impl OnRestart for Shared {
    /// No transition ran for the new state value of the node.
    fn restarted(&self) {
        if self.state() != LifecycleState::Finalized {
            self.set(LifecycleState::Unconfigured);
        }
    }
}

/// The lifecycles of the nodes of a graph, by node index.
#[derive(Default)]
struct Lifecycles(Table<usize, OfNode>);

/// The lifecycle of a node, which its publishers may ask for before it is created.
#[derive(Default)]
struct OfNode {
    shared: Arc<Shared>,
    /// The callback of its service `~/change_state`, with which the lifecycle ends.
    change: Option<CallbackId>,
}

impl GraphBuilder {
    /// The lifecycle of a node that exists.
    fn lifecycle_of(&mut self, node_index: usize) -> &mut OfNode {
        self.at_node_end(|builder, index, _| {
            builder.feature::<Lifecycles>().0.remove(index);
        });
        let known = self.feature::<Lifecycles>().0.get(node_index);
        let has_ended = known.and_then(|of| of.change).is_some_and(|id| !self.has_callback(id));
        let lifecycles = &mut self.feature::<Lifecycles>().0;
        if has_ended || !lifecycles.contains(node_index) {
            lifecycles.insert(node_index, OfNode::default());
        }
        &mut lifecycles[node_index]
    }
}

type Callback<S> = Box<dyn FnMut(&mut S, &mut Context<'_>) -> Result<(), BoxError> + Send>;

/// A lifecycle that is about to be created; see [`Node::lifecycle`].
#[must_use = "a lifecycle exists once it is created"]
pub struct LifecycleBuilder<'a, S> {
    node: &'a Node<S>,
    /// Indexed by [`Transition`].
    callbacks: [Option<Callback<S>>; 6],
    on_error: Option<Callback<S>>,
}

impl<'a, S: Send + 'static> LifecycleBuilder<'a, S> {
    pub(crate) fn new(node: &'a Node<S>) -> Self {
        Self { node, callbacks: Default::default(), on_error: None }
    }

    /// Calls `callback` to configure. If it returns an error, the node stays as it was, or is left
    /// to [`on_error`](Self::on_error), which holds for the other transitions, too.
    pub fn on_configure<R: CallbackResult>(
        self,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.on(Transition::Configure, callback)
    }

    /// Calls `callback` to activate. The node is active once it has returned.
    pub fn on_activate<R: CallbackResult>(
        self,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.on(Transition::Activate, callback)
    }

    /// Calls `callback` to deactivate. The node is active until it has returned.
    pub fn on_deactivate<R: CallbackResult>(
        self,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.on(Transition::Deactivate, callback)
    }

    /// Calls `callback` to clean up.
    pub fn on_cleanup<R: CallbackResult>(
        self,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.on(Transition::Cleanup, callback)
    }

    /// Calls `callback` to shut down, from any state.
    pub fn on_shutdown<R: CallbackResult>(
        self,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.on(Transition::Shutdown, callback)
    }

    /// Calls `callback` when the callback of a transition has returned an error, to destroy the
    /// parts that it created before. The node is unconfigured then, or finalized if `callback`
    /// returns an error, too: as in `rclcpp_lifecycle` after a transition that returned `ERROR`.
    /// Without `callback` the node stays in its state, as there after `FAILURE`.
    pub fn on_error<R: CallbackResult>(
        mut self,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.on_error = Some(boxed(callback));
        self
    }

    fn on<R: CallbackResult>(
        mut self,
        transition: Transition,
        callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.callbacks[transition as usize] = Some(boxed(callback));
        self
    }

    /// Creates the lifecycle; the node is unconfigured.
    ///
    /// # Errors
    /// Fails if the node has one already, or if the node or the executor has ended.
    pub fn create(self) -> Result<Lifecycle> {
        let Self { node, callbacks, on_error } = self;
        let shared = {
            let mut builder = node.builder("a lifecycle")?;
            let of_node = builder.lifecycle_of(node.handle.node_index);
            if of_node.change.is_some() {
                let name = node.full_name();
                let text = format!(
                    "failed to create a lifecycle of node {name}: it has one; clone its handle"
                );
                return Err(Error::new(ErrorKind::AlreadyExists, text).in_node(name));
            }
            of_node.shared.clone()
        };
        // Never contended: one event loop runs all that lock it.
        let transitions =
            Arc::new(Mutex::new(Transitions { callbacks, on_error, shared: shared.clone() }));
        let (on_call, current) = (transitions.clone(), shared.clone());
        let change = move |state: &mut S, transition: &Transition, cx: &mut Context<'_>| {
            lock(&on_call).run(*transition, state, cx)
        };
        let change = node.create_service("~/change_state", QoS::services(), change)?;
        let part = node.part_of(End::Entity(change.callback()));
        let serve = || -> Result<()> {
            let state = move |_: &mut S, (): &(), _: &mut Context<'_>| current.state();
            part.create_service("~/get_state", QoS::services(), state)?;
            let current = shared.clone();
            let available = move |_: &mut S, (): &(), _: &mut Context<'_>| -> Vec<Transition> {
                let all = Transition::ALL.into_iter();
                all.filter(|transition| transition.from(current.state()).is_some()).collect()
            };
            part.create_service("~/get_available_transitions", QoS::services(), available)?;
            Ok(())
        };
        serve().inspect_err(|_| change.destroy())?;
        let mut builder = part.builder("a lifecycle")?;
        builder.lifecycle_of(node.handle.node_index).change = Some(change.callback());
        let (topic, _) = internal_topic(node, &mut builder, "lifecycle");
        let requests = internal_publisher(node, &mut builder, &topic);
        let on_request =
            move |state: &mut S, transition: &Message<Transition>, cx: &mut Context<'_>| {
                lock(&transitions).run(**transition, state, cx);
            };
        internal_subscription(node, &mut builder, &topic, "lifecycle", REQUESTS_MAX, on_request);
        let restarted = Arc::downgrade(&shared);
        builder.change_body::<S>(node.event_loop(), move |body| {
            body.on_restart(restarted);
        });
        Ok(Lifecycle { requests, shared, change })
    }
}

impl<S> fmt::Debug for LifecycleBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LifecycleBuilder").finish_non_exhaustive()
    }
}

fn boxed<S, R: CallbackResult>(
    mut callback: impl FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
) -> Callback<S> {
    Box::new(move |state, cx| callback(state, cx).into_result())
}

struct Transitions<S> {
    callbacks: [Option<Callback<S>>; 6],
    on_error: Option<Callback<S>>,
    shared: Arc<Shared>,
}

impl<S> Transitions<S> {
    /// Runs one transition, if it is allowed, and moves on if its callback succeeds, which is
    /// returned.
    fn run(&mut self, transition: Transition, state: &mut S, cx: &mut Context<'_>) -> bool {
        let current = self.shared.state();
        let node = cx.node().to_owned();
        let Some(next) = transition.from(current) else {
            tracing::warn!(%node, "{transition:?} is not possible while the node is {current:?}");
            return false;
        };
        let callback = &mut self.callbacks[transition as usize];
        let Err(error) = callback.as_mut().map_or(Ok(()), |callback| callback(state, cx)) else {
            self.shared.set(next);
            return true;
        };
        let next = match self.on_error.as_mut().map(|on_error| on_error(state, cx)) {
            None => current,
            Some(Ok(())) => LifecycleState::Unconfigured,
            Some(Err(error)) => {
                tracing::error!(%node, "failed to handle the error of a transition: {error}");
                LifecycleState::Finalized
            }
        };
        tracing::warn!(%node, "{transition:?} failed, the node is {next:?}: {error}");
        self.shared.set(next);
        false
    }
}

/// The lifecycle of a node: requests transitions and reads the state from any thread; cheap to
/// clone.
#[derive(Clone)]
pub struct Lifecycle {
    requests: Publisher<Transition>,
    shared: Arc<Shared>,
    /// The service `~/change_state`, with which the lifecycle ends.
    change: Service,
}

impl Lifecycle {
    /// The state after the last transition that is complete.
    pub fn state(&self) -> LifecycleState {
        self.shared.state()
    }

    /// Requests a transition, which is an event of the node. Whether it is possible is decided when
    /// that event is handled: an impossible or failed transition is logged and leaves the state as
    /// it is.
    ///
    /// # Errors
    /// [`PublishError`] while the graph is built, when 16 requests wait already, or when the
    /// lifecycle was destroyed.
    pub fn request(&self, transition: Transition) -> Result<(), PublishError<Transition>> {
        self.requests.publish(transition)
    }

    /// Ends the lifecycle, in its state, so that the node can get another one: requests that wait
    /// are dropped and counted as [`discarded`](crate::CallbackStatistics::discarded), further ones
    /// are refused. Its callbacks are dropped at the next pause of their event loop; a callback
    /// that runs finishes. Call it from any thread, or in its callbacks. Further calls have no
    /// effect.
    pub fn destroy(&self) {
        self.change.destroy();
    }

    /// A publisher that ignores messages while the node is not active; see
    /// [`Node::create_lifecycle_publisher`].
    pub fn publisher<M: Send + Sync + 'static>(
        &self,
        publisher: Publisher<M>,
    ) -> LifecyclePublisher<M> {
        LifecyclePublisher { publisher, shared: self.shared.clone(), ignored: Arc::default() }
    }
}

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lifecycle").field(&self.state()).finish()
    }
}

/// A publisher of a managed node; see [`Lifecycle::publisher`].
pub struct LifecyclePublisher<M> {
    publisher: Publisher<M>,
    shared: Arc<Shared>,
    ignored: Arc<Counter>,
}

impl<M: Send + Sync + 'static> LifecyclePublisher<M> {
    pub(crate) fn create<S: Send + 'static>(node: &Node<S>, topic: &str, qos: QoS) -> Result<Self> {
        let publisher = node.create_publisher(topic, qos)?;
        let mut builder = node.builder("a lifecycle publisher")?;
        let shared = builder.lifecycle_of(node.handle.node_index).shared.clone();
        Ok(LifecyclePublisher { publisher, shared, ignored: Arc::default() })
    }

    /// Publishes like [`Publisher::publish`] while the node is active; otherwise `message` is
    /// dropped and counted, and the first dropped message is logged.
    ///
    /// # Errors
    /// [`PublishError`] hands the message back: before the start unless it is transient-local,
    /// after the end of the executor, when a keep-all subscription is full, when no message slot is
    /// free, or when the middleware refuses it.
    #[inline]
    pub fn publish(&self, message: M) -> Result<(), PublishError<M>> {
        if self.shared.state() == LifecycleState::Active {
            return self.publisher.publish(message);
        }
        if self.ignored.next() == 0 {
            let topic = self.publisher.topic();
            tracing::warn!(topic, "ignored a message: the node is not active");
        }
        Ok(())
    }

    /// The number of ignored messages.
    pub fn ignored(&self) -> u64 {
        self.ignored.get()
    }
}

impl<M> Clone for LifecyclePublisher<M> {
    fn clone(&self) -> Self {
        let Self { publisher, shared, ignored } = self;
        Self { publisher: publisher.clone(), shared: shared.clone(), ignored: ignored.clone() }
    }
}

impl<M> fmt::Debug for LifecyclePublisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LifecyclePublisher").field(&self.publisher).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::graph::Graph;

    #[test]
    fn transitions_are_those_of_ros_2() {
        use {LifecycleState as S, Transition as T};
        let states = [S::Unconfigured, S::Inactive, S::Active, S::Finalized];
        let table = [
            (T::Configure, [Some(S::Inactive), None, None, None]),
            (T::Activate, [None, Some(S::Active), None, None]),
            (T::Deactivate, [None, None, Some(S::Inactive), None]),
            (T::Cleanup, [None, Some(S::Unconfigured), None, None]),
            (T::Shutdown, [Some(S::Finalized), Some(S::Finalized), Some(S::Finalized), None]),
            (T::Unknown, [None; 4]),
        ];
        for (transition, expected) in table {
            assert_eq!(states.map(|state| transition.from(state)), expected, "{transition:?}");
        }
        let shared = Shared::default();
        for state in states {
            shared.set(state);
            assert_eq!(shared.state(), state);
        }
    }

    #[test]
    fn a_node_has_one_lifecycle_and_no_requests_while_it_is_built() {
        let node = Graph::new().create_node("camera", ()).unwrap();
        let lifecycle = node.lifecycle().create().unwrap();
        assert_eq!(lifecycle.state(), LifecycleState::Unconfigured);
        let error = lifecycle.request(Transition::Configure).unwrap_err();
        assert!(matches!(error, PublishError::NotFrozen(_)));
        let error = node.lifecycle().create().unwrap_err();
        assert_eq!((error.kind(), error.node()), (ErrorKind::AlreadyExists, Some("/camera")));
    }
}
