//! The progress of the goals of a client: status and feedback.

use super::{GoalStatus, from_message};
use crate::action_msgs::msg::GoalStatusArray;
use crate::link::Link;
use crate::lock;
use atomic_waker::AtomicWaker;
use futures::Stream;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use uuid::Uuid;

/// Feedback that may wait in the stream of a goal; the oldest is dropped first.
const FEEDBACK_MAX: usize = 100;

/// The progress of all goals of a client.
pub(crate) struct AllProgress<F>(Mutex<BTreeMap<Uuid, Weak<Progress<F>>>>);

/// The progress of a goal.
pub(super) struct Progress<F> {
    state: Mutex<State<F>>,
    waker: AtomicWaker,
}

struct State<F> {
    status: GoalStatus,
    feedback: VecDeque<F>,
    /// Whether the result, or the reason why there is none, is there.
    has_ended: bool,
}

impl<F> AllProgress<F> {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    /// Follows a goal as long as the result is used.
    pub(super) fn follow(&self, id: Uuid) -> Arc<Progress<F>> {
        let state =
            State { status: GoalStatus::Unknown, feedback: VecDeque::new(), has_ended: false };
        let progress = Arc::new(Progress { state: Mutex::new(state), waker: AtomicWaker::new() });
        let mut goals = lock(&self.0);
        goals.retain(|_, progress| progress.strong_count() > 0);
        goals.insert(id, Arc::downgrade(&progress));
        progress
    }

    fn get(&self, id: Uuid) -> Option<Arc<Progress<F>>> {
        lock(&self.0).get(&id).and_then(Weak::upgrade)
    }

    pub(crate) fn set_status(&self, message: &GoalStatusArray) {
        for goal in &message.status_list {
            if let Some(progress) = self.get(from_message(&goal.goal_info.goal_id)) {
                progress.set_status(GoalStatus::from_rcl(goal.status));
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

impl<F> Progress<F> {
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

/// The feedback of a goal, until its result has come or the node is gone.
pub(super) struct FeedbackStream<F> {
    pub(super) progress: Arc<Progress<F>>,
    pub(super) link: Link,
}

impl<F> Stream for FeedbackStream<F> {
    type Item = F;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F>> {
        self.link.poll(cx, |cx| self.progress.poll(cx)).map(Option::flatten)
    }
}
