//! The registry of types, and a message type of one's own.

use crate::{node, unique, wait};
use r2r::{std_msgs, std_srvs, test_msgs};
use ringspin_executor::QoS;
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, FeedbackMessage, GetResultRequest, GetResultResponse,
    GoalStatusArray, SendGoalRequest, SendGoalResponse,
};
use ringspin_ros2::Types;
use ringspin_ros2::action::FromRos;
use ringspin_ros2::rcl::{
    ErasedPublisher, ErasedSubscription, Locals, MessageInfo, RosMessage, RosService, Subscription,
};
use std::any::TypeId;

/// A type that no generator knows: it goes as a `std_msgs/msg/Float64`.
#[derive(Debug, PartialEq)]
struct Metres(f64);

type Wire = std_msgs::msg::Float64;

// SAFETY: type support, C struct and both functions are those of `Wire`.
unsafe impl RosMessage for Metres {
    type Native = <Wire as RosMessage>::Native;
    fn type_support() -> &'static r2r_rcl::rosidl_message_type_support_t {
        <Wire as RosMessage>::type_support()
    }
    fn create() -> *mut Self::Native {
        <Wire as RosMessage>::create()
    }
    unsafe fn destroy(native: *mut Self::Native) {
        // SAFETY: as the caller promises.
        unsafe { <Wire as RosMessage>::destroy(native) }
    }
    fn to_native(&self, native: &mut Self::Native) {
        native.data = self.0;
    }
    fn from_native(native: &Self::Native) -> Self {
        Self(native.data)
    }
}

/// A service of two types of one's own would be declared alike; this one renames a generated one.
struct Switch;

// SAFETY: type support and messages are those of SetBool.
unsafe impl RosService for Switch {
    type Request = std_srvs::srv::SetBool::Request;
    type Response = std_srvs::srv::SetBool::Response;
    fn type_support() -> &'static r2r_rcl::rosidl_service_type_support_t {
        <std_srvs::srv::SetBool::Service as RosService>::type_support()
    }
}

#[test]
fn every_type_of_the_sourced_ros_is_known() {
    let types = Types::installed();
    let name = |id| types.message(id).map(|table| table.name());
    assert_eq!(name(TypeId::of::<std_msgs::msg::String>()).unwrap(), "std_msgs/msg/String");
    let goal = TypeId::of::<test_msgs::action::Fibonacci::SendGoal::Request>();
    assert_eq!(name(goal).unwrap(), "test_msgs/action/Fibonacci_SendGoal_Request");
    let feedback = TypeId::of::<test_msgs::action::Fibonacci::FeedbackMessage>();
    assert_eq!(name(feedback).unwrap(), "test_msgs/action/Fibonacci_FeedbackMessage");
    assert_eq!(name(TypeId::of::<String>()).unwrap(), "std_msgs/msg/String");
    assert_eq!(name(TypeId::of::<std::time::Duration>()), None);

    use std_srvs::srv::SetBool::{Request, Response};
    let service = types.service(TypeId::of::<Request>(), TypeId::of::<Response>()).unwrap();
    assert_eq!(service.name(), "std_srvs/srv/SetBool");
    use test_msgs::action::Fibonacci::GetResult;
    let result = (TypeId::of::<GetResult::Request>(), TypeId::of::<GetResult::Response>());
    let service = types.service(result.0, result.1).unwrap();
    assert_eq!(service.name(), "test_msgs/action/Fibonacci_GetResult");
    assert!(types.service(TypeId::of::<Response>(), TypeId::of::<Request>()).is_none());

    let names: Vec<_> = ringspin_ros2::rcl::type_names().collect();
    for name in ["std_msgs/msg/String", "std_srvs/srv/SetBool", "test_msgs/action/Fibonacci"] {
        assert!(names.contains(&name), "{name}");
    }
    // Two names for each message would show that a generated path is wrong.
    let all = names.iter().filter(|name| name.contains("/msg/"));
    assert!(all.count() > 100);
}

#[test]
fn types_of_ones_own_are_added_to_a_copy() {
    let mine = TypeId::of::<Metres>();
    let types = Types::installed().with::<Metres>();
    assert_eq!(types.message(mine).unwrap().name(), "std_msgs/msg/Float64");
    assert!(Types::installed().message(mine).is_none());
    use std_srvs::srv::SetBool::{Request, Response};
    let types = Types::none().with_service::<Switch>();
    let service = types.service(TypeId::of::<Request>(), TypeId::of::<Response>()).unwrap();
    assert_eq!(service.name(), "std_srvs/srv/SetBool");
    assert!(types.message(mine).is_none());
}

/// The name of the ROS service that goes by `Q` and `P`.
fn service<Q: 'static, P: 'static>(types: &Types) -> Option<String> {
    types.service(TypeId::of::<Q>(), TypeId::of::<P>()).map(|table| table.name())
}

#[test]
fn an_action_is_services_and_topics() {
    use test_msgs::action::{Fibonacci, NestedMessage};
    type Own = FromRos<Fibonacci::Action>;
    type Other = FromRos<NestedMessage::Action>;
    for types in [Types::installed(), Types::none().with_action::<Fibonacci::Action>()] {
        // One message of each service is the same for all actions.
        let send_goal = service::<SendGoalRequest<Own>, SendGoalResponse>(&types);
        assert_eq!(send_goal.unwrap(), "test_msgs/action/Fibonacci_SendGoal");
        let get_result = service::<GetResultRequest, GetResultResponse<Own>>(&types);
        assert_eq!(get_result.unwrap(), "test_msgs/action/Fibonacci_GetResult");
        let cancel = service::<CancelGoalRequest, CancelGoalResponse>(&types);
        assert_eq!(cancel.unwrap(), "action_msgs/srv/CancelGoal");
        let name = |id| types.message(id).map(|table| table.name());
        let feedback = name(TypeId::of::<FeedbackMessage<Own>>());
        assert_eq!(feedback.unwrap(), "test_msgs/action/Fibonacci_FeedbackMessage");
        let status = name(TypeId::of::<GoalStatusArray>());
        assert_eq!(status.unwrap(), "action_msgs/msg/GoalStatusArray");
        // A half of a service is no message of its own.
        assert!(types.message(TypeId::of::<SendGoalResponse>()).is_none());
    }
    let send_goal = service::<SendGoalRequest<Other>, SendGoalResponse>(&Types::installed());
    assert_eq!(send_goal.unwrap(), "test_msgs/action/NestedMessage_SendGoal");
    let one = Types::none().with_action::<Fibonacci::Action>();
    assert!(service::<SendGoalRequest<Other>, SendGoalResponse>(&one).is_none());
}

#[test]
fn a_type_of_ones_own_goes_over_the_wire() {
    let node = node("own_type");
    let topic = unique("own_type");
    let types = Types::installed().with::<Metres>();
    let table = types.message(TypeId::of::<Metres>()).unwrap();
    let qos = QoS::default();
    let publisher = ErasedPublisher::new(&node, table, &topic, &qos).unwrap();
    let mut own = ErasedSubscription::new(&node, table, &topic, &qos, Locals::Deliver).unwrap();
    let mut wire = Subscription::<Wire>::new(&node, &topic, &qos, Locals::Deliver).unwrap();
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 2);
    publisher.publish(&Metres(1.5)).unwrap();
    assert!(publisher.wait_for_acknowledgements(crate::LONG).unwrap());
    assert_eq!(wire.take().unwrap().unwrap().0.data, 1.5);
    let mut slot = None;
    assert!(matches!(own.take(&mut slot).unwrap(), Some(MessageInfo { .. })));
    assert_eq!(slot, Some(Metres(1.5)));
}
