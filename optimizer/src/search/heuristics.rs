//! Assignments that need no search: the first candidates of the search.

use crate::assignment::Assignment;

use super::loads::Loads;
use super::space::{Genes, Space};

/// Longest processing time first: the loops by falling utilization, each on the least loaded core
/// so far (R. L. Graham, *Bounds on Multiprocessing Timing Anomalies*, 1969). Its busiest core
/// carries at most 4/3 - 1/(3 * cores) of the optimal peak. Ignores chains and messages. Ties go
/// to the earlier loop and the lower core. O(n log n + n * cores).
pub(super) fn longest_processing_time(loads: &Loads, cores: usize) -> Vec<usize> {
    let mut placing = Placing::new(loads, cores);
    placing.place_the_rest();
    placing.into_cores()
}

/// The loops in turn over the cores, in the order of the list: the default without a mapping.
/// O(n).
///
/// # Panics
/// Panics if `cores` is 0.
pub fn round_robin(loops: &[String], cores: usize) -> Assignment {
    assert!(cores > 0, "give at least one core");
    Assignment::new(loops, (0..loops.len()).map(|index| index % cores).collect(), cores)
}

/// Greedy chain clustering: keeps the loops of a chain on one core while its load stays within
/// `limit`, then continues on the least loaded one; chains by falling weight.
///
/// A chain that joins an earlier one is a parallel branch of it, as are the branches within a
/// step: each starts on the least loaded core, so that they run in parallel. Loops outside all
/// chains follow as in [`longest_processing_time`]. O(steps * log n + n * cores).
pub(super) fn chain_clustering(loads: &Loads, cores: usize, limit: f64) -> Vec<usize> {
    let mut placing = place_chains(loads, cores, limit);
    placing.place_the_rest();
    placing.into_cores()
}

/// Like [`chain_clustering`] with a limit of one core, but the core that ends the heaviest chain
/// takes loops outside all chains only when every other core is full.
fn chain_apart(loads: &Loads, cores: usize) -> Vec<usize> {
    let mut placing = place_chains(loads, cores, 1.0);
    let end = loads.chains.first().and_then(|steps| steps.last());
    if let Some(core) = end.and_then(|step| placing.core_of[*step.first()?]) {
        placing.load[core] += 1.0;
    }
    placing.place_the_rest();
    placing.into_cores()
}

/// Places the loops of all chains.
fn place_chains(loads: &Loads, cores: usize, limit: f64) -> Placing<'_> {
    let mut placing = Placing::new(loads, cores);
    for steps in &loads.chains {
        let mut before: Vec<usize> = Vec::new();
        for step in steps {
            // Each branch continues on its core; where branches part, only the first one does.
            let mut taken: Vec<usize> = Vec::new();
            for (branch, &node) in step.iter().enumerate() {
                let previous = before.get(branch).copied();
                let core = match (placing.core_of[node], previous) {
                    (Some(core), _) => core,
                    (None, Some(core)) if placing.fits(node, core, limit) => core,
                    (None, _) => placing.least_loaded(&taken),
                };
                placing.place(node, core);
                taken.push(core);
            }
            before = taken;
        }
    }
    placing
}

/// The state of the placement.
struct Placing<'a> {
    loads: &'a Loads,
    core_of: Vec<Option<usize>>,
    load: Vec<f64>,
}

impl<'a> Placing<'a> {
    fn new(loads: &'a Loads, cores: usize) -> Self {
        Self { loads, core_of: vec![None; loads.utilizations.len()], load: vec![0.0; cores] }
    }

    fn utilization(&self, node: usize) -> f64 {
        self.loads.utilizations[node]
    }

    fn fits(&self, node: usize, core: usize, limit: f64) -> bool {
        self.load[core] + self.utilization(node) <= limit
    }

    /// The least loaded core that is not `taken`, or of all if every one is; of equal ones the
    /// first.
    fn least_loaded(&self, taken: &[usize]) -> usize {
        let order = |&a: &usize, &b: &usize| {
            (taken.contains(&a).cmp(&taken.contains(&b)))
                .then(self.load[a].total_cmp(&self.load[b]))
        };
        (0..self.load.len()).min_by(order).unwrap_or(0)
    }

    /// Places a loop; does nothing if it already has a core.
    fn place(&mut self, node: usize, core: usize) {
        if self.core_of[node].is_none() {
            self.core_of[node] = Some(core);
            self.load[core] += self.utilization(node);
        }
    }

    fn place_the_rest(&mut self) {
        let mut rest: Vec<usize> = (0..self.core_of.len()).collect();
        rest.retain(|&node| self.core_of[node].is_none());
        rest.sort_by(|&a, &b| self.utilization(b).total_cmp(&self.utilization(a)));
        for node in rest {
            self.place(node, self.least_loaded(&[]));
        }
    }

    fn into_cores(self) -> Vec<usize> {
        self.core_of.into_iter().map(|core| core.unwrap_or(0)).collect()
    }
}

/// Chain clustering at several limits, the heaviest chain alone on a core, and longest processing
/// time; with priorities or threads, each also with the chains above punctual loops, and these
/// above the rest. Without duplicates.
pub(super) fn greedy_candidates(loads: &Loads, space: &Space, cores: usize) -> Vec<Genes> {
    let total: f64 = loads.utilizations.iter().sum();
    let fair = total / cores as f64;
    // From the fair share of the load up to the capacity of a core.
    let limits = [1.0, 0.8, 0.6, 0.4, 2.0 * fair, 1.5 * fair, 1.2 * fair, fair];
    let clusters = limits.map(|limit| chain_clustering(loads, cores, limit));
    let others = [chain_apart(loads, cores), longest_processing_time(loads, cores)];
    let all = clusters.into_iter().chain(others);
    let mut priorities: Vec<usize> = loads.punctual.iter().copied().map(usize::from).collect();
    let mut threads = vec![0; priorities.len()];
    for &node in loads.chains.iter().flatten().flatten() {
        (priorities[node], threads[node]) = (usize::MAX, usize::MAX);
    }
    let levels: [[&[usize]; 2]; 3] = [[&[], &[]], [&priorities, &[]], [&priorities, &threads]];
    let mut candidates: Vec<Genes> = Vec::new();
    for cores in all {
        for [priorities, threads] in levels {
            let candidate = space.candidate(&cores, priorities, threads);
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops with these utilizations, and chains by index, the heaviest first.
    fn loads_of(utilizations: &[f64], chains: &[&[usize]]) -> Loads {
        let steps = |chain: &&[usize]| chain.iter().map(|&node| vec![node]).collect();
        Loads {
            utilizations: utilizations.to_vec(),
            chains: chains.iter().map(steps).collect(),
            punctual: vec![false; utilizations.len()],
        }
    }

    #[test]
    fn longest_processing_time_fills_the_least_loaded_core() {
        // Graham's worst case for two cores: 3, 3, 2, 2, 2 ends at 7, the optimum is 6.
        let loads = loads_of(&[0.2, 0.3, 0.2, 0.3, 0.2], &[]);
        assert_eq!(longest_processing_time(&loads, 2), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(
            round_robin(&["a", "b", "c", "d", "e"].map(String::from), 3).cores(),
            [0, 1, 2, 0, 1]
        );
    }

    #[test]
    fn a_chain_stays_together_while_the_load_permits() {
        let loads = loads_of(&[0.4, 0.4, 0.4, 0.1], &[&[0, 1, 2]]);
        assert_eq!(chain_clustering(&loads, 2, 1.3), [0, 0, 0, 1]);
        assert_eq!(chain_clustering(&loads, 2, 0.8), [0, 0, 1, 1]);
        assert_eq!(chain_clustering(&loads, 2, 0.0), [0, 1, 0, 1]);
    }

    #[test]
    fn a_parallel_branch_starts_elsewhere_and_a_serial_one_goes_on() {
        let loads = loads_of(&[0.1; 5], &[&[0, 2, 3], &[1, 2, 4]]);
        let cores = chain_clustering(&loads, 3, 1.0);
        assert_eq!(cores, [0, 1, 0, 0, 0]);
    }

    #[test]
    fn the_branches_of_a_chain_stay_apart_until_they_join() {
        for source in [0.1, 0.0] {
            let mut loads = loads_of(&[source, source, 0.1, 0.1, 0.1, 0.1], &[]);
            loads.chains.push(vec![vec![0, 1], vec![2, 3], vec![4], vec![5]]);
            assert_eq!(chain_clustering(&loads, 3, 1.0), [0, 1, 0, 1, 0, 0]);
        }
    }

    #[test]
    fn a_chain_apart_shares_its_core_only_when_the_others_are_full() {
        let loads = loads_of(&[0.1, 0.1, 0.4, 0.4, 0.3], &[&[0, 1]]);
        assert_eq!(chain_apart(&loads, 2), [0, 0, 1, 1, 1]);
        let loads = loads_of(&[0.1, 0.1, 0.8, 0.7, 0.3], &[&[0, 1]]);
        assert_eq!(chain_apart(&loads, 2), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn the_first_chain_chooses_first() {
        let loads = loads_of(&[0.3, 0.3, 0.3], &[&[2, 1], &[0, 1]]);
        assert_eq!(chain_clustering(&loads, 2, 0.6), [1, 0, 0]);
        let loads = loads_of(&[0.3, 0.3, 0.3], &[&[0, 1]]);
        assert_eq!(chain_clustering(&loads, 2, 0.6), [0, 0, 1]);
    }

    #[test]
    fn with_priorities_the_chains_are_also_tried_above_the_rest() {
        let mut loads = loads_of(&[0.3, 0.2, 0.1, 0.1], &[&[0, 1]]);
        loads.punctual[2] = true;
        let names = ["/0", "/1", "/2", "/3"].map(String::from);
        for (levels, expected) in [(2, [1, 1, 1, 0]), (3, [2, 2, 1, 0]), (4, [3, 3, 1, 0])] {
            let space = Space::new(&names, 2, levels, 1);
            let candidates = greedy_candidates(&loads, &space, 2);
            assert!(candidates.iter().any(|genes| genes[4..] == expected), "{candidates:?}");
            assert!(candidates.iter().any(|genes| genes[4..] == [0; 4]), "{candidates:?}");
        }
        let threads = Space::new(&names, 1, 1, 2);
        let candidates = greedy_candidates(&loads, &threads, 1);
        assert_eq!(candidates, [[0; 8], [0, 0, 0, 0, 1, 1, 0, 0]]);
    }
}
