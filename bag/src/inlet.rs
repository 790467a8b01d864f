//! Subscriptions to topics of any known type, for nodes that pass messages on.
//!
//! A callback does no more than share its message; it is serialized where it is needed.

use ringspin_executor::{BoxError, Context, EventId, Message, Node, QoS, Result, Time};
use ringspin_messages::cdr::CdrError;
use std::borrow::Cow;

/// A topic to which a node subscribes.
pub(crate) struct Inlet {
    /// The name of the topic.
    pub(crate) topic: String,
    /// Its number among the node's topics.
    pub(crate) index: usize,
    /// With [`QoS::message_times`].
    pub(crate) qos: QoS,
}

/// Serializes a message.
pub(crate) type Encode<M> = fn(&M) -> Result<Cow<'_, [u8]>, CdrError>;

/// A received message.
pub(crate) struct Entry {
    /// The number of the topic.
    pub(crate) topic: usize,
    pub(crate) id: EventId,
    pub(crate) log_time: Time,
    pub(crate) publish_time: Time,
    pub(crate) body: Box<dyn Body>,
}

/// A message that can be serialized.
pub(crate) trait Body: Send {
    fn encode(&self) -> Result<Cow<'_, [u8]>, CdrError>;
}

struct TypedBody<M>(Message<M>, Encode<M>);

impl<M: Send + Sync> Body for TypedBody<M> {
    fn encode(&self) -> Result<Cow<'_, [u8]>, CdrError> {
        (self.1)(&self.0)
    }
}

/// The state of a node that passes messages on.
pub(crate) trait Tap: Send {
    /// Takes a message.
    ///
    /// # Errors
    /// The reason why it cannot be passed on; the node fails.
    fn take(&mut self, entry: Entry, cx: &Context<'_>) -> Result<(), BoxError>;
}

/// Subscribes `node` to the topic of `inlet`, which has messages of type `M`.
pub(crate) fn subscribe<M: Send + Sync + 'static>(
    node: &Node<Box<dyn Tap>>,
    inlet: Inlet,
    encode: Encode<M>,
) -> Result<()> {
    let Inlet { topic, index, qos } = inlet;
    node.create_subscription(&topic, qos, move |tap, message: &Message<M>, cx| {
        let times = message.times();
        let entry = Entry {
            topic: index,
            id: message.id(),
            log_time: times.map_or(cx.now(), |times| times.received_timestamp),
            publish_time: times.map_or(cx.now(), |times| times.source_timestamp),
            body: Box::new(TypedBody(message.clone(), encode)),
        };
        tap.take(entry, cx)
    })
    .map(drop)
}
