//! A search and its confirmation as data of a page.
//!
//! The keys are those that `report/page/page.js` and readers of `optimize --json` expect, so they
//! stay when the types of the optimizer change.

use ringspin_optimizer::{
    Assignment, Chain, ChainLatency, Confirmed, Latency, Model, Objective, PhaseAdvice, Score,
    Term, TermUnit, Twin,
};
use ringspin_report::Definition;
use serde::Serialize;
use serde_json::{Value, json};

use super::Tuned;

/// The name of the search.
const STRATEGY: &str = "genetic";

/// The figures of a latency, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// The mean.
    pub mean_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The maximum.
    pub max_ns: u64,
}

impl From<&Latency> for Figures {
    fn from(&Latency { mean_ns, p99_ns, max_ns, .. }: &Latency) -> Self {
        Self { mean_ns, p99_ns, max_ns }
    }
}

/// A timer that had better start later, and the latency of a chain by one definition.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseRow {
    /// The timer.
    pub timer: String,
    /// The advised delay, in nanoseconds.
    pub shift_ns: u64,
    /// The chain.
    pub chain: String,
    /// The definition of the latency.
    pub definition: &'static str,
    /// The simulated latency with timers in phase.
    pub before: Figures,
    /// The simulated latency with the delay.
    pub after: Figures,
}

/// The definitions of a chain's latency, by name.
pub(crate) fn definitions(of: &ChainLatency) -> [(&'static str, &Latency); 2] {
    let [start, end] = Definition::ALL.map(Definition::name);
    [(end, &of.release_to_end), (start, &of.sample_to_start)]
}

/// The data of a search for `objective`, with advice on phases and the named candidates that were
/// measured. `chosen` is the chosen mapping.
#[must_use]
pub fn optimization_of(
    tuned: &Tuned,
    objective: &Objective,
    chains: &[Chain],
    phases: &[PhaseRow],
    confirmed: &[(String, Confirmed)],
    chosen: &Assignment,
) -> Value {
    let found = &tuned.found;
    let points = found.convergence.iter().map(|at| (at.evaluations, terms(&at.best)));
    // The search continued after its last improvement.
    let points = points.chain([(found.evaluations, terms(&found.score))]).collect::<Vec<_>>();
    json!({
        "terms": objective.terms().iter().map(|term| term_of(*term)).collect::<Vec<_>>(),
        "convergence": [{ "strategy": STRATEGY, "points": points }],
        "strategies": [{
            "strategy": STRATEGY,
            "evaluations": found.evaluations,
            "wall_s": tuned.wall.as_secs_f64(),
            "cores_used": found.assignment.cores_used(),
            "score": terms(&found.score),
            "chosen": found.assignment == *chosen,
        }],
        "phases": phases,
        "predictions": predictions(chains, confirmed),
    })
}

fn term_of(term: Term) -> Value {
    let unit = match term.unit() {
        TermUnit::Nanoseconds => "nanoseconds",
        TermUnit::Count => "count",
        TermUnit::Millionths => "millionths",
    };
    let name = term.name();
    let name = match term {
        Term::Mean | Term::P99 | Term::Max => format!("{name} from release to end"),
        Term::StartMean | Term::StartP99 | Term::StartMax => {
            format!("{} from sample to start", name.trim_start_matches("start-"))
        }
        _ => name.to_owned(),
    };
    json!({ "name": name, "unit": unit })
}

/// The terms of a score. A chain without an end has no latency.
fn terms(score: &Score) -> Vec<Option<u64>> {
    score.terms().iter().map(|value| (*value != u64::MAX).then_some(*value)).collect()
}

/// The rows of advice on the phases of `twin`'s timers: for each chain, both definitions.
#[must_use]
pub fn phases_of(twin: &Twin<'_>, advice: &[PhaseAdvice]) -> Vec<PhaseRow> {
    let mut rows = Vec::new();
    for one in advice {
        let both = one.before.chains.iter().zip(&one.after.chains);
        for (chain, (before, after)) in twin.chains().iter().zip(both) {
            let both = definitions(before).into_iter().zip(definitions(after));
            rows.extend(both.map(|((definition, before), (_, after))| PhaseRow {
                timer: twin.timers()[one.timer].name.clone(),
                shift_ns: one.shift.as_nanos() as u64,
                chain: chain.name.clone(),
                definition,
                before: before.into(),
                after: after.into(),
            }));
        }
    }
    rows
}

fn predictions(chains: &[Chain], confirmed: &[(String, Confirmed)]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (name, candidate) in confirmed {
        let both = candidate.predicted.chains.iter().zip(&candidate.measured.chains);
        for (chain, (predicted, measured)) in chains.iter().zip(both) {
            if measured.samples == 0 {
                continue;
            }
            let both = definitions(predicted).into_iter().zip(definitions(measured));
            rows.extend(both.map(|((definition, predicted), (_, measured))| {
                json!({
                    "chain": format!("{name}: {}, {definition}", chain.name),
                    "predicted": Figures::from(predicted),
                    "measured": Figures::from(measured),
                })
            }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_optimizer::{Evaluation, Found, Score};
    use std::time::Duration;

    fn tuned() -> Tuned {
        let names: Vec<String> = ["/a", "/b", "/c"].map(str::to_owned).into();
        let assignment = Assignment::new(names.clone(), vec![0, 1, 1], 2);
        let at = |evaluations, terms: [u64; 2]| ringspin_optimizer::Convergence {
            evaluations,
            best: Score::new(terms),
        };
        let found = Found {
            assignment: assignment.clone(),
            score: Score::new([0, 5_000_000]),
            evaluations: 77,
            convergence: vec![at(1, [3, u64::MAX]), at(9, [0, 5_000_000])],
            stopped: false,
        };
        Tuned { found, wall: Duration::from_millis(1500), round_robin: assignment }
    }

    #[test]
    fn a_search_is_converted_with_chains_and_convergence() {
        let tuned = tuned();
        let objective: Objective = "misses, mean".parse().unwrap();
        let chains = [Chain::new("joined", ["/a | /b", "/c"])];
        let chain = |ns| ChainLatency::of(vec![ns; 10], vec![ns / 2; 10], None, 0);
        let evaluation =
            |ns| Evaluation { chains: vec![chain(ns)], cores_used: 2, ..Evaluation::default() };
        let confirmed = Confirmed {
            assignment: tuned.round_robin.clone(),
            predicted: evaluation(100),
            measured: evaluation(80),
            score: Score::new([0, 80]),
            turns: 3,
        };
        let confirmed = [("round-robin".to_owned(), confirmed)];
        let chosen = &tuned.round_robin;
        let data = optimization_of(&tuned, &objective, &chains, &[], &confirmed, chosen);

        let term = json!({ "name": "mean from release to end", "unit": "nanoseconds" });
        assert_eq!(data["terms"][1], term);
        // A chain without an end has no latency.
        let points = json!([[1, [3, null]], [9, [0, 5_000_000]], [77, [0, 5_000_000]]]);
        assert_eq!(data["convergence"], json!([{ "strategy": "genetic", "points": points }]));
        let strategy = &data["strategies"][0];
        assert_eq!((&strategy["chosen"], &strategy["evaluations"]), (&json!(true), &json!(77)));
        assert_eq!(strategy["wall_s"], 1.5);
        let [end, start] = [0, 1].map(|n| &data["predictions"][n]);
        assert_eq!(end["chain"], "round-robin: joined, release to end");
        assert_eq!(
            (&end["predicted"]["mean_ns"], &end["measured"]["mean_ns"]),
            (&json!(100), &json!(80))
        );
        assert_eq!(start["measured"]["mean_ns"], 40, "sample to start");
    }
}
