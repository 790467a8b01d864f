//! Requests and responses that leave the process, or come from outside.

use super::client::Shared;
use super::{CallError, CallRefused, ReplyTo, Request, Response};
use crate::event_loop::BoxError;
use crate::middleware::{RemoteClient, RemoteResponder, RemoteServer, Sent};
use crate::remote::{Source, Taken};
use std::sync::{Arc, Weak};

/// Sends the response to a request from beyond the process. ROS 2 has no word for a request that is
/// not answered: the caller waits.
pub(super) fn send_response<P: Send + Sync + 'static>(
    responder: &dyn RemoteResponder,
    result: Result<P, CallError>,
) {
    let response = match result {
        Ok(response) => response,
        Err(why) => {
            tracing::warn!(%why, "a request from outside stays without an answer");
            return;
        }
    };
    match responder.respond(&response) {
        Ok(true) => {}
        Ok(false) => responder.respond_later(Box::new(response)),
        Err(error) => tracing::error!(%error, "a response did not leave the process"),
    }
}

/// The requests that `server` brings.
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

    /// Their callers wait in vain. Logged whenever the number has doubled, so that a flood does not
    /// fill the log.
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

/// Sends `request` beyond the process; returns the identity of the call.
pub(super) fn send_request<Q: 'static>(
    remote: &dyn RemoteClient,
    request: Q,
) -> Result<Sent, CallRefused<Q>> {
    if !remote.is_available() {
        return Err(CallRefused { request, reason: CallError::NoService });
    }
    remote.send(&request).map_err(|error| {
        tracing::error!(%error, "a request did not leave the process");
        CallRefused { request, reason: CallError::Unsent }
    })
}

/// The responses that `remote` brings, for calls that `shared` knows.
pub(super) struct RemoteResponses<S, Q, P> {
    shared: Weak<Shared<S, Q, P>>,
    remote: Arc<dyn RemoteClient>,
    /// The servers that were gone when no call waited for one of them.
    servers_gone: u64,
}

impl<S, Q, P> RemoteResponses<S, Q, P> {
    pub(super) fn new(shared: Weak<Shared<S, Q, P>>, remote: Arc<dyn RemoteClient>) -> Self {
        Self { shared, remote, servers_gone: 0 }
    }
}

impl<S, Q, P> Source<Response<P>> for RemoteResponses<S, Q, P>
where
    Shared<S, Q, P>: Send + Sync,
    P: 'static,
{
    fn take(&mut self, item: &mut Option<Response<P>>) -> Result<Taken, BoxError> {
        let mut body: Option<P> = None;
        let Some(number) = self.remote.take(&mut body)? else {
            return Ok(Taken::Nothing);
        };
        let Some(body) = body else {
            return Ok(Taken::Stale);
        };
        // The one who sends it holds the lock until it is listed.
        let shared = self.shared.upgrade();
        let slot = shared.and_then(|shared| shared.calls().answered_beyond(number));
        let Some(slot) = slot else {
            return Ok(Taken::Stale);
        };
        *item = Some(Response { slot, result: Ok(body) });
        Ok(Taken::Item)
    }

    /// Responses to other clients: no response of this client gives way to another one.
    fn overwritten(&mut self, _missing: u64) -> u64 {
        0
    }

    /// Ends a call whose servers are gone. Responses that had come before have been taken.
    fn conclude(&mut self, item: &mut Option<Response<P>>) -> bool {
        let gone = self.remote.servers_gone();
        if gone == self.servers_gone {
            return false;
        }
        let shared = self.shared.upgrade();
        let Some(slot) = shared.and_then(|shared| shared.calls().lost_beyond(gone)) else {
            // Calls that are made later know of a server that is not gone.
            self.servers_gone = gone;
            return false;
        };
        *item = Some(Response { slot, result: Err(CallError::ServerLost) });
        true
    }
}
