//! The traits of messages, services and actions, which generated code implements.

use ringspin_messages::{GeneratedMessage, GeneratedService, RosAction};
use std::borrow::Cow;

/// A type that a [`Sequence`](crate::Sequence) can have as its elements.
///
/// All types with a default that can be cloned implement it; user code only names it in bounds.
pub trait SequenceAlloc: SequenceLayout + Clone + Default + Sized {}

impl<T: Clone + Default> SequenceAlloc for T {}

/// A bound of upstream's [`SequenceAlloc`], without a meaning here: all types implement it.
pub trait SequenceLayout {}

impl<T> SequenceLayout for T {}

/// A message that can be published and subscribed to.
///
/// A message type has two forms with the same name, definition, hash and CDR bytes:
/// * the idiomatic one, such as `std_msgs::msg::String`, has fields of the standard library's
///   types;
/// * the RMW one, such as `std_msgs::msg::rmw::String`, has fields of the types in this crate. It
///   is the same struct if the message has neither strings nor sequences.
pub trait Message: GeneratedMessage {
    /// The RMW form of the message.
    type RmwMsg: RmwMessage;

    /// Converts a message to its RMW form. A message that already has it is returned as it is.
    fn into_rmw_message(msg_cow: Cow<'_, Self>) -> Cow<'_, Self::RmwMsg>;

    /// Converts a message from its RMW form.
    fn from_rmw_message(msg: Self::RmwMsg) -> Self;
}

/// A message in its RMW form.
pub trait RmwMessage: Message {
    /// The name of the type, such as `geometry_msgs/msg/Twist`.
    const TYPE_NAME: &'static str;
}

/// A service type.
pub trait Service: 'static {
    /// The type of requests.
    type Request: Message;
    /// The type of responses.
    type Response: Message;
    /// The service as the executor has it.
    #[doc(hidden)]
    type Ros: GeneratedService<Request = Self::Request, Response = Self::Response>;
}

/// An action type.
pub trait Action: 'static {
    /// The goal to pursue.
    type Goal: Message;
    /// The outcome of a goal.
    type Result: Message;
    /// The progress of a goal.
    type Feedback: Message;
    /// The message of the feedback topic: the id of a goal with its feedback.
    type FeedbackMessage: Message;
    /// The service that sends goals.
    type SendGoalService: Service;
    /// The service that cancels goals.
    type CancelGoalService: Service;
    /// The service that requests results.
    type GetResultService: Service;
    /// The action as the executor has it.
    #[doc(hidden)]
    type Ros: RosAction<
            Goal = Self::Goal,
            Result = Self::Result,
            Feedback = Self::Feedback,
            FeedbackMessage = Self::FeedbackMessage,
            SendGoal = <Self::SendGoalService as Service>::Ros,
            GetResult = <Self::GetResultService as Service>::Ros,
        >;
}

/// The RMW form of a service's request.
pub type RmwServiceRequest<S> = <<S as Service>::Request as Message>::RmwMsg;

/// The RMW form of a service's response.
pub type RmwServiceResponse<S> = <<S as Service>::Response as Message>::RmwMsg;

/// The RMW form of the request that sends a goal.
pub type RmwGoalRequest<A> = RmwServiceRequest<<A as Action>::SendGoalService>;

/// The RMW form of the response to a goal.
pub type RmwGoalResponse<A> = RmwServiceResponse<<A as Action>::SendGoalService>;

/// The RMW form of an action's goal.
pub type RmwGoalData<A> = <<A as Action>::Goal as Message>::RmwMsg;

/// The RMW form of an action's feedback.
pub type RmwFeedbackData<A> = <<A as Action>::Feedback as Message>::RmwMsg;

/// The RMW form of the message of the feedback topic.
pub type RmwFeedbackMessage<A> = <<A as Action>::FeedbackMessage as Message>::RmwMsg;

/// The RMW form of the request for a result.
pub type RmwResultRequest<A> = RmwServiceRequest<<A as Action>::GetResultService>;

/// The RMW form of the response with a result.
pub type RmwResultResponse<A> = RmwServiceResponse<<A as Action>::GetResultService>;

/// The RMW form of an action's result.
pub type RmwResultData<A> = <<A as Action>::Result as Message>::RmwMsg;

/// Code to run for each of many types: the argument of the function `visit_types` that the
/// generator writes.
#[doc(hidden)]
pub trait TypeVisitor {
    /// Called for a message type in its idiomatic form; those of services and actions are among
    /// them.
    fn message<M: Message>(&mut self);

    /// Called for a service type; those of actions are among them.
    fn service<S: Service>(&mut self) {}

    /// Called for an action type.
    fn action<A: Action>(&mut self) {}
}
