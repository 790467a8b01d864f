//! Jitter of timers: how evenly their callbacks start.

use ringspin_executor::{CallbackId, Completion, Dispatch, GraphInfo, Recorder, Table, Time};
use std::any::Any;
use std::time::Duration;

/// A timer whose jitter is measured, and limited if its callback must be periodic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicTimer {
    /// Its callback, as in `/planner timer 100ms`.
    pub name: String,
    /// The jitter that the [objective](crate::Term::Jitter) tolerates; `None` if any is fine.
    pub limit: Option<Duration>,
}

/// Records the jitter of timers: the standard deviation of the distances of successive starts.
///
/// Attach one to each worker of a live executor
/// ([`with_recorders`](ringspin_modes::Executor::with_recorders)), or to a simulation.
#[derive(Clone, Debug)]
pub struct JitterRecorder {
    /// The indices of the timers.
    timer_of: Table<CallbackId, usize>,
    timers: Vec<Starts>,
    /// The length of the parts of a run, in nanoseconds.
    part_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Starts {
    last: Option<Time>,
    count: u64,
    sum_ns: u128,
    sum_of_squares: u128,
}

/// The callbacks of periodic timers, in order of creation.
pub(crate) fn periodic_timers(info: &GraphInfo) -> Vec<CallbackId> {
    let callbacks = info.callbacks.iter();
    let timers = callbacks.filter(|(_, callback)| callback.name.starts_with("timer "));
    timers.map(|(id, _)| id).collect()
}

impl JitterRecorder {
    /// Creates a recorder of all periodic timers of a graph.
    pub fn new(info: &GraphInfo) -> Self {
        let timers = periodic_timers(info);
        let starts = vec![Starts::default(); timers.len()];
        Self { timer_of: timers.into_iter().zip(0..).collect(), timers: starts, part_ns: u64::MAX }
    }

    /// Leaves out distances from one part of the run to the next, for parts of this length from
    /// time zero on, between which timers are shifted.
    pub(crate) fn within(self, part: Duration) -> Self {
        let part_ns = u64::try_from(part.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { part_ns, ..self }
    }

    /// The jitter of each timer in nanoseconds, in order of creation, over all `recorders` of this
    /// type: those of the workers of one run, or of several runs. Others are ignored.
    pub fn jitter_ns<'a>(recorders: impl IntoIterator<Item = &'a Self>) -> Vec<u64> {
        let mut all: Vec<Starts> = Vec::new();
        for recorder in recorders {
            all.resize(recorder.timers.len(), Starts::default());
            for (sum, of) in all.iter_mut().zip(&recorder.timers) {
                sum.count += of.count;
                sum.sum_ns += of.sum_ns;
                sum.sum_of_squares += of.sum_of_squares;
            }
        }
        all.iter().map(Starts::deviation_ns).collect()
    }

    /// The recorders of this type among `recorders`.
    pub fn among(recorders: Vec<Box<dyn Recorder>>) -> Vec<Self> {
        let any = recorders.into_iter().map(|recorder| recorder as Box<dyn Any>);
        any.filter_map(|recorder| recorder.downcast().ok().map(|recorder| *recorder)).collect()
    }
}

impl Recorder for JitterRecorder {
    fn started(&mut self, dispatch: &Dispatch) {
        if let Some(&timer) = self.timer_of.get(dispatch.callback) {
            self.timers[timer].add(dispatch.time, self.part_ns);
        }
    }

    fn finished(&mut self, _: &Dispatch, _: Completion) {}
}

impl Starts {
    fn add(&mut self, start: Time, part_ns: u64) {
        let part = |time: Time| time.as_nanos() / part_ns;
        if let Some(last) = self.last.replace(start).filter(|last| part(*last) == part(start)) {
            let distance_ns = start.since(last).as_nanos();
            self.count += 1;
            self.sum_ns += distance_ns;
            self.sum_of_squares = self.sum_of_squares.saturating_add(distance_ns * distance_ns);
        }
    }

    /// The standard deviation, rounded down; 0 for fewer than two distances.
    fn deviation_ns(&self) -> u64 {
        let count = u128::from(self.count.max(1));
        let squares = self.sum_of_squares.saturating_mul(count);
        (squares.saturating_sub(self.sum_ns.saturating_mul(self.sum_ns)).isqrt() / count) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_standard_deviation_of_the_distances_of_all_runs() {
        let recorder = |starts: &[u64]| {
            let mut timers = vec![Starts::default()];
            starts.iter().for_each(|&ns| timers[0].add(Time::from_nanos(ns), 10_000));
            JitterRecorder { timer_of: Table::new(), timers, part_ns: 10_000 }
        };
        let even = recorder(&[100, 200, 300]);
        assert_eq!(JitterRecorder::jitter_ns([&even]), [0]);
        // Distances 90 and 110, then 100 and 100 of another run.
        let uneven = recorder(&[1_000, 1_090, 1_200]);
        assert_eq!(JitterRecorder::jitter_ns([&uneven]), [10]);
        assert_eq!(JitterRecorder::jitter_ns([&even, &uneven]), [7]);
        assert_eq!(JitterRecorder::jitter_ns([&recorder(&[5])]), [0]);
        let parts = recorder(&[9_700, 9_800, 9_900, 10_350, 10_450]);
        assert_eq!(JitterRecorder::jitter_ns([&parts]), [0], "shifted between two parts");
        assert_eq!(JitterRecorder::jitter_ns([]), [0u64; 0]);
    }
}
