//! The types of messages, services and actions.

use crate::error::Result;
use ringspin_adapter::Carried;
use ringspin_messages::{CdrService, GeneratedMessage, GeneratedService, RosAction, cdr};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A message type of ROS: every struct that is generated.
pub trait WrappedTypesupport:
    GeneratedMessage + Serialize + DeserializeOwned + Default + Debug + Clone
{
    /// The message as bytes: CDR, with its header of four bytes.
    ///
    /// # Errors
    /// For a message that its definition does not allow, such as too many elements.
    fn to_serialized_bytes(&self) -> Result<Vec<u8>> {
        Ok(cdr::to_bytes(self)?)
    }

    /// The message that these bytes are.
    ///
    /// # Errors
    /// For bytes that are no message of this type.
    fn from_serialized_bytes(data: &[u8]) -> Result<Self> {
        Ok(cdr::from_bytes(data)?)
    }
}

impl<T: GeneratedMessage> WrappedTypesupport for T {}

/// A service type of ROS: `Service` in the module of each one.
pub trait WrappedServiceTypeSupport: Debug + Clone + 'static {
    /// The request.
    type Request: WrappedTypesupport;
    /// The response.
    type Response: WrappedTypesupport;

    /// The type as a service carries it.
    #[doc(hidden)]
    fn table() -> &'static CdrService;
}

impl<S: GeneratedService> WrappedServiceTypeSupport for S {
    type Request = S::Request;
    type Response = S::Response;

    fn table() -> &'static CdrService {
        Carried::service_table::<S>()
    }
}

/// An action type of ROS: `Action` in the module of each one.
pub trait WrappedActionTypeSupport: Debug + Clone + 'static {
    /// The goal.
    type Goal: WrappedTypesupport;
    /// The result.
    type Result: WrappedTypesupport;
    /// The feedback.
    type Feedback: WrappedTypesupport;
    /// The message of the feedback topic.
    type FeedbackMessage: WrappedTypesupport;
    /// The service that sends goals.
    type SendGoal: GeneratedService;
    /// The service that requests results.
    type GetResult: GeneratedService;
    /// The same type.
    #[doc(hidden)]
    type Ros: RosAction<
            Goal = Self::Goal,
            Result = Self::Result,
            Feedback = Self::Feedback,
            FeedbackMessage = Self::FeedbackMessage,
            SendGoal = Self::SendGoal,
            GetResult = Self::GetResult,
        >;
}

impl<A: RosAction> WrappedActionTypeSupport for A {
    type Goal = A::Goal;
    type Result = A::Result;
    type Feedback = A::Feedback;
    type FeedbackMessage = A::FeedbackMessage;
    type SendGoal = A::SendGoal;
    type GetResult = A::GetResult;
    type Ros = A;
}
