//! Action servers.
//!
//! The services and the goals of a server share its [`ServerGoals`]. Services refer to it without
//! keeping it: the server ends with its last handle, once its goals have ended. Nothing here keeps
//! the node; the futures of the goals run in its event loop.

use super::GoalUuid;
use super::action_names;
use super::cancellation::Cancellation;
use super::goal_receiver::ActionGoalReceiver;
use super::options::{ActionServerOptions, IntoActionServerOptions};
use super::server_goal::{RequestedGoal, TerminatedGoal};
use crate::app::LIBRARY;
use crate::clock::Clock;
use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::{Slot, State};
use crate::log_error;
use crate::logging::Logger;
use crate::node::Node;
use crate::qos::QoSProfile;
use crate::tasks::Tasks;
use ringspin::action::messages::{CancelGoalRequest, CancelReturnCode};
use ringspin::action::{GoalId, GoalInfo, GoalStatus};
use ringspin::{Publisher, Responder, Time};
use ringspin_adapter::action::{CancelDecisions, Goals};
use ringspin_adapter::{Carried, Type, lock};
use ringspin_messages::action_msgs::msg::GoalStatusArray;
use ringspin_messages::action_msgs::srv::CancelGoal;
use ringspin_messages::{CdrType, GeneratedService, RosAction};
use rosidl_runtime_rs::Action;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::UnboundedSender;

/// A handle of an action server.
pub type ActionServer<A> = Arc<ActionServerState<A>>;

/// Calls a callback with each goal of an action.
///
/// Created by [`NodeState::create_action_server`](crate::NodeState::create_action_server). Once its
/// last handle is dropped, goals are rejected; accepted ones run to their ends. An
/// action has one server in a process.
pub struct ActionServerState<A: Action> {
    goals: Arc<ServerGoals<A>>,
    node: Node,
}

/// A function that gets each goal.
type Dispatch<A> = Box<dyn FnMut(RequestedGoal<A>) + Send>;

/// The part of a server that its services and goals share.
pub(super) struct ServerGoals<A: Action> {
    pub(super) known: Goals<Arc<Cancellation>>,
    pub(super) feedback: Publisher<Carried>,
    pub(super) logger: Logger,
    /// The clock of the times in messages.
    clock: Clock,
    dispatch: Slot<Dispatch<A>>,
    /// The goals that the application has not decided on.
    undecided: Mutex<BTreeSet<GoalUuid>>,
    services: Mutex<Vec<ringspin::Service>>,
}

impl<A: Action> ActionServerState<A> {
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`]; another one for an action of another type, or with
    /// another server in this process.
    pub(crate) fn create<'a, Task>(
        node: &Node,
        options: impl IntoActionServerOptions<'a>,
        callback: impl FnMut(RequestedGoal<A>) -> Task + Send + Sync + 'static,
    ) -> Result<ActionServer<A>, RclrsError>
    where
        Task: Future<Output = TerminatedGoal> + Send + 'static,
    {
        let dispatch = to_callback(&node.event_loop.tasks, callback);
        let options = options.into_action_server_options();
        Ok(Arc::new(Self::dispatching(node, &options, dispatch)?))
    }

    /// # Errors
    /// The errors of [`create`](Self::create).
    pub(super) fn sending(
        node: &Node,
        options: &ActionServerOptions<'_>,
        sender: UnboundedSender<RequestedGoal<A>>,
    ) -> Result<Self, RclrsError> {
        Self::dispatching(node, options, to_channel(sender))
    }

    fn dispatching(
        node: &Node,
        options: &ActionServerOptions<'_>,
        dispatch: Dispatch<A>,
    ) -> Result<Self, RclrsError> {
        let goals = ServerGoals::create(node, options, dispatch)?;
        Ok(Self { goals, node: node.clone() })
    }

    /// Calls `callback` from the next goal on.
    pub fn set_callback<Task>(
        &self,
        callback: impl FnMut(RequestedGoal<A>) -> Task + Send + Sync + 'static,
    ) where
        Task: Future<Output = TerminatedGoal> + Send + 'static,
    {
        self.goals.dispatch.set(Some(to_callback(self.tasks(), callback)));
    }

    /// Changes the server into a receiver of goals. [`Arc::into_inner`] gives the state of the only
    /// handle of a server.
    #[must_use]
    pub fn into_goal_receiver(self) -> ActionGoalReceiver<A> {
        ActionGoalReceiver::of_server(self)
    }

    pub(super) fn send_goals_to(&self, sender: UnboundedSender<RequestedGoal<A>>) {
        self.goals.dispatch.set(Some(to_channel(sender)));
    }

    pub(super) fn tasks(&self) -> &Tasks {
        &self.node.event_loop.tasks
    }
}

impl<A: Action> Drop for ActionServerState<A> {
    fn drop(&mut self) {
        self.goals.dispatch.set(Some(Box::new(drop)));
    }
}

fn to_callback<A: Action, Task>(
    tasks: &Tasks,
    mut callback: impl FnMut(RequestedGoal<A>) -> Task + Send + 'static,
) -> Dispatch<A>
where
    Task: Future<Output = TerminatedGoal> + Send + 'static,
{
    let tasks = tasks.clone();
    Box::new(move |goal| {
        let task = callback(goal);
        tasks.add(async move {
            task.await;
        });
    })
}

fn to_channel<A: Action>(sender: UnboundedSender<RequestedGoal<A>>) -> Dispatch<A> {
    Box::new(move |goal| {
        // Without a receiver the goal is dropped: rejected.
        let _ = sender.send(goal);
    })
}

impl<A: Action> ServerGoals<A> {
    fn create(
        node: &Node,
        options: &ActionServerOptions<'_>,
        dispatch: Dispatch<A>,
    ) -> Result<Arc<Self>, RclrsError> {
        let names = action_names(node, options.action_name)?;
        let type_of_feedback = Carried::table::<A::FeedbackMessage>();
        let feedback = (&*names.feedback, type_of_feedback, options.feedback_topic_qos);
        let status =
            (&*names.status, Carried::table::<GoalStatusArray>(), options.status_topic_qos);
        let (feedback, status) = (publisher(node, feedback)?, publisher(node, status)?);
        let publish_status = move |array| {
            if let Err(error) = status.publish(array) {
                log_error!(LIBRARY, "failed to publish on {}: {error}", names.status);
            }
        };
        let (clock, kept) = (node.event_loop.node.clock(), options.goal_expiration_timeout);
        let this = Arc::new(Self {
            known: Goals::new::<A::Ros>(clock, kept, publish_status),
            feedback,
            logger: node.logger().clone(),
            clock: node.get_clock(),
            dispatch: Slot::new(dispatch),
            undecided: Mutex::default(),
            services: Mutex::default(),
        });
        type GetResult<A> = <<A as Action>::Ros as RosAction>::GetResult;
        type SendGoal<A> = <<A as Action>::Ros as RosAction>::SendGoal;
        let cancel_goal = (&*names.cancel_goal, options.cancel_service_qos);
        this.serve::<CancelGoal::Service>(node, cancel_goal, Self::request_cancel)?;
        let get_result = (&*names.get_result, options.result_service_qos);
        this.serve::<GetResult<A>>(node, get_result, |this, request, responder| {
            this.known.send_result(GoalId(A::Ros::requested_result(&request)), responder);
        })?;
        let send_goal = (&*names.send_goal, options.goal_service_qos);
        this.serve::<SendGoal<A>>(node, send_goal, |this, request, responder| {
            this.request_goal(A::Ros::into_goal(request), responder);
        })?;
        Ok(this)
    }

    /// Serves a service while this is kept.
    fn serve<S: GeneratedService>(
        self: &Arc<Self>,
        node: &Node,
        (service, qos): (&str, QoSProfile),
        respond: fn(&Arc<Self>, S::Request, Responder<Carried>),
    ) -> Result<(), RclrsError> {
        node.note_topic(service, Type::Service(Carried::service_table::<S>()))?;
        let (this, name) = (Arc::downgrade(self), service.to_owned());
        let call = move |_: &mut State<()>,
                         request: &Carried,
                         responder: Responder<Carried>,
                         _: &mut ringspin::Context<'_>| {
            let Some(this) = this.upgrade() else { return };
            match request.get::<S::Request>() {
                Ok(request) => respond(&this, request, responder),
                Err(error) => log_error!(LIBRARY, "{name}: dropped a request: {error}"),
            }
        };
        let qos = qos.for_service();
        let created = node.event_loop.node.create_deferred_service(service, qos, call);
        let failed = |error| RclrsError::from_graph(&error, RclReturnCode::ServiceNameInvalid);
        lock(&self.services).push(created.map_err(failed)?);
        Ok(())
    }

    /// The time of the node's clock.
    pub(super) fn stamp(&self) -> Time {
        Time::from_nanos(u64::try_from(self.clock.now().nsec).unwrap_or_default())
    }

    fn request_goal(
        self: &Arc<Self>,
        (id, goal): ([u8; 16], A::Goal),
        responder: Responder<Carried>,
    ) {
        let uuid = GoalUuid(id);
        let is_known = self.known.info(uuid.into()).is_some();
        if is_known || !lock(&self.undecided).insert(uuid) {
            log_error!(&self.logger, "rejected goal {uuid}: another one has its id");
            responder.respond(Carried::new(A::Ros::goal_response(false, (0, 0))));
            return;
        }
        let goal = RequestedGoal::new(self.clone(), (uuid, goal), responder);
        self.dispatch.with(|dispatch| dispatch(goal));
    }

    /// The application has accepted or rejected a goal.
    pub(super) fn is_decided(&self, id: GoalUuid) {
        lock(&self.undecided).remove(&id);
    }

    fn request_cancel(
        self: &Arc<Self>,
        request: CancelGoal::Request,
        responder: Responder<Carried>,
    ) {
        let request = CancelGoalRequest::from(request);
        let goal_id = request.goal_info.goal_id;
        let of_goal = |id: GoalId, goal: &Arc<Cancellation>| Some((id, goal.clone()));
        let (_, selected) = self.known.select(&request, of_goal);
        let status = self.known.status(goal_id);
        let code = match status {
            _ if !selected.is_empty() || goal_id == GoalId::ZERO => CancelReturnCode::Rejected,
            GoalStatus::Unknown => CancelReturnCode::UnknownGoalId,
            _ => CancelReturnCode::GoalTerminated,
        };
        let decisions = Arc::new(CancelDecisions::new(code, responder));
        let stamp = self.stamp();
        if selected.is_empty() && status == GoalStatus::Canceling {
            decisions.accept(Some(GoalInfo { goal_id, stamp }));
        }
        for (goal_id, cancellation) in selected {
            cancellation.request(decisions.clone(), GoalInfo { goal_id, stamp });
        }
    }
}

impl<A: Action> Drop for ServerGoals<A> {
    fn drop(&mut self) {
        lock(&self.services).iter().for_each(ringspin::Service::destroy);
    }
}

/// Creates a publisher on a topic with a type.
fn publisher(
    node: &Node,
    (topic, topic_type, qos): (&str, &'static CdrType, QoSProfile),
) -> Result<Publisher<Carried>, RclrsError> {
    node.note_topic(topic, Type::Topic(topic_type))?;
    let event_loop = &node.event_loop;
    let created = event_loop.node.create_publisher::<Carried>(topic, qos.for_publisher());
    let failed = |error| RclrsError::from_graph(&error, RclReturnCode::TopicNameInvalid);
    let publisher = created.map_err(failed)?;
    Ok(match event_loop.app.is_deterministic {
        true => publisher.digested(),
        false => publisher,
    })
}
