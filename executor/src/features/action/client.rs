//! The client of an action.
//!
//! Any thread sends a goal: it takes a permit, and calls the service that accepts goals. The rest
//! happens on the event loop of the client. When the goal is accepted, the loop requests the result
//! before it calls the user, because that callback may fail, and the server forgets results some
//! time after the end of a goal. Feedback on all goals comes through one subscription; the loop
//! looks up the callback of the goal in a map behind a short lock, which it does not hold during
//! the callback. The permit is released with the result.

mod callbacks;
mod pursuit;

use crate::base::error::Result;
pub use callbacks::{AcceptedGoal, Feedback, GoalCallbacks, GoalOutcome};

use super::channel::{Channel, SendGoalFuture};
use super::error::SendGoalError;
use super::messages::{
    CancelGoalRequest, CancelGoalResponse, FeedbackMessage, GetResultRequest, GetResultResponse,
    GoalId, SendGoalRequest, SendGoalResponse,
};
use super::{Action, Names};
use crate::base::departure::{Departure, End};
use crate::base::qos::QoS;
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::features::message_checks::is_valid;
use crate::features::random::NodeRandom;
use crate::features::service::{CallError, CallFuture, CallRefused, Client, Reply};
use crate::running::event_loop::{BoxError, CallbackResult};
use crate::running::graph::check_depth;
use crate::running::node::Node;
use pursuit::{Place, Pursuit, Shared};
use ringspin_ringbuf::Permits;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(doc)]
use super::GoalStatus;

/// The limits of an action's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionClientOptions {
    /// The number of goals at once, from sending them to their results, 1 to 2^19; further ones are
    /// refused and handed back. Default: 64, as at the [server](super::ActionServerOptions).
    pub goals_max: usize,
    /// The number of feedback messages, of all goals together, that may wait for their events; and,
    /// of each goal that is [awaited](ActionClient::send_goal_async), for the task. Beyond that the
    /// oldest message is dropped and counted; feedback that is never read takes memory, but no
    /// place of other clients. Default: 10, the depth of ROS 2's default profile.
    pub feedback_depth: usize,
}

impl Default for ActionClientOptions {
    fn default() -> Self {
        Self { goals_max: 64, feedback_depth: 10 }
    }
}

/// Sends goals to an action server; from any thread, and cheap to clone.
///
/// It ends with its last clone, once its goals have ended: their callbacks are called until then.
///
/// `S` is the state of the callback group that created it: responses, feedback and results are
/// events of that group.
pub struct ActionClient<S, A: Action> {
    shared: Arc<Shared<S, A>>,
    send: Client<S, SendGoalRequest<A>, SendGoalResponse>,
    cancel: Client<S, CancelGoalRequest, CancelGoalResponse>,
    results: Client<S, GetResultRequest, GetResultResponse<A>>,
    /// For goals, from sending them to their results.
    goals: Arc<Permits>,
    /// For results that are requested apart from that.
    asked: Arc<Permits>,
    feedback_depth: usize,
    /// Ends the subscription to feedback.
    departure: Arc<Departure>,
}

impl<S: Send + 'static, A: Action> ActionClient<S, A> {
    /// The same client, with [`CallError::TimedOut`] when the server does not answer within
    /// `timeout` of the executor's time that it accepts a goal, or cancels goals.
    ///
    /// A goal that the server accepts after that is pursued all the same.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        let (send, cancel) = (self.send.with_timeout(timeout), self.cancel.with_timeout(timeout));
        Self { send, cancel, ..self }
    }

    /// The same client, with [`CallError::TimedOut`] when a goal has no result within `timeout` of
    /// the executor's time after it was accepted. The goal continues; cancel it if that is
    /// unwanted. Its result may come all the same, and is ignored: until then it takes the place of
    /// another one, and when `goals_max` results are late, further ones are
    /// [`CallError::TooManyCalls`].
    #[must_use]
    pub fn with_result_timeout(self, timeout: Duration) -> Self {
        Self { results: self.results.with_timeout(timeout), ..self }
    }

    /// The action's fully qualified name.
    pub fn action(&self) -> &str {
        &self.shared.action
    }

    /// Whether any node offers the action; false while the graph is being built.
    ///
    /// From a server beyond the process the first feedback may be missed all the same: its topic is
    /// found apart from the services.
    pub fn server_is_ready(&self) -> bool {
        self.send.service_is_ready()
            && self.cancel.service_is_ready()
            && self.results.service_is_ready()
    }

    /// Sends a goal, and calls `callbacks` with the response and, if the goal is accepted, with
    /// feedback and a result.
    ///
    /// # Errors
    /// [`CallRefused`] hands the goal back; nothing is called.
    pub fn send_goal(
        &self,
        goal: impl Into<Arc<A::Goal>>,
        callbacks: GoalCallbacks<S, A>,
    ) -> Result<GoalId, CallRefused<Arc<A::Goal>>> {
        let goal = goal.into();
        let name = format_args!("a goal of {}", self.action());
        if !is_valid(self.shared.check_goal, &*goal, name) {
            return Err(CallRefused { request: goal, reason: CallError::Invalid });
        }
        let Some(place) = Place::take(&self.goals) else {
            return Err(CallRefused { request: goal, reason: CallError::TooManyCalls });
        };
        let goal_id = self.shared.next_id();
        let client = self.clone();
        let sent = self.send.call(SendGoalRequest { goal_id, goal }, move |state, reply, cx| {
            client.answered(goal_id, place, callbacks, state, reply, cx)
        });
        match sent {
            Ok(()) => Ok(goal_id),
            Err(CallRefused { request, reason }) => {
                Err(CallRefused { request: request.goal, reason })
            }
        }
    }

    fn answered(
        self,
        goal_id: GoalId,
        place: Place,
        callbacks: GoalCallbacks<S, A>,
        state: &mut S,
        reply: Result<Reply<SendGoalResponse>, CallError>,
        cx: &mut Context<'_>,
    ) -> Result<(), BoxError> {
        let GoalCallbacks { response, feedback, result } = callbacks;
        let accepted = match reply {
            Ok(reply) if reply.accepted => Ok(AcceptedGoal { goal_id, stamp: reply.stamp }),
            Ok(_) => Err(SendGoalError::Rejected),
            Err(error) => Err(error.into()),
        };
        let mut refused = None;
        if accepted.is_err() {
            drop(place); // now, so that the callback may send another goal
        } else {
            // Asked for before the user's callback, which may fail: the result comes after it.
            let listens = (self.shared, self.departure);
            let pursuit = Pursuit::new(listens, goal_id, feedback, result, place);
            let pursuit = Arc::new(pursuit);
            let on_reply = pursuit.clone();
            let asked = self.results.call(GetResultRequest { goal_id }, move |state, reply, cx| {
                on_reply.end(state, reply, cx)
            });
            refused = asked.err().map(|refused| (pursuit, refused.reason));
        }
        response.map_or(Ok(()), |callback| callback(state, accepted, cx))?;
        refused.map_or(Ok(()), |(pursuit, reason)| pursuit.end(state, Err(reason), cx))
    }

    /// Sends a goal now, and returns the future of its acceptance, to be awaited in a
    /// [task](Node::spawn).
    ///
    /// ```
    /// # use ringspin_executor::{Action, ActionClientOptions, Graph, SendGoalError};
    /// # struct Countdown;
    /// # impl Action for Countdown {
    /// #     type Goal = u32;
    /// #     type Result = ();
    /// #     type Feedback = u32;
    /// # }
    /// # let graph = Graph::new();
    /// let node = graph.create_node("operator", ())?;
    /// let options = ActionClientOptions::default();
    /// let client = node.create_action_client::<Countdown>("countdown", options)?;
    /// node.spawn("count down", async move {
    ///     let mut goal = client.send_goal_async(10).await?;
    ///     let mut feedback = goal.feedback();
    ///     while let Some(left) = feedback.next().await {
    ///         println!("{} to go", *left);
    ///     }
    ///     println!("{}", goal.result().await?.status);
    ///     Ok::<(), SendGoalError>(())
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn send_goal_async(&self, goal: impl Into<Arc<A::Goal>>) -> SendGoalFuture<A> {
        let cancel = self.cancel.clone();
        let cancel = move |goal_id| cancel.call_async(CancelGoalRequest::goal(goal_id));
        let channel = Arc::new(Channel::new(self.feedback_depth, Box::new(cancel)));
        let sent = self.send_goal(goal, Channel::callbacks(&channel));
        SendGoalFuture::new(sent.map(|_| channel).map_err(|refused| refused.reason))
    }

    /// Requests the result of any goal of the action, of any client, and calls `then` with it once
    /// the goal has ended; a goal that the server does not know (any more) has status
    /// [`GoalStatus::Unknown`].
    ///
    /// # Errors
    /// [`CallRefused`] hands the goal's identity back; `then` is not called.
    pub fn get_result<F, R>(&self, goal_id: GoalId, then: F) -> Result<(), CallRefused<GoalId>>
    where
        F: FnOnce(&mut S, Result<GoalOutcome<A>, CallError>, &mut Context<'_>) -> R
            + Send
            + 'static,
        R: CallbackResult,
    {
        let Some(place) = Place::take(&self.asked) else {
            return Err(CallRefused { request: goal_id, reason: CallError::TooManyCalls });
        };
        let asked = self.results.call(GetResultRequest { goal_id }, move |state, reply, cx| {
            drop(place);
            then(state, reply.map(|reply| GoalOutcome::of(goal_id, &reply)), cx)
        });
        asked.map_err(|refused| CallRefused { request: goal_id, reason: refused.reason })
    }

    /// Requests to cancel goals, and calls `then` with the response. The server may reject the
    /// request, and has to end the goals of an accepted one: the result of a goal shows how it
    /// ended.
    ///
    /// # Errors
    /// [`CallRefused`]; `then` is not called.
    pub fn cancel<F, R>(
        &self,
        request: CancelGoalRequest,
        then: F,
    ) -> Result<(), CallRefused<CancelGoalRequest>>
    where
        F: FnOnce(&mut S, Result<Reply<CancelGoalResponse>, CallError>, &mut Context<'_>) -> R
            + Send
            + 'static,
        R: CallbackResult,
    {
        self.cancel.call(request, then)
    }

    /// Requests to cancel goals, and returns the future of the response.
    pub fn cancel_async(&self, request: CancelGoalRequest) -> CallFuture<CancelGoalResponse> {
        self.cancel.call_async(request)
    }
}

impl<S, A: Action> Clone for ActionClient<S, A> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            send: self.send.clone(),
            cancel: self.cancel.clone(),
            results: self.results.clone(),
            goals: self.goals.clone(),
            asked: self.asked.clone(),
            feedback_depth: self.feedback_depth,
            departure: self.departure.clone(),
        }
    }
}

impl<S, A: Action> fmt::Debug for ActionClient<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionClient").field("action", &self.shared.action).finish_non_exhaustive()
    }
}

impl<S: Send + 'static, A: Action> ActionClient<S, A> {
    pub(crate) fn create(
        node: &Node<S>,
        name: &str,
        options: ActionClientOptions,
    ) -> Result<ActionClient<S, A>> {
        let names = Names::resolve(node, name)?;
        let ActionClientOptions { goals_max, feedback_depth } = options;
        let calls = QoS::keep_all(goals_max);
        let cancels = QoS::keep_all(goals_max.max(QoS::services().depth()));
        let results = QoS::keep_all(goals_max.saturating_mul(2));
        // Unread feedback is bounded by goal, and must not take slots of other subscriptions.
        let feedback = QoS::keep_last(feedback_depth).held(usize::MAX);
        [calls, results, feedback]
            .iter()
            .try_for_each(|qos| check_depth::<()>(&names.action, *qos))?;
        let permits = || Arc::new(Permits::new(goals_max as u32));
        let random =
            NodeRandom::create_numbered(node, &format!("goals of {}, client", names.action))?;
        let check = node.handle.graph.builder().message_check::<A::Goal>();
        let shared = Arc::new(Shared::new(names.action.clone(), check, random, node.clock()));
        let cancel = node.create_client(&names.hidden("cancel_goal"), cancels)?;
        let send = node.create_client(&names.hidden("send_goal"), calls)?;
        let results = node.create_client(&names.hidden("get_result"), results)?;
        let of = shared.clone();
        let feedback = node.create_subscription(
            &names.hidden("feedback"),
            feedback,
            move |state: &mut S, message: &Message<FeedbackMessage<A>>, cx| {
                of.hear(state, message, cx)
            },
        )?;
        let end = End::Entity(feedback.callback());
        let departure = Arc::new(node.handle.graph.departure(&node.handle.graph.builder(), end));
        let (goals, asked) = (permits(), permits());
        Ok(ActionClient { shared, send, cancel, results, goals, asked, feedback_depth, departure })
    }
}
