//! Clients of actions: typed and untyped.

use super::GoalStatus;
use super::progress::{AllProgress, FeedbackStream, GoalProgress};
use crate::action_codec::{ActionCodec, ClientTypes, UntypedTypes};
use crate::action_msgs::srv::CancelGoal::{Request, Response};
use crate::client;
use crate::error::{Error, Result};
use crate::link::Link;
use crate::node_shared::{IsAvailablePollable, NodeShared};
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream};
use ringspin::action::GoalId;
use ringspin::action::messages::CancelGoalRequest;
use ringspin_adapter::Carried;
use ringspin_messages::goal_status;
use std::future::Future;
use std::sync::Arc;
use uuid::Uuid;

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
    T: ClientTypes,
{
    inner: Arc<Inner<T>>,
}

/// A client of an action that is known by name: goals, results and feedback are JSON. Fields that a
/// goal lacks have their defaults; a value that does not describe a goal is
/// [`Error::SerdeError`].
pub type ActionClientUntyped = ActionClient<UntypedTypes>;

type Ended<R> = BoxFuture<'static, Result<(GoalStatus, R)>>;

/// The part of a client that its goals share.
pub(crate) struct Inner<T: ClientTypes> {
    pub(crate) codec: ActionCodec<T>,
    pub(crate) node: Arc<NodeShared>,
    pub(crate) send_goal: client::Inner,
    pub(crate) cancel_goal: client::Inner,
    pub(crate) get_result: client::Inner,
    /// The names of those of status and feedback.
    pub(crate) topics: [String; 2],
    pub(crate) progress: Arc<AllProgress<T::Feedback>>,
}

impl<T: ClientTypes> Inner<T> {
    fn check(&self) -> Result<()> {
        match self.node.activity.is_closed() {
            true => Err(Error::RCL_RET_ACTION_CLIENT_INVALID),
            false => Ok(()),
        }
    }

    fn result(
        &self,
        uuid: Uuid,
        progress: Arc<GoalProgress<T::Feedback>>,
    ) -> Result<Ended<T::Result>> {
        let request = (self.codec.result_request)(uuid);
        let answer = self.get_result.request(request, self.codec.read_result);
        let answer = answer.map_err(of_action)?;
        Ok(async move {
            let answer = answer.await;
            progress.end();
            let (status, result) = answer.map_err(of_action)?;
            let status = goal_status(status);
            progress.set_status(status);
            Ok((status, result))
        }
        .boxed())
    }
}

impl<T: ClientTypes> ActionClient<T> {
    pub(crate) fn new(inner: Inner<T>) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Sends a goal. If the server accepts it, the future gives
    /// - a handle of the goal,
    /// - the future of its end and result,
    /// - the stream of its feedback, which ends when that future gets the result. The newest 100
    ///   wait in it.
    ///
    /// It gives [`Error::RCL_RET_ACTION_GOAL_REJECTED`] if the server rejects the goal, and another
    /// error if there is no server, or it ended.
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
        self.inner.check()?;
        let uuid = Uuid::new_v4();
        let client = self.inner.clone();
        let request = (client.codec.goal_request)(uuid, goal)?;
        let progress = client.progress.follow(uuid);
        let answer = client.send_goal.request(request, client.codec.is_accepted);
        let answer = answer.map_err(of_action)?;
        // It can be moved, as that of r2r.
        Ok(async move {
            if !answer.await.map_err(of_action)? {
                return Err(Error::RCL_RET_ACTION_GOAL_REJECTED);
            }
            progress.accept();
            let result = client.result(uuid, progress.clone())?;
            let link = Link::new(&client.node.activity);
            let feedback = FeedbackStream { progress: progress.clone(), link };
            Ok((ActionClientGoal { client, progress, uuid }, result, feedback))
        }
        .boxed())
    }
}

impl<T: ClientTypes> IsAvailablePollable for ActionClient<T> {
    fn register_poll_available(&self, sender: oneshot::Sender<()>) -> Result<()> {
        let client = &self.inner;
        client.check()?;
        let services =
            [&client.send_goal, &client.cancel_goal, &client.get_result].map(Clone::clone);
        let (context, topics) = (client.node.context.clone(), client.topics.clone());
        let are_ready = move || {
            Ok(services.iter().all(client::Inner::is_ready)
                && topics.iter().all(|topic| context.has_publisher(topic)))
        };
        client.node.when(Box::new(are_ready), sender);
        Ok(())
    }
}

/// A goal that was accepted; from any thread. Clones are the same goal.
#[derive(Clone)]
pub struct ActionClientGoal<T>
where
    T: ClientTypes,
{
    client: Arc<Inner<T>>,
    progress: Arc<GoalProgress<T::Feedback>>,
    /// The id of the goal.
    pub uuid: Uuid,
}

/// A goal of an untyped client.
pub type ActionClientGoalUntyped = ActionClientGoal<UntypedTypes>;

impl<T: ClientTypes> ActionClientGoal<T> {
    /// The last status that is known.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_CLIENT_INVALID`] once the node is destroyed.
    pub fn get_status(&self) -> Result<GoalStatus> {
        self.client.check()?;
        Ok(self.progress.status())
    }

    /// Requests the server to cancel the goal. If it accepts, the future gives no error, and the
    /// goal ends later. Otherwise it gives [`Error::GoalCancelRejected`],
    /// [`Error::GoalCancelUnknownGoalID`] or [`Error::GoalCancelAlreadyTerminated`].
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_CLIENT_INVALID`] once the node is destroyed.
    pub fn cancel(&self) -> Result<impl Future<Output = Result<()>> + use<T>> {
        self.client.check()?;
        let request = CancelGoalRequest::goal(GoalId(self.uuid.into_bytes()));
        let request = Carried::new(Request::from(&request));
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
