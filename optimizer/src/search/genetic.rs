//! The genetic search: a population seeded by the heuristics, then local search from its best
//! candidate.
//!
//! The population finds the region, but stops a move or two short of its optimum. Climbing takes
//! these moves, and restarts from a perturbed best candidate while there is budget.
//!
//! # Core numbers
//! A candidate is evaluated in its canonical form, but bred with its cores numbered as in the best
//! one so far, as far as they agree: crossover then exchanges real differences instead of core
//! numbers.
//!
//! # Fitness is a rank
//! The crate compares integers, and a score is a list of them. The candidates of a generation,
//! parents included, are therefore ranked by their scores, which is exact and fits in one integer.
//! The crate's own best candidate is meaningless under this scheme and is ignored.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use genetic_algorithm::fitness::FitnessCache;
use genetic_algorithm::strategy::evolve::prelude::{
    CrossoverUniform, Evolve, Fitness, FitnessChromosome, FitnessOrdering, FitnessPopulation,
    FitnessValue, Genotype, MultiListGenotype, MutateMultiGeneRange, SelectTournament,
};
use ringspin_executor::{Error, ErrorKind, Result};
use thread_local::ThreadLocal;

use super::climb::climb;
use super::random::SplitMix64;
use super::run::SearchRun;
use super::space::Genes;

/// Evolves a population from `starts`, then refines its best candidate.
pub(super) fn search(run: &mut SearchRun<'_>, starts: Vec<Genes>) -> Result<()> {
    let space = run.space;
    let mut random = SplitMix64::new(run.options.seed, 3);
    let random_candidates = std::iter::repeat_with(|| space.random(&mut random));
    // All starts are in it, so that the result is never worse than any of them. The crate would
    // fill a larger population with copies of the starts, and only mutation could then find
    // anything new.
    let population = run.options.population.max(starts.len());
    let first: Vec<Genes> = starts.into_iter().chain(random_candidates).take(population).collect();
    evolve(run, first)?;
    refine(run, &mut random);
    Ok(())
}

/// Uses uniform crossover, because adjacent loops in the list are unrelated, and tournaments,
/// because they only compare and need no scale.
fn evolve(run: &mut SearchRun<'_>, first: Vec<Genes>) -> Result<()> {
    let (space, seed) = (run.space, run.options.seed);
    let population = first.len();
    let genotype = MultiListGenotype::builder()
        .with_allele_lists(space.alleles())
        .with_seed_genes_list(first)
        .with_genes_hashing(false)
        .build()
        .map_err(|error| refused(error.0))?;
    let run = Mutex::new(run);
    Evolve::builder()
        .with_genotype(genotype)
        .with_target_population_size(population)
        .with_target_fitness_score(ENOUGH)
        .with_fitness_ordering(FitnessOrdering::Minimize)
        .with_fitness(Rank { run: &run, evaluations: 0, dry: 0 })
        .with_select(SelectTournament::new(0.5, 0.02, 4))
        .with_crossover(CrossoverUniform::new(0.7, 0.8))
        .with_mutate(MutateMultiGeneRange::new(1..=3, 0.3))
        .with_rng_seed_from_u64(seed)
        .call()
        .map_err(|error| refused(error.0))?;
    Ok(())
}

/// An error of the crate, which only a mistake in this module can cause.
pub(super) fn refused(reason: &str) -> Error {
    let text = format!(
        "the genetic search refused its configuration ({reason}); this is a bug, report it"
    );
    Error::new(ErrorKind::InvalidState, text)
}

/// Climbs from the best candidate, then from perturbed ones, each a few random changes away from
/// the best optimum so far.
fn refine(run: &mut SearchRun<'_>, random: &mut SplitMix64) {
    let Some((_, best)) = run.best.clone() else { return };
    let Some((mut least, mut current)) = climb(run, best, random) else { return };
    let mut dry = 0;
    while !run.is_done() && dry < DRY_MAX {
        let before = run.evaluations();
        let kicked = run.space.kick(&current, 2 + random.below(3), random);
        let Some((score, optimum)) = climb(run, kicked, random) else { return };
        if score <= least {
            (least, current) = (score, optimum);
        }
        dry = if run.evaluations() == before { dry + 1 } else { 0 };
    }
}

/// The number of generations or kicks without a new candidate after which the space counts as
/// exhausted.
const DRY_MAX: usize = 64;

/// A fitness better than every rank: ends the evolution.
const ENOUGH: FitnessValue = -1;

/// Ranks a whole generation, so that any number of threads can evaluate it. Ends the evolution when
/// its share of the budget is spent or it finds nothing new.
#[derive(Clone)]
struct Rank<'a, 'r, 'm> {
    run: &'a Mutex<&'r mut SearchRun<'m>>,
    evaluations: usize,
    dry: usize,
}

// Required by the crate.
impl fmt::Debug for Rank<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rank").finish_non_exhaustive()
    }
}

impl Fitness for Rank<'_, '_, '_> {
    type Genotype = MultiListGenotype;

    fn call_for_population(
        &mut self,
        population: &mut FitnessPopulation<Self>,
        _genotype: &MultiListGenotype,
        _thread_local: Option<&ThreadLocal<RefCell<Self>>>,
        _cache: Option<&FitnessCache>,
    ) {
        let chromosomes = &mut population.chromosomes;
        let mut batch: Vec<Genes> = chromosomes.iter().map(|one| one.genes.clone()).collect();
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let space = run.space;
        batch.iter_mut().for_each(|genes| space.make_canonical(genes));
        let scores = run.evaluate(&batch);
        if let Some((_, best)) = &run.best {
            chromosomes.iter_mut().for_each(|one| space.align(&mut one.genes, best));
        }
        let mut order: Vec<_> = scores.iter().flatten().collect();
        order.sort_unstable();
        order.dedup();
        for (chromosome, score) in chromosomes.iter_mut().zip(&scores) {
            let rank = score.as_ref().and_then(|score| order.binary_search(&score).ok());
            chromosome.set_fitness_score(rank.and_then(|rank| FitnessValue::try_from(rank).ok()));
        }
        let dry = run.evaluations() == self.evaluations;
        self.dry = if dry { self.dry + 1 } else { 0 };
        self.evaluations = run.evaluations();
        let spent = run.evaluations() >= run.options.evaluations / 2;
        if spent || run.is_done() || self.dry >= DRY_MAX {
            chromosomes.iter_mut().for_each(|one| one.set_fitness_score(Some(ENOUGH)));
        }
    }

    fn calculate_for_chromosome(
        &mut self,
        _chromosome: &FitnessChromosome<Self>,
        _genotype: &MultiListGenotype,
    ) -> Option<FitnessValue> {
        // Only strategies without a population call this.
        None
    }
}
