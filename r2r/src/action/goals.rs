//! The goals that an action server knows.

use super::GoalStatus;
use super::server::ActionServerCancelRequest;
use crate::action_msgs::srv::CancelGoal::Request;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::lock;
use crate::node_shared::NodeShared;
use crate::publisher;
use futures::channel::mpsc;
use ringspin::action::messages::CancelReturnCode;
use ringspin::action::{GoalEvent, GoalId, GoalInfo};
use ringspin::{Responder, Time};
use ringspin_adapter::Carried;
use ringspin_adapter::action::{CancelDecisions, Goals as KnownGoals};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uuid::Uuid;

/// The time for which a goal is known after its end: the default of rcl_action since Iron.
pub(crate) const KEPT: Duration = Duration::from_secs(10);

/// The stream of requests to cancel a goal ends with the goal, when the table drops its sender.
pub(crate) type Known = KnownGoals<mpsc::UnboundedSender<ActionServerCancelRequest>>;

/// The goals of a server. Its services own it, so it ends with its node.
pub(crate) struct Goals {
    pub(crate) node: Arc<NodeShared>,
    /// The clock of the times in messages.
    pub(crate) clock: Arc<Mutex<Clock>>,
    pub(crate) feedback: Arc<publisher::Inner>,
    pub(crate) known: Known,
}

fn goal_id(id: Uuid) -> GoalId {
    GoalId(id.into_bytes())
}

impl Goals {
    /// The time of the node's clock.
    pub(super) fn stamp(&self) -> Time {
        Time::ZERO + lock(&self.clock).get_now().unwrap_or_default()
    }

    pub(super) fn is_known(&self, id: Uuid) -> bool {
        self.known.info(goal_id(id)).is_some()
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
        let (sender, cancel_requests) = mpsc::unbounded();
        let info = GoalInfo { goal_id: goal_id(id), stamp };
        match self.known.add(info, GoalStatus::Executing, sender, respond) {
            true => Ok(cancel_requests),
            false => Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID),
        }
    }

    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] for a goal that ended long ago.
    pub(super) fn status(&self, id: Uuid) -> Result<GoalStatus> {
        match self.known.status(goal_id(id)) {
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
        self.known.end(goal_id(id), event, response).map_err(|status| match status {
            GoalStatus::Unknown => Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID,
            _ => Error::RCL_RET_ACTION_GOAL_EVENT_INVALID,
        })
    }

    /// Ends a goal that the application has dropped.
    pub(super) fn abandon(&self, id: Uuid) {
        let event = match self.status(id) {
            Ok(GoalStatus::Canceling) => GoalEvent::Canceled,
            _ => GoalEvent::Abort,
        };
        // The goal may have ended.
        let _ = self.known.end_without_result(goal_id(id), event);
    }

    /// Sends the result of a goal, now or at its end.
    pub(crate) fn send_result(&self, id: Uuid, responder: Responder<Carried>) {
        self.known.send_result(goal_id(id), responder);
    }

    /// Asks the application to cancel the goals that `request` selects.
    pub(crate) fn request_cancel(
        self: &Arc<Self>,
        request: Request,
        responder: Responder<Carried>,
    ) {
        let of_goal = |id: GoalId, sender: &mpsc::UnboundedSender<_>| Some((id, sender.clone()));
        let (code, selected) = self.known.select(&request.into(), of_goal);
        let return_code = if selected.is_empty() { code } else { CancelReturnCode::Rejected };
        let decisions = Arc::new(CancelDecisions::new(return_code, responder));
        for (id, sender) in selected {
            let (uuid, goals) = (Uuid::from_bytes(id.0), Arc::downgrade(self));
            let request = ActionServerCancelRequest::new(uuid, goals, decisions.clone());
            // A request that is not sent is dropped: rejected.
            let _ = sender.unbounded_send(request);
        }
    }

    /// Cancels a goal from now on; `None` if it has ended, or is canceling.
    pub(super) fn start_canceling(&self, id: Uuid) -> Option<GoalInfo> {
        self.known.step(goal_id(id), GoalEvent::CancelGoal).ok()?;
        self.known.info(goal_id(id))
    }
}
