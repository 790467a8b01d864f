//! The cost of a synchronized subscription, compared with plain ones.
//!
//! # Method
//! A node has 2 or 4 inputs. In batches of 64 rounds, a message of 8 bytes is published on each
//! input in turn, then all of them are dispatched in single-core mode on one pinned core. The
//! figure is the time of one message: publish, dispatch, and its share of the set's callback.
//!
//! * `plain`: a subscription for each input.
//! * `exact time`: all stamps of a round are equal, and its last message completes the set.
//! * `approximate time`: the inputs' stamps are a hundredth of a period apart, so that the first
//!   message of the next round completes the set; the age penalty is 0.1, without lower bounds.
//!
//! # Limits
//! No message is dropped, and no queue grows: this is the steady state of sensors that keep their
//! rate, not the worst case. Machine as in `delivery.rs`; compare within one run.

use criterion::{BenchmarkId, Criterion, Throughput};
use ringspin_benches::joint::{Join, Joint};
use ringspin_benches::on_core;
use ringspin_modes::allowed_cores;
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let core = *allowed_cores().first().expect("a process may run somewhere");
    let mut group = criterion.benchmark_group("synchronizer");
    group.throughput(Throughput::Elements(1));
    for inputs in [2, 4] {
        for (name, join) in [
            ("plain", Join::Plain),
            ("exact time", Join::Exact),
            ("approximate time", Join::Approximate),
        ] {
            let mut joint = Joint::new(join, inputs).expect("a valid graph");
            group.bench_function(BenchmarkId::new(name, format!("{inputs} inputs")), |bencher| {
                bencher.iter_custom(|messages| on_core(core, || joint.time(messages)));
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
