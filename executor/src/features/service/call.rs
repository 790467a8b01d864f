//! A call: its refusal, its end, and the future of its end.
//!
//! The closure of an awaited call puts the result into a [`Place`] that it shares with the future,
//! and then wakes the waker; the task takes the result, on any executor of futures. The task looks,
//! registers its waker and looks again, so either it sees the result or the closure sees the waker.
//! A closure that is dropped without a result, with the node of the client for instance, puts
//! [`ClientStopped`](CallError::ClientStopped), so no task waits for ever. Place and waker lie in a
//! pool of the client: an `Arc` for each call would be an allocation for each call.

use super::Response;
use crate::base::error::{Error, ErrorKind, written_error};
use crate::delivery::message::Message;
use atomic_waker::AtomicWaker;
use ringspin_ringbuf::Pool;
use ringspin_ringbuf::table::Place;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The reason why a call has no response.
///
/// A call that is refused sends no request; [`Client::call`](super::Client::call) returns the
/// reason with the request, and [`call_async`](super::Client::call_async) as the result of the
/// future.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// Refused: the executor does not run yet.
    NotFrozen,
    /// Refused: no node of the graph offers the service, and the middleware, if there is one, has
    /// not discovered a server elsewhere.
    NoService,
    /// Refused: the server's queue of requests is full.
    ServiceFull,
    /// Refused: the client has as many calls without a response as its depth allows.
    TooManyCalls,
    /// Refused: the node keeps as many replies as the client's QoS allows.
    TooManyReplies,
    /// Refused: the middleware did not take the request; the log says why.
    Unsent,
    /// Refused: the request violates the definition of its type. Or the server's response did, and
    /// was not sent. The log names the field.
    Invalid,
    /// Refused: a thread of the executor must not wait.
    WouldBlock,
    /// Refused or ended: the client's node is isolated after a failure or was destroyed, or its
    /// executor has ended.
    ClientStopped,
    /// The server dropped the request, failed while it handled it, or was destroyed before.
    Unanswered,
    /// The server's node is isolated after a failure.
    ServiceStopped,
    /// All servers in other processes that could answer have ended, have crashed, or are out of
    /// reach. Whether the request was handled is not known.
    ServerLost,
    /// The response did not come in time.
    TimedOut,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFrozen => {
                "the graph is still being built: call from a callback, or freeze the graph first"
            }
            Self::NoService => {
                "no node of the graph offers the service, and no server is discovered elsewhere: \
                 create the service first, or wait until `Client::service_is_ready` returns true"
            }
            Self::ServiceFull => {
                "the service's queue of requests is full: give it a greater depth, or call less \
                 often"
            }
            Self::TooManyCalls => {
                "the client has as many unanswered calls as its depth allows, or an action client \
                 as many goals as its `goals_max`; raise that limit, or wait"
            }
            Self::TooManyReplies => {
                "as many replies as `QoS::held` of the client allows are kept; drop some, or raise \
                 it"
            }
            Self::Unsent => "failed to send the request to another process: the log has the cause",
            Self::Invalid => {
                "the request or the response violates the definition of its type: the log names \
                 the field"
            }
            Self::WouldBlock => {
                "a callback must not wait for a response, which this very thread may have to \
                 bring: call with a callback, or await `call_async` in a task"
            }
            Self::ClientStopped => "the client's node does not run any more",
            Self::Unanswered => "the service dropped the request without an answer",
            Self::ServiceStopped => "the service's node is out of service after a failure",
            Self::ServerLost => {
                "the service's server is lost: its process ended, crashed or is out of reach; call \
                 again when the service is ready"
            }
            Self::TimedOut => "the service did not answer within the call's timeout",
        })
    }
}

written_error!(CallError);

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        let kind = match error {
            CallError::NoService => ErrorKind::NotFound,
            CallError::ServiceFull | CallError::TooManyCalls | CallError::TooManyReplies => {
                ErrorKind::LimitReached
            }
            CallError::Invalid => ErrorKind::InvalidArgument,
            CallError::WouldBlock => ErrorKind::Deadlock,
            CallError::Unanswered => ErrorKind::Rejected,
            CallError::TimedOut => ErrorKind::TimedOut,
            CallError::Unsent | CallError::ServerLost => ErrorKind::Middleware,
            CallError::NotFrozen | CallError::ClientStopped | CallError::ServiceStopped => {
                ErrorKind::InvalidState
            }
        };
        Self::new(kind, error.to_string()).caused_by(error)
    }
}

/// A refused call, with its request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallRefused<Q> {
    /// The request that was not sent.
    pub request: Q,
    /// The reason.
    pub reason: CallError,
}

impl<Q> fmt::Display for CallRefused<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

written_error!(CallRefused<Q>);

/// Drops the request.
impl<Q> From<CallRefused<Q>> for Error {
    fn from(refused: CallRefused<Q>) -> Self {
        refused.reason.into()
    }
}

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
    Ended(Option<Result<Reply<P>, CallError>>),
}

/// Lies in a pool, so that a call allocates nothing once the pool has its size.
type Shared<P> = ringspin_ringbuf::Shared<CallEnd<P>>;

struct CallEnd<P> {
    result: Place<Result<Reply<P>, CallError>>,
    waker: AtomicWaker,
}

/// Completes a [`CallFuture`], also when it is dropped.
pub(super) struct Completer<P>(Option<Shared<P>>);

/// The ends of the calls that the futures of one client await.
pub(super) struct Futures<P>(Pool<CallEnd<P>>);

impl<P> Futures<P> {
    /// Creates a pool for `calls` at a time, and more if futures are kept.
    pub(super) fn new(calls: usize) -> Self {
        let pool = Pool::new();
        pool.reserve(calls);
        Self(pool)
    }

    /// A future and its completion; `None` if 2^24 of them are kept.
    pub(super) fn pending(&self) -> Option<(CallFuture<P>, Completer<P>)> {
        let mut end = CallEnd { result: Place::default(), waker: AtomicWaker::new() };
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
    pub(super) fn refused(reason: CallError) -> Self {
        Self(State::Ended(Some(Err(reason))))
    }
}

impl<P> Completer<P> {
    pub(super) fn complete(mut self, result: Result<Reply<P>, CallError>) {
        self.end(result);
    }

    fn end(&mut self, result: Result<Reply<P>, CallError>) {
        let Some(end) = self.0.take() else { return };
        let refused = end.result.put(result);
        debug_assert!(refused.is_ok(), "a call ends once");
        end.waker.wake();
    }
}

impl<P> Drop for Completer<P> {
    fn drop(&mut self) {
        self.end(Err(CallError::ClientStopped));
    }
}

// Nothing in it is pinned.
impl<P> Unpin for CallFuture<P> {}

impl<P> Future for CallFuture<P> {
    type Output = Result<Reply<P>, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = match &mut self.0 {
            State::Pending(end) => end,
            State::Ended(result) => return result.take().map_or(Poll::Pending, Poll::Ready),
        };
        // The second look is after the waker is set, because the call may end in between.
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
