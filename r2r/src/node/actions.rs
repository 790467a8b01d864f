//! The ends of actions that a node creates.

use super::Node;
use crate::action::{
    ActionClient, ActionClientUntyped, ActionServerGoalRequest, AllProgress, ClientInner, Goals,
    KEPT, KnownGoals, answer_goal,
};
use crate::action_codec::{self, ActionCodec, ClientTypes};
use crate::action_msgs::msg::GoalStatusArray;
use crate::action_msgs::srv::CancelGoal;
use crate::error::{Error, Result};
use crate::log::report;
use crate::message::{WrappedActionTypeSupport, WrappedServiceTypeSupport};
use crate::node_shared::invalid_name;
use crate::qos::QosProfile;
use crate::stream::or_report;
use crate::untyped::UntypedAction;
use futures::Stream;
use futures::channel::mpsc;
use ringspin_adapter::Carried;
use ringspin_adapter::action::ActionNames;
use ringspin_messages::RosAction;
use std::sync::Arc;
use uuid::Uuid;

/// Feedback that may wait for the executor.
const FEEDBACK: QosProfile = QosProfile::default().keep_last(100);
const STATUS: QosProfile = QosProfile::default().keep_last(1).transient_local();

impl Node {
    /// Creates a client of an action.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_NAME_INVALID`]; another one for an action of another type.
    pub fn create_action_client<T>(&mut self, action_name: &str) -> Result<ActionClient<T>>
    where
        T: WrappedActionTypeSupport,
    {
        self.action_client(action_name, action_codec::typed::<T>())
    }

    /// Creates a client of an action whose type is known by name.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`], and those of
    /// [`create_action_client`](Self::create_action_client).
    pub fn create_action_client_untyped(
        &mut self,
        action_name: &str,
        action_type: &str,
    ) -> Result<ActionClientUntyped> {
        self.action_client(action_name, UntypedAction::named(action_type)?)
    }

    fn action_client<T: ClientTypes>(
        &self,
        action: &str,
        codec: ActionCodec<T>,
    ) -> Result<ActionClient<T>> {
        let names = self.action_names(action)?;
        let cancel_type = <CancelGoal::Service as WrappedServiceTypeSupport>::table();
        let send_goal = self.client(&names.send_goal, codec.send_goal)?;
        let cancel_goal = self.client(&names.cancel_goal, cancel_type)?;
        let get_result = self.client(&names.get_result, codec.get_result)?;
        let progress = Arc::new(AllProgress::new());
        let (of_status, of_feedback) = (progress.clone(), progress.clone());
        self.listen(&names.status, STATUS, move |message: GoalStatusArray| {
            of_status.set_status(message.into());
        })?;
        let (topic, read) = (names.feedback.clone(), codec.read_feedback);
        self.hear(&names.feedback, codec.feedback, FEEDBACK, move |message| {
            if let Some((id, feedback)) = or_report(read(message), &topic) {
                of_feedback.add_feedback(id, feedback);
            }
        })?;
        let node = self.shared.clone();
        let topics = [names.status, names.feedback];
        let inner =
            ClientInner { codec, node, send_goal, cancel_goal, get_result, topics, progress };
        Ok(ActionClient::new(inner))
    }

    /// Creates a server of an action. The stream of its goals ends with the node.
    ///
    /// # Errors
    /// [`Error::RCL_RET_ACTION_NAME_INVALID`]; another one for an action that has a server in this
    /// process, or another type.
    pub fn create_action_server<T>(
        &mut self,
        action_name: &str,
    ) -> Result<impl Stream<Item = ActionServerGoalRequest<T>> + Unpin + use<T>>
    where
        T: WrappedActionTypeSupport,
    {
        let names = self.action_names(action_name)?;
        let feedback_type = Carried::table::<T::FeedbackMessage>();
        let status_type = Carried::table::<GoalStatusArray>();
        let feedback = self.publisher(&names.feedback, feedback_type, &FEEDBACK)?;
        let status = self.publisher(&names.status, status_type, &STATUS)?;
        let publish_status = move |array| {
            if let Err(error) = status.publish(array) {
                report(&error);
            }
        };
        let known = KnownGoals::new::<T::Ros>(self.shared.node.clock(), KEPT, publish_status);
        let (node, clock) = (self.shared.clone(), self.get_ros_clock());
        let goals = Arc::new(Goals { node, clock, feedback, known });
        let (sender, requests) = mpsc::unbounded();
        let (of_goals, of_cancel) = (goals.clone(), goals.clone());
        self.respond::<T::SendGoal>(&names.send_goal, move |request, responder| {
            let (id, goal) = T::Ros::into_goal(request);
            let goal = (Uuid::from_bytes(id), goal);
            if let Some(request) = answer_goal::<T>(&of_goals, goal, responder) {
                // Without a stream, the request is dropped: rejected.
                let _ = sender.unbounded_send(request);
            }
        })?;
        self.respond::<CancelGoal::Service>(&names.cancel_goal, move |request, responder| {
            of_cancel.request_cancel(request, responder);
        })?;
        self.respond::<T::GetResult>(&names.get_result, move |request, responder| {
            goals.send_result(Uuid::from_bytes(T::Ros::requested_result(&request)), responder);
        })?;
        Ok(requests)
    }

    fn action_names(&self, action: &str) -> Result<ActionNames> {
        let name = self.shared.node.resolve_topic_name(action);
        let name =
            name.map_err(|error| invalid_name(&error, Error::RCL_RET_ACTION_NAME_INVALID))?;
        Ok(ActionNames::of(&name))
    }
}
