//! Publishers.

use crate::error::{RclReturnCode, RclrsError};
use crate::executor::Promise;
use crate::node::{IntoPrimitiveOptions, Node};
use crate::qos::QoSProfile;
use ringspin_adapter::{Carried, Type};
use ringspin_messages::CdrType;
use ringspin_messages::cdr::CdrError;
use rosidl_runtime_rs::{Message, RmwMessage};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A handle of a publisher.
pub type Publisher<T> = Arc<PublisherState<T>>;

/// Publishes messages of type `T`; from any thread. It ends with its last handle.
///
/// Created by [`NodeState::create_publisher`](crate::NodeState::create_publisher).
pub struct PublisherState<T: Message> {
    outlet: Outlet,
    message: PhantomData<fn(T)>,
}

impl<T: Message> PublisherState<T> {
    /// # Errors
    /// The errors of [`Outlet::create`].
    pub(crate) fn create(
        node: &Node,
        options: &PublisherOptions<'_>,
    ) -> Result<Arc<Self>, RclrsError> {
        let outlet = Outlet::create(node, options, Carried::table::<T>())?;
        Ok(Arc::new(Self { outlet, message: PhantomData }))
    }

    /// The topic, with its namespace and after remapping.
    pub fn topic_name(&self) -> String {
        self.outlet.topic.clone()
    }

    /// The number of subscriptions that match.
    ///
    /// # Errors
    /// If the middleware refuses the question.
    pub fn get_subscription_count(&self) -> Result<usize, RclrsError> {
        self.outlet.subscription_count()
    }

    /// A promise that resolves once there is a subscription.
    pub fn notify_on_subscriber_ready(self: &Arc<Self>) -> Promise<()> {
        let publisher = self.clone();
        let is_ready = move || publisher.get_subscription_count().is_ok_and(|count| count > 0);
        self.outlet.node.notify_on_graph_change(is_ready)
    }

    /// Publishes a message: an owned one without a copy, or a clone of a borrowed one.
    ///
    /// # Errors
    /// For a message that its definition does not allow, when a keep-all subscription is full, and
    /// if the middleware refuses it.
    pub fn publish<'a, M: MessageCow<'a, T>>(&self, message: M) -> Result<(), RclrsError> {
        self.outlet.publish(Carried::checked(message.into_cow().into_owned()))
    }
}

/// A publisher of messages of any type.
pub(crate) struct Outlet {
    publisher: ringspin::Publisher<Carried>,
    pub(crate) topic: String,
    node: Node,
}

impl Outlet {
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`]; another one for a topic of another type, or with
    /// subscriptions that request more than the options offer.
    pub(crate) fn create(
        node: &Node,
        options: &PublisherOptions<'_>,
        table: &'static CdrType,
    ) -> Result<Self, RclrsError> {
        let topic = node.note_topic(options.topic, Type::Topic(table))?;
        let event_loop = &node.event_loop;
        let created =
            event_loop.node.create_publisher::<Carried>(options.topic, options.qos.for_publisher());
        let failed = |error| RclrsError::from_graph(&error, RclReturnCode::TopicNameInvalid);
        let publisher = created.map_err(failed)?;
        let publisher = match event_loop.app.is_deterministic {
            true => publisher.digested(),
            false => publisher,
        };
        Ok(Self { publisher, topic, node: node.clone() })
    }

    /// # Errors
    /// If the middleware refuses the question.
    pub(crate) fn subscription_count(&self) -> Result<usize, RclrsError> {
        let count = self.publisher.subscription_count();
        count.map_err(|error| RclrsError::of(RclReturnCode::Error, error))
    }

    /// # Errors
    /// The error of `message`; another one when a keep-all subscription is full, and if the
    /// middleware refuses it.
    pub(crate) fn publish(&self, message: Result<Carried, CdrError>) -> Result<(), RclrsError> {
        self.node.event_loop.app.start()?;
        let failed = |error: &dyn fmt::Display| {
            let text = format!("failed to publish on {}: {error}", self.topic);
            RclrsError::of(RclReturnCode::Error, text)
        };
        self.publisher.publish(message.map_err(|e| failed(&e))?).map_err(|error| failed(&error))
    }
}

impl<T: RmwMessage> PublisherState<T> {
    /// A message to be filled and published, which costs no copy.
    ///
    /// # Errors
    /// None.
    pub fn borrow_loaned_message(&self) -> Result<LoanedMessage<'_, T>, RclrsError> {
        Ok(LoanedMessage { message: T::default(), publisher: self })
    }

    /// Whether messages can be borrowed: always.
    pub fn can_loan_messages(&self) -> bool {
        true
    }
}

impl<T: Message> fmt::Debug for PublisherState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Publisher").field(&self.outlet.topic).finish()
    }
}

/// A message that is borrowed from a publisher, to be filled and published.
#[derive(Debug)]
pub struct LoanedMessage<'a, T: RmwMessage> {
    message: T,
    publisher: &'a PublisherState<T>,
}

impl<T: RmwMessage> LoanedMessage<'_, T> {
    /// Publishes the message.
    ///
    /// # Errors
    /// The errors of [`PublisherState::publish`].
    pub fn publish(self) -> Result<(), RclrsError> {
        self.publisher.publish(self.message)
    }
}

impl<T: RmwMessage> Deref for LoanedMessage<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.message
    }
}

impl<T: RmwMessage> DerefMut for LoanedMessage<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.message
    }
}

/// Options of a publisher: a `&str`, or one with options as in `"topic".keep_last(1)`, converts
/// into them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PublisherOptions<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The quality of service.
    pub qos: QoSProfile,
}

impl<'a> PublisherOptions<'a> {
    /// The default options for a topic.
    pub fn new(topic: &'a str) -> Self {
        Self { topic, qos: QoSProfile::topics_default() }
    }
}

impl<'a, T: IntoPrimitiveOptions<'a>> From<T> for PublisherOptions<'a> {
    fn from(value: T) -> Self {
        let primitive = value.into_primitive_options();
        let mut options = Self::new(primitive.name);
        primitive.apply_to(&mut options.qos);
        options
    }
}

/// A message or a reference to one.
pub trait MessageCow<'a, T: Message> {
    /// The message, owned or borrowed.
    fn into_cow(self) -> Cow<'a, T>;
}

impl<'a, T: Message> MessageCow<'a, T> for T {
    fn into_cow(self) -> Cow<'a, T> {
        Cow::Owned(self)
    }
}

impl<'a, T: Message> MessageCow<'a, T> for &'a T {
    fn into_cow(self) -> Cow<'a, T> {
        Cow::Borrowed(self)
    }
}
