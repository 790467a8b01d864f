//! Events that a scheduler takes out in order to dispatch them in an order of its own.

use super::Worker;
use crate::event::{CallbackId, LoopId};
use crate::route::Route;
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
    /// [`ReadyOrder::Fifo`](crate::ReadyOrder::Fifo): for schedulers that dispatch in an order of
    /// their own. Two events of one callback must not change places.
    pub fn take_ready(&mut self) -> Option<ReadyEvent> {
        let index = self.pick()?;
        let turn = match self.is_simulated() {
            true => self.inbox.pop(index).map(Turn::Announced),
            false => self.next_turn(index),
        };
        self.rest(index);
        let token = turn?.token();
        if self.routes.get(token as usize).is_none_or(Route::is_unknown) {
            self.adopt();
        }
        let Route { callback, loop_index, .. } = *self.routes.get(token as usize)?;
        // The loop of a token whose callback was destroyed may be gone as well.
        let event_loop = *self.loops.get(loop_index as usize).or(self.loops.first())?;
        let callback = Some(callback).filter(|callback| *callback != CallbackId::NONE);
        Some(ReadyEvent { token, callback, event_loop })
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
        self.dispatch(token, true)
    }
}
