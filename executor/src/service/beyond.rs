//! Requests and responses that leave the process, or come from outside.

use super::calls::{Calls, Search};
use super::client::Shared;
use super::{CallError, CallRefusal, CallRefused, ReplyTo, Request, Response};
use crate::event_loop::BoxError;
use crate::middleware::{RemoteClient, RemoteResponder, RemoteServer};
use crate::remote::{RemoteNotifier, Source, Taken};
use ringspin_ringbuf::table::Ticket;
use std::sync::{Arc, Weak};

/// Sends the response to a request of another process. ROS 2 has no message for a request without a
/// response: the caller goes on waiting.
pub(super) fn send_response<P: Send + Sync + 'static>(
    responder: &dyn RemoteResponder,
    result: Result<P, CallError>,
) {
    let response = match result {
        Ok(response) => response,
        Err(why) => {
            tracing::warn!(%why, "a request of another process gets no response");
            return;
        }
    };
    match responder.respond(&response) {
        Ok(true) => {}
        Ok(false) => responder.respond_later(Box::new(response)),
        Err(error) => tracing::error!(%error, "failed to send a response to another process"),
    }
}

/// The requests of `server`.
pub(super) struct RemoteRequests {
    service: String,
    depth: usize,
    server: Box<dyn RemoteServer>,
    overwritten: u64,
}

impl RemoteRequests {
    pub(super) fn new(service: &str, depth: usize, server: Box<dyn RemoteServer>) -> Self {
        Self { service: service.into(), depth, server, overwritten: 0 }
    }
}

impl<Q: 'static, P: 'static> Source<Request<Q, P>> for RemoteRequests {
    fn take(&mut self, item: &mut Option<Request<Q, P>>) -> Result<Taken, BoxError> {
        let mut body: Option<Q> = None;
        let responder = self.server.take(&mut body)?;
        Ok(match (body, responder) {
            (Some(body), Some(responder)) => {
                *item = Some(Request { body, reply_to: ReplyTo::Remote(responder) });
                Taken::Item
            }
            (None, None) => Taken::Nothing,
            _ => Taken::Stale,
        })
    }

    /// Logs lost responses, whose callers never get one, whenever their number has doubled, so that
    /// a flood does not fill the log.
    fn overwritten(&mut self, missing: u64) -> u64 {
        let before = self.overwritten;
        self.overwritten += missing;
        if before.checked_ilog2() != self.overwritten.checked_ilog2() {
            tracing::warn!(
                service = self.service,
                overwritten = self.overwritten,
                "lost requests of other processes: more than the service's depth of {} came at \
                 once, so the oldest were overwritten and get no response; create the service with \
                 a greater depth",
                self.depth
            );
        }
        missing
    }
}

/// Sends `request` beyond the process, as the call that is opened with `ticket` and listed as being
/// sent.
pub(super) fn send_request<S, P, Q: 'static>(
    (remote, remote_notifier): &(Arc<dyn RemoteClient>, RemoteNotifier),
    request: Q,
    calls: &Calls<S, P>,
    ticket: Ticket,
) -> Result<(), CallRefused<Q>> {
    let unsent = Unsent(calls, ticket);
    let sent = match remote.send(&request) {
        Ok(sent) => sent,
        Err(error) => {
            tracing::error!(%error, "failed to send a request to another process");
            return Err(CallRefused { request, reason: CallRefusal::Unsent });
        }
    };
    std::mem::forget(unsent);
    calls.sent(ticket, sent);
    // Its response may have come already, or its server may be gone.
    remote_notifier.announce(0);
    Ok(())
}

/// A call that could not be sent ends, also if its sending panics.
struct Unsent<'a, S, P>(&'a Calls<S, P>, Ticket);

impl<S, P> Drop for Unsent<'_, S, P> {
    fn drop(&mut self) {
        drop(self.0.end(self.1));
    }
}

/// The responses of `remote` to the calls in `shared`.
pub(super) struct RemoteResponses<S, Q, P> {
    shared: Weak<Shared<S, Q, P>>,
    remote: Arc<dyn RemoteClient>,
    /// Responses that came before the threads of their calls knew the numbers of these.
    early: Vec<(i64, P)>,
}

impl<S, Q, P> RemoteResponses<S, Q, P> {
    pub(super) fn new(shared: Weak<Shared<S, Q, P>>, remote: Arc<dyn RemoteClient>) -> Self {
        Self { shared, remote, early: Vec::new() }
    }
}

impl<S, Q, P> Source<Response<P>> for RemoteResponses<S, Q, P>
where
    Shared<S, Q, P>: Send + Sync,
    P: Send + 'static,
{
    fn take(&mut self, item: &mut Option<Response<P>>) -> Result<Taken, BoxError> {
        let mut body: Option<P> = None;
        let Some(number) = self.remote.take(&mut body)? else {
            return Ok(Taken::Nothing);
        };
        let Some(body) = body else {
            return Ok(Taken::Stale);
        };
        let search = self.shared.upgrade().map(|shared| shared.calls().find_sent(number));
        match search {
            Some(Search::Found(ticket)) => *item = Some(Response::from_beyond(ticket, Ok(body))),
            Some(Search::Unknown) => {
                self.early.push((number, body));
                return Ok(Taken::Stale);
            }
            Some(Search::Ended) | None => return Ok(Taken::Stale),
        }
        Ok(Taken::Item)
    }

    /// Responses to other clients: no response of this client is ever displaced.
    fn overwritten(&mut self, _missing: u64) -> u64 {
        0
    }

    /// Finds the call of a response that came early, or ends a call whose servers are gone.
    /// Announced when a call has left the process, and when a server is gone.
    fn conclude(&mut self, item: &mut Option<Response<P>>) -> bool {
        let Some(shared) = self.shared.upgrade() else { return false };
        let calls = shared.calls();
        let mut n = 0;
        while let Some((number, _)) = self.early.get(n) {
            match calls.find_sent(*number) {
                Search::Unknown => n += 1,
                Search::Ended => drop(self.early.swap_remove(n)),
                Search::Found(ticket) => {
                    let (_, body) = self.early.swap_remove(n);
                    *item = Some(Response::from_beyond(ticket, Ok(body)));
                    return true;
                }
            }
        }
        // Responses that had come before the servers were gone have been taken.
        let Some(ticket) = calls.first_lost(self.remote.servers_gone()) else { return false };
        *item = Some(Response::from_beyond(ticket, Err(CallError::ServerLost)));
        true
    }
}
