//! The server of an action.
//!
//! The three services and the timer of an action belong to one callback group, so the callbacks for
//! goals and cancel requests run one at a time on its event loop. Handles of goals are used by
//! tasks and other threads. Both change one [`GoalTable`] behind a lock, in [`Server`]: a step is
//! decided there and not by an event of the loop, because the thread that ends a goal needs to know
//! at once whether that was legal. No callback of the user runs under the lock: a request to cancel
//! selects the goals first, and asks about each of them after the unlock.

mod shared;

pub(super) use shared::Server;

use super::goals::GoalTable;
use super::handle::{GoalHandle, Inner};
use super::messages::{
    CancelGoalRequest, CancelGoalResponse, CancelReturnCode, GetResultRequest, GoalInfo,
    SendGoalRequest, SendGoalResponse,
};
use super::{Action, GoalEvent, GoalStatus, Names};
use crate::base::departure::{End, Registration};
use crate::base::error::Result;
use crate::base::event::{CallbackId, EventId, SourceId};
use crate::base::qos::QoS;
use crate::delivery::context::Context;
use crate::features::service::Responder;
use crate::running::event_loop::{BoxError, CallbackResult, Entity, Outcome};
use crate::running::graph::{CallbackSpec, check_depth};
use crate::running::node::Node;
use ringspin_ringbuf::Counter;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// Limit of the requests that wait for the result of one goal.
const WAITING_MAX: usize = 64;

/// The options of an action server; every limit is one of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionServerOptions {
    /// The time for which a result is kept after its goal has ended. Default: 10 s, as in rcl since
    /// Iron (ros2/rcl#1012; 15 minutes before that), counted from the end of the goal, not from its
    /// acceptance (ros2/rcl#1103). [`Duration::MAX`] is for ever; zero is enough for clients that
    /// request the result before the goal ends, as the clients of this crate do as soon as the goal
    /// is accepted.
    pub result_timeout: Duration,
    /// The number of goals at once, 1 to 2^20; further ones are rejected without a call of
    /// `on_goal`, counted, and logged. Default: 64.
    pub goals_max: usize,
    /// The number of results that are kept; beyond it, the oldest one is forgotten before its time,
    /// and that is logged. Default: 64.
    pub results_max: usize,
}

impl Default for ActionServerOptions {
    fn default() -> Self {
        Self { result_timeout: Duration::from_secs(10), goals_max: 64, results_max: 64 }
    }
}

/// A server's response to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalResponse {
    /// It is accepted, and executing from now on.
    Accept,
    /// It is accepted, and [executed](GoalHandle::execute) later.
    Defer,
    /// It is not accepted.
    Reject,
}

/// A server's response to a request to cancel a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelResponse {
    /// The goal is canceling from now on; it is up to the server to end it.
    Accept,
    /// The goal continues.
    Reject,
}

/// The handle of an action server, usable from any thread; dropping it changes nothing.
pub struct ActionServer<A: Action> {
    server: Arc<Server<A>>,
    registration: Arc<Registration>,
}

impl<A: Action> ActionServer<A> {
    /// The action's fully qualified name.
    pub fn action(&self) -> &str {
        &self.server.action
    }

    /// The number of active goals.
    pub fn active_goals(&self) -> usize {
        self.server.goals().active()
    }

    /// The number of results that are kept for later requests.
    pub fn kept_results(&self) -> usize {
        self.server.goals().kept()
    }

    /// The number of goals that were rejected because `goals_max` were active.
    pub fn rejected_goals(&self) -> u64 {
        self.server.rejected.get()
    }

    /// Ends the server, so that another one can be created: its goals are aborted, calls that wait
    /// end with an error, and further ones are refused. Its callbacks are dropped at the next pause
    /// of their event loop, one that runs finishes. From any thread, and in its own callbacks.
    /// Further calls have no effect.
    pub fn destroy(&self) {
        self.registration.destroy();
    }
}

impl<A: Action> Clone for ActionServer<A> {
    fn clone(&self) -> Self {
        let Self { server, registration } = self;
        Self { server: server.clone(), registration: registration.clone() }
    }
}

impl<A: Action> fmt::Debug for ActionServer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionServer").field("action", &self.action()).finish_non_exhaustive()
    }
}

/// Calls `on_goal`, and accepts the goal if the callback does.
fn take_goal<S, A: Action, R: CallbackResult>(
    server: &Arc<Server<A>>,
    state: &mut S,
    request: &SendGoalRequest<A>,
    responder: Responder<SendGoalResponse>,
    cx: &mut Context<'_>,
    on_goal: &mut impl FnMut(&mut S, &A::Goal, &mut Context<'_>) -> GoalResponse,
    on_accepted: &mut impl FnMut(&mut S, GoalHandle<A>, &mut Context<'_>) -> R,
) -> Result<(), BoxError> {
    let answer = match server.has_place(request.goal_id) {
        true => on_goal(state, &request.goal, cx),
        false => GoalResponse::Reject,
    };
    let status = match answer {
        GoalResponse::Accept => GoalStatus::Executing,
        GoalResponse::Defer => GoalStatus::Accepted,
        GoalResponse::Reject => {
            responder.respond(SendGoalResponse { accepted: false, stamp: cx.now() });
            return Ok(());
        }
    };
    let info = GoalInfo { goal_id: request.goal_id, stamp: cx.now() };
    let handle = server.accept(info, request.goal.clone(), status);
    responder.respond(SendGoalResponse { accepted: true, stamp: info.stamp });
    on_accepted(state, handle, cx).into_result()
}

/// Calls `on_cancel` for each goal that a request to cancel selects.
fn cancel_goals<S, A: Action>(
    server: &Server<A>,
    state: &mut S,
    request: &CancelGoalRequest,
    cx: &mut Context<'_>,
    on_cancel: &mut impl FnMut(&mut S, &GoalHandle<A>, &mut Context<'_>) -> CancelResponse,
) -> CancelGoalResponse {
    let handle = |_, inner: &Weak<Inner<A>>| inner.upgrade().map(GoalHandle::new);
    let (mut return_code, meant) = server.goals().select(request, handle);
    let mut goals_canceling = Vec::new();
    for handle in &meant {
        let accepts = on_cancel(state, handle, cx) == CancelResponse::Accept;
        // The callback may have ended the goal instead.
        if accepts && server.step(handle.goal_id(), GoalEvent::CancelGoal).is_ok() {
            let (goal_id, stamp) = (handle.goal_id(), handle.accepted_at());
            goals_canceling.push(GoalInfo { goal_id, stamp });
        }
    }
    if goals_canceling.is_empty() && !meant.is_empty() {
        return_code = CancelReturnCode::Rejected;
    }
    CancelGoalResponse { return_code, goals_canceling }
}

/// The part of an action's server that forgets results in time.
struct ServerEntity<A: Action> {
    server: Arc<Server<A>>,
    source: SourceId,
    expiries: u64,
}

impl<S, A: Action> Entity<S> for ServerEntity<A> {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let mut goals = self.server.goals();
        let expired = goals.expire(cx.now());
        self.server.start_timer(&goals);
        drop(goals);
        if expired.is_empty() {
            return Outcome::Nothing; // it was evicted before
        }
        cx.begin(EventId { source: self.source, sequence: self.expiries });
        self.expiries += 1;
        drop(expired); // the user's, so within the event
        Outcome::Done
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        Some(EventId::NONE)
    }

    fn retire(&mut self) {
        self.server.stop();
    }
}

impl<A: Action> Drop for ServerEntity<A> {
    /// Handles may outlive the executor; after that the server answers no requests.
    fn drop(&mut self) {
        self.server.stop();
    }
}

impl<A: Action> ActionServer<A> {
    pub(crate) fn create<S: Send + 'static, R: CallbackResult + 'static>(
        node: &Node<S>,
        name: &str,
        options: ActionServerOptions,
        on_goal: impl FnMut(&mut S, &A::Goal, &mut Context<'_>) -> GoalResponse + Send + 'static,
        on_cancel: impl FnMut(&mut S, &GoalHandle<A>, &mut Context<'_>) -> CancelResponse
        + Send
        + 'static,
        on_accepted: impl FnMut(&mut S, GoalHandle<A>, &mut Context<'_>) -> R + Send + 'static,
    ) -> Result<ActionServer<A>> {
        let (mut on_goal, mut on_cancel, mut on_accepted) = (on_goal, on_cancel, on_accepted);
        let names = Names::resolve(node, name)?;
        let check = |qos| check_depth::<()>(&names.action, qos);
        check(QoS::keep_all(options.goals_max))?;
        // Goals beyond the limit are received, too, in order to be rejected.
        let requests = QoS::keep_all(options.goals_max.max(QoS::services().depth()));
        let results = QoS::keep_all(requests.depth().saturating_add(options.results_max));
        check(results)?;
        let (server, id) = ActionServer::create_idle(node, &names, options)?;
        let registration = Arc::new(node.handle.graph.registration(id));
        let (part, of) = (node.part_of(End::Entity(id)), [(); 3].map(|()| server.clone()));
        let serve = || -> Result<()> {
            let [of_cancel, of_goal, of_result] = of;
            part.create_deferred_service(
                &names.hidden("cancel_goal"),
                requests,
                move |state: &mut S, request: &CancelGoalRequest, responder: Responder<_>, cx| {
                    responder.respond(cancel_goals(&of_cancel, state, request, cx, &mut on_cancel));
                },
            )?;
            part.create_deferred_service(
                &names.hidden("send_goal"),
                requests,
                move |state: &mut S, request: &SendGoalRequest<A>, responder, cx| {
                    let (asked, then) = (&mut on_goal, &mut on_accepted);
                    take_goal(&of_goal, state, request, responder, cx, asked, then)
                },
            )?;
            part.create_deferred_service(
                &names.hidden("get_result"),
                results,
                move |_: &mut S, request: &GetResultRequest, responder, _| {
                    of_result.request_result(request.goal_id, responder);
                },
            )?;
            Ok(())
        };
        serve().inspect_err(|_| registration.destroy())?;
        Ok(ActionServer { server, registration })
    }

    /// The server without its services.
    fn create_idle<S: Send + 'static>(
        node: &Node<S>,
        names: &Names,
        options: ActionServerOptions,
    ) -> Result<(Arc<Server<A>>, CallbackId)> {
        let feedback = node.create_publisher(&names.hidden("feedback"), QoS::default())?;
        let latched = QoS::keep_last(1).transient_local();
        let status = node.create_publisher(&names.hidden("status"), latched)?;
        let name = format!("results of action {}", names.action);
        let mut builder = node.builder(&name)?;
        let timer = node.handle.new_idle_timer(&builder, &name); // until there is a result
        let target = builder.next_target(node.event_loop());
        let spec = CallbackSpec::of_timer(target, &timer);
        let id = builder.add_callback(node.event_loop(), name, spec);
        builder.set_owner(Some(End::Entity(id)));
        builder.own(End::Publisher(feedback.source()));
        builder.own(End::Publisher(status.source()));
        let server = Arc::new(Server {
            action: names.action.clone(),
            options,
            goals: Mutex::new(GoalTable::new(WAITING_MAX)),
            feedback,
            status,
            check_feedback: builder.message_check::<A::Feedback>(),
            check_result: builder.message_check::<A::Result>(),
            timer,
            clock: builder.clock.clone(),
            rejected: Counter::default(),
            forgotten: Counter::default(),
        });
        let source = builder.next_source();
        let entity = ServerEntity { server: server.clone(), source, expiries: 0 };
        builder.add_entity::<S>(node.event_loop(), Box::new(entity));
        Ok((server, id))
    }
}
