//! Conversion of a search and its confirmation to the optimization section of a report.

use std::cmp::Ordering;
use std::time::Duration;

use ringspin_optimizer::{
    Assignment, Chain, ChainLatency, Confirmed, Entry, Found, Model, Objective, PhaseAdvice, Score,
    Term as ScoreTerm, TermUnit, TradeOff, Twin,
};

use ringspin_report::{
    Bound, Candidate, Convergence, Definition, GraphData, GraphEdge, GraphLoop, Latency,
    OptimizationData, PhaseRow, Prediction, StrategyRow, Term, TradeOffs, Unit,
};

use super::{LatencyEstimate, Tuned};

/// Converts a search for `objective`. `chosen` is the mapping of the section, whose cores have the
/// numbers `core_ids`. Adds estimates, advice on phases, and the named candidates that were
/// measured.
#[must_use]
pub fn optimization_of(
    tuned: &Tuned,
    objective: &Objective,
    chains: &[Chain],
    estimates: &[LatencyEstimate],
    phases: &[PhaseRow],
    confirmed: &[(String, Confirmed)],
    (chosen, core_ids): (&Assignment, &[usize]),
) -> OptimizationData {
    let best = |entry: &Entry| {
        let found = entry.found.iter().min_by(|a, b| a.score.cmp(&b.score)).cloned();
        found.map(|found| (found, entry.wall))
    };
    let found: Vec<_> = tuned.comparison.entries.iter().filter_map(best).collect();
    OptimizationData {
        graph: Some(graph(tuned, chains, chosen, core_ids)),
        terms: objective.terms().iter().map(|term| term_of(*term)).collect(),
        convergence: found.iter().map(|(found, _)| convergence(found)).collect(),
        strategies: found.iter().map(|(found, wall)| row(found, *wall, chosen)).collect(),
        trade_offs: trade_offs_of(tuned, chosen),
        phases: phases.to_vec(),
        predictions: predictions(chains, confirmed),
        bounds: bounds(chains, estimates),
    }
}

fn term_of(term: ScoreTerm) -> Term {
    let unit = match term.unit() {
        TermUnit::Nanoseconds => Unit::Nanoseconds,
        TermUnit::Count => Unit::Count,
        TermUnit::Millionths => Unit::Millionths,
    };
    let name = match term {
        ScoreTerm::Mean | ScoreTerm::P99 | ScoreTerm::Max => {
            format!("{} from release to end", term.name())
        }
        ScoreTerm::StartMean | ScoreTerm::StartP99 | ScoreTerm::StartMax => {
            format!("{} from sample to start", term.name().trim_start_matches("start-"))
        }
        _ => term.name().to_owned(),
    };
    Term { name, unit }
}

/// The largest number of candidates outside of the front in a report.
const OTHERS_MAX: usize = 1_500;

/// The Pareto front of a search, and the other candidates that keep the promises of the graph as
/// well, or an even selection of them. `chosen` is the chosen mapping.
#[must_use]
pub fn trade_offs_of(tuned: &Tuned, chosen: &Assignment) -> TradeOffs {
    let candidate = |of: &TradeOff, chosen| Candidate {
        release_to_end: latency(&of.release_to_end),
        sample_to_start: latency(&of.sample_to_start),
        jitter_ns: of.jitter_ns as f64,
        cores: of.cores as usize,
        chosen,
    };
    let chosen = chosen.clone().canonical();
    let front = tuned.front.iter().map(|(of, assignment)| candidate(of, *assignment == chosen));
    let Some((best, _)) = tuned.front.iter().next() else { return TradeOffs::default() };
    let others = tuned.trade_offs.iter().filter(|of| {
        let promises = (of.misses, of.drops) == (best.misses, best.drops);
        let is_known = of.release_to_end.p99_ns != u64::MAX;
        promises && is_known && tuned.front.iter().all(|(front, _)| front != *of)
    });
    let mut others: Vec<Candidate> = others.map(|of| candidate(of, false)).collect();
    let figures = |of: &Candidate| [of.release_to_end.mean_ns, of.release_to_end.p99_ns];
    others.sort_by(|a, b| figures(a).partial_cmp(&figures(b)).unwrap_or(Ordering::Equal));
    let every = others.len().div_ceil(OTHERS_MAX).max(1);
    TradeOffs { front: front.collect(), others: others.into_iter().step_by(every).collect() }
}

/// The rows of advice on the phases of `twin`'s timers: for each chain, both definitions.
#[must_use]
pub fn phases_of(twin: &Twin<'_>, advice: &[PhaseAdvice]) -> Vec<PhaseRow> {
    let of_advice = |one: &PhaseAdvice| {
        let both = one.before.chains.iter().zip(&one.after.chains).zip(twin.chains());
        let of_chain = |((before, after), chain): ((&ChainLatency, &ChainLatency), &Chain)| {
            let row = |definition: Definition, before, after| PhaseRow {
                timer: twin.timers()[one.timer].name.clone(),
                shift_ns: one.shift.as_nanos() as f64,
                chain: chain.name.clone(),
                definition: definition.name().into(),
                before: latency(before),
                after: latency(after),
            };
            let [start, end] = Definition::ALL;
            [
                row(end, &before.release_to_end, &after.release_to_end),
                row(start, &before.sample_to_start, &after.sample_to_start),
            ]
        };
        both.flat_map(of_chain).collect::<Vec<_>>()
    };
    advice.iter().flat_map(of_advice).collect()
}

/// The terms of a score. A chain without an end has no latency.
fn terms(score: &Score) -> Vec<Option<f64>> {
    let known = |value: &u64| (*value != u64::MAX).then_some(*value as f64);
    score.terms().iter().map(known).collect()
}

fn convergence(found: &Found) -> Convergence {
    let points = found.convergence.iter();
    let points = points.map(|at| (at.evaluations as u64, terms(&at.best)));
    // The search continued after its last improvement.
    let end = (found.evaluations as u64, terms(&found.score));
    let points = points.chain([end]).collect();
    Convergence { strategy: found.strategy.to_string(), points }
}

fn row(found: &Found, wall: Duration, chosen: &Assignment) -> StrategyRow {
    StrategyRow {
        strategy: found.strategy.to_string(),
        evaluations: found.evaluations as u64,
        wall_s: Some(wall.as_secs_f64()),
        cores_used: found.assignment.cores_used(),
        score: terms(&found.score),
        chosen: found.assignment == *chosen,
    }
}

fn predictions(chains: &[Chain], confirmed: &[(String, Confirmed)]) -> Vec<Prediction> {
    let of_candidate = |(name, candidate): &(String, Confirmed)| {
        let both = candidate.predicted.chains.iter().zip(&candidate.measured.chains);
        let pairs = chains.iter().zip(both).filter(|(_, (_, measured))| measured.samples > 0);
        let of_chain =
            |(chain, (predicted, measured)): (&Chain, (&ChainLatency, &ChainLatency))| {
                let prediction = |definition: &str, predicted, measured| Prediction {
                    chain: format!("{name}: {}, {definition}", chain.name),
                    predicted: latency(predicted),
                    measured: latency(measured),
                };
                [
                    prediction(
                        "release to end",
                        &predicted.release_to_end,
                        &measured.release_to_end,
                    ),
                    prediction(
                        "sample to start",
                        &predicted.sample_to_start,
                        &measured.sample_to_start,
                    ),
                ]
            };
        pairs.flat_map(of_chain).collect::<Vec<_>>()
    };
    confirmed.iter().flat_map(of_candidate).collect()
}

/// The name and the assumptions of the analysis.
const ANALYSIS: &str = "By the response-time analysis of D. Casini et al. (ECRTS 2019), if no \
    callback and no message takes longer than the longest one that was measured, and the operating \
    system takes no time from the cores.";

fn bounds(chains: &[Chain], estimates: &[LatencyEstimate]) -> Vec<Bound> {
    let of_estimate = |estimate: &LatencyEstimate| {
        let simulated = estimate.evaluation.chains.iter().zip(&estimate.bounds);
        let of_chain =
            |(chain, (simulated, bound)): (&Chain, (&ChainLatency, &Result<_, _>))| Bound {
                mapping: estimate.name.clone(),
                chain: chain.name.clone(),
                simulated_ns: (simulated.samples > 0)
                    .then_some(simulated.release_to_end.max_ns as f64),
                bound_ns: bound.as_ref().ok().map(|bound: &Duration| bound.as_nanos() as f64),
                reason: match bound {
                    Ok(_) => ANALYSIS.into(),
                    Err(reason) => format!("No worst case, {}: {reason}.", estimate.name),
                },
            };
        chains.iter().zip(simulated).map(of_chain).collect::<Vec<_>>()
    };
    estimates.iter().flat_map(of_estimate).collect()
}

fn latency(of: &ringspin_optimizer::Latency) -> Latency {
    let [mean_ns, p99_ns, max_ns] = [of.mean_ns, of.p99_ns, of.max_ns].map(|ns| ns as f64);
    Latency { mean_ns, p99_ns, max_ns }
}

/// The graph of the loads, with the loops and edges of the chains as its hot paths.
fn graph(tuned: &Tuned, chains: &[Chain], chosen: &Assignment, core_ids: &[usize]) -> GraphData {
    // A step of a chain may name several parallel loops.
    let steps = |chain: &Chain| -> Vec<Vec<String>> {
        let names = |step: &String| step.split('|').map(|name| name.trim().to_owned()).collect();
        chain.path.iter().map(names).collect()
    };
    let steps: Vec<Vec<Vec<String>>> = chains.iter().map(steps).collect();
    let is_hot = |name: &String| steps.iter().flatten().any(|step| step.contains(name));
    let joins = |from: &String, to: &String| {
        let mut pairs = steps.iter().flat_map(|chain| chain.windows(2));
        pairs.any(|pair| pair[0].contains(from) && pair[1].contains(to))
    };
    let loops = &tuned.loads.loops;
    let shown = |(n, load): (usize, &ringspin_optimizer::LoopLoad)| GraphLoop {
        name: load.name.clone(),
        core: chosen.core_of(&load.name).and_then(|core| core_ids.get(core).copied()),
        priority: chosen.priorities().get(n).copied().unwrap_or(0),
        utilization: Some(load.utilization),
        hot: is_hot(&load.name),
    };
    let index_of = |name: &str| loops.iter().position(|load| load.name == name);
    let edge = |edge: &ringspin_optimizer::Edge| {
        Some(GraphEdge {
            from: index_of(&edge.from)?,
            to: index_of(&edge.to)?,
            topic: format!("{:.1} messages/s", edge.messages_per_second),
            hot: joins(&edge.from, &edge.to),
        })
    };
    GraphData {
        title: "The chosen mapping, and the utilization of each event loop.".into(),
        loops: loops.iter().enumerate().map(shown).collect(),
        edges: tuned.loads.edges.iter().filter_map(edge).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_optimizer::bounds::NoBound;
    use ringspin_optimizer::{
        Comparison, Edge, Evaluation, Loads, LoopLoad, ParetoFront, Score, Strategy,
    };

    fn tuned() -> Tuned {
        let names: Vec<String> = ["/a", "/b", "/c"].map(str::to_owned).into();
        let assignment = Assignment::new(names.clone(), vec![0, 1, 1], 2);
        let load = |name: &String| LoopLoad { name: name.clone(), utilization: 0.25 };
        let edge = |from: &str, to: &str| Edge {
            from: from.into(),
            to: to.into(),
            messages_per_second: 10.0,
        };
        let at = |evaluations, terms: [u64; 2]| ringspin_optimizer::Convergence {
            evaluations,
            best: Score::new(terms),
        };
        let found = Found {
            strategy: Strategy::Genetic,
            seed: 0,
            assignment: assignment.clone(),
            score: Score::new([0, 5_000_000]),
            evaluations: 77,
            convergence: vec![at(1, [3, u64::MAX]), at(9, [0, 5_000_000])],
            stopped: false,
        };
        let worse = Found { score: Score::new([1, 1]), ..found.clone() };
        let (strategy, wall) = (Strategy::Genetic, Duration::from_millis(1500));
        let entry = |found| Entry { strategy, found, refused: None, wall };
        Tuned {
            comparison: Comparison { entries: vec![entry(vec![worse, found]), entry(vec![])] },
            default: assignment,
            loads: Loads {
                loops: names.iter().map(load).collect(),
                edges: vec![edge("/a", "/c"), edge("/b", "/c"), edge("/a", "/b")],
                ..Loads::default()
            },
            candidates: None,
            front: ParetoFront::default(),
            trade_offs: Vec::new(),
        }
    }

    #[test]
    fn trade_offs_leave_out_what_breaks_promises_and_mark_the_chosen() {
        let of = |misses, mean_ns, jitter_ns| TradeOff {
            misses,
            release_to_end: ringspin_optimizer::Latency { mean_ns, ..Default::default() },
            jitter_ns,
            cores: 2,
            ..TradeOff::default()
        };
        let mut tuned = tuned();
        tuned.trade_offs = vec![of(0, 900, 100), of(0, 500, 700), of(3, 100, 0), of(0, 950, 800)];
        let other = Assignment::new(tuned.default.loops().to_vec(), vec![0; 3], 2);
        tuned.front.insert(tuned.trade_offs[0], tuned.default.clone());
        tuned.front.insert(tuned.trade_offs[1], other);
        let shown = trade_offs_of(&tuned, &tuned.default);
        let figures = |of: &Candidate| (of.release_to_end.mean_ns, of.jitter_ns, of.chosen);
        let front: Vec<_> = shown.front.iter().map(figures).collect();
        assert_eq!(front, [(500.0, 700.0, false), (900.0, 100.0, true)]);
        let others: Vec<_> = shown.others.iter().map(figures).collect();
        assert_eq!(others, [(950.0, 800.0, false)]);
    }

    #[test]
    fn a_search_is_converted_with_cores_chains_and_convergence() {
        let tuned = tuned();
        let objective: Objective = "misses, mean".parse().unwrap();
        let chains = [Chain::new("joined", ["/a | /b", "/c"])];
        let chain = |ns| ChainLatency::of(vec![ns; 10], vec![ns / 2; 10], None, 0);
        let evaluation =
            |ns| Evaluation { chains: vec![chain(ns)], cores_used: 2, ..Evaluation::default() };
        let confirmed = Confirmed {
            assignment: tuned.default.clone(),
            predicted: evaluation(100),
            measured: evaluation(80),
            score: Score::new([0, 80]),
            turns: 3,
        };
        let confirmed = [("default".to_owned(), confirmed)];
        let estimate = |name: &str, bound| LatencyEstimate {
            name: name.into(),
            evaluation: evaluation(100),
            bounds: vec![bound],
        };
        let no_bound = NoBound::Overloaded { core: 1, percent: 120 };
        let estimates =
            [estimate("tuned", Ok(Duration::from_nanos(130))), estimate("default", Err(no_bound))];
        let chosen = (&tuned.default, &[4, 7][..]);
        let data =
            optimization_of(&tuned, &objective, &chains, &estimates, &[], &confirmed, chosen);

        let graph = data.graph.as_ref().unwrap();
        let cores: Vec<_> = graph.loops.iter().map(|of| of.core).collect();
        assert_eq!(cores, [Some(4), Some(7), Some(7)]);
        assert!(graph.loops.iter().all(|of| of.hot && of.utilization == Some(0.25)));
        // The two branches are parallel, not sequential.
        let hot: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to, edge.hot)).collect();
        assert_eq!(hot, [(0, 2, true), (1, 2, true), (0, 1, false)]);
        assert_eq!(
            data.terms[1],
            Term { name: "mean from release to end".into(), unit: Unit::Nanoseconds }
        );
        // Of several seeds the best; a chain without an end has no latency.
        let end = vec![Some(0.0), Some(5e6)];
        let points = [(1, vec![Some(3.0), None]), (9, end.clone()), (77, end)];
        assert_eq!((data.convergence.len(), &data.convergence[0].points[..]), (1, &points[..]));
        assert!(data.strategies[0].chosen && data.strategies[0].evaluations == 77);
        assert_eq!(data.strategies[0].wall_s, Some(1.5));
        let [tuned, default] = &data.bounds[..] else { panic!("one bound each") };
        assert_eq!((tuned.simulated_ns, tuned.bound_ns), (Some(100.0), Some(130.0)));
        assert!(default.bound_ns.is_none() && default.reason.contains("worst-case load"));
        assert_eq!(data.predictions[0].chain, "default: joined, release to end");
        assert_eq!(data.predictions[0].errors_percent()[0], Some(25.0));
        assert_eq!(data.predictions[1].measured.mean_ns, 40.0, "sample to start");
        let read = serde_json::from_str::<OptimizationData>(&serde_json::to_string(&data).unwrap());
        assert_eq!(read.unwrap(), data);
    }
}
