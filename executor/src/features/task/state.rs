//! Access of a task to the state of its callback group.
//!
//! A future cannot hold `&mut S` while it waits. Instead it leaves a closure with its entity, which
//! has access to the state, calls the closure, and polls the future again, all in one event.

use crate::base::lock::lock;
use crate::delivery::context::Context;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{self, Poll};
use std::thread::{self, ThreadId};

/// Limit of the boxes of called closures that are kept for further ones of their types.
const SPARES_MAX: usize = 16;

/// A closure that a task left, and then the place of its result.
trait Request<S>: Send {
    fn serve(&mut self, state: &mut S, cx: &mut Context<'_>);
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// Used again for the next closure of its type.
struct Exchange<F, R> {
    f: Option<F>,
    result: Option<R>,
}

impl<S, F, R> Request<S> for Exchange<F, R>
where
    F: FnOnce(&mut S, &mut Context<'_>) -> R + Send + 'static,
    R: Send + 'static,
{
    fn serve(&mut self, state: &mut S, cx: &mut Context<'_>) {
        self.result = self.f.take().map(|f| f(state, cx));
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A request, and the future that made it.
struct Ticket<S> {
    number: u64,
    /// Whether the future is still there.
    is_awaited: bool,
    request: Box<dyn Request<S>>,
}

/// The closures that a task runs on its state; shared by the task's entity and its future.
pub(super) struct Requests<S>(Arc<Mutex<Pending<S>>>);

struct Pending<S> {
    /// The thread on which the task's own entity is polling it: another task cannot be polled
    /// there meanwhile.
    open: Option<ThreadId>,
    requests: Vec<Ticket<S>>,
    served: Vec<Ticket<S>>,
    spares: Vec<Box<dyn Request<S>>>,
    made: u64,
}

impl<S> Default for Requests<S> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Pending {
            open: None,
            requests: Vec::new(),
            served: Vec::new(),
            spares: Vec::new(),
            made: 0,
        })))
    }
}

impl<S> Clone for Requests<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// While it lives, requests are taken.
pub(super) struct Open<S>(Requests<S>);

impl<S> Drop for Open<S> {
    fn drop(&mut self) {
        self.0.lock().open = None;
    }
}

impl<S> Requests<S> {
    fn lock(&self) -> MutexGuard<'_, Pending<S>> {
        lock(&self.0)
    }

    pub(super) fn open(&self) -> Open<S> {
        self.lock().open = Some(thread::current().id());
        Open(self.clone())
    }

    /// Serves all requests; false if there were none.
    pub(super) fn serve(&self, state: &mut S, cx: &mut Context<'_>) -> bool {
        let mut requests = std::mem::take(&mut self.lock().requests);
        let served = !requests.is_empty();
        for mut ticket in requests.drain(..) {
            ticket.request.serve(state, cx);
            if ticket.is_awaited {
                self.lock().served.push(ticket);
            }
        }
        // The emptied memory serves the next requests. No request was made in between.
        self.lock().requests = requests;
        served
    }
}

/// Access of one task to the state of its callback group.
pub struct StateAccess<S> {
    requests: Requests<S>,
}

impl<S: 'static> StateAccess<S> {
    pub(super) fn new(requests: Requests<S>) -> Self {
        Self { requests }
    }

    /// Calls `f` with the state and the context of the running event, and gives back its result.
    ///
    /// It does not wait: no other event comes in between. In the steady state nothing is allocated:
    /// `f` and its result get the box of an earlier `f` of its type.
    ///
    /// # Panics
    /// Panics when it is awaited in a task other than its own, which has another state.
    pub fn with<F, R>(&self, f: F) -> WithState<S, F, R>
    where
        F: FnOnce(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: Send + 'static,
    {
        WithState { requests: self.requests.clone(), f: Some(f), asked: None, result: PhantomData }
    }
}

impl<S> fmt::Debug for StateAccess<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateAccess")
    }
}

/// The future of [`StateAccess::with`].
#[must_use = "nothing happens unless this is awaited"]
pub struct WithState<S, F, R> {
    requests: Requests<S>,
    f: Option<F>,
    /// The number of its ticket, while it waits.
    asked: Option<u64>,
    result: PhantomData<fn() -> R>,
}

impl<S, F, R> Drop for WithState<S, F, R> {
    fn drop(&mut self) {
        let Some(asked) = self.asked else { return };
        let mut pending = self.requests.lock();
        let is_its = |ticket: &Ticket<S>| ticket.number == asked;
        let served = pending.served.iter().position(is_its).map(|n| pending.served.remove(n));
        if let Some(ticket) = pending.requests.iter_mut().find(|ticket| ticket.number == asked) {
            ticket.is_awaited = false;
        }
        drop(pending);
        drop(served); // the user's, so not under the lock
    }
}

// No field is pinned.
impl<S, F, R> Unpin for WithState<S, F, R> {}

impl<S, F, R> Future for WithState<S, F, R>
where
    S: 'static,
    F: FnOnce(&mut S, &mut Context<'_>) -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<R> {
        let this = &mut *self;
        let mut pending = this.requests.lock();
        if let Some(f) = this.f.take() {
            if pending.open != Some(thread::current().id()) {
                drop(pending);
                panic!("a task's access to its state was awaited outside of that task");
            }
            this.asked = Some(pending.ask::<F, R>(f));
            return Poll::Pending;
        }
        match this.asked.and_then(|asked| pending.answer::<F, R>(asked)) {
            Some(value) => {
                this.asked = None;
                Poll::Ready(value)
            }
            None => Poll::Pending,
        }
    }
}

impl<S> Pending<S> {
    /// Leaves `f`, and returns the number of its ticket.
    fn ask<F, R>(&mut self, f: F) -> u64
    where
        F: FnOnce(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: Send + 'static,
    {
        let fits = |spare: &mut Box<dyn Request<S>>| spare.as_any_mut().is::<Exchange<F, R>>();
        let spare = self.spares.iter_mut().position(fits);
        let request = match spare.map(|n| self.spares.swap_remove(n)) {
            Some(mut spare) => {
                if let Some(exchange) = spare.as_any_mut().downcast_mut::<Exchange<F, R>>() {
                    exchange.f = Some(f);
                }
                spare
            }
            None => Box::new(Exchange { f: Some(f), result: None }),
        };
        let number = self.made;
        self.made += 1;
        self.requests.push(Ticket { number, is_awaited: true, request });
        number
    }

    /// The result of the request with this ticket, once it is there.
    fn answer<F: 'static, R: 'static>(&mut self, number: u64) -> Option<R> {
        let n = self.served.iter().position(|ticket| ticket.number == number)?;
        let mut request = self.served.remove(n).request;
        let exchange = request.as_any_mut().downcast_mut::<Exchange<F, R>>()?;
        let result = exchange.result.take();
        if self.spares.len() < SPARES_MAX {
            self.spares.push(request);
        }
        result
    }
}

impl<S, F, R> fmt::Debug for WithState<S, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithState")
    }
}
