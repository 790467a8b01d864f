//! The parameters of one node: a table that any thread can read, and one writer at a time changes.
//!
//! A request to set is looked up, then checked, then applied. Only looking up and applying hold the
//! table's lock, and no user code runs under it. The change event is published under it, so that
//! events come in the order in which the values changed; observers of a parameter are called after
//! it.

use super::change::{PARAMETER_CHANGES_MAX, ParameterChange};
use super::client::ParameterInfo;
use super::descriptor::ParameterDescriptor;
use super::undeclared::Undeclared;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::lock::lock;
use crate::base::parameter_value::sealed::Cell;
use crate::base::parameter_value::{ParameterType, ParameterValue, ParameterVariant};
use crate::delivery::topic::{PublishError, Publisher};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// A constraint closure with its type erased.
pub(crate) type Constraint<T> = Box<dyn Fn(&T) -> Result<(), String> + Send + Sync>;

/// An observer of a parameter with its type erased.
pub(super) type OnSet<T> = Box<dyn Fn(&T) + Send + Sync>;

/// One parameter: its value and constraints.
pub(super) struct Entry<T: ParameterVariant> {
    pub(super) descriptor: ParameterDescriptor,
    pub(super) constraint: Option<Constraint<T>>,
    pub(super) on_set: Option<OnSet<T>>,
    pub(super) cell: T::Cell,
}

/// A parameter with its type erased.
pub(crate) trait AnyEntry: Send + Sync {
    fn descriptor(&self) -> &ParameterDescriptor;
    fn value(&self) -> ParameterValue;
    /// Checks the type and all constraints of the value; runs the user's constraint.
    fn check(&self, node: &str, value: &ParameterValue) -> Result<()>;
    /// Stores a value that was checked.
    fn store(&self, value: &ParameterValue);
    /// Tells the user's observer of a value that was stored.
    fn observe(&self, value: &ParameterValue) {
        let _ = value;
    }
    /// Whether code declared it; if not, it was set in a node that allows that.
    fn is_declared(&self) -> bool {
        true
    }
}

impl<T: ParameterVariant> AnyEntry for Entry<T> {
    fn descriptor(&self) -> &ParameterDescriptor {
        &self.descriptor
    }

    fn value(&self) -> ParameterValue {
        self.cell.get().to_value()
    }

    fn check(&self, node: &str, value: &ParameterValue) -> Result<()> {
        check(&self.descriptor, self.constraint.as_ref(), node, value).map(drop)
    }

    fn store(&self, value: &ParameterValue) {
        if let Some(value) = T::from_value(value) {
            self.cell.set(value);
        }
    }

    fn observe(&self, value: &ParameterValue) {
        if let Some((on_set, value)) = self.on_set.as_ref().zip(T::from_value(value)) {
            on_set(&value);
        }
    }
}

/// Advice how to write a value of the declared type, for common mistakes.
fn type_hint(declared: ParameterType, given: ParameterType) -> &'static str {
    use ParameterType as T;
    match (declared, given) {
        (T::Double, T::Integer) => "; write it with a dot, as in `1.0`",
        (T::DoubleArray, T::IntegerArray) => "; write its numbers with a dot, as in `[1.0]`",
        (T::String, _) => "; put it into quotes",
        (T::ByteArray, T::IntegerArray) => "; bytes are 0 to 255",
        _ => "",
    }
}

/// The cause of an [`Error`] about a value that a [constraint] refused: its reason.
///
/// [constraint]: crate::ParameterBuilder::constraint
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedByConstraint(pub String);

impl fmt::Display for RefusedByConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RefusedByConstraint {}

/// Checks `value` against a declaration, and returns it in its type.
pub(crate) fn check<T: ParameterVariant>(
    descriptor: &ParameterDescriptor,
    constraint: Option<&Constraint<T>>,
    node: &str,
    value: &ParameterValue,
) -> Result<T> {
    let refused = |kind, fault: String| {
        let text = format!("node {node}: parameter `{}` {fault}", descriptor.name);
        Error::new(kind, text).in_node(node)
    };
    let invalid =
        |fault: &str| refused(ErrorKind::InvalidArgument, format!("cannot be {value}{fault}"));
    let (declared, given) = (descriptor.parameter_type, value.parameter_type());
    let Some(typed) = T::from_value(value).filter(|_| descriptor.takes(given)) else {
        let hint = type_hint(declared, given);
        let fault = match given {
            ParameterType::NotSet => "has to have a value".to_owned(),
            given => format!("is of type {declared}, not {given}{hint}"),
        };
        return Err(refused(ErrorKind::TypeMismatch, fault));
    };
    if let Some(range) = descriptor.range.filter(|range| !range.allows(value)) {
        return Err(invalid(&format!("; use {range}")));
    }
    if !descriptor.choices.is_empty() && !descriptor.choices.contains(value) {
        let choices: Vec<_> = descriptor.choices.iter().map(ToString::to_string).collect();
        return Err(invalid(&format!("; use one of {}", choices.join(", "))));
    }
    match constraint.map(|constraint| constraint(&typed)) {
        None | Some(Ok(())) => Ok(typed),
        Some(Err(reason)) => {
            Err(invalid(&format!(": {reason}")).caused_by(RefusedByConstraint(reason)))
        }
    }
}

#[derive(Default)]
struct ParameterTable {
    entries: BTreeMap<String, Arc<dyn AnyEntry>>,
    /// The publisher of changes, once a callback asked for them. Publishing is refused while there
    /// are no callbacks.
    changes: Option<Publisher<Vec<ParameterChange>>>,
    /// Whether setting an unknown parameter adds it.
    allows_undeclared: bool,
}

impl ParameterTable {
    /// Whether it has this very entry, and not just one of its name.
    fn has(&self, entry: &dyn AnyEntry) -> bool {
        let known = self.entries.get(&entry.descriptor().name);
        known.is_some_and(|known| std::ptr::addr_eq(&raw const **known, entry))
    }
}

/// An event of parameters of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterEventKind {
    /// They were declared, or added by setting them, with these values.
    Declared,
    /// They were set to these values, at once.
    Set,
    /// They were removed, with these values.
    Undeclared,
}

/// An observer of the parameters that a node declares, sets and removes.
pub(crate) type ParameterObserver =
    Box<dyn Fn(ParameterEventKind, &[(String, ParameterValue)]) + Send + Sync>;

pub(crate) struct NodeParameters {
    node: String,
    table: Mutex<ParameterTable>,
    observer: Option<ParameterObserver>,
}

impl NodeParameters {
    pub(crate) fn new(node: String, observer: Option<ParameterObserver>) -> Self {
        Self { node, table: Mutex::default(), observer }
    }

    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    fn table(&self) -> MutexGuard<'_, ParameterTable> {
        lock(&self.table)
    }

    fn report(&self, kind: ParameterEventKind, values: &[(String, ParameterValue)]) {
        if let Some(observer) = &self.observer {
            observer(kind, values);
        }
    }

    /// Adds a parameter, which replaces one that was not declared; false if one of its name was.
    pub(crate) fn add(&self, entry: Arc<dyn AnyEntry>) -> bool {
        let mut table = self.table();
        let name = entry.descriptor().name.clone();
        let kind = match table.entries.get(&name).map(|known| known.is_declared()) {
            Some(true) => return false,
            Some(false) => ParameterEventKind::Set,
            None => ParameterEventKind::Declared,
        };
        self.report(kind, &[(name.clone(), entry.value())]);
        table.entries.insert(name, entry);
        true
    }

    pub(super) fn is_declared(&self, parameter: &str) -> bool {
        self.table().entries.get(parameter).is_some_and(|known| known.is_declared())
    }

    /// The value of a parameter that was set, but not declared so far.
    pub(super) fn undeclared_value(&self, parameter: &str) -> Option<ParameterValue> {
        let table = self.table();
        let known = table.entries.get(parameter)?;
        (!known.is_declared()).then(|| known.value())
    }

    pub(super) fn allow_undeclared(&self) {
        self.table().allows_undeclared = true;
    }

    pub(super) fn allows_undeclared(&self) -> bool {
        self.table().allows_undeclared
    }

    /// Removes a parameter, unless that was done.
    pub(super) fn remove(&self, entry: &dyn AnyEntry) {
        let mut table = self.table();
        let name = &entry.descriptor().name;
        if !table.has(entry) {
            return;
        }
        self.report(ParameterEventKind::Undeclared, &[(name.clone(), entry.value())]);
        let removed = table.entries.remove(name);
        drop(table);
        drop(removed); // its constraint is the user's
    }

    /// Publishes changes from now on, for the first callback that asks for them.
    pub(super) fn publish_changes(&self, changes: Publisher<Vec<ParameterChange>>) {
        self.table().changes = Some(changes);
    }

    pub(super) fn get(&self, parameter: &str) -> Result<ParameterValue> {
        let table = self.table();
        let entry = table.entries.get(parameter);
        entry.map(|entry| entry.value()).ok_or_else(|| self.not_declared(&table, parameter))
    }

    /// All parameters as they were at one moment, by name.
    pub(super) fn list(&self) -> Vec<ParameterInfo> {
        let info = |entry: &Arc<dyn AnyEntry>| {
            let (mut descriptor, value) = (entry.descriptor().clone(), entry.value());
            if descriptor.dynamic_typing {
                descriptor.parameter_type = value.parameter_type();
            }
            ParameterInfo { descriptor, value }
        };
        self.table().entries.values().map(info).collect()
    }

    fn not_declared(&self, table: &ParameterTable, parameter: &str) -> Error {
        let names: Vec<_> = table.entries.keys().map(String::as_str).collect();
        let declared = if names.is_empty() { "none".into() } else { names.join(", ") };
        let node = &self.node;
        let text = format!("node {node} has no parameter `{parameter}`; it has {declared}");
        Error::new(ErrorKind::NotFound, text).in_node(node)
    }

    /// Sets all or none of `changes`.
    pub(super) fn set_all(&self, changes: Vec<(String, ParameterValue)>) -> Result<()> {
        let entries = self.look_up(&changes)?;
        self.set_entries(&entries, changes)
    }

    /// Sets all or none of `changes`, which are of `entries`.
    pub(super) fn set_entries(
        &self,
        entries: &[Arc<dyn AnyEntry>],
        changes: Vec<(String, ParameterValue)>,
    ) -> Result<()> {
        for (entry, (parameter, value)) in entries.iter().zip(&changes) {
            if entry.descriptor().read_only {
                let fault = "is read-only; override it at the start instead";
                return Err(self.refused(ErrorKind::InvalidState, parameter, fault));
            }
            entry.check(&self.node, value)?;
        }
        if !changes.is_empty() {
            self.apply(entries, &changes)?;
            entries.iter().zip(&changes).for_each(|(entry, (_, value))| entry.observe(value));
        }
        Ok(())
    }

    fn refused(&self, kind: ErrorKind, parameter: &str, fault: &str) -> Error {
        let node = &self.node;
        Error::new(kind, format!("node {node}: parameter `{parameter}` {fault}")).in_node(node)
    }

    fn look_up(&self, changes: &[(String, ParameterValue)]) -> Result<Vec<Arc<dyn AnyEntry>>> {
        let table = self.table();
        let mut names: Vec<&str> = changes.iter().map(|(parameter, _)| &**parameter).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let fault = "is set twice at once; give it one value";
            return Err(self.refused(ErrorKind::InvalidArgument, twice[0], fault));
        }
        let entry = |(parameter, _): &(String, ParameterValue)| match table.entries.get(parameter) {
            Some(entry) => Ok(entry.clone()),
            None if table.allows_undeclared => Undeclared::entry(&self.node, parameter),
            None => Err(self.not_declared(&table, parameter)),
        };
        changes.iter().map(entry).collect()
    }

    /// Stores checked values and publishes the event.
    fn apply(
        &self,
        entries: &[Arc<dyn AnyEntry>],
        values: &[(String, ParameterValue)],
    ) -> Result<()> {
        let mut table = self.table();
        let mut is_added = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = &entry.descriptor().name;
            let is_known = table.has(&**entry);
            let can_be_added = !entry.is_declared() && !table.entries.contains_key(name);
            if !is_known && !can_be_added {
                return Err(self.not_declared(&table, name));
            }
            is_added.push(!is_known);
        }
        let store = || {
            entries.iter().zip(values).for_each(|(entry, (_, value))| entry.store(value));
            self.report_set(&is_added, values);
        };
        match &table.changes {
            Some(publisher) => self.publish(publisher, entries, values, store)?,
            None => store(),
        }
        for (entry, _) in entries.iter().zip(is_added).filter(|(_, is_added)| *is_added) {
            table.entries.insert(entry.descriptor().name.clone(), entry.clone());
        }
        Ok(())
    }

    fn report_set(&self, is_added: &[bool], values: &[(String, ParameterValue)]) {
        let mut start = 0;
        for run in is_added.chunk_by(PartialEq::eq) {
            let kind = match run[0] {
                true => ParameterEventKind::Declared,
                false => ParameterEventKind::Set,
            };
            let end = start + run.len();
            self.report(kind, &values[start..end]);
            start = end;
        }
    }

    /// Stores values and publishes the event, or does neither.
    fn publish(
        &self,
        publisher: &Publisher<Vec<ParameterChange>>,
        entries: &[Arc<dyn AnyEntry>],
        values: &[(String, ParameterValue)],
        store: impl Fn(),
    ) -> Result<()> {
        let changes = entries.iter().zip(values).map(|(entry, (parameter, value))| {
            let (name, old, new) = (parameter.clone(), entry.value(), value.clone());
            ParameterChange { name, old, new }
        });
        match publisher.publish_after(changes.collect(), &store) {
            Ok(()) => Ok(()),
            // While the graph is built, and after the executor has ended, no callback waits for the
            // event.
            Err(PublishError::NotFrozen(_) | PublishError::Gone(_)) => {
                store();
                Ok(())
            }
            Err(
                PublishError::Full(_)
                | PublishError::NoSlot { .. }
                | PublishError::Invalid { .. }
                | PublishError::Remote { .. },
            ) => {
                let node = &self.node;
                let text = format!(
                    "node {node}: {PARAMETER_CHANGES_MAX} parameter changes already wait for a \
                     callback; set less often, or again later"
                );
                Err(Error::new(ErrorKind::LimitReached, text).in_node(node))
            }
        }
    }
}
