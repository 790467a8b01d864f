//! Worst-case bounds beside the simulation: of the same graph, with the longest times that the twin
//! can draw.

use super::costs::Costs;
use super::senders::Senders;
use super::{Twin, TwinError};
use crate::assignment::Assignment;
use crate::bounds::{Analysis, Callback, NoBound, callbacks_of};
use ringspin_executor::GraphInfo;
use std::time::Duration;

/// What the analysis is about, whatever the assignment.
pub(super) struct Subject {
    callbacks: Vec<Callback>,
    /// Of each chain, the callbacks that each of its steps can be.
    chains: Vec<Vec<Vec<usize>>>,
}

impl Subject {
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
    /// How long each of the chains takes with this assignment at the very worst, in the order of
    /// the chains, or why nobody can tell. What that takes is in [`bounds`](crate::bounds).
    ///
    /// No evaluation exceeds its bound, for callbacks and messages take as long as the longest one
    /// that was measured. Live they can take longer than they ever did. Which callback sends what
    /// was seen in simulations of two seconds at least, in several orders.
    ///
    /// # Errors
    /// [`TwinError::OtherLoops`] if the assignment is not of this graph.
    pub fn bounds(
        &self,
        assignment: &Assignment,
    ) -> Result<Vec<Result<Duration, NoBound>>, TwinError> {
        self.check_loops(assignment)?;
        let Subject { callbacks, chains } = &self.subject;
        Ok(match Analysis::new(callbacks, assignment) {
            Ok(analysis) => chains.iter().map(|steps| analysis.longest(steps)).collect(),
            Err(reason) => vec![Err(reason); chains.len()],
        })
    }
}
