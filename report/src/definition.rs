//! The two definitions of the hot path's latency, and the floor of each.

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

    /// The floor of the latency series `name`, in nanoseconds, for crunches of `crunch_ns`; `None`
    /// for another series, or an unknown crunch.
    #[must_use]
    pub fn floor_ns(name: &str, crunch_ns: u64) -> Option<u64> {
        let definition = Self::ALL.into_iter().find(|of| of.name() == name)?;
        (crunch_ns > 0).then(|| u64::from(definition.floor_crunches()) * crunch_ns)
    }
}
