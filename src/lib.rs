//! A lock-free ring-buffer executor for ROS 2 nodes, with a deterministic mode.
//!
//! A node is state plus callbacks. The mode, chosen by configuration alone, decides on which thread
//! and at which time they run: all on one thread, on pinned cores, or in one sequence under
//! simulated time, with the same result on every machine.
//!
//! ```
//! use ringspin::prelude::*;
//! use std::time::Duration;
//!
//! let mut executor = Executor::from_env()?; // RINGSPIN_MODE = single, multi or deterministic
//! let talker = executor.create_node("talker", 0u64)?;
//! let chatter = talker.create_publisher("chatter", QoS::default())?;
//! talker.create_timer(Duration::from_millis(10), move |count, _| {
//!     *count += 1;
//!     chatter.publish(*count)
//! })?;
//! let listener = executor.create_node("listener", ())?;
//! listener.create_subscription("chatter", QoS::keep_last(1), |_, n: &Message<u64>, cx| {
//!     println!("{}: {} heard {}", cx.now(), cx.node(), **n);
//! })?;
//! executor.spin_for(Duration::from_millis(100))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`Executor`], [`Node`], [`Publisher`] and [`Context`]; for tests, with [`Job`]. The
//! guide is in the repository's `docs` folder.
//!
//! Everyday types are here, the rest is in modules by concept; [`prelude`] is a choice for nodes.
//!
//! # Features
//! * `simulation` (default): [`Job`], verification, exploration, models, simulation files.
//! * `toml`: mapping files; part of `simulation`.
//! * `cli`: ready-made commands for programs whose job files choose nodes, module `cli`.
//! * `messages`: ROS 2 messages as Rust structs, module `messages`.
//! * `bag`: rosbag2 recordings, module `bag`.
//! * `bench`: latency measurements of a graph, module `bench`.
//! * `ros2`: live ROS 2. A ROS 2 must be sourced when this is built.

#![forbid(unsafe_code)]

mod from_env;

pub use from_env::FromEnv;
pub use ringspin_executor::{
    Arguments, BoxError, CallError, Client, Context, Digest, DigestHasher, Failure, FailurePolicy,
    Graph, GuardCondition, Lifecycle, Loan, Message, Node, Parameter, PublishError, Publisher, QoS,
    Reply, Responder, Service, Statistics, StopHandle, Subscription, Task, Time, Timer,
};
pub use ringspin_modes::{Executor, Mapping, Mode, SpinError};
#[cfg(feature = "simulation")]
pub use ringspin_simulation::Job;

#[cfg(feature = "bag")]
pub use ringspin_bag as bag;
#[cfg(feature = "bench")]
pub use ringspin_bench as bench;
#[cfg(feature = "cli")]
pub use ringspin_cli as cli;
#[cfg(feature = "messages")]
pub use ringspin_messages as messages;
#[cfg(feature = "ros2")]
pub use ringspin_ros2 as ros2;

/// Is implemented by the `Context` of ringspin's `r2r`; see [`r2r_is_patched`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "r2r is that of crates.io, not ringspin's: a patch does not apply to a lock file \
               by itself, nor to another version",
    note = "run `cargo update -p r2r`, and require a version that `0.9.7` satisfies"
)]
pub trait PatchedR2r {}

/// Fails to compile if the application's `r2r` is not the one of ringspin: Cargo only warns when a
/// patch is not used. For a test of the application, where ringspin is a dependency, too.
///
/// ```compile_fail,E0277
/// mod r2r {
///     pub struct Context; // that of crates.io
/// }
/// ringspin::r2r_is_patched!(crate::r2r);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! r2r_is_patched {
    () => {
        $crate::r2r_is_patched!(::r2r);
    };
    ($($r2r:tt)+) => {
        const _: () = {
            const fn is_patched<T: $crate::PatchedR2r>() {}
            is_patched::<$($r2r)+::Context>()
        };
    };
}

/// The names that most nodes need.
///
/// ```
/// use ringspin::prelude::*;
/// ```
pub mod prelude {
    pub use crate::{
        Arguments, Client, Context, Digest, Executor, FromEnv, Graph, Message, Node, Publisher,
        QoS, Responder, Service, StopHandle, Subscription, Time, Timer,
    };
}

/// Actions: goals with feedback and a result, which can be cancelled.
pub mod action {
    pub use ringspin_executor::action::*;
}

/// ROS arguments: remapping, parameter overrides, log levels.
pub mod arguments {
    pub use ringspin_executor::{ArgumentsError, LogLevel};
}

/// Events, and recorders of their dispatches.
pub mod event {
    pub use ringspin_executor::{
        CallbackId, CallbackResult, Completion, Dispatch, EventId, ForeignEvent, LoopId, Recorder,
        ReentrantError, ReentrantGroup, SourceId, running_node,
    };
}

/// The structure of a graph, and errors of its creation.
pub mod graph {
    pub use ringspin_executor::name;
    pub use ringspin_executor::{
        AddError, CallbackInfo, ClientInfo, CreateGroupError, CreateNodeError, FreezeError,
        FrozenError, GraphChange, GraphInfo, LoopInfo, NameError, ServiceInfo, SetPriorityError,
        TopicInfo,
    };
    pub use ringspin_modes::{GraphEdge, graph_edges};
}

/// Managed nodes with the states of ROS 2 lifecycle nodes.
pub mod lifecycle {
    pub use ringspin_executor::{
        CreateLifecycleError, LifecycleBuilder, LifecyclePublisher, LifecycleState, Transition,
    };
}

/// Messages on their way, and their limits.
pub mod message {
    pub use ringspin_executor::{
        BY_VALUE_MAX, CreatePublisherError, CreateSubscriptionError, DepthError, HeldMessages,
        LoanError, MessageTimes, OutOfSlots, ReturnedMessage, TooLargeError, TypeMismatchError,
    };
}

/// The interface of a middleware that carries topics and services beyond the process.
pub mod middleware {
    pub use ringspin_executor::{
        AnnouncedService, Middleware, MiddlewareError, MiddlewareService, RemoteClient,
        RemoteEvent, RemoteEventKind, RemoteEvents, RemoteNode, RemoteNotifier, RemotePublisher,
        RemoteResponder, RemoteServer, RemoteStatus, RemoteSubscription, RosClock, Sent,
        ServiceTypes, SetMiddlewareError, TypeName,
    };
    pub use ringspin_modes::{Connection, ConnectionError, UnknownConnectionError};
}

/// Parameters of nodes: declaration, values, ranges, changes.
pub mod parameter {
    pub use ringspin_executor::{
        DeclareError, NotDeclaredError, PARAMETER_CHANGES_MAX, ParameterBuilder, ParameterCallback,
        ParameterChange, ParameterClient, ParameterDescriptor, ParameterError, ParameterInfo,
        ParameterRange, ParameterType, ParameterValue, ParameterValueError, ParameterVariant,
        Ranged, SetParametersError,
    };
}

/// Quality of service: policies, and events of publishers and subscriptions.
pub mod qos {
    pub use ringspin_executor::{
        DeadlineMissed, Durability, History, Incompatibility, IncompatiblePeer, IncompatibleQos,
        IncompatibleQosError, Liveliness, LivelinessChanged, LivelinessLost, Matched, MessageLost,
        PublisherEvents, QosPolicy, Reliability, SubscriptionEvents,
    };
}

/// Random numbers of a node, which no other node shifts.
pub mod random {
    pub use ringspin_executor::{CreateRandomError, NodeRandom, SeedError, rand_core};
}

/// Modes and mappings, waiting, failures and statistics of an [`Executor`].
pub mod scheduler {
    pub use ringspin_executor::{
        CallbackStatistics, Cause, ReadyOrder, SetDeadlineError, StopError, WaitStrategy,
        WorkerStatistics, catch_panic, error_message, panic_message,
    };
    #[cfg(feature = "toml")]
    pub use ringspin_modes::mapping::MappingParseError;
    pub use ringspin_modes::mapping::{
        CoreMapping, CorePlan, DispatchPriorityError, IsolationError, LoopName, UnknownNodeError,
        loop_names,
    };
    pub use ringspin_modes::{
        ConfigurationError, Machine, MappingError, MappingFileError, ModeError, SignalError,
        UnknownModeError, allowed_cores,
    };
}

/// Services: asynchronous calls and their limits.
pub mod service {
    pub use ringspin_executor::{
        CALL_BY_VALUE_MAX, CallAndWaitError, CallFuture, CallRefusal, CallRefused,
        CreateClientError, CreateServiceError, RequestError,
    };
}

/// The deterministic mode: networks, durations, virtual cores, orders; jobs and their results.
pub mod sim {
    pub use ringspin_executor::{
        AddInputError, Collector, Delivery, DeliveryOutcome, Direct, ExternalInput, InFlight,
        InterceptError, NamedInput, Network, Scope, Verdict,
    };
    pub use ringspin_modes::deterministic::{Record, Trace};
    pub use ringspin_modes::{
        Candidate, ChainError, ChainPath, ChainSamples, Cores, DelayPerturbation, Deviation,
        InstantEvent, Jitter, NotApplied, Panicked, Postponement, RunDigest, Schedule,
        ScheduleError, Simulation, TieBreaker, TiePolicy,
    };
    #[cfg(feature = "simulation")]
    pub use ringspin_simulation::{
        CallbackCounts, Certificate, CertificateError, CheckFailed, Counterexample, Counts,
        Difference, Divergence, EndError, Exploration, ExploreError, Explored, FreshProcess,
        JobFile, JobFileError, NoEndError, NodeConfig, Order, Platform, Ran, Registry,
        RegistryError, Report, Session, StateError, Step, Uncontrolled, VerifyError,
        WatchdogTimeout, describe, load_simulation,
    };
    #[cfg(feature = "simulation")]
    pub use ringspin_simulation::{models, timeline};
}

/// Callbacks that join messages of several topics.
pub mod sync {
    pub use ringspin_executor::{
        Accumulate, ApproximateTime, Cached, ExactTime, Input, Inputs, Kind, Latest, New, Optional,
        Policy, PolicyError, Required, RequiredInputs, Stamped, StampedInputs, SynchronizeError,
        SynchronizedSubscription, Trigger,
    };
}

/// Tasks on a node's event loop: message streams, intervals, the node's state.
pub mod task {
    pub use ringspin_executor::{Interval, MessageStream, StateAccess, Tick};
}

/// Clocks, and errors of timers.
pub mod time {
    pub use ringspin_executor::{
        Clock, CreateTimerError, LiveClock, NodeClock, PeriodError, SimClock,
    };
}

/// Compiles and runs the snippets of the README and of the guide.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/getting_started.md")]
    struct GettingStarted;
    #[doc = include_str!("../docs/deterministic.md")]
    struct Deterministic;
    #[cfg(all(feature = "bag", feature = "cli"))]
    #[doc = include_str!("../docs/recordings.md")]
    struct Recordings;
    #[doc = include_str!("../docs/parameters.md")]
    struct Parameters;
    #[doc = include_str!("../docs/changes.md")]
    struct Changes;
}
