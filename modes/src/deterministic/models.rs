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
    /// Finds the parts of the graph that the model names. It may name what does not exist yet.
    ///
    /// # Errors
    /// The first name that seems to be misspelt, or the first value that cannot be.
    fn resolve(&self, info: &GraphInfo, seed: u64) -> Result<Box<R>, BoxError>;

    /// Whether `other` is a model of the same type with the same values.
    fn equals(&self, other: &dyn Any) -> bool;
}

/// How messages travel in one run.
pub trait ResolvedLinks: Send {
    /// The graph has changed: new parts follow the model as well, and the others continue as
    /// before.
    fn extend(&mut self, info: &GraphInfo);

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
    /// The graph has changed: new parts follow the model as well, and the others continue as
    /// before.
    fn extend(&mut self, info: &GraphInfo);

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
    /// The time from its ready event to the appearance of its messages; without it, they appear at
    /// its end.
    pub logical: Option<Duration>,
}

/// A model of any type, or none.
pub type AnyModel<R> = Option<Arc<dyn Model<R>>>;

impl<R: ?Sized + 'static> dyn Model<R> {
    /// The model, if it is of this type.
    pub fn downcast<M: Model<R>>(&self) -> Option<&M> {
        let model: &dyn Any = self;
        model.downcast_ref()
    }
}

impl<R: ?Sized + 'static> PartialEq for dyn Model<R> {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}
