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
    /// The event loops that a sample visits, first to last, named as a mapping names them: `/node`,
    /// or `/node:group` for one callback group. A loop that is visited twice is named twice.
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
}
