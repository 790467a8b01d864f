//! Handles to parameters: of one, in its type, and of a whole node.

use super::descriptor::ParameterDescriptor;
use super::table::{AnyEntry, Entry, NodeParameters};
use crate::base::error::Result;
use crate::base::parameter_value::sealed::Cell;
use crate::base::parameter_value::{ParameterValue, ParameterVariant};
use std::fmt;
use std::sync::Arc;

/// A parameter that was declared with type `T`: read and set from any thread, cheap to clone.
pub struct Parameter<T: ParameterVariant> {
    entry: Arc<Entry<T>>,
    node: Arc<NodeParameters>,
}

impl<T: ParameterVariant> Parameter<T> {
    pub(super) fn new(entry: Arc<Entry<T>>, node: Arc<NodeParameters>) -> Self {
        Self { entry, node }
    }

    /// The current value.
    ///
    /// A bool, integer or double is read in one step, without waiting. A string or array is cloned
    /// under a lock that a writer holds only while it puts the new value in place: in a hot
    /// callback rather keep a copy in the state, and renew it in
    /// [`on_parameter_change`](crate::Node::on_parameter_change).
    #[inline]
    pub fn get(&self) -> T {
        self.entry.cell.get()
    }

    /// Sets the value. On return [`get`](Self::get) gives the new one, and the change waits for its
    /// callbacks.
    ///
    /// # Errors
    /// Fails when the value is not allowed or the parameter is read-only; then nothing
    /// has changed.
    pub fn set(&self, value: T) -> Result<()> {
        let change = (self.entry.descriptor.name.clone(), value.to_value());
        let entry: Arc<dyn AnyEntry> = self.entry.clone();
        self.node.set_entries(&[entry], vec![change])
    }

    /// Removes the parameter from its node, which may declare another one of its name. This handle
    /// keeps the last value, and setting fails from now on. From any thread; further calls have no
    /// effect.
    ///
    /// ```
    /// # use ringspin_executor::{ErrorKind, Graph};
    /// # let node = Graph::new().create_node("costmap", ())?;
    /// let layer = node.declare_parameter("layer", 1)?;
    /// layer.undeclare();
    /// assert_eq!(layer.set(2).unwrap_err().kind(), ErrorKind::NotFound);
    /// node.declare_parameter("layer", "static".to_string())?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn undeclare(&self) {
        self.node.remove(&*self.entry);
    }

    /// The descriptor with which the parameter was declared.
    pub fn descriptor(&self) -> &ParameterDescriptor {
        &self.entry.descriptor
    }
}

impl<T: ParameterVariant> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        Self { entry: self.entry.clone(), node: self.node.clone() }
    }
}

impl<T: ParameterVariant> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value) = (&self.entry.descriptor.name, self.entry.value());
        f.debug_struct("Parameter").field("name", name).field("value", &value).finish()
    }
}

/// A snapshot of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterInfo {
    /// The descriptor with which it was declared.
    pub descriptor: ParameterDescriptor,
    /// Its value.
    pub value: ParameterValue,
}

/// All parameters of a node, by name: read and set from any thread, cheap to clone.
///
/// Live, a change is an event as soon as it is set. In deterministic mode set parameters from
/// callbacks, or between two spins: a change by another thread during a spin has no repeatable
/// time.
#[derive(Clone)]
pub struct ParameterClient(Arc<NodeParameters>);

impl ParameterClient {
    pub(crate) fn new(node: Arc<NodeParameters>) -> Self {
        Self(node)
    }

    pub(crate) fn allow_undeclared(&self) {
        self.0.allow_undeclared();
    }

    /// The node's fully qualified name.
    pub fn node(&self) -> &str {
        self.0.node()
    }

    /// All parameters as they were at one moment, in the order of their names.
    pub fn list(&self) -> Vec<ParameterInfo> {
        self.0.list()
    }

    /// Whether the node [allows](crate::Node::allow_undeclared_parameters) to set parameters that
    /// it has not declared.
    pub fn allows_undeclared(&self) -> bool {
        self.0.allows_undeclared()
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// Fails for a parameter that the node does not have.
    pub fn get(&self, parameter: &str) -> Result<ParameterValue> {
        self.0.get(parameter)
    }

    /// Sets a parameter; the value is taken as it is, and has to have the declared type.
    ///
    /// # Errors
    /// Fails for an unknown or read-only parameter, a value of another type, and one that range,
    /// choices or constraint refuse; then nothing has changed.
    pub fn set(&self, parameter: &str, value: impl Into<ParameterValue>) -> Result<()> {
        self.0.set_all(vec![(parameter.into(), value.into())])
    }

    /// Sets several parameters at once: all or none of them, with one event for all.
    ///
    /// Lists of parameters and handlers of the event see all of them changed; a thread that reads
    /// single [`Parameter`]s meanwhile may see some of them changed before the others.
    ///
    /// # Errors
    /// Fails for the first one that is refused; then nothing has changed.
    pub fn set_all<N: Into<String>>(
        &self,
        changes: impl IntoIterator<Item = (N, ParameterValue)>,
    ) -> Result<()> {
        self.0.set_all(changes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl fmt::Debug for ParameterClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ParameterClient").field(&self.node()).finish()
    }
}
