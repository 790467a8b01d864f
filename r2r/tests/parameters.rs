//! Parameters and simulated time, in worlds of simulated threads.

use futures::StreamExt;
use futures::executor::block_on;
use r2r::builtin_interfaces::msg::Time;
use r2r::rcl_interfaces::msg::{Parameter as ParameterMessage, ParameterValue as ValueMessage};
use r2r::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters,
    SetParametersAtomically,
};
use r2r::rosgraph_msgs::msg::Clock;
use r2r::{Context, Node, Parameter, ParameterValue, QosProfile, RosParams};
use ringspin_simulated_threads::run;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const STEP: Duration = Duration::from_millis(100);

#[derive(RosParams, Default, Debug, PartialEq)]
struct Settings {
    /// The unit is metres per second.
    speed: f64,
    lidar: Lidar,
}

#[derive(RosParams, Default, Debug, PartialEq)]
struct Lidar {
    beams: u16,
    frame: String,
}

fn node(name: &str) -> Node {
    Node::create(Context::create().unwrap(), name, "fleet").unwrap()
}

/// Spins a node for the rest of the world.
fn spin(mut node: Node) {
    thread::spawn(move || {
        loop {
            node.spin_once(STEP);
        }
    });
}

/// Spins a node like [`spin`], and shares it.
fn share(node: Node) -> Arc<Mutex<Node>> {
    let node = Arc::new(Mutex::new(node));
    let spun = node.clone();
    thread::spawn(move || {
        loop {
            spun.lock().unwrap().spin_once(STEP);
            thread::yield_now();
        }
    });
    node
}

fn set(name: &str, value: ValueMessage) -> ParameterMessage {
    ParameterMessage { name: name.into(), value }
}

fn integer(value: i64) -> ValueMessage {
    ValueMessage { type_: 2, integer_value: value, ..Default::default() }
}

fn double(value: f64) -> ValueMessage {
    ValueMessage { type_: 3, double_value: value, ..Default::default() }
}

/// Calls a service of node `/fleet/robot`, once it is there.
macro_rules! call {
    ($node:expr, $service:ident, $name:literal, $request:expr) => {{
        let (name, qos) = (concat!("/fleet/robot/", $name), QosProfile::services_default());
        let client = $node.lock().unwrap().create_client::<$service::Service>(name, qos).unwrap();
        let available = Node::is_available(&client).unwrap();
        let request = $request;
        block_on(async move {
            available.await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        })
    }};
}

#[test]
fn services_set_the_fields_of_a_struct() {
    let changed = run(|| {
        let (mut robot, other) = (node("robot"), node("operator"));
        let given = Parameter::new(ParameterValue::Integer(16));
        robot.params.lock().unwrap().insert("lidar.beams".into(), given);
        let settings = Arc::new(Mutex::new(Settings::default()));
        let (handler, changes) = robot.make_derived_parameter_handler(settings.clone()).unwrap();
        assert_eq!(settings.lock().unwrap().lidar.beams, 16);
        thread::spawn(move || block_on(handler));
        spin(robot);
        let other = share(other);
        let all = vec![set("speed", double(1.5)), set("lidar.beams", integer(70_000))];
        let results = call!(
            other,
            SetParameters,
            "set_parameters",
            SetParameters::Request { parameters: all.clone() }
        );
        assert!(results.results[0].successful);
        assert!(results.results[1].reason.contains("lidar.beams"), "{results:?}");
        let result = call!(
            other,
            SetParametersAtomically,
            "set_parameters_atomically",
            SetParametersAtomically::Request {
                parameters: vec![set("speed", double(9.0)), all[1].clone()]
            }
        );
        assert!(!result.result.successful && result.result.reason.contains("lidar.beams"));
        assert_eq!(settings.lock().unwrap().speed, 1.5);
        let names = vec!["speed".to_owned(), "lidar.frame".to_owned(), "no".to_owned()];
        let values = call!(
            other,
            GetParameters,
            "get_parameters",
            GetParameters::Request { names: names.clone() }
        );
        let types: Vec<_> = values.values.iter().map(|value| value.type_).collect();
        assert_eq!((types, values.values[0].double_value), (vec![3, 4, 0], 1.5));
        let types = call!(
            other,
            GetParameterTypes,
            "get_parameter_types",
            GetParameterTypes::Request { names: names.clone() }
        );
        assert_eq!(types.types, [3, 4, 0]);
        let described = call!(
            other,
            DescribeParameters,
            "describe_parameters",
            DescribeParameters::Request { names }
        );
        assert_eq!(described.descriptors[0].description, "The unit is metres per second.");
        let listed = call!(
            other,
            ListParameters,
            "list_parameters",
            ListParameters::Request { prefixes: vec!["lidar".into()], depth: 1 }
        );
        assert_eq!(listed.result.names, ["lidar.beams", "lidar.frame"]);
        assert_eq!(listed.result.prefixes, ["lidar"]);
        block_on(changes.take(1).collect::<Vec<_>>())
    });
    assert_eq!(changed.unwrap(), [("speed".to_owned(), ParameterValue::Double(1.5))]);
}

#[test]
fn timers_follow_the_clock_of_a_topic() {
    let times = run(|| {
        let mut robot = node("robot");
        let use_sim_time = Parameter::new(ParameterValue::Bool(true));
        robot.params.lock().unwrap().insert("use_sim_time".into(), use_sim_time);
        let _handler = robot.make_parameter_handler().unwrap();
        let mut timer = robot.create_timer(Duration::from_secs(2)).unwrap();
        let (clock, source) = (robot.get_ros_clock(), robot.get_time_source());
        let out = robot.create_publisher::<Clock>("/clock", QosProfile::default()).unwrap();
        spin(robot);
        thread::spawn(move || {
            for sec in 100..120 {
                out.publish(&Clock { clock: Time { sec, nanosec: 0 } }).unwrap();
                thread::sleep(Duration::from_millis(10));
            }
            source.disable_sim_time();
        });
        let ticks = async {
            let mut times = Vec::new();
            for _ in 0..3 {
                let elapsed = timer.tick().await.unwrap();
                times.push((elapsed, clock.lock().unwrap().get_now().unwrap()));
            }
            // The clock ends meanwhile; the time of the system continues, from 1970.
            while clock.lock().unwrap().get_now().unwrap() > Duration::from_secs(100) {
                timer.tick().await.unwrap();
            }
            times
        };
        block_on(ticks)
    });
    let seconds = Duration::from_secs;
    let expected = [102, 104, 106].map(|time| (seconds(2), seconds(time)));
    assert_eq!(times.unwrap(), expected);
}

#[test]
fn names_are_those_of_ros() {
    let names = run(|| {
        let robot = node("robot");
        let error = Node::create(Context::create().unwrap(), "no name", "").unwrap_err();
        assert!(matches!(error, r2r::Error::RCL_RET_NODE_INVALID_NAME), "{error}");
        let second = Node::create(Context::create().unwrap(), "robot", "/fleet").unwrap();
        assert_eq!(second.fully_qualified_name().unwrap(), "/fleet/robot_2");
        let logger = robot.logger().to_owned();
        (
            robot.name().unwrap(),
            robot.namespace().unwrap(),
            robot.fully_qualified_name().unwrap(),
            logger,
        )
    });
    let (name, namespace, full_name, logger) = names.unwrap();
    assert_eq!(
        [&*name, &namespace, &full_name, &logger],
        ["robot", "/fleet", "/fleet/robot", "fleet.robot"]
    );
}
