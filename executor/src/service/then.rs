//! The closures that are called at the ends of calls, in reused boxes.

use super::{CallError, Reply};
use crate::context::Context;
use crate::event_loop::BoxError;
use std::any::Any;
use std::sync::Mutex;

/// A closure that is called at the end of a call.
pub(super) type Then<S, P> = Box<dyn End<S, P>>;

/// The end of a call, once.
pub(super) trait End<S, P>: Send {
    fn end(
        &mut self,
        state: &mut S,
        reply: Result<Reply<P>, CallError>,
        cx: &mut Context<'_>,
    ) -> Result<(), BoxError>;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A closure, or the place for the next one of its type.
struct Once<F>(Option<F>);

impl<S, P, F> End<S, P> for Once<F>
where
    F: FnOnce(&mut S, Result<Reply<P>, CallError>, &mut Context<'_>) -> Result<(), BoxError>
        + Send
        + 'static,
{
    fn end(
        &mut self,
        state: &mut S,
        reply: Result<Reply<P>, CallError>,
        cx: &mut Context<'_>,
    ) -> Result<(), BoxError> {
        self.0.take().map_or(Ok(()), |end| end(state, reply, cx))
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Boxes whose closures have been called. A place in a program that calls again and again has
/// closures of one type, and so finds a box of its own.
///
/// It is an optimization, and no thread waits for it: a thread that finds the lock taken allocates
/// a box, or frees one.
pub(super) struct Spares<S, P>(Mutex<Vec<Then<S, P>>>);

impl<S: 'static, P: 'static> Spares<S, P> {
    /// Creates a store of up to `boxes_max` boxes.
    pub(super) fn new(boxes_max: usize) -> Self {
        Self(Mutex::new(Vec::with_capacity(boxes_max)))
    }

    /// `end` in a box. Linear in the number of spare boxes if none fits.
    pub(super) fn boxed<F>(&self, end: F) -> Then<S, P>
    where
        F: FnOnce(&mut S, Result<Reply<P>, CallError>, &mut Context<'_>) -> Result<(), BoxError>
            + Send
            + 'static,
    {
        if let Ok(mut spares) = self.0.try_lock()
            && let Some(n) = spares.iter_mut().position(|spare| spare.as_any_mut().is::<Once<F>>())
        {
            let mut spare = spares.swap_remove(n);
            if let Some(Once(place)) = spare.as_any_mut().downcast_mut() {
                *place = Some(end);
            }
            return spare;
        }
        Box::new(Once(Some(end)))
    }

    /// Keeps the box of a closure that has been called. Further ones than there is room for are
    /// freed.
    pub(super) fn put_back(&self, spent: Then<S, P>) {
        if let Ok(mut spares) = self.0.try_lock()
            && spares.len() < spares.capacity()
        {
            spares.push(spent);
        }
    }
}
