//! The latency of the hot path in its two definitions.

use serde::{Deserialize, Serialize};

use crate::summary::Summary;

/// A definition of the hot path's latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Upstream's: from the start of the newer lidar's callback to the start of the collision
    /// estimator's. A schedule can improve it by delaying a lidar.
    SampleToStart,
    /// From the due time of the newer lidar's timer to the end of the collision estimator's
    /// callback: the latency that a user feels.
    ReleaseToEnd,
}

impl Definition {
    /// Both definitions.
    pub const ALL: [Self; 2] = [Self::SampleToStart, Self::ReleaseToEnd];

    /// The name in tables and charts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SampleToStart => "sample to start",
            Self::ReleaseToEnd => "release to end",
        }
    }

    /// The sequential crunches on the path, its lower bound on enough cores: a transformer, fusion,
    /// filter and detector, and to the end the estimator. On one core, the other transformer is one
    /// more.
    #[must_use]
    pub fn floor_crunches(self) -> u32 {
        match self {
            Self::SampleToStart => 4,
            Self::ReleaseToEnd => 5,
        }
    }
}

/// The latency of the hot path in both definitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotPath {
    /// From sample to start.
    pub sample_to_start: Latencies,
    /// From release to end.
    pub release_to_end: Latencies,
}

impl HotPath {
    /// The latencies by one definition.
    #[must_use]
    pub fn by(&self, definition: Definition) -> &Latencies {
        match definition {
            Definition::SampleToStart => &self.sample_to_start,
            Definition::ReleaseToEnd => &self.release_to_end,
        }
    }
}

/// The counted latencies of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Their summary.
    pub summary: Summary,
    /// Each of them, in order, in nanoseconds.
    pub latencies_ns: Vec<u64>,
}

impl Latencies {
    /// Summarizes latencies. Sorts a copy of the series.
    #[must_use]
    pub fn of(latencies_ns: Vec<u64>) -> Self {
        Self { summary: Summary::of(&latencies_ns), latencies_ns }
    }
}
