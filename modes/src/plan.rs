//! Effect of a mapping on a graph before it is frozen: the loops of each core, and priorities.

use crate::edges::graph_edges;
use crate::mapping::{CorePlan, Machine, Mapping, Placement, loop_names};
use crate::mode::Mode;
use ringspin_executor::{ErrorKind, Graph, GraphInfo, LoopId, Result};
use std::cmp::Reverse;
use std::collections::BTreeMap;

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

/// Resolves the mapping against the graph and this process's cores.
///
/// # Errors
/// Fails if the mapping does not fit the graph or the machine.
pub fn cores(info: &GraphInfo, mapping: &Mapping) -> Result<Vec<CorePlan>> {
    Ok(place(info, mapping)?.0)
}

/// The most strands of a balanced graph: more would share their bits in a ready set.
const STRANDS_MAX: usize = 62;

/// The workers and threads of a live mode.
pub(crate) struct Threads {
    /// The loops of each worker.
    pub(crate) workers: Vec<Vec<LoopId>>,
    /// A thread for each; `None` if the only worker runs on the thread that spins.
    pub(crate) cores: Option<Vec<CorePlan>>,
    /// Where later loops go, if there is a choice.
    pub(crate) placement: Option<Placement>,
    /// If the threads share the workers: how many loops a message passes from each on, at most.
    pub(crate) ranks: Option<Vec<u32>>,
}

/// # Errors
/// Fails if the mapping does not fit the graph or the machine.
pub(crate) fn threads(mode: &Mode, info: &GraphInfo) -> Result<Threads> {
    let order = info.topological_order();
    let Mode::MultiCore(mapping) = mode else {
        let (workers, cores, placement, ranks) = (vec![order], None, None, None);
        return Ok(Threads { workers, cores, placement, ranks });
    };
    let (allowed, pin) = Machine::this().default_cores();
    let first = allowed.first().copied().unwrap_or_default();
    let one = || Mapping { pin: Some(pin), ..Mapping::new().default_core(first) };
    if let Some(mapping) = mapping.clone().or_else(|| (allowed.len() < 2).then(one)) {
        let (cores, placement) = place(info, &mapping)?;
        let workers = cores.iter().map(|core| core.in_order(&order)).collect();
        let (cores, placement) = (Some(cores), Some(placement));
        return Ok(Threads { workers, cores, placement, ranks: None });
    }
    let core = |core| CorePlan { core, pin, priority: None, wait: None, loops: Vec::new() };
    let cores: Vec<_> = allowed.into_iter().map(core).collect();
    let count = order.len().max(8 * cores.len()).min(STRANDS_MAX);
    let (mut workers, mut ranks) = (vec![Vec::new(); count], vec![0; count]);
    for (n, (id, rank)) in order.iter().zip(self::ranks(info, &order)).enumerate() {
        workers[n % count].push(*id);
        ranks[n % count] = rank.max(ranks[n % count]);
    }
    let (placement, ranks) = (Some(Placement::in_turn(count, order.len())), Some(ranks));
    Ok(Threads { workers, cores: Some(cores), placement, ranks })
}

/// How many loops a message passes from each loop of `order` on, at most, cycles aside.
fn ranks(info: &GraphInfo, order: &[LoopId]) -> Vec<u32> {
    let place: BTreeMap<LoopId, usize> = order.iter().enumerate().map(|(n, id)| (*id, n)).collect();
    let edges = graph_edges(info).into_iter();
    let mut edges: Vec<_> = edges.map(|edge| (place[&edge.from], place[&edge.to])).collect();
    edges.sort_unstable_by_key(|(from, _)| Reverse(*from));
    let mut ranks = vec![0; order.len()];
    for (from, to) in edges.into_iter().filter(|(from, to)| to > from) {
        ranks[from] = ranks[from].max(ranks[to] + 1);
    }
    ranks
}

/// Resolves the mapping like [`cores`]; also returns where later loops go.
fn place(info: &GraphInfo, mapping: &Mapping) -> Result<(Vec<CorePlan>, Placement)> {
    let names = loop_names(info);
    let machine = Machine::this();
    let mapping = mapping.on_machine(&machine)?;
    let mut plan = mapping.resolve(&names, &machine.cores())?;
    if plan.is_empty() {
        let core = machine.cores().first().copied().unwrap_or_default();
        let pin = mapping.pin != Some(false);
        plan.push(CorePlan { core, pin, priority: None, wait: None, loops: Vec::new() });
    }
    let placement = Placement::new(&mapping, &plan);
    Ok((plan, placement))
}
