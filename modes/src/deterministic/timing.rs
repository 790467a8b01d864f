//! How long callbacks take in simulated time.
//!
//! The recorder, which the worker calls, learns first that a callback begins, and draws its
//! duration; after the dispatch the sequencer takes the call and keeps its core busy until the end.
//! Both are on the thread of the run, one after the other: the lock is there because the worker
//! owns the recorder, and an executor may move to another thread between two spins. A duration is
//! drawn for the callback and the number of its run, and not from one series, so a further node
//! changes no duration of the others.

use super::models::ResolvedDurations;
use ringspin_executor::{CallbackId, Clock, Dispatch, GraphInfo, SimNetwork, Table, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The durations of callbacks, shared by the sequencer and its recorder, which learns first that a
/// callback begins.
#[derive(Clone)]
pub(super) struct Timing(Arc<Mutex<State>>);

struct State {
    table: Box<dyn ResolvedDurations>,
    /// By callback, how often it ran.
    runs: Table<CallbackId, u64>,
    /// When the event that is dispatched became ready.
    released: Time,
    /// The call that was dispatched, if it takes time.
    call: Option<Call>,
    /// The alternatives for that end, if it depends on whether the callback has sent something.
    open: Option<Open>,
    /// By callback, how often it returned later than its logical execution time.
    overruns: Table<CallbackId, u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    callback: CallbackId,
    /// The time at which it returns, if nothing slows it down or preempts it.
    pub(super) end: Time,
    /// The departure of its messages, likewise.
    departure: Time,
    logical_end: Option<Time>,
}

/// A callback that ends later or earlier if it sends something.
struct Open {
    quiet_end: Time,
    sending_end: Time,
    logical_end: Option<Time>,
}

impl Timing {
    pub(super) fn new(table: Box<dyn ResolvedDurations>) -> Self {
        let (runs, overruns) = (Table::new(), Table::new());
        let (released, call, open) = (Time::ZERO, None, None);
        let state = State { table, runs, released, call, open, overruns };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn extend(&self, info: &GraphInfo) {
        let mut state = self.state();
        state.table.extend(info);
        let gone = state.runs.keys().filter(|id| !info.callbacks.contains(*id));
        for id in gone.collect::<Vec<_>>() {
            state.runs.remove(id);
        }
    }

    /// The event that is dispatched next became ready at `time`.
    pub(super) fn released(&self, time: Time) {
        self.state().released = time;
    }

    /// A callback begins; returns when its event became ready.
    pub(super) fn begin(&self, dispatch: &Dispatch, sim_network: &SimNetwork) -> Time {
        let mut state = self.state();
        let callback = dispatch.callback;
        let runs = state.runs.get_or_insert_with(callback, || 0);
        let run = *runs;
        *runs += 1;
        let execution = state.table.execution(dispatch.callback, run);
        let now = sim_network.clock().now();
        let quiet_end = now + execution.duration;
        let logical_end = execution.logical.map(|logical| state.released + logical);
        let sending_end = execution.sending.map_or(quiet_end, |sending| now + sending);
        let departure = logical_end.map_or(sending_end, |end| end.max(sending_end));
        // Until the callback has returned, the longer of both ends counts; messages leave as in the
        // sending case.
        let end = quiet_end.max(sending_end);
        if departure.max(end) > now {
            sim_network.begin(end, departure);
            let callback = dispatch.callback;
            state.call = Some(Call { callback, end, departure, logical_end });
        }
        if execution.sending.is_some() {
            state.open = Some(Open { quiet_end, sending_end, logical_end });
        } else if logical_end.is_some_and(|logical_end| logical_end < end) {
            *state.overruns.get_or_insert_with(callback, || 0) += 1;
        }
        state.released
    }

    /// The callback has returned, and has sent something or not: when it counts as its end, if that
    /// depends on it.
    pub(super) fn returned(&self, dispatch: &Dispatch, has_sent: bool) -> Option<Time> {
        let mut state = self.state();
        let Open { quiet_end, sending_end, logical_end } = state.open.take()?;
        let end = if has_sent { sending_end } else { quiet_end };
        if logical_end.is_some_and(|logical_end| logical_end < end) {
            *state.overruns.get_or_insert_with(dispatch.callback, || 0) += 1;
        }
        if let Some(call) = &mut state.call {
            call.end = end;
        }
        Some(end)
    }

    /// Whether any callback's end depends on whether it sends something.
    pub(super) fn depends_on_sending(&self) -> bool {
        self.state().table.depends_on_sending()
    }

    /// Whether the call that was just dispatched at `now` keeps its core busy.
    pub(super) fn is_busy(&self, now: Time) -> bool {
        self.state().call.is_some_and(|call| call.end > now)
    }

    /// The call that was just dispatched, if it takes time.
    pub(super) fn take_call(&self) -> Option<Call> {
        self.state().call.take()
    }

    /// A call that others have slowed down or preempted ends at `end`; returns how much later its
    /// messages leave.
    pub(super) fn ended(&self, call: &Call, end: Time) -> Duration {
        if call.logical_end.is_some_and(|logical_end| (call.end..end).contains(&logical_end)) {
            *self.state().overruns.get_or_insert_with(call.callback, || 0) += 1;
        }
        call.logical_end.map_or(end, |logical_end| logical_end.max(end)).since(call.departure)
    }

    /// How often callbacks returned later than their logical execution time, by callback.
    pub(super) fn overruns(&self) -> Table<CallbackId, u64> {
        self.state().overruns.clone()
    }
}
