//! The deterministic mode: one sequencer, simulated time, and a digest of everything that happened.
//!
//! All loops share one ready ring, so data events are dispatched first-in first-out over the whole
//! graph. When none is left, one due timer is made ready (by deadline, then creation), and so on
//! until the instant is quiet. Then time jumps to the next deadline. Nothing here reads a real
//! clock, hashes an address or starts a thread.

use crate::error::SpinError;
use ringspin_executor::{
    CallbackId, Clock, Dispatch, GraphInfo, Recorder, SimClock, StopHandle, Time, Worker,
};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// Simulated time when the run starts. Timers are anchored at time zero: those that are overdue
    /// at the start fire once, in the order of their deadlines.
    pub start: Time,
    /// How many dispatches one instant may have before it counts as a cycle without delay.
    pub instant_dispatches_max: u64,
}

impl Default for Simulation {
    /// From time zero, with a million dispatches in one instant.
    fn default() -> Self {
        Self { start: Time::ZERO, instant_dispatches_max: 1_000_000 }
    }
}

/// A stable 128-bit hash of a run: of the graph's names and every dispatch record in order.
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

/// Hashes every dispatch, and passes it on.
struct Digester {
    hash: Xxh3,
    dispatches: u64,
    next: Option<Box<dyn Recorder>>,
}

impl Digester {
    fn new(info: &GraphInfo, next: Option<Box<dyn Recorder>>) -> Self {
        let mut hash = Xxh3::new();
        let mut name = |name: &str| {
            hash.update(&(name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
        };
        info.loops.iter().for_each(|event_loop| name(&event_loop.full_name()));
        info.callbacks.iter().for_each(|callback| name(&callback.name));
        Self { hash, dispatches: 0, next }
    }
}

/// The bytes of a record that the digest covers: fixed width, little-endian.
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
        self.hash.update(&bytes_of(dispatch));
        self.dispatches += 1;
        if let Some(next) = &mut self.next {
            next.started(dispatch);
        }
    }

    fn finished(&mut self, dispatch: &Dispatch, time: Time) {
        if let Some(next) = &mut self.next {
            next.finished(dispatch, time);
        }
    }
}

/// Counts the dispatches of the current instant, to name a cycle that never lets time go on.
struct Instant {
    limit: u64,
    dispatches: u64,
    /// The callbacks dispatched after the limit was reached.
    suspects: Vec<CallbackId>,
}

/// How many dispatches beyond the limit are looked at to name the cycle.
const SUSPECTS: usize = 256;

impl Instant {
    fn new(limit: u64) -> Self {
        Self { limit, dispatches: 0, suspects: Vec::new() }
    }

    fn quiet(&mut self) {
        self.dispatches = 0;
        self.suspects.clear();
    }

    /// Returns false once there is no doubt that the instant does not end.
    fn dispatched(&mut self, callback: CallbackId) -> bool {
        self.dispatches += 1;
        if self.dispatches > self.limit {
            self.suspects.push(callback);
        }
        self.suspects.len() < SUSPECTS
    }

    fn error(&self, time: Time, info: &GraphInfo) -> SpinError {
        let mut callbacks = self.suspects.clone();
        callbacks.sort_unstable();
        callbacks.dedup();
        let name = |id: CallbackId| {
            let callback = &info.callbacks[id.0 as usize].name;
            format!("{} `{callback}`", info.loop_of(id).full_name())
        };
        let names: Vec<_> = callbacks.into_iter().map(name).collect();
        SpinError::ZeroDelayCycle { time, limit: self.limit, callbacks: names.join(", ") }
    }
}

/// The one worker of the deterministic mode and its clock.
pub(crate) struct Sequencer {
    worker: Worker,
    clock: Arc<SimClock>,
    instant: Instant,
}

impl Sequencer {
    /// Takes over `worker` with the time of `clock` at the simulation's start.
    pub(crate) fn new(
        mut worker: Worker,
        clock: Arc<SimClock>,
        simulation: Simulation,
        info: &GraphInfo,
        recorder: Option<Box<dyn Recorder>>,
    ) -> Self {
        worker.start(Time::ZERO);
        worker.set_recorder(Some(Box::new(Digester::new(info, recorder))));
        Self { worker, clock, instant: Instant::new(simulation.instant_dispatches_max) }
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Runs every instant up to `end`, inclusive, unless it is stopped or nothing is left to do.
    pub(crate) fn run(
        &mut self,
        end: Time,
        stop: &StopHandle,
        info: &GraphInfo,
    ) -> Result<(), SpinError> {
        let _mark = stop.enter_worker();
        while !stop.is_stopped() {
            if let Some(callback) = self.worker.dispatch_next() {
                self.count(callback, info)?;
            } else if !self.worker.ready_set().is_empty() {
                // What was handled so far was no event. The instant goes on.
            } else if !self.worker.expire_one(self.clock.now()) {
                self.instant.quiet();
                match self.worker.next_deadline() {
                    Some(deadline) if deadline <= end => self.clock.set(deadline),
                    _ => {
                        if end != Time::MAX {
                            self.clock.set(end);
                        }
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes a dispatch of this instant, which has to end some time.
    fn count(&mut self, callback: CallbackId, info: &GraphInfo) -> Result<(), SpinError> {
        match self.instant.dispatched(callback) {
            true => Ok(()),
            false => Err(self.instant.error(self.clock.now(), info)),
        }
    }

    /// Dispatches the next event up to `end`, if there is one; otherwise time goes on to the end.
    pub(crate) fn run_one(
        &mut self,
        end: Time,
        stop: &StopHandle,
        info: &GraphInfo,
    ) -> Result<bool, SpinError> {
        let _mark = stop.enter_worker();
        while !stop.is_stopped() {
            if let Some(callback) = self.worker.dispatch_next() {
                return self.count(callback, info).map(|()| true);
            }
            if !self.worker.ready_set().is_empty() || self.worker.expire_one(self.clock.now()) {
                continue;
            }
            self.instant.quiet();
            let next = self.worker.next_deadline().map_or(end, |deadline| deadline.min(end));
            if next == self.clock.now() || next == Time::MAX {
                break;
            }
            self.clock.set(next);
        }
        Ok(false)
    }

    /// Dispatches what is ready at this instant: events, or if there is none, one due timer. What
    /// comes after them in the order of events is left, so that no order changes.
    pub(crate) fn run_ready(&mut self, stop: &StopHandle) -> u64 {
        let _mark = stop.enter_worker();
        let dispatched = self.worker.dispatch_ready(|| stop.is_stopped());
        let quiet = dispatched == 0 && self.worker.ready_set().is_empty();
        match quiet && self.worker.expire_one(self.clock.now()) {
            true => self.worker.dispatch_ready(|| stop.is_stopped()),
            false => dispatched,
        }
    }

    /// Runs until this instant is quiet.
    pub(crate) fn run_instant(
        &mut self,
        stop: &StopHandle,
        info: &GraphInfo,
    ) -> Result<u64, SpinError> {
        let _mark = stop.enter_worker();
        let mut dispatched = 0;
        while !stop.is_stopped() {
            if let Some(callback) = self.worker.dispatch_next() {
                dispatched += 1;
                self.count(callback, info)?;
            } else if self.worker.ready_set().is_empty()
                && !self.worker.expire_one(self.clock.now())
            {
                break;
            }
        }
        Ok(dispatched)
    }

    /// The digest of all dispatches so far, and their number.
    pub(crate) fn digest(&mut self) -> (RunDigest, u64) {
        let digester = self
            .with_digester(|digester| (RunDigest(digester.hash.digest128()), digester.dispatches));
        digester.expect("the sequencer's recorder is its digester")
    }

    /// The user's recorder, if there is one.
    pub(crate) fn take_recorder(&mut self) -> Option<Box<dyn Recorder>> {
        self.with_digester(|digester| digester.next.take()).flatten()
    }

    fn with_digester<R>(&mut self, f: impl FnOnce(&mut Digester) -> R) -> Option<R> {
        let mut recorder = self.worker.set_recorder(None)?;
        let any: &mut dyn Any = &mut *recorder;
        let result = any.downcast_mut().map(f);
        self.worker.set_recorder(Some(recorder));
        result
    }
}
