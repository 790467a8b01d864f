//! Nodes, topics, timers, and the dispatch core that serves every mode of ringspin.
//!
//! A [`Graph`] of [`Node`]s is declared, then frozen into [`Worker`]s. A worker takes a ready
//! event, runs its callback with `&mut State` and a [`Context`], and that is all it knows: which
//! thread it runs on and what time it is, a scheduler decides (see the `modes` member).

#![forbid(unsafe_code)]

pub mod action;
pub mod arguments;
mod clock_watch;
mod collector;
mod context;
mod control;
mod counted;
mod deadline;
mod deadlines;
pub mod digest;
mod endpoints;
mod escape;
mod event;
mod event_loop;
mod evidence;
mod frozen;
mod graph;
mod guard_condition;
mod input;
mod internal_topic;
pub mod lifecycle;
mod lock;
mod message;
mod middleware;
pub mod name;
mod node;
mod notifier;
pub mod parameter;
mod picker;
mod qos;
mod random;
mod reentrant;
mod remapping;
mod ros_clock;
mod route;
mod service;
mod sim_time;
mod synchronize;
mod task;
mod time;
mod timer;
mod timers;
mod topic;
mod transit;
mod worker;
mod worker_thread;

pub use action::{
    Action, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions, CancelResponse,
    ClientGoal, GoalCallbacks, GoalError, GoalHandle, GoalId, GoalOutcome, GoalRefused,
    GoalResponse, GoalStatus, SendGoalError,
};
pub use arguments::{Arguments, ArgumentsError, LogLevel};
pub use collector::Collector;
pub use context::Context;
pub use control::{
    CallbackStatistics, Cause, Failure, FailurePolicy, Statistics, StopError, StopHandle,
    WorkerStatistics,
};
pub use digest::{Digest, DigestHasher};
pub use escape::{catch_panic, panic_message};
pub use event::{CallbackId, Completion, Dispatch, EventId, LoopId, Recorder, SourceId};
pub use event_loop::{BoxError, CallbackResult};
pub use frozen::{FreezeError, Frozen, Monitor, Plan, ReadyOrder, TimeSource};
pub use graph::{
    CallbackInfo, CreateError, CreateNodeError, Graph, GraphInfo, LoopInfo, TopicInfo,
};
pub use guard_condition::GuardCondition;
pub use input::{Delivery, ExternalInput, NamedInput};
pub use lifecycle::{Lifecycle, LifecycleBuilder, LifecyclePublisher, LifecycleState, Transition};
pub use message::Message;
pub use middleware::{
    AnnouncedChore, Arrivals, Chore, Middleware, RemoteClient, RemoteEvent, RemoteEventKind,
    RemoteEvents, RemoteNode, RemotePublisher, RemoteResponder, RemoteServer, RemoteStatus,
    RemoteSubscription, Sent, ServiceTypes, TypeName,
};
pub use name::NameError;
pub use node::Node;
pub use parameter::{
    DeclareError, PARAMETER_CHANGES_MAX, Parameter, ParameterBuilder, ParameterChange,
    ParameterClient, ParameterDescriptor, ParameterError, ParameterInfo, ParameterRange,
    ParameterType, ParameterValue, ParameterVariant, Ranged,
};
pub use picker::Picker;
pub use qos::{
    DeadlineMissed, Durability, History, Incompatibility, IncompatiblePeer, IncompatibleQos,
    Liveliness, LivelinessChanged, LivelinessLost, Matched, MessageLost, PublisherEvents, QoS,
    QosPolicy, Reliability, SubscriptionEvents,
};
pub use rand_core;
pub use random::{NodeRandom, SeedError};
pub use reentrant::{ReentrantError, ReentrantGroup};
pub use ringspin_derive::Digest;
pub use ringspin_ringbuf::WaitStrategy;
pub use ringspin_ringbuf::wait;
pub use ros_clock::RosClock;
pub use service::{
    CALL_BY_VALUE_MAX, CallError, CallFuture, CallRefused, Client, ClientInfo, Reply, Responder,
    ServiceInfo,
};
pub use synchronize::{
    Accumulate, ApproximateTime, Cached, ExactTime, Input, Inputs, Kind, Latest, New, Optional,
    Policy, Required, RequiredInputs, Stamped, StampedInputs, SynchronizeError, Trigger,
};
pub use task::{Interval, MessageStream, StateAccess, Task, Tick};
pub use time::{Clock, LiveClock, NodeClock, SimClock, Time};
pub use timer::{PeriodError, Timer};
pub use topic::{
    BY_VALUE_MAX, HeldMessages, LateSubscription, Loan, LoanError, OutOfSlots, PublishError,
    Publisher, ReturnedMessage, Verdict,
};
pub use transit::{Direct, Fate, Network, Passage, Scope, Transit};
pub use worker::{ReadyEvent, Worker};
pub use worker_thread::{ForeignEvent, WorkerThread, running_node};
