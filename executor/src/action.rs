//! Actions: goals that take a while, with feedback, a result, and a way to cancel them.
//!
//! An action is three services and two topics with ROS 2's hidden names, so that a client or server
//! of another process can take part as soon as a middleware carries these:
//!
//! | name | kind | carries |
//! |---|---|---|
//! | `<action>/_action/send_goal` | service | [`SendGoalRequest`], [`SendGoalResponse`] |
//! | `<action>/_action/cancel_goal` | service | [`CancelGoalRequest`], [`CancelGoalResponse`] |
//! | `<action>/_action/get_result` | service | [`GetResultRequest`], [`GetResultResponse`] |
//! | `<action>/_action/feedback` | topic, keep the last 10 | [`FeedbackMessage`] |
//! | `<action>/_action/status` | topic, transient-local, depth 1 | [`GoalStatusArray`] |
//!
//! So nothing here is an event of its own kind: requests, responses, feedback and the expiry of
//! results are those of services, topics and timers, in the same order and in every mode.
//!
//! ```text
//!  Accepted ── execute ──▶ Executing ── succeed ──▶ Succeeded
//!      │                       │    └── abort ────▶ Aborted
//!      │ a request to cancel   │                    ▲
//!      │ is accepted           │                    │ abort
//!      └───────────────────────┴──▶ Canceling ──────┼── canceled ──▶ Canceled
//!                                                   └── succeed ──▶ Succeeded
//! ```

mod channel;
mod client;
mod error;
mod goals;
mod handle;
pub mod messages;
mod server;
mod status;

pub use channel::{ClientGoal, FeedbackStream, SendGoalFuture};
pub use client::{
    AcceptedGoal, ActionClient, ActionClientOptions, Feedback, GoalCallbacks, GoalOutcome,
};
pub use error::{
    CreateActionClientError, CreateActionServerError, GoalError, GoalRefused, SendGoalError,
};
pub use handle::GoalHandle;
pub use messages::{GoalId, GoalInfo};
pub use server::{ActionServer, ActionServerOptions, CancelResponse, GoalResponse};
pub use status::{GoalEvent, GoalStatus};

#[cfg(doc)]
use messages::*;

use crate::name::NameError;
use crate::node::Node;

/// The types of an action; implemented by a type that stands for it.
///
/// ```
/// use ringspin_executor::Action;
/// struct Fibonacci;
/// impl Action for Fibonacci {
///     type Goal = u32;
///     type Result = Vec<u64>;
///     type Feedback = Vec<u64>;
/// }
/// ```
pub trait Action: 'static {
    /// The goal to pursue.
    type Goal: Send + Sync + 'static;
    /// The outcome of a goal. As in ROS 2, a goal that ended without a result (unknown, or
    /// abandoned by its server) has the default.
    type Result: Default + Send + Sync + 'static;
    /// The progress of a goal.
    type Feedback: Send + Sync + 'static;
}

/// The names of an action's services and topics.
struct Names {
    action: String,
}

impl Names {
    /// Resolves the names of action `name` of `node`: expands and remaps them like a topic's, as
    /// rcl does (ros2/rcl#1170). Rules for the hidden names apply after that.
    fn resolve<S: Send + 'static>(node: &Node<S>, name: &str) -> Result<Self, NameError> {
        let as_action = |error: NameError| match error.kind {
            "topic" => NameError { kind: "action", ..error },
            _ => error,
        };
        Ok(Self { action: node.resolve_topic_name(name).map_err(as_action)? })
    }

    fn hidden(&self, part: &str) -> String {
        format!("{}/_action/{part}", self.action)
    }
}
