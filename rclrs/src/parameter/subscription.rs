//! Observers of a parameter: the callback, and subscriptions.
//!
//! The thread that sets a parameter calls the callback, then raises the number of changes and wakes
//! the subscriptions. A subscription compares that number with the one that it saw last, so it
//! misses no last change, and several changes may be one to it.

use ringspin::parameter::ParameterValue as GraphValue;
use ringspin_adapter::lock;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// A callback with its type erased; it gets the new value.
pub(super) type OnChange = Arc<dyn Fn(GraphValue) + Send + Sync>;

/// The observers of a parameter.
#[derive(Default)]
pub(super) struct Observers {
    on_change: Mutex<Option<OnChange>>,
    changes: Mutex<Changes>,
}

#[derive(Default)]
struct Changes {
    count: u64,
    /// Whether the handle of the parameter was dropped.
    has_ended: bool,
    /// The subscriptions that wait, in the order of their polls.
    waiting: Vec<Waker>,
}

impl Observers {
    /// Exchanges the callback.
    pub(super) fn set_on_change(&self, on_change: Option<OnChange>) {
        // It is dropped without the lock, because it belongs to the application.
        let _before = std::mem::replace(&mut *lock(&self.on_change), on_change);
    }

    /// Tells all of a new value.
    pub(super) fn notify(&self, value: GraphValue) {
        let on_change = lock(&self.on_change).clone();
        if let Some(on_change) = on_change {
            on_change(value);
        }
        self.change(|changes| changes.count += 1);
    }

    /// Drops the callback and ends the subscriptions.
    pub(super) fn end(&self) {
        self.set_on_change(None);
        self.change(|changes| changes.has_ended = true);
    }

    fn change(&self, change: impl FnOnce(&mut Changes)) {
        let mut changes = lock(&self.changes);
        change(&mut changes);
        let waiting = std::mem::take(&mut changes.waiting);
        drop(changes);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, seen: &mut u64, cx: &Context<'_>) -> Poll<Option<()>> {
        let mut changes = lock(&self.changes);
        if *seen != changes.count {
            *seen = changes.count;
            return Poll::Ready(Some(()));
        }
        if changes.has_ended {
            return Poll::Ready(None);
        }
        if !changes.waiting.iter().any(|waiting| waiting.will_wake(cx.waker())) {
            changes.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// A subscription to the changes of a parameter.
///
/// Created by [`MandatoryParameter::subscribe`](crate::MandatoryParameter::subscribe) and
/// [`OptionalParameter::subscribe`](crate::OptionalParameter::subscribe).
pub struct ParameterSubscription<T> {
    observers: Arc<Observers>,
    /// The number of changes so far.
    seen: u64,
    value: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T> ParameterSubscription<T> {
    pub(super) fn new(
        observers: &Arc<Observers>,
        value: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        let seen = lock(&observers.changes).count;
        Self { observers: observers.clone(), seen, value: Box::new(value) }
    }
}

impl<T: Clone> ParameterSubscription<T> {
    /// Waits for a change; returns the value, or `None` after the drop of the parameter. Several
    /// changes may be one: the last value is never missed.
    pub async fn changed(&mut self) -> Option<T> {
        poll_fn(|cx| self.observers.poll(&mut self.seen, cx)).await?;
        Some(self.get())
    }

    /// Returns the value.
    pub fn get(&self) -> T {
        (self.value)()
    }

    /// Waits for a value for which `predicate` holds, which may be the current one. Returns it, or
    /// `None` after the drop of the parameter.
    pub async fn wait_for(&mut self, predicate: impl Fn(&T) -> bool) -> Option<T> {
        let mut value = self.get();
        while !predicate(&value) {
            value = self.changed().await?;
        }
        Some(value)
    }
}

impl<T> fmt::Debug for ParameterSubscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParameterSubscription").field("seen", &self.seen).finish_non_exhaustive()
    }
}
