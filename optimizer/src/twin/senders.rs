//! Which callbacks send something at some calls and nothing at others.
//!
//! Who sends is not measured live, but only inferred, and a callback that sends always or never
//! needs no telling apart. The graph itself says which those are, in a simulation in which a call
//! that sends takes longer than one that does not.

use super::{Build, TwinError};
use crate::hop::Hop;
use ringspin_executor::{Completion, Dispatch, GraphInfo, Recorder};
use ringspin_modes::models::{Distribution, DurationRule, Durations, callback_labels};
use ringspin_modes::{Executor, Simulation, TiePolicy};
use std::any::Any;
use std::time::Duration;

/// How much time is simulated to find out.
const SPAN: Duration = Duration::from_secs(2);
const QUIET: Duration = Duration::from_nanos(1);
const SENDING: Duration = Duration::from_nanos(2);

/// By callback: how often it sent nothing, and how often something.
struct Tally(Vec<[u64; 2]>);

impl Recorder for Tally {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        let has_sent = completion.time - dispatch.time == SENDING;
        self.0[dispatch.callback.0 as usize][usize::from(has_sent)] += 1;
    }
}

/// By callback, whether it did both: in the default order, and with what happens at the same
/// instant the other way round, for the mapping decides which input of a node comes last.
pub(super) fn sometimes_sending(
    build: &Build<'_>,
    info: &GraphInfo,
) -> Result<Vec<bool>, TwinError> {
    let labels = callback_labels(info);
    let rules = info.callbacks.iter().zip(labels).map(|(callback, label)| {
        let name = info.loops[callback.event_loop.0 as usize].full_name();
        DurationRule::new(Hop::exact(&name))
            .callback(label)
            .duration(Distribution::fixed(QUIET))
            .sending(Distribution::fixed(SENDING))
    });
    let durations = rules.fold(Durations::new(), Durations::rule);
    let mut counts = vec![[0; 2]; info.callbacks.len()];
    for ties in [TiePolicy::Fifo, TiePolicy::Reverse, TiePolicy::Shuffle { seed: 0 }] {
        let simulation = Simulation { durations: durations.clone(), ties, ..Simulation::default() };
        for (count, [quiet, sending]) in counts.iter_mut().zip(tally(build, simulation)?) {
            *count = [count[0] + quiet, count[1] + sending];
        }
    }
    Ok(counts.into_iter().map(|[quiet, sending]| quiet > 0 && sending > 0).collect())
}

fn tally(build: &Build<'_>, simulation: Simulation) -> Result<Vec<[u64; 2]>, TwinError> {
    let mut executor = Executor::deterministic(simulation)
        .with_recorders(|info, _| Tally(vec![[0; 2]; info.callbacks.len()]));
    let handles = build(executor.graph()).map_err(|error| TwinError::Build(error.to_string()))?;
    executor.spin_for(SPAN).map_err(|error| TwinError::Run(error.to_string()))?;
    let recorder: Option<Box<dyn Any>> =
        executor.take_recorders().pop().map(|recorder| recorder as Box<dyn Any>);
    drop(handles);
    let tally = recorder.and_then(|recorder| recorder.downcast::<Tally>().ok());
    Ok(tally.map(|tally| tally.0).unwrap_or_default())
}
