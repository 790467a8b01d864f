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

    /// The number of candidates, if it fits: the partitions of the loops into at most `cores` sets,
    /// each partitioned again into at most `thread_levels` threads in order, times the priorities.
    pub(super) fn size(&self) -> Option<u128> {
        let loops = self.loops.len();
        // ways[c][n]: partitions of n loops into c cores.
        let mut ways = vec![vec![0_u128; loops + 1]; self.cores + 1];
        ways[0][0] = 1;
        // on_threads[n]: the ways of n loops on one core. ordered[t]: those with t + 1 threads.
        let mut on_threads = vec![0_u128];
        let mut ordered = vec![0_u128; self.thread_levels];
        let mut binomials = vec![Some(1_u128)]; // of n - 1 over k - 1
        for n in 1..=loops {
            for t in (0..self.thread_levels).rev() {
                let alone = if t > 0 { ordered[t - 1] } else { u128::from(n == 1) };
                ordered[t] = (ordered[t].checked_add(alone)?).checked_mul(t as u128 + 1)?;
            }
            on_threads.push(ordered.iter().try_fold(0_u128, |sum, &ways| sum.checked_add(ways))?);
            for c in 1..=self.cores {
                let mut sum = 0_u128;
                for k in (1..=n).filter(|k| ways[c - 1][n - k] > 0) {
                    let chosen = binomials[k - 1]?.checked_mul(on_threads[k])?;
                    sum = sum.checked_add(chosen.checked_mul(ways[c - 1][n - k])?)?;
                }
                ways[c][n] = sum;
            }
            let next = binomials.windows(2).map(|pair| pair[0]?.checked_add(pair[1]?));
            binomials = [Some(1)].into_iter().chain(next).chain([Some(1)]).collect();
        }
        let mut assigned = ways.iter().map(|ways| ways[loops]);
        let assigned = assigned.try_fold(0_u128, |sum, ways| sum.checked_add(ways))?;
        let priorities =
            (self.levels as u128).checked_pow(u32::try_from(self.priority_genes()).ok()?)?;
        assigned.checked_mul(priorities)
    }

    /// Every candidate, without repetition.
    pub(super) fn all(&self) -> All<'_> {
        All { space: self, next: Some(vec![0; self.genes()]) }
    }
}

/// Enumerates the canonical candidates: a loop's core is at most one above the highest core before
/// it (a restricted growth string).
pub(super) struct All<'a> {
    space: &'a Space,
    next: Option<Genes>,
}

impl Iterator for All<'_> {
    type Item = Genes;

    fn next(&mut self) -> Option<Genes> {
        let current = self.next.take()?;
        // The threads of a core can have gaps between them.
        let is_canonical = |genes: &Genes| {
            let mut canonical = genes.clone();
            self.space.make_canonical(&mut canonical);
            canonical == *genes
        };
        let mut later = std::iter::successors(self.successor(&current), |of| self.successor(of));
        self.next = later.find(is_canonical);
        Some(current)
    }
}

impl All<'_> {
    /// The next list of genes.
    fn successor(&self, current: &Genes) -> Option<Genes> {
        let loops = self.space.loops.len();
        // highest[i]: the first core that no loop before i uses.
        let fresh = |gene: usize| current[..gene].iter().max().map_or(0, |highest| highest + 1);
        let grows = (0..current.len()).rev().find(|&gene| {
            let alleles = self.space.allele_count(gene);
            let bound = if gene < loops { (fresh(gene) + 1).min(alleles) } else { alleles };
            current[gene] + 1 < bound
        })?;
        let mut next = current.clone();
        next[grows] += 1;
        next[grows + 1..].fill(0);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
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
    fn brute_force(space: &Space) -> BTreeSet<Genes> {
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
    fn candidates_of_ten_loops_on_three_cores_are_counted() {
        assert_eq!(space(10, 3, 1).size(), Some(9842));
        assert_eq!(space(10, 3, 1).all().count(), 9842);
        assert_eq!(space(1000, 4, 1).size(), None);
        assert_eq!(space(1, 1000, 1).size(), Some(1));
        assert_eq!(space(300, 1, 1).size(), Some(1));
        assert_eq!(space_with_threads(300, 1, 1, 2).size(), None);
        // On one core all but "every loop preempts"; on two also 1 + 3 and 2 + 2.
        assert_eq!(space_with_threads(4, 1, 1, 2).size(), Some(15));
        assert_eq!(space_with_threads(4, 2, 1, 2).size(), Some(15 + 4 * 7 + 3 * 3 * 3));
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
        fn all_yields_every_canonical_candidate_once(
            loops in 1_usize..=5,
            cores in 1_usize..=4,
            levels in 1_usize..=2,
            threads in 1_usize..=3,
        ) {
            let space = space_with_threads(loops.min(6 - threads), cores, levels, threads);
            let all: Vec<Genes> = space.all().collect();
            prop_assert_eq!(space.size(), Some(all.len() as u128));
            prop_assert!(all.is_sorted());
            prop_assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), brute_force(&space));
        }

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
