//! Every public item of r2r 0.9.7, as an application names it: this test is that it compiles.

use futures::channel::oneshot;
use futures::{Future, Stream};
use r2r::indexmap::IndexMap;
use r2r::qos::{DurabilityPolicy, HistoryPolicy, LivelinessPolicy, ReliabilityPolicy};
use r2r::std_msgs::msg::String as Text;
use r2r::std_srvs::srv::SetBool;
use r2r::{
    Client, ClientUntyped, Clock, ClockType, Context, Error, IsAvailablePollable, LogSeverity,
    NativeMsg, Node, Parameter, ParameterValue, Publisher, PublisherUntyped, QosProfile, RosParams,
    ServiceRequest, TimeSource, Timer, TopicEndpointInfo, WrappedNativeMsgUntyped,
    WrappedServiceTypeSupport, WrappedTypesupport, WrongParameterType,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

ringspin::r2r_is_patched!();

/// Parameters, as the derive of r2r defines them.
#[derive(RosParams, Default, Debug)]
struct Speeds {
    /// The unit is metres per second.
    forward: f64,
    inner: Inner,
}

#[derive(RosParams, Default, Debug)]
struct Inner {
    count: u16,
    name: String,
}

fn is_send<T: Send>(value: T) -> T {
    value
}

fn stream<T>(_: impl Stream<Item = T> + Unpin + Send + 'static) {}

fn future<T>(_: impl Future<Output = T> + Unpin + Send + 'static) {}

/// Subscriptions and publishers of any type.
fn topics<T: WrappedTypesupport + 'static>(node: &mut Node) -> r2r::Result<()> {
    let qos = QosProfile::default();
    stream::<T>(node.subscribe("a", qos.clone())?);
    stream::<NativeMsg<T>>(node.subscribe_native("a", qos.clone())?);
    stream::<r2r::Result<Value>>(node.subscribe_untyped("a", T::TYPE_NAME, qos.clone())?);
    stream::<Vec<u8>>(node.subscribe_raw("a", T::TYPE_NAME, qos.clone())?);
    let publisher: Publisher<T> = is_send(node.create_publisher("a", qos.clone())?.clone());
    publisher.publish(&T::default())?;
    let mut native: NativeMsg<T> = publisher.borrow_loaned_message()?;
    let _: (bool, &T) = (native.is_loaned, &native);
    publisher.publish_native(&mut native)?;
    publisher.publish_native(&mut NativeMsg::from(&T::default()))?;
    publisher.publish_native(&mut NativeMsg::<T>::new())?;
    let _: usize = publisher.get_inter_process_subscription_count()?;
    future::<r2r::Result<()>>(publisher.wait_for_inter_process_subscribers()?);
    node.destroy_publisher(publisher);
    let untyped: PublisherUntyped = node.create_publisher_untyped("a", T::TYPE_NAME, qos)?;
    untyped.clone().publish(serde_json::json!({}))?;
    untyped.publish_raw(&T::default().to_serialized_bytes()?)?;
    let _: usize = untyped.get_inter_process_subscription_count()?;
    future::<r2r::Result<()>>(untyped.wait_for_inter_process_subscribers()?);
    node.destroy_publisher_untyped(untyped);
    let _ = T::from_serialized_bytes(&[])?;
    Ok(())
}

/// Services of any type.
fn services<T: WrappedServiceTypeSupport>(node: &mut Node) -> r2r::Result<()> {
    let qos = QosProfile::services_default();
    stream::<ServiceRequest<T>>(node.create_service("b", qos.clone())?);
    let respond = |request: ServiceRequest<T>, response: T::Response| {
        let _: &T::Request = &request.message;
        request.clone().respond(response)
    };
    let _ = respond;
    let client: Client<T> = is_send(node.create_client("b", qos.clone())?);
    future::<r2r::Result<T::Response>>(client.request(&T::Request::default())?);
    let untyped: ClientUntyped = node.create_client_untyped("b", "std_srvs/srv/SetBool", qos)?;
    future::<r2r::Result<r2r::Result<Value>>>(untyped.request(serde_json::json!({}))?);
    future::<r2r::Result<()>>(Node::is_available(&client)?);
    let pollable: &dyn IsAvailablePollable = &untyped;
    pollable.register_poll_available(oneshot::channel().0)
}

async fn times(node: &mut Node) -> r2r::Result<()> {
    let mut timer: Timer = is_send(node.create_wall_timer(Duration::from_millis(1))?);
    let _: Duration = timer.tick().await?;
    let _: Timer = node.create_timer(Duration::from_millis(1))?;
    for clock_type in [ClockType::RosTime, ClockType::SystemTime, ClockType::SteadyTime] {
        let mut clock = Clock::create(clock_type)?;
        let now: Duration = clock.get_now()?;
        let _: ClockType = clock.get_clock_type();
        let _: r2r::builtin_interfaces::msg::Time = Clock::to_builtin_time(&now);
    }
    let source: TimeSource = node.get_time_source();
    let clock: Arc<Mutex<Clock>> = node.get_ros_clock();
    let weak: Weak<Mutex<Clock>> = Arc::downgrade(&clock);
    source.attach_ros_clock(weak)?;
    source.enable_sim_time(node)?;
    source.disable_sim_time();
    Ok(())
}

fn parameters(node: &mut Node) -> r2r::Result<()> {
    let (handler, changes) = node.make_parameter_handler()?;
    future::<()>(handler);
    stream::<(String, ParameterValue)>(Box::pin(changes));
    let speeds = Arc::new(Mutex::new(Speeds::default()));
    let (handler, _) = node.make_derived_parameter_handler(speeds)?;
    future::<()>(handler);
    let _: f64 = node.get_parameter("x")?;
    let _: Option<Vec<String>> = node.get_parameter("y")?;
    let wrong: Result<bool, WrongParameterType> = ParameterValue::Integer(1).try_into();
    let WrongParameterType { expected_type_name: _, actual_type_name: _ } = wrong.unwrap_err();
    let params: Arc<Mutex<IndexMap<String, Parameter>>> = node.params.clone();
    let parameter = Parameter::new(ParameterValue::NotSet);
    let _: (&ParameterValue, &'static str) = (&parameter.value, parameter.description);
    params.lock().unwrap().insert("z".into(), Parameter::empty());
    let _: &str = ParameterValue::Bool(true).type_name();
    Ok(())
}

fn queries(node: &Node) -> r2r::Result<()> {
    let _: (String, String, String) =
        (node.name()?, node.namespace()?, node.fully_qualified_name()?);
    let _: HashMap<String, Vec<String>> = node.get_topic_names_and_types()?;
    let infos: Vec<TopicEndpointInfo> = node.get_publishers_info_by_topic("a", false)?;
    for info in infos {
        let TopicEndpointInfo {
            node_name: _,
            node_namespace: _,
            topic_type: _,
            endpoint_gid: _,
            qos_profile: _,
        } = info;
    }
    r2r::log_debug!(node.logger(), "a {}", 1);
    r2r::log_info!(node.logger(), "a");
    r2r::log_warn!(node.logger(), "a");
    r2r::log_error!(node.logger(), "a");
    r2r::log_fatal!(node.logger(), "a");
    r2r::log("a", "b", file!(), line!(), LogSeverity::Unset);
    r2r::assert_compiled_with_use_sim_time_support!();
    Ok(())
}

fn profiles() -> [QosProfile; 7] {
    const QOS: QosProfile = QosProfile::sensor_data()
        .history(HistoryPolicy::KeepLast)
        .keep_all()
        .keep_last(1)
        .reliability(ReliabilityPolicy::BestAvailable)
        .reliable()
        .best_effort()
        .durability(DurabilityPolicy::SystemDefault)
        .volatile()
        .transient_local()
        .deadline(Duration::ZERO)
        .lifespan(Duration::ZERO)
        .liveliness(LivelinessPolicy::ManualByNode)
        .liveliness_lease_duration(Duration::ZERO)
        .avoid_ros_namespace_conventions(false);
    [
        QOS,
        QosProfile::parameters(),
        QosProfile::default(),
        QosProfile::services_default(),
        QosProfile::parameter_events(),
        QosProfile::system_default(),
        QosProfile::unknown(),
    ]
}

#[test]
fn every_item_is_there() {
    // Named, so that they are compiled; other tests show their behaviour.
    let _ = (topics::<Text>, services::<SetBool::Service>, times, parameters, queries);
    assert_eq!(profiles()[2].depth, 10);
    assert!(Context::create().unwrap().is_valid());
    let error = Error::from_rcl_error(300).update_param_name("x");
    assert!(matches!(error, Error::RCL_RET_PUBLISHER_INVALID));
    assert_eq!(r2r::ROS_DISTRO, "jazzy");
    assert!(!r2r::uuid::Uuid::new_v4().is_nil());
}

#[test]
fn messages_known_by_name_are_converted() {
    let text = Text { data: "hello".into() };
    let mut native = WrappedNativeMsgUntyped::new_from("std_msgs/msg/String").unwrap();
    native.from_serialized_bytes(&text.to_serialized_bytes().unwrap()).unwrap();
    assert_eq!(native.to_json().unwrap(), serde_json::json!({ "data": "hello" }));
    native.from_json(serde_json::json!({ "data": "you" })).unwrap();
    assert_eq!(native.to_json().unwrap(), serde_json::json!({ "data": "you" }));
    assert!(native.from_serialized_bytes(&[0, 1, 0, 0, 9]).is_err());
    let unknown = WrappedNativeMsgUntyped::new_from("std_msgs/msg/Strin").unwrap_err().to_string();
    assert!(unknown.contains("std_msgs/msg/String"), "{unknown}");
    let unknown = WrappedNativeMsgUntyped::new_from("my_msgs/msg/A").unwrap_err().to_string();
    assert!(unknown.contains("RINGSPIN_MESSAGES"), "{unknown}");
}
