//! More work than the cores have time for: what is lost is counted, and every run still ends.
//!
//! The demand is far above one core on any machine, so no test depends on how fast this one is.
//! That a run ends at all is the point: one that hangs never gets to its assertions.

use std::sync::Arc;
use std::time::Duration;

use reference_system::kpi::Collector;
use reference_system::middleware::Middleware;
use reference_system::run::{RunOptions, RunReport, run};
use reference_system::system::Work;

fn overloaded(mode: &str, work: Work) -> RunReport {
    let options = RunOptions {
        middleware: Middleware::None,
        mode: mode.parse().unwrap(),
        work,
        duration: Duration::from_millis(1_500),
        trace: None,
        profile: None,
        stop_on_ctrl_c: false,
    };
    run(&options, &Arc::new(Collector::new())).unwrap()
}

/// Callbacks that sleep: some 400 a second of 50 ms on average are 20 cores of demand.
fn sleeping() -> Work {
    Work { n: 3, crunch: false, sleep_max: Duration::from_millis(100) }
}

fn assert_losses_are_counted(report: &RunReport) {
    assert!(!report.interrupted);
    assert!(report.node_s >= 1.5, "{report:?}");
    assert!(report.dispatched > 0, "{report:?}");
    assert!(report.missed_periods + report.overwritten > 0, "{report:?}");
}

#[test]
fn a_single_core_that_sleeps_too_long_counts_what_it_misses() {
    let report = overloaded("single", sleeping());
    assert_losses_are_counted(&report);
    // 40 periods of the settings alone fell due each second, and one callback runs at a time.
    assert!(report.missed_periods > 0, "{report:?}");
}

#[test]
fn several_cores_that_sleep_too_long_count_what_they_miss() {
    assert_losses_are_counted(&overloaded("multi", sleeping()));
}

#[test]
fn a_huge_crunch_limit_overloads_one_core_and_the_run_ends() {
    // 190 crunches a second of 12 million divisions each.
    assert_losses_are_counted(&overloaded("single", Work::crunching(16_000)));
}

#[test]
fn simulated_time_cannot_be_overloaded() {
    let report =
        overloaded("deterministic", Work { sleep_max: Duration::from_millis(1), ..sleeping() });
    assert_eq!((report.missed_periods, report.overwritten), (0, 0));
    assert_eq!(report.node_s, 1.5);
}
