//! `reference-system random-graph`: digests of random graphs, to compare builds and machines.

use anyhow::{Context, Result};
use ringspin_conformance::random_graph::RandomGraph;

use super::RandomGraphArguments;
use super::output;

/// Runs the graphs in order, and prints each digest immediately.
pub(super) fn random_graph(arguments: &RandomGraphArguments) -> Result<()> {
    for n in 0..u64::from(arguments.count) {
        let seed = arguments.seed.wrapping_add(n);
        let graph = match arguments.changing {
            false => RandomGraph::new(seed),
            true => RandomGraph::changing(seed),
        };
        let report = graph.job().run().map_err(anyhow::Error::from_boxed);
        let report = report.with_context(|| format!("the graph of seed {seed} failed"))?;
        let (digest, dispatches) = (report.digest(), report.dispatches());
        output::print(&format!("{seed} {digest} {dispatches}\n"))?;
    }
    Ok(())
}
