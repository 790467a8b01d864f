//! Nodes, topics, timers, and the dispatch core that serves every mode of ringspin.
//!
//! A [`Graph`] of [`Node`]s is declared, then frozen into [`Worker`]s. A worker takes a ready
//! event, runs its callback with `&mut State` and a [`Context`], and a scheduler decides about its
//! thread and its time (see the `modes` member). Handles change the graph at any time after that:
//! workers adopt changes between two events.

#![forbid(unsafe_code)]

pub mod action;
pub mod arguments;
mod calls;
mod change;
mod clock_watch;
mod collector;
mod context;
mod control;
mod counters;
mod create_node;
mod deadline;
mod deadlines;
mod departure;
pub mod digest;
mod directory;
mod endpoints;
mod entity;
mod escape;
mod event;
mod event_loop;
mod given_arguments;
mod graph;
mod guard_condition;
mod info;
mod input;
mod internal_topic;
pub mod lifecycle;
mod live_input;
mod liveliness;
mod lock;
mod message;
mod message_times;
mod middleware;
pub mod name;
mod node;
mod notifier;
mod owner_thread;
pub mod parameter;
mod parameter_value;
mod picker;
mod qos;
mod qos_events;
mod random;
mod ready;
mod reentrant;
mod registration;
mod remains;
mod remote;
mod ros_clock;
mod route;
mod service;
mod shared_list;
mod sim_network;
mod sim_time;
mod stop;
mod synchronize;
mod table;
mod task;
mod time;
mod timer;
mod timers;
mod topic;
mod worker;

pub use action::{
    Action, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions, CancelResponse,
    ClientGoal, CreateActionClientError, CreateActionServerError, GoalCallbacks, GoalError,
    GoalHandle, GoalId, GoalOutcome, GoalRefused, GoalResponse, GoalStatus, SendGoalError,
};
pub use arguments::{Arguments, ArgumentsError, LogLevel};
pub use collector::Collector;
pub use context::Context;
pub use control::{
    CallbackStatistics, Cause, Failure, FailurePolicy, Statistics, WorkerStatistics,
};
pub use digest::{Digest, DigestHasher};
pub use endpoints::Subscription;
pub use escape::{BoxError, catch_panic, error_message, panic_message};
pub use event::{
    CallbackId, Completion, Dispatch, EventId, GraphChange, LoopId, Recorder, SourceId,
};
pub use event_loop::CallbackResult;
pub use graph::{
    AddError, AddInputError, CreateGroupError, CreateNodeError, CreatePublisherError,
    CreateSubscriptionError, CreateTimerError, DepthError, FreezeError, Frozen, FrozenError, Graph,
    IncompatibleQosError, InterceptError, LatePlace, LatePlacement, MiddlewareError, Monitor, Plan,
    ReadyOrder, SetDeadlineError, SetPriorityError, TimeSource, TooLargeError, TypeMismatchError,
};
pub use guard_condition::GuardCondition;
pub use info::{CallbackInfo, ClientInfo, GraphInfo, LoopInfo, ServiceInfo, TopicInfo};
pub use input::{Delivery, ExternalInput, NamedInput};
pub use lifecycle::{
    CreateLifecycleError, Lifecycle, LifecycleBuilder, LifecyclePublisher, LifecycleState,
    Transition,
};
pub use message::Message;
pub use message_times::MessageTimes;
pub use middleware::{
    AnnouncedService, Middleware, MiddlewareService, RemoteClient, RemoteNode, RemoteResponder,
    RemoteServer, Sent, ServiceTypes, SetMiddlewareError, TypeName,
};
pub use name::NameError;
pub use node::Node;
pub use owner_thread::ForeignEvent;
pub use parameter::{
    DeclareError, NotDeclaredError, PARAMETER_CHANGES_MAX, Parameter, ParameterBuilder,
    ParameterCallback, ParameterChange, ParameterClient, ParameterDescriptor, ParameterError,
    ParameterInfo, ParameterRange, ParameterType, ParameterValue, ParameterValueError,
    ParameterVariant, Ranged, SetParametersError,
};
pub use picker::Picker;
pub use qos::{
    Durability, History, Incompatibility, IncompatiblePeer, Liveliness, QoS, QosPolicy, Reliability,
};
pub use qos_events::{
    DeadlineMissed, IncompatibleQos, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    PublisherEvents, SubscriptionEvents,
};
pub use rand_core;
pub use random::{CreateRandomError, NodeRandom, SeedError};
pub use reentrant::{ReentrantError, ReentrantGroup};
pub use remote::{
    RemoteEvent, RemoteEventKind, RemoteEvents, RemoteNotifier, RemotePublisher, RemoteStatus,
    RemoteSubscription,
};
pub use ringspin_derive::Digest;
pub use ringspin_ringbuf::WaitStrategy;
pub use ringspin_ringbuf::wait;
pub use ros_clock::RosClock;
pub use service::{
    CALL_BY_VALUE_MAX, CallAndWaitError, CallError, CallFuture, CallRefusal, CallRefused, Client,
    CreateClientError, CreateServiceError, Reply, RequestError, Responder, Service,
};
pub use sim_network::{DeliveryOutcome, Direct, InFlight, Network, Scope, SimNetwork};
pub use stop::{StopError, StopHandle, WorkerThread, running_node};
pub use synchronize::{
    Accumulate, ApproximateTime, Cached, ExactTime, Input, Inputs, Kind, Latest, New, Optional,
    Policy, PolicyError, Required, RequiredInputs, Stamped, StampedInputs, SynchronizeError,
    SynchronizedSubscription, Trigger,
};
pub use table::{Table, TableKey};
pub use task::{Interval, MessageStream, StateAccess, Task, Tick};
pub use time::{Clock, LiveClock, NodeClock, SimClock, Time};
pub use timer::{PeriodError, Timer};
pub use topic::{
    BY_VALUE_MAX, HeldMessages, Loan, LoanError, OutOfSlots, PublishError, Publisher,
    ReturnedMessage, Verdict,
};
pub use worker::{ReadyEvent, Worker};
