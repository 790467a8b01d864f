//! The lane of each event loop: the plan of the mode, worked out again from the mode, because a
//! worker knows its loops but not the number of its core.

use super::Lane;
use ringspin_executor::{GraphInfo, LoopId, Result, Table};
use ringspin_modes::Mode;
use ringspin_modes::deterministic::Cores;
use ringspin_modes::mapping::{CorePlan, loop_names};
use ringspin_modes::plan;

/// The lanes, and the index of the lane of each event loop.
type Lanes = (Vec<Lane>, Table<LoopId, usize>);

pub(super) fn of(info: &GraphInfo, mode: &Mode) -> Result<Lanes> {
    let one = || (vec![Lane { name: "one core".into(), core: None }], info.loops.map(|_, _| 0));
    match mode {
        Mode::SingleCore | Mode::Replay(_) => Ok(one()),
        Mode::MultiCore(None) => Ok(one_each(info)),
        Mode::MultiCore(Some(mapping)) => Ok(planned(info, &plan::cores(info, mapping)?)),
        Mode::Deterministic(simulation) => match &simulation.cores {
            Cores::Unlimited => Ok(one_each(info)),
            Cores::Single => Ok(one()),
            Cores::Mapped(mapping) => {
                let plans = mapping.resolve(&loop_names(info), &mapping.virtual_cores())?;
                Ok(planned(info, &plans))
            }
        },
    }
}

fn planned(info: &GraphInfo, plans: &[CorePlan]) -> Lanes {
    let ids: Vec<LoopId> = info.loops.keys().collect();
    let mut lane_of = info.loops.map(|_, _| None);
    for (lane, plan) in plans.iter().enumerate() {
        plan.loops.iter().for_each(|index| lane_of[ids[*index]] = Some(lane));
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
    let mut lanes: Vec<Lane> = plans.iter().map(lane).collect();
    // Loops without a core have a lane each.
    let lane_of = info.loops.map(|id, event_loop| {
        lane_of[id].unwrap_or_else(|| {
            lanes.push(Lane { name: event_loop.full_name(), core: None });
            lanes.len() - 1
        })
    });
    (lanes, lane_of)
}

/// A lane for each loop, in the order in which data flows.
fn one_each(info: &GraphInfo) -> Lanes {
    let order = info.topological_order();
    let lane_of = order.iter().copied().zip(0..).collect();
    let name = |id: &LoopId| info.loops[*id].full_name();
    (order.iter().map(|id| Lane { name: name(id), core: None }).collect(), lane_of)
}
