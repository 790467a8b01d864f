//! What a report needs of an optimization: what was chosen, how the search went, and whether the
//! prediction was true.
//!
//! These are plain figures under plain names, not the optimizer's own types, so that the optimizer
//! may change and kept reports stay readable.

use serde::{Deserialize, Serialize};

use super::data::GraphData;

/// An optimization and its confirmation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizationData {
    /// The graph with the mapping that was found: core and priority of each loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphData>,
    /// The terms of a score, the most important first. Lower is better.
    #[serde(default)]
    pub terms: Vec<Term>,
    /// How the best score of each strategy fell.
    #[serde(default)]
    pub convergence: Vec<Convergence>,
    /// What each strategy came to.
    #[serde(default)]
    pub strategies: Vec<StrategyRow>,
    /// What was predicted beside what was measured.
    #[serde(default)]
    pub predictions: Vec<Prediction>,
    /// What chains take at the very worst.
    #[serde(default)]
    pub bounds: Vec<Bound>,
}

/// A term of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// For example `p99`.
    pub name: String,
    /// What its values are.
    pub unit: Unit,
}

/// The unit of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds; shown as milliseconds.
    Nanoseconds,
    /// A number of things.
    Count,
    /// Millionths of a whole; shown as percent.
    Millionths,
}

/// How the best score of a strategy fell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// The strategy.
    pub strategy: String,
    /// After how many evaluations the best score was what, term by term; by rising evaluations. A
    /// term without a value is one that never was: the latency of a chain without an end.
    pub points: Vec<(u64, Vec<Option<f64>>)>,
}

/// What a strategy came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyRow {
    /// The strategy.
    pub strategy: String,
    /// How many candidates it evaluated.
    pub evaluations: u64,
    /// Real time that it took, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// Cores that it uses.
    pub cores_used: usize,
    /// Its score, term by term.
    pub score: Vec<Option<f64>>,
    /// Whether its mapping is the one that was chosen.
    #[serde(default)]
    pub chosen: bool,
}

/// A chain's latency as it was predicted and as it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// The chain, and where it ran.
    pub chain: String,
    /// By the twin.
    pub predicted: Latency,
    /// Live.
    pub measured: Latency,
}

/// A latency, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The mean.
    pub mean_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// The maximum.
    pub max_ns: f64,
}

/// What a chain takes at the very worst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Which mapping.
    pub mapping: String,
    /// Which chain.
    pub chain: String,
    /// The longest that it took in the simulation, in nanoseconds; none if it never came to its
    /// end.
    pub simulated_ns: Option<f64>,
    /// The bound, in nanoseconds, if there is one.
    pub bound_ns: Option<f64>,
    /// By which analysis, or why there is none.
    pub reason: String,
}

impl Latency {
    /// Its figures with their names.
    #[must_use]
    pub fn figures(&self) -> [(&'static str, f64); 3] {
        [("mean", self.mean_ns), ("p99", self.p99_ns), ("max", self.max_ns)]
    }
}

impl Prediction {
    /// By how much the prediction is off, in percent of what was measured, of mean, p99 and
    /// maximum: positive if it was too high. None where nothing was measured.
    #[must_use]
    pub fn errors_percent(&self) -> [Option<f64>; 3] {
        let (predicted, measured) = (self.predicted.figures(), self.measured.figures());
        std::array::from_fn(|n| {
            let (predicted, measured) = (predicted[n].1, measured[n].1);
            (measured > 0.0).then(|| 100.0 * (predicted - measured) / measured)
        })
    }
}
