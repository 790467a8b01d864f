//! Which lane each event loop runs on: the plan of the mode, worked out again from what the mode
//! says, because a worker knows its loops but not the number of its core.

use super::Lane;
use ringspin_executor::GraphInfo;
use ringspin_modes::Mode;
use ringspin_modes::SpinError;
use ringspin_modes::deterministic::Cores;
use ringspin_modes::mapping::{CorePlan, Mapping, loop_names};
use ringspin_modes::plan;

/// The lanes, and by event loop the index of its lane.
pub(super) fn of(info: &GraphInfo, mode: &Mode) -> Result<(Vec<Lane>, Vec<usize>), SpinError> {
    let one = || (vec![Lane { name: "one core".into(), core: None }], vec![0; info.loops.len()]);
    match mode {
        Mode::SingleCore => Ok(one()),
        Mode::MultiCore(mapping) => Ok(planned(info, &plan::cores(info, mapping.as_ref())?)),
        Mode::Deterministic(simulation) => match &simulation.cores {
            Cores::Unlimited => Ok(one_each(info)),
            Cores::Single => Ok(one()),
            Cores::Mapped(mapping) => {
                let plans = mapping.resolve(&loop_names(info), &all_of(mapping));
                let plans = plans.map_err(|error| SpinError::Simulation(error.to_string()))?;
                Ok(planned(info, &plans))
            }
        },
    }
}

fn planned(info: &GraphInfo, plans: &[CorePlan]) -> (Vec<Lane>, Vec<usize>) {
    let mut lane_of = vec![0; info.loops.len()];
    for (lane, plan) in plans.iter().enumerate() {
        plan.loops.iter().for_each(|event_loop| lane_of[*event_loop] = lane);
    }
    let lane = |plan: &CorePlan| {
        let core = plan.core;
        let shares = plans.iter().filter(|other| other.core == core).count() > 1;
        let name = match plan.priority.filter(|_| shares) {
            Some(priority) => format!("core {core}, priority {priority}"),
            None => format!("core {core}"),
        };
        Lane { name, core: Some(core) }
    };
    (plans.iter().map(lane).collect(), lane_of)
}

/// The cores that a mapping names: virtual ones all exist.
fn all_of(mapping: &Mapping) -> Vec<usize> {
    mapping.cores.iter().map(|core| core.id).chain(mapping.default_core).collect()
}

/// A lane for each loop, in the order in which data flows.
fn one_each(info: &GraphInfo) -> (Vec<Lane>, Vec<usize>) {
    let order = info.topological_order();
    let mut lane_of = vec![0; info.loops.len()];
    order.iter().enumerate().for_each(|(lane, id)| lane_of[id.0 as usize] = lane);
    let name = |id: &ringspin_executor::LoopId| info.loops[id.0 as usize].full_name();
    (order.iter().map(|id| Lane { name: name(id), core: None }).collect(), lane_of)
}
