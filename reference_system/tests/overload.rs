//! Overload: losses are counted, and every run ends.
//!
//! The demand is far above one core on any machine, so no test depends on the speed of this one. A
//! run that hangs would fail the test by never reaching its assertions.

use std::sync::Arc;
use std::time::Duration;

use reference_system::kpi::Collector;
use reference_system::run::{RunOptions, RunReport, run};
use reference_system::system::Work;

const SHORTEST: Duration = Duration::from_millis(1_500);

/// Runs the system for longer and longer until it has lost something. When other programs take most
/// of the core, a short run ends within its first few callbacks.
fn overloaded(mode: &str, work: Work) -> RunReport {
    let mut runs = (0..6).map(|attempt| run_for(SHORTEST * (1 << attempt), mode, work.clone()));
    runs.find(|report| report.turn.missed_periods + report.turn.overwritten > 0)
        .expect("nothing was lost")
}

fn run_for(duration: Duration, mode: &str, work: Work) -> RunReport {
    let options = RunOptions::new(mode.parse().unwrap(), work, duration);
    run(&options, &Arc::new(Collector::new())).unwrap()
}

/// Callbacks that sleep: about 400 a second of 50 ms on average are 20 cores of demand.
fn sleeping() -> Work {
    Work { n: 3, crunch: false, sleep_max: Duration::from_millis(100) }
}

fn assert_completed(report: &RunReport) {
    assert!(!report.interrupted);
    assert!(report.node_s >= 1.5, "{report:?}");
    assert!(report.turn.dispatched > 0, "{report:?}");
}

#[test]
fn an_overloaded_single_core_counts_missed_periods() {
    let report = overloaded("single", sleeping());
    assert_completed(&report);
    // The settings timer alone is due 40 times a second, and callbacks run one at a time.
    assert!(report.turn.missed_periods > 0, "{report:?}");
}

#[test]
fn overloaded_cores_count_missed_periods() {
    assert_completed(&overloaded("multi", sleeping()));
}

#[test]
fn a_huge_crunch_limit_overloads_one_core_and_the_run_ends() {
    // 190 crunches a second of 12 million divisions each.
    assert_completed(&overloaded("single", Work::crunching(16_000)));
}

#[test]
fn simulated_time_cannot_be_overloaded() {
    let work = Work { sleep_max: Duration::from_millis(1), ..sleeping() };
    let report = run_for(SHORTEST, "deterministic", work);
    assert_eq!((report.turn.missed_periods, report.turn.overwritten), (0, 0));
    assert_eq!(report.node_s, 1.5);
}
