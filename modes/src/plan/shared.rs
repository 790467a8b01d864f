//! Workers that threads share: a strand for each event loop, as far as their number is limited.
//!
//! Loops that the mapping names stay on their thread, in strands of that thread. The others are in
//! strands for the threads without a priority, of which there is one for each core that the process
//! may use. A strand is free for loops that are created later, one for each thread that the mapping
//! names, and some for all.

use super::Threads;
use crate::edges::graph_edges;
use crate::mapping::{CorePlan, Machine, Mapping, PARK, Placement, loop_names};
use ringspin_executor::{Error, ErrorKind, GraphInfo, LoopId, Result};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most strands: more would share their bits in a ready set.
const STRANDS_MAX: usize = 62;

/// Strands for each thread that any loop may use, at least.
const STRANDS_A_THREAD: usize = 8;

/// How threads share workers.
pub(crate) struct Sharing {
    /// By worker.
    pub(crate) strands: Vec<StrandPlan>,
    /// By worker: its loops.
    pub(crate) loops: Vec<Vec<LoopId>>,
    /// By thread: whether it runs the strands of all.
    pub(crate) shares: Vec<bool>,
}

/// The place of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StrandPlan {
    /// How many loops a message passes from here on, at most.
    pub(crate) rank: u32,
    /// The thread on which it stays; `None` if all share it.
    pub(crate) thread: Option<usize>,
}

/// The loops of a thread, or of all.
#[derive(Default)]
struct Group {
    thread: Option<usize>,
    loops: Vec<LoopId>,
    /// The number of strands.
    count: usize,
}

/// # Errors
/// Fails if the mapping does not fit the graph or the machine.
pub(super) fn threads(
    info: &GraphInfo,
    order: &[LoopId],
    mapping: &Mapping,
    machine: &Machine,
) -> Result<Threads> {
    let names = loop_names(info);
    let (mut cores, unnamed) = mapping.resolve_named(&names, &machine.cores())?;
    let shares = add_threads(&mut cores, mapping, machine);
    let named = cores.iter().filter(|core| is_named(core, mapping)).count();
    if (!shares.contains(&true) && !unnamed.is_empty()) || named >= STRANDS_MAX {
        let text = match named >= STRANDS_MAX {
            true => format!("the mapping has {named} threads, of which {STRANDS_MAX} may share"),
            false => "the mapping leaves no core for the loops that it does not name".to_owned(),
        };
        let text = format!("{text}; set `default_core`");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let mut groups = groups(order, &cores, mapping);
    limit(&mut groups, &shares);
    let mut strands = Vec::new();
    let ranks = ranks(info, order);
    let place: BTreeMap<LoopId, usize> = order.iter().enumerate().map(|(n, id)| (*id, n)).collect();
    for Group { thread, loops, count } in groups {
        for number in 0..count {
            let loops: Vec<_> = loops.iter().copied().skip(number).step_by(count).collect();
            let rank = loops.iter().map(|id| ranks[place[id]]).max().unwrap_or(0);
            strands.push((StrandPlan { rank, thread }, loops));
        }
    }
    // In the order of data, those for later loops last.
    strands.sort_by_key(|(_, loops)| loops.first().map_or(usize::MAX, |id| place[id]));
    let (strands, workers): (Vec<_>, Vec<_>) = strands.into_iter().unzip();
    let last = |thread| strands.iter().rposition(|strand: &StrandPlan| strand.thread == thread);
    let of_threads: Vec<_> = (0..cores.len()).map(|thread| last(Some(thread))).collect();
    let free = strands.iter().enumerate().filter(|(_, strand)| strand.thread.is_none());
    // Those without loops come first.
    let free = free.rev().map(|(index, _)| index).collect();
    let placement = Some(Placement::shared(mapping, &cores, &of_threads, free));
    Ok(Threads {
        cores: Some(cores),
        placement,
        sharing: Some(Sharing { strands, loops: workers.clone(), shares }),
        workers,
    })
}

/// The strands that had loops at the start, each with the thread on which it stays by `mapping`.
/// Strands of several loops stay on one only if all loops do. `shares` says whether there are
/// threads for the other strands.
///
/// # Errors
/// Fails if the mapping does not fit the graph, the machine, or the threads of `cores`.
pub(crate) fn moved_strands(
    info: &GraphInfo,
    mapping: &Mapping,
    strands: &[Vec<LoopId>],
    cores: &[CorePlan],
    shares: bool,
) -> Result<Vec<(usize, Option<usize>)>> {
    let (ids, names) = (info.loops.keys().collect::<Vec<_>>(), loop_names(info));
    let mut threads = BTreeMap::new();
    for plan in super::cores(info, mapping)?.iter().filter(|plan| !plan.loops.is_empty()) {
        let is_there = |of: &CorePlan| (of.core, of.priority) == (plan.core, plan.priority);
        let Some(thread) = cores.iter().position(is_there) else {
            let (name, core) = (names[plan.loops[0]], plan.core);
            let text = format!(
                "the mapping has {name} on a thread of core {core} that the executor did not start \
                 with: name it in the first mapping as well"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        };
        threads.extend(plan.loops.iter().map(|index| (ids[*index], thread)));
    }
    let thread_of = |loops: &Vec<LoopId>| {
        let exist = loops.iter().filter(|id| info.loops.contains(**id));
        let mut threads = exist.map(|id| threads.get(id).copied());
        let first = threads.next().flatten();
        first.filter(|first| threads.all(|other| other == Some(*first)))
    };
    let with_loops = strands.iter().enumerate().filter(|(_, loops)| !loops.is_empty());
    let moved: Vec<_> = with_loops.map(|(index, loops)| (index, thread_of(loops))).collect();
    if !shares && moved.iter().any(|(_, thread)| thread.is_none()) {
        let text = "no thread is left for the loops that the mapping does not name: name all, or \
                    leave a core without a priority in the first mapping";
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Ok(moved)
}

/// Adds the threads that run the loops without a core; returns whether each thread is one of them.
fn add_threads(cores: &mut Vec<CorePlan>, mapping: &Mapping, machine: &Machine) -> Vec<bool> {
    let (allowed, pin) = machine.default_cores();
    let allowed: Vec<_> = allowed.into_iter().filter(|core| mapping.shares(*core)).collect();
    for &core in &allowed {
        let threads = cores.iter_mut().filter(|thread| thread.core == core);
        let mut has_thread = false;
        for thread in threads {
            match thread.priority {
                Some(_) => thread.wait = thread.wait.or(Some(PARK)),
                None => has_thread = true,
            }
        }
        if !has_thread && cores.len() < STRANDS_MAX {
            let pin = pin && mapping.pin != Some(false);
            let declared = mapping.cores.iter().find(|of| (of.id, of.priority) == (core, None));
            let wait = declared.and_then(|declared| declared.wait);
            cores.push(CorePlan { core, pin, priority: None, wait, loops: Vec::new() });
        }
    }
    cores.sort_by_key(|thread| (thread.core, Reverse(thread.priority)));
    cores.iter().map(|of| of.priority.is_none() && allowed.contains(&of.core)).collect()
}

/// Whether the mapping has this thread, now or for later loops.
fn is_named(thread: &CorePlan, mapping: &Mapping) -> bool {
    mapping.cores.iter().any(|of| (of.id, of.priority) == (thread.core, thread.priority))
}

/// The loops of each thread that the mapping has, then those without one.
fn groups(order: &[LoopId], cores: &[CorePlan], mapping: &Mapping) -> Vec<Group> {
    let named = cores.iter().enumerate().filter(|(_, core)| is_named(core, mapping));
    let group = |(thread, core): (usize, &CorePlan)| {
        let loops = core.in_order(order);
        Group { thread: Some(thread), count: loops.len() + 1, loops }
    };
    let mut groups: Vec<_> = named.map(group).collect();
    let is_free = |id: &LoopId| !groups.iter().any(|group| group.loops.contains(id));
    let loops: Vec<_> = order.iter().copied().filter(is_free).collect();
    groups.push(Group { thread: None, count: loops.len(), loops });
    groups
}

/// Limits the numbers of strands. There are as many as threads, at least, and some in the last
/// group for each thread that shares those.
fn limit(groups: &mut [Group], shares: &[bool]) {
    let threads = shares.iter().filter(|of| **of).count();
    if let Some(free) = groups.last_mut() {
        let least = STRANDS_A_THREAD * threads;
        free.count = if threads == 0 { 0 } else { free.count.max(least) };
    }
    let count = |groups: &[Group]| groups.iter().map(|group| group.count).sum::<usize>();
    let (all, least) = (count(groups), groups.len());
    if all > STRANDS_MAX {
        for group in groups.iter_mut().filter(|group| group.count > 0) {
            group.count = 1 + (group.count - 1) * (STRANDS_MAX - least) / (all - least);
        }
        let missing = shares.len().saturating_sub(count(groups));
        groups.iter_mut().last().into_iter().for_each(|free| free.count += missing);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each thread that the mapping names has a strand, each thread one to enter by, and the
        /// strands fit into a ready set.
        #[test]
        fn strands_are_limited_and_enough(
            named in proptest::collection::vec((1usize..200, any::<bool>()), 0..60),
            free in 0usize..1_000,
            more_threads in 0usize..=2,
        ) {
            let mut shares: Vec<_> = named.iter().map(|(_, shares)| *shares).collect();
            shares.resize(named.len() + more_threads, true);
            let loops = |count| Group { count, ..Group::default() };
            let mut groups: Vec<_> = named.iter().map(|(count, _)| loops(*count)).collect();
            groups.push(loops(free));
            limit(&mut groups, &shares);
            let counts: Vec<_> = groups.iter().map(|group| group.count).collect();
            let (last, named) = counts.split_last().unwrap();
            prop_assert!(named.iter().all(|count| *count > 0));
            prop_assert_eq!(*last > 0, shares.contains(&true));
            prop_assert!((shares.len()..=STRANDS_MAX).contains(&counts.iter().sum()), "{counts:?}");
        }
    }

    #[test]
    fn few_loops_have_a_strand_each() {
        let loops = |count| Group { count, ..Group::default() };
        let mut groups = [loops(3), loops(20)];
        limit(&mut groups, &[false, true, true]);
        assert_eq!(groups.map(|group| group.count), [3, 20]);
    }
}
