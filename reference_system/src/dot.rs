//! The graph as a Graphviz drawing.

use std::fmt::Write;

use crate::description::{self, AUTOWARE, Kind, NodeDescription};

/// The reference system in the DOT language; draw it with `dot -Tsvg`.
///
/// A node's shape shows its kind; an edge is labelled with its topic. With `hot_path_highlighted`,
/// the nodes and edges of the hot path are bold and red.
#[must_use]
pub fn to_dot(hot_path_highlighted: bool) -> String {
    let mut dot = String::from("digraph autoware_reference_system {\n  rankdir=LR;\n");
    dot.push_str(
        "  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    let emphasis = |hot: bool| match hot && hot_path_highlighted {
        true => ", style=bold, color=red",
        false => "",
    };
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
    dot.push_str("}\n");
    dot
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
        let dot = to_dot(false);
        assert_eq!(dot.matches("shape=").count(), 24);
        assert_eq!(dot.matches(" -> ").count(), 29);
        assert!(dot.contains("RayGroundFilter -> EuclideanClusterDetector"));
        assert!(dot.contains("[label=\"EuclideanIntersection\"]"));
        assert!(dot.starts_with("digraph") && dot.ends_with("}\n"));
    }

    #[test]
    fn only_the_hot_path_is_bold_and_only_when_asked() {
        assert!(!to_dot(false).contains("bold"));
        // 8 nodes and the 7 edges between them.
        assert_eq!(to_dot(true).matches("style=bold").count(), 15);
    }

    #[test]
    fn a_timer_node_shows_its_period() {
        assert!(to_dot(false).contains("label=\"Visualizer\\n60 ms\""));
    }
}
