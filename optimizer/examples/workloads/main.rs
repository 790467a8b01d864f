//! Example: compares the search strategies on the workload of PiCAS, beside its published mapping.
//!
//! `cargo run --release -p ringspin-optimizer --example workloads --
//! [EVALUATIONS] [SEEDS] [LEVELS]`
//!
//! Everything is simulated; equal arguments give equal tables on every machine. With two or more
//! LEVELS, dispatch priorities are searched, too. A row shows the median of all seeds; latencies
//! are sums over the chains.

mod picas;
mod workload;

use ringspin_executor::BoxError;
use ringspin_optimizer::{
    Assignment, Judge, Loads, Model, Objective, Score, Search, SearchOptions, Strategy,
};
use std::time::Duration;

/// The least common multiple of the periods.
const HORIZON: Duration = Duration::from_secs(12);

/// A lost message comes first: it has no latency, so that an objective without it would prefer
/// losing a message to delivering it late.
const OBJECTIVE: &str = "drops,misses,p99,mean";

fn main() -> Result<(), BoxError> {
    let number = |n: usize, default: u64| {
        std::env::args().nth(n).map_or(Ok(default), |text| text.parse::<u64>())
    };
    let workload = picas::workload();
    let twin = workload.twin()?.with_variants(1).with_horizon(HORIZON);
    let (loads, cores) = (Loads::of_model(&twin)?, picas::CORES);
    println!("{:.2} cores of load on {cores}", workload.utilization());
    println!("{:27}  lost  late    p99 ms   mean ms", "");

    let judge = Judge::new(&twin, OBJECTIVE.parse::<Objective>()?);
    let evaluate = |assignment: &Assignment| -> Result<Score, BoxError> {
        Ok(judge.objective().score(&twin, &twin.evaluate(assignment)?))
    };
    show("PiCAS, cores", &evaluate(&picas::published(twin.loops(), false))?);
    show("PiCAS, cores and priorities", &evaluate(&picas::published(twin.loops(), true))?);

    let evaluations = usize::try_from(number(1, 1000)?)?;
    let mut options = SearchOptions { evaluations, threads: 2, ..SearchOptions::new(cores) };
    options.priority_levels = u8::try_from(number(3, 1)?)?;
    let seeds: Vec<u64> = (0..number(2, 20)?).collect();
    let mut search = Search::new(&judge, &loads, options)?;
    let strategies = Strategy::ALL.into_iter().filter(|it| *it != Strategy::Exact);
    let strategies: Vec<Strategy> = strategies.collect();
    let comparison = search.compare(&strategies, &seeds, &mut |_| ())?;
    for entry in &comparison.entries {
        entry.median().into_iter().for_each(|median| show(entry.strategy.name(), median));
    }
    Ok(())
}

fn show(name: &str, score: &Score) {
    let [lost, late, p99_ns, mean_ns] = score.terms() else { return };
    let [p99, mean] = [p99_ns, mean_ns].map(|ns| *ns as f64 / 1e6);
    println!("{name:27} {lost:5} {late:5} {p99:9.1} {mean:9.1}");
}
