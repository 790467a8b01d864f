//! The goals that an action server knows.

use super::server::ActionServerCancelRequest;
use super::{GoalStatus, from_message, to_message};
use crate::action_msgs::msg::{self, GoalInfo, GoalStatusArray};
use crate::action_msgs::srv::CancelGoal::{Request, Response};
use crate::builtin_interfaces::msg::Time as Stamp;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::lock;
use crate::log::report;
use crate::message::Carried;
use crate::node_shared::NodeShared;
use crate::publisher;
use futures::channel::mpsc;
use indexmap::IndexMap;
use ringspin::time::Clock as _;
use ringspin::{Responder, Time};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use uuid::Uuid;

/// How long a goal is known after its end: the default of rcl_action since Iron.
const KEPT: Duration = Duration::from_secs(10);

/// Requests that may wait for the result of one goal; further ones get an error.
const WAITING_MAX: usize = 1000;

/// The goals that a server knows. Its services own it, so it ends with its node.
pub(crate) struct Goals {
    pub(crate) node: Arc<NodeShared>,
    /// For the times in messages.
    pub(crate) clock: Arc<Mutex<Clock>>,
    pub(crate) feedback: Arc<publisher::Inner>,
    pub(crate) status: Arc<publisher::Inner>,
    /// The response for a goal without a result.
    pub(crate) without_result: fn(GoalStatus) -> Carried,
    /// In the order in which they were accepted.
    pub(crate) known: Mutex<IndexMap<Uuid, Goal>>,
}

pub(crate) struct Goal {
    info: GoalInfo,
    status: GoalStatus,
    /// `None` once it has ended.
    cancel_requests: Option<mpsc::UnboundedSender<ActionServerCancelRequest>>,
    waiting: Vec<Responder<Carried>>,
    end: Option<(Time, MakeResponse)>,
}

/// Makes the response with the result of a goal.
pub(super) type MakeResponse = Box<dyn Fn() -> Carried + Send>;

impl Goal {
    fn is_cancelable(&self) -> bool {
        matches!(self.status, GoalStatus::Accepted | GoalStatus::Executing)
    }
}

impl Goals {
    /// Locks the goals, and forgets those that ended long ago.
    fn lock(&self) -> MutexGuard<'_, IndexMap<Uuid, Goal>> {
        let mut goals = lock(&self.known);
        let now = self.now();
        goals.retain(|_, goal| goal.end.as_ref().is_none_or(|(time, _)| now.since(*time) < KEPT));
        goals
    }

    fn now(&self) -> Time {
        self.node.node.clock().now()
    }

    /// The time of the node's clock, as a message.
    pub(super) fn stamp(&self) -> Stamp {
        Clock::to_builtin_time(&lock(&self.clock).get_now().unwrap_or_default())
    }

    /// Publishes the status of all goals; while they are locked, so that changes stay in order.
    fn publish(&self, goals: &IndexMap<Uuid, Goal>) {
        let of_goal = |goal: &Goal| msg::GoalStatus {
            goal_info: goal.info.clone(),
            status: goal.status.to_rcl(),
        };
        let status_list = goals.values().map(of_goal).collect();
        let published = self.status.publish(Carried::new(GoalStatusArray { status_list }));
        if let Err(error) = published {
            report(&error);
        }
    }

    pub(super) fn is_known(&self, id: Uuid) -> bool {
        self.lock().contains_key(&id)
    }

    /// Accepts a goal, which executes from now on: `respond` answers its client. Returns the
    /// requests to cancel it.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] if there is a goal with this id.
    pub(super) fn accept(
        &self,
        id: Uuid,
        stamp: Stamp,
        respond: impl FnOnce(),
    ) -> Result<mpsc::UnboundedReceiver<ActionServerCancelRequest>> {
        let mut goals = self.lock();
        if goals.contains_key(&id) {
            return Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID);
        }
        let (sender, cancel_requests) = mpsc::unbounded();
        let goal = Goal {
            info: GoalInfo { goal_id: to_message(id), stamp },
            status: GoalStatus::Executing,
            cancel_requests: Some(sender),
            waiting: Vec::new(),
            end: None,
        };
        goals.insert(id, goal);
        respond();
        self.publish(&goals);
        Ok(cancel_requests)
    }

    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] for a goal that ended long ago.
    pub(super) fn status(&self, id: Uuid) -> Result<GoalStatus> {
        let goals = self.lock();
        goals.get(&id).map(|goal| goal.status).ok_or(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID)
    }

    /// Ends a goal, and sends its result to those who wait for it.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_EVENT_INVALID`] for a goal that has ended, and
    /// [`Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID`] if that is long ago.
    pub(super) fn end(&self, id: Uuid, status: GoalStatus, result: MakeResponse) -> Result<()> {
        let (mut goals, now) = (self.lock(), self.now());
        let goal = goals.get_mut(&id).ok_or(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID)?;
        if goal.status.is_terminal() {
            return Err(Error::RCL_RET_ACTION_GOAL_EVENT_INVALID);
        }
        goal.status = status;
        goal.cancel_requests = None;
        let responses = std::mem::take(&mut goal.waiting).into_iter().map(|it| (it, result()));
        let responses: Vec<_> = responses.collect();
        goal.end = Some((now, result));
        self.publish(&goals);
        drop(goals);
        for (responder, response) in responses {
            responder.respond(response);
        }
        Ok(())
    }

    /// Ends a goal that the application has dropped.
    pub(super) fn abandon(&self, id: Uuid) {
        let status = match self.status(id) {
            Ok(GoalStatus::Canceling) => GoalStatus::Canceled,
            _ => GoalStatus::Aborted,
        };
        let without_result = self.without_result;
        // It may have ended.
        let _ = self.end(id, status, Box::new(move || without_result(status)));
    }

    /// Sends the result of a goal, now or at its end.
    pub(crate) fn send_result(&self, id: Uuid, responder: Responder<Carried>) {
        let mut goals = self.lock();
        let response = match goals.get_mut(&id) {
            None => (self.without_result)(GoalStatus::Unknown),
            Some(Goal { end: Some((_, result)), .. }) => result(),
            Some(goal) => {
                if goal.waiting.len() < WAITING_MAX {
                    goal.waiting.push(responder);
                }
                return;
            }
        };
        responder.respond(response);
    }

    /// Asks the application to cancel the goals that `request` chooses.
    pub(crate) fn request_cancel(
        self: &Arc<Self>,
        request: &Request,
        responder: Responder<Carried>,
    ) {
        let (id, until) = (from_message(&request.goal_info.goal_id), nanos(&request.goal_info));
        let goals = self.lock();
        let is_one = !id.is_nil() && until == 0;
        let until = if id.is_nil() && until == 0 { i64::MAX } else { until };
        let is_chosen = |goal: &Goal| match from_message(&goal.info.goal_id) == id {
            true => true,
            false => !is_one && nanos(&goal.info) <= until,
        };
        let chosen = goals.iter().filter(|(_, goal)| goal.is_cancelable() && is_chosen(goal));
        let chosen: Vec<_> = chosen.collect();
        let return_code = match goals.contains_key(&id) {
            _ if !chosen.is_empty() => Response::ERROR_REJECTED,
            true if is_one => Response::ERROR_GOAL_TERMINATED,
            false if is_one => Response::ERROR_UNKNOWN_GOAL_ID,
            _ => Response::ERROR_NONE,
        };
        let decisions = Decisions {
            goals: Arc::downgrade(self),
            response: Mutex::new(Response { return_code, goals_canceling: Vec::new() }),
            responder: Some(responder),
        };
        let decisions = Arc::new(decisions);
        for (id, goal) in chosen {
            let request = ActionServerCancelRequest::new(*id, decisions.clone());
            // A request that is not sent is dropped: rejected.
            let _ = goal.cancel_requests.as_ref().map(|sender| sender.unbounded_send(request));
        }
    }

    /// Cancels a goal from now on.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_GOAL_EVENT_INVALID`] for a goal that has ended, or is canceling.
    fn start_canceling(&self, id: Uuid) -> Result<GoalInfo> {
        let mut goals = self.lock();
        let goal = goals.get_mut(&id).filter(|goal| goal.is_cancelable());
        let goal = goal.ok_or(Error::RCL_RET_ACTION_GOAL_EVENT_INVALID)?;
        goal.status = GoalStatus::Canceling;
        let info = goal.info.clone();
        self.publish(&goals);
        Ok(info)
    }
}

fn nanos(info: &GoalInfo) -> i64 {
    i64::from(info.stamp.sec) * 1_000_000_000 + i64::from(info.stamp.nanosec)
}

/// The decisions of the application on one request to cancel goals. The last to be made sends the
/// response.
pub(super) struct Decisions {
    goals: std::sync::Weak<Goals>,
    /// The code is that of the case that none is accepted.
    response: Mutex<Response>,
    responder: Option<Responder<Carried>>,
}

impl Decisions {
    pub(super) fn accept(&self, id: Uuid) {
        let Some(goals) = self.goals.upgrade() else { return };
        let canceling = goals.start_canceling(id);
        let mut response = lock(&self.response);
        match canceling {
            Ok(info) => {
                response.goals_canceling.push(info);
                response.return_code = Response::ERROR_NONE;
            }
            Err(_) if response.goals_canceling.is_empty() => {
                response.return_code = Response::ERROR_GOAL_TERMINATED;
            }
            Err(_) => {}
        }
    }
}

impl Drop for Decisions {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            responder.respond(Carried::new(lock(&self.response).clone()));
        }
    }
}
