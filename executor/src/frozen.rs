//! Freezing: the graph becomes workers that share nothing but lock-free rings.

use crate::control::{
    CallbackCounters, CallbackStatistics, Cause, Failure, FailurePolicy, Failures, NodeControl,
    RestCounters, Statistics, WorkerStatistics,
};
use crate::deadline::DeadlineWatch;
use crate::escape::catch_panic;
use crate::event::{CallbackId, EventId, LoopId};
use crate::graph::{EventSource, FreezeError, Graph, GraphBuilder};
use crate::info::GraphInfo;
use crate::input::NamedInput;
use crate::notifier::Notifier;
use crate::picker::Picker;
use crate::ready::Ready;
use crate::route::{Control, Index, Route};
use crate::sim_network::SimNetwork;
use crate::stop::StopHandle;
use crate::time::Clock;
use crate::timers::Timers;
use crate::topic::{AnyTopic, Connections};
use crate::worker::{Calls, OpenTopics, Shared, Worker, WorkerParts};
use ringspin_ringbuf::{Inbox, MAX_TOKEN};
use std::cmp::Reverse;
use std::sync::Arc;

/// In which order a worker turns to its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyOrder {
    /// One ready ring for all: events are dispatched in the order in which they became ready.
    Fifo,
    /// One ready ring per loop: the worker goes round the loops of the highest priority that is
    /// ready, in the order of the plan, a few events at a time. Along a topological order one round
    /// carries data through a whole chain, and no loop waits for more than one turn of each other
    /// loop of its priority.
    Sweep,
}

/// Which worker runs which loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The loops of each worker, in the order of a [`ReadyOrder::Sweep`].
    pub workers: Vec<Vec<LoopId>>,
    /// The order in which each worker turns to its loops.
    pub order: ReadyOrder,
}

/// Which time a frozen graph has.
#[derive(Clone)]
pub enum TimeSource {
    /// That of a clock which goes on by itself.
    Live(Arc<dyn Clock>),
    /// Simulated time, with what is under way in it.
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

/// A frozen graph: its workers, and what can be asked while they run.
pub struct Frozen {
    /// The workers, as the plan lists them.
    pub workers: Vec<Worker>,
    /// What can be asked from any thread.
    pub monitor: Monitor,
    /// The inputs, in order of creation.
    pub inputs: Vec<NamedInput>,
}

/// Answers questions about a frozen graph from any thread; cheap to clone.
#[derive(Clone)]
pub struct Monitor {
    info: Arc<GraphInfo>,
    counters: Arc<[Counted]>,
    topics: Arc<[(String, Arc<dyn AnyTopic>)]>,
    failures: Arc<Failures>,
    rests: Arc<[Arc<RestCounters>]>,
    clock: Arc<dyn Clock>,
}

impl Monitor {
    /// The graph's description.
    pub fn info(&self) -> &GraphInfo {
        &self.info
    }

    /// As [`info`](Self::info), to keep.
    pub fn shared_info(&self) -> Arc<GraphInfo> {
        self.info.clone()
    }

    /// The failures so far, in the order in which they happened.
    pub fn failures(&self) -> Vec<Failure> {
        self.failures.all()
    }

    /// The first failure whose policy was to stop everything.
    pub fn stopping_failure(&self) -> Option<Failure> {
        self.failures.stopping()
    }

    /// Calls `run`, the part of a scheduler that `name` names. If it panics, the executor stops,
    /// and the [failure](Self::failures) has that name; `None` then.
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
        let callbacks = self.info.callbacks.iter().zip(self.counters.iter());
        let callbacks = callbacks.map(|(callback, of)| (callback, &of.counters, of.dispatched()));
        let callbacks = callbacks.map(|(callback, counters, dispatched)| CallbackStatistics {
            node: self.info.loops[callback.event_loop.0 as usize].full_name(),
            callback: callback.name.clone(),
            dispatched,
            overwritten: counters.overwritten.get(),
            lost: counters.lost.get(),
            discarded: counters.discarded.get(),
            missed: counters.missed.get(),
            coalesced: counters.coalesced.get(),
            late: counters.late.get(),
            unmatched: counters.unmatched.get(),
            irregular: counters.irregular.get(),
            expired: counters.expired.get(),
        });
        let refused = self.topics.iter().map(|(name, topic)| (name.clone(), topic.refused()));
        let refused = refused.filter(|(_, count)| *count > 0);
        let rest = |rest: &Arc<RestCounters>| WorkerStatistics {
            idle: rest.idle.get(),
            sleeps: rest.sleeps.get(),
        };
        let workers = self.rests.iter().map(rest).collect();
        Statistics { callbacks: callbacks.collect(), refused: refused.collect(), workers }
    }
}

impl Graph {
    /// Turns the graph into workers, whose time is `time`; from here on publishers deliver.
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
        if builder.frozen {
            return Err(FreezeError::AlreadyFrozen);
        }
        check_plan(&builder, plan)?;
        check_time(&builder, plan, time)?;
        let (clock, sim_network) = (time.clock(), time.sim_network());
        builder.frozen = true;
        builder.report_unused_overrides();
        let info = Arc::new(builder.info());
        builder.clock.run_by(clock.clone());
        let retirements: Vec<Arc<Notifier>> = info.loops.iter().map(|_| Arc::default()).collect();
        let nodes = node_controls(&builder, policy, &retirements);
        let failures = Arc::new(Failures::new(stop.clone(), nodes));
        let _ = builder.failures.set(failures.clone()); // the graph is frozen once
        let digests = sim_network.map(|_| builder.digests.clone());
        if let Some(sim_network) = sim_network {
            builder.digests.collect(sim_network.owner());
        }
        let simulated = sim_network.map(|sim_network| sim_network.clock().clone());
        let shared = Shared {
            info: info.clone(),
            failures: failures.clone(),
            clock,
            simulated,
            digests,
            _open: Arc::new(OpenTopics(builder.erased_topics())),
        };
        let mut bodies: Vec<_> = builder.bodies.drain(..).map(Some).collect();
        let mut ready = vec![None; builder.callbacks.len()];
        let mut workers = Vec::new();
        for loops in &plan.workers {
            let common = Common {
                builder: &builder,
                order: plan.order,
                sim_network,
                retirements: &retirements,
            };
            let parts = connect_worker(common, loops, &mut ready);
            let bodies = parts
                .loops
                .iter()
                .map(|id| bodies[id.0 as usize].take().expect("the plan places each loop once"));
            let bodies = bodies.collect();
            workers.push(Worker::new(parts, bodies, shared.clone()));
        }
        let topics = builder.erased_topics();
        let ready_of = |callback: CallbackId| {
            ready[callback.0 as usize].clone().expect("every callback has a worker")
        };
        let connections = Connections { ready: &ready_of, sim_network, info: &info };
        topics.iter().for_each(|(_, topic)| topic.connect(connections));
        if let (Some(_), [worker]) = (sim_network, &mut workers[..]) {
            let token = |callback| ready_of(callback).announcer.token();
            worker.plan_prefetches(&topics, &token);
        }
        let now = shared.clock.now();
        for (topic, number) in &builder.caches {
            topic.start_cache(*number, now, sim_network);
        }
        let counters = Counted::all(&builder, &workers);
        let rests = workers.iter().map(|worker: &Worker| worker.rest().clone()).collect();
        let (topics, clock) = (topics.into(), shared.clock);
        let monitor = Monitor { info, counters, topics, failures, rests, clock };
        let inputs = std::mem::take(&mut builder.inputs);
        Ok(Frozen { workers, monitor, inputs })
    }
}

/// The controls of all nodes, by their index.
fn node_controls(
    builder: &GraphBuilder,
    default: FailurePolicy,
    retirements: &[Arc<Notifier>],
) -> Box<[NodeControl]> {
    let policies = builder.policies.iter();
    let mut nodes: Box<[_]> =
        policies.map(|policy| NodeControl::new(policy.unwrap_or(default))).collect();
    for (event_loop, retirement) in builder.loops.iter().zip(retirements) {
        nodes[event_loop.node_index].loops.push(retirement.clone());
    }
    for (node, watcher) in builder.watchers() {
        nodes[node].watchers.push(watcher);
    }
    nodes
}

fn check_plan(builder: &GraphBuilder, plan: &Plan) -> Result<(), FreezeError> {
    let mut counts = vec![0; builder.loops.len()];
    for id in plan.workers.iter().flatten() {
        *counts.get_mut(id.0 as usize).ok_or(FreezeError::UnknownLoop(id.0))? += 1;
    }
    if let Some(n) = counts.iter().position(|&count| count != 1) {
        let name = builder.loops[n].full_name();
        return Err(FreezeError::Misplaced { name, count: counts[n] });
    }
    for loops in &plan.workers {
        let callbacks = loops.iter().flat_map(|id| &builder.loops[id.0 as usize].callbacks);
        let callbacks: Vec<_> = callbacks.map(|c| &builder.callback_specs[c.0 as usize]).collect();
        // Each loop has a token for its retirement, each timer one for being changed.
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
        if let Some(middleware) = builder.middleware.as_ref().filter(|other| other.receives()) {
            return Err(FreezeError::NotIsolated(middleware.name().into()));
        }
        let sequential = plan.order == ReadyOrder::Fifo && plan.workers.len() == 1;
        return if sequential { Ok(()) } else { Err(FreezeError::NotSequential) };
    }
    if let Some(input) = builder.inputs.first() {
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

/// What connecting needs to know for every worker.
#[derive(Clone, Copy)]
struct Common<'a> {
    builder: &'a GraphBuilder,
    order: ReadyOrder,
    sim_network: Option<&'a Arc<SimNetwork>>,
    /// Of each loop.
    retirements: &'a [Arc<Notifier>],
}

/// Creates the rings of one worker, and fills in how its callbacks are made ready.
fn connect_worker(
    common: Common<'_>,
    loops: &[LoopId],
    ready: &mut [Option<Ready>],
) -> WorkerParts {
    let Common { builder, order, sim_network, retirements } = common;
    let mut loops = loops.to_vec();
    let priority = |id: &LoopId| builder.loops[id.0 as usize].priority;
    let picker = match order {
        ReadyOrder::Fifo => Picker::new(&[0]),
        ReadyOrder::Sweep => {
            loops.sort_by_key(|id| Reverse(priority(id)));
            Picker::new(&loops.iter().map(priority).collect::<Vec<_>>())
        }
    };
    let callbacks_of = |id: &LoopId| &builder.loops[id.0 as usize].callbacks;
    let events_of = |id: &LoopId| -> usize {
        let callbacks = callbacks_of(id).iter();
        let events = callbacks.map(|c| builder.callback_specs[c.0 as usize].source.capacity());
        events.sum::<usize>() + 1 // its retirement
    };
    let capacities: Vec<usize> = match order {
        ReadyOrder::Fifo => vec![loops.iter().map(events_of).sum()],
        ReadyOrder::Sweep => loops.iter().map(events_of).collect(),
    };
    let capacities: Vec<usize> = capacities.into_iter().map(|capacity| capacity.max(1)).collect();
    let mut numbered: Vec<(CallbackId, usize)> = loops
        .iter()
        .enumerate()
        .flat_map(|(n, id)| callbacks_of(id).iter().map(move |&callback| (callback, n)))
        .collect();
    numbered.sort_unstable(); // timers are added, and tasks started, in order of creation
    let callbacks = numbered.len();
    let is_timer = |callback: CallbackId| {
        matches!(builder.callback_specs[callback.0 as usize].source, EventSource::Timer(_))
    };
    let timed = numbered.iter().filter(|(callback, _)| is_timer(*callback)).count();
    let tokens = callbacks + timed + loops.len();
    let mut inbox = Inbox::new(&capacities, tokens);
    let (mut routes, mut counters) = (Vec::with_capacity(callbacks), Vec::new());
    let mut notifiers = vec![None; tokens];
    let mut controls = Vec::new();
    let mut timers = Timers::default();
    let mut starts = Vec::new();
    let mut entry = |loop_index, token: usize| {
        let ring = if order == ReadyOrder::Fifo { 0 } else { loop_index };
        let announcer = inbox.announcer(ring, token as u32);
        Ready { announcer, stamper: None, sim_network: sim_network.cloned() }
    };
    let mut deadlines = Vec::new();
    for (callback, loop_index) in numbered {
        let of = &builder.callback_specs[callback.0 as usize];
        let mut event = entry(loop_index, routes.len());
        let mut watch = Index::NONE;
        if let Some(deadline) = of.deadline {
            let capacity = of.source.capacity();
            let (stamper, watched) = DeadlineWatch::new(deadline, capacity, builder.clock.clone());
            event.stamper = Some(stamper);
            watch = Index::new(deadlines.len());
            deadlines.push(watched);
        }
        ready[callback.0 as usize] = Some(event.clone());
        counters.push(of.counters.clone());
        let mut timer = Index::NONE;
        match &of.source {
            EventSource::Queue(_) => {}
            EventSource::Notifier(notifier) | EventSource::QueueAndRemote(_, notifier) => {
                notifier.connect(event);
                starts.push(notifier.clone());
                notifiers[routes.len()] = Some(notifier.clone());
            }
            EventSource::Timer(control) => {
                let index = timers.add(callback, control.clone(), event, of.counters.clone());
                timer = Index::new(index);
                let token = callbacks + controls.len();
                control.changed.connect(entry(loop_index, token));
                notifiers[token] = Some(control.changed.clone());
                controls.push(Control::TimerChanged(index));
            }
        }
        let event_loop = loops[loop_index];
        routes.push(Route {
            callback,
            event_loop,
            node_index: builder.loops[event_loop.0 as usize].node_index as u32,
            loop_index: loop_index as u32,
            target: of.target,
            timer,
            deadline: watch,
        });
    }
    for (loop_index, id) in loops.iter().enumerate() {
        let retirement = &retirements[id.0 as usize];
        let token = callbacks + controls.len();
        retirement.connect(entry(loop_index, token));
        notifiers[token] = Some(retirement.clone());
        starts.push(retirement.clone());
        controls.push(Control::Retirement { loop_index, notifier: retirement.clone() });
    }
    WorkerParts {
        loops,
        inbox,
        routes,
        controls,
        counters,
        timers,
        notifiers,
        starts,
        picker,
        deadlines,
    }
}

/// The counters of one callback.
pub(crate) struct Counted {
    /// All but one.
    pub(crate) counters: Arc<CallbackCounters>,
    calls: Calls,
    token: usize,
}

impl Counted {
    /// The counters of all callbacks, in order.
    pub(crate) fn all(builder: &GraphBuilder, workers: &[Worker]) -> Arc<[Self]> {
        let counters = |callback: usize| builder.callback_specs[callback].counters.clone();
        let mut all: Vec<Option<Self>> = builder.callback_specs.iter().map(|_| None).collect();
        for worker in workers {
            for (callback, token) in worker.callbacks() {
                let (n, calls) = (callback.0 as usize, worker.calls().clone());
                all[n] = Some(Self { counters: counters(n), calls, token });
            }
        }
        all.into_iter().map(|of| of.expect("every callback has a worker")).collect()
    }

    /// How often the callback was called.
    pub(crate) fn dispatched(&self) -> u64 {
        self.calls.of(self.token).get()
    }
}
