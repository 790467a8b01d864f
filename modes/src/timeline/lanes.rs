//! Which lane each event loop runs on: the plan of the mode, worked out again from what the mode
//! says, because a worker knows its loops but not the number of its core.

use super::Lane;
use crate::deterministic::Cores;
use crate::executor::{Mode, allowed_cores};
use crate::mapping::{LoopName, Mapping, MappingError};
use ringspin_executor::GraphInfo;

/// The lanes, and by event loop the index of its lane.
pub(super) fn of(info: &GraphInfo, mode: &Mode) -> Result<(Vec<Lane>, Vec<usize>), MappingError> {
    let one = || (vec![Lane { name: "one core".into(), core: None }], vec![0; info.loops.len()]);
    match mode {
        Mode::SingleCore => Ok(one()),
        Mode::MultiCore(None) => {
            let cores = allowed_cores();
            mapped(info, &Mapping::round_robin(&names(info), &cores), &cores)
        }
        Mode::MultiCore(Some(mapping)) => mapped(info, mapping, &allowed_cores()),
        Mode::Deterministic(simulation) => match &simulation.cores {
            Cores::Unlimited => Ok(one_each(info)),
            Cores::Single => Ok(one()),
            Cores::Mapped(mapping) => mapped(info, mapping, &all_of(mapping)),
        },
    }
}

fn names(info: &GraphInfo) -> Vec<LoopName<'_>> {
    info.loops.iter().map(|l| LoopName { node: &l.node, group: &l.group }).collect()
}

fn mapped(
    info: &GraphInfo,
    mapping: &Mapping,
    cores: &[usize],
) -> Result<(Vec<Lane>, Vec<usize>), MappingError> {
    let plans = mapping.resolve(&names(info), cores)?;
    let mut lane_of = vec![0; info.loops.len()];
    for (lane, plan) in plans.iter().enumerate() {
        plan.loops.iter().for_each(|event_loop| lane_of[*event_loop] = lane);
    }
    let lane = |core| Lane { name: format!("core {core}"), core: Some(core) };
    Ok((plans.iter().map(|plan| lane(plan.core)).collect(), lane_of))
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
