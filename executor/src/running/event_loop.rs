//! An event loop: the state of one callback group, and its callbacks.
//!
//! As long as a loop has no worker, the graph owns its [`Body`] and adds entities under its lock.
//! Then one worker owns it and is the only one to dispatch to it, to replace its state after a
//! failure, and to apply the changes that other threads hand over. So a callback gets `&mut S`
//! without a lock or a reference count. The type of the state is erased once for each loop, and the
//! entities know it: if each entity erased it, every dispatch would have to cast the state, and a
//! wrong type would fail in a running graph, not when the node is compiled.

use crate::base::digest::DigestCollector;
pub(crate) use crate::base::escape::BoxError;
use crate::base::escape::{catch_panic, log_drop};
use crate::base::event::{EventId, EventOrigin, SourceId};
use crate::base::time::{SimClock, Time};
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::delivery::timer::Timer;
use crate::delivery::topic::{Remains, SubscriptionReceiver};
use ringspin_ringbuf::{CacheLines, EntryLine};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Weak;

/// The return type of a callback: `()`, or a `Result`. An error becomes a
/// [`Failure`](crate::Failure) of the node.
pub trait CallbackResult {
    /// The result in its general form.
    fn into_result(self) -> Result<(), BoxError>;
}

impl CallbackResult for () {
    #[inline]
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> CallbackResult for Result<(), E> {
    #[inline]
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// The never type: the return type of a callback that always panics, or of a task that loops for
/// ever. Stable Rust has no name for it yet, so it is taken from the type of a function.
type Never = <fn() -> ! as never::Returns>::Output;

mod never {
    pub trait Returns {
        type Output;
    }

    impl<T> Returns for fn() -> T {
        type Output = T;
    }
}

impl CallbackResult for Never {
    fn into_result(self) -> Result<(), BoxError> {
        self
    }
}

pub(crate) trait OnRestart: Send + Sync {
    /// The state was replaced after a failure.
    fn restarted(&self);
}

pub(crate) enum Outcome {
    /// The callback was not called: the message was too old, or the queue empty. One token stands
    /// for one message, except for messages from a middleware, which may have been displaced.
    Nothing,
    /// The callback has returned.
    Done,
    /// The callback has returned this error.
    Failed(Box<BoxError>),
}

/// Two registers hold the outcome that every dispatch returns through three calls; in memory it
/// costs about 3 % of a hop. Hence the box, which only an error needs.
const _: () = assert!(size_of::<Outcome>() <= 2 * size_of::<usize>());

impl From<Result<(), BoxError>> for Outcome {
    #[inline]
    fn from(result: Result<(), BoxError>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(error) => Self::Failed(Box::new(error)),
        }
    }
}

/// A receiver of events in a group with state `S`, with its callback: a subscription, a timer, a
/// server, a client, a task.
///
/// Most entities have one port; one that joins several inputs has a port for each. To add a kind:
///
/// 1. Implement this trait. `dispatch` takes one item, calls `Context::begin` with its identity,
///    and runs the callback; without an item it returns [`Outcome::Nothing`]. `discard` drops one
///    item of a node that is out of service; `retire` drops everything of the user.
/// 2. Choose the `EventSource`, which says how many events can be ready at once: a queue of
///    messages (a [`SubscriptionReceiver`] of a private topic), a timer, or a `Notifier`, which is
///    one token however often it is notified.
/// 3. Take an [`EntityPort`] from `GraphBuilder::next_target`, one port for each input, and add a
///    `CallbackSpec` for each port by `GraphBuilder::add_callback`. The name of the callback enters
///    the digest.
/// 4. Add the entity to the body of its loop, in an `impl Node` beside it. State that the feature
///    needs while the graph is built is a type for `GraphBuilder::feature`.
pub(crate) trait Entity<S>: Send {
    /// Takes the next event of `port` and calls the callback.
    fn dispatch(&mut self, port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome;
    /// Takes the next event of `port` and drops it; returns its identity, [`EventId::NONE`] if it
    /// is no message, and `None` if there was none.
    fn discard(&mut self, port: usize) -> Option<EventId>;
    /// A lower bound of the pending events of `port`: at least one, if any is pending. The worker
    /// itself counts events of a [`Notifier`](crate::delivery::ready::Notifier) or a timer.
    fn pending(&self, _port: usize) -> usize {
        0
    }
    /// Drops the callback, with all that it captured, and everything that waits: from here on
    /// events are only discarded.
    fn retire(&mut self);
    /// Drops everything but the queues of messages, when the entity was destroyed.
    fn remains(self: Box<Self>) -> Option<Box<dyn Remains>> {
        None
    }
    /// Adds the lines that a dispatch touches.
    fn add_to(&self, lines: &mut CacheLines) {
        lines.add(self);
    }
    /// The line of its queue, on which there is room for the entries of a ready ring.
    fn entry_line(&self) -> Option<EntryLine> {
        None
    }
}

impl Context<'_> {
    /// Begins the dispatch of an event that is no message. An entity calls it once it has taken the
    /// event, before its callback.
    #[inline]
    pub(crate) fn begin(&mut self, event: EventId) {
        let scheduled = self.scheduled_time();
        self.begin_from(event, || scheduled.map_or(EventOrigin::Other, EventOrigin::Timer));
    }

    /// Begins the dispatch of a message, request or response, like [`begin`](Self::begin).
    #[inline]
    pub(crate) fn begin_with<M>(&mut self, message: &Message<M>) {
        self.begin_from(message.id(), || EventOrigin::Message { slot: message.slot() });
    }

    /// Tells the recorder, if there is one, that an event is taken.
    #[inline]
    pub(crate) fn take(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.taken();
        }
    }

    /// Tells the recorder, if there is one, that the event was handled without a call.
    #[cold]
    pub(crate) fn skip(&mut self) {
        if self.recorder.is_some() && self.dispatch.time == Time::ZERO {
            self.dispatch.time = self.now();
        }
        let origin = self.scheduled_time().map_or(EventOrigin::Other, EventOrigin::Timer);
        let Some(recorder) = &mut self.recorder else { return };
        let told = catch_panic(|| recorder.skipped(&self.dispatch, origin));
        log_drop("a recorder", told);
    }

    #[inline]
    fn begin_from(&mut self, event: EventId, origin: impl FnOnce() -> EventOrigin) {
        self.dispatch.event = event;
        // Of the event, not a reading of the callback.
        let now = || self.simulated.map_or_else(|| self.clock.completion(), SimClock::instant);
        let now = self.recorder.is_some().then(now);
        if let (Some(recorder), Some(now)) = (&mut self.recorder, now) {
            self.dispatch.time = now;
            // It is not the callback's failure.
            let started = catch_panic(|| recorder.started_by(&self.dispatch, origin()));
            let text = |panic| format!("its recorder panicked: {panic}");
            self.recorder_panic = started.err().map(text);
        }
    }
}

/// The destination of an event of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityPort {
    pub(crate) entity: u32,
    pub(crate) port: u32,
}

impl EntityPort {
    /// Another port of the same entity.
    pub(crate) fn port(self, port: u32) -> Self {
        Self { port, ..self }
    }
}

/// An event loop with its state type erased, as workers hold it.
pub(crate) trait EventLoop: Send {
    fn dispatch(&mut self, target: EntityPort, cx: &mut Context<'_>) -> Outcome;
    fn discard(&mut self, target: EntityPort) -> Option<EventId>;
    fn pending(&self, target: EntityPort) -> usize;
    /// Replaces the state after a failure; false if it cannot, or has done so often enough.
    fn restart(&mut self) -> bool;
    /// Drops the state, the callbacks and all that waits: from here on events are only discarded.
    ///
    /// # Errors
    /// The text of the first panic; the rest is dropped all the same.
    fn retire(&mut self) -> Result<(), String>;
    /// Drops the state and the entities, each on its own. Returns the part, such as "the state" or
    /// "the waiting messages", and the message of each drop that panics.
    fn dismantle(&mut self) -> Vec<(&'static str, String)>;
    /// Adds the state to the digests, if it is to be shown.
    fn show(&self, digests: &DigestCollector);
    /// Adds the lines that a dispatch to this entity touches.
    fn add_to(&self, entity: u32, lines: &mut CacheLines);
    /// The line of the queue of one of its entities, if any has one.
    fn entry_line(&self) -> Option<EntryLine>;
    /// Takes out an entity that was destroyed before any worker had it.
    fn take_out(&mut self, entity: u32) -> Option<Box<dyn Any + Send>>;
    /// Drops an entity that was destroyed. Returns its remains, and the text of a panic of that.
    fn remove(&mut self, entity: u32) -> (Option<Box<dyn Remains>>, Result<(), String>);
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// The loop without the measurement for its budget.
    fn unmeasured(self: Box<Self>) -> Box<dyn EventLoop>;
}

/// On one cache line, if the state is small.
#[repr(align(64))]
pub(crate) struct Body<S> {
    /// `None` once the loop is retired.
    state: Option<S>,
    /// By index; a destroyed one has left a placeholder.
    entities: Vec<Box<dyn Entity<S>>>,
    show: Option<fn(&S, &DigestCollector)>,
    restart: Option<Box<Restart<S>>>,
}

const _: () = assert!(size_of::<Body<u64>>() == 64);

/// The parts that only a failure needs.
struct Restart<S> {
    create: Box<dyn FnMut() -> S + Send>,
    restarts_left: u32,
    observers: Vec<Weak<dyn OnRestart>>,
}

impl<S> Body<S> {
    pub(crate) fn new(state: S) -> Self {
        Self::with(Some(state), None)
    }

    fn with(state: Option<S>, restart: Option<Box<Restart<S>>>) -> Self {
        Self { state, entities: Vec::new(), show: None, restart }
    }

    pub(crate) fn restartable(
        restarts_max: u32,
        mut create: impl FnMut() -> S + Send + 'static,
    ) -> Self {
        let state = Some(create());
        let (create, observers) = (Box::new(create), Vec::new());
        let restart = Restart { create, restarts_left: restarts_max, observers };
        Self::with(state, Some(Box::new(restart)))
    }

    /// Tells `observer`, as long as it exists, whenever the state was replaced after a failure.
    pub(crate) fn on_restart(&mut self, observer: Weak<dyn OnRestart>) {
        // The state of a node that cannot restart is never replaced.
        let Some(Restart { observers, .. }) = self.restart.as_deref_mut() else { return };
        observers.retain(|other| other.strong_count() > 0);
        observers.push(observer);
    }

    /// Adds an entity with this index: the next one, or that of a destroyed one.
    pub(crate) fn add(&mut self, index: u32, entity: Box<dyn Entity<S>>) {
        match self.entities.get_mut(index as usize) {
            Some(place) => *place = entity,
            None => self.entities.push(entity),
        }
    }

    /// Adds the state to the digests after each callback, from now on.
    pub(crate) fn show_state(&mut self, show: fn(&S, &DigestCollector)) {
        self.show = Some(show);
    }

    /// The state, unless the loop is retired.
    pub(crate) fn state_mut(&mut self) -> Option<&mut S> {
        self.state.as_mut()
    }

    fn drop_parts(&mut self) -> Vec<(&'static str, String)> {
        let mut panics = Vec::new();
        let mut note = |part, dropped: Result<(), String>| {
            panics.extend(dropped.err().map(|message| (part, message)));
        };
        note("the state", catch_panic(|| self.state = None));
        for mut entity in self.entities.drain(..) {
            // First the callback, so that no entity drops two values of the user at once.
            note("a callback", catch_panic(|| entity.retire()));
            note("the waiting messages", catch_panic(|| drop(entity)));
        }
        note("the factory of states", catch_panic(|| self.restart = None));
        panics
    }
}

impl<S> Drop for Body<S> {
    /// Drops the user's state and callbacks. A second panic while the first one unwinds would abort
    /// the process, so panics are caught.
    fn drop(&mut self) {
        for (part, panic) in self.drop_parts() {
            log_drop(part, Err(panic));
        }
    }
}

impl<S: Send + 'static> EventLoop for Body<S> {
    #[inline]
    fn dispatch(&mut self, target: EntityPort, cx: &mut Context<'_>) -> Outcome {
        let entity = &mut self.entities[target.entity as usize];
        match &mut self.state {
            Some(state) => entity.dispatch(target.port as usize, state, cx),
            None => {
                // Before: the discard of a request sends a response.
                cx.dispatch.time = cx.recorder.as_ref().map_or(Time::ZERO, |_| cx.now());
                let discarded = entity.discard(target.port as usize);
                cx.dispatch.event = discarded.unwrap_or(EventId::NONE);
                cx.is_pending = true;
                Outcome::Nothing
            }
        }
    }

    fn discard(&mut self, target: EntityPort) -> Option<EventId> {
        self.entities[target.entity as usize].discard(target.port as usize)
    }

    fn pending(&self, target: EntityPort) -> usize {
        self.entities[target.entity as usize].pending(target.port as usize)
    }

    fn restart(&mut self) -> bool {
        let Some(restart) = self.restart.as_deref_mut().filter(|of| of.restarts_left > 0) else {
            return false;
        };
        restart.restarts_left -= 1;
        // The failed state first: it may hold a resource that the new one needs.
        self.state = None;
        self.state = Some((restart.create)());
        restart.observers.iter().filter_map(Weak::upgrade).for_each(|of| of.restarted());
        true
    }

    fn retire(&mut self) -> Result<(), String> {
        // The dropped values are the user's. A drop that panics must not prevent the other drops.
        let mut result = catch_panic(|| self.state = None);
        result = result.and(catch_panic(|| self.restart = None));
        for entity in &mut self.entities {
            result = result.and(catch_panic(|| entity.retire()));
        }
        result
    }

    fn dismantle(&mut self) -> Vec<(&'static str, String)> {
        self.drop_parts()
    }

    fn show(&self, digests: &DigestCollector) {
        if let (Some(show), Some(state)) = (self.show, &self.state) {
            show(state, digests);
        }
    }

    fn add_to(&self, entity: u32, lines: &mut CacheLines) {
        let entity = &self.entities[entity as usize];
        lines.add(self);
        lines.add(entity);
        entity.add_to(lines);
    }

    fn entry_line(&self) -> Option<EntryLine> {
        self.entities.iter().find_map(|entity| entity.entry_line())
    }

    fn take_out(&mut self, entity: u32) -> Option<Box<dyn Any + Send>> {
        let place = self.entities.get_mut(entity as usize)?;
        Some(Box::new(std::mem::replace(place, Box::new(Removed))))
    }

    fn remove(&mut self, entity: u32) -> (Option<Box<dyn Remains>>, Result<(), String>) {
        let place = &mut self.entities[entity as usize];
        let mut removed = std::mem::replace(place, Box::new(Removed));
        // First the callback, so that a panic of its drop leaves the queues.
        let retired = catch_panic(|| removed.retire());
        match catch_panic(|| removed.remains()) {
            Ok(remains) => (remains, retired),
            Err(panic) => (None, retired.and(Err(panic))),
        }
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn unmeasured(self: Box<Self>) -> Box<dyn EventLoop> {
        self
    }
}

/// Stands in the place of a destroyed entity.
struct Removed;

impl<S> Entity<S> for Removed {
    fn dispatch(&mut self, _port: usize, _state: &mut S, _cx: &mut Context<'_>) -> Outcome {
        Outcome::Nothing
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        None
    }

    fn retire(&mut self) {}
}

/// A subscription's callback, aligned to cache lines, because each message writes to its receiver.
#[repr(align(64))]
pub(crate) struct SubscriptionEntity<M, F, R> {
    receiver: SubscriptionReceiver<M>,
    /// `None` once it is retired.
    callback: Option<F>,
    result: PhantomData<fn() -> R>,
}

/// Two lines have room for a callback that holds a publisher.
const _: () = assert!(size_of::<SubscriptionReceiver<u64>>() + 32 <= 128);

impl<M, F, R> SubscriptionEntity<M, F, R> {
    pub(crate) fn new(receiver: SubscriptionReceiver<M>, callback: F) -> Self {
        Self { receiver, callback: Some(callback), result: PhantomData }
    }
}

impl<S, M, F, R> Entity<S> for SubscriptionEntity<M, F, R>
where
    M: Send + Sync + 'static,
    F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    #[inline]
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(callback) = &mut self.callback else {
            return Outcome::Nothing;
        };
        let Some(message) = self.receiver.lend_fresh(cx) else {
            return Outcome::Nothing;
        };
        cx.begin_with(&message);
        let result = callback(state, &message, cx).into_result();
        self.receiver.put_back(message);
        Outcome::from(result)
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        self.receiver.take_unheld().map(|message| message.id())
    }

    fn retire(&mut self) {
        self.callback = None;
    }

    fn pending(&self, _port: usize) -> usize {
        self.receiver.pending()
    }

    fn remains(mut self: Box<Self>) -> Option<Box<dyn Remains>> {
        self.receiver.detach();
        Some(Box::new(self.receiver))
    }

    fn entry_line(&self) -> Option<EntryLine> {
        Some(self.receiver.entry_line())
    }
}

/// A timer's callback, aligned to a cache line, because each expiry writes to it.
#[repr(align(64))]
pub(crate) struct TimerEntity<F, R> {
    timer: Timer,
    source: SourceId,
    fired: u64,
    /// `None` once it is retired.
    callback: Option<F>,
    result: PhantomData<fn() -> R>,
}

impl<F, R> TimerEntity<F, R> {
    pub(crate) fn new(timer: Timer, source: SourceId, callback: F) -> Self {
        Self { timer, source, fired: 0, callback: Some(callback), result: PhantomData }
    }
}

impl<S, F, R> Entity<S> for TimerEntity<F, R>
where
    F: FnMut(&mut S, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    #[inline]
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(callback) = &mut self.callback else {
            return Outcome::Nothing;
        };
        cx.begin(EventId { source: self.source, sequence: self.fired });
        self.fired += 1;
        let result = callback(state, cx).into_result();
        if cx.cancelled {
            self.timer.cancel();
        }
        Outcome::from(result)
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        self.fired += 1;
        Some(EventId::NONE)
    }

    fn retire(&mut self) {
        self.callback = None;
    }
}
