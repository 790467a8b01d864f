//! Clients of services: typed and untyped.

use crate::error::{Error, Result};
use crate::link::Link;
use crate::message::WrappedServiceTypeSupport;
use crate::node_shared::{IsAvailablePollable, NodeShared};
use crate::untyped::UntypedService;
use futures::channel::oneshot;
use ringspin::CallError;
use ringspin::Reply;
use ringspin::service::CallFuture;
use ringspin_adapter::Carried;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

/// A client of some type.
#[derive(Clone)]
pub(crate) struct Inner {
    client: ringspin::Client<(), Carried, Carried>,
    node: Arc<NodeShared>,
}

impl Inner {
    pub(crate) fn new(
        client: ringspin::Client<(), Carried, Carried>,
        node: Arc<NodeShared>,
    ) -> Self {
        Self { client, node }
    }

    /// Sends a request now; the future gives what `read` makes of the response.
    ///
    /// # Errors
    /// [`Error::RCL_RET_CLIENT_INVALID`] once the node is destroyed.
    pub(crate) fn request<R, E, F>(
        &self,
        request: Carried,
        read: F,
    ) -> Result<impl Future<Output = Result<R>> + Unpin + use<R, E, F>>
    where
        E: Into<Error>,
        F: FnOnce(&Carried) -> std::result::Result<R, E>,
    {
        if self.node.activity.is_closed() {
            return Err(Error::RCL_RET_CLIENT_INVALID);
        }
        self.node.context.start();
        let call = self.client.call_async(request);
        let (activity, service) = (self.node.activity.clone(), self.client.service().to_owned());
        let link = Link::new(&activity);
        Ok(Box::pin(async move {
            let reply = ended(call, &link).await.ok_or(Error::RCL_RET_CLIENT_INVALID)?;
            let reply = reply.map_err(|error| match activity.is_closed() {
                true => Error::RCL_RET_CLIENT_INVALID,
                false => Error::Other(format!("failed to call {service}: {error}")),
            })?;
            read(&reply).map_err(Into::into)
        }))
    }

    pub(crate) fn when_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        if self.node.activity.is_closed() {
            return Err(Error::RCL_RET_CLIENT_INVALID);
        }
        let this = self.clone();
        self.node.when(Box::new(move || Ok(this.is_ready())), sender);
        Ok(())
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.client.service_is_ready()
    }
}

/// The end of a call; `None` when the node was dropped.
async fn ended(
    mut call: CallFuture<Carried>,
    link: &Link,
) -> Option<std::result::Result<Reply<Carried>, CallError>> {
    poll_fn(|cx| link.poll(cx, |cx| Pin::new(&mut call).poll(cx))).await
}

/// A client of service `T`; from any thread.
pub struct Client<T>
where
    T: WrappedServiceTypeSupport,
{
    pub(crate) inner: Inner,
    service: PhantomData<fn() -> T>,
}

impl<T: WrappedServiceTypeSupport> Client<T> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner, service: PhantomData }
    }

    /// Sends a request; the future is that of the response, or of the reason why there is none: no
    /// server is there, it ended, or it dropped the request.
    ///
    /// # Errors
    /// [`Error::SerdeError`] for a request that its definition does not allow, and
    /// [`Error::RCL_RET_CLIENT_INVALID`] once the node is destroyed.
    pub fn request(
        &self,
        msg: &T::Request,
    ) -> Result<impl Future<Output = Result<T::Response>> + Unpin + use<T>> {
        self.inner.request(Carried::checked(msg.clone())?, |response| response.get())
    }
}

/// A client of a service that is known by name; from any thread.
pub struct ClientUntyped {
    pub(crate) inner: Inner,
    service: UntypedService,
}

impl ClientUntyped {
    pub(crate) fn new(inner: Inner, service: UntypedService) -> Self {
        Self { inner, service }
    }

    /// Sends the request that `msg` describes; fields that it lacks have their defaults. The future
    /// is that of the response as JSON, or of the reason why there is none.
    ///
    /// # Errors
    /// [`Error::SerdeError`] for a value that does not describe a request, and
    /// [`Error::RCL_RET_CLIENT_INVALID`] once the node is destroyed.
    pub fn request(
        &self,
        msg: serde_json::Value,
    ) -> Result<impl Future<Output = Result<Result<serde_json::Value>>> + Unpin + use<>> {
        let request = (self.service.request.from_json)(msg)?;
        let to_json = self.service.response.to_json;
        self.inner.request(request, move |response| Ok::<_, Error>(to_json(response)))
    }
}

impl<T: WrappedServiceTypeSupport> IsAvailablePollable for Client<T> {
    fn register_poll_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        self.inner.when_available(sender)
    }
}

impl IsAvailablePollable for ClientUntyped {
    fn register_poll_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        self.inner.when_available(sender)
    }
}
