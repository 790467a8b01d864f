//! A call: its refusal, its end, and the future of its end.

use super::Response;
use crate::message::Message;
use atomic_waker::AtomicWaker;
use ringspin_ringbuf::Pool;
use ringspin_ringbuf::table::Place;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use thiserror::Error;

/// The reason why a call was refused: its request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallRefusal {
    /// The executor does not run yet.
    #[error("the graph is still being built: call from a callback, or freeze the graph first")]
    NotFrozen,
    /// No node of the graph offers the service, and the middleware, if there is one, has not
    /// discovered a server elsewhere.
    #[error(
        "no node of the graph offers the service, and no server is discovered elsewhere: create \
         the service first, or wait until `Client::service_is_ready` returns true"
    )]
    NoService,
    /// The server's queue of requests is full.
    #[error("the service's queue of requests is full: give it a greater depth, or call less often")]
    ServiceFull,
    /// The client has as many calls without a response as its depth allows.
    #[error(
        "the client has as many unanswered calls as its depth allows; raise the depth, or wait"
    )]
    TooManyCalls,
    /// The node keeps as many replies as the client's QoS allows.
    #[error("as many replies as `QoS::held` of the client allows are kept; drop some, or raise it")]
    TooManyReplies,
    /// The middleware did not take the request; the log says why.
    #[error("failed to send the request to another process: the log has the cause")]
    Unsent,
    /// The client's node is isolated after a failure, or its executor is gone.
    #[error("the client's node does not run any more")]
    ClientStopped,
}

/// The reason why a call ended without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server dropped the request, failed while it handled it, or was destroyed before.
    #[error("the service dropped the request without an answer")]
    Unanswered,
    /// The server's node is isolated after a failure.
    #[error("the service's node is out of service after a failure")]
    ServiceStopped,
    /// All servers in other processes that could answer are gone: they have ended, have crashed, or
    /// are out of reach. Whether the request was handled is not known.
    #[error(
        "the service's server is gone: its process ended, crashed or is out of reach; call again \
         when the service is ready"
    )]
    ServerLost,
    /// The client's node is isolated after a failure, or its executor is gone.
    #[error("the client's node does not run any more")]
    ClientStopped,
    /// The response did not come in time.
    #[error("the service did not answer within the call's timeout")]
    TimedOut,
}

/// The reason why a request has no response, where its refusal comes the same way as its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It was not sent.
    #[error(transparent)]
    Refused(#[from] CallRefusal),
    /// The call ended without a response.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The reason why a thread that waits for a response has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallAndWaitError {
    /// A thread of the executor must not wait.
    #[error(
        "a callback must not wait for a response, which this very thread may have to bring: call \
         with a callback, or await `call_async` in a task"
    )]
    WouldBlock,
    /// The request was not sent.
    #[error(transparent)]
    Refused(#[from] CallRefusal),
    /// The call ended without a response.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl From<RequestError> for CallAndWaitError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Refused(reason) => Self::Refused(reason),
            RequestError::Call(error) => Self::Call(error),
        }
    }
}

/// A refused call, with its request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallRefused<Q> {
    /// The request that was not sent.
    pub request: Q,
    /// The reason.
    pub reason: CallRefusal,
}

impl<Q> fmt::Debug for CallRefused<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRefused").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<Q> fmt::Display for CallRefused<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<Q> std::error::Error for CallRefused<Q> {}

/// The response to a call, in the slot in which the server left it.
pub struct Reply<P>(Message<Response<P>>);

impl<P> Reply<P> {
    /// The end of the call that `message` brings.
    pub(super) fn of(message: Message<Response<P>>) -> Result<Self, CallError> {
        match message.result {
            Ok(_) => Ok(Self(message)),
            Err(error) => Err(error),
        }
    }
}

impl<P> std::ops::Deref for Reply<P> {
    type Target = P;

    fn deref(&self) -> &P {
        self.0.result.as_ref().expect("a reply is a response")
    }
}

impl<P: fmt::Debug> fmt::Debug for Reply<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The end of a call, to be awaited in a task; see [`Client::call_async`](super::Client).
#[must_use = "the call was made, but its response will be dropped"]
pub struct CallFuture<P>(State<P>);

enum State<P> {
    Pending(Shared<P>),
    Ended(Option<Result<Reply<P>, RequestError>>),
}

/// Lies in a pool, so that a call allocates nothing once the pool has its size.
type Shared<P> = ringspin_ringbuf::Shared<End<P>>;

struct End<P> {
    result: Place<Result<Reply<P>, RequestError>>,
    waker: AtomicWaker,
}

/// Completes a [`CallFuture`], also when it is dropped.
pub(super) struct Completer<P>(Option<Shared<P>>);

/// The ends of the calls of one client whose futures wait for them.
pub(super) struct Futures<P>(Pool<End<P>>);

impl<P> Futures<P> {
    /// Creates a pool for `calls` at a time, and more if futures are kept.
    pub(super) fn new(calls: usize) -> Self {
        let pool = Pool::new();
        pool.reserve(calls);
        Self(pool)
    }

    /// A future and its completion; `None` if 2^24 of them are kept.
    pub(super) fn pending(&self) -> Option<(CallFuture<P>, Completer<P>)> {
        let mut end = End { result: Place::default(), waker: AtomicWaker::new() };
        loop {
            let capacity = self.0.capacity();
            end = match self.0.try_insert(end) {
                Ok(inserted) => {
                    let end = inserted.share();
                    return Some((CallFuture(State::Pending(end.clone())), Completer(Some(end))));
                }
                Err(end) => end,
            };
            self.0.reserve(capacity + 1);
            if self.0.capacity() == capacity {
                return None;
            }
        }
    }
}

impl<P> CallFuture<P> {
    pub(super) fn refused(reason: CallRefusal) -> Self {
        Self(State::Ended(Some(Err(reason.into()))))
    }
}

impl<P> Completer<P> {
    pub(super) fn complete(mut self, result: Result<Reply<P>, CallError>) {
        self.end(result.map_err(RequestError::from));
    }

    fn end(&mut self, result: Result<Reply<P>, RequestError>) {
        let Some(end) = self.0.take() else { return };
        let refused = end.result.put(result);
        debug_assert!(refused.is_ok(), "a call ends once");
        end.waker.wake();
    }
}

impl<P> Drop for Completer<P> {
    fn drop(&mut self) {
        self.end(Err(CallError::ClientStopped.into()));
    }
}

// Nothing in it is pinned.
impl<P> Unpin for CallFuture<P> {}

impl<P> Future for CallFuture<P> {
    type Output = Result<Reply<P>, RequestError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = match &mut self.0 {
            State::Pending(end) => end,
            State::Ended(result) => return result.take().map_or(Poll::Pending, Poll::Ready),
        };
        // A second look after the waker is set: the end may have come in between.
        let result = end.result.get().or_else(|| {
            end.waker.register(cx.waker());
            end.result.get()
        });
        result.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<P> fmt::Debug for CallFuture<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_refused = matches!(self.0, State::Ended(_));
        f.debug_struct("CallFuture").field("is_refused", &is_refused).finish_non_exhaustive()
    }
}
