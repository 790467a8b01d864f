//! Actions that ROS defines: the types of their goals, and how what their services and topics carry
//! goes over the wire.

mod wire;

use crate::rcl::{MessageType, ServiceType};
use r2r::{WrappedActionTypeSupport, WrappedServiceTypeSupport};
use ringspin_executor::Action;
use std::marker::PhantomData;

/// Types that r2r generates for an action. All its messages may go to other threads.
pub trait RosAction:
    WrappedActionTypeSupport<
        Goal: Send + Sync,
        Result: Send + Sync,
        Feedback: Send + Sync,
        FeedbackMessage: Send + Sync,
        SendGoal: WrappedServiceTypeSupport<Request: Send + Sync, Response: Send + Sync>,
        GetResult: WrappedServiceTypeSupport<Request: Send + Sync, Response: Send + Sync>,
    > + 'static
{
}

impl<F> RosAction for F where
    F: WrappedActionTypeSupport<
            Goal: Send + Sync,
            Result: Send + Sync,
            Feedback: Send + Sync,
            FeedbackMessage: Send + Sync,
            SendGoal: WrappedServiceTypeSupport<Request: Send + Sync, Response: Send + Sync>,
            GetResult: WrappedServiceTypeSupport<Request: Send + Sync, Response: Send + Sync>,
        > + 'static
{
}

/// The [`Action`] that ROS defines and r2r has generated as `F`. Its clients and servers reach, and
/// are reached by, those of other processes.
///
/// Only its type is used. An [`Action`] of a program's own types stays within the process.
///
/// ```
/// use r2r::test_msgs::action::Fibonacci;
/// use ringspin_executor::{ActionClientOptions, Graph};
/// use ringspin_ros2::action::FromRos;
/// let graph = Graph::new();
/// let node = graph.create_node("operator", ())?;
/// let options = ActionClientOptions::default();
/// let client = node.create_action_client::<FromRos<Fibonacci::Action>>("fibonacci", options)?;
/// // in a task: client.send_goal_async(Fibonacci::Goal { order: 5 }).await
/// # assert_eq!(client.action(), "/fibonacci");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A goal, its result and its feedback are copied when they leave the process. A stamp is cut off
/// where its 32 bits of seconds end, in 2038.
pub struct FromRos<F>(PhantomData<fn() -> F>);

impl<F: RosAction> Action for FromRos<F> {
    type Goal = F::Goal;
    type Result = F::Result;
    type Feedback = F::Feedback;
}

/// The tables of what an action's services and topics carry.
///
/// Some messages are the same Rust type for all actions. The table of a service is found all the
/// same, by both of its messages: one of the two is the action's own.
pub(crate) struct ActionTypes {
    pub(crate) send_goal: &'static ServiceType,
    pub(crate) get_result: &'static ServiceType,
    pub(crate) feedback: &'static MessageType,
}

impl ActionTypes {
    /// The types of `F`.
    pub(crate) const fn of<F: RosAction>() -> &'static Self {
        const {
            &Self {
                send_goal: ServiceType::mapped::<wire::SendGoal<F>>(),
                get_result: ServiceType::mapped::<wire::GetResult<F>>(),
                feedback: MessageType::mapped::<wire::Feedback<F>>(),
            }
        }
    }
}

/// The service by which goals of every action are cancelled.
pub(crate) const CANCEL_GOAL: &ServiceType = ServiceType::mapped::<wire::CancelGoal>();

/// The topic that tells of the goals of every action.
pub(crate) const STATUS: &MessageType = MessageType::mapped::<wire::Status>();
