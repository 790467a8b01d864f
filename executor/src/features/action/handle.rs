//! A goal as its server sees it.

use super::error::{GoalError, GoalRefused};
use super::server::Server;
use super::{Action, GoalEvent, GoalId, GoalInfo, GoalStatus};
use crate::base::time::Time;
use std::fmt;
use std::sync::Arc;

/// An accepted goal, for the server to pursue: from callbacks, tasks and any other thread. Cheap to
/// clone.
///
/// Each call takes a short lock of the action's server; one that changes the state publishes the
/// status of all goals.
///
/// When the last handle is dropped before the goal has ended, the goal is aborted with the default
/// result, so that no client waits for ever; rclcpp cancels it instead, even if no client asked for
/// that. The same happens when the server's node is isolated after a failure.
pub struct GoalHandle<A: Action>(Arc<Inner<A>>);

/// The state that the handles of a goal share.
pub(super) struct Inner<A: Action> {
    server: Arc<Server<A>>,
    info: GoalInfo,
    goal: Arc<A::Goal>,
}

impl<A: Action> Inner<A> {
    pub(super) fn new(server: Arc<Server<A>>, info: GoalInfo, goal: Arc<A::Goal>) -> Self {
        Self { server, info, goal }
    }
}

impl<A: Action> Drop for Inner<A> {
    fn drop(&mut self) {
        self.server.abandon(self.info.goal_id, "its last handle was dropped");
    }
}

impl<A: Action> GoalHandle<A> {
    pub(super) fn new(inner: Arc<Inner<A>>) -> Self {
        Self(inner)
    }

    /// The goal.
    pub fn goal(&self) -> &Arc<A::Goal> {
        &self.0.goal
    }

    /// Its identity.
    pub fn goal_id(&self) -> GoalId {
        self.0.info.goal_id
    }

    /// The time of its acceptance.
    pub fn accepted_at(&self) -> Time {
        self.0.info.stamp
    }

    /// The status of the goal; unknown once it has ended and its result was forgotten.
    pub fn status(&self) -> GoalStatus {
        self.0.server.status(self.goal_id())
    }

    /// Whether a request to cancel the goal was accepted: end it then, by
    /// [`canceled`](Self::canceled) or otherwise.
    pub fn is_canceling(&self) -> bool {
        self.status() == GoalStatus::Canceling
    }

    /// Whether the goal has not ended; also true while it is being canceled.
    pub fn is_active(&self) -> bool {
        self.status().is_active()
    }

    /// Begins the execution of a goal that was accepted with [`Defer`](super::GoalResponse::Defer).
    ///
    /// # Errors
    /// [`GoalError::Illegal`] if it was begun before, is being cancelled, or has ended.
    pub fn execute(&self) -> Result<(), GoalError> {
        self.0.server.step(self.goal_id(), GoalEvent::Execute)
    }

    /// Publishes feedback on the goal.
    ///
    /// # Errors
    /// [`GoalRefused`] hands the feedback back if the goal has ended, a keep-all subscription to
    /// the feedback is full, or it violates the definition of its type.
    pub fn publish_feedback(&self, feedback: A::Feedback) -> Result<(), GoalRefused<A::Feedback>> {
        self.0.server.publish_feedback(self.goal_id(), feedback)
    }

    /// Ends the goal as succeeded.
    ///
    /// # Errors
    /// [`GoalRefused`] hands the result back, unless the goal is executing or canceling, and the
    /// result fits the definition of its type.
    pub fn succeed(&self, result: A::Result) -> Result<(), GoalRefused<A::Result>> {
        self.0.server.finish(self.goal_id(), GoalEvent::Succeed, result)
    }

    /// Ends the goal as aborted: the server gave it up.
    ///
    /// # Errors
    /// [`GoalRefused`] hands the result back, unless the goal is executing or canceling, and the
    /// result fits the definition of its type.
    pub fn abort(&self, result: A::Result) -> Result<(), GoalRefused<A::Result>> {
        self.0.server.finish(self.goal_id(), GoalEvent::Abort, result)
    }

    /// Ends the goal as canceled: the requested cancellation is complete.
    ///
    /// # Errors
    /// [`GoalRefused`] hands the result back, unless the goal is canceling, and the result fits the
    /// definition of its type.
    pub fn canceled(&self, result: A::Result) -> Result<(), GoalRefused<A::Result>> {
        self.0.server.finish(self.goal_id(), GoalEvent::Canceled, result)
    }
}

impl<A: Action> Clone for GoalHandle<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Action> fmt::Debug for GoalHandle<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("GoalHandle");
        debug.field("goal_id", &self.goal_id()).field("status", &self.status());
        debug.finish_non_exhaustive()
    }
}
