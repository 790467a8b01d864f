//! Figures of other executors on the same workload, from the files in `results/peers`.
//!
//! Each file has one run on one machine: rclcpp and r2r were measured by us, the paper's Table I is
//! published. Machines differ, so figures are compared as multiples of the floor of their machine,
//! and only with executors of the same transport. Every figure is the hot path's latency from
//! [sample to start](Definition::SampleToStart).

use crate::Definition;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The transport of messages that stay within the process.
pub const IN_PROCESS: &str = "in process";

/// Executors that were measured in one run on one machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peers {
    /// Software, machine and method.
    pub source: String,
    /// The time of a crunch on that machine by crunch limit, in milliseconds; empty if unknown.
    #[serde(default)]
    pub crunch_ms: BTreeMap<u64, f64>,
    /// The executors.
    pub executors: Vec<Peer>,
}

/// An executor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Library and executor.
    pub name: String,
    /// The path of its messages: [`IN_PROCESS`], or the middleware.
    pub transport: String,
    /// The figures by rising crunch limit.
    pub figures: Vec<PeerFigures>,
}

/// The latency of an executor at one crunch limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerFigures {
    /// The crunch limit.
    pub n: u64,
    /// The minimum, in milliseconds.
    pub min_ms: Option<f64>,
    /// The mean, in milliseconds.
    pub mean_ms: f64,
    /// The 99th percentile, in milliseconds.
    pub p99_ms: Option<f64>,
    /// The maximum, in milliseconds.
    pub max_ms: f64,
    /// The standard deviation, in milliseconds.
    pub std_ms: Option<f64>,
    /// CPU time as a percentage of one core.
    pub cpu_percent: Option<f64>,
}

/// rclcpp's executors beside an earlier ringspin, measured by us.
pub static RCLCPP: LazyLock<Peers> =
    LazyLock::new(|| parsed(include_str!("../../results/peers/rclcpp.json")));

/// r2r beside an earlier ringspin over ROS 2, measured by us.
pub static R2R: LazyLock<Peers> =
    LazyLock::new(|| parsed(include_str!("../../results/peers/r2r.json")));

/// Table I of the ring-buffer executor paper, as printed. The 22.4 ms minimum of the static
/// executor at N = 6144 is below the duration of its work (70.7 ms for the ring-buffer executor),
/// so it is likely a misprint.
pub static PAPER: LazyLock<Peers> =
    LazyLock::new(|| parsed(include_str!("../../results/peers/paper.json")));

fn parsed(text: &str) -> Peers {
    serde_json::from_str(text).expect("a test reads every file of peers")
}

impl Peers {
    /// The floor from sample to start at crunch limit `n` on that machine, in milliseconds.
    #[must_use]
    pub fn floor_ms(&self, n: u64) -> Option<f64> {
        Some(f64::from(Definition::SampleToStart.floor_crunches()) * self.crunch_ms.get(&n)?)
    }
}

impl Peer {
    /// The figures at crunch limit `n`.
    #[must_use]
    pub fn at(&self, n: u64) -> Option<PeerFigures> {
        self.figures.iter().find(|figures| figures.n == n).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_ordered_and_above_the_floor() {
        for peers in [&*RCLCPP, &*R2R, &*PAPER] {
            for (peer, of) in
                peers.executors.iter().flat_map(|p| p.figures.iter().map(move |f| (p, f)))
            {
                let floor = peers.floor_ms(of.n).unwrap_or(0.0);
                let rising = [floor, of.min_ms.unwrap_or(floor), of.mean_ms, of.max_ms];
                assert!(rising.is_sorted(), "{}, {of:?}", peer.name);
                assert!(of.p99_ms.is_none_or(|p99| of.mean_ms < p99 && p99 <= of.max_ms), "{of:?}");
            }
        }
    }

    #[test]
    fn figures_are_found_by_executor_and_limit() {
        let named = |peers: &'static Peers, name: &str| {
            peers.executors.iter().find(|peer| peer.name == name).unwrap()
        };
        let paper = named(&PAPER, "ring buffer, paper").at(4096).unwrap();
        assert_eq!((paper.min_ms, paper.mean_ms, paper.max_ms), (Some(23.6), 29.1, 56.0));
        assert_eq!(named(&RCLCPP, "rclcpp callback groups, SCHED_RR").at(64), None);
        assert_eq!(named(&R2R, "r2r, one node").transport, "through Fast DDS");
    }
}
