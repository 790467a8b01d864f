//! The 24 nodes of the Autoware reference system as data, with derived properties.
//!
//! One list serves the builder, the graph drawing, the load prediction and the tests, so that they
//! cannot differ. A topic has the name of its publisher, except the second output of the
//! intersection.

use std::time::Duration;

/// The front lidar's sensor node: one of the two roots of the hot path.
pub const FRONT_LIDAR: &str = "FrontLidarDriver";
/// The rear lidar's sensor node: the other root of the hot path.
pub const REAR_LIDAR: &str = "RearLidarDriver";
/// The last node of the hot path.
pub const COLLISION_ESTIMATOR: &str = "ObjectCollisionEstimator";
/// The cyclic node. Its period is a KPI.
pub const BEHAVIOR_PLANNER: &str = "BehaviorPlanner";

/// The nodes of the hot path, from the two lidars to the collision estimator.
pub const HOT_PATH: &[&str] = &[
    FRONT_LIDAR,
    REAR_LIDAR,
    "PointsTransformerFront",
    "PointsTransformerRear",
    "PointCloudFusion",
    "RayGroundFilter",
    "EuclideanClusterDetector",
    COLLISION_ESTIMATOR,
];

/// A node: its name and its behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeDescription {
    /// The node's name, which is also its topic; see [`topics`](Self::topics).
    pub name: &'static str,
    /// The behaviour of the node, with its inputs.
    pub kind: Kind,
}

/// The behaviour of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A timer publishes a new message, without work.
    Sensor {
        /// The timer's period.
        period: Duration,
    },
    /// Each message is crunched and published.
    Transform {
        /// The input topic.
        input: &'static str,
    },
    /// Crunches once a message of both inputs has arrived, publishes the merge, and clears both.
    Fusion {
        /// The two input topics; the history of the first one leads the merge.
        inputs: [&'static str; 2],
    },
    /// A timer crunches, publishes the merge of the messages since its last call, and clears them.
    Cyclic {
        /// The input topics, in the order in which they are merged.
        inputs: &'static [&'static str],
        /// The timer's period.
        period: Duration,
    },
    /// Each connection works like a transform, in its own callback group.
    Intersection {
        /// The connections.
        connections: &'static [Connection],
    },
    /// The end point: records statistics, without work.
    Command {
        /// The input topic (depth 10; every other input has depth 1).
        input: &'static str,
    },
}

/// A connection of an intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The input topic.
    pub input: &'static str,
    /// The output topic.
    pub output: &'static str,
}

/// A subscription: a message published on `topic` by `from` is delivered to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The publishing node.
    pub from: &'static str,
    /// The topic.
    pub topic: &'static str,
    /// The subscribing node.
    pub to: &'static str,
}

/// The 24 nodes: 6 sensors, 9 transforms, 5 fusions, 1 cyclic, 1 intersection, 2 commands.
pub const AUTOWARE: &[NodeDescription] = &[
    sensor(FRONT_LIDAR, 100),
    sensor(REAR_LIDAR, 100),
    sensor("PointCloudMap", 120),
    sensor("Visualizer", 60),
    sensor("Lanelet2Map", 100),
    sensor("EuclideanClusterSettings", 25),
    transform("PointsTransformerFront", FRONT_LIDAR),
    transform("PointsTransformerRear", REAR_LIDAR),
    transform("VoxelGridDownsampler", "PointCloudFusion"),
    transform("PointCloudMapLoader", "PointCloudMap"),
    transform("RayGroundFilter", "PointCloudFusion"),
    transform(COLLISION_ESTIMATOR, "EuclideanClusterDetector"),
    transform("MPCController", BEHAVIOR_PLANNER),
    transform("ParkingPlanner", "Lanelet2MapLoader"),
    transform("LanePlanner", "Lanelet2MapLoader"),
    fusion("PointCloudFusion", ["PointsTransformerFront", "PointsTransformerRear"]),
    fusion("NDTLocalizer", ["VoxelGridDownsampler", "PointCloudMapLoader"]),
    fusion("VehicleInterface", ["MPCController", BEHAVIOR_PLANNER]),
    fusion("Lanelet2GlobalPlanner", ["Visualizer", "NDTLocalizer"]),
    fusion("Lanelet2MapLoader", ["Lanelet2Map", "Lanelet2GlobalPlanner"]),
    NodeDescription {
        name: BEHAVIOR_PLANNER,
        kind: Kind::Cyclic {
            inputs: &[
                COLLISION_ESTIMATOR,
                "NDTLocalizer",
                "Lanelet2GlobalPlanner",
                "Lanelet2MapLoader",
                "ParkingPlanner",
                "LanePlanner",
            ],
            period: Duration::from_millis(100),
        },
    },
    NodeDescription {
        name: "EuclideanClusterDetector",
        kind: Kind::Intersection {
            connections: &[
                Connection { input: "RayGroundFilter", output: "EuclideanClusterDetector" },
                Connection { input: "EuclideanClusterSettings", output: "EuclideanIntersection" },
            ],
        },
    },
    command("VehicleDBWSystem", "VehicleInterface"),
    command("IntersectionOutput", "EuclideanIntersection"),
];

const fn sensor(name: &'static str, period_ms: u64) -> NodeDescription {
    NodeDescription { name, kind: Kind::Sensor { period: Duration::from_millis(period_ms) } }
}

const fn transform(name: &'static str, input: &'static str) -> NodeDescription {
    NodeDescription { name, kind: Kind::Transform { input } }
}

const fn fusion(name: &'static str, inputs: [&'static str; 2]) -> NodeDescription {
    NodeDescription { name, kind: Kind::Fusion { inputs } }
}

const fn command(name: &'static str, input: &'static str) -> NodeDescription {
    NodeDescription { name, kind: Kind::Command { input } }
}

impl NodeDescription {
    /// The topics that the node subscribes to, in their declared order.
    #[must_use]
    pub fn inputs(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::Sensor { .. } => Vec::new(),
            Kind::Transform { input } | Kind::Command { input } => vec![input],
            Kind::Fusion { inputs, .. } => inputs.to_vec(),
            Kind::Cyclic { inputs, .. } => inputs.to_vec(),
            Kind::Intersection { connections } => connections.iter().map(|c| c.input).collect(),
        }
    }

    /// The topics that the node publishes: none for a command, one per connection of an
    /// intersection, otherwise the one with the node's name.
    #[must_use]
    pub fn topics(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::Command { .. } => Vec::new(),
            Kind::Intersection { connections } => connections.iter().map(|c| c.output).collect(),
            _ => vec![self.name],
        }
    }

    /// Whether the node lies on the hot path.
    #[must_use]
    pub fn is_on_hot_path(&self) -> bool {
        HOT_PATH.contains(&self.name)
    }
}

impl Edge {
    /// Whether hot-path samples pass along this edge.
    #[must_use]
    pub fn is_on_hot_path(&self) -> bool {
        HOT_PATH.contains(&self.from) && HOT_PATH.contains(&self.to)
    }
}

/// The node that publishes `topic`. O(nodes).
#[must_use]
pub fn publisher_of(topic: &str) -> Option<&'static NodeDescription> {
    AUTOWARE.iter().find(|node| node.topics().contains(&topic))
}

/// Every subscription of the graph as an edge, by subscribing node in the order of [`AUTOWARE`].
pub fn edges() -> impl Iterator<Item = Edge> {
    AUTOWARE.iter().flat_map(|node| {
        node.inputs().into_iter().filter_map(|topic| {
            publisher_of(topic).map(|from| Edge { from: from.name, topic, to: node.name })
        })
    })
}

/// Messages per second on `topic` when nothing is dropped; 0 for an unknown topic.
///
/// A transform publishes at the rate of its input, a fusion at the slower rate of its two inputs, a
/// cyclic node and a sensor once per period. The graph has no cycle, so the recursion ends.
#[must_use]
pub fn topic_rate_hz(topic: &str) -> f64 {
    let Some(publisher) = publisher_of(topic) else {
        return 0.0;
    };
    match publisher.kind {
        Kind::Sensor { period } | Kind::Cyclic { period, .. } => period.as_secs_f64().recip(),
        Kind::Transform { input } => topic_rate_hz(input),
        Kind::Fusion { inputs, .. } => topic_rate_hz(inputs[0]).min(topic_rate_hz(inputs[1])),
        Kind::Intersection { connections } => connections
            .iter()
            .filter(|connection| connection.output == topic)
            .map(|connection| topic_rate_hz(connection.input))
            .sum(),
        Kind::Command { .. } => 0.0,
    }
}

/// Crunches per second of `node` when nothing is dropped: one per published message, none for a
/// sensor. Multiplied by the cost of a crunch, this is the node's load in cores.
#[must_use]
pub fn crunches_per_second(node: &NodeDescription) -> f64 {
    match node.kind {
        Kind::Sensor { .. } => 0.0,
        _ => node.topics().into_iter().map(topic_rate_hz).sum(),
    }
}

/// Crunches per second of the whole system when nothing is dropped: 190.
#[must_use]
pub fn total_crunches_per_second() -> f64 {
    AUTOWARE.iter().map(crunches_per_second).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Option<&'static NodeDescription> {
        AUTOWARE.iter().find(|node| node.name == name)
    }

    fn rate(name: &str) -> f64 {
        crunches_per_second(node(name).unwrap())
    }

    #[test]
    fn there_are_24_nodes_of_six_kinds_with_distinct_names() {
        let mut counts = [0; 6];
        for node in AUTOWARE {
            counts[match node.kind {
                Kind::Sensor { .. } => 0,
                Kind::Transform { .. } => 1,
                Kind::Fusion { .. } => 2,
                Kind::Cyclic { .. } => 3,
                Kind::Intersection { .. } => 4,
                Kind::Command { .. } => 5,
            }] += 1;
            assert_eq!(AUTOWARE.iter().filter(|other| other.name == node.name).count(), 1);
        }
        assert_eq!(counts, [6, 9, 5, 1, 1, 2]);
        assert_eq!(AUTOWARE.len(), 24);
    }

    #[test]
    fn every_input_topic_has_exactly_one_publisher() {
        for topic in AUTOWARE.iter().flat_map(NodeDescription::inputs) {
            let publishers = AUTOWARE.iter().filter(|node| node.topics().contains(&topic)).count();
            assert_eq!(publishers, 1, "topic {topic}");
        }
    }

    #[test]
    fn every_topic_is_subscribed() {
        for topic in AUTOWARE.iter().flat_map(NodeDescription::topics) {
            assert!(edges().any(|edge| edge.topic == topic), "topic {topic}");
        }
    }

    #[test]
    fn the_graph_has_one_edge_per_subscription() {
        // 9 transforms x 1, 5 fusions x 2, 1 cyclic x 6, 1 intersection x 2, 2 commands x 1.
        assert_eq!(edges().count(), 9 + 10 + 6 + 2 + 2);
        let out_of_the_intersection = Edge {
            from: "EuclideanClusterDetector",
            topic: "EuclideanIntersection",
            to: "IntersectionOutput",
        };
        assert!(edges().any(|edge| edge == out_of_the_intersection));
    }

    #[test]
    fn the_graph_has_no_cycle() {
        let mut known: Vec<&str> = Vec::new();
        for _ in AUTOWARE {
            for node in AUTOWARE {
                if node.inputs().iter().all(|topic| known.contains(topic)) {
                    known.extend(node.topics());
                }
            }
        }
        assert!(AUTOWARE.iter().flat_map(NodeDescription::topics).all(|t| known.contains(&t)));
    }

    #[test]
    fn the_hot_path_is_connected_by_seven_edges() {
        assert!(HOT_PATH.iter().all(|name| node(name).is_some_and(|n| n.is_on_hot_path())));
        assert_eq!(edges().filter(Edge::is_on_hot_path).count(), 7);
    }

    #[test]
    fn crunch_rates_follow_the_kind_of_node() {
        assert_eq!(rate(FRONT_LIDAR), 0.0);
        assert_eq!(rate("VehicleDBWSystem"), 0.0);
        assert!((rate("PointsTransformerFront") - 10.0).abs() < 1e-9);
        // The map, every 120 ms, is the slower input of the localizer.
        assert!((rate("NDTLocalizer") - 1.0 / 0.12).abs() < 1e-9);
        // 10 from the filter and 40 from the settings.
        assert!((rate("EuclideanClusterDetector") - 50.0).abs() < 1e-9);
        assert_eq!(topic_rate_hz("NoSuchTopic"), 0.0);
    }

    #[test]
    fn the_whole_system_crunches_190_times_a_second() {
        // 50 in the detector; 9 nodes at 10 Hz (two transformers, fusion, downsampler, filter,
        // estimator, planner, controller, vehicle interface); 6 at 1/120 ms (map loader,
        // localizer, global planner, lanelet loader, parking and lane planner): 50 + 90 + 50.
        assert!((total_crunches_per_second() - 190.0).abs() < 1e-6);
    }
}
