//! The cost of an event as the graph grows, on the real clock and under simulated time.
//!
//! # Method
//! * `single-core`: a token travels around a ring of nodes in single-core mode; the figure is the
//!   time of one event (one publish, one dispatch, 8 bytes).
//! * `with a timer`: the same between two nodes, beside a timer of another node: idle, or with a
//!   period of a millisecond. This is the cost of looking for due timers after each event.
//! * `among idle`: the same between ten nodes, in a graph with additional idle nodes. Shows that an
//!   event does not scan the graph.
//! * `flight record`: the same between ten nodes, while the run is recorded by a writer that drops
//!   the entries. A file takes 80 bytes for such an event.
//! * `statistics`: the cost of the counters per event, and of a snapshot of a thousand callbacks.
//!   Counters are always on.
//! * `deterministic`: every simulated microsecond, a timer sends a message down a chain of nodes;
//!   the figure is the time of one dispatch, timer calls and the digest included, and criterion's
//!   throughput is dispatches per second.
//!
//! # Limits
//! One event is ready at a time, and the callbacks do no work. Except for `among idle`, large
//! graphs mainly measure the number of nodes that fit in the caches. Machine as in `delivery.rs`;
//! compare within one run.

use criterion::{BenchmarkId, Criterion, Throughput};
use ringspin_benches::on_core;
use ringspin_benches::relay::{Chain, Relay};
use ringspin_executor::{Message, QoS};
use ringspin_modes::flight::{FlightTape, FlightWriter};
use ringspin_modes::{Executor, allowed_cores};
use ringspin_ringbuf::Counter;
use std::hint::black_box;
use std::time::Duration;

const NODES: [usize; 3] = [10, 1_000, 10_000];

fn single_core(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("single-core");
    group.throughput(Throughput::Elements(1));
    for nodes in NODES {
        let mut relay = Relay::<1>::new(Executor::single_core(), nodes).expect("a valid graph");
        group.bench_function(BenchmarkId::new("event", format!("{nodes} nodes")), |bencher| {
            bencher.iter_custom(|events| on_core(core, || relay.time(events)));
        });
    }
}

fn with_a_timer(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("with a timer");
    group.throughput(Throughput::Elements(1));
    for (name, period) in [
        ("none", None),
        ("idle", Some(Duration::from_secs(3600))),
        ("1 kHz", Some(Duration::from_millis(1))),
    ] {
        let executor = Executor::single_core();
        if let Some(period) = period {
            let node = executor.create_node("ticking", ()).expect("a valid name");
            node.create_timer(period, |_, _| ()).expect("a valid period");
        }
        let mut relay = Relay::<1>::new(executor, 2).expect("a valid graph");
        group.bench_function(BenchmarkId::new("event", name), |bencher| {
            bencher.iter_custom(|events| on_core(core, || relay.time(events)));
        });
    }
}

fn among_idle(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("among idle");
    group.throughput(Throughput::Elements(1));
    for nodes in NODES {
        let executor = Executor::single_core();
        for n in 10..nodes {
            let idle = executor.create_node(&format!("idle_{n}"), ()).expect("a valid name");
            let topic = format!("idle_{n}");
            idle.create_subscription(&topic, QoS::keep_last(1), |_, _: &Message<u64>, _| ())
                .expect("a valid name");
        }
        let mut relay = Relay::<1>::new(executor, 10).expect("a valid graph");
        group.bench_function(BenchmarkId::new("event", format!("{nodes} nodes")), |bencher| {
            bencher.iter_custom(|events| on_core(core, || relay.time(events)));
        });
    }
}

/// Drops all entries.
struct Drain;

impl FlightWriter for Drain {
    fn write(self: Box<Self>, mut tape: FlightTape) -> ringspin_executor::Result<()> {
        while tape.next_round(Duration::from_millis(250)).is_some() {}
        Ok(())
    }
}

fn recorded(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("flight record");
    group.throughput(Throughput::Elements(1));
    for is_recorded in [false, true] {
        let mut executor = Executor::single_core();
        if is_recorded {
            executor.record_flight(Drain);
        }
        let mut relay = Relay::<1>::new(executor, 10).expect("a valid graph");
        let name = if is_recorded { "recorded" } else { "not recorded" };
        group.bench_function(BenchmarkId::new("event", name), |bencher| {
            bencher.iter_custom(|events| on_core(core, || relay.time(events)));
        });
    }
}

fn statistics(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("statistics");
    let counter = black_box(Counter::default());
    group.bench_function("count an event", |bencher| {
        bencher.iter(|| black_box(&counter).add_by_owner(1));
    });
    let relay = Relay::<1>::new(Executor::single_core(), 1_000).expect("a valid graph");
    let monitor = relay.monitor();
    group.bench_function("snapshot/1000 callbacks", |bencher| {
        bencher.iter(|| black_box(monitor.statistics()));
    });
}

fn deterministic(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("deterministic");
    group.throughput(Throughput::Elements(1));
    for nodes in NODES {
        let mut chain = Chain::new(nodes).expect("a valid graph");
        group.bench_function(BenchmarkId::new("dispatch", format!("{nodes} nodes")), |bencher| {
            bencher.iter_custom(|dispatches| on_core(core, || chain.time(dispatches)));
        });
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let core = *allowed_cores().first().expect("a process may run somewhere");
    statistics(&mut criterion);
    with_a_timer(&mut criterion, core);
    among_idle(&mut criterion, core);
    recorded(&mut criterion, core);
    single_core(&mut criterion, core);
    deterministic(&mut criterion, core);
    criterion.final_summary();
}
