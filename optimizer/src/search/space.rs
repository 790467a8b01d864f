//! The search space: all candidates, each in one canonical form.

use std::sync::Arc;

use crate::assignment::{Assignment, rank_levels, rename_by_first_use};

use super::random::SplitMix64;

/// A candidate: the core of every loop, then the priority of every loop if priorities are searched,
/// then the thread of every loop if threads are.
///
/// One list of one type, as the genetic crate requires.
pub(super) type Genes = Vec<usize>;

/// All assignments of some loops to some cores.
pub(super) struct Space {
    loops: Arc<[String]>,
    core_count: usize,
    /// At most the number of loops: a further core would always be empty.
    cores: usize,
    levels: usize,
    thread_levels: usize,
}

impl Space {
    /// Creates a space with `levels` priorities per loop, and `thread_levels` threads per core.
    /// With one level, priorities stay unchanged.
    pub(super) fn new(
        loops: &[String],
        core_count: usize,
        levels: usize,
        thread_levels: usize,
    ) -> Self {
        let cores = core_count.min(loops.len());
        Self { loops: loops.into(), core_count, cores, levels, thread_levels }
    }

    /// The possible values of each gene.
    pub(super) fn alleles(&self) -> Vec<Vec<usize>> {
        (0..self.genes()).map(|gene| (0..self.allele_count(gene)).collect()).collect()
    }

    /// The number of genes of a candidate.
    fn genes(&self) -> usize {
        self.loops.len() + self.priority_genes() + self.thread_genes()
    }

    fn priority_genes(&self) -> usize {
        if self.levels > 1 { self.loops.len() } else { 0 }
    }

    fn thread_genes(&self) -> usize {
        if self.thread_levels > 1 { self.loops.len() } else { 0 }
    }

    /// The number of possible values of a gene.
    fn allele_count(&self, gene: usize) -> usize {
        match gene.checked_sub(self.loops.len()) {
            None => self.cores,
            Some(gene) if gene < self.priority_genes() => self.levels,
            Some(_) => self.thread_levels,
        }
    }

    pub(super) fn assignment(&self, genes: &Genes) -> Assignment {
        let (cores, levels) = genes.split_at(self.loops.len());
        let (priorities, threads) = levels.split_at(self.priority_genes());
        let mut assignment =
            Assignment::new(Arc::clone(&self.loops), cores.to_vec(), self.core_count);
        // Levels are a u8 in the options.
        let levels = |genes: &[usize]| genes.iter().map(|&level| level as u8).collect();
        if !priorities.is_empty() {
            assignment = assignment.with_priorities(levels(priorities));
        }
        if !threads.is_empty() {
            assignment = assignment.with_thread_levels(levels(threads));
        }
        assignment
    }

    /// The candidate with these cores, priorities and threads, limited to the levels; the lowest
    /// for loops without one.
    pub(super) fn candidate(
        &self,
        cores: &[usize],
        priorities: &[usize],
        threads: &[usize],
    ) -> Genes {
        let mut genes = cores.to_vec();
        let level = |levels: usize, of: &[usize], index| {
            of.get(index).map_or(0, |&level: &usize| level.min(levels - 1))
        };
        genes.extend((0..self.priority_genes()).map(|index| level(self.levels, priorities, index)));
        let thread = |index| level(self.thread_levels, threads, index);
        genes.extend((0..self.thread_genes()).map(thread));
        self.make_canonical(&mut genes);
        genes
    }

    /// Renumbers the cores in the order of their first use, and the threads of each core from 0.
    /// With core symmetry, every candidate would appear up to `cores!` times, and crossover of two
    /// equal parents could yield a different child.
    pub(super) fn make_canonical(&self, genes: &mut Genes) {
        let (cores, levels) = genes.split_at_mut(self.loops.len());
        rename_by_first_use(cores, self.core_count);
        rank_levels(cores, &mut levels[self.priority_genes()..]);
    }

    /// Renumbers the cores so that as many loops as possible, found greedily, are on the same core
    /// as in `other`. Crossover then exchanges real differences instead of core numbers.
    pub(super) fn align(&self, genes: &mut Genes, other: &Genes) {
        let loops = self.loops.len();
        let mut common = vec![0_u32; self.cores * self.cores];
        for (&core, &wanted) in genes[..loops].iter().zip(&other[..loops]) {
            common[core * self.cores + wanted] += 1;
        }
        let mut pairs: Vec<usize> = (0..common.len()).collect();
        pairs.sort_by_key(|&pair| std::cmp::Reverse(common[pair]));
        let mut names = vec![None; self.cores];
        let mut taken = vec![false; self.cores];
        for (core, wanted) in pairs.into_iter().map(|pair| (pair / self.cores, pair % self.cores)) {
            if names[core].is_none() && !taken[wanted] {
                names[core] = Some(wanted);
                taken[wanted] = true;
            }
        }
        // Every used core now has a number: both candidates have equally many.
        genes[..loops].iter_mut().for_each(|core| *core = names[*core].unwrap_or(*core));
    }

    pub(super) fn random(&self, random: &mut SplitMix64) -> Genes {
        let alleles = (0..self.genes()).map(|gene| self.allele_count(gene));
        let mut genes: Genes = alleles.map(|bound| random.below(bound)).collect();
        self.make_canonical(&mut genes);
        genes
    }

    /// Every candidate that moves one loop, swaps two loops of different cores, or changes one
    /// priority or thread, in random order. May contain duplicates. O(n^2) candidates of size O(n).
    pub(super) fn neighbours(&self, genes: &Genes, random: &mut SplitMix64) -> Vec<Genes> {
        let loops = self.loops.len();
        let mut neighbours = Vec::new();
        let mut push = |change: &dyn Fn(&mut Genes)| {
            let mut neighbour = genes.clone();
            change(&mut neighbour);
            self.make_canonical(&mut neighbour);
            neighbours.push(neighbour);
        };
        for gene in 0..genes.len() {
            let alleles = 0..self.allele_count(gene);
            for allele in alleles.filter(|&allele| allele != genes[gene]) {
                push(&|genes| genes[gene] = allele);
            }
        }
        for one in 0..loops {
            for other in (one + 1..loops).filter(|&other| genes[one] != genes[other]) {
                push(&|genes| genes.swap(one, other));
            }
        }
        random.shuffle(&mut neighbours);
        neighbours
    }

    /// Changes `count` random genes.
    pub(super) fn kick(&self, genes: &Genes, count: usize, random: &mut SplitMix64) -> Genes {
        let mut kicked = genes.clone();
        for _ in 0..count {
            let gene = random.below(kicked.len());
            kicked[gene] = random.below(self.allele_count(gene));
        }
        self.make_canonical(&mut kicked);
        kicked
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn space(loops: usize, cores: usize, levels: usize) -> Space {
        space_with_threads(loops, cores, levels, 1)
    }

    fn space_with_threads(loops: usize, cores: usize, levels: usize, threads: usize) -> Space {
        let names: Vec<String> = (0..loops).map(|i| format!("/{i}")).collect();
        Space::new(&names, cores, levels, threads)
    }

    /// The canonical forms of all lists of alleles.
    pub(crate) fn brute_force(space: &Space) -> BTreeSet<Genes> {
        let mut lists = vec![Genes::new()];
        for alleles in space.alleles() {
            let longer = lists.iter().flat_map(|list| {
                alleles.iter().map(|&allele| {
                    let mut longer = list.clone();
                    longer.push(allele);
                    longer
                })
            });
            lists = longer.collect();
        }
        lists.iter_mut().for_each(|genes| space.make_canonical(genes));
        lists.into_iter().collect()
    }

    #[test]
    fn threads_are_genes_only_when_there_are_levels() {
        let space = space_with_threads(3, 2, 2, 2);
        let assignment = space.assignment(&vec![0, 1, 0, 1, 0, 0, 0, 0, 1]);
        assert_eq!(assignment.priorities(), [1, 0, 0]);
        assert_eq!(assignment.thread_levels(), [0, 0, 1]);
        assert_eq!(space.alleles().len(), 9);
        let preempting = space.candidate(&[1, 0, 1], &[0, 9], &[9, 9]);
        assert_eq!(preempting, [0, 1, 0, 0, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn priorities_are_genes_only_when_there_are_levels() {
        let assignment = space(2, 2, 3).assignment(&vec![0, 1, 2, 0]);
        assert_eq!((assignment.cores(), assignment.priorities()), (&[0, 1][..], &[2, 0][..]));
        assert_eq!(space(2, 2, 1).alleles().len(), 2);
        assert_eq!(space(2, 2, 1).candidate(&[1, 0], &[1, 0], &[]), [0, 1]);
        assert_eq!(space(2, 2, 3).candidate(&[1, 0], &[7, 0], &[]), [0, 1, 2, 0]);
    }

    #[test]
    fn aligning_renumbers_the_cores_for_the_most_agreement() {
        let aligned = |cores: [usize; 6], other: [usize; 6]| {
            let mut genes = cores.to_vec();
            space(6, 3, 1).align(&mut genes, &other.to_vec());
            genes
        };
        assert_eq!(aligned([0, 0, 1, 1, 2, 2], [2, 2, 0, 0, 1, 1]), [2, 2, 0, 0, 1, 1]);
        assert_eq!(aligned([0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 0, 0]), [1, 0, 0, 0, 0, 1]);
        assert_eq!(aligned([0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 0, 0]), [0, 1, 2, 0, 1, 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]

        #[test]
        fn neighbours_and_kicks_are_other_canonical_candidates(
            loops in 1_usize..=5,
            cores in 1_usize..=4,
            levels in 1_usize..=3,
            threads in 1_usize..=2,
            seed: u64,
        ) {
            let space = space_with_threads(loops.min(6 - threads), cores, levels, threads);
            let all = brute_force(&space);
            let mut random = SplitMix64::new(seed, 0);
            let genes = space.random(&mut random);
            prop_assert!(all.contains(&genes));
            prop_assert!(all.contains(&space.kick(&genes, 3, &mut random)));
            let neighbours: BTreeSet<Genes> =
                space.neighbours(&genes, &mut random).into_iter().collect();
            prop_assert!(neighbours.is_subset(&all));
            let mut aligned = genes.clone();
            let other = space.random(&mut random);
            space.align(&mut aligned, &other);
            space.make_canonical(&mut aligned);
            prop_assert_eq!(&aligned, &genes, "only the names change");
            // Every candidate that differs in one gene is a neighbour.
            for other in all.iter().filter(|other| *other != &genes) {
                let differences = other.iter().zip(&genes).filter(|(a, b)| a != b).count();
                prop_assert!(differences > 1 || neighbours.contains(other));
            }
        }
    }
}
