//! The declaration of parameters.
//!
//! The thread that declares checks the default and the override first, without a lock, because a
//! constraint is code of the user and may read other parameters. Then it adds the entry under the
//! lock of the node's table, which refuses a second one of that name: of two threads that declare
//! it, one gets the error. The overrides lie in the graph, and a short lock of it marks those that
//! were used, so that the freeze can report the others. The table belongs to the node and not to
//! the graph, so reading a parameter does not wait for a thread that creates nodes.

use super::client::{Parameter, ParameterClient};
use super::descriptor::{ParameterDescriptor, ParameterRange};
use super::table::{Constraint, Entry, NodeParameters, check};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::LoopId;
use crate::base::parameter_value::sealed::Cell;
use crate::base::parameter_value::{ParameterValue, ParameterVariant, text};
use crate::base::table::Table;
use crate::running::graph::{Graph, GraphBuilder};
use crate::running::node::NodeHandle;
use std::ops::RangeInclusive;
use std::sync::Arc;

impl NodeHandle {
    pub(crate) fn parameter<T: ParameterVariant>(&self, name: &str) -> ParameterBuilder<T> {
        ParameterBuilder {
            graph: self.graph.clone(),
            node: self.node_parameters(),
            event_loop: self.event_loop,
            default: None,
            constraint: None,
            descriptor: ParameterDescriptor {
                name: name.into(),
                parameter_type: T::TYPE,
                description: String::new(),
                read_only: false,
                range: None,
                choices: Vec::new(),
            },
        }
    }

    pub(crate) fn node_parameters(&self) -> Arc<NodeParameters> {
        let known = self.graph.builder().known_parameters(self.node_index);
        // The executor has ended, and the parameters with it.
        known.unwrap_or_else(|| Arc::new(NodeParameters::new((&*self.full_name).into(), None)))
    }
}

/// The parameters of all nodes, by the number of the node.
#[derive(Default)]
struct AllParameters(Table<usize, Arc<NodeParameters>>);

impl GraphBuilder {
    /// Adds the parameters of the next node.
    pub(crate) fn add_parameters(&mut self, parameters: NodeParameters) {
        let index = self.next_node_index();
        self.feature::<AllParameters>().0.insert(index, Arc::new(parameters));
        self.at_node_end(|builder, index, _| {
            let parameters = builder.feature::<AllParameters>().0.remove(index);
            builder.drop_later(parameters);
        });
    }

    fn known_parameters(&self, node_index: usize) -> Option<Arc<NodeParameters>> {
        self.look::<AllParameters>()?.0.get(node_index).cloned()
    }

    pub(crate) fn node_parameters(&self, node_index: usize) -> Arc<NodeParameters> {
        // A node that was destroyed has none.
        let none = || Arc::new(NodeParameters::new(String::new(), None));
        self.known_parameters(node_index).unwrap_or_else(none)
    }
}

impl Graph {
    /// The parameters of the node with this fully qualified name, if there is one; also while an
    /// executor runs the graph.
    pub fn parameter_client(&self, node: &str) -> Option<ParameterClient> {
        let builder = self.builder();
        let mut all = builder.look::<AllParameters>()?.0.values();
        all.find(|parameters| parameters.node() == node).cloned().map(ParameterClient::new)
    }
}

/// A parameter that is about to be declared; see [`Node::parameter`](crate::Node::parameter).
#[must_use = "a parameter exists once it is declared"]
pub struct ParameterBuilder<T: ParameterVariant> {
    graph: Graph,
    node: Arc<NodeParameters>,
    event_loop: LoopId,
    pub(crate) descriptor: ParameterDescriptor,
    default: Option<T>,
    constraint: Option<Constraint<T>>,
}

impl<T: ParameterVariant> ParameterBuilder<T> {
    /// Sets the value that holds without an override. Without a default an override is required.
    pub fn default(mut self, value: T) -> Self {
        self.default = Some(value);
        self
    }

    /// Sets the description of the parameter: its purpose and unit.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.descriptor.description = text.into();
        self
    }

    /// Makes the parameter read-only: it can be overridden at the start, but not set.
    pub fn read_only(mut self) -> Self {
        self.descriptor.read_only = true;
        self
    }

    /// Sets the only values that the parameter can have.
    pub fn choices<C: Into<T>>(mut self, choices: impl IntoIterator<Item = C>) -> Self {
        self.descriptor.choices = choices.into_iter().map(|c| c.into().to_value()).collect();
        self
    }

    /// Adds a check that every value has to pass, also the default: its error is the reason of the
    /// refusal.
    ///
    /// It runs on the thread that sets, before anything changes and without a lock, so it may use
    /// other parameters. It should have no effects: another parameter of the same request may still
    /// be refused. React to a change in
    /// [`Node::on_parameter_change`](crate::Node::on_parameter_change).
    pub fn constraint(
        mut self,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.constraint = Some(Box::new(check));
        self
    }

    /// Declares the parameter.
    ///
    /// # Errors
    /// For an override that has another type or is not allowed, the error names the
    /// argument or the line of the file, the node, the parameter and both types.
    pub fn declare(self) -> Result<Parameter<T>> {
        let node = self.node.node().to_owned();
        let refused = |kind, text: String| Error::new(kind, text).in_node(&node);
        let name = self.descriptor.name.clone();
        text::check_name(&name)
            .map_err(|reason| refused(ErrorKind::InvalidName, format!("node {node}: {reason}")))?;
        if let Some(range) = self.descriptor.range.filter(|range| !range.is_valid()) {
            let text = format!(
                "node {node}: the range of parameter `{name}` is empty or has a step that is not \
                 positive: {range}"
            );
            return Err(refused(ErrorKind::InvalidArgument, text));
        }
        let what = || format!("parameter `{name}` of node {node}");
        self.graph.builder().check_open_loop(self.event_loop, what)?;
        let duplicate = || {
            let text = format!(
                "node {node} already has a parameter `{name}`; keep its handle, or ask \
                 `Node::parameters`"
            );
            refused(ErrorKind::AlreadyExists, text)
        };
        if self.node.contains(&name) {
            return Err(duplicate());
        }
        let cell = T::Cell::new(self.initial_value()?);
        let Self { node: of_node, descriptor, constraint, .. } = self;
        let entry = Arc::new(Entry { descriptor, constraint, cell });
        match of_node.add(entry.clone()) {
            true => Ok(Parameter::new(entry, of_node)),
            false => Err(duplicate()),
        }
    }

    /// The strongest override, or the default. Both are checked.
    pub(crate) fn initial_value(&self) -> Result<T> {
        let check = |value: &ParameterValue| -> Result<T> {
            check(&self.descriptor, self.constraint.as_ref(), self.node.node(), value)
        };
        let default = match &self.default {
            Some(default) => {
                let checked = check(&default.to_value());
                Some(checked.map_err(|error| {
                    error.reworded(|text| format!("the default does not fit: {text}"))
                })?)
            }
            None => None,
        };
        let (node, parameter) = (self.node.node(), &self.descriptor.name);
        let given = self.graph.builder().use_override(node, parameter);
        match given {
            Some(given) => {
                let fitting = given.value.fit(T::TYPE).unwrap_or(given.value);
                let origin = given.origin;
                check(&fitting).map_err(|error| error.reworded(|text| format!("{origin}: {text}")))
            }
            None => default.ok_or_else(|| {
                let declared = T::TYPE;
                let text = format!(
                    "node {node}: parameter `{parameter}` ({declared}) has no default; give it a \
                     value, for example `--ros-args -p {parameter}:=...`"
                );
                Error::new(ErrorKind::InvalidArgument, text).in_node(node)
            }),
        }
    }
}

impl<T: Ranged> ParameterBuilder<T> {
    /// Limits a number, or each number of an array; both ends are included.
    pub fn range(mut self, range: RangeInclusive<T::Number>) -> Self {
        self.descriptor.range = Some(T::range(*range.start(), *range.end(), T::ZERO));
        self
    }

    /// Limits the values of the [`range`](Self::range), which has to be given before, to its first
    /// plus multiples of `step`, and its last. Without a range it has no effect.
    pub fn step(mut self, step: T::Number) -> Self {
        self.descriptor.range = self.descriptor.range.map(|range| T::with_step(range, step));
        self
    }
}

impl<T: ParameterVariant> std::fmt::Debug for ParameterBuilder<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("ParameterBuilder");
        debug.field("descriptor", &self.descriptor).field("default", &self.default);
        debug.finish_non_exhaustive()
    }
}

/// A type with values that can be limited to a range: `i64`, `f64`, and `Vec`s of them.
pub trait Ranged: ParameterVariant {
    /// The type of the limits.
    type Number: Copy;
    /// No step.
    const ZERO: Self::Number;
    /// A range of it.
    fn range(from: Self::Number, to: Self::Number, step: Self::Number) -> ParameterRange;
    /// The range with another step; one that is not positive becomes invalid.
    fn with_step(range: ParameterRange, step: Self::Number) -> ParameterRange;
}

macro_rules! ranged {
    ($rust:ty, $number:ty, $name:ident, $zero:expr) => {
        impl Ranged for $rust {
            type Number = $number;
            const ZERO: $number = $zero;

            fn range(from: $number, to: $number, step: $number) -> ParameterRange {
                ParameterRange::$name { from, to, step }
            }

            fn with_step(range: ParameterRange, step: $number) -> ParameterRange {
                // Zero stands for no step, so a zero that was asked for must not pass as one.
                let step = if step > $zero { step } else { -<$number>::from(1u8) };
                match range {
                    ParameterRange::$name { from, to, .. } => Self::range(from, to, step),
                    other => other,
                }
            }
        }
    };
}

ranged!(i64, i64, Integer, 0);
ranged!(Vec<i64>, i64, Integer, 0);
ranged!(f64, f64, FloatingPoint, 0.0);
ranged!(Vec<f64>, f64, FloatingPoint, 0.0);
