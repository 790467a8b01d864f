//! The client of a service.
//!
//! A thread that calls claims a place in the table of unanswered [calls], and stores the closure of
//! the call there before the request is sent, so that no response comes earlier. The event loop of
//! the client takes the closure by the ticket that the response carries, and calls it with the
//! state. Timeouts, a waiting thread that gives up, and the end of the client take it in the same
//! way: one of them gets it, so a call ends once, and a late response finds nothing. A map of calls
//! behind a lock would let a thread of high priority wait for one that was suspended inside.

use super::beyond::{RemoteResponses, send_request};
use super::call::Futures;
use super::calls::{self, Calls, Notes};
use super::then::{Spares, Then};
use super::{
    CALL_BY_VALUE_MAX, CallError, CallFuture, CallRefused, Reply, ReplyTo, Request, Requests,
    Response,
};
use crate::base::departure::{Departure, End};
use crate::base::error::Result;
use crate::base::escape::drop_each;
use crate::base::event::{EventId, SourceId};
use crate::base::info::ClientInfo;
use crate::base::observed;
use crate::base::qos::QoS;
use crate::base::stop;
use crate::base::time::{Clock, NodeClock, Time};
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::remote::{Remote, RemoteNotifier};
use crate::delivery::timer::Timer;
use crate::delivery::topic::{MessageCheck, Remains, SubscriptionReceiver, Topic, Unsent};
use crate::features::message_checks::is_valid;
use crate::features::middleware::{RemoteClient, ServiceTypes};
use crate::running::event_loop::{CallbackResult, Entity, Outcome};
use crate::running::graph::{CallbackSpec, EventSource, Receives, check_depth, check_size};
use crate::running::node::Node;
use ringspin_ringbuf::Counter;
use ringspin_ringbuf::table::{Claim, Ticket};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Calls a service; from any thread, and cheap to clone.
///
/// A call is lock-free within the process: a thread that is suspended in one delays only that call.
///
/// It ends with its last clone, once its calls have ended: [`call`](Self::call) may be the last use
/// of the last clone. A server that never answers keeps it, unless the call has a
/// [timeout](Self::with_timeout).
///
/// `S` is the state of the callback group that created it: the ends of its calls are events of that
/// group.
pub struct Client<S, Q, P> {
    shared: Arc<Shared<S, Q, P>>,
    timeout: Option<Duration>,
    /// Ends the client.
    departure: Arc<Departure>,
}

impl<S, Q, P> Clone for Client<S, Q, P> {
    fn clone(&self) -> Self {
        let Self { shared, timeout, departure } = self;
        Self { shared: shared.clone(), timeout: *timeout, departure: departure.clone() }
    }
}

impl<S, Q, P> fmt::Debug for Client<S, Q, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("service", &self.shared.requests.name)
            .finish_non_exhaustive()
    }
}

pub(super) struct Shared<S, Q, P> {
    requests: Requests<Q, P>,
    check: Option<MessageCheck>,
    /// The client beyond the process, for services that no node of the process offers, and the
    /// notifier that makes the event loop check the calls that have left the process.
    remote: Option<(Arc<dyn RemoteClient>, RemoteNotifier)>,
    responses: Arc<Topic<Response<P>>>,
    request_source: SourceId,
    response_source: SourceId,
    sequence: Counter,
    calls: Calls<S, P>,
    spares: Spares<S, P>,
    futures: Futures<P>,
    /// Due when the first call times out; keeps earlier deadlines.
    timer: Timer,
    clock: NodeClock,
}

impl<S, Q, P> Shared<S, Q, P> {
    pub(super) fn calls(&self) -> &Calls<S, P> {
        &self.calls
    }

    /// Drops the ends of all calls, and refuses further ones.
    fn stop(&self) {
        drop_each(self.calls.stop());
    }
}

impl<S, Q, P> Client<S, Q, P>
where
    S: Send + 'static,
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    /// The same client, with calls that end with [`CallError::TimedOut`] when there is no response
    /// within `timeout` of the executor's time.
    ///
    /// A call to another process also ends when its server ends ([`CallError::ServerLost`]); only a
    /// timeout detects a server that runs and does not answer.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The service's fully qualified name.
    pub fn service(&self) -> &str {
        &self.shared.requests.name
    }

    /// Whether any node offers the service, in the process or beyond it. False for servers in the
    /// process while the graph is being built: calls are refused then.
    pub fn service_is_ready(&self) -> bool {
        let shared = &*self.shared;
        shared.requests.is_subscribed()
            || shared.remote.as_ref().is_some_and(|(remote, _)| is_available(remote))
    }

    /// Sends `request`, and calls `then` with the response, or with the reason why there is none,
    /// as an event of the client's callback group. In the steady state nothing is allocated: `then`
    /// gets the box of an earlier one of its type.
    ///
    /// # Errors
    /// [`CallRefused`] hands the request back; `then` is not called.
    pub fn call<F, R>(&self, request: Q, then: F) -> Result<(), CallRefused<Q>>
    where
        F: FnOnce(&mut S, Result<Reply<P>, CallError>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        let end = |state: &mut S, reply: Result<_, _>, cx: &mut Context<'_>| {
            then(state, reply, cx).into_result()
        };
        self.send(request, || self.shared.spares.boxed(end, &self.departure))?;
        Ok(())
    }

    /// Sends `request` now, and returns the future of its response, to be awaited in a
    /// [task](Node::spawn). In the steady state nothing is allocated.
    pub fn call_async(&self, request: Q) -> CallFuture<P> {
        self.start(request).map_or_else(CallFuture::refused, |(future, _)| future)
    }

    /// Sends `request`; returns the future of its response.
    fn start(&self, request: Q) -> Result<(CallFuture<P>, Ticket), CallError> {
        let pending = self.shared.futures.pending();
        let (future, completer) = pending.ok_or(CallError::TooManyReplies)?;
        let end = |_: &mut S, reply: Result<_, _>, _: &mut Context<'_>| {
            completer.complete(reply);
            Ok(())
        };
        let sent = self.send(request, || self.shared.spares.boxed(end, &self.departure));
        sent.map(|ticket| (future, ticket)).map_err(|refused| refused.reason)
    }

    /// Sends `request` and waits for the response, `timeout` of real time at most: for threads
    /// outside of the executor.
    ///
    /// # Errors
    /// [`CallError`]; in a callback or task always [`CallError::WouldBlock`].
    pub fn call_and_wait(&self, request: Q, timeout: Duration) -> Result<Reply<P>, CallError> {
        if stop::is_current() {
            return Err(CallError::WouldBlock);
        }
        let (mut future, ticket) = self.start(request)?;
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = std::task::Context::from_waker(&waker);
        let start = Instant::now();
        loop {
            if let Poll::Ready(reply) = Pin::new(&mut future).poll(&mut cx) {
                return reply;
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                // Its place is free for another call; a response that comes late is dropped.
                drop(self.shared.calls.end(ticket));
                return Err(CallError::TimedOut);
            }
            thread::park_timeout(left);
        }
    }

    /// Sends `request`; `then` ends the call.
    fn send(
        &self,
        request: Q,
        then: impl FnOnce() -> Then<S, P>,
    ) -> Result<Ticket, CallRefused<Q>> {
        let shared = &*self.shared;
        if !is_valid(shared.check, &request, format_args!("a request of {}", self.service())) {
            return Err(CallRefused { request, reason: CallError::Invalid });
        }
        let deadline = self.timeout.map(|timeout| shared.clock.departure() + timeout);
        let ticket = match &shared.remote {
            Some(remote) if shared.requests.is_deserted() => {
                shared.send_beyond(remote, request, deadline, then)
            }
            _ => shared.send_within(request, deadline, then),
        }?;
        if let Some(deadline) = deadline {
            shared.timer.start_by(deadline);
        }
        Ok(ticket)
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<S, Q, P> Shared<S, Q, P>
where
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    fn claim(&self) -> Result<Claim<'_, Then<S, P>, Notes>, CallError> {
        match self.calls.claim() {
            Err(CallError::ClientStopped) => Err(CallError::ClientStopped),
            _ if self.responses.is_used_up() => Err(CallError::TooManyReplies),
            claim => claim,
        }
    }

    fn send_within(
        &self,
        request: Q,
        deadline: Option<Time>,
        then: impl FnOnce() -> Then<S, P>,
    ) -> Result<Ticket, CallRefused<Q>> {
        let refused = |request, reason| Err(CallRefused { request, reason });
        let claim = self.claim();
        let claim = claim.and_then(|claim| self.calls.expect_response().map(|()| claim));
        let claim = match claim {
            Ok(claim) => claim,
            Err(reason) => return refused(request, reason),
        };
        let ticket = claim.ticket();
        let id = EventId { source: self.response_source, sequence: 0 };
        let reply_to = ReplyTo::Client { responses: self.responses.clone(), id, call: ticket };
        let prepare = |request: &mut Request<Q, P>| {
            let sequence = self.sequence.next();
            if let ReplyTo::Client { id, .. } = &mut request.reply_to {
                id.sequence = sequence;
            }
            calls::open(claim, then(), deadline, false);
            EventId { source: self.request_source, sequence }
        };
        let (why, request) =
            match self.requests.send_after(Request { body: request, reply_to }, prepare) {
                Ok(()) => return Ok(ticket),
                Err(unsent) => unsent,
            };
        self.calls.response_taken();
        let reason = match why {
            Unsent::NotFrozen => CallError::NotFrozen,
            Unsent::NoReceiver => CallError::NoService,
            Unsent::Full => CallError::ServiceFull,
            Unsent::Gone => CallError::ClientStopped,
        };
        refused(request.body, reason)
    }

    fn send_beyond(
        &self,
        remote: &(Arc<dyn RemoteClient>, RemoteNotifier),
        request: Q,
        deadline: Option<Time>,
        then: impl FnOnce() -> Then<S, P>,
    ) -> Result<Ticket, CallRefused<Q>> {
        let refused = |request, reason| Err(CallRefused { request, reason });
        let claim = match self.claim() {
            Ok(claim) => claim,
            Err(reason) => return refused(request, reason),
        };
        if !is_available(&remote.0) {
            return refused(request, CallError::NoService);
        }
        let ticket = claim.ticket();
        calls::open(claim, then(), deadline, true);
        send_request(remote, request, &self.calls, ticket).map(|()| ticket)
    }
}

/// Whether a service has a server outside of the process; also in a record.
fn is_available(remote: &Arc<dyn RemoteClient>) -> bool {
    observed::reading(|| remote.is_available().into()) != 0
}

/// The port for responses; the other one is for timeouts.
const RESPONSES: usize = 0;

struct ClientEntity<S, Q, P> {
    receiver: SubscriptionReceiver<Response<P>>,
    shared: Stopping<S, Q, P>,
    timeout_source: SourceId,
    timeouts: u64,
}

impl<S, Q, P> ClientEntity<S, Q, P>
where
    S: 'static,
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    fn respond(&mut self, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(response) = self.receiver.take_next_to_keep(cx) else {
            return Outcome::Nothing;
        };
        let then = self.end_of(&response);
        cx.begin_with(&response);
        // Without it, the call has timed out, and this is late.
        match then {
            Some(then) => self.end(then, state, Reply::of(response), cx),
            None => Outcome::Done,
        }
    }

    /// Ends the call of a response that was taken.
    fn end_of(&self, response: &Response<P>) -> Option<Then<S, P>> {
        if response.was_queued {
            self.shared.0.calls.response_taken();
        }
        self.shared.0.calls.end(response.call)
    }

    fn end(
        &self,
        mut then: Then<S, P>,
        state: &mut S,
        reply: Result<Reply<P>, CallError>,
        cx: &mut Context<'_>,
    ) -> Outcome {
        let result = then.end(state, reply, cx);
        self.shared.0.spares.put_back(then);
        Outcome::from(result)
    }

    /// Ends one call that has timed out. The timer is then due for the next one, if need be at
    /// once, so that a failing callback affects no other call.
    fn time_out(&mut self, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let calls = &self.shared.0.calls;
        let due = calls.next_timeout().filter(|(deadline, _)| *deadline <= cx.now());
        let then = due.and_then(|(_, ticket)| calls.end(ticket));
        if let Some((deadline, _)) = calls.next_timeout() {
            self.shared.0.timer.start_by(deadline);
        }
        let Some(then) = then else {
            return Outcome::Nothing;
        };
        cx.begin(EventId { source: self.timeout_source, sequence: self.timeouts });
        self.timeouts += 1;
        self.end(then, state, Err(CallError::TimedOut), cx)
    }
}

impl<S, Q, P> Entity<S> for ClientEntity<S, Q, P>
where
    S: Send + 'static,
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    fn dispatch(&mut self, port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        match port {
            RESPONSES => self.respond(state, cx),
            _ => self.time_out(state, cx),
        }
    }

    fn discard(&mut self, port: usize) -> Option<EventId> {
        if port != RESPONSES {
            return Some(EventId::NONE);
        }
        let response = self.receiver.take()?;
        drop(self.end_of(&response));
        Some(response.id())
    }

    fn pending(&self, port: usize) -> usize {
        if port == RESPONSES { self.receiver.pending() } else { 0 }
    }

    fn retire(&mut self) {
        self.shared.0.stop();
    }

    /// Without the shared part: its client beyond the process announces the token that the remains
    /// wait for.
    fn remains(mut self: Box<Self>) -> Option<Box<dyn Remains>> {
        self.receiver.detach();
        Some(Box::new(Unread(self.receiver)))
    }
}

/// The responses that still arrive for a client that was destroyed.
struct Unread<P>(SubscriptionReceiver<Response<P>>);

impl<P: Send + Sync + 'static> Remains for Unread<P> {
    fn drain(&mut self, port: usize) -> u64 {
        if port == RESPONSES { self.0.drain_with(|_| ()) } else { 0 }
    }
}

/// Stops the client when its event loop ends: handles may outlive the executor; after that no
/// responses arrive.
struct Stopping<S, Q, P>(Arc<Shared<S, Q, P>>);

impl<S, Q, P> Drop for Stopping<S, Q, P> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl<S, Q, P> Client<S, Q, P>
where
    S: Send + 'static,
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    pub(crate) fn create(node: &Node<S>, name: &str, qos: QoS) -> Result<Self>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
    {
        let service = node.resolve_service_name(name)?;
        check_depth::<Response<P>>(&service, qos)?;
        let name = format!("client {service}");
        check_size::<Q>(node.full_name(), &name, CALL_BY_VALUE_MAX)?;
        check_size::<P>(node.full_name(), &name, CALL_BY_VALUE_MAX)?;
        let timeout_name = format!("{name} timeout");
        let mut builder = node.builder(&name)?;
        let event_loop = node.event_loop();
        builder.check_room(event_loop, &service, qos.depth(), 0)?;
        let (requests, _) = builder.service::<Q, P>(&service, node.full_name())?;
        let beyond =
            builder.receive_remotely(node.handle.node_index, &name, |node, notifier| {
                node.call(&service, ServiceTypes::of::<Q, P>(), qos.all_kept(), notifier)
            })?;
        let responses = builder.private_topic::<Response<P>>(&name);
        let owner = node.full_name();
        let number = builder.add_queue(format!("{name} of {owner}"), responses.clone());
        let timer = node.handle.new_idle_timer(&builder, &timeout_name); // until there is a call
        timer.keep_earlier();
        let target = builder.next_target(event_loop);
        let counters = Arc::<CallbackCounters>::default();
        let qos = QoS::keep_all(qos.depth()).held(qos.held_max());
        let shared = Arc::new(Shared {
            requests,
            check: builder.message_check::<Q>(),
            remote: beyond.clone(),
            responses,
            request_source: builder.next_source(),
            response_source: builder.next_source(),
            sequence: Counter::default(),
            calls: Calls::new(qos.depth()),
            spares: Spares::new(qos.depth()),
            futures: Futures::new(qos.depth()),
            timer,
            clock: builder.clock.clone(),
        });
        let timeout_source = builder.next_source();
        // A response takes the way of its request, so none from the process comes from here.
        let remote = beyond.map(|(remote, notifier)| {
            let responses = RemoteResponses::new(&service, Arc::downgrade(&shared), remote);
            Remote::new(&service, builder.next_source(), Box::new(responses), notifier)
        });
        let source = EventSource::queue(qos.depth(), remote.as_ref());
        let spec = CallbackSpec::new(target, source, counters.clone());
        let id = builder.add_callback(event_loop, name, spec);
        let receives = Receives::Responses(shared.responses.clone(), service.clone(), number);
        builder.set_receives(id, receives);
        let timeout_target = target.port(1);
        let timeout_spec = CallbackSpec::of_timer(timeout_target, &shared.timer);
        builder.add_callback(event_loop, timeout_name, timeout_spec);
        let receiver = shared.responses.subscribe((id, qos), 0, counters, remote, None);
        let client = ClientInfo {
            callback: id,
            requests: shared.request_source,
            responses: shared.response_source,
        };
        builder.service::<Q, P>(&service, node.full_name())?.1.clients.push(client);
        let stopping = Stopping(shared.clone());
        let entity = ClientEntity { receiver, shared: stopping, timeout_source, timeouts: 0 };
        builder.add_entity::<S>(event_loop, Box::new(entity));
        let departure = Arc::new(node.handle.graph.departure(&builder, End::Entity(id)));
        Ok(Client { shared, timeout: None, departure })
    }
}
