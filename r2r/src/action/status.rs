//! The status of a goal.

use crate::action_msgs::msg::GoalStatus as Message;
use std::fmt;

/// The status of a goal.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum GoalStatus {
    /// The goal is not known, or its status is not known yet.
    Unknown,
    /// Accepted, and not started.
    Accepted,
    /// Being worked on.
    Executing,
    /// A request to cancel it was accepted.
    Canceling,
    /// Ended with success.
    Succeeded,
    /// Ended by a request to cancel it.
    Canceled,
    /// Ended by the server.
    Aborted,
}

impl GoalStatus {
    /// The number that `action_msgs/msg/GoalStatus` has for it.
    pub fn to_rcl(&self) -> i8 {
        match self {
            Self::Unknown => Message::STATUS_UNKNOWN,
            Self::Accepted => Message::STATUS_ACCEPTED,
            Self::Executing => Message::STATUS_EXECUTING,
            Self::Canceling => Message::STATUS_CANCELING,
            Self::Succeeded => Message::STATUS_SUCCEEDED,
            Self::Canceled => Message::STATUS_CANCELED,
            Self::Aborted => Message::STATUS_ABORTED,
        }
    }

    /// The status with this number; [`Unknown`](Self::Unknown) if there is none.
    pub fn from_rcl(s: i8) -> Self {
        match s {
            Message::STATUS_ACCEPTED => Self::Accepted,
            Message::STATUS_EXECUTING => Self::Executing,
            Message::STATUS_CANCELING => Self::Canceling,
            Message::STATUS_SUCCEEDED => Self::Succeeded,
            Message::STATUS_CANCELED => Self::Canceled,
            Message::STATUS_ABORTED => Self::Aborted,
            _ => Self::Unknown,
        }
    }

    /// Whether the goal has ended.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Accepted => "accepted",
            Self::Executing => "executing",
            Self::Canceling => "canceling",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Aborted => "aborted",
        })
    }
}
