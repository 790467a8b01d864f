//! Where event loops go that are created while the graph runs.

use super::names;
use super::{CorePlan, LoopName, Mapping, ThreadKey};
use ringspin_executor::{LatePlace, LatePlacement};
use ringspin_ringbuf::Counter;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The places of later loops, by a mapping that was resolved.
#[derive(Debug)]
pub(crate) struct Placement {
    /// The index of the thread in the plan.
    threads: BTreeMap<String, usize>,
    default: Default,
    priorities: BTreeMap<String, u8>,
}

/// The thread of the nodes that no entry names.
#[derive(Debug)]
enum Default {
    None,
    Thread(usize),
    /// One node after the other over so many threads.
    InTurn(usize, Counter),
}

impl Placement {
    /// By `mapping`, for the threads of `plan`.
    pub(crate) fn new(mapping: &Mapping, plan: &[CorePlan]) -> Self {
        let thread =
            |key: ThreadKey| plan.iter().position(|of| (of.core, Reverse(of.priority)) == key);
        let entries = mapping.entries().unwrap_or_default(); // `resolve` has checked them
        let threads = entries.into_iter().filter_map(|(entry, key)| Some((entry, thread(key)?)));
        let threads: BTreeMap<_, _> = threads.collect();
        let priorities = mapping.dispatch_priorities.iter();
        let priorities: BTreeMap<_, _> =
            priorities.map(|(text, priority)| (names::entry(text), *priority)).collect();
        let default = mapping.default_thread().and_then(thread);
        Self { threads, default: default.map_or(Default::None, Default::Thread), priorities }
    }

    /// One node after the other over `threads`, on which `nodes` have been placed so.
    pub(crate) fn in_turn(threads: usize, nodes: usize) -> Self {
        let next = Counter::default();
        next.set(nodes as u64);
        let default = Default::InTurn(threads, next);
        Self { threads: BTreeMap::new(), default, priorities: BTreeMap::new() }
    }

    /// The thread of a loop of a node on thread `of_node`, if it is anywhere.
    pub(crate) fn thread_of(&self, name: LoopName<'_>, of_node: Option<usize>) -> Option<usize> {
        names::of_loop(&self.threads, name).or(of_node).or_else(|| match &self.default {
            Default::None => None,
            Default::Thread(thread) => Some(*thread),
            Default::InTurn(threads, next) => Some(next.next() as usize % threads),
        })
    }

    /// The place of a loop on the worker of its thread.
    pub(crate) fn place(&self, name: LoopName<'_>, of_node: Option<usize>) -> Option<LatePlace> {
        let worker = self.thread_of(name, of_node)?;
        Some(LatePlace { worker, priority: names::of_loop(&self.priorities, name).unwrap_or(0) })
    }

    /// Each thread has a worker.
    pub(crate) fn into_late(self) -> LatePlacement {
        Arc::new(move |node, group, of_node| self.place(LoopName { node, group }, of_node))
    }
}
