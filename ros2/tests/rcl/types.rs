//! The registry of types, and a message type of the application.

use crate::{node, unique, wait};
use ringspin_executor::QoS;
use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, FeedbackMessage, GetResultRequest, GetResultResponse,
    GoalStatusArray, SendGoalRequest, SendGoalResponse,
};
use ringspin_messages::cdr::{self, CdrError};
use ringspin_messages::{
    CdrMapping, CdrService, CdrType, GeneratedMessage, RosService, RosType, TypeVisitor, std_msgs,
    std_srvs, visit_types,
};
use ringspin_ros2::Types;
use ringspin_ros2::rcl::{
    Locals, MessageInfo, Node, Publisher, Service, Subscription, check_type_hash, type_names,
};
use ringspin_test_msgs::test_msgs;
use std::any::TypeId;

/// A type that no generator knows: it goes as a `std_msgs/msg/Float64`.
#[derive(Debug, PartialEq)]
struct Metres(f64);

type Wire = std_msgs::msg::Float64;

enum AsFloat {}

impl CdrMapping for AsFloat {
    type Rust = Metres;
    const ROS_TYPE: RosType = RosType::of::<Wire>();

    fn write(metres: &Metres, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&Wire { data: metres.0 }, bytes)
    }

    fn read(bytes: &[u8]) -> Result<Metres, CdrError> {
        Ok(Metres(cdr::from_bytes::<Wire>(bytes)?.data))
    }
}

/// Checks each type against the sourced ROS.
struct Sourced {
    node: Node,
    names: Vec<String>,
    found: usize,
}

impl Sourced {
    /// Whether the sourced ROS has the package of type `name`.
    fn has(&mut self, name: &str) -> bool {
        let package = name.split_inclusive('/').next().unwrap();
        let has = self.names.iter().any(|name| name.starts_with(package));
        self.found += usize::from(has);
        has
    }
}

impl TypeVisitor for Sourced {
    fn message<M: GeneratedMessage>(&mut self) {
        if self.has(M::TYPE_NAME) {
            check_type_hash(M::TYPE_NAME, M::TYPE_HASH).unwrap();
        }
    }

    fn service<S: RosService>(&mut self) {
        if self.has(S::TYPE_NAME) {
            let name = unique(&S::TYPE_NAME.replace('/', "_"));
            let table = CdrService::of::<S>();
            Service::of_table(&self.node, table, &name, &QoS::services()).unwrap();
        }
    }
}

#[test]
fn the_sourced_ros_has_the_same_definitions() {
    let mut sourced = Sourced { node: node("sourced"), names: type_names(), found: 0 };
    visit_types(&mut sourced);
    ringspin_test_msgs::visit_types(&mut sourced);
    assert!(sourced.found > 250, "{}", sourced.found);
}

#[test]
fn every_common_type_is_known() {
    let mut types = Types::installed();
    ringspin_test_msgs::visit_types(&mut types);
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

    let names = type_names();
    for name in ["std_msgs/msg/String", "std_srvs/srv/SetBool", "test_msgs/action/Fibonacci"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    let all = names.iter().filter(|name| name.contains("/msg/"));
    assert!(all.count() > 100);
}

#[test]
fn types_of_ones_own_are_added_to_a_copy() {
    let mine = TypeId::of::<Metres>();
    let types = Types::installed().with_table(CdrType::mapped::<AsFloat>());
    assert_eq!(types.message(mine).unwrap().name(), "std_msgs/msg/Float64");
    assert!(Types::installed().message(mine).is_none());
    use std_srvs::srv::SetBool::{Request, Response};
    let types = Types::none().with_service::<std_srvs::srv::SetBool::Service>();
    let service = types.service(TypeId::of::<Request>(), TypeId::of::<Response>()).unwrap();
    assert_eq!(service.name(), "std_srvs/srv/SetBool");
    assert!(types.message(mine).is_none());
}

/// The name of the ROS service that goes by `Q` and `P`.
fn service<Q: 'static, P: 'static>(types: &Types) -> Option<&'static str> {
    types.service(TypeId::of::<Q>(), TypeId::of::<P>()).map(|table| table.name())
}

#[test]
fn an_action_is_services_and_topics() {
    use test_msgs::action::{Fibonacci, NestedMessage};
    type Own = Fibonacci::Action;
    type Other = NestedMessage::Action;
    let mut all = Types::installed();
    ringspin_test_msgs::visit_types(&mut all);
    for types in [all.clone(), Types::none().with_action::<Fibonacci::Action>()] {
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
        // A half of a service is no separate message.
        assert!(types.message(TypeId::of::<SendGoalResponse>()).is_none());
    }
    let send_goal = service::<SendGoalRequest<Other>, SendGoalResponse>(&all);
    assert_eq!(send_goal.unwrap(), "test_msgs/action/NestedMessage_SendGoal");
    let one = Types::none().with_action::<Fibonacci::Action>();
    assert!(service::<SendGoalRequest<Other>, SendGoalResponse>(&one).is_none());
}

#[test]
fn a_type_of_ones_own_goes_over_the_wire() {
    let node = node("own_type");
    let topic = unique("own_type");
    let types = Types::installed().with_table(CdrType::mapped::<AsFloat>());
    let table = types.message(TypeId::of::<Metres>()).unwrap();
    let qos = QoS::default();
    let publisher = Publisher::of_table(&node, table, &topic, &qos).unwrap();
    let mut own = Subscription::of_table(&node, table, &topic, &qos, Locals::Deliver).unwrap();
    let mut wire = Subscription::<Wire>::new(&node, &topic, &qos, Locals::Deliver).unwrap();
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 2);
    publisher.publish(&Metres(1.5)).unwrap();
    assert!(publisher.wait_for_acknowledgements(crate::LONG).unwrap());
    assert_eq!(wire.take().unwrap().unwrap().0.data, 1.5);
    let mut slot = None;
    assert!(matches!(own.take(&mut slot).unwrap(), Some(MessageInfo { .. })));
    assert_eq!(slot, Some(Metres(1.5)));
}
