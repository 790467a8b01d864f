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
use crate::node::{IntoPrimitiveOptions, Node, NodeState};
use crate::qos::QoSProfile;
use crate::worker::{WorkScope, Worker};
pub(crate) use callback::{Callback, Delivery};
use ringspin_adapter::{Carried, Type};
use ringspin_messages::CdrType;
use rosidl_runtime_rs::Message;
use std::fmt;
use std::marker::PhantomData;
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
    inlet: Inlet<Scope::Payload>,
    message: PhantomData<fn(T)>,
}

impl<T: Message, Scope: WorkScope> SubscriptionState<T, Scope> {
    /// # Errors
    /// The errors of [`Inlet::create`].
    pub(crate) fn create(
        node: &Node,
        event_loop: &Arc<EventLoop<Scope::Payload>>,
        options: &SubscriptionOptions<'_>,
        callback: AnySubscriptionCallback<T, Scope::Payload>,
    ) -> Result<Arc<Self>, RclrsError> {
        let table = Carried::table::<T>();
        let inlet = Inlet::create(node, event_loop, options, table, callback.callback)?;
        Ok(Arc::new(Self { inlet, message: PhantomData }))
    }

    /// The topic, with its namespace and after remapping.
    pub fn topic_name(&self) -> String {
        self.inlet.topic().to_owned()
    }

    /// The quality of service that was requested.
    pub fn qos(&self) -> QoSProfile {
        self.inlet.qos
    }
}

/// A subscription to messages of any type; its drop ends it.
pub(crate) struct Inlet<Payload: Send + 'static> {
    subscription: ringspin::Subscription,
    qos: QoSProfile,
    callback: Arc<Slot<Callback<Payload>>>,
    _event_loop: Arc<EventLoop<Payload>>,
}

impl<Payload: Send + 'static> Inlet<Payload> {
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`]; another one for a topic of another type, or with
    /// publishers that offer less than the options request.
    pub(crate) fn create(
        node: &NodeState,
        event_loop: &Arc<EventLoop<Payload>>,
        options: &SubscriptionOptions<'_>,
        table: &'static CdrType,
        callback: Callback<Payload>,
    ) -> Result<Self, RclrsError> {
        let topic = node.note_topic(options.topic, Type::Topic(table))?;
        let mut qos = options.qos.for_subscription(&event_loop.app.graph.offered_qos(&topic));
        if callback.reads_info {
            qos = qos.message_times();
        }
        let callback = Arc::new(Slot::new(callback));
        let (called, tasks) = (callback.clone(), event_loop.tasks.clone());
        let mut number = 0;
        let call = move |state: &mut State<Payload>,
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
        Ok(Self { subscription, qos, callback, _event_loop })
    }

    pub(crate) fn topic(&self) -> &str {
        self.subscription.topic()
    }
}

impl<T: Message> SubscriptionState<T, Node> {
    /// Calls `callback` from the next message on.
    pub fn set_callback<Args>(&self, callback: impl IntoNodeSubscriptionCallback<T, Args>) {
        self.inlet.callback.set(Some(callback.into_node_subscription_callback().callback));
    }

    /// Calls `callback` from the next message on.
    pub fn set_async_callback<Args>(&self, callback: impl IntoAsyncSubscriptionCallback<T, Args>) {
        self.inlet.callback.set(Some(callback.into_async_subscription_callback().callback));
    }
}

impl<T: Message, Payload: 'static + Send + Sync> SubscriptionState<T, Worker<Payload>> {
    /// Calls `callback` from the next message on.
    pub fn set_worker_callback<Args>(
        &self,
        callback: impl IntoWorkerSubscriptionCallback<T, Payload, Args>,
    ) {
        self.inlet.callback.set(Some(callback.into_worker_subscription_callback().callback));
    }
}

impl<Payload: Send + 'static> Drop for Inlet<Payload> {
    fn drop(&mut self) {
        self.subscription.destroy();
        self.callback.close();
    }
}

impl<T: Message, Scope: WorkScope> fmt::Debug for SubscriptionState<T, Scope> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscription").field(&self.inlet.topic()).finish()
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
