//! Handles of declared parameters. The drop of a handle removes its parameter.

use super::builder::{Declared, ParameterBuilder};
use super::range::ParameterRanges;
use super::subscription::ParameterSubscription;
use super::value::{ParameterValue, ParameterVariant, typed};
use crate::error::{DeclarationError, ParameterValueError};
use ringspin::parameter::{Dynamic, ParameterValue as GraphValue};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A parameter with a value. The drop of the handle removes it from its node.
pub struct MandatoryParameter<T: ParameterVariant>(Owned<T, GraphValue>);

/// A parameter that may have no value. The drop of the handle removes it from its node.
pub struct OptionalParameter<T: ParameterVariant>(Owned<T, Option<GraphValue>>);

/// A parameter with a value that nothing can set. The drop of the handle removes it from its node.
pub struct ReadOnlyParameter<T: ParameterVariant>(Owned<T, GraphValue>);

/// A declared parameter, removed by the drop.
struct Owned<T, V: Dynamic> {
    declared: Declared<V>,
    _of: PhantomData<fn() -> T>,
}

impl<T, V: Dynamic> Owned<T, V> {
    fn new(declared: Declared<V>) -> Self {
        Self { declared, _of: PhantomData }
    }

    fn set(&self, value: V) -> Result<(), ParameterValueError> {
        let set = self.declared.parameter.set(value);
        set.map_err(|error| ParameterValueError::of(&error))
    }

    fn name(&self) -> &str {
        &self.declared.parameter.descriptor().name
    }

    fn ranges(&self) -> ParameterRanges {
        ParameterRanges::of_graph(self.declared.parameter.descriptor().range)
    }
}

impl<T, V: Dynamic> Drop for Owned<T, V> {
    fn drop(&mut self) {
        self.declared.parameter.undeclare();
        self.declared.observers.end();
    }
}

/// A value of a parameter that has one.
///
/// # Panics
/// Never: the declaration and each set check the conversion.
fn valid<T: ParameterVariant>(value: GraphValue) -> T {
    typed(value).expect("the conversion was checked when the value was set")
}

fn graph_value<T: ParameterVariant>(value: T) -> GraphValue {
    let value: ParameterValue = value.into();
    value.to_graph()
}

impl<T: ParameterVariant> MandatoryParameter<T> {
    /// Returns the value.
    pub fn get(&self) -> T {
        valid(self.0.declared.parameter.get())
    }

    /// Sets the value.
    ///
    /// # Errors
    /// [`ParameterValueError::OutOfRange`] or [`ParameterValueError::ValidationFailed`].
    pub fn set<U: Into<T>>(&self, value: U) -> Result<(), ParameterValueError> {
        self.0.set(graph_value::<T>(value.into()))
    }

    /// Calls `callback` with the new value after each set, on the thread that sets. It replaces an
    /// earlier one.
    pub fn on_change(&self, callback: impl Fn(&T) + Send + Sync + 'static) {
        let on_change = move |value| callback(&valid(value));
        self.0.declared.observers.set_on_change(Some(Arc::new(on_change)));
    }

    /// Subscribes to changes of the value.
    pub fn subscribe(&self) -> ParameterSubscription<T> {
        let Declared { parameter, observers } = &self.0.declared;
        let parameter = parameter.clone();
        ParameterSubscription::new(observers, move || valid(parameter.get()))
    }
}

impl<T: ParameterVariant> OptionalParameter<T> {
    /// Returns the value, if there is one.
    pub fn get(&self) -> Option<T> {
        self.0.declared.parameter.get().map(valid)
    }

    /// Sets the value.
    ///
    /// # Errors
    /// [`ParameterValueError::OutOfRange`] or [`ParameterValueError::ValidationFailed`].
    pub fn set<U: Into<T>>(&self, value: U) -> Result<(), ParameterValueError> {
        self.0.set(Some(graph_value::<T>(value.into())))
    }

    /// Removes the value.
    pub fn unset(&self) {
        // A parameter without a value is valid.
        let _ = self.0.set(None);
    }

    /// Calls `callback` with the new value, or `None`, after each set, on the thread that sets. It
    /// replaces an earlier one.
    pub fn on_change(&self, callback: impl Fn(Option<&T>) + Send + Sync + 'static) {
        let on_change = move |value| callback(typed(value).as_ref());
        self.0.declared.observers.set_on_change(Some(Arc::new(on_change)));
    }

    /// Subscribes to changes of the value.
    pub fn subscribe(&self) -> ParameterSubscription<Option<T>> {
        let Declared { parameter, observers } = &self.0.declared;
        let parameter = parameter.clone();
        ParameterSubscription::new(observers, move || parameter.get().map(valid))
    }
}

impl<T: ParameterVariant> ReadOnlyParameter<T> {
    /// Returns the value.
    pub fn get(&self) -> T {
        valid(self.0.declared.parameter.get())
    }
}

impl<T: ParameterVariant> TryFrom<ParameterBuilder<'_, T>> for MandatoryParameter<T> {
    type Error = DeclarationError;

    fn try_from(builder: ParameterBuilder<'_, T>) -> Result<Self, DeclarationError> {
        let declared = builder.declare(false, |value| value.ok_or(NO_VALUE))?;
        Ok(Self(Owned::new(declared)))
    }
}

impl<T: ParameterVariant> TryFrom<ParameterBuilder<'_, T>> for OptionalParameter<T> {
    type Error = DeclarationError;

    fn try_from(builder: ParameterBuilder<'_, T>) -> Result<Self, DeclarationError> {
        Ok(Self(Owned::new(builder.declare(false, Ok)?)))
    }
}

impl<T: ParameterVariant> TryFrom<ParameterBuilder<'_, T>> for ReadOnlyParameter<T> {
    type Error = DeclarationError;

    fn try_from(builder: ParameterBuilder<'_, T>) -> Result<Self, DeclarationError> {
        let declared = builder.declare(true, |value| value.ok_or(NO_VALUE))?;
        Ok(Self(Owned::new(declared)))
    }
}

const NO_VALUE: DeclarationError = DeclarationError::NoValueAvailable;

macro_rules! debug {
    ($($handle:ident)*) => {$(
        impl<T: ParameterVariant + fmt::Debug> fmt::Debug for $handle<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut debug = f.debug_struct(stringify!($handle));
                debug.field("name", &self.0.name()).field("value", &self.get());
                debug.field("range", &self.0.ranges()).finish()
            }
        }
    )*};
}

debug!(MandatoryParameter OptionalParameter ReadOnlyParameter);
