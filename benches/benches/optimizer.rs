//! Evaluations per second of the optimizer's twin.
//!
//! # Method
//! The reference system is measured live for a second, with crunches of negligible cost. Everything
//! else is simulated: 14.4 seconds of the graph for each candidate, on one thread pinned to the
//! first allowed core. The figure is the time of one candidate.
//!
//! `twin` is an evaluation with the nodes distributed round-robin to one, two or four virtual
//! cores.
//!
//! # Limits
//! The time depends on the number of events, about 440 in a second, and hardly on the mapping.
//! Machine as in `delivery.rs`; compare within one run.

use criterion::{BenchmarkId, Criterion, Throughput};
use reference_system::optimize::TuningTarget;
use ringspin_benches::on_core;
use ringspin_modes::allowed_cores;
use ringspin_optimizer::{Model, round_robin};
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let core = *allowed_cores().first().expect("a process may run somewhere");
    let target = TuningTarget::autoware(64);
    let profile = target.measure(Duration::from_millis(500)).expect("it can be run");
    let twin = target.twin(&profile).expect("the profile is of this graph");
    let mut group = criterion.benchmark_group("optimizer");
    group.throughput(Throughput::Elements(1));
    for cores in [1, 2, 4] {
        let assignment = round_robin(twin.loops(), cores);
        let id = BenchmarkId::new("twin", format!("{cores} cores"));
        group.bench_function(id, |bencher| {
            on_core(core, || {
                bencher.iter(|| twin.evaluate(&assignment).expect("it can be simulated"));
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
