//! Topics, services and parameters in one application.

#![cfg(ros_is_sourced)]

use futures::StreamExt;
use r2r::std_msgs::msg::String as Text;
use r2r::std_srvs::srv::SetBool;
use r2r::{Context, Node, Parameter, ParameterValue, QosProfile};
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::timeout;

/// Echoes `/say` on `/echo`, offers `/peer_set`, calls `/set`, and asks for a parameter.
const PEER: &str = "
import rclpy, time
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import String
from std_srvs.srv import SetBool
rclpy.init()
node = rclpy.create_node('peer')
out = node.create_publisher(String, '/echo', 10)
node.create_subscription(String, '/say', lambda m: out.publish(String(data='echo ' + m.data)), 10)
def answer(request, response):
    response.success, response.message = request.data, 'from rclpy'
    return response
node.create_service(SetBool, '/peer_set', answer)
def call(kind, name, request):
    client = node.create_client(kind, name)
    assert client.wait_for_service(30), name
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=30)
    return future.result()
print(call(SetBool, '/set', SetBool.Request(data=True)).message, flush=True)
values = call(GetParameters, '/robot/get_parameters', GetParameters.Request(names=['gain']))
print(values.values[0].double_value, flush=True)
types = dict(node.get_topic_names_and_types())
print(types['/say'], flush=True)
end = time.time() + 60
while time.time() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
";

#[tokio::test(flavor = "multi_thread")]
async fn topics_services_and_parameters_meet_rclpy() -> Result<(), Box<dyn Error>> {
    let python = std::env::var("RINGSPIN_ROS_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut peer = Command::new(python).args(["-c", PEER]).stdout(Stdio::piped()).spawn()?;
    let mut node = Node::create(Context::create()?, "robot", "")?;
    let gain = Parameter::new(ParameterValue::Double(2.5));
    node.params.lock().unwrap().insert("gain".into(), gain);
    let (handler, _changes) = node.make_parameter_handler()?;
    tokio::spawn(handler);
    let say = node.create_publisher::<Text>("/say", QosProfile::default())?;
    let mut raw = node.subscribe_raw("/echo", "std_msgs/msg/String", QosProfile::default())?;
    let mut echo = node.subscribe::<Text>("/echo", QosProfile::default())?;
    let services = QosProfile::services_default;
    let mut requests = node.create_service::<SetBool::Service>("/set", services())?;
    let client = node.create_client::<SetBool::Service>("/peer_set", services())?;
    let available = Node::is_available(&client)?;
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let message = format!("r2r set {}", request.message.data);
            request.respond(SetBool::Response { success: true, message }).unwrap();
        }
    });
    let mut timer = node.create_wall_timer(Duration::from_millis(50))?;
    tokio::spawn(async move {
        for n in 0.. {
            if timer.tick().await.is_err() || say.publish(&Text { data: n.to_string() }).is_err() {
                return;
            }
        }
    });
    let (stop, mut is_over) = tokio::sync::mpsc::channel::<()>(1);
    let spinning = tokio::task::spawn_blocking(move || {
        while is_over.try_recv() == Err(tokio::sync::mpsc::error::TryRecvError::Empty) {
            node.spin_once(Duration::from_millis(100));
        }
    });
    let limit = Duration::from_secs(60);
    timeout(limit, available).await??;
    let response = timeout(limit, client.request(&SetBool::Request { data: true })?).await??;
    assert_eq!((response.success, &*response.message), (true, "from rclpy"));
    let heard = timeout(limit, echo.next()).await?.unwrap().data;
    assert!(heard.starts_with("echo "), "{heard}");
    let bytes = timeout(limit, raw.next()).await?.unwrap();
    assert_eq!(bytes[8..13], *b"echo ");
    let lines = std::io::BufReader::new(peer.stdout.take().unwrap());
    let lines = tokio::task::spawn_blocking(|| {
        use std::io::BufRead;
        lines.lines().take(3).map(Result::unwrap).collect::<Vec<_>>()
    });
    assert_eq!(timeout(limit, lines).await??, ["r2r set true", "2.5", "['std_msgs/msg/String']"]);
    drop(stop);
    spinning.await?;
    peer.kill()?;
    peer.wait()?;
    Ok(())
}
