//! Heap memory per node, subscription and other entities, and construction time of a graph.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench memory
//! ```
//!
//! # Method
//! Builds and freezes a graph with a thousand entities of each kind, in single-core mode. The
//! allocator counts its memory exactly; the memory of an empty graph is subtracted. The time is the
//! best of five for building and freezing, per entity. Messages have 8 bytes.

use allocation_counter::measure;
use ringspin_executor::{Context, Message, QoS};
use ringspin_modes::Executor;
use std::error::Error;
use std::time::{Duration, Instant};

type Build = fn(&Executor, usize) -> Result<(), Box<dyn Error>>;

const PIECES: usize = 1000;

fn nodes(executor: &Executor, n: usize) -> Result<(), Box<dyn Error>> {
    for n in 0..n {
        executor.create_node(&format!("node_{n}"), ())?;
    }
    Ok(())
}

fn subscriptions(executor: &Executor, n: usize, depth: usize) -> Result<(), Box<dyn Error>> {
    let node = executor.create_node("node", ())?;
    for n in 0..n {
        let qos = QoS::keep_last(depth);
        node.create_subscription(&format!("topic_{n}"), qos, |_, _: &Message<u64>, _| ())?;
    }
    Ok(())
}

fn timers(executor: &Executor, n: usize) -> Result<(), Box<dyn Error>> {
    let node = executor.create_node("node", ())?;
    for _ in 0..n {
        node.create_timer(Duration::from_secs(1), |_, _| ())?;
    }
    Ok(())
}

fn clients(executor: &Executor, n: usize) -> Result<(), Box<dyn Error>> {
    let node = executor.create_node("node", ())?;
    for n in 0..n {
        let name = format!("service_{n}");
        let client = node.create_client::<u64, u64>(&name, QoS::services())?;
        let answer = move |_: &mut (), n: &u64, _: &mut Context<'_>| {
            let _kept = &client; // ends with its last handle
            *n
        };
        node.create_service(&name, QoS::services(), answer)?;
    }
    Ok(())
}

fn tasks(executor: &Executor, n: usize) -> Result<(), Box<dyn Error>> {
    let node = executor.create_node("node", ())?;
    for n in 0..n {
        node.spawn(&format!("{n}"), std::future::pending::<()>())?;
    }
    Ok(())
}

fn built(build: Build, pieces: usize) -> Executor {
    let mut executor = Executor::single_core();
    build(&executor, pieces).expect("a valid graph");
    executor.freeze().expect("a valid graph");
    executor
}

fn held(build: Build, pieces: usize) -> i64 {
    let mut executor = None;
    measure(|| executor = Some(built(build, pieces))).bytes_current
}

/// Nodes with one subscription each.
fn graph(executor: &Executor, n: usize) -> Result<(), Box<dyn Error>> {
    for n in 0..n {
        let node = executor.create_node(&format!("node_{n}"), ())?;
        node.create_subscription(&format!("t_{n}"), QoS::default(), |_, _: &Message<u64>, _| ())?;
    }
    Ok(())
}

/// The time to build and freeze `pieces` entities, the best of five, in microseconds per entity.
fn build_time_us(build: Build, pieces: usize) -> f64 {
    let time = |_| {
        let start = Instant::now();
        let executor = std::hint::black_box(built(build, pieces));
        let elapsed = start.elapsed();
        drop(executor);
        elapsed
    };
    let best = (0..5).map(time).min().unwrap_or_default();
    best.as_secs_f64() * 1e6 / pieces as f64
}

fn main() {
    let kinds: [(&str, Build); 7] = [
        ("node", nodes),
        ("topic and subscription of depth 1", |executor, n| subscriptions(executor, n, 1)),
        ("topic and subscription of depth 10", |executor, n| subscriptions(executor, n, 10)),
        ("topic and subscription of depth 100", |executor, n| subscriptions(executor, n, 100)),
        ("timer", timers),
        ("service and client", clients),
        ("task", tasks),
    ];
    println!("{:36}  {:>10}  {:>12}", "", "heap bytes", "build, us");
    for (name, build) in kinds {
        let bytes = (held(build, PIECES) - held(build, 0)) / PIECES as i64;
        println!("{name:36}  {bytes:>10}  {:>12.2}", build_time_us(build, PIECES));
    }
    for nodes in [10, 1_000, 10_000] {
        let name = format!("node with a subscription, of {nodes}");
        println!("{name:36}  {:>10}  {:>12.2}", "", build_time_us(graph, nodes));
    }
}
