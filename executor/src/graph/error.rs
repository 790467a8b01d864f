//! Errors of additions to a graph: each operation has an error with what it can refuse, made from
//! shared causes. Each names the node and the request.

use super::MAX_DEPTH;
use crate::name::NameError;
use crate::qos::Incompatibility;
use crate::timer::PeriodError;
use ringspin_ringbuf::MAX_TOKEN;
use thiserror::Error;

/// A request for something that has to be there before spinning.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("failed to add {what}: the executor has started; add it before spinning")]
pub struct FrozenError {
    /// The request, with its node.
    pub what: String,
}

/// The reason why nothing can be added to a node or graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddError {
    /// The node was destroyed, or the executor of the graph is gone.
    #[error(
        "failed to add {what}: the {owner} is gone; keep it as long as something is added to it"
    )]
    Gone {
        /// The request, with its node.
        what: String,
        /// "node" or "executor".
        owner: &'static str,
    },
    /// The graph runs, and has as many callbacks or queued events as it can number.
    #[error(
        "failed to add {what}: {limit}; {}",
        if *is_final { "start the program again" }
        else { "destroy what is not needed, or map the node to another core" }
    )]
    Full {
        /// The request, with its node.
        what: String,
        /// The limit that is reached.
        limit: &'static str,
        /// Whether no destruction makes room.
        is_final: bool,
    },
}

/// Two ends of a topic or service that disagree about its types.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "failed to use {what} with {requested} in node {node}: node {by} uses it with {established}; \
     use the same type, or give one of them another name"
)]
pub struct TypeMismatchError {
    /// "topic" or "service" with the fully qualified name.
    pub what: String,
    /// The type with which it was first used; of a service, `request -> response`.
    pub established: String,
    /// The node that used it first.
    pub by: String,
    /// The node whose request was refused.
    pub node: String,
    /// The type that was refused.
    pub requested: String,
}

/// A publisher that offers less than a subscription of its topic requests.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "failed to connect node {publisher} with node {subscription} on topic {topic}: the {policy} \
     offered is {offered}, but {requested} is requested; let the publisher offer {requested}, or \
     the subscription request {offered}",
    policy = incompatibility.policy,
    offered = incompatibility.offered,
    requested = incompatibility.requested
)]
pub struct IncompatibleQosError {
    /// The fully qualified topic name.
    pub topic: String,
    /// The node that publishes.
    pub publisher: String,
    /// The node that subscribes.
    pub subscription: String,
    /// The policy, with the values of both ends.
    pub incompatibility: Incompatibility,
}

/// A depth that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "failed to create a queue of {name}: its depth of {depth} is out of range; use 1 to {max}{}",
    if *max < MAX_DEPTH { ", which is what the other queues of its worker leave, or less there" }
    else { "" }
)]
pub struct DepthError {
    /// The fully qualified name of the topic, service or action.
    pub name: String,
    /// The depth as given.
    pub depth: usize,
    /// The largest depth.
    pub max: usize,
}

/// A type that goes by value and is too large for it: requests, responses and messages from outside
/// do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "failed to create {what} of node {node}: {item} has {bytes} bytes and goes by value, which is \
     possible up to {bytes_max} bytes; put its data into a `Vec` or `Box`"
)]
pub struct TooLargeError {
    /// The node.
    pub node: String,
    /// The service, client or subscription.
    pub what: String,
    /// The type.
    pub item: &'static str,
    /// Its size.
    pub bytes: usize,
    /// The largest size.
    pub bytes_max: usize,
}

/// The refusal of a middleware.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("failed to create {what} in {middleware}: {reason}")]
pub struct MiddlewareError {
    /// The name of the middleware.
    pub middleware: String,
    /// The request, with its node.
    pub what: String,
    /// The reason of the refusal.
    pub reason: String,
}

/// The reason why a node was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateNodeError {
    /// The name or namespace is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The graph has a node of this name.
    #[error(
        "failed to create node {name}: there is one of this name; give one of them another name, \
         or put it into another namespace"
    )]
    Duplicate {
        /// The fully qualified name.
        name: String,
    },
    /// A remapping rule gives the node a name that another one has.
    #[error(
        "failed to create node {original}: remapping rule `{rule}` gives it the name {name}, which \
         another node has; put the name of the node that is meant before the rule, as in \
         `node:__node:=other`"
    )]
    Remapped {
        /// The rule.
        rule: String,
        /// The fully qualified name in the program.
        original: String,
        /// The fully qualified name by the rule.
        name: String,
    },
    /// The executor runs by a mapping that has no core for the node.
    #[error(
        "failed to create node {name}: the mapping names no core for it, and has no default; name \
         it under a `[[core]]` or set `default_core`"
    )]
    NoCore {
        /// The fully qualified name.
        name: String,
    },
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
    /// The override of a parameter that every node has does not fit it.
    #[error("{0}")]
    Parameter(String),
    /// The middleware refuses it.
    #[error(transparent)]
    Middleware(#[from] MiddlewareError),
}

/// The reason why a callback group was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateGroupError {
    /// The name is not valid for a group.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The node has a group of this name.
    #[error(
        "failed to create callback group {name}: there is one of this name; give one of them \
         another name"
    )]
    Duplicate {
        /// The fully qualified name: `node:group`.
        name: String,
    },
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// The reason why a publisher was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreatePublisherError {
    /// The topic name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The topic has another message type.
    #[error(transparent)]
    TypeMismatch(#[from] Box<TypeMismatchError>),
    /// A subscription of the topic requests more than the publisher offers.
    #[error(transparent)]
    Incompatible(#[from] Box<IncompatibleQosError>),
    /// The publisher is transient-local, and its depth is out of range.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// The middleware refuses it.
    #[error(transparent)]
    Middleware(#[from] MiddlewareError),
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// The reason why a subscription was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateSubscriptionError {
    /// The topic name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The topic has another message type.
    #[error(transparent)]
    TypeMismatch(#[from] Box<TypeMismatchError>),
    /// A publisher of the topic offers less than the subscription requests.
    #[error(transparent)]
    Incompatible(#[from] Box<IncompatibleQosError>),
    /// The depth is out of range.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// Messages come in through a middleware, and are too large for it.
    #[error(transparent)]
    TooLarge(#[from] TooLargeError),
    /// The middleware refuses it.
    #[error(transparent)]
    Middleware(#[from] MiddlewareError),
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// The reason why a timer or interval was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateTimerError {
    /// The period is zero, or over 584 years.
    #[error("failed to create a timer of node {node}: {error}")]
    Period {
        /// The node.
        node: String,
        /// The fault of the period.
        error: PeriodError,
    },
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// The reason why a callback was not given a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SetDeadlineError {
    /// The group has no callback of this name.
    #[error(
        "failed to set a deadline of node {node}: this group has no callback `{callback}`; create \
         it first, or choose one of: {}",
        callbacks.join(", ")
    )]
    NoCallback {
        /// The node.
        node: String,
        /// The name as given.
        callback: String,
        /// The callbacks of the group.
        callbacks: Vec<String>,
    },
    /// The executor is already running, and the callback exists.
    #[error(transparent)]
    Frozen(#[from] FrozenError),
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// The reason why an event loop was not given a priority.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SetPriorityError {
    /// The graph does not have the loop.
    #[error("failed to set a priority: there is no event loop {0}; use one of `Graph::info`")]
    UnknownLoop(u32),
    /// The executor is already running.
    #[error(transparent)]
    Frozen(#[from] FrozenError),
}

/// The reason why a topic has no further interceptor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InterceptError {
    /// The topic name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The topic has another message type.
    #[error(transparent)]
    TypeMismatch(#[from] Box<TypeMismatchError>),
    /// A topic has one interceptor at most.
    #[error(
        "failed to intercept topic {topic}: it has an interceptor; let that one decide about all \
         messages"
    )]
    Duplicate {
        /// The topic.
        topic: String,
    },
    /// The executor is already running.
    #[error(transparent)]
    Frozen(#[from] FrozenError),
}

/// The reason why an input was not added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddInputError {
    /// Two inputs would have the same name.
    #[error("failed to add input {name:?}: there is one of this name; give one another name")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The executor is already running.
    #[error(transparent)]
    Frozen(#[from] FrozenError),
}

/// The reason why a graph was not frozen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FreezeError {
    /// It was frozen before.
    #[error("failed to freeze the graph: an executor runs it already; create another graph")]
    AlreadyFrozen,
    /// The plan gives a loop to several workers, or to none.
    #[error("the plan gives {name} to {count} workers; each event loop needs exactly one")]
    Misplaced {
        /// The loop.
        name: String,
        /// The number of workers that the plan gives it to.
        count: usize,
    },
    /// One worker would have more than 2^24 callbacks or queued events.
    #[error("one worker has {0} {1}; at most {max} are possible", max = MAX_TOKEN)]
    TooLarge(usize, &'static str),
    /// Simulated time needs one worker.
    #[error("simulated time needs a plan of one worker in the order of `ReadyOrder::Fifo`")]
    NotSequential,
    /// A run in simulated time is isolated.
    #[error(
        "the middleware {0} delivers messages in an order that cannot be repeated: run the graph \
         without it, feed it from a recording, or only publish there"
    )]
    NotIsolated(String),
    /// Something in the graph needs simulated time.
    #[error("{0} needs simulated time: run this graph in deterministic mode")]
    NeedsSimulation(String),
}
