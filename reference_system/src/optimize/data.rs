//! An optimization as a report shows it.

use super::{Target, Tuned};
use crate::report::{
    Convergence, Latency, OptimizationData, Prediction, StrategyRow, Term, Unit, graph_of,
};
use ringspin_executor::{BoxError, Graph, LoopInfo};
use ringspin_optimizer::{
    Assignment, Chain, ChainLatency, Confirmed, Objective, Profile, Score, Term as Figure,
};

/// What is shown of one optimization.
pub struct Shown<'a> {
    /// What was tuned.
    pub target: &'a Target,
    /// With the times of which machine.
    pub profile: &'a Profile,
    /// What counted.
    pub objective: &'a Objective,
    /// What was found.
    pub tuned: &'a Tuned,
    /// What was chosen of that.
    pub winner: &'a Assignment,
    /// What was measured, with a name for each.
    pub confirmed: &'a [(String, Confirmed)],
}

impl Shown<'_> {
    /// The figures, as they are kept and drawn.
    ///
    /// # Errors
    /// When the graph cannot be built.
    pub fn data(&self) -> Result<OptimizationData, BoxError> {
        let entries = &self.tuned.comparison.entries;
        let found = || entries.iter().flat_map(|entry| &entry.found);
        let rows = found().map(|found| StrategyRow {
            strategy: found.strategy.to_string(),
            evaluations: found.evaluations as u64,
            wall_s: None,
            cores_used: found.assignment.cores_used(),
            score: values(&found.score),
            chosen: found.assignment == *self.winner,
        });
        let convergence = found().map(|found| Convergence {
            strategy: found.strategy.to_string(),
            points: points(found),
        });
        let chains = self.target.chains();
        let predictions = self.confirmed.iter().flat_map(|(name, candidate)| {
            chains.iter().enumerate().map(move |(n, chain)| prediction(name, n, chain, candidate))
        });
        Ok(OptimizationData {
            graph: Some(self.graph()?),
            terms: self.objective.terms().iter().map(|term| term_of(*term)).collect(),
            convergence: convergence.collect(),
            strategies: rows.collect(),
            predictions: predictions.collect(),
            bounds: Vec::new(),
        })
    }

    fn graph(&self) -> Result<crate::report::GraphData, BoxError> {
        let graph = Graph::new();
        let handles = self.target.build(&graph, false)?;
        let info = graph.info();
        drop(handles);
        let count = self.winner.core_count();
        let mapping = self.winner.to_mapping(&(0..count).collect::<Vec<_>>());
        let steps: Vec<String> = self.target.chains().into_iter().flat_map(|c| c.path).collect();
        let is_hot = |of: &LoopInfo| {
            let name = of.full_name();
            steps.iter().any(|step| step.split('|').any(|step| step.trim() == name))
        };
        let mut shown = graph_of(&info, Some(&mapping), &self.profile.durations, 0.0, is_hot)?;
        for event_loop in &mut shown.loops {
            let mut loads = self.tuned.loads.loops.iter();
            event_loop.utilization =
                loads.find(|load| load.name == event_loop.name).map(|load| load.utilization);
        }
        shown.title = "The mapping that was chosen, and how busy each event loop keeps its core, \
                       by the times of the profile."
            .into();
        Ok(shown)
    }
}

/// The best score after each improvement, and at the end.
fn points(found: &ringspin_optimizer::Found) -> Vec<(u64, Vec<f64>)> {
    let improvements = found.convergence.iter();
    let mut points: Vec<_> =
        improvements.map(|at| (at.evaluations as u64, values(&at.best))).collect();
    if points.last().is_none_or(|(evaluations, _)| *evaluations < found.evaluations as u64) {
        points.push((found.evaluations as u64, values(&found.score)));
    }
    points
}

/// The terms of a score; what never came to an end is left out of the charts, as it has no number.
fn values(score: &Score) -> Vec<f64> {
    let value = |term: &u64| if *term == u64::MAX { f64::MAX } else { *term as f64 };
    score.terms().iter().map(value).collect()
}

fn term_of(term: Figure) -> Term {
    let unit = match term {
        Figure::P99 | Figure::Mean | Figure::Max => Unit::Nanoseconds,
        Figure::Misses | Figure::Drops | Figure::Cores | Figure::Peak => Unit::Count,
    };
    Term { name: term.name().into(), unit }
}

fn prediction(name: &str, number: usize, chain: &Chain, candidate: &Confirmed) -> Prediction {
    let latency = |of: &ChainLatency| Latency {
        mean_ns: of.mean_ns as f64,
        p99_ns: of.p99_ns as f64,
        max_ns: of.max_ns as f64,
    };
    Prediction {
        chain: format!("{}, {name}", chain.name),
        predicted: latency(&candidate.predicted.chains[number]),
        measured: latency(&candidate.measured.chains[number]),
    }
}
