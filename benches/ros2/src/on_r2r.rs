//! The contenders of r2r, as its own examples are written.

mod system;

use crate::hop::{COUNT, DEPTH, PERIOD, TO_SKIP, TOPIC, cloud, stamp_ns};
use crate::measure::{BoxError, Recorder};
use crate::timers::{MEASURED, TIMERS, period};
use crate::{idle, spins, timers};
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use futures::{Stream, StreamExt};
use r2r::QosProfile;
use r2r::sensor_msgs::msg::PointCloud2;
use r2r::std_msgs::msg::String as Text;
use ringspin_bench::process::CpuMeter;
use serde_json::Value;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The timeout in r2r's README.
const TIMEOUT: Duration = Duration::from_millis(100);

pub(crate) fn run(comparison: &str, name: &str) -> Result<(), BoxError> {
    let figures = match (comparison, name) {
        ("hop", "r2r, one node, LocalPool") => hop_in_pool()?,
        ("hop", "r2r, two nodes, a thread each") => hop_in_two_threads()?,
        ("hop", "r2r, one node, tokio") => hop_in_tokio()?,
        ("system", "r2r, one node") => system::on_one_thread()?,
        ("system", "r2r, a thread per node") => system::on_many_threads()?,
        ("system", "r2r, one node, tokio") => system::in_tokio()?,
        ("system", "r2r, one node, tokio on two threads") => system::in_tokio_on_two_threads()?,
        ("idle", "r2r, one node") => return idle_in_one_node(),
        ("idle", "r2r, a thread per node") => return idle_in_threads(),
        ("timers", "r2r, one node") => timers()?,
        ("spins", "r2r, one node") => spins()?,
        _ => return Err(format!("no contender {name:?}").into()),
    };
    println!("{figures}");
    Ok(())
}

/// Follows r2r's own examples: a single node on one thread.
fn hop_in_pool() -> Result<Value, BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "both", "")?;
    let qos = QosProfile::default().keep_last(DEPTH);
    let clouds = node.subscribe::<PointCloud2>(TOPIC, qos.clone())?;
    let publisher = node.create_publisher::<PointCloud2>(TOPIC, qos)?;
    let timer = node.create_wall_timer(PERIOD)?;
    let mut pool = LocalPool::new();
    pool.spawner().spawn_local(publish_clouds(timer, publisher))?;
    spin_until_recorded(&mut node, &mut pool, clouds)
}

/// The same with two nodes; r2r spins one node per call, so each has its own thread.
fn hop_in_two_threads() -> Result<Value, BoxError> {
    let (stop, stopped) = channel();
    let talking = std::thread::spawn(move || talker(&stopped));
    let mut node = r2r::Node::create(r2r::Context::create()?, "listener", "")?;
    let clouds = node.subscribe::<PointCloud2>(TOPIC, QosProfile::default().keep_last(DEPTH))?;
    let figures = spin_until_recorded(&mut node, &mut LocalPool::new(), clouds)?;
    drop(stop);
    talking.join().map_err(|_| "the talker panicked")??;
    Ok(figures)
}

/// Spins `node` and `pool` in turn until the recorder has enough clouds.
fn spin_until_recorded(
    node: &mut r2r::Node,
    pool: &mut LocalPool,
    mut clouds: impl Stream<Item = PointCloud2> + Unpin + 'static,
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
fn talker(stopped: &Receiver<()>) -> Result<(), BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "talker", "")?;
    let qos = QosProfile::default().keep_last(DEPTH);
    let publisher = node.create_publisher::<PointCloud2>(TOPIC, qos)?;
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
async fn publish_clouds(mut timer: r2r::Timer, publisher: r2r::Publisher<PointCloud2>) {
    while timer.tick().await.is_ok() {
        publisher.publish(&cloud!(PointCloud2)).expect("the context is there");
    }
}

/// Follows r2r's example with tokio: a separate thread spins the node.
fn hop_in_tokio() -> Result<Value, BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "both", "")?;
    let qos = QosProfile::default().keep_last(DEPTH);
    let mut clouds = node.subscribe::<PointCloud2>(TOPIC, qos.clone())?;
    let publisher = node.create_publisher::<PointCloud2>(TOPIC, qos)?;
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

fn idle_in_one_node() -> Result<(), BoxError> {
    let all = (0..idle::NODES).flat_map(idle::topics).collect::<Vec<_>>();
    let mut node = idle_node("node", all)?;
    println!("ready");
    loop {
        node.spin_once(TIMEOUT);
    }
}

fn idle_in_threads() -> Result<(), BoxError> {
    let node = |number| idle_node(&format!("node_{number}"), idle::topics(number));
    let nodes = (0..idle::NODES).map(node).collect::<Result<Vec<_>, _>>()?;
    println!("ready");
    std::thread::scope(|scope| {
        for mut node in nodes {
            scope.spawn(move || {
                loop {
                    node.spin_once(TIMEOUT);
                }
            });
        }
    });
    Ok(())
}

/// A node with messages that are never read; equivalent to a task that waits for them.
fn idle_node(name: &str, topics: impl IntoIterator<Item = String>) -> Result<r2r::Node, BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, name, "")?;
    for topic in topics {
        let messages = node.subscribe::<Text>(&topic, QosProfile::default())?;
        std::mem::forget(messages); // dropping the stream would end the subscription
    }
    Ok(node)
}

fn timers() -> Result<Value, BoxError> {
    let mut node = r2r::Node::create(r2r::Context::create()?, "timers", "")?;
    let mut pool = LocalPool::new();
    let ticks = Rc::new(Cell::new(0));
    for number in 0..TIMERS {
        let (mut timer, ticks) = (node.create_wall_timer(period(number))?, ticks.clone());
        pool.spawner().spawn_local(async move {
            while timer.tick().await.is_ok() {
                ticks.set(ticks.get() + 1);
            }
        })?;
    }
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    while since.elapsed() < MEASURED {
        node.spin_once(Duration::from_millis(100));
        pool.run_until_stalled();
    }
    timers::figures(ticks.get(), &meter, since)
}

fn spins() -> Result<Value, BoxError> {
    let mut node = idle_node("node", ["/spins".to_owned()])?;
    spins::measure(|| {
        node.spin_once(Duration::ZERO);
        Ok(())
    })
}
