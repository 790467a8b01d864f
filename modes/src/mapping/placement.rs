//! Where event loops go that are created while the graph runs.

use super::names;
use super::{CorePlan, LoopName, Mapping, ThreadKey};
use ringspin_executor::{Budget, LatePlace, LatePlacement};
use ringspin_ringbuf::Counter;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The places of later loops, by a mapping that was resolved.
#[derive(Debug)]
pub(crate) struct Placement {
    /// The index of the worker of each entry.
    workers: BTreeMap<String, usize>,
    /// The workers of the nodes that no entry names, one node after the other.
    unnamed: Vec<usize>,
    next: Counter,
    priorities: BTreeMap<String, u8>,
    budgets: BTreeMap<String, Budget>,
}

impl Placement {
    /// By `mapping`, for the threads of `plan`, each with a worker.
    pub(crate) fn new(mapping: &Mapping, plan: &[CorePlan]) -> Self {
        let default = mapping.default_thread().and_then(|key| position(plan, key));
        Self::with_workers(mapping, |key| position(plan, key), default.into_iter().collect())
    }

    /// By `mapping`, for threads of `plan` that share their workers. A loop that an entry places on
    /// a thread goes to its worker in `of_threads`, nodes without an entry to those in `unnamed`.
    pub(crate) fn shared(
        mapping: &Mapping,
        plan: &[CorePlan],
        of_threads: &[Option<usize>],
        unnamed: Vec<usize>,
    ) -> Self {
        Self::with_workers(mapping, |key| of_threads[position(plan, key)?], unnamed)
    }

    fn with_workers(
        mapping: &Mapping,
        worker: impl Fn(ThreadKey) -> Option<usize>,
        unnamed: Vec<usize>,
    ) -> Self {
        let entries = mapping.entries().unwrap_or_default(); // `resolve` has checked them
        let workers = entries.into_iter().filter_map(|(entry, key)| Some((entry, worker(key)?)));
        Self {
            workers: workers.collect(),
            unnamed,
            next: Counter::default(),
            priorities: by_entry(&mapping.dispatch_priorities),
            budgets: by_entry(&mapping.budgets),
        }
    }

    /// The worker of a loop of a node on worker `of_node`, if it is anywhere.
    pub(crate) fn worker_of(&self, name: LoopName<'_>, of_node: Option<usize>) -> Option<usize> {
        names::of_loop(&self.workers, name).or(of_node).or_else(|| {
            let count = self.unnamed.len();
            (count > 0).then(|| self.unnamed[self.next.next() as usize % count])
        })
    }

    /// The place of a loop on its worker.
    pub(crate) fn place(&self, name: LoopName<'_>, of_node: Option<usize>) -> Option<LatePlace> {
        let worker = self.worker_of(name, of_node)?;
        let priority = names::of_loop(&self.priorities, name).unwrap_or(0);
        Some(LatePlace { worker, priority, budget: names::of_loop(&self.budgets, name) })
    }

    pub(crate) fn into_late(self) -> LatePlacement {
        Arc::new(move |node, group, of_node| self.place(LoopName { node, group }, of_node))
    }
}

fn by_entry<T: Copy>(values: &BTreeMap<String, T>) -> BTreeMap<String, T> {
    values.iter().map(|(text, value)| (names::entry(text), *value)).collect()
}

fn position(plan: &[CorePlan], key: ThreadKey) -> Option<usize> {
    plan.iter().position(|of| (of.core, Reverse(of.priority)) == key)
}
