//! Actions: the services and the topic that one consists of, and the messages that wrap its goals,
//! results and feedback.

use crate::rcl::{MessageType, ServiceType};
use r2r::builtin_interfaces::msg::Time;
use r2r::unique_identifier_msgs::msg::UUID;
use r2r::{WrappedActionTypeSupport, WrappedServiceTypeSupport};
use std::any::Any;

/// A value whose type is known to the table that it is given to, or comes from.
pub type AnyBox = Box<dyn Any + Send>;

/// The identity of a goal.
pub type GoalId = [u8; 16];

/// The table of one action type: what goes through which service or topic, and how it is wrapped
/// for that. What is given to a function in a box is taken apart; `None` comes back for a box of
/// another type.
///
/// | name | what | types |
/// |---|---|---|
/// | `<action>/_action/send_goal` | service | [`send_goal`](Self::send_goal) |
/// | `<action>/_action/get_result` | service | [`get_result`](Self::get_result) |
/// | `<action>/_action/cancel_goal` | service | `action_msgs/srv/CancelGoal` |
/// | `<action>/_action/feedback` | topic | [`feedback_message`](Self::feedback_message) |
/// | `<action>/_action/status` | topic | `action_msgs/msg/GoalStatusArray` |
#[allow(missing_debug_implementations)]
pub struct ActionType {
    /// What a client wants.
    pub goal: &'static MessageType,
    /// What it gets in the end.
    pub result: &'static MessageType,
    /// What it gets meanwhile.
    pub feedback: &'static MessageType,
    /// The service by which goals are sent.
    pub send_goal: &'static ServiceType,
    /// The service by which results are asked for.
    pub get_result: &'static ServiceType,
    /// The message by which feedback is published.
    pub feedback_message: &'static MessageType,
    /// The request that sends a goal.
    pub goal_request: fn(GoalId, AnyBox) -> Option<AnyBox>,
    /// The goal of a request.
    pub open_goal_request: fn(AnyBox) -> Option<(GoalId, AnyBox)>,
    /// The response that accepts or rejects a goal, at a time in nanoseconds.
    pub goal_response: fn(bool, i64) -> AnyBox,
    /// Whether a response accepts its goal, and when it was given, in nanoseconds.
    pub open_goal_response: fn(AnyBox) -> Option<(bool, i64)>,
    /// The request for the result of a goal.
    pub result_request: fn(GoalId) -> AnyBox,
    /// The goal that a request wants the result of.
    pub open_result_request: fn(AnyBox) -> Option<GoalId>,
    /// The response with a status of `action_msgs/msg/GoalStatus`, and a result.
    pub result_response: fn(i8, AnyBox) -> Option<AnyBox>,
    /// The status and the result of a response.
    pub open_result_response: fn(AnyBox) -> Option<(i8, AnyBox)>,
    /// The message with feedback for a goal.
    pub wrap_feedback: fn(GoalId, AnyBox) -> Option<AnyBox>,
    /// The feedback of a message.
    pub open_feedback: fn(AnyBox) -> Option<(GoalId, AnyBox)>,
}

type SendGoalRequest<A> =
    <<A as WrappedActionTypeSupport>::SendGoal as WrappedServiceTypeSupport>::Request;
type SendGoalResponse<A> =
    <<A as WrappedActionTypeSupport>::SendGoal as WrappedServiceTypeSupport>::Response;
type GetResultRequest<A> =
    <<A as WrappedActionTypeSupport>::GetResult as WrappedServiceTypeSupport>::Request;
type GetResultResponse<A> =
    <<A as WrappedActionTypeSupport>::GetResult as WrappedServiceTypeSupport>::Response;

/// What r2r generates for an action, with all messages fit for other threads, as all of r2r's are.
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

impl<A> RosAction for A where
    A: WrappedActionTypeSupport<
            Goal: Send + Sync,
            Result: Send + Sync,
            Feedback: Send + Sync,
            FeedbackMessage: Send + Sync,
            SendGoal: WrappedServiceTypeSupport<Request: Send + Sync, Response: Send + Sync>,
            GetResult: WrappedServiceTypeSupport<Request: Send + Sync, Response: Send + Sync>,
        > + 'static
{
}

impl ActionType {
    /// The table of `A`.
    pub const fn of<A: RosAction>() -> &'static Self {
        const {
            &Self {
                goal: MessageType::of::<A::Goal>(),
                result: MessageType::of::<A::Result>(),
                feedback: MessageType::of::<A::Feedback>(),
                send_goal: ServiceType::of::<A::SendGoal>(),
                get_result: ServiceType::of::<A::GetResult>(),
                feedback_message: MessageType::of::<A::FeedbackMessage>(),
                goal_request: |id, goal| {
                    Some(boxed(A::make_goal_request_msg(uuid(id), open::<A::Goal>(goal)?)))
                },
                open_goal_request: |request| {
                    let request = open::<SendGoalRequest<A>>(request)?;
                    let (id, goal) = A::destructure_goal_request_msg(request);
                    Some((goal_id(&id), boxed(goal)))
                },
                goal_response: |accepted, ns| boxed(A::make_goal_response_msg(accepted, time(ns))),
                open_goal_response: |response| {
                    let response = open::<SendGoalResponse<A>>(response)?;
                    let (accepted, stamp) = A::destructure_goal_response_msg(response);
                    Some((accepted, nanoseconds(&stamp)))
                },
                result_request: |id| boxed(A::make_result_request_msg(uuid(id))),
                open_result_request: |request| {
                    let request = open::<GetResultRequest<A>>(request)?;
                    Some(goal_id(&A::destructure_result_request_msg(request)))
                },
                result_response: |status, result| {
                    Some(boxed(A::make_result_response_msg(status, open::<A::Result>(result)?)))
                },
                open_result_response: |response| {
                    let response = open::<GetResultResponse<A>>(response)?;
                    let (status, result) = A::destructure_result_response_msg(response);
                    Some((status, boxed(result)))
                },
                wrap_feedback: |id, feedback| {
                    Some(boxed(A::make_feedback_msg(uuid(id), open::<A::Feedback>(feedback)?)))
                },
                open_feedback: |message| {
                    let message = open::<A::FeedbackMessage>(message)?;
                    let (id, feedback) = A::destructure_feedback_msg(message);
                    Some((goal_id(&id), boxed(feedback)))
                },
            }
        }
    }

    /// The name of the ROS type, such as `example_interfaces/action/Fibonacci`.
    pub fn name(&self) -> String {
        let goal = self.goal.name();
        goal.strip_suffix("_Goal").unwrap_or(&goal).into()
    }
}

fn boxed<T: Send + 'static>(value: T) -> AnyBox {
    Box::new(value)
}

fn open<T: 'static>(value: AnyBox) -> Option<T> {
    value.downcast().ok().map(|value| *value)
}

fn uuid(id: GoalId) -> UUID {
    UUID { uuid: id.into() }
}

/// All zeros, the identity of no goal, where there are not 16 bytes; there always are.
fn goal_id(uuid: &UUID) -> GoalId {
    uuid.uuid.as_slice().try_into().unwrap_or_default()
}

const SECOND_NS: i64 = 1_000_000_000;

/// Cut off at the ends of what 32 bits of seconds hold, in 1901 and 2038.
fn time(ns: i64) -> Time {
    let sec = ns.div_euclid(SECOND_NS).clamp(i32::MIN.into(), i32::MAX.into());
    Time { sec: sec as i32, nanosec: ns.rem_euclid(SECOND_NS) as u32 }
}

fn nanoseconds(time: &Time) -> i64 {
    i64::from(time.sec) * SECOND_NS + i64::from(time.nanosec)
}
