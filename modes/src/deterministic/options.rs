//! Options of a deterministic run beyond its [`Simulation`](crate::Simulation).

use super::ties::TieBreaker;
use crate::schedule::KEPT_MAX;
use ringspin_executor::Time;

/// Records and checks of a deterministic run. They do not change its digest, but for a tie breaker.
pub struct RunOptions {
    /// Whether a trace is kept.
    pub is_traced: bool,
    /// Breaks ties instead of the policy of the simulation.
    pub tie_breaker: Option<Box<dyn TieBreaker>>,
    /// The instant of which a record is kept.
    pub watched: Option<Time>,
    /// Whether entries of a schedule that cannot be applied are an error.
    pub applies_schedule: bool,
    /// Maximum number of deviations of each kind that are kept.
    pub deviations_max: usize,
}

impl Default for RunOptions {
    /// No trace, no record of an instant, and the first 10,000 deviations of each kind.
    fn default() -> Self {
        Self {
            is_traced: false,
            tie_breaker: None,
            watched: None,
            applies_schedule: true,
            deviations_max: KEPT_MAX,
        }
    }
}
