//! A goal that was accepted, in the hands of the application.

use super::GoalUuid;
use super::cancellation::Cancellation;
use super::server::ServerGoals;
use crate::log_error;
use ringspin::action::{GoalEvent, GoalInfo, GoalStatus};
use ringspin_adapter::Carried;
use ringspin_messages::{RosAction, cdr};
use rosidl_runtime_rs::Action;
use std::sync::Arc;

/// A goal that was accepted. Dropped before its end, it is aborted.
pub(super) struct LiveGoal<A: Action> {
    pub(super) server: Arc<ServerGoals<A>>,
    pub(super) uuid: GoalUuid,
    pub(super) goal: Arc<A::Goal>,
    pub(super) cancellation: Arc<Cancellation>,
}

impl<A: Action> LiveGoal<A> {
    /// Begins its execution.
    pub(super) fn execute(&self) {
        self.step(GoalEvent::Execute);
    }

    /// Begins to cancel it, and accepts the requests for that.
    pub(super) fn begin_cancelling(&self) {
        self.step(GoalEvent::CancelGoal);
        let (goal_id, stamp) = (self.uuid.into(), self.server.stamp());
        self.cancellation.accept(GoalInfo { goal_id, stamp });
    }

    fn step(&self, event: GoalEvent) {
        if let Err(status) = self.server.known.step(self.uuid.into(), event) {
            self.log_refused(event, status);
        }
    }

    /// Ends it with a result. With one that its definition does not allow, it is aborted.
    pub(super) fn end(&self, event: GoalEvent, result: A::Result) {
        let (known, id) = (&self.server.known, self.uuid.into());
        let ended = match cdr::check(&result) {
            Ok(()) => known.end(id, event, |status| {
                Carried::new(A::Ros::result_response(status.to_rcl(), result))
            }),
            Err(error) => {
                let (logger, uuid) = (&self.server.logger, self.uuid);
                log_error!(
                    logger,
                    "failed to send the result of goal {uuid}: {error}; the goal \
                    is aborted"
                );
                known.end_without_result(id, GoalEvent::Abort)
            }
        };
        if let Err(status) = ended {
            self.log_refused(event, status);
        }
        self.cancellation.end();
    }

    fn log_refused(&self, event: GoalEvent, status: GoalStatus) {
        log_error!(&self.server.logger, "failed to {event} goal {}: it is {status}", self.uuid);
    }

    /// Publishes feedback. An error is logged.
    pub(super) fn publish_feedback(&self, feedback: A::Feedback) {
        let message = A::Ros::feedback_message(self.uuid.0, feedback);
        let published = match Carried::checked(message) {
            Ok(message) => self.server.feedback.publish(message).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = published {
            let (logger, uuid) = (&self.server.logger, self.uuid);
            log_error!(logger, "failed to publish feedback of goal {uuid}: {error}");
        }
    }

    /// Publishes feedback, unless the goal has ended: then that is returned.
    pub(super) fn publish_feedback_if_live(
        &self,
        feedback: A::Feedback,
    ) -> Result<(), A::Feedback> {
        let mut feedback = Some(feedback);
        self.server.known.while_active(self.uuid.into(), || {
            feedback.take().map(|feedback| self.publish_feedback(feedback))
        });
        feedback.map_or(Ok(()), Err)
    }
}

impl<A: Action> Drop for LiveGoal<A> {
    fn drop(&mut self) {
        let (known, id) = (&self.server.known, self.uuid.into());
        if known.status(id) == GoalStatus::Accepted {
            // As rcl has it, only a goal that executes can be aborted.
            self.step(GoalEvent::Execute);
        }
        // Refused for a goal that has ended, as most have.
        let _ = known.end_without_result(id, GoalEvent::Abort);
        self.cancellation.end();
    }
}
