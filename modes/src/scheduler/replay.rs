//! The replay of a flight record: one worker under simulated time, which handles the recorded
//! events in the order of their starts.
//!
//! Messages that the callbacks publish are held until the record says that they are taken, or
//! dropped if it never does. Timers expire as recorded, and not by the simulated time. Everything
//! else follows from the callbacks; where it does not, the replay ends with the first difference.

use super::{Exchange, Scheduler, Spin, Step};
use crate::deterministic::Condition;
use crate::flight::{FlightRecord, RecordedEvent, Tee};
use crate::live_clock::SpinEnd;
use ringspin_executor::observed::{Observations, RemoteChannel, RemoteItem};
use ringspin_executor::{
    CallbackId, Clock, Completion, DeliveryOutcome, Dispatch, Error, ErrorKind, EventId,
    EventOrigin, GraphInfo, InFlight, Monitor, Network, ReadyEvent, Recorder, Result, Scope,
    SimNetwork, Table, Time, Worker, WorkerThread, observed,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the replay waits for another thread to publish a message.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(10);

/// Its name in [failures](ringspin_executor::Failure) outside of the callbacks.
const REPLAY: &str = "the replay";

const OTHER_DIGEST: &str = "the digest of its state, or of the values that it shows, is another \
                            one: it depends on something that the record does not have, such as \
                            data that two loops share, the wall clock, or another thread";

/// Holds messages until the record takes them. It never takes some: those of topics were
/// overwritten; requests and responses still wait at its end.
struct RecordedNetwork {
    record: Arc<FlightRecord>,
    subscriptions: Table<CallbackId, ()>,
}

impl RecordedNetwork {
    fn new(record: &Arc<FlightRecord>, info: &GraphInfo) -> Self {
        let mut network = Self { record: record.clone(), subscriptions: Table::new() };
        network.extend(info);
        network
    }
}

impl Network for RecordedNetwork {
    fn is_linked(&self, _: CallbackId) -> bool {
        true
    }

    fn outcome(&mut self, in_flight: &InFlight) -> DeliveryOutcome {
        let InFlight { event, callback, .. } = *in_flight;
        let is_taken = self.record.taken.binary_search(&(callback, event)).is_ok();
        match is_taken || !self.subscriptions.contains(callback) {
            true => DeliveryOutcome::Held,
            false => DeliveryOutcome::Lost,
        }
    }

    fn follows_changes(&self) -> bool {
        true
    }

    fn extend(&mut self, info: &GraphInfo) {
        for id in info.topics.iter().flat_map(|topic| &topic.subscriptions) {
            self.subscriptions.insert(*id, ());
        }
    }
}

/// The network of a replay in the graph `info`.
pub(crate) fn network(record: &Arc<FlightRecord>, info: &GraphInfo) -> Arc<SimNetwork> {
    let network = Box::new(RecordedNetwork::new(record, info));
    Arc::new(SimNetwork::new(record.header.start, network, Scope::default()))
}

/// The observations for the call that is dispatched, and its outcome.
#[derive(Default)]
struct Seen {
    observations: Observations,
    /// The first item of a middleware that it does not take.
    untaken: Option<Arc<RemoteItem>>,
    call: Option<Call>,
}

#[derive(Clone, Copy)]
struct Call {
    dispatch: Dispatch,
    digest: Option<u64>,
    /// How often it has read the clock.
    read: usize,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows each call its recorded observations, and notes its outcome.
struct Check {
    seen: Arc<Mutex<Seen>>,
    sim_network: Arc<SimNetwork>,
}

impl Recorder for Check {
    fn taken(&mut self) {
        observed::replay(&lock(&self.seen).observations);
        self.sim_network.clock().show_record(true);
    }

    fn started(&mut self, dispatch: &Dispatch) {
        lock(&self.seen).call = Some(Call { dispatch: *dispatch, digest: None, read: 0 });
    }

    fn finished(&mut self, dispatch: &Dispatch, Completion { digest, .. }: Completion) {
        let read = end_replay(&self.sim_network);
        lock(&self.seen).untaken = observed::untaken();
        lock(&self.seen).call = Some(Call { dispatch: *dispatch, digest, read });
    }

    fn skipped(&mut self, _: &Dispatch, _: EventOrigin) {
        end_replay(&self.sim_network);
        lock(&self.seen).untaken = observed::untaken();
    }
}

/// Ends the recorded observations; returns the number of readings.
fn end_replay(sim_network: &SimNetwork) -> usize {
    sim_network.clock().show_record(false);
    observed::end_replay()
}

/// The scheduler that repeats a record.
pub(crate) struct Replayer {
    worker: Worker,
    sim_network: Arc<SimNetwork>,
    record: Arc<FlightRecord>,
    next: usize,
    seen: Arc<Mutex<Seen>>,
    /// The events that are ready and not yet due in the record.
    pending: BTreeMap<CallbackId, VecDeque<ReadyEvent>>,
    /// How often a callback was notified in the record and not here, and when first.
    woken: BTreeMap<CallbackId, (u64, Time)>,
    /// The first difference.
    difference: Option<Error>,
}

impl Replayer {
    pub(crate) fn new(
        mut worker: Worker,
        sim_network: Arc<SimNetwork>,
        record: Arc<FlightRecord>,
        next: Option<Box<dyn Recorder>>,
    ) -> Self {
        let seen = Arc::<Mutex<Seen>>::default();
        worker.start(record.header.start);
        let check = Check { seen: seen.clone(), sim_network: sim_network.clone() };
        worker.set_recorder(Some(Box::new(Tee { first: Box::new(check), next })));
        let (pending, woken) = (BTreeMap::new(), BTreeMap::new());
        Self { worker, sim_network, record, next: 0, seen, pending, woken, difference: None }
    }

    /// Repeats the record up to the end of the spin; returns the number of calls.
    fn play(&mut self, monitor: &Monitor) -> Result<u64> {
        if let Some(difference) = &self.difference {
            return Err(difference.clone());
        }
        let (record, mut calls) = (self.record.clone(), 0);
        let mut thread = self.worker.enter();
        while let Some(step) = record.steps.get(self.next) {
            self.sim_network.clock().set(step.time.max(Clock::now(&**self.sim_network.clock())));
            self.next += 1;
            if step.is_spin_end {
                self.worker.pass(&mut thread);
                self.gather();
                return Ok(calls);
            }
            let repeated = self.repeat(step, &mut thread);
            let untaken = lock(&self.seen).untaken.take();
            let repeated = match (repeated, untaken) {
                (_, Some(item)) => Err(not_taken(&item)),
                (repeated, None) => repeated,
            };
            if let Err(text) = repeated {
                let error = self.differs(step, &text, monitor);
                self.difference = Some(error.clone());
                return Err(error);
            }
            calls += u64::from(step.is_called);
        }
        self.tell_end(monitor);
        Ok(calls)
    }

    /// Handles the event of `step`, and compares it with the record.
    fn repeat(&mut self, step: &RecordedEvent, thread: &mut WorkerThread) -> Result<(), String> {
        self.worker.pass(thread);
        self.gather();
        let RecordedEvent { callback, event, time, .. } = *step;
        let mut seen = lock(&self.seen);
        seen.call = None;
        match step.observed {
            Some(place) => seen.observations.clone_from(&self.record.observed[place]),
            None => seen.observations = Observations::default(),
        }
        seen.untaken = seen.observations.items.first().cloned();
        let has_item = seen.untaken.is_some();
        drop(seen);
        match step.origin {
            EventOrigin::Timer(due) => {
                if self.worker.dispatch_timer_as(callback, due, time).is_none() && step.is_called {
                    return Err("there is no such timer".into());
                }
            }
            _ if has_item => {
                self.worker.notify(callback);
                self.dispatch_pending(callback, step)?;
            }
            EventOrigin::Message { .. } => {
                if !self.release(callback, event) {
                    return Err(not_published(event));
                }
                self.dispatch_pending(callback, step)?;
            }
            EventOrigin::Other => self.dispatch_pending(callback, step)?,
        }
        self.compare(step)
    }

    /// Hands the message of `event` over. One that a thread of the program publishes while it spins
    /// is waited for.
    fn release(&self, callback: CallbackId, event: EventId) -> bool {
        let end = Instant::now() + PUBLISHED_WITHIN;
        loop {
            if self.sim_network.release(callback, event) {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Takes over what became ready; notices to the worker are handled at once.
    fn gather(&mut self) {
        while let Some(event) = self.worker.take_ready() {
            match event.callback {
                Some(callback) => self.pending.entry(callback).or_default().push_back(event),
                None => drop(self.worker.dispatch_taken(event)),
            }
        }
    }

    fn dispatch_pending(
        &mut self,
        callback: CallbackId,
        step: &RecordedEvent,
    ) -> Result<(), String> {
        self.gather();
        let mut event = self.pending.get_mut(&callback).and_then(VecDeque::pop_front);
        if event.is_none() && step.is_called && self.worker.notify(callback) {
            // A thread, or a callback that runs longer in the record, has notified it.
            let (times, _) = self.woken.entry(callback).or_insert((0, step.time));
            *times += 1;
            self.gather();
            event = self.pending.get_mut(&callback).and_then(VecDeque::pop_front);
        }
        match event {
            Some(event) => drop(self.worker.dispatch_taken(event)),
            None if step.is_called => return Err("nothing makes it ready".into()),
            None => {}
        }
        Ok(())
    }

    fn compare(&self, step: &RecordedEvent) -> Result<(), String> {
        let call = lock(&self.seen).call.take();
        let Some(Call { dispatch, digest, read }) = call else {
            return match step.is_called {
                true => Err("its callback is not called".into()),
                false => Ok(()),
            };
        };
        if !step.is_called {
            return Err("its callback is called, and was not in the record".into());
        }
        if dispatch.event != step.event {
            let EventId { source, sequence } = dispatch.event;
            return Err(format!("it handles event {}#{sequence} here", source.0));
        }
        let Some(shown) = step.shown else { return Ok(()) }; // the record ends in this call
        let recorded = step.observed.map_or(0, |place| self.record.observed[place].readings.len());
        if read != recorded {
            return Err(format!(
                "it has {read} readings of the clock or of counters, and {recorded} there"
            ));
        }
        match (shown, digest) {
            (shown, digest) if shown == digest => Ok(()),
            _ => Err(OTHER_DIGEST.into()),
        }
    }

    fn differs(&self, step: &RecordedEvent, text: &str, monitor: &Monitor) -> Error {
        let info = monitor.info();
        let name = info.name_of(step.callback);
        let EventId { source, sequence } = step.event;
        let number = self.next - 1;
        let text = format!(
            "the replay differs from the record at entry {number}, {name}, event {}#{sequence} at \
             {}: {text}",
            source.0, step.time
        );
        Error::new(ErrorKind::Diverged, text)
    }

    /// Logs how the record ends, and the wake-ups that it does not explain.
    fn tell_end(&mut self, monitor: &Monitor) {
        let (info, woken) = (monitor.info(), std::mem::take(&mut self.woken));
        for (callback, (times, first)) in woken {
            let callback = info.name_of(callback);
            tracing::warn!(
                callback,
                times,
                %first,
                "notified from outside of the graph: the record lacks the reason"
            );
        }
        if let Some(time) = self.record.gap {
            tracing::warn!(%time, "the replay ends where entries of the record were lost");
        }
    }

    fn contained(&mut self, spin: Spin<'_>) -> Result<u64> {
        spin.monitor.contain(REPLAY, || self.play(spin.monitor)).unwrap_or(Ok(0))
    }
}

fn not_taken(item: &RemoteItem) -> String {
    let RemoteChannel { topic, type_name, .. } = &*item.channel;
    format!(
        "nothing takes the item of {topic} with type {type_name}, which came from another process: \
         this program does not have this type there; name it to the connection as in the recorded \
         run (`ringspin::messages::Types`)"
    )
}

fn not_published(EventId { source, sequence }: EventId) -> String {
    format!(
        "nothing has published message {sequence} of source {} within {} s: it came from outside \
         of the graph, or a callback or thread behaves differently",
        source.0,
        PUBLISHED_WITHIN.as_secs()
    )
}

impl Scheduler for Replayer {
    /// A replay starts timers and tasks when it is created.
    fn start(&mut self) {}

    fn now(&self) -> Time {
        self.sim_network.clock().now()
    }

    fn end_after(&self, duration: Duration) -> SpinEnd {
        SpinEnd::At(self.now() + duration)
    }

    fn run(&mut self, spin: Spin<'_>, _: SpinEnd, _: Condition<'_>) -> Result<()> {
        self.contained(spin).map(drop)
    }

    fn run_one(&mut self, spin: Spin<'_>, _: SpinEnd) -> Result<bool> {
        Ok(self.contained(spin)? > 0)
    }

    fn run_ready(&mut self, spin: Spin<'_>) -> Result<u64> {
        self.contained(spin)
    }

    fn run_all(&mut self, spin: Spin<'_>, _: SpinEnd) -> Result<u64> {
        self.contained(spin)
    }

    fn wake_by(&mut self, _: Arc<dyn Fn() + Send + Sync>) -> bool {
        true
    }

    fn step(&mut self, spin: Spin<'_>) -> Result<Step> {
        self.contained(spin)?;
        Ok(match self.next < self.record.steps.len() {
            true => Step::Busy,
            false => Step::Ended,
        })
    }

    fn each_recorder(&mut self, exchange: Exchange<'_>) {
        exchange(self.worker.recorder_mut());
    }
}

impl Drop for Replayer {
    /// Drops the messages that wait, which may hold handles of the network that holds them.
    fn drop(&mut self) {
        if let Some(panic) = self.sim_network.clear() {
            tracing::error!(panic, "the drop of a message panicked");
        }
    }
}
