//! Builds a graph as specified with the real executor, runs it, and writes down what happened.

use crate::spec::{self, CREATED_MAX, Op, Spec};
use ringspin_executor::{
    Client, Context, Dispatch, GuardCondition, Message, Node, Publisher, QoS, Recorder, Responder,
    Statistics, StopHandle, Subscription, Task, Time, Timer,
};
use ringspin_modes::Executor;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Which callback was dispatched, for which source's how-manieth event, and when.
pub(crate) type Record = (u32, u32, u64, u64);

/// The records of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) dispatches: Vec<Record>,
    /// Dispatched, overwritten, missed and coalesced, by callback.
    pub(crate) counters: Vec<[u64; 4]>,
    /// By topic or service.
    pub(crate) refused: Vec<(String, u64)>,
    /// The same of the destroyed callbacks together, and the messages that were discarded.
    pub(crate) removed: [u64; 5],
    /// After how many dispatches the executor stopped on request.
    pub(crate) stops: Vec<usize>,
}

/// Everything that scripts use; complete once the graph is built.
struct Handles {
    publishers: Vec<Vec<Publisher<u64>>>,
    nodes: Vec<Node<()>>,
    clients: OnceLock<Vec<Client<(), u64, u64>>>,
    tasks: OnceLock<Vec<Task>>,
    stop: StopHandle,
}

/// State that the callbacks share.
struct World {
    me: Weak<World>,
    spec: Spec,
    handles: OnceLock<Handles>,
    /// The entities that scripts create and destroy.
    changing: Mutex<Changing>,
    /// How often each callback was dispatched.
    counts: Mutex<Vec<usize>>,
    kept: Mutex<VecDeque<Responder<u64>>>,
    wakers: Mutex<Vec<Option<Waker>>>,
}

#[derive(Default)]
struct Changing {
    subscriptions: Vec<Subscription>,
    guards: Vec<GuardCondition>,
    timers: Vec<Timer>,
    /// The number of callbacks so far.
    callbacks: usize,
    /// The number of entities that callbacks have created.
    created: usize,
}

/// Requests of a script to its own callback.
#[derive(Default)]
struct Asked {
    cancel_self: bool,
    finish: bool,
}

/// Of `all`, the one that a script means.
fn pick<T>(all: &[T], index: usize) -> Option<&T> {
    all.get(index.checked_rem(all.len())?)
}

impl World {
    /// One more dispatch of callback `index` of `node`.
    fn run(&self, index: usize, node: usize) -> Asked {
        let nth = {
            let mut counts = self.counts.lock().unwrap();
            counts[index] += 1;
            counts[index] - 1
        };
        let mut asked = Asked::default();
        self.spec.script(index, nth).iter().for_each(|op| self.do_one(*op, node, &mut asked));
        asked
    }

    fn do_one(&self, op: Op, node: usize, asked: &mut Asked) {
        let handles = self.handles.get().expect("the graph is complete");
        match op {
            Op::Publish(topic) => {
                // Whether it was refused is in the statistics.
                let _ =
                    pick(&handles.publishers[node], topic).map(|publisher| publisher.publish(0));
            }
            Op::Call(client) => self.call(client),
            Op::Answer => {
                let responder = self.kept.lock().unwrap().pop_front();
                if let Some(responder) = responder {
                    responder.respond(0);
                }
            }
            Op::Trigger(guard) => {
                pick(&self.changing().guards, guard).inspect(|guard| guard.trigger());
            }
            Op::CancelTimer(timer) => {
                pick(&self.changing().timers, timer).inspect(|timer| timer.cancel());
            }
            Op::ResetTimer(timer) => {
                pick(&self.changing().timers, timer).inspect(|timer| timer.reset());
            }
            Op::SetPeriod(timer, ms) => {
                pick(&self.changing().timers, timer)
                    .inspect(|timer| timer.set_period(ms as u32 * MS).unwrap());
            }
            Op::CancelSelf => asked.cancel_self = true,
            Op::Wake(task) => {
                let wakers = self.wakers.lock().unwrap();
                pick(&wakers, task).into_iter().flatten().for_each(Waker::wake_by_ref);
            }
            Op::CancelTask(task) => {
                pick(handles.tasks.get().unwrap(), task).inspect(|task| task.cancel());
            }
            Op::Finish => asked.finish = true,
            Op::Stop => handles.stop.stop(),
            Op::Subscribe(of) => self.create(|world| world.subscribe(&of)),
            Op::CreateGuard(node) => self.create(|world| world.create_guard(node)),
            Op::CreateTimer(of) => self.create(|world| world.create_timer(&of)),
            Op::Unsubscribe(n) => {
                pick(&self.changing().subscriptions, n).inspect(|of| of.destroy());
            }
            Op::DestroyGuard(n) => {
                pick(&self.changing().guards, n).inspect(|guard| guard.destroy());
            }
            Op::DestroyTimer(n) => {
                pick(&self.changing().timers, n).inspect(|timer| timer.destroy());
            }
        }
    }

    fn changing(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap()
    }

    fn create(&self, create: impl FnOnce(&Self)) {
        let mut changing = self.changing();
        changing.created += 1;
        let is_allowed = changing.created <= CREATED_MAX;
        drop(changing);
        if is_allowed {
            create(self);
        }
    }

    fn node(&self, node: usize) -> &Node<()> {
        &self.handles.get().expect("nodes come first").nodes[node]
    }

    /// The index of the callback that is created next, and the world for it.
    fn next(&self) -> (usize, Arc<Self>) {
        let mut changing = self.changing();
        changing.callbacks += 1;
        (changing.callbacks - 1, self.me.upgrade().expect("a callback holds it"))
    }

    fn subscribe(&self, subscription: &spec::Subscription) {
        let (index, world) = self.next();
        let (node, topic) = (subscription.node, format!("topic{}", subscription.topic));
        let qos = match subscription.keep_all {
            true => QoS::keep_all(subscription.depth),
            false => QoS::keep_last(subscription.depth),
        };
        let run = move |_: &mut (), _: &Message<u64>, _: &mut Context<'_>| {
            world.run(index, node);
        };
        let created = self.node(node).create_subscription(&topic, qos, run).unwrap();
        self.changing().subscriptions.push(created);
    }

    fn create_guard(&self, node: usize) {
        let (index, world) = self.next();
        let run = move |_: &mut (), _: &mut Context<'_>| {
            world.run(index, node);
        };
        let created = self.node(node).create_guard_condition("guard", run).unwrap();
        self.changing().guards.push(created);
    }

    fn create_timer(&self, timer: &spec::Timer) {
        let (index, world) = self.next();
        let (node, period) = (timer.node, timer.period_ms as u32 * MS);
        let run = move |_: &mut (), cx: &mut Context<'_>| {
            if world.run(index, node).cancel_self {
                cx.cancel_timer();
            }
        };
        let created = match timer.repeats {
            true => self.node(node).create_timer(period, run).unwrap(),
            false => self.node(node).create_one_shot_timer(period, run).unwrap(),
        };
        self.changing().timers.push(created);
    }

    fn call(&self, client: usize) {
        let handles = self.handles.get().expect("the graph is complete");
        let clients = handles.clients.get().expect("the graph is complete");
        let Some(index) = client.checked_rem(clients.len()) else { return };
        let node = self.spec.clients[index].node;
        let callback = self.first_client() + 2 * index;
        // A weak handle: what waits for a response must not keep the world alive.
        let world = self.me.clone();
        let _ = clients[index].call(0, move |(), _, _| {
            if let Some(world) = world.upgrade() {
                world.run(callback, node);
            }
        });
    }

    /// The callback of the first client.
    fn first_client(&self) -> usize {
        self.spec.subscriptions.len() + usize::from(self.spec.service.is_some())
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
    let world = build(spec, &executor);
    let mut ignored = Asked::default();
    spec.initial.iter().for_each(|op| world.do_one(*op, 0, &mut ignored));
    let stop = executor.stop_handle();
    let mut stops = Vec::new();
    if stop.is_stopped() {
        stop.reset(); // by a script, before there was anything to stop
    }
    loop {
        match dispatches {
            None => executor.spin_until(Time::ZERO + end_ms * MS).unwrap(),
            // The spin ends earlier, unless events are missing.
            Some(_) => executor.spin_for(10_000 * MS).unwrap(),
        }
        let count = records.lock().unwrap().len();
        if !stop.is_stopped() || count >= dispatches_max {
            break;
        }
        stops.push(count);
        stop.reset();
    }
    if dispatches.is_some() {
        stop.reset();
        executor.spin_for(MS / 10).unwrap(); // there should be nothing more
    }
    let Statistics { callbacks, refused, removed: of, .. } = executor.statistics();
    let counters = callbacks.iter().map(|c| [c.dispatched, c.overwritten, c.missed, c.coalesced]);
    let (counters, dispatches) = (counters.collect(), records.lock().unwrap().clone());
    let removed = [of.dispatched, of.overwritten, of.missed, of.coalesced, of.discarded];
    Outcome { dispatches, counters, refused, removed, stops }
}

fn build(spec: &Spec, executor: &Executor) -> Arc<World> {
    let world = Arc::new_cyclic(|me| World {
        me: me.clone(),
        spec: spec.clone(),
        handles: OnceLock::new(),
        changing: Mutex::default(),
        counts: Mutex::new(vec![0; 100]),
        kept: Mutex::default(),
        wakers: Mutex::new(vec![None; spec.tasks.len()]),
    });
    let node = |n: usize| executor.create_node(&format!("node{n}"), ()).unwrap();
    let nodes: Vec<Node<()>> = (0..spec.nodes).map(node).collect();
    let publisher = |node: &Node<()>, topic: usize| {
        node.create_publisher(&format!("topic{topic}"), QoS::default()).unwrap()
    };
    let publishers = nodes.iter().map(|node| {
        let all = (0..spec.topics).map(|topic| publisher(node, topic));
        all.collect::<Vec<_>>()
    });
    let publishers = publishers.collect();
    let (tasks, clients) = (OnceLock::new(), OnceLock::new());
    let handles = Handles { publishers, nodes, clients, tasks, stop: executor.stop_handle() };
    assert!(world.handles.set(handles).is_ok());
    let handles = world.handles.get().unwrap();
    spec.subscriptions.iter().for_each(|of| world.subscribe(of));
    world.create_service();
    handles.clients.set(world.create_clients()).unwrap();
    spec.guards.iter().for_each(|node| world.create_guard(*node));
    spec.timers.iter().for_each(|of| world.create_timer(of));
    assert!(handles.tasks.set(world.create_tasks()).is_ok());
    world
}

impl World {
    fn create_service(&self) {
        let Some(service) = self.spec.service.clone() else { return };
        let (index, world) = self.next();
        let qos = QoS::keep_all(service.depth);
        let run = move |_: &mut (), _: &u64, responder: Responder<u64>, _: &mut Context<'_>| {
            world.run(index, service.node);
            match service.deferred {
                true => world.kept.lock().unwrap().push_back(responder),
                false => responder.respond(0),
            }
        };
        self.node(service.node).create_deferred_service("service", qos, run).unwrap();
    }

    fn create_clients(&self) -> Vec<Client<(), u64, u64>> {
        let client = |client: &spec::Client| {
            self.changing().callbacks += 2;
            let qos = QoS::keep_all(client.depth);
            self.node(client.node).create_client("service", qos).unwrap()
        };
        self.spec.clients.iter().map(client).collect()
    }

    fn create_tasks(&self) -> Vec<Task> {
        let task = |(task, &node): (usize, &usize)| {
            let (index, world) = self.next();
            let future = poll_fn(move |cx| {
                world.wakers.lock().unwrap()[task] = Some(cx.waker().clone());
                match world.run(index, node).finish {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            });
            self.node(node).spawn("task", future).unwrap()
        };
        self.spec.tasks.iter().enumerate().map(task).collect()
    }
}

/// The nodes of `spec` in the order in which the executor sweeps over them.
pub(crate) fn topological_order(spec: &Spec) -> Vec<usize> {
    let executor = Executor::single_core();
    let world = build(spec, &executor);
    spec.initial.iter().for_each(|op| world.do_one(*op, 0, &mut Asked::default()));
    let order = executor.graph().info().topological_order();
    order.into_iter().map(|id| id.0 as usize).collect()
}
