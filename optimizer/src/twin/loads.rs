//! Loads for the heuristics, from one simulated run.

use super::{Twin, TwinError};
use crate::assignment::Assignment;
use crate::loads::{Edge, Loads, LoopLoad};
use ringspin_executor::{Graph, LoopId};
use ringspin_modes::graph_edges;
use std::collections::BTreeMap;

impl Twin<'_> {
    /// Derives utilizations and message rates from a simulation with one core per loop, in which no
    /// loop delays another and no message is lost to waiting.
    ///
    /// # Errors
    /// The errors of an evaluation.
    pub fn loads(&self) -> Result<Loads, TwinError> {
        let count = self.loops.len();
        let apart = Assignment::new(self.loops.clone(), (0..count).collect(), count);
        let ran = self.run(self.simulation(&apart)?)?;
        let horizon_s = self.horizon.as_secs_f64();
        let loops = self.loops.iter().zip(&ran.busy_ns).map(|(name, busy_ns)| LoopLoad {
            name: name.clone(),
            utilization: *busy_ns as f64 * 1e-9 / horizon_s,
        });
        let graph = Graph::new();
        let handles = (self.build)(&graph).map_err(|error| TwinError::Build(error.to_string()))?;
        let info = graph.info();
        let mut messages = BTreeMap::<(LoopId, LoopId), u64>::new();
        for edge in graph_edges(&info).into_iter().filter(|edge| edge.from != edge.to) {
            let of = &ran.statistics.callbacks[edge.callback.0 as usize];
            // A callback with several publishers counts for each of them; sufficient for
            // heuristics.
            *messages.entry((edge.from, edge.to)).or_default() += of.dispatched + of.overwritten;
        }
        drop(handles);
        let name = |id: LoopId| self.loops[id.0 as usize].clone();
        let edges = messages.into_iter().map(|((from, to), count)| Edge {
            from: name(from),
            to: name(to),
            messages_per_second: count as f64 / horizon_s,
        });
        Ok(Loads { loops: loops.collect(), edges: edges.collect(), chains: self.chains.clone() })
    }
}
