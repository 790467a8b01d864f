//! Conversions between the messages of actions as executors and as `action_msgs` have them.
//!
//! The ROS 2 middleware and the API of r2r share them. Messages of other processes may hold any
//! values, so every conversion has a result: an unknown code is logged and becomes the nearest
//! known one.

use crate::action_msgs::msg;
use crate::action_msgs::srv::CancelGoal;
use crate::builtin_interfaces::msg::Time as Stamp;
use crate::unique_identifier_msgs::msg::UUID;
use ringspin_executor::Time;
use ringspin_executor::action::GoalStatus;
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, CancelReturnCode, GoalId, GoalInfo, GoalStatusArray,
    GoalStatusEntry,
};

/// The status with the number `code`; logs a number that `action_msgs/msg/GoalStatus` does not
/// have.
pub fn goal_status(code: i8) -> GoalStatus {
    let status = GoalStatus::from_rcl(code);
    if status.to_rcl() != code {
        tracing::warn!(code, "a goal has a status that action_msgs/msg/GoalStatus does not have");
    }
    status
}

impl From<GoalId> for UUID {
    fn from(id: GoalId) -> Self {
        Self { uuid: id.0.into() }
    }
}

impl From<&UUID> for GoalId {
    /// All zeros, which no goal has, for a length other than 16 bytes; deserialization gives 16.
    fn from(id: &UUID) -> Self {
        Self(id.uuid.as_slice().try_into().unwrap_or_default())
    }
}

impl From<GoalInfo> for msg::GoalInfo {
    fn from(info: GoalInfo) -> Self {
        Self { goal_id: info.goal_id.into(), stamp: Stamp::from_time(info.stamp) }
    }
}

impl From<&msg::GoalInfo> for GoalInfo {
    /// A stamp before the epoch becomes one nanosecond: a request to cancel with zero would select
    /// all goals.
    fn from(info: &msg::GoalInfo) -> Self {
        let stamp = info.stamp.checked_to_time().unwrap_or(Time::from_nanos(1));
        Self { goal_id: (&info.goal_id).into(), stamp }
    }
}

impl From<&GoalStatusArray> for msg::GoalStatusArray {
    fn from(array: &GoalStatusArray) -> Self {
        let entry = |entry: &GoalStatusEntry| msg::GoalStatus {
            goal_info: entry.goal_info.into(),
            status: entry.status as i8,
        };
        Self { status_list: array.status_list.iter().map(entry).collect() }
    }
}

impl From<msg::GoalStatusArray> for GoalStatusArray {
    fn from(array: msg::GoalStatusArray) -> Self {
        let entry = |entry: &msg::GoalStatus| GoalStatusEntry {
            goal_info: (&entry.goal_info).into(),
            status: goal_status(entry.status),
        };
        Self { status_list: array.status_list.iter().map(entry).collect() }
    }
}

impl From<&CancelGoalRequest> for CancelGoal::Request {
    fn from(request: &CancelGoalRequest) -> Self {
        Self { goal_info: request.goal_info.into() }
    }
}

impl From<CancelGoal::Request> for CancelGoalRequest {
    fn from(request: CancelGoal::Request) -> Self {
        Self { goal_info: (&request.goal_info).into() }
    }
}

impl From<&CancelGoalResponse> for CancelGoal::Response {
    fn from(response: &CancelGoalResponse) -> Self {
        let goals_canceling = response.goals_canceling.iter().map(|info| (*info).into()).collect();
        Self { return_code: response.return_code as i8, goals_canceling }
    }
}

impl From<CancelGoal::Response> for CancelGoalResponse {
    /// An unknown code becomes that of a rejected request.
    fn from(response: CancelGoal::Response) -> Self {
        use CancelReturnCode::{GoalTerminated, None, Rejected, UnknownGoalId};
        let mut known = [None, Rejected, UnknownGoalId, GoalTerminated].into_iter();
        let return_code = known.find(|known| *known as i8 == response.return_code);
        let return_code = return_code.unwrap_or_else(|| {
            let code = response.return_code;
            tracing::warn!(code, "a server answered a request to cancel with an unknown code");
            Rejected
        });
        let goals_canceling = response.goals_canceling.iter().map(GoalInfo::from).collect();
        Self { return_code, goals_canceling }
    }
}
