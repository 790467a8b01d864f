//! How a task gets at the state of its callback group.
//!
//! A future cannot hold `&mut S` while it waits. So it asks: it leaves a closure with its entity,
//! which has the state at hand, calls the closure, and polls the future again, all in one event.

use crate::context::Context;
use crate::lock::lock;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{self, Poll};
use std::thread::{self, ThreadId};

type Request<S> = Box<dyn FnOnce(&mut S, &mut Context<'_>) + Send>;

/// What a task asks of its state; shared by the task's entity and its future.
pub(super) struct Requests<S>(Arc<Mutex<Pending<S>>>);

struct Pending<S> {
    /// The thread on which the task's own entity is polling it: another task cannot be polled
    /// there meanwhile.
    open: Option<ThreadId>,
    requests: Vec<Request<S>>,
}

impl<S> Default for Requests<S> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Pending { open: None, requests: Vec::new() })))
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

    /// Serves what was asked; false if that was nothing.
    pub(super) fn serve(&self, state: &mut S, cx: &mut Context<'_>) -> bool {
        let mut requests = std::mem::take(&mut self.lock().requests);
        let served = !requests.is_empty();
        requests.drain(..).for_each(|request| request(state, cx));
        // Its memory is for the next ones. There are none yet: nobody may ask meanwhile.
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
    /// It does not wait: no other event comes in between. Two small allocations: for `f`, and for
    /// its result.
    ///
    /// # Panics
    /// When it is awaited in another task than its own, whose state would be another.
    pub fn with<F, R>(&self, f: F) -> WithState<S, F, R>
    where
        F: FnOnce(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: Send + 'static,
    {
        WithState { requests: self.requests.clone(), f: Some(f), result: Arc::default() }
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
    result: Arc<Mutex<Option<R>>>,
}

// It holds nothing that is pinned.
impl<S, F, R> Unpin for WithState<S, F, R> {}

impl<S, F, R> Future for WithState<S, F, R>
where
    S: 'static,
    F: FnOnce(&mut S, &mut Context<'_>) -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<R> {
        if let Some(f) = self.f.take() {
            let result = self.result.clone();
            let mut pending = self.requests.lock();
            if pending.open != Some(thread::current().id()) {
                drop(pending);
                panic!("a task's access to its state was awaited outside of that task");
            }
            pending.requests.push(Box::new(move |state, cx| {
                let value = f(state, cx);
                *lock(&result) = Some(value);
            }));
            return Poll::Pending;
        }
        match lock(&self.result).take() {
            Some(value) => Poll::Ready(value),
            None => Poll::Pending,
        }
    }
}

impl<S, F, R> fmt::Debug for WithState<S, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithState")
    }
}
