//! LaME: a second workload on the same graph, with uneven costs and three chains with deadlines.
//!
//! It is the analysable version of the reference system from *LaME* (RTNS 2025, repository
//! `rtenlab/reference-system-latency-management`). Its fusions do not wait for both inputs: one
//! input triggers the work, the other is only cached. The lidars have a period of 200 ms, and every
//! callback has its own cost. The total load is 1.86 cores. The result is judged by [`CHAINS`],
//! from the start of their first callback to the end of their last.
//!
//! Everything here follows from the description ([`AUTOWARE`]) and the table of costs. The paper
//! leaves two points open; here a trigger publishes whether or not a message is cached, and a
//! cached message is used once.

use crate::description::{
    AUTOWARE, BEHAVIOR_PLANNER, COLLISION_ESTIMATOR, FRONT_LIDAR, Kind, NodeDescription,
    REAR_LIDAR, Workload, node, publisher_of,
};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use serde::Serialize;
use std::time::Duration;

/// A chain of callbacks with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chain {
    /// Its name.
    pub name: &'static str,
    /// Its nodes. The chain starts with the timer of the first one; each further node is called for
    /// the message of the previous one, and the end of the last such call is its end.
    pub nodes: &'static [&'static str],
    /// The deadline, in milliseconds.
    pub deadline_ms: u64,
    /// The published figures of other systems.
    pub published: [Published; 2],
}

/// Published latencies of a chain on another system, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The name of the system.
    pub system: &'static str,
    /// The mean, in milliseconds.
    pub mean_ms: f64,
    /// The 99th percentile, in milliseconds.
    pub p99_ms: f64,
    /// The maximum, in milliseconds.
    pub max_ms: f64,
}

/// The source of the published figures, with CPU load and memory.
pub const PUBLISHED_SOURCE: &str = "\
    Copper: 99.8 % CPU, 37 MiB; LaME: 186 % CPU, 90 MiB; both by Copper's port, a desktop Ryzen.\n\
    Copper's RT2 is below the work on that path: it seems to start at the planner's output.";

const fn published(system: &'static str, mean_ms: f64, p99_ms: f64, max_ms: f64) -> Published {
    Published { system, mean_ms, p99_ms, max_ms }
}

/// The three chains.
pub const CHAINS: [Chain; 3] = [
    Chain {
        name: "RT0",
        nodes: &[
            FRONT_LIDAR,
            "PointsTransformerFront",
            "PointCloudFusion",
            "RayGroundFilter",
            "EuclideanClusterDetector",
            COLLISION_ESTIMATOR,
            BEHAVIOR_PLANNER,
        ],
        deadline_ms: 200,
        published: [
            published("Copper", 151.1, 151.7, 152.9),
            published("LaME", 103.5, 113.5, 117.7),
        ],
    },
    Chain {
        name: "RT1",
        nodes: &[REAR_LIDAR, "PointsTransformerRear", "PointCloudFusion"],
        deadline_ms: 200,
        published: [published("Copper", 12.3, 12.3, 12.4), published("LaME", 47.7, 56.4, 60.9)],
    },
    Chain {
        name: "RT2",
        nodes: &[BEHAVIOR_PLANNER, "MPCController", "VehicleInterface", "VehicleDBWSystem"],
        deadline_ms: 100,
        published: [published("Copper", 23.3, 23.5, 23.5), published("LaME", 81.9, 88.9, 91.5)],
    },
];

impl Chain {
    /// The work along its path: a lower bound of its latency.
    #[must_use]
    pub fn floor(&self) -> Duration {
        let inputs = std::iter::once(None).chain(self.nodes.iter().copied().map(Some));
        let steps = self.nodes.iter().zip(inputs);
        let step = |(name, input): (&&str, Option<&str>)| {
            node(name).map_or(Duration::ZERO, |node| cost(node, input))
        };
        steps.map(step).sum()
    }

    /// The deadline; a longer latency is a miss.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// Whether it starts with the timer of `node`.
    #[must_use]
    pub fn starts_at(&self, node: &str) -> bool {
        self.nodes.first() == Some(&node)
    }

    /// Whether it ends with the callback of `node` for a message on `topic`.
    #[must_use]
    pub fn ends_at(&self, node: &str, topic: &str) -> bool {
        matches!(self.nodes, [.., before, last] if *before == topic && *last == node)
    }
}

/// The cost of a callback of `node`: the one for messages on the topic `input`, or the timer
/// callback. Zero for a callback that it does not have.
#[must_use]
pub fn cost(node: &NodeDescription, input: Option<&str>) -> Duration {
    let us = match (node.kind, input) {
        (Kind::Sensor { .. }, None) => 100,
        (Kind::Transform { .. }, Some(_)) => 10_100,
        (Kind::Fusion { inputs, trigger }, Some(topic)) if inputs[trigger] == topic => {
            match node.name {
                "PointCloudFusion" => 10_005,
                "Lanelet2GlobalPlanner" | "Lanelet2MapLoader" => 10_200,
                _ => 10_100,
            }
        }
        (Kind::Fusion { .. }, Some(_)) => 2_100,
        (Kind::Cyclic { .. }, None) => 10_100,
        (Kind::Cyclic { .. }, Some(_)) => 1,
        (Kind::Intersection { .. }, Some("RayGroundFilter")) => 10_100,
        (Kind::Intersection { .. }, Some(_)) => 10_200,
        (Kind::Command { .. }, Some(_)) => 1_000,
        _ => 0,
    };
    Duration::from_micros(us)
}

/// The default priority of the loop of `node` on its worker: the shorter the deadline of its chain,
/// the higher.
#[must_use]
pub fn priority(node: &str) -> u8 {
    let deadlines = CHAINS.iter().filter(|chain| chain.nodes.contains(&node));
    match deadlines.map(|chain| chain.deadline_ms).min() {
        None => 0,
        Some(..=100) => 2,
        Some(_) => 1,
    }
}

/// The costs as durations of a simulation, one rule per callback.
#[must_use]
pub fn durations() -> Durations {
    let rules = callbacks().map(|(node, input, _)| {
        let rule = DurationRule::new(format!("/{}", node.name));
        let rule = match (input, Workload::Lame.period(node)) {
            (Some(topic), _) => rule.callback(format!("subscription /{topic}")),
            (None, Some(period)) => rule.callback(format!("timer {period:?}")),
            (None, None) => rule,
        };
        rule.duration(Distribution::fixed(cost(node, input)))
    });
    Durations { rules: rules.collect() }
}

/// The load of `node`, in cores, when nothing is dropped.
#[must_use]
pub fn utilization(node: &NodeDescription) -> f64 {
    let of_node = callbacks().filter(|(other, ..)| other.name == node.name);
    of_node.map(|(node, input, rate_hz)| rate_hz * cost(node, input).as_secs_f64()).sum()
}

/// Messages per second on `topic` when nothing is dropped; 0 for an unknown topic.
#[must_use]
pub fn topic_rate_hz(topic: &str) -> f64 {
    let Some(publisher) = publisher_of(topic) else { return 0.0 };
    match publisher.kind {
        Kind::Sensor { .. } | Kind::Cyclic { .. } => timer_rate_hz(publisher),
        Kind::Transform { input } => topic_rate_hz(input),
        Kind::Fusion { inputs, trigger } => topic_rate_hz(inputs[trigger]),
        Kind::Intersection { connections } => {
            let of_topic = connections.iter().filter(|connection| connection.output == topic);
            of_topic.map(|connection| topic_rate_hz(connection.input)).sum()
        }
        Kind::Command { .. } => 0.0,
    }
}

fn timer_rate_hz(node: &NodeDescription) -> f64 {
    Workload::Lame.period(node).map_or(0.0, |period| period.as_secs_f64().recip())
}

/// Every callback: its node, its input unless it is a timer, and its rate in Hz.
fn callbacks() -> impl Iterator<Item = (&'static NodeDescription, Option<&'static str>, f64)> {
    AUTOWARE.iter().flat_map(|node| {
        let timer = Workload::Lame.period(node).map(|_| (node, None, timer_rate_hz(node)));
        let inputs = node.inputs().into_iter();
        timer.into_iter().chain(inputs.map(move |topic| (node, Some(topic), topic_rate_hz(topic))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floors_are_the_published_ones() {
        let floors = CHAINS.map(|chain| chain.floor().as_micros());
        assert_eq!(floors, [50_506, 12_300, 31_300]);
    }

    #[test]
    fn the_whole_system_needs_186_percent_of_a_core() {
        let total: f64 = AUTOWARE.iter().map(utilization).sum();
        assert!((total - 1.86).abs() < 0.005, "{total}");
    }

    #[test]
    fn the_trigger_alone_decides_how_often_a_fusion_publishes() {
        assert!((topic_rate_hz("Lanelet2GlobalPlanner") - 1.0 / 0.06).abs() < 1e-9);
        assert!((topic_rate_hz("NDTLocalizer") - 1.0 / 0.12).abs() < 1e-9);
        assert!((topic_rate_hz("PointCloudFusion") - 5.0).abs() < 1e-9);
        assert_eq!(topic_rate_hz("NoSuchTopic"), 0.0);
    }

    #[test]
    fn a_chain_is_connected_and_every_callback_has_a_cost() {
        for chain in CHAINS {
            for pair in chain.nodes.windows(2) {
                assert!(node(pair[1]).unwrap().inputs().contains(&pair[0]), "{pair:?}");
            }
        }
        for (node, input, rate_hz) in callbacks() {
            assert!(!cost(node, input).is_zero() && rate_hz > 0.0, "{} {input:?}", node.name);
        }
        assert_eq!(callbacks().count(), 7 + 29);
    }

    #[test]
    fn lame_swaps_the_inputs_of_the_localizer() {
        let Kind::Fusion { inputs, trigger } = node("NDTLocalizer").unwrap().kind else {
            panic!("a fusion");
        };
        let of = |workload: Workload| workload.fusion_inputs(inputs, trigger);
        assert_eq!(of(Workload::Lame), ["PointCloudMapLoader", "VoxelGridDownsampler"]);
        assert_eq!(of(Workload::Autoware), ["VoxelGridDownsampler", "PointCloudMapLoader"]);
    }

    #[test]
    fn priorities_follow_deadlines() {
        assert_eq!([BEHAVIOR_PLANNER, REAR_LIDAR, "Visualizer"].map(priority), [2, 1, 0]);
    }
}
