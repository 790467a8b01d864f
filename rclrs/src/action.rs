//! Actions: goals that take a while, with feedback, a result, and a way to cancel them.
//!
//! An action is made of the same services and topics as in ROS 2, which are those of the graph. The
//! states of goals are those of the executor's goal machine, which native servers use as well.
//!
//! | name | kind | server |
//! |---|---|---|
//! | `<action>/_action/send_goal` | service | answers when the application accepts or rejects |
//! | `<action>/_action/cancel_goal` | service | answers when each goal has a decision |
//! | `<action>/_action/get_result` | service | answers when the goal ends |
//! | `<action>/_action/feedback` | topic | publishes the application's feedback |
//! | `<action>/_action/status` | topic, transient local | publishes all goals at each change |

mod cancellation;
mod client;
mod followed;
mod goal_client;
mod goal_receiver;
mod live_goal;
mod options;
mod server;
mod server_goal;

pub use client::{ActionClient, ActionClientState};
pub use goal_client::{
    CancelResponseClient, CancellationClient, FeedbackClient, GoalClient, GoalClientStream,
    GoalEvent, MultiCancelResponseClient, RequestedGoalClient, ResultClient, StatusClient,
    StatusWatcher,
};
pub use goal_receiver::ActionGoalReceiver;
pub use options::{
    ActionClientOptions, ActionServerOptions, IntoActionClientOptions, IntoActionServerOptions,
};
pub use server::{ActionServer, ActionServerState};
pub use server_goal::{
    AcceptedGoal, BeginAcceptedGoal, CancellingGoal, ExecutingGoal, FeedbackPublisher,
    RequestedGoal, TerminatedGoal,
};

use crate::app::LIBRARY;
use crate::error::{RclReturnCode, RclrsError};
use crate::log_error;
use crate::node::Node;
use ringspin::action::GoalId;
use ringspin_adapter::action::ActionNames;
use ros_env::builtin_interfaces::msg::Time;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;

/// The names of the services and topics of an action of `node`.
///
/// # Errors
/// [`RclReturnCode::TopicNameInvalid`].
fn action_names(node: &Node, action: &str) -> Result<ActionNames, RclrsError> {
    let name = node.event_loop.node.resolve_topic_name(action);
    let failed = |error| RclrsError::from_graph(&error, RclReturnCode::TopicNameInvalid);
    Ok(ActionNames::of(&name.map_err(failed)?))
}

/// The identity of a goal.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct GoalUuid(
    /// The bytes of a UUID, which the client of the goal has chosen.
    pub [u8; 16],
);

impl From<GoalUuid> for GoalId {
    fn from(id: GoalUuid) -> Self {
        Self(id.0)
    }
}

impl fmt::Display for GoalUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        GoalId(self.0).fmt(f)
    }
}

impl Deref for GoalUuid {
    type Target = [u8; 16];

    fn deref(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<[u8; 16]> for GoalUuid {
    fn from(value: [u8; 16]) -> Self {
        Self(value)
    }
}

impl From<&[u8; 16]> for GoalUuid {
    fn from(value: &[u8; 16]) -> Self {
        Self(*value)
    }
}

/// The decision of a server on a request to cancel, with the numbers of
/// `action_msgs/srv/CancelGoal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(i8)]
pub enum CancelResponseCode {
    /// The goal is being cancelled.
    Accept = 0,
    /// The server rejected the request, or no goal was there to be cancelled.
    Reject = 1,
    /// The server does not know the goal.
    UnknownGoal = 2,
    /// The goal has ended.
    GoalTerminated = 3,
}

impl CancelResponseCode {
    /// Whether the request was accepted.
    pub fn is_accepted(&self) -> bool {
        *self == Self::Accept
    }

    /// Whether the server rejected the request.
    pub fn is_rejected(&self) -> bool {
        *self == Self::Reject
    }
}

impl From<i8> for CancelResponseCode {
    /// Another number is logged, and treated as [`Reject`](Self::Reject).
    fn from(value: i8) -> Self {
        match value {
            0 => Self::Accept,
            1 => Self::Reject,
            2 => Self::UnknownGoal,
            3 => Self::GoalTerminated,
            _ => {
                log_error!(
                    LIBRARY,
                    "a server answered a request to cancel with code {value}: \
                    action_msgs/srv/CancelGoal has 0 to 3; it is treated as a rejection"
                );
                Self::Reject
            }
        }
    }
}

/// The response to a request to cancel one goal.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct CancelResponse {
    /// The decision.
    pub code: CancelResponseCode,
    /// The time at which the server began to cancel the goal; `None` if it did not.
    pub stamp: Option<Time>,
}

impl CancelResponse {
    /// Whether the request was accepted.
    pub fn is_accepted(&self) -> bool {
        self.code.is_accepted()
    }

    /// Whether the server rejected the request.
    pub fn is_rejected(&self) -> bool {
        self.code.is_rejected()
    }
}

/// The response to a request to cancel several goals.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiCancelResponse {
    /// The decision: accepted if at least one goal is being cancelled.
    pub code: CancelResponseCode,
    /// The goals that are being cancelled, each with the time at which the server began with it.
    pub stamps: HashMap<GoalUuid, Time>,
}

impl MultiCancelResponse {
    /// Whether the request was accepted for at least one goal.
    pub fn is_accepted(&self) -> bool {
        self.code.is_accepted()
    }

    /// Whether the request was rejected for all goals.
    pub fn is_rejected(&self) -> bool {
        self.code.is_rejected()
    }
}

/// The status of a goal, with the numbers of `action_msgs/msg/GoalStatus`.
#[derive(Debug, Clone, Copy, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(i8)]
pub enum GoalStatusCode {
    /// The goal was not accepted yet, or the server does not know it any more.
    Unknown = 0,
    /// It was accepted, and waits for its execution.
    Accepted = 1,
    /// It is being executed.
    Executing = 2,
    /// It is being cancelled.
    Cancelling = 3,
    /// It succeeded.
    Succeeded = 4,
    /// It was cancelled.
    Cancelled = 5,
    /// The server aborted it.
    Aborted = 6,
}

impl GoalStatusCode {
    /// Whether the goal has ended.
    pub fn is_terminated(&self) -> bool {
        matches!(self, Self::Succeeded | Self::Cancelled | Self::Aborted)
    }
}

impl From<i8> for GoalStatusCode {
    /// Another number is logged, and treated as [`Unknown`](Self::Unknown).
    fn from(value: i8) -> Self {
        match value {
            0 => Self::Unknown,
            1 => Self::Accepted,
            2 => Self::Executing,
            3 => Self::Cancelling,
            4 => Self::Succeeded,
            5 => Self::Cancelled,
            6 => Self::Aborted,
            _ => {
                log_error!(
                    LIBRARY,
                    "a server sent status {value} of a goal: \
                    action_msgs/msg/GoalStatus has 0 to 6; it is treated as unknown"
                );
                Self::Unknown
            }
        }
    }
}

/// The status of a goal as its server published it.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct GoalStatus {
    /// The status.
    pub code: GoalStatusCode,
    /// The goal.
    pub goal_id: GoalUuid,
    /// The time at which the server accepted the goal, by its clock.
    pub stamp: Time,
}
