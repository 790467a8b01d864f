//! Searches for the planted bugs: 10 searches of 300 runs each. With a name, one search for that
//! bug, or one run of it with `RINGSPIN_SCHEDULE`. `live operations` and `world operations` check
//! atomic operations outside of a world and in one.

use ringspin_planted_bugs::PROGRAMS;
use ringspin_simulated_threads::{ExploreError, Settings};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;

const RUNS_MAX: u64 = 300;
const SEARCHES: u64 = 10;

fn search(seed: u64, program: fn()) -> Result<(), ExploreError> {
    Settings { seed: seed * RUNS_MAX, ..Settings::default() }.explore(RUNS_MAX, program)
}

fn of_name(name: &str) -> fn() {
    let found = PROGRAMS.iter().find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("`{name}` is none of the planted bugs")).1
}

/// Checks the atomic operations of each width, also between threads.
fn operations() {
    macro_rules! check {
        ($($atomic:ident, $max:expr;)*) => {$(
            let value = $atomic::new(5);
            assert_eq!(value.fetch_add($max, SeqCst), 5);
            assert_eq!(value.fetch_sub(3, SeqCst), 4);
            assert_eq!(value.fetch_or(6, SeqCst), 1);
            assert_eq!(value.fetch_and(3, SeqCst), 7);
            assert_eq!(value.fetch_xor($max, SeqCst), 3);
            assert_eq!(value.fetch_nand(4, SeqCst), $max - 3);
            assert_eq!(value.swap(9, SeqCst), $max - 4);
            assert_eq!(value.compare_exchange(8, 1, SeqCst, SeqCst), Err(9));
            assert_eq!(value.compare_exchange(9, $max, SeqCst, SeqCst), Ok(9));
            assert_eq!(value.load(SeqCst), $max);
            value.store(0, SeqCst);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..50_000).for_each(|_| _ = value.fetch_add(1, SeqCst)));
                }
            });
            assert_eq!(value.into_inner(), 200_000_u64 as _);
        )*};
    }
    check! { AtomicU8, u8::MAX; AtomicU16, u16::MAX; AtomicU32, u32::MAX; AtomicU64, u64::MAX; }
    let flag = AtomicBool::new(false);
    assert!(!flag.swap(true, SeqCst) && flag.load(SeqCst));
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [live, _] if live == "live" => operations(),
        [world, _] if world == "world" => {
            ringspin_simulated_threads::run(operations).expect("no thread waits");
        }
        [name] => {
            if let Err(error) = search(1, of_name(name)) {
                println!("{error}");
                return ExitCode::FAILURE;
            }
        }
        _ => {
            std::panic::set_hook(Box::new(|_| {}));
            for (name, program) in PROGRAMS {
                let found = (1..=SEARCHES).map(|seed| search(seed, program));
                let mut runs: Vec<_> = found
                    .filter_map(|result| match result {
                        Err(ExploreError::Found(found)) => Some(found.runs),
                        _ => None,
                    })
                    .collect();
                runs.sort_unstable();
                let median = runs.get(runs.len() / 2).map_or("-".into(), u64::to_string);
                println!("{name:<24} {:>2} of {SEARCHES}, median {median}", runs.len());
            }
        }
    }
    ExitCode::SUCCESS
}
