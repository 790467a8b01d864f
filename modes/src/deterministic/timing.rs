//! How long callbacks take in simulated time.

use crate::models::durations::DurationTable;
use ringspin_executor::{Clock, Dispatch, Time, Transit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The durations of callbacks, shared by the sequencer and its recorder, which learns first that a
/// callback begins.
#[derive(Clone)]
pub(super) struct Timing(Arc<Mutex<State>>);

struct State {
    table: DurationTable,
    /// By callback, how often it ran.
    runs: Vec<u64>,
    /// When the event that is dispatched became ready.
    released: Time,
    /// When the callback that was dispatched returns, if it takes time.
    end: Option<Time>,
    /// By callback, how often it returned later than its logical execution time.
    overruns: Vec<u64>,
}

impl Timing {
    pub(super) fn new(table: DurationTable, callbacks: usize) -> Self {
        let (runs, overruns) = (vec![0; callbacks], vec![0; callbacks]);
        let state = State { table, runs, released: Time::ZERO, end: None, overruns };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The event that is dispatched next became ready at `time`.
    pub(super) fn released(&self, time: Time) {
        self.state().released = time;
    }

    /// A callback begins.
    pub(super) fn begin(&self, dispatch: &Dispatch, transit: &Transit) {
        let mut state = self.state();
        let callback = dispatch.callback.0 as usize;
        let run = state.runs[callback];
        state.runs[callback] += 1;
        let execution = state.table.execution(dispatch.callback, run);
        let now = transit.clock().now();
        let end = now + execution.duration;
        let logical_end = execution.logical.map(|logical| state.released + logical);
        let departure = logical_end.map_or(end, |logical_end| logical_end.max(end));
        if logical_end.is_some_and(|logical_end| logical_end < end) {
            state.overruns[callback] += 1;
        }
        if departure > now {
            transit.begin(end, departure);
            state.end = Some(end);
        }
    }

    /// When the callback that was just dispatched returns, if it takes time.
    pub(super) fn take_end(&self) -> Option<Time> {
        self.state().end.take()
    }

    /// How often callbacks returned later than their logical execution time, by callback.
    pub(super) fn overruns(&self) -> Vec<u64> {
        self.state().overruns.clone()
    }
}
