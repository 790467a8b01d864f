//! Records of a run: its digest, and on request its trace.
//!
//! The [`Digester`] is the recorder of the one worker, so the thread of the run calls it before and
//! after each callback, and the sequencer takes it out of the worker to read it between two
//! dispatches: it needs no lock. A watchdog on another thread reads the number of dispatches only.
//! The record is hashed before any other recorder is called, so these cannot change the digest.
//! Records gather in a block of 4 KiB, which is hashed at once, because a hash of one large block
//! takes less time than many small ones; a trace, at 100 bytes for each dispatch, is kept on
//! request only.

use super::timing::Timing;
use crate::chains::{Follower, RunningSteps};
use ringspin_executor::{
    CallbackId, Completion, Dispatch, EventId, EventOrigin, GraphChange, GraphInfo, LoopId,
    Recorder, SimNetwork, Table, Time,
};
use ringspin_ringbuf::Counter;
use std::fmt;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// A stable 128-bit hash of a run: of the graph's names, every dispatch record in order, and what
/// callbacks show of messages and states.
///
/// It is the same on every machine, under any load, in debug and release builds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunDigest(pub u128);

impl fmt::Display for RunDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for RunDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One dispatch of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time, callback and event of the dispatch.
    pub dispatch: Dispatch,
    /// The digest of the values that the callback showed, if there are any.
    pub digest: Option<u64>,
}

/// All dispatches of a run, and which of them sent what.
///
/// It takes about 100 bytes for each dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Ordered by dispatch.
    pub records: Vec<Record>,
    /// The messages, requests and responses, and the dispatch that sent each; sorted.
    pub sent: Vec<(EventId, usize)>,
    /// The changes of the graph, each with the number of dispatches before it.
    pub changes: Vec<(usize, GraphChange)>,
}

impl Trace {
    /// The dispatch that sent `event`; `None` if it came from outside, or is a timer's, say.
    pub fn cause(&self, event: EventId) -> Option<usize> {
        let found = self.sent.binary_search_by_key(&event, |(event, _)| *event).ok()?;
        Some(self.sent[found].1)
    }
}

const BYTES_MAX: usize = 4096;

pub(super) struct Digester {
    hash: Xxh3,
    /// Bytes that are not hashed yet: the hash takes less time for one large block.
    bytes: Box<[u8; BYTES_MAX]>,
    filled: usize,
    /// Whether there is more to do than to hash.
    is_busy: bool,
    /// The number of dispatches, which a watchdog reads.
    dispatches: Arc<Counter>,
    timing: Option<Timing>,
    sim_network: Arc<SimNetwork>,
    trace: Option<Trace>,
    follower: Option<Follower>,
    /// Whether the end of a callback depends on whether it sends something.
    depends_on_sending: bool,
    /// Whether the end of a callback depends on others.
    has_moving_ends: bool,
    /// The calls that have not ended, if ends move.
    running: Vec<RunningRecord>,
    sent: Vec<EventId>,
    /// The recorder that is called after this one.
    next: Option<Box<dyn Recorder>>,
}

/// A call that has not ended: others are told when it has.
struct RunningRecord {
    dispatch: Dispatch,
    completion: Completion,
    steps: RunningSteps,
}

impl Digester {
    pub(super) fn new(
        info: &GraphInfo,
        sim_network: Arc<SimNetwork>,
        timing: Option<Timing>,
    ) -> Self {
        let mut hash = Xxh3::new();
        let loops = info.loops.values();
        loops.for_each(|event_loop| hash_name(&mut hash, &event_loop.full_name()));
        info.callbacks.values().for_each(|callback| hash_name(&mut hash, &callback.name));
        let (dispatches, sent) = (Arc::default(), Vec::new());
        let depends_on_sending = timing.as_ref().is_some_and(Timing::depends_on_sending);
        Self {
            hash,
            bytes: Box::new([0; BYTES_MAX]),
            filled: 0,
            is_busy: timing.is_some(),
            dispatches,
            depends_on_sending,
            has_moving_ends: false,
            running: Vec::new(),
            timing,
            sim_network,
            trace: None,
            follower: None,
            sent,
            next: None,
        }
    }

    #[inline]
    fn hash<const N: usize>(&mut self, bytes: &[u8; N]) {
        let place = match self.bytes[self.filled..].first_chunk_mut() {
            Some(place) => place,
            None => self.flush(),
        };
        *place = *bytes;
        self.filled += N;
    }

    #[inline]
    fn wants_sent(&self) -> bool {
        self.trace.is_some() || self.depends_on_sending
    }

    /// Hashes all there is; returns the first place for more.
    #[cold]
    fn flush<const N: usize>(&mut self) -> &mut [u8; N] {
        self.hash.update(&self.bytes[..self.filled]);
        self.filled = 0;
        self.bytes.first_chunk_mut().expect("a record is small")
    }

    /// Has these told of every dispatch as well.
    pub(super) fn set_others(
        &mut self,
        next: Option<Box<dyn Recorder>>,
        follower: Option<Follower>,
    ) {
        (self.next, self.follower) = (next, follower);
        self.look_who_is_busy();
    }

    /// The ends of callbacks depend on others: [`ended`](Self::ended) is called at the end.
    pub(super) fn set_moving_ends(&mut self) {
        self.has_moving_ends = true;
    }

    fn look_who_is_busy(&mut self) {
        let others = self.next.is_some() || self.follower.is_some();
        self.is_busy = others || self.timing.is_some() || self.trace.is_some();
    }

    /// Replaces the recorder that is called after this one.
    pub(super) fn replace_next(
        &mut self,
        next: Option<Box<dyn Recorder>>,
    ) -> Option<Box<dyn Recorder>> {
        let before = std::mem::replace(&mut self.next, next);
        self.look_who_is_busy();
        before
    }

    pub(super) fn dispatches(&self) -> &Arc<Counter> {
        &self.dispatches
    }

    /// `pending` are the values shown since the last dispatch by code that is no callback.
    pub(super) fn digest(&mut self, pending: Option<u64>) -> RunDigest {
        self.flush::<0>();
        let Some(pending) = pending else { return RunDigest(self.hash.digest128()) };
        let mut hash = self.hash.clone(); // the next dispatch will show it
        hash.update(&pending.to_le_bytes());
        RunDigest(hash.digest128())
    }

    /// From now on, keeps a trace.
    pub(super) fn trace(&mut self) {
        self.trace = Some(Trace::default());
        self.is_busy = true;
    }

    pub(super) fn take_trace(&mut self) -> Option<Trace> {
        let mut trace = self.trace.take()?;
        trace.sent.sort_unstable();
        Some(trace)
    }
}

/// Stands for the name of a destroyed entity.
const NO_NAME: String = String::new();

/// Hashes a name so that two in a row cannot be taken for two others.
fn hash_name(hash: &mut Xxh3, name: &str) {
    hash.update(&(name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
}

/// The bytes of a record that the digest covers: fixed width, little-endian.
#[inline]
fn bytes_of(dispatch: &Dispatch) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[0..8].copy_from_slice(&dispatch.time.as_nanos().to_le_bytes());
    bytes[8..12].copy_from_slice(&dispatch.event_loop.0.to_le_bytes());
    bytes[12..16].copy_from_slice(&dispatch.callback.0.to_le_bytes());
    bytes[16..20].copy_from_slice(&dispatch.event.source.0.to_le_bytes());
    bytes[20..28].copy_from_slice(&dispatch.event.sequence.to_le_bytes());
    bytes
}

impl Recorder for Digester {
    fn started(&mut self, dispatch: &Dispatch) {
        self.started_by(dispatch, EventOrigin::Other);
    }

    fn started_by(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        self.hash(&bytes_of(dispatch));
        self.dispatches.add_by_owner(1);
        if self.is_busy {
            self.tell_started(dispatch, origin);
        }
    }

    fn changed(&mut self, change: &GraphChange) {
        self.hash_change(change);
        if let Some(trace) = &mut self.trace {
            trace.changes.push((trace.records.len(), change.clone()));
        }
        if let Some(next) = &mut self.next {
            next.changed(change);
        }
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if let Some(digest) = completion.digest {
            self.hash(&digest.to_le_bytes());
        }
        if self.is_busy {
            self.tell_finished(dispatch, completion);
        }
    }
}

impl Digester {
    fn hash_change(&mut self, change: &GraphChange) {
        let (event_loop, callback, name) = match change {
            GraphChange::LoopAdded { event_loop, name } => (*event_loop, CallbackId::NONE, name),
            GraphChange::CallbackAdded { callback, event_loop, name } => {
                (*event_loop, *callback, name)
            }
            GraphChange::LoopRemoved { event_loop } => (*event_loop, CallbackId(0), &NO_NAME),
            GraphChange::CallbackRemoved { callback } => (LoopId(u32::MAX), *callback, &NO_NAME),
            _ => return,
        };
        self.flush::<0>();
        // No dispatch has the callback that is none.
        let dispatch = Dispatch { event_loop, callback: CallbackId::NONE, ..Dispatch::default() };
        self.hash.update(&bytes_of(&dispatch));
        self.hash.update(&callback.0.to_le_bytes());
        hash_name(&mut self.hash, name);
    }

    #[inline(never)]
    fn tell_started(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        // Where callbacks take no time, nothing waits: not even from one instant to the next.
        let timing = self.timing.as_ref();
        let released =
            timing.map_or(dispatch.time, |timing| timing.begin(dispatch, &self.sim_network));
        if self.wants_sent() {
            // Messages sent before this callback come from outside.
            self.sim_network.take_sent(&mut self.sent);
        }
        if let Some(follower) = &mut self.follower {
            follower.started(dispatch, origin, Some(released));
        }
        if let Some(next) = &mut self.next {
            next.started_by(dispatch, origin);
        }
    }

    #[inline(never)]
    fn tell_finished(&mut self, dispatch: &Dispatch, mut completion: Completion) {
        if self.wants_sent() {
            self.sim_network.take_sent(&mut self.sent);
        }
        if self.depends_on_sending
            && let Some(timing) = &self.timing
            && let Some(end) = timing.returned(dispatch, !self.sent.is_empty())
        {
            completion.time = end;
        }
        if let Some(trace) = &mut self.trace {
            let number = trace.records.len();
            trace.sent.extend(self.sent.iter().map(|event| (*event, number)));
            trace.records.push(Record { dispatch: *dispatch, digest: completion.digest });
        }
        if self.has_moving_ends
            && let Some(timing) = &self.timing
            && timing.is_busy(dispatch.time)
        {
            let steps = self.follower.as_mut().map(|follower| follower.suspend(dispatch));
            let (dispatch, steps) = (*dispatch, steps.unwrap_or_default());
            self.running.push(RunningRecord { dispatch, completion, steps });
            return;
        }
        if let Some(follower) = &mut self.follower {
            follower.finished(dispatch, completion.time);
        }
        if let Some(next) = &mut self.next {
            next.finished(dispatch, completion);
        }
    }

    /// The running call of a loop ends at `end`, which depended on others.
    pub(super) fn ended(&mut self, event_loop: LoopId, end: Time) {
        let is_it = |of: &RunningRecord| of.dispatch.event_loop == event_loop;
        let Some(place) = self.running.iter().position(is_it) else { return };
        let RunningRecord { dispatch, completion, steps } = self.running.remove(place);
        if let Some(follower) = &mut self.follower {
            follower.ended(steps, &dispatch, end);
        }
        if let Some(next) = &mut self.next {
            next.finished(&dispatch, Completion { time: end, ..completion });
        }
    }
}

/// When a run shows that it gets on.
pub(super) struct DataProgress {
    /// The callbacks that handle messages or requests, not mere timers.
    is_data: Table<CallbackId, ()>,
    last: Time,
}

impl DataProgress {
    pub(super) fn new(info: &GraphInfo, start: Time) -> Self {
        let mut progress = Self { is_data: Table::new(), last: start };
        progress.extend(info);
        progress
    }

    pub(super) fn extend(&mut self, info: &GraphInfo) {
        let subscriptions = info.topics.iter().flat_map(|topic| topic.subscriptions.iter());
        let servers = info.services.iter().filter_map(|service| service.server.as_ref());
        for id in subscriptions.chain(servers) {
            self.is_data.insert(*id, ());
        }
    }

    pub(super) fn dispatched(&mut self, callback: CallbackId, now: Time) {
        if self.is_data.contains(callback) {
            self.last = now;
        }
    }

    pub(super) fn last(&self) -> Time {
        self.last
    }
}
