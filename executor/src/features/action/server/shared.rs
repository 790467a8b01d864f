//! The state that the services of an action share with the handles of its goals.
//!
//! Callbacks of the event loop and handles on any thread take the lock of the goals for each step.
//! The array of all statuses is published and the timer of the next expiry is set under it, so that
//! no older one comes later. Feedback and responses are sent and results dropped after the unlock,
//! because a drop is code of the user and may come back here. Feedback may therefore come later
//! than the end of its goal, and clients ignore it then. The table knows the handles of a goal
//! weakly: the drop of the last one aborts the goal, which a counted reference from here would
//! prevent.

use super::super::error::{GoalError, GoalRefused};
use super::super::goals::{GoalTable, ResultRequest};
use super::super::handle::{GoalHandle, Inner};
use super::super::messages::{
    FeedbackMessage, GetResultResponse, GoalId, GoalInfo, GoalStatusArray,
};
use super::super::{Action, GoalEvent, GoalStatus};
use super::ActionServerOptions;
use crate::base::lock::lock;
use crate::base::time::{Clock, NodeClock};
use crate::delivery::timer::Timer;
use crate::delivery::topic::{MessageCheck, PublishError, Publisher};
use crate::features::message_checks::is_valid;
use crate::features::service::Responder;
use ringspin_ringbuf::Counter;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

type Goals<A> = GoalTable<Weak<Inner<A>>, GetResultResponse<A>>;

pub(in crate::features::action) struct Server<A: Action> {
    pub(super) action: String,
    pub(super) options: ActionServerOptions,
    pub(super) goals: Mutex<Goals<A>>,
    pub(super) feedback: Publisher<FeedbackMessage<A>>,
    pub(super) status: Publisher<GoalStatusArray>,
    pub(super) check_feedback: Option<MessageCheck>,
    pub(super) check_result: Option<MessageCheck>,
    /// Due when the first result is to be forgotten.
    pub(super) timer: Timer,
    pub(super) clock: NodeClock,
    pub(super) rejected: Counter,
    pub(super) forgotten: Counter,
}

impl<A: Action> Server<A> {
    pub(super) fn goals(&self) -> MutexGuard<'_, Goals<A>> {
        lock(&self.goals)
    }

    pub(in crate::features::action) fn status(&self, id: GoalId) -> GoalStatus {
        self.goals().status(id)
    }

    /// Publishes the status of all goals, under the lock, so that the newest array is the last.
    /// Returns whether all subscriptions took it; after the end of the executor, none has to.
    fn publish_status(&self, goals: &Goals<A>) -> bool {
        let told = self.status.publish(goals.status_array());
        matches!(told, Ok(()) | Err(PublishError::Gone(_)))
    }

    /// Logs a change that was not `told` to all subscriptions; to be called without the lock.
    fn report(&self, told: bool) {
        if !told {
            tracing::warn!(
                action = self.action,
                "failed to publish the status of goals: a keep-all subscription is full; \
                 subscribe with keep-last"
            );
        }
    }

    /// Whether another goal with this identity can be accepted.
    pub(super) fn has_place(&self, id: GoalId) -> bool {
        let goals = self.goals();
        let is_used = id == GoalId::ZERO || goals.info(id).is_some();
        let is_full = goals.active() >= self.options.goals_max;
        drop(goals);
        let (action, most) = (&*self.action, self.options.goals_max);
        if is_used {
            tracing::warn!(action, goal = %id, "rejected a goal: its id is zero or in use");
        } else if is_full {
            self.rejected.next();
            tracing::warn!(action, goal = %id, most, "rejected a goal: too many are active");
        }
        !is_used && !is_full
    }

    pub(super) fn accept(
        self: &Arc<Self>,
        info: GoalInfo,
        goal: Arc<A::Goal>,
        status: GoalStatus,
    ) -> GoalHandle<A> {
        let inner = Arc::new(Inner::new(self.clone(), info, goal));
        let mut goals = self.goals();
        goals.add(info, status, Arc::downgrade(&inner));
        let told = self.publish_status(&goals);
        drop(goals);
        self.report(told);
        GoalHandle::new(inner)
    }

    /// Applies `event`, which does not end the goal.
    pub(in crate::features::action) fn step(
        &self,
        id: GoalId,
        event: GoalEvent,
    ) -> Result<(), GoalError> {
        let mut goals = self.goals();
        goals.step(id, event).map_err(|status| GoalError::Illegal { event, status })?;
        let told = self.publish_status(&goals);
        drop(goals);
        self.report(told);
        Ok(())
    }

    pub(in crate::features::action) fn finish(
        &self,
        id: GoalId,
        event: GoalEvent,
        result: A::Result,
    ) -> Result<(), GoalRefused<A::Result>> {
        if !is_valid(self.check_result, &result, format_args!("a result of {}", self.action)) {
            return Err(GoalRefused { value: result, reason: GoalError::Invalid });
        }
        let expires = self.clock.departure() + self.options.result_timeout;
        let mut goals = self.goals();
        if let Err(status) = goals.step(id, event) {
            drop(goals);
            let reason = GoalError::Illegal { event, status };
            return Err(GoalRefused { value: result, reason });
        }
        let response = GetResultResponse { status: goals.status(id), result: Arc::new(result) };
        let ended = goals.end(id, response, expires);
        let told = self.publish_status(&goals);
        let evicted = goals.evict(self.options.results_max);
        self.start_timer(&goals);
        drop(goals);
        ended.respond();
        self.report(told);
        if evicted.is_some() && self.forgotten.next() == 0 {
            let (action, most) = (&*self.action, self.options.results_max);
            tracing::warn!(action, most, "dropped the oldest result: the limit is reached");
        }
        Ok(())
    }

    /// Sets the timer to the time at which the next result expires. Under the lock, so that no
    /// later time replaces the earliest one.
    pub(super) fn start_timer(&self, goals: &Goals<A>) {
        if let Some(expiry) = goals.next_expiry() {
            // Limits of time are inclusive.
            self.timer.start_at(expiry + Duration::from_nanos(1));
        }
    }

    /// Aborts a goal that is not pursued any more, if it has not ended.
    pub(in crate::features::action) fn abandon(&self, id: GoalId, why: &str) {
        if !self.status(id).is_active() {
            return;
        }
        // The default is user code, so it is made without the lock.
        let result = A::Result::default();
        // A goal that is only accepted cannot be aborted. No other handle exists that could
        // interfere.
        if self.status(id) == GoalStatus::Accepted {
            let _ = self.goals().step(id, GoalEvent::Execute);
        }
        if self.finish(id, GoalEvent::Abort, result).is_ok() {
            tracing::warn!(action = self.action, goal = %id, "aborted the goal: {why}");
        }
    }

    /// Aborts all goals: they cannot be pursued any more, and waiting clients need a response.
    pub(super) fn stop(&self) {
        let active: Vec<_> = self.goals().active_ids().collect();
        active.into_iter().for_each(|id| self.abandon(id, "its server is out of service"));
    }

    pub(in crate::features::action) fn publish_feedback(
        &self,
        id: GoalId,
        feedback: A::Feedback,
    ) -> Result<(), GoalRefused<A::Feedback>> {
        let status = self.status(id);
        if !status.is_active() {
            return Err(GoalRefused { value: feedback, reason: GoalError::Ended(status) });
        }
        let name = format_args!("feedback of {}", self.action);
        if !is_valid(self.check_feedback, &feedback, name) {
            return Err(GoalRefused { value: feedback, reason: GoalError::Invalid });
        }
        // Without the lock: dropping a displaced message is user code. If the goal ends meanwhile,
        // the feedback comes late, and clients ignore it.
        let refused = match self.feedback.publish(FeedbackMessage { goal_id: id, feedback }) {
            Ok(()) => return Ok(()),
            Err(
                PublishError::NotFrozen(message)
                | PublishError::Full(message)
                | PublishError::Gone(message)
                | PublishError::NoSlot { message, .. }
                | PublishError::Invalid { message, .. },
            ) => message.into_inner(),
            // The subscriptions of this process have the feedback, and the goal continues.
            Err(PublishError::Remote { reason, .. }) => {
                tracing::error!(
                    action = self.action,
                    goal = %id,
                    %reason,
                    "failed to publish feedback to other processes"
                );
                return Ok(());
            }
        };
        Err(GoalRefused { value: refused.feedback, reason: GoalError::FeedbackFull })
    }

    /// Answers a request for a result, or keeps it until the goal ends.
    pub(super) fn request_result(&self, id: GoalId, responder: Responder<GetResultResponse<A>>) {
        let request = self.goals().request_result(id, responder);
        match request {
            ResultRequest::Waits => {}
            ResultRequest::Known(responder, response) => responder.respond(response),
            ResultRequest::Unknown(responder) => {
                let (status, result) = (GoalStatus::Unknown, Arc::default());
                responder.respond(GetResultResponse { status, result });
            }
            ResultRequest::Refused(responder) => {
                tracing::warn!(
                    action = self.action,
                    goal = %id,
                    "dropped a request for a result: too many wait for this goal"
                );
                drop(responder);
            }
        }
    }
}
