//! The price of a list of receivers that may be replaced while threads read it.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench publish_list              # some seconds
//! cargo bench -p ringspin-benches --bench publish_list -- --test    # everything once
//! ```
//!
//! # Method
//! All on one pinned thread, in turns of about a millisecond, see [`ringspin_benches::rounds`]: the
//! ratio is a candidate's time by that of the first one, in the same round.
//!
//! | cell | operation |
//! |---|---|
//! | `read` | get the list, add up its four numbers; `OnceLock` cannot be replaced |
//! | `read and pass` | the same, and then a quiescent point, where there is one |
//! | `replace` | replace the list, and reclaim the one before |
//!
//! `crossbeam-epoch` pins and loads a pointer; its list is the one of the `OnceLock`, because only
//! unsafe code could read through the pointer.
//!
//! # Limits
//! No other thread replaces or reads the list. Where one replaces it, each reader fetches the line
//! of the pointer again, with any mechanism.

use arc_swap::ArcSwap;
use crossbeam_epoch::{self as epoch, Atomic};
use ringspin_benches::on_core;
use ringspin_benches::rounds::{Cell, Options, Unit};
use ringspin_modes::allowed_cores;
use ringspin_ringbuf::reclaim::{Domain, Published};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const OPERATIONS: u64 = 200_000;

type List = Box<[u64]>;

fn list() -> List {
    black_box([1, 2, 3, 4]).into()
}

#[inline]
fn sum(list: &[u64]) {
    black_box(list.iter().sum::<u64>());
}

/// The nanoseconds for each of `operations` calls of `f`.
fn time(operations: u64, mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..operations {
        f();
    }
    start.elapsed().as_secs_f64() * 1e9 / operations as f64
}

fn read(options: &Options, core: usize) {
    let domain = Arc::new(Domain::new());
    let (fixed, published) = (OnceLock::from(list()), Published::new(list(), &domain));
    let (swapped, atomic) = (ArcSwap::from_pointee(list()), Atomic::new(list()));
    let mut cell = Cell::new("read", Unit::Time, OPERATIONS);
    cell.add("OnceLock", |n| {
        on_core(core, || time(n, || sum(black_box(&fixed).get().expect("it is set"))))
    });
    cell.add("Published within enter", |n| {
        on_core(core, || {
            let _reading = domain.enter();
            time(n, || sum(&black_box(&published).load()))
        })
    });
    cell.add("Published, slow path", |n| {
        on_core(core, || time(n, || sum(&black_box(&published).load())))
    });
    cell.add("arc-swap load", |n| on_core(core, || time(n, || sum(&black_box(&swapped).load()))));
    cell.add("crossbeam-epoch pin", |n| {
        on_core(core, || {
            time(n, || {
                let guard = epoch::pin();
                black_box(black_box(&atomic).load(Acquire, &guard));
                sum(fixed.get().expect("it is set"));
            })
        })
    });
    cell.run(options);
}

fn read_and_pass(options: &Options, core: usize) {
    let domain = Arc::new(Domain::new());
    let (fixed, published) = (OnceLock::from(list()), Published::new(list(), &domain));
    let mut cell = Cell::new("read and pass", Unit::Time, OPERATIONS);
    cell.add("OnceLock", |n| {
        on_core(core, || time(n, || sum(black_box(&fixed).get().expect("it is set"))))
    });
    cell.add("Published within enter", |n| {
        on_core(core, || {
            let mut reading = domain.enter();
            time(n, || {
                sum(&black_box(&published).load());
                black_box(reading.pass());
            })
        })
    });
    cell.run(options);
}

fn replace(options: &Options, core: usize) {
    let domain = Arc::new(Domain::new());
    let published = Published::new(list(), &domain);
    let swapped = ArcSwap::from_pointee(list());
    let mut cell = Cell::new("replace", Unit::Time, OPERATIONS / 10);
    cell.add("Published within enter", |n| {
        on_core(core, || {
            let mut reading = domain.enter();
            time(n, || {
                published.replace(list());
                black_box(reading.pass());
            })
        })
    });
    cell.add("Published, slow path", |n| {
        on_core(core, || {
            time(n, || {
                published.replace(list());
                domain.collect();
            })
        })
    });
    cell.add("arc-swap store", |n| on_core(core, || time(n, || swapped.store(list().into()))));
    cell.run(options);
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let cores = allowed_cores();
    let core = cores[cores.len() - 1];
    read(&options, core);
    read_and_pass(&options, core);
    replace(&options, core);
    ExitCode::SUCCESS
}
