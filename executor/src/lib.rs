//! Nodes, topics, timers, and the dispatch core that serves every mode of ringspin.
//!
//! A [`Graph`] of [`Node`]s is declared, then frozen into [`Worker`]s. A worker takes a ready
//! event, runs its callback with `&mut State` and a [`Context`], and that is all it knows: which
//! thread it runs on and what time it is, a scheduler decides (see the `modes` member).

#![forbid(unsafe_code)]

pub mod arguments;
mod context;
mod control;
mod deadline;
mod deadlines;
mod endpoints;
mod event;
mod event_loop;
mod frozen;
mod graph;
mod guard_condition;
mod internal_topic;
pub mod lifecycle;
mod lock;
mod message;
pub mod name;
mod node;
mod notifier;
pub mod parameter;
mod picker;
mod qos;
mod reentrant;
mod remapping;
mod service;
mod synchronize;
mod task;
mod time;
mod timer;
mod timers;
mod topic;
mod worker;
mod worker_thread;

pub use arguments::{Arguments, ArgumentsError, LogLevel};
pub use context::Context;
pub use control::{
    CallbackStatistics, Cause, Failure, FailurePolicy, Statistics, StopError, StopHandle,
    WorkerStatistics,
};
pub use event::{CallbackId, Dispatch, EventId, LoopId, Recorder, SourceId};
pub use event_loop::{BoxError, CallbackResult};
pub use frozen::{FreezeError, Frozen, Monitor, Plan, ReadyOrder};
pub use graph::{
    CallbackInfo, CreateError, CreateNodeError, Graph, GraphInfo, LoopInfo, TopicInfo,
};
pub use guard_condition::GuardCondition;
pub use lifecycle::{Lifecycle, LifecycleBuilder, LifecyclePublisher, LifecycleState, Transition};
pub use message::Message;
pub use name::NameError;
pub use node::Node;
pub use parameter::{
    DeclareError, PARAMETER_CHANGES_MAX, Parameter, ParameterBuilder, ParameterChange,
    ParameterClient, ParameterDescriptor, ParameterError, ParameterInfo, ParameterRange,
    ParameterType, ParameterValue, ParameterVariant, Ranged,
};
pub use qos::{
    DeadlineMissed, Durability, History, Incompatibility, Liveliness, LivelinessChanged,
    LivelinessLost, PublisherEvents, QoS, QosPolicy, Reliability, SubscriptionEvents,
};
pub use reentrant::{ReentrantError, ReentrantGroup};
pub use ringspin_ringbuf::WaitStrategy;
pub use ringspin_ringbuf::wait;
pub use service::{
    CallError, CallFuture, CallRefused, Client, ClientInfo, Reply, Responder, ServiceInfo,
};
pub use synchronize::{
    Accumulate, ApproximateTime, Cached, ExactTime, Input, Inputs, Kind, Latest, New, Optional,
    Policy, Required, RequiredInputs, Stamped, StampedInputs, SynchronizeError, Trigger,
};
pub use task::{Interval, MessageStream, StateAccess, Task, Tick};
pub use time::{Clock, LiveClock, NodeClock, SimClock, Time};
pub use timer::{PeriodError, Timer};
pub use topic::{LateSubscription, Loan, PublishError, Publisher};
pub use worker::Worker;
pub use worker_thread::WorkerThread;
