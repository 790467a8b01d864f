//! The arguments of single nodes. Those of a graph are tested with the features that use them.

use super::*;
use crate::base::qos::QoS;
use crate::running::node::Node;

fn arguments(line: &[&str]) -> Arguments {
    Arguments::parse(["--ros-args"].iter().chain(line).copied()).unwrap().0
}

fn graph(line: &[&str]) -> Graph {
    let graph = Graph::new();
    graph.set_arguments(arguments(line));
    graph
}

fn node(graph: &Graph, name: &str, line: &[&str], use_graph_arguments: bool) -> Node<()> {
    let own = NodeArguments { arguments: arguments(line), use_graph_arguments };
    graph.create_node_with_arguments("/", name, (), own).unwrap()
}

#[test]
fn arguments_of_a_node_precede_those_of_the_graph_and_end_with_it() {
    let graph = graph(&["-p", "a:=1", "-p", "b:=1", "-r", "x:=/graph", "-r", "y:=/graph"]);
    let own = node(&graph, "own", &["-p", "a:=2", "-p", "c:=2", "-r", "x:=/own"], true);
    let other = graph.create_node("other", ()).unwrap();
    let values = |node: &Node<()>| {
        ["a", "b", "c"].map(|name| node.declare_parameter(name, 0).unwrap().get())
    };
    assert_eq!(values(&own), [2, 1, 2]);
    assert_eq!(values(&other), [1, 1, 0]);
    let topics = |node: &Node<()>| {
        let topic = |name| node.create_publisher::<u8>(name, QoS::default()).unwrap();
        ["x", "y"].map(|name| topic(name).topic().to_owned())
    };
    assert_eq!(topics(&own), ["/own", "/graph"]);
    assert_eq!(topics(&other), ["/graph", "/graph"]);
    own.destroy();
    assert_eq!(values(&graph.create_node("own", ()).unwrap()), [1, 1, 0]);
}

#[test]
fn node_can_refuse_the_arguments_of_the_graph() {
    let graph = graph(&["-p", "a:=1", "-r", "__node:=graph", "-r", "x:=/graph"]);
    let own = node(&graph, "own", &[], false);
    assert_eq!(own.full_name(), "/own");
    assert_eq!(own.resolve_topic_name("x").unwrap(), "/x");
    assert_eq!(own.declare_parameter("a", 0).unwrap().get(), 0);
    assert_eq!(node(&graph, "own", &["-r", "__node:=left"], true).full_name(), "/left");
    assert_eq!(node(&graph, "own", &[], true).full_name(), "/graph");
}

#[test]
fn unused_overrides_of_nodes_are_listed() {
    let graph = graph(&[]);
    let own = node(&graph, "own", &["-p", "gian:=2", "-p", "gain:=1"], true);
    own.declare_parameter("gain", 0).unwrap();
    assert_eq!(graph.unused_overrides().len(), 1);
    assert!(graph.unused_overrides()[0].contains("gian"));
    assert_eq!(own.take_parameter_overrides().len(), 2);
    assert!(graph.unused_overrides().is_empty());
}
