//! The messages of actions as CDR bytes. A tuple has the serialization of a struct with such
//! fields, and sixteen bytes that of a `unique_identifier_msgs/msg/UUID`. Messages from other
//! processes may hold any values.

use crate::stamp::{self, to_stamp};
use ringspin_executor::Time;
use ringspin_executor::action::GoalStatus;
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, CancelReturnCode, FeedbackMessage, GetResultRequest,
    GetResultResponse, GoalId, GoalInfo, GoalStatusArray, GoalStatusEntry, SendGoalRequest,
    SendGoalResponse,
};
use ringspin_messages::action_msgs::{msg, srv};
use ringspin_messages::builtin_interfaces::msg::Time as Stamp;
use ringspin_messages::cdr::{self, CdrError};
use ringspin_messages::unique_identifier_msgs::msg::UUID;
use ringspin_messages::{CdrMapping, RosAction, RosService, RosType};
use std::marker::PhantomData;
use std::sync::Arc;

/// An identity on the wire.
type Id = [u8; 16];

const fn request_of<S: RosService>() -> RosType {
    RosType::of::<S::Request>()
}

const fn response_of<S: RosService>() -> RosType {
    RosType::of::<S::Response>()
}

pub(super) struct GoalRequest<A>(PhantomData<A>);

impl<A: RosAction> CdrMapping for GoalRequest<A> {
    type Rust = SendGoalRequest<A>;
    const ROS_TYPE: RosType = request_of::<A::SendGoal>();

    fn write(request: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&(request.goal_id.0, &*request.goal), bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let (id, goal) = cdr::from_bytes::<(Id, A::Goal)>(bytes)?;
        Ok(SendGoalRequest { goal_id: GoalId(id), goal: Arc::new(goal) })
    }
}

pub(super) struct GoalResponse<A>(PhantomData<A>);

impl<A: RosAction> CdrMapping for GoalResponse<A> {
    type Rust = SendGoalResponse;
    const ROS_TYPE: RosType = response_of::<A::SendGoal>();

    fn write(response: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&(response.accepted, to_stamp(response.stamp)), bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let (accepted, stamp) = cdr::from_bytes::<(bool, Stamp)>(bytes)?;
        Ok(SendGoalResponse { accepted, stamp: to_time(&stamp) })
    }
}

pub(super) struct ResultRequest<A>(PhantomData<A>);

impl<A: RosAction> CdrMapping for ResultRequest<A> {
    type Rust = GetResultRequest;
    const ROS_TYPE: RosType = request_of::<A::GetResult>();

    fn write(request: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&request.goal_id.0, bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        Ok(GetResultRequest { goal_id: GoalId(cdr::from_bytes(bytes)?) })
    }
}

pub(super) struct ResultResponse<A>(PhantomData<A>);

impl<A: RosAction> CdrMapping for ResultResponse<A> {
    type Rust = GetResultResponse<A>;
    const ROS_TYPE: RosType = response_of::<A::GetResult>();

    fn write(response: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&(response.status as i8, &*response.result), bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let (status, result) = cdr::from_bytes::<(i8, A::Result)>(bytes)?;
        Ok(GetResultResponse { status: to_status(status), result: Arc::new(result) })
    }
}

/// The topic with feedback on goals of `A`.
pub(super) struct Feedback<A>(PhantomData<A>);

impl<A: RosAction> CdrMapping for Feedback<A> {
    type Rust = FeedbackMessage<A>;
    const ROS_TYPE: RosType = RosType::of::<A::FeedbackMessage>();

    fn write(message: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&(message.goal_id.0, &message.feedback), bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let (id, feedback) = cdr::from_bytes::<(Id, A::Feedback)>(bytes)?;
        Ok(FeedbackMessage { goal_id: GoalId(id), feedback })
    }
}

pub(super) enum CancelRequest {}

impl CdrMapping for CancelRequest {
    type Rust = CancelGoalRequest;
    const ROS_TYPE: RosType = request_of::<srv::CancelGoal::Service>();

    fn write(request: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&srv::CancelGoal::Request { goal_info: to_info(&request.goal_info) }, bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let request = cdr::from_bytes::<srv::CancelGoal::Request>(bytes)?;
        Ok(CancelGoalRequest { goal_info: from_info(&request.goal_info) })
    }
}

pub(super) enum CancelResponse {}

impl CdrMapping for CancelResponse {
    type Rust = CancelGoalResponse;
    const ROS_TYPE: RosType = response_of::<srv::CancelGoal::Service>();

    fn write(response: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        let return_code = response.return_code as i8;
        let goals_canceling = response.goals_canceling.iter().map(to_info).collect();
        cdr::write(&srv::CancelGoal::Response { return_code, goals_canceling }, bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let response = cdr::from_bytes::<srv::CancelGoal::Response>(bytes)?;
        let goals_canceling = response.goals_canceling.iter().map(from_info).collect();
        let return_code = to_return_code(response.return_code);
        Ok(CancelGoalResponse { return_code, goals_canceling })
    }
}

/// The topic with the status of goals.
pub(super) enum Status {}

impl CdrMapping for Status {
    type Rust = GoalStatusArray;
    const ROS_TYPE: RosType = RosType::of::<msg::GoalStatusArray>();

    fn write(message: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        let entry = |entry: &GoalStatusEntry| msg::GoalStatus {
            goal_info: to_info(&entry.goal_info),
            status: entry.status as i8,
        };
        let status_list = message.status_list.iter().map(entry).collect();
        cdr::write(&msg::GoalStatusArray { status_list }, bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let entry = |entry: &msg::GoalStatus| GoalStatusEntry {
            goal_info: from_info(&entry.goal_info),
            status: to_status(entry.status),
        };
        let message = cdr::from_bytes::<msg::GoalStatusArray>(bytes)?;
        Ok(GoalStatusArray { status_list: message.status_list.iter().map(entry).collect() })
    }
}

fn to_info(info: &GoalInfo) -> msg::GoalInfo {
    msg::GoalInfo { goal_id: to_uuid(info.goal_id), stamp: to_stamp(info.stamp) }
}

fn from_info(info: &msg::GoalInfo) -> GoalInfo {
    GoalInfo { goal_id: to_goal_id(&info.goal_id), stamp: to_time(&info.stamp) }
}

fn to_uuid(id: GoalId) -> UUID {
    UUID { uuid: id.0.into() }
}

/// All zeros, which no goal has, for a length other than 16 bytes; deserialization gives 16.
fn to_goal_id(uuid: &UUID) -> GoalId {
    GoalId(uuid.uuid.as_slice().try_into().unwrap_or_default())
}

/// Converts an unknown status to the one of an unknown goal.
fn to_status(code: i8) -> GoalStatus {
    GoalStatus::from_code(code).unwrap_or_else(|| {
        tracing::warn!(code, "a goal has a status that action_msgs/msg/GoalStatus does not have");
        GoalStatus::Unknown
    })
}

fn to_return_code(code: i8) -> CancelReturnCode {
    use CancelReturnCode::{GoalTerminated, None, Rejected, UnknownGoalId};
    let known = [None, Rejected, UnknownGoalId, GoalTerminated];
    known.into_iter().find(|known| *known as i8 == code).unwrap_or_else(|| {
        tracing::warn!(code, "cancelling was answered by what action_msgs/srv/CancelGoal has not");
        Rejected
    })
}

/// Converts a stamp before the epoch to one nanosecond: a request to cancel with zero would mean
/// all goals.
fn to_time(stamp: &Stamp) -> Time {
    stamp::to_time(stamp).unwrap_or(Time::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn values_out_of_range_are_converted() {
        // Not zero: that would cancel all goals.
        assert_eq!(to_time(&Stamp { sec: -1, nanosec: 5 }), Time::from_nanos(1));
        let overflowing = Stamp { sec: -1, nanosec: u32::MAX };
        assert_eq!(to_time(&overflowing), Time::from_nanos(u64::from(u32::MAX) - SECOND_NS));
        let last = to_time(&Stamp { sec: i32::MAX, nanosec: u32::MAX });
        assert_eq!(last.as_nanos(), i32::MAX as u64 * SECOND_NS + u64::from(u32::MAX));
        assert_eq!(to_status(7), GoalStatus::Unknown);
        assert_eq!(to_return_code(-1), CancelReturnCode::Rejected);
        assert_eq!(to_goal_id(&UUID { uuid: vec![1; 3] }), GoalId::ZERO);
    }

    #[test]
    fn every_code_comes_back() {
        for status in GoalStatus::ALL {
            assert_eq!(to_status(status as i8), status);
        }
        for code in 0..4 {
            assert_eq!(to_return_code(code) as i8, code);
        }
    }
}
