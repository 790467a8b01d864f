//! Builds a graph as specified with the real executor, runs it, and writes down what happened.

use crate::spec::{Op, Spec};
use ringspin_executor::{
    Client, Context, Dispatch, GuardCondition, Message, Node, Publisher, QoS, Recorder, Responder,
    Statistics, StopHandle, Task, Time, Timer,
};
use ringspin_modes::Executor;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, OnceLock, Weak};
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
    /// After how many dispatches the executor stopped on request.
    pub(crate) stops: Vec<usize>,
}

/// Everything that scripts use; complete once the graph is built.
struct Handles {
    publishers: Vec<Vec<Publisher<u64>>>,
    clients: Vec<Client<(), u64, u64>>,
    guards: Vec<GuardCondition>,
    timers: Vec<Timer>,
    tasks: Vec<Task>,
    stop: StopHandle,
}

/// State that the callbacks share.
struct World {
    me: Weak<World>,
    spec: Spec,
    handles: OnceLock<Handles>,
    /// How often each callback was dispatched.
    counts: Mutex<Vec<usize>>,
    kept: Mutex<VecDeque<Responder<u64>>>,
    wakers: Mutex<Vec<Option<Waker>>>,
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
                pick(&handles.guards, guard).inspect(|guard| guard.trigger());
            }
            Op::CancelTimer(timer) => {
                pick(&handles.timers, timer).inspect(|timer| timer.cancel());
            }
            Op::ResetTimer(timer) => {
                pick(&handles.timers, timer).inspect(|timer| timer.reset());
            }
            Op::SetPeriod(timer, ms) => {
                pick(&handles.timers, timer)
                    .inspect(|timer| timer.set_period(ms as u32 * MS).unwrap());
            }
            Op::CancelSelf => asked.cancel_self = true,
            Op::Wake(task) => {
                let wakers = self.wakers.lock().unwrap();
                pick(&wakers, task).into_iter().flatten().for_each(Waker::wake_by_ref);
            }
            Op::CancelTask(task) => {
                pick(&handles.tasks, task).inspect(|task| task.cancel());
            }
            Op::Finish => asked.finish = true,
            Op::Stop => handles.stop.stop(),
        }
    }

    fn call(&self, client: usize) {
        let clients = &self.handles.get().expect("the graph is complete").clients;
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
    let Statistics { callbacks, refused, .. } = executor.statistics();
    let counters = callbacks.iter().map(|c| [c.dispatched, c.overwritten, c.missed, c.coalesced]);
    let (counters, dispatches) = (counters.collect(), records.lock().unwrap().clone());
    Outcome { dispatches, counters, refused, stops }
}

fn build(spec: &Spec, executor: &Executor) -> Arc<World> {
    let world = Arc::new_cyclic(|me| World {
        me: me.clone(),
        spec: spec.clone(),
        handles: OnceLock::new(),
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
    let mut builder = Builder { world: world.clone(), nodes: &nodes, callbacks: 0 };
    builder.subscriptions(spec);
    builder.service(spec);
    let handles = Handles {
        publishers,
        clients: builder.clients(spec),
        guards: builder.guards(spec),
        timers: builder.timers(spec),
        tasks: builder.tasks(spec),
        stop: executor.stop_handle(),
    };
    assert!(world.handles.set(handles).is_ok());
    world
}

struct Builder<'a> {
    world: Arc<World>,
    nodes: &'a [Node<()>],
    callbacks: usize,
}

impl Builder<'_> {
    /// The index of the callback that is created next, and the world for it.
    fn next(&mut self) -> (usize, Arc<World>) {
        self.callbacks += 1;
        (self.callbacks - 1, self.world.clone())
    }

    fn subscriptions(&mut self, spec: &Spec) {
        for subscription in &spec.subscriptions {
            let (index, world) = self.next();
            let (node, topic) = (subscription.node, format!("topic{}", subscription.topic));
            let qos = match subscription.keep_all {
                true => QoS::keep_all(subscription.depth),
                false => QoS::keep_last(subscription.depth),
            };
            let run = move |_: &mut (), _: &Message<u64>, _: &mut Context<'_>| {
                world.run(index, node);
            };
            self.nodes[node].create_subscription(&topic, qos, run).unwrap();
        }
    }

    fn service(&mut self, spec: &Spec) {
        let Some(service) = spec.service.clone() else { return };
        let (index, world) = self.next();
        let qos = QoS::keep_all(service.depth);
        let node = &self.nodes[service.node];
        let run = move |_: &mut (), _: &u64, responder: Responder<u64>, _: &mut Context<'_>| {
            world.run(index, service.node);
            match service.deferred {
                true => world.kept.lock().unwrap().push_back(responder),
                false => responder.respond(0),
            }
        };
        node.create_deferred_service("service", qos, run).unwrap();
    }

    fn clients(&mut self, spec: &Spec) -> Vec<Client<(), u64, u64>> {
        let client = |client: &crate::spec::Client| {
            self.callbacks += 2;
            let qos = QoS::keep_all(client.depth);
            self.nodes[client.node].create_client("service", qos).unwrap()
        };
        spec.clients.iter().map(client).collect()
    }

    fn guards(&mut self, spec: &Spec) -> Vec<GuardCondition> {
        let guard = |&node: &usize| {
            let (index, world) = self.next();
            let run = move |_: &mut (), _: &mut Context<'_>| {
                world.run(index, node);
            };
            self.nodes[node].create_guard_condition("guard", run).unwrap()
        };
        spec.guards.iter().map(guard).collect()
    }

    fn timers(&mut self, spec: &Spec) -> Vec<Timer> {
        let timer = |timer: &crate::spec::Timer| {
            let (index, world) = self.next();
            let (node, period) = (timer.node, timer.period_ms as u32 * MS);
            let run = move |_: &mut (), cx: &mut Context<'_>| {
                if world.run(index, node).cancel_self {
                    cx.cancel_timer();
                }
            };
            match timer.repeats {
                true => self.nodes[node].create_timer(period, run).unwrap(),
                false => self.nodes[node].create_one_shot_timer(period, run).unwrap(),
            }
        };
        spec.timers.iter().map(timer).collect()
    }

    fn tasks(&mut self, spec: &Spec) -> Vec<Task> {
        let task = |(task, &node): (usize, &usize)| {
            let (index, world) = self.next();
            let future = poll_fn(move |cx| {
                world.wakers.lock().unwrap()[task] = Some(cx.waker().clone());
                match world.run(index, node).finish {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            });
            self.nodes[node].spawn("task", future).unwrap()
        };
        spec.tasks.iter().enumerate().map(task).collect()
    }
}

/// The nodes of `spec` in the order in which the executor sweeps over them.
pub(crate) fn topological_order(spec: &Spec) -> Vec<usize> {
    let executor = Executor::single_core();
    build(spec, &executor);
    let order = executor.graph().info().topological_order();
    order.into_iter().map(|id| id.0 as usize).collect()
}
