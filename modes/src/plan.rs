//! Effect of a mapping on a graph before it is frozen: the loops of each core, and priorities.

mod shared;

use crate::mapping::{CorePlan, Machine, Mapping, Placement, loop_names};
use crate::mode::Mode;
use ringspin_executor::{ErrorKind, Graph, GraphInfo, LoopId, Result};
pub(crate) use shared::{Sharing, StrandPlan, moved_strands};

/// Gives the loops of `graph` the priorities and budgets of the mapping. They are the graph's from
/// here on, so that workers and virtual cores, which take them from there, cannot differ.
pub(crate) fn tune(graph: &Graph, mapping: Option<&Mapping>) -> Result<()> {
    let has_any = |of: &&Mapping| !(of.dispatch_priorities.is_empty() && of.budgets.is_empty());
    let Some(mapping) = mapping.filter(has_any) else { return Ok(()) };
    let info = graph.info();
    let ids: Vec<LoopId> = info.loops.keys().collect();
    let names = loop_names(&info);
    // Another thread may have destroyed a loop since.
    let unless_gone = |set: Result<()>| match set {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        set => set,
    };
    for (index, priority) in mapping.priorities(&names)? {
        unless_gone(graph.set_priority(ids[index], priority))?;
    }
    for (index, budget) in mapping.budgets(&names)? {
        unless_gone(graph.set_budget(ids[index], Some(budget)))?;
    }
    Ok(())
}

/// Whether the mapping of a live mode asks for locked memory.
pub(crate) fn locks_memory(mode: &Mode) -> bool {
    mode.mapping().is_some_and(|mapping| mapping.lock_memory)
}

/// Resolves the mapping against the graph and this process's cores. Loops without a core, which run
/// where there is time for them, are in no plan.
///
/// # Errors
/// Fails if the mapping does not fit the graph or the machine.
pub fn cores(info: &GraphInfo, mapping: &Mapping) -> Result<Vec<CorePlan>> {
    let machine = Machine::this();
    let (names, mapping) = (loop_names(info), mapping.on_machine(&machine)?);
    match mapping.balances() {
        true => Ok(mapping.resolve_named(&names, &machine.cores())?.0),
        false => mapping.resolve(&names, &machine.cores()),
    }
}

/// The workers and threads of a live mode.
pub(crate) struct Threads {
    /// The loops of each worker.
    pub(crate) workers: Vec<Vec<LoopId>>,
    /// A thread for each; `None` if the only worker runs on the thread that spins.
    pub(crate) cores: Option<Vec<CorePlan>>,
    /// Where later loops go, if there is a choice.
    pub(crate) placement: Option<Placement>,
    /// How the threads share the workers, unless each has one.
    pub(crate) sharing: Option<Sharing>,
}

/// # Errors
/// Fails if the mapping does not fit the graph or the machine.
pub(crate) fn threads(mode: &Mode, info: &GraphInfo) -> Result<Threads> {
    let order = info.topological_order();
    let Mode::MultiCore(mapping) = mode else {
        let (workers, cores, placement, sharing) = (vec![order], None, None, None);
        return Ok(Threads { workers, cores, placement, sharing });
    };
    let machine = Machine::this();
    let (allowed, pin) = machine.default_cores();
    let first = allowed.first().copied().unwrap_or_default();
    let one = || Mapping { pin: Some(pin), ..Mapping::new().default_core(first) };
    let mapping = match mapping {
        Some(mapping) => mapping.on_machine(&machine)?,
        None if allowed.len() < 2 => one(),
        None => Mapping::new(),
    };
    if mapping.balances() {
        return shared::threads(info, &order, &mapping, &machine);
    }
    let mut cores = mapping.resolve(&loop_names(info), &machine.cores())?;
    if cores.is_empty() {
        let core = machine.cores().first().copied().unwrap_or_default();
        let pin = mapping.pin != Some(false);
        cores.push(CorePlan { core, pin, priority: None, wait: None, loops: Vec::new() });
    }
    let workers = cores.iter().map(|core| core.in_order(&order)).collect();
    let placement = Some(Placement::new(&mapping, &cores));
    Ok(Threads { workers, cores: Some(cores), placement, sharing: None })
}
