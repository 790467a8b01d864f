//! Delivery latency from `publish` to callback, compared with other message channels.
//!
//! # Method
//! A token travels between two players; the figure is the time of one hop (round trip / 2) in the
//! steady state, without other work. It includes the receiver's own work (a copy of the message, a
//! branch), for all contenders alike. Messages have 8 or 4096 bytes; a ringspin subscriber and a
//! plain call receive them by reference, channels move them by value.
//!
//! * `same-core`: everything on one pinned core. `ringspin` is two nodes in single-core mode;
//!   `ringspin publish` and `ringspin dispatch` are its two halves in batches of 256, which at 4
//!   KiB exceed a first-level cache. `std mpsc` and `crossbeam` are two threads pinned to that
//!   core, so each hop is a context switch by the kernel; `tokio` is two tasks of a current-thread
//!   runtime.
//! * `cross-core`: the players are pinned to two cores. `spin` busy-waits; `park` puts ringspin's
//!   worker to sleep at once, so that each hop wakes a sleeping thread; `default` spins for 10
//!   microseconds first, and `block` is the channel's own `recv`, which also spins briefly.
//!   `ringspin executors` are two executors in a domain, with one node each.
//!   `cache line` is one atomic word without a message, `bare futex` two threads that park in
//!   turns.
//!
//! # Limits
//! * The latency between idle players says nothing about throughput, contention or a cold cache.
//! * Spinning figures need both cores exclusively. Compare within one run, and repeat runs.
//! * Machine of the project's figures: a KVM guest with two virtual cores of an AMD EPYC, without
//!   frequency control or isolation. Waking a thread costs far more there than on bare metal, and
//!   the host moves the two cores: then a `cache line` takes 36 ns instead of 205, and all
//!   communication between the cores is several times faster. It is therefore measured first and
//!   last, and the cells in between are invalid if the two differ.
//! * With one allowed core, the `cross-core` cells are skipped.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use ringspin_benches::peers::{self, Wait, crossbeam_pair, std_pair};
use ringspin_benches::relay::{Batch, Relay};
use ringspin_benches::{Token, on_core};
use ringspin_executor::{Domain, WaitStrategy};
use ringspin_modes::{Executor, Mapping, allowed_cores};
use std::time::Duration;

/// Small enough that messages of 4 KiB each fit in a core's second-level cache.
const BATCH: usize = 256;

fn cell(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    size: &str,
    mut time: impl FnMut(u64) -> Duration,
) {
    let id = BenchmarkId::new(name, size);
    group.bench_function(id, |bencher| bencher.iter_custom(&mut time));
}

fn same_core<const WORDS: usize>(criterion: &mut Criterion, core: usize, size: &str) {
    let group = &mut criterion.benchmark_group("same-core");
    cell(group, "plain call", size, |hops| on_core(core, || peers::plain_call::<WORDS>(hops)));
    let mut relay = Relay::<WORDS>::new(Executor::single_core(), 2).expect("a valid graph");
    cell(group, "ringspin", size, |hops| on_core(core, || relay.time(hops)));
    let mut batch = Batch::<WORDS>::new(BATCH).expect("a valid graph");
    cell(group, "ringspin publish", size, |hops| on_core(core, || batch.time(hops).0));
    cell(group, "ringspin dispatch", size, |hops| on_core(core, || batch.time(hops).1));
    cell(group, "tokio", size, |hops| on_core(core, || peers::tokio_tasks::<WORDS>(hops)));
    let block = Wait::Block;
    cell(group, "std mpsc", size, |hops| {
        peers::ping_pong(std_pair::<Token<WORDS>>(block), [core; 2], hops)
    });
    cell(group, "crossbeam", size, |hops| {
        peers::ping_pong(crossbeam_pair::<Token<WORDS>>(block), [core; 2], hops)
    });
}

fn cross_core<const WORDS: usize>(criterion: &mut Criterion, cores: [usize; 2], size: &str) {
    let group = &mut criterion.benchmark_group("cross-core");
    for (name, wait) in [
        ("ringspin spin", WaitStrategy::Spin),
        ("ringspin default", WaitStrategy::default()),
        ("ringspin park", WaitStrategy::SpinThenPark(Duration::ZERO)),
    ] {
        let mapping = Mapping::new().core(cores[0], ["/node_0"]).core(cores[1], ["/node_1"]);
        let executor = Executor::multi_core(mapping).with_wait_strategy(wait);
        let mut relay = Relay::<WORDS>::new(executor, 2).expect("a valid graph");
        cell(group, name, size, |hops| relay.time(hops));
    }
    let domain = Domain::new();
    let alone = |core| {
        let executor = Executor::multi_core(Mapping::new().default_core(core));
        executor.with_wait_strategy(WaitStrategy::Spin).in_domain(&domain).expect("an empty graph")
    };
    let relay = Relay::<WORDS>::between(alone(cores[0]), alone(cores[1]));
    let mut relay = relay.expect("two valid graphs");
    cell(group, "ringspin executors spin", size, |hops| relay.time(hops));
    drop(relay);
    for (suffix, wait) in [("spin", Wait::Spin), ("block", Wait::Block)] {
        cell(group, &format!("std mpsc {suffix}"), size, |hops| {
            peers::ping_pong(std_pair::<Token<WORDS>>(wait), cores, hops)
        });
        cell(group, &format!("crossbeam {suffix}"), size, |hops| {
            peers::ping_pong(crossbeam_pair::<Token<WORDS>>(wait), cores, hops)
        });
    }
}

fn floor(criterion: &mut Criterion, cores: [usize; 2], when: &str) {
    let group = &mut criterion.benchmark_group("cross-core");
    cell(group, "cache line", when, |hops| peers::cache_line(cores, hops));
    cell(group, "bare futex", when, |hops| peers::bare_futex(cores, hops));
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let cores = allowed_cores();
    let first = *cores.first().expect("a process may run somewhere");
    same_core::<1>(&mut criterion, first, "8 B");
    same_core::<512>(&mut criterion, first, "4 KiB");
    match cores[..] {
        [first, second, ..] => {
            let cores = [first, second];
            floor(&mut criterion, cores, "before");
            cross_core::<1>(&mut criterion, cores, "8 B");
            cross_core::<512>(&mut criterion, cores, "4 KiB");
            floor(&mut criterion, cores, "after");
        }
        _ => println!("cross-core: skipped, because this process may use only one core"),
    }
    criterion.final_summary();
}
