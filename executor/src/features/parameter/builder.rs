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
use super::table::{Constraint, Entry, NodeParameters, OnSet, check};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::LoopId;
use crate::base::parameter_value::sealed::Cell;
use crate::base::parameter_value::{
    Dynamic, ParameterType, ParameterValue, ParameterVariant, text,
};
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
            ignores_overrides: false,
            constraint: None,
            on_set: None,
            descriptor: ParameterDescriptor {
                name: name.into(),
                parameter_type: T::TYPE,
                dynamic_typing: T::TYPE == ParameterType::NotSet,
                description: String::new(),
                read_only: false,
                range: None,
                choices: Vec::new(),
                additional_constraints: String::new(),
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
    ignores_overrides: bool,
    constraint: Option<Constraint<T>>,
    on_set: Option<OnSet<T>>,
}

impl<T: ParameterVariant> ParameterBuilder<T> {
    /// Sets the value that holds without an override. Without a default an override is required,
    /// except for an `Option`: its default is `None`.
    pub fn default(mut self, value: T) -> Self {
        self.default = Some(value);
        self
    }

    /// Makes the parameter begin with its default, whatever arguments, files and earlier sets say.
    pub fn ignore_overrides(mut self) -> Self {
        self.ignores_overrides = true;
        self
    }

    /// The strongest override of the parameter by arguments and files, also if it has another type;
    /// it counts as declared.
    pub fn override_value(&self) -> Option<ParameterValue> {
        let (node, parameter) = (self.node.node(), &self.descriptor.name);
        let given = self.graph.builder().use_override(node, parameter)?.value;
        Some(given.fit(self.descriptor.parameter_type).unwrap_or(given))
    }

    /// The value to which the parameter was set before its declaration, in a node that
    /// [allows](crate::Node::allow_undeclared_parameters) it.
    pub fn undeclared_value(&self) -> Option<ParameterValue> {
        self.node.undeclared_value(&self.descriptor.name)
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

    /// Describes constraints that the descriptor does not show otherwise, for tools.
    pub fn additional_constraints(mut self, text: impl Into<String>) -> Self {
        self.descriptor.additional_constraints = text.into();
        self
    }

    /// Adds an observer of the parameter: called after each set with the new value, on the thread
    /// that sets, without a lock.
    ///
    /// It is for code outside of the event loops, such as a task of another runtime. A node rather
    /// takes changes as events: [`Node::on_parameter_change`](crate::Node::on_parameter_change).
    pub fn on_set(mut self, observe: impl Fn(&T) + Send + Sync + 'static) -> Self {
        self.on_set = Some(Box::new(observe));
        self
    }

    /// Declares the parameter.
    ///
    /// A value that was set before the declaration precedes an override, which precedes the
    /// default.
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
        if self.node.is_declared(&name) {
            return Err(duplicate());
        }
        let cell = T::Cell::new(self.initial_value()?);
        let Self { node: of_node, descriptor, constraint, on_set, .. } = self;
        let entry = Arc::new(Entry { descriptor, constraint, on_set, cell });
        match of_node.add(entry.clone()) {
            true => Ok(Parameter::new(entry, of_node)),
            false => Err(duplicate()),
        }
    }

    /// The value from before the declaration, the strongest override, or the default. The value is
    /// checked, and the default.
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
            // An optional parameter has no value.
            None => T::from_value(&ParameterValue::NotSet),
        };
        let (node, parameter) = (self.node.node(), &self.descriptor.name);
        if let Some(value) = self.undeclared_value().filter(|_| !self.ignores_overrides) {
            return check(&value);
        }
        let given = self.graph.builder().use_override(node, parameter);
        match given.filter(|_| !self.ignores_overrides) {
            Some(given) => {
                let declared = self.descriptor.parameter_type;
                let fitting = given.value.fit(declared).unwrap_or(given.value);
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

impl<T: Dynamic> ParameterBuilder<T> {
    /// Limits the type of the values, for code that knows it at run time only.
    ///
    /// ```
    /// # use ringspin_executor::{ErrorKind, Graph, ParameterType, ParameterValue};
    /// # let node = Graph::new().create_node("plugins", ())?;
    /// let gain = node.parameter("gain").default(ParameterValue::Double(1.0));
    /// let gain = gain.of_type(ParameterType::Double).declare()?;
    /// let refused = gain.set(ParameterValue::Bool(true)).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::TypeMismatch);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn of_type(mut self, parameter_type: ParameterType) -> Self {
        self.descriptor.parameter_type = parameter_type;
        self.descriptor.dynamic_typing = parameter_type == ParameterType::NotSet;
        self
    }

    /// Limits numbers of the range's type, and each number of an array of them.
    pub fn limits(mut self, range: ParameterRange) -> Self {
        self.descriptor.range = Some(range);
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
