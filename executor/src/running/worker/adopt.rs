//! The worker's part of a change. Other threads prepare changes under the graph's lock and hand
//! them over; the worker applies them between two events, so that its tables need no lock and a
//! callback never sees half of a change.
//!
//! Places go back the other way: the worker frees tokens and rings in the registrar, and indices of
//! loops in a list that the graph takes. It waits for no lock. A token is freed by a change that
//! its last handle pushes, because a publisher that was suspended may still announce it.

use super::{Worker, WorkerShared};
use crate::base::directory::LoopName;
use crate::base::escape::catch_panic;
use crate::base::event::{CallbackId, GraphChange, LoopId};
use crate::base::lock::lock;
use crate::base::time::{Clock, Time};
use crate::delivery::control::Failure;
use crate::delivery::ready::Notifier;
use crate::delivery::topic::Remains;
use crate::running::change::{Change, NewCallback, NewLoop, NewTimer};
use crate::running::event_loop::{Body, EventLoop};
use crate::running::route::{Control, Index, Route};
use std::sync::{Arc, Mutex};

impl Worker {
    /// Adopts the changes that others have prepared. The worker calls it between two events.
    #[cold]
    pub(crate) fn adopt(&mut self) {
        loop {
            let changes = self.link.take();
            let is_done = changes.is_empty();
            self.is_changed |= changes.iter().any(Change::is_visible);
            changes.into_iter().for_each(|change| self.apply(change));
            // Afterwards: tokens were freed, and rings and tokens of these changes are there by
            // now.
            self.inbox.adopt();
            // Dropped values may have held the last handles of others, which go with them.
            if is_done {
                return;
            }
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::AddLoop(new) => self.add_loop(new),
            Change::AddCallback(new) => self.add_callback(*new),
            Change::AddControl { token, loop_index, control, notifier, starts } => {
                self.add_control(token, loop_index, control, notifier, starts);
            }
            Change::Priority { ring: Some(ring), priority } => {
                self.picker.remove(ring as usize);
                self.picker.add(ring as usize, priority);
            }
            Change::Priority { ring: None, .. } => {} // for schedulers that choose another order
            Change::Body(loop_index, change) => change(&mut self.bodies[loop_index]),
            Change::RemoveEntity { loop_index, entity, callbacks, by_itself } => {
                self.remove_entity(loop_index, entity, &callbacks);
                callbacks.into_iter().for_each(|(callback, _)| {
                    self.record(|_| match by_itself {
                        true => GraphChange::CallbackEnded { callback },
                        false => GraphChange::CallbackRemoved { callback },
                    });
                });
            }
            Change::RemoveLoop { id, loop_index, ring, retirement } => {
                self.remove_loop((id, loop_index), ring, retirement);
            }
            Change::FreeToken(token) => self.free_token(token),
        }
    }

    fn record(&mut self, change: impl FnOnce(&WorkerShared) -> GraphChange) {
        let Some(recorder) = &mut self.recorder else { return };
        let change = change(&self.shared);
        if let Err(panic) = catch_panic(|| recorder.changed(&change)) {
            let (node, part) = ("the executor".into(), format!("recorder of {change:?}"));
            let failure = Failure::outside(node, part, self.shared.clock.now(), panic);
            self.shared.failures.report_other(None, failure);
        }
    }

    fn add_loop(&mut self, NewLoop { id, loop_index, name, body, ring }: NewLoop) {
        if let Some((ring, priority)) = ring {
            self.picker.add(ring as usize, priority);
        }
        let full_name = name.full_name();
        self.record(|_| GraphChange::LoopAdded { event_loop: id, name: full_name });
        if loop_index < self.loops.len() {
            (self.loops[loop_index], self.names[loop_index]) = (id, name);
            (self.bodies[loop_index], self.tokens[loop_index]) = (body, LoopTokens::default());
            return;
        }
        self.loops.push(id);
        self.names.push(name);
        self.bodies.push(body);
        self.tokens.push(LoopTokens::default());
    }

    /// Drops the state of a loop; its callbacks were dropped before.
    fn remove_loop(&mut self, (id, loop_index): (LoopId, usize), ring: Option<u32>, own: u32) {
        for (part, panic) in self.bodies[loop_index].dismantle() {
            self.shared.report_drop(&self.names[loop_index], part, panic);
        }
        self.bodies[loop_index] = Box::new(Body::new(()));
        self.record(|_| GraphChange::LoopRemoved { event_loop: id });
        if let Some(ring) = ring {
            self.picker.remove(ring as usize);
        }
        self.starts.remove(&own);
        self.controls.remove(&own);
        self.notifiers[own as usize] = None;
        self.tokens[loop_index].removed = Some(ring);
        self.free_loop(loop_index);
    }

    /// Frees the place of a loop that was removed, once its tokens are free.
    fn free_loop(&mut self, loop_index: usize) {
        if let LoopTokens { used: 0, removed: Some(ring) } = self.tokens[loop_index] {
            if let Some(ring) = ring {
                self.link.registrar.remove_ring(ring);
            }
            self.tokens[loop_index].removed = None;
            self.link.free_loops.push(loop_index);
        }
    }

    fn add_callback(&mut self, new: NewCallback) {
        let NewCallback { token, mut route, counters, calls, notifier, timer, deadline } = new;
        let place = token as usize;
        if let Some(watch) = deadline {
            route.deadline = Index::new(self.deadlines.len());
            self.deadlines.push(watch);
        }
        if let Some(NewTimer { callback, control, ready, changed, created }) = timer {
            let notifier = control.changed.clone();
            let timer = self.timers.add(callback, control, ready, changed, counters.clone());
            route.timer = Index::new(timer);
            let control = Control::TimerChanged { timer };
            self.add_control(changed, route.loop_index as usize, control, notifier, false);
            if self.is_started {
                self.timers.start_one(timer, created, created);
            }
        }
        self.reserve(place);
        self.tokens[route.loop_index as usize].used += 1;
        self.routes[place] = route;
        self.callback_counters[place] = Some(counters);
        self.calls.set_line(place, calls);
        let Route { callback, event_loop, .. } = route;
        self.record(|shared| {
            let name = shared.directory.callback(callback);
            GraphChange::CallbackAdded { callback, event_loop, name }
        });
        if let Some(notifier) = notifier {
            self.set_notifier(token, notifier, true);
        }
    }

    /// Ends the calls of the callbacks of an entity, and drops their waiting messages. Later
    /// messages are dropped when they arrive, or when the tokens of the callbacks are freed.
    fn remove_entity(&mut self, loop_index: usize, entity: u32, of: &[(CallbackId, u32)]) {
        let (remains, dropped) = self.bodies[loop_index].remove(entity);
        if let Err(panic) = dropped {
            self.shared.report_drop(&self.names[loop_index], "a callback", panic);
        }
        let remains = remains.map(|remains| Arc::new(Mutex::new(remains)));
        for &(callback, token) in of {
            let place = token as usize;
            let Route { target, timer, loop_index, .. } = self.routes[place];
            self.routes[place] = Route::to_worker(loop_index);
            self.notifiers[place] = None;
            self.starts.remove(&token);
            if let Some(changed) = timer.get().and_then(|timer| self.timers.remove(timer)) {
                self.controls.remove(&changed);
                self.notifiers[changed as usize] = None;
            }
            let (port, remains) = (target.port as usize, remains.clone());
            self.leaving.insert(token, Leaving { callback, port, remains });
            self.discard_arrived(token);
        }
    }

    /// Drops and counts the messages that have arrived for a destroyed callback.
    pub(super) fn discard_arrived(&self, token: u32) {
        let Some(Leaving { port, remains: Some(remains), .. }) = self.leaving.get(&token) else {
            return;
        };
        let drained = lock(remains).drain(*port);
        if let Some(counters) = &self.callback_counters[token as usize] {
            counters.discarded.add_by_owner(drained);
        }
    }

    fn free_token(&mut self, token: u32) {
        let place = token as usize;
        self.discard_arrived(token);
        if let Some(Leaving { callback, remains, .. }) = self.leaving.remove(&token) {
            if let Err(panic) = catch_panic(|| drop(remains)) {
                self.shared.report_drop(&LoopName::default(), "the waiting messages", panic);
            }
            self.shared.directory.remove(callback);
            self.shared.counters.forget(callback);
            self.callback_counters[place] = None;
        }
        let loop_index = self.routes[place].loop_index as usize;
        self.tokens[loop_index].used -= 1;
        self.routes[place] = Route::UNKNOWN;
        self.notifiers[place] = None;
        self.controls.remove(&token);
        self.starts.remove(&token);
        self.link.registrar.remove_token(token);
        self.free_loop(loop_index);
    }

    fn add_control(
        &mut self,
        token: u32,
        loop_index: usize,
        control: Control,
        of: Arc<Notifier>,
        starts: bool,
    ) {
        let place = token as usize;
        self.reserve(place);
        self.tokens[loop_index].used += 1;
        self.routes[place] = Route::to_worker(loop_index as u32);
        self.controls.insert(token, control);
        self.set_notifier(token, of, starts);
    }

    fn reserve(&mut self, place: usize) {
        if self.routes.len() <= place {
            self.routes.resize(place + 1, Route::UNKNOWN);
            self.notifiers.resize(place + 1, None);
            self.callback_counters.resize(place + 1, None);
        }
    }

    /// Events of a token come from `notifier`. With `starts`, the first one is made ready at the
    /// start of the worker, and when its clock begins.
    fn set_notifier(&mut self, token: u32, notifier: Arc<Notifier>, starts: bool) {
        if starts {
            self.starts.insert(token, notifier.clone());
            if self.is_started {
                notifier.start();
            }
        } else {
            notifier.adopt();
        }
        self.notifiers[token as usize] = Some(notifier);
    }

    /// Starts the timers, with their first deadlines a period after `anchor`, and the tasks. A
    /// simulation may start later than `anchor`: one-shot timers count from its start.
    pub fn start(&mut self, anchor: Time) {
        self.adopt();
        let simulated = self.shared.simulated.as_ref();
        self.timers.start(anchor, simulated.map_or(anchor, |clock| clock.now()));
        self.clock_watch.start(anchor, &*self.shared.clock);
        self.is_started = true;
        self.starts.values().for_each(|notifier| notifier.start());
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct LoopTokens {
    /// The number of those that may be announced.
    used: usize,
    /// Set once the loop was destroyed: its ring, unless all loops share one.
    removed: Option<Option<u32>>,
}

/// A destroyed callback; its token may still be announced.
pub(super) struct Leaving {
    callback: CallbackId,
    port: usize,
    remains: Option<Arc<Mutex<Box<dyn Remains>>>>,
}

/// A lower bound of the pending events of `token`: at least one, if any is, or if the worker does
/// not know the token yet.
pub(super) fn pending(
    routes: &[Route],
    bodies: &[Box<dyn EventLoop>],
    notifiers: &[Option<Arc<Notifier>>],
    token: u32,
) -> usize {
    let Some(route) = routes.get(token as usize).filter(|route| !route.is_unknown()) else {
        return 1;
    };
    let notifier = notifiers[token as usize].as_ref();
    let noticed = usize::from(notifier.is_some_and(|notifier| notifier.is_given()));
    let queued = match route.is_callback() {
        true => bodies[route.loop_index as usize].pending(route.target),
        false => 0,
    };
    noticed + queued
}
