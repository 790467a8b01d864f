//! Mappings of the messages of actions to the types that r2r generates. Messages from other
//! processes may hold any values.

use super::{FromRos, RosAction};
use crate::rcl::{Mapping, RosMessage, RosService, ServiceMapping};
use crate::stamp::{self, to_stamp};
use r2r::action_msgs::{msg, srv};
use r2r::builtin_interfaces::msg::Time as Stamp;
use r2r::unique_identifier_msgs::msg::UUID;
use ringspin_executor::Time;
use ringspin_executor::action::GoalStatus;
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, CancelReturnCode, FeedbackMessage, GetResultRequest,
    GetResultResponse, GoalId, GoalInfo, GoalStatusArray, GoalStatusEntry, SendGoalRequest,
    SendGoalResponse,
};
use std::marker::PhantomData;
use std::sync::Arc;

/// The C struct of a message.
type Native<W> = <W as RosMessage>::Native;
type RequestOf<S> = <S as RosService>::Request;
type ResponseOf<S> = <S as RosService>::Response;

/// The service that takes goals of `F`.
pub(super) struct SendGoal<F>(PhantomData<F>);

impl<F: RosAction> ServiceMapping for SendGoal<F> {
    type Wire = F::SendGoal;
    type Request = GoalRequest<F>;
    type Response = GoalResponse<F>;
}

pub(super) struct GoalRequest<F>(PhantomData<F>);

impl<F: RosAction> Mapping for GoalRequest<F> {
    type Rust = SendGoalRequest<FromRos<F>>;
    type Wire = RequestOf<F::SendGoal>;

    fn to_wire(request: &Self::Rust, wire: &mut Native<Self::Wire>) {
        let goal = F::Goal::clone(&request.goal);
        F::make_goal_request_msg(to_uuid(request.goal_id), goal).to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let (id, goal) = F::destructure_goal_request_msg(RosMessage::from_native(wire));
        SendGoalRequest { goal_id: to_goal_id(&id), goal: Arc::new(goal) }
    }
}

pub(super) struct GoalResponse<F>(PhantomData<F>);

impl<F: RosAction> Mapping for GoalResponse<F> {
    type Rust = SendGoalResponse;
    type Wire = ResponseOf<F::SendGoal>;

    fn to_wire(response: &Self::Rust, wire: &mut Native<Self::Wire>) {
        F::make_goal_response_msg(response.accepted, to_stamp(response.stamp)).to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let (accepted, stamp) = F::destructure_goal_response_msg(RosMessage::from_native(wire));
        SendGoalResponse { accepted, stamp: to_time(&stamp) }
    }
}

/// The service for results of goals of `F`.
pub(super) struct GetResult<F>(PhantomData<F>);

impl<F: RosAction> ServiceMapping for GetResult<F> {
    type Wire = F::GetResult;
    type Request = ResultRequest<F>;
    type Response = ResultResponse<F>;
}

pub(super) struct ResultRequest<F>(PhantomData<F>);

impl<F: RosAction> Mapping for ResultRequest<F> {
    type Rust = GetResultRequest;
    type Wire = RequestOf<F::GetResult>;

    fn to_wire(request: &Self::Rust, wire: &mut Native<Self::Wire>) {
        F::make_result_request_msg(to_uuid(request.goal_id)).to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let id = F::destructure_result_request_msg(RosMessage::from_native(wire));
        GetResultRequest { goal_id: to_goal_id(&id) }
    }
}

pub(super) struct ResultResponse<F>(PhantomData<F>);

impl<F: RosAction> Mapping for ResultResponse<F> {
    type Rust = GetResultResponse<FromRos<F>>;
    type Wire = ResponseOf<F::GetResult>;

    fn to_wire(response: &Self::Rust, wire: &mut Native<Self::Wire>) {
        let result = F::Result::clone(&response.result);
        F::make_result_response_msg(response.status as i8, result).to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let (status, result) = F::destructure_result_response_msg(RosMessage::from_native(wire));
        GetResultResponse { status: to_status(status), result: Arc::new(result) }
    }
}

/// The topic with feedback on goals of `F`.
pub(super) struct Feedback<F>(PhantomData<F>);

impl<F: RosAction> Mapping for Feedback<F> {
    type Rust = FeedbackMessage<FromRos<F>>;
    type Wire = F::FeedbackMessage;

    fn to_wire(message: &Self::Rust, wire: &mut Native<Self::Wire>) {
        F::make_feedback_msg(to_uuid(message.goal_id), message.feedback.clone()).to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let (id, feedback) = F::destructure_feedback_msg(RosMessage::from_native(wire));
        FeedbackMessage { goal_id: to_goal_id(&id), feedback }
    }
}

/// The service that cancels goals.
pub(super) enum CancelGoal {}

impl ServiceMapping for CancelGoal {
    type Wire = srv::CancelGoal::Service;
    type Request = CancelRequest;
    type Response = CancelResponse;
}

pub(super) enum CancelRequest {}

impl Mapping for CancelRequest {
    type Rust = CancelGoalRequest;
    type Wire = srv::CancelGoal::Request;

    fn to_wire(request: &Self::Rust, wire: &mut Native<Self::Wire>) {
        srv::CancelGoal::Request { goal_info: to_info(&request.goal_info) }.to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let request = <Self::Wire as RosMessage>::from_native(wire);
        CancelGoalRequest { goal_info: from_info(&request.goal_info) }
    }
}

pub(super) enum CancelResponse {}

impl Mapping for CancelResponse {
    type Rust = CancelGoalResponse;
    type Wire = srv::CancelGoal::Response;

    fn to_wire(response: &Self::Rust, wire: &mut Native<Self::Wire>) {
        let return_code = response.return_code as i8;
        let goals_canceling = response.goals_canceling.iter().map(to_info).collect();
        srv::CancelGoal::Response { return_code, goals_canceling }.to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let response = <Self::Wire as RosMessage>::from_native(wire);
        let goals_canceling = response.goals_canceling.iter().map(from_info).collect();
        CancelGoalResponse { return_code: to_return_code(response.return_code), goals_canceling }
    }
}

/// The topic with the status of goals.
pub(super) enum Status {}

impl Mapping for Status {
    type Rust = GoalStatusArray;
    type Wire = msg::GoalStatusArray;

    fn to_wire(message: &Self::Rust, wire: &mut Native<Self::Wire>) {
        let entry = |entry: &GoalStatusEntry| msg::GoalStatus {
            goal_info: to_info(&entry.goal_info),
            status: entry.status as i8,
        };
        let status_list = message.status_list.iter().map(entry).collect();
        msg::GoalStatusArray { status_list }.to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Self::Rust {
        let entry = |entry: &msg::GoalStatus| GoalStatusEntry {
            goal_info: from_info(&entry.goal_info),
            status: to_status(entry.status),
        };
        let message = <Self::Wire as RosMessage>::from_native(wire);
        GoalStatusArray { status_list: message.status_list.iter().map(entry).collect() }
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

/// All zeros, which no goal has, for a length other than 16 bytes; r2r always gives 16.
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
