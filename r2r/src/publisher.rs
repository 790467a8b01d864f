//! Publishers: typed, untyped, of bytes.

use crate::error::{Error, Result};
use crate::message::WrappedTypesupport;
use crate::native::NativeMsg;
use crate::node_shared::NodeShared;
use crate::untyped::Untyped;
use futures::TryFutureExt;
use futures::channel::oneshot;
use ringspin_adapter::Carried;
use ringspin_ringbuf::Flag;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

/// A publisher of some type.
pub(crate) struct Inner {
    publisher: ringspin::Publisher<Carried>,
    topic: String,
    node: Arc<NodeShared>,
    is_destroyed: Flag,
}

impl Inner {
    pub(crate) fn new(
        publisher: ringspin::Publisher<Carried>,
        topic: String,
        node: Arc<NodeShared>,
    ) -> Self {
        Self { publisher, topic, node, is_destroyed: Flag::default() }
    }

    pub(crate) fn destroy(&self) {
        self.is_destroyed.raise();
        self.node.look();
    }

    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] after its end or that of its node.
    fn check(&self) -> Result<()> {
        match self.is_destroyed.is_raised() || self.node.activity.is_closed() {
            true => Err(Error::RCL_RET_PUBLISHER_INVALID),
            false => Ok(()),
        }
    }

    pub(crate) fn publish(&self, message: Carried) -> Result<()> {
        self.check()?;
        self.node.context.start();
        self.publisher
            .publish(message)
            .map_err(|error| Error::Other(format!("failed to publish on {}: {error}", self.topic)))
    }

    fn subscriptions(&self) -> Result<usize> {
        self.check()?;
        self.publisher.subscription_count().map_err(Error::other)
    }

    fn wait(self: &Arc<Self>) -> Result<impl Future<Output = Result<()>> + Unpin + use<>> {
        self.check()?;
        let (sender, receiver) = oneshot::channel();
        let inner = Arc::downgrade(self);
        let is_matched = move || {
            let inner = inner.upgrade().ok_or(Error::RCL_RET_PUBLISHER_INVALID)?;
            Ok(inner.subscriptions()? > 0)
        };
        self.node.when(Box::new(is_matched), sender);
        Ok(receiver.map_err(|_| Error::RCL_RET_CLIENT_INVALID))
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Publisher").field(&self.topic).finish()
    }
}

/// A publisher of messages `T`; from any thread. Clones are the same publisher.
#[derive(Debug, Clone)]
pub struct Publisher<T>
where
    T: WrappedTypesupport,
{
    pub(crate) inner: Arc<Inner>,
    message: PhantomData<fn(T)>,
}

impl<T: WrappedTypesupport> Publisher<T> {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner, message: PhantomData }
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] once publisher or node are destroyed;
    /// [`Error::SerdeError`] for a message that its definition does not allow; another one when a
    /// keep-all subscription is full, or the middleware refuses the message.
    pub fn publish(&self, msg: &T) -> Result<()> {
        self.inner.publish(Carried::checked(msg.clone())?)
    }

    /// A message to be filled and published by [`publish_native`](Self::publish_native).
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`].
    pub fn borrow_loaned_message(&self) -> Result<NativeMsg<T>> {
        self.inner.check()?;
        Ok(NativeMsg { message: T::default(), is_loaned: true })
    }

    /// Publishes a message without a copy of it; `msg` holds the default afterwards.
    ///
    /// # Errors
    /// As for [`publish`](Self::publish).
    pub fn publish_native(&self, msg: &mut NativeMsg<T>) -> Result<()> {
        msg.is_loaned = false;
        self.inner.publish(Carried::checked(std::mem::take(&mut msg.message))?)
    }

    /// The number of subscriptions that get the messages: those of other processes, and, as in
    /// r2r, those of this process.
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] once publisher or node are destroyed.
    pub fn get_inter_process_subscription_count(&self) -> Result<usize> {
        self.inner.subscriptions()
    }

    /// A future that waits until there is a subscription, in this process or in another one, or the
    /// publisher was dropped; a thread has to spin the node meanwhile.
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] once publisher or node are destroyed.
    pub fn wait_for_inter_process_subscribers(
        &self,
    ) -> Result<impl Future<Output = Result<()>> + Unpin + use<T>> {
        self.inner.wait()
    }
}

/// A publisher of a type that is known by name; from any thread.
#[derive(Debug, Clone)]
pub struct PublisherUntyped {
    pub(crate) inner: Arc<Inner>,
    type_name: &'static str,
}

impl PublisherUntyped {
    pub(crate) fn new(inner: Arc<Inner>, type_name: &'static str) -> Self {
        Self { inner, type_name }
    }

    /// Publishes the message that `msg` describes; fields that it lacks have their defaults.
    ///
    /// # Errors
    /// [`Error::SerdeError`] for a value that does not describe one,
    /// [`Error::InvalidMessageType`] for a type that this program was not built with, and those of
    /// [`Publisher::publish`].
    pub fn publish(&self, msg: serde_json::Value) -> Result<()> {
        self.inner.publish((Untyped::named(self.type_name)?.from_json)(msg)?)
    }

    /// Publishes the message that `data` is: CDR, with its header of four bytes. A subscription
    /// that expects a struct drops other messages, and logs them.
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] once publisher or node are destroyed; another one when
    /// a keep-all subscription is full, or the middleware refuses the message.
    pub fn publish_raw(&self, data: &[u8]) -> Result<()> {
        self.inner.publish(Carried::of_bytes(data.to_vec()))
    }

    /// Same as [`Publisher::get_inter_process_subscription_count`].
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] once publisher or node are destroyed.
    pub fn get_inter_process_subscription_count(&self) -> Result<usize> {
        self.inner.subscriptions()
    }

    /// Same as [`Publisher::wait_for_inter_process_subscribers`].
    ///
    /// # Errors
    /// [`Error::RCL_RET_PUBLISHER_INVALID`] once publisher or node are destroyed.
    pub fn wait_for_inter_process_subscribers(
        &self,
    ) -> Result<impl Future<Output = Result<()>> + Unpin + use<>> {
        self.inner.wait()
    }
}
