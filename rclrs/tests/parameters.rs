//! Parameters: declaration, initial values, sets, handles, access by name, and node arguments.

use futures::FutureExt;
use futures::executor::block_on;
use rclrs::*;
use ros_env::rcl_interfaces::msg::{self, ParameterType, rmw};
use ros_env::rcl_interfaces::srv::{self, *};
use rosidl_runtime_rs::Service as ServiceIDL;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A node in a context with these ROS arguments.
fn node_with(line: &[&str]) -> Node {
    let line = ["--ros-args"].iter().chain(line).map(ToString::to_string);
    let context = Context::new(line, InitOptions::default()).unwrap();
    context.create_basic_executor().create_node("pilot").unwrap()
}

fn node() -> Node {
    node_with(&[])
}

/// A node with separate arguments in a context with arguments.
fn node_of(context: &[&str], name: &str, own: &[&str]) -> Node {
    let context = ["--ros-args"].iter().chain(context).map(ToString::to_string);
    let context = Context::new(context, InitOptions::default()).unwrap();
    let own = ["--ros-args"].iter().chain(own);
    context.create_basic_executor().create_node(name.arguments(own)).unwrap()
}

fn range<T: ParameterVariant + PartialOrd>(lower: T, upper: T, step: T) -> ParameterRange<T> {
    ParameterRange { lower: Some(lower), upper: Some(upper), step: Some(step) }
}

fn fives(value: &i64) -> Result<(), String> {
    if value % 5 == 0 { Ok(()) } else { Err("not a multiple of 5".into()) }
}

#[test]
fn override_precedes_the_default_and_has_to_fit() {
    let node = node_with(&["-p", "n:=10", "-p", "x:=[1.0, 2.0]", "-p", "flag:=true"]);
    let declare = || node.declare_parameter("n");
    assert_eq!(declare().default(1).mandatory().unwrap().get(), 10);
    assert_eq!(declare().default(1).ignore_override().mandatory().unwrap().get(), 1);
    let mismatch = node.declare_parameter("n").default(1.0).mandatory().unwrap_err();
    assert_eq!(mismatch, DeclarationError::OverrideValueTypeMismatch);
    assert!(node.declare_parameter("n").default(1.0).ignore_override().mandatory().is_ok());
    let small = ParameterRange { upper: Some(5), ..Default::default() };
    let out_of_range = declare().default(1).range(small.clone()).mandatory().unwrap_err();
    assert_eq!(out_of_range, DeclarationError::InitialValueOutOfRange);
    assert!(declare().default(1).range(small).ignore_override().mandatory().is_ok());
    let array = node.declare_parameter("x").default_from_iter([9.0]).read_only().unwrap();
    assert_eq!(*array.get(), [1.0, 2.0]);
    let flag = node.declare_parameter::<bool>("flag").optional().unwrap();
    assert_eq!(flag.get(), Some(true));
}

#[test]
fn node_arguments_precede_those_of_the_context() {
    let node = node_of(
        &["-p", "a:=1", "-p", "b:=1", "-r", "pilot:__node:=context", "-r", "x:=/context"],
        "pilot",
        &["-p", "a:=2", "-p", "c:=2", "-r", "pilot:__node:=own", "-r", "x:=/own"],
    );
    assert_eq!(node.name(), "own");
    let value = |name: &str| node.declare_parameter(name).default(0).mandatory().unwrap().get();
    assert_eq!([value("a"), value("b"), value("c")], [2, 1, 2]);
    let publisher = node.create_publisher::<ros_env::std_msgs::msg::Int32>("x").unwrap();
    assert_eq!(publisher.topic_name(), "/own");
}

#[test]
fn node_arguments_are_for_one_node_and_can_replace_those_of_the_context() {
    let line = ["--ros-args", "-p", "a:=1", "-r", "__node:=context"].map(String::from);
    let executor = Context::new(line, InitOptions::default()).unwrap().create_basic_executor();
    let value = |options: NodeOptions<'_>| {
        let node = executor.create_node(options).unwrap();
        let a = node.declare_parameter("a").default(0).mandatory().unwrap().get();
        (node.name(), a)
    };
    let own = ["--ros-args", "-p", "a:=2", "-r", "__node:=own"];
    assert_eq!(value("one".arguments(own)), ("own".into(), 2));
    assert_eq!(value("two".use_global_arguments(false)), ("two".into(), 0));
    assert_eq!(value("three".into_node_options()), ("context".into(), 1));
    let error = executor.create_node("four".arguments(["--ros-args", "-p", "a"])).unwrap_err();
    assert!(matches!(error, RclrsError::RclError { code: RclReturnCode::InvalidRosArgs, .. }));
}

#[test]
fn value_set_before_the_declaration_precedes_the_override() {
    let node = node_with(&["-p", "n:=10"]);
    node.use_undeclared_parameters().set("n", 20).unwrap();
    let declare = || node.declare_parameter("n").default(30);
    assert_eq!(declare().mandatory().unwrap().get(), 20);
    node.use_undeclared_parameters().set("n", 20).unwrap();
    // It is dropped if it is out of the range; then the override holds.
    let ten = range(10, 10, 1);
    assert_eq!(declare().range(ten.clone()).mandatory().unwrap().get(), 10);
    node.use_undeclared_parameters().set("n", 20).unwrap();
    let forced = declare().range(ten).discriminate(|available| available.prior_value);
    assert_eq!(forced.mandatory().unwrap_err(), DeclarationError::InitialValueOutOfRange);
}

#[test]
fn value_of_another_type_set_before_the_declaration_is_refused_or_dropped() {
    let node = node();
    let set = || node.use_undeclared_parameters().set("n", 100).unwrap();
    set();
    let declare = || node.declare_parameter("n").default(1.5);
    let mismatch = declare().mandatory().unwrap_err();
    assert_eq!(mismatch, DeclarationError::PriorValueTypeMismatch);
    let dropped = declare().discard_mismatching_prior_value().mandatory().unwrap();
    assert_eq!(dropped.get(), 1.5);
    drop(dropped);
    set();
    assert_eq!(node.declare_parameter("n").default(1).optional().unwrap().get(), Some(100));
}

#[test]
fn discriminator_gets_all_values_and_selects_one() {
    let node = node_with(&["-p", "n:=2"]);
    node.use_undeclared_parameters().set("n", 3).unwrap();
    let sum = |available: AvailableValues<'_, i64>| {
        let AvailableValues { default_value, override_value, prior_value, .. } = available;
        Some(default_value? + override_value? + prior_value?)
    };
    let n = node.declare_parameter("n").default(1).discriminate(sum).mandatory().unwrap();
    assert_eq!(n.get(), 6);
    let none = node.declare_parameter("m").default(1).discriminate(|_| None);
    assert_eq!(none.mandatory().unwrap_err(), DeclarationError::NoValueAvailable);
}

#[test]
fn parameter_is_declared_once_until_its_handle_is_dropped() {
    let node = node_with(&["-p", "n:=10"]);
    let n = node.declare_parameter("n").default(1).mandatory().unwrap();
    n.set(2).unwrap();
    let again = node.declare_parameter("n").default(1).mandatory().unwrap_err();
    assert_eq!(again, DeclarationError::AlreadyDeclared);
    drop(n);
    assert_eq!(node.use_undeclared_parameters().get::<i64>("n"), None);
    let n = node.declare_parameter::<i64>("n").mandatory().unwrap();
    assert_eq!(n.get(), 10);
    drop(n);
    node.use_undeclared_parameters().set("n", 1.0).unwrap();
    assert_eq!(node.use_undeclared_parameters().get("n"), Some(1.0));
}

#[test]
fn mandatory_and_read_only_parameters_need_a_value() {
    let node = node();
    let error = node.declare_parameter::<i64>("n").mandatory().unwrap_err();
    assert_eq!(error, DeclarationError::NoValueAvailable);
    let error = node.declare_parameter::<i64>("n").read_only().unwrap_err();
    assert_eq!(RclrsError::from(error.clone()), RclrsError::ParameterDeclarationError(error));
    let optional = node.declare_parameter("n").optional().unwrap();
    assert_eq!(optional.get(), None);
    optional.set(true).unwrap();
    assert_eq!(optional.get(), Some(true));
    optional.unset();
    assert_eq!(optional.get(), None);
    assert_eq!(node.use_undeclared_parameters().get::<bool>("n"), None);
}

#[test]
fn read_only_parameter_cannot_be_set() {
    let node = node();
    let n = node.declare_parameter("n").default(100).read_only().unwrap();
    assert_eq!(n.get(), 100);
    let parameters = node.use_undeclared_parameters();
    assert_eq!(parameters.get::<i64>("n"), Some(100));
    assert_eq!(parameters.set("n", 10), Err(ParameterValueError::ReadOnly));
    assert_eq!(n.get(), 100);
}

#[test]
fn type_of_a_declared_parameter_never_changes() {
    let node = node();
    let x = node.declare_parameter("x").default(2.0).mandatory().unwrap();
    let parameters = node.use_undeclared_parameters();
    assert_eq!(parameters.get::<i64>("x"), None);
    assert_eq!(parameters.set("x", 42), Err(ParameterValueError::TypeMismatch));
    parameters.set("x", 10.0).unwrap();
    assert_eq!(x.get(), 10.0);
    x.set(5.0).unwrap();
    assert_eq!(parameters.get("x"), Some(5.0));
}

#[test]
fn dynamic_parameter_takes_any_type_and_its_range_limits_one() {
    let node = node();
    let five = ParameterValue::Integer(5);
    let builder = node.declare_parameter("any").default(five).range(range(0, 9, 1).into());
    let any = builder.mandatory().unwrap();
    any.set(ParameterValue::Double(100.0)).unwrap();
    any.set(Arc::<str>::from("text")).unwrap();
    assert_eq!(any.get(), ParameterValue::String("text".into()));
    let set = any.set(ParameterValue::Integer(10));
    assert_eq!(set, Err(ParameterValueError::OutOfRange));
    assert_eq!(node.use_undeclared_parameters().get::<Arc<str>>("any"), Some("text".into()));
}

#[test]
fn invalid_ranges_are_refused() {
    let node = node();
    for invalid in [range(10, -10, 3), range(-10, 10, -1), range(-10, 10, 0)] {
        let error = node.declare_parameter("n").default(5).range(invalid).mandatory().unwrap_err();
        assert_eq!(error, DeclarationError::InvalidRange);
    }
    let invalid = ParameterRange { step: Some(f64::NAN), ..Default::default() };
    let error = node.declare_parameter("x").default(5.0).range(invalid).optional().unwrap_err();
    assert_eq!(error, DeclarationError::InvalidRange);
}

#[test]
fn values_are_in_the_range_on_a_step_or_at_the_upper_limit() {
    let node = node();
    let declare = |n: i64| node.declare_parameter("n").default(n).range(range(-10, 10, 3));
    for n in [100, -9] {
        let error = declare(n).mandatory().unwrap_err();
        assert_eq!(error, DeclarationError::InitialValueOutOfRange);
    }
    let n = declare(-7).mandatory().unwrap();
    n.set(10).unwrap();
    let parameters = node.use_undeclared_parameters();
    for refused in [100, -9] {
        assert_eq!(n.set(refused), Err(ParameterValueError::OutOfRange));
        assert_eq!(parameters.set("n", refused), Err(ParameterValueError::OutOfRange));
    }
    parameters.set("n", -4).unwrap();
    assert_eq!(n.get(), -4);
    let step = ParameterRange { step: Some(2), ..Default::default() };
    // A step without a lower limit has no effect.
    node.declare_parameter("odd").default(1).range(step).mandatory().unwrap().set(4).unwrap();
}

#[test]
fn doubles_may_be_beyond_a_limit_or_a_step_by_their_rounding() {
    let node = node();
    let declare = |x: f64| node.declare_parameter("x").default(x).range(range(-10.0, 10.0, 3.0));
    assert_eq!(declare(100.0).optional().unwrap_err(), DeclarationError::InitialValueOutOfRange);
    assert_eq!(declare(-9.0).read_only().unwrap_err(), DeclarationError::InitialValueOutOfRange);
    let x = declare(-7.0).mandatory().unwrap();
    for near in [10.0, -7.0, -10.0] {
        x.set(near - f64::EPSILON * 10.0).unwrap();
        x.set(near + f64::EPSILON * 10.0).unwrap();
    }
    assert_eq!(x.set(-7.001), Err(ParameterValueError::OutOfRange));
    assert_eq!(x.set(f64::NAN), Err(ParameterValueError::OutOfRange));
}

#[test]
fn validation_refuses_values_with_its_reason() {
    let node = node();
    let declare = |n: i64| node.declare_parameter("n").default(n).validate(fives);
    let reason = || "not a multiple of 5".to_owned();
    let error = declare(13).mandatory().unwrap_err();
    assert_eq!(error, DeclarationError::InitialValueRejected(reason()));
    assert!(declare(13).read_only().is_err());
    let n = declare(50).range(range(0, 100, 1)).mandatory().unwrap();
    assert_eq!(n.set(200), Err(ParameterValueError::OutOfRange));
    assert_eq!(n.set(13), Err(ParameterValueError::ValidationFailed(reason())));
    let by_name = node.use_undeclared_parameters().set("n", 13);
    assert_eq!(by_name, Err(ParameterValueError::ValidationFailed(reason())));
    assert_eq!(n.get(), 50);
    let optional = node.declare_parameter("m").validate(fives).optional().unwrap();
    assert!(optional.set(1).is_err());
    optional.set(5).unwrap();
    optional.unset();
}

#[test]
fn last_callback_sees_each_change() {
    let node = node();
    let n = node.declare_parameter("n").default(0).validate(fives).mandatory().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let seen = seen.clone();
        move |value: &i64| seen.lock().unwrap().push((name, *value))
    };
    n.on_change(note("first"));
    n.set(5).unwrap();
    n.on_change(note("second"));
    assert!(n.set(6).is_err());
    node.use_undeclared_parameters().set("n", 10).unwrap();
    assert_eq!(*seen.lock().unwrap(), [("first", 5), ("second", 10)]);
    drop(n);
    assert_eq!(Arc::strong_count(&seen), 1);
}

#[test]
fn callback_of_an_optional_parameter_sees_its_end() {
    let node = node();
    let n = node.declare_parameter("n").default(1).optional().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = seen.clone();
    n.on_change(move |value: Option<&i64>| note.lock().unwrap().push(value.copied()));
    n.set(2).unwrap();
    n.unset();
    assert_eq!(*seen.lock().unwrap(), [Some(2), None]);
}

#[test]
fn callback_may_use_the_parameter_and_the_node() {
    let node = node();
    let n = Arc::new(node.declare_parameter("n").default(1).mandatory().unwrap());
    let (weak, own) = (Arc::downgrade(&n), Arc::downgrade(&node));
    n.on_change(move |value: &i64| {
        let (n, node) = (weak.upgrade().unwrap(), own.upgrade().unwrap());
        assert_eq!(n.get(), *value);
        node.use_undeclared_parameters().set("twice", 2 * value).unwrap();
        if *value < 3 {
            n.set(value + 1).unwrap();
        }
    });
    n.set(2).unwrap();
    assert_eq!(n.get(), 3);
    // The inner change came after the outer one had been stored, and before its callback ended.
    assert_eq!(node.use_undeclared_parameters().get("twice"), Some(6));
}

#[test]
fn subscriptions_see_the_last_change_and_the_end() {
    let node = node();
    let n = node.declare_parameter("n").default(1).optional().unwrap();
    let (mut one, mut other) = (n.subscribe(), n.subscribe());
    assert_eq!(one.changed().now_or_never(), None);
    n.set(2).unwrap();
    n.set(3).unwrap();
    assert_eq!(block_on(one.changed()), Some(Some(3)));
    assert_eq!(one.changed().now_or_never(), None);
    n.unset();
    assert_eq!(block_on(other.changed()), Some(None));
    assert_eq!(other.get(), None);
    drop(n);
    // The change before the end is not lost.
    assert_eq!(block_on(one.changed()), Some(None));
    assert_eq!(block_on(one.changed()), None);
    assert_eq!(block_on(other.changed()), None);
}

#[test]
fn subscription_waits_for_a_value_that_another_thread_sets() {
    let node = node();
    let n = node.declare_parameter("n").default(10).mandatory().unwrap();
    let mut subscription = n.subscribe();
    assert_eq!(block_on(subscription.wait_for(|n| *n >= 10)), Some(10));
    let setter = std::thread::spawn(move || {
        n.set(20).unwrap();
        n.set(50).unwrap();
    });
    let seen = block_on(subscription.wait_for(|n| *n >= 50));
    setter.join().unwrap();
    // The thread may drop the parameter first; the change is seen nevertheless.
    assert_eq!(seen, Some(50));
    assert_eq!(block_on(subscription.wait_for(|n| *n > 50)), None);
}

#[test]
fn overrides_are_no_undeclared_parameters() {
    let node = node_with(&["-p", "text:='given'"]);
    let parameters = node.use_undeclared_parameters();
    assert_eq!(parameters.get::<Arc<str>>("text"), None);
    let set = parameters.set("two words", 1);
    assert!(matches!(set, Err(ParameterValueError::ValidationFailed(_))), "{set:?}");
}

#[test]
fn every_node_has_use_sim_time() {
    let node = node_with(&["-p", "use_sim_time:=true"]);
    assert_eq!(node.use_undeclared_parameters().get("use_sim_time"), Some(true));
    let error = node.declare_parameter("use_sim_time").default(false).mandatory().unwrap_err();
    assert_eq!(error, DeclarationError::AlreadyDeclared);
}

#[test]
fn values_of_every_type_go_through_the_graph_and_through_messages() {
    fn check<T: ParameterVariant>(node: &Node, kind: ParameterKind, value: T) {
        assert_eq!(T::kind(), kind);
        let declared = node.declare_parameter("p").default(value.clone()).mandatory().unwrap();
        let value: ParameterValue = value.into();
        assert_eq!(node.use_undeclared_parameters().get("p"), Some(value.clone()));
        assert_eq!(declared.get().into(), value);
        let message = rmw::ParameterValue::from(value.clone());
        assert_eq!(ParameterValue::try_from(message).unwrap(), value);
    }
    let node = node();
    check(&node, ParameterKind::Bool, true);
    check(&node, ParameterKind::Integer, i64::MIN);
    check(&node, ParameterKind::Double, -0.5);
    check::<Arc<str>>(&node, ParameterKind::String, "a".into());
    check::<Arc<[u8]>>(&node, ParameterKind::ByteArray, [1, 255].into());
    check::<Arc<[bool]>>(&node, ParameterKind::BoolArray, [true, false].into());
    check::<Arc<[i64]>>(&node, ParameterKind::IntegerArray, [1, -1].into());
    check::<Arc<[f64]>>(&node, ParameterKind::DoubleArray, [0.1].into());
    check::<Arc<[Arc<str>]>>(&node, ParameterKind::StringArray, ["x".into()].into());
    check(&node, ParameterKind::Dynamic, ParameterValue::Bool(true));
    let unset = ParameterValue::try_from(rmw::ParameterValue::default());
    assert_eq!(unset.unwrap_err(), RmwParameterConversionError::InvalidParameterType);
    let names = node.declare_parameter("names").default_string_array(["a", "b"]);
    assert_eq!(&*names.mandatory().unwrap().get()[1], "b");
}

/// A type of an application.
#[derive(Clone, Debug, PartialEq)]
enum Gear {
    Slow,
    Fast,
}

impl From<Gear> for ParameterValue {
    fn from(gear: Gear) -> Self {
        Self::String(if gear == Gear::Slow { "slow" } else { "fast" }.into())
    }
}

impl TryFrom<ParameterValue> for Gear {
    type Error = String;

    fn try_from(value: ParameterValue) -> Result<Self, String> {
        match value {
            ParameterValue::String(text) if &*text == "slow" => Ok(Self::Slow),
            ParameterValue::String(text) if &*text == "fast" => Ok(Self::Fast),
            other => Err(format!("{other:?} is no gear")),
        }
    }
}

impl ParameterVariant for Gear {
    type Range = ();

    fn kind() -> ParameterKind {
        ParameterKind::String
    }
}

#[test]
fn type_of_the_application_refuses_values_that_it_cannot_be() {
    let node = node_with(&["-p", "gear:=fast"]);
    let gear = node.declare_parameter("gear").default(Gear::Slow).mandatory().unwrap();
    assert_eq!(gear.get(), Gear::Fast);
    let set = |text: &str| node.use_undeclared_parameters().set("gear", Arc::<str>::from(text));
    assert!(matches!(set("reverse"), Err(ParameterValueError::ValidationFailed(_))));
    set("slow").unwrap();
    assert_eq!(gear.get(), Gear::Slow);
}

/// Calls the parameter services of the node `/pilot` in the same process.
struct Caller {
    executor: Executor,
    node: Node,
}

impl Caller {
    fn new() -> Self {
        let executor = Context::default().create_basic_executor();
        let node = executor.create_node("pilot").unwrap();
        Self { executor, node }
    }

    fn call<S: ServiceIDL>(&mut self, service: &str, request: S::Request) -> S::Response
    where
        S::Response: Clone,
    {
        let client = self.node.create_client::<S>(&format!("/pilot/{service}")).unwrap();
        let response: Promise<S::Response> = client.call(request).unwrap();
        let (response, is_here) = self.executor.commands().create_notice(response);
        let options = SpinOptions::new().until_promise_resolved(is_here);
        self.executor.spin(options.timeout(Duration::from_secs(60))).first_error().unwrap();
        block_on(response).unwrap()
    }

    fn set(&mut self, parameters: &[(&str, ParameterValue)]) -> Vec<bool> {
        let parameters = messages(parameters);
        let request = SetParameters_Request { parameters };
        let response = self.call::<srv::SetParameters>("set_parameters", request);
        response.results.into_iter().map(|result| result.successful).collect()
    }
}

fn messages(parameters: &[(&str, ParameterValue)]) -> Vec<msg::Parameter> {
    let message = |(name, value): &(&str, ParameterValue)| {
        let value = rmw::ParameterValue::from(value.clone());
        let value = rosidl_runtime_rs::Message::from_rmw_message(value);
        msg::Parameter { name: (*name).into(), value }
    };
    parameters.iter().map(message).collect()
}

#[test]
fn clients_list_and_describe_parameters() {
    let mut caller = Caller::new();
    let node = caller.node.clone();
    let builder = node.declare_parameter("arm.joints").default(6).range(range(1, 9, 1));
    let _joints = builder.description("number").constraints("odd").read_only().unwrap();
    let dynamic = ParameterValue::String("hello".into());
    let _any = node.declare_parameter("any").default(dynamic).mandatory().unwrap();
    let _none = node.declare_parameter::<f64>("none").optional().unwrap();
    let request = ListParameters_Request::default();
    let list = caller.call::<srv::ListParameters>("list_parameters", request).result;
    assert_eq!(list.names, ["any", "arm.joints", "none", "use_sim_time"]);
    assert_eq!(list.prefixes, ["arm"]);
    let names = ["arm.joints", "any", "none"].map(String::from).to_vec();
    let request = DescribeParameters_Request { names: names.clone() };
    let described = caller.call::<srv::DescribeParameters>("describe_parameters", request);
    let [joints, any, none] = &described.descriptors[..] else { panic!("{described:?}") };
    assert_eq!((&*joints.description, &*joints.additional_constraints), ("number", "odd"));
    assert!(joints.read_only && !joints.dynamic_typing && any.dynamic_typing);
    let limits = msg::IntegerRange { from_value: 1, to_value: 9, step: 1 };
    assert_eq!(joints.integer_range.to_vec(), [limits]);
    assert_eq!((any.type_, none.type_), (ParameterType::PARAMETER_STRING, 3));
    let request = GetParameters_Request { names };
    let got = caller.call::<srv::GetParameters>("get_parameters", request);
    let types: Vec<_> = got.values.iter().map(|value| value.type_).collect();
    assert_eq!(types, [2, 4, ParameterType::PARAMETER_NOT_SET]);
}

#[test]
fn clients_set_parameters_under_the_same_rules() {
    let mut caller = Caller::new();
    let node = caller.node.clone();
    let n = node.declare_parameter("n").default(0).validate(fives).optional().unwrap();
    let mut changes = n.subscribe();
    let fixed = node.declare_parameter("fixed").default(true).read_only().unwrap();
    let integer = ParameterValue::Integer;
    let all = [
        ("n", integer(5)),
        ("n", integer(6)),
        ("n", ParameterValue::Double(5.0)),
        ("fixed", ParameterValue::Bool(false)),
        ("new", integer(1)),
    ];
    assert_eq!(caller.set(&all), [true, false, false, false, false]);
    assert_eq!((n.get(), fixed.get()), (Some(5), true));
    assert_eq!(block_on(changes.changed()), Some(Some(5)));
    assert_eq!(node.use_undeclared_parameters().get::<i64>("new"), None);
    assert_eq!(caller.set(&all[4..]), [true]);
    assert_eq!(node.use_undeclared_parameters().get("new"), Some(1));
    let parameters = messages(&[("n", integer(10)), ("fixed", ParameterValue::Bool(false))]);
    let request = SetParametersAtomically_Request { parameters };
    let service = "set_parameters_atomically";
    let response = caller.call::<srv::SetParametersAtomically>(service, request);
    assert!(!response.result.successful);
    assert!(response.result.reason.contains("read-only"), "{}", response.result.reason);
    assert_eq!(n.get(), Some(5));
}

#[test]
fn node_can_be_without_parameter_services() {
    let executor = Context::default().create_basic_executor();
    let client = executor.create_node("client").unwrap();
    let quiet = executor.create_node("quiet".start_parameter_services(false)).unwrap();
    let service = "/quiet/get_parameters";
    let get = client.create_client::<srv::GetParameters>(service).unwrap();
    assert!(!get.service_is_ready().unwrap());
    drop(quiet);
    let _open = executor.create_node("quiet").unwrap();
    assert!(get.service_is_ready().unwrap());
}

#[test]
fn application_can_answer_a_parameter_service_itself() {
    let mut caller = Caller::new();
    let answer = |request: GetParameters_Request| {
        assert_eq!(request.names, ["speed"]);
        let value = msg::ParameterValue { integer_value: 5, ..Default::default() };
        GetParameters_Response { values: vec![value] }
    };
    let own = caller.node.create_service::<srv::GetParameters, _>("~/get_parameters", answer);
    let _own = own.unwrap();
    let request = GetParameters_Request { names: vec!["speed".into()] };
    let response = caller.call::<srv::GetParameters>("get_parameters", request);
    assert_eq!(response.values[0].integer_value, 5);
    // The other services stay.
    let request = GetParameterTypes_Request { names: vec!["use_sim_time".into()] };
    let response = caller.call::<srv::GetParameterTypes>("get_parameter_types", request);
    assert_eq!(response.types, [ParameterType::PARAMETER_BOOL]);
    let second = caller.node.create_service::<srv::GetParameters, _>("~/get_parameters", answer);
    assert!(second.is_err());
}

#[test]
fn names_that_are_not_declared_have_no_value_beside_those_that_are() {
    let mut caller = Caller::new();
    let _gain = caller.node.declare_parameter("gain").default(2.5).mandatory().unwrap();
    let names: Vec<String> = ["gain", "gian"].map(Into::into).into();
    let request = GetParameters_Request { names: names.clone() };
    let got = caller.call::<srv::GetParameters>("get_parameters", request);
    let values: Vec<_> = got.values.iter().map(|it| (it.type_, it.double_value)).collect();
    assert_eq!(values, [(3, 2.5), (0, 0.0)]);
    let request = DescribeParameters_Request { names: names.clone() };
    let described = caller.call::<srv::DescribeParameters>("describe_parameters", request);
    let described: Vec<_> = described.descriptors.iter().map(|it| (&*it.name, it.type_)).collect();
    assert_eq!(described, [("gain", 3), ("gian", 0)]);
    let request = GetParameterTypes_Request { names };
    let types = caller.call::<srv::GetParameterTypes>("get_parameter_types", request);
    assert_eq!(types.types, [3, 0]);
}
