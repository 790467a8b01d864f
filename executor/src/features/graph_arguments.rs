//! The arguments that a graph was given: the names of nodes, topics and services, and the overrides
//! of parameters. Overrides that no node declared are reported: most often a misspelt name.

use crate::base::arguments::{Arguments, Override, USE_SIM_TIME};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::name::{self, NameKind};
use crate::base::parameter_value::ParameterValue;
use crate::running::graph::{Graph, GraphBuilder};
use std::collections::BTreeSet;

/// Limit of the overrides that are named in a separate warning each.
const WARNINGS_MAX: usize = 20;

/// The arguments of a graph, and a record of their use.
#[derive(Default)]
struct GraphArguments {
    arguments: Arguments,
    /// The overrides that a node declared.
    used_overrides: BTreeSet<usize>,
}

impl Graph {
    /// Applies `arguments` to the names and parameters of everything that is created from here on:
    /// call it before the first node is created. They replace earlier ones.
    pub fn set_arguments(&self, arguments: Arguments) {
        let mut builder = self.builder();
        *builder.feature() = GraphArguments { arguments, used_overrides: BTreeSet::new() };
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
    /// The overrides of parameters, from weak to strong.
    pub(crate) fn overrides(&self) -> &[Override] {
        self.look::<GraphArguments>().map_or(&[], |given| &given.arguments.overrides)
    }

    /// The name that `name` stands for in a node: expanded, then remapped.
    pub(crate) fn resolve_name(
        &self,
        kind: NameKind,
        name: &str,
        (namespace, base_name): (&str, &str),
    ) -> Result<String> {
        let none = Arguments::default();
        let arguments = self.look::<GraphArguments>().map_or(&none, |given| &given.arguments);
        arguments.resolve(kind, name, namespace, base_name)
    }

    /// The strongest override of a parameter. It and the weaker ones count as used.
    pub(crate) fn use_override(&mut self, node: &str, parameter: &str) -> Option<Override> {
        let of = self.feature::<GraphArguments>();
        let mut strongest = None;
        for (n, given) in of.arguments.overrides.iter().enumerate() {
            if given.is_for(node, parameter) {
                of.used_overrides.insert(n);
                strongest = Some(given);
            }
        }
        strongest.cloned()
    }

    /// All overrides of a node's parameters, from weak to strong, which count as used.
    pub(crate) fn use_overrides(&mut self, node: &str) -> Vec<(String, ParameterValue)> {
        let of = self.feature::<GraphArguments>();
        let GraphArguments { arguments, used_overrides } = of;
        let given = arguments.overrides.iter().enumerate();
        let given = given.filter(|(_, given)| given.nodes.matches(node));
        let taken = given.map(|(n, given)| {
            used_overrides.insert(n);
            (given.parameter.clone(), given.value.clone())
        });
        taken.collect()
    }

    fn unused_overrides(&self) -> Vec<String> {
        let Some(of) = self.look::<GraphArguments>() else { return Vec::new() };
        let overrides = of.arguments.overrides.iter().enumerate();
        let unused = overrides
            .filter(|(n, given)| !of.used_overrides.contains(n) && given.parameter != USE_SIM_TIME);
        unused.map(|(_, given)| format!("{}: `{}`", given.origin, given.parameter)).collect()
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

    /// The namespace and name of a node by the remapping rules.
    pub(crate) fn remap_node(&self, namespace: String, name: &str) -> Result<(String, String)> {
        let original = name::qualify(&namespace, name);
        let none = Arguments::default();
        let arguments = self.look::<GraphArguments>().map_or(&none, |given| &given.arguments);
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
