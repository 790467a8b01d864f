//! The planted bugs of each kind are found within their budget.

#[path = "../planted/bugs.rs"]
mod bugs;

use ringspin_simulation::Exploration;

/// A quarter of the budget. Shuffling alone takes more for some of the bugs, and so does PCT.
const RUNS_MAX: u64 = bugs::BUDGET / 4;

#[test]
fn each_planted_bug_is_found_by_the_default_strategy() {
    let order = Exploration::default().order;
    for bug in bugs::all() {
        let runs: Vec<_> = (0..3).map(|n| bug.search(order, n)).collect();
        let is_found = runs.iter().all(|runs| runs.is_some_and(|runs| runs <= RUNS_MAX));
        assert!(is_found, "{}: {runs:?}", bug.label());
    }
}
