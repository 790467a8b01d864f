//! Runs a program with the real executor, and writes down what happened.

use crate::spec::{self, CREATED_MAX, Entity, KEPT, Kind, Op, Spec, TRANSIENT_LOCAL_TOPIC};
use ringspin_executor::{
    CallError, CallbackStatistics, Client, Context, CreateServiceError, Dispatch, Graph,
    GuardCondition, Message, Node, Publisher, QoS, Recorder, Reply, Responder, Service, Statistics,
    StopHandle, Subscription, Task, Time, Timer,
};
use ringspin_modes::Executor;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Which callback was dispatched, for which source's how-manieth event, and when.
pub(crate) type Record = (u32, u32, u64, u64);

/// The records of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) dispatches: Vec<Record>,
    /// Dispatched, overwritten, missed, coalesced and discarded, by callback.
    pub(crate) counters: Vec<[u64; 5]>,
    /// The same of the destroyed callbacks together.
    pub(crate) removed: [u64; 5],
    /// Messages and requests that were handed back because a queue was full.
    pub(crate) refused: u64,
    pub(crate) calls: Calls,
    /// After how many dispatches the executor stopped on request.
    pub(crate) stops: Vec<usize>,
}

/// The ends of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) answered: u64,
    /// The server was destroyed before it answered.
    pub(crate) unanswered: u64,
    /// The client was destroyed.
    pub(crate) stopped: u64,
}

/// State that the callbacks share.
struct World {
    me: Weak<World>,
    spec: Spec,
    graph: Graph,
    stop: StopHandle,
    entities: Mutex<Entities>,
    calls: Mutex<Calls>,
}

/// The entities that scripts create and destroy; those with a node have its number.
#[derive(Default)]
struct Entities {
    nodes: Vec<Node<()>>,
    publishers: Vec<(usize, Option<Publisher<u64>>)>,
    subscriptions: Vec<Subscription>,
    services: Vec<Service>,
    clients: Vec<OwnClient>,
    guards: Vec<GuardCondition>,
    timers: Vec<Timer>,
    tasks: Vec<Task>,
    /// The waker of each task.
    wakers: Vec<Option<Waker>>,
    /// The requests that are not answered yet.
    kept: VecDeque<Responder<u64>>,
    /// How often each callback was dispatched.
    counts: Vec<usize>,
    created: usize,
    is_stopped: bool,
}

#[derive(Clone)]
struct OwnClient {
    node: usize,
    callback: usize,
    /// `None` once the handle was dropped.
    handle: Option<Client<(), u64, u64>>,
}

/// Requests of a script to its own callback.
#[derive(Default)]
struct Asked {
    cancel_self: bool,
    finish: bool,
}

/// Of `all`, the one that a script means.
fn pick<T: Clone>(all: &[T], index: usize) -> Option<T> {
    all.get(index.checked_rem(all.len())?).cloned()
}

/// Counts the end of a call. If it is dropped before, the client has stopped.
struct CallEnd(Option<Weak<World>>);

impl CallEnd {
    fn end(mut self, end: impl FnOnce(&mut Calls)) -> Option<Arc<World>> {
        let world = self.0.take()?.upgrade()?;
        end(&mut world.calls.lock().unwrap());
        Some(world)
    }
}

impl Drop for CallEnd {
    fn drop(&mut self) {
        if let Some(world) = self.0.take().and_then(|world| world.upgrade()) {
            world.calls.lock().unwrap().stopped += 1;
        }
    }
}

impl World {
    fn new(spec: &Spec, executor: &Executor) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            spec: spec.clone(),
            graph: executor.graph().clone(),
            stop: executor.stop_handle(),
            entities: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    /// One more dispatch of callback `index` of `node`.
    fn run(&self, index: usize, node: usize) -> Asked {
        let nth = {
            let counts = &mut self.entities().counts;
            counts[index] += 1;
            counts[index] - 1
        };
        self.do_all(self.spec.script(index, nth), node)
    }

    fn do_all(&self, ops: &[Op], node: usize) -> Asked {
        let mut asked = Asked::default();
        ops.iter().for_each(|op| self.do_one(*op, node, &mut asked));
        asked
    }

    fn do_one(&self, op: Op, node: usize, asked: &mut Asked) {
        match op {
            Op::Publish(n) => self.publish(node, n),
            Op::Call(n) => self.call(n),
            Op::Answer => {
                let responder = self.entities().kept.pop_front();
                if let Some(responder) = responder {
                    responder.respond(0);
                }
            }
            Op::Trigger(n) => _ = self.pick(n, |all| &all.guards).inspect(GuardCondition::trigger),
            Op::CancelTimer(n) => _ = self.pick(n, |all| &all.timers).inspect(Timer::cancel),
            Op::ResetTimer(n) => _ = self.pick(n, |all| &all.timers).inspect(Timer::reset),
            Op::SetPeriod(n, ms) => {
                let set = |timer: &Timer| timer.set_period(ms as u32 * MS).unwrap();
                self.pick(n, |all| &all.timers).inspect(set);
            }
            Op::CancelSelf => asked.cancel_self = true,
            Op::Wake(n) => {
                self.pick(n, |all| &all.wakers).iter().flatten().for_each(Waker::wake_by_ref);
            }
            Op::CancelTask(n) => _ = self.pick(n, |all| &all.tasks).inspect(Task::cancel),
            Op::Finish => asked.finish = true,
            Op::Stop => {
                self.entities().is_stopped = true;
                self.stop.stop();
            }
            Op::Create(entity) => self.create(entity),
            Op::Destroy(kind, n) => self.destroy(kind, n),
        }
    }

    fn entities(&self) -> MutexGuard<'_, Entities> {
        self.entities.lock().unwrap()
    }

    fn pick<T: Clone>(&self, index: usize, of: impl FnOnce(&Entities) -> &Vec<T>) -> Option<T> {
        pick(of(&self.entities()), index)
    }

    fn publish(&self, node: usize, index: usize) {
        let own: Vec<_> = {
            let publishers = &self.entities().publishers;
            let own = publishers.iter().filter(|(of, _)| *of == node);
            own.filter_map(|(_, handle)| handle.clone()).collect()
        };
        // Whether it was refused is in the statistics.
        let _ = pick(&own, index).map(|publisher| publisher.publish(0));
    }

    fn call(&self, n: usize) {
        let client = self.pick(n, |all| &all.clients);
        let Some(OwnClient { node, callback, handle: Some(client) }) = client else { return };
        // A weak handle: what waits for a response must not keep the world alive.
        let end = CallEnd(Some(self.me.clone()));
        let called = client.call(0, move |(), reply: Result<Reply<u64>, _>, _| {
            let world = end.end(|calls| match reply {
                Ok(_) => calls.answered += 1,
                Err(CallError::Unanswered) => calls.unanswered += 1,
                Err(other) => panic!("a call ended otherwise: {other}"),
            });
            if let Some(world) = world {
                world.run(callback, node);
            }
        });
        if called.is_err() {
            self.calls.lock().unwrap().stopped -= 1; // it did not begin
        }
    }

    /// Creates an entity, unless its node is gone.
    fn create(&self, entity: Entity) {
        let mut entities = self.entities();
        entities.created += 1;
        if entities.created > CREATED_MAX {
            return;
        }
        let all = &mut *entities;
        match entity {
            Entity::Node => {
                let name = format!("node{}", all.nodes.len());
                all.nodes.push(self.graph.create_node(&name, ()).unwrap());
            }
            Entity::Publisher { node, topic } => self.create_publisher(all, node, topic),
            Entity::Subscription(of) => self.subscribe(all, &of),
            Entity::Service(of) => self.create_service(all, &of),
            Entity::Client { node, depth } => self.create_client(all, node, depth),
            Entity::Guard { node } => self.create_guard(all, node),
            Entity::Timer(of) => self.create_timer(all, &of),
            Entity::Task { node } => self.spawn(all, node),
        }
    }

    fn destroy(&self, kind: Kind, n: usize) {
        match kind {
            Kind::Node => _ = self.pick(n, |all| &all.nodes).inspect(Node::destroy),
            Kind::Publisher => {
                let handles = &mut self.entities().publishers;
                let n = n.checked_rem(handles.len());
                let ended = n.and_then(|n| handles[n].1.take());
                drop(ended);
            }
            Kind::Subscription => {
                self.pick(n, |all| &all.subscriptions).inspect(Subscription::destroy);
            }
            Kind::Service => _ = self.pick(n, |all| &all.services).inspect(Service::destroy),
            Kind::Client => {
                let clients = &mut self.entities().clients;
                let n = n.checked_rem(clients.len());
                let ended = n.and_then(|n| clients[n].handle.take());
                drop(ended);
            }
            Kind::Guard => _ = self.pick(n, |all| &all.guards).inspect(GuardCondition::destroy),
            Kind::Timer => _ = self.pick(n, |all| &all.timers).inspect(Timer::destroy),
        }
    }

    /// The callback that is created next, and the world for it.
    fn next(&self, all: &mut Entities) -> (usize, Arc<Self>) {
        all.counts.push(0);
        (all.counts.len() - 1, self.me.upgrade().expect("its callbacks and its run hold it"))
    }
}

impl Entities {
    fn node(&self, node: usize) -> (usize, Node<()>) {
        let node = node % self.nodes.len();
        (node, self.nodes[node].clone())
    }

    /// The new entity. `None` if its node is gone: then its callbacks, the newest, are not there,
    /// either.
    fn created<T, E: std::fmt::Display>(
        &mut self,
        created: Result<T, E>,
        callbacks: usize,
    ) -> Option<T> {
        let failed = |error: E| {
            let error = error.to_string();
            assert!(error.contains("gone"), "{error}");
            self.counts.truncate(self.counts.len() - callbacks);
        };
        created.map_err(failed).ok()
    }
}

impl World {
    fn create_publisher(&self, all: &mut Entities, node: usize, topic: usize) {
        let (index, node) = all.node(node);
        let qos = match topic == TRANSIENT_LOCAL_TOPIC {
            true => QoS::keep_last(KEPT).transient_local(),
            false => QoS::default(),
        };
        let created = node.create_publisher(&format!("topic{topic}"), qos);
        if let Some(created) = all.created(created, 0) {
            all.publishers.push((index, Some(created)));
        }
    }

    fn subscribe(&self, all: &mut Entities, of: &spec::Subscription) {
        let (node, handle) = all.node(of.node);
        let (index, world) = self.next(all);
        let mut qos = match of.keep_all {
            true => QoS::keep_all(of.depth),
            false => QoS::keep_last(of.depth),
        };
        if of.transient_local {
            qos = qos.transient_local();
        }
        let run = move |_: &mut (), _: &Message<u64>, _: &mut Context<'_>| {
            world.run(index, node);
        };
        let created = handle.create_subscription(&format!("topic{}", of.topic), qos, run);
        let created = all.created(created, 1);
        all.subscriptions.extend(created);
    }

    fn create_service(&self, all: &mut Entities, of: &spec::Service) {
        let (node, handle) = all.node(of.node);
        let (index, world) = self.next(all);
        let (qos, deferred) = (QoS::keep_all(of.depth), of.deferred);
        let run = move |_: &mut (), _: &u64, responder: Responder<u64>, _: &mut Context<'_>| {
            world.run(index, node);
            match deferred {
                true => world.entities().kept.push_back(responder),
                false => responder.respond(0),
            }
        };
        match handle.create_deferred_service("service", qos, run) {
            Err(CreateServiceError::Duplicate { .. }) => _ = all.counts.pop(),
            created => {
                let created = all.created(created, 1);
                all.services.extend(created);
            }
        }
    }

    fn create_client(&self, all: &mut Entities, node: usize, depth: usize) {
        let (node, handle) = all.node(node);
        let (callback, _) = self.next(all);
        self.next(all); // its timeouts
        let created = handle.create_client("service", QoS::keep_all(depth));
        if let Some(handle) = all.created(created, 2) {
            all.clients.push(OwnClient { node, callback, handle: Some(handle) });
        }
    }

    fn create_guard(&self, all: &mut Entities, node: usize) {
        let (node, handle) = all.node(node);
        let (index, world) = self.next(all);
        let run = move |_: &mut (), _: &mut Context<'_>| {
            world.run(index, node);
        };
        let created = handle.create_guard_condition("guard", run);
        let created = all.created(created, 1);
        all.guards.extend(created);
    }

    fn create_timer(&self, all: &mut Entities, of: &spec::Timer) {
        let (node, handle) = all.node(of.node);
        let (index, world) = self.next(all);
        let period = of.period_ms as u32 * MS;
        let run = move |_: &mut (), cx: &mut Context<'_>| {
            if world.run(index, node).cancel_self {
                cx.cancel_timer();
            }
        };
        let created = match of.repeats {
            true => handle.create_timer(period, run),
            false => handle.create_one_shot_timer(period, run),
        };
        let created = all.created(created, 1);
        all.timers.extend(created);
    }

    fn spawn(&self, all: &mut Entities, node: usize) {
        let (node, handle) = all.node(node);
        let (index, world) = self.next(all);
        let task = all.tasks.len();
        let future = poll_fn(move |cx| {
            world.entities().wakers[task] = Some(cx.waker().clone());
            match world.run(index, node).finish {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        let created = handle.spawn("task", future);
        if let Some(created) = all.created(created, 1) {
            all.tasks.push(created);
            all.wakers.push(None);
        }
    }
}

/// Writes every dispatch down, and stops after a number of them.
struct Log {
    dispatches: Arc<Mutex<Vec<Record>>>,
    dispatches_max: usize,
    stop: StopHandle,
}

impl Recorder for Log {
    fn started(&mut self, dispatch: &Dispatch) {
        let event = dispatch.event;
        let time = dispatch.time.as_nanos();
        let mut dispatches = self.dispatches.lock().unwrap();
        dispatches.push((dispatch.callback.0, event.source.0, event.sequence, time));
        if dispatches.len() == self.dispatches_max {
            self.stop.stop();
        }
    }
}

/// Runs `spec`: up to simulated time `end_ms`, or, in a live mode, for `dispatches` events.
pub(crate) fn run(
    spec: &Spec,
    executor: Executor,
    dispatches: Option<usize>,
    end_ms: u32,
) -> Outcome {
    let records = Arc::<Mutex<Vec<Record>>>::default();
    let dispatches_max = dispatches.unwrap_or(usize::MAX);
    let (seen, stop) = (records.clone(), executor.stop_handle());
    let mut executor = executor.with_recorders(move |_, _| Log {
        dispatches: seen.clone(),
        dispatches_max,
        stop: stop.clone(),
    });
    let world = World::new(spec, &executor);
    world.do_all(&spec.initial, 0);
    let mut stops = Vec::new();
    loop {
        world.entities().is_stopped = false;
        world.stop.reset(); // also the stop of a script, before there was anything to stop
        let count = records.lock().unwrap().len();
        match dispatches {
            None => executor.spin_until(Time::ZERO + end_ms * MS).unwrap(),
            Some(max) if count >= max => executor.spin_for(MS / 10).unwrap(), // nothing more
            // The spin ends earlier, unless events are missing.
            Some(_) => executor.spin_for(10_000 * MS).unwrap(),
        }
        let count = records.lock().unwrap().len();
        let is_stopped = world.entities().is_stopped;
        if is_stopped {
            world.do_all(spec.between(stops.len()), 0);
            stops.push(count);
        } else if count != dispatches_max || !world.stop.is_stopped() {
            break;
        }
    }
    let Statistics { callbacks, refused, removed: of, .. } = executor.statistics();
    let counters = |of: &CallbackStatistics| {
        [of.dispatched, of.overwritten, of.missed, of.coalesced, of.discarded]
    };
    let (dispatches, calls) = (records.lock().unwrap().clone(), *world.calls.lock().unwrap());
    Outcome {
        dispatches,
        counters: callbacks.iter().map(counters).collect(),
        removed: counters(&of),
        refused: refused.iter().map(|(_, count)| count).sum(),
        calls,
        stops,
    }
}

/// The nodes of `spec` in the order in which the executor sweeps over them.
pub(crate) fn topological_order(spec: &Spec) -> Vec<usize> {
    let executor = Executor::single_core();
    let world = World::new(spec, &executor);
    world.do_all(&spec.initial, 0);
    let order = executor.graph().info().topological_order();
    order.into_iter().map(|id| id.0 as usize).collect()
}
