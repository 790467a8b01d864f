//! The search for a good assignment: two heuristics, a genetic search seeded with them, and a hill
//! climb that polishes the winner.
//!
//! The genetic search finds the region, but may stop one move short of its optimum; the climb takes
//! that move and proves that no single move or swap is left. Everything random comes from the seed:
//! the same profile, options and crate versions give the same assignment on every 64-bit machine.

use genetic_algorithm::strategy::evolve::prelude::{
    CrossoverUniform, Evolve, Fitness, FitnessChromosome, FitnessOrdering, FitnessValue, Genotype,
    ListGenotype, MutateMultiGeneRange, SelectTournament, Strategy,
};
use thiserror::Error;

use crate::assignment::Assignment;
use crate::load_model::{Cost, CostModel, LoadModel};
use crate::loads::{Loads, LoadsError};

/// How long and from where to search. Every bound is a count, never a time, so that the result does
/// not depend on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// How many cores there are.
    pub cores: usize,
    /// Where all random numbers come from.
    pub seed: u64,
    /// Individuals in the population.
    pub population: usize,
    /// The genetic search stops after this many generations.
    pub generations_max: usize,
    /// It stops earlier after this many generations without progress.
    pub stale_generations_max: usize,
    /// It stops earlier once an assignment costs this or less.
    pub target: Option<Cost>,
}

impl SearchOptions {
    /// Seed 0 and bounds that take tens of milliseconds for 25 nodes and 4 cores (release build).
    pub fn new(cores: usize) -> Self {
        Self {
            cores,
            seed: 0,
            population: 400,
            generations_max: 1000,
            stale_generations_max: 100,
            target: None,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The best assignment, in [canonical](Assignment::canonical) form.
    pub assignment: Assignment,
    /// What it costs.
    pub cost: Cost,
    /// How many assignments were costed to find it.
    pub evaluations: usize,
}

/// Why nothing could be searched.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OptimizeError {
    /// There is no core to put a node on.
    #[error("there are 0 cores; give at least one")]
    NoCores,
    /// There are no individuals to breed from.
    #[error("the population is {population}; give at least 2, 400 is a good start")]
    PopulationTooSmall {
        /// The population that was asked for.
        population: usize,
    },
    /// The profile makes no sense, or has no nodes.
    #[error("the profile cannot be optimized: {0}")]
    Loads(#[from] LoadsError),
    /// The genetic search refused its configuration.
    #[error("the genetic search refused its configuration ({reason}); this is a bug, report it")]
    Genetic {
        /// What the crate `genetic_algorithm` said.
        reason: &'static str,
    },
}

/// Longest processing time first: the nodes by falling utilization, each on the core that is least
/// loaded so far (R. L. Graham, *Bounds on Multiprocessing Timing Anomalies*, 1969). Its busiest
/// core carries at most 4/3 - 1/(3 * cores) of the least possible peak. It sees neither chains nor
/// messages. Ties go to the earlier node and the lower core. O(n log n + n * cores).
///
/// # Panics
/// Panics if `cores` is 0.
pub fn longest_processing_time(profile: &Loads, cores: usize) -> Assignment {
    assert!(cores > 0, "give at least one core");
    let utilization = |node: &usize| profile.loops[*node].utilization;
    let mut order: Vec<usize> = (0..profile.loops.len()).collect();
    order.sort_by(|a, b| utilization(b).total_cmp(&utilization(a)));
    let mut load = vec![0.0_f64; cores];
    let mut assigned = vec![0; order.len()];
    for node in order {
        let least = (0..cores).min_by(|a, b| load[*a].total_cmp(&load[*b])).unwrap_or(0);
        load[least] += utilization(&node);
        assigned[node] = least;
    }
    Assignment::new(profile.names(), assigned, cores)
}

/// One node after the other over the cores, in the order of the profile: what runs when nobody
/// gives a mapping. O(n).
///
/// # Panics
/// Panics if `cores` is 0.
pub fn round_robin(profile: &Loads, cores: usize) -> Assignment {
    assert!(cores > 0, "give at least one core");
    let assigned = (0..profile.loops.len()).map(|node| node % cores).collect();
    Assignment::new(profile.names(), assigned, cores)
}

/// Searches for the cheapest assignment by the [`LoadModel`] of `profile`.
///
/// # Errors
/// As [`search_with`].
pub fn search(profile: &Loads, options: &SearchOptions) -> Result<Found, OptimizeError> {
    search_with(&LoadModel::new(profile)?, profile, options)
}

/// Searches for the cheapest assignment by any model.
///
/// Never worse than [`longest_processing_time`] and [`round_robin`], and reproducible from the
/// options. At most population * (generations_max + 1) evaluations in the genetic search, then at
/// most 64 sweeps of n * (cores + n / 2) for each of three starts.
///
/// # Errors
/// [`OptimizeError::Loads`] for a profile without nodes or one that makes no sense,
/// [`NoCores`](OptimizeError::NoCores) and
/// [`PopulationTooSmall`](OptimizeError::PopulationTooSmall) for such options.
pub fn search_with<M: CostModel + ?Sized>(
    model: &M,
    profile: &Loads,
    options: &SearchOptions,
) -> Result<Found, OptimizeError> {
    profile.validate()?;
    if options.cores == 0 {
        return Err(OptimizeError::NoCores);
    }
    if options.population < 2 {
        return Err(OptimizeError::PopulationTooSmall { population: options.population });
    }
    let heuristics =
        [longest_processing_time(profile, options.cores), round_robin(profile, options.cores)];
    let mut model = Counting { model, evaluations: 0 };
    let bred = breed(&mut model, &heuristics, options)?;
    let [first, second] = heuristics;
    let mut best: Option<(Cost, Assignment)> = None;
    for start in [bred, first, second] {
        let (cost, assignment) = climb(&mut model, start);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, assignment));
        }
    }
    // The loop above always leaves one.
    let (cost, assignment) = best.ok_or(OptimizeError::NoCores)?;
    Ok(Found { assignment: assignment.canonical(), cost, evaluations: model.evaluations })
}

/// A model and how often it was asked.
struct Counting<'a, M: ?Sized> {
    model: &'a M,
    evaluations: usize,
}

impl<M: CostModel + ?Sized> Counting<'_, M> {
    fn cost(&mut self, assignment: &Assignment) -> Cost {
        self.evaluations += 1;
        self.model.cost(assignment)
    }
}

/// The genetic search: uniform crossover, because the order of the nodes in a profile says nothing
/// about which of them belong together; tournaments, because they only compare and so need no scale
/// between the terms of the cost.
fn breed<M: CostModel + ?Sized>(
    model: &mut Counting<'_, M>,
    heuristics: &[Assignment; 2],
    options: &SearchOptions,
) -> Result<Assignment, OptimizeError> {
    let genes_size = heuristics[0].cores().len();
    // A core more than there are nodes can only be another name for an empty one.
    let cores = options.cores.min(genes_size);
    let refused = |reason| OptimizeError::Genetic { reason };
    let genotype = ListGenotype::builder()
        .with_genes_size(genes_size)
        .with_allele_list((0..cores).collect())
        .with_seed_genes_list(first_generation(heuristics, cores, options))
        .build()
        .map_err(|error| refused(error.0))?;
    let target = options.target.map(|cost| fitness(&cost));
    let evolve = Evolve::builder()
        .with_genotype(genotype)
        .with_target_population_size(options.population)
        .with_max_generations(options.generations_max)
        .with_max_stale_generations(options.stale_generations_max)
        .with_target_fitness_score_option(target)
        .with_fitness_ordering(FitnessOrdering::Minimize)
        .with_fitness(Scalar { model: model.model, scratch: heuristics[0].clone(), evaluations: 0 })
        .with_select(SelectTournament::new(0.5, 0.02, 4))
        .with_crossover(CrossoverUniform::new(0.7, 0.8))
        .with_mutate(MutateMultiGeneRange::new(1..=3, 0.3))
        .with_rng_seed_from_u64(options.seed)
        .call()
        .map_err(|error| refused(error.0))?;
    model.evaluations += evolve.fitness.evaluations;
    let mut bred = heuristics[0].clone();
    let genes = evolve.best_genes().ok_or(refused("no individual was costed"))?;
    bred.cores_mut().copy_from_slice(&genes);
    Ok(bred)
}

/// The two heuristics and random individuals for the rest: the crate would fill the population with
/// copies of the seeds, which leaves mutation alone to find anything new.
fn first_generation(
    heuristics: &[Assignment; 2],
    cores: usize,
    options: &SearchOptions,
) -> Vec<Vec<usize>> {
    let mut random = SplitMix64(options.seed);
    let nodes = heuristics[0].cores().len();
    let strangers = std::iter::repeat_with(|| (0..nodes).map(|_| random.below(cores)).collect());
    // Both heuristics use the low cores first, so their genes are below `cores` as well.
    let seeds = heuristics.iter().map(|assignment| assignment.cores().to_vec());
    seeds.chain(strangers).take(options.population).collect()
}

/// Moves one node or swaps two while that makes the assignment cheaper, first improvement first.
///
/// Ends at an assignment that no move or swap improves, or after [`SWEEPS_MAX`] sweeps.
fn climb<M: CostModel + ?Sized>(
    model: &mut Counting<'_, M>,
    mut assignment: Assignment,
) -> (Cost, Assignment) {
    let nodes = assignment.cores().len();
    let cores = assignment.core_count().min(nodes);
    let mut least = model.cost(&assignment);
    for _ in 0..SWEEPS_MAX {
        let before = least;
        for node in 0..nodes {
            for core in 0..cores {
                let old = assignment.cores()[node];
                assignment.cores_mut()[node] = core;
                match model.cost(&assignment) {
                    cost if cost < least => least = cost,
                    _ => assignment.cores_mut()[node] = old,
                }
            }
            for other in node + 1..nodes {
                if assignment.cores()[node] == assignment.cores()[other] {
                    continue;
                }
                assignment.cores_mut().swap(node, other);
                match model.cost(&assignment) {
                    cost if cost < least => least = cost,
                    _ => assignment.cores_mut().swap(node, other),
                }
            }
        }
        if least == before {
            break;
        }
    }
    (least, assignment)
}

/// Bounds the climb; a graph of 25 nodes needs fewer than ten.
const SWEEPS_MAX: usize = 64;

/// Adapts a [`CostModel`] to the genetic crate.
struct Scalar<'a, M: ?Sized> {
    model: &'a M,
    scratch: Assignment,
    evaluations: usize,
}

impl<M: CostModel + ?Sized> Fitness for Scalar<'_, M> {
    type Genotype = ListGenotype;

    fn calculate_for_chromosome(
        &mut self,
        chromosome: &FitnessChromosome<Self>,
        _genotype: &ListGenotype,
    ) -> Option<FitnessValue> {
        self.evaluations += 1;
        self.scratch.cores_mut().copy_from_slice(&chromosome.genes);
        Some(fitness(&self.model.cost(&self.scratch)))
    }
}

// By hand: the crate asks for both, and deriving would ask them of the model.
impl<M: ?Sized> Clone for Scalar<'_, M> {
    fn clone(&self) -> Self {
        Self { model: self.model, scratch: self.scratch.clone(), evaluations: self.evaluations }
    }
}

impl<M: ?Sized> std::fmt::Debug for Scalar<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scalar").field("evaluations", &self.evaluations).finish_non_exhaustive()
    }
}

/// The scalar cost in the type that the genetic crate compares.
fn fitness(cost: &Cost) -> FitnessValue {
    isize::try_from(cost.scalar()).unwrap_or(isize::MAX)
}

/// Sebastiano Vigna's splitmix64: enough for start individuals, and fixed for ever, unlike the
/// generators of a crate.
struct SplitMix64(u64);

impl SplitMix64 {
    /// A number below `bound`; the bias is below `bound` / 2^64.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // The upper half of a 64 x 64 bit product scales to 0..bound.
        ((u128::from(z) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load_model::tests::loads_of as profile;

    /// About the size and shape of the Autoware reference system.
    fn large() -> Loads {
        let loads: Vec<f64> = (0..25).map(|i| 0.01 + 0.2 * f64::from(i * 7 % 25) / 25.0).collect();
        let edges: Vec<_> = (1..25).map(|i| (i * 5 % i, i, 10.0 + i as f64)).collect();
        profile(&loads, &edges, &[&[0, 2, 3, 7, 11, 13], &[1, 2, 4, 8]])
    }

    /// The least cost of all assignments.
    fn brute_force(model: &LoadModel, profile: &Loads, cores: usize) -> Cost {
        let nodes = profile.loops.len();
        let all = 0..cores.pow(u32::try_from(nodes).unwrap());
        let decode = |code: usize| {
            let digits = (0..nodes).scan(code, |rest, _| {
                let digit = *rest % cores;
                *rest /= cores;
                Some(digit)
            });
            Assignment::new(profile.names(), digits.collect(), cores)
        };
        all.map(|code| model.cost(&decode(code))).min().unwrap()
    }

    prop_compose! {
        fn small_graph()(nodes in 1_usize..=6)(
            loads in prop::collection::vec(0.0..0.7, nodes),
            edges in prop::collection::vec((0..nodes, 0..nodes, 0.0..100.0), 0..8),
            chains in prop::collection::vec(prop::collection::vec(0..nodes, 1..4), 0..3),
        ) -> Loads {
            let chains: Vec<&[usize]> = chains.iter().map(Vec::as_slice).collect();
            profile(&loads, &edges, &chains)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(48)
        })]

        #[test]
        fn small_graphs_reach_the_optimum(
            profile in small_graph(),
            cores in 1_usize..=3,
            seed: u64,
        ) {
            let model = LoadModel::new(&profile).unwrap();
            let options = SearchOptions { seed, ..SearchOptions::new(cores) };
            let found = search(&profile, &options).unwrap();
            prop_assert_eq!(found.cost, brute_force(&model, &profile, cores));
            prop_assert_eq!(found.cost, model.cost(&found.assignment));
        }

        #[test]
        fn never_worse_than_the_heuristics(
            profile in small_graph(),
            cores in 1_usize..=8,
            seed: u64,
            population in 2_usize..6,
        ) {
            let model = LoadModel::new(&profile).unwrap();
            let options = SearchOptions {
                seed,
                population,
                generations_max: 1,
                ..SearchOptions::new(cores)
            };
            let found = search(&profile, &options).unwrap();
            prop_assert!(found.cost <= model.cost(&longest_processing_time(&profile, cores)));
            prop_assert!(found.cost <= model.cost(&round_robin(&profile, cores)));
            prop_assert_eq!(found.assignment.clone().canonical(), found.assignment);
        }
    }

    #[test]
    fn the_same_seed_finds_the_same() {
        for seed in [0, 7, u64::MAX] {
            let options = SearchOptions { seed, generations_max: 30, ..SearchOptions::new(4) };
            let found = search(&large(), &options).unwrap();
            assert_eq!(found, search(&large(), &options).unwrap(), "seed {seed}");
        }
    }

    #[test]
    fn beats_the_heuristics_on_a_large_graph() {
        let model = LoadModel::new(&large()).unwrap();
        let found = search(&large(), &SearchOptions::new(4)).unwrap();
        assert!(found.cost < model.cost(&longest_processing_time(&large(), 4)));
        assert!(found.cost < model.cost(&round_robin(&large(), 4)));
        let (bred, climbed) = (400 * 1001, 3 * (1 + 64 * 25 * (4 + 12)));
        assert!(found.evaluations <= bred + climbed);
    }

    #[test]
    fn stops_at_the_target() {
        let options = SearchOptions::new(4);
        let target = Some(Cost { overload_percent: u64::MAX, ..Cost::default() });
        let early = search(&large(), &SearchOptions { target, ..options.clone() }).unwrap();
        assert!(early.evaluations < search(&large(), &options).unwrap().evaluations / 2);
    }

    #[test]
    fn one_core_or_one_node_leaves_no_choice() {
        let found = search(&large(), &SearchOptions::new(1)).unwrap();
        assert_eq!(found.assignment.cores(), [0; 25]);
        let found = search(&profile(&[0.5], &[], &[]), &SearchOptions::new(1000)).unwrap();
        assert_eq!((found.assignment.cores(), found.assignment.core_count()), (&[0][..], 1000));
    }

    #[test]
    fn bad_input_is_refused() {
        let some = profile(&[0.5], &[], &[]);
        assert_eq!(search(&some, &SearchOptions::new(0)), Err(OptimizeError::NoCores));
        assert_eq!(
            search(&Loads::default(), &SearchOptions::new(2)),
            Err(OptimizeError::Loads(LoadsError::NoLoops))
        );
        let negative = profile(&[-1.0], &[], &[]);
        assert!(matches!(
            search(&negative, &SearchOptions::new(2)),
            Err(OptimizeError::Loads(LoadsError::BadNumber { .. }))
        ));
        for population in [0, 1] {
            let options = SearchOptions { population, ..SearchOptions::new(2) };
            let error = OptimizeError::PopulationTooSmall { population };
            assert_eq!(search(&some, &options), Err(error));
        }
        let options = SearchOptions { generations_max: 0, ..SearchOptions::new(2) };
        assert!(search(&some, &options).is_ok());
    }

    #[test]
    fn longest_processing_time_fills_the_least_loaded_core() {
        // Graham's worst case for two cores: 3, 3, 2, 2, 2 ends at 7 where 6 is possible.
        let profile = profile(&[0.2, 0.3, 0.2, 0.3, 0.2], &[], &[]);
        assert_eq!(longest_processing_time(&profile, 2).cores(), [0, 0, 1, 1, 0]);
        assert_eq!(search(&profile, &SearchOptions::new(2)).unwrap().cost.peak_percent, 60);
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(round_robin(&profile(&[0.1; 5], &[], &[]), 3).cores(), [0, 1, 2, 0, 1]);
    }
}
