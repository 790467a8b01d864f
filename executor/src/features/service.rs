//! Services: requests and their responses, as events of the loops that handle them.
//!
//! A service's requests wait in a queue of its server, the responses to a client in a queue of that
//! client; both are the queues of [subscriptions](crate::delivery::topic) that keep everything. A
//! call keeps a place in the queue of responses until its response is taken, so that queue cannot
//! overflow. Every request is answered: if its responder is dropped, that is the answer.

mod beyond;
mod call;
mod calls;
mod client;
mod server;
mod then;

pub use call::{CallError, CallFuture, CallRefused, Reply};
pub use client::Client;
pub use server::{Responder, Service};

use crate::base::error::Result;
use crate::base::event::EventId;
use crate::base::info::ServiceInfo;
use crate::delivery::topic::{Topic, Unsent};
use crate::features::middleware::RemoteResponder;
use crate::running::graph::{GraphBuilder, ServiceSpec, type_mismatch};
use ringspin_ringbuf::table::Ticket;
use std::any::type_name;
use std::sync::Arc;

/// The largest request or response, in bytes: both are moved more often than a
/// [message](crate::BY_VALUE_MAX), also in an error that hands the request back.
pub const CALL_BY_VALUE_MAX: usize = 16 << 10;

/// A client's request on its way to the server.
pub(crate) struct Request<Q, P> {
    body: Q,
    reply_to: ReplyTo<P>,
}

/// The queue of a service's requests.
type Requests<Q, P> = Arc<Topic<Request<Q, P>>>;

/// A server's response on its way to the client.
pub(crate) struct Response<P> {
    call: Ticket,
    /// Whether it was in the queue of the process.
    was_queued: bool,
    result: Result<P, CallError>,
}

impl<P> Response<P> {
    fn from_beyond(call: Ticket, result: Result<P, CallError>) -> Self {
        Self { call, was_queued: false, result }
    }
}

/// The destination of the response to a call.
enum ReplyTo<P> {
    /// A client of the graph.
    Client {
        responses: Arc<Topic<Response<P>>>,
        /// The identity of the response.
        id: EventId,
        /// The call, at its client.
        call: Ticket,
    },
    /// A client in another process.
    Remote(Arc<dyn RemoteResponder>),
}

impl<P: Send + Sync + 'static> ReplyTo<P> {
    fn send(&self, result: Result<P, CallError>) {
        match self {
            Self::Client { responses, id, call } => {
                let response = Response { call: *call, was_queued: true, result };
                match responses.send(*id, response) {
                    // The calls ended with the client, or with the executor.
                    Ok(()) | Err((Unsent::NoReceiver | Unsent::Gone, _)) => {}
                    Err((why, _)) => {
                        unreachable!("a place is kept for each response: {why:?}");
                    }
                }
            }
            Self::Remote(responder) => beyond::send_response(&**responder, result),
        }
    }
}

impl<P> Clone for ReplyTo<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Client { responses, id, call } => {
                Self::Client { responses: responses.clone(), id: *id, call: *call }
            }
            Self::Remote(responder) => Self::Remote(responder.clone()),
        }
    }
}

impl GraphBuilder {
    /// Returns the requests of service `name`, and creates them at its first use.
    fn service<Q, P>(
        &mut self,
        name: &str,
        node: &str,
    ) -> Result<(Requests<Q, P>, &mut ServiceInfo)>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
    {
        if self.service_spec(name).is_none() {
            let requests = self.private_topic::<Request<Q, P>>(name);
            let number = self.add_queue(format!("service {name}"), requests.clone());
            let info = ServiceInfo {
                name: name.into(),
                request_type: type_name::<Q>(),
                response_type: type_name::<P>(),
                server: None,
                clients: Vec::new(),
            };
            let (established_by, requests) = (node.into(), Box::new(requests));
            self.add_service(ServiceSpec { established_by, info, requests, number });
        }
        let spec = self.service_spec(name).expect("the service was just created");
        // Each pair of types has its type of queue.
        let Some(requests) = spec.requests.downcast_ref::<Requests<Q, P>>().cloned() else {
            let established = format!("{} -> {}", spec.info.request_type, spec.info.response_type);
            let requested = format!("{} -> {}", type_name::<Q>(), type_name::<P>());
            let by = (&*spec.established_by, &*established);
            return Err(type_mismatch(("service", name), (node, &requested), by));
        };
        Ok((requests, self.service_info(name)))
    }
}
