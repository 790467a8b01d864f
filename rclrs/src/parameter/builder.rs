//! The declaration of parameters: the selection of the initial value.

use super::handles::{MandatoryParameter, OptionalParameter, ReadOnlyParameter};
use super::range::ParameterRanges;
use super::subscription::Observers;
use super::value::{ParameterValue, ParameterVariant, typed};
use crate::error::DeclarationError;
use crate::node::NodeState;
use ringspin::Parameter;
use ringspin::parameter::{Dynamic, ParameterValue as GraphValue};
use std::fmt;
use std::sync::Arc;

/// Selects the initial value.
type Discriminator<'a, T> = Box<dyn FnOnce(AvailableValues<'_, T>) -> Option<T> + 'a>;

/// Checks a value; its error is the reason of the refusal.
type Validate<T> = Arc<dyn Fn(&T) -> Result<(), String> + Send + Sync>;

/// A parameter that is about to be declared.
///
/// Created by [`NodeState::declare_parameter`](crate::NodeState::declare_parameter).
#[must_use = "a parameter exists once it is mandatory, optional or read-only"]
pub struct ParameterBuilder<'a, T: ParameterVariant> {
    node: &'a NodeState,
    name: Arc<str>,
    default_value: Option<T>,
    ignores_override: bool,
    discards_mismatching_prior_value: bool,
    discriminator: Discriminator<'a, T>,
    options: ParameterOptions<T>,
    validate: Option<Validate<T>>,
}

/// The description and the limits of a parameter.
#[derive(Clone, Debug)]
pub struct ParameterOptions<T: ParameterVariant> {
    description: Arc<str>,
    constraints: Arc<str>,
    ranges: T::Range,
}

impl<T: ParameterVariant> Default for ParameterOptions<T> {
    fn default() -> Self {
        Self { description: "".into(), constraints: "".into(), ranges: T::Range::default() }
    }
}

/// The values among which a [discriminator](ParameterBuilder::discriminate) selects.
pub struct AvailableValues<'a, T> {
    /// The default.
    pub default_value: Option<T>,
    /// The override by an argument or a parameter file.
    pub override_value: Option<T>,
    /// The value to which the parameter was set before its declaration.
    pub prior_value: Option<T>,
    /// The range.
    pub ranges: &'a ParameterRanges,
}

/// Selects a prior value that is in the range, else the override, else the default.
///
/// An override that is out of the range is selected, and the declaration reports it.
pub fn default_initial_value_discriminator<T: ParameterVariant>(
    available: AvailableValues<'_, T>,
) -> Option<T> {
    let AvailableValues { default_value, override_value, prior_value, ranges } = available;
    let prior_value = prior_value.filter(|prior| ranges.in_range(&prior.clone().into()));
    prior_value.or(override_value).or(default_value)
}

/// A parameter of the graph that was declared here.
pub(super) struct Declared<V: Dynamic> {
    pub(super) parameter: Parameter<V>,
    pub(super) observers: Arc<Observers>,
}

impl<'a, T: ParameterVariant> ParameterBuilder<'a, T> {
    pub(super) fn new(node: &'a NodeState, name: Arc<str>) -> Self {
        Self {
            node,
            name,
            default_value: None,
            ignores_override: false,
            discards_mismatching_prior_value: false,
            discriminator: Box::new(default_initial_value_discriminator),
            options: ParameterOptions::default(),
            validate: None,
        }
    }

    /// Sets the value that holds without an override, and if none was set before the declaration.
    pub fn default(mut self, value: T) -> Self {
        self.default_value = Some(value);
        self
    }

    /// Ignores overrides.
    pub fn ignore_override(mut self) -> Self {
        self.ignores_override = true;
        self
    }

    /// Ignores a value of another type that was set before the declaration, which else is an error.
    pub fn discard_mismatching_prior_value(mut self) -> Self {
        self.discards_mismatching_prior_value = true;
        self
    }

    /// Selects the initial value by `f` instead of [`default_initial_value_discriminator`].
    pub fn discriminate<F>(mut self, f: F) -> Self
    where
        F: FnOnce(AvailableValues<'_, T>) -> Option<T> + 'a,
    {
        self.discriminator = Box::new(f);
        self
    }

    /// Sets the range.
    pub fn range(mut self, range: T::Range) -> Self {
        self.options.ranges = range;
        self
    }

    /// Sets the description, for tools.
    pub fn description(mut self, description: impl Into<Arc<str>>) -> Self {
        self.options.description = description.into();
        self
    }

    /// Describes constraints besides the range, for tools. They are not checked.
    pub fn constraints(mut self, constraints: impl Into<Arc<str>>) -> Self {
        self.options.constraints = constraints.into();
        self
    }

    /// Adds a check that every value has to pass, also the initial one: its error is the reason of
    /// the refusal. It should have no effects: another parameter of the same request may be
    /// refused.
    pub fn validate(
        mut self,
        callback: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.validate = Some(Arc::new(callback));
        self
    }

    /// Declares a parameter with a value.
    ///
    /// # Errors
    /// See [`DeclarationError`].
    pub fn mandatory(self) -> Result<MandatoryParameter<T>, DeclarationError> {
        self.try_into()
    }

    /// Declares a parameter with a value that nothing can set.
    ///
    /// # Errors
    /// See [`DeclarationError`].
    pub fn read_only(self) -> Result<ReadOnlyParameter<T>, DeclarationError> {
        self.try_into()
    }

    /// Declares a parameter that may have no value.
    ///
    /// # Errors
    /// See [`DeclarationError`]; never [`DeclarationError::NoValueAvailable`].
    pub fn optional(self) -> Result<OptionalParameter<T>, DeclarationError> {
        self.try_into()
    }

    /// Declares the parameter in the graph; `initial` turns the selected value into its form there.
    pub(super) fn declare<V: Dynamic + Into<Option<GraphValue>>>(
        self,
        is_read_only: bool,
        initial: impl FnOnce(Option<GraphValue>) -> Result<V, DeclarationError>,
    ) -> Result<Declared<V>, DeclarationError> {
        let node = &self.node.event_loop.node;
        let mut builder = node.parameter::<V>(&self.name).of_type(T::kind().to_graph());
        let ParameterOptions { description, constraints, ranges } = self.options;
        let ranges: ParameterRanges = ranges.into();
        if !ranges.is_valid() {
            return Err(DeclarationError::InvalidRange);
        }
        let override_value = match builder.override_value().filter(|_| !self.ignores_override) {
            Some(value) => Some(typed(value).ok_or(DeclarationError::OverrideValueTypeMismatch)?),
            None => None,
        };
        let prior = builder.undeclared_value();
        if prior.is_none() && node.parameters().get(&self.name).is_ok() {
            return Err(DeclarationError::AlreadyDeclared);
        }
        let prior_value = match prior.map(typed) {
            Some(None) if !self.discards_mismatching_prior_value => {
                return Err(DeclarationError::PriorValueTypeMismatch);
            }
            prior => prior.flatten(),
        };
        let default_value = self.default_value;
        let available =
            AvailableValues { default_value, override_value, prior_value, ranges: &ranges };
        let selected: Option<ParameterValue> = (self.discriminator)(available).map(Into::into);
        if selected.as_ref().is_some_and(|value| !ranges.in_range(value)) {
            return Err(DeclarationError::InitialValueOutOfRange);
        }
        let value = initial(selected.as_ref().map(ParameterValue::to_graph))?;
        builder = builder.default(value).ignore_overrides();
        builder = builder.description(&*description).additional_constraints(&*constraints);
        if let Some(range) = ranges.to_graph() {
            builder = builder.limits(range);
        }
        if is_read_only {
            builder = builder.read_only();
        }
        declare(builder, self.validate)
    }
}

/// Declares a parameter with its check and its observers.
fn declare<T: ParameterVariant, V: Dynamic + Into<Option<GraphValue>>>(
    builder: ringspin::parameter::ParameterBuilder<V>,
    validate: Option<Validate<T>>,
) -> Result<Declared<V>, DeclarationError> {
    // A handle converts each value to `T`.
    let check = move |value: &V| {
        let Some(value) = value.clone().into() else { return Ok(()) };
        let no_type = || format!("it is not a {}", std::any::type_name::<T>());
        let value = typed::<T>(value).ok_or_else(no_type)?;
        validate.as_ref().map_or(Ok(()), |validate| validate(&value))
    };
    let observers = Arc::new(Observers::default());
    let told = observers.clone();
    let tell = move |value: &V| told.notify(value.clone().into().unwrap_or(GraphValue::NotSet));
    let declared = builder.constraint(check).on_set(tell).declare();
    let parameter = declared.map_err(|error| DeclarationError::of(&error))?;
    Ok(Declared { parameter, observers })
}

impl<T> ParameterBuilder<'_, Arc<[T]>>
where
    Arc<[T]>: ParameterVariant,
{
    /// Sets the default of an array from its elements.
    pub fn default_from_iter(mut self, default_value: impl IntoIterator<Item = T>) -> Self {
        self.default_value = Some(default_value.into_iter().collect());
        self
    }
}

impl ParameterBuilder<'_, Arc<[Arc<str>]>> {
    /// Sets the default of an array of strings from its elements, as in `["left", "right"]`.
    pub fn default_string_array<U>(mut self, default_value: U) -> Self
    where
        U: IntoIterator,
        U::Item: Into<Arc<str>>,
    {
        self.default_value = Some(default_value.into_iter().map(Into::into).collect());
        self
    }
}

impl<T: ParameterVariant> fmt::Debug for ParameterBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParameterBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
