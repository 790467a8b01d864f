//! The registry of types, and a message type of one's own.

use crate::{node, unique, wait};
use r2r::{std_msgs, std_srvs, test_msgs};
use ringspin_executor::QoS;
use ringspin_ros2::Types;
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
    assert_eq!(name(TypeId::of::<String>()), None);

    use std_srvs::srv::SetBool::{Request, Response};
    let service = types.service(TypeId::of::<Request>(), TypeId::of::<Response>()).unwrap();
    assert_eq!(service.name(), "std_srvs/srv/SetBool");
    use test_msgs::action::Fibonacci::GetResult;
    let result = (TypeId::of::<GetResult::Request>(), TypeId::of::<GetResult::Response>());
    let service = types.service(result.0, result.1).unwrap();
    assert_eq!(service.name(), "test_msgs/action/Fibonacci_GetResult");
    assert!(types.service(TypeId::of::<Response>(), TypeId::of::<Request>()).is_none());

    let names: Vec<_> = ringspin_ros2::types::names().collect();
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

#[test]
fn an_action_wraps_and_opens_what_goes_through_it() {
    use ringspin_ros2::action::AnyBox;
    use test_msgs::action::Fibonacci::{Action, Feedback, Goal, Result};
    let key = (TypeId::of::<Goal>(), TypeId::of::<Result>(), TypeId::of::<Feedback>());
    let types = Types::installed();
    let action = types.action(key.0, key.1, key.2).unwrap();
    assert_eq!(action.name(), "test_msgs/action/Fibonacci");
    assert!(types.action(key.1, key.0, key.2).is_none());
    let own = Types::none().with_action::<Action>();
    assert_eq!(own.action(key.0, key.1, key.2).unwrap().name(), "test_msgs/action/Fibonacci");
    assert!(own.message(action.feedback_message.rust_type()).is_some());
    assert!(own.message(key.0).is_none());

    let id = std::array::from_fn(|n| n as u8 + 1);
    let unbox = |value: AnyBox| value.downcast::<Goal>().unwrap().order;
    let request = (action.goal_request)(id, Box::new(Goal { order: 7 })).unwrap();
    let (of, goal) = (action.open_goal_request)(request).unwrap();
    assert_eq!((of, unbox(goal)), (id, 7));
    let response = (action.goal_response)(true, -1);
    assert_eq!((action.open_goal_response)(response), Some((true, -1)));
    let request = (action.result_request)(id);
    assert_eq!((action.open_result_request)(request), Some(id));
    let result = Result { sequence: vec![1, 1, 2] };
    let response = (action.result_response)(4, Box::new(result.clone())).unwrap();
    let (status, opened) = (action.open_result_response)(response).unwrap();
    assert_eq!((status, *opened.downcast::<Result>().unwrap()), (4, result));
    let feedback = Feedback { sequence: vec![3] };
    let message = (action.wrap_feedback)(id, Box::new(feedback.clone())).unwrap();
    let (of, opened) = (action.open_feedback)(message).unwrap();
    assert_eq!((of, *opened.downcast::<Feedback>().unwrap()), (id, feedback));
    assert!((action.goal_request)(id, Box::new(7_i32)).is_none());
    assert!((action.open_feedback)(Box::new(Goal { order: 1 })).is_none());
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
