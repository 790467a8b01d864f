//! Events that a scheduler takes out of the ready ring, keeps, and dispatches in another order,
//! such as that of a recorded schedule.
//!
//! The thread of the worker takes and dispatches. Meanwhile an event is a token with numbers and no
//! reference, because its callback may be destroyed while it waits; the dispatch compares the
//! callback of the token again, since the token may lead to another one by then.

use super::Worker;
use crate::base::event::{CallbackId, LoopId};
use crate::base::time::Time;
use crate::running::route::Route;
use ringspin_ringbuf::inbox::Turn;

/// A ready event that was taken, and has to be dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyEvent {
    /// The worker's number of its destination: one for each callback.
    pub token: u32,
    /// The callback; `None` for a notice to the worker itself, which has to be dispatched in turn.
    pub callback: Option<CallbackId>,
    /// The loop.
    pub event_loop: LoopId,
}

impl Worker {
    /// Takes the event that became ready first, of all loops if the order is
    /// [`ReadyOrder::Fifo`](crate::ReadyOrder::Fifo): for schedulers that dispatch in another
    /// order. Two events of one callback must not change places.
    pub fn take_ready(&mut self) -> Option<ReadyEvent> {
        loop {
            let token = self.take_token()?;
            if self.routes.get(token as usize).is_none_or(Route::is_unknown) {
                self.adopt();
            }
            let route = self.routes.get(token as usize).copied().unwrap_or(Route::UNKNOWN);
            if route.is_callback() || self.controls.contains_key(&token) {
                let callback = route.is_callback().then_some(route.callback);
                let event_loop = self.loops[route.loop_index as usize];
                return Some(ReadyEvent { token, callback, event_loop });
            }
            // The callback was destroyed. Other threads decide when its token is freed, so no
            // scheduler may see it.
            self.discard_arrived(token);
        }
    }

    /// Dispatches the timer of `callback` as another run did at `now`, when it was `due`: for
    /// schedulers that replay a record. `None` if no timer has this callback.
    pub fn dispatch_timer_as(
        &mut self,
        callback: CallbackId,
        due: Time,
        now: Time,
    ) -> Option<CallbackId> {
        let token = self.timers.expire_as(callback, due, now)?;
        self.dispatch(Turn::Announced(token))
    }

    /// Makes `callback`, of a task or another receiver of notices, ready once more: for schedulers
    /// that replay a record. False if it has no notice.
    pub fn notify(&self, callback: CallbackId) -> bool {
        let token = self.routes.iter().position(|route| route.callback == callback);
        let notifier = token.and_then(|token| self.notifiers[token].as_ref());
        notifier.map(|notifier| notifier.notify()).is_some()
    }

    fn take_token(&mut self) -> Option<u32> {
        if self.is_simulated() {
            return self.inbox.pop(0);
        }
        let index = self.picker.pick(self.inbox.set())?;
        let turn = self.next_turn(index);
        self.inbox.rest(index);
        turn.map(Turn::token)
    }

    /// Dispatches an event that was taken; `None` if it has no callback any more, for example
    /// because its timer was cancelled.
    pub fn dispatch_taken(&mut self, event: ReadyEvent) -> Option<CallbackId> {
        let token = event.token as usize;
        // The callback may have been destroyed, and its token given to another one.
        let callback = self.routes.get(token).map(|route| route.callback);
        if callback != Some(event.callback.unwrap_or(CallbackId::NONE)) {
            return None;
        }
        self.dispatch(Turn::Announced(event.token))
    }
}
