//! One hop at 1 kHz: a timer publishes a 4-kB PointCloud2, and a subscription receives it. Measured
//! from before the publish to the start of the callback.

use crate::measure::{BoxError, Recorder, now_ns};
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use futures::{Stream, StreamExt};
use r2r::QosProfile;
use r2r::sensor_msgs::msg::PointCloud2 as R2rCloud;
use ringspin_executor::{Context, Message, QoS};
use ringspin_messages::sensor_msgs::msg::PointCloud2;
use ringspin_modes::{Executor, Mapping};
use ringspin_ros2::rcl::{Node, NodeOptions, Publisher, Subscription};
use ringspin_ros2::{Ros2, Traffic};
use serde_json::Value;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
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
    "rclpy",
];

const TOPIC: &str = "/cloud";
const DEPTH: usize = 10;
const PERIOD: Duration = Duration::from_millis(1);
const TO_SKIP: usize = 300;
const COUNT: usize = 3000;

pub(crate) fn run(name: &str) -> Result<(), BoxError> {
    let figures = match name {
        "publish and take" => without_executor()?,
        "ringspin, single" => ringspin(Executor::single_core(), Traffic::Loopback)?,
        "ringspin, multi" => {
            let mapping = Mapping::new().core(0, ["/talker"]).core(1, ["/listener"]);
            ringspin(Executor::multi_core(mapping), Traffic::Loopback)?
        }
        "ringspin, single, in process" => ringspin(Executor::single_core(), Traffic::Direct)?,
        "r2r, one node, LocalPool" => r2r_in_pool()?,
        "r2r, two nodes, a thread each" => r2r_in_two_threads()?,
        "r2r, one node, tokio" => r2r_in_tokio()?,
        _ => return Err(format!("no contender {name:?}").into()),
    };
    println!("{figures}");
    Ok(())
}

/// Makes a cloud with the current time, of either library's type.
macro_rules! cloud {
    ($type:ident) => {{
        let mut cloud = $type { data: vec![1; 4096], ..$type::default() };
        cloud.header.frame_id = "lidar".into();
        let now = now_ns();
        cloud.header.stamp.sec = (now / 1_000_000_000) as i32;
        cloud.header.stamp.nanosec = (now % 1_000_000_000) as u32;
        cloud
    }};
}

/// The time in a cloud of either type.
macro_rules! stamp_ns {
    ($cloud:expr) => {{
        let stamp = &$cloud.header.stamp;
        stamp.sec as u64 * 1_000_000_000 + u64::from(stamp.nanosec)
    }};
}

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

/// Follows r2r's own examples: a single node on one thread.
fn r2r_in_pool() -> Result<Value, BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "both", "")?;
    let qos = QosProfile::default().keep_last(DEPTH);
    let clouds = node.subscribe::<R2rCloud>(TOPIC, qos.clone())?;
    let publisher = node.create_publisher::<R2rCloud>(TOPIC, qos)?;
    let timer = node.create_wall_timer(PERIOD)?;
    let mut pool = LocalPool::new();
    pool.spawner().spawn_local(publish_clouds(timer, publisher))?;
    spin_until_recorded(&mut node, &mut pool, clouds)
}

/// The same with two nodes; r2r spins one node per call, so each has its own thread.
fn r2r_in_two_threads() -> Result<Value, BoxError> {
    let (stop, stopped) = channel();
    let talker = std::thread::spawn(move || r2r_talker(&stopped));
    let mut node = r2r::Node::create(r2r::Context::create()?, "listener", "")?;
    let clouds = node.subscribe::<R2rCloud>(TOPIC, QosProfile::default().keep_last(DEPTH))?;
    let figures = spin_until_recorded(&mut node, &mut LocalPool::new(), clouds)?;
    drop(stop);
    talker.join().map_err(|_| "the talker panicked")??;
    Ok(figures)
}

/// Spins `node` and `pool` in turn until the recorder has enough clouds.
fn spin_until_recorded(
    node: &mut r2r::Node,
    pool: &mut LocalPool,
    mut clouds: impl Stream<Item = R2rCloud> + Unpin + 'static,
) -> Result<Value, BoxError> {
    let result = Rc::new(Cell::new(None));
    let found = result.clone();
    pool.spawner().spawn_local(async move {
        let mut recorder = Recorder::new(TO_SKIP, COUNT);
        while let Some(cloud) = clouds.next().await {
            if let Some(figures) = recorder.arrived(stamp_ns!(cloud)) {
                found.set(Some(figures));
            }
        }
    })?;
    loop {
        node.spin_once(Duration::from_millis(100));
        pool.run_until_stalled();
        if let Some(figures) = result.take() {
            return Ok(figures);
        }
    }
}

/// The publishing node; runs until the sender of `stopped` is dropped.
fn r2r_talker(stopped: &Receiver<()>) -> Result<(), BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "talker", "")?;
    let qos = QosProfile::default().keep_last(DEPTH);
    let publisher = node.create_publisher::<R2rCloud>(TOPIC, qos)?;
    let timer = node.create_wall_timer(PERIOD)?;
    let mut pool = LocalPool::new();
    pool.spawner().spawn_local(publish_clouds(timer, publisher))?;
    while stopped.try_recv() != Err(TryRecvError::Disconnected) {
        node.spin_once(Duration::from_millis(100));
        pool.run_until_stalled();
    }
    Ok(())
}

/// Publishes a cloud at each tick.
async fn publish_clouds(mut timer: r2r::Timer, publisher: r2r::Publisher<R2rCloud>) {
    while timer.tick().await.is_ok() {
        publisher.publish(&cloud!(R2rCloud)).expect("the context is there");
    }
}

/// Follows r2r's example with tokio: a separate thread spins the node.
fn r2r_in_tokio() -> Result<Value, BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "both", "")?;
    let qos = QosProfile::default().keep_last(DEPTH);
    let mut clouds = node.subscribe::<R2rCloud>(TOPIC, qos.clone())?;
    let publisher = node.create_publisher::<R2rCloud>(TOPIC, qos)?;
    let timer = node.create_wall_timer(PERIOD)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    runtime.spawn(publish_clouds(timer, publisher));
    let (sender, figures) = channel();
    runtime.spawn(async move {
        let mut recorder = Recorder::new(TO_SKIP, COUNT);
        while let Some(cloud) = clouds.next().await {
            if let Some(figures) = recorder.arrived(stamp_ns!(cloud)) {
                let _ = sender.send(figures);
            }
        }
    });
    loop {
        node.spin_once(Duration::from_millis(100));
        if let Ok(figures) = figures.try_recv() {
            return Ok(figures);
        }
    }
}
