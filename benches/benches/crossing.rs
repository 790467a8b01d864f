//! The price of a hop between two cores, in transfers of a cache line.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench crossing                  # a minute
//! cargo bench -p ringspin-benches --bench crossing -- --test        # everything once, in a second
//! ```
//!
//! # Method
//! The game of `delivery.rs`: a token travels to and fro, and the figure is the time of one hop
//! (round trip / 2), from `publish` to the next `publish` in the callback. All candidates of a cell
//! take turns of about a millisecond in each of many rounds, see [`ringspin_benches::rounds`]: on a
//! virtual machine the host moves the cores, and a line takes 30 ns in one second and 200 in the
//! next.
//!
//! The first candidate is one cache line that two threads write in turn, so that the ratio of each
//! other candidate is the number of line transfers that its hop costs. `std mpsc` and `crossbeam`
//! are polled by `try_recv`; `block` is their `recv`.
//!
//! | cell | content |
//! |---|---|
//! | `two cores` | a topic with one publisher and one subscription, keep-last of depth 1 or 10 |
//! | `one core` | the same graph on one worker, beside a plain call |

use ringspin_benches::peers::{self, Wait, crossbeam_pair, std_pair};
use ringspin_benches::relay::Relay;
use ringspin_benches::rounds::{Cell, Options, Unit};
use ringspin_benches::{Token, on_core};
use ringspin_executor::WaitStrategy;
use ringspin_modes::{Executor, Mapping, allowed_cores};
use std::process::ExitCode;
use std::time::Duration;

/// Most hops of a turn.
const HOPS: u64 = 20_000;

fn nanoseconds(elapsed: Duration, hops: u64) -> f64 {
    elapsed.as_secs_f64() * 1e9 / hops as f64
}

/// Nodes on two cores that wait by `strategy`, with queues of `depth`.
fn crossing<const WORDS: usize>(
    cores: [usize; 2],
    strategy: WaitStrategy,
    depth: usize,
) -> impl FnMut(u64) -> f64 {
    let mapping = Mapping::new().core(cores[0], ["/node_0"]).core(cores[1], ["/node_1"]);
    let executor = Executor::multi_core(mapping).with_wait_strategy(strategy);
    let mut relay = Relay::<WORDS>::with_depth(executor, 2, depth).expect("a valid graph");
    move |hops| nanoseconds(relay.time(hops), hops)
}

fn two_cores<const WORDS: usize>(options: &Options, cores: [usize; 2], size: &str) {
    let mut cell = Cell::new(format!("two cores, {size}"), Unit::Time, HOPS);
    cell.add("cache line", |hops| nanoseconds(peers::cache_line(cores, hops), hops));
    let (spin, default) = (WaitStrategy::Spin, WaitStrategy::default());
    cell.add("ringspin", crossing::<WORDS>(cores, spin, 1));
    cell.add("ringspin depth 10", crossing::<WORDS>(cores, spin, 10));
    cell.add("ringspin default", crossing::<WORDS>(cores, default, 1));
    for (name, wait) in [("std mpsc", Wait::Spin), ("std mpsc block", Wait::Block)] {
        cell.add(name, move |hops| {
            let pair = std_pair::<Token<WORDS>>(wait);
            nanoseconds(peers::ping_pong(pair, cores, hops), hops)
        });
    }
    for (name, wait) in [("crossbeam", Wait::Spin), ("crossbeam block", Wait::Block)] {
        cell.add(name, move |hops| {
            let pair = crossbeam_pair::<Token<WORDS>>(wait);
            nanoseconds(peers::ping_pong(pair, cores, hops), hops)
        });
    }
    cell.run(options);
}

fn one_core<const WORDS: usize>(options: &Options, core: usize, size: &str) {
    let mut cell = Cell::new(format!("one core, {size}"), Unit::Time, HOPS);
    cell.add("plain call", move |hops| {
        nanoseconds(on_core(core, || peers::plain_call::<WORDS>(hops)), hops)
    });
    for (name, depth) in [("ringspin", 1), ("ringspin depth 10", 10)] {
        let mut relay =
            Relay::<WORDS>::with_depth(Executor::single_core(), 2, depth).expect("a valid graph");
        cell.add(name, move |hops| nanoseconds(on_core(core, || relay.time(hops)), hops));
    }
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
    let first = *cores.first().expect("a process may run somewhere");
    one_core::<1>(&options, first, "8 B");
    match cores[..] {
        [first, second, ..] => {
            two_cores::<1>(&options, [first, second], "8 B");
            two_cores::<512>(&options, [first, second], "4 KiB");
        }
        _ => println!("two cores: skipped, because this process may use only one core"),
    }
    ExitCode::SUCCESS
}
