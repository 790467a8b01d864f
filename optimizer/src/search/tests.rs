//! The search compared with brute force and with its heuristics; stops, failures, invalid input.

pub(crate) mod toy;

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::evaluation::Evaluation;
use crate::objective::Term;
use ringspin_modes::Chain;
use toy::Toy;

/// A graph of about the size and shape of the Autoware reference system.
fn large() -> Toy {
    Toy::random(25, 4.0, 0.75, 1)
}

/// The result for `model` by the default objective.
fn found(model: &dyn Model, options: &SearchOptions) -> Found {
    search(model, &Objective::default(), options, &mut |_| Continue(())).unwrap()
}

/// The number of candidates of a search, and the score of the best one.
fn optimum(model: &dyn Model, objective: &Objective, options: &SearchOptions) -> (usize, Score) {
    let space = space_of(model, options);
    let all = super::space::tests::brute_force(&space);
    let score = |genes| score_of(model, objective, &space.assignment(genes));
    (all.len(), all.iter().map(score).min().unwrap())
}

fn score_of(model: &dyn Model, objective: &Objective, assignment: &Assignment) -> Score {
    objective.score(model, &model.evaluate(assignment).unwrap())
}

/// The best scores of the heuristics: greedy, and taking turns.
fn heuristic_scores(model: &dyn Model, options: &SearchOptions) -> [Score; 2] {
    let (space, objective) = (space_of(model, options), Objective::default());
    let loads = Loads::of(model).unwrap();
    let greedy = heuristics::greedy_candidates(&loads, &space, options.cores);
    let score = |genes| score_of(model, &objective, &space.assignment(&genes));
    let turns = score_of(model, &objective, &round_robin(model.loops(), options.cores));
    [greedy.into_iter().map(score).min().unwrap(), turns]
}

/// On some of the graphs, taking turns is better than all greedy candidates.
#[test]
fn smallest_population_contains_every_heuristic() {
    let mut turns_won = 0;
    for seed in 0..40 {
        let toy = Toy::random(7, 3.0, 0.8, seed);
        let options =
            SearchOptions { seed, population: 2, evaluations: 40, ..SearchOptions::new(5) };
        let [greedy, turns] = heuristic_scores(&toy, &options);
        turns_won += u32::from(turns < greedy);
        assert!(found(&toy, &options).score <= greedy.min(turns), "seed {seed}");
    }
    assert!(turns_won > 0);
}

prop_compose! {
    fn small_graph()(loops in 2_usize..=6, load in 0.2..1.2, seed: u64) -> Toy {
        Toy::random(loops, 2.0, load, seed)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    })]

    #[test]
    fn small_graphs_reach_the_optimum(toy in small_graph(), cores in 1_usize..=3, seed: u64) {
        let options = SearchOptions { seed, ..SearchOptions::new(cores) };
        let (_, optimum) = optimum(&toy, &Objective::default(), &options);
        let found = found(&toy, &options);
        prop_assert_eq!(&found.score, &optimum);
        let score = score_of(&toy, &Objective::default(), &found.assignment);
        prop_assert_eq!(&found.score, &score);
    }

    #[test]
    fn search_is_never_worse_than_the_heuristics(
        toy in small_graph(),
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
        let genetic = found(&toy, &options);
        for heuristic in heuristic_scores(&toy, &options) {
            prop_assert!(genetic.score <= heuristic);
        }
        prop_assert_eq!(genetic.assignment.clone().canonical(), genetic.assignment);
    }

    #[test]
    fn search_stays_within_its_budget(
        toy in small_graph(),
        evaluations in 1_usize..50,
        threads in 1_usize..4,
    ) {
        let options = SearchOptions { evaluations, threads, ..SearchOptions::new(3) };
        let found = found(&toy, &options);
        prop_assert!((1..=evaluations).contains(&found.evaluations));
        let last = found.convergence.last().unwrap();
        prop_assert_eq!(&last.best, &found.score);
        prop_assert!(found.convergence.is_sorted_by(|a, b| a.best > b.best));
        prop_assert!(found.convergence.is_sorted_by_key(|it| it.evaluations));
        prop_assert!(last.evaluations <= found.evaluations);
    }
}

#[test]
fn the_same_seed_finds_the_same_with_any_number_of_threads() {
    let toy = Toy::random(14, 3.0, 0.5, 1);
    let found = [1, 2, 1, 5].map(|threads| {
        let options = SearchOptions { seed: 7, threads, evaluations: 300, ..SearchOptions::new(3) };
        found(&toy, &options)
    });
    // Compares assignment, score, evaluations and the whole convergence.
    assert!(found.iter().all(|other| *other == found[0]));
    assert_eq!(found[0].evaluations, 300);
}

#[test]
fn different_seeds_take_different_paths() {
    let convergence = |seed| {
        let options = SearchOptions { seed, evaluations: 300, ..SearchOptions::new(4) };
        found(&large(), &options).convergence
    };
    assert_ne!(convergence(1), convergence(2));
}

#[test]
fn nine_loops_on_three_cores_reach_the_optimum_for_every_seed() {
    reach_the_optimum_on_three_cores(9, 3281, 700);
}

#[test]
#[ignore = "slow: three times as many placements"]
fn slow_ten_loops_on_three_cores_reach_the_optimum_for_every_seed() {
    reach_the_optimum_on_three_cores(10, 9842, 2000);
}

fn reach_the_optimum_on_three_cores(loops: usize, candidates: usize, evaluations: usize) {
    let toy = Toy::random(loops, 3.0, 0.6, 0);
    let mut options = SearchOptions { threads: 2, evaluations, ..SearchOptions::new(3) };
    let (count, optimum) = optimum(&toy, &Objective::default(), &options);
    assert_eq!(count, candidates);
    for seed in 0..8 {
        options.seed = seed;
        assert_eq!(found(&toy, &options).score, optimum, "seed {seed}");
    }
}

#[test]
fn search_of_a_large_graph_betters_its_heuristics_for_every_seed() {
    let toy = large();
    let mut options = SearchOptions { threads: 2, evaluations: 1000, ..SearchOptions::new(4) };
    let least = heuristic_scores(&toy, &options).into_iter().min().unwrap();
    for seed in 0..3 {
        options.seed = seed;
        assert!(found(&toy, &options).score < least, "seed {seed}");
    }
}

#[test]
fn priorities_are_searched_when_there_are_levels() {
    // On one core there is nothing to place, but the chain can get a higher priority.
    let toy = Toy::random(6, 1.0, 0.6, 5);
    let objective = Objective::new([Term::Mean]).unwrap();
    let best = |priority_levels| {
        let options = SearchOptions { priority_levels, ..SearchOptions::new(1) };
        let genetic = search(&toy, &objective, &options, &mut |_| Continue(())).unwrap();
        let (_, optimum) = optimum(&toy, &objective, &options);
        assert_eq!(genetic.score, optimum, "{priority_levels} levels");
        genetic
    };
    let (without, with) = (best(1), best(2));
    assert!(with.score < without.score);
    assert_eq!((without.evaluations, without.assignment.priorities()), (1, &[0; 6][..]));
    assert!(with.assignment.priorities().contains(&1));
}

#[test]
fn a_stop_keeps_the_best_so_far() {
    let mut told = None;
    let (objective, options) = (Objective::default(), SearchOptions::new(4));
    let found = search(&large(), &objective, &options, &mut |progress| {
        assert_eq!(progress.budget, 5000);
        told = Some((progress.evaluations, progress.best.clone()));
        if progress.evaluations >= 200 { Break(()) } else { Continue(()) }
    });
    let found = found.unwrap();
    assert!(found.stopped && (200..400).contains(&found.evaluations));
    assert_eq!(told, Some((found.evaluations, found.score)));
}

/// A model that fails or counts, and records its calls.
struct Probe {
    loops: Vec<String>,
    fails_at: usize,
    asked: Mutex<Vec<Vec<usize>>>,
}

impl Model for Probe {
    fn loops(&self) -> &[String] {
        &self.loops
    }

    fn chains(&self) -> &[Chain] {
        &[]
    }

    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(assignment.cores().to_vec());
        if asked.len() >= self.fails_at {
            let text = format!("candidate {} is impossible", asked.len());
            return Err(Error::new(ErrorKind::NoProgress, text));
        }
        let sum = assignment.cores().iter().enumerate().map(|(i, core)| (i * core) as u64);
        Ok(Evaluation { drops: sum.sum(), ..Evaluation::default() })
    }

    fn utilizations(&self) -> Result<Vec<f64>> {
        Ok(vec![0.1; self.loops.len()])
    }
}

fn probe(fails_at: usize) -> Probe {
    Probe { loops: large().names, fails_at, asked: Mutex::default() }
}

#[test]
fn a_failing_model_ends_the_search_with_its_error() {
    for threads in [1, 2] {
        let probe = probe(100);
        let options = SearchOptions { threads, ..SearchOptions::new(4) };
        let result = search(&probe, &Objective::default(), &options, &mut |_| Continue(()));
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoProgress);
        let text = error.to_string();
        assert!(text.starts_with("failed to evaluate a candidate: candidate 1"), "{text}");
        assert!(probe.asked.lock().unwrap().len() < 200);
    }
}

#[test]
fn no_candidate_is_evaluated_twice() {
    let probe = probe(usize::MAX);
    let options = SearchOptions { evaluations: 800, threads: 2, ..SearchOptions::new(3) };
    found(&probe, &options);
    let mut asked = probe.asked.into_inner().unwrap();
    let count = asked.len();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), count);
    let canonical = |cores: &Vec<usize>| {
        Assignment::new(probe.loops.clone(), cores.clone(), 3).canonical().cores() == cores
    };
    assert!(asked.iter().all(canonical));
}

#[test]
fn one_core_or_one_loop_leaves_no_choice() {
    let only = found(&large(), &SearchOptions::new(1));
    assert_eq!((only.assignment.cores(), only.evaluations), (&[0; 25][..], 1));
    let one = Probe { loops: vec!["/only".into()], ..probe(usize::MAX) };
    let only = found(&one, &SearchOptions::new(1000));
    assert_eq!((only.assignment.cores(), only.assignment.core_count()), (&[0][..], 1000));
}

#[test]
fn invalid_input_is_refused() {
    let refused = |probe: &Probe, change: fn(&mut SearchOptions)| {
        let mut options = SearchOptions::new(2);
        change(&mut options);
        let found = search(probe, &Objective::default(), &options, &mut |_| Continue(()));
        let error = found.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    };
    type Change = fn(&mut SearchOptions);
    let changes: [(Change, &str); 7] = [
        (|it| it.cores = 0, "there are 0 cores"),
        (|it| it.evaluations = 0, "the budget is 0 evaluations"),
        (|it| it.threads = 0, "there are 0 threads"),
        (|it| it.priority_levels = 0, "there are 0 priority levels"),
        (|it| it.thread_levels = 0, "there are 0 thread levels"),
        (|it| it.thread_levels = 101, "there are 101 thread levels"),
        (|it| it.population = 1, "the population is 1"),
    ];
    for (change, expected) in changes {
        let text = refused(&probe(usize::MAX), change);
        assert!(text.starts_with(expected), "{text}");
    }
    let nothing = Probe { loops: Vec::new(), ..probe(usize::MAX) };
    assert!(refused(&nothing, |_| ()).starts_with("the graph has no event loops"));
}
