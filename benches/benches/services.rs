//! The latency of a service call, compared with tasks and threads with channels.
//!
//! # Method
//! A client sends the next call when the response arrives; the figure is the time from one call to
//! the next. Requests and responses have 8 bytes.
//!
//! * `same-core`: everything on one pinned core. `ringspin callback` gives each call a callback,
//!   `ringspin task` awaits the response in a task, which adds the event of its wake-up. `tokio` is
//!   two tasks of a current-thread runtime, with an `mpsc` channel of requests and a `oneshot`
//!   channel for each response.
//! * `cross-core`: client and server on two pinned cores that busy-wait. `std mpsc` is two threads
//!   with a channel of requests and a channel for each response.
//!
//! * `task wake`: a task wakes itself and is polled again, in single-core mode and on tokio's
//!   current-thread runtime.
//!
//! # Limits
//! See `delivery.rs`.

use criterion::Criterion;
use ringspin_benches::on_core;
use ringspin_benches::service::{Calls, Hearing, std_calls, tokio_calls};
use ringspin_benches::wake::{Wakes, tokio_wakes};
use ringspin_executor::WaitStrategy;
use ringspin_modes::{Executor, Mapping, allowed_cores};
use std::time::Duration;

const HEARINGS: [(&str, Hearing); 2] =
    [("ringspin callback", Hearing::Callback), ("ringspin task", Hearing::Task)];

fn same_core(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("same-core");
    for (name, hearing) in HEARINGS {
        let mut calls = Calls::new(Executor::single_core(), hearing).expect("a valid graph");
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|n| on_core(core, || calls.time(n)));
        });
    }
    group.bench_function("tokio mpsc + oneshot", |bencher| {
        bencher.iter_custom(|calls| on_core(core, || tokio_calls(calls)));
    });
}

fn task_wake(criterion: &mut Criterion, core: usize) {
    let mut group = criterion.benchmark_group("task wake");
    let mut wakes = Wakes::new().expect("a valid graph");
    group.bench_function("ringspin", |bencher| {
        bencher.iter_custom(|n| on_core(core, || wakes.time(n)));
    });
    group.bench_function("tokio", |bencher| {
        bencher.iter_custom(|n| on_core(core, || tokio_wakes(n)));
    });
}

fn cross_core(criterion: &mut Criterion, cores: [usize; 2]) {
    let mut group = criterion.benchmark_group("cross-core");
    for (name, hearing) in HEARINGS {
        let mapping = Mapping::new().core(cores[0], ["/client"]).core(cores[1], ["/server"]);
        let executor = Executor::multi_core(mapping).with_wait_strategy(WaitStrategy::Spin);
        let mut calls = Calls::new(executor, hearing).expect("a valid graph");
        group.bench_function(name, |bencher| bencher.iter_custom(|n| calls.time(n)));
    }
    group.bench_function("std mpsc", |bencher| {
        bencher.iter_custom(|calls| std_calls(cores, calls));
    });
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let cores = allowed_cores();
    let first = *cores.first().expect("a process may run somewhere");
    same_core(&mut criterion, first);
    task_wake(&mut criterion, first);
    match cores[..] {
        [first, second, ..] => cross_core(&mut criterion, [first, second]),
        _ => println!("cross-core: skipped, because this process may use only one core"),
    }
    criterion.final_summary();
}
