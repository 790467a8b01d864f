//! What the services of an action share with the handles of its goals.

use super::super::error::{GoalError, GoalRefused};
use super::super::goals::{Asked, Goals};
use super::super::handle::{GoalHandle, Inner};
use super::super::messages::{
    FeedbackMessage, GetResultResponse, GoalId, GoalInfo, GoalStatusArray,
};
use super::super::{Action, GoalEvent, GoalStatus};
use super::ActionServerOptions;
use crate::lock::lock;
use crate::service::Responder;
use crate::time::{Clock, NodeClock};
use crate::timer::Timer;
use crate::topic::{PublishError, Publisher};
use ringspin_ringbuf::Counter;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// What the services of an action share with the handles of its goals.
pub(in crate::action) struct Server<A: Action> {
    pub(super) action: String,
    pub(super) options: ActionServerOptions,
    pub(super) goals: Mutex<Goals<A>>,
    pub(super) feedback: Publisher<FeedbackMessage<A>>,
    pub(super) status: Publisher<GoalStatusArray>,
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

    pub(in crate::action) fn status(&self, id: GoalId) -> GoalStatus {
        self.goals().status(id)
    }

    /// Publishes where all goals stand: under the lock, so that the newest array is the last.
    /// Returns whether everybody was told.
    fn publish_status(&self, goals: &Goals<A>) -> bool {
        self.status.publish(goals.status_array()).is_ok()
    }

    /// Logs, not under the lock, if not everybody was `told` of a change.
    fn report(&self, told: bool) {
        if !told {
            tracing::warn!(
                action = self.action,
                "a keep-all subscription to the status of goals is full and misses a change; \
                 subscribe with keep-last"
            );
        }
    }

    /// Whether another goal with this identity can be accepted.
    pub(super) fn has_place(&self, id: GoalId) -> bool {
        let goals = self.goals();
        let is_used = id == GoalId::ZERO || goals.knows(id);
        let is_full = goals.active() >= self.options.goals_max;
        drop(goals);
        let (action, most) = (&*self.action, self.options.goals_max);
        if is_used {
            tracing::warn!(action, goal = %id, "rejected a goal whose id is zero or in use");
        } else if is_full {
            self.rejected.next();
            tracing::warn!(action, goal = %id, most, "rejected a goal: too many are on their way");
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

    /// Has `event` happen, which is not an end.
    pub(in crate::action) fn step(&self, id: GoalId, event: GoalEvent) -> Result<(), GoalError> {
        let mut goals = self.goals();
        goals.step(id, event).map_err(|status| GoalError::Illegal { event, status })?;
        let told = self.publish_status(&goals);
        drop(goals);
        self.report(told);
        Ok(())
    }

    /// Has `event` end a goal.
    pub(in crate::action) fn finish(
        &self,
        id: GoalId,
        event: GoalEvent,
        result: A::Result,
    ) -> Result<(), GoalRefused<A::Result>> {
        let expires = self.clock.departure() + self.options.result_timeout;
        let mut goals = self.goals();
        let ended = match goals.end(id, event, result, expires) {
            Ok(ended) => ended,
            Err((status, value)) => {
                drop(goals);
                return Err(GoalRefused { value, reason: GoalError::Illegal { event, status } });
            }
        };
        let told = self.publish_status(&goals);
        let evicted = goals.evict(self.options.results_max);
        self.start_timer(&goals);
        drop(goals);
        ended.respond();
        self.report(told);
        if evicted.is_some() && self.forgotten.next() == 0 {
            let (action, most) = (&*self.action, self.options.results_max);
            tracing::warn!(action, most, "too many results are kept: the oldest one is forgotten");
        }
        Ok(())
    }

    /// Has the timer be due for the next result that expires. Under the lock, so that the earliest
    /// one is not overruled.
    pub(super) fn start_timer(&self, goals: &Goals<A>) {
        if let Some(expiry) = goals.next_expiry() {
            // Limits of time are inclusive.
            self.timer.start_at(expiry + Duration::from_nanos(1));
        }
    }

    /// Aborts a goal that nobody pursues any more, if it is on its way.
    pub(in crate::action) fn abandon(&self, id: GoalId, why: &str) {
        if !self.status(id).is_active() {
            return;
        }
        // The user's, so not under the lock.
        let result = A::Result::default();
        // What is only accepted cannot be aborted. Nobody else holds the goal who could interfere.
        if self.status(id) == GoalStatus::Accepted {
            let _ = self.goals().step(id, GoalEvent::Execute);
        }
        if self.finish(id, GoalEvent::Abort, result).is_ok() {
            tracing::warn!(action = self.action, goal = %id, "the goal is aborted: {why}");
        }
    }

    /// Aborts all goals: nobody can pursue them, and those who wait have to be told.
    pub(super) fn stop(&self) {
        let active = self.goals().active_ids();
        active.into_iter().for_each(|id| self.abandon(id, "its server is out of service"));
    }

    pub(in crate::action) fn publish_feedback(
        &self,
        id: GoalId,
        feedback: A::Feedback,
    ) -> Result<(), GoalRefused<A::Feedback>> {
        let status = self.status(id);
        if !status.is_active() {
            return Err(GoalRefused { value: feedback, reason: GoalError::Ended(status) });
        }
        // Not under the lock: what it displaces is the user's. Should the goal end meanwhile, this
        // comes late, and clients ignore it.
        let refused = match self.feedback.publish(FeedbackMessage { goal_id: id, feedback }) {
            Ok(()) => return Ok(()),
            Err(
                PublishError::NotFrozen(message)
                | PublishError::Full(message)
                | PublishError::Gone(message)
                | PublishError::NoSlot { message, .. },
            ) => message.into_inner(),
            // Those in the process have it, and the goal goes on.
            Err(PublishError::Remote { reason, .. }) => {
                tracing::error!(action = self.action, goal = %id, %reason, "feedback stays inside");
                return Ok(());
            }
        };
        Err(GoalRefused { value: refused.feedback, reason: GoalError::FeedbackFull })
    }

    /// Answers a request for a result, or has it wait.
    pub(super) fn ask(&self, id: GoalId, responder: Responder<GetResultResponse<A>>) {
        let asked = self.goals().ask(id, responder);
        match asked {
            Asked::Waits => {}
            Asked::Known(responder, response) => responder.respond(response),
            Asked::Unknown(responder) => {
                let (status, result) = (GoalStatus::Unknown, Arc::default());
                responder.respond(GetResultResponse { status, result });
            }
            Asked::Refused(responder) => {
                tracing::warn!(action = self.action, goal = %id, "too many ask for this result");
                drop(responder);
            }
        }
    }
}
