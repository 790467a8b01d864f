//! The end of a service that asks.

use super::beyond::{RemoteResponses, send_request};
use super::call::Futures;
use super::calls::{Call, Calls};
use super::then::{Spares, Then};
use super::{
    CALL_BY_VALUE_MAX, CallError, CallFuture, CallRefused, Reply, ReplyTo, Request, Requests,
    Response,
};
use crate::context::Context;
use crate::control::CallbackCounters;
use crate::event::{EventId, SourceId};
use crate::event_loop::{CallbackResult, Entity, Outcome};
use crate::graph::{CallbackSpec, CreateError, EventSource, check_depth, check_size};
use crate::info::ClientInfo;
use crate::lock::{lock, try_lock};
use crate::message::Message;
use crate::middleware::{RemoteClient, Sent};
use crate::node::Node;
use crate::qos::QoS;
use crate::stop;
use crate::time::{Clock, NodeClock};
use crate::timer::Timer;
use crate::topic::{SubscriptionReceiver, Topic, Unsent};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::Duration;

/// Calls a service; from any thread, and cheap to clone.
///
/// Calls by clones of one client wait for each other for a moment. The client's event loop does not
/// wait for a thread that is suspended in a call: until that goes on, the responses of this client
/// wait, and nothing else does.
///
/// `S` is the state of the callback group that created it: there, the ends of its calls are events.
pub struct Client<S, Q, P> {
    shared: Arc<Shared<S, Q, P>>,
    timeout: Option<Duration>,
}

impl<S, Q, P> Clone for Client<S, Q, P> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), timeout: self.timeout }
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
    /// For services that nobody in the process offers.
    remote: Option<Arc<dyn RemoteClient>>,
    responses: Arc<Topic<Response<P>>>,
    request_source: SourceId,
    response_source: SourceId,
    calls: Mutex<Calls<S, P>>,
    spares: Spares<S, P>,
    futures: Futures<P>,
    /// Due when the first call times out.
    timer: Timer,
    clock: NodeClock,
}

impl<S, Q, P> Shared<S, Q, P> {
    /// Nobody waits any more for the response to the call that left the process under this number:
    /// it may never come.
    fn abandon(&self, number: i64) {
        let mut calls = self.calls();
        let then = calls.beyond.get(&number).copied().and_then(|slot| calls.end(slot));
        drop(calls);
        drop(then);
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, Calls<S, P>> {
        lock(&self.calls)
    }

    /// Lets go of the ends of all calls, and refuses further ones.
    fn stop(&self) {
        let mut calls = self.calls();
        calls.stopped = true;
        let ends: Vec<_> = calls.slots.iter_mut().flatten().map(|call| call.then.take()).collect();
        drop(calls);
        drop(ends); // the user's, so not under the lock
    }
}

impl<S, Q, P> Shared<S, Q, P>
where
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    /// Sends the request of the call in `slot`, to a server in the process if there is one. Returns
    /// the identity of the call if it left the process.
    fn send(&self, request: Q, slot: usize, sequence: u64) -> Result<Option<Sent>, CallRefused<Q>> {
        if let Some(remote) = &self.remote
            && self.requests.is_deserted()
        {
            return send_request(&**remote, request).map(Some);
        }
        let id = |source| EventId { source, sequence };
        let (responses, id_of_response) = (self.responses.clone(), id(self.response_source));
        let reply_to = ReplyTo::Client { responses, id: id_of_response, slot };
        let request = Request { body: request, reply_to };
        match self.requests.send(id(self.request_source), request) {
            Ok(()) => Ok(None),
            Err((why, request)) => {
                let reason = match why {
                    Unsent::NotFrozen => CallError::NotFrozen,
                    Unsent::NobodyThere => CallError::NoService,
                    Unsent::Full => CallError::ServiceFull,
                    Unsent::Gone => CallError::ClientStopped,
                };
                Err(CallRefused { request: request.body, reason })
            }
        }
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
    /// A call to another process also ends when its server is gone
    /// ([`CallError::ServerLost`]); that a server is there and does not answer, only a timeout
    /// tells.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The service's fully qualified name.
    pub fn service(&self) -> &str {
        &self.shared.requests.name
    }

    /// Whether any node offers the service, in the process or beyond it; in the process nobody does
    /// while the graph is being built, when calls are refused.
    pub fn service_is_ready(&self) -> bool {
        let shared = &*self.shared;
        shared.requests.is_subscribed()
            || shared.remote.as_ref().is_some_and(|remote| remote.is_available())
    }

    /// Sends `request`, and has `then` called with the response, or with why there is none, as an
    /// event of the client's callback group. In the steady state nothing is allocated: `then` gets
    /// the box of an earlier one of its type.
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
        self.send(request, || self.shared.spares.boxed(end))?;
        Ok(())
    }

    /// Sends `request` now, and returns the future of its response, to be awaited in a
    /// [task](Node::spawn). In the steady state nothing is allocated.
    pub fn call_async(&self, request: Q) -> CallFuture<P> {
        let Some((future, completer)) = self.shared.futures.pending() else {
            return CallFuture::ended(Err(CallError::TooManyReplies));
        };
        let end = |_: &mut S, reply: Result<_, _>, _: &mut Context<'_>| {
            completer.complete(reply);
            Ok(())
        };
        match self.send(request, || self.shared.spares.boxed(end)) {
            Ok(_) => future,
            Err(refused) => CallFuture::ended(Err(refused.reason)),
        }
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
        let (sender, receiver) = mpsc::sync_channel(1);
        let end = move |_: &mut S, reply: Result<_, _>, _: &mut Context<'_>| {
            let _ = sender.send(reply); // the caller may have stopped to wait
            Ok(())
        };
        let sent = self.send(request, || self.shared.spares.boxed(end));
        let beyond = sent.map_err(|refused| refused.reason)?;
        receiver.recv_timeout(timeout).unwrap_or_else(|error| {
            if let Some(sent) = beyond {
                self.shared.abandon(sent.number);
            }
            Err(match error {
                mpsc::RecvTimeoutError::Timeout => CallError::TimedOut,
                mpsc::RecvTimeoutError::Disconnected => CallError::ClientStopped,
            })
        })
    }

    /// Returns the identity of the call if it left the process.
    fn send(
        &self,
        request: Q,
        then: impl FnOnce() -> Then<S, P>,
    ) -> Result<Option<Sent>, CallRefused<Q>> {
        let shared = &*self.shared;
        // Held until the request is in its queue: so calls are numbered in the order of the queue.
        let mut calls = shared.calls();
        if calls.stopped {
            return Err(CallRefused { request, reason: CallError::ClientStopped });
        }
        if shared.responses.is_used_up() {
            return Err(CallRefused { request, reason: CallError::TooManyReplies });
        }
        let Some(&slot) = calls.free.last() else {
            return Err(CallRefused { request, reason: CallError::TooManyCalls });
        };
        let beyond = shared.send(request, slot, calls.made)?;
        calls.free.pop();
        calls.made += 1;
        if let Some(sent) = beyond {
            calls.beyond.insert(sent.number, slot);
        }
        let deadline = self.timeout.map(|timeout| shared.clock.departure() + timeout);
        calls.slots[slot] = Some(Call { then: Some(then()), deadline, beyond });
        if let Some(deadline) = deadline {
            calls.deadlines.insert((deadline, slot));
            if calls.deadlines.first() == Some(&(deadline, slot)) {
                shared.timer.start_at(deadline);
            }
        }
        Ok(beyond)
    }
}

/// The port for responses; the other one is for timeouts.
const RESPONSES: usize = 0;

struct ClientEntity<S, Q, P> {
    receiver: SubscriptionReceiver<Response<P>>,
    /// A response that came while another thread made a call.
    held: Option<Message<Response<P>>>,
    shared: Arc<Shared<S, Q, P>>,
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
        let held = self.held.take();
        cx.is_pending = held.is_some();
        let Some(response) = held.or_else(|| self.receiver.take_next_to_keep(cx)) else {
            return Outcome::Nothing;
        };
        // The worker does not wait for a thread that is suspended in a call: it comes back later.
        let Some(mut calls) = try_lock(&self.shared.calls) else {
            self.held = Some(response);
            cx.is_pending = true;
            return Outcome::Nothing;
        };
        let then = calls.end(response.slot);
        drop(calls);
        cx.begin(response.id());
        // Without it, the call has timed out, and this is late.
        match then {
            Some(then) => self.end(then, state, Reply::of(response), cx),
            None => Outcome::Done(Ok(())),
        }
    }

    fn end(
        &self,
        mut then: Then<S, P>,
        state: &mut S,
        reply: Result<Reply<P>, CallError>,
        cx: &mut Context<'_>,
    ) -> Outcome {
        let result = then.end(state, reply, cx);
        self.shared.spares.put_back(then);
        Outcome::Done(result)
    }

    /// Ends one call that has timed out. For the next one the timer is due again, if need be at
    /// once: so an end that fails takes no other with it.
    fn time_out(&mut self, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(mut calls) = try_lock(&self.shared.calls) else {
            self.shared.timer.start_at(cx.now()); // again, as above
            return Outcome::Nothing;
        };
        let then = calls.expire(cx.now());
        if let Some((deadline, _)) = calls.deadlines.first() {
            // Under the lock, so that a call with an earlier deadline is not overruled.
            self.shared.timer.start_at(*deadline);
        }
        drop(calls);
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

    fn discard(&mut self, port: usize) -> bool {
        if port != RESPONSES {
            return true;
        }
        let Some(response) = self.held.take().or_else(|| self.receiver.take()) else {
            return false;
        };
        let then = self.shared.calls().end(response.slot);
        drop(then);
        true
    }

    fn pending(&self, port: usize) -> usize {
        if port != RESPONSES {
            return 0;
        }
        self.receiver.pending() + usize::from(self.held.is_some())
    }

    fn retire(&mut self) {
        self.shared.stop();
    }
}

impl<S, Q, P> Drop for ClientEntity<S, Q, P> {
    /// Handles may outlive the executor; then nobody brings responses any more.
    fn drop(&mut self) {
        self.shared.stop();
    }
}

impl<S: Send + 'static> Node<S> {
    /// Creates a client of service `name`.
    ///
    /// The depth of `qos` is how many calls may be without a response; how many replies may be kept
    /// is declared by [`QoS::held`].
    ///
    /// # Errors
    /// [`CreateError`] for an invalid name, a service of other types, a depth out of range,
    /// requests or responses of more than [`CALL_BY_VALUE_MAX`](crate::CALL_BY_VALUE_MAX) bytes, or
    /// a frozen graph.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("asking", 0)?;
    /// let add = node.create_client::<(i64, i64), i64>("add", QoS::services())?;
    /// node.create_timer(Duration::from_secs(1), move |_, _| {
    ///     add.call((1, 2), |sum, reply, _| reply.map(|reply| *sum += *reply))
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_client<Q, P>(&self, name: &str, qos: QoS) -> Result<Client<S, Q, P>, CreateError>
    where
        Q: Send + Sync + 'static,
        P: Send + Sync + 'static,
    {
        let service = self.resolve_service_name(name)?;
        check_depth(&service, qos)?;
        let name = format!("client {service}");
        check_size::<Q>(self.full_name(), &name, CALL_BY_VALUE_MAX)?;
        check_size::<P>(self.full_name(), &name, CALL_BY_VALUE_MAX)?;
        let timeout_name = format!("{name} timeout");
        let mut builder = self.builder(&name)?;
        let event_loop = self.event_loop();
        let (requests, _) = builder.service::<Q, P>(&service, self.full_name())?;
        let beyond = builder.call_remotely::<Q, P>(
            self.node_index(),
            &service,
            QoS::keep_all(qos.depth()),
        )?;
        let (remote, remote_notifier) = beyond.unzip();
        let responses = Topic::<Response<P>>::new(name.as_str().into(), builder.digests().clone());
        let responses = Arc::new(responses);
        let node = self.full_name();
        builder.add_queue(format!("{name} of {node}"), responses.clone());
        let timer = self.new_timer(&builder, &timeout_name, Duration::from_nanos(1), false)?;
        timer.cancel(); // until there is a call
        let target = builder.next_target(event_loop);
        let counters = Arc::<CallbackCounters>::default();
        let qos = QoS::keep_all(qos.depth()).held(qos.held_max());
        let shared = Arc::new(Shared {
            requests,
            remote: remote.clone(),
            responses,
            request_source: builder.next_source(),
            response_source: builder.next_source(),
            calls: Mutex::new(Calls::new(qos.depth())),
            spares: Spares::new(qos.depth()),
            futures: Futures::new(qos.depth()),
            timer,
            clock: builder.clock().clone(),
        });
        let timeout_source = builder.next_source();
        let remote = remote.zip(remote_notifier).map(|(remote, remote_notifier)| {
            let responses = RemoteResponses::new(Arc::downgrade(&shared), remote);
            builder.remote_responses(&service, Box::new(responses), remote_notifier)
        });
        let source = EventSource::queue(qos.depth(), remote.as_ref());
        let spec = CallbackSpec { target, source, deadline: None, counters: counters.clone() };
        let id = builder.add_callback(event_loop, name, spec);
        let timeout_target = target.port(1);
        let timeout_spec = CallbackSpec::of_timer(timeout_target, &shared.timer);
        builder.add_callback(event_loop, timeout_name, timeout_spec);
        let receiver = shared.responses.subscribe(id, qos, 0, counters, remote);
        let client = ClientInfo {
            callback: id,
            requests: shared.request_source,
            responses: shared.response_source,
        };
        builder.service::<Q, P>(&service, self.full_name())?.1.clients.push(client);
        let entity = ClientEntity {
            receiver,
            held: None,
            shared: shared.clone(),
            timeout_source,
            timeouts: 0,
        };
        builder.body::<S>(event_loop).add(Box::new(entity));
        Ok(Client { shared, timeout: None })
    }
}
