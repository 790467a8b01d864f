//! The parts of a goal in its client: each can be awaited apart from the others.

use super::client::ActionClient;
use super::{
    CancelResponse, CancelResponseCode, GoalStatus, GoalStatusCode, GoalUuid, MultiCancelResponse,
};
use crate::error::RclrsError;
use futures::future::Shared;
use futures::stream::{BoxStream, once, unfold};
use futures::{FutureExt, Stream, StreamExt};
use ros_env::builtin_interfaces::msg::Time;
use rosidl_runtime_rs::Action;
use std::collections::HashMap;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{oneshot, watch};

/// The client of a part of a goal. Its drop, after that of the part's receiver, lets the client
/// forget a goal that nothing follows.
pub(super) struct Part<A: Action> {
    client: ActionClient<A>,
    goal_id: GoalUuid,
}

impl<A: Action> Part<A> {
    pub(super) fn new(client: &ActionClient<A>, goal_id: GoalUuid) -> Self {
        Self { client: client.clone(), goal_id }
    }
}

impl<A: Action> Drop for Part<A> {
    fn drop(&mut self) {
        self.client.prune(self.goal_id);
    }
}

/// Lets a part dereference to its receiver.
macro_rules! receives {
    ($($part:ident: $receiver:ty;)*) => {$(
        impl<A: Action> Deref for $part<A> {
            type Target = $receiver;

            fn deref(&self) -> &$receiver {
                &self.receiver
            }
        }

        impl<A: Action> DerefMut for $part<A> {
            fn deref_mut(&mut self) -> &mut $receiver {
                &mut self.receiver
            }
        }
    )*};
}

receives! {
    RequestedGoalClient: oneshot::Receiver<Option<GoalClient<A>>>;
    FeedbackClient: UnboundedReceiver<A::Feedback>;
    StatusClient: UnboundedReceiver<GoalStatus>;
    StatusWatcher: watch::Receiver<GoalStatus>;
    ResultClient: Shared<oneshot::Receiver<(GoalStatusCode, A::Result)>>;
    CancelResponseClient: oneshot::Receiver<CancelResponse>;
    MultiCancelResponseClient: oneshot::Receiver<MultiCancelResponse>;
}

/// Lets a part be awaited like its receiver, with a value for the end of a request without a
/// response.
macro_rules! is_awaited {
    ($($part:ident -> $output:ty, $without_response:expr;)*) => {$(
        impl<A: Action> Future for $part<A> {
            type Output = $output;

            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<$output> {
                self.receiver.poll_unpin(cx).map(|it| it.unwrap_or_else(|_| $without_response))
            }
        }
    )*};
}

is_awaited! {
    RequestedGoalClient -> Option<GoalClient<A>>, None;
    ResultClient -> (GoalStatusCode, A::Result), (GoalStatusCode::Unknown, A::Result::default());
    CancelResponseClient -> CancelResponse,
        CancelResponse { code: CancelResponseCode::Reject, stamp: None };
    MultiCancelResponseClient -> MultiCancelResponse,
        MultiCancelResponse { code: CancelResponseCode::Reject, stamps: HashMap::new() };
}

/// The future of the server's decision on a goal: a [`GoalClient`] if it accepts the goal, else
/// `None`. It dereferences to tokio's receiver.
pub struct RequestedGoalClient<A: Action> {
    receiver: oneshot::Receiver<Option<GoalClient<A>>>,
    part: Part<A>,
}

impl<A: Action> RequestedGoalClient<A> {
    pub(super) fn new(receiver: oneshot::Receiver<Option<GoalClient<A>>>, part: Part<A>) -> Self {
        Self { receiver, part }
    }

    /// The identity of the goal.
    pub fn goal_id(&self) -> &GoalUuid {
        &self.part.goal_id
    }
}

/// A goal that was accepted: its parts can be moved out, to be used apart.
pub struct GoalClient<A: Action> {
    /// The feedback.
    pub feedback: FeedbackClient<A>,
    /// The status.
    pub status: StatusWatcher<A>,
    /// The result.
    pub result: ResultClient<A>,
    /// Requests to cancel the goal.
    pub cancellation: CancellationClient<A>,
    /// The time at which the server accepted the goal, by its clock.
    pub stamp: Time,
}

impl<A: Action> Clone for GoalClient<A> {
    /// The clone receives the feedback from now on.
    fn clone(&self) -> Self {
        Self {
            feedback: self.feedback.clone(),
            status: self.status.clone(),
            result: self.result.clone(),
            cancellation: self.cancellation.clone(),
            stamp: self.stamp.clone(),
        }
    }
}

impl<A: Action> GoalClient<A> {
    /// The events of the goal as one stream.
    pub fn stream(self) -> GoalClientStream<A> {
        let Self { feedback, status, result, .. } = self;
        let feedback = unfold(feedback, |mut feedback| async move {
            Some((GoalEvent::Feedback(feedback.recv().await?), feedback))
        });
        let statuses = unfold((status, true), |(mut status, is_first)| async move {
            if !is_first {
                status.changed().await.ok()?;
            }
            let current = status.borrow_and_update().clone();
            Some((GoalEvent::Status(current), (status, false)))
        });
        let result = once(result.map(GoalEvent::Result));
        let parts = [feedback.boxed(), statuses.boxed(), result.boxed()];
        GoalClientStream { parts: parts.map(Some) }
    }
}

/// An event of a goal.
pub enum GoalEvent<A: Action> {
    /// Feedback arrived.
    Feedback(A::Feedback),
    /// The status, at first and at each change.
    Status(GoalStatus),
    /// The goal has ended.
    Result((GoalStatusCode, A::Result)),
}

/// The events of a goal. Of several that wait, feedback is first and the result last.
///
/// It does not end with the result, as feedback of another process may come later.
pub struct GoalClientStream<A: Action> {
    parts: [Option<BoxStream<'static, GoalEvent<A>>>; 3],
}

impl<A: Action> Stream for GoalClientStream<A> {
    type Item = GoalEvent<A>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<GoalEvent<A>>> {
        let mut have_ended = true;
        for part in &mut self.parts {
            let Some(stream) = part else { continue };
            match stream.poll_next_unpin(cx) {
                Poll::Ready(Some(event)) => return Poll::Ready(Some(event)),
                Poll::Ready(None) => *part = None,
                Poll::Pending => have_ended = false,
            }
        }
        if have_ended { Poll::Ready(None) } else { Poll::Pending }
    }
}

/// The feedback of a goal. It dereferences to tokio's receiver.
pub struct FeedbackClient<A: Action> {
    receiver: UnboundedReceiver<A::Feedback>,
    part: Part<A>,
}

impl<A: Action> FeedbackClient<A> {
    pub(super) fn new(receiver: UnboundedReceiver<A::Feedback>, part: Part<A>) -> Self {
        Self { receiver, part }
    }
}

impl<A: Action> Clone for FeedbackClient<A> {
    /// The clone receives the feedback from now on.
    fn clone(&self) -> Self {
        self.part.client.receive_feedback(self.part.goal_id)
    }
}

/// All statuses of a goal. It dereferences to tokio's receiver.
pub struct StatusClient<A: Action> {
    receiver: UnboundedReceiver<GoalStatus>,
    part: Part<A>,
}

impl<A: Action> StatusClient<A> {
    pub(super) fn new(receiver: UnboundedReceiver<GoalStatus>, part: Part<A>) -> Self {
        Self { receiver, part }
    }

    /// The last status.
    pub fn watch(&self) -> StatusWatcher<A> {
        self.part.client.watch_status(self.part.goal_id)
    }
}

impl<A: Action> Clone for StatusClient<A> {
    /// The clone receives the statuses from now on.
    fn clone(&self) -> Self {
        self.part.client.receive_status(self.part.goal_id)
    }
}

/// The last status of a goal. It dereferences to tokio's receiver.
pub struct StatusWatcher<A: Action> {
    receiver: watch::Receiver<GoalStatus>,
    part: Arc<Part<A>>,
}

impl<A: Action> StatusWatcher<A> {
    pub(super) fn new(receiver: watch::Receiver<GoalStatus>, part: Part<A>) -> Self {
        Self { receiver, part: Arc::new(part) }
    }
}

impl<A: Action> Clone for StatusWatcher<A> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), part: self.part.clone() }
    }
}

/// The future of the result of a goal; clones are the same. It dereferences to its receiver.
///
/// A goal that the server does not know has [`GoalStatusCode::Unknown`].
pub struct ResultClient<A: Action> {
    receiver: Shared<oneshot::Receiver<(GoalStatusCode, A::Result)>>,
    part: Arc<Part<A>>,
}

impl<A: Action> ResultClient<A> {
    pub(super) fn new(
        receiver: oneshot::Receiver<(GoalStatusCode, A::Result)>,
        part: Part<A>,
    ) -> Self {
        Self { receiver: receiver.shared(), part: Arc::new(part) }
    }
}

impl<A: Action> Clone for ResultClient<A> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), part: self.part.clone() }
    }
}

/// Requests to cancel a goal.
pub struct CancellationClient<A: Action> {
    client: ActionClient<A>,
    goal_id: GoalUuid,
}

impl<A: Action> CancellationClient<A> {
    pub(super) fn new(client: ActionClient<A>, goal_id: GoalUuid) -> Self {
        Self { client, goal_id }
    }

    /// Requests to cancel the goal, and awaits the decision of the server.
    ///
    /// # Panics
    /// With the errors of [`try_cancel`](Self::try_cancel).
    pub fn cancel(&self) -> CancelResponseClient<A> {
        self.client.cancel_goal(self.goal_id)
    }

    /// Requests to cancel the goal like [`cancel`](Self::cancel).
    ///
    /// # Errors
    /// Beyond the unanswered requests that the options allow, and if the middleware refuses one.
    pub fn try_cancel(&self) -> Result<CancelResponseClient<A>, RclrsError> {
        self.client.try_cancel_goal(self.goal_id)
    }
}

impl<A: Action> Clone for CancellationClient<A> {
    fn clone(&self) -> Self {
        Self { client: self.client.clone(), goal_id: self.goal_id }
    }
}

/// The future of the response to a request to cancel a goal. It dereferences to tokio's receiver.
pub struct CancelResponseClient<A: Action> {
    receiver: oneshot::Receiver<CancelResponse>,
    _part: Part<A>,
}

impl<A: Action> CancelResponseClient<A> {
    pub(super) fn new(receiver: oneshot::Receiver<CancelResponse>, part: Part<A>) -> Self {
        Self { receiver, _part: part }
    }
}

/// The future of the response to a request to cancel several goals; see [`CancelResponseClient`].
pub struct MultiCancelResponseClient<A: Action> {
    receiver: oneshot::Receiver<MultiCancelResponse>,
    _part: Part<A>,
}

impl<A: Action> MultiCancelResponseClient<A> {
    pub(super) fn new(receiver: oneshot::Receiver<MultiCancelResponse>, part: Part<A>) -> Self {
        Self { receiver, _part: part }
    }
}
