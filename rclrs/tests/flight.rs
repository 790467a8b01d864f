//! An application with a service, a timer, a parameter and a subscription: recorded over ROS 2, and
//! replayed without it.

#![cfg(ros_is_sourced)]

use futures::channel::oneshot;
use rclrs::*;
use ros_env::rcl_interfaces::msg::{Parameter, ParameterType, ParameterValue as Value};
use ros_env::rcl_interfaces::srv::{SetParameters, SetParameters_Request, SetParameters_Response};
use ros_env::std_msgs::msg::Int64;
use ros_env::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const NAME: &str = "RINGSPIN_TEST_FLIGHT";

/// Far more than this test takes.
const LONG: Duration = Duration::from_secs(60);

/// The command that ends the application.
const END: i64 = -1;

/// Writes what its callbacks see, in order.
#[test]
#[ignore = "a process of the test below"]
fn robot() {
    let name = std::env::var(NAME).unwrap();
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let noted = || {
        let lines = lines.clone();
        move |line: String| lines.lock().unwrap().push(line)
    };
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node(name.as_str()).unwrap();
    let speed = node.declare_parameter("speed").default(1.0).mandatory().unwrap();
    let note = noted();
    let (mut period, ticks) = (0, noted());
    let _timer = node.create_timer_repeating(Duration::from_millis(2), move || {
        period += 1;
        ticks(format!("heard tick {period}, speed {}", speed.get()));
    });
    let _service = node.create_service::<SetBool, _>("switch", move |request: SetBool_Request| {
        note(format!("heard {}", request.data));
        SetBool_Response { success: !request.data, message: String::new() }
    });
    let (ended, promise) = oneshot::channel();
    let (ended, note) = (Mutex::new(Some(ended)), noted());
    let commands = format!("{name}/commands");
    let commands = commands.as_str().keep_last(1000);
    let _subscription = node.create_subscription(commands, move |command: Int64| {
        note(format!("heard {}", command.data));
        if command.data == END {
            ended.lock().unwrap().take().into_iter().for_each(|ended| ended.send(()).unwrap());
        }
    });
    let options = SpinOptions::new().until_promise_resolved(promise).timeout(LONG);
    executor.spin(options).first_error().unwrap();
    let lines = lines.lock().unwrap();
    lines.iter().for_each(|line| println!("{line}"));
}

fn start(name: &str, variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "robot", "--ignored", "--nocapture"]);
    command.env(NAME, name).envs(variables.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The lines of a process, which has succeeded.
fn heard(process: Child) -> Vec<String> {
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter(|line| line.starts_with("heard")).map(str::to_owned).collect()
}

/// Calls the service and sets the parameter of `name`, and then has it end.
fn operate(name: &str) {
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node(format!("operator_of_{name}").as_str()).unwrap();
    let commands = format!("{name}/commands");
    let publisher = node.create_publisher::<Int64>(commands.as_str().keep_last(1000)).unwrap();
    let switch = node.create_client::<SetBool>("switch").unwrap();
    let service = format!("{name}/set_parameters");
    let set = node.create_client::<SetParameters>(service.as_str()).unwrap();
    let operate = async move {
        switch.notify_on_service_ready().await.unwrap();
        set.notify_on_service_ready().await.unwrap();
        for n in 1..=5 {
            let data = n % 2 == 0;
            let response: SetBool_Response =
                switch.call(SetBool_Request { data }).unwrap().await.unwrap();
            assert_eq!(response.success, !data);
            let value = Value {
                type_: ParameterType::PARAMETER_DOUBLE,
                double_value: n as f64,
                ..Value::default()
            };
            let parameters = vec![Parameter { name: "speed".into(), value }];
            let request = SetParameters_Request { parameters };
            let _: SetParameters_Response = set.call(request).unwrap().await.unwrap();
            publisher.publish(Int64 { data: n }).unwrap();
        }
        publisher
    };
    let (mut publisher, notice) =
        executor.commands().create_notice(executor.commands().run(operate));
    let options = SpinOptions::new().until_promise_resolved(notice).timeout(LONG);
    executor.spin(options).first_error().unwrap();
    let publisher = publisher.try_recv().unwrap().expect("it has operated");
    while publisher.get_subscription_count().unwrap() > 0 {
        publisher.publish(Int64 { data: END }).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_application_sees_the_same_in_a_replay() {
    for mode in ["single", "multi"] {
        let name = format!("flight_{}_{mode}", std::process::id());
        let file = std::env::temp_dir().join(format!("ringspin_rclrs_{name}.mcap"));
        let path = file.to_str().expect("a name in UTF-8");
        let live = start(&name, &[("RINGSPIN_MODE", mode), ("RINGSPIN_RECORD", path)]);
        operate(&name);
        let lines = heard(live);
        for line in ["heard true", "heard 5", "heard -1"] {
            assert!(lines.iter().any(|known| known == line), "{line}: {lines:?}");
        }
        // No such domain: a connection with ROS 2 would fail.
        let offline = [("RINGSPIN_REPLAY", path), ("ROS_DOMAIN_ID", "none")];
        for _ in 0..2 {
            assert_eq!(heard(start(&name, &offline)), lines);
        }
        std::fs::remove_file(file).unwrap();
    }
}
