//! Runs a program with the real executor, and writes down what happened.

use crate::history::{self, History, Records};
use crate::spec::{self, CREATED_MAX, Entity, KEPT, Kind, Op, Spec, TRANSIENT_LOCAL_TOPIC};
use ringspin_executor::{
    CallError, CallbackStatistics, Client, Context, Dispatch, ErrorKind, Graph, GuardCondition,
    Message, Node, PublishError, Publisher, QoS, Recorder, Reply, Responder, Service, Statistics,
    StopHandle, Subscription, Task, Time, Timer,
};
use ringspin_modes::Executor;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// The callback of a dispatch, the source of its event with the number there, and the time.
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
    history: History,
}

/// The entities that scripts create and destroy.
#[derive(Default)]
struct Entities {
    nodes: Vec<Node<()>>,
    publishers: Vec<OwnPublisher>,
    subscriptions: Vec<Own<Subscription>>,
    services: Vec<Own<Service>>,
    clients: Vec<Own<Asking>>,
    guards: Vec<Own<GuardCondition>>,
    timers: Vec<Own<Timer>>,
    tasks: Vec<Own<Task>>,
    /// The waker of each task.
    wakers: Vec<Option<Waker>>,
    /// The requests that are not answered yet.
    kept: VecDeque<Responder<u64>>,
    created: usize,
    is_stopped: bool,
}

/// An entity with its node and callback.
#[derive(Clone)]
struct Own<T> {
    node: usize,
    callback: usize,
    handle: T,
}

/// A client ends with its handle and its calls.
struct Asking {
    /// `None` once the handle was dropped.
    client: Option<Client<(), u64, u64>>,
    /// Calls that have not ended.
    calls: usize,
}

#[derive(Clone)]
struct OwnPublisher {
    number: usize,
    node: usize,
    topic: usize,
    /// `None` once the handle was dropped.
    handle: Option<Publisher<u64>>,
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

/// Notes the end of a task, which drops its future.
struct TaskEnd {
    world: Weak<World>,
    node: usize,
    callback: usize,
}

impl Drop for TaskEnd {
    fn drop(&mut self) {
        if let Some(world) = self.world.upgrade() {
            let begin = world.history.step();
            world.history.destroy(|n, _| n == self.callback, begin, self.node);
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
            history: History::default(),
        })
    }

    /// One more dispatch of callback `index` of `node`, for a message of a subscription.
    fn run(&self, index: usize, node: usize, message: Option<u64>) -> Asked {
        let nth = self.history.enter(index, message);
        let asked = self.do_all(self.spec.script(index, nth), node);
        self.history.leave(index, nth);
        asked
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
            Op::Trigger(n) => {
                if let Some(guard) = self.pick(n, |all| &all.guards) {
                    self.history.trigger(guard.callback, || guard.handle.trigger());
                }
            }
            Op::CancelTimer(n) => self.with_timer(n, Timer::cancel),
            Op::ResetTimer(n) => self.with_timer(n, Timer::reset),
            Op::SetPeriod(n, ms) => {
                self.with_timer(n, |timer| timer.set_period(ms as u32 * MS).unwrap());
            }
            Op::CancelSelf => asked.cancel_self = true,
            Op::Wake(n) => {
                self.pick(n, |all| &all.wakers).iter().flatten().for_each(Waker::wake_by_ref);
            }
            Op::CancelTask(n) => {
                _ = self.pick(n, |all| &all.tasks).inspect(|of| of.handle.cancel())
            }
            Op::Finish => asked.finish = true,
            Op::Stop => {
                self.entities().is_stopped = true;
                self.stop.stop();
            }
            Op::Create(entity) => self.create(entity),
            Op::Destroy(kind, n) => self.destroy(kind, n, node),
        }
    }

    fn entities(&self) -> MutexGuard<'_, Entities> {
        self.entities.lock().unwrap()
    }

    fn pick<T: Clone>(&self, index: usize, of: impl FnOnce(&Entities) -> &Vec<T>) -> Option<T> {
        pick(of(&self.entities()), index)
    }

    fn with_timer(&self, n: usize, f: impl FnOnce(&Timer)) {
        self.pick(n, |all| &all.timers).inspect(|timer| f(&timer.handle));
    }

    fn publish(&self, node: usize, index: usize) {
        let own: Vec<_> = {
            let publishers = &self.entities().publishers;
            let own = publishers.iter().filter(|of| of.node == node && of.handle.is_some());
            own.cloned().collect()
        };
        let Some(OwnPublisher { number, topic, handle: Some(handle), .. }) = pick(&own, index)
        else {
            return;
        };
        self.history.publish(number, topic, |message| {
            let result = handle.publish(message);
            match &result {
                Ok(()) | Err(PublishError::NotFrozen(_)) => {}
                Err(PublishError::Full(_)) => self.history.lock().refused += 1,
                Err(other) => panic!("not published: {other}"),
            }
            result.is_ok()
        });
    }

    fn call(&self, n: usize) {
        let mut all = self.entities(); // else it may end with the clone of this call
        let Some(n) = n.checked_rem(all.clients.len()) else { return };
        let Own { node, callback, handle } = &mut all.clients[n];
        let (node, callback, Asking { client: Some(client), calls }) = (*node, *callback, handle)
        else {
            return;
        };
        // A weak handle: a waiting call must not keep the world alive.
        let end = CallEnd(Some(self.me.clone()));
        let called = client.call(0, move |(), reply: Result<Reply<u64>, _>, _| {
            let world = end.end(|calls| match reply {
                Ok(_) => calls.answered += 1,
                Err(CallError::Unanswered) => calls.unanswered += 1,
                Err(other) => panic!("a call ended otherwise: {other}"),
            });
            if let Some(world) = world {
                world.run(callback, node, None);
                let mut all = world.entities();
                all.clients[n].handle.calls -= 1;
                world.end_client(&all.clients[n], node);
            }
        });
        let Err(refused) = called else {
            *calls += 1;
            return self.history.lock().called += 1;
        };
        self.calls.lock().unwrap().stopped -= 1; // it did not begin
        self.history.lock().refused += u64::from(refused.reason == CallError::ServiceFull);
    }

    /// Creates an entity, unless its node is destroyed.
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
            Entity::Subscription(of) => self.subscribe(all, of),
            Entity::Service(of) => self.create_service(all, &of),
            Entity::Client { node, depth } => self.create_client(all, node, depth),
            Entity::Guard { node } => self.create_guard(all, node),
            Entity::Timer(of) => self.create_timer(all, &of),
            Entity::Task { node } => self.spawn(all, node),
        }
    }

    /// Destroys an entity in a callback of node `by`.
    fn destroy(&self, kind: Kind, n: usize, by: usize) {
        let begin = self.history.step();
        let callback = match kind {
            Kind::Node => return self.destroy_node(n, by),
            Kind::Publisher => {
                let publishers = &mut self.entities().publishers;
                let n = n.checked_rem(publishers.len());
                return drop(n.and_then(|n| publishers[n].handle.take()));
            }
            Kind::Subscription => {
                let of = self.pick(n, |all| &all.subscriptions);
                of.inspect(|of| of.handle.destroy()).map(|of| of.callback)
            }
            Kind::Service => {
                let of = self.pick(n, |all| &all.services);
                of.inspect(|of| of.handle.destroy()).map(|of| of.callback)
            }
            Kind::Client => {
                let mut all = self.entities();
                let Some(n) = n.checked_rem(all.clients.len()) else { return };
                drop(all.clients[n].handle.client.take());
                return self.end_client(&all.clients[n], by);
            }
            Kind::Guard => {
                let of = self.pick(n, |all| &all.guards);
                of.inspect(|of| of.handle.destroy()).map(|of| of.callback)
            }
            Kind::Timer => {
                let of = self.pick(n, |all| &all.timers);
                of.inspect(|of| of.handle.destroy()).map(|of| of.callback)
            }
        };
        let Some(callback) = callback else { return };
        self.history.destroy(|n, _| n == callback, begin, by);
    }

    /// Notes the end of a client with its callback for timeouts, if it has neither a handle nor
    /// calls.
    fn end_client(&self, of: &Own<Asking>, by: usize) {
        if of.handle.client.is_none() && of.handle.calls == 0 {
            let (callbacks, begin) = (of.callback..=of.callback + 1, self.history.step());
            self.history.destroy(|n, _| callbacks.contains(&n), begin, by);
        }
    }

    fn destroy_node(&self, n: usize, by: usize) {
        let begin = self.history.step();
        let nodes = self.entities().nodes.clone();
        let Some(n) = n.checked_rem(nodes.len()) else { return };
        nodes[n].destroy();
        let _created = self.entities(); // what others have created there before
        self.history.destroy(|_, of| of.node == n, begin, by);
    }

    /// The number of the callback that is created next, and the world for it.
    fn next(&self, node: usize, kind: history::Kind) -> (usize, Arc<Self>) {
        let callback = self.history.create(node, kind);
        (callback, self.me.upgrade().expect("its callbacks and its run hold it"))
    }

    /// The handle of a new entity with so many callbacks; `None` if its node is destroyed.
    fn created<T, E: std::fmt::Display>(
        &self,
        created: Result<T, E>,
        callbacks: usize,
    ) -> Option<T> {
        self.history.created(callbacks, created.is_ok());
        let check =
            |error: E| assert!(error.to_string().contains("the node was destroyed"), "{error}");
        created.map_err(check).ok()
    }
}

impl Entities {
    fn node(&self, node: usize) -> (usize, Node<()>) {
        let node = node % self.nodes.len();
        (node, self.nodes[node].clone())
    }
}

impl World {
    fn create_publisher(&self, all: &mut Entities, node: usize, topic: usize) {
        let (node, handle) = all.node(node);
        let qos = match topic == TRANSIENT_LOCAL_TOPIC {
            true => QoS::keep_last(KEPT).transient_local(),
            false => QoS::default(),
        };
        let created = handle.create_publisher(&format!("topic{topic}"), qos);
        let created = self.created(created, 0);
        let number = all.publishers.len();
        let own = created.map(|of| OwnPublisher { number, node, topic, handle: Some(of) });
        all.publishers.extend(own);
    }

    fn subscribe(&self, all: &mut Entities, of: spec::Subscription) {
        let (node, handle) = all.node(of.node);
        let (callback, world) = self.next(node, history::Kind::Subscription(of));
        let mut qos = match of.keep_all {
            true => QoS::keep_all(of.depth),
            false => QoS::keep_last(of.depth),
        };
        if of.transient_local {
            qos = qos.transient_local();
        }
        let run = move |_: &mut (), message: &Message<u64>, _: &mut Context<'_>| {
            world.run(callback, node, Some(**message));
        };
        let created = handle.create_subscription(&format!("topic{}", of.topic), qos, run);
        let created = self.created(created, 1);
        all.subscriptions.extend(created.map(|handle| Own { node, callback, handle }));
    }

    fn create_service(&self, all: &mut Entities, of: &spec::Service) {
        let (node, handle) = all.node(of.node);
        let (callback, world) = self.next(node, history::Kind::Other);
        let (qos, deferred) = (QoS::keep_all(of.depth), of.deferred);
        let run = move |_: &mut (), _: &u64, responder: Responder<u64>, _: &mut Context<'_>| {
            world.run(callback, node, None);
            match deferred {
                true => world.entities().kept.push_back(responder),
                false => responder.respond(0),
            }
        };
        match handle.create_deferred_service("service", qos, run) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.history.created(1, false);
            }
            created => {
                let created = self.created(created, 1);
                all.services.extend(created.map(|handle| Own { node, callback, handle }));
            }
        }
    }

    fn create_client(&self, all: &mut Entities, node: usize, depth: usize) {
        let (node, handle) = all.node(node);
        let (callback, _) = self.next(node, history::Kind::Client);
        self.next(node, history::Kind::Client); // its timeouts
        let created = handle.create_client("service", QoS::keep_all(depth));
        let created = self.created(created, 2);
        let asking = |client| Asking { client: Some(client), calls: 0 };
        all.clients.extend(created.map(|of| Own { node, callback, handle: asking(of) }));
    }

    fn create_guard(&self, all: &mut Entities, node: usize) {
        let (node, handle) = all.node(node);
        let (callback, world) = self.next(node, history::Kind::Guard);
        let run = move |_: &mut (), _: &mut Context<'_>| {
            world.run(callback, node, None);
        };
        let created = handle.create_guard_condition("guard", run);
        let created = self.created(created, 1);
        all.guards.extend(created.map(|handle| Own { node, callback, handle }));
    }

    fn create_timer(&self, all: &mut Entities, of: &spec::Timer) {
        let (node, handle) = all.node(of.node);
        let (callback, world) = self.next(node, history::Kind::Other);
        let period = of.period_ms as u32 * MS;
        let run = move |_: &mut (), cx: &mut Context<'_>| {
            if world.run(callback, node, None).cancel_self {
                cx.cancel_timer();
            }
        };
        let created = match of.repeats {
            true => handle.create_timer(period, run),
            false => handle.create_one_shot_timer(period, run),
        };
        let created = self.created(created, 1);
        all.timers.extend(created.map(|handle| Own { node, callback, handle }));
    }

    fn spawn(&self, all: &mut Entities, node: usize) {
        let (node, handle) = all.node(node);
        let (callback, world) = self.next(node, history::Kind::Other);
        let task = all.tasks.len();
        let end = TaskEnd { world: self.me.clone(), node, callback };
        let future = poll_fn(move |cx| {
            let _ = &end;
            world.entities().wakers[task] = Some(cx.waker().clone());
            match world.run(callback, node, None).finish {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        all.wakers.push(None);
        let created = self.created(handle.spawn("task", future), 1);
        match created {
            Some(handle) => all.tasks.push(Own { node, callback, handle }),
            None => _ = all.wakers.pop(),
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

/// The records of a run in any order of events.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) records: Records,
    pub(crate) statistics: Statistics,
    pub(crate) calls: Calls,
}

/// The node of operations outside of callbacks, in the history.
const BESIDE: usize = usize::MAX;

/// Runs `spec`, which has no timers, with a thread beside, until nothing is left to do and every
/// call has ended.
pub(crate) fn run_to_rest(spec: &Spec, mut executor: Executor) -> Run {
    let world = World::new(spec, &executor);
    world.do_all(&spec.initial, 0);
    world.history.start();
    std::thread::scope(|scope| {
        scope.spawn(|| world.do_all(&spec.beside, BESIDE));
        spin_until_rest(&world, &mut executor);
    });
    let mut stops = 0;
    loop {
        spin_until_rest(&world, &mut executor);
        let mut entities = world.entities();
        let is_stopped = std::mem::take(&mut entities.is_stopped);
        let kept = match is_stopped {
            true => VecDeque::new(),
            false => std::mem::take(&mut entities.kept),
        };
        drop(entities);
        if is_stopped {
            world.do_all(spec.between(stops), 0);
            stops += 1;
        } else if kept.is_empty() {
            break;
        }
        drop(kept); // their calls end without an answer
    }
    let statistics = executor.statistics();
    let records = std::mem::take(&mut *world.history.lock());
    let calls = *world.calls.lock().unwrap();
    Run { records, statistics, calls }
}

/// Spins until a stop, or until each worker has looked for events and found none, while nothing
/// happened on any of them: twice, because a worker that adopts a change may answer calls, of which
/// another worker learns after its look.
fn spin_until_rest(world: &World, executor: &mut Executor) {
    let idle = |executor: &Executor| -> Vec<u64> {
        executor.statistics().workers.iter().map(|of| of.idle).collect()
    };
    world.entities().is_stopped = false;
    world.stop.reset();
    let mut still = 0;
    for _ in 0..10_000 {
        let (step, before) = (world.history.step(), idle(executor));
        executor.spin_for(MS).unwrap();
        let is_still = world.history.step() == step + 1;
        let after = idle(executor);
        let have_looked = !after.is_empty()
            && before.len() == after.len()
            && before.iter().zip(&after).all(|(before, after)| before < after);
        still = if is_still && have_looked { still + 1 } else { 0 };
        if world.entities().is_stopped || still == 2 {
            return;
        }
    }
    panic!("the run does not come to rest");
}

/// The nodes of `spec` in the order in which the executor sweeps over them.
pub(crate) fn topological_order(spec: &Spec) -> Vec<usize> {
    let executor = Executor::single_core();
    let world = World::new(spec, &executor);
    world.do_all(&spec.initial, 0);
    let order = executor.graph().info().topological_order();
    order.into_iter().map(|id| id.0 as usize).collect()
}
