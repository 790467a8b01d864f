//! Requests and responses that leave the process, or come from outside.
//!
//! The thread that calls hands the request to the middleware and then records the number that this
//! has given it; the event loop of the client takes responses and finds their calls by the number.
//! A response may come before its number is recorded. The loop keeps such a response, and the
//! thread announces to the loop when it has recorded, so that the loop looks again. A lock around
//! sending and recording would let the loop wait for a thread inside of the middleware. A call that
//! only lost servers could answer ends after all responses of these were taken.

use super::calls::{Calls, Search};
use super::client::Shared;
use super::{CallError, CallRefused, ReplyTo, Request, Response};
use crate::base::observed::{self, RemoteChannel, RemoteItem};
use crate::delivery::remote::{RemoteNotifier, Source, Taken};
use crate::features::middleware::{RemoteClient, RemoteResponder, RemoteServer, Sent};
use crate::running::event_loop::BoxError;
use ringspin_ringbuf::table::Ticket;
use std::sync::{Arc, Weak};

/// Sends the response to a request of another process. ROS 2 has no message for a request without a
/// response: the caller keeps waiting.
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

    /// Logs lost requests, which get no response, whenever their number has doubled, so that a
    /// flood does not fill the log.
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
        // The responses of a record have the numbers of its calls.
        Ok(Sent { number, servers }) => {
            Sent { number: observed::reading(|| number as u64) as i64, servers }
        }
        Err(error) => {
            tracing::error!(%error, "failed to send a request to another process");
            return Err(CallRefused { request, reason: CallError::Unsent });
        }
    };
    std::mem::forget(unsent);
    calls.sent(ticket, sent);
    // The response may be there already, or the server may have ended.
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
    early: Vec<(i64, P, Option<Arc<RemoteItem>>)>,
    /// The calls that a record lists as lost with their servers.
    lost: Arc<RemoteChannel>,
}

impl<S, Q, P> RemoteResponses<S, Q, P> {
    pub(super) fn new(
        service: &str,
        shared: Weak<Shared<S, Q, P>>,
        remote: Arc<dyn RemoteClient>,
    ) -> Self {
        let lost = RemoteChannel {
            topic: format!("{service}/_lost"),
            type_name: "std_msgs/msg/Empty".into(),
            definition: String::new(),
            type_hash: String::new(),
        };
        Self { shared, remote, early: Vec::new(), lost: Arc::new(lost) }
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
                self.early.push((number, body, observed::withdraw_item()));
                return Ok(Taken::Stale);
            }
            Some(Search::Ended) | None => {
                observed::withdraw_item();
                return Ok(Taken::Stale);
            }
        }
        Ok(Taken::Item)
    }

    /// Responses to other clients: no response of this client is ever displaced.
    fn overwritten(&mut self, _missing: u64) -> u64 {
        0
    }

    /// Finds the call of a response that came early, or ends a call that has lost all its servers.
    /// It is announced when a call has left the process, and when a server ends.
    fn conclude(&mut self, item: &mut Option<Response<P>>) -> bool {
        let Some(shared) = self.shared.upgrade() else { return false };
        let calls = shared.calls();
        let mut n = 0;
        while let Some((number, ..)) = self.early.get(n) {
            match calls.find_sent(*number) {
                Search::Unknown => n += 1,
                Search::Ended => drop(self.early.swap_remove(n)),
                Search::Found(ticket) => {
                    let (_, body, noted) = self.early.swap_remove(n);
                    observed::note_again(noted);
                    *item = Some(Response::from_beyond(ticket, Ok(body)));
                    return true;
                }
            }
        }
        // All responses that these servers sent have been taken before.
        let lost = match observed::next_item(&self.lost) {
            Some(item) => match calls.find_sent(item.number) {
                Search::Found(ticket) => Some((ticket, item.number)),
                Search::Unknown | Search::Ended => None,
            },
            None => calls.first_lost(self.remote.servers_gone()),
        };
        let Some((ticket, number)) = lost else { return false };
        observed::note_item(|| RemoteItem {
            channel: self.lost.clone(),
            number,
            source_ns: 0,
            received_ns: 0,
            bytes: vec![0, 1, 0, 0, 0],
        });
        *item = Some(Response::from_beyond(ticket, Err(CallError::ServerLost)));
        true
    }
}
