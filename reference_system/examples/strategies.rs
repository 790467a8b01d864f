//! The strategies of the optimizer on the Autoware graph: what each finds with equal budgets.
//!
//! `cargo run --release -p ringspin-reference-system --example strategies --
//! [EVALUATIONS] [SEEDS] [CORES] [N] [HORIZON_S]`
//!
//! It measures a profile of this machine for crunches up to N; from there on all is simulated.

use reference_system::description::HOT_PATH;
use reference_system::kpi::Collector;
use reference_system::system::{Work, build};
use ringspin_executor::{BoxError, Graph};
use ringspin_optimizer::{
    Chain, Judge, Loads, Objective, Profile, Search, SearchOptions, Strategy, Twin,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> Result<(), BoxError> {
    let argument = |n: usize, default: u64| -> Result<u64, BoxError> {
        Ok(std::env::args().nth(n).map(|text| text.parse()).transpose()?.unwrap_or(default))
    };
    let (evaluations, cores) = (argument(1, 2000)? as usize, argument(3, 4)? as usize);
    let live = Work::crunching(argument(4, 4096)?);
    let idle = Work { crunch: false, ..live.clone() };
    let declare = |graph: &Graph, work: &Work| {
        let collector = Arc::new(Collector::with_capacity(10_000));
        build(graph, work, &collector).map(|()| collector)
    };
    let profile = Profile::measure(|graph| declare(graph, &live), Duration::from_secs(5))?;
    let twin = Twin::new(|graph: &Graph| declare(graph, &idle), &profile, vec![hot_path()])?
        .with_horizon(Duration::from_secs(argument(5, 10)?));
    let loads = Loads::of_model(&twin)?;
    let total: f64 = loads.loops.iter().map(|node| node.utilization).sum();
    println!("{total:.2} cores of load on {cores}");

    let judge = Judge::new(twin, Objective::default());
    let options = SearchOptions { evaluations, threads: 2, ..SearchOptions::new(cores) };
    let mut search = Search::new(&judge, &loads, options)?;
    let seeds: Vec<u64> = (0..argument(2, 20)?).collect();
    let started = Instant::now();
    let comparison = search.compare(&Strategy::ALL, &seeds, &mut |_| ())?;
    println!("{comparison}in {:?}", started.elapsed());
    for entry in &comparison.entries {
        let (Some(median), Some(best)) = (entry.median(), entry.best()) else { continue };
        let describe = |score| judge.objective().describe(score);
        println!("{:13} median {}; best {}", entry.strategy, describe(median), describe(best));
    }
    Ok(())
}

/// From the lidars, of whose two branches the last one counts, to the collision estimator.
fn hot_path() -> Chain {
    let branches = HOT_PATH[..4].chunks(2);
    let joined = branches.map(|pair| format!("/{} | /{}", pair[0], pair[1]));
    let path = joined.chain(HOT_PATH[4..].iter().map(|name| format!("/{name}")));
    Chain::new("hot path", path)
}
