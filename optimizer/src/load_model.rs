//! Assignments of nodes to cores and what they cost.
//!
//! [`CostModel`] is the seam: [`LoadModel`] estimates from the loads alone; a later model
//! replays the graph on the deterministic twin and fills the same [`Cost`] from what it measures.
//!
//! # Why integers, and why lexicographic
//! Costs are integers in documented units, rounded once per node and edge, so that the order of a
//! sum cannot matter: renaming the cores or running on another machine gives the same cost to the
//! last bit, which a search that must be reproducible from its seed needs.
//!
//! The terms are compared one after the other and not added with weights: no amount of saved
//! cross-core traffic pays for a core that cannot keep up, and weights that say so would have to be
//! tuned again for every graph. What keeps the later terms alive is the coarse unit: loads are
//! counted in percent of a core, so differences below the noise of a measured loads are ties.

use crate::assignment::Assignment;
use crate::loads::{Loads, LoadsError};

/// What an assignment costs; the fields are compared from the first to the last, less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    /// Load above what the cores should carry, summed over the cores, in percent of a core.
    pub overload_percent: u64,
    /// How much foreign work delays the chains, in percent of a core, summed over their hops.
    pub interference_percent: u64,
    /// The load of the busiest core, in percent of a core.
    pub peak_percent: u64,
    /// Messages per second that cross from one core to another.
    pub cross_messages_per_second: u64,
}

impl Cost {
    /// The cost as one number for the genetic search, which compares `isize`: the fields side by
    /// side in 17, 18, 12 and 16 bits, each saturating.
    ///
    /// Monotone: `a <= b` implies `a.scalar() <= b.scalar()`; strictly so while no field saturates
    /// (1310 cores of overload, 2621 of interference, a core 40 times overloaded, 65 535
    /// messages per second). Beyond that the refinement after the genetic search still compares
    /// the exact fields.
    pub fn scalar(&self) -> i64 {
        let fields = [
            (self.overload_percent, 17),
            (self.interference_percent, 18),
            (self.peak_percent, 12),
            (self.cross_messages_per_second, 16),
        ];
        // Saturation must carry over to the fields that follow, or it would not be monotone.
        let mut saturated = false;
        fields.into_iter().fold(0, |scalar, (field, bits)| {
            let largest = (1_i64 << bits) - 1;
            let field = i64::try_from(field).unwrap_or(i64::MAX).min(largest);
            saturated |= field == largest;
            (scalar << bits) | if saturated { largest } else { field }
        })
    }
}

/// Estimates what an assignment costs.
///
/// The search renames cores at will, so a model must give equal costs to assignments that differ
/// only in the names of the cores, and always the same cost to the same assignment.
pub trait CostModel: Sync {
    /// The cost of `assignment`. Called thousands of times in a search.
    fn cost(&self, assignment: &Assignment) -> Cost;
}

/// Loads are summed in millionths of a core and reported in percent.
const PARTS_PER_CORE: f64 = 1e6;
const PARTS_PER_PERCENT: u64 = 10_000;
/// Rates are summed in messages per thousand seconds.
const RATE_PARTS: f64 = 1e3;
/// Larger inputs count as this, so that no sum overflows.
const LARGEST_PARTS: f64 = 1e12;

/// Costs from the loads alone, without simulating time.
///
/// 1. *Overload*: for every core the load above the limit (0.8 unless changed; a queue at 80 % load
///    waits four service times on average and from there on steeply more).
/// 2. *Interference*: for every chain and every hop of it, the load that nodes outside the
///    chain put on the core of that hop. It stands for the chance to find the core busy with
///    something else on arrival, hence for the wait.
/// 3. *Peak*: the load of the busiest core.
/// 4. *Cross-core rate*: messages whose two ends are on different cores.
#[derive(Clone, Debug)]
pub struct LoadModel {
    loads: Vec<u64>,
    edges: Vec<(usize, usize, u64)>,
    chains: Vec<Hops>,
    limit: u64,
}

/// One chain by node index.
#[derive(Clone, Debug)]
struct Hops {
    visits: Vec<usize>,
    /// The visited nodes, each once.
    members: Vec<usize>,
}

impl LoadModel {
    /// The load that a core should carry at most, unless [`with_limit`](Self::with_limit) says
    /// otherwise.
    pub const LIMIT: f64 = 0.8;

    /// The model of `loads`. O(n log n) in its size.
    ///
    /// # Errors
    /// What [`Loads::validate`] finds.
    pub fn new(loads: &Loads) -> Result<Self, LoadsError> {
        loads.validate()?;
        let index = index_of(loads);
        let chains = loads.chains.iter().map(|chain| {
            let visits: Vec<usize> = chain.path.iter().map(|node| index(node)).collect();
            let mut members = visits.clone();
            members.sort_unstable();
            members.dedup();
            Hops { visits, members }
        });
        let edges = loads.edges.iter().map(|edge| {
            let rate = parts(edge.messages_per_second, RATE_PARTS);
            (index(&edge.from), index(&edge.to), rate)
        });
        Ok(Self {
            loads: loads.loops.iter().map(|n| parts(n.utilization, PARTS_PER_CORE)).collect(),
            edges: edges.collect(),
            chains: chains.collect(),
            limit: parts(Self::LIMIT, PARTS_PER_CORE),
        })
    }

    /// Sets the load that a core should carry at most, 1.0 for a whole core.
    ///
    /// # Panics
    /// Panics if `limit` is negative or not a number.
    #[must_use]
    pub fn with_limit(mut self, limit: f64) -> Self {
        assert!(limit >= 0.0, "the limit is a load: 0.0 or more, 1.0 for a whole core");
        self.limit = parts(limit, PARTS_PER_CORE);
        self
    }

    fn interference(&self, chain: &Hops, cores: &[usize], load: &[u64]) -> u64 {
        let mut foreign = load.to_vec();
        for &node in &chain.members {
            foreign[cores[node]] -= self.loads[node];
        }
        chain.visits.iter().map(|&node| foreign[cores[node]]).sum()
    }
}

impl CostModel for LoadModel {
    /// O(nodes + edges + chains * cores + hops).
    ///
    /// # Panics
    /// Panics if `assignment` has fewer nodes than the loads of the model.
    fn cost(&self, assignment: &Assignment) -> Cost {
        let cores = assignment.cores();
        let mut load = vec![0; assignment.core_count()];
        for (node, parts) in self.loads.iter().enumerate() {
            load[cores[node]] += parts;
        }
        let overload: u64 = load.iter().map(|load| load.saturating_sub(self.limit)).sum();
        let interference = self.chains.iter().map(|chain| self.interference(chain, cores, &load));
        let cross = self.edges.iter().filter(|(from, to, _)| cores[*from] != cores[*to]);
        Cost {
            overload_percent: overload.div_ceil(PARTS_PER_PERCENT),
            interference_percent: interference.sum::<u64>().div_ceil(PARTS_PER_PERCENT),
            peak_percent: load.into_iter().max().unwrap_or(0).div_ceil(PARTS_PER_PERCENT),
            cross_messages_per_second: cross.map(|edge| edge.2).sum::<u64>() / RATE_PARTS as u64,
        }
    }
}

/// Looks up validated names.
fn index_of(loads: &Loads) -> impl Fn(&str) -> usize {
    let nodes = loads.loops.iter().enumerate();
    let by_name: std::collections::BTreeMap<&str, usize> =
        nodes.map(|(index, node)| (node.name.as_str(), index)).collect();
    move |name| by_name[name]
}

/// `value` in units of which one is `scale` parts, rounded to nearest.
fn parts(value: f64, scale: f64) -> u64 {
    // In range by the clamp; validated inputs are never NaN.
    (value * scale).round().min(LARGEST_PARTS) as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::chain::Chain;
    use crate::loads::{Edge, LoopLoad};

    /// Nodes `/0`, `/1`, ... with these utilizations, edges and chains by index.
    pub(crate) fn loads_of(
        utilizations: &[f64],
        edges: &[(usize, usize, f64)],
        chains: &[&[usize]],
    ) -> Loads {
        let name = |index: usize| format!("/{index}");
        Loads {
            loops: (0..utilizations.len())
                .map(|i| LoopLoad { name: name(i), utilization: utilizations[i] })
                .collect(),
            edges: edges
                .iter()
                .map(|&(from, to, messages_per_second)| Edge {
                    from: name(from),
                    to: name(to),
                    messages_per_second,
                })
                .collect(),
            chains: (chains.iter().enumerate())
                .map(|(i, path)| Chain::new(i.to_string(), path.iter().map(|&step| name(step))))
                .collect(),
        }
    }

    fn cost(loads: &Loads, cores: &[usize]) -> Cost {
        let assignment = Assignment::new(loads.names(), cores.to_vec(), 3);
        LoadModel::new(loads).unwrap().cost(&assignment)
    }

    #[test]
    fn overload_counts_what_is_above_the_limit() {
        let loads = loads_of(&[0.6, 0.5, 0.4], &[], &[]);
        assert_eq!(cost(&loads, &[0, 0, 0]).overload_percent, 70);
        assert_eq!(cost(&loads, &[0, 0, 1]).overload_percent, 30);
        assert_eq!(cost(&loads, &[0, 1, 2]).overload_percent, 0);
        let model = LoadModel::new(&loads).unwrap().with_limit(1.0);
        assert_eq!(model.cost(&Assignment::new(loads.names(), vec![1; 3], 2)).overload_percent, 50);
    }

    #[test]
    fn interference_counts_strangers_at_every_hop() {
        // Node 1 is visited twice, counts once as a member and twice as a hop; 3 is the stranger.
        let loads = loads_of(&[0.1, 0.1, 0.1, 0.2], &[], &[&[0, 1, 2, 1]]);
        assert_eq!(cost(&loads, &[0, 0, 0, 1]).interference_percent, 0);
        assert_eq!(cost(&loads, &[0, 0, 0, 0]).interference_percent, 80);
        assert_eq!(cost(&loads, &[0, 1, 2, 1]).interference_percent, 40);
        assert_eq!(cost(&loads, &[0, 1, 2, 2]).interference_percent, 20);
    }

    #[test]
    fn peak_and_cross_core_rate() {
        let loads = loads_of(&[0.3, 0.2, 0.1], &[(0, 1, 10.0), (1, 2, 2.5), (2, 2, 99.0)], &[]);
        let cost = |cores| {
            let cost = cost(&loads, cores);
            (cost.peak_percent, cost.cross_messages_per_second)
        };
        assert_eq!(cost(&[0, 0, 0]), (60, 0));
        assert_eq!(cost(&[0, 1, 1]), (30, 10));
        assert_eq!(cost(&[0, 1, 0]), (40, 12));
    }

    #[test]
    fn the_scalar_is_monotone_and_does_not_overflow() {
        let values = [0, 1, 4094, 4095, 4096, 65_534, 131_071, 262_143, u64::MAX];
        let mut costs = Vec::new();
        for overload_percent in values {
            for interference_percent in values {
                for peak_percent in values {
                    for cross_messages_per_second in values {
                        costs.push(Cost {
                            overload_percent,
                            interference_percent,
                            peak_percent,
                            cross_messages_per_second,
                        });
                    }
                }
            }
        }
        costs.sort_unstable();
        assert!(costs.is_sorted_by_key(Cost::scalar));
        assert_eq!(costs[0].scalar(), 0);
        assert_eq!(costs[costs.len() - 1].scalar(), i64::MAX);
        let small = Cost { cross_messages_per_second: 1, ..Cost::default() };
        let large = Cost { peak_percent: 1, ..Cost::default() };
        assert!(0 < small.scalar() && small.scalar() < large.scalar());
    }

    #[test]
    fn extreme_inputs_do_not_overflow() {
        let loads = loads_of(&[f64::MAX; 3], &[(0, 1, f64::MAX)], &[&[0, 1], &[2]]);
        assert!(cost(&loads, &[0, 1, 1]) < cost(&loads, &[0, 0, 0]));
    }
}
