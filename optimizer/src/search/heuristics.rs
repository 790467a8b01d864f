//! Assignments that need no search: starting points and baselines of the search.

use crate::assignment::Assignment;
use crate::chain::Chain;
use crate::loads::{Loads, LoopLoad};

use super::run::Run;
use super::space::{Genes, Space};

/// Longest processing time first: the loops by falling utilization, each on the least loaded core
/// so far (R. L. Graham, *Bounds on Multiprocessing Timing Anomalies*, 1969). Its busiest core
/// carries at most 4/3 - 1/(3 * cores) of the optimal peak. Ignores chains and messages. Ties go
/// to the earlier loop and the lower core. O(n log n + n * cores).
///
/// # Panics
/// Panics if `cores` is 0.
pub fn longest_processing_time(loads: &Loads, cores: usize) -> Assignment {
    assert!(cores > 0, "give at least one core");
    let mut placing = Placing::new(loads, cores);
    placing.place_the_rest();
    placing.into_assignment()
}

/// The loops in turn over the cores, in the order of the list: the default without a mapping.
/// O(n).
///
/// # Panics
/// Panics if `cores` is 0.
pub fn round_robin(loads: &Loads, cores: usize) -> Assignment {
    assert!(cores > 0, "give at least one core");
    let assigned = (0..loads.loops.len()).map(|index| index % cores).collect();
    Assignment::new(loads.names(), assigned, cores)
}

/// Greedy chain clustering: keeps the loops of a chain on one core while its load stays within
/// `limit`, then continues on the least loaded one; chains by falling weight.
///
/// A chain that joins an earlier one is a parallel branch of it, as are the branches within a
/// step: each starts on the least loaded core, so that they run in parallel. Loops outside all
/// chains follow as in [`longest_processing_time`]. O(steps * log n + n * cores).
///
/// ```
/// use ringspin_optimizer::{Chain, Loads, LoopLoad, chain_clustering};
///
/// let node = |name: &str| LoopLoad { name: name.into(), utilization: 0.3 };
/// let loads = Loads {
///     loops: ["/left", "/right", "/fusion", "/planner"].map(node).into(),
///     chains: vec![
///         Chain::new("left", ["/left", "/fusion", "/planner"]),
///         Chain::new("right", ["/right", "/fusion", "/planner"]),
///     ],
///     ..Loads::default()
/// };
/// assert_eq!(chain_clustering(&loads, 2, 1.0).cores(), [0, 1, 0, 0]);
/// ```
///
/// # Panics
/// Panics if `cores` is 0, or a chain has a loop that is not listed.
pub fn chain_clustering(loads: &Loads, cores: usize, limit: f64) -> Assignment {
    let mut placing = place_chains(loads, cores, limit);
    placing.place_the_rest();
    placing.into_assignment()
}

/// Like [`chain_clustering`] with a limit of one core, but the core that ends the heaviest chain
/// takes loops outside all chains only when every other core is full.
fn chain_apart(loads: &Loads, cores: usize) -> Assignment {
    let mut placing = place_chains(loads, cores, 1.0);
    let end = by_weight(&loads.chains).first().and_then(|chain| path(loads, chain).pop());
    if let Some(core) = end.and_then(|step| placing.core_of[*step.first()?]) {
        placing.load[core] += 1.0;
    }
    placing.place_the_rest();
    placing.into_assignment()
}

/// Places the loops of all chains.
fn place_chains(loads: &Loads, cores: usize, limit: f64) -> Placing<'_> {
    assert!(cores > 0, "give at least one core");
    let mut placing = Placing::new(loads, cores);
    for chain in by_weight(&loads.chains) {
        let mut before: Vec<usize> = Vec::new();
        for step in path(loads, chain) {
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

/// The chains of positive weight, the heaviest first; equal ones in their order.
fn by_weight(chains: &[Chain]) -> Vec<&Chain> {
    let mut chains: Vec<&Chain> = chains.iter().filter(|chain| chain.weight > 0.0).collect();
    chains.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    chains
}

/// The steps of the chain by index.
fn path(loads: &Loads, chain: &Chain) -> Vec<Vec<usize>> {
    match chain.resolve(&loads.names()) {
        Ok(path) => path,
        Err(step) => panic!("loop `{step}` is in chain `{}`, but not listed", chain.name),
    }
}

/// The state of the placement.
struct Placing<'a> {
    loads: &'a Loads,
    core_of: Vec<Option<usize>>,
    load: Vec<f64>,
}

impl<'a> Placing<'a> {
    fn new(loads: &'a Loads, cores: usize) -> Self {
        Self { loads, core_of: vec![None; loads.loops.len()], load: vec![0.0; cores] }
    }

    fn utilization(&self, node: usize) -> f64 {
        self.loads.loops[node].utilization
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

    fn into_assignment(self) -> Assignment {
        let core_count = self.load.len();
        let cores = self.core_of.into_iter().map(|core| core.unwrap_or(0)).collect();
        Assignment::new(self.loads.names(), cores, core_count)
    }
}

/// Chain clustering at several limits, the heaviest chain on a core of its own, and longest
/// processing time; with priorities or threads, each also with the chains above punctual loops, and
/// these above the rest. Without duplicates.
pub(super) fn greedy_candidates(loads: &Loads, space: &Space, cores: usize) -> Vec<Genes> {
    let total: f64 = loads.loops.iter().map(|node| node.utilization).sum();
    let fair = total / cores as f64;
    // From the fair share of the load up to the capacity of a core.
    let limits = [1.0, 0.8, 0.6, 0.4, 2.0 * fair, 1.5 * fair, 1.2 * fair, fair];
    let clusters = limits.map(|limit| chain_clustering(loads, cores, limit));
    let others = [chain_apart(loads, cores), longest_processing_time(loads, cores)];
    let all = clusters.into_iter().chain(others);
    let is_punctual = |of: &LoopLoad| usize::from(loads.punctual.contains(&of.name));
    let mut priorities: Vec<usize> = loads.loops.iter().map(is_punctual).collect();
    let mut threads = vec![0; loads.loops.len()];
    for chain in by_weight(&loads.chains) {
        for node in path(loads, chain).concat() {
            (priorities[node], threads[node]) = (usize::MAX, usize::MAX);
        }
    }
    let levels: [[&[usize]; 2]; 3] = [[&[], &[]], [&priorities, &[]], [&priorities, &threads]];
    let mut candidates: Vec<Genes> = Vec::new();
    for assignment in all {
        for [priorities, threads] in levels {
            let candidate = space.candidate(assignment.cores(), priorities, threads);
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    candidates
}

/// Evaluates the candidates of the heuristics.
pub(super) fn search(run: &mut Run<'_, '_>, candidates: &[Genes]) {
    run.evaluate(candidates);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_model::tests::loads_of;

    #[test]
    fn longest_processing_time_fills_the_least_loaded_core() {
        // Graham's worst case for two cores: 3, 3, 2, 2, 2 ends at 7, the optimum is 6.
        let loads = loads_of(&[0.2, 0.3, 0.2, 0.3, 0.2], &[], &[]);
        assert_eq!(longest_processing_time(&loads, 2).cores(), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(round_robin(&loads_of(&[0.1; 5], &[], &[]), 3).cores(), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_chain_stays_together_while_the_load_permits() {
        let loads = loads_of(&[0.4, 0.4, 0.4, 0.1], &[], &[&[0, 1, 2]]);
        assert_eq!(chain_clustering(&loads, 2, 1.3).cores(), [0, 0, 0, 1]);
        assert_eq!(chain_clustering(&loads, 2, 0.8).cores(), [0, 0, 1, 1]);
        assert_eq!(chain_clustering(&loads, 2, 0.0).cores(), [0, 1, 0, 1]);
    }

    #[test]
    fn a_parallel_branch_starts_elsewhere_and_a_serial_one_goes_on() {
        let loads = loads_of(&[0.1; 5], &[], &[&[0, 2, 3], &[1, 2, 4]]);
        let cores = chain_clustering(&loads, 3, 1.0);
        assert_eq!(cores.cores(), [0, 1, 0, 0, 0]);
    }

    #[test]
    fn the_branches_of_a_chain_stay_apart_until_they_join() {
        for source in [0.1, 0.0] {
            let mut loads = loads_of(&[source, source, 0.1, 0.1, 0.1, 0.1], &[], &[]);
            let path = ["/0 | /1", "/2 | /3", "/4", "/5"];
            loads.chains.push(Chain::new("joined", path));
            assert_eq!(chain_clustering(&loads, 3, 1.0).cores(), [0, 1, 0, 1, 0, 0]);
        }
    }

    #[test]
    fn a_chain_apart_shares_its_core_only_when_the_others_are_full() {
        let loads = loads_of(&[0.1, 0.1, 0.4, 0.4, 0.3], &[], &[&[0, 1]]);
        assert_eq!(chain_apart(&loads, 2).cores(), [0, 0, 1, 1, 1]);
        let loads = loads_of(&[0.1, 0.1, 0.8, 0.7, 0.3], &[], &[&[0, 1]]);
        assert_eq!(chain_apart(&loads, 2).cores(), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn the_heaviest_chain_chooses_first_and_one_without_weight_not_at_all() {
        let mut loads = loads_of(&[0.3, 0.3, 0.3], &[], &[&[0, 1], &[2, 1]]);
        loads.chains[1].weight = 2.0;
        assert_eq!(chain_clustering(&loads, 2, 0.6).cores(), [1, 0, 0]);
        loads.chains[1].weight = 0.0;
        assert_eq!(chain_clustering(&loads, 2, 0.6).cores(), [0, 0, 1]);
    }

    #[test]
    fn with_priorities_the_chains_are_also_tried_above_the_rest() {
        let mut loads = loads_of(&[0.3, 0.2, 0.1, 0.1], &[], &[&[0, 1]]);
        loads.punctual = vec![loads.loops[2].name.clone()];
        for (levels, expected) in [(2, [1, 1, 1, 0]), (3, [2, 2, 1, 0]), (4, [3, 3, 1, 0])] {
            let space = Space::new(&loads.names(), 2, levels, 1);
            let candidates = greedy_candidates(&loads, &space, 2);
            assert!(candidates.iter().any(|genes| genes[4..] == expected), "{candidates:?}");
            assert!(candidates.iter().any(|genes| genes[4..] == [0; 4]), "{candidates:?}");
        }
        let threads = Space::new(&loads.names(), 1, 1, 2);
        let candidates = greedy_candidates(&loads, &threads, 1);
        assert_eq!(candidates, [[0; 8], [0, 0, 0, 0, 1, 1, 0, 0]]);
    }
}
