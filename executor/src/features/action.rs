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
//! So an action adds no kind of event: requests, responses, feedback and the expiry of results are
//! events of services, topics and timers, in the same order and in every mode.
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

use crate::base::error::Result;
pub use channel::{ClientGoal, FeedbackStream, SendGoalFuture};
pub use client::{
    AcceptedGoal, ActionClient, ActionClientOptions, Feedback, GoalCallbacks, GoalOutcome,
};
pub use error::{GoalError, GoalRefused, SendGoalError};
pub use goals::{EndedGoal, GoalTable, ResultRequest};
pub use handle::GoalHandle;
pub use messages::{GoalId, GoalInfo};
pub use server::{ActionServer, ActionServerOptions, CancelResponse, GoalResponse};
pub use status::{GoalEvent, GoalStatus};

#[cfg(doc)]
use messages::*;

use crate::running::node::Node;

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
    fn resolve<S: Send + 'static>(node: &Node<S>, name: &str) -> Result<Self> {
        let named = node.resolve_topic_name(name).map_err(|error| {
            error.reworded(|text| text.replacen("invalid topic name", "invalid action name", 1))
        });
        Ok(Self { action: named? })
    }

    fn hidden(&self, part: &str) -> String {
        format!("{}/_action/{part}", self.action)
    }
}
