//! Effect of a mapping on a graph before it is frozen: the loops of each core, and priorities.

use crate::mapping::{CorePlan, Machine, Mapping, Placement, loop_names};
use crate::mode::Mode;
use ringspin_executor::{ErrorKind, Graph, GraphInfo, LoopId, Result};

/// Gives the loops of `graph` the priorities of the mapping. They are the graph's from here on, so
/// that workers and virtual cores, which take them from there, cannot differ.
pub(crate) fn prioritize(graph: &Graph, mode: &Mode) -> Result<()> {
    let Some(mapping) = mode.mapping().filter(|of| !of.dispatch_priorities.is_empty()) else {
        return Ok(());
    };
    let info = graph.info();
    let ids: Vec<LoopId> = info.loops.keys().collect();
    let priorities = mapping.priorities(&loop_names(&info));
    for (index, priority) in priorities? {
        match graph.set_priority(ids[index], priority) {
            // Another thread has destroyed the loop since.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            set => set?,
        }
    }
    Ok(())
}

/// Whether the mapping of a live mode asks for locked memory.
pub(crate) fn locks_memory(mode: &Mode) -> bool {
    mode.mapping().is_some_and(|mapping| mapping.lock_memory)
}

/// Resolves the mapping, or the default one, against the graph and this process's cores.
///
/// # Errors
/// Fails if the mapping does not fit the graph or the machine.
pub fn cores(info: &GraphInfo, mapping: Option<&Mapping>) -> Result<Vec<CorePlan>> {
    Ok(place(info, mapping)?.0)
}

/// Resolves the mapping like [`cores`]; also returns where later loops go.
pub(crate) fn place(
    info: &GraphInfo,
    mapping: Option<&Mapping>,
) -> Result<(Vec<CorePlan>, Placement)> {
    let names = loop_names(info);
    let machine = Machine::this();
    let (default, is_whole) = machine.default_cores();
    let given = match mapping {
        Some(mapping) => mapping.on_machine(&machine)?,
        None => Mapping { pin: Some(is_whole), ..Mapping::round_robin(&names, &default) },
    };
    let mut plan = given.resolve(&names, &machine.cores())?;
    // The others are for the nodes that are created later.
    let pin = given.pin != Some(false);
    let unused = |core| CorePlan { core, pin, priority: None, wait: None, loops: Vec::new() };
    if mapping.is_none() {
        let used: Vec<_> = plan.iter().map(|of| of.core).collect();
        plan.extend(default.iter().filter(|core| !used.contains(core)).map(|of| unused(*of)));
    }
    if plan.is_empty() {
        plan.push(unused(default.first().copied().unwrap_or_default()));
    }
    let placement = match mapping {
        Some(_) => Placement::new(&given, &plan),
        None => Placement::in_turn(plan.len(), given.cores.iter().map(|of| of.nodes.len()).sum()),
    };
    Ok((plan, placement))
}
