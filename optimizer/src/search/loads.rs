//! The input of the heuristics: the utilization of each loop, and chains by loop index.

use std::collections::BTreeSet;

use ringspin_executor::{Error, ErrorKind, Result};

use crate::evaluation::Model;
use ringspin_modes::Chain;

/// The loads of the loops of a model, in the order of [`Model::loops`].
pub(super) struct Loads {
    /// Busy seconds per second on a core. Above 1.0, no core can keep up.
    pub(super) utilizations: Vec<f64>,
    /// The chains of positive weight by falling weight, equal ones in their order: the loops of
    /// each step.
    pub(super) chains: Vec<Vec<Vec<usize>>>,
    /// Whether a timer of the loop has a limited jitter.
    pub(super) punctual: Vec<bool>,
}

impl Loads {
    /// Checks the names and numbers of `model` and derives its loads. Takes one evaluation.
    pub(super) fn of(model: &dyn Model) -> Result<Self> {
        let names = model.loops();
        if names.is_empty() {
            let text = "the graph has no event loops; measure one that has some";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let mut seen = BTreeSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
            let text =
                format!("loop `{name}` is listed twice; merge the two and add their utilizations");
            return Err(Error::new(ErrorKind::AlreadyExists, text).in_node(name));
        }
        let chains = chains(model, names)?;
        let utilizations = model.utilizations()?;
        if utilizations.len() != names.len() {
            let (loads, cores) = (utilizations.len(), names.len());
            let text = format!("the model gave the loads of {loads} cores, not of {cores}");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        for (name, utilization) in names.iter().zip(&utilizations) {
            check_number(*utilization, || format!("the utilization of `{name}`"))?;
        }
        let limited = model.timers().iter().filter(|timer| timer.limit.is_some());
        let limited: BTreeSet<_> =
            limited.filter_map(|timer| timer.name.split_whitespace().next()).collect();
        let punctual = names.iter().map(|name| limited.contains(name.as_str())).collect();
        Ok(Self { utilizations, chains, punctual })
    }
}

/// The chains of positive weight by loop index, the heaviest first.
fn chains(model: &dyn Model, names: &[String]) -> Result<Vec<Vec<Vec<usize>>>> {
    let mut seen = BTreeSet::new();
    let mut chains = Vec::new();
    for chain in model.chains() {
        let name = &chain.name;
        if !seen.insert(name) {
            let text = format!("chain `{name}` is listed twice; rename one of the two");
            return Err(Error::new(ErrorKind::AlreadyExists, text));
        }
        if chain.steps.is_empty() {
            let text = format!(
                "chain `{name}` has no path; list the loops that a sample visits, or remove it"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let steps = resolve(chain, names).map_err(|unknown| {
            let text = format!(
                "chain `{name}` names loop `{unknown}`, which is not listed; add it to the loops \
                 or correct it"
            );
            Error::new(ErrorKind::NotFound, text).in_node(unknown)
        })?;
        check_number(chain.weight, || format!("the weight of chain `{name}`"))?;
        if chain.weight > 0.0 {
            chains.push((chain.weight, steps));
        }
    }
    chains.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(chains.into_iter().map(|(_, steps)| steps).collect())
}

/// The loops of each step, by index into `names`: several for parallel branches and for a node with
/// several callback groups. The error is the first step that names no loop.
fn resolve(chain: &Chain, names: &[String]) -> Result<Vec<Vec<usize>>, String> {
    chain.steps.iter().map(|step| loops_of(step, names)).collect()
}

/// The loops of one step.
fn loops_of(step: &str, names: &[String]) -> Result<Vec<usize>, String> {
    let mut loops = Vec::new();
    for branch in step.split('|') {
        let name = branch.split_whitespace().next().unwrap_or_default();
        // A name without the slash is relative to the root.
        let name = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
        let exact = names.iter().position(|other| *other == name);
        let of_node = |other: &str| other.strip_prefix(&name).is_some_and(|it| it.starts_with(':'));
        let groups = (0..names.len()).filter(|&index| of_node(&names[index]));
        let found: Vec<usize> = exact.into_iter().chain(groups).collect();
        if found.is_empty() {
            return Err(name);
        }
        loops.extend(found);
    }
    Ok(loops)
}

fn check_number(value: f64, place: impl Fn() -> String) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    let text = format!("{} is {value}; it must be finite and not negative", place());
    Err(Error::new(ErrorKind::InvalidArgument, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::toy::Toy;

    /// The text of the error for a toy after `change`.
    fn broken(change: impl FnOnce(&mut Toy)) -> String {
        let mut toy = Toy::random(2, 1.0, 0.5, 0);
        toy.chains = vec![Chain::new("hot", ["/0", "/1"])];
        assert!(Loads::of(&toy).is_ok());
        change(&mut toy);
        Loads::of(&toy).err().unwrap().to_string()
    }

    #[test]
    fn duplicate_names_are_refused() {
        let error = broken(|toy| toy.names[1] = "/0".to_owned());
        assert!(error.starts_with("loop `/0` is listed twice"), "{error}");
        let error = broken(|toy| toy.chains.push(toy.chains[0].clone()));
        assert!(error.starts_with("chain `hot` is listed twice"), "{error}");
    }

    #[test]
    fn empty_chains_and_unknown_loops_are_refused() {
        let error = broken(|toy| toy.chains[0].steps.clear());
        assert!(error.starts_with("chain `hot` has no path"), "{error}");
        let error = broken(|toy| toy.chains[0].steps.push("/d".to_owned()));
        assert!(error.starts_with("chain `hot` names loop `/d`"), "{error}");
    }

    #[test]
    fn negative_and_non_finite_numbers_are_refused() {
        for value in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = broken(|toy| toy.chains[0].weight = value);
            assert!(error.starts_with("the weight of chain `hot` is"), "{error}");
            let error = check_number(value, || "the load".into()).unwrap_err().to_string();
            assert!(error.starts_with("the load is"), "{error}");
        }
    }

    #[test]
    fn heaviest_chain_comes_first_and_one_without_weight_not_at_all() {
        let mut toy = Toy::random(3, 1.0, 0.5, 0);
        let chain =
            |n: usize, weight| Chain::new(n.to_string(), [format!("/{n}")]).with_weight(weight);
        toy.chains = vec![chain(0, 1.0), chain(1, 0.0), chain(2, 2.0)];
        assert_eq!(Loads::of(&toy).unwrap().chains, [[[2]], [[0]]]);
    }

    fn resolved(path: &[&str]) -> Result<Vec<Vec<usize>>, String> {
        let names = ["/front", "/rear", "/fusion", "/fusion:settings", "/fusion2"];
        resolve(&Chain::new("chain", path.iter().copied()), &names.map(String::from))
    }

    #[test]
    fn steps_are_loops_callbacks_or_branches() {
        assert_eq!(
            resolved(&["/front | /rear", "/fusion:settings"]),
            Ok(vec![vec![0, 1], vec![3]])
        );
        assert_eq!(resolved(&["rear subscription /points"]), Ok(vec![vec![1]]));
        assert_eq!(resolved(&["/fusion"]), Ok(vec![vec![2, 3]]), "all groups of the node");
    }

    #[test]
    fn unknown_steps_are_named_in_the_error() {
        assert_eq!(resolved(&["/front", "/rear | /planner"]), Err("/planner".to_owned()));
        assert_eq!(resolved(&["/front:settings"]), Err("/front:settings".to_owned()));
        assert_eq!(resolved(&["/front |"]), Err("/".to_owned()));
    }
}
