//! Example: compares the optimizer's strategies on the reference system at equal budgets.
//!
//! `cargo run --release -p ringspin-reference-system --example strategies --
//! [EVALUATIONS] [SEEDS] [CORES] [SUBJECT] [HORIZON_S] [PRIORITIES]`
//!
//! The subject is a limit N of the number cruncher, for which the example first measures a profile
//! of this machine; or a profile file, measured for any N; or `lame` with its specified costs.
//! Everything else is simulated. Each row shows the median and the best of all seeds.

use reference_system::description::Workload;
use reference_system::optimize::Target;
use ringspin_executor::BoxError;
use ringspin_optimizer::{
    Evaluation, Judge, Model, Objective, Profile, Search, SearchOptions, Strategy, round_robin,
};
use std::time::{Duration, Instant};

/// The duration of each of the two live runs for a profile.
const SPAN: Duration = Duration::from_secs(5);

fn main() -> Result<(), BoxError> {
    let text = |n: usize, default: &str| std::env::args().nth(n).unwrap_or_else(|| default.into());
    let number = |n: usize, default: &str| text(n, default).parse::<u64>();
    let (evaluations, cores) = (number(1, "2000")? as usize, number(3, "4")? as usize);
    let (target, profile) = subject(&text(4, "4096"))?;
    let twin = target.twin(&profile)?.with_horizon(Duration::from_secs(number(5, "10")?));
    let loads = twin.loads()?;
    let total: f64 = loads.loops.iter().map(|node| node.utilization).sum();
    println!("{total:.2} cores of load on {cores}");

    let judge = Judge::new(twin, Objective::default());
    let mut options = SearchOptions { evaluations, threads: 2, ..SearchOptions::new(cores) };
    options.priority_levels = u8::try_from(number(6, "3")?)?;
    let mut search = Search::new(&judge, &loads, options)?;
    let seeds: Vec<u64> = (0..number(2, "20")?).collect();
    let started = Instant::now();
    let comparison = search.compare(&Strategy::ALL, &seeds, &mut |_| ())?;
    println!("{comparison}in {:?}", started.elapsed());
    for entry in &comparison.entries {
        let (Some(median), Some(best)) = (entry.median(), entry.best()) else { continue };
        let describe = |score| judge.objective().describe(score);
        println!("{:13} median {}; best {}", entry.strategy, describe(median), describe(best));
    }
    let winner = comparison.best().ok_or("nothing was found")?;
    show("winner", &judge.model().evaluate(&winner.assignment)?);
    show("round robin", &judge.model().evaluate(&round_robin(&loads, cores))?);
    Ok(())
}

fn subject(name: &str) -> Result<(Target, Profile), BoxError> {
    let target = |workload, n| Target { workload, ..Target::autoware(n) };
    if name == "lame" {
        let target = target(Workload::Lame, 0);
        let profile = target.nominal(Duration::ZERO)?;
        return Ok((target, profile));
    }
    match name.parse() {
        Ok(n) => {
            let target = target(Workload::Autoware, n);
            let profile = target.measure(SPAN)?;
            Ok((target, profile))
        }
        Err(_) => Ok((target(Workload::Autoware, 0), Profile::load(name)?)),
    }
}

fn show(name: &str, evaluation: &Evaluation) {
    for chain in &evaluation.chains {
        let ms = |ns: u64| ns as f64 / 1e6;
        let of = &chain.release_to_end;
        let [mean, p99, max] = [of.mean_ns, of.p99_ns, of.max_ns].map(ms);
        println!("{name:13} mean {mean:.2}, p99 {p99:.2}, max {max:.2} ms");
    }
}
