//! Freezing: the graph becomes workers that share nothing but lock-free rings.

use super::{EventSource, FreezeError, Graph, GraphBuilder};
use crate::control::{
    Cause, Failure, FailurePolicy, Failures, NodeControl, Statistics, WorkerStatistics,
};
use crate::counters::{Counted, Counters};
use crate::deadline::DeadlineWatch;
use crate::escape::catch_panic;
use crate::event::{CallbackId, EventId, LoopId};
use crate::event_loop::EventLoop;
use crate::info::GraphInfo;
use crate::input::NamedInput;
use crate::notifier::Notifier;
use crate::picker::Picker;
use crate::ready::Ready;
use crate::route::{Control, Index, Route};
use crate::sim_network::SimNetwork;
use crate::stop::{StopHandle, WorkerCounters};
use crate::table::Table;
use crate::time::{Clock, Time};
use crate::timers::Timers;
use crate::topic::{AnyTopic, Connections};
use crate::worker::{OpenTopics, Shared, Worker, WorkerParts};
use ringspin_ringbuf::{EntryLine, Inbox, MAX_TOKEN};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The loops of each worker, in the order of a [`ReadyOrder::RoundRobin`].
    pub workers: Vec<Vec<LoopId>>,
    /// The order in which each worker serves its loops.
    pub order: ReadyOrder,
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
    topics: Arc<[(String, Arc<dyn AnyTopic>)]>,
    failures: Arc<Failures>,
    worker_counters: Arc<[Arc<WorkerCounters>]>,
    clock: Arc<dyn Clock>,
}

impl Monitor {
    /// The description of the graph at this moment; after [`Graph::close`], of what it was. Calls
    /// between two changes return the same snapshot.
    pub fn info(&self) -> Arc<GraphInfo> {
        self.graph.builder().snapshot()
    }

    /// The failures so far, in the order in which they happened.
    pub fn failures(&self) -> Vec<Failure> {
        self.failures.all()
    }

    /// The first failure whose policy was to stop everything.
    pub fn stopping_failure(&self) -> Option<Failure> {
        self.failures.stopping()
    }

    /// Calls `run`, a part of a scheduler, which `name` names. If it panics, returns `None`: the
    /// executor stops, and the [failure](Self::failures) has that name.
    pub fn contain<T>(&self, name: &str, run: impl FnOnce() -> T) -> Option<T> {
        let failed = |panic| {
            let failure = Failure {
                node: name.into(),
                callback: "outside of a callback".into(),
                callback_id: CallbackId::NONE,
                event: EventId::default(),
                time: self.clock.now(),
                cause: Cause::Panic(panic),
            };
            self.failures.report_other(None, failure);
        };
        catch_panic(run).map_err(failed).ok()
    }

    /// A snapshot of all counters; each is exact, together they are not from one instant.
    pub fn statistics(&self) -> Statistics {
        let (callbacks, removed) = self.counters.statistics();
        let refused = self.topics.iter().map(|(name, topic)| (name.clone(), topic.refused()));
        let refused = refused.filter(|(_, count)| *count > 0);
        let statistics = |of: &Arc<WorkerCounters>| WorkerStatistics {
            idle: of.idle.get(),
            sleeps: of.sleeps.get(),
        };
        let workers = self.worker_counters.iter().map(statistics).collect();
        Statistics { callbacks, removed, refused: refused.collect(), workers }
    }
}

impl Graph {
    /// Turns the graph into workers with this `time`; from here on publishers deliver.
    ///
    /// # Errors
    /// [`FreezeError`] when the graph is frozen already, the plan does not fit it, or it has inputs
    /// or interceptors and is to run live.
    pub fn freeze(
        &self,
        plan: &Plan,
        stop: &StopHandle,
        policy: FailurePolicy,
        time: &TimeSource,
    ) -> Result<Frozen, FreezeError> {
        let mut builder = self.builder();
        check_plan(&builder, plan)?;
        check_time(&builder, plan, time)?;
        let (clock, sim_network) = (time.clock(), time.sim_network());
        builder.frozen = true;
        std::mem::take(&mut builder.before_freeze).into_iter().for_each(|run| run(&builder));
        let info = builder.snapshot();
        if sim_network.is_none() {
            builder.inputs.drain(..).for_each(NamedInput::run_live);
        }
        builder.clock.run_by(clock.clone());
        let retirements: Retirements = info.loops.map(|_, _| Arc::default());
        let nodes = node_controls(&builder, policy, &retirements);
        let failures = Arc::new(Failures::new(stop.clone(), nodes));
        let _ = builder.failures.set(failures.clone()); // the graph is frozen once
        let digests = sim_network.map(|_| builder.digests.clone());
        if let Some(sim_network) = sim_network {
            builder.digests.collect(sim_network.owner());
        }
        let simulated = sim_network.map(|sim_network| sim_network.clock().clone());
        let shared = Shared {
            directory: builder.directory().clone(),
            failures: failures.clone(),
            clock,
            simulated,
            digests,
            _open: Arc::new(OpenTopics(builder.erased_topics())),
        };
        let mut bodies = std::mem::take(&mut builder.bodies);
        let mut ready = Table::new();
        let mut workers = Vec::new();
        for loops in &plan.workers {
            let common = Common {
                builder: &builder,
                order: plan.order,
                sim_network,
                retirements: &retirements,
                bodies: &bodies,
            };
            let parts = connect_worker(common, loops, &mut ready);
            let bodies = parts
                .loops
                .iter()
                .map(|id| bodies.remove(*id).expect("the plan places each loop once"));
            let bodies = bodies.collect();
            workers.push(Worker::new(parts, bodies, shared.clone()));
        }
        let ready_of = |callback: CallbackId| ready[callback].clone();
        let clock = &builder.clock;
        let directory = builder.directory();
        let connections = Connections { ready: &ready_of, sim_network, directory, clock };
        connect_topics(&builder, connections, shared.clock.now(), &mut workers, &info);
        let counters = count(&builder, &workers);
        let worker_counters =
            workers.iter().map(|worker: &Worker| worker.counters().clone()).collect();
        let (topics, clock) = (builder.erased_topics().into(), shared.clock);
        let graph = self.clone();
        let monitor = Monitor { graph, counters, topics, failures, worker_counters, clock };
        Ok(Frozen { workers, monitor, inputs: std::mem::take(&mut builder.inputs) })
    }
}

/// Gives the topics their subscriptions, and starts the caches of transient-local publishers.
fn connect_topics(
    builder: &GraphBuilder,
    connections: Connections<'_>,
    now: Time,
    workers: &mut [Worker],
    info: &GraphInfo,
) {
    let topics = builder.erased_topics();
    topics.iter().for_each(|(_, topic)| topic.connect(connections));
    if let (Some(_), [worker]) = (connections.sim_network, workers) {
        let token = |callback| (connections.ready)(callback).announcer.token();
        worker.plan_prefetches(&topics, &token, info);
    }
    for (topic, number) in &builder.caches {
        topic.start_cache(*number, now, connections.sim_network);
    }
}

/// The counters of all callbacks.
fn count(builder: &GraphBuilder, workers: &[Worker]) -> Counters {
    let all = Counters::default();
    for worker in workers {
        for (callback, token) in worker.callbacks() {
            let name = builder.directory().get(callback).expect("the callback was just created");
            let counters = builder.callback_specs[callback].counters.clone();
            all.add(callback, Counted { name, counters, calls: worker.calls().clone(), token });
        }
    }
    all
}

/// The controls of all nodes, by their index.
fn node_controls(
    builder: &GraphBuilder,
    default: FailurePolicy,
    retirements: &Retirements,
) -> Table<usize, NodeControl> {
    let policies = builder.policies.iter().enumerate();
    let control = |policy: Option<_>| NodeControl::new(policy.unwrap_or(default));
    let mut nodes: Table<_, _> = policies.map(|(n, policy)| (n, control(*policy))).collect();
    for (event_loop, retirement) in builder.loops.values().zip(retirements.values()) {
        nodes[event_loop.node_index].loops.push(retirement.clone());
    }
    for (node, watcher) in builder.freeze_endpoints() {
        nodes[node].watchers.push(watcher);
    }
    nodes
}

fn check_plan(builder: &GraphBuilder, plan: &Plan) -> Result<(), FreezeError> {
    if builder.frozen {
        return Err(FreezeError::AlreadyFrozen);
    }
    let mut counts = builder.loops.map(|_, _| 0);
    for id in plan.workers.iter().flatten() {
        *counts.get_mut(*id).ok_or(FreezeError::UnknownLoop(id.0))? += 1;
    }
    if let Some((id, &count)) = counts.iter().find(|(_, count)| **count != 1) {
        return Err(FreezeError::Misplaced { name: builder.loops[id].full_name(), count });
    }
    for loops in &plan.workers {
        let callbacks = loops.iter().flat_map(|id| &builder.loops[*id].callbacks);
        let callbacks: Vec<_> = callbacks.map(|c| &builder.callback_specs[*c]).collect();
        // Each loop has a token for its retirement, each timer one for changes.
        let events = callbacks.iter().map(|c| c.source.capacity()).sum::<usize>() + loops.len();
        let timers = callbacks.iter().filter(|c| matches!(c.source, EventSource::Timer(_))).count();
        let routes = callbacks.len() + timers + loops.len();
        for (count, what) in [(routes, "callbacks"), (events, "queued events")] {
            if count > MAX_TOKEN as usize {
                return Err(FreezeError::TooLarge(count, what));
            }
        }
    }
    Ok(())
}

fn check_time(builder: &GraphBuilder, plan: &Plan, time: &TimeSource) -> Result<(), FreezeError> {
    if time.sim_network().is_some() {
        if let Some(middleware) = &builder.live_only {
            return Err(FreezeError::NotIsolated(middleware.clone()));
        }
        let sequential = plan.order == ReadyOrder::Fifo && plan.workers.len() == 1;
        return if sequential { Ok(()) } else { Err(FreezeError::NotSequential) };
    }
    if let Some(input) = builder.inputs.iter().find(|input| input.live.is_none()) {
        return Err(FreezeError::NeedsSimulation(format!("input {:?}", input.name)));
    }
    let topics = builder.erased_topics();
    match topics.iter().find(|(_, topic)| topic.is_intercepted()) {
        Some((name, _)) => {
            Err(FreezeError::NeedsSimulation(format!("the interceptor of topic {name}")))
        }
        None => Ok(()),
    }
}

/// The notifiers that tell loops to retire.
type Retirements = Table<LoopId, Arc<Notifier>>;

/// The data that connecting needs for every worker.
#[derive(Clone, Copy)]
struct Common<'a> {
    builder: &'a GraphBuilder,
    order: ReadyOrder,
    sim_network: Option<&'a Arc<SimNetwork>>,
    /// The data of each loop.
    retirements: &'a Retirements,
    /// The bodies of the loops that no worker has yet.
    bodies: &'a Table<LoopId, Box<dyn EventLoop>>,
}

/// Creates the rings of one worker, and fills in the ready handles of its callbacks.
fn connect_worker(
    common: Common<'_>,
    loops: &[LoopId],
    ready: &mut Table<CallbackId, Ready>,
) -> WorkerParts {
    let (loops, picker) = order_loops(common, loops);
    let callbacks = number_callbacks(common.builder, &loops);
    let source = |callback: CallbackId| &common.builder.callback_specs[callback].source;
    let timers =
        callbacks.iter().filter(|(callback, _)| matches!(source(*callback), EventSource::Timer(_)));
    let tokens = callbacks.len() + timers.count() + loops.len();
    let parts = WorkerParts {
        inbox: Inbox::with_lines(rings(common, &loops), tokens),
        names: loops.iter().map(|id| common.builder.loop_name(*id)).collect(),
        loops,
        routes: Vec::with_capacity(callbacks.len()),
        controls: Vec::new(),
        counters: Vec::new(),
        timers: Timers::default(),
        notifiers: vec![None; tokens],
        starts: Vec::new(),
        picker,
        deadlines: Vec::new(),
    };
    let mut connecting = Connecting { common, callbacks: callbacks.len(), parts };
    for (callback, loop_index) in callbacks {
        ready.insert(callback, connecting.add_callback(callback, loop_index));
    }
    for loop_index in 0..connecting.parts.loops.len() {
        connecting.add_retirement(loop_index);
    }
    connecting.parts
}

/// The loops in the order in which the worker serves them, and their picker.
fn order_loops(common: Common<'_>, loops: &[LoopId]) -> (Vec<LoopId>, Picker) {
    let mut loops = loops.to_vec();
    let priority = |id: &LoopId| common.builder.loops[*id].priority;
    let picker = match common.order {
        ReadyOrder::Fifo => Picker::new(&[0]),
        ReadyOrder::RoundRobin => {
            loops.sort_by_key(|id| Reverse(priority(id)));
            Picker::new(&loops.iter().map(priority).collect::<Vec<_>>())
        }
    };
    (loops, picker)
}

/// The number of events that may be pending in each ready ring, and the line for its entries.
fn rings(common: Common<'_>, loops: &[LoopId]) -> Vec<(usize, Option<EntryLine>)> {
    let builder = common.builder;
    let events_of = |id: &LoopId| -> usize {
        let callbacks = builder.loops[*id].callbacks.iter();
        let events = callbacks.map(|c| builder.callback_specs[*c].source.capacity());
        events.sum::<usize>() + 1 // its retirement
    };
    let line_of = |id: &LoopId| common.bodies[*id].entry_line();
    match common.order {
        ReadyOrder::Fifo => vec![(loops.iter().map(events_of).sum::<usize>().max(1), None)],
        ReadyOrder::RoundRobin => loops.iter().map(|id| (events_of(id), line_of(id))).collect(),
    }
}

/// The callbacks of `loops` in order of creation, in which timers are added and tasks started, each
/// with the index of its loop.
fn number_callbacks(builder: &GraphBuilder, loops: &[LoopId]) -> Vec<(CallbackId, usize)> {
    let callbacks_of = |id: &LoopId| builder.loops[*id].callbacks.iter();
    let loops = loops.iter().enumerate();
    let mut numbered: Vec<_> =
        loops.flat_map(|(n, id)| callbacks_of(id).map(move |&callback| (callback, n))).collect();
    numbered.sort_unstable();
    numbered
}

/// A worker whose callbacks and loops are being connected, in the order of their tokens.
struct Connecting<'a> {
    common: Common<'a>,
    /// The number of callbacks, whose tokens come first.
    callbacks: usize,
    parts: WorkerParts,
}

impl Connecting<'_> {
    fn ready(&mut self, loop_index: usize, token: usize) -> Ready {
        let ring = if self.common.order == ReadyOrder::Fifo { 0 } else { loop_index };
        let announcer = self.parts.inbox.announcer(ring, token as u32);
        Ready { announcer, stamper: None, sim_network: self.common.sim_network.cloned() }
    }

    /// Connects `notifier` to the next token after those of the callbacks; it leads to `control`.
    fn add_control(&mut self, loop_index: usize, notifier: &Arc<Notifier>, control: Control) {
        let token = self.callbacks + self.parts.controls.len();
        notifier.connect(self.ready(loop_index, token));
        self.parts.notifiers[token] = Some(notifier.clone());
        self.parts.controls.push(control);
    }

    /// Returns the handle that makes the events of `callback` ready.
    fn add_callback(&mut self, callback: CallbackId, loop_index: usize) -> Ready {
        let builder = self.common.builder;
        let of = &builder.callback_specs[callback];
        let token = self.parts.routes.len();
        let mut ready = self.ready(loop_index, token);
        let mut deadline = Index::NONE;
        if let Some(limit) = of.deadline {
            let capacity = of.source.capacity();
            let (stamper, watch) = DeadlineWatch::new(limit, capacity, builder.clock.clone());
            ready.stamper = Some(stamper);
            deadline = Index::new(self.parts.deadlines.len());
            self.parts.deadlines.push(watch);
        }
        self.parts.counters.push(of.counters.clone());
        let mut timer = Index::NONE;
        match &of.source {
            EventSource::Queue(_) => {}
            EventSource::Notifier(notifier) | EventSource::QueueAndRemote(_, notifier) => {
                notifier.connect(ready.clone());
                self.parts.starts.push(notifier.clone());
                self.parts.notifiers[token] = Some(notifier.clone());
            }
            EventSource::Timer(control) => {
                let (control, counters) = (control.clone(), of.counters.clone());
                let changed = control.changed.clone();
                let index = self.parts.timers.add(callback, control, ready.clone(), counters);
                timer = Index::new(index);
                self.add_control(
                    loop_index,
                    &changed,
                    Control::TimerChanged { timer: index, loop_index },
                );
            }
        }
        let event_loop = self.parts.loops[loop_index];
        self.parts.routes.push(Route {
            callback,
            event_loop,
            node_index: builder.loops[event_loop].node_index as u32,
            loop_index: loop_index as u32,
            target: of.target,
            timer,
            deadline,
        });
        ready
    }

    fn add_retirement(&mut self, loop_index: usize) {
        let id = self.parts.loops[loop_index];
        let notifier = self.common.retirements[id].clone();
        self.parts.starts.push(notifier.clone());
        let control = Control::Retirement { loop_index, notifier: notifier.clone() };
        self.add_control(loop_index, &notifier, control);
    }
}
