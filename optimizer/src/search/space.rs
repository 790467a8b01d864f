//! The search space: all candidates, each in one canonical form.

use std::sync::Arc;

use crate::assignment::{Assignment, rename_by_first_use};

use super::random::SplitMix64;

/// A candidate: the core of every loop, then the priority of every loop if priorities are searched.
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
}

impl Space {
    /// Creates a space with `levels` priorities per loop; with one level, priorities stay
    /// unchanged.
    pub(super) fn new(loops: &[String], core_count: usize, levels: usize) -> Self {
        Self { loops: loops.into(), core_count, cores: core_count.min(loops.len()), levels }
    }

    /// The possible values of each gene.
    pub(super) fn alleles(&self) -> Vec<Vec<usize>> {
        let cores = std::iter::repeat_n((0..self.cores).collect(), self.loops.len());
        let levels = std::iter::repeat_n((0..self.levels).collect(), self.priority_genes());
        cores.chain(levels).collect()
    }

    fn priority_genes(&self) -> usize {
        if self.levels > 1 { self.loops.len() } else { 0 }
    }

    pub(super) fn assignment(&self, genes: &Genes) -> Assignment {
        let (cores, priorities) = genes.split_at(self.loops.len());
        let assignment = Assignment::new(Arc::clone(&self.loops), cores.to_vec(), self.core_count);
        if priorities.is_empty() {
            return assignment;
        }
        // Levels are a u8 in the options.
        assignment.with_priorities(priorities.iter().map(|&level| level as u8).collect())
    }

    /// The candidate with these cores and priorities, limited to the levels; the lowest priority
    /// for loops without one.
    pub(super) fn candidate(&self, cores: &[usize], priorities: &[usize]) -> Genes {
        let mut genes = cores.to_vec();
        rename_by_first_use(&mut genes, self.core_count);
        let level =
            |index| priorities.get(index).map_or(0, |&level: &usize| level.min(self.levels - 1));
        genes.extend((0..self.priority_genes()).map(level));
        genes
    }

    /// Renumbers the cores in the order of their first use. With core symmetry, every candidate
    /// would appear up to `cores!` times, and crossover of two equal parents could yield a
    /// different child.
    pub(super) fn make_canonical(&self, genes: &mut Genes) {
        rename_by_first_use(&mut genes[..self.loops.len()], self.cores);
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
        let loops = self.loops.len();
        let cores = (0..loops).map(|_| self.cores);
        let levels = (0..self.priority_genes()).map(|_| self.levels);
        let mut genes: Genes = cores.chain(levels).map(|bound| random.below(bound)).collect();
        self.make_canonical(&mut genes);
        genes
    }

    /// Every candidate that moves one loop, swaps two loops of different cores, or changes one
    /// priority, in random order. May contain duplicates. O(n^2) candidates of size O(n).
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
            let alleles = if gene < loops { self.cores } else { self.levels };
            for allele in (0..alleles).filter(|&allele| allele != genes[gene]) {
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
            let alleles = if gene < self.loops.len() { self.cores } else { self.levels };
            kicked[gene] = random.below(alleles);
        }
        self.make_canonical(&mut kicked);
        kicked
    }

    /// The number of candidates, if it fits: the partitions of the loops into at most `cores` sets
    /// (sums of Stirling numbers of the second kind), times the priorities.
    pub(super) fn size(&self) -> Option<u128> {
        // parts[k]: partitions of the loops so far into k + 1 sets.
        let mut parts = vec![0_u128; self.cores];
        parts[0] = 1;
        for _ in 1..self.loops.len() {
            for k in (0..self.cores).rev() {
                let joined = parts[k].checked_mul(k as u128 + 1)?;
                let alone = if k > 0 { parts[k - 1] } else { 0 };
                parts[k] = joined.checked_add(alone)?;
            }
        }
        let assigned = parts.iter().try_fold(0_u128, |sum, &ways| sum.checked_add(ways))?;
        let priorities =
            (self.levels as u128).checked_pow(u32::try_from(self.priority_genes()).ok()?)?;
        assigned.checked_mul(priorities)
    }

    /// Every candidate, without repetition.
    pub(super) fn all(&self) -> All<'_> {
        All { space: self, next: Some(vec![0; self.loops.len() + self.priority_genes()]) }
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
        let loops = self.space.loops.len();
        // highest[i]: the first core that no loop before i uses.
        let fresh = |gene: usize| current[..gene].iter().max().map_or(0, |highest| highest + 1);
        let grows = (0..current.len()).rev().find(|&gene| {
            let bound = if gene < loops {
                (fresh(gene) + 1).min(self.space.cores)
            } else {
                self.space.levels
            };
            current[gene] + 1 < bound
        });
        self.next = grows.map(|gene| {
            let mut next = current.clone();
            next[gene] += 1;
            next[gene + 1..].fill(0);
            next
        });
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn space(loops: usize, cores: usize, levels: usize) -> Space {
        let names: Vec<String> = (0..loops).map(|i| format!("/{i}")).collect();
        Space::new(&names, cores, levels)
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
    }

    #[test]
    fn priorities_are_genes_only_when_there_are_levels() {
        let assignment = space(2, 2, 3).assignment(&vec![0, 1, 2, 0]);
        assert_eq!((assignment.cores(), assignment.priorities()), (&[0, 1][..], &[2, 0][..]));
        assert_eq!(space(2, 2, 1).alleles().len(), 2);
        assert_eq!(space(2, 2, 1).candidate(&[1, 0], &[1, 0]), [0, 1]);
        assert_eq!(space(2, 2, 3).candidate(&[1, 0], &[7, 0]), [0, 1, 2, 0]);
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
        ) {
            let space = space(loops, cores, levels);
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
            seed: u64,
        ) {
            let space = space(loops, cores, levels);
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
