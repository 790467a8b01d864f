//! The creation of executors, nodes, workers, and everything that runs in them.
//!
//! All of these keep their node, so the methods that create them are here, above the modules of
//! both.

use crate::action::{
    ActionClient, ActionClientState, ActionGoalReceiver, ActionServer, ActionServerState,
    IntoActionClientOptions, IntoActionServerOptions, RequestedGoal, TerminatedGoal,
};
use crate::client::{Client, ClientOptions, ClientState};
use crate::context::Context;
use crate::dynamic_message::{
    DynamicMessage, DynamicPublisher, DynamicPublisherState, DynamicSubscription,
    DynamicSubscriptionState, MessageTypeName, WorkerDynamicSubscription,
};
use crate::error::RclrsError;
use crate::executor::{Executor, ExecutorCommands};
use crate::node::{IntoNodeOptions, Node, NodeState};
use crate::publisher::{Publisher, PublisherOptions, PublisherState};
use crate::service::{
    IntoAsyncServiceCallback, IntoNodeServiceCallback, IntoWorkerServiceCallback, Service,
    ServiceOptions, ServiceState, WorkerService,
};
use crate::subscription::{
    IntoAsyncSubscriptionCallback, IntoNodeSubscriptionCallback, IntoWorkerSubscriptionCallback,
    MessageInfo, Subscription, SubscriptionOptions, SubscriptionState, WorkerSubscription,
};
use crate::tasks::Tasks;
use crate::timer::{
    AnyTimerCallback, IntoNodeTimerOneshotCallback, IntoNodeTimerRepeatingCallback,
    IntoTimerOptions, IntoWorkerTimerOneshotCallback, IntoWorkerTimerRepeatingCallback, Timer,
    TimerState, WorkerTimer,
};
use crate::worker::{Worker, WorkerOptions, WorkerState};
use futures::future::BoxFuture;
use ringspin_adapter::lock;
use rosidl_runtime_rs::{Action, Message};
use std::future::Future;
use std::sync::Arc;
/// Creates executors; a trait, because it is one in rclrs.
pub trait CreateBasicExecutor {
    /// An executor in the mode that `RINGSPIN_MODE` asks for.
    ///
    /// Where that is not possible, as for an unknown mode, the creation of nodes and each spin
    /// return the error.
    fn create_basic_executor(&self) -> Executor;
}

impl CreateBasicExecutor for Context {
    fn create_basic_executor(&self) -> Executor {
        Executor::new(self.clone(), self.app())
    }
}

impl Executor {
    /// Creates a node.
    ///
    /// # Errors
    /// [`RclReturnCode::NodeInvalidName`](crate::RclReturnCode::NodeInvalidName) for a name that
    /// ROS 2 does not allow.
    pub fn create_node<'a>(
        &'a self,
        options: impl IntoNodeOptions<'a>,
    ) -> Result<Node, RclrsError> {
        self.commands().create_node(options)
    }
}

impl ExecutorCommands {
    /// Creates a node.
    ///
    /// # Errors
    /// [`RclReturnCode::NodeInvalidName`](crate::RclReturnCode::NodeInvalidName) for a name that
    /// ROS 2 does not allow.
    pub fn create_node<'a>(
        self: &Arc<Self>,
        options: impl IntoNodeOptions<'a>,
    ) -> Result<Node, RclrsError> {
        NodeState::create(self, options.into_node_options())
    }
}

impl NodeState {
    /// Creates a worker, which has a payload and runs beside the node.
    ///
    /// # Panics
    /// After the end of the executor: the signature has no error.
    pub fn create_worker<Payload>(
        self: &Arc<Self>,
        options: impl Into<WorkerOptions<Payload>>,
    ) -> Worker<Payload>
    where
        Payload: 'static + Send + Sync,
    {
        let mut count = lock(&self.workers);
        *count += 1;
        let worker = WorkerState::create(self, &format!("worker_{count}"), options.into().payload);
        worker.unwrap_or_else(|error| panic!("failed to create a worker: {error}"))
    }

    /// Creates a publisher. The topic may carry options, as in `"topic".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`](crate::RclReturnCode::TopicNameInvalid); another one for
    /// a topic of another type, or with subscriptions that request more than the options offer.
    pub fn create_publisher<'a, T>(
        self: &Arc<Self>,
        options: impl Into<PublisherOptions<'a>>,
    ) -> Result<Publisher<T>, RclrsError>
    where
        T: Message,
    {
        PublisherState::create(self, &options.into())
    }

    /// Subscribes to a topic; callbacks run one after the other. The topic may carry options, as in
    /// `"topic".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`](crate::RclReturnCode::TopicNameInvalid); another one for
    /// a topic of another type, or with publishers that offer less than the options request.
    pub fn create_subscription<'a, T, Args>(
        self: &Arc<Self>,
        options: impl Into<SubscriptionOptions<'a>>,
        callback: impl IntoNodeSubscriptionCallback<T, Args>,
    ) -> Result<Subscription<T>, RclrsError>
    where
        T: Message,
    {
        let callback = callback.into_node_subscription_callback();
        SubscriptionState::create(self, &self.event_loop, &options.into(), callback)
    }

    /// Subscribes to a topic with a callback that returns a future. The futures of several messages
    /// run side by side in the node.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    pub fn create_async_subscription<'a, T, Args>(
        self: &Arc<Self>,
        options: impl Into<SubscriptionOptions<'a>>,
        callback: impl IntoAsyncSubscriptionCallback<T, Args>,
    ) -> Result<Subscription<T>, RclrsError>
    where
        T: Message,
    {
        let callback = callback.into_async_subscription_callback();
        SubscriptionState::create(self, &self.event_loop, &options.into(), callback)
    }

    /// Creates a publisher of messages of a type that is known at run time. The topic may carry
    /// options, as in `"topic".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclrsError::DynamicMessageError`] for an unknown type, and the errors of
    /// [`create_publisher`](Self::create_publisher).
    pub fn create_dynamic_publisher<'a>(
        self: &Arc<Self>,
        topic_type: MessageTypeName,
        options: impl Into<PublisherOptions<'a>>,
    ) -> Result<DynamicPublisher, RclrsError> {
        DynamicPublisherState::create(self, &topic_type, &options.into())
    }

    /// Subscribes to a topic with messages of a type that is known at run time. The topic may carry
    /// options, as in `"topic".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclrsError::DynamicMessageError`] for an unknown type, and the errors of
    /// [`create_subscription`](Self::create_subscription).
    pub fn create_dynamic_subscription<'a, F>(
        &self,
        topic_type: MessageTypeName,
        options: impl Into<SubscriptionOptions<'a>>,
        callback: F,
    ) -> Result<DynamicSubscription, RclrsError>
    where
        F: Fn(DynamicMessage, MessageInfo) + Send + Sync + 'static,
    {
        let call = move |_: &mut (), message, info, _: &Tasks| callback(message, info);
        let options = options.into();
        DynamicSubscriptionState::create(self, &self.event_loop, &topic_type, &options, call)
    }

    /// Subscribes like [`create_dynamic_subscription`](Self::create_dynamic_subscription), with a
    /// callback that returns a future. The futures of several messages run side by side in the
    /// node.
    ///
    /// # Errors
    /// The errors of [`create_dynamic_subscription`](Self::create_dynamic_subscription).
    pub fn create_async_dynamic_subscription<'a, F>(
        &self,
        topic_type: MessageTypeName,
        options: impl Into<SubscriptionOptions<'a>>,
        mut callback: F,
    ) -> Result<DynamicSubscription, RclrsError>
    where
        F: FnMut(DynamicMessage, MessageInfo) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    {
        let call =
            move |_: &mut (), message, info, tasks: &Tasks| tasks.add(callback(message, info));
        let options = options.into();
        DynamicSubscriptionState::create(self, &self.event_loop, &topic_type, &options, call)
    }

    /// Creates a service; its callback answers one request after the other, at once. The name may
    /// carry options, as in `"service".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclReturnCode::ServiceNameInvalid`](crate::RclReturnCode::ServiceNameInvalid); another one
    /// for a service of another type, or with another server in this process.
    pub fn create_service<'a, T, Args>(
        &self,
        options: impl Into<ServiceOptions<'a>>,
        callback: impl IntoNodeServiceCallback<T, Args>,
    ) -> Result<Service<T>, RclrsError>
    where
        T: rosidl_runtime_rs::Service,
    {
        let callback = callback.into_node_service_callback();
        ServiceState::create(self, &self.event_loop, &options.into(), callback)
    }

    /// Creates a service with a callback that returns the future of a response. The futures of
    /// several requests run side by side in the node.
    ///
    /// # Errors
    /// The errors of [`create_service`](Self::create_service).
    pub fn create_async_service<'a, T, Args>(
        self: &Arc<Self>,
        options: impl Into<ServiceOptions<'a>>,
        callback: impl IntoAsyncServiceCallback<T, Args>,
    ) -> Result<Service<T>, RclrsError>
    where
        T: rosidl_runtime_rs::Service,
    {
        let callback = callback.into_async_service_callback();
        ServiceState::create(self, &self.event_loop, &options.into(), callback)
    }

    /// Creates a client of a service. The name may carry options, as in `"service".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclReturnCode::ServiceNameInvalid`](crate::RclReturnCode::ServiceNameInvalid); another one
    /// for a service of another type.
    pub fn create_client<'a, T>(
        self: &Arc<Self>,
        options: impl Into<ClientOptions<'a>>,
    ) -> Result<Client<T>, RclrsError>
    where
        T: rosidl_runtime_rs::Service,
    {
        ClientState::create(self, &options.into())
    }

    /// Creates a timer that calls `callback` each period: a [`Duration`](std::time::Duration),
    /// which may carry options, as in `period.node_time()`.
    ///
    /// # Errors
    /// [`RclReturnCode::InvalidArgument`](crate::RclReturnCode::InvalidArgument) for a period of
    /// zero or beyond 584 years, and
    /// [`RclReturnCode::Unsupported`](crate::RclReturnCode::Unsupported) for a clock that has a
    /// [`ClockSource`](crate::ClockSource).
    pub fn create_timer_repeating<'a, Args>(
        self: &Arc<Self>,
        options: impl IntoTimerOptions<'a>,
        callback: impl IntoNodeTimerRepeatingCallback<Args>,
    ) -> Result<Timer, RclrsError> {
        self.create_timer(options, callback.into_node_timer_repeating_callback())
    }

    /// Creates a timer that calls `callback` after a period, and nothing after that.
    ///
    /// # Errors
    /// The errors of [`create_timer_repeating`](Self::create_timer_repeating).
    pub fn create_timer_oneshot<'a, Args>(
        self: &Arc<Self>,
        options: impl IntoTimerOptions<'a>,
        callback: impl IntoNodeTimerOneshotCallback<Args>,
    ) -> Result<Timer, RclrsError> {
        self.create_timer(options, callback.into_node_timer_oneshot_callback())
    }

    /// Creates a timer that calls nothing until it is given a callback.
    ///
    /// # Errors
    /// The errors of [`create_timer_repeating`](Self::create_timer_repeating).
    pub fn create_timer_inert<'a>(
        self: &Arc<Self>,
        options: impl IntoTimerOptions<'a>,
    ) -> Result<Timer, RclrsError> {
        self.create_timer(options, AnyTimerCallback::Inert)
    }

    /// Creates a client of an action.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`](crate::RclReturnCode::TopicNameInvalid); another one for
    /// an action of another type, or with a server that offers less than the options request.
    pub fn create_action_client<'a, A: Action>(
        self: &Arc<Self>,
        options: impl IntoActionClientOptions<'a>,
    ) -> Result<ActionClient<A>, RclrsError> {
        ActionClientState::create(self, options)
    }

    /// Creates a server of an action. The futures of its callback run side by side in the node, one
    /// for each goal.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`](crate::RclReturnCode::TopicNameInvalid); another one for
    /// an action of another type, or with another server in this process.
    pub fn create_action_server<'a, A: Action, Task>(
        self: &Arc<Self>,
        options: impl IntoActionServerOptions<'a>,
        callback: impl FnMut(RequestedGoal<A>) -> Task + Send + Sync + 'static,
    ) -> Result<ActionServer<A>, RclrsError>
    where
        Task: Future<Output = TerminatedGoal> + Send + 'static,
    {
        ActionServerState::create(self, options, callback)
    }

    /// Creates a server of an action that has a receiver of goals instead of a callback.
    ///
    /// # Errors
    /// The errors of [`create_action_server`](Self::create_action_server).
    pub fn create_goal_receiver<'a, A: Action>(
        self: &Arc<Self>,
        options: impl IntoActionServerOptions<'a>,
    ) -> Result<ActionGoalReceiver<A>, RclrsError> {
        ActionGoalReceiver::create(self, options)
    }

    fn create_timer<'a>(
        &self,
        options: impl IntoTimerOptions<'a>,
        callback: AnyTimerCallback<Node>,
    ) -> Result<Timer, RclrsError> {
        TimerState::create(self, &self.event_loop, options.into_timer_options(), callback)
    }
}

impl<Payload: 'static + Send + Sync> WorkerState<Payload> {
    /// Subscribes to a topic; the callback gets the payload. The topic may carry options, as in
    /// `"topic".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`](crate::RclReturnCode::TopicNameInvalid); another one for
    /// a topic of another type, or with publishers that offer less than the options request.
    pub fn create_subscription<'a, T, Args>(
        &self,
        options: impl Into<SubscriptionOptions<'a>>,
        callback: impl IntoWorkerSubscriptionCallback<T, Payload, Args>,
    ) -> Result<WorkerSubscription<T, Payload>, RclrsError>
    where
        T: Message,
    {
        let callback = callback.into_worker_subscription_callback();
        SubscriptionState::create(&self.node, &self.event_loop, &options.into(), callback)
    }

    /// Subscribes to a topic with messages of a type that is known at run time; the callback gets
    /// the payload. The topic may carry options, as in `"topic".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclrsError::DynamicMessageError`] for an unknown type, and the errors of
    /// [`create_subscription`](Self::create_subscription).
    pub fn create_dynamic_subscription<'a, F>(
        &self,
        topic_type: MessageTypeName,
        options: impl Into<SubscriptionOptions<'a>>,
        mut callback: F,
    ) -> Result<WorkerDynamicSubscription<Payload>, RclrsError>
    where
        F: FnMut(&mut Payload, DynamicMessage, MessageInfo) + Send + Sync + 'static,
    {
        let call = move |payload: &mut Payload, message, info, _: &Tasks| {
            callback(payload, message, info);
        };
        let options = options.into();
        DynamicSubscriptionState::create(&self.node, &self.event_loop, &topic_type, &options, call)
    }

    /// Creates a service; its callback gets the payload. The name may carry options, as in
    /// `"service".keep_last(1)`.
    ///
    /// # Errors
    /// [`RclReturnCode::ServiceNameInvalid`](crate::RclReturnCode::ServiceNameInvalid); another one
    /// for a service of another type, or with another server in this process.
    pub fn create_service<'a, T, Args>(
        &self,
        options: impl Into<ServiceOptions<'a>>,
        callback: impl IntoWorkerServiceCallback<T, Payload, Args>,
    ) -> Result<WorkerService<T, Payload>, RclrsError>
    where
        T: rosidl_runtime_rs::Service,
    {
        let callback = callback.into_worker_service_callback();
        ServiceState::create(&self.node, &self.event_loop, &options.into(), callback)
    }

    /// Creates a timer that calls `callback` each period: a
    /// [`Duration`](std::time::Duration)(std::time::Duration), which may carry options, as in
    /// `period.node_time()`. The callback gets the payload.
    ///
    /// # Errors
    /// [`RclReturnCode::InvalidArgument`](crate::RclReturnCode::InvalidArgument) for a period of
    /// zero or beyond 584 years, and
    /// [`RclReturnCode::Unsupported`](crate::RclReturnCode::Unsupported) for a clock that has a
    /// [`ClockSource`](crate::ClockSource).
    pub fn create_timer_repeating<'a, Args>(
        &self,
        options: impl IntoTimerOptions<'a>,
        callback: impl IntoWorkerTimerRepeatingCallback<Worker<Payload>, Args>,
    ) -> Result<WorkerTimer<Payload>, RclrsError> {
        self.create_timer(options, callback.into_worker_timer_repeating_callback())
    }

    /// Creates a timer that calls `callback` after a period, and nothing after that. The callback
    /// gets the payload.
    ///
    /// # Errors
    /// The errors of [`create_timer_repeating`](Self::create_timer_repeating).
    pub fn create_timer_oneshot<'a, Args>(
        &self,
        options: impl IntoTimerOptions<'a>,
        callback: impl IntoWorkerTimerOneshotCallback<Worker<Payload>, Args>,
    ) -> Result<WorkerTimer<Payload>, RclrsError> {
        self.create_timer(options, callback.into_worker_timer_oneshot_callback())
    }

    /// Creates a timer that calls nothing until it is given a callback.
    ///
    /// # Errors
    /// The errors of [`create_timer_repeating`](Self::create_timer_repeating).
    pub fn create_timer_inert<'a>(
        &self,
        options: impl IntoTimerOptions<'a>,
    ) -> Result<WorkerTimer<Payload>, RclrsError> {
        self.create_timer(options, AnyTimerCallback::Inert)
    }

    fn create_timer<'a>(
        &self,
        options: impl IntoTimerOptions<'a>,
        callback: AnyTimerCallback<Worker<Payload>>,
    ) -> Result<WorkerTimer<Payload>, RclrsError> {
        TimerState::create(&self.node, &self.event_loop, options.into_timer_options(), callback)
    }
}
