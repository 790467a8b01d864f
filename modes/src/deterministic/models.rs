//! Interfaces to the models of a simulation: how messages travel, and how long callbacks take.
//!
//! The scheduler asks; the models themselves are in the crate `ringspin-simulation`.

use ringspin_executor::{BoxError, CallbackId, DeliveryOutcome, EventId, GraphInfo, Time};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A model as configuration, which is compared with a graph before a run.
pub trait Model<R: ?Sized>: fmt::Debug + Any + Send + Sync {
    /// Finds the parts of the graph that the model names; `None` if it has no effect there.
    ///
    /// # Errors
    /// The first name that the graph does not have, or the first value that cannot be.
    fn resolve(&self, info: &GraphInfo, seed: u64) -> Result<Option<Box<R>>, BoxError>;

    /// Whether `other` is a model of the same type with the same values.
    fn equals(&self, other: &dyn Any) -> bool;
}

/// How messages travel in one run.
pub trait ResolvedLinks: Send {
    /// Whether any edge to `callback` has a rule.
    fn is_linked(&self, callback: CallbackId) -> bool;

    /// The outcome of sending the message `event` of `bytes` to `callback` at `departure`. Called
    /// once for each message, and for those of one edge in the order of their departures.
    fn outcome(
        &mut self,
        callback: CallbackId,
        event: EventId,
        departure: Time,
        bytes: usize,
    ) -> DeliveryOutcome;
}

/// How long callbacks take in one run.
pub trait ResolvedDurations: Send {
    /// Whether any callback takes another time if it sends something.
    fn depends_on_sending(&self) -> bool;

    /// The time that call `n` of `callback` takes.
    fn execution(&self, callback: CallbackId, n: u64) -> Execution;
}

/// How long one call of a callback takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// How long it keeps its event loop busy.
    pub duration: Duration,
    /// How long it does so if it sends something, where that differs.
    pub sending: Option<Duration>,
    /// How long after its event was ready what it publishes appears; without it, when it ends.
    pub logical: Option<Duration>,
}

/// A model of any type, or none.
pub struct AnyModel<R: ?Sized>(Option<Arc<dyn Model<R>>>);

impl<R: ?Sized + 'static> AnyModel<R> {
    /// Holds `model`.
    pub fn new(model: impl Model<R>) -> Self {
        Self(Some(Arc::new(model)))
    }

    /// The model, if it is of this type.
    pub fn get<M: Model<R>>(&self) -> Option<&M> {
        let model: &dyn Any = &**self.0.as_ref()?;
        model.downcast_ref()
    }

    /// Whether there is no model.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    fn resolve(&self, info: &GraphInfo, seed: u64) -> Result<Option<Box<R>>, BoxError> {
        self.0.as_ref().map_or(Ok(None), |model| model.resolve(info, seed))
    }
}

/// A model that was compared with a graph, and is compared again when the graph has grown: each
/// callback keeps the parts that were found when it was new.
pub(super) struct Resolved<R: ?Sized> {
    model: AnyModel<R>,
    seed: u64,
    /// The parts, each with its first callback.
    parts: Vec<(CallbackId, Box<R>)>,
    /// The first callback that was not compared.
    next: CallbackId,
}

impl<R: ?Sized + 'static> Resolved<R> {
    pub(super) fn new(model: &AnyModel<R>, info: &GraphInfo, seed: u64) -> Result<Self, BoxError> {
        let (model, parts) = (model.clone(), Vec::new());
        let mut resolved = Self { model, seed, parts, next: CallbackId(0) };
        resolved.resolve(info)?;
        Ok(resolved)
    }

    /// Whether the model has an effect on any callback.
    pub(super) fn is_some(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether there is a model.
    pub(super) fn has_model(&self) -> bool {
        !self.model.is_none()
    }

    /// The first parts.
    pub(super) fn first(&self) -> Option<&R> {
        self.parts.first().map(|(_, parts)| &**parts)
    }

    pub(super) fn of(&self, callback: CallbackId) -> Option<&R> {
        let place = self.parts.partition_point(|(first, _)| *first <= callback).checked_sub(1)?;
        Some(&*self.parts[place].1)
    }

    pub(super) fn of_mut(&mut self, callback: CallbackId) -> Option<&mut R> {
        let place = self.parts.partition_point(|(first, _)| *first <= callback).checked_sub(1)?;
        Some(&mut *self.parts[place].1)
    }

    /// The graph has grown.
    pub(super) fn extend(&mut self, info: &GraphInfo) {
        if let Err(error) = self.resolve(info) {
            tracing::error!(%error, model = ?self.model, "a model does not fit what was created");
        }
    }

    fn resolve(&mut self, info: &GraphInfo) -> Result<(), BoxError> {
        let last = info.callbacks.keys().next_back();
        let next = last.map_or(self.next, |last| CallbackId(last.0 + 1));
        let first = std::mem::replace(&mut self.next, next);
        if first == self.next && first != CallbackId(0) {
            return Ok(());
        }
        self.parts.extend(self.model.resolve(info, self.seed)?.map(|parts| (first, parts)));
        Ok(())
    }
}

impl<R: ?Sized> Clone for AnyModel<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: ?Sized> Default for AnyModel<R> {
    fn default() -> Self {
        Self(None)
    }
}

impl<R: ?Sized + 'static> fmt::Debug for AnyModel<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(model) => model.fmt(f),
            None => f.write_str("None"),
        }
    }
}

impl<R: ?Sized + 'static> PartialEq for AnyModel<R> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(model), Some(other)) => model.equals(&**other),
            (None, None) => true,
            _ => false,
        }
    }
}
