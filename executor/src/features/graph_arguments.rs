//! The arguments that a graph was given: the names of nodes, topics and services, and the overrides
//! of parameters. Overrides that no node declared are reported: most often a misspelt name.
//!
//! A node may have separate arguments, from its creation to its end. They precede those of the
//! graph. The thread that creates the node adds them under the lock of the graph, with the rules of
//! the graph behind its own ones, so that one list of rules decides about each name.

use crate::base::arguments::{Arguments, Override, USE_SIM_TIME};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::name::{self, NameKind};
use crate::base::parameter_value::ParameterValue;
use crate::running::graph::{Graph, GraphBuilder};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// Limit of the overrides that are named in a separate warning each.
const WARNINGS_MAX: usize = 20;

/// Arguments, and a record of their use.
#[derive(Default)]
struct Given {
    arguments: Arguments,
    /// The overrides that a node declared.
    used_overrides: BTreeSet<usize>,
}

/// The arguments of a graph and of its nodes.
#[derive(Default)]
struct GraphArguments {
    of_graph: Given,
    /// By the fully qualified name of the node.
    of_nodes: BTreeMap<String, OfNode>,
}

/// The arguments of a node, with the rules of the graph behind its own ones.
struct OfNode {
    given: Given,
    /// Whether overrides of the graph are for the node, too.
    uses_graph_arguments: bool,
}

/// ROS arguments for one node, see [`Graph::create_node_with_arguments`].
#[derive(Clone, Debug, PartialEq)]
pub struct NodeArguments {
    /// The arguments.
    pub arguments: Arguments,
    /// Whether the arguments of the graph are for the node, too. They are weaker.
    pub use_graph_arguments: bool,
}

impl Default for NodeArguments {
    /// No arguments besides those of the graph.
    fn default() -> Self {
        Self { arguments: Arguments::default(), use_graph_arguments: true }
    }
}

impl Given {
    /// All overrides for a node, from weak to strong, which count as used.
    fn use_overrides<'a>(&'a mut self, node: &'a str) -> impl Iterator<Item = &'a Override> {
        let Self { arguments, used_overrides } = self;
        let given = arguments.overrides.iter().enumerate();
        let given = given.filter(|(_, given)| given.nodes.matches(node));
        given.map(|(n, given)| {
            used_overrides.insert(n);
            given
        })
    }

    /// The strongest override of a parameter. It and the weaker ones count as used.
    fn use_override(&mut self, node: &str, parameter: &str) -> Option<Override> {
        let mut strongest = None;
        for (n, given) in self.arguments.overrides.iter().enumerate() {
            if given.is_for(node, parameter) {
                self.used_overrides.insert(n);
                strongest = Some(given);
            }
        }
        strongest.cloned()
    }

    /// The overrides that no node declared.
    fn unused_overrides(&self) -> impl Iterator<Item = String> {
        let given = self.arguments.overrides.iter().enumerate();
        let unused = given.filter(|(n, given)| {
            !self.used_overrides.contains(n) && given.parameter != USE_SIM_TIME
        });
        unused.map(|(_, given)| format!("{}: `{}`", given.origin, given.parameter))
    }
}

impl GraphArguments {
    /// The arguments for a node, from weak to strong.
    fn of_node(&mut self, node: &str) -> impl Iterator<Item = &mut Given> {
        let own = self.of_nodes.get_mut(node);
        let uses_graph_arguments = own.as_ref().is_none_or(|own| own.uses_graph_arguments);
        let of_graph = uses_graph_arguments.then_some(&mut self.of_graph);
        of_graph.into_iter().chain(own.map(|own| &mut own.given))
    }

    /// The arguments with the rules for a node.
    fn rules(&self, node: &str) -> &Arguments {
        let own = self.of_nodes.get(node).map(|own| &own.given);
        &own.unwrap_or(&self.of_graph).arguments
    }
}

impl Graph {
    /// Applies `arguments` to the names and parameters of everything that is created from here on:
    /// call it before the first node is created. They replace earlier ones.
    pub fn set_arguments(&self, arguments: Arguments) {
        let mut builder = self.builder();
        builder.feature::<GraphArguments>().of_graph =
            Given { arguments, used_overrides: BTreeSet::new() };
        builder.before_freeze(GraphBuilder::report_unused_overrides);
    }

    /// The parameter overrides that no node has declared so far, each with where it was given.
    ///
    /// Freezing the graph logs a warning for each, because most often a name is misspelt. Ask here
    /// before spinning to make it an error. `use_sim_time` is never listed: launch files set it for
    /// every node, and here the mode decides about time.
    pub fn unused_overrides(&self) -> Vec<String> {
        self.builder().unused_overrides()
    }
}

impl GraphBuilder {
    /// The overrides of parameters by the arguments of the graph, from weak to strong.
    pub(crate) fn overrides(&self) -> &[Override] {
        self.look::<GraphArguments>().map_or(&[], |given| &given.of_graph.arguments.overrides)
    }

    /// The name that `name` stands for in a node: expanded, then remapped.
    pub(crate) fn resolve_name(
        &self,
        kind: NameKind,
        name: &str,
        (namespace, base_name): (&str, &str),
    ) -> Result<String> {
        let none = Arguments::default();
        let node = name::qualify(namespace, base_name);
        let arguments = self.look::<GraphArguments>().map_or(&none, |given| given.rules(&node));
        arguments.resolve(kind, name, namespace, base_name)
    }

    /// The strongest override of a parameter. It and the weaker ones count as used.
    pub(crate) fn use_override(&mut self, node: &str, parameter: &str) -> Option<Override> {
        let given = self.feature::<GraphArguments>().of_node(node);
        given.filter_map(|given| given.use_override(node, parameter)).last()
    }

    /// All overrides of a node's parameters, from weak to strong, which count as used.
    pub(crate) fn use_overrides(&mut self, node: &str) -> Vec<(String, ParameterValue)> {
        let given = self.feature::<GraphArguments>().of_node(node);
        let overrides = given.flat_map(|given| given.use_overrides(node));
        overrides.map(|given| (given.parameter.clone(), given.value.clone())).collect()
    }

    fn unused_overrides(&self) -> Vec<String> {
        let Some(of) = self.look::<GraphArguments>() else { return Vec::new() };
        let of_nodes = of.of_nodes.values().map(|own| &own.given);
        let given = std::iter::once(&of.of_graph).chain(of_nodes);
        given.flat_map(Given::unused_overrides).collect()
    }

    /// Warns of every override that no node declared.
    pub(crate) fn report_unused_overrides(&self) {
        let unused = self.unused_overrides();
        for unused in unused.iter().take(WARNINGS_MAX) {
            tracing::warn!(
                "{unused} is not declared by any node that it is for; check the names of node and \
                 parameter"
            );
        }
        if let Some(more) = unused.len().checked_sub(WARNINGS_MAX).filter(|more| *more > 0) {
            tracing::warn!("{more} more overrides are not declared by any node");
        }
    }

    /// Puts the rules of the graph behind those of a node that is to be created.
    pub(crate) fn add_rules(&self, own: &mut NodeArguments) {
        let of_graph = self.look::<GraphArguments>().filter(|_| own.use_graph_arguments);
        let rules = of_graph.map_or(&[][..], |of| &of.of_graph.arguments.rules);
        own.arguments.rules.extend_from_slice(rules);
    }

    /// Adds the arguments of the next node, until its end.
    pub(crate) fn add_node_arguments(&mut self, node: &str, own: NodeArguments) {
        let NodeArguments { arguments, use_graph_arguments } = own;
        let given = Given { arguments, used_overrides: BTreeSet::new() };
        let own = OfNode { given, uses_graph_arguments: use_graph_arguments };
        self.feature::<GraphArguments>().of_nodes.insert(node.into(), own);
        self.before_freeze(Self::report_unused_overrides);
        self.at_node_end(|builder, _, node| {
            builder.feature::<GraphArguments>().of_nodes.remove(node);
        });
    }

    /// The namespace and name of a node by the remapping rules: first those of the node, then the
    /// graph's, or only the graph's.
    pub(crate) fn remap_node(
        &self,
        own: Option<&NodeArguments>,
        namespace: String,
        name: &str,
    ) -> Result<(String, String)> {
        let none = Arguments::default();
        let of_graph = || Some(&self.look::<GraphArguments>()?.of_graph.arguments);
        let own = own.map(|own| &own.arguments);
        let arguments = own.or_else(of_graph).unwrap_or(&none);
        let original = name::qualify(&namespace, name);
        let names = arguments.remap_node(namespace, name);
        let full_name = name::qualify(&names.namespace, &names.name);
        match names.rule {
            Some(rule) if self.has_name(&full_name) => {
                let text = format!(
                    "failed to create node {original}: remapping rule `{}` gives it the name \
                     {full_name}, which another node has; put the name of the node that is meant \
                     before the rule, as in `node:__node:=other`",
                    rule.text
                );
                Err(Error::new(ErrorKind::InvalidArgument, text).in_node(full_name))
            }
            _ => Ok((names.namespace, names.name)),
        }
    }
}
