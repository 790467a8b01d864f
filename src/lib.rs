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
//! # Ok::<(), ringspin::Error>(())
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
//! * `json`: certificates of runs, and timelines for Perfetto, from code; part of `cli`.
//! * `cli`: ready-made commands for programs with job files that choose nodes, module `cli`.
//! * `messages`: ROS 2 messages as Rust structs, module `messages`; invalid ones are refused.
//! * `flight`: records of live runs as files, for an exact replay; part of `bag`.
//! * `bag`: rosbag2 recordings, module `bag`.
//! * `bench`: latency measurements of a graph, module `bench`.
//! * `ros2`: live ROS 2. A ROS 2 must be sourced when this is built.

#![forbid(unsafe_code)]

mod from_env;

pub use from_env::FromEnv;
pub use ringspin_executor::{
    Arguments, BoxError, CallError, Client, Context, Digest, DigestHasher, Error, ErrorKind,
    Failure, FailurePolicy, Graph, GuardCondition, Lifecycle, Loan, Message, Node, Parameter,
    PublishError, Publisher, QoS, Reply, Responder, Result, Service, StopHandle, Subscription,
    Task, Time, Timer,
};
pub use ringspin_modes::{Executor, Mapping, Mode};
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

/// Is implemented by the `Context` of ringspin's `rclrs`; see [`rclrs_is_patched`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "rclrs is that of crates.io, not ringspin's: a patch does not apply to a lock file \
               by itself, nor to another version",
    note = "run `cargo update -p rclrs -p ros-env -p rosidl_runtime_rs`, and require a version \
            that `0.8.0` satisfies"
)]
pub trait PatchedRclrs {}

/// Fails to compile if the application's `rclrs` is not the one of ringspin, like
/// [`r2r_is_patched`].
///
/// ```compile_fail,E0277
/// mod rclrs {
///     pub struct Context; // that of crates.io
/// }
/// ringspin::rclrs_is_patched!(crate::rclrs);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! rclrs_is_patched {
    () => {
        $crate::rclrs_is_patched!(::rclrs);
    };
    ($($rclrs:tt)+) => {
        const _: () = {
            const fn is_patched<T: $crate::PatchedRclrs>() {}
            is_patched::<$($rclrs)+::Context>()
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
        QoS, Responder, Result, Service, StopHandle, Subscription, Time, Timer,
    };
}

/// Actions: goals with feedback and a result, which can be cancelled.
pub mod action {
    pub use ringspin_executor::action::*;
}

/// ROS arguments: remapping, parameter overrides, log levels.
pub mod arguments {
    pub use ringspin_executor::{LogLevel, NodeArguments};
}

/// Events, and recorders of their dispatches.
pub mod event {
    pub use ringspin_executor::{
        CallbackId, CallbackResult, Completion, Dispatch, EventId, ForeignEvent, LoopId, Recorder,
        ReentrantGroup, SourceId, running_node,
    };
}

/// Records of live runs, for an exact [replay](crate::Mode::Replay).
pub mod flight {
    #[cfg(feature = "flight")]
    pub use ringspin_modes::flight::FlightFile;
    pub use ringspin_modes::flight::{
        Entry, EntryKind, FlightBuilder, FlightHeader, FlightRecord, FlightTape, FlightWriter,
        LogPart,
    };
}

/// The structure of a graph, and errors of its creation.
pub mod graph {
    pub use ringspin_executor::name;
    pub use ringspin_executor::{
        CallbackInfo, ClientInfo, GraphChange, GraphInfo, LoopInfo, ServiceInfo, TopicInfo,
    };
    pub use ringspin_modes::{GraphEdge, graph_edges};
}

/// Managed nodes with the states of ROS 2 lifecycle nodes.
pub mod lifecycle {
    pub use ringspin_executor::{LifecycleBuilder, LifecyclePublisher, LifecycleState, Transition};
}

/// Messages on their way, and their limits.
pub mod message {
    pub use ringspin_executor::{
        BY_VALUE_MAX, HeldMessages, LoanError, MessageCheck, MessageTimes, OutOfSlots,
        ReturnedMessage,
    };
}

/// The interface of a middleware that carries topics and services beyond the process, and the
/// domains in which executors of one process meet.
pub mod middleware {
    pub use ringspin_executor::{
        AnnouncedService, Domain, Middleware, MiddlewareService, RemoteClient, RemoteEvent,
        RemoteEventKind, RemoteEvents, RemoteNode, RemoteNotifier, RemotePublisher,
        RemoteResponder, RemoteServer, RemoteStatus, RemoteSubscription, RosClock, Sent,
        ServiceTypes, TypeName,
    };
    pub use ringspin_modes::Connection;
}

/// Parameters of nodes: declaration, values, ranges, changes.
pub mod parameter {
    pub use ringspin_executor::{
        Dynamic, PARAMETER_CHANGES_MAX, ParameterBuilder, ParameterCallback, ParameterChange,
        ParameterClient, ParameterDescriptor, ParameterEventKind, ParameterInfo, ParameterRange,
        ParameterType, ParameterValue, ParameterVariant, Ranged, RefusedByConstraint,
    };
}

/// Quality of service: policies, and events of publishers and subscriptions.
pub mod qos {
    pub use ringspin_executor::{
        DeadlineMissed, Durability, History, Incompatibility, IncompatiblePeer, IncompatibleQos,
        Liveliness, LivelinessChanged, LivelinessLost, Matched, MessageLost, PublisherEvents,
        QosPolicy, Reliability, SubscriptionEvents,
    };
}

/// Random numbers of a node, which no other node shifts.
pub mod random {
    pub use ringspin_executor::{NodeRandom, rand_core};
}

/// Modes and mappings, waiting, budgets, failures and statistics of an [`Executor`].
pub mod scheduler {
    pub use ringspin_executor::{
        Budget, BudgetStatistics, CallbackStatistics, Cause, ReadyOrder, Statistics, WaitStrategy,
        WorkerStatistics, catch_panic, error_message, panic_message,
    };
    pub use ringspin_modes::mapping::{CoreMapping, CorePlan, LoopName, loop_names};
    pub use ringspin_modes::{Machine, allowed_cores};
}

/// Services: asynchronous calls and their limits.
pub mod service {
    pub use ringspin_executor::{CALL_BY_VALUE_MAX, CallFuture, CallRefused};
}

/// The deterministic mode: networks, durations, virtual cores, orders; jobs and their results.
pub mod sim {
    pub use ringspin_executor::{
        Collector, Delivery, DeliveryOutcome, Direct, ExternalInput, InFlight, NamedInput, Network,
        Scope, Verdict,
    };
    pub use ringspin_modes::deterministic::{Record, Trace};
    pub use ringspin_modes::{
        Candidate, Chain, ChainSamples, Cores, DelayPerturbation, Deviation, InstantEvent, Jitter,
        Postponement, RunDigest, Schedule, Simulation, TieBreaker, TiePolicy,
    };
    #[cfg(feature = "simulation")]
    pub use ringspin_simulation::{
        CallbackCounts, CheckFailed, Counterexample, Counts, Difference, Divergence, Exploration,
        Explored, FreshProcess, JobFile, NodeConfig, Order, Ran, Registry, Report, Session, Step,
        Uncontrolled, WatchdogTimeout, describe, load_simulation,
    };
    #[cfg(feature = "json")]
    pub use ringspin_simulation::{Certificate, Platform};
    #[cfg(feature = "simulation")]
    pub use ringspin_simulation::{models, timeline};
}

/// Callbacks that join messages of several topics.
pub mod sync {
    pub use ringspin_executor::{
        ApproximateTime, Cached, ExactTime, Input, Inputs, Kind, Latest, New, Optional, Policy,
        Required, Stamped, StampedInputs, SynchronizedSubscription, Trigger,
    };
}

/// Tasks on a node's event loop: message streams, intervals, the node's state.
pub mod task {
    pub use ringspin_executor::{Interval, MessageStream, StateAccess, Tick};
}

/// Clocks, and errors of timers.
pub mod time {
    pub use ringspin_executor::{Clock, LiveClock, NodeClock, SimClock};
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
