//! Random graphs with random scripts, against a reference model of plain queues: every dispatch,
//! every loss, every refusal, the end of every call. Scripts also create and destroy nodes and
//! whatever these have.
//!
//! The same script runs in deterministic mode, and, without its timers, on a single core. On
//! several cores, where the order of events is not repeatable, the [`promises`] are checked that
//! hold in any order. The cases are the same in every run; for others,
//! `RINGSPIN_MODEL_SEED=7 cargo test --test model`; for more, `RINGSPIN_MODEL_TIMES=4`.

mod harness;
mod history;
mod promises;
mod reference;
mod spec;
mod turns;

use harness::{Calls, Outcome, run, run_to_rest};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use reference::{Order, Reference};
use ringspin_executor::{ReadyOrder, Time, WaitStrategy};
use ringspin_modes::{Executor, Mode, Simulation};
use spec::{Spec, spec};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// An arbitrary seed; each failing case is printed.
const SEED: u64 = 20_260;
const END_MS: u32 = 40;

/// Runs `test` with so many programs, or a multiple of them, in which callbacks do something in up
/// to `dispatches` dispatches.
fn check(cases: u32, dispatches: usize, test: impl Fn(Spec) -> Result<(), TestCaseError>) {
    let seed = std::env::var("RINGSPIN_MODEL_SEED");
    let seed = seed.map_or(SEED, |seed| seed.parse().expect("a seed is a number"));
    let times = std::env::var("RINGSPIN_MODEL_TIMES");
    let cases = cases * times.map_or(1, |times| times.parse().expect("a factor is a number"));
    println!("{cases} cases, seed {seed}");
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    };
    TestRunner::new(config).run(&spec(dispatches), test).unwrap_or_else(|error| panic!("{error}"));
}

fn deterministic(spec: &Spec) -> Outcome {
    let start = Time::ZERO + Duration::from_millis(spec.start_ms);
    let simulation = Simulation { start, ..Simulation::default() };
    run(spec, Executor::deterministic(simulation), None, END_MS)
}

fn single_core(spec: &Spec, order: ReadyOrder, dispatches: usize) -> Outcome {
    // The turns of the model are limited by their events only, on every machine.
    let executor = Executor::single_core().with_ready_order(order).with_turn(Duration::MAX);
    run(spec, executor, Some(dispatches), 0)
}

/// The same without the times.
fn timeless(mut outcome: Outcome) -> Outcome {
    outcome.dispatches.iter_mut().for_each(|record| record.3 = 0);
    outcome
}

/// Coverage of the generated scripts, so that the test does not pass because nothing happens.
#[derive(Debug, Default)]
struct Reached {
    dispatches: usize,
    stops: usize,
    overwritten: u64,
    coalesced: u64,
    refused: u64,
    /// Records of destroyed callbacks.
    removed: u64,
    discarded: u64,
    calls: Calls,
}

impl Reached {
    fn add(&mut self, outcome: &Outcome) {
        self.dispatches += outcome.dispatches.len();
        self.stops += outcome.stops.len();
        for [_, overwritten, _, coalesced, _] in &outcome.counters {
            self.overwritten += overwritten;
            self.coalesced += coalesced;
        }
        self.refused += outcome.refused;
        self.removed += outcome.removed[0];
        self.discarded += outcome.removed[4];
        self.calls.answered += outcome.calls.answered;
        self.calls.unanswered += outcome.calls.unanswered;
        self.calls.stopped += outcome.calls.stopped;
    }

    fn assert_all(&self) {
        println!("{self:?}");
        let Self { overwritten, coalesced, refused, removed, discarded, calls, .. } = *self;
        let counts = [overwritten, coalesced, refused, removed, discarded];
        assert!(counts.iter().all(|count| *count > 0), "{self:?}");
        let ends = [calls.answered, calls.unanswered, calls.stopped];
        assert!(ends.iter().all(|count| *count > 0), "{self:?}");
        assert!(self.stops > 0 && self.dispatches > 1_000, "{self:?}");
    }
}

#[test]
fn the_deterministic_mode_does_what_the_reference_does() {
    let reached = RefCell::new(Reached::default());
    check(300, 6, |spec| {
        let expected = Reference::new(&spec, Order::Fifo).run(END_MS);
        prop_assert_eq!(deterministic(&spec), expected.clone());
        reached.borrow_mut().add(&expected);
        Ok(())
    });
    reached.borrow().assert_all();
}

#[test]
fn a_single_core_in_order_of_readiness_does_what_the_deterministic_mode_does() {
    check(150, 6, |spec| {
        let spec = spec.without_time();
        let expected = timeless(deterministic(&spec));
        if !expected.dispatches.is_empty() {
            let live = single_core(&spec, ReadyOrder::Fifo, expected.dispatches.len());
            prop_assert_eq!(timeless(live), expected);
        }
        Ok(())
    });
}

/// The default order of the live modes, predicted as exactly.
#[test]
fn a_single_core_in_turns_does_what_the_reference_does() {
    check(150, 6, |spec| {
        let spec = spec.without_time().without_late_nodes();
        let order = harness::topological_order(&spec);
        let expected = timeless(Reference::new(&spec, Order::RoundRobin(order)).run(END_MS));
        if !expected.dispatches.is_empty() {
            let live = single_core(&spec, ReadyOrder::RoundRobin, expected.dispatches.len());
            prop_assert_eq!(timeless(live), expected);
        }
        Ok(())
    });
}

/// Also with a thread beside the run that changes the graph, from before the start on.
#[test]
fn several_cores_keep_the_promises_about_any_order() {
    let modes = [
        (Mode::SingleCore, WaitStrategy::default()),
        (Mode::MultiCore(None), WaitStrategy::default()),
        (Mode::MultiCore(None), WaitStrategy::SpinThenPark(Duration::ZERO)),
    ];
    let (meetings, compared) = (Cell::new(0), RefCell::new([0; 3]));
    check(25, 40, |spec| {
        let spec = spec.without_time();
        for (n, (mode, wait)) in modes.clone().into_iter().enumerate() {
            let executor = Executor::new(mode).with_wait_strategy(wait);
            let run = run_to_rest(&spec, executor);
            promises::check(&run)?;
            compared.borrow_mut()[n] += promises::check_readiness(&run.records)?;
            meetings.set(meetings.get() + promises::meetings(&run));
        }
        Ok(())
    });
    println!("{} callbacks of different nodes met", meetings.get());
    println!("{compared:?} events compared in their order");
    assert!(compared.borrow().iter().all(|pairs| *pairs > 0), "{compared:?}");
}
