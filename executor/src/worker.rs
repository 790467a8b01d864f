//! The dispatch core: picks a ready event, runs its callback, and answers for what happens.
//!
//! A worker does not know on which thread it runs, what time it is, or what to do when nothing is
//! ready: that is the scheduler's part, and the only difference between the modes.

use crate::context::Context;
use crate::control::{CallbackCounters, Cause, Failure, Failures};
use crate::event::{CallbackId, Dispatch, Recorder};
use crate::event_loop::{EventLoop, Outcome, Target};
use crate::frozen::WorkerParts;
use crate::graph::GraphInfo;
use crate::picker::Picker;
use crate::time::{Clock, Time};
use crate::timers::Timers;
use ringspin_ringbuf::{ReadySet, ready};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Where a token leads.
pub(crate) struct Route {
    pub(crate) callback: CallbackId,
    /// The loop's index within the worker.
    pub(crate) loop_index: usize,
    /// Where within the loop.
    pub(crate) target: Target,
    /// The timer's index within the worker, if it is one.
    pub(crate) timer: Option<usize>,
    pub(crate) counters: Arc<CallbackCounters>,
}

/// Some event loops, their rings and timers: what one thread runs.
pub struct Worker {
    set: Arc<ReadySet>,
    rings: Vec<ready::Consumer>,
    routes: Vec<Route>,
    timers: Timers,
    bodies: Vec<Box<dyn EventLoop>>,
    picker: Picker,
    info: Arc<GraphInfo>,
    failures: Arc<Failures>,
    recorder: Option<Box<dyn Recorder>>,
}

impl Worker {
    pub(crate) fn new(
        parts: WorkerParts,
        bodies: Vec<Box<dyn EventLoop>>,
        info: Arc<GraphInfo>,
        failures: Arc<Failures>,
    ) -> Self {
        let WorkerParts { set, rings, routes, timers, picker, .. } = parts;
        Self { set, rings, routes, timers, bodies, picker, info, failures, recorder: None }
    }

    /// The set of ready loops, to wait on.
    pub fn ready_set(&self) -> &Arc<ReadySet> {
        &self.set
    }

    /// Has `recorder` told of every dispatch; returns the one before it.
    pub fn set_recorder(
        &mut self,
        recorder: Option<Box<dyn Recorder>>,
    ) -> Option<Box<dyn Recorder>> {
        std::mem::replace(&mut self.recorder, recorder)
    }

    /// Starts the timers, with their first deadlines a period after `anchor`.
    pub fn start_timers(&mut self, anchor: Time) {
        self.timers.start(anchor);
    }

    /// When the next timer is due.
    #[inline]
    pub fn next_deadline(&self) -> Option<Time> {
        self.timers.next_deadline()
    }

    /// Makes the first timer that is due at `now` ready; false if none is due.
    #[inline]
    pub fn expire_one(&mut self, now: Time) -> bool {
        self.timers.expire_one(now)
    }

    /// Dispatches the next ready event; `None` if there is none.
    ///
    /// A panic of the callback is caught here and becomes a [`Failure`].
    #[inline]
    pub fn dispatch_next(&mut self, clock: &dyn Clock) -> Option<CallbackId> {
        loop {
            let index = self.picker.pick(&self.set)?;
            let token = self.rings[index].pop();
            let callback = token.and_then(|token| self.dispatch(token as usize, clock));
            if self.rings[index].is_empty() {
                self.set.clear(index);
                // An event that came in between found the mark still set.
                if !self.rings[index].is_empty() {
                    self.set.mark(index);
                }
            }
            if callback.is_some() {
                return callback;
            }
        }
    }

    #[inline]
    fn dispatch(&mut self, token: usize, clock: &dyn Clock) -> Option<CallbackId> {
        let route = &self.routes[token];
        let body = &mut self.bodies[route.loop_index];
        let event_loop = self.info.callbacks[route.callback.0 as usize].event_loop;
        if let Some(timer) = route.timer {
            self.timers.handled(timer);
        }
        let loop_info = &self.info.loops[event_loop.0 as usize];
        if self.failures.isolated[loop_info.node_index].is_raised() {
            body.discard(route.target);
            return None;
        }
        let dispatch = Dispatch { event_loop, callback: route.callback, ..Dispatch::default() };
        let mut cx = Context {
            clock,
            stop: &self.failures.stop,
            event_loop: loop_info,
            recorder: self.recorder.as_deref_mut().map(|recorder| recorder as &mut dyn Recorder),
            dispatch,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| body.dispatch(route.target, &mut cx)));
        let dispatch = cx.dispatch;
        let cause = match outcome {
            Ok(Outcome::Nothing) => return None,
            Ok(Outcome::Done(Ok(()))) => None,
            Ok(Outcome::Done(Err(error))) => Some(Cause::Error(error.to_string())),
            Err(panic) => Some(Cause::Panic(panic_message(&*panic))),
        };
        route.counters.dispatched.add_by_owner(1);
        if let Some(recorder) = &mut self.recorder {
            recorder.finished(&dispatch, clock.now());
        }
        let callback = route.callback;
        if let Some(cause) = cause {
            self.fail(dispatch, cause, clock.now());
        }
        Some(callback)
    }

    #[cold]
    fn fail(&self, dispatch: Dispatch, cause: Cause, time: Time) {
        let loop_info = self.info.loop_of(dispatch.callback);
        let failure = Failure {
            node: loop_info.full_name(),
            callback: self.info.callbacks[dispatch.callback.0 as usize].name.clone(),
            callback_id: dispatch.callback,
            event: dispatch.event,
            time,
            cause,
        };
        self.failures.report(loop_info.node_index, failure);
    }
}

/// The text of a panic, if it has one.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).into()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a text".into()
    }
}
