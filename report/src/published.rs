//! Published figures of other executors on the same workload, with their sources.
//!
//! They come from other machines: compare orders of magnitude and trends over N, never factors.
//! Every figure is the hot path's latency to the *start* of the collision estimator's callback, in
//! milliseconds.

/// The source of [`PAPER`].
pub const PAPER_SOURCE: &str = "ring-buffer executor paper (Klepsydra), Table I: \
    Raspberry Pi 4B, 4 cores at 1.5 GHz, ROS 2 Galactic, 90 s";

/// The source of [`RCLCPP`].
pub const RCLCPP_SOURCE: &str = "rclcpp 28.1.6 (ROS 2 Jazzy), Fast DDS: \
    2 virtual x86-64 cores, 15 s runs";

/// Resident memory of the rclcpp process of [`RCLCPP`], in megabytes.
pub const RCLCPP_RESIDENT_MB: f64 = 81.0;

/// The best standard deviation of the planner's period among [`RCLCPP`], in milliseconds
/// ([`RclcppExecutor::Prioritized`]).
pub const RCLCPP_PLANNER_STD_MS: f64 = 0.02;

/// Minimum, average, maximum and standard deviation, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Minimum, in milliseconds.
    pub min_ms: f64,
    /// Average, in milliseconds.
    pub avg_ms: f64,
    /// Maximum, in milliseconds.
    pub max_ms: f64,
    /// Standard deviation, in milliseconds.
    pub std_ms: f64,
}

/// Average and maximum, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AvgMax {
    /// Average, in milliseconds.
    pub avg_ms: f64,
    /// Maximum, in milliseconds.
    pub max_ms: f64,
}

/// The executors of the paper's Table I.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperExecutor {
    /// The paper's executor, based on ring buffers.
    RingBuffer,
    /// rclcpp's multi-threaded executor.
    MultiThreaded,
    /// rclcpp's static single-threaded executor.
    StaticSingleThreaded,
    /// rclcpp's single-threaded executor.
    SingleThreaded,
}

/// One row of the paper's Table I.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRow {
    /// The crunch limit.
    pub n: u64,
    /// The paper's ring-buffer executor.
    pub ring_buffer: Spread,
    /// rclcpp's multi-threaded executor.
    pub multi_threaded: Spread,
    /// rclcpp's static single-threaded executor.
    pub static_single_threaded: Spread,
    /// rclcpp's single-threaded executor.
    pub single_threaded: Spread,
}

const fn spread(min_ms: f64, avg_ms: f64, max_ms: f64, std_ms: f64) -> Spread {
    Spread { min_ms, avg_ms, max_ms, std_ms }
}

/// The paper's Table I, by rising N, as printed. The 22.4 ms minimum of the static executor at
/// N = 6144 is below the duration of its work (70.7 ms for the ring-buffer executor), so it is
/// likely a misprint.
pub const PAPER: &[PaperRow] = &[
    PaperRow {
        n: 64,
        ring_buffer: spread(1.0, 1.3, 2.7, 0.2),
        multi_threaded: spread(3.7, 5.4, 12.9, 0.8),
        static_single_threaded: spread(0.9, 1.0, 2.9, 0.1),
        single_threaded: spread(1.6, 1.9, 5.1, 0.3),
    },
    PaperRow {
        n: 512,
        ring_buffer: spread(1.5, 2.1, 4.3, 0.3),
        multi_threaded: spread(5.2, 7.2, 15.0, 0.9),
        static_single_threaded: spread(1.5, 1.7, 3.0, 0.2),
        single_threaded: spread(2.2, 2.5, 5.6, 0.3),
    },
    PaperRow {
        n: 1024,
        ring_buffer: spread(2.5, 2.9, 4.1, 0.2),
        multi_threaded: spread(5.5, 6.9, 15.3, 0.5),
        static_single_threaded: spread(2.9, 3.0, 4.2, 0.1),
        single_threaded: spread(3.6, 4.1, 7.5, 0.4),
    },
    PaperRow {
        n: 2048,
        ring_buffer: spread(6.7, 7.6, 10.1, 0.5),
        multi_threaded: spread(7.7, 11.9, 23.8, 2.2),
        static_single_threaded: spread(8.0, 8.8, 13.7, 0.8),
        single_threaded: spread(8.7, 9.8, 13.8, 0.8),
    },
    PaperRow {
        n: 4096,
        ring_buffer: spread(23.6, 29.1, 56.0, 5.2),
        multi_threaded: spread(23.6, 41.7, 65.0, 8.4),
        static_single_threaded: spread(32.0, 59.4, 109.7, 12.4),
        single_threaded: spread(54.2, 73.9, 142.1, 11.7),
    },
    PaperRow {
        n: 6144,
        ring_buffer: spread(70.7, 117.8, 596.0, 54.4),
        multi_threaded: spread(111.2, 172.6, 273.2, 27.6),
        static_single_threaded: spread(22.4, 407.2, 637.3, 64.3),
        single_threaded: spread(429.1, 476.1, 558.6, 30.1),
    },
    PaperRow {
        n: 8192,
        ring_buffer: spread(263.8, 504.8, 1180.1, 207.1),
        multi_threaded: spread(345.9, 527.1, 1058.8, 127.7),
        static_single_threaded: spread(396.4, 654.1, 773.9, 107.4),
        single_threaded: spread(743.4, 779.4, 787.3, 3.0),
    },
];

/// The paper's figures of `executor` at crunch limit `n`, if it printed that N.
#[must_use]
pub fn paper(n: u64, executor: PaperExecutor) -> Option<Spread> {
    let row = PAPER.iter().find(|row| row.n == n)?;
    Some(match executor {
        PaperExecutor::RingBuffer => row.ring_buffer,
        PaperExecutor::MultiThreaded => row.multi_threaded,
        PaperExecutor::StaticSingleThreaded => row.static_single_threaded,
        PaperExecutor::SingleThreaded => row.single_threaded,
    })
}

/// The executors of the rclcpp measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RclcppExecutor {
    /// `SingleThreadedExecutor`.
    Single,
    /// `StaticSingleThreadedExecutor`.
    StaticSingle,
    /// `MultiThreadedExecutor`.
    Multi,
    /// `EventsExecutor`.
    Events,
    /// Upstream's prioritized set-up, under `SCHED_RR`.
    Prioritized,
    /// Upstream's callback-group set-up, under `SCHED_RR`.
    CallbackGroups,
}

impl RclcppExecutor {
    /// Every executor, in the order of the columns of [`RCLCPP`].
    pub const ALL: [Self; 6] = [
        Self::Single,
        Self::StaticSingle,
        Self::Multi,
        Self::Events,
        Self::Prioritized,
        Self::CallbackGroups,
    ];

    /// A short name for a table.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::StaticSingle => "static single",
            Self::Multi => "multi",
            Self::Events => "events",
            Self::Prioritized => "prioritized",
            Self::CallbackGroups => "callback groups",
        }
    }

    /// Steady CPU at N = 64, as a percentage of one core.
    #[must_use]
    pub fn cpu_percent_at_64(self) -> f64 {
        [14.8, 16.6, 30.0, 3.3, 11.0, 11.0][self as usize]
    }

    /// Whether the behaviour planner starved under this executor at crunch limit `n`, which
    /// improves the latency at the expense of another node.
    #[must_use]
    pub fn starved_the_planner(self, n: u64) -> bool {
        self == Self::StaticSingle && n == 4096
    }
}

/// The rclcpp figures of one N.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RclcppRow {
    /// The crunch limit.
    pub n: u64,
    /// The lower bound of the latency on that machine, four crunches, in milliseconds.
    pub floor_ms: f64,
    /// One column per executor, in the order of [`RclcppExecutor::ALL`].
    pub executors: [AvgMax; 6],
}

const fn rclcpp_row(n: u64, floor_ms: f64, figures: [(f64, f64); 6]) -> RclcppRow {
    let mut executors = [AvgMax { avg_ms: 0.0, max_ms: 0.0 }; 6];
    let mut at = 0;
    while at < figures.len() {
        executors[at] = AvgMax { avg_ms: figures[at].0, max_ms: figures[at].1 };
        at += 1;
    }
    RclcppRow { n, floor_ms, executors }
}

/// The rclcpp figures, by rising N.
#[rustfmt::skip]
pub const RCLCPP: &[RclcppRow] = &[
    rclcpp_row(64, 0.018,
        [(1.26, 1.84), (1.30, 2.03), (2.93, 8.2), (0.33, 0.45), (0.47, 2.3), (0.88, 5.4)]),
    rclcpp_row(512, 0.80,
        [(2.47, 3.96), (2.49, 15.3), (3.37, 8.5), (1.24, 1.83), (1.32, 2.20), (1.94, 5.6)]),
    rclcpp_row(1024, 2.64,
        [(6.84, 15.3), (4.80, 8.2), (5.65, 14.5), (3.57, 5.5), (3.01, 4.9), (3.88, 6.6)]),
    rclcpp_row(2048, 9.7,
        [(20.4, 32.4), (14.3, 22.9), (13.9, 50.0), (18.5, 50.0), (14.3, 20.7), (11.6, 19.6)]),
    rclcpp_row(4096, 35.6,
        [(309.0, 451.0), (47.0, 64.0), (67.0, 191.0), (434.0, 754.0), (56.0, 89.0), (54.0, 89.0)]),
];

/// All rclcpp figures at crunch limit `n`, if that N was measured.
#[must_use]
pub fn rclcpp_at(n: u64) -> Option<&'static RclcppRow> {
    RCLCPP.iter().find(|row| row.n == n)
}

/// The rclcpp figures of `executor` at crunch limit `n`, if that N was measured.
#[must_use]
pub fn rclcpp(n: u64, executor: RclcppExecutor) -> Option<AvgMax> {
    rclcpp_at(n).map(|row| row.of(executor))
}

impl RclcppRow {
    /// The figures of `executor`.
    #[must_use]
    pub fn of(&self, executor: RclcppExecutor) -> AvgMax {
        self.executors[executor as usize]
    }

    /// The best executors, in the order of the columns: those of the lowest average and the lowest
    /// maximum; if one of them starved the planner, also the best one that did not.
    #[must_use]
    pub fn best(&self) -> Vec<RclcppExecutor> {
        let starved = |executor: &RclcppExecutor| executor.starved_the_planner(self.n);
        let fair: Vec<_> = RclcppExecutor::ALL.into_iter().filter(|e| !starved(e)).collect();
        let lowest = |among: &[RclcppExecutor], figure: fn(AvgMax) -> f64| {
            among.iter().copied().min_by(|a, b| figure(self.of(*a)).total_cmp(&figure(self.of(*b))))
        };
        let best = [&RclcppExecutor::ALL[..], &fair].map(|among| {
            [lowest(among, |figures| figures.avg_ms), lowest(among, |figures| figures.max_ms)]
        });
        let is_best = |executor: &RclcppExecutor| best.as_flattened().contains(&Some(*executor));
        RclcppExecutor::ALL.into_iter().filter(is_best).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_is_looked_up_by_n_and_executor() {
        assert_eq!(paper(4096, PaperExecutor::RingBuffer), Some(spread(23.6, 29.1, 56.0, 5.2)));
        let single = paper(8192, PaperExecutor::SingleThreaded).unwrap();
        assert_eq!((single.min_ms, single.std_ms), (743.4, 3.0));
        assert_eq!(paper(100, PaperExecutor::RingBuffer), None);
    }

    #[test]
    fn every_published_figure_is_ordered() {
        for row in PAPER {
            for executor in [
                row.ring_buffer,
                row.multi_threaded,
                row.static_single_threaded,
                row.single_threaded,
            ] {
                assert!(executor.min_ms <= executor.avg_ms && executor.avg_ms <= executor.max_ms);
            }
        }
        for row in RCLCPP {
            assert!(row.executors.iter().all(|f| f.avg_ms <= f.max_ms && row.floor_ms < f.avg_ms));
        }
        assert!(PAPER.is_sorted_by_key(|row| row.n) && RCLCPP.is_sorted_by_key(|row| row.n));
    }

    #[test]
    fn rclcpp_is_looked_up_by_n_and_executor() {
        let prioritized = rclcpp(1024, RclcppExecutor::Prioritized).unwrap();
        assert_eq!((prioritized.avg_ms, prioritized.max_ms), (3.01, 4.9));
        assert_eq!(rclcpp(6144, RclcppExecutor::Single), None);
        assert_eq!(RclcppExecutor::Events.cpu_percent_at_64(), 3.3);
    }

    #[test]
    fn the_best_executors_include_one_without_starvation() {
        use RclcppExecutor::{CallbackGroups, Events, Prioritized, StaticSingle};
        let at = |n| rclcpp_at(n).map(RclcppRow::best).unwrap();
        assert_eq!(at(64), [Events]);
        assert_eq!(at(1024), [Prioritized]);
        assert_eq!(at(2048), [CallbackGroups]);
        // Without a starved planner, the lowest average is 54 ms and the lowest maximum 89 ms.
        assert_eq!(at(4096), [StaticSingle, Prioritized, CallbackGroups]);
        assert!(StaticSingle.starved_the_planner(4096));
        assert!(!StaticSingle.starved_the_planner(2048));
    }
}
