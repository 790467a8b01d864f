//! The progress of the goals of a client: status and feedback.

use super::GoalStatus;
use crate::link::Link;
use crate::lock;
use atomic_waker::AtomicWaker;
use futures::Stream;
use ringspin::action::messages::GoalStatusArray;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use uuid::Uuid;

/// Feedback that may wait in the stream of a goal; the oldest is dropped first.
const FEEDBACK_MAX: usize = 100;

/// The progress of all goals of a client.
pub(crate) struct AllProgress<F>(Mutex<BTreeMap<Uuid, Weak<GoalProgress<F>>>>);

/// The progress of a goal.
pub(super) struct GoalProgress<F> {
    state: Mutex<ProgressState<F>>,
    waker: AtomicWaker,
}

struct ProgressState<F> {
    status: GoalStatus,
    feedback: VecDeque<F>,
    /// Raised by the result, or by an error instead of it.
    has_ended: bool,
}

impl<F> AllProgress<F> {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    /// Follows a goal as long as the result is used.
    pub(super) fn follow(&self, id: Uuid) -> Arc<GoalProgress<F>> {
        let state = ProgressState {
            status: GoalStatus::Unknown,
            feedback: VecDeque::new(),
            has_ended: false,
        };
        let progress =
            Arc::new(GoalProgress { state: Mutex::new(state), waker: AtomicWaker::new() });
        let mut goals = lock(&self.0);
        goals.retain(|_, progress| progress.strong_count() > 0);
        goals.insert(id, Arc::downgrade(&progress));
        progress
    }

    fn get(&self, id: Uuid) -> Option<Arc<GoalProgress<F>>> {
        lock(&self.0).get(&id).and_then(Weak::upgrade)
    }

    pub(crate) fn set_status(&self, message: GoalStatusArray) {
        for goal in message.status_list {
            if let Some(progress) = self.get(Uuid::from_bytes(goal.goal_info.goal_id.0)) {
                progress.set_status(goal.status);
            }
        }
    }

    pub(crate) fn add_feedback(&self, id: Uuid, feedback: F) {
        let Some(progress) = self.get(id) else { return };
        let mut state = lock(&progress.state);
        if state.feedback.len() == FEEDBACK_MAX {
            state.feedback.pop_front();
        }
        state.feedback.push_back(feedback);
        drop(state);
        progress.waker.wake();
    }
}

impl<F> GoalProgress<F> {
    pub(super) fn status(&self) -> GoalStatus {
        lock(&self.state).status
    }

    /// The goal has `status`, unless it is known to have ended.
    pub(super) fn set_status(&self, status: GoalStatus) {
        let mut state = lock(&self.state);
        if !state.status.is_terminal() {
            state.status = status;
        }
    }

    /// The server accepts the goal.
    pub(super) fn accept(&self) {
        let mut state = lock(&self.state);
        if state.status == GoalStatus::Unknown {
            state.status = GoalStatus::Accepted;
        }
    }

    /// Ends the stream of feedback.
    pub(super) fn end(&self) {
        lock(&self.state).has_ended = true;
        self.waker.wake();
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Option<F>> {
        self.waker.register(cx.waker());
        let mut state = lock(&self.state);
        match state.feedback.pop_front() {
            None if !state.has_ended => Poll::Pending,
            feedback => Poll::Ready(feedback),
        }
    }
}

/// The feedback of a goal. It ends with the goal's result, or with the node.
pub(super) struct FeedbackStream<F> {
    pub(super) progress: Arc<GoalProgress<F>>,
    pub(super) link: Link,
}

impl<F> Stream for FeedbackStream<F> {
    type Item = F;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F>> {
        self.link.poll(cx, |cx| self.progress.poll(cx)).map(Option::flatten)
    }
}
