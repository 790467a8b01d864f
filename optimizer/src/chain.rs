//! Chains: paths through the graph whose latency is optimized.

use std::time::Duration;

/// A path through the graph with its deadline and its weight in the objective.
///
/// ```
/// use std::time::Duration;
/// use ringspin_optimizer::Chain;
///
/// let chain = Chain::new("hot path", ["/lidar", "/fusion", "/planner"])
///     .with_deadline(Duration::from_millis(50))
///     .with_weight(2.0);
/// assert_eq!(chain.path.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Its name, used in reports.
    pub name: String,
    /// The steps of a sample, first to last, as in a [`ChainPath`](ringspin_modes::ChainPath): an
    /// event loop, `/node` or `/node:group`, or one of its callbacks, `/node subscription /points`.
    /// Parallel branches are joined by `|`, and the last one to arrive counts. A loop that is
    /// visited twice appears twice.
    pub path: Vec<String>,
    /// The longest latency from release to end; a longer one is a miss, and so is a lost sample.
    pub deadline: Option<Duration>,
    /// The weight relative to other chains, 1.0 unless set. A chain of weight 0.0 is measured and
    /// reported, but not optimized.
    pub weight: f64,
}

impl Chain {
    /// Creates a chain of weight 1.0 without a deadline.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        path: impl IntoIterator<Item = S>,
    ) -> Self {
        let path = path.into_iter().map(Into::into).collect();
        Self { name: name.into(), path, deadline: None, weight: 1.0 }
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Sets the weight. It must be finite and not negative, which is checked where the chain is
    /// used.
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The loops of each step, by index into `names`: several for parallel branches and for a node
    /// with several callback groups. The error is the first step that names no loop.
    pub(crate) fn resolve(&self, names: &[String]) -> Result<Vec<Vec<usize>>, String> {
        self.path.iter().map(|step| loops_of(step, names)).collect()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(path: &[&str]) -> Result<Vec<Vec<usize>>, String> {
        let names = ["/front", "/rear", "/fusion", "/fusion:settings", "/fusion2"];
        Chain::new("chain", path.iter().copied()).resolve(&names.map(String::from))
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
