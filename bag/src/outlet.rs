//! Publishers of serialized messages.

use ringspin_executor::{BoxError, Delivery, PublishError, Publisher};
use ringspin_messages::cdr::CdrError;

/// Publishes serialized messages on one topic.
pub(crate) trait Outlet: Send {
    /// Publishes `data`, or the message that was not taken before, for which `data` stands again.
    ///
    /// # Errors
    /// The reason why it cannot be published.
    fn publish(&mut self, data: &[u8]) -> Result<Delivery, BoxError>;
}

/// Publishes messages of type `M`, which are deserialized first.
pub(crate) struct TypedOutlet<M> {
    publisher: Publisher<M>,
    decode: fn(&[u8]) -> Result<M, CdrError>,
    /// The message that a full keep-all subscription did not take.
    refused: Option<M>,
}

impl<M> TypedOutlet<M> {
    pub(crate) fn new(publisher: Publisher<M>, decode: fn(&[u8]) -> Result<M, CdrError>) -> Self {
        Self { publisher, decode, refused: None }
    }
}

impl<M: Send + Sync + 'static> Outlet for TypedOutlet<M> {
    fn publish(&mut self, data: &[u8]) -> Result<Delivery, BoxError> {
        let message = match self.refused.take() {
            Some(message) => message,
            None => (self.decode)(data)?,
        };
        match self.publisher.publish(message) {
            Ok(()) => Ok(Delivery::Done),
            Err(PublishError::Full(message)) => {
                self.refused = Some(message.into_inner());
                Ok(Delivery::Again)
            }
            Err(error) => Err(error.to_string().into()),
        }
    }
}
