//! Subscriptions.

mod callback;
mod message_info;

pub use callback::{
    AnySubscriptionCallback, IntoAsyncSubscriptionCallback, IntoNodeSubscriptionCallback,
    IntoWorkerSubscriptionCallback, ReadOnlyLoanedMessage,
};
pub use message_info::{MessageInfo, PublisherGid};

use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::{EventLoop, Slot, State};
use crate::node::{IntoPrimitiveOptions, Node};
use crate::qos::QoSProfile;
use crate::worker::{WorkScope, Worker};
use callback::Delivery;
use ringspin_adapter::{Carried, Type};
use rosidl_runtime_rs::Message;
use std::fmt;
use std::sync::Arc;

/// A handle of a subscription of a node.
pub type Subscription<T> = Arc<SubscriptionState<T, Node>>;

/// A handle of a subscription of a worker.
pub type WorkerSubscription<T, Payload> = Arc<SubscriptionState<T, Worker<Payload>>>;

/// Calls a callback with each message of a topic, until its last handle is dropped.
///
/// Created by [`NodeState::create_subscription`](crate::NodeState::create_subscription) and its
/// relatives.
pub struct SubscriptionState<T: Message, Scope: WorkScope> {
    subscription: ringspin::Subscription,
    qos: QoSProfile,
    callback: Arc<Slot<AnySubscriptionCallback<T, Scope::Payload>>>,
    _event_loop: Arc<EventLoop<Scope::Payload>>,
}

impl<T: Message, Scope: WorkScope> SubscriptionState<T, Scope> {
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`]; another one for a topic of another type, or with
    /// publishers that offer less than the options request.
    pub(crate) fn create(
        node: &Node,
        event_loop: &Arc<EventLoop<Scope::Payload>>,
        options: &SubscriptionOptions<'_>,
        callback: AnySubscriptionCallback<T, Scope::Payload>,
    ) -> Result<Arc<Self>, RclrsError> {
        let topic = node.note_topic(options.topic, Type::Topic(Carried::table::<T>()))?;
        let mut qos = options.qos.for_subscription(&event_loop.app.graph.offered_qos(&topic));
        if callback.reads_info {
            qos = qos.message_times();
        }
        let callback = Arc::new(Slot::new(callback));
        let (called, tasks) = (callback.clone(), event_loop.tasks.clone());
        let mut number = 0;
        let call = move |state: &mut State<Scope::Payload>,
                         message: &ringspin::Message<Carried>,
                         _: &mut ringspin::Context<'_>| {
            let delivery = Delivery { message, number, tasks: &tasks, topic: &topic };
            number += 1;
            called.with(|callback| callback.call(&mut state.payload, &delivery));
            state.notify();
        };
        let created = event_loop.node.create_subscription(options.topic, qos, call);
        let failed = |error| RclrsError::from_graph(&error, RclReturnCode::TopicNameInvalid);
        let subscription = created.map_err(failed)?;
        let (qos, _event_loop) = (options.qos, event_loop.clone());
        Ok(Arc::new(Self { subscription, qos, callback, _event_loop }))
    }

    /// The topic, with its namespace and after remapping.
    pub fn topic_name(&self) -> String {
        self.subscription.topic().to_owned()
    }

    /// The quality of service that was requested.
    pub fn qos(&self) -> QoSProfile {
        self.qos
    }
}

impl<T: Message> SubscriptionState<T, Node> {
    /// Calls `callback` from the next message on.
    pub fn set_callback<Args>(&self, callback: impl IntoNodeSubscriptionCallback<T, Args>) {
        self.callback.set(Some(callback.into_node_subscription_callback()));
    }

    /// Calls `callback` from the next message on.
    pub fn set_async_callback<Args>(&self, callback: impl IntoAsyncSubscriptionCallback<T, Args>) {
        self.callback.set(Some(callback.into_async_subscription_callback()));
    }
}

impl<T: Message, Payload: 'static + Send + Sync> SubscriptionState<T, Worker<Payload>> {
    /// Calls `callback` from the next message on.
    pub fn set_worker_callback<Args>(
        &self,
        callback: impl IntoWorkerSubscriptionCallback<T, Payload, Args>,
    ) {
        self.callback.set(Some(callback.into_worker_subscription_callback()));
    }
}

impl<T: Message, Scope: WorkScope> Drop for SubscriptionState<T, Scope> {
    fn drop(&mut self) {
        self.subscription.destroy();
        self.callback.close();
    }
}

impl<T: Message, Scope: WorkScope> fmt::Debug for SubscriptionState<T, Scope> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscription").field(&self.subscription.topic()).finish()
    }
}

/// Options of a subscription: a `&str`, or one with options as in `"topic".keep_last(1)`, converts
/// into them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionOptions<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The quality of service.
    pub qos: QoSProfile,
}

impl<'a> SubscriptionOptions<'a> {
    /// The default options for a topic.
    pub fn new(topic: &'a str) -> Self {
        Self { topic, qos: QoSProfile::topics_default() }
    }
}

impl<'a, T: IntoPrimitiveOptions<'a>> From<T> for SubscriptionOptions<'a> {
    fn from(value: T) -> Self {
        let primitive = value.into_primitive_options();
        let mut options = Self::new(primitive.name);
        primitive.apply_to(&mut options.qos);
        options
    }
}
