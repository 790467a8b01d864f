//! The events of a goal at its client, and the callbacks for them.

use super::super::error::SendGoalError;
use super::super::messages::{FeedbackMessage, GetResultResponse, GoalId};
use super::super::{Action, GoalStatus};
use crate::base::time::Time;
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::features::service::CallError;
use crate::running::event_loop::{BoxError, CallbackResult};
use std::fmt;
use std::sync::Arc;

/// A goal that its server has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedGoal {
    /// The goal.
    pub goal_id: GoalId,
    /// The time of its acceptance, by the server's clock.
    pub stamp: Time,
}

/// The end of a goal.
pub struct GoalOutcome<A: Action> {
    /// The goal.
    pub goal_id: GoalId,
    /// Succeeded, canceled or aborted; unknown if the server does not know it (any more).
    pub status: GoalStatus,
    /// The result of the goal.
    pub result: Arc<A::Result>,
}

impl<A: Action> GoalOutcome<A> {
    pub(super) fn of(goal_id: GoalId, response: &GetResultResponse<A>) -> Self {
        Self { goal_id, status: response.status, result: response.result.clone() }
    }
}

impl<A: Action> Clone for GoalOutcome<A> {
    fn clone(&self) -> Self {
        Self { goal_id: self.goal_id, status: self.status, result: self.result.clone() }
    }
}

impl<A: Action> fmt::Debug for GoalOutcome<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("GoalOutcome");
        debug.field("goal_id", &self.goal_id).field("status", &self.status);
        debug.finish_non_exhaustive()
    }
}

/// Feedback on a goal, where its server left it: dereferences to the feedback itself.
pub struct Feedback<A: Action>(pub(super) Message<FeedbackMessage<A>>);

impl<A: Action> Feedback<A> {
    /// The goal.
    pub fn goal_id(&self) -> GoalId {
        self.0.goal_id
    }
}

impl<A: Action> Clone for Feedback<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Action> std::ops::Deref for Feedback<A> {
    type Target = A::Feedback;

    fn deref(&self) -> &A::Feedback {
        &self.0.feedback
    }
}

impl<A: Action> fmt::Debug for Feedback<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feedback").field("goal_id", &self.goal_id()).finish_non_exhaustive()
    }
}

pub(super) type OnResponse<S> = Box<
    dyn FnOnce(
            &mut S,
            Result<AcceptedGoal, SendGoalError>,
            &mut Context<'_>,
        ) -> Result<(), BoxError>
        + Send,
>;
pub(super) type OnFeedback<S, A> =
    Box<dyn FnMut(&mut S, &Feedback<A>, &mut Context<'_>) -> Result<(), BoxError> + Send>;
pub(super) type OnResult<S, A> = Box<
    dyn FnOnce(&mut S, Result<GoalOutcome<A>, CallError>, &mut Context<'_>) -> Result<(), BoxError>
        + Send,
>;

/// The callbacks for one goal; each call is an event of the client's callback group.
pub struct GoalCallbacks<S, A: Action> {
    pub(super) response: Option<OnResponse<S>>,
    pub(super) feedback: Option<OnFeedback<S, A>>,
    pub(super) result: Option<OnResult<S, A>>,
}

impl<S, A: Action> Default for GoalCallbacks<S, A> {
    fn default() -> Self {
        Self { response: None, feedback: None, result: None }
    }
}

impl<S, A: Action> GoalCallbacks<S, A> {
    /// Creates callbacks without any function.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `callback` once, when the server has accepted or rejected the goal, or has not
    /// answered.
    #[must_use]
    pub fn on_response<R: CallbackResult>(
        mut self,
        callback: impl FnOnce(&mut S, Result<AcceptedGoal, SendGoalError>, &mut Context<'_>) -> R
        + Send
        + 'static,
    ) -> Self {
        self.response =
            Some(Box::new(|state, response, cx| callback(state, response, cx).into_result()));
        self
    }

    /// Calls `callback` for each feedback on the goal, between its acceptance and its result. As in
    /// ROS 2, feedback that comes earlier or later is ignored: a network may reorder.
    #[must_use]
    pub fn on_feedback<R: CallbackResult>(
        mut self,
        mut callback: impl FnMut(&mut S, &Feedback<A>, &mut Context<'_>) -> R + Send + 'static,
    ) -> Self {
        self.feedback =
            Some(Box::new(move |state, feedback, cx| callback(state, feedback, cx).into_result()));
        self
    }

    /// Calls `callback` once, when the accepted goal has ended, or its result cannot be had.
    #[must_use]
    pub fn on_result<R: CallbackResult>(
        mut self,
        callback: impl FnOnce(&mut S, Result<GoalOutcome<A>, CallError>, &mut Context<'_>) -> R
        + Send
        + 'static,
    ) -> Self {
        self.result = Some(Box::new(|state, result, cx| callback(state, result, cx).into_result()));
        self
    }
}

impl<S, A: Action> fmt::Debug for GoalCallbacks<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalCallbacks").finish_non_exhaustive()
    }
}
