//! The reference system on r2r: the same 24 nodes, the same message on the wire, as a C struct
//! (r2r's Rust type of it has a `Vec` for each of its 65 arrays).
//!
//! r2r spins one node per call. Therefore either all publishers and subscriptions belong to one r2r
//! node, the best case for it, or each node has its own thread.
//!
//! A native message is not `Send`, so tasks that tokio moves between threads use the Rust type.

use super::TIMEOUT;
use crate::measure::{BoxError, now_ns};
use crate::nodes::{Client, DURATION, add, copy, locked, measured};
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use futures::{Stream, StreamExt};
use r2r::reference_interfaces::msg::Message4kb as Wire;
use r2r::{NativeMsg, QosProfile};
use reference_system::description::{AUTOWARE, NodeDescription};
use reference_system::kpi::Collector;
use reference_system::message::Message4kb;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

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

/// Creates one r2r node for all nodes, spins it on a thread for blocking calls, and returns it.
async fn spin_beside(tasks: Tasks, collector: &Arc<Collector>) -> Result<r2r::Node, BoxError> {
    let node = r2r::Node::create(r2r::Context::create()?, "all", "")?;
    let mut system = System { node, tasks };
    AUTOWARE.iter().try_for_each(|description| add(&mut system, description, collector))?;
    let mut node = system.node;
    let spin = move || {
        let since = Instant::now();
        while since.elapsed() < DURATION {
            node.spin_once(TIMEOUT);
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
    let mut system = System { node, tasks };
    nodes.iter().try_for_each(|description| add(&mut system, description, collector))?;
    drop(creation);
    let since = Instant::now();
    while since.elapsed() < DURATION {
        system.node.spin_once(TIMEOUT);
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
}

thread_local! {
    static NATIVE: RefCell<NativeMsg<Wire>> = RefCell::new(NativeMsg::new());
    static PLAIN: RefCell<Wire> = RefCell::default();
}

impl Client for System {
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

    fn publisher(
        &mut self,
        topic: &str,
    ) -> Result<impl Fn(&Message4kb) + Send + use<> + 'static, BoxError> {
        let qos = QosProfile::default().keep_last(1);
        let publisher = self.node.create_publisher::<Wire>(&format!("/{topic}"), qos)?;
        let is_native = matches!(self.tasks, Tasks::Native(_));
        Ok(move |message: &Message4kb| {
            let published = if is_native {
                NATIVE.with_borrow_mut(|wire| {
                    copy!(message, wire);
                    publisher.publish_native(wire)
                })
            } else {
                PLAIN.with_borrow_mut(|wire| {
                    copy!(message, wire);
                    publisher.publish(wire)
                })
            };
            published.expect("the context is there");
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
