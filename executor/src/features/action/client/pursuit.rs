//! The active goals of a client: their feedback callbacks, and the limit of their number.
//!
//! The event loop of the client adds the feedback callback of a goal when the goal is accepted,
//! takes it out while it runs, and puts it back, also after a panic. So no lock is held while code
//! of the user runs, which may drop the client and so forget its goals. The map has a lock because
//! that may happen elsewhere, too: the last handle of the client may be dropped on any thread, and
//! drops the callbacks. They are dropped after the unlock, because that is code of the user.

use super::super::Action;
use super::super::messages::{FeedbackMessage, GetResultResponse, GoalId};
use super::callbacks::{Feedback, GoalOutcome, OnFeedback, OnResult};
use crate::base::departure::Departure;
use crate::base::lock::lock;
use crate::base::time::{Clock, NodeClock};
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::delivery::topic::MessageCheck;
use crate::features::random::NodeRandom;
use crate::features::service::{CallError, Reply};
use crate::running::event_loop::BoxError;
use rand_core::Rng;
use ringspin_ringbuf::Permits;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The feedback callback of each goal; `None` while it runs, or if the goal has none.
type Listening<S, A> = BTreeMap<GoalId, Option<OnFeedback<S, A>>>;

/// The state that an action's client shares with its callbacks.
pub(super) struct Shared<S, A: Action> {
    pub(super) action: String,
    pub(super) check_goal: Option<MessageCheck>,
    random: Mutex<NodeRandom>,
    clock: NodeClock,
    listening: Mutex<Listening<S, A>>,
}

impl<S, A: Action> Shared<S, A> {
    pub(super) fn new(
        action: String,
        check_goal: Option<MessageCheck>,
        random: NodeRandom,
        clock: NodeClock,
    ) -> Self {
        let random = Mutex::new(random);
        Self { action, check_goal, random, clock, listening: Mutex::default() }
    }

    /// A new identity: two numbers of the node's seeded randomness, the second one varied by the
    /// executor's time, so that a process that was started again does not reuse those of before.
    pub(super) fn next_id(&self) -> GoalId {
        let now = self.clock.now().as_nanos();
        let mut random = lock(&self.random);
        loop {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&random.next_u64().to_le_bytes());
            bytes[8..].copy_from_slice(&(random.next_u64() ^ now).to_le_bytes());
            if GoalId(bytes) != GoalId::ZERO {
                return GoalId(bytes);
            }
        }
    }

    pub(super) fn hear(
        self: &Arc<Self>,
        state: &mut S,
        message: &Message<FeedbackMessage<A>>,
        cx: &mut Context<'_>,
    ) -> Result<(), BoxError> {
        let goal_id = message.goal_id;
        let callback = lock(&self.listening).get_mut(&goal_id).and_then(Option::take);
        let mut called = Called { shared: self, goal_id, callback };
        // Without a callback the goal is another client's, or has ended.
        let callback = called.callback.as_mut();
        callback.map_or(Ok(()), |callback| callback(state, &Feedback(message.clone()), cx))
    }
}

/// A callback that is being called: it is put back even if it panics, for the next feedback.
struct Called<'a, S, A: Action> {
    shared: &'a Shared<S, A>,
    goal_id: GoalId,
    callback: Option<OnFeedback<S, A>>,
}

impl<S, A: Action> Drop for Called<'_, S, A> {
    fn drop(&mut self) {
        if let Some(place) = lock(&self.shared.listening).get_mut(&self.goal_id) {
            *place = self.callback.take();
        }
    }
}

/// One of a limited number of places, until it is dropped.
pub(super) struct Place(Arc<Permits>);

impl Place {
    pub(super) fn take(permits: &Arc<Permits>) -> Option<Self> {
        permits.try_acquire().then(|| Self(permits.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.release();
    }
}

struct Open<S, A: Action> {
    result: Option<OnResult<S, A>>,
    place: Place,
}

/// An accepted goal with a result to come. Dropping it ends the delivery of feedback, whose
/// subscription stays until then.
pub(super) struct Pursuit<S, A: Action> {
    shared: Arc<Shared<S, A>>,
    _subscription: Arc<Departure>,
    goal_id: GoalId,
    /// The result callback, until the goal ends.
    open: Mutex<Option<Open<S, A>>>,
}

impl<S, A: Action> Pursuit<S, A> {
    pub(super) fn new(
        (shared, subscription): (Arc<Shared<S, A>>, Arc<Departure>),
        goal_id: GoalId,
        feedback: Option<OnFeedback<S, A>>,
        result: Option<OnResult<S, A>>,
        place: Place,
    ) -> Self {
        lock(&shared.listening).insert(goal_id, feedback);
        let open = Mutex::new(Some(Open { result, place }));
        Self { shared, _subscription: subscription, goal_id, open }
    }

    fn stop_listening(&self) {
        let callback = lock(&self.shared.listening).remove(&self.goal_id);
        drop(callback); // the user's, so not under the lock
    }

    pub(super) fn end(
        &self,
        state: &mut S,
        reply: Result<Reply<GetResultResponse<A>>, CallError>,
        cx: &mut Context<'_>,
    ) -> Result<(), BoxError> {
        self.stop_listening();
        let outcome = reply.map(|reply| GoalOutcome::of(self.goal_id, &reply));
        let Some(Open { result, place }) = lock(&self.open).take() else { return Ok(()) };
        drop(place); // now, so that the callback may send the next goal
        result.map_or(Ok(()), |callback| callback(state, outcome, cx))
    }
}

impl<S, A: Action> Drop for Pursuit<S, A> {
    fn drop(&mut self) {
        self.stop_listening();
    }
}
