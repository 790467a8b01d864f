//! Reentrant callback groups: callbacks that share their state and may run at the same time.
//!
//! A loop runs one callback at a time, on one core. So each member of a reentrant group is a
//! separate callback group with a loop, and the members share the state by reference: any of their
//! threads may read it at any time, and changes need a lock or an atomic inside. The mapping
//! decides which members can run in parallel.

use crate::base::error::Result;
use crate::base::qos::QoS;
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::delivery::timer::Timer;
use crate::features::endpoints::Subscription;
use crate::features::service::Service;
use crate::running::event_loop::CallbackResult;
use crate::running::node::Node;
use std::sync::Arc;
use std::time::Duration;

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

impl<'a, N: Send + 'static, S: Send + Sync + 'static> ReentrantGroup<'a, N, S> {
    pub(crate) fn new(node: &'a Node<N>, name: &str, state: S) -> Self {
        Self { node, name: name.into(), state: Arc::new(state) }
    }

    /// Creates a subscription like [`Node::create_subscription`], with shared state. `name`
    /// distinguishes the callback within the group: its loop is `node:group_name` in a mapping.
    ///
    /// # Errors
    /// Fails if the group of the callback or the callback cannot be created.
    pub fn create_subscription<M, F, R>(
        &self,
        name: &str,
        topic: &str,
        qos: QoS,
        mut callback: F,
    ) -> Result<Subscription>
    where
        M: Send + Sync + 'static,
        F: FnMut(&S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let member = self.member(name)?;
        member.create_subscription(topic, qos, move |state: &mut Arc<S>, message, cx| {
            callback(state, message, cx)
        })
    }

    /// Creates a timer like [`Node::create_timer`], with shared state; `name` as with
    /// [`create_subscription`](Self::create_subscription).
    ///
    /// # Errors
    /// Fails if the group of the callback or the callback cannot be created.
    pub fn create_timer<F, R>(&self, name: &str, period: Duration, mut callback: F) -> Result<Timer>
    where
        F: FnMut(&S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let member = self.member(name)?;
        member.create_timer(period, move |state: &mut Arc<S>, cx| callback(state, cx))
    }

    /// Creates a service like [`Node::create_service`], with shared state; `name` as with
    /// [`create_subscription`](Self::create_subscription).
    ///
    /// # Errors
    /// Fails if the group of the callback or the callback cannot be created.
    pub fn create_service<Q, P, F>(
        &self,
        name: &str,
        service: &str,
        qos: QoS,
        mut callback: F,
    ) -> Result<Service>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
        F: FnMut(&S, &Q, &mut Context<'_>) -> P + Send + 'static,
    {
        let member = self.member(name)?;
        member.create_service(service, qos, move |state: &mut Arc<S>, request: &Q, cx| {
            callback(state, request, cx)
        })
    }

    /// The group of one callback.
    fn member(&self, name: &str) -> Result<Node<Arc<S>>> {
        let name = format!("{}_{name}", self.name);
        self.node.create_callback_group(&name, self.state.clone())
    }
}
