//! What an event costs as the graph grows, on the real clock and under simulated time.
//!
//! # Method
//! * `single-core`: a token goes round a ring of nodes in single-core mode; the figure is the
//!   time of one event (one publish, one dispatch, 8 bytes).
//! * `deterministic`: every simulated microsecond a timer starts a message down a chain of nodes;
//!   the figure is the time of one dispatch, timer calls and the digest included, and criterion's
//!   throughput is dispatches per second.
//!
//! # Limits
//! One event is ready at a time, and the callbacks do nothing else, so from some size on this
//! measures how many nodes fit in the caches. Machine as in `delivery.rs`; compare within one
//! run.

use criterion::{BenchmarkId, Criterion, Throughput};
use ringspin_benches::on_core;
use ringspin_benches::relay::{Chain, Relay};
use ringspin_modes::{Executor, allowed_cores};
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
    single_core(&mut criterion, core);
    deterministic(&mut criterion, core);
    criterion.final_summary();
}
