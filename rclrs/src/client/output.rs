//! The forms in which a call gives its response.

use crate::executor::Promise;
use crate::service::{RequestId, ServiceInfo};
use futures::channel::oneshot::{Sender, channel};
use rosidl_runtime_rs::Message;
use std::fmt;

/// The output of a call: the `Response`, `(Response, RequestId)` or `(Response, ServiceInfo)`.
pub trait ClientOutput<Response>: Sized + Send + 'static {
    /// A promise of the output, and its sender.
    fn create_channel() -> (AnyClientOutputSender<Response>, Promise<Self>);
}

impl<Response: Message> ClientOutput<Response> for Response {
    fn create_channel() -> (AnyClientOutputSender<Response>, Promise<Self>) {
        let (sender, promise) = channel();
        (AnyClientOutputSender::ResponseOnly(sender), promise)
    }
}

impl<Response: Message> ClientOutput<Response> for (Response, RequestId) {
    fn create_channel() -> (AnyClientOutputSender<Response>, Promise<Self>) {
        let (sender, promise) = channel();
        (AnyClientOutputSender::WithId(sender), promise)
    }
}

impl<Response: Message> ClientOutput<Response> for (Response, ServiceInfo) {
    fn create_channel() -> (AnyClientOutputSender<Response>, Promise<Self>) {
        let (sender, promise) = channel();
        (AnyClientOutputSender::WithServiceInfo(sender), promise)
    }
}

/// The sender of an output of any form.
pub enum AnyClientOutputSender<Response> {
    /// For the response alone.
    ResponseOnly(Sender<Response>),
    /// For the response and the identifier of the request.
    WithId(Sender<(Response, RequestId)>),
    /// For the response and the information about it.
    WithServiceInfo(Sender<(Response, ServiceInfo)>),
}

impl<Response> AnyClientOutputSender<Response> {
    /// Sends the output; `info` is called where it is part of it.
    pub(super) fn send(self, response: Response, info: impl FnOnce() -> ServiceInfo) {
        // After the drop of the promise its output is not wanted.
        match self {
            Self::ResponseOnly(sender) => drop(sender.send(response)),
            Self::WithId(sender) => drop(sender.send((response, info().request_id))),
            Self::WithServiceInfo(sender) => drop(sender.send((response, info()))),
        }
    }
}

impl<Response> fmt::Debug for AnyClientOutputSender<Response> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyClientOutputSender").finish_non_exhaustive()
    }
}
