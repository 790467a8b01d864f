//! Action clients.

use super::followed::Followed;
use super::goal_client::{
    CancelResponseClient, CancellationClient, FeedbackClient, GoalClient,
    MultiCancelResponseClient, Part, RequestedGoalClient, ResultClient, StatusClient,
    StatusWatcher,
};
use super::options::IntoActionClientOptions;
use super::{CancelResponse, GoalUuid, MultiCancelResponse, action_names};
use crate::client::{Client, ClientOptions, ClientState};
use crate::error::RclrsError;
use crate::executor::Promise;
use crate::node::Node;
use crate::qos::QoSProfile;
use crate::subscription::{Subscription, SubscriptionOptions};
use ringspin_messages::RosAction;
use ros_env::action_msgs::msg::{GoalInfo, GoalStatusArray};
use ros_env::action_msgs::srv::{CancelGoal, CancelGoal_Request, CancelGoal_Response};
use ros_env::builtin_interfaces::msg::Time;
use ros_env::unique_identifier_msgs::msg::UUID;
use rosidl_runtime_rs::{Action, Service};
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;
use uuid::Uuid;

/// A handle of an action client.
pub type ActionClient<A> = Arc<ActionClientState<A>>;

/// Sends goals to the server of an action; from any thread.
///
/// Created by [`NodeState::create_action_client`](crate::NodeState::create_action_client). The
/// parts of a goal, such as a [`FeedbackClient`], keep it.
///
/// A request ends without a response, which is logged, if there is no server in reach, or if it
/// ends. Then a goal is treated as rejected, a request to cancel as well, and a result as that of
/// an unknown goal. rclrs never ends such a request.
pub struct ActionClientState<A: Action> {
    send_goal: Client<A::SendGoalService>,
    cancel_goal: Client<CancelGoal>,
    get_result: Client<A::GetResultService>,
    followed: Arc<Followed<A::Feedback>>,
    feedback: Subscription<A::FeedbackMessage>,
    status: Subscription<GoalStatusArray>,
    node: Node,
}

/// The response to a goal.
type GoalResponse<A> = <<A as Action>::SendGoalService as Service>::Response;

/// The response to a request for a result.
type ResultResponse<A> = <<A as Action>::GetResultService as Service>::Response;

impl<A: Action> ActionClientState<A> {
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`](crate::RclReturnCode::TopicNameInvalid); another one for
    /// an action of another type, or with a server that offers less than the options request.
    pub(crate) fn create<'a>(
        node: &Node,
        options: impl IntoActionClientOptions<'a>,
    ) -> Result<Arc<Self>, RclrsError> {
        let options = options.into_action_client_options();
        let names = action_names(node, options.action_name)?;
        let followed = Arc::new(Followed::new());
        let (of_feedback, of_status) = (followed.clone(), followed.clone());
        let mut of_topic = SubscriptionOptions::new(&names.feedback);
        of_topic.qos = options.feedback_topic_qos;
        let add_feedback = move |message: A::FeedbackMessage| {
            let (id, feedback) = A::Ros::into_feedback(message);
            of_feedback.add_feedback(GoalUuid(id), feedback);
        };
        let feedback = node.create_subscription::<A::FeedbackMessage, _>(of_topic, add_feedback)?;
        let mut of_topic = SubscriptionOptions::new(&names.status);
        of_topic.qos = options.status_topic_qos;
        let set_statuses = move |message: GoalStatusArray| of_status.set_statuses(message);
        let status = node.create_subscription::<GoalStatusArray, _>(of_topic, set_statuses)?;
        Ok(Arc::new(Self {
            send_goal: client(node, &names.send_goal, options.goal_service_qos)?,
            cancel_goal: client(node, &names.cancel_goal, options.cancel_service_qos)?,
            get_result: client(node, &names.get_result, options.result_service_qos)?,
            followed,
            feedback,
            status,
            node: node.clone(),
        }))
    }

    /// Whether the action has a server, in this process or in another one that is in reach.
    ///
    /// # Errors
    /// If the graph cannot run in its mode.
    pub fn server_is_available(&self) -> Result<bool, RclrsError> {
        let app = &self.node.event_loop.app;
        let topics = [self.feedback.topic_name(), self.status.topic_name()];
        Ok(self.send_goal.service_is_ready()?
            && self.cancel_goal.service_is_ready()?
            && self.get_result.service_is_ready()?
            && topics.iter().all(|topic| app.has_publisher(topic)))
    }

    /// A promise that resolves once the action has a server.
    pub fn notify_on_server_ready(self: &Arc<Self>) -> Promise<()> {
        let client = self.clone();
        let is_available = move || client.server_is_available().is_ok_and(|it| it);
        self.node.notify_on_graph_change(is_available)
    }

    /// Sends a goal, and awaits the decision of the server: a [`GoalClient`] if it accepts the
    /// goal, else `None`.
    ///
    /// # Panics
    /// With the errors of [`try_request_goal`](Self::try_request_goal).
    pub fn request_goal(self: &Arc<Self>, goal: A::Goal) -> RequestedGoalClient<A> {
        self.try_request_goal(goal).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Sends a goal like [`request_goal`](Self::request_goal).
    ///
    /// # Errors
    /// For a goal that its definition does not allow, beyond the unanswered requests that the
    /// options allow, and if the middleware refuses the request.
    pub fn try_request_goal(
        self: &Arc<Self>,
        goal: A::Goal,
    ) -> Result<RequestedGoalClient<A>, RclrsError> {
        let goal_id = GoalUuid(Uuid::new_v4().into_bytes());
        // Before the request: nothing that the server publishes is lost.
        let part = Part::new(self, goal_id);
        let (feedback, status) = (self.followed.feedback(goal_id), self.followed.status(goal_id));
        let request = A::Ros::goal_request(goal_id.0, goal);
        let response: Promise<GoalResponse<A>> = self.send_goal.call(request)?;
        let (sender, receiver) = oneshot::channel();
        let unfollow = Unfollow(Arc::downgrade(self), goal_id);
        self.node.event_loop.tasks.add(async move {
            // The receivers are dropped before this, and after `sender`.
            let unfollow = unfollow;
            let (feedback, status, sender) = (feedback, status, sender);
            // A request without a response has been logged.
            let Ok(response) = response.await else { return };
            // Without a client nothing waits.
            let Some(client) = unfollow.0.upgrade() else { return };
            if !A::Ros::is_accepted(&response) {
                let _ = sender.send(None);
                return;
            }
            let (sec, nanosec) = A::Ros::response_stamp(&response);
            let stamp = Time { sec, nanosec };
            client.followed.accept(goal_id, stamp.clone());
            if sender.is_closed() {
                return;
            }
            let Ok(result) = client.try_receive_result(goal_id) else { return };
            let _ = sender.send(Some(GoalClient {
                feedback: FeedbackClient::new(feedback, Part::new(&client, goal_id)),
                status: StatusWatcher::new(status, Part::new(&client, goal_id)),
                result,
                cancellation: CancellationClient::new(client, goal_id),
                stamp,
            }));
        });
        Ok(RequestedGoalClient::new(receiver, part))
    }

    /// The feedback of a goal from now on.
    pub fn receive_feedback(self: &Arc<Self>, goal_id: GoalUuid) -> FeedbackClient<A> {
        FeedbackClient::new(self.followed.feedback(goal_id), Part::new(self, goal_id))
    }

    /// All statuses of a goal from now on.
    pub fn receive_status(self: &Arc<Self>, goal_id: GoalUuid) -> StatusClient<A> {
        StatusClient::new(self.followed.statuses(goal_id), Part::new(self, goal_id))
    }

    /// The last status of a goal.
    pub fn watch_status(self: &Arc<Self>, goal_id: GoalUuid) -> StatusWatcher<A> {
        StatusWatcher::new(self.followed.status(goal_id), Part::new(self, goal_id))
    }

    /// Requests the result of a goal, and awaits it.
    ///
    /// # Panics
    /// With the errors of [`try_receive_result`](Self::try_receive_result).
    pub fn receive_result(self: &Arc<Self>, goal_id: GoalUuid) -> ResultClient<A> {
        self.try_receive_result(goal_id).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Requests the result of a goal like [`receive_result`](Self::receive_result).
    ///
    /// # Errors
    /// Beyond the unanswered requests that the options allow, and if the middleware refuses one.
    pub fn try_receive_result(
        self: &Arc<Self>,
        goal_id: GoalUuid,
    ) -> Result<ResultClient<A>, RclrsError> {
        let request = A::Ros::result_request(goal_id.0);
        let response: Promise<ResultResponse<A>> = self.get_result.call(request)?;
        let (sender, receiver) = oneshot::channel();
        self.node.event_loop.tasks.add(async move {
            if let Ok(response) = response.await {
                let (status, result) = A::Ros::into_result(response);
                let _ = sender.send((status.into(), result));
            }
        });
        Ok(ResultClient::new(receiver, Part::new(self, goal_id)))
    }

    /// Requests to cancel a goal, and awaits the decision of the server.
    ///
    /// # Panics
    /// With the errors of [`try_cancel_goal`](Self::try_cancel_goal).
    pub fn cancel_goal(self: &Arc<Self>, goal_id: GoalUuid) -> CancelResponseClient<A> {
        self.try_cancel_goal(goal_id).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Requests to cancel a goal like [`cancel_goal`](Self::cancel_goal).
    ///
    /// # Errors
    /// Beyond the unanswered requests that the options allow, and if the middleware refuses one.
    pub fn try_cancel_goal(
        self: &Arc<Self>,
        goal_id: GoalUuid,
    ) -> Result<CancelResponseClient<A>, RclrsError> {
        let receiver = self.request_cancel(goal_id, Time::default(), |response| {
            let stamp = response.goals_canceling.into_iter().next().map(|goal| goal.stamp);
            CancelResponse { code: response.return_code.into(), stamp }
        })?;
        Ok(CancelResponseClient::new(receiver, Part::new(self, goal_id)))
    }

    /// Requests to cancel all goals of the server, of all clients.
    ///
    /// # Panics
    /// With the errors of [`try_cancel_all_goals`](Self::try_cancel_all_goals).
    pub fn cancel_all_goals(self: &Arc<Self>) -> MultiCancelResponseClient<A> {
        self.try_cancel_all_goals().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Requests to cancel all goals like [`cancel_all_goals`](Self::cancel_all_goals).
    ///
    /// # Errors
    /// Beyond the unanswered requests that the options allow, and if the middleware refuses one.
    pub fn try_cancel_all_goals(
        self: &Arc<Self>,
    ) -> Result<MultiCancelResponseClient<A>, RclrsError> {
        self.try_cancel_goals_prior_to(Time::default())
    }

    /// Requests to cancel all goals that the server accepted at `time` or before, by its clock; at
    /// zero, all goals.
    ///
    /// # Panics
    /// With the errors of [`try_cancel_goals_prior_to`](Self::try_cancel_goals_prior_to).
    pub fn cancel_goals_prior_to(self: &Arc<Self>, time: Time) -> MultiCancelResponseClient<A> {
        self.try_cancel_goals_prior_to(time).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Requests to cancel goals like [`cancel_goals_prior_to`](Self::cancel_goals_prior_to).
    ///
    /// # Errors
    /// Beyond the unanswered requests that the options allow, and if the middleware refuses one.
    pub fn try_cancel_goals_prior_to(
        self: &Arc<Self>,
        time: Time,
    ) -> Result<MultiCancelResponseClient<A>, RclrsError> {
        let all = GoalUuid::default();
        let receiver = self.request_cancel(all, time, |response| {
            let goals = response.goals_canceling.into_iter();
            let stamps = goals.map(|goal| (GoalUuid(goal.goal_id.uuid), goal.stamp)).collect();
            MultiCancelResponse { code: response.return_code.into(), stamps }
        })?;
        Ok(MultiCancelResponseClient::new(receiver, Part::new(self, all)))
    }

    fn request_cancel<T: Send + 'static>(
        &self,
        goal_id: GoalUuid,
        stamp: Time,
        read: fn(CancelGoal_Response) -> T,
    ) -> Result<oneshot::Receiver<T>, RclrsError> {
        let goal_info = GoalInfo { goal_id: UUID { uuid: goal_id.0 }, stamp };
        let request = CancelGoal_Request { goal_info };
        let response: Promise<CancelGoal_Response> = self.cancel_goal.call(request)?;
        let (sender, receiver) = oneshot::channel();
        self.node.event_loop.tasks.add(async move {
            if let Ok(response) = response.await {
                let _ = sender.send(read(response));
            }
        });
        Ok(receiver)
    }

    /// Forgets a goal that nothing follows.
    pub(super) fn prune(&self, goal_id: GoalUuid) {
        self.followed.prune(goal_id);
    }
}

fn client<S: Service>(node: &Node, name: &str, qos: QoSProfile) -> Result<Client<S>, RclrsError> {
    let mut options = ClientOptions::new(name);
    options.qos = qos;
    ClientState::create(node, &options)
}

/// Lets a client forget a goal that nothing follows.
struct Unfollow<A: Action>(Weak<ActionClientState<A>>, GoalUuid);

impl<A: Action> Drop for Unfollow<A> {
    fn drop(&mut self) {
        if let Some(client) = self.0.upgrade() {
            client.prune(self.1);
        }
    }
}
