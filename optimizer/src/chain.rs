//! A chain: the path through the graph whose latency counts.

use std::time::Duration;

/// A path through the graph whose latency counts, what it may take, and how much it counts.
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
    /// The name, for reports.
    pub name: String,
    /// The steps that a sample takes, first to last, as a [`ChainPath`](ringspin_modes::ChainPath)
    /// has them: an event loop, `/node` or `/node:group`, or one of its callbacks, `/node
    /// subscription /points`; parallel branches of which the last one counts are joined by `|`.
    /// A loop that is visited twice is named twice.
    pub path: Vec<String>,
    /// How long a sample may take from the begin of the path to its end; longer is a miss.
    pub deadline: Option<Duration>,
    /// How much the chain counts beside the others: 1.0 unless set. A chain of weight 0.0 is
    /// measured and reported, but not optimized.
    pub weight: f64,
}

impl Chain {
    /// A chain of weight 1.0 without a deadline.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        path: impl IntoIterator<Item = S>,
    ) -> Self {
        let path = path.into_iter().map(Into::into).collect();
        Self { name: name.into(), path, deadline: None, weight: 1.0 }
    }

    /// Sets how long a sample may take.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Sets how much the chain counts. Whoever uses the chain checks that it is finite and not
    /// negative.
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The loops of each step, by index into `names`: several for parallel branches, and for a node
    /// with several callback groups. The error is what names no loop.
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
    fn what_names_no_loop_is_told() {
        assert_eq!(resolved(&["/front", "/rear | /planner"]), Err("/planner".to_owned()));
        assert_eq!(resolved(&["/front:settings"]), Err("/front:settings".to_owned()));
        assert_eq!(resolved(&["/front |"]), Err("/".to_owned()));
    }
}
