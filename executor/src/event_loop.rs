//! An event loop: the state of one callback group, and its callbacks.

use crate::context::Context;
use crate::event::{EventId, SourceId};
use crate::message::Message;
use crate::topic::Inlet;
use std::any::Any;
use std::marker::PhantomData;

/// The error that a callback may return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a callback may return: nothing, or a `Result` whose error becomes a
/// [`Failure`](crate::Failure) of the node.
pub trait CallbackResult {
    /// The result in its general form.
    fn into_result(self) -> Result<(), BoxError>;
}

impl CallbackResult for () {
    #[inline]
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> CallbackResult for Result<(), E> {
    #[inline]
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// How a dispatch ended.
pub(crate) enum Outcome {
    /// The queue was empty. One token stands for one message, so this does not happen; if it did,
    /// nothing would be wrong with dispatching nothing.
    Nothing,
    Done(Result<(), BoxError>),
}

/// What a group with state `S` does with events, and where they come from.
///
/// Most entities have one port; one that joins several inputs has a port for each.
pub(crate) trait Entity<S>: Send {
    /// Takes the next event of `port` and calls the callback.
    fn dispatch(&mut self, port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome;
    /// Takes the next event of `port` and drops it.
    fn discard(&mut self, port: usize);
}

/// Where an event of a loop goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Which of the loop's entities.
    pub(crate) entity: usize,
    /// Which of its ports.
    pub(crate) port: usize,
}

/// An event loop whose state type is forgotten, as workers hold it.
pub(crate) trait EventLoop: Send {
    fn dispatch(&mut self, target: Target, cx: &mut Context<'_>) -> Outcome;
    fn discard(&mut self, target: Target);
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

pub(crate) struct Body<S> {
    state: S,
    entities: Vec<Box<dyn Entity<S>>>,
}

impl<S> Body<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { state, entities: Vec::new() }
    }

    /// The first port of the entity that is added next.
    pub(crate) fn next_target(&self) -> Target {
        Target { entity: self.entities.len(), port: 0 }
    }

    /// Adds an entity.
    pub(crate) fn add(&mut self, entity: Box<dyn Entity<S>>) {
        self.entities.push(entity);
    }
}

impl<S: Send + 'static> EventLoop for Body<S> {
    #[inline]
    fn dispatch(&mut self, target: Target, cx: &mut Context<'_>) -> Outcome {
        self.entities[target.entity].dispatch(target.port, &mut self.state, cx)
    }

    fn discard(&mut self, target: Target) {
        self.entities[target.entity].discard(target.port);
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A subscription's callback.
pub(crate) struct SubscriptionEntity<M, F, R> {
    inlet: Inlet<M>,
    callback: F,
    result: PhantomData<fn() -> R>,
}

impl<M, F, R> SubscriptionEntity<M, F, R> {
    pub(crate) fn new(inlet: Inlet<M>, callback: F) -> Self {
        Self { inlet, callback, result: PhantomData }
    }
}

impl<S, M, F, R> Entity<S> for SubscriptionEntity<M, F, R>
where
    M: Send + Sync + 'static,
    F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    #[inline]
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(message) = self.inlet.take() else {
            return Outcome::Nothing;
        };
        cx.begin(message.id());
        Outcome::Done((self.callback)(state, &message, cx).into_result())
    }

    fn discard(&mut self, _port: usize) {
        self.inlet.take();
    }
}

/// A timer's callback.
pub(crate) struct TimerEntity<F, R> {
    source: SourceId,
    fired: u64,
    callback: F,
    result: PhantomData<fn() -> R>,
}

impl<F, R> TimerEntity<F, R> {
    pub(crate) fn new(source: SourceId, callback: F) -> Self {
        Self { source, fired: 0, callback, result: PhantomData }
    }
}

impl<S, F, R> Entity<S> for TimerEntity<F, R>
where
    F: FnMut(&mut S, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    #[inline]
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        cx.begin(EventId { source: self.source, sequence: self.fired });
        self.fired += 1;
        Outcome::Done((self.callback)(state, cx).into_result())
    }

    fn discard(&mut self, _port: usize) {
        self.fired += 1;
    }
}
