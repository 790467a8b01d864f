//! Published figures of other executors on the same workload, with their sources.
//!
//! They come from other machines: compare multiples of the [floor](Definition::floor_crunches), and
//! trends over N. Only figures of one [`Transport`] belong side by side. Every figure is the hot
//! path's latency from [sample to start](Definition::SampleToStart), in milliseconds.

#[cfg(doc)]
use crate::Definition;

/// The source of [`PAPER`].
pub const PAPER_SOURCE: &str = "ring-buffer executor paper (Klepsydra), Table I: \
    Raspberry Pi 4B, 4 cores at 1.5 GHz, through the middleware of ROS 2 Galactic, 90 s";

/// The source of [`PEERS`].
pub const PEERS_SOURCE: &str = "rclcpp 28.1.6 (ROS 2 Jazzy) and an earlier ringspin in interleaved \
    turns of one run, on another machine of the same kind: 2 virtual x86-64 cores";

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

/// The way of a message from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Directly, within the process.
    InProcess,
    /// Through Fast DDS, serialized.
    FastDds,
}

impl Transport {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InProcess => "in process",
            Self::FastDds => "through Fast DDS",
        }
    }
}

/// Figures of one executor at one N.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerFigures {
    /// Mean latency, in milliseconds.
    pub mean_ms: f64,
    /// 99th percentile, in milliseconds.
    pub p99_ms: f64,
    /// Maximum, in milliseconds.
    pub max_ms: f64,
    /// CPU time as a percentage of one core.
    pub cpu_percent: f64,
}

/// An executor of the run with rclcpp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peer {
    /// Library and executor.
    pub name: &'static str,
    /// The way of its messages: only executors of one kind are comparable.
    pub transport: Transport,
    /// The figures, in the order of [`PEER_LIMITS`].
    figures: [Option<PeerFigures>; 3],
}

impl Peer {
    /// Whether it is an executor of rclcpp.
    #[must_use]
    pub fn is_rclcpp(&self) -> bool {
        self.name.starts_with("rclcpp")
    }

    /// The figures at crunch limit `n`, if that was measured.
    #[must_use]
    pub fn at(&self, n: u64) -> Option<PeerFigures> {
        self.figures[PEER_LIMITS.iter().position(|limit| *limit == n)?]
    }
}

/// The crunch limits of [`PEERS`].
pub const PEER_LIMITS: [u64; 3] = [64, 1024, 4096];

/// The time of a crunch in the run of [`PEERS`] at crunch limit `n`, in milliseconds.
#[must_use]
pub fn peer_crunch_ms(n: u64) -> Option<f64> {
    let index = PEER_LIMITS.iter().position(|limit| *limit == n)?;
    Some([0.000_875, 0.1345, 1.765][index])
}

const fn at(mean_ms: f64, p99_ms: f64, max_ms: f64, cpu_percent: f64) -> Option<PeerFigures> {
    Some(PeerFigures { mean_ms, p99_ms, max_ms, cpu_percent })
}

const fn peer(name: &'static str, transport: Transport, figures: [Option<PeerFigures>; 3]) -> Peer {
    Peer { name, transport, figures }
}

/// rclcpp's executors and an earlier ringspin in interleaved turns of one run.
#[rustfmt::skip]
pub const PEERS: [Peer; 8] = {
    use Transport::{FastDds, InProcess};
    [
        peer("rclcpp events, intra-process", InProcess,
            [at(0.067, 0.14, 0.19, 1.4), at(0.91, 1.22, 1.27, 4.6), at(10.9, 13.0, 13.1, 41.0)]),
        peer("earlier ringspin single", InProcess,
            [at(0.022, 0.039, 0.059, 0.53), at(0.73, 1.06, 1.27, 3.3), at(9.12, 11.0, 11.4, 34.0)]),
        peer("earlier ringspin multi", InProcess,
            [at(0.030, 0.057, 0.061, 0.67), at(0.74, 1.24, 1.25, 3.4), at(9.20, 13.1, 16.0, 35.0)]),
        peer("earlier ringspin hybrid", InProcess,
            [at(0.046, 0.074, 0.24, 0.78), at(0.73, 0.84, 0.86, 3.6), at(9.27, 13.6, 16.9, 35.0)]),
        peer("rclcpp events", FastDds,
            [at(0.172, 0.32, 0.39, 2.3), at(0.96, 1.08, 1.08, 5.0), at(11.5, 19.4, 24.6, 43.0)]),
        peer("rclcpp prioritized, SCHED_RR, pinned", FastDds,
            [at(0.28, 0.49, 1.05, 7.3), at(0.91, 1.10, 1.12, 10.0), at(9.00, 10.0, 10.7, 50.0)]),
        peer("rclcpp callback groups, SCHED_RR", FastDds,
            [None, at(0.87, 1.09, 1.17, 9.3), at(8.95, 11.8, 14.4, 47.0)]),
        peer("earlier ringspin single", FastDds,
            [at(0.175, 0.29, 0.33, 1.96), at(0.91, 1.86, 2.6, 4.7), at(9.37, 12.0, 14.4, 36.0)]),
    ]
};

/// The executors with this transport that were measured at crunch limit `n`.
pub fn peers_at(
    n: u64,
    transport: Transport,
) -> impl Iterator<Item = (&'static Peer, PeerFigures)> {
    let with = PEERS.iter().filter(move |peer| peer.transport == transport);
    with.filter_map(move |peer| Some((peer, peer.at(n)?)))
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
        assert!(PAPER.is_sorted_by_key(|row| row.n));
        for (peer, n) in PEERS.iter().flat_map(|peer| PEER_LIMITS.map(|n| (peer, n))) {
            let (Some(figures), Some(crunch_ms)) = (peer.at(n), peer_crunch_ms(n)) else {
                continue;
            };
            let PeerFigures { mean_ms, p99_ms, max_ms, .. } = figures;
            assert!(4.0 * crunch_ms < mean_ms && mean_ms < p99_ms && p99_ms <= max_ms, "{peer:?}");
        }
    }

    #[test]
    fn peers_are_listed_by_transport() {
        let names = |n, transport| -> Vec<&str> {
            peers_at(n, transport).map(|(peer, _)| peer.name).collect()
        };
        let through_dds = ["rclcpp events", "rclcpp prioritized, SCHED_RR, pinned"];
        assert_eq!(names(64, Transport::FastDds)[..2], through_dds);
        assert_eq!(names(64, Transport::FastDds).len(), 3, "no callback groups at N = 64");
        assert_eq!(names(4096, Transport::InProcess)[0], "rclcpp events, intra-process");
        assert_eq!(names(512, Transport::InProcess), [""; 0]);
    }
}
