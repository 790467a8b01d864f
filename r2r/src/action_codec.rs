//! Requests, responses and feedback of an action, in the form that a client has them.

use crate::error::Result;
use crate::message::{Carried, WrappedActionTypeSupport, WrappedServiceTypeSupport};
use ringspin_messages::{CdrService, CdrType, RosAction};
use uuid::Uuid;

/// Writes requests with goals `G`, and reads results `R` and feedback `F`.
pub(crate) struct ActionCodec<G, R, F> {
    /// The type of the service that sends goals.
    pub(crate) send_goal: &'static CdrService,
    /// The type of the service that requests results.
    pub(crate) get_result: &'static CdrService,
    /// The type of the feedback topic.
    pub(crate) feedback: &'static CdrType,
    pub(crate) goal_request: fn(Uuid, G) -> Result<Carried>,
    pub(crate) is_accepted: fn(&Carried) -> Result<bool>,
    pub(crate) result_request: fn(Uuid) -> Carried,
    /// The status and the result.
    pub(crate) read_result: fn(&Carried) -> Result<(i8, R)>,
    /// The id of the goal and its feedback.
    pub(crate) read_feedback: fn(&Carried) -> Result<(Uuid, F)>,
}

/// The codec of a type that the application knows.
pub(crate) type Typed<T> = ActionCodec<
    <T as WrappedActionTypeSupport>::Goal,
    <T as WrappedActionTypeSupport>::Result,
    <T as WrappedActionTypeSupport>::Feedback,
>;

/// The codec of `T`.
pub(crate) fn typed<T: WrappedActionTypeSupport>() -> Typed<T> {
    ActionCodec {
        send_goal: <T::SendGoal as WrappedServiceTypeSupport>::table(),
        get_result: <T::GetResult as WrappedServiceTypeSupport>::table(),
        feedback: Carried::table::<T::FeedbackMessage>(),
        goal_request: |id, goal| Ok(Carried::new(T::Ros::goal_request(id.into_bytes(), goal))),
        is_accepted: |response| Ok(T::Ros::is_accepted(&response.get()?)),
        result_request: |id| Carried::new(T::Ros::result_request(id.into_bytes())),
        read_result: |response| Ok(T::Ros::into_result(response.get()?)),
        read_feedback: |message| {
            let (id, feedback) = T::Ros::into_feedback(message.get()?);
            Ok((Uuid::from_bytes(id), feedback))
        },
    }
}
