//! The server of a service.
//!
//! Threads that call push requests into the queue of the server, which refuses them when it is
//! full; the event loop of the server takes one for each event. The callback answers through a
//! [`Responder`], at once, or later and from any thread. The responder is used up by a response,
//! and its drop sends [`Unanswered`](CallError::Unanswered), so each request that a callback got
//! has one response, also after a panic. The worker answers requests of an isolated node or a
//! destroyed server. If a callback could only return its response, one that asks another server
//! would have to block its loop.

use super::beyond::RemoteRequests;
use super::{CALL_BY_VALUE_MAX, CallError, ReplyTo, Request};
use crate::base::departure::Registration;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::CallbackId;
use crate::base::event::EventId;
use crate::base::name::NameKind;
use crate::base::qos::QoS;
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::remote::Remote;
use crate::delivery::topic::{MessageCheck, Remains, SubscriptionReceiver};
use crate::features::message_checks::is_valid;
use crate::features::middleware::ServiceTypes;
use crate::running::event_loop::{CallbackResult, Entity, Outcome};
use crate::running::graph::{
    Builder, CallbackSpec, EventSource, Receives, check_depth, check_size,
};
use crate::running::node::{Node, NodeHandle};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Sends the response to one request, now or later, from any thread; dropping it ends the call with
/// an error.
pub struct Responder<P: Send + Sync + 'static> {
    reply_to: Option<ReplyTo<P>>,
    check: Option<MessageCheck>,
}

impl<P: Send + Sync + 'static> Responder<P> {
    /// Sends `response` to the caller. Lock-free. One that violates the definition of its type is
    /// logged, and the call ends with [`CallError::Invalid`].
    pub fn respond(mut self, response: P) {
        let Some(reply_to) = self.reply_to.take() else { return };
        let is_valid = is_valid(self.check, &response, format_args!("a response"));
        reply_to.send(if is_valid { Ok(response) } else { Err(CallError::Invalid) });
    }
}

impl<P: Send + Sync + 'static> Drop for Responder<P> {
    fn drop(&mut self) {
        if let Some(reply_to) = self.reply_to.take() {
            reply_to.send(Err(CallError::Unanswered));
        }
    }
}

impl<P: Send + Sync + 'static> fmt::Debug for Responder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = match &self.reply_to {
            Some(ReplyTo::Client { id, .. }) => Some(id),
            _ => None,
        };
        f.debug_struct("Responder").field("response", &id).finish()
    }
}

struct ServiceEntity<Q, P, F, R> {
    receiver: SubscriptionReceiver<Request<Q, P>>,
    /// `None` once it is retired.
    callback: Option<F>,
    /// The check of responses.
    check: Option<MessageCheck>,
    result: PhantomData<fn() -> R>,
}

impl<S, Q, P, F, R> Entity<S> for ServiceEntity<Q, P, F, R>
where
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
    F: FnMut(&mut S, &Q, Responder<P>, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let (Some(callback), Some(request)) = (&mut self.callback, self.receiver.take_next(cx))
        else {
            return Outcome::Nothing;
        };
        cx.begin_with(&request);
        let responder = Responder { reply_to: Some(request.reply_to.clone()), check: self.check };
        Outcome::from(callback(state, &request.body, responder, cx).into_result())
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        let request = self.receiver.take_unheld()?;
        request.reply_to.send(Err(CallError::ServiceStopped));
        Some(request.id())
    }

    fn retire(&mut self) {
        self.callback = None;
    }

    fn pending(&self, _port: usize) -> usize {
        self.receiver.pending()
    }

    fn remains(mut self: Box<Self>) -> Option<Box<dyn Remains>> {
        self.receiver.detach();
        Some(Box::new(Unanswered(self.receiver)))
    }
}

struct Unanswered<Q, P>(SubscriptionReceiver<Request<Q, P>>);

impl<Q, P> Remains for Unanswered<Q, P>
where
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    fn drain(&mut self, _port: usize) -> u64 {
        self.0.drain_with(|request| request.reply_to.send(Err(CallError::Unanswered)))
    }
}

/// A server of a service. It belongs to its node: dropping this handle, or all clones of it,
/// changes nothing.
#[derive(Clone, Debug)]
pub struct Service(Arc<Registered>);

#[derive(Debug)]
struct Registered {
    name: String,
    callback: CallbackId,
    registration: Registration,
}

impl Service {
    /// The service's fully qualified name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn callback(&self) -> CallbackId {
        self.0.callback
    }

    /// Ends the server, so that another one can be created: requests that wait for it end with an
    /// error, and so do further ones. Its callback is dropped at the next pause of its event loop,
    /// a call that runs finishes. From any thread, and in its own callback. Further calls have no
    /// effect.
    pub fn destroy(&self) {
        self.0.registration.destroy();
    }
}

type NewService<'a, Q, P> = (Builder<'a>, Service, SubscriptionReceiver<Request<Q, P>>);

impl NodeHandle {
    /// Adds a server to the graph, which stays locked, without its entity.
    fn offer_service<Q, P>(&self, name: &str, qos: QoS) -> Result<NewService<'_, Q, P>>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
    {
        let service = self.resolve(NameKind::Service, name)?;
        check_depth::<Request<Q, P>>(&service, qos)?;
        let name = format!("service {service}");
        check_size::<Q>(&self.full_name, &name, CALL_BY_VALUE_MAX)?;
        check_size::<P>(&self.full_name, &name, CALL_BY_VALUE_MAX)?;
        let mut builder = self.builder(&name)?;
        builder.check_room(self.event_loop, &service, qos.depth(), 0)?;
        let (requests, info) = builder.service::<Q, P>(&service, &self.full_name)?;
        if let Some(server) = info.server {
            let by = builder.info().loop_of(server).node.clone();
            let node = &*self.full_name;
            let text = format!(
                "failed to offer service {service} in node {node}: node {by} offers it; use \
                 another name"
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text).in_node(node).on_topic(service));
        }
        let remote = builder.receive_remotely(self.node_index, &name, |node, notifier| {
            node.serve(&service, ServiceTypes::of::<Q, P>(), qos, notifier)
        })?;
        let remote = remote.map(|(server, notifier)| {
            let requests = RemoteRequests::new(&service, qos.depth(), server);
            let source = builder.next_source();
            let remote = Remote::new(&service, source, Box::new(requests), notifier);
            let mut remote = remote.keeping(qos);
            remote.is_exclusive = builder.goes_through_middleware();
            remote
        });
        let counters = Arc::<CallbackCounters>::default();
        // Requests are never kept: the server gets a reference.
        let qos = QoS::keep_all(qos.depth()).held(0);
        let spec = CallbackSpec::new(
            builder.next_target(self.event_loop),
            EventSource::queue(qos.depth(), remote.as_ref()),
            counters.clone(),
        );
        let id = builder.add_callback(self.event_loop, name, spec);
        let receives = Receives::Service(requests.clone(), service.clone());
        builder.set_receives(id, receives);
        builder.service::<Q, P>(&service, &self.full_name)?.1.server = Some(id);
        let receiver = requests.subscribe((id, qos), 0, counters, remote, None);
        let registration = self.graph.registration(id);
        let service = Service(Arc::new(Registered { name: service, callback: id, registration }));
        Ok((builder, service, receiver))
    }
}

impl Service {
    pub(crate) fn create<S, Q, P, F, R>(
        node: &Node<S>,
        name: &str,
        qos: QoS,
        callback: F,
    ) -> Result<Self>
    where
        S: Send + 'static,
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
        F: FnMut(&mut S, &Q, Responder<P>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let (mut builder, service, receiver) = node.handle.offer_service(name, qos)?;
        let (callback, check) = (Some(callback), builder.message_check::<P>());
        let entity = ServiceEntity { receiver, callback, check, result: PhantomData };
        builder.add_entity::<S>(node.event_loop(), Box::new(entity));
        Ok(service)
    }
}
