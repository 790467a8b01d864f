//! Overrides that no node declared: most often a misspelt name.

use crate::arguments::Override;
use crate::graph::{Graph, GraphBuilder};
use crate::sim_time::USE_SIM_TIME;

/// How many overrides are warned of one by one.
const WARNINGS_MAX: usize = 20;

impl GraphBuilder {
    /// The strongest override of a parameter. It and the weaker ones count as used.
    pub(crate) fn use_override(&mut self, node: &str, parameter: &str) -> Option<Override> {
        let mut strongest = None;
        for (n, given) in self.arguments.overrides.iter().enumerate() {
            if given.is_for(node, parameter) {
                self.used_overrides.insert(n);
                strongest = Some(given);
            }
        }
        strongest.cloned()
    }

    fn unused_overrides(&self) -> Vec<String> {
        let overrides = self.arguments.overrides.iter().enumerate();
        let unused = overrides.filter(|(n, given)| {
            !self.used_overrides.contains(n) && given.parameter != USE_SIM_TIME
        });
        unused.map(|(_, given)| format!("{}: `{}`", given.origin, given.parameter)).collect()
    }

    /// Warns of every override that no node declared.
    pub(crate) fn report_unused_overrides(&self) {
        let unused = self.unused_overrides();
        for unused in unused.iter().take(WARNINGS_MAX) {
            tracing::warn!(
                "{unused} is not declared by any node that it is for; check the names of node and \
                 parameter"
            );
        }
        if let Some(more) = unused.len().checked_sub(WARNINGS_MAX).filter(|more| *more > 0) {
            tracing::warn!("{more} more overrides are not declared by any node");
        }
    }
}

impl Graph {
    /// The parameter overrides that no node has declared so far, each with where it was given.
    ///
    /// Freezing the graph logs a warning for each, because most often a name is misspelt. Ask here
    /// before spinning to make it an error. `use_sim_time` is never listed: launch files set it for
    /// every node, and here the mode decides about time.
    pub fn unused_overrides(&self) -> Vec<String> {
        self.builder().unused_overrides()
    }
}
