//! Freezing: the graph becomes workers that share nothing but lock-free rings.
//!
//! The thread that freezes holds the graph's lock from the check of the plan to the end. It gives
//! each loop to one worker, hands the loops and callbacks over as
//! [changes](crate::running::change), and lets each worker adopt them before any thread runs it.
//! Topics come last: a publisher of another thread gets
//! [`NotFrozen`](crate::PublishError::NotFrozen) until its topic is connected, and from then on all
//! tokens lead to a callback. The start thus goes the way of every later creation; code that filled
//! the tables directly would be a second way, and would have to agree with the first.

use super::running::Running;
use super::{EventSource, Graph, GraphBuilder};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::escape::catch_panic;
use crate::base::event::{CallbackId, LoopId};
use crate::base::info::{GraphInfo, LoopInfo};
use crate::base::stop::{StopHandle, WorkerCounters};
use crate::base::table::Table;
use crate::base::time::Clock;
use crate::delivery::budget::{Budget, Budgets};
use crate::delivery::causal_stamps::CausalStamps;
use crate::delivery::control::{
    Failure, FailurePolicy, Failures, NodeControl, Statistics, WorkerStatistics,
};
use crate::delivery::input::NamedInput;
use crate::delivery::ready::Ready;
use crate::delivery::sim_network::SimNetwork;
use crate::delivery::topic::AllTopics;
use crate::running::counters::Counters;
use crate::running::picker::Picker;
use crate::running::worker::{OpenTopics, Worker, WorkerShared};
use ringspin_ringbuf::MAX_TOKEN;
use std::cmp::Reverse;
use std::sync::Arc;

/// The order in which a worker serves its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyOrder {
    /// One ready ring for all: events are dispatched in the order in which they became ready.
    Fifo,
    /// One ready ring per loop: the worker goes round the loops of the highest priority that is
    /// ready, in the order of the plan, a few events at a time. Along a topological order one round
    /// carries data through a whole chain, and no loop waits for more than one turn of each other
    /// loop of its priority.
    RoundRobin,
}

/// The assignment of loops to workers.
#[derive(Clone)]
pub struct Plan {
    /// The loops of each worker, in the order of a [`ReadyOrder::RoundRobin`].
    pub workers: Vec<Vec<LoopId>>,
    /// The order in which each worker serves its loops.
    pub order: ReadyOrder,
    /// The number of threads that run the workers. If it is not that of the workers, the threads
    /// share them: each [enters](crate::Worker::entrance) by one of the first workers, which has
    /// its statistics.
    pub threads: usize,
    /// Where loops go that are created later, or that another thread has created since the plan was
    /// made.
    pub late: LatePlacement,
    /// The stamps of messages, if chains are watched.
    pub stamps: Option<CausalStamps>,
    /// Whether each worker digests the values of its callbacks and states by itself, also live,
    /// for a record of the run. Messages of digested publishers are left out then.
    pub digests_by_worker: bool,
}

/// Decides where a loop goes that is created while the graph runs, given its node, its group, and
/// the worker of its node if that has one. `None` refuses it. Called with the graph locked.
pub type LatePlacement = Arc<dyn Fn(&str, &str, Option<usize>) -> Option<LatePlace> + Send + Sync>;

/// The place of a loop that is created while the graph runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatePlace {
    /// The index of its worker in the plan.
    pub worker: usize,
    /// Its priority there; see [`Node::set_priority`](crate::Node::set_priority).
    pub priority: u8,
    /// Its budget, if it has one; see [`Node::set_budget`](crate::Node::set_budget).
    pub budget: Option<Budget>,
}

impl Plan {
    /// A plan by which later loops go to the worker of their node, and else to the first one.
    pub fn new(workers: Vec<Vec<LoopId>>, order: ReadyOrder) -> Self {
        let of_node = |_: &str, _: &str, of_node: Option<usize>| {
            Some(LatePlace { worker: of_node.unwrap_or(0), ..LatePlace::default() })
        };
        let threads = workers.len();
        let (late, stamps) = (Arc::new(of_node), None);
        Self { workers, order, threads, late, stamps, digests_by_worker: false }
    }
}

/// The time of a frozen graph.
#[derive(Clone)]
pub enum TimeSource {
    /// The time of a clock that advances by itself.
    Live(Arc<dyn Clock>),
    /// Simulated time, with the messages in flight.
    Simulated(Arc<SimNetwork>),
}

impl TimeSource {
    fn clock(&self) -> Arc<dyn Clock> {
        match self {
            Self::Live(clock) => clock.clone(),
            Self::Simulated(sim_network) => sim_network.clock().clone(),
        }
    }

    fn sim_network(&self) -> Option<&Arc<SimNetwork>> {
        match self {
            Self::Live(_) => None,
            Self::Simulated(sim_network) => Some(sim_network),
        }
    }
}

/// A frozen graph: its workers, and the monitor to query while they run.
pub struct Frozen {
    /// The workers, as the plan lists them.
    pub workers: Vec<Worker>,
    /// The monitor, which can be used from any thread.
    pub monitor: Monitor,
    /// The inputs in simulated time, in order of creation.
    pub inputs: Vec<NamedInput>,
}

/// Answers questions about a frozen graph from any thread; cheap to clone.
#[derive(Clone)]
pub struct Monitor {
    graph: Graph,
    counters: Counters,
    topics: AllTopics,
    budgets: Budgets,
    failures: Arc<Failures>,
    worker_counters: Arc<[Arc<WorkerCounters>]>,
    clock: Arc<dyn Clock>,
}

impl Monitor {
    /// The description of the graph at this moment; after [`Graph::close`], the last one. Calls
    /// between two changes return the same snapshot.
    pub fn info(&self) -> Arc<GraphInfo> {
        self.graph.builder().snapshot()
    }

    /// The failures so far, in the order in which they happened.
    pub fn failures(&self) -> Vec<Failure> {
        self.failures.all()
    }

    /// The first failure that stopped the executor.
    pub fn stopping_failure(&self) -> Option<Failure> {
        self.failures.stopping()
    }

    /// Calls `run`, a part of a scheduler, which `name` names. If it panics, returns `None`: the
    /// executor stops, and the [failure](Self::failures) has that name.
    pub fn contain<T>(&self, name: &str, run: impl FnOnce() -> T) -> Option<T> {
        let failed = |panic| {
            let (part, time) = ("outside of a callback".into(), self.clock.now());
            self.failures.report_other(None, Failure::outside(name.into(), part, time, panic));
        };
        catch_panic(run).map_err(failed).ok()
    }

    /// A snapshot of all counters; each is exact, together they are not from one instant.
    pub fn statistics(&self) -> Statistics {
        let (callbacks, removed) = self.counters.statistics();
        let refused = self.topics.refused();
        let statistics = |of: &Arc<WorkerCounters>| WorkerStatistics {
            idle: of.idle.get(),
            sleeps: of.sleeps.get(),
        };
        let workers = self.worker_counters.iter().map(statistics).collect();
        let budgets = self.budgets.statistics();
        Statistics { callbacks, removed, refused, budgets, workers }
    }
}

impl Graph {
    /// Turns the graph into workers with this `time`; from here on publishers deliver.
    ///
    /// # Errors
    /// Fails when the graph is frozen already, the plan does not fit it, or it has inputs or
    /// interceptors and is to run live. Loops of the plan that were destroyed meanwhile are left
    /// out.
    pub fn freeze(
        &self,
        plan: &Plan,
        stop: &StopHandle,
        policy: FailurePolicy,
        time: &TimeSource,
    ) -> Result<Frozen> {
        let mut builder = self.builder();
        let loops_of_workers = place(&mut builder, plan)?;
        check_time(&builder, plan, time)?;
        let (clock, sim_network) = (time.clock(), time.sim_network());
        builder.frozen = true;
        std::mem::take(&mut builder.before_freeze).into_iter().for_each(|run| run(&builder));
        let info = builder.snapshot();
        if sim_network.is_none() {
            builder.inputs.drain(..).for_each(NamedInput::run_live);
        }
        builder.clock.run_by(clock.clone());
        let failures = Arc::new(Failures::new(stop.clone(), node_controls(&builder, policy)));
        let _ = builder.failures.set(failures.clone()); // the graph is frozen once
        let sequenced = sim_network.filter(|_| !plan.digests_by_worker);
        let digests = sequenced.map(|_| builder.digests.clone());
        if let Some(sim_network) = sequenced {
            builder.digests.collect(sim_network.owner());
        }
        let simulated = sim_network.map(|sim_network| sim_network.clock().clone());
        let (clock_of, failures_of, domain) =
            (clock.clone(), failures.clone(), self.domain.clone());
        let mut running = Running::new(plan, sim_network, clock_of, failures_of, policy, domain);
        let mut shared = WorkerShared {
            directory: builder.directory.clone(),
            failures: failures.clone(),
            counters: running.counters.clone(),
            clock: clock.clone(),
            simulated,
            digests,
            _open: Arc::new(OpenTopics {
                topics: builder.all_topics.clone(),
                domain: self.domain.clone(),
                joined: builder.joined.clone(),
            }),
        };
        let mut ready = Table::new();
        let mut workers = Vec::new();
        for loops in &loops_of_workers {
            if plan.digests_by_worker {
                shared.digests = Some(Arc::new(builder.digests.of_worker()));
            }
            workers.push(add_worker(&mut builder, &mut running, loops, &shared, &mut ready));
        }
        if let Some(sim_network) = sim_network {
            sim_network.extend(|| info.clone()); // others may have changed it since it was made
        }
        running.hand_over();
        for worker in &mut workers {
            worker.adopt();
        }
        builder.connect_topics(&running, &ready);
        start_topics(&mut builder, &running, &ready, &mut workers, &info);
        let worker_counters =
            workers.iter().take(plan.threads).map(|of: &Worker| of.counters().clone()).collect();
        let (graph, topics) = (self.clone(), builder.all_topics.clone());
        let (counters, budgets) = (running.counters.clone(), builder.budgets.clone());
        builder.running = Some(running);
        let monitor =
            Monitor { graph, counters, topics, budgets, failures, worker_counters, clock };
        Ok(Frozen { workers, monitor, inputs: std::mem::take(&mut builder.inputs) })
    }
}

/// Adds a worker with these loops, and notes the ready handles of its callbacks. It has still to
/// adopt them.
fn add_worker(
    builder: &mut GraphBuilder,
    running: &mut Running,
    loops: &[LoopId],
    shared: &WorkerShared,
    ready: &mut Table<CallbackId, Ready>,
) -> Worker {
    let mut loops = loops.to_vec();
    if running.order == ReadyOrder::RoundRobin {
        loops.sort_by_key(|id| Reverse(builder.loops[*id].priority));
    }
    // In order of creation, in which timers are added and tasks started.
    let callbacks = loops.iter().flat_map(|id| builder.loops[*id].callbacks.iter());
    let mut callbacks: Vec<_> = callbacks.copied().collect();
    callbacks.sort_unstable();
    let (tokens, events) = demand(builder, &loops);
    let worker = running.workers();
    let (inbox, link) = running.add_worker(loops.len(), tokens, events);
    for &id in &loops {
        let body = builder.bodies.remove(id).expect("the plan places each loop once");
        let (name, priority) = (builder.loop_name(id), builder.loops[id].priority);
        running.add_loop(worker, (id, name), body, priority, demand(builder, &[id]).1);
    }
    for id in callbacks {
        ready.insert(id, running.add_callback(builder.named(id), &builder.clock));
    }
    loops.iter().for_each(|id| running.add_retirement(*id, builder.loops[*id].node_index));
    let picker = match running.order {
        ReadyOrder::Fifo => Picker::new(&[0]),
        ReadyOrder::RoundRobin => Picker::new(&[]),
    };
    Worker::new(inbox, picker, link, shared.clone())
}

/// Starts the caches of transient-local publishers, once all topics are connected.
fn start_topics(
    builder: &mut GraphBuilder,
    running: &Running,
    ready: &Table<CallbackId, Ready>,
    workers: &mut [Worker],
    info: &GraphInfo,
) {
    let topics = builder.erased_topics();
    match (&running.sim_network, workers) {
        (Some(_), [worker]) => {
            let token = |callback| ready[callback].announcer.token();
            worker.plan_prefetches(&topics, &token, info);
        }
        (_, workers) => workers.iter_mut().for_each(|of| of.note_published(&topics, info)),
    }
    let added = std::mem::take(&mut builder.added);
    builder.add_publishers(running, &added.publishers);
    for (topic, number) in &added.caches {
        topic.start_cache(*number, running.clock.now(), running.sim_network.as_ref());
    }
}

fn node_controls(builder: &GraphBuilder, default: FailurePolicy) -> Table<usize, NodeControl> {
    let control = |policy: Option<_>| NodeControl::new(policy.unwrap_or(default));
    builder.policies.map(|_, policy| control(*policy))
}

/// The loops of each worker: those of the plan, without those that were destroyed since it was
/// made, and with those that were created.
fn place(builder: &mut GraphBuilder, plan: &Plan) -> Result<Vec<Vec<LoopId>>> {
    if builder.frozen {
        let text = "failed to freeze the graph: an executor runs it already; create another graph";
        return Err(Error::new(ErrorKind::InvalidState, text));
    }
    let mut workers = plan.workers.clone();
    workers.iter_mut().for_each(|loops| loops.retain(|id| builder.loops.get(*id).is_some()));
    let mut worker_of = builder.loops.map(|_, _| None);
    let misplaced = |of: &LoopInfo, count: usize| {
        let name = of.full_name();
        let text =
            format!("the plan gives {name} to {count} workers; each event loop needs exactly one");
        Error::new(ErrorKind::InvalidArgument, text).in_node(&of.node)
    };
    for (worker, loops) in workers.iter().enumerate() {
        for &id in loops {
            if worker_of[id].replace(worker).is_some() {
                return Err(misplaced(&builder.loops[id], 2));
            }
        }
    }
    for id in builder.loops.keys().filter(|id| worker_of[*id].is_none()).collect::<Vec<_>>() {
        let of = builder.loops[id].clone();
        let of_node = builder.loops.iter().filter(|(_, other)| other.node_index == of.node_index);
        let of_node = of_node.filter_map(|(other, _)| worker_of[other]).next();
        let place = (plan.late)(&of.node, &of.group, of_node);
        let place = place.filter(|place| place.worker < workers.len());
        let LatePlace { worker, priority, budget } = place.ok_or_else(|| misplaced(&of, 0))?;
        worker_of[id] = Some(worker);
        workers[worker].push(id);
        if priority > 0 {
            builder.loop_info_mut(id).priority = priority;
        }
        if budget.is_some() {
            builder.set_budget(id, budget);
        }
    }
    workers.iter().try_for_each(|loops| check_size(builder, loops))?;
    Ok(workers)
}

/// Checks that a worker can number the callbacks and events of its loops.
fn check_size(builder: &GraphBuilder, loops: &[LoopId]) -> Result<()> {
    let (routes, events) = demand(builder, loops);
    for (count, what) in [(routes, "callbacks"), (events, "queued events")] {
        if count > MAX_TOKEN as usize {
            let text = format!("one worker has {count} {what}; at most {MAX_TOKEN} are possible");
            return Err(Error::new(ErrorKind::LimitReached, text));
        }
    }
    Ok(())
}

/// The numbers of tokens and of pending events of these loops. Each loop has a token for its
/// retirement, each timer one for changes.
fn demand(builder: &GraphBuilder, loops: &[LoopId]) -> (usize, usize) {
    let callbacks = loops.iter().flat_map(|id| &builder.loops[*id].callbacks);
    let sources = callbacks.map(|id| &builder.callback_specs[*id].source);
    sources.fold((loops.len(), loops.len()), |(tokens, events), source| {
        let is_timer = matches!(source, EventSource::Timer(_));
        (tokens + 1 + usize::from(is_timer), events + source.capacity())
    })
}

fn check_time(builder: &GraphBuilder, plan: &Plan, time: &TimeSource) -> Result<()> {
    if time.sim_network().is_some() {
        if let Some(reason) = &builder.live_only {
            return Err(Error::new(ErrorKind::Unsupported, reason.clone()));
        }
        let sequential = plan.order == ReadyOrder::Fifo && plan.workers.len() == 1;
        let text = "simulated time needs a plan of one worker in the order of `ReadyOrder::Fifo`";
        return match sequential {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::InvalidArgument, text)),
        };
    }
    if let Some(input) = builder.inputs.iter().find(|input| input.live.is_none()) {
        return Err(needs_simulation(&format!("input {:?}", input.name)));
    }
    let topics = builder.erased_topics();
    match topics.iter().find(|(_, topic)| topic.is_intercepted()) {
        Some((name, _)) => {
            Err(needs_simulation(&format!("the interceptor of topic {name}")).on_topic(name))
        }
        None => Ok(()),
    }
}

fn needs_simulation(what: &str) -> Error {
    let text = format!("{what} needs simulated time: run this graph in deterministic mode");
    Error::new(ErrorKind::Unsupported, text)
}
