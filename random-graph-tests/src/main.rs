//! `random-graphs`: digests of random graphs, to compare builds and machines.

#![forbid(unsafe_code)]

use anyhow::{Context, Result};
use clap::Parser;
use ringspin_random_graph_tests::RandomGraph;
use std::io::Write;

/// Prints a line for each graph: its seed, its digest, and its number of events.
#[derive(Debug, Parser)]
struct Arguments {
    /// The seed of the first graph; further graphs use the following seeds.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of graphs.
    #[arg(long, default_value_t = 100)]
    count: u32,
    /// Run graphs with callbacks that create and destroy nodes and endpoints.
    #[arg(long)]
    changing: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    for n in 0..u64::from(arguments.count) {
        let seed = arguments.seed.wrapping_add(n);
        let graph = match arguments.changing {
            false => RandomGraph::new(seed),
            true => RandomGraph::changing(seed),
        };
        let report = graph.job().run().map_err(anyhow::Error::from_boxed);
        let report = report.with_context(|| format!("the graph of seed {seed} failed"))?;
        writeln!(std::io::stdout(), "{seed} {} {}", report.digest(), report.dispatches())?;
    }
    Ok(())
}
