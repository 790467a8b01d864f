//! Goals that are awaited: a channel from the callbacks of a goal to a task.
//!
//! The event loop of the client writes response, feedback and outcome into the channel; the task
//! reads them on any executor of futures, and leaves its waker in the same locked step, so that no
//! wake-up is lost. The loop wakes after the unlock, because a waker may poll at once, and drops
//! displaced feedback there, because that drop is code of the user. When the callbacks are dropped
//! unused, with the node of the client for instance, they leave an error, so no task waits for
//! ever. A lock is enough here: both sides hold it for some instructions, for a goal and not for
//! every message.

use super::client::{AcceptedGoal, Feedback, GoalCallbacks, GoalOutcome};
use super::error::SendGoalError;
use super::messages::CancelGoalResponse;
use super::{Action, GoalId};
use crate::base::lock::lock;
use crate::base::time::Time;
use crate::features::service::{CallError, CallFuture};
use futures_core::Stream;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

type Response = Result<AcceptedGoal, SendGoalError>;
type Outcome<A> = Result<GoalOutcome<A>, CallError>;
type Cancel = Box<dyn Fn(GoalId) -> CallFuture<CancelGoalResponse> + Send + Sync>;

pub(super) struct Channel<A: Action> {
    ends: Mutex<Ends<A>>,
    feedback_depth: usize,
    cancel: Cancel,
}

struct Ends<A: Action> {
    response: Awaited<Response>,
    feedback: VecDeque<Feedback<A>>,
    overwritten: u64,
    listener: Option<Waker>,
    outcome: Awaited<Outcome<A>>,
}

/// A value that is set once.
struct Awaited<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T: Clone> Awaited<T> {
    const NONE: Self = Self { value: None, waker: None };

    /// Sets the value, unless there is one; returns the waker to call once nothing is locked.
    fn set(&mut self, value: T) -> Option<Waker> {
        self.value.get_or_insert(value);
        self.waker.take()
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<T> {
        match &self.value {
            Some(value) => Poll::Ready(value.clone()),
            None => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

impl<A: Action> Channel<A> {
    pub(super) fn new(feedback_depth: usize, cancel: Cancel) -> Self {
        let ends = Mutex::new(Ends {
            response: Awaited::NONE,
            feedback: VecDeque::new(),
            overwritten: 0,
            listener: None,
            outcome: Awaited::NONE,
        });
        Self { ends, feedback_depth, cancel }
    }

    /// The callbacks that fill the channel. If they are dropped before, the client's node has
    /// stopped.
    pub(super) fn callbacks<S>(channel: &Arc<Self>) -> GoalCallbacks<S, A> {
        let (responded, heard) = (Responded(channel.clone()), channel.clone());
        let ended = HasEnded(channel.clone());
        GoalCallbacks::new()
            .on_response(move |_, response, _| responded.0.respond(response))
            .on_feedback(move |_, feedback, _| heard.hear(feedback))
            .on_result(move |_, outcome, _| ended.0.end(outcome))
    }

    fn respond(&self, response: Response) {
        let waker = lock(&self.ends).response.set(response);
        wake(waker);
    }

    fn hear(&self, feedback: &Feedback<A>) {
        let mut ends = lock(&self.ends);
        let is_full = ends.feedback.len() == self.feedback_depth;
        let oldest = is_full.then(|| ends.feedback.pop_front());
        ends.overwritten += u64::from(is_full);
        ends.feedback.push_back(feedback.clone());
        let waker = ends.listener.take();
        drop(ends);
        drop(oldest); // the user's, so not under the lock
        wake(waker);
    }

    fn end(&self, outcome: Outcome<A>) {
        let mut ends = lock(&self.ends);
        let wakers = [ends.outcome.set(outcome), ends.listener.take()];
        drop(ends);
        wake(wakers.into_iter().flatten());
    }
}

/// Responds even by being dropped.
struct Responded<A: Action>(Arc<Channel<A>>);

impl<A: Action> Drop for Responded<A> {
    fn drop(&mut self) {
        self.0.respond(Err(CallError::ClientStopped.into()));
    }
}

/// Ends even by being dropped.
struct HasEnded<A: Action>(Arc<Channel<A>>);

impl<A: Action> Drop for HasEnded<A> {
    fn drop(&mut self) {
        self.0.end(Err(CallError::ClientStopped));
    }
}

/// The acceptance of a goal, to be awaited; see
/// [`ActionClient::send_goal_async`](super::ActionClient::send_goal_async). Dropping it does not
/// cancel the goal.
#[must_use = "the goal was sent, but its outcome is lost unless the future is awaited"]
pub struct SendGoalFuture<A: Action>(Result<Arc<Channel<A>>, CallError>);

impl<A: Action> SendGoalFuture<A> {
    /// The future of the goal with this channel, or of its refusal.
    pub(super) fn new(sent: Result<Arc<Channel<A>>, CallError>) -> Self {
        Self(sent)
    }
}

impl<A: Action> Future for SendGoalFuture<A> {
    type Output = Result<ClientGoal<A>, SendGoalError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let channel = match &self.0 {
            Ok(channel) => channel,
            Err(reason) => return Poll::Ready(Err((*reason).into())),
        };
        let response = lock(&channel.ends).response.poll(cx);
        response.map_ok(|goal| ClientGoal { goal, channel: channel.clone() })
    }
}

impl<A: Action> fmt::Debug for SendGoalFuture<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendGoalFuture")
    }
}

/// An accepted goal, as a task of its client sees it. Dropping it does not cancel the goal.
pub struct ClientGoal<A: Action> {
    goal: AcceptedGoal,
    channel: Arc<Channel<A>>,
}

impl<A: Action> ClientGoal<A> {
    /// The goal.
    pub fn goal_id(&self) -> GoalId {
        self.goal.goal_id
    }

    /// The time of its acceptance, by the server's clock.
    pub fn stamp(&self) -> Time {
        self.goal.stamp
    }

    /// The feedback since the goal was accepted that no stream of it has taken. Await one of the
    /// streams at a time.
    pub fn feedback(&self) -> FeedbackStream<A> {
        FeedbackStream(self.channel.clone())
    }

    /// The number of feedback messages that were overwritten before they were taken.
    pub fn overwritten_feedback(&self) -> u64 {
        lock(&self.channel.ends).overwritten
    }

    /// Waits until the goal has ended. Cancel safe, and the same every time.
    ///
    /// # Errors
    /// [`CallError`] if the result cannot be had.
    pub async fn result(&mut self) -> Result<GoalOutcome<A>, CallError> {
        poll_fn(|cx| lock(&self.channel.ends).outcome.poll(cx)).await
    }

    /// Requests to cancel the goal, and returns the future of the response. The
    /// [result](Self::result) shows how the goal ends.
    pub fn cancel(&self) -> CallFuture<CancelGoalResponse> {
        (self.channel.cancel)(self.goal_id())
    }
}

impl<A: Action> fmt::Debug for ClientGoal<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientGoal").field(&self.goal).finish()
    }
}

/// The feedback on a goal, to be awaited; it ends with the goal.
pub struct FeedbackStream<A: Action>(Arc<Channel<A>>);

impl<A: Action> FeedbackStream<A> {
    /// The next feedback, `None` once the goal has ended and all was taken. Cancel safe: feedback
    /// is taken only when it is returned.
    pub async fn next(&mut self) -> Option<Feedback<A>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Option<Feedback<A>>> {
        let mut ends = lock(&self.0.ends);
        if let Some(feedback) = ends.feedback.pop_front() {
            return Poll::Ready(Some(feedback));
        }
        if ends.outcome.value.is_some() {
            return Poll::Ready(None);
        }
        ends.listener = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<A: Action> Stream for FeedbackStream<A> {
    type Item = Feedback<A>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Feedback<A>>> {
        self.poll(cx)
    }
}

impl<A: Action> fmt::Debug for FeedbackStream<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = lock(&self.0.ends).feedback.len();
        f.debug_struct("FeedbackStream").field("waiting", &waiting).finish()
    }
}
