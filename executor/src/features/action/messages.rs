//! The messages of the services and topics of an action, as ROS 2 generates them.
//!
//! They are public so that a node can look at an action from outside, by its status for instance,
//! and so that a middleware can convert them. Goals and results are shared, not copied.

use super::{Action, GoalStatus};
use crate::base::time::Time;
use ringspin_derive::Digest;
use std::fmt;
use std::sync::Arc;

/// The identity of a goal: a UUID that its client has chosen.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Digest)]
#[digest(crate = "crate")]
pub struct GoalId(
    /// Its 16 bytes, as in `unique_identifier_msgs/msg/UUID`.
    pub [u8; 16],
);

impl GoalId {
    /// The zero identity, which no goal has; in a request to cancel, it stands for all goals.
    pub const ZERO: Self = Self([0; 16]);
}

impl fmt::Display for GoalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, byte) in self.0.iter().enumerate() {
            let dash = if matches!(n, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for GoalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GoalId({self})")
    }
}

/// The identity of a goal and its time of acceptance: `action_msgs/msg/GoalInfo`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct GoalInfo {
    /// The goal.
    pub goal_id: GoalId,
    /// The time of its acceptance.
    pub stamp: Time,
}

/// A request to accept a goal.
pub struct SendGoalRequest<A: Action> {
    /// The identity that the client has chosen.
    pub goal_id: GoalId,
    /// The goal itself.
    pub goal: Arc<A::Goal>,
}

/// Whether a goal was accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct SendGoalResponse {
    /// If not, it was rejected.
    pub accepted: bool,
    /// The time of its acceptance.
    pub stamp: Time,
}

/// A request for the result of a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct GetResultRequest {
    /// The goal.
    pub goal_id: GoalId,
}

/// The result of a goal that has ended.
pub struct GetResultResponse<A: Action> {
    /// Its final status; [`GoalStatus::Unknown`] if the server does not know the goal (any more).
    pub status: GoalStatus,
    /// The result of the goal.
    pub result: Arc<A::Result>,
}

/// Feedback on a goal.
pub struct FeedbackMessage<A: Action> {
    /// The goal.
    pub goal_id: GoalId,
    /// The feedback itself.
    pub feedback: A::Feedback,
}

/// Asks to cancel goals: `action_msgs/srv/CancelGoal`.
///
/// | goal id | stamp | which goals |
/// |---|---|---|
/// | zero | zero | all |
/// | zero | not zero | all that were accepted at that time or before |
/// | not zero | zero | this one |
/// | not zero | not zero | this one, and all that were accepted at that time or before |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct CancelGoalRequest {
    /// The goals to cancel.
    pub goal_info: GoalInfo,
}

impl CancelGoalRequest {
    /// A request to cancel one goal; [`GoalId::ZERO`] stands for all goals.
    pub const fn goal(goal_id: GoalId) -> Self {
        Self { goal_info: GoalInfo { goal_id, stamp: Time::ZERO } }
    }

    /// A request to cancel all goals of the server, of all clients.
    pub const fn all() -> Self {
        Self::goal(GoalId::ZERO)
    }

    /// A request to cancel all goals that were accepted at `stamp` or before; at [`Time::ZERO`],
    /// all goals.
    pub const fn before(stamp: Time) -> Self {
        Self { goal_info: GoalInfo { goal_id: GoalId::ZERO, stamp } }
    }
}

/// The reason why no goal is being canceled, with the numbers of `action_msgs/srv/CancelGoal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
#[repr(i8)]
pub enum CancelReturnCode {
    /// All is well: goals are being cancelled, or there are none that the request is about.
    #[default]
    None = 0,
    /// The server rejected the request, for each goal that it is about.
    Rejected = 1,
    /// The server does not know the goal.
    UnknownGoalId = 2,
    /// The goal has ended, or is being cancelled already.
    GoalTerminated = 3,
}

/// The answer to a request to cancel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct CancelGoalResponse {
    /// The reason why there are none.
    pub return_code: CancelReturnCode,
    /// The goals that are being cancelled from now on.
    pub goals_canceling: Vec<GoalInfo>,
}

/// A goal and its status: `action_msgs/msg/GoalStatus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct GoalStatusEntry {
    /// The goal.
    pub goal_info: GoalInfo,
    /// The status of the goal.
    pub status: GoalStatus,
}

/// All goals that a server knows: `action_msgs/msg/GoalStatusArray`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "crate")]
pub struct GoalStatusArray {
    /// Each goal, in the order in which they were accepted.
    pub status_list: Vec<GoalStatusEntry>,
}

impl<A: Action> Clone for SendGoalRequest<A> {
    fn clone(&self) -> Self {
        Self { goal_id: self.goal_id, goal: self.goal.clone() }
    }
}

impl<A: Action> Clone for GetResultResponse<A> {
    fn clone(&self) -> Self {
        Self { status: self.status, result: self.result.clone() }
    }
}

impl<A: Action> fmt::Debug for SendGoalRequest<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendGoalRequest").field("goal_id", &self.goal_id).finish_non_exhaustive()
    }
}

impl<A: Action> fmt::Debug for GetResultResponse<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetResultResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

impl<A: Action> fmt::Debug for FeedbackMessage<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedbackMessage").field("goal_id", &self.goal_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_id_is_written_as_a_uuid() {
        let id = GoalId(std::array::from_fn(|n| n as u8));
        assert_eq!(id.to_string(), "00010203-0405-0607-0809-0a0b0c0d0e0f");
        assert_eq!(format!("{id:?}"), "GoalId(00010203-0405-0607-0809-0a0b0c0d0e0f)");
    }
}
