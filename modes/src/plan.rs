//! Effect of a mapping on a graph before it is frozen: the loops of each core, and priorities.

use crate::deterministic::Cores;
use crate::error::SpinError;
use crate::mapping::{CorePlan, Machine, Mapping, Placement, loop_names};
use crate::mode::Mode;
use ringspin_executor::{FreezeError, Graph, GraphInfo, LoopId, SetPriorityError};
use std::fmt::Display;

/// The mapping of the cores, or of the virtual ones.
fn mapping_of(mode: &Mode) -> Option<&Mapping> {
    match mode {
        Mode::MultiCore(mapping) => mapping.as_ref(),
        Mode::Deterministic(simulation) => match &simulation.cores {
            Cores::Mapped(mapping) => Some(mapping),
            Cores::Unlimited | Cores::Single => None,
        },
        Mode::SingleCore => None,
    }
}

/// Gives the loops of `graph` the priorities of the mapping. They are the graph's from here on, so
/// that workers and virtual cores, which take them from there, cannot differ.
pub(crate) fn prioritize(graph: &Graph, mode: &Mode) -> Result<(), SpinError> {
    let Some(mapping) = mapping_of(mode).filter(|of| !of.dispatch_priorities.is_empty()) else {
        return Ok(());
    };
    let info = graph.info();
    let ids: Vec<LoopId> = info.loops.keys().collect();
    let priorities = mapping.priorities(&loop_names(&info));
    for (index, priority) in priorities.map_err(|error| SpinError::Mapping(error.to_string()))? {
        match graph.set_priority(ids[index], priority) {
            // Another thread has destroyed it since.
            Ok(()) | Err(SetPriorityError::UnknownLoop(_)) => {}
            Err(SetPriorityError::Frozen(_)) => return Err(FreezeError::AlreadyFrozen.into()),
            Err(error) => return Err(SpinError::Mapping(error.to_string())),
        }
    }
    Ok(())
}

/// Whether the mapping of a live mode asks for locked memory.
pub(crate) fn locks_memory(mode: &Mode) -> bool {
    mapping_of(mode).is_some_and(|mapping| mapping.lock_memory)
}

/// Resolves the mapping, or the default one, against the graph and this process's cores.
///
/// # Errors
/// [`SpinError::Mapping`].
pub fn cores(info: &GraphInfo, mapping: Option<&Mapping>) -> Result<Vec<CorePlan>, SpinError> {
    Ok(place(info, mapping)?.0)
}

/// Resolves the mapping like [`cores`]; also returns where later loops go.
pub(crate) fn place(
    info: &GraphInfo,
    mapping: Option<&Mapping>,
) -> Result<(Vec<CorePlan>, Placement), SpinError> {
    let names = loop_names(info);
    let machine = Machine::this();
    let refused = |error: &dyn Display| SpinError::Mapping(error.to_string());
    let given = match mapping {
        Some(mapping) => mapping.on_machine(&machine).map_err(|error| refused(&error))?,
        None => Mapping::round_robin(&names, &machine.allowed),
    };
    let mut plan = given.resolve(&names, &machine.cores()).map_err(|error| refused(&error))?;
    if plan.is_empty() {
        // For the nodes that are created later.
        let core = machine.allowed.first().copied().unwrap_or_default();
        plan.push(CorePlan { core, priority: None, wait: None, loops: Vec::new() });
    }
    let placement = match mapping {
        Some(_) => Placement::new(&given, &plan),
        None => Placement::in_turn(plan.len(), given.cores.iter().map(|of| of.nodes.len()).sum()),
    };
    Ok((plan, placement))
}
