//! Each program in `tests/programs/` does the same in every run, also on a busy machine.

mod common;

use common::{is_random, program};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The lines of a run, and its report without the real time.
fn trace(name: &str, output: &Output) -> (String, String) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{errors}", output.status);
    let report = errors.lines().last().unwrap_or_default();
    let (time, rest) = report.split_once(" of simulated time in ").expect("a report");
    let (_, counts) = rest.split_once(" s, ").expect("a report");
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    (lines, format!("{time}, {counts}"))
}

/// Keeps the processors busy until it is dropped.
struct Load(&'static AtomicBool, Vec<thread::JoinHandle<()>>);

impl Load {
    fn new() -> Self {
        let over: &'static AtomicBool = Box::leak(Box::default());
        let processors = thread::available_parallelism().map_or(2, usize::from);
        let work = move || while !over.load(Ordering::Relaxed) {};
        Self(over, (0..processors).map(|_| thread::spawn(work)).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// Runs each program of a group so many times: once alone, then several at once, some under load.
fn compare(group: &str, runs: usize) {
    let names = program(group).output().unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    let names: Vec<_> = names.lines().filter(|name| !is_random(name)).collect();
    assert!(names.len() > 3, "{group}: {names:?}");
    let first: Vec<_> =
        names.iter().map(|name| trace(name, &program(name).output().unwrap())).collect();
    let load = (runs > 2).then(Load::new);
    for (name, first) in names.iter().zip(first) {
        assert!(first.0.ends_with(": end\n"), "{name}: {}", first.0);
        for _ in 0..(runs - 1).div_ceil(4) {
            // The environment is on the first thread's stack and moves the addresses there.
            let start =
                |n: usize| program(name).env("PADDING", "x".repeat(100 * n)).spawn().unwrap();
            let started: Vec<_> = (0..4.min(runs - 1)).map(start).collect();
            for run in started {
                let other = trace(name, &run.wait_with_output().unwrap());
                assert_eq!(first, other, "{name} differs from run to run");
            }
        }
    }
    drop(load);
}

/// The number of runs: `RINGSPIN_TEST_RUNS`, or five.
fn runs() -> usize {
    std::env::var("RINGSPIN_TEST_RUNS").map_or(5, |runs| runs.parse().unwrap())
}

#[test]
fn programs_of_the_standard_library_do_the_same_in_every_run() {
    compare("standard", runs());
}

#[test]
fn programs_of_threading_libraries_do_the_same_in_every_run() {
    compare("libraries", runs());
}

#[test]
fn programs_of_tokio_do_the_same_in_every_run() {
    compare("tokio", runs());
}

#[test]
fn programs_of_c_do_the_same_in_every_run() {
    compare("c", runs());
}

#[test]
fn programs_that_call_the_kernel_do_the_same_in_every_run() {
    compare("kernel", runs());
}

/// The other tests here pass with any order and any times that are the same in every run.
#[test]
fn programs_run_in_the_order_and_at_the_times_that_their_calls_promise() {
    for expected in include_str!("expected.txt").split("== ").skip(1) {
        let (name, lines) = expected.split_once('\n').unwrap();
        let output = program(name).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), lines, "{name}");
    }
}

#[test]
#[ignore = "slow: starts each program 101 times"]
fn slow_programs_do_the_same_in_a_hundred_runs() {
    for group in ["standard", "libraries", "tokio", "c", "kernel"] {
        compare(group, 101);
    }
}
