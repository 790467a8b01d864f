//! Cost estimates of assignments from loads alone, in a microsecond.
//!
//! # Why integers
//! Costs are integers in documented units, rounded once per loop and edge, so that no sum depends
//! on its order. Renaming the cores or running on another machine gives bit-identical costs, which
//! makes a search reproducible from its seed. The unit is coarse, percent of a core, so that
//! differences below measurement noise are ties and later terms decide.

use crate::assignment::Assignment;
use crate::cost_model::CostModel;
use crate::evaluation::ModelError;
use crate::loads::{Loads, LoadsError};
use crate::objective::Score;

/// The cost of an assignment. Fields are compared from first to last; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    /// Load above the limit per core, summed over the cores, in percent of a core.
    pub overload_percent: u64,
    /// Load of other loops on the cores of the chains, in percent of a core, summed over the hops
    /// and weighted.
    pub interference_percent: u64,
    /// The load of the busiest core, in percent of a core.
    pub peak_percent: u64,
    /// Messages per second that cross from one core to another.
    pub cross_messages_per_second: u64,
}

impl Cost {
    /// Converts to a score with the fields as terms.
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
/// Cap for larger inputs, so that no sum overflows.
const LARGEST_PARTS: f64 = 1e12;

/// A cost model based on loads alone, without simulation.
///
/// 1. *Overload*: for every core, the load above the limit (0.8 unless changed; a queue at 80 %
///    load waits four service times on average, and the wait grows steeply from there).
/// 2. *Interference*: for every hop of every chain, the load of loops outside the chain on the core
///    of that hop. It estimates the probability that the core is busy with other work on arrival,
///    and hence the wait.
/// 3. *Peak*: the load of the busiest core.
/// 4. *Cross-core rate*: messages between loops on different cores.
#[derive(Clone, Debug)]
pub struct LoadModel {
    names: Vec<String>,
    loads: Vec<u64>,
    edges: Vec<(usize, usize, u64)>,
    chains: Vec<Hops>,
    limit: u64,
}

/// A chain by loop index.
#[derive(Clone, Debug)]
struct Hops {
    visits: Vec<usize>,
    /// The visited loops, without repetition.
    members: Vec<usize>,
    weight: f64,
}

impl LoadModel {
    /// The default limit for the load of a core; see [`with_limit`](Self::with_limit).
    pub const LIMIT: f64 = 0.8;

    /// Creates the model of `loads`. O(n log n) in their size.
    ///
    /// # Errors
    /// The errors of [`Loads::validate`].
    pub fn new(loads: &Loads) -> Result<Self, LoadsError> {
        loads.validate()?;
        let index = index_of(loads);
        let names = loads.names();
        let chains = loads.chains.iter().map(|chain| {
            // Validation has resolved every step. Parallel branches count one after the other.
            let visits = chain.resolve(&names).unwrap_or_default().concat();
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
            loads: loads.loops.iter().map(|n| parts(n.utilization, PARTS_PER_CORE)).collect(),
            edges: edges.collect(),
            chains: chains.collect(),
            limit: parts(Self::LIMIT, PARTS_PER_CORE),
            names,
        })
    }

    /// Sets the limit for the load of a core; 1.0 is a whole core.
    ///
    /// # Panics
    /// Panics if `limit` is negative or not a number.
    #[must_use]
    pub fn with_limit(mut self, limit: f64) -> Self {
        assert!(limit >= 0.0, "the limit is a load: 0.0 or more, 1.0 for a whole core");
        self.limit = parts(limit, PARTS_PER_CORE);
        self
    }

    /// The cost of `assignment`. O(loops + edges + chains * cores + hops).
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

/// Looks up a validated loop name.
fn index_of(loads: &Loads) -> impl Fn(&str) -> usize {
    let nodes = loads.loops.iter().enumerate();
    let by_name: std::collections::BTreeMap<&str, usize> =
        nodes.map(|(index, node)| (node.name.as_str(), index)).collect();
    move |name| by_name[name]
}

/// Converts `value` to an integer number of parts, `scale` per unit, rounded to nearest.
fn parts(value: f64, scale: f64) -> u64 {
    // The clamp keeps the value in range; validated inputs are never NaN.
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
            ..Loads::default()
        }
    }

    fn cost(loads: &Loads, cores: &[usize]) -> Cost {
        let assignment = Assignment::new(loads.names(), cores.to_vec(), 3);
        LoadModel::new(loads).unwrap().cost(&assignment)
    }

    #[test]
    fn overload_counts_load_above_the_limit() {
        let loads = loads_of(&[0.6, 0.5, 0.4], &[], &[]);
        assert_eq!(cost(&loads, &[0, 0, 0]).overload_percent, 70);
        assert_eq!(cost(&loads, &[0, 0, 1]).overload_percent, 30);
        assert_eq!(cost(&loads, &[0, 1, 2]).overload_percent, 0);
        let model = LoadModel::new(&loads).unwrap().with_limit(1.0);
        assert_eq!(model.cost(&Assignment::new(loads.names(), vec![1; 3], 2)).overload_percent, 50);
    }

    #[test]
    fn interference_counts_other_loops_at_every_hop() {
        // Node 1 is visited twice: it counts once as a member and twice as a hop. Node 3
        // interferes.
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
    fn cost_has_the_peak_load_and_the_cross_core_rate() {
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
