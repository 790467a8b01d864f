//! Messages of any type on their way.
//!
//! All topics and services of a context carry [`Carried`], so that typed, untyped and raw ends meet
//! on one topic, and an application compiles little of the executor for each of its types.

use crate::error::{Error, Result};
use ringspin::{Digest, DigestHasher, Message};
use ringspin_messages::cdr::{self, CdrError};
use ringspin_messages::{
    CdrMapping, CdrService, CdrType, GeneratedMessage, GeneratedService, RosAction, RosType,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

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
        CdrService::mapped::<S, As<S::Request>, As<S::Response>>()
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

/// A message as a topic or service carries it.
#[derive(Clone)]
pub(crate) struct Carried(Content);

#[derive(Clone)]
enum Content {
    Typed(Arc<dyn Payload>),
    /// The bytes that came, with CDR's header.
    Bytes(Vec<u8>),
}

/// A message of some type.
trait Payload: Any + Send + Sync {
    fn write(&self, bytes: &mut Vec<u8>) -> std::result::Result<(), CdrError>;
    fn add_to(&self, hasher: &mut DigestHasher);
}

impl<T: WrappedTypesupport> Payload for T {
    fn write(&self, bytes: &mut Vec<u8>) -> std::result::Result<(), CdrError> {
        cdr::write(self, bytes)
    }

    fn add_to(&self, hasher: &mut DigestHasher) {
        self.digest(hasher);
    }
}

impl Carried {
    /// The message type `T` as a topic carries it.
    pub(crate) const fn table<T: WrappedTypesupport>() -> &'static CdrType {
        CdrType::mapped::<As<T>>()
    }

    pub(crate) fn new<T: WrappedTypesupport>(message: T) -> Self {
        Self(Content::Typed(Arc::new(message)))
    }

    /// A message of the application, which may not fit its definition.
    ///
    /// # Errors
    /// [`Error::SerdeError`] for one that ROS 2 could not send.
    pub(crate) fn checked<T: WrappedTypesupport>(message: T) -> Result<Self> {
        cdr::check(&message)?;
        Ok(Self::new(message))
    }

    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self(Content::Bytes(bytes))
    }

    /// The message.
    pub(crate) fn get<T: WrappedTypesupport>(&self) -> Result<T> {
        match &self.0 {
            Content::Typed(message) => {
                let any: &dyn Any = &**message;
                let typed = any.downcast_ref::<T>();
                typed.cloned().ok_or_else(|| Error::wrong_type(T::TYPE_NAME))
            }
            Content::Bytes(bytes) => T::from_serialized_bytes(bytes),
        }
    }

    /// The message, which is copied only while others have it.
    pub(crate) fn take_from<T: WrappedTypesupport>(message: Message<Self>) -> Result<T> {
        let carried: &Self = &message;
        let Content::Typed(shared) = &carried.0 else { return carried.get() };
        let shared: Arc<dyn Any + Send + Sync> = shared.clone();
        let typed = shared.downcast().map_err(|_| Error::wrong_type(T::TYPE_NAME))?;
        drop(message); // before: its slot refers to it
        Ok(Arc::unwrap_or_clone(typed))
    }

    pub(crate) fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        match &self.0 {
            Content::Typed(message) => {
                let mut bytes = Vec::new();
                message.write(&mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
            Content::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
        }
    }
}

/// A message of type `M` over ROS 2.
pub(crate) struct As<M>(PhantomData<M>);

impl<M: WrappedTypesupport> CdrMapping for As<M> {
    type Rust = Carried;
    const ROS_TYPE: RosType = RosType::of::<M>();

    fn write(message: &Carried, bytes: &mut Vec<u8>) -> std::result::Result<(), CdrError> {
        match &message.0 {
            Content::Typed(message) => message.write(bytes),
            Content::Bytes(content) => {
                bytes.clone_from(content);
                Ok(())
            }
        }
    }

    fn read(bytes: &[u8]) -> std::result::Result<Carried, CdrError> {
        Ok(Carried::of_bytes(bytes.to_vec()))
    }
}

impl std::fmt::Debug for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Carried")
    }
}

impl Digest for Carried {
    fn digest(&self, hasher: &mut DigestHasher) {
        match &self.0 {
            Content::Typed(message) => message.add_to(hasher),
            Content::Bytes(bytes) => bytes.digest(hasher),
        }
    }
}
