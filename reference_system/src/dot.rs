//! The graph as a Graphviz drawing.

use std::fmt::Write;

use crate::description::{self, AUTOWARE, Kind, NodeDescription};
use ringspin_modes::Mapping;

/// The reference system in the DOT language; draw it with `dot -Tsvg`.
///
/// A node's shape shows its kind; an edge is labelled with its topic. The nodes and edges of the
/// hot path are bold and red. With a `mapping`, the nodes of a core stand in one box.
#[must_use]
pub fn to_dot(mapping: Option<&Mapping>) -> String {
    let mut dot = String::from("digraph autoware_reference_system {\n  rankdir=LR;\n");
    dot.push_str(
        "  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    let emphasis = |hot: bool| if hot { ", style=bold, color=red" } else { "" };
    for node in AUTOWARE {
        let (shape, label) = (shape(node), label(node));
        let style = emphasis(node.is_on_hot_path());
        push_line(
            &mut dot,
            format_args!("{} [shape={shape}, label=\"{label}\"{style}]", node.name),
        );
    }
    for edge in description::edges() {
        let style = emphasis(edge.is_on_hot_path());
        let (from, to, topic) = (edge.from, edge.to, edge.topic);
        push_line(&mut dot, format_args!("{from} -> {to} [label=\"{topic}\"{style}]"));
    }
    for core in mapping.map_or(&[][..], |mapping| &mapping.cores) {
        let of_core = |node: &&NodeDescription| core.nodes.iter().any(|name| is_of(name, node));
        let names: Vec<&str> = AUTOWARE.iter().filter(of_core).map(|node| node.name).collect();
        let (id, names) = (core.id, names.join("; "));
        push_line(
            &mut dot,
            format_args!("subgraph cluster_{id} {{ label=\"core {id}\"; {names} }}"),
        );
    }
    dot.push_str("}\n");
    dot
}

/// Whether a mapping's name is the name of the node. Its other groups are drawn with it.
fn is_of(name: &str, node: &NodeDescription) -> bool {
    name.trim_start_matches('/') == node.name
}

fn push_line(dot: &mut String, statement: std::fmt::Arguments<'_>) {
    writeln!(dot, "  {statement};").expect("writing to a string cannot fail");
}

fn shape(node: &NodeDescription) -> &'static str {
    match node.kind {
        Kind::Sensor { .. } => "ellipse",
        Kind::Transform { .. } => "box",
        Kind::Fusion { .. } => "trapezium",
        Kind::Cyclic { .. } => "doublecircle",
        Kind::Intersection { .. } => "diamond",
        Kind::Command { .. } => "house",
    }
}

fn label(node: &NodeDescription) -> String {
    match node.kind {
        Kind::Sensor { period } | Kind::Cyclic { period, .. } => {
            format!("{}\\n{} ms", node.name, period.as_millis())
        }
        _ => node.name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_has_every_node_and_edge_once() {
        let dot = to_dot(None);
        assert_eq!(dot.matches("shape=").count(), 24);
        assert_eq!(dot.matches(" -> ").count(), 29);
        assert!(dot.contains("RayGroundFilter -> EuclideanClusterDetector"));
        assert!(dot.contains("[label=\"EuclideanIntersection\"]"));
        assert!(dot.starts_with("digraph") && dot.ends_with("}\n"));
    }

    #[test]
    fn only_the_hot_path_is_bold() {
        // 8 nodes and the 7 edges between them.
        assert_eq!(to_dot(None).matches("style=bold").count(), 15);
    }

    #[test]
    fn nodes_of_a_core_stand_in_its_box() {
        let names = ["/FrontLidarDriver", "EuclideanClusterDetector:EuclideanIntersection"];
        let dot = to_dot(Some(&Mapping::new().core(3, names).core(5, ["Visualizer"])));
        assert!(
            dot.contains("subgraph cluster_3 { label=\"core 3\"; FrontLidarDriver };"),
            "{dot}"
        );
        assert!(dot.contains("subgraph cluster_5 { label=\"core 5\"; Visualizer };"), "{dot}");
    }

    #[test]
    fn a_timer_node_shows_its_period() {
        assert!(to_dot(None).contains("label=\"Visualizer\\n60 ms\""));
    }
}
