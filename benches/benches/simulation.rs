//! The cost of an event under simulated time, compared with another simulator and a bare heap.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench simulation                  # everything
//! cargo bench -p ringspin-benches --bench simulation -- growth --rounds 200
//! cargo bench -p ringspin-benches --bench simulation -- --test        # everything once
//! ```
//!
//! # Method
//! This benchmark does not use criterion: see [`rounds`](ringspin_benches::rounds). Every candidate
//! of a cell has one turn in every round; a table shows the median and the quartiles over all
//! rounds of the time per event, and of the ratio to the first candidate in the same round.
//!
//! * `N nodes`: each node has a timer with its own period, which sends a message of 8 bytes to the
//!   next node; the callbacks only count. See [`simulation`](ringspin_benches::simulation).
//!   `ringspin` is the unmodified deterministic mode: with its digest of every dispatch, its
//!   statistics and its protection against panics. `bare heap` is a loop over `std`'s binary heap
//!   of (time, number, node), which also holds messages: close to the lower bound for a simulator
//!   with a future event list. `nexosim` runs on one thread. A turn has at least ten events per
//!   node, so that it fills its caches.
//! * `growth`: ringspin alone, from 10 to 10,000 nodes; and the bare heap, which shows the share of
//!   the heap's depth and the caches.
//! * `orders`: the same with a duration rule, other tie policies and virtual cores, which take the
//!   events out of the worker's ready ring.
//! * `reference system`: 90 simulated seconds of the Autoware reference system with nodes that only
//!   forward their messages of 4 KiB.
//!
//! Everything is built and runs on the main thread, as in most programs: the allocator gives other
//! threads memory elsewhere. The thread is pinned to the first allowed core. Every turn checks that
//! all events have been dispatched.
//!
//! # Limits
//! Machine of the project's figures: as in `delivery.rs`. Trust ratios within a cell more than
//! nanoseconds.

use reference_system::kpi::Collector;
use reference_system::run::{RunOptions, run};
use reference_system::system::Work;
use ringspin_benches::rounds::{Cell, Options, Unit, quartiles};
use ringspin_benches::simulation::{
    BareHeap, NexosimRing, Ring, Ringspin, Run, orders, unfinished_max,
};
use ringspin_modes::{Mode, allowed_cores};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const NODES: [(usize, &str); 4] =
    [(10, "10 nodes"), (100, "100 nodes"), (1_000, "1,000 nodes"), (10_000, "10,000 nodes")];

/// The events of a turn: at least an eighth of them, or 10 per node.
fn turn(nodes: usize) -> u64 {
    (80 * nodes as u64).max(1 << 16)
}

fn beside_others(options: &Options) {
    for (nodes, title) in NODES {
        if !options.wants(title) {
            continue;
        }
        let ring = Ring(nodes);
        let mut cell = Cell::new(title, Unit::Rate, turn(nodes));
        let mut ringspin = Run::new(ring, Ringspin::new(ring).expect("a valid graph"));
        let mut heap = Run::new(ring, BareHeap::new(ring));
        let mut nexosim = Run::new(ring, NexosimRing::new(ring).expect("valid models"));
        cell.add("ringspin", move |events| ringspin.time(events));
        cell.add("bare heap", move |events| heap.time(events));
        cell.add("nexosim", move |events| nexosim.time(events));
        cell.run(options);
    }
}

fn growth(options: &Options) {
    for title in ["growth of ringspin", "growth of the bare heap"] {
        if !options.wants(title) {
            continue;
        }
        let mut cell = Cell::new(title, Unit::Rate, turn(NODES[3].0));
        for (nodes, name) in NODES {
            let ring = Ring(nodes);
            if title.ends_with("ringspin") {
                let mut run = Run::new(ring, Ringspin::new(ring).expect("a valid graph"));
                cell.add(name, move |events| run.time(events));
            } else {
                let mut run = Run::new(ring, BareHeap::new(ring));
                cell.add(name, move |events| run.time(events));
            }
        }
        cell.run(options);
    }
}

fn other_orders(options: &Options) {
    for (nodes, name) in NODES {
        let title = format!("orders of {name}");
        if !options.wants(&title) {
            continue;
        }
        let ring = Ring(nodes);
        let mut cell = Cell::new(title, Unit::Rate, turn(nodes));
        for (order, simulation) in orders() {
            let run = Run::new(ring, Ringspin::with(ring, simulation).expect("a valid graph"));
            let mut run = run.with_unfinished(unfinished_max(order));
            cell.add(order, move |events| run.time(events));
        }
        cell.run(options);
    }
}

fn reference_system(options: &Options) {
    let title = "reference system";
    if !options.wants(title) {
        return;
    }
    let work = Work { n: 64, crunch: false, sleep_max: Duration::ZERO };
    let mode = Mode::Deterministic(Box::default());
    let run_options = RunOptions::new(mode, work, Duration::from_secs(90));
    let measure = || run(&run_options, &Arc::new(Collector::new())).expect("no callback fails");
    let events = measure().turn.dispatched; // the first run performs one-time allocations
    let samples = (0..options.rounds()).map(|_| measure().turn.wall_s * 1e3);
    let [low, median, high] = quartiles(samples.collect());
    println!(
        "\n## {title}\n\n\
         | simulated s | events | ms | quartiles | M/s |\n|--:|--:|--:|--:|--:|\n\
         | 90 | {events} | {median:.2} | {low:.2} to {high:.2} | {:.1} |",
        events as f64 / median / 1e3
    );
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let core = *allowed_cores().first().expect("a process may run somewhere");
    assert!(ringspin_modes::thread::pin(core), "core {core} refuses");
    beside_others(&options);
    growth(&options);
    other_orders(&options);
    reference_system(&options);
    ExitCode::SUCCESS
}
