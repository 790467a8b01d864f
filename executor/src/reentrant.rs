//! Reentrant callback groups: callbacks that share their state and may run at the same time.
//!
//! A loop runs one callback at a time, on one core. So here each callback gets a loop of its own,
//! and the state is shared by reference: the mapping decides which of them can run in parallel.

use crate::context::Context;
use crate::endpoints::Subscription;
use crate::event_loop::CallbackResult;
use crate::graph::{CreateGroupError, CreateSubscriptionError, CreateTimerError};
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::service::{CreateServiceError, Service};
use crate::timer::Timer;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// A callback group whose callbacks get `&State`, and may run at the same time on several cores.
///
/// One callback never runs at the same time as itself: its events keep their order. In single-core
/// and deterministic mode all run one at a time.
#[derive(Debug)]
pub struct ReentrantGroup<'a, N, S> {
    node: &'a Node<N>,
    name: String,
    state: Arc<S>,
}

/// The reason why a callback was not added to a reentrant group; `E` is the error of the callback's
/// entity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReentrantError<E> {
    /// The callback's own group was not created.
    #[error(transparent)]
    Group(CreateGroupError),
    /// The callback's entity was not created.
    #[error(transparent)]
    Callback(E),
}

impl<N: Send + 'static, S: Send + Sync + 'static> ReentrantGroup<'_, N, S> {
    /// Creates a subscription like [`Node::create_subscription`], with shared state. `name`
    /// distinguishes the callback within the group: its loop is `node:group_name` in a mapping.
    ///
    /// # Errors
    /// [`ReentrantError`].
    pub fn create_subscription<M, F, R>(
        &self,
        name: &str,
        topic: &str,
        qos: QoS,
        mut callback: F,
    ) -> Result<Subscription, ReentrantError<CreateSubscriptionError>>
    where
        M: Send + Sync + 'static,
        F: FnMut(&S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let member = self.member(name)?;
        let created =
            member.create_subscription(topic, qos, move |state: &mut Arc<S>, message, cx| {
                callback(state, message, cx)
            });
        created.map_err(ReentrantError::Callback)
    }

    /// Creates a timer like [`Node::create_timer`], with shared state; `name` as with
    /// [`create_subscription`](Self::create_subscription).
    ///
    /// # Errors
    /// [`ReentrantError`].
    pub fn create_timer<F, R>(
        &self,
        name: &str,
        period: Duration,
        mut callback: F,
    ) -> Result<Timer, ReentrantError<CreateTimerError>>
    where
        F: FnMut(&S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let member = self.member(name)?;
        let created =
            member.create_timer(period, move |state: &mut Arc<S>, cx| callback(state, cx));
        created.map_err(ReentrantError::Callback)
    }

    /// Creates a service like [`Node::create_service`], with shared state; `name` as with
    /// [`create_subscription`](Self::create_subscription).
    ///
    /// # Errors
    /// [`ReentrantError`].
    pub fn create_service<Q, P, F>(
        &self,
        name: &str,
        service: &str,
        qos: QoS,
        mut callback: F,
    ) -> Result<Service, ReentrantError<CreateServiceError>>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
        F: FnMut(&S, &Q, &mut Context<'_>) -> P + Send + 'static,
    {
        let member = self.member(name)?;
        let created =
            member.create_service(service, qos, move |state: &mut Arc<S>, request: &Q, cx| {
                callback(state, request, cx)
            });
        created.map_err(ReentrantError::Callback)
    }

    /// The group of one callback.
    fn member<E>(&self, name: &str) -> Result<Node<Arc<S>>, ReentrantError<E>> {
        let name = format!("{}_{name}", self.name);
        let created = self.node.create_callback_group(&name, self.state.clone());
        created.map_err(ReentrantError::Group)
    }
}

impl<N: Send + 'static> Node<N> {
    /// Opens a callback group whose callbacks share `state` and may run at the same time.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// use std::sync::Mutex;
    /// use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("counter", ())?;
    /// let group = node.create_reentrant_group("both", Mutex::new(0));
    /// group.create_timer("fast", Duration::from_millis(1), |count, _| {
    ///     *count.lock().unwrap() += 1;
    /// })?;
    /// group.create_timer("slow", Duration::from_secs(1), |count, _| {
    ///     println!("{}", count.lock().unwrap());
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_reentrant_group<S: Send + Sync + 'static>(
        &self,
        name: &str,
        state: S,
    ) -> ReentrantGroup<'_, N, S> {
        ReentrantGroup { node: self, name: name.into(), state: Arc::new(state) }
    }
}
