//! Example: compares the live hot path of the reference system with its twin.
//!
//! ```text
//! cargo run --release -p ringspin-reference-system --example twin -- [N] [SECONDS] [ROUNDS] [FILE]
//! ```
//!
//! Measures a profile and writes it to the file. Each round then runs the system live on one core
//! and on two, and evaluates the same two mappings on the twin.

use reference_system::kpi::Collector;
use reference_system::optimize::Target;
use reference_system::system::{Work, build};
use ringspin_executor::{BoxError, Graph};
use ringspin_modes::{Executor, Mode, allowed_cores};
use ringspin_optimizer::{Assignment, Model, Profile, Twin};
use ringspin_simulation::models::DurationHistogram;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> Result<(), BoxError> {
    let argument = |n: usize, default: u64| -> Result<u64, BoxError> {
        Ok(std::env::args().nth(n).map(|text| text.parse()).transpose()?.unwrap_or(default))
    };
    let (n, rounds) = (argument(1, 1024)?, argument(3, 5)?);
    let span = Duration::from_secs(argument(2, 10)?);
    let declare = |graph: &Graph, work: &Work| {
        let collector = Arc::new(Collector::with_capacity(10_000));
        build(graph, work, &collector).map(|()| collector)
    };
    let live = Work::crunching(n);
    let profile = Profile::measure(|graph| declare(graph, &live), span)?;
    if let Some(path) = std::env::args().nth(4) {
        profile.save(path)?;
    }
    print_hops(&profile);
    let idle = Work { crunch: false, ..live.clone() };
    let twin =
        Twin::new(|graph: &Graph| declare(graph, &idle), &profile, Target::autoware(n).chains())?;
    let twin = twin.with_horizon(span);
    twin.assumptions().iter().for_each(|assumption| println!("note: {assumption}"));
    let loops = twin.loops().to_vec();
    let alternating: Vec<usize> = (0..loops.len()).map(|n| n % 2).collect();
    let mappings = [(vec![0; loops.len()], 1), (alternating, 2)];
    for _ in 0..rounds {
        for (cores, count) in &mappings {
            let assignment = Assignment::new(loops.clone(), cores.clone(), *count);
            let mut executor =
                Executor::new(Mode::MultiCore(Some(assignment.to_mapping(&allowed_cores()))));
            let collector = declare(executor.graph(), &live)?;
            executor.spin_for(span)?;
            let real = collector.report().release_to_end;
            drop(executor);
            let started = Instant::now();
            let evaluation = twin.evaluate(&assignment)?;
            let took = started.elapsed();
            let chain = evaluation.chains[0];
            let forecast = chain.release_to_end;
            println!(
                "{count} cores: live mean {:.3} p99 {:.3} max {:.3} ms, twin mean {:.3} p99 {:.3} \
                 max {:.3} ms of {} samples, loads {:.3?}, in {took:?}",
                real.mean_ns / 1e6,
                real.p99_ns as f64 / 1e6,
                real.max_ns as f64 / 1e6,
                forecast.mean_ns as f64 / 1e6,
                forecast.p99_ns as f64 / 1e6,
                forecast.max_ns as f64 / 1e6,
                chain.samples,
                evaluation.core_loads,
            );
        }
    }
    let started = Instant::now();
    for _ in 0..EVALUATIONS {
        for (cores, count) in &mappings {
            twin.evaluate(&Assignment::new(loops.clone(), cores.clone(), *count))?;
        }
    }
    let each = started.elapsed() / (EVALUATIONS * mappings.len() as u32);
    println!("an evaluation of {span:?} takes {each:?}");
    Ok(())
}

/// Prints count, median and 99th percentile of the hop costs, in nanoseconds.
fn print_hops(profile: &Profile) {
    let figures = |of: &DurationHistogram| {
        let ns = |q| of.quantile(q).as_nanos();
        (of.count, ns(0.5), ns(0.99))
    };
    for hop in &profile.hops {
        let [same, cross] = [&hop.same_core, &hop.cross_core].map(|of| of.as_ref().map(figures));
        println!("{} -> {}: same core {same:?}, cross core {cross:?}", hop.from, hop.to);
    }
}

/// The number of evaluations of each mapping when measuring their run time.
const EVALUATIONS: u32 = 100;
