//! Strategies compared with brute force and with each other; stops, failures and invalid input.

pub(crate) mod toy;

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
// Hides the trait of proptest.
use super::Strategy;
use crate::cost_model::Judge;
use crate::load_model::tests::loads_of;
use crate::objective::{Objective, Term};
use toy::Toy;

/// Loads of about the size and shape of the Autoware reference system.
fn large() -> Loads {
    let loads: Vec<f64> = (0..25).map(|i| 0.01 + 0.2 * f64::from(i * 7 % 25) / 25.0).collect();
    let edges: Vec<_> = (1..25).map(|i| (i * 5 % i, i, 10.0 + i as f64)).collect();
    loads_of(&loads, &edges, &[&[0, 2, 3, 7, 11, 13], &[1, 2, 4, 8]])
}

/// The result of `strategy` for `loads`.
fn found(loads: &Loads, strategy: Strategy, options: &SearchOptions) -> Found {
    let model = LoadModel::new(loads).unwrap();
    Search::new(&model, loads, options.clone()).unwrap().run(strategy, &mut |_| ()).unwrap()
}

/// Five cores for six loops: here taking turns is better than all greedy candidates.
#[test]
fn smallest_population_contains_every_heuristic() {
    let loads = [0.077, 0.554, 0.266, 0.44, 0.458, 0.393];
    let loads = loads_of(&loads, &[], &[&[3, 2]]);
    for seed in 0..20 {
        let options =
            SearchOptions { seed, population: 2, evaluations: 40, ..SearchOptions::new(5) };
        let genetic = found(&loads, Strategy::Genetic, &options);
        let turns = found(&loads, Strategy::RoundRobin, &options);
        let greedy = found(&loads, Strategy::Greedy, &options);
        assert!(genetic.score <= turns.score && genetic.score <= greedy.score, "seed {seed}");
    }
}

prop_compose! {
    fn small_graph()(nodes in 1_usize..=6)(
        loads in prop::collection::vec(0.0..0.7, nodes),
        edges in prop::collection::vec((0..nodes, 0..nodes, 0.0..100.0), 0..8),
        chains in prop::collection::vec(prop::collection::vec(0..nodes, 1..4), 0..3),
    ) -> Loads {
        let chains: Vec<&[usize]> = chains.iter().map(Vec::as_slice).collect();
        loads_of(&loads, &edges, &chains)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    })]

    #[test]
    fn small_graphs_reach_the_optimum(loads in small_graph(), cores in 1_usize..=3, seed: u64) {
        let model = LoadModel::new(&loads).unwrap();
        let options = SearchOptions { seed, ..SearchOptions::new(cores) };
        let exact = found(&loads, Strategy::Exact, &options);
        for strategy in [Strategy::Genetic, Strategy::HillClimbing, Strategy::Random] {
            let found = found(&loads, strategy, &options);
            prop_assert_eq!(&found.score, &exact.score, "{}", strategy);
            prop_assert_eq!(&found.score, &model.cost(&found.assignment).to_score());
        }
    }

    #[test]
    fn search_is_never_worse_than_the_heuristics(
        loads in small_graph(),
        cores in 1_usize..=8,
        seed: u64,
        population in 2_usize..6,
        priority_levels in 1_u8..=2,
    ) {
        let options = SearchOptions {
            seed,
            population,
            evaluations: 40,
            priority_levels,
            ..SearchOptions::new(cores)
        };
        let genetic = found(&loads, Strategy::Genetic, &options);
        for strategy in [Strategy::Greedy, Strategy::RoundRobin] {
            let heuristic = found(&loads, strategy, &options);
            prop_assert!(genetic.score <= heuristic.score, "{}", strategy);
        }
        let model = LoadModel::new(&loads).unwrap();
        let score = |assignment: Assignment| model.cost(&assignment).to_score();
        prop_assert!(genetic.score <= score(longest_processing_time(&loads, cores)));
        prop_assert!(genetic.score <= score(round_robin(&loads, cores)));
        prop_assert!(genetic.score <= score(chain_clustering(&loads, cores, 0.8)));
        prop_assert_eq!(genetic.assignment.clone().canonical(), genetic.assignment);
    }

    #[test]
    fn no_strategy_exceeds_its_budget(
        loads in small_graph(),
        evaluations in 1_usize..50,
        threads in 1_usize..4,
    ) {
        let options = SearchOptions { evaluations, threads, ..SearchOptions::new(3) };
        for strategy in Strategy::ALL.into_iter().filter(|it| *it != Strategy::Exact) {
            let found = found(&loads, strategy, &options);
            prop_assert!((1..=evaluations).contains(&found.evaluations), "{}", strategy);
            let last = found.convergence.last().unwrap();
            prop_assert_eq!(&last.best, &found.score);
            prop_assert!(found.convergence.is_sorted_by(|a, b| a.best > b.best));
            prop_assert!(found.convergence.is_sorted_by_key(|it| it.evaluations));
            prop_assert!(last.evaluations <= found.evaluations);
        }
    }
}

#[test]
fn the_same_seed_finds_the_same_with_any_number_of_threads() {
    let toy = Toy::random(14, 3.0, 0.5, 1);
    let (loads, judge) = (toy.loads(), Judge::new(&toy, Objective::default()));
    for strategy in [Strategy::Genetic, Strategy::HillClimbing, Strategy::Random] {
        let found = [1, 2, 1, 5].map(|threads| {
            let options =
                SearchOptions { seed: 7, threads, evaluations: 300, ..SearchOptions::new(3) };
            let mut search = Search::new(&judge, &loads, options).unwrap();
            search.run(strategy, &mut |_| ()).unwrap()
        });
        // Compares assignment, score, evaluations and the whole convergence.
        assert!(found.iter().all(|other| *other == found[0]), "{strategy}");
        assert_eq!(found[0].evaluations, 300);
    }
}

#[test]
fn loads_of_a_model_are_utilizations_without_edges() {
    let toy = Toy::random(8, 2.0, 0.5, 1);
    let measured = Loads::of_model(&toy).unwrap();
    for (measured, computed) in measured.loops.iter().zip(toy.loads().loops) {
        assert_eq!(measured.name, computed.name);
        let difference = measured.utilization - computed.utilization;
        assert!(difference.abs() < 0.15, "{measured:?} {computed:?}");
    }
    assert_eq!(measured.chains, toy.loads().chains);
}

#[test]
fn different_seeds_take_different_paths() {
    let convergence = |seed| {
        let options = SearchOptions { seed, ..SearchOptions::new(4) };
        found(&large(), Strategy::HillClimbing, &options).convergence
    };
    assert_ne!(convergence(1), convergence(2));
}

#[test]
fn nine_loops_on_three_cores_reach_the_optimum_for_every_seed() {
    reach_the_optimum_on_three_cores(9, 3281, 700);
}

#[test]
#[ignore = "slow: three times as many placements; .ci/run runs it"]
fn slow_ten_loops_on_three_cores_reach_the_optimum_for_every_seed() {
    reach_the_optimum_on_three_cores(10, 9842, 2000);
}

fn reach_the_optimum_on_three_cores(loops: usize, candidates: u128, evaluations: usize) {
    let seeds: Vec<u64> = (0..8).collect();
    let toy = Toy::random(loops, 3.0, 0.6, 0);
    let (loads, judge) = (toy.loads(), Judge::new(&toy, Objective::default()));
    let options = SearchOptions { threads: 2, evaluations, ..SearchOptions::new(3) };
    let mut search = Search::new(&judge, &loads, options).unwrap();
    assert_eq!(search.candidates(), Some(candidates));
    let strategies = [Strategy::Exact, Strategy::Genetic];
    let comparison = search.compare(&strategies, &seeds, &mut |_| ()).unwrap();
    let optimum = comparison.entry(Strategy::Exact).unwrap().best().unwrap();
    for found in &comparison.entry(Strategy::Genetic).unwrap().found {
        assert_eq!(&found.score, optimum, "seed {}", found.seed);
    }
    assert_eq!(comparison.optimality_gap(Strategy::Genetic), Some(0.0));
}

#[test]
fn genetic_search_beats_the_baselines_at_equal_evaluations() {
    let seeds: Vec<u64> = (0..3).collect();
    let toy = Toy::random(25, 4.0, 0.75, 1);
    let (loads, judge) = (toy.loads(), Judge::new(&toy, Objective::default()));
    let options = SearchOptions { threads: 2, evaluations: 1000, ..SearchOptions::new(4) };
    let mut search = Search::new(&judge, &loads, options).unwrap();
    let comparison = search.compare(&Strategy::ALL, &seeds, &mut |_| ()).unwrap();
    let median = |strategy| comparison.entry(strategy).unwrap().median().unwrap();
    for baseline in
        [Strategy::Random, Strategy::RoundRobin, Strategy::Greedy, Strategy::HillClimbing]
    {
        assert!(median(Strategy::Genetic) < median(baseline), "\n{comparison}");
    }
    let exact = comparison.entry(Strategy::Exact).unwrap();
    assert!(exact.refused.as_ref().unwrap().contains("more than the 20000"), "\n{comparison}");
    assert_eq!(comparison.best().unwrap().strategy, Strategy::Genetic);
    assert_eq!(comparison.optimality_gap(Strategy::Genetic), None);
    assert!(comparison.to_string().lines().count() == 6);
}

#[test]
fn priorities_are_searched_when_there_are_levels() {
    // On one core there is nothing to place, but the chain can get a higher priority.
    let toy = Toy::random(6, 1.0, 0.6, 5);
    let (loads, judge) = (toy.loads(), Judge::new(&toy, Objective::new([Term::Mean]).unwrap()));
    let best = |priority_levels| {
        let options = SearchOptions { priority_levels, ..SearchOptions::new(1) };
        let mut search = Search::new(&judge, &loads, options).unwrap();
        let exact = search.run(Strategy::Exact, &mut |_| ()).unwrap();
        let genetic = search.run(Strategy::Genetic, &mut |_| ()).unwrap();
        assert_eq!(genetic.score, exact.score, "{priority_levels} levels");
        genetic
    };
    let (without, with) = (best(1), best(2));
    assert!(with.score < without.score);
    assert_eq!((without.evaluations, without.assignment.priorities()), (1, &[0; 6][..]));
    assert!(with.assignment.priorities().contains(&1));
}

#[test]
fn a_stop_keeps_the_best_so_far() {
    let loads = large();
    let model = LoadModel::new(&loads).unwrap();
    for strategy in [Strategy::Genetic, Strategy::Random, Strategy::HillClimbing] {
        let options = SearchOptions::new(4);
        let stop = options.stop.clone();
        let mut search = Search::new(&model, &loads, options).unwrap();
        let mut told = None;
        let found = search
            .run(strategy, &mut |progress| {
                assert_eq!((progress.strategy, progress.budget), (strategy, 5000));
                if progress.evaluations >= 200 {
                    stop.stop();
                }
                told = Some((progress.evaluations, progress.best.clone()));
            })
            .unwrap();
        assert!(found.stopped && (200..400).contains(&found.evaluations), "{strategy}");
        assert_eq!(told, Some((found.evaluations, found.score)));
        let again = search.run(strategy, &mut |_| ());
        assert!(matches!(again, Err(SearchError::Stopped)));
    }
}

/// A model that fails or counts, and records its calls.
struct Probe {
    loops: Vec<String>,
    fails_at: usize,
    asked: Mutex<Vec<Vec<usize>>>,
    stop: Stop,
    stops_at: usize,
}

impl CostModel for Probe {
    fn loops(&self) -> &[String] {
        &self.loops
    }

    fn score(&self, assignment: &Assignment) -> Result<Score, ModelError> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(assignment.cores().to_vec());
        if asked.len() == self.stops_at {
            self.stop.stop();
        }
        if asked.len() >= self.fails_at {
            return Err(format!("candidate {} is impossible", asked.len()).into());
        }
        let sum = assignment.cores().iter().enumerate().map(|(i, core)| (i * core) as u64);
        Ok(Score::new([sum.sum()]))
    }
}

fn probe(fails_at: usize, stops_at: usize) -> (Probe, Loads) {
    let loads = large();
    let (stop, asked) = (Stop::default(), Mutex::default());
    (Probe { loops: loads.names(), fails_at, asked, stop, stops_at }, loads)
}

#[test]
fn a_failing_model_ends_the_search_with_its_error() {
    for (strategy, threads) in [(Strategy::Genetic, 1), (Strategy::HillClimbing, 2)] {
        let (probe, loads) = probe(100, usize::MAX);
        let options = SearchOptions { threads, ..SearchOptions::new(4) };
        let mut search = Search::new(&probe, &loads, options).unwrap();
        let error = search.run(strategy, &mut |_| ()).unwrap_err().to_string();
        assert!(error.starts_with("failed to evaluate a candidate: candidate 1"), "{error}");
        assert!(probe.asked.lock().unwrap().len() < 200);
    }
}

#[test]
fn a_stop_takes_effect_before_the_next_evaluation() {
    let (probe, loads) = probe(usize::MAX, 10);
    let options = SearchOptions { stop: probe.stop.clone(), ..SearchOptions::new(4) };
    let mut search = Search::new(&probe, &loads, options).unwrap();
    let found = search.run(Strategy::Random, &mut |_| ()).unwrap();
    assert_eq!((found.evaluations, probe.asked.lock().unwrap().len()), (10, 10));
    assert!(found.stopped);
}

#[test]
fn no_candidate_is_evaluated_twice() {
    let (probe, loads) = probe(usize::MAX, usize::MAX);
    let options = SearchOptions { evaluations: 800, threads: 2, ..SearchOptions::new(3) };
    let mut search = Search::new(&probe, &loads, options).unwrap();
    search.compare(&Strategy::ALL, &[0, 1], &mut |_| ()).unwrap();
    let mut asked = probe.asked.into_inner().unwrap();
    let count = asked.len();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), count);
    let canonical = |cores: &Vec<usize>| {
        Assignment::new(loads.names(), cores.clone(), 3).canonical().cores() == cores
    };
    assert!(asked.iter().all(canonical));
}

#[test]
fn one_core_or_one_loop_leaves_no_choice() {
    let only = search(&large(), &SearchOptions::new(1)).unwrap();
    assert_eq!((only.assignment.cores(), only.evaluations), (&[0; 25][..], 1));
    let only = search(&loads_of(&[0.5], &[], &[]), &SearchOptions::new(1000)).unwrap();
    assert_eq!((only.assignment.cores(), only.assignment.core_count()), (&[0][..], 1000));
}

#[test]
fn invalid_input_is_refused() {
    let some = loads_of(&[0.5], &[], &[]);
    let refused = |loads: &Loads, change: fn(&mut SearchOptions)| {
        let mut options = SearchOptions::new(2);
        change(&mut options);
        match search(loads, &options) {
            Err(OptimizeError::Setup(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(refused(&some, |it| it.cores = 0), SearchSetupError::NoCores));
    assert!(matches!(refused(&some, |it| it.evaluations = 0), SearchSetupError::NoEvaluations));
    assert!(matches!(refused(&some, |it| it.threads = 0), SearchSetupError::NoThreads));
    assert!(matches!(refused(&some, |it| it.priority_levels = 0), SearchSetupError::NoPriorities));
    let levels_of = |error| matches!(error, SearchSetupError::ThreadLevels { .. });
    assert!(levels_of(refused(&some, |it| it.thread_levels = 0)));
    assert!(levels_of(refused(&some, |it| it.thread_levels = 101)));
    assert!(matches!(
        refused(&some, |it| it.population = 1),
        SearchSetupError::PopulationTooSmall { population: 1 }
    ));
    assert!(matches!(
        refused(&Loads::default(), |_| ()),
        SearchSetupError::Loads(LoadsError::NoLoops)
    ));
    let model = LoadModel::new(&some).unwrap();
    let other = Search::new(&model, &large(), SearchOptions::new(2)).err().unwrap();
    assert!(matches!(other, SearchSetupError::LoopsDiffer { .. }));
}
