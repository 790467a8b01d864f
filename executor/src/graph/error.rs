//! Errors of a graph that is being built: each one names the node and the request.

use super::MAX_DEPTH;
use crate::name::NameError;
use crate::qos::Incompatibility;
use crate::timer::PeriodError;
use ringspin_ringbuf::MAX_TOKEN;
use std::time::Duration;
use thiserror::Error;

/// The reason why a node or callback group was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateNodeError {
    /// The name or namespace is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The graph has a node or group of this name.
    #[error("there is already a {kind} named {name}; give one of them another name{hint}")]
    Duplicate {
        /// "node" or "callback group".
        kind: &'static str,
        /// The fully qualified name.
        name: String,
        /// A further way out.
        hint: &'static str,
    },
    /// A remapping rule gives the node a name that another one has.
    #[error(
        "remapping rule `{rule}` gives node {original} the name {name}, which another node has; \
         put the name of the node that is meant before the rule, as in `node:__node:=other`"
    )]
    Remapped {
        /// The rule.
        rule: String,
        /// The fully qualified name in the program.
        original: String,
        /// The fully qualified name by the rule.
        name: String,
    },
    /// The executor is already running.
    #[error("the graph is frozen; create {0} before spinning")]
    Frozen(String),
    /// The override of a parameter that every node has does not fit it.
    #[error("{0}")]
    Parameter(String),
    /// The middleware refuses it.
    #[error("{middleware}: {reason}")]
    Middleware {
        /// The name of the middleware.
        middleware: String,
        /// The reason of the refusal.
        reason: String,
    },
}

/// The reason why a publisher, subscription or timer was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateError {
    /// The topic name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two ends of a topic disagree about its message type.
    #[error(
        "topic {topic} carries {established} (from node {by}), but node {node} uses it with \
         {requested}; use one type or two topics"
    )]
    TypeMismatch {
        /// The fully qualified topic name.
        topic: String,
        /// The type with which the topic was first used.
        established: &'static str,
        /// The node that used it first.
        by: String,
        /// The node whose request was refused.
        node: String,
        /// The type that was refused.
        requested: &'static str,
    },
    /// A publisher offers less than a subscription of its topic requests.
    #[error(
        "topic {topic}: the {policy} that node {publisher} offers is {offered}, but node \
         {subscription} requests {requested}; let the publisher offer {requested}, or the \
         subscription request {offered}",
        policy = incompatibility.policy,
        offered = incompatibility.offered,
        requested = incompatibility.requested
    )]
    Incompatible {
        /// The fully qualified topic name.
        topic: String,
        /// The node that publishes.
        publisher: String,
        /// The node that subscribes.
        subscription: String,
        /// The policy, with the values of both ends.
        incompatibility: Box<Incompatibility>,
    },
    /// The depth of a subscription, or of a transient-local publisher, is out of range.
    #[error("topic {topic}: a depth of {depth} is out of range; use 1 to {max}", max = MAX_DEPTH)]
    Depth {
        /// The fully qualified topic name.
        topic: String,
        /// The depth as given.
        depth: usize,
    },
    /// Requests, responses and messages from outside go by value, and these are too large for it.
    #[error(
        "node {node}: {what}: {item} has {bytes} bytes, and goes by value, which is possible up to \
         {bytes_max} bytes; put its data into a `Vec` or `Box`"
    )]
    TooLarge {
        /// The node.
        node: String,
        /// The service, client or subscription.
        what: String,
        /// The type.
        item: &'static str,
        /// Its size.
        bytes: usize,
        /// The largest size.
        bytes_max: usize,
    },
    /// The group has no callback of this name to be given a deadline.
    #[error(
        "node {node} has no callback `{callback}` in this group; create it first, or choose one \
         of: {}",
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
    /// A timer's period is zero, or over 584 years.
    #[error("node {node}: {error}")]
    Period {
        /// The node.
        node: String,
        /// The fault of the period.
        error: PeriodError,
    },
    /// Two ends of a service disagree about its types.
    #[error(
        "service {service} is {established} (from node {by}), but node {node} uses it as \
         {requested}; use one pair of types or two services"
    )]
    ServiceTypeMismatch {
        /// The fully qualified service name.
        service: String,
        /// The types of request and response with which it was first used.
        established: String,
        /// The node that used it first.
        by: String,
        /// The node whose request was refused.
        node: String,
        /// The types that were refused.
        requested: String,
    },
    /// The service has a server already.
    #[error("service {service} is offered by node {by} already; node {node} needs another name")]
    DuplicateService {
        /// The fully qualified service name.
        service: String,
        /// The node that offers it.
        by: String,
        /// The node whose request was refused.
        node: String,
    },
    /// A synchronized subscription's parameters make no sense.
    #[error("node {node}: {reason}")]
    Synchronize {
        /// The node.
        node: String,
        /// The fault of the parameters.
        reason: SynchronizeError,
    },
    /// The node has a lifecycle.
    #[error("node {node} already has a lifecycle; clone its handle")]
    Lifecycle {
        /// The node.
        node: String,
    },
    /// The node has given the name to another random stream.
    #[error(
        "node {node} has created the random stream `{name}` already; give this one another name"
    )]
    DuplicateRandom {
        /// The node.
        node: String,
        /// The name of the stream.
        name: String,
    },
    /// The middleware refuses it.
    #[error("{middleware}: {what}: {reason}")]
    Middleware {
        /// The name of the middleware.
        middleware: String,
        /// The publisher, subscription, service or client.
        what: String,
        /// The reason of the refusal.
        reason: String,
    },
    /// The executor is already running.
    #[error("the graph is frozen; node {node} has to create `{what}` before spinning")]
    Frozen {
        /// The node.
        node: String,
        /// The requested entity.
        what: String,
    },
    /// A topic has one interceptor at most.
    #[error("topic {topic} already has an interceptor; let that one decide about all messages")]
    Intercepted {
        /// The topic.
        topic: String,
    },
    /// Two inputs would have the same name.
    #[error("there is an input {0:?} already; name them apart")]
    DuplicateInput(String),
}

/// The reason why a graph was not frozen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FreezeError {
    /// It was frozen before.
    #[error("the graph is already frozen: an executor runs it")]
    AlreadyFrozen,
    /// The plan does not give each loop to exactly one worker.
    #[error("the plan gives {name} to {count} workers; each event loop needs exactly one")]
    Misplaced {
        /// The loop.
        name: String,
        /// The number of workers that the plan gives it to.
        count: usize,
    },
    /// The plan names a loop that the graph does not have.
    #[error("the plan names event loop {0}, which does not exist")]
    UnknownLoop(u32),
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

/// The reason why a synchronized subscription was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SynchronizeError {
    /// Nothing, or too much, would be kept of each input.
    #[error("{0} messages of each input cannot be kept; use 1 to {max}", max = MAX_DEPTH)]
    QueueSize(usize),
    /// The age penalty is no number, or negative.
    #[error("an age penalty of {0} is out of range; use 0 or a little more, such as 0.1")]
    AgePenalty(String),
    /// A parameter names an input that does not exist.
    #[error("there is no input {input}: they are numbered from 0 to {last}")]
    NoSuchInput {
        /// The input as given.
        input: usize,
        /// The last one.
        last: usize,
    },
    /// An interval is longer than 584 years.
    #[error("an interval of {0:?} is out of range; use less than 584 years")]
    Interval(Duration),
    /// No input can trigger the callback, so it would never be called.
    #[error("no input can trigger the callback: {0}; give the trigger an input that is not cached")]
    NothingTriggers(&'static str),
}
