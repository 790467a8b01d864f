//! The dispatch core: picks a ready event, runs its callback, and handles failures.
//!
//! The scheduler decides about the thread of a worker, its time, and its rest while no event is
//! ready; the modes differ in nothing else.
//!
//! The thread that runs a worker is the only one to read and write its tables: routes, bodies,
//! timers and picker. Other threads reach it through the rings of its inbox, and through its queue
//! of changes, which it takes [between two events](adopt). So a dispatch finds its callback in
//! vectors that are indexed by token, without a lock, and a callback never sees half of a change;
//! tables that all threads could write would need a lock, or a copy for each change, in the way of
//! every event. The counters of calls have this one writer, too, and the monitor reads them at any
//! time.

mod adopt;
mod prefetch;
mod taken;

pub use taken::ReadyEvent;

use crate::base::digest::DigestCollector;
use crate::base::directory::{Directory, LoopName};
use crate::base::escape::{catch_panic, error_message, log_drop, try_drop_each};
use crate::base::event::{
    CallbackId, Completion, Dispatch, EventId, EventOrigin, LoopId, Recorder,
};
use crate::base::stop::{Running, StopHandle, WorkerCounters, WorkerThread};
use crate::base::time::{Clock, SimClock, Time};
use crate::delivery::callback_deadline::DeadlineWatch;
use crate::delivery::context::Context;
use crate::delivery::control::{CallbackCounters, Cause, Failure, Failures};
use crate::delivery::domain::Domain as GraphDomain;
use crate::delivery::ready::Notifier;
use crate::delivery::topic::{AllTopics, AnyTopic};
use crate::delivery::worker_timers::{ClockWatch, WorkerTimers};
use crate::running::change::WorkerLink;
use crate::running::counters::{Calls, Counters};
use crate::running::event_loop::{Body, EntityPort, EventLoop, Outcome};
use crate::running::picker::Picker;
use crate::running::route::{Control, Route};
use adopt::{Leaving, LoopTokens, pending};
use ringspin_ringbuf::inbox::Turn;
use ringspin_ringbuf::reclaim::Domain;
use ringspin_ringbuf::{Counter, Inbox, ReadySet};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tracing::level_filters::LevelFilter;

/// Limit of the tokens in a row that lead to no callback.
const TOKENS_MAX: u32 = 64;

#[derive(Clone)]
pub(crate) struct WorkerShared {
    pub(crate) directory: Directory,
    pub(crate) failures: Arc<Failures>,
    pub(crate) counters: Counters,
    pub(crate) clock: Arc<dyn Clock>,
    /// Present in simulated time: the same clock, which is read without a dynamic call.
    pub(crate) simulated: Option<Arc<SimClock>>,
    /// Present in simulated time, and if each worker has its own.
    pub(crate) digests: Option<Arc<DigestCollector>>,
    /// Goes with the last worker.
    pub(crate) _open: Arc<OpenTopics>,
}

/// The topics of a graph, which are closed when the last of its workers goes.
pub(crate) struct OpenTopics {
    pub(crate) topics: AllTopics,
    pub(crate) domain: Arc<Domain>,
    pub(crate) joined: Option<GraphDomain>,
}

impl Drop for OpenTopics {
    fn drop(&mut self) {
        let _change = self.domain.change();
        let topics = self.topics.get();
        topics.iter().for_each(|(_, topic)| topic.close());
        log_drop("a topic", try_drop_each(topics));
        if let Some(joined) = &self.joined {
            joined.collect();
        }
    }
}

impl WorkerShared {
    /// The time that is recorded for a callback that returns now.
    #[inline]
    fn completion(&self) -> Time {
        match &self.simulated {
            Some(clock) => clock.completion(),
            None => self.clock.completion(),
        }
    }

    /// Drops the user's state and callbacks of `event_loop`.
    fn retire(&self, event_loop: &LoopName, body: &mut dyn EventLoop) {
        if let Err(panic) = body.retire() {
            self.report_drop(event_loop, "its state and callbacks", panic);
        }
    }

    /// Reports the panic of a drop of a part of `event_loop`.
    fn report_drop(&self, event_loop: &LoopName, part: &str, panic: String) {
        let (node, part) = (event_loop.full_name(), format!("drop of {part}"));
        let failure = Failure::outside(node, part, self.clock.now(), panic);
        self.failures.report_other(Some(event_loop.node_index), failure);
    }

    /// The digest of the values that a callback has shown, and of its state.
    ///
    /// # Errors
    /// The message of a panic in the state's `Digest`.
    #[inline]
    fn shown(&self, body: &dyn EventLoop) -> Result<Option<u64>, String> {
        let Some(digests) = &self.digests else { return Ok(None) };
        if digests.digests_states() {
            let shown = catch_panic(|| body.show(digests));
            let digest = digests.take(); // also of a state with a digest that panicked halfway
            return shown.map(|()| digest);
        }
        Ok(digests.take())
    }
}

/// Notes the end of a dispatch with a deadline or a recorder. Returns the panic of the state's
/// `Digest`, which is a failure of the node. That of the recorder or of the log is not, and is left
/// in `cx`.
#[inline]
fn finish(
    shared: &WorkerShared,
    cx: &mut Context<'_>,
    late: Option<(&DeadlineWatch, Time, &Counter)>,
    body: &dyn EventLoop,
) -> Option<String> {
    if let Some((watch, since, late)) = late {
        let name = || shared.directory.name_of(cx.dispatch.callback);
        let noted = catch_panic(|| watch.returned(since, shared.completion(), late, name));
        if let Err(panic) = noted {
            let text = || format!("the log of a late return panicked: {panic}");
            cx.recorder_panic.get_or_insert_with(text);
        }
    }
    let recorder = cx.recorder.as_mut()?;
    let (digest, shown) = match shared.shown(body) {
        Ok(digest) => (digest, None),
        Err(panic) => (None, Some(format!("the digest of its state panicked: {panic}"))),
    };
    let completion = Completion { time: shared.completion(), digest };
    if let Err(panic) = catch_panic(|| recorder.finished(&cx.dispatch, completion)) {
        cx.recorder_panic.get_or_insert_with(|| format!("its recorder panicked: {panic}"));
    }
    shown
}

/// Some event loops, their rings and timers, which one thread runs; no other worker writes to its
/// cache lines.
#[repr(align(128))]
pub struct Worker {
    inbox: Inbox,
    /// Indexed by token.
    routes: Vec<Route>,
    /// The destinations of the tokens that lead to no callback.
    controls: BTreeMap<u32, Control>,
    calls: Calls,
    /// The other counters, indexed by token; `None` of a token that is no callback's.
    callback_counters: Vec<Option<Arc<CallbackCounters>>>,
    timers: WorkerTimers,
    bodies: Vec<Box<dyn EventLoop>>,
    picker: Picker,
    /// The loop's number in the graph, by its index here.
    loops: Vec<LoopId>,
    names: Vec<Arc<LoopName>>,
    /// Indexed by loop.
    tokens: Vec<LoopTokens>,
    /// The notice that the events of a token come from, if they do; indexed by token.
    notifiers: Vec<Option<Arc<Notifier>>>,
    /// The notifiers that get an event when the worker starts, and when its clock begins.
    starts: BTreeMap<u32, Arc<Notifier>>,
    /// Of the callbacks that were destroyed, by token.
    leaving: BTreeMap<u32, Leaving>,
    is_started: bool,
    /// Whether it has adopted a change of the graph since the last quiescent point.
    is_changed: bool,
    clock_watch: ClockWatch,
    /// Of the callbacks that have one; routes know their index.
    deadlines: Vec<DeadlineWatch>,
    link: Arc<WorkerLink>,
    /// The topics to which its loops published at the freeze; none in simulated time.
    published: Vec<Weak<dyn AnyTopic>>,
    shared: WorkerShared,
    running: Running,
    recorder: Option<Box<dyn Recorder>>,
    counters: Arc<WorkerCounters>,
}

/// Enters threads that run the workers of a graph in turns.
#[derive(Clone, Debug)]
pub struct Entrance {
    stop: StopHandle,
    running: Running,
    domain: Arc<Domain>,
}

impl Entrance {
    /// Marks this thread as one that runs workers, until the mark is dropped.
    pub fn enter(&self) -> WorkerThread {
        WorkerThread::enter(self.stop.clone(), self.running.clone(), &self.domain)
    }

    /// Counts a search of this thread that found no event.
    #[inline]
    pub fn count_idle(&self) {
        self.running.counters.idle.add_by_owner(1);
    }

    /// Counts a sleep of this thread.
    pub fn count_sleep(&self) {
        self.running.counters.sleeps.add_by_owner(1);
    }
}

impl Worker {
    /// A worker without loops, which [adopts](Self::adopt) them from `link`. All of them share the
    /// rings of `picker`, if it has any.
    pub(crate) fn new(
        inbox: Inbox,
        picker: Picker,
        link: Arc<WorkerLink>,
        shared: WorkerShared,
    ) -> Self {
        let worker_counters = Arc::<WorkerCounters>::default();
        let directory = shared.directory.clone();
        let running = Running { counters: worker_counters.clone(), directory };
        shared.failures.stop.attach(inbox.set().clone(), running.clone());
        Self {
            inbox,
            routes: Vec::new(),
            controls: BTreeMap::new(),
            calls: Calls::default(),
            callback_counters: Vec::new(),
            timers: WorkerTimers::default(),
            bodies: Vec::new(),
            picker,
            loops: Vec::new(),
            names: Vec::new(),
            tokens: Vec::new(),
            notifiers: Vec::new(),
            starts: BTreeMap::new(),
            leaving: BTreeMap::new(),
            is_started: false,
            is_changed: false,
            clock_watch: ClockWatch::default(),
            deadlines: Vec::new(),
            link,
            published: Vec::new(),
            shared,
            running,
            recorder: None,
            counters: worker_counters,
        }
    }

    /// Marks this thread as the one that runs this worker, until the mark is dropped.
    pub fn enter(&self) -> WorkerThread {
        let stop = self.shared.failures.stop.clone();
        WorkerThread::enter(stop, self.running.clone(), self.link.changes.domain())
    }

    /// The means of a thread to run workers of this graph in turns, and to sleep on `set`.
    pub fn entrance(&self, set: &Arc<ReadySet>) -> Entrance {
        let stop = self.shared.failures.stop.clone();
        stop.attach_thread(set.clone());
        let domain = self.link.changes.domain().clone();
        Entrance { stop, running: self.running.clone(), domain }
    }

    /// `thread` runs this worker from here on, until it runs another one.
    #[inline]
    pub fn resume_on(&self, thread: &mut WorkerThread) {
        thread.switch_to(&self.running);
    }

    /// Adopts changes of the graph, after a thread has [passed](WorkerThread::pass) a quiescent
    /// point.
    pub fn adopt_changes(&mut self) {
        self.adopt_all();
    }

    /// Whether the worker has nothing to do; if so, it is ready to [rest](ReadySet::rest).
    #[inline]
    pub fn settle(&self) -> bool {
        let is_idle = !self.has_ready();
        if is_idle {
            self.inbox.clear_standing();
        }
        is_idle
    }

    /// The highest priority of its loops.
    pub fn priority(&self) -> u8 {
        self.picker.highest_priority()
    }

    /// The set of ready loops, to wait on.
    pub fn ready_set(&self) -> &Arc<ReadySet> {
        self.inbox.set()
    }

    pub(crate) fn counters(&self) -> &Arc<WorkerCounters> {
        &self.counters
    }

    /// Passes a quiescent point between two events of `thread`, which runs this worker: adopts
    /// changes of the graph, and lets memory be freed that the worker could read before. A load if
    /// nothing changed. Returns whether the graph changed since the last point.
    #[inline]
    pub fn pass(&mut self, thread: &mut WorkerThread) -> bool {
        thread.pass() && self.adopt_all()
    }

    /// Also tells of changes that were adopted before, with the first event of a new callback.
    #[cold]
    fn adopt_all(&mut self) -> bool {
        self.adopt();
        std::mem::take(&mut self.is_changed)
    }

    /// Whether it has never had a loop: it is for those that are created later.
    #[inline]
    pub fn has_no_loop(&self) -> bool {
        self.loops.is_empty()
    }

    /// Counts a search that found no event.
    #[inline]
    pub fn count_idle(&self) {
        self.counters.idle.add_by_owner(1);
    }

    /// Parks `thread`, which runs this worker, as [`ReadySet::sleep`] does, unless something is
    /// ready, and counts it.
    pub fn sleep(&self, thread: &mut WorkerThread, timeout: Duration) {
        self.counters.sleeps.add_by_owner(1);
        thread.pause(|| self.inbox.sleep(timeout));
    }

    /// Sets the `recorder` of every dispatch; returns the previous one.
    pub fn set_recorder(
        &mut self,
        recorder: Option<Box<dyn Recorder>>,
    ) -> Option<Box<dyn Recorder>> {
        std::mem::replace(&mut self.recorder, recorder)
    }

    /// The recorder, to be exchanged.
    pub fn recorder_mut(&mut self) -> &mut Option<Box<dyn Recorder>> {
        &mut self.recorder
    }

    /// Notes `now`, a reading of the clock, which may have begun since, gone back, or got another
    /// source. Returns the time, another one in the last case.
    pub fn note_time(&mut self, now: Time) -> Time {
        self.clock_watch.note(now, &*self.shared.clock, &mut self.timers, &self.starts)
    }

    /// The time at which the next timer is due.
    #[inline]
    pub fn next_deadline(&self) -> Option<Time> {
        self.timers.next_deadline()
    }

    /// Makes the first timer that is due at `now` ready; false if none is due.
    #[inline]
    pub fn expire_one(&mut self, now: Time) -> bool {
        self.timers.expire_one(now)
    }

    /// Dispatches the first timer that is due at `now`, if nothing is ready: its event would be the
    /// next. `None` if none is due; `Some(None)` if it was cancelled.
    #[inline]
    pub fn dispatch_due(&mut self, now: Time) -> Option<Option<CallbackId>> {
        let token = self.timers.expire_at_once(now)?;
        Some(self.dispatch(Turn::Announced(token)))
    }

    /// Dispatches the next ready event; `None` if there is none, or none so far: some ready events
    /// are handled or discarded without a callback, and after a number of these it returns, so that
    /// its caller can look at the time and at the stop request. [`has_ready`](Self::has_ready)
    /// tells whether anything is left.
    ///
    /// A panic of the callback is caught here and becomes a [`Failure`].
    #[inline]
    pub fn dispatch_next(&mut self) -> Option<CallbackId> {
        for _ in 0..TOKENS_MAX {
            let callback = if self.is_simulated() {
                let token = self.inbox.pop(0)?;
                self.dispatch(Turn::Announced(token))
            } else {
                let index = self.picker.pick(self.inbox.set())?;
                self.dispatch_from(index)
            };
            if callback.is_some() {
                return callback;
            }
            if !self.has_ready() {
                self.picker.start_anew();
                return None;
            }
        }
        None
    }

    /// Lets the turn of a loop end with the event that is handled after so many
    /// [ticks](ringspin_ringbuf::ticks) of the processor, if it has not had four events before.
    /// Only for live modes; without this there is no such limit.
    pub fn limit_turns(&mut self, turn_ticks: u64) {
        self.picker.limit_turns(turn_ticks);
    }

    /// Tells the processor's counter before the next dispatch, where it was read: turns count from
    /// there.
    #[inline]
    pub fn note_ticks(&mut self, ticks: Option<u64>) {
        self.picker.note_ticks(ticks);
    }

    /// Dispatches on `thread` the events that are ready now, and none that become ready meanwhile,
    /// until `done` says so. Returns how many there were. Only for live modes.
    pub fn dispatch_ready(
        &mut self,
        thread: &mut WorkerThread,
        mut done: impl FnMut() -> bool,
    ) -> u64 {
        let mut left: Vec<usize> =
            (0..self.inbox.rings()).map(|index| self.ready_in(index)).collect();
        let mut dispatched = 0;
        while left.iter().any(|&events| events > 0) && !done() {
            self.pass(thread);
            let Some(index) = self.picker.pick(self.inbox.set()) else {
                break;
            };
            let Some(left) = left.get_mut(index).filter(|left| **left > 0) else {
                self.inbox.set_aside(index); // until below
                continue;
            };
            *left -= 1;
            dispatched += u64::from(self.dispatch_from(index).is_some());
        }
        self.inbox.mark_all();
        dispatched
    }

    fn ready_in(&mut self, index: usize) -> usize {
        let Self { inbox, routes, bodies, notifiers, .. } = self;
        inbox.ready_now(index, |token| pending(routes, bodies, notifiers, token))
    }

    /// The number of ready events, including notices to the worker itself.
    pub fn ready_events(&self) -> usize {
        self.inbox.queued()
    }

    /// The state of one of its loops, unless that is retired or of another type.
    pub fn state_mut<S: Send + 'static>(&mut self, event_loop: LoopId) -> Option<&mut S> {
        let index = self.loops.iter().position(|id| *id == event_loop)?;
        self.bodies[index].as_any_mut().downcast_mut::<Body<S>>()?.state_mut()
    }

    /// The callbacks of the timers with a next deadline beyond [`Time::MAX`].
    pub fn exhausted_timers(&self) -> impl Iterator<Item = CallbackId> {
        self.timers.exhausted()
    }

    /// The callbacks of the timers that are due at `now`, by deadline, then creation.
    pub fn due_timers(&self, now: Time, due: &mut Vec<CallbackId>) {
        self.timers.due(now, due);
    }

    /// Makes the `n`th of the [due timers](Self::due_timers) ready.
    pub fn expire_nth(&mut self, now: Time, n: usize) {
        self.timers.expire_nth(now, n);
    }

    /// Handles the next token of a ring, which may lead to no callback; not in simulated time.
    /// Always inlined, as are its parts: with two callers they became calls, for a fiftieth of an
    /// event's time.
    #[inline(always)]
    fn dispatch_from(&mut self, index: usize) -> Option<CallbackId> {
        let turn = self.next_turn(index);
        let callback = turn.and_then(|turn| self.dispatch(turn));
        self.inbox.rest(index);
        callback
    }

    #[inline(always)]
    fn next_turn(&mut self, index: usize) -> Option<Turn> {
        let Self { inbox, routes, bodies, notifiers, .. } = self;
        inbox.next(index, |token| pending(routes, bodies, notifiers, token))
    }

    #[inline]
    fn is_simulated(&self) -> bool {
        self.shared.simulated.is_some()
    }

    /// Whether any event is ready.
    #[inline]
    pub fn has_ready(&self) -> bool {
        match self.is_simulated() {
            true => !self.inbox.is_empty(0),
            false => !self.inbox.is_at_rest(),
        }
    }

    /// Makes `token` ready again if another event of it may be pending.
    #[cold]
    fn look_again(&mut self, token: u32) {
        if !self.is_simulated() {
            let Self { inbox, routes, bodies, notifiers, .. } = self;
            inbox.look_again(token, |token| pending(routes, bodies, notifiers, token));
        }
    }

    #[inline]
    fn dispatch(&mut self, turn: Turn) -> Option<CallbackId> {
        let mut is_pending = false;
        let callback = self.handle(turn, &mut is_pending);
        if is_pending && !self.inbox.is_noted(turn.token()) {
            self.look_again(turn.token());
        }
        callback
    }

    /// Dispatches like [`dispatch`](Self::dispatch); sets `is_pending` if another event may be.
    #[inline]
    fn handle(&mut self, turn: Turn, is_pending: &mut bool) -> Option<CallbackId> {
        let token = turn.token() as usize;
        let route = match self.routes.get(token) {
            Some(route) if route.is_callback() => *route,
            _ => self.route_of(token)?,
        };
        let Route { callback, event_loop, node_index, loop_index, target, timer, deadline } = route;
        let deadline = deadline.get();
        let stamped = deadline.filter(|_| matches!(turn, Turn::Announced(_)));
        let ready_since = stamped.and_then(|n| self.deadlines[n].ready_since());
        let body = &mut self.bodies[loop_index as usize];
        let mut scheduled = Time::MAX;
        if let Some(timer) = timer.get() {
            if !self.timers.handled(timer) {
                return None;
            }
            scheduled = self.timers.due_of(timer);
        }
        let WorkerShared { directory, failures, clock, simulated, digests, .. } = &self.shared;
        if failures.is_isolated(node_index as usize) {
            self.discard(token, (event_loop, callback), loop_index, target);
            *is_pending = true;
            return None;
        }
        let (time, event) = (Time::ZERO, EventId::NONE);
        let mut cx = Context {
            clock: &**clock,
            simulated: simulated.as_deref(),
            stop: &failures.stop,
            names: &self.names,
            loop_index,
            recorder: self.recorder.as_deref_mut().map(|recorder| recorder as &mut dyn Recorder),
            dispatch: Dispatch { time, event_loop, callback, event },
            cancelled: false,
            is_pending: false,
            digests: digests.as_deref(),
            recorder_panic: None,
            scheduled,
        };
        cx.take();
        self.counters.running.set(u64::from(callback.0) + 1);
        // A look at the level costs nothing; a span that nothing reads would cost 3 ns.
        let outcome = match LevelFilter::current() >= LevelFilter::TRACE {
            true => spanned(directory, callback, || body.dispatch(target, &mut cx)),
            false => catch_panic(|| body.dispatch(target, &mut cx)),
        };
        self.counters.running.set(0);
        *is_pending = cx.is_pending;
        if matches!(outcome, Ok(Outcome::Nothing)) {
            cx.skip();
            return None;
        }
        self.calls.of(token).add_by_owner(1);
        // The event's record is copied for a failure only: it would be read in wider parts than it
        // was written in, for which the processor waits.
        let mut shown = None;
        if cx.recorder.is_some() || ready_since.is_some() {
            let late = deadline.zip(ready_since).zip(self.callback_counters[token].as_ref());
            let late = late.map(|((n, since), of)| (&self.deadlines[n], since, &of.late));
            shown = finish(&self.shared, &mut cx, late, &**body);
        }
        let has_failed = !matches!(outcome, Ok(Outcome::Done)) || shown.is_some();
        if has_failed || cx.recorder_panic.is_some() {
            let (dispatch, panic) = (cx.dispatch, cx.recorder_panic.take());
            self.fail_after(&dispatch, token, outcome, shown, panic);
        }
        Some(callback)
    }

    /// Discards an event of a node that is isolated. Takes parts of the route: a reference to it
    /// would keep it out of the registers in each dispatch, for a tenth of its time.
    #[cold]
    fn discard(
        &mut self,
        token: usize,
        (event_loop, callback): (LoopId, CallbackId),
        loop_index: u32,
        target: EntityPort,
    ) {
        let body = &mut self.bodies[loop_index as usize];
        // The discarded message is the user's, and its drop is user code.
        // Before: the discard of a request sends a response.
        let time = self.recorder.as_ref().map_or(Time::ZERO, |_| self.shared.clock.now());
        let discarded = catch_panic(|| body.discard(target)).unwrap_or(Some(EventId::NONE));
        if let Some(counters) = &self.callback_counters[token] {
            counters.discarded.add_by_owner(discarded.is_some().into());
        }
        let event = discarded.filter(|event| *event != EventId::NONE);
        if let (Some(recorder), Some(event)) = (&mut self.recorder, event) {
            let dispatch = Dispatch { time, event_loop, callback, event };
            let told = catch_panic(|| recorder.skipped(&dispatch, EventOrigin::Other));
            log_drop("a recorder", told);
        }
    }

    /// Handles the failures of a dispatch: that of its callback, or else of its state's digest, and
    /// a panic of its recorder.
    #[cold]
    fn fail_after(
        &mut self,
        dispatch: &Dispatch,
        token: usize,
        outcome: Result<Outcome, String>,
        shown: Option<String>,
        recorder_panic: Option<String>,
    ) {
        let cause = match outcome {
            Ok(Outcome::Nothing | Outcome::Done) => shown.map(Cause::Panic),
            Ok(Outcome::Failed(error)) => Some(Cause::Error(error_message(*error))),
            Err(panic) => Some(Cause::Panic(panic)),
        };
        if let Some(cause) = cause {
            self.fail(dispatch, token, cause);
        }
        if let Some(panic) = recorder_panic {
            let failure = self.failure(dispatch, token, Cause::Panic(panic));
            self.shared.failures.report_other(None, failure);
        }
    }

    /// The digest of the values that code outside of callbacks has shown since the last dispatch:
    /// `None` without such values, and in live modes.
    pub fn pending_digest(&self) -> Option<u64> {
        self.shared.digests.as_ref()?.pending()
    }

    /// Drops the states and callbacks of all loops, each on its own. Returns the part, as in
    /// "the state of /node", and the message of each drop that panics. The worker dispatches
    /// nothing afterwards.
    pub fn dismantle(&mut self) -> Vec<(String, String)> {
        let Self { bodies, names, .. } = self;
        let mut panics = Vec::new();
        for (body, name) in bodies.iter_mut().zip(names) {
            let dropped = body.dismantle().into_iter();
            panics.extend(
                dropped.map(|(part, panic)| (format!("{part} of {}", name.full_name()), panic)),
            );
        }
        panics
    }

    /// The route of a token that may be new. Handles one that leads to no callback.
    #[cold]
    fn route_of(&mut self, token: usize) -> Option<Route> {
        if self.routes.get(token).is_none_or(Route::is_unknown) {
            self.adopt();
        }
        let route = self.routes.get(token).copied()?;
        if !route.is_callback() {
            self.control(token as u32);
            return None;
        }
        Some(route)
    }

    /// Handles a token that is no callback's.
    fn control(&mut self, token: u32) {
        let Some(control) = self.controls.get(&token) else {
            self.discard_arrived(token);
            return self.adopt(); // the last handles of others may have been dropped, here and below
        };
        match control {
            Control::TimerChanged { timer } => self.timers.changed(*timer),
            Control::Retirement { loop_index, notifier } => {
                notifier.take();
                let event_loop = &self.names[*loop_index];
                if self.shared.failures.is_isolated(event_loop.node_index) {
                    self.shared.retire(event_loop, &mut *self.bodies[*loop_index]);
                    self.adopt();
                }
            }
        }
    }

    fn failure(&self, dispatch: &Dispatch, token: usize, cause: Cause) -> Failure {
        let WorkerShared { directory, clock, .. } = &self.shared;
        let loop_index = self.routes[token].loop_index;
        Failure {
            node: self.names[loop_index as usize].full_name(),
            callback: directory.callback(dispatch.callback),
            callback_id: dispatch.callback,
            event: dispatch.event,
            time: clock.now(),
            cause,
        }
    }

    fn fail(&mut self, dispatch: &Dispatch, token: usize, cause: Cause) {
        let loop_index = self.routes[token].loop_index as usize;
        let failure = self.failure(dispatch, token, cause);
        let body = &mut self.bodies[loop_index];
        let restarted = catch_panic(|| body.restart());
        let node_index = self.names[loop_index].node_index;
        self.shared.failures.report(node_index, failure, restarted == Ok(true));
        if let Err(panic) = restarted {
            let cause = Cause::Panic(format!("the restart failed: {panic}"));
            let failure = self.failure(dispatch, token, cause);
            self.shared.failures.report(node_index, failure, false);
        }
    }
}

impl Drop for Worker {
    /// The states and callbacks are the user's: each is dropped, and a panic reported, even if
    /// others panic. Two panics at once would abort the process.
    fn drop(&mut self) {
        let recorder = self.recorder.take();
        log_drop("a recorder", catch_panic(|| drop(recorder)));
        let Self { names, bodies, shared, .. } = self;
        for (name, body) in names.iter().zip(&mut *bodies) {
            shared.retire(name, &mut **body);
        }
        // No callback is left, only messages.
        for (name, body) in names.iter().zip(bodies) {
            for (part, panic) in body.dismantle() {
                shared.report_drop(name, part, panic);
            }
        }
    }
}

/// Calls `dispatch` within the span of its callback.
#[cold]
#[inline(never)] // its stack would be that of every dispatch
fn spanned<T>(
    directory: &Directory,
    callback: CallbackId,
    dispatch: impl FnOnce() -> T,
) -> Result<T, String> {
    let Some(name) = directory.get(callback) else { return catch_panic(dispatch) };
    let (of, name) = (&*name.of, &*name.callback);
    // Two catches: leaving the span while the callback's panic unwinds may be a second panic.
    catch_panic(|| {
        let span = tracing::trace_span!("callback", node = &*of.node, group = &*of.group, name);
        let _entered = span.entered();
        catch_panic(dispatch)
    })
    .flatten()
}
