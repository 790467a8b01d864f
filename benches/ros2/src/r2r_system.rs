//! The reference system on r2r: the same 24 nodes, the same message on the wire, as a C struct
//! (r2r's Rust type of it has a `Vec` for each of its 65 arrays).
//!
//! r2r spins one node per call. Therefore either all publishers and subscriptions belong to one r2r
//! node, the best case for it, or each node has its own thread.
//!
//! A native message is not `Send`, so tasks that tokio moves between threads use the Rust type.

use crate::measure::{BoxError, figures, now_ns};
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use futures::{Stream, StreamExt};
use r2r::reference_interfaces::msg::Message4kb as Wire;
use r2r::{NativeMsg, Publisher, QosProfile};
use reference_system::crunch::number_cruncher;
use reference_system::description::{AUTOWARE, Connection, Kind, NodeDescription};
use reference_system::kpi::Collector;
use reference_system::message::{Message4kb, NodeName};
use ringspin_bench::process::CpuMeter;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// The limit of the number cruncher, of all contenders.
pub(crate) const N: u64 = 64;
/// The duration of a run, of all contenders.
pub(crate) const DURATION: Duration = Duration::from_secs(10);

/// Runs the publishers and subscriptions of all 24 nodes in one r2r node.
pub(crate) fn on_one_thread() -> Result<Value, BoxError> {
    measured(|collector| spin(AUTOWARE, collector))
}

/// Runs each of the 24 nodes as an r2r node.
pub(crate) fn on_many_threads() -> Result<Value, BoxError> {
    measured(|collector| {
        let threads = AUTOWARE.chunks(1).map(|node| {
            let collector = collector.clone();
            std::thread::spawn(move || spin(node, &collector))
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().map_err(|_| "a node panicked")??;
        }
        Ok(())
    })
}

/// Runs them in one r2r node, the tasks in tokio on one thread, and `spin_once` on another.
pub(crate) fn in_tokio() -> Result<Value, BoxError> {
    measured(|collector| {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let spawn = |task| drop(tokio::task::spawn_local(task));
        let tasks = Tasks::Native(Box::new(spawn));
        // The node outlives the tasks, which publish until they are dropped.
        let _node =
            tokio::task::LocalSet::new().block_on(&runtime, spin_beside(tasks, collector))?;
        Ok(())
    })
}

/// Runs them in one r2r node, the tasks in tokio on two threads, and `spin_once` on a third.
pub(crate) fn in_tokio_on_two_threads() -> Result<Value, BoxError> {
    measured(|collector| {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
        let _node = runtime.block_on(spin_beside(Tasks::Plain, collector))?;
        drop(runtime);
        Ok(())
    })
}

/// The latencies that `run` collects, and the processor time meanwhile.
fn measured(run: impl FnOnce(&Arc<Collector>) -> Result<(), BoxError>) -> Result<Value, BoxError> {
    let collector = Arc::new(Collector::new());
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    run(&collector)?;
    let cpu_percent = meter.cpu_percent_of_one_core(since.elapsed())?;
    Ok(figures(&collector.report().sample_to_start, cpu_percent))
}

/// Creates one r2r node for all nodes, spins it on a thread for blocking calls, and returns it.
async fn spin_beside(tasks: Tasks, collector: &Arc<Collector>) -> Result<r2r::Node, BoxError> {
    let node = r2r::Node::create(r2r::Context::create()?, "all", "")?;
    let mut system = System { node, tasks, collector: collector.clone() };
    AUTOWARE.iter().try_for_each(|description| system.add(description))?;
    let mut node = system.node;
    let spin = move || {
        let since = Instant::now();
        while since.elapsed() < DURATION {
            node.spin_once(Duration::from_millis(100));
        }
        node
    };
    Ok(tokio::task::spawn_blocking(spin).await?)
}

/// Creates one r2r node for all of `nodes`, and spins it as in r2r's README.
fn spin(nodes: &'static [NodeDescription], collector: &Arc<Collector>) -> Result<(), BoxError> {
    // rmw_fastrtps fails to register a type on several threads at once.
    static CREATION: Mutex<()> = Mutex::new(());
    let creation = locked(&CREATION);
    let node = r2r::Node::create(r2r::Context::create()?, nodes[0].name, "")?;
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    let spawn = move |task| spawner.spawn_local(task).expect("the pool is there");
    let tasks = Tasks::Native(Box::new(spawn));
    let mut system = System { node, tasks, collector: collector.clone() };
    nodes.iter().try_for_each(|description| system.add(description))?;
    drop(creation);
    let since = Instant::now();
    while since.elapsed() < DURATION {
        system.node.spin_once(Duration::from_millis(100));
        pool.run_until_stalled();
    }
    Ok(())
}

/// The executor of the tasks, and thereby the type of their messages.
enum Tasks {
    /// Native messages, in tasks on one thread, which the function starts.
    Native(Box<dyn Fn(LocalBoxFuture<'static, ()>)>),
    /// Messages of the Rust type, in tasks that `tokio::spawn` starts.
    Plain,
}

struct System {
    node: r2r::Node,
    tasks: Tasks,
    collector: Arc<Collector>,
}

/// A node's publishing side.
struct Output {
    name: NodeName,
    publisher: Publisher<Wire>,
    is_native: bool,
    sequence_number: u32,
}

thread_local! {
    static NATIVE: RefCell<NativeMsg<Wire>> = RefCell::new(NativeMsg::new());
    static PLAIN: RefCell<Wire> = RefCell::default();
}

/// Copies the fields of a message to another type: its arrays may be vectors of the same length.
macro_rules! copy {
    ($from:expr, $to:expr) => {
        $to.size = $from.size;
        for (to, from) in $to.stats.iter_mut().zip(&$from.stats) {
            to.timestamp = from.timestamp;
            to.sequence_number = from.sequence_number;
            to.dropped_samples = from.dropped_samples;
            to.node_name.copy_from_slice(&from.node_name);
        }
        $to.data.copy_from_slice(&$from.data);
    };
}

impl Output {
    fn publish(&mut self, mut message: Message4kb, started_ns: u64) {
        message.append(&self.name, self.sequence_number, 0, started_ns);
        self.sequence_number += 1;
        let published = if self.is_native {
            NATIVE.with_borrow_mut(|wire| {
                copy!(message, wire);
                self.publisher.publish_native(wire)
            })
        } else {
            PLAIN.with_borrow_mut(|wire| {
                copy!(message, wire);
                self.publisher.publish(wire)
            })
        };
        published.expect("the context is there");
    }
}

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
                    collector.sample_arrived(&sample);
                })
            }
        }
    }

    /// Calls `callback` with each message of `topic` and its arrival time.
    fn on(
        &mut self,
        topic: &str,
        depth: usize,
        callback: impl FnMut(Message4kb, u64) + Send + 'static,
    ) -> Result<(), BoxError> {
        let (topic, qos) = (format!("/{topic}"), QosProfile::default().keep_last(depth));
        match &self.tasks {
            Tasks::Native(spawn) => {
                let samples = self.node.subscribe_native::<Wire>(&topic, qos)?;
                spawn(Box::pin(call_with_each(samples, from_native, callback)));
            }
            Tasks::Plain => {
                let samples = self.node.subscribe::<Wire>(&topic, qos)?;
                tokio::spawn(call_with_each(samples, from_plain, callback));
            }
        }
        Ok(())
    }

    /// Calls `callback` once per `period`.
    fn each(
        &mut self,
        period: Duration,
        mut callback: impl FnMut(u64) + Send + 'static,
    ) -> Result<(), BoxError> {
        let mut timer = self.node.create_wall_timer(period)?;
        let task = async move {
            while timer.tick().await.is_ok() {
                callback(now_ns());
            }
        };
        match &self.tasks {
            Tasks::Native(spawn) => spawn(Box::pin(task)),
            Tasks::Plain => drop(tokio::spawn(task)),
        }
        Ok(())
    }

    fn output(&mut self, name: &str, topic: &str) -> Result<Output, BoxError> {
        let qos = QosProfile::default().keep_last(1);
        let publisher = self.node.create_publisher::<Wire>(&format!("/{topic}"), qos)?;
        let is_native = matches!(self.tasks, Tasks::Native(_));
        Ok(Output { name: NodeName::new(name)?, publisher, is_native, sequence_number: 0 })
    }

    fn sensor(&mut self, name: &str, period: Duration) -> Result<(), BoxError> {
        let mut output = self.output(name, name)?;
        self.each(period, move |started_ns| output.publish(Message4kb::new(), started_ns))
    }

    fn transform(&mut self, name: &str, connection: Connection) -> Result<(), BoxError> {
        let mut output = self.output(name, connection.output)?;
        self.on(connection.input, 1, move |mut sample, started_ns| {
            sample.set_prime_count(number_cruncher(N) as i64);
            output.publish(sample, started_ns);
        })
    }

    fn fusion(&mut self, name: &str, inputs: [&str; 2]) -> Result<(), BoxError> {
        let output = self.output(name, name)?;
        let state = Arc::new(Mutex::new((output, vec![None; inputs.len()])));
        for (index, input) in inputs.into_iter().enumerate() {
            let state = state.clone();
            self.on(input, 1, move |sample, started_ns| {
                let (output, cached) = &mut *locked(&state);
                cached[index] = Some(sample);
                if cached.iter().all(Option::is_some) {
                    let primes = number_cruncher(N) as i64;
                    output.publish(merged(cached, primes), started_ns);
                }
            })?;
        }
        Ok(())
    }

    fn cyclic(&mut self, name: &str, inputs: &[&str], period: Duration) -> Result<(), BoxError> {
        let mut output = self.output(name, name)?;
        let cached = Arc::new(Mutex::new(vec![None; inputs.len()]));
        for (index, input) in inputs.iter().enumerate() {
            let cached = cached.clone();
            self.on(input, 1, move |sample, _| locked(&cached)[index] = Some(sample))?;
        }
        self.each(period, move |started_ns| {
            let primes = number_cruncher(N) as i64;
            let message = merged(&mut locked(&cached), primes);
            output.publish(message, started_ns);
        })
    }
}

async fn call_with_each<W>(
    mut samples: impl Stream<Item = W> + Unpin,
    convert: fn(&W) -> Message4kb,
    mut callback: impl FnMut(Message4kb, u64),
) {
    while let Some(wire) = samples.next().await {
        let started_ns = now_ns();
        callback(convert(&wire), started_ns);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn merged(cached: &mut [Option<Message4kb>], primes: i64) -> Message4kb {
    let mut message = Message4kb::new();
    cached.iter_mut().filter_map(Option::take).for_each(|sample| message.merge(&sample));
    message.set_prime_count(primes);
    message
}

fn from_native(wire: &NativeMsg<Wire>) -> Message4kb {
    let mut message = Message4kb::new();
    copy!(wire, message);
    message
}

fn from_plain(wire: &Wire) -> Message4kb {
    let mut message = Message4kb::new();
    copy!(wire, message);
    message
}
