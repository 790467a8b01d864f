//! Worst-case bounds of the simulated graph, with the longest times that the twin can draw.

use super::costs::Costs;
use super::senders::Senders;
use super::{Twin, TwinError};
use crate::assignment::Assignment;
use crate::bounds::{Analysis, Callback, NoBound, callbacks_of};
use ringspin_executor::GraphInfo;
use std::time::Duration;

/// Input of the analysis that does not depend on the assignment.
pub(super) struct AnalysisInput {
    callbacks: Vec<Callback>,
    /// By chain and step: the callbacks that can take the step.
    chains: Vec<Vec<Vec<usize>>>,
}

impl AnalysisInput {
    pub(super) fn new(
        info: &GraphInfo,
        costs: &Costs,
        senders: &Senders,
        chains: Vec<Vec<Vec<usize>>>,
    ) -> Self {
        let callbacks = callbacks_of(
            info,
            |callback| costs.most[callback],
            |callback, edge| senders.most(callback, edge),
            |edge| [Duration::ZERO, costs.crossing_max(edge)],
        );
        Self { callbacks, chains }
    }
}

impl Twin<'_> {
    /// The worst-case latency of each chain with this assignment, in the order of the chains, or
    /// the reason why it has none. See [`bounds`](crate::bounds) for the assumptions.
    ///
    /// No evaluation exceeds its bound: callbacks and messages take at most the longest measured
    /// time. Live, they can take longer. The messages that each callback sends are observed in
    /// simulations of at least two seconds, in several orders.
    ///
    /// # Errors
    /// [`TwinError::OtherLoops`] if the assignment is not of this graph.
    pub fn bounds(
        &self,
        assignment: &Assignment,
    ) -> Result<Vec<Result<Duration, NoBound>>, TwinError> {
        self.check_loops(assignment)?;
        let AnalysisInput { callbacks, chains } = &self.analysis_input;
        Ok(match Analysis::new(callbacks, assignment) {
            Ok(analysis) => chains.iter().map(|steps| analysis.longest(steps)).collect(),
            Err(reason) => vec![Err(reason); chains.len()],
        })
    }
}
