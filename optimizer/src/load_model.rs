//! What an assignment costs, estimated from the loads alone in a microsecond.
//!
//! # Why integers
//! Costs are integers in documented units, rounded once per loop and edge, so that the order of a
//! sum cannot matter: renaming the cores or running on another machine gives the same cost to the
//! last bit, which a search that must be reproducible from its seed needs. The unit is coarse:
//! loads are counted in percent of a core, so differences below the noise of a measurement are
//! ties, and leave the decision to the terms that follow.

use crate::assignment::Assignment;
use crate::cost_model::CostModel;
use crate::evaluation::ModelError;
use crate::loads::{Loads, LoadsError};
use crate::objective::Score;

/// What an assignment costs; the fields are compared from the first to the last, less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    /// Load above what the cores should carry, summed over the cores, in percent of a core.
    pub overload_percent: u64,
    /// How much foreign work delays the chains, in percent of a core, summed over their hops and
    /// weighted.
    pub interference_percent: u64,
    /// The load of the busiest core, in percent of a core.
    pub peak_percent: u64,
    /// Messages per second that cross from one core to another.
    pub cross_messages_per_second: u64,
}

impl Cost {
    /// The fields as a score, in their order.
    pub fn to_score(self) -> Score {
        Score::new([
            self.overload_percent,
            self.interference_percent,
            self.peak_percent,
            self.cross_messages_per_second,
        ])
    }
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
/// 2. *Interference*: for every chain and every hop of it, the load that loops outside the
///    chain put on the core of that hop. It stands for the chance to find the core busy with
///    something else on arrival, hence for the wait.
/// 3. *Peak*: the load of the busiest core.
/// 4. *Cross-core rate*: messages whose two ends are on different cores.
#[derive(Clone, Debug)]
pub struct LoadModel {
    names: Vec<String>,
    loads: Vec<u64>,
    edges: Vec<(usize, usize, u64)>,
    chains: Vec<Hops>,
    limit: u64,
}

/// One chain by loop index.
#[derive(Clone, Debug)]
struct Hops {
    visits: Vec<usize>,
    /// The visited loops, each once.
    members: Vec<usize>,
    weight: f64,
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
            let visits: Vec<usize> = chain.path.iter().map(|step| index(step)).collect();
            let mut members = visits.clone();
            members.sort_unstable();
            members.dedup();
            Hops { visits, members, weight: chain.weight }
        });
        let edges = loads.edges.iter().map(|edge| {
            let rate = parts(edge.messages_per_second, RATE_PARTS);
            (index(&edge.from), index(&edge.to), rate)
        });
        Ok(Self {
            names: loads.names(),
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

    /// What `assignment` costs. O(loops + edges + chains * cores + hops).
    ///
    /// # Panics
    /// Panics if `assignment` has fewer loops than the loads of the model.
    pub fn cost(&self, assignment: &Assignment) -> Cost {
        let cores = assignment.cores();
        let mut load = vec![0; assignment.core_count()];
        for (index, parts) in self.loads.iter().enumerate() {
            load[cores[index]] += parts;
        }
        let overload: u64 = load.iter().map(|load| load.saturating_sub(self.limit)).sum();
        let interference = self.chains.iter().map(|chain| self.interference(chain, cores, &load));
        let cross = self.edges.iter().filter(|(from, to, _)| cores[*from] != cores[*to]);
        Cost {
            overload_percent: overload.div_ceil(PARTS_PER_PERCENT),
            interference_percent: interference
                .fold(0, u64::saturating_add)
                .div_ceil(PARTS_PER_PERCENT),
            peak_percent: load.into_iter().max().unwrap_or(0).div_ceil(PARTS_PER_PERCENT),
            cross_messages_per_second: cross.map(|edge| edge.2).sum::<u64>() / RATE_PARTS as u64,
        }
    }

    fn interference(&self, chain: &Hops, cores: &[usize], load: &[u64]) -> u64 {
        let mut foreign = load.to_vec();
        for &member in &chain.members {
            foreign[cores[member]] -= self.loads[member];
        }
        let sum: u64 = chain.visits.iter().map(|&visit| foreign[cores[visit]]).sum();
        (sum as f64 * chain.weight).round() as u64
    }
}

impl CostModel for LoadModel {
    fn loops(&self) -> &[String] {
        &self.names
    }

    fn score(&self, assignment: &Assignment) -> Result<Score, ModelError> {
        Ok(self.cost(assignment).to_score())
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
        let mut weighted = loads.clone();
        weighted.chains[0].weight = 0.5;
        assert_eq!(cost(&weighted, &[0, 0, 0, 0]).interference_percent, 40);
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
    fn extreme_inputs_do_not_overflow() {
        let loads = loads_of(&[f64::MAX; 3], &[(0, 1, f64::MAX)], &[&[0, 1], &[2]]);
        assert!(cost(&loads, &[0, 1, 1]) < cost(&loads, &[0, 0, 0]));
    }
}
