//! The closures that are called at the ends of calls, in reused boxes.

use super::{CallError, Reply};
use crate::base::departure::Departure;
use crate::delivery::context::Context;
use crate::running::event_loop::BoxError;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// A closure that is called at the end of a call.
pub(super) type Then<S, P> = Box<dyn CallAtEnd<S, P>>;

/// The end of a call, once.
pub(super) trait CallAtEnd<S, P>: Send {
    fn end(
        &mut self,
        state: &mut S,
        reply: Result<Reply<P>, CallError>,
        cx: &mut Context<'_>,
    ) -> Result<(), BoxError>;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A closure, or the place for the next one of its type. With it the client stays in the graph:
/// its last handle may be dropped while the call has no response.
struct Once<F>(Option<(F, Arc<Departure>)>);

impl<S, P, F> CallAtEnd<S, P> for Once<F>
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
        self.0.take().map_or(Ok(()), |(end, _client)| end(state, reply, cx))
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Boxes of called closures, for reuse. A place in a program that calls repeatedly has closures of
/// one type, so a box of that type is there for its next call.
///
/// It is an optimization, and no thread waits for it: a thread that finds the lock taken allocates
/// a box, or frees one.
pub(super) struct Spares<S, P>(Mutex<Vec<Then<S, P>>>);

impl<S: 'static, P: 'static> Spares<S, P> {
    /// Creates a store of up to `boxes_max` boxes.
    pub(super) fn new(boxes_max: usize) -> Self {
        Self(Mutex::new(Vec::with_capacity(boxes_max)))
    }

    /// `end` in a box, with the departure of its client. Linear in the number of spare boxes if
    /// none fits.
    pub(super) fn boxed<F>(&self, end: F, client: &Arc<Departure>) -> Then<S, P>
    where
        F: FnOnce(&mut S, Result<Reply<P>, CallError>, &mut Context<'_>) -> Result<(), BoxError>
            + Send
            + 'static,
    {
        let once = Once(Some((end, client.clone())));
        if let Ok(mut spares) = self.0.try_lock()
            && let Some(n) = spares.iter_mut().position(|spare| spare.as_any_mut().is::<Once<F>>())
        {
            let mut spare = spares.swap_remove(n);
            if let Some(place) = spare.as_any_mut().downcast_mut() {
                *place = once;
            }
            return spare;
        }
        Box::new(once)
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
