//! The optimization section of a report: the chosen mapping, the search, and the accuracy of the
//! prediction.
//!
//! These are plain figures with plain names, not the optimizer's types, so that the optimizer may
//! change and saved reports remain readable.

use serde::{Deserialize, Serialize};

use super::GraphData;

/// An optimization and its confirmation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizationData {
    /// The graph with the mapping found: core and priority of each loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphData>,
    /// The terms of a score, the most important first. Lower is better.
    #[serde(default)]
    pub terms: Vec<Term>,
    /// The convergence of each strategy.
    #[serde(default)]
    pub convergence: Vec<Convergence>,
    /// The result of each strategy.
    #[serde(default)]
    pub strategies: Vec<StrategyRow>,
    /// The Pareto front of the search.
    #[serde(default)]
    pub trade_offs: TradeOffs,
    /// The advice on the phases of timers.
    #[serde(default)]
    pub phases: Vec<PhaseRow>,
    /// Predicted and measured latencies.
    #[serde(default)]
    pub predictions: Vec<Prediction>,
    /// The worst-case bounds of chains.
    #[serde(default)]
    pub bounds: Vec<Bound>,
}

/// A term of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Its name, for example `p99`.
    pub name: String,
    /// The unit of its values.
    pub unit: Unit,
}

/// The unit of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds; shown as milliseconds.
    Nanoseconds,
    /// A count.
    Count,
    /// Millionths of a whole; shown as percent.
    Millionths,
}

/// The convergence of a strategy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// The strategy.
    pub strategy: String,
    /// Pairs of a number of evaluations and the best score so far, term by term, in ascending
    /// order. A missing value is a latency that never occurred, of a chain without an end.
    pub points: Vec<(u64, Vec<Option<f64>>)>,
}

/// The result of a strategy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyRow {
    /// The strategy.
    pub strategy: String,
    /// The number of evaluated candidates.
    pub evaluations: u64,
    /// The real time of the search, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// The number of cores in use.
    pub cores_used: usize,
    /// Its score, term by term.
    pub score: Vec<Option<f64>>,
    /// Whether its mapping was chosen.
    #[serde(default)]
    pub chosen: bool,
}

/// The candidates of a search, those that keep the promises of the graph best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TradeOffs {
    /// The candidates of which none is better in everything, by rising mean.
    pub front: Vec<Candidate>,
    /// The others, or an even selection of them.
    pub others: Vec<Candidate>,
}

/// The figures of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// From release to end.
    pub release_to_end: Latency,
    /// From sample to start.
    pub sample_to_start: Latency,
    /// The largest jitter of a timer with a limit, in nanoseconds.
    pub jitter_ns: f64,
    /// The number of cores in use.
    pub cores: usize,
    /// Whether it was chosen.
    #[serde(default)]
    pub chosen: bool,
}

/// A timer that had better start later, and the latency of a chain by one definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseRow {
    /// The timer.
    pub timer: String,
    /// The advised delay, in nanoseconds.
    pub shift_ns: f64,
    /// The chain.
    pub chain: String,
    /// The definition of the latency.
    pub definition: String,
    /// The simulated latency with timers in phase.
    pub before: Latency,
    /// The simulated latency with the delay.
    pub after: Latency,
}

/// The predicted and the measured latency of a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// The chain, and the mapping.
    pub chain: String,
    /// The twin's prediction.
    pub predicted: Latency,
    /// The live measurement.
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

/// The worst-case bound of a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The mapping.
    pub mapping: String,
    /// The chain.
    pub chain: String,
    /// The longest simulated latency, in nanoseconds; `None` if no sample reached the end of the
    /// chain.
    pub simulated_ns: Option<f64>,
    /// The bound, in nanoseconds, if there is one.
    pub bound_ns: Option<f64>,
    /// The analysis, or the reason for having no bound.
    pub reason: String,
}

impl Latency {
    /// Its figures, with their names.
    #[must_use]
    pub fn figures(&self) -> [(&'static str, f64); 3] {
        [("mean", self.mean_ns), ("p99", self.p99_ns), ("max", self.max_ns)]
    }
}

impl Prediction {
    /// The errors of the prediction of mean, p99 and maximum, in percent of the measurement:
    /// positive if it was too high. `None` without a measurement.
    #[must_use]
    pub fn errors_percent(&self) -> [Option<f64>; 3] {
        let (predicted, measured) = (self.predicted.figures(), self.measured.figures());
        std::array::from_fn(|n| {
            let (predicted, measured) = (predicted[n].1, measured[n].1);
            (measured > 0.0).then(|| 100.0 * (predicted - measured) / measured)
        })
    }
}
