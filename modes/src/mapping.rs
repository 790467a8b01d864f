//! The node-to-core mapping: which worker thread, pinned to which core, runs which event loops.
//!
//! A mapping is written in the builder or in a TOML file, so that the same binary can be tuned
//! for another machine without a new build:
//!
//! ```toml
//! default_core = 0            # optional: where event loops go that no core names
//! balance = false             # optional: without a default core, each loop has to be named
//! lock_memory = true          # optional: no page of the process may be swapped out (mlockall)
//! pin = false                 # optional: the kernel moves the workers to any allowed core
//! use_isolated = true         # optional: the numbers of cores count the isolated cores, from 0
//! later = ["/tracker"]        # optional: nodes (or groups) that may be created after the start
//! optimize = "online"         # optional: `ringspin_optimizer::Online` may move all loops
//!
//! [dispatch_priorities]       # optional: who goes first on its core, instead of what nodes say
//! "/FrontLidarDriver" = 2     # 0 (normal) to 255 (first)
//! "EuclideanClusterDetector:settings" = 0
//!
//! [budgets]                   # optional: how long callbacks may run; see `Budget`
//! "/planner" = "2 ms / 10 ms" # longer ones are counted and logged
//!
//! [[core]]
//! id = 1                      # the operating system's number of the core
//! nodes = ["/FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:settings"]
//! priority = 80               # optional SCHED_FIFO priority of this core's worker, 1..=99
//! isolated = true             # optional: refuse a core that is not isolated
//! wait = "spin"               # optional: or "yield", "park", "50us" (spin so long, then park)
//! ```
//!
//! An entry names a node (all of its callback groups; a name without the leading slash is
//! relative to the root) or one callback group as `node:group`, where `node:` is the default
//! group. The more specific entry wins. [`Mapping::resolve`] checks the mapping against the
//! graph at its start and the cores of this process and fails with a way out rather than guess.
//!
//! # Loops that no entry names
//! They go to the default core. Without one they run where there is time for them, as all loops do
//! without a mapping: on each core that the process may use, but for those that the mapping calls
//! `isolated`, and those with a thread that has a priority and never sleeps. A thread with a
//! priority preempts them on its core. With `balance = false`, a loop without a core is an error.
//!
//! A node that is created while the executor runs goes where an entry names it, and else where
//! other loops without an entry are; a callback group follows its node unless an entry names it. An
//! entry of a node that does not exist at the start is an error, unless the node is listed in
//! `later`.
//!
//! # Two kinds of priority
//! A dispatch priority is between the loops of one worker, live as on a virtual core: it selects
//! the next event whenever a callback has returned. The priority of a `[[core]]` is that of its
//! worker's thread in the operating system. Several `[[core]]` tables may have the same `id` and
//! different priorities: then the core has a thread for each, and the one of higher priority
//! preempts a running callback of the others:
//!
//! ```toml
//! [[core]]
//! id = 0
//! nodes = ["/planner"]        # long callbacks, with normal priority
//!
//! [[core]]
//! id = 0
//! nodes = ["/lidar"]          # takes the core from the planner at any time
//! priority = 1
//! ```
//!
//! A preempting thread parks at once when it has nothing to do, because it would starve the others
//! while it spins. Where SCHED_FIFO is not permitted, a warning says so, and the threads share the
//! core in time slices. In simulated time the priorities preempt everywhere. Live, a message to a
//! preempting thread takes effect while the callback that publishes it still runs; simulated, at
//! the end of that callback.

#[cfg(feature = "toml")]
mod document;
mod machine;
mod names;
mod placement;

pub use machine::Machine;
pub use names::LoopName;

use crate::names::list;
pub use names::loop_names;
pub(crate) use placement::Placement;
use ringspin_executor::{Budget, Error, ErrorKind, LoopId, Result, WaitStrategy};
#[cfg(feature = "toml")]
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The assignment of nodes and callback groups to cores.
///
/// Plain declarations: nothing is checked before [`resolve`](Self::resolve) knows the graph and
/// the cores.
///
/// ```
/// use ringspin_modes::mapping::{LoopName, Mapping};
///
/// let mapping = Mapping::new()
///     .core(2, ["/lidar", "fusion"])
///     .priority(2, 80)
///     .default_core(0);
/// let loops = [("/fusion", ""), ("/lidar", ""), ("/viewer", "")]
///     .map(|(node, group)| LoopName { node, group });
/// let plan = mapping.resolve(&loops, &[0, 1, 2])?;
/// assert_eq!((plan[0].core, plan[0].loops.as_slice()), (0, &[2][..]));
/// assert_eq!((plan[1].core, plan[1].loops.as_slice()), (2, &[0, 1][..]));
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "toml", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct Mapping {
    /// The core of event loops that no core names. Without it they run where there is time.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "Option::is_none"))]
    pub default_core: Option<usize>,
    /// Whether event loops that no core names run where there is time for them, live and without a
    /// default core; by default they do. Otherwise such a loop is an error.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "Option::is_none"))]
    pub balance: Option<bool>,
    /// Whether core numbers count the machine's isolated cores, from zero.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "is_false"))]
    pub use_isolated: bool,
    /// Whether each worker stays on its core; by default it does. Otherwise the kernel moves the
    /// workers among all allowed cores, and a number only says which loops share a worker.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "Option::is_none"))]
    pub pin: Option<bool>,
    /// The nodes and callback groups that entries may name though they do not exist at the start.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub later: Vec<String>,
    /// Whether all memory of the process is to stay resident while it runs live (mlockall).
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "is_false"))]
    pub lock_memory: bool,
    /// Dispatch priority on its core by node or callback group: 0 (normal) to 255 (first).
    /// Loops that are not named keep what their node says, `Node::set_priority`.
    #[cfg_attr(
        feature = "toml",
        serde(
            default,
            deserialize_with = "document::dispatch_priorities",
            skip_serializing_if = "BTreeMap::is_empty"
        )
    )]
    pub dispatch_priorities: BTreeMap<String, u8>,
    /// Budget by node or callback group, each callback group for itself. Loops that are not named
    /// keep what their node says, `Node::set_budget`.
    #[cfg_attr(
        feature = "toml",
        serde(default, with = "document::budgets", skip_serializing_if = "BTreeMap::is_empty")
    )]
    pub budgets: BTreeMap<String, Budget>,
    /// Whether an optimizer may replace the mapping while the executor runs: `Online` of
    /// `ringspin-optimizer` does. Executors alone do nothing with it.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "Option::is_none"))]
    pub optimize: Option<Optimize>,
    /// The cores and their entries, in the order of declaration.
    #[cfg_attr(
        feature = "toml",
        serde(default, rename = "core", skip_serializing_if = "Vec::is_empty")
    )]
    pub cores: Vec<CoreMapping>,
}

/// When an optimizer may replace a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "toml", derive(Serialize, Deserialize), serde(rename_all = "lowercase"))]
pub enum Optimize {
    /// While the executor runs.
    Online,
}

/// The nodes and callback groups of one core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "toml", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct CoreMapping {
    /// The operating system's number of the core.
    pub id: usize,
    /// The nodes (`/node`) and callback groups (`/node:group`) that run there.
    #[cfg_attr(feature = "toml", serde(default))]
    pub nodes: Vec<String>,
    /// The SCHED_FIFO priority of the worker thread, 1..=99; the normal scheduling class if absent.
    /// Of several entries with one `id`, the higher one preempts.
    #[cfg_attr(
        feature = "toml",
        serde(
            default,
            deserialize_with = "document::fifo_priority",
            skip_serializing_if = "Option::is_none"
        )
    )]
    pub priority: Option<u8>,
    /// Whether the core has to be isolated: one that the system puts nothing on by itself.
    #[cfg_attr(feature = "toml", serde(default, skip_serializing_if = "is_false"))]
    pub isolated: bool,
    /// How the core's worker waits when it has nothing to do. None is as the executor says.
    #[cfg_attr(
        feature = "toml",
        serde(default, with = "document::wait", skip_serializing_if = "Option::is_none")
    )]
    pub wait: Option<WaitStrategy>,
}

#[cfg(feature = "toml")]
fn is_false(value: &bool) -> bool {
    !value
}

/// One worker thread to start: a core and the event loops that it runs. Plans of one core have
/// different priorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorePlan {
    /// The operating system's number of the core.
    pub core: usize,
    /// Whether the worker stays on that core.
    pub pin: bool,
    /// The SCHED_FIFO priority of the worker, if one was asked for.
    pub priority: Option<u8>,
    /// The wait strategy of the worker, if the mapping determines it: a thread that preempts
    /// another one parks at once.
    pub wait: Option<WaitStrategy>,
    /// Indices into the slice that was resolved, ascending.
    pub loops: Vec<usize>,
}

impl CorePlan {
    /// Its loops in the order of `order`, which has all loops of the graph that was resolved.
    pub(crate) fn in_order(&self, order: &[LoopId]) -> Vec<LoopId> {
        let mut ids = order.to_vec();
        ids.sort_unstable();
        let own: BTreeSet<LoopId> = self.loops.iter().map(|index| ids[*index]).collect();
        order.iter().copied().filter(|id| own.contains(id)).collect()
    }
}

#[cfg(not(feature = "toml"))]
impl Mapping {
    /// Refuses the file: this build has no reader for it.
    ///
    /// # Errors
    /// Always, with kind [`ErrorKind::Unsupported`].
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = format!(
            "failed to read the mapping file `{}`: this program was built without mapping files; \
             build ringspin with its feature `toml`",
            path.display()
        );
        Err(Error::new(ErrorKind::Unsupported, text).at_path(path))
    }
}

impl Mapping {
    /// An empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares core `id` and its nodes. Declaring a core twice with the same priority is an error
    /// of [`resolve`](Self::resolve).
    #[must_use]
    pub fn core<S: Into<String>>(mut self, id: usize, nodes: impl IntoIterator<Item = S>) -> Self {
        let nodes = nodes.into_iter().map(Into::into).collect();
        self.cores.push(CoreMapping { id, nodes, ..CoreMapping::default() });
        self
    }

    /// Declares a thread of core `id` with a SCHED_FIFO priority (1..=99) and its nodes. It
    /// preempts threads of the same core that have a lower priority or none.
    ///
    /// ```
    /// use ringspin_modes::mapping::{LoopName, Mapping};
    ///
    /// let mapping = Mapping::new().core(0, ["/planner"]).thread(0, 1, ["/lidar"]);
    /// let loops = [("/planner", ""), ("/lidar", "")];
    /// let loops = loops.map(|(node, group)| LoopName { node, group });
    /// let plan = mapping.resolve(&loops, &[0])?;
    /// assert_eq!((plan[0].priority, plan[0].loops.as_slice()), (Some(1), &[1][..]));
    /// assert_eq!((plan[1].priority, plan[1].loops.as_slice()), (None, &[0][..]));
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn thread<S: Into<String>>(
        self,
        id: usize,
        priority: u8,
        nodes: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut mapping = self.core(id, nodes);
        if let Some(thread) = mapping.cores.last_mut() {
            thread.priority = Some(priority);
        }
        mapping
    }

    /// Sets the SCHED_FIFO priority (1..=99) of the worker of core `id`, which is declared without
    /// nodes if it was not declared before. Of a core with several threads, that of the first.
    #[must_use]
    pub fn priority(mut self, id: usize, priority: u8) -> Self {
        self.entry(id).priority = Some(priority);
        self
    }

    /// Gives the loops that `entry` names (`/node` or `/node:group`) a priority over the other
    /// loops of their cores, whatever their node says; 0 is normal, higher goes first. It takes the
    /// place of an earlier one of the same entry.
    ///
    /// ```
    /// use ringspin_modes::Mapping;
    /// let mapping = Mapping::new()
    ///     .default_core(0)
    ///     .dispatch_priority("/planner", 2)
    ///     .dispatch_priority("/planner:logging", 0);
    /// let read: Mapping = mapping.to_toml_string().parse()?;
    /// assert_eq!(read.dispatch_priorities["/planner"], 2);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn dispatch_priority(mut self, entry: impl Into<String>, priority: u8) -> Self {
        self.dispatch_priorities.insert(entry.into(), priority);
        self
    }

    /// Gives the loops that `entry` names (`/node` or `/node:group`) a budget each, whatever their
    /// node says. It takes the place of an earlier one of the same entry.
    #[must_use]
    pub fn budget(mut self, entry: impl Into<String>, budget: Budget) -> Self {
        self.budgets.insert(entry.into(), budget);
        self
    }

    /// Demands that core `id` is isolated.
    #[must_use]
    pub fn isolated(mut self, id: usize) -> Self {
        self.entry(id).isolated = true;
        self
    }

    /// Lets core numbers count the machine's isolated cores, from zero, so that the mapping fits
    /// machines that isolate different cores.
    #[must_use]
    pub fn use_isolated(mut self) -> Self {
        self.use_isolated = true;
        self
    }

    /// Lets the kernel move the workers, as on a machine that is shared with other programs: a
    /// worker that stays on its core waits for them while another core is idle.
    #[must_use]
    pub fn unpinned(mut self) -> Self {
        self.pin = Some(false);
        self
    }

    /// Demands that each event loop has a core, by an entry or as the default one.
    #[must_use]
    pub fn unbalanced(mut self) -> Self {
        self.balance = Some(false);
        self
    }

    /// Whether loops that no core names run where there is time for them.
    pub(crate) fn balances(&self) -> bool {
        self.default_core.is_none() && self.balance != Some(false)
    }

    /// Sets how the worker of core `id` waits; the others wait as the executor says.
    #[must_use]
    pub fn wait(mut self, id: usize, strategy: WaitStrategy) -> Self {
        self.entry(id).wait = Some(strategy);
        self
    }

    /// Keeps all memory of the process resident while it runs live, where that is permitted; see
    /// [`Executor::with_locked_memory`](crate::Executor::with_locked_memory).
    #[must_use]
    pub fn lock_memory(mut self) -> Self {
        self.lock_memory = true;
        self
    }

    /// Lets entries name these nodes and callback groups, though they may be created while the
    /// executor runs.
    ///
    /// ```
    /// use ringspin_modes::mapping::{LoopName, Mapping};
    ///
    /// let mapping = Mapping::new().default_core(0).core(1, ["/tracker"]).later(["/tracker"]);
    /// let plan = mapping.resolve(&[LoopName { node: "/lidar", group: "" }], &[0, 1])?;
    /// assert!(plan[1].loops.is_empty());
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn later<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.later.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the core of the event loops that no core names; they run on its thread of lowest
    /// priority.
    #[must_use]
    pub fn default_core(mut self, id: usize) -> Self {
        self.default_core = Some(id);
        self
    }

    /// One node after the other, in the order of their creation, over `cores`; all callback groups
    /// of a node stay together.
    ///
    /// It needs no knowledge of the load, so it is a start and not a recommendation. The mapping is
    /// empty if it has no cores. O(n log n) in the loops.
    pub fn round_robin(loops: &[LoopName<'_>], cores: &[usize]) -> Self {
        let mut mapping = Self::new();
        let mut seen = BTreeSet::new();
        let mut next = cores.iter().cycle();
        for name in loops.iter().filter(|name| seen.insert(name.node)) {
            let Some(&core) = next.next() else { break };
            mapping.entry(core).nodes.push(name.node.to_owned());
        }
        mapping
    }

    /// Puts every event loop on exactly one core.
    ///
    /// `loops` are the loops of the frozen graph in creation order, `allowed_cores` the cores that
    /// the operating system lets this process use. Threads that name nothing are left out unless
    /// they are the default; the plans are sorted by core, then by falling priority. O(n log n) in
    /// loops and entries.
    ///
    /// # Errors
    /// The first problem found, cores before names. A loop without a core is one, too.
    pub fn resolve(
        &self,
        loops: &[LoopName<'_>],
        allowed_cores: &[usize],
    ) -> Result<Vec<CorePlan>> {
        let (plans, unnamed) = self.resolve_named(loops, allowed_cores)?;
        if !unnamed.is_empty() {
            let unnamed: Vec<_> = unnamed.iter().map(|index| loops[*index].to_string()).collect();
            let text = format!(
                "no core is given for {}; name them under a `[[core]]`, set `default_core`, or \
                 leave `balance = false` out",
                list(&unnamed)
            );
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        Ok(plans)
    }

    /// Like [`resolve`](Self::resolve), with the indices of the loops that have no core.
    pub(crate) fn resolve_named(
        &self,
        loops: &[LoopName<'_>],
        allowed_cores: &[usize],
    ) -> Result<(Vec<CorePlan>, Vec<usize>)> {
        self.check_cores(allowed_cores)?;
        let entries = self.entries()?;
        names::check(&entries, loops, &self.later, |(core, _)| format!("core {core}"))?;
        let default = self.default_thread();
        let mut by_thread: BTreeMap<ThreadKey, Vec<usize>> = BTreeMap::new();
        let mut unnamed = Vec::new();
        for (index, name) in loops.iter().enumerate() {
            match names::of_loop(&entries, *name).or(default) {
                Some(thread) => by_thread.entry(thread).or_default().push(index),
                None => unnamed.push(index),
            }
        }
        // For the nodes that are created later.
        for thread in entries.into_values().chain(default) {
            by_thread.entry(thread).or_default();
        }
        self.priorities(loops)?; // an error of these is one of the mapping, too
        self.budgets(loops)?;
        let mut plans: Vec<CorePlan> = Vec::with_capacity(by_thread.len());
        // From the lowest priority of a core to the highest.
        for (key, loops) in by_thread.into_iter().rev() {
            let (core, Reverse(priority)) = key;
            let declared = self.cores.iter().find(|declared| declared.thread() == key);
            let preempts = plans.last().is_some_and(|lower| lower.core == core);
            let wait = declared.and_then(|declared| declared.wait);
            let (wait, pin) = (wait.or(preempts.then_some(PARK)), self.pin != Some(false));
            plans.push(CorePlan { core, pin, priority, wait, loops });
        }
        plans.reverse();
        Ok((plans, unnamed))
    }

    /// Whether loops without a core may run on core `id`.
    pub(crate) fn shares(&self, id: usize) -> bool {
        self.cores.iter().filter(|core| core.id == id).all(|core| {
            let is_awake = matches!(core.wait, Some(WaitStrategy::Spin | WaitStrategy::Yield));
            !core.isolated && (core.priority.is_none() || !is_awake)
        })
    }

    /// The dispatch priorities of the loops that have one here: indices into `loops`, ascending.
    /// O(n log n) in loops and entries.
    ///
    /// # Errors
    /// Fails if two entries name the same node or loop, or an entry names none of `loops`.
    pub fn priorities(&self, loops: &[LoopName<'_>]) -> Result<Vec<(usize, u8)>> {
        self.by_loop(&self.dispatch_priorities, "dispatch_priorities", loops)
    }

    /// The budgets of the loops that have one here, likewise.
    ///
    /// # Errors
    /// Fails in the same cases as [`priorities`](Self::priorities).
    pub fn budgets(&self, loops: &[LoopName<'_>]) -> Result<Vec<(usize, Budget)>> {
        self.by_loop(&self.budgets, "budgets", loops)
    }

    /// The values of the loops that `values`, the table `key`, names.
    fn by_loop<T: Copy>(
        &self,
        values: &BTreeMap<String, T>,
        key: &str,
        loops: &[LoopName<'_>],
    ) -> Result<Vec<(usize, T)>> {
        let mut entries = BTreeMap::new();
        for (text, &value) in values {
            let entry = names::entry(text);
            if entries.insert(entry.clone(), value).is_some() {
                let text = format!(
                    "`{entry}` is twice in `{key}`, with and without its slash; keep only one"
                );
                return Err(invalid(text));
            }
        }
        names::check(&entries, loops, &self.later, |_| format!("`{key}`"))?;
        let value =
            |(index, name): (usize, &LoopName<'_>)| Some((index, names::of_loop(&entries, *name)?));
        Ok(loops.iter().enumerate().filter_map(value).collect())
    }

    /// The first declaration of core `id`, made if there is none.
    fn entry(&mut self, id: usize) -> &mut CoreMapping {
        let index = self.cores.iter().position(|core| core.id == id).unwrap_or_else(|| {
            self.cores.push(CoreMapping { id, ..CoreMapping::default() });
            self.cores.len() - 1
        });
        &mut self.cores[index]
    }

    fn check_cores(&self, allowed: &[usize]) -> Result<()> {
        if let (Some(core), Some(true)) = (self.default_core, self.balance) {
            return Err(invalid(format!(
                "the mapping has `balance = true` and `default_core = {core}`, where loops without \
                 a core stay; leave one of the two out"
            )));
        }
        let mut seen = BTreeSet::new();
        for core in &self.cores {
            if !seen.insert(core.thread()) {
                let priority = core.priority.map_or("normal priority".to_owned(), |priority| {
                    format!("priority {priority}")
                });
                return Err(invalid(format!(
                    "core {} is declared twice with {priority}; merge the `nodes` of the two \
                     `[[core]]` tables, or give one of them another `priority`, so that the higher \
                     one preempts the other",
                    core.id
                )));
            }
            if let Some(priority) = core.priority.filter(|p| !FIFO_PRIORITIES.contains(p)) {
                return Err(invalid(format!(
                    "core {} asks for priority {priority}; SCHED_FIFO priorities are 1 (lowest) to \
                     99, leave `priority` out for the normal scheduling class",
                    core.id
                )));
            }
        }
        for core in &self.cores {
            let preempts =
                |other: &CoreMapping| other.id == core.id && other.priority < core.priority;
            if let (Some(priority), Some(WaitStrategy::Spin | WaitStrategy::Yield)) =
                (core.priority, core.wait)
                && self.cores.iter().any(preempts)
            {
                return Err(invalid(format!(
                    "the thread of core {} with priority {priority} never sleeps and would starve \
                     those of lower priority on that core; use `wait = \"park\"`, or leave `wait` \
                     out",
                    core.id
                )));
            }
        }
        let ids = seen.into_iter().map(|(id, _)| id).chain(self.default_core);
        match ids.into_iter().find(|id| !allowed.contains(id)) {
            Some(core) => {
                let text = format!(
                    "core {core} does not exist or is not allowed for this process; use one of {}, \
                     or widen the affinity mask (taskset, cpuset) of the process",
                    list(allowed)
                );
                Err(Error::new(ErrorKind::NotFound, text))
            }
            None => Ok(()),
        }
    }

    /// The cores that the mapping names: of a simulated machine, on which each of them exists.
    pub fn virtual_cores(&self) -> Vec<usize> {
        self.cores.iter().map(|core| core.id).chain(self.default_core).collect()
    }

    /// The thread of the loops that no core names.
    fn default_thread(&self) -> Option<ThreadKey> {
        let core = self.default_core?;
        let priorities = self.cores.iter().filter(|of| of.id == core).map(|of| of.priority);
        Some((core, Reverse(priorities.min().flatten())))
    }

    /// Every entry with the thread that names it.
    fn entries(&self) -> Result<BTreeMap<String, ThreadKey>> {
        let mut entries = BTreeMap::new();
        for core in &self.cores {
            for text in &core.nodes {
                let entry = names::entry(text);
                if let Some((first, _)) = entries.insert(entry.clone(), core.thread()) {
                    let second = core.id;
                    return Err(invalid(format!(
                        "`{entry}` is named on core {first} and again on core {second}; keep only \
                         one"
                    )));
                }
            }
        }
        Ok(entries)
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

/// The SCHED_FIFO priorities that a worker may ask for.
const FIFO_PRIORITIES: std::ops::RangeInclusive<u8> = 1..=99;

/// A worker thread: its core, and its priority. Ordered as the plans.
type ThreadKey = (usize, Reverse<Option<u8>>);

/// The wait strategy of a thread that preempts another one.
pub(crate) const PARK: WaitStrategy = WaitStrategy::SpinThenPark(Duration::ZERO);

impl CoreMapping {
    fn thread(&self) -> ThreadKey {
        (self.id, Reverse(self.priority))
    }
}

#[cfg(test)]
mod tests;
