//! The goals of an action server: the executor's goal machine, with responses as a topic carries
//! them.
//!
//! A library has a handle of type `H` for each active goal, by which requests to cancel reach the
//! application. It creates the services and topics itself, and passes the requests on to [`Goals`].

use crate::{Carried, lock};
use ringspin::Responder;
use ringspin::action::messages::{CancelGoalRequest, CancelGoalResponse, CancelReturnCode};
use ringspin::action::{GoalEvent, GoalId, GoalInfo, GoalStatus, GoalTable, ResultRequest};
use ringspin::time::{Clock as _, NodeClock};
use ringspin_messages::RosAction;
use ringspin_messages::action_msgs::msg::GoalStatusArray;
use ringspin_messages::action_msgs::srv::CancelGoal::Response;
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Requests that may wait for the result of one goal; further ones get an error.
const WAITING_MAX: usize = 1000;

/// The names of the services and topics of an action.
#[derive(Clone, Debug)]
pub struct ActionNames {
    /// The service that sends goals.
    pub send_goal: String,
    /// The service that cancels goals.
    pub cancel_goal: String,
    /// The service that requests results.
    pub get_result: String,
    /// The topic of feedback.
    pub feedback: String,
    /// The topic with the status of all goals.
    pub status: String,
}

impl ActionNames {
    /// The names for an action, by its resolved name.
    pub fn of(action: &str) -> Self {
        let part = |part: &str| format!("{action}/_action/{part}");
        Self {
            send_goal: part("send_goal"),
            cancel_goal: part("cancel_goal"),
            get_result: part("get_result"),
            feedback: part("feedback"),
            status: part("status"),
        }
    }
}

/// The goals that an action server knows.
///
/// The status of all goals is published while they are locked, so that changes stay in order.
/// Results that have expired are forgotten whenever the goals are locked.
pub struct Goals<H> {
    table: Mutex<GoalTable<H, Carried>>,
    clock: NodeClock,
    /// The time for which a goal is known after its end.
    kept: Duration,
    publish_status: Box<dyn Fn(Carried) + Send + Sync>,
    /// The response for a goal without a result.
    without_result: fn(GoalStatus) -> Carried,
}

impl<H> Goals<H> {
    /// Creates a table without goals for a server of action `A`, which knows goals for `kept` after
    /// their end. The clock is that of its node.
    pub fn new<A: RosAction>(
        clock: NodeClock,
        kept: Duration,
        publish_status: impl Fn(Carried) + Send + Sync + 'static,
    ) -> Self {
        Self {
            table: Mutex::new(GoalTable::new(WAITING_MAX)),
            clock,
            kept,
            publish_status: Box::new(publish_status),
            without_result: |status| {
                Carried::new(A::result_response(status.to_rcl(), A::Result::default()))
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, GoalTable<H, Carried>> {
        let mut goals = lock(&self.table);
        goals.expire(self.clock.now());
        goals
    }

    fn publish(&self, goals: &GoalTable<H, Carried>) {
        let array = GoalStatusArray::from(&goals.status_array());
        (self.publish_status)(Carried::new(array));
    }

    /// Returns the identity and acceptance time of a goal that is known.
    pub fn info(&self, id: GoalId) -> Option<GoalInfo> {
        self.lock().info(id)
    }

    /// Returns the status of a goal.
    pub fn status(&self, id: GoalId) -> GoalStatus {
        self.lock().status(id)
    }

    /// Adds an accepted goal, unless one with this id is known: `respond` answers its client.
    /// Returns whether it was added.
    pub fn add(
        &self,
        info: GoalInfo,
        status: GoalStatus,
        handle: H,
        respond: impl FnOnce(),
    ) -> bool {
        let mut goals = self.lock();
        if goals.info(info.goal_id).is_some() {
            return false;
        }
        goals.add(info, status, handle);
        respond();
        self.publish(&goals);
        true
    }

    /// Applies an `event` that does not end a goal.
    ///
    /// # Errors
    /// The status of the goal, if it does not allow the event.
    pub fn step(&self, id: GoalId, event: GoalEvent) -> Result<(), GoalStatus> {
        let mut goals = self.lock();
        goals.step(id, event)?;
        self.publish(&goals);
        Ok(())
    }

    /// Ends a goal by `event`, and sends the response with its result to the clients that wait for
    /// it. A goal can be canceled without a request.
    ///
    /// # Errors
    /// The status of the goal, if it does not allow the event.
    pub fn end(
        &self,
        id: GoalId,
        event: GoalEvent,
        response: impl FnOnce(GoalStatus) -> Carried,
    ) -> Result<(), GoalStatus> {
        let mut goals = self.lock();
        if event == GoalEvent::Canceled {
            // Refused if there was a request.
            let _ = goals.step(id, GoalEvent::CancelGoal);
        }
        goals.step(id, event)?;
        let response = response(goals.status(id));
        let ended = goals.end(id, response, self.clock.now() + self.kept);
        self.publish(&goals);
        drop(goals);
        ended.respond();
        Ok(())
    }

    /// Ends a goal by `event` with the default as its result.
    ///
    /// # Errors
    /// The status of the goal, if it does not allow the event.
    pub fn end_without_result(&self, id: GoalId, event: GoalEvent) -> Result<(), GoalStatus> {
        self.end(id, event, self.without_result)
    }

    /// Calls `act` if a goal is active, which it stays during the call.
    pub fn while_active<T>(&self, id: GoalId, act: impl FnOnce() -> T) -> Option<T> {
        let goals = self.lock();
        goals.status(id).is_active().then(act)
    }

    /// Sends the result of a goal, now or at its end.
    pub fn send_result(&self, id: GoalId, responder: Responder<Carried>) {
        let request = self.lock().request_result(id, responder);
        match request {
            ResultRequest::Known(responder, response) => responder.respond(response),
            ResultRequest::Unknown(responder) => {
                responder.respond((self.without_result)(GoalStatus::Unknown));
            }
            ResultRequest::Waits | ResultRequest::Refused(_) => {}
        }
    }

    /// Selects the goals that a request to cancel is about and that can be canceled; see
    /// [`GoalTable::select`].
    pub fn select<T>(
        &self,
        request: &CancelGoalRequest,
        of_goal: impl Fn(GoalId, &H) -> Option<T>,
    ) -> (CancelReturnCode, Vec<T>) {
        self.lock().select(request, of_goal)
    }
}

impl<H> fmt::Debug for Goals<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Goals").finish_non_exhaustive()
    }
}

/// The decisions of an application on one request to cancel goals. The last drop of it sends the
/// response.
#[derive(Debug)]
pub struct CancelDecisions {
    /// The code is that of the case that none is accepted.
    response: Mutex<CancelGoalResponse>,
    responder: Option<Responder<Carried>>,
}

impl CancelDecisions {
    /// Creates the decisions, of which none is made. If none will be to accept the request, its
    /// response has `return_code`.
    pub fn new(return_code: CancelReturnCode, responder: Responder<Carried>) -> Self {
        let response = CancelGoalResponse { return_code, goals_canceling: Vec::new() };
        Self { response: Mutex::new(response), responder: Some(responder) }
    }

    /// Accepts the request for one goal, which is canceling from now on; `None` if that had ended.
    pub fn accept(&self, canceling: Option<GoalInfo>) {
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
