//! The forms that callbacks of services can have.
//!
//! A callback takes the request, alone, with its [`RequestId`] or with its [`ServiceInfo`]; one of
//! a worker may take the payload before it. All become an [`AnyServiceCallback`]. A type parameter
//! `Args` tells the forms apart.

use super::service_info::{RequestId, ServiceInfo};
use crate::app::LIBRARY;
use crate::log_error;
use crate::tasks::Tasks;
use ringspin::Responder;
use ringspin_adapter::Carried;
use ringspin_messages::cdr::CdrError;
use rosidl_runtime_rs::{Message, Service};
use std::convert::identity;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

/// A request for a callback.
pub(crate) struct Call<'a> {
    pub(super) request: &'a Carried,
    pub(super) info: ServiceInfo,
    pub(super) answer: Answer,
    /// The futures of the node.
    pub(super) tasks: &'a Tasks,
}

/// The answer to a request, to be sent; dropped without a response, it ends the call.
pub(crate) struct Answer {
    pub(super) responder: Responder<Carried>,
    pub(super) service: Arc<str>,
}

impl Answer {
    /// Sends the response. One that its definition does not allow is dropped, with an error in the
    /// log.
    fn send<M: Message>(self, response: M) {
        match Carried::checked(response) {
            Ok(response) => self.responder.respond(response),
            Err(error) => log_error!(LIBRARY, "{}: dropped a response: {error}", self.service),
        }
    }
}

/// A callback in any form.
pub struct AnyServiceCallback<T: Service, Payload: 'static + Send> {
    run: Run<Payload>,
    service: PhantomData<fn(T)>,
}

type Run<Payload> = Box<dyn FnMut(&mut Payload, Call<'_>) -> Result<(), CdrError> + Send>;

impl<T: Service, Payload: 'static + Send> AnyServiceCallback<T, Payload> {
    /// A callback that returns the response.
    fn at_once<F>(mut respond: F) -> Self
    where
        F: FnMut(&mut Payload, T::Request, ServiceInfo) -> T::Response + Send + 'static,
    {
        let run = move |payload: &mut Payload, call: Call<'_>| {
            let response = respond(payload, call.request.get()?, call.info);
            call.answer.send(response);
            Ok(())
        };
        Self { run: Box::new(run), service: PhantomData }
    }

    /// A callback that returns the future of the response.
    fn later<Fut>(mut respond: impl FnMut(T::Request, ServiceInfo) -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = T::Response> + Send + 'static,
    {
        let run = move |_: &mut Payload, call: Call<'_>| {
            let (response, answer) = (respond(call.request.get()?, call.info), call.answer);
            call.tasks.add(async move { answer.send(response.await) });
            Ok(())
        };
        Self { run: Box::new(run), service: PhantomData }
    }

    /// Calls it. A request that is not of its type is dropped, with an error in the log.
    pub(super) fn call(&mut self, payload: &mut Payload, call: Call<'_>) {
        let service = call.answer.service.clone();
        if let Err(error) = (self.run)(payload, call) {
            log_error!(LIBRARY, "{service}: dropped a request: {error}");
        }
    }
}

impl<T: Service, Payload: 'static + Send> fmt::Debug for AnyServiceCallback<T, Payload> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyServiceCallback").finish_non_exhaustive()
    }
}

/// A callback of a node: `Fn(Request) -> Response`, `Fn(Request, RequestId) -> Response` or
/// `Fn(Request, ServiceInfo) -> Response`.
pub trait IntoNodeServiceCallback<T: Service, Args>: Send + 'static {
    /// The callback, without its form.
    fn into_node_service_callback(self) -> AnyServiceCallback<T, ()>;
}

/// A callback of a node that returns the future of a response:
/// `FnMut(Request) -> impl Future<Output = Response>`, or one that takes a [`RequestId`] or a
/// [`ServiceInfo`] after the request. The futures of several requests run side by side.
pub trait IntoAsyncServiceCallback<T: Service, Args>: Send + 'static {
    /// The callback, without its form.
    fn into_async_service_callback(self) -> AnyServiceCallback<T, ()>;
}

/// A callback of a worker: `FnMut(Request) -> Response` or
/// `FnMut(&mut Payload, Request) -> Response`, or one of both that takes a [`RequestId`] or a
/// [`ServiceInfo`] after the request.
pub trait IntoWorkerServiceCallback<T: Service, Payload: 'static + Send, Args>:
    Send + 'static
{
    /// The callback, without its form.
    fn into_worker_service_callback(self) -> AnyServiceCallback<T, Payload>;
}

fn request_id(info: ServiceInfo) -> RequestId {
    info.request_id
}

/// Implements the traits for callbacks that take an argument after the request, or none. The first
/// two types stand for `Args`: without the payload, and with it.
macro_rules! take {
    ($args:ty, $args_with_payload:ty $(, $extra:ty, $of:path)?) => {
        impl<T: Service, F> IntoNodeServiceCallback<T, $args> for F
        where
            F: Fn(T::Request $(, $extra)?) -> T::Response + Send + Sync + 'static,
        {
            fn into_node_service_callback(self) -> AnyServiceCallback<T, ()> {
                AnyServiceCallback::at_once(move |_, request, _info| {
                    self(request $(, $of(_info))?)
                })
            }
        }

        impl<T: Service, F, Fut> IntoAsyncServiceCallback<T, $args> for F
        where
            F: FnMut(T::Request $(, $extra)?) -> Fut + Send + 'static,
            Fut: Future<Output = T::Response> + Send + 'static,
        {
            fn into_async_service_callback(mut self) -> AnyServiceCallback<T, ()> {
                AnyServiceCallback::later(move |request, _info| self(request $(, $of(_info))?))
            }
        }

        impl<T: Service, P: 'static + Send, F> IntoWorkerServiceCallback<T, P, $args> for F
        where
            F: FnMut(T::Request $(, $extra)?) -> T::Response + Send + 'static,
        {
            fn into_worker_service_callback(mut self) -> AnyServiceCallback<T, P> {
                AnyServiceCallback::at_once(move |_, request, _info| {
                    self(request $(, $of(_info))?)
                })
            }
        }

        impl<T: Service, P: 'static + Send, F> IntoWorkerServiceCallback<T, P, $args_with_payload>
            for F
        where
            F: FnMut(&mut P, T::Request $(, $extra)?) -> T::Response + Send + 'static,
        {
            fn into_worker_service_callback(mut self) -> AnyServiceCallback<T, P> {
                AnyServiceCallback::at_once(move |payload, request, _info| {
                    self(payload, request $(, $of(_info))?)
                })
            }
        }
    };
}

take!((), (P,));
take!(RequestId, (P, RequestId), RequestId, request_id);
take!(ServiceInfo, (P, ServiceInfo), ServiceInfo, identity);
