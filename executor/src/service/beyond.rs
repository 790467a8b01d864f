//! Requests and responses that leave the process, or come from outside.

use super::client::Shared;
use super::{CallError, CallRefused, ReplyTo, Request, Response};
use crate::event_loop::BoxError;
use crate::middleware::{RemoteClient, RemoteResponder, RemoteServer, Taken};
use std::sync::{Arc, Weak};

/// Sends the response to a request from beyond the process. ROS 2 has no word for a request that is
/// not answered: the caller waits.
pub(super) fn send_response<P: 'static>(
    responder: &dyn RemoteResponder,
    result: Result<P, CallError>,
) {
    match result {
        Ok(response) => {
            if let Err(error) = responder.respond(&response) {
                tracing::error!(%error, "a response did not leave the process");
            }
        }
        Err(why) => tracing::warn!(%why, "a request from outside stays without an answer"),
    }
}

/// How requests come from `server`.
pub(super) fn take_requests<Q, P>(
    mut server: Box<dyn RemoteServer>,
) -> impl FnMut(&mut Option<Request<Q, P>>) -> Result<Taken, BoxError>
where
    Q: 'static,
{
    move |item| {
        let mut body: Option<Q> = None;
        let responder = server.take(&mut body)?;
        Ok(match (body, responder) {
            (Some(body), Some(responder)) => {
                *item = Some(Request { body, reply_to: ReplyTo::Remote(responder) });
                Taken::Item
            }
            (None, None) => Taken::Nothing,
            _ => Taken::Stale, // there may be more behind it
        })
    }
}

/// Sends `request` beyond the process; returns the number of the call.
pub(super) fn send_request<Q: 'static>(
    remote: &dyn RemoteClient,
    request: Q,
) -> Result<i64, CallRefused<Q>> {
    if !remote.is_available() {
        return Err(CallRefused { request, reason: CallError::NoService });
    }
    remote.send(&request).map_err(|error| {
        tracing::error!(%error, "a request did not leave the process");
        CallRefused { request, reason: CallError::Unsent }
    })
}

/// How responses come from `remote`, for calls that `shared` knows.
pub(super) fn take_responses<S, Q, P>(
    shared: Weak<Shared<S, Q, P>>,
    remote: Arc<dyn RemoteClient>,
) -> impl FnMut(&mut Option<Response<P>>) -> Result<Taken, BoxError>
where
    P: 'static,
{
    move |item| {
        let mut body: Option<P> = None;
        let number = remote.take(&mut body)?;
        let Some(number) = number else {
            return Ok(Taken::Nothing);
        };
        let Some(body) = body else {
            return Ok(Taken::Stale); // there may be more behind it
        };
        // The one who sends it holds the lock until it is listed.
        let slot = shared.upgrade().and_then(|shared| shared.answered_beyond(number));
        let Some(slot) = slot else {
            return Ok(Taken::Stale);
        };
        *item = Some(Response { slot, result: Ok(body) });
        Ok(Taken::Item)
    }
}
