//! The loads of a graph: input of the heuristics and of [`LoadModel`](crate::LoadModel).

use std::collections::BTreeSet;

use thiserror::Error;

use crate::assignment::Assignment;
use crate::chain::Chain;
use crate::evaluation::{Model, ModelError};

/// The load of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// The event loops, in order of creation; an assignment uses the same indices.
    pub loops: Vec<LoopLoad>,
    /// The message rates between loops.
    pub edges: Vec<Edge>,
    /// The chains to optimize.
    pub chains: Vec<Chain>,
    /// The loops with a timer whose jitter is limited.
    pub punctual: Vec<String>,
}

/// The utilization of one event loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopLoad {
    /// The name as in a mapping: `/node`, or `/node:group` for one callback group.
    pub name: String,
    /// Busy seconds per second on the reference core. Above 1.0, no core can keep up.
    pub utilization: f64,
}

/// The message rate from one event loop to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The publishing loop.
    pub from: String,
    /// The subscribing loop.
    pub to: String,
    /// The mean rate.
    pub messages_per_second: f64,
}

/// The reason why loads are invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LoadsError {
    /// The graph has no loops.
    #[error("the graph has no event loops; measure one that has some")]
    NoLoops,
    /// Two loops have the same name.
    #[error("loop `{name}` is listed twice; merge the two and add their utilizations")]
    DuplicateLoop {
        /// The name that appears twice.
        name: String,
    },
    /// Two chains have the same name.
    #[error("chain `{name}` is listed twice; rename one of the two")]
    DuplicateChain {
        /// The name that appears twice.
        name: String,
    },
    /// An edge or a chain names a loop that is not listed.
    #[error("{place} names loop `{name}`, which is not listed; add it to the loops or correct it")]
    UnknownLoop {
        /// The edge or chain.
        place: String,
        /// The name that is not listed.
        name: String,
    },
    /// A chain without loops.
    #[error("chain `{name}` has no path; list the loops that a sample visits, or remove it")]
    EmptyChain {
        /// The name of the chain.
        name: String,
    },
    /// A number that is negative, infinite or not a number.
    #[error("{place} is {value}; it must be finite and not negative")]
    BadNumber {
        /// The entity that the number belongs to.
        place: String,
        /// The number.
        value: f64,
    },
}

impl Loads {
    /// Checks that names refer to listed loops and that numbers are usable. O(n log n) in the size
    /// of the graph.
    ///
    /// # Errors
    /// The first problem found, as a [`LoadsError`].
    pub fn validate(&self) -> Result<(), LoadsError> {
        if self.loops.is_empty() {
            return Err(LoadsError::NoLoops);
        }
        let mut loops = BTreeSet::new();
        for node in &self.loops {
            if !loops.insert(node.name.as_str()) {
                return Err(LoadsError::DuplicateLoop { name: node.name.clone() });
            }
            check_number(node.utilization, || format!("the utilization of `{}`", node.name))?;
        }
        for edge in &self.edges {
            let place = || format!("the edge from `{}` to `{}`", edge.from, edge.to);
            check_loops([&edge.from, &edge.to], &loops, place)?;
            check_number(edge.messages_per_second, || format!("the rate of {}", place()))?;
        }
        let names = self.names();
        check_loops(&self.punctual, &loops, || "the list of punctual loops".to_owned())?;
        let mut chains = BTreeSet::new();
        for chain in &self.chains {
            if !chains.insert(chain.name.as_str()) {
                return Err(LoadsError::DuplicateChain { name: chain.name.clone() });
            }
            if chain.path.is_empty() {
                return Err(LoadsError::EmptyChain { name: chain.name.clone() });
            }
            let place = || format!("chain `{}`", chain.name);
            if let Err(name) = chain.resolve(&names) {
                return Err(LoadsError::UnknownLoop { place: place(), name });
            }
            check_number(chain.weight, || format!("the weight of {}", place()))?;
        }
        Ok(())
    }

    /// Derives the utilizations from `model`: the busy time of each loop on a core of its own.
    /// Takes one evaluation. Edges stay empty; only a [`LoadModel`](crate::LoadModel) would use
    /// them.
    ///
    /// ```
    /// # use ringspin_optimizer::{Assignment, Chain, Evaluation, Loads, Model, ModelError};
    /// struct Half([String; 1]);
    ///
    /// impl Model for Half {
    ///     fn loops(&self) -> &[String] { &self.0 }
    ///     fn chains(&self) -> &[Chain] { &[] }
    ///     fn evaluate(&self, _: &Assignment) -> Result<Evaluation, ModelError> {
    ///         Ok(Evaluation { core_loads: vec![0.5], cores_used: 1, ..Evaluation::default() })
    ///     }
    /// }
    ///
    /// let loads = Loads::of_model(&Half(["/fusion".into()]))?;
    /// assert_eq!(loads.loops[0].utilization, 0.5);
    /// # Ok::<(), ModelError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the model.
    pub fn of_model<M: Model + ?Sized>(model: &M) -> Result<Self, ModelError> {
        let names = model.loops();
        let apart = Assignment::new(names, (0..names.len()).collect(), names.len());
        let core_loads = model.evaluate(&apart)?.core_loads;
        if core_loads.len() != names.len() {
            let (loads, cores) = (core_loads.len(), names.len());
            return Err(format!("the model gave the loads of {loads} cores, not of {cores}").into());
        }
        let named = names.iter().zip(core_loads);
        let loops = named.map(|(name, utilization)| LoopLoad { name: name.clone(), utilization });
        Ok(Self { loops: loops.collect(), chains: model.chains().to_vec(), ..Self::default() })
    }

    /// The names of the loops, in order.
    pub fn names(&self) -> Vec<String> {
        self.loops.iter().map(|node| node.name.clone()).collect()
    }
}

fn check_number(value: f64, place: impl Fn() -> String) -> Result<(), LoadsError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(LoadsError::BadNumber { place: place(), value })
}

fn check_loops<'a>(
    names: impl IntoIterator<Item = &'a String>,
    known: &BTreeSet<&str>,
    place: impl Fn() -> String,
) -> Result<(), LoadsError> {
    match names.into_iter().find(|name| !known.contains(name.as_str())) {
        Some(name) => Err(LoadsError::UnknownLoop { place: place(), name: name.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads() -> Loads {
        let node = |name: &str| LoopLoad { name: name.into(), utilization: 0.5 };
        Loads {
            loops: vec![node("/a"), node("/b")],
            edges: vec![Edge { from: "/a".into(), to: "/b".into(), messages_per_second: 10.0 }],
            chains: vec![Chain::new("hot", ["/a", "/b"])],
            punctual: vec!["/a".into()],
        }
    }

    /// The error of `validate` after `change`.
    fn broken(change: impl FnOnce(&mut Loads)) -> LoadsError {
        let mut loads = loads();
        loads.validate().unwrap();
        change(&mut loads);
        loads.validate().unwrap_err()
    }

    #[test]
    fn loads_without_loops_are_refused() {
        assert_eq!(Loads::default().validate(), Err(LoadsError::NoLoops));
    }

    #[test]
    fn duplicate_names_are_refused() {
        let name = "/a".to_owned();
        let error = broken(|p| p.loops[1].name = "/a".to_owned());
        assert_eq!(error, LoadsError::DuplicateLoop { name });
        let error = broken(|p| p.chains.push(p.chains[0].clone()));
        assert_eq!(error, LoadsError::DuplicateChain { name: "hot".to_owned() });
    }

    #[test]
    fn unknown_loops_are_refused() {
        let error = broken(|p| p.edges[0].to = "/c".to_owned()).to_string();
        assert!(error.starts_with("the edge from `/a` to `/c` names loop `/c`"), "{error}");
        assert!(matches!(
            broken(|p| p.edges[0].from = "a".to_owned()),
            LoadsError::UnknownLoop { .. }
        ));
        let error = broken(|p| p.punctual.push("/d".to_owned())).to_string();
        assert!(error.starts_with("the list of punctual loops names loop `/d`"), "{error}");
        let error = broken(|p| p.chains[0].path.push("/d".to_owned())).to_string();
        assert!(error.starts_with("chain `hot` names loop `/d`"), "{error}");
    }

    #[test]
    fn empty_chains_are_refused() {
        let error = broken(|p| p.chains[0].path.clear());
        assert_eq!(error, LoadsError::EmptyChain { name: "hot".to_owned() });
    }

    #[test]
    fn negative_and_non_finite_numbers_are_refused() {
        for value in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = broken(|p| p.loops[0].utilization = value).to_string();
            assert!(error.starts_with("the utilization of `/a` is"), "{error}");
            let error = broken(|p| p.edges[0].messages_per_second = value).to_string();
            assert!(error.starts_with("the rate of the edge from `/a` to `/b` is"), "{error}");
            let error = broken(|p| p.chains[0].weight = value).to_string();
            assert!(error.starts_with("the weight of chain `hot` is"), "{error}");
        }
    }
}
