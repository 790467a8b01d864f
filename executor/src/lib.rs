//! Nodes, topics, timers, and the dispatch core that serves every mode of ringspin.
//!
//! A [`Graph`] of [`Node`]s is declared, then frozen into [`Worker`]s. A worker takes a ready
//! event, runs its callback with `&mut State` and a [`Context`], and a scheduler decides about its
//! thread and its time (see the `modes` member). Handles change the graph at any time after that:
//! workers adopt changes between two events.

#![forbid(unsafe_code)]

mod base;
mod delivery;
mod features;
mod running;

pub use base::arguments::{Arguments, LogLevel};
pub use base::digest::{Digest, DigestHasher};
pub use base::error::{Error, ErrorKind, Result};
pub use base::escape::{BoxError, catch_panic, error_message, panic_message};
pub use base::event::{
    CallbackId, Completion, Dispatch, EventId, EventOrigin, GraphChange, LoopId, Recorder, SourceId,
};
pub use base::info::{CallbackInfo, ClientInfo, GraphInfo, LoopInfo, ServiceInfo, TopicInfo};
pub use base::message_times::MessageTimes;
pub use base::owner_thread::ForeignEvent;
pub use base::qos::{
    Durability, History, Incompatibility, IncompatiblePeer, Liveliness, QoS, QosPolicy, Reliability,
};
pub use base::ros_clock::RosClock;
pub use base::stop::{StopHandle, WorkerThread, running_node};
pub use base::table::{Table, TableKey};
pub use base::time::{Clock, LiveClock, NodeClock, SimClock, Time};
pub use base::{arguments, digest, name, observed};
pub use delivery::budget::{Budget, BudgetStatistics};
pub use delivery::causal_stamps::{CausalStamp, CausalStamps, StampHop, StepId};
pub use delivery::context::Context;
pub use delivery::control::{
    CallbackStatistics, Cause, Failure, FailurePolicy, Statistics, WorkerStatistics,
};
pub use delivery::domain::Domain;
pub use delivery::input::{Delivery, ExternalInput, NamedInput};
pub use delivery::message::Message;
pub use delivery::remote::{
    RemoteEvent, RemoteEventKind, RemoteEvents, RemoteNotifier, RemotePublisher, RemoteStatus,
    RemoteSubscription,
};
pub use delivery::sim_network::{DeliveryOutcome, Direct, InFlight, Network, Scope, SimNetwork};
pub use delivery::timer::Timer;
pub use delivery::topic::{
    BY_VALUE_MAX, HeldMessages, Loan, LoanError, MessageCheck, OutOfSlots, PublishError, Publisher,
    ReturnedMessage, Verdict,
};
pub use features::action::{
    Action, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions, CancelResponse,
    ClientGoal, GoalCallbacks, GoalError, GoalHandle, GoalId, GoalOutcome, GoalRefused,
    GoalResponse, GoalStatus, SendGoalError,
};
pub use features::endpoints::{Collector, Subscription};
pub use features::graph_arguments::NodeArguments;
pub use features::guard_condition::GuardCondition;
pub use features::lifecycle::{
    Lifecycle, LifecycleBuilder, LifecyclePublisher, LifecycleState, Transition,
};
pub use features::middleware::{
    AnnouncedService, Middleware, MiddlewareService, RemoteClient, RemoteNode, RemoteResponder,
    RemoteServer, Sent, ServiceTypes, TypeName,
};
pub use features::parameter::{
    Dynamic, PARAMETER_CHANGES_MAX, Parameter, ParameterBuilder, ParameterCallback,
    ParameterChange, ParameterClient, ParameterDescriptor, ParameterEventKind, ParameterInfo,
    ParameterRange, ParameterType, ParameterValue, ParameterVariant, Ranged, RefusedByConstraint,
};
pub use features::qos_events::{
    DeadlineMissed, IncompatibleQos, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    PublisherEvents, SubscriptionEvents,
};
pub use features::random::NodeRandom;
pub use features::reentrant::ReentrantGroup;
pub use features::service::{
    CALL_BY_VALUE_MAX, CallError, CallFuture, CallRefused, Client, Reply, Responder, Service,
};
pub use features::synchronize::{
    ApproximateTime, Cached, ExactTime, Input, Inputs, Kind, Latest, New, Optional, Policy,
    Required, Stamped, StampedInputs, SynchronizedSubscription, Trigger,
};
pub use features::task::{Interval, MessageStream, StateAccess, Task, Tick};
pub use features::{action, lifecycle, parameter};
pub use rand_core;
pub use ringspin_derive::Digest;
pub use ringspin_ringbuf::{WaitStrategy, wait};
pub use running::event_loop::CallbackResult;
pub use running::graph::{
    Frozen, Graph, LatePlace, LatePlacement, Monitor, Plan, ReadyOrder, TimeSource,
};
pub use running::node::Node;
pub use running::picker::Picker;
pub use running::worker::{Entrance, ReadyEvent, Worker};
