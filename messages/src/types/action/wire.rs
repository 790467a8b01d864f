//! The messages of actions as CDR bytes. A tuple has the serialization of a struct with such
//! fields, and sixteen bytes that of a `unique_identifier_msgs/msg/UUID`. Messages from other
//! processes may hold any values.

use crate::builtin_interfaces::msg::Time as Stamp;
use crate::cdr::{self, CdrError};
use crate::{CdrMapping, RosAction, RosMessage, RosService, RosType, goal_status};
use ringspin_executor::action::messages::{
    FeedbackMessage, GetResultRequest, GetResultResponse, GoalId, SendGoalRequest, SendGoalResponse,
};
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
        cdr::write(&(response.accepted, Stamp::from_time(response.stamp)), bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError> {
        let (accepted, stamp) = cdr::from_bytes::<(bool, Stamp)>(bytes)?;
        Ok(SendGoalResponse { accepted, stamp: stamp.to_time() })
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
        Ok(GetResultResponse { status: goal_status(status), result: Arc::new(result) })
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

/// A message that other code of the graph has as `R`, and ROS 2 as `M`, the same for all actions.
pub(super) struct Converted<R, M>(PhantomData<(R, M)>);

impl<R, M> CdrMapping for Converted<R, M>
where
    R: From<M> + Send + Sync + 'static,
    M: RosMessage + for<'a> From<&'a R>,
{
    type Rust = R;
    const ROS_TYPE: RosType = RosType::of::<M>();

    fn write(message: &R, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&M::from(message), bytes)
    }

    fn read(bytes: &[u8]) -> Result<R, CdrError> {
        Ok(cdr::from_bytes::<M>(bytes)?.into())
    }
}
