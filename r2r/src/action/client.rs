//! Clients of actions: typed and untyped.

use super::progress::{AllProgress, FeedbackStream, Progress};
use super::{GoalStatus, to_message};
use crate::action_codec::ActionCodec;
use crate::action_msgs::msg::GoalInfo;
use crate::action_msgs::srv::CancelGoal::{Request, Response};
use crate::client;
use crate::error::{Error, Result};
use crate::link::Link;
use crate::message::{Carried, WrappedActionTypeSupport};
use crate::node_shared::{IsAvailablePollable, NodeShared};
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream};
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use uuid::Uuid;

/// A client whose application has goals `G`, results `R` and feedback `F`.
pub(crate) struct Inner<G, R, F> {
    pub(crate) codec: ActionCodec<G, R, F>,
    pub(crate) node: Arc<NodeShared>,
    pub(crate) send_goal: client::Inner,
    pub(crate) cancel_goal: client::Inner,
    pub(crate) get_result: client::Inner,
    /// The names of those of status and feedback.
    pub(crate) topics: [String; 2],
    pub(crate) progress: Arc<AllProgress<F>>,
}

/// An accepted goal, its result, and its feedback.
type Accepted<G, R, F> =
    (Goal<G, R, F>, BoxFuture<'static, Result<(GoalStatus, R)>>, FeedbackStream<F>);

/// An accepted goal.
struct Goal<G, R, F> {
    client: Arc<Inner<G, R, F>>,
    progress: Arc<Progress<F>>,
    uuid: Uuid,
}

impl<G, R, F> Inner<G, R, F>
where
    G: 'static,
    R: Send + 'static,
    F: Send + 'static,
{
    fn check(&self) -> Result<()> {
        match self.node.activity.is_closed() {
            true => Err(Error::RCL_RET_ACTION_CLIENT_INVALID),
            false => Ok(()),
        }
    }

    /// Sends a goal now. The futures can be moved, as those of r2r.
    fn send(self: &Arc<Self>, goal: G) -> Result<BoxFuture<'static, Result<Accepted<G, R, F>>>> {
        self.check()?;
        let uuid = Uuid::new_v4();
        let request = (self.codec.goal_request)(uuid, goal)?;
        let progress = self.progress.follow(uuid);
        let answer = self.send_goal.request(request, self.codec.is_accepted);
        let (answer, client) = (answer.map_err(of_action)?, self.clone());
        Ok(async move {
            if !answer.await.map_err(of_action)? {
                return Err(Error::RCL_RET_ACTION_GOAL_REJECTED);
            }
            progress.accept();
            let result = client.result(uuid, progress.clone())?;
            let link = Link::new(&client.node.activity);
            let feedback = FeedbackStream { progress: progress.clone(), link };
            Ok((Goal { client, progress, uuid }, result, feedback))
        }
        .boxed())
    }

    fn result(
        &self,
        uuid: Uuid,
        progress: Arc<Progress<F>>,
    ) -> Result<BoxFuture<'static, Result<(GoalStatus, R)>>> {
        let request = (self.codec.result_request)(uuid);
        let answer = self.get_result.request(request, self.codec.read_result);
        let answer = answer.map_err(of_action)?;
        Ok(async move {
            let answer = answer.await;
            progress.end();
            let (status, result) = answer.map_err(of_action)?;
            let status = GoalStatus::from_rcl(status);
            progress.set_status(status);
            Ok((status, result))
        }
        .boxed())
    }

    fn when_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        self.check()?;
        let services = [&self.send_goal, &self.cancel_goal, &self.get_result].map(Clone::clone);
        let (context, topics) = (self.node.context.clone(), self.topics.clone());
        let are_ready = move || {
            Ok(services.iter().all(client::Inner::is_ready)
                && topics.iter().all(|topic| context.has_publisher(topic)))
        };
        self.node.when(Box::new(are_ready), sender);
        Ok(())
    }
}

impl<G, R, F> Goal<G, R, F>
where
    G: 'static,
    R: Send + 'static,
    F: Send + 'static,
{
    fn status(&self) -> Result<GoalStatus> {
        self.client.check()?;
        Ok(self.progress.status())
    }

    fn cancel(&self) -> Result<BoxFuture<'static, Result<()>>> {
        self.client.check()?;
        let goal_info = GoalInfo { goal_id: to_message(self.uuid), ..GoalInfo::default() };
        let request = Carried::new(Request { goal_info });
        let answer = self.client.cancel_goal.request(request, Carried::get::<Response>);
        let answer = answer.map_err(of_action)?;
        Ok(async move {
            match answer.await.map_err(of_action)?.return_code {
                Response::ERROR_NONE => Ok(()),
                Response::ERROR_REJECTED => Err(Error::GoalCancelRejected),
                Response::ERROR_UNKNOWN_GOAL_ID => Err(Error::GoalCancelUnknownGoalID),
                Response::ERROR_GOAL_TERMINATED => Err(Error::GoalCancelAlreadyTerminated),
                code => Err(Error::Other(format!(
                    "failed to cancel a goal: its server answered with unknown code {code}"
                ))),
            }
        }
        .boxed())
    }
}

impl<G, R, F> Clone for Goal<G, R, F> {
    fn clone(&self) -> Self {
        let (client, progress) = (self.client.clone(), self.progress.clone());
        Self { client, progress, uuid: self.uuid }
    }
}

/// The error of an action client for that of one of its services.
fn of_action(error: Error) -> Error {
    match error {
        Error::RCL_RET_CLIENT_INVALID => Error::RCL_RET_ACTION_CLIENT_INVALID,
        error => error,
    }
}

/// A client of action `T`; from any thread. Clones are the same client.
#[derive(Clone)]
pub struct ActionClient<T>
where
    T: WrappedActionTypeSupport,
{
    inner: Arc<Inner<T::Goal, T::Result, T::Feedback>>,
}

impl<T: WrappedActionTypeSupport> ActionClient<T> {
    pub(crate) fn new(inner: Inner<T::Goal, T::Result, T::Feedback>) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Sends a goal. If the server accepts it, the future gives
    /// - a handle of the goal,
    /// - the future of its end and result,
    /// - the stream of its feedback, which ends when that future gets the result. The newest 100
    ///   wait in it.
    ///
    /// It gives [`Error::RCL_RET_ACTION_GOAL_REJECTED`] if the server rejects the goal, and another
    /// error if there is no server, or it is gone.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_CLIENT_INVALID`] once the node is destroyed.
    #[allow(clippy::type_complexity)] // the type that r2r has
    pub fn send_goal_request(
        &self,
        goal: T::Goal,
    ) -> Result<
        impl Future<
            Output = Result<(
                ActionClientGoal<T>,
                impl Future<Output = Result<(GoalStatus, T::Result)>> + use<T>,
                impl Stream<Item = T::Feedback> + Unpin + use<T>,
            )>,
        > + use<T>,
    > {
        let accepted = self.inner.send(goal)?;
        Ok(accepted.map(|accepted| {
            let (goal, result, feedback) = accepted?;
            Ok((ActionClientGoal { uuid: goal.uuid, goal }, result, feedback))
        }))
    }
}

impl<T: WrappedActionTypeSupport> IsAvailablePollable for ActionClient<T> {
    fn register_poll_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        self.inner.when_available(sender)
    }
}

/// A goal that was accepted; from any thread. Clones are the same goal.
#[derive(Clone)]
pub struct ActionClientGoal<T>
where
    T: WrappedActionTypeSupport,
{
    goal: Goal<T::Goal, T::Result, T::Feedback>,
    /// The id of the goal.
    pub uuid: Uuid,
}

impl<T: WrappedActionTypeSupport> ActionClientGoal<T> {
    /// The last status that is known.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_CLIENT_INVALID`] once the node is destroyed.
    pub fn get_status(&self) -> Result<GoalStatus> {
        self.goal.status()
    }

    /// Requests the server to cancel the goal. If it accepts, the future gives no error, and the
    /// goal ends later. Otherwise it gives [`Error::GoalCancelRejected`],
    /// [`Error::GoalCancelUnknownGoalID`] or [`Error::GoalCancelAlreadyTerminated`].
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_CLIENT_INVALID`] once the node is destroyed.
    pub fn cancel(&self) -> Result<impl Future<Output = Result<()>> + use<T>> {
        self.goal.cancel()
    }
}

type Json = Result<Value>;

/// A client of an action that is known by name; from any thread. Clones are the same client.
#[derive(Clone)]
pub struct ActionClientUntyped {
    inner: Arc<Inner<Value, Json, Json>>,
}

impl ActionClientUntyped {
    pub(crate) fn new(inner: Inner<Value, Json, Json>) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Sends the goal that `goal` describes; fields that it lacks have their defaults. Otherwise
    /// like [`ActionClient::send_goal_request`].
    ///
    /// # Errors
    /// [`Error::SerdeError`] for a value that does not describe a goal, and those of
    /// [`ActionClient::send_goal_request`].
    #[allow(clippy::type_complexity)] // the type that r2r has
    pub fn send_goal_request(
        &self,
        goal: Value,
    ) -> Result<
        impl Future<
            Output = Result<(
                ActionClientGoalUntyped,
                impl Future<Output = Result<(GoalStatus, Result<Value>)>> + use<>,
                impl Stream<Item = Result<Value>> + Unpin + use<>,
            )>,
        > + use<>,
    > {
        let accepted = self.inner.send(goal)?;
        Ok(accepted.map(|accepted| {
            let (goal, result, feedback) = accepted?;
            Ok((ActionClientGoalUntyped { uuid: goal.uuid, goal }, result, feedback))
        }))
    }
}

impl IsAvailablePollable for ActionClientUntyped {
    fn register_poll_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        self.inner.when_available(sender)
    }
}

/// A goal of an untyped client that was accepted; from any thread. Clones are the same goal.
#[derive(Clone)]
pub struct ActionClientGoalUntyped {
    goal: Goal<Value, Json, Json>,
    /// The id of the goal.
    pub uuid: Uuid,
}

impl ActionClientGoalUntyped {
    /// Same as [`ActionClientGoal::get_status`].
    ///
    /// # Errors
    /// The same ones.
    pub fn get_status(&self) -> Result<GoalStatus> {
        self.goal.status()
    }

    /// Same as [`ActionClientGoal::cancel`].
    ///
    /// # Errors
    /// The same ones.
    pub fn cancel(&self) -> Result<impl Future<Output = Result<()>> + use<>> {
        self.goal.cancel()
    }
}
