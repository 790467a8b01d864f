//! One hop at 1 kHz: a timer publishes a 4-kB PointCloud2, and a subscription receives it. Measured
//! from before the publish to the start of the callback.

use crate::measure::{BoxError, Recorder};
use ringspin_executor::{Context, Message, QoS};
use ringspin_messages::sensor_msgs::msg::PointCloud2;
use ringspin_modes::{Executor, Mapping};
use ringspin_ros2::rcl::{Node, NodeOptions, Publisher, Subscription};
use ringspin_ros2::{Ros2, Traffic};
use serde_json::Value;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The first contender has no executor: it publishes, takes, and sleeps.
pub(crate) const CONTENDERS: &[&str] = &[
    "publish and take",
    "ringspin, single",
    "ringspin, multi",
    "ringspin, single, in process",
    "r2r, one node, LocalPool",
    "r2r, two nodes, a thread each",
    "r2r, one node, tokio",
    "rclrs, one node",
    "rclrs, two workers",
    "rclpy",
];

pub(crate) const TOPIC: &str = "/cloud";
pub(crate) const DEPTH: usize = 10;
pub(crate) const PERIOD: Duration = Duration::from_millis(1);
pub(crate) const TO_SKIP: usize = 300;
pub(crate) const COUNT: usize = 3000;

pub(crate) fn run(name: &str) -> Result<(), BoxError> {
    let figures = match name {
        "publish and take" => without_executor()?,
        "ringspin, single" => ringspin(Executor::single_core(), Traffic::Loopback)?,
        "ringspin, multi" => {
            let mapping = Mapping::new().core(0, ["/talker"]).core(1, ["/listener"]);
            ringspin(Executor::multi_core(mapping), Traffic::Loopback)?
        }
        "ringspin, single, in process" => ringspin(Executor::single_core(), Traffic::Direct)?,
        _ => return Err(format!("no contender {name:?}").into()),
    };
    println!("{figures}");
    Ok(())
}

/// Makes a cloud with the current time, of any library's type.
macro_rules! cloud {
    ($type:ident) => {{
        let mut cloud = $type { data: vec![1; 4096], ..$type::default() };
        cloud.header.frame_id = "lidar".into();
        let now = $crate::measure::now_ns();
        cloud.header.stamp.sec = (now / 1_000_000_000) as i32;
        cloud.header.stamp.nanosec = (now % 1_000_000_000) as u32;
        cloud
    }};
}
#[cfg_attr(not(any(feature = "r2r", feature = "rclrs")), expect(unused_imports))]
pub(crate) use cloud;

/// The time in a cloud of any type.
macro_rules! stamp_ns {
    ($cloud:expr) => {{
        let stamp = &$cloud.header.stamp;
        stamp.sec as u64 * 1_000_000_000 + u64::from(stamp.nanosec)
    }};
}
#[cfg_attr(not(any(feature = "r2r", feature = "rclrs")), expect(unused_imports))]
pub(crate) use stamp_ns;

fn without_executor() -> Result<Value, BoxError> {
    let ros2 = Ros2::builder().traffic(Traffic::Loopback).connect()?;
    let talker = Node::new(ros2.context(), "", "talker", NodeOptions::default())?;
    let listener = Node::new(ros2.context(), "", "listener", NodeOptions::default())?;
    let qos = QoS::keep_last(DEPTH);
    let publisher = Publisher::<PointCloud2>::new(&talker, TOPIC, &qos)?;
    let mut subscription =
        Subscription::<PointCloud2>::new(&listener, TOPIC, &qos, Default::default())?;
    let mut recorder = Recorder::new(TO_SKIP, COUNT);
    loop {
        std::thread::sleep(PERIOD);
        publisher.publish(&cloud!(PointCloud2))?;
        if let Some((cloud, _)) = subscription.take()?
            && let Some(figures) = recorder.arrived(stamp_ns!(cloud))
        {
            return Ok(figures);
        }
    }
}

fn ringspin(executor: Executor, traffic: Traffic) -> Result<Value, BoxError> {
    let ros2 = Ros2::builder().traffic(traffic).connect()?;
    let mut executor = executor.with_middleware(Arc::new(ros2))?;
    let talker = executor.create_node("talker", ())?;
    let out = talker.create_publisher(TOPIC, QoS::keep_last(DEPTH))?;
    talker.create_timer(PERIOD, move |(), _| out.publish(cloud!(PointCloud2)))?;
    let listener = executor.create_node("listener", Recorder::new(TO_SKIP, COUNT))?;
    let (sender, figures) = channel();
    let stop = executor.stop_handle();
    let listen =
        move |recorder: &mut Recorder, cloud: &Message<PointCloud2>, _: &mut Context<'_>| {
            if let Some(figures) = recorder.arrived(stamp_ns!(cloud)) {
                let _ = sender.send(figures);
                stop.stop();
            }
        };
    listener.create_subscription(TOPIC, QoS::keep_last(DEPTH), listen)?;
    executor.spin()?;
    Ok(figures.try_recv()?)
}
