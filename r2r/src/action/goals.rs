//! The goals that an action server knows: the executor's goal machine, with responses as a topic
//! carries them.

use super::GoalStatus;
use super::server::ActionServerCancelRequest;
use crate::action_msgs::msg;
use crate::action_msgs::srv::CancelGoal::{Request, Response};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::lock;
use crate::log::report;
use crate::message::Carried;
use crate::node_shared::NodeShared;
use crate::publisher;
use futures::channel::mpsc;
use ringspin::action::messages::{CancelGoalResponse, CancelReturnCode};
use ringspin::action::{GoalEvent, GoalId, GoalInfo, GoalTable, ResultRequest};
use ringspin::time::Clock as _;
use ringspin::{Responder, Time};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use uuid::Uuid;

/// The time for which a goal is known after its end: the default of rcl_action since Iron.
const KEPT: Duration = Duration::from_secs(10);

/// Requests that may wait for the result of one goal; further ones get an error.
pub(crate) const WAITING_MAX: usize = 1000;

/// The stream of requests to cancel a goal ends with the goal, when the table drops its sender.
pub(crate) type Table = GoalTable<mpsc::UnboundedSender<ActionServerCancelRequest>, Carried>;

/// The goals of a server. Its services own it, so it ends with its node.
///
/// The status of all goals is published while they are locked, so that changes stay in order.
/// Results that have expired are forgotten whenever the goals are locked.
pub(crate) struct Goals {
    pub(crate) node: Arc<NodeShared>,
    /// The clock of the times in messages.
    pub(crate) clock: Arc<Mutex<Clock>>,
    pub(crate) feedback: Arc<publisher::Inner>,
    pub(crate) status: Arc<publisher::Inner>,
    /// The response for a goal without a result.
    pub(crate) without_result: fn(GoalStatus) -> Carried,
    pub(crate) table: Mutex<Table>,
}

fn goal_id(id: Uuid) -> GoalId {
    GoalId(id.into_bytes())
}

impl Goals {
    fn lock(&self) -> MutexGuard<'_, Table> {
        let mut goals = lock(&self.table);
        goals.expire(self.node.node.clock().now());
        goals
    }

    /// The time of the node's clock.
    pub(super) fn stamp(&self) -> Time {
        Time::ZERO + lock(&self.clock).get_now().unwrap_or_default()
    }

    fn publish(&self, goals: &Table) {
        let array = msg::GoalStatusArray::from(&goals.status_array());
        if let Err(error) = self.status.publish(Carried::new(array)) {
            report(&error);
        }
    }

    pub(super) fn is_known(&self, id: Uuid) -> bool {
        self.lock().info(goal_id(id)).is_some()
    }

    /// Accepts a goal, which executes from now on: `respond` answers its client. Returns the
    /// requests to cancel it.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] if there is a goal with this id.
    pub(super) fn accept(
        &self,
        id: Uuid,
        stamp: Time,
        respond: impl FnOnce(),
    ) -> Result<mpsc::UnboundedReceiver<ActionServerCancelRequest>> {
        let (mut goals, goal_id) = (self.lock(), goal_id(id));
        if goals.info(goal_id).is_some() {
            return Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID);
        }
        let (sender, cancel_requests) = mpsc::unbounded();
        goals.add(GoalInfo { goal_id, stamp }, GoalStatus::Executing, sender);
        respond();
        self.publish(&goals);
        Ok(cancel_requests)
    }

    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] for a goal that ended long ago.
    pub(super) fn status(&self, id: Uuid) -> Result<GoalStatus> {
        match self.lock().status(goal_id(id)) {
            GoalStatus::Unknown => Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID),
            status => Ok(status),
        }
    }

    /// Ends a goal by `event`, and sends the response with its result to the clients that wait for
    /// it.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_EVENT_INVALID`] for a goal that has ended, and
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] if that is long ago.
    pub(super) fn end(
        &self,
        id: Uuid,
        event: GoalEvent,
        response: impl FnOnce(GoalStatus) -> Carried,
    ) -> Result<()> {
        let (mut goals, id) = (self.lock(), goal_id(id));
        if event == GoalEvent::Canceled {
            // A server may cancel a goal without a request, which is refused if there was one.
            let _ = goals.step(id, GoalEvent::CancelGoal);
        }
        goals.step(id, event).map_err(|status| match status {
            GoalStatus::Unknown => Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID,
            _ => Error::RCL_RET_ACTION_GOAL_EVENT_INVALID,
        })?;
        let response = response(goals.status(id));
        let ended = goals.end(id, response, self.node.node.clock().now() + KEPT);
        self.publish(&goals);
        drop(goals);
        ended.respond();
        Ok(())
    }

    /// Ends a goal that the application has dropped.
    pub(super) fn abandon(&self, id: Uuid) {
        let event = match self.status(id) {
            Ok(GoalStatus::Canceling) => GoalEvent::Canceled,
            _ => GoalEvent::Abort,
        };
        // The goal may have ended.
        let _ = self.end(id, event, self.without_result);
    }

    /// Sends the result of a goal, now or at its end.
    pub(crate) fn send_result(&self, id: Uuid, responder: Responder<Carried>) {
        let request = self.lock().request_result(goal_id(id), responder);
        match request {
            ResultRequest::Known(responder, response) => responder.respond(response),
            ResultRequest::Unknown(responder) => {
                responder.respond((self.without_result)(GoalStatus::Unknown));
            }
            ResultRequest::Waits | ResultRequest::Refused(_) => {}
        }
    }

    /// Asks the application to cancel the goals that `request` selects.
    pub(crate) fn request_cancel(
        self: &Arc<Self>,
        request: Request,
        responder: Responder<Carried>,
    ) {
        let of_goal = |id: GoalId, sender: &mpsc::UnboundedSender<_>| Some((id, sender.clone()));
        let (code, selected) = self.lock().select(&request.into(), of_goal);
        let return_code = if selected.is_empty() { code } else { CancelReturnCode::Rejected };
        let decisions = Arc::new(CancelDecisions {
            goals: Arc::downgrade(self),
            response: Mutex::new(CancelGoalResponse { return_code, goals_canceling: Vec::new() }),
            responder: Some(responder),
        });
        for (id, sender) in selected {
            let request = ActionServerCancelRequest::new(Uuid::from_bytes(id.0), decisions.clone());
            // A request that is not sent is dropped: rejected.
            let _ = sender.unbounded_send(request);
        }
    }

    /// Cancels a goal from now on; `None` if it has ended, or is canceling.
    fn start_canceling(&self, id: Uuid) -> Option<GoalInfo> {
        let mut goals = self.lock();
        goals.step(goal_id(id), GoalEvent::CancelGoal).ok()?;
        self.publish(&goals);
        goals.info(goal_id(id))
    }
}

/// The decisions of the application on one request to cancel goals. The last to be made sends the
/// response.
pub(super) struct CancelDecisions {
    goals: Weak<Goals>,
    /// The code is that of the case that none is accepted.
    response: Mutex<CancelGoalResponse>,
    responder: Option<Responder<Carried>>,
}

impl CancelDecisions {
    pub(super) fn accept(&self, id: Uuid) {
        let Some(goals) = self.goals.upgrade() else { return };
        let canceling = goals.start_canceling(id);
        let mut response = lock(&self.response);
        response.goals_canceling.extend(canceling);
        response.return_code = match response.goals_canceling.is_empty() {
            true => CancelReturnCode::GoalTerminated,
            false => CancelReturnCode::None,
        };
    }
}

impl Drop for CancelDecisions {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            responder.respond(Carried::new(Response::from(&*lock(&self.response))));
        }
    }
}
