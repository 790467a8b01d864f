//! The methods that this wing adds to [`Node`]: what each promises.
//!
//! The files of the entities build them.

use crate::base::error::Result;
use crate::base::name::NameKind;
use crate::base::parameter_value::{ParameterValue, ParameterVariant};
use crate::base::qos::QoS;
use crate::delivery::context::Context;
use crate::delivery::input::ExternalInput;
use crate::delivery::message::Message;
use crate::delivery::topic::Publisher;
use crate::features::action::{
    Action, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions, CancelResponse,
    GoalHandle, GoalResponse,
};
use crate::features::endpoints::{Collector, Subscription};
use crate::features::guard_condition::GuardCondition;
use crate::features::input_entity::add_input;
use crate::features::lifecycle::{LifecycleBuilder, LifecyclePublisher};
use crate::features::parameter::{
    Parameter, ParameterBuilder, ParameterCallback, ParameterChange, ParameterClient,
};
use crate::features::qos_events::{PublisherEvents, SubscriptionEvents};
use crate::features::random::NodeRandom;
use crate::features::reentrant::ReentrantGroup;
use crate::features::service::{Client, Responder, Service};
use crate::features::synchronize::{Inputs, Policy, SynchronizedSubscription};
use crate::features::task::{Interval, MessageStream, StateAccess, Task};
use crate::running::event_loop::CallbackResult;
use crate::running::node::Node;
use std::time::Duration;

#[cfg(doc)]
use crate::{
    ApproximateTime, ExactTime, Graph, Input, Latest, Lifecycle, LifecycleState,
    PARAMETER_CHANGES_MAX, Transition,
};

impl<S: Send + 'static> Node<S> {
    /// Creates a publisher of messages of type `M`.
    ///
    /// If it is transient-local, it keeps its newest messages, as many as the depth of `qos`. It
    /// may publish while the graph is being built: at the start, subscriptions that request
    /// transient-local durability get the kept messages before any later one. The kept messages of
    /// several publishers are delivered in order of their creation.
    ///
    /// # Errors
    /// Fails for an invalid name, another message type on the topic, a subscription that requests
    /// more than `qos` offers, a transient-local publisher with a depth out of range, or an
    /// executor that has ended.
    pub fn create_publisher<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
    ) -> Result<Publisher<M>> {
        self.create_publisher_with_events(topic, qos, PublisherEvents::new())
    }

    /// Creates a publisher like [`create_publisher`](Self::create_publisher), with callbacks for
    /// its events, which run in this callback group.
    ///
    /// # Errors
    /// The errors of [`create_publisher`](Self::create_publisher), and an event that the middleware
    /// refuses to report.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, PublisherEvents, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("lidar", ())?;
    /// let qos = QoS::sensor_data().deadline(Duration::from_millis(100));
    /// let events = PublisherEvents::new()
    ///     .on_deadline_missed(|_, missed, cx| println!("{}: {missed:?}", cx.node()));
    /// let out = node.create_publisher_with_events::<Vec<f32>>("scan", qos, events)?;
    /// # let _ = out;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_publisher_with_events<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
        events: PublisherEvents<S>,
    ) -> Result<Publisher<M>> {
        self.handle.add_publisher(topic, qos, events.callbacks)
    }

    /// Calls `callback` for each message of type `M` on `topic`.
    ///
    /// # Errors
    /// Fails for an invalid name, another message type on the topic, a publisher that offers less
    /// than `qos` requests, a depth out of range, or an executor that has ended.
    pub fn create_subscription<M, F, R>(
        &self,
        topic: &str,
        qos: QoS,
        callback: F,
    ) -> Result<Subscription>
    where
        M: Send + Sync + 'static,
        F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        self.create_subscription_with_events(topic, qos, SubscriptionEvents::new(), callback)
    }

    /// Creates a subscription like [`create_subscription`](Self::create_subscription), with
    /// callbacks for its events, which run in this callback group.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription), and an event that the
    /// middleware refuses to report.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS, SubscriptionEvents};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("planner", 0u64)?;
    /// let qos = QoS::sensor_data().deadline(Duration::from_millis(100));
    /// let events = SubscriptionEvents::new()
    ///     .on_deadline_missed(|gaps: &mut u64, missed, _| *gaps = missed.total_count)
    ///     .on_liveliness_changed(|_, changed, cx| println!("{}: {changed:?}", cx.now()));
    /// node.create_subscription_with_events("scan", qos, events, |_, scan: &Message<Vec<f32>>, _| {
    ///     println!("{} points", scan.len());
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_subscription_with_events<M, F, R>(
        &self,
        topic: &str,
        qos: QoS,
        events: SubscriptionEvents<S>,
        callback: F,
    ) -> Result<Subscription>
    where
        M: Send + Sync + 'static,
        F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        Subscription::create(self, topic, qos, events, callback)
    }

    /// Subscribes to `topic` and keeps all messages until the collector's holder takes them. The
    /// number of kept messages is not bounded, as with [`QoS::held`] of `usize::MAX`: take them now
    /// and then.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// let probe = graph.create_node("probe", ())?;
    /// let commands = probe.create_collector::<f64>("cmd", QoS::keep_last(100))?;
    /// assert_eq!(commands.values(), []);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_collector<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
    ) -> Result<Collector<M>> {
        Collector::create(self, topic, qos)
    }

    /// Calls `callback` for messages of several topics that belong together, as `policy` defines:
    /// [`ExactTime`], [`ApproximateTime`] or [`Latest`].
    ///
    /// `inputs` is a tuple of 2 to 9 [`Input`]s, and the callback gets a tuple with as many
    /// elements. Messages are shared, never copied: a synchronizer keeps references into the pools
    /// of the topics, which have room for them.
    ///
    /// Each arrival on an input is one event, which is dispatched and recorded. The one that
    /// completes a set calls the callback, within this event; if it completes several sets, once
    /// for each. If the callback fails, the sets after it wait for the next arrival.
    ///
    /// # Errors
    /// Fails as for a [subscription](Self::create_subscription), or for parameters
    /// of the policy that make no sense.
    pub fn create_synchronized_subscription<I, P, F, R>(
        &self,
        inputs: I,
        policy: P,
        callback: F,
    ) -> Result<SynchronizedSubscription>
    where
        I: Inputs,
        P: Policy<I>,
        F: for<'a> FnMut(&mut S, P::Set<'a>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        SynchronizedSubscription::create(self, inputs, policy, callback)
    }

    /// Adds an input of this node, which works in every mode. In deterministic mode it is one of
    /// [`Graph::add_input`](Graph::add_input). Live, this group's event loop calls it when
    /// its items are due by the executor's clock. Time does not wait for the graph, so items may be
    /// late, and keep-last subscriptions may lose some.
    ///
    /// # Errors
    /// Fails for a name that another input has, or an executor that has ended.
    ///
    /// ```
    /// use ringspin_executor::{BoxError, Delivery, ExternalInput, Graph, Publisher, QoS, Time};
    /// use std::time::Duration;
    ///
    /// /// Three samples, a second apart.
    /// struct Samples {
    ///     next: Time,
    ///     left: u32,
    ///     out: Publisher<u32>,
    /// }
    ///
    /// impl ExternalInput for Samples {
    ///     fn start_live(&mut self, now: Time) {
    ///         self.next = now;
    ///     }
    ///
    ///     fn next_time(&mut self) -> Option<Time> {
    ///         (self.left > 0).then_some(self.next)
    ///     }
    ///
    ///     fn deliver(&mut self, _now: Time) -> Result<Delivery, BoxError> {
    ///         (self.next, self.left) = (self.next + Duration::from_secs(1), self.left - 1);
    ///         self.out.publish(self.left)?;
    ///         Ok(Delivery::Done)
    ///     }
    /// }
    ///
    /// let graph = Graph::new();
    /// let node = graph.create_node("sensor", ())?;
    /// let out = node.create_publisher("samples", QoS::default())?;
    /// node.create_input("samples", Samples { next: Time::ZERO, left: 3, out })?;
    /// # Ok::<(), BoxError>(())
    /// ```
    pub fn create_input(&self, name: &str, input: impl ExternalInput + 'static) -> Result<()> {
        add_input(self, name, input)
    }

    /// Calls `callback` whenever the guard condition that this returns is triggered. The event's
    /// sequence is the number of the newest trigger that the call answers.
    ///
    /// In deterministic mode a trigger from a callback is an event like any other. A trigger from
    /// another thread has no repeatable time: do not use it in a run that is to be repeated.
    ///
    /// # Errors
    /// Fails if the node or the executor has ended, or its worker is full.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("bumper", 0)?;
    /// let pressed = node.create_guard_condition("pressed", |count, _| *count += 1)?;
    /// std::thread::spawn(move || pressed.trigger());
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_guard_condition<F, R>(&self, name: &str, callback: F) -> Result<GuardCondition>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        GuardCondition::create(self, name, callback)
    }

    /// Opens a callback group for callbacks that share `state` and may run at the same time.
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
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_reentrant_group<G: Send + Sync + 'static>(
        &self,
        name: &str,
        state: G,
    ) -> ReentrantGroup<'_, S, G> {
        ReentrantGroup::new(self, name, state)
    }

    /// Runs `future` as a task of this callback group: from the start of the executor, or at once
    /// if that runs.
    ///
    /// Each of its polls is an event. Its output may be a `Result`; an error is a failure of the
    /// node. The name is for statistics and failures.
    ///
    /// # Errors
    /// Fails if the node or the executor has ended, or its worker is full.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("heartbeat", ())?;
    /// let out = node.create_publisher("alive", QoS::default())?;
    /// let mut interval = node.create_interval(Duration::from_secs(1))?;
    /// node.spawn("beat", async move {
    ///     loop {
    ///         let tick = interval.tick().await;
    ///         let _ = out.publish(tick.number);
    ///     }
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn spawn<F>(&self, name: &str, future: F) -> Result<Task>
    where
        F: Future<Output: CallbackResult> + Send + 'static,
    {
        Task::create(self, name, future)
    }

    /// Runs a future that uses the state of the callback group, like [`spawn`](Self::spawn).
    ///
    /// # Errors
    /// The errors of [`spawn`](Self::spawn).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// let node = graph.create_node("sum", 0u64)?;
    /// let mut numbers = node.create_stream::<u64>("numbers", QoS::default())?;
    /// node.spawn_with_state("add", |sum| async move {
    ///     loop {
    ///         let number = numbers.next().await;
    ///         sum.with(move |sum, _| *sum += *number).await;
    ///     }
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn spawn_with_state<F>(
        &self,
        name: &str,
        task: impl FnOnce(StateAccess<S>) -> F,
    ) -> Result<Task>
    where
        F: Future<Output: CallbackResult> + Send + 'static,
    {
        Task::create_with_state(self, name, task)
    }

    /// Subscribes to `topic` for a [task](Node::spawn) that awaits its messages.
    ///
    /// Up to the depth of `qos` messages wait for their event, and as many for the task; then the
    /// oldest is overwritten and counted. A history of keep-all bounds the first kind only.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    pub fn create_stream<M>(&self, topic: &str, qos: QoS) -> Result<MessageStream<M>>
    where
        M: Send + Sync + 'static,
    {
        MessageStream::create(self, topic, qos, false)
    }

    /// Subscribes to `topic` for a task of another runtime, or for any thread.
    ///
    /// Live, a message of this process takes no event: the thread that publishes it appends it to
    /// the queue of the stream, and wakes the task, so that it waits for no thread of the executor.
    /// Where that has one core, the message saves two changes of threads. It counts as
    /// [`dispatched`](crate::CallbackStatistics::dispatched), and up to the depth of `qos` wait for
    /// the task; then the oldest is overwritten and counted, also with a history of keep-all. A
    /// message that is taken after the end of its lifespan is dropped and counted. A
    /// [deadline](Self::set_deadline) of the callback has no effect.
    ///
    /// In simulated time, and for messages of other processes, it is a stream like any other: each
    /// message is an event.
    ///
    /// `publish` calls the waker of the task, so it takes as long as that does, and a publisher
    /// that is suspended in a waker delays how soon the task learns of other messages. A waker must
    /// not publish, nor change the graph.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// let node = graph.create_node("gateway", ())?;
    /// let mut numbers = node.create_detached_stream::<u64>("numbers", QoS::default())?;
    /// std::thread::spawn(move || {
    ///     // `block_on` of any runtime
    ///     # let block_on = drop;
    ///     block_on(async {
    ///         println!("{}", *numbers.next().await);
    ///     })
    /// });
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_detached_stream<M>(&self, topic: &str, qos: QoS) -> Result<MessageStream<M>>
    where
        M: Send + Sync + 'static,
    {
        MessageStream::create(self, topic, qos, true)
    }

    /// Creates a timer for a [task](Node::spawn) that awaits its ticks, every `period`, anchored as
    /// those of [`create_timer`](Node::create_timer).
    ///
    /// # Errors
    /// Fails for a period of zero, or an executor that was dropped.
    pub fn create_interval(&self, period: Duration) -> Result<Interval> {
        Interval::create(self, format!("interval {period:?}"), period, true)
    }

    /// Creates an interval that ticks only at the end of an [`Interval::sleep`].
    ///
    /// # Errors
    /// Fails if the node or the executor has ended, or its worker is full.
    pub fn create_sleeper(&self) -> Result<Interval> {
        Interval::create_sleeper(self)
    }

    /// Creates a server of service `name`: `callback` answers each request at once.
    ///
    /// The depth of `qos` limits the waiting requests; beyond it, calls are refused. Its other
    /// policies matter over ROS 2.
    ///
    /// # Errors
    /// Fails for an invalid name, a service that another node offers or uses with other types, a
    /// depth out of range, requests or responses of more than
    /// [`CALL_BY_VALUE_MAX`](crate::CALL_BY_VALUE_MAX) bytes, or an executor that has ended.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// let node = graph.create_node("calculator", ())?;
    /// node.create_service("add", QoS::services(), |_, (a, b): &(i64, i64), _| a + b)?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_service<Q, P, F>(&self, name: &str, qos: QoS, mut callback: F) -> Result<Service>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
        F: FnMut(&mut S, &Q, &mut Context<'_>) -> P + Send + 'static,
    {
        self.create_deferred_service(
            name,
            qos,
            move |state: &mut S, request: &Q, responder: Responder<P>, cx: &mut Context<'_>| {
                responder.respond(callback(state, request, cx));
            },
        )
    }

    /// Creates a server of service `name`: `callback` gets a [`Responder`], which it may keep and
    /// answer later.
    ///
    /// # Errors
    /// The errors of [`create_service`](Self::create_service).
    pub fn create_deferred_service<Q, P, F, R>(
        &self,
        name: &str,
        qos: QoS,
        callback: F,
    ) -> Result<Service>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
        F: FnMut(&mut S, &Q, Responder<P>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        Service::create(self, name, qos, callback)
    }

    /// Creates a client of service `name`.
    ///
    /// The depth of `qos` limits the calls without a response; [`QoS::held`] limits the replies
    /// that are kept. Its other policies matter over ROS 2.
    ///
    /// # Errors
    /// Fails for an invalid name, a service of other types, a depth out of range, requests or
    /// responses of more than [`CALL_BY_VALUE_MAX`](crate::CALL_BY_VALUE_MAX) bytes, or an executor
    /// that has ended.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("asking", 0)?;
    /// let add = node.create_client::<(i64, i64), i64>("add", QoS::services())?;
    /// node.create_timer(Duration::from_secs(1), move |_, _| {
    ///     add.call((1, 2), |sum, reply, _| reply.map(|reply| *sum += *reply))
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn create_client<Q, P>(&self, name: &str, qos: QoS) -> Result<Client<S, Q, P>>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
    {
        Client::create(self, name, qos)
    }

    /// Creates a server of action `name`.
    ///
    /// `on_goal` decides about each goal, `on_cancel` about each goal that a client asks to cancel.
    /// `on_accepted` gets the goal's handle, to pursue the goal at once or, by keeping the handle,
    /// later: in timers, tasks, or threads. All of them are events of this callback group.
    ///
    /// ```
    /// # use ringspin_executor::{Action, ActionServerOptions, CancelResponse, Graph};
    /// # use ringspin_executor::{GoalHandle, GoalRefused, GoalResponse};
    /// # use std::time::Duration;
    /// struct Countdown;
    /// impl Action for Countdown {
    ///     type Goal = u32;
    ///     type Result = ();
    ///     type Feedback = u32;
    /// }
    /// # let graph = Graph::new();
    /// let node = graph.create_node("launcher", Vec::<(u32, GoalHandle<Countdown>)>::new())?;
    /// node.create_action_server::<Countdown, _>(
    ///     "countdown",
    ///     ActionServerOptions::default(),
    ///     |_, goal, _| if *goal < 100 { GoalResponse::Accept } else { GoalResponse::Reject },
    ///     |_, _, _| CancelResponse::Accept,
    ///     |running, handle, _| running.push((**handle.goal(), handle)),
    /// )?;
    /// node.create_timer(Duration::from_secs(1), |running, _| {
    ///     for (left, handle) in running.iter_mut() {
    ///         *left = left.saturating_sub(1);
    ///         match (handle.is_canceling(), *left) {
    ///             (true, _) => handle.canceled(()).unwrap(),
    ///             (false, 0) => handle.succeed(()).unwrap(),
    ///             (false, left) => handle.publish_feedback(left).unwrap(),
    ///         }
    ///     }
    ///     running.retain(|(_, handle)| handle.is_active());
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for an invalid name, an action that another node offers or uses with other types,
    /// limits out of range, or an executor that has ended.
    pub fn create_action_server<A: Action, R: CallbackResult + 'static>(
        &self,
        name: &str,
        options: ActionServerOptions,
        on_goal: impl FnMut(&mut S, &A::Goal, &mut Context<'_>) -> GoalResponse + Send + 'static,
        on_cancel: impl FnMut(&mut S, &GoalHandle<A>, &mut Context<'_>) -> CancelResponse
        + Send
        + 'static,
        on_accepted: impl FnMut(&mut S, GoalHandle<A>, &mut Context<'_>) -> R + Send + 'static,
    ) -> Result<ActionServer<A>> {
        ActionServer::create(self, name, options, on_goal, on_cancel, on_accepted)
    }

    /// Creates a client of action `name`. Responses, feedback and results are events of this
    /// callback group.
    ///
    /// The identities of its goals come from a [random stream](Node::create_random) of the node and
    /// the executor's time: in deterministic mode they are the same in every run.
    ///
    /// ```
    /// # use ringspin_executor::{Action, ActionClientOptions, GoalCallbacks, Graph};
    /// # use std::time::Duration;
    /// # struct Countdown;
    /// # impl Action for Countdown {
    /// #     type Goal = u32;
    /// #     type Result = ();
    /// #     type Feedback = u32;
    /// # }
    /// # let graph = Graph::new();
    /// let node = graph.create_node("operator", 0)?;
    /// let options = ActionClientOptions::default();
    /// let client = node.create_action_client::<Countdown>("countdown", options)?;
    /// node.create_one_shot_timer(Duration::from_secs(1), move |_, _| {
    ///     let callbacks = GoalCallbacks::new()
    ///         .on_feedback(|left, feedback, _| *left = **feedback)
    ///         .on_result(|_, outcome, _| outcome.map(|outcome| println!("{}", outcome.status)));
    ///     client.send_goal(10, callbacks).map(|goal_id| println!("sent {goal_id}"))
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for an invalid name, an action of other types, limits out of range, or an executor
    /// that has ended.
    pub fn create_action_client<A: Action>(
        &self,
        name: &str,
        options: ActionClientOptions,
    ) -> Result<ActionClient<S, A>> {
        ActionClient::create(self, name, options)
    }

    /// Declares a parameter with a default; the short form of [`parameter`](Self::parameter).
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let node = Graph::new().create_node("pilot", ())?;
    /// let gain = node.declare_parameter("gain", 1.0)?;
    /// gain.set(2.5)?;
    /// assert_eq!(gain.get(), 2.5);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for an invalid name, a parameter that the node has already, a node that has ended, or
    /// an override of another type; that error names the argument or the line of the file, the
    /// node, the parameter and both types.
    pub fn declare_parameter<T: ParameterVariant>(
        &self,
        name: &str,
        default: T,
    ) -> Result<Parameter<T>> {
        self.parameter(name).default(default).declare()
    }

    /// Begins the declaration of a parameter.
    ///
    /// ```
    /// # use ringspin_executor::{ErrorKind, Graph};
    /// # let node = Graph::new().create_node("pilot", ())?;
    /// let speed = node
    ///     .parameter("limits.speed")
    ///     .default(1.5)
    ///     .range(0.0..=3.0)
    ///     .step(0.5)
    ///     .description("the fastest that the robot may drive, in m/s")
    ///     .declare()?;
    /// assert_eq!(speed.set(3.5).unwrap_err().kind(), ErrorKind::InvalidArgument);
    /// let port = node.parameter("port").default("can0".to_string()).read_only().declare()?;
    /// assert_eq!(port.get(), "can0");
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn parameter<T: ParameterVariant>(&self, name: &str) -> ParameterBuilder<T> {
        self.handle.parameter(name)
    }

    /// The node's parameters, by name; the same for all of its callback groups.
    pub fn parameters(&self) -> ParameterClient {
        ParameterClient::new(self.handle.node_parameters())
    }

    /// Allows to set parameters that the node has not declared, by name, also over ROS 2. The set
    /// adds the parameter, with values of any type; a later declaration begins with its value.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let node = Graph::new().create_node("plugins", ())?;
    /// node.allow_undeclared_parameters();
    /// node.parameters().set("layer.gain", 2.5)?;
    /// assert_eq!(node.declare_parameter("layer.gain", 1.0)?.get(), 2.5);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn allow_undeclared_parameters(&self) {
        self.parameters().allow_undeclared();
    }

    /// Calls `callback` for each change of the node's parameters, with all that were set at once.
    ///
    /// It is an event like a message: it runs in this callback group with its state, in the order
    /// in which changes were made, and the values are the new ones by then, or even newer ones. At
    /// most [`PARAMETER_CHANGES_MAX`] changes wait; beyond that, setting fails. Setting a parameter
    /// before the graph is frozen is no event.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let node = Graph::new().create_node("pilot", 1.0)?;
    /// node.declare_parameter("gain", 1.0)?;
    /// node.on_parameter_change(|gain, changes, _| {
    ///     for change in changes.iter().filter(|change| change.name == "gain") {
    ///         println!("gain was {} and is {}", change.old, change.new);
    ///     }
    ///     *gain += 1.0;
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the node or the executor has ended, or its worker is full.
    pub fn on_parameter_change<F, R>(&self, callback: F) -> Result<ParameterCallback>
    where
        F: FnMut(&mut S, &[ParameterChange], &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        ParameterCallback::create(self, callback)
    }

    /// Begins to give this node a lifecycle, with the transitions running in this callback group.
    ///
    /// Other nodes change it by the node's services, which ROS 2 knows as those of
    /// `lifecycle_msgs`: `~/change_state` with a [`Transition`], which answers whether it
    /// succeeded (`bool`), `~/get_state` with `()`, which answers a [`LifecycleState`], and
    /// `~/get_available_transitions` with `()`, which answers a `Vec<Transition>`.
    ///
    /// The callbacks may create and destroy the publishers and subscriptions of the configured
    /// node, through a clone of its handle:
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS, Subscription};
    /// # let node = Graph::new().create_node("camera", None)?;
    /// let own = node.clone();
    /// node.lifecycle()
    ///     .on_configure(move |trigger: &mut Option<Subscription>, _| {
    ///         let image = own.create_lifecycle_publisher("image", QoS::sensor_data())?;
    ///         let qos = QoS::default();
    ///         let expose = own.create_subscription("trigger", qos, move |_, n: &Message<u32>, _| {
    ///             image.publish(**n) // ignored unless the node is active
    ///         })?;
    ///         *trigger = Some(expose);
    ///         Ok::<(), ringspin_executor::Error>(())
    ///     })
    ///     .on_cleanup(|trigger, _| trigger.take().iter().for_each(Subscription::destroy))
    ///     .create()?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn lifecycle(&self) -> LifecycleBuilder<'_, S> {
        LifecycleBuilder::new(self)
    }

    /// Creates a publisher that ignores messages while the node is not active; always, if it has no
    /// [lifecycle](Self::lifecycle). For one with further options see [`Lifecycle::publisher`].
    ///
    /// # Errors
    /// The errors of [`create_publisher`](Self::create_publisher).
    pub fn create_lifecycle_publisher<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
    ) -> Result<LifecyclePublisher<M>> {
        LifecyclePublisher::create(self, topic, qos)
    }

    /// Creates the stream `name` of random numbers for this node.
    ///
    /// ```
    /// use rand::RngExt;
    /// use ringspin_executor::{Graph, QoS};
    /// use std::time::Duration;
    ///
    /// let graph = Graph::new();
    /// graph.set_seed(42)?;
    /// let node = graph.create_node("laser", ())?;
    /// let ranges = node.create_publisher::<f64>("range", QoS::default())?;
    /// let mut noise = node.create_random("noise")?;
    /// node.create_timer(Duration::from_millis(25), move |_, _| {
    ///     ranges.publish(4.0 + noise.random_range(-0.01..0.01))
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// Its numbers depend on the [seed of the graph](Graph::set_seed), the full name of the node
    /// after remapping, and `name`: not on the mode, the machine, other nodes, other streams, or
    /// the order in which they are created. Give each purpose, or at least each callback, a
    /// separate stream: then none of them shifts the numbers of another one. All callback groups of
    /// a node share one set of names. A restarted node does not draw the same numbers again,
    /// because its callbacks keep the streams that they captured.
    ///
    /// # Errors
    /// Fails for a name that the node has given to another stream, or a node or executor that has
    /// ended.
    pub fn create_random(&self, name: &str) -> Result<NodeRandom> {
        NodeRandom::create(self, name)
    }

    /// The fully qualified name of `topic` in this node: expanded, then remapped by the graph's
    /// [arguments](Graph::set_arguments), as `create_publisher` and `create_subscription` do.
    ///
    /// # Errors
    /// Fails for a name that ROS 2 does not allow.
    pub fn resolve_topic_name(&self, topic: &str) -> Result<String> {
        self.handle.resolve(NameKind::Topic, topic)
    }

    /// Resolves the name of a service like [`resolve_topic_name`](Self::resolve_topic_name).
    ///
    /// # Errors
    /// Fails for a name that ROS 2 does not allow.
    pub fn resolve_service_name(&self, service: &str) -> Result<String> {
        self.handle.resolve(NameKind::Service, service)
    }

    /// The overrides of this node's parameters by the graph's [arguments](Graph::set_arguments),
    /// from weak to strong, for code that keeps the node's parameters itself: they count as
    /// declared.
    pub fn take_parameter_overrides(&self) -> Vec<(String, ParameterValue)> {
        self.handle.graph.builder().use_overrides(self.full_name())
    }
}
