//! The requests to cancel a goal, and the decision of the application on them.

use futures::future::{Either, select};
use ringspin::action::GoalInfo;
use ringspin_adapter::action::CancelDecisions;
use ringspin_adapter::lock;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// The requests to cancel a goal.
pub(super) struct Cancellation {
    /// Whether a request waits for a decision, or was accepted.
    is_requested: watch::Sender<bool>,
    state: Mutex<State>,
}

enum State {
    /// The requests that wait for a decision. A dropped one is rejected.
    Undecided(Vec<Arc<CancelDecisions>>),
    /// Further requests are accepted.
    Cancelling,
    /// Further requests are rejected.
    Ended,
}

impl Cancellation {
    pub(super) fn new() -> Self {
        let state = Mutex::new(State::Undecided(Vec::new()));
        Self { is_requested: watch::Sender::new(false), state }
    }

    /// Adds a request. If the goal is being cancelled, it is accepted with `canceling`.
    pub(super) fn request(&self, decisions: Arc<CancelDecisions>, canceling: GoalInfo) {
        match &mut *lock(&self.state) {
            State::Undecided(waiting) => {
                waiting.push(decisions);
                self.is_requested.send_replace(true);
            }
            State::Cancelling => decisions.accept(Some(canceling)),
            State::Ended => {}
        }
    }

    /// Accepts the requests, also those to come: the goal is `canceling`.
    pub(super) fn accept(&self, canceling: GoalInfo) {
        let mut state = lock(&self.state);
        let State::Undecided(waiting) = &mut *state else { return };
        let waiting = std::mem::take(waiting);
        *state = State::Cancelling;
        self.is_requested.send_replace(true);
        drop(state);
        waiting.iter().for_each(|decisions| decisions.accept(Some(canceling)));
    }

    /// Rejects the requests that wait.
    pub(super) fn reject(&self) {
        let mut state = lock(&self.state);
        let State::Undecided(waiting) = &mut *state else { return };
        let waiting = std::mem::take(waiting);
        // Nothing waits for the end of a request.
        self.is_requested.send_if_modified(|is_requested| {
            *is_requested = false;
            false
        });
        drop(state);
        drop(waiting);
    }

    /// Rejects the requests that wait, and those to come: the goal has ended.
    pub(super) fn end(&self) {
        self.reject();
        *lock(&self.state) = State::Ended;
    }

    pub(super) fn is_requested(&self) -> bool {
        *self.is_requested.borrow()
    }

    /// Awaits `future` until it ends or there is a request to cancel the goal, which hands the
    /// future back.
    pub(super) async fn until_requested<F>(&self, future: F) -> Result<F::Output, F>
    where
        F: Future + Unpin,
    {
        let mut requests = self.is_requested.subscribe();
        let requested = pin!(requests.wait_for(|is_requested| *is_requested));
        match select(future, requested).await {
            Either::Left((output, _)) => Ok(output),
            Either::Right((_, future)) => Err(future),
        }
    }
}
