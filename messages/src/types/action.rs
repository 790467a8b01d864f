//! The wire format of actions: of the messages of their services and topics.

mod wire;

use crate::action_msgs::msg;
use crate::action_msgs::srv::CancelGoal;
use crate::{CdrService, CdrType, RosAction};
use ringspin_executor::action::messages::{CancelGoalRequest, CancelGoalResponse, GoalStatusArray};

/// The type tables of an action's services and topics.
///
/// Some messages are the same Rust type for all actions. The table of a service is found all the
/// same, by both of its messages: one of the two is the action's own.
pub(crate) struct ActionTypes {
    pub(crate) send_goal: &'static CdrService,
    pub(crate) get_result: &'static CdrService,
    pub(crate) feedback: &'static CdrType,
}

impl ActionTypes {
    /// The types of `A`.
    pub(crate) const fn of<A: RosAction>() -> &'static Self {
        const {
            &Self {
                send_goal: CdrService::mapped::<
                    A::SendGoal,
                    wire::GoalRequest<A>,
                    wire::GoalResponse<A>,
                >(),
                get_result: CdrService::mapped::<
                    A::GetResult,
                    wire::ResultRequest<A>,
                    wire::ResultResponse<A>,
                >(),
                feedback: CdrType::mapped::<wire::Feedback<A>>(),
            }
        }
    }
}

/// The service by which goals of every action are cancelled.
pub(crate) const CANCEL_GOAL: &CdrService = CdrService::mapped::<
    CancelGoal::Service,
    wire::Converted<CancelGoalRequest, CancelGoal::Request>,
    wire::Converted<CancelGoalResponse, CancelGoal::Response>,
>();

/// The topic with the status of the goals of every action.
pub(crate) const STATUS: &CdrType =
    CdrType::mapped::<wire::Converted<GoalStatusArray, msg::GoalStatusArray>>();
