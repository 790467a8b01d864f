//! The reference system on r2r: the same 24 nodes, the same message on the wire, as a C struct
//! (r2r's Rust type of it has a `Vec` for each of its 65 arrays).
//!
//! r2r spins one node per call. Therefore either all publishers and subscriptions belong to one r2r
//! node, the best case for it, or each node has its own thread.

use crate::measure::{BoxError, figures, now_ns};
use futures::StreamExt;
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use r2r::reference_interfaces::msg::Message4kb as Wire;
use r2r::{NativeMsg, Publisher, QosProfile};
use reference_system::crunch::number_cruncher;
use reference_system::description::{AUTOWARE, Connection, Kind, NodeDescription};
use reference_system::kpi::Collector;
use reference_system::message::{Message4kb, NodeName};
use ringspin_bench::process::CpuMeter;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The limit of the number cruncher, of all contenders.
pub(crate) const N: u64 = 64;
/// The duration of a run, of all contenders.
pub(crate) const DURATION: Duration = Duration::from_secs(10);

/// Runs the publishers and subscriptions of all 24 nodes in one r2r node.
pub(crate) fn on_one_thread() -> Result<Value, BoxError> {
    let collector = Arc::new(Collector::new());
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    spin(AUTOWARE, &collector)?;
    let cpu_percent = meter.cpu_percent_of_one_core(since.elapsed())?;
    Ok(figures(&collector.report().sample_to_start, cpu_percent))
}

/// Runs each of the 24 nodes as an r2r node.
pub(crate) fn on_many_threads() -> Result<Value, BoxError> {
    let collector = Arc::new(Collector::new());
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    let threads = AUTOWARE.chunks(1).map(|node| {
        let collector = collector.clone();
        std::thread::spawn(move || spin(node, &collector))
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().map_err(|_| "a node panicked")??;
    }
    let cpu_percent = meter.cpu_percent_of_one_core(since.elapsed())?;
    Ok(figures(&collector.report().sample_to_start, cpu_percent))
}

/// Runs them in one r2r node, the tasks in tokio on one thread, and `spin_once` on another.
pub(crate) fn in_tokio() -> Result<Value, BoxError> {
    let collector = Arc::new(Collector::new());
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let set = tokio::task::LocalSet::new();
    let spinning = set.block_on(&runtime, async {
        let node = r2r::Node::create(r2r::Context::create()?, "all", "")?;
        let spawn = |task| drop(tokio::task::spawn_local(task));
        let mut system = System { node, spawn: Box::new(spawn), collector: collector.clone() };
        AUTOWARE.iter().try_for_each(|description| system.add(description))?;
        let mut node = system.node;
        let spinning = std::thread::spawn(move || {
            while since.elapsed() < DURATION {
                node.spin_once(Duration::from_millis(100));
            }
        });
        tokio::time::sleep(DURATION.saturating_sub(since.elapsed())).await;
        Ok::<_, BoxError>(spinning)
    })?;
    spinning.join().map_err(|_| "the thread that spins panicked")?;
    let cpu_percent = meter.cpu_percent_of_one_core(since.elapsed())?;
    Ok(figures(&collector.report().sample_to_start, cpu_percent))
}

/// Creates one r2r node for all of `nodes`, and spins it as in r2r's README.
fn spin(nodes: &'static [NodeDescription], collector: &Arc<Collector>) -> Result<(), BoxError> {
    // rmw_fastrtps fails to register a type on several threads at once.
    static CREATION: Mutex<()> = Mutex::new(());
    let creation = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
    let node = r2r::Node::create(r2r::Context::create()?, nodes[0].name, "")?;
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    let spawn = move |task| spawner.spawn_local(task).expect("the pool is there");
    let mut system = System { node, spawn: Box::new(spawn), collector: collector.clone() };
    nodes.iter().try_for_each(|description| system.add(description))?;
    drop(creation);
    let since = Instant::now();
    while since.elapsed() < DURATION {
        system.node.spin_once(Duration::from_millis(100));
        pool.run_until_stalled();
    }
    Ok(())
}

struct System {
    node: r2r::Node,
    spawn: Box<dyn Fn(LocalBoxFuture<'static, ()>)>,
    collector: Arc<Collector>,
}

/// A node's publishing side.
struct Output {
    name: NodeName,
    publisher: Publisher<Wire>,
    wire: RefCell<NativeMsg<Wire>>,
    sequence_number: Cell<u32>,
}

impl Output {
    fn publish(&self, mut message: Message4kb, started_ns: u64) {
        let sequence_number = self.sequence_number.replace(self.sequence_number.get() + 1);
        message.append(&self.name, sequence_number, 0, started_ns);
        let mut wire = self.wire.borrow_mut();
        to_wire(&message, &mut wire);
        self.publisher.publish_native(&mut wire).expect("the context is there");
    }
}

type Cached = Rc<RefCell<Vec<Option<Message4kb>>>>;

impl System {
    fn add(&mut self, node: &'static NodeDescription) -> Result<(), BoxError> {
        let name = node.name;
        match node.kind {
            Kind::Sensor { period } => self.sensor(name, period),
            Kind::Transform { input } => self.transform(name, Connection { input, output: name }),
            Kind::Intersection { connections } => {
                connections.iter().try_for_each(|connection| self.transform(name, *connection))
            }
            Kind::Fusion { inputs, .. } => self.fusion(name, inputs),
            Kind::Cyclic { inputs, period } => self.cyclic(name, inputs, period),
            Kind::Command { input } => {
                let collector = self.collector.clone();
                self.on(input, 10, move |sample, _| {
                    collector.sample_arrived(name, &sample, now_ns());
                })
            }
        }
    }

    /// Calls `callback` with each message of `topic` and its arrival time.
    fn on(
        &mut self,
        topic: &str,
        depth: usize,
        mut callback: impl FnMut(Message4kb, u64) + 'static,
    ) -> Result<(), BoxError> {
        let qos = QosProfile::default().keep_last(depth);
        let mut samples = self.node.subscribe_native::<Wire>(&format!("/{topic}"), qos)?;
        (self.spawn)(Box::pin(async move {
            while let Some(wire) = samples.next().await {
                let started_ns = now_ns();
                callback(from_wire(&wire), started_ns);
            }
        }));
        Ok(())
    }

    /// Calls `callback` once per `period`.
    fn each(
        &mut self,
        period: Duration,
        mut callback: impl FnMut(u64) + 'static,
    ) -> Result<(), BoxError> {
        let mut timer = self.node.create_wall_timer(period)?;
        (self.spawn)(Box::pin(async move {
            while timer.tick().await.is_ok() {
                callback(now_ns());
            }
        }));
        Ok(())
    }

    fn output(&mut self, name: &str, topic: &str) -> Result<Output, BoxError> {
        let qos = QosProfile::default().keep_last(1);
        let publisher = self.node.create_publisher::<Wire>(&format!("/{topic}"), qos)?;
        let wire = RefCell::new(NativeMsg::new());
        Ok(Output { name: NodeName::new(name)?, publisher, wire, sequence_number: Cell::new(0) })
    }

    fn sensor(&mut self, name: &str, period: Duration) -> Result<(), BoxError> {
        let output = self.output(name, name)?;
        self.each(period, move |started_ns| output.publish(Message4kb::new(), started_ns))
    }

    fn transform(&mut self, name: &str, connection: Connection) -> Result<(), BoxError> {
        let output = self.output(name, connection.output)?;
        self.on(connection.input, 1, move |mut sample, started_ns| {
            sample.set_prime_count(number_cruncher(N) as i64);
            output.publish(sample, started_ns);
        })
    }

    fn fusion(&mut self, name: &str, inputs: [&str; 2]) -> Result<(), BoxError> {
        let output = Rc::new(self.output(name, name)?);
        let cached = Cached::new(RefCell::new(vec![None; inputs.len()]));
        for (index, input) in inputs.into_iter().enumerate() {
            let (output, cached) = (output.clone(), cached.clone());
            self.on(input, 1, move |sample, started_ns| {
                cached.borrow_mut()[index] = Some(sample);
                if cached.borrow().iter().all(Option::is_some) {
                    let primes = number_cruncher(N) as i64;
                    output.publish(merged(&cached, primes), started_ns);
                }
            })?;
        }
        Ok(())
    }

    fn cyclic(&mut self, name: &str, inputs: &[&str], period: Duration) -> Result<(), BoxError> {
        let output = self.output(name, name)?;
        let cached = Cached::new(RefCell::new(vec![None; inputs.len()]));
        for (index, input) in inputs.iter().enumerate() {
            let cached = cached.clone();
            self.on(input, 1, move |sample, _| cached.borrow_mut()[index] = Some(sample))?;
        }
        self.each(period, move |started_ns| {
            let primes = number_cruncher(N) as i64;
            output.publish(merged(&cached, primes), started_ns);
        })
    }
}

fn merged(cached: &Cached, primes: i64) -> Message4kb {
    let mut message = Message4kb::new();
    cached.borrow_mut().iter_mut().filter_map(Option::take).for_each(|s| message.merge(&s));
    message.set_prime_count(primes);
    message
}

fn to_wire(message: &Message4kb, wire: &mut NativeMsg<Wire>) {
    wire.size = message.size;
    for (to, entry) in wire.stats.iter_mut().zip(&message.stats) {
        to.timestamp = entry.timestamp;
        to.sequence_number = entry.sequence_number;
        to.dropped_samples = entry.dropped_samples;
        to.node_name.copy_from_slice(&entry.node_name);
    }
    wire.data.copy_from_slice(&message.data);
}

fn from_wire(wire: &NativeMsg<Wire>) -> Message4kb {
    // Arrays in C structs, vectors of the same length on the member `r2r`.
    let mut message = Message4kb { size: wire.size, ..Message4kb::new() };
    for (to, entry) in message.stats.iter_mut().zip(&wire.stats) {
        to.timestamp = entry.timestamp;
        to.sequence_number = entry.sequence_number;
        to.dropped_samples = entry.dropped_samples;
        to.node_name.copy_from_slice(&entry.node_name);
    }
    message.data.copy_from_slice(&wire.data);
    message
}
