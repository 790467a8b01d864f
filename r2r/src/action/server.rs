//! Action servers: requests, and handles of goals.

use super::GoalStatus;
use super::goals::Goals;
use crate::builtin_interfaces::msg::Time as Stamp;
use crate::error::{Error, Result};
use crate::message::WrappedActionTypeSupport;
use futures::Stream;
use ringspin::action::GoalEvent;
use ringspin::{Responder, Time};
use ringspin_adapter::Carried;
use ringspin_adapter::action::CancelDecisions;
use ringspin_messages::{RosAction, cdr};
use std::sync::{Arc, Weak};
use uuid::Uuid;

/// # Errors
/// [`Error::RCL_RET_ACTION_SERVER_INVALID`] once the node is destroyed.
fn upgrade(goals: &Weak<Goals>) -> Result<Arc<Goals>> {
    let goals = goals.upgrade().filter(|goals| !goals.node.activity.is_closed());
    goals.ok_or(Error::RCL_RET_ACTION_SERVER_INVALID)
}

/// A goal that a client sent, to be accepted or rejected, now or later. Dropping it rejects it.
pub struct ActionServerGoalRequest<T>
where
    T: WrappedActionTypeSupport,
{
    /// The id of the goal.
    pub uuid: Uuid,
    /// The goal.
    pub goal: T::Goal,
    answer: Answer,
}

/// The answer to the client of a goal: rejected unless it is accepted.
struct Answer {
    goals: Weak<Goals>,
    make: fn(bool, Stamp) -> Carried,
    responder: Option<Responder<Carried>>,
}

impl Answer {
    fn send(&mut self, is_accepted: bool, stamp: Time) {
        if let Some(responder) = self.responder.take() {
            responder.respond((self.make)(is_accepted, Stamp::from_time(stamp)));
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.send(false, Time::ZERO);
    }
}

/// The request of the application for a goal; `None` for one whose id is known.
pub(crate) fn answer_goal<T: WrappedActionTypeSupport>(
    goals: &Arc<Goals>,
    (uuid, goal): (Uuid, T::Goal),
    responder: Responder<Carried>,
) -> Option<ActionServerGoalRequest<T>> {
    let make = |is_accepted, stamp: Stamp| {
        Carried::new(T::Ros::goal_response(is_accepted, (stamp.sec, stamp.nanosec)))
    };
    let answer = Answer { goals: Arc::downgrade(goals), make, responder: Some(responder) };
    (!goals.is_known(uuid)).then_some(ActionServerGoalRequest { uuid, goal, answer })
}

impl<T: WrappedActionTypeSupport> ActionServerGoalRequest<T> {
    /// Accepts the goal: it executes. Returns its handle, and the stream of requests to cancel it,
    /// which ends with the goal.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_SERVER_INVALID`] once the node is destroyed, and
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] if another goal with this id was accepted.
    pub fn accept(
        mut self,
    ) -> Result<(ActionServerGoal<T>, impl Stream<Item = CancelRequest> + Unpin + use<T>)> {
        let goals = upgrade(&self.answer.goals)?;
        let stamp = goals.stamp();
        let respond = || self.answer.send(true, stamp);
        let cancel_requests = goals.accept(self.uuid, stamp, respond)?;
        let held = Arc::new(Held { uuid: self.uuid, goals: Arc::downgrade(&goals) });
        Ok((ActionServerGoal { uuid: self.uuid, goal: self.goal, held }, cancel_requests))
    }

    /// Rejects the goal.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_SERVER_INVALID`] once the node is destroyed.
    pub fn reject(self) -> Result<()> {
        upgrade(&self.answer.goals).map(drop)
    }
}

/// A request to cancel a goal. Dropping it rejects it.
pub struct ActionServerCancelRequest {
    /// The id of the goal.
    pub uuid: Uuid,
    goals: Weak<Goals>,
    decisions: Arc<CancelDecisions>,
}

/// The same, for lines that are too long.
type CancelRequest = ActionServerCancelRequest;

impl ActionServerCancelRequest {
    pub(super) fn new(uuid: Uuid, goals: Weak<Goals>, decisions: Arc<CancelDecisions>) -> Self {
        Self { uuid, goals, decisions }
    }

    /// Accepts the request: the goal is canceling from now on, and should end soon.
    pub fn accept(self) {
        if let Some(goals) = self.goals.upgrade() {
            self.decisions.accept(goals.start_canceling(self.uuid));
        }
    }

    /// Rejects the request.
    pub fn reject(self) {}
}

/// A goal that was accepted; from any thread. Clones are the same goal. When the last one is
/// dropped before the end of the goal, the goal is aborted, or canceled if it is canceling.
#[derive(Clone)]
pub struct ActionServerGoal<T>
where
    T: WrappedActionTypeSupport,
{
    /// The id of the goal.
    pub uuid: Uuid,
    /// The goal.
    pub goal: T::Goal,
    held: Arc<Held>,
}

struct Held {
    uuid: Uuid,
    goals: Weak<Goals>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Ok(goals) = upgrade(&self.goals) {
            goals.abandon(self.uuid);
        }
    }
}

impl<T: WrappedActionTypeSupport> ActionServerGoal<T> {
    /// Whether a request to cancel the goal was accepted, and it has not ended yet.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_SERVER_INVALID`] once the node is destroyed, and
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] for a goal that ended long ago.
    pub fn is_cancelling(&self) -> Result<bool> {
        Ok(upgrade(&self.held.goals)?.status(self.uuid)? == GoalStatus::Canceling)
    }

    /// Publishes feedback.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_SERVER_INVALID`] once the node is destroyed; [`Error::SerdeError`]
    /// for feedback that its definition does not allow; another one if the middleware refuses the
    /// message.
    pub fn publish_feedback(&self, msg: T::Feedback) -> Result<()> {
        let message = T::Ros::feedback_message(self.uuid.into_bytes(), msg);
        upgrade(&self.held.goals)?.feedback.publish(Carried::checked(message)?)
    }

    /// Ends the goal as canceled; as in r2r, without a request to do so as well.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_EVENT_INVALID`] for a goal that has ended,
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] if that is long ago,
    /// [`Error::RCL_RET_ACTION_SERVER_INVALID`] once the node is destroyed, and
    /// [`Error::SerdeError`] for a result that its definition does not allow.
    pub fn cancel(&mut self, msg: T::Result) -> Result<()> {
        self.end(GoalEvent::Canceled, msg)
    }

    /// Ends the goal as aborted.
    ///
    /// # Errors
    /// As for [`cancel`](Self::cancel).
    pub fn abort(&mut self, msg: T::Result) -> Result<()> {
        self.end(GoalEvent::Abort, msg)
    }

    /// Ends the goal with success.
    ///
    /// # Errors
    /// As for [`cancel`](Self::cancel).
    pub fn succeed(&mut self, msg: T::Result) -> Result<()> {
        self.end(GoalEvent::Succeed, msg)
    }

    fn end(&self, event: GoalEvent, result: T::Result) -> Result<()> {
        cdr::check(&result)?;
        let response =
            |status: GoalStatus| Carried::new(T::Ros::result_response(status.to_rcl(), result));
        upgrade(&self.held.goals)?.end(self.uuid, event, response)
    }
}
