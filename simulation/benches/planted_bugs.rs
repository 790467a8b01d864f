//! A table of planted bugs: how many runs each strategy of `explore` takes until it finds them.

#[path = "../tests/planted/bugs.rs"]
mod bugs;

use bugs::{BUDGET, Bug};
use ringspin_simulation::{Exploration, Order};

/// Number of searches of a cell.
const SEARCHES: u64 = 50;

fn main() {
    let strategies = [
        ("default", Exploration::default().order),
        ("shuffle", Order::Shuffle),
        ("PCT 2", Order::Pct { depth: 2 }),
        ("PCT 3", Order::Pct { depth: 3 }),
    ];
    let names: Vec<_> = strategies.iter().map(|(name, _)| *name).collect();
    println!("| planted bug | {} |\n|---|{}", names.join(" | "), "---:|".repeat(names.len()));
    for bug in bugs::all() {
        let cells: Vec<_> = strategies.iter().map(|&(_, order)| cell(&bug, order)).collect();
        println!("| {} | {} |", bug.label(), cells.join(" | "));
    }
}

/// The median number of runs, and in how many searches the bug was found if not in all.
fn cell(bug: &Bug, order: Order) -> String {
    let mut runs: Vec<_> = (0..SEARCHES).map(|n| bug.search(order, n)).collect();
    let found = runs.iter().flatten().count();
    runs.sort_unstable_by_key(|runs| runs.unwrap_or(u64::MAX));
    let median = match runs[runs.len() / 2] {
        Some(runs) => runs.to_string(),
        None => format!("over {BUDGET}"),
    };
    match found as u64 {
        SEARCHES => median,
        found => format!("{median} (found in {found} of {SEARCHES})"),
    }
}
