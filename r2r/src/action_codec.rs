//! Requests, responses and feedback of an action, in the form that a client has them.

use crate::error::Result;
use crate::message::{WrappedActionTypeSupport, WrappedServiceTypeSupport};
use ringspin_adapter::Carried;
use ringspin_messages::{CdrService, CdrType, RosAction};
use serde_json::Value;
use uuid::Uuid;

/// The types of a client: those of an action type, or JSON for a type that is known by name.
#[doc(hidden)]
pub trait ClientTypes: 'static {
    type Goal: Send + 'static;
    type Result: Send + 'static;
    type Feedback: Send + 'static;
}

impl<T: WrappedActionTypeSupport> ClientTypes for T {
    type Goal = T::Goal;
    type Result = T::Result;
    type Feedback = T::Feedback;
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum UntypedTypes {}

impl ClientTypes for UntypedTypes {
    type Goal = Value;
    type Result = Result<Value>;
    type Feedback = Result<Value>;
}

type Read<R> = fn(&Carried) -> Result<R>;

/// Writes requests with goals, and reads results and feedback, in the types of a client.
pub(crate) struct ActionCodec<T: ClientTypes> {
    /// The type of the service that sends goals.
    pub(crate) send_goal: &'static CdrService,
    /// The type of the service that requests results.
    pub(crate) get_result: &'static CdrService,
    /// The type of the feedback topic.
    pub(crate) feedback: &'static CdrType,
    pub(crate) goal_request: fn(Uuid, T::Goal) -> Result<Carried>,
    pub(crate) is_accepted: Read<bool>,
    pub(crate) result_request: fn(Uuid) -> Carried,
    /// The status and the result.
    pub(crate) read_result: Read<(i8, T::Result)>,
    /// The id of the goal and its feedback.
    pub(crate) read_feedback: Read<(Uuid, T::Feedback)>,
}

/// The codec of an action type that the application knows.
pub(crate) fn typed<T: WrappedActionTypeSupport>() -> ActionCodec<T> {
    ActionCodec {
        send_goal: <T::SendGoal as WrappedServiceTypeSupport>::table(),
        get_result: <T::GetResult as WrappedServiceTypeSupport>::table(),
        feedback: Carried::table::<T::FeedbackMessage>(),
        goal_request: |id, goal| Ok(Carried::checked(T::Ros::goal_request(id.into_bytes(), goal))?),
        is_accepted: |response| Ok(T::Ros::is_accepted(&response.get()?)),
        result_request: |id| Carried::new(T::Ros::result_request(id.into_bytes())),
        read_result: |response| Ok(T::Ros::into_result(response.get()?)),
        read_feedback: |message| {
            let (id, feedback) = T::Ros::into_feedback(message.get()?);
            Ok((Uuid::from_bytes(id), feedback))
        },
    }
}
