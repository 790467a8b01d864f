//! Small graphs with one planted bug each, which pass in the default order: for a test and for the
//! table of the strategies of `explore`.

use ringspin_executor::{BoxError, CallError, Context, Graph, Message, QoS, Reply, Time};
use ringspin_modes::Simulation;
use ringspin_simulation::models::{Distribution, LinkRule, Links};
use ringspin_simulation::{Counterexample, Exploration, Job, Order};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
/// Period of the sensors.
const PERIOD: Duration = Duration::from_millis(10);
/// Maximum number of runs of one search.
pub(crate) const BUDGET: u64 = 1000;

/// The role of a bug while the default strategy was chosen.
#[derive(Clone, Copy)]
enum Group {
    /// The strategy was chosen with this bug in view.
    Chosen,
    /// The bug was known, and the strategy was not changed for it.
    Known,
    /// The bug was run only after the strategy was final.
    HeldOut,
}

/// A job with a bug.
pub(crate) struct Bug {
    name: &'static str,
    group: Group,
    build: fn(&Graph) -> Result<(), BoxError>,
    simulate: fn(&mut Simulation),
}

impl Bug {
    /// The name, and the role if there is one to tell.
    pub(crate) fn label(&self) -> String {
        match self.group {
            Group::Chosen => format!("{} (chosen with)", self.name),
            Group::Known => self.name.into(),
            Group::HeldOut => format!("{} (held out)", self.name),
        }
    }

    /// Number of runs until a search finds the bug; `None` if it does not within its budget.
    pub(crate) fn search(&self, order: Order, number: u64) -> Option<u64> {
        let job = Job::new(self.build).run_for(Duration::from_millis(125)).simulate(self.simulate);
        let start = number * BUDGET;
        let exploration = Exploration {
            seeds: start..start + BUDGET,
            order,
            threads: 1,
            shrink_runs_max: 0,
            ..Exploration::default()
        };
        let error = job.explore(&exploration).err()?;
        let found = error.cause::<Counterexample>().unwrap_or_else(|| panic!("{error}"));
        Some(found.seed.expect("it has a seed") - start + 1)
    }
}

/// All bugs.
pub(crate) fn all() -> [Bug; 14] {
    use Group::*;
    let bug = |group, name, build| Bug { name, group, build, simulate: |_| () };
    [
        bug(Chosen, "message before another topic", before_another_topic),
        bug(Known, "timer before request", timer_before_request),
        Bug { simulate: lossy, ..bug(Chosen, "three losses in a row", three_losses) },
        Bug { simulate: delayed, ..bug(Known, "message after a deadline", after_deadline) },
        bug(Chosen, "order of three topics once after the usual one", three_topics),
        bug(Chosen, "overflow after exactly two", overflow_after_two),
        bug(Chosen, "event after a chain of twelve", after_chain),
        bug(Known, "lost update through two services", lost_update),
        bug(Known, "timer between two messages three times", timer_between),
        bug(Known, "order of four topics once", four_topics),
        bug(HeldOut, "restart between request and response", restart_in_between),
        bug(HeldOut, "parameter set between two messages", parameter_in_between),
        bug(HeldOut, "two timers swapped for exactly one period", swapped_once),
        bug(HeldOut, "queue of five full exactly once", full_once),
    ]
}

/// Creates a node that publishes the number of its period.
fn sensor(graph: &Graph, node: &str, topic: &str) -> Result<(), BoxError> {
    let sensor = graph.create_node(node, 0u32)?;
    let out = sensor.create_publisher(topic, QoS::default())?;
    sensor.create_timer(PERIOD, move |count, _| {
        *count += 1;
        out.publish(*count)
    })?;
    Ok(())
}

fn before_another_topic(graph: &Graph) -> Result<(), BoxError> {
    sensor(graph, "sensor_a", "a")?;
    sensor(graph, "sensor_b", "b")?;
    let fusion = graph.create_node("fusion", 0u32)?;
    fusion.create_subscription("a", QoS::default(), |last, a: &Message<u32>, _| *last = **a)?;
    fusion.create_subscription("b", QoS::default(), |last, b: &Message<u32>, _| {
        if *last < **b { Err("b came before a") } else { Ok(()) }
    })?;
    Ok(())
}

fn timer_before_request(graph: &Graph) -> Result<(), BoxError> {
    let client = graph.create_node("client", ())?;
    let ask = client.create_client::<(), u32>("ask", QoS::services())?;
    client.create_timer(PERIOD, move |_, _| ask.call((), |_, _, _| ()).map_err(|e| e.reason))?;
    let server = graph.create_node("server", (0u32, 0u32))?;
    server.create_service("ask", QoS::services(), |(asked, _), (), _| {
        *asked += 1;
        *asked
    })?;
    server.create_timer(PERIOD, |(asked, ticks), _| {
        *ticks += 1;
        if *asked < *ticks { Err("the timer came before the request") } else { Ok(()) }
    })?;
    Ok(())
}

fn three_losses(graph: &Graph) -> Result<(), BoxError> {
    sensor(graph, "sensor", "scan")?;
    let filter = graph.create_node("filter", 0u32)?;
    filter.create_subscription("scan", QoS::default(), |last, scan: &Message<u32>, _| {
        let lost = **scan - std::mem::replace(last, **scan) - 1;
        if lost >= 3 { Err("three scans in a row were lost") } else { Ok(()) }
    })?;
    Ok(())
}

fn lossy(simulation: &mut Simulation) {
    simulation.links = Links::new().rule(LinkRule::new("/scan").loss(0.11)).into();
}

fn after_deadline(graph: &Graph) -> Result<(), BoxError> {
    let planner = graph.create_node("planner", ())?;
    let out = planner.create_publisher("plan", QoS::default())?;
    planner.create_timer(PERIOD, move |_, cx| out.publish(cx.now()))?;
    let control = graph.create_node("control", ())?;
    control.create_subscription("plan", QoS::default(), |_, sent: &Message<Time>, cx| {
        if cx.now().since(**sent) > 9 * MS { Err("a plan was late") } else { Ok(()) }
    })?;
    Ok(())
}

fn delayed(simulation: &mut Simulation) {
    let delay = Distribution::uniform(Duration::ZERO, Duration::from_micros(9_030)).unwrap();
    simulation.links = Links::new().rule(LinkRule::new("/plan").delay(delay)).into();
}

/// Creates subscriptions of one node to `topics`, which one timer publishes. `check` gets a memory,
/// the number of the period, and the order in which its messages were handled.
fn orders(
    graph: &Graph,
    topics: &[&'static str],
    check: fn(&mut bool, u32, &str) -> Result<(), &'static str>,
) -> Result<(), BoxError> {
    let camera = graph.create_node("camera", 0u32)?;
    let publisher = |topic: &&str| camera.create_publisher::<u32>(topic, QoS::default());
    let publishers = topics.iter().map(publisher).collect::<Result<Vec<_>, _>>()?;
    camera.create_timer(PERIOD, move |count, _| {
        *count += 1;
        publishers.iter().try_for_each(|publisher| publisher.publish(*count))
    })?;
    let fusion = graph.create_node("fusion", (String::new(), false))?;
    for topic in topics.iter().copied() {
        let count = topics.len();
        fusion.create_subscription(topic, QoS::default(), move |state, n: &Message<u32>, _| {
            let (order, memory) = state;
            order.push_str(topic);
            if order.len() < count { Ok(()) } else { check(memory, **n, &std::mem::take(order)) }
        })?;
    }
    Ok(())
}

fn three_topics(graph: &Graph) -> Result<(), BoxError> {
    orders(graph, &["a", "b", "c"], |was_usual, period, order| match (period, order) {
        (6, "cba") if *was_usual => Err("the opposite order came after the usual one"),
        _ => {
            *was_usual = order == "abc";
            Ok(())
        }
    })
}

fn four_topics(graph: &Graph) -> Result<(), BoxError> {
    orders(graph, &["a", "b", "c", "d"], |_, period, order| match (period, order) {
        (4, "dbca") => Err("this order was forgotten"),
        _ => Ok(()),
    })
}

/// Creates `count` nodes that publish the number of their message among all.
fn burst(graph: &Graph, count: u32) -> Result<Arc<AtomicU32>, BoxError> {
    let sent = Arc::new(AtomicU32::new(0));
    for n in 0..count {
        let sensor = graph.create_node(&format!("sensor_{n}"), ())?;
        let (out, sent) = (sensor.create_publisher("work", QoS::keep_last(10))?, sent.clone());
        sensor.create_timer(PERIOD, move |_, _| out.publish(sent.fetch_add(1, SeqCst) + 1))?;
    }
    Ok(sent)
}

fn overflow_after_two(graph: &Graph) -> Result<(), BoxError> {
    burst(graph, 5)?;
    let worker = graph.create_node("worker", 0u32)?;
    worker.create_subscription("work", QoS::keep_last(2), |last, work: &Message<u32>, _| {
        let last = std::mem::replace(last, **work);
        let is_third_lost = last % 5 == 2 && **work == last + 2;
        if is_third_lost { Err("exactly the third one was lost") } else { Ok(()) }
    })?;
    Ok(())
}

fn after_chain(graph: &Graph) -> Result<(), BoxError> {
    let source = graph.create_node("source", 0u32)?;
    let publishers = [
        source.create_publisher::<u32>("stop", QoS::default())?,
        source.create_publisher::<u32>("link_0", QoS::default())?,
    ];
    source.create_timer(PERIOD, move |count, _| {
        *count += 1;
        publishers.iter().try_for_each(|publisher| publisher.publish(*count))
    })?;
    for n in 0..11 {
        let link = graph.create_node(&format!("link_{n}"), ())?;
        let out = link.create_publisher(&format!("link_{}", n + 1), QoS::default())?;
        let forward =
            move |_: &mut (), count: &Message<u32>, _: &mut Context<'_>| out.publish(**count);
        link.create_subscription(&format!("link_{n}"), QoS::default(), forward)?;
    }
    let ended = Arc::new(AtomicU32::new(0));
    let (arm, end) = (graph.create_node("arm", ended.clone())?, graph.create_node("end", ended)?);
    end.create_subscription("link_11", QoS::default(), |ended, count: &Message<u32>, _| {
        ended.store(**count, SeqCst);
    })?;
    arm.create_subscription("stop", QoS::default(), |ended, count: &Message<u32>, _| {
        if ended.load(SeqCst) == **count { Err("it stopped after the chain") } else { Ok(()) }
    })?;
    Ok(())
}

fn lost_update(graph: &Graph) -> Result<(), BoxError> {
    let store = graph.create_node("store", 0u32)?;
    store.create_service("get", QoS::services(), |value, (), _| *value)?;
    store.create_service("set", QoS::services(), |value, new: &u32, _| {
        let is_lost = *new <= std::mem::replace(value, *new);
        !is_lost
    })?;
    for name in ["one", "two"] {
        let node = graph.create_node(name, ())?;
        let get = node.create_client::<(), u32>("get", QoS::services())?;
        let set = node.create_client::<u32, bool>("set", QoS::services())?;
        node.create_one_shot_timer(PERIOD, move |_, _| {
            let set = set.clone();
            let add =
                move |_: &mut (), value: Result<Reply<u32>, CallError>, _: &mut Context<'_>| {
                    let value = *value.map_err(|error| error.to_string())?;
                    let called = set.call(value + 1, |_, is_ok, _| match is_ok {
                        Ok(is_ok) if *is_ok => Ok(()),
                        _ => Err("an update was lost"),
                    });
                    called.map_err(|refused| refused.reason.to_string())
                };
            get.call((), add).map_err(|refused| refused.reason)
        })?;
    }
    Ok(())
}

fn timer_between(graph: &Graph) -> Result<(), BoxError> {
    let camera = graph.create_node("camera", ())?;
    let left = camera.create_publisher("left", QoS::default())?;
    let right = camera.create_publisher("right", QoS::default())?;
    camera.create_timer(PERIOD, move |_, _| left.publish(()).and_then(|()| right.publish(())))?;
    // The events of the period, and the number of such periods in a row.
    let stereo = graph.create_node("stereo", (String::new(), 0u32))?;
    let log = |event: char| {
        move |(events, times): &mut (String, u32)| {
            events.push(event);
            if events.len() < 3 {
                return Ok(());
            }
            *times = if std::mem::take(events) == "ltr" { *times + 1 } else { 0 };
            if *times == 3 { Err("the timer came in between three times") } else { Ok(()) }
        }
    };
    let (on_left, on_right, on_timer) = (log('l'), log('r'), log('t'));
    let qos = QoS::default();
    stereo.create_subscription("left", qos, move |s, _: &Message<()>, _| on_left(s))?;
    stereo.create_subscription("right", qos, move |s, _: &Message<()>, _| on_right(s))?;
    stereo.create_timer(PERIOD, move |s, _| on_timer(s))?;
    Ok(())
}

/// The server of the fourth request starts again before it has the answer of its worker.
fn restart_in_between(graph: &Graph) -> Result<(), BoxError> {
    let client = graph.create_node("client", 0u32)?;
    let ask = client.create_publisher("request", QoS::default())?;
    client.create_timer(PERIOD, move |count, _| {
        *count += 1;
        ask.publish(*count)
    })?;
    let worker = graph.create_node("worker", ())?;
    let done = worker.create_publisher("done", QoS::default())?;
    let work = move |_: &mut (), job: &Message<u32>, _: &mut Context<'_>| done.publish(**job);
    worker.create_subscription("job", QoS::default(), work)?;
    sensor(graph, "supervisor", "restart")?;
    // The request that is under way.
    let server = graph.create_node("server", None::<u32>)?;
    let jobs = server.create_publisher("job", QoS::default())?;
    let accept = move |open: &mut Option<u32>, request: &Message<u32>, _: &mut Context<'_>| {
        *open = Some(**request);
        jobs.publish(**request)
    };
    server.create_subscription("request", QoS::default(), accept)?;
    server.create_subscription("restart", QoS::default(), |open, period: &Message<u32>, _| {
        if **period == 4 {
            *open = None;
        }
    })?;
    server.create_subscription("done", QoS::default(), |open, done: &Message<u32>, _| {
        if open.take() == Some(**done) { Ok(()) } else { Err("an answer to no request") }
    })?;
    Ok(())
}

/// The parameter of the seventh period is set between the two halves of a picture.
fn parameter_in_between(graph: &Graph) -> Result<(), BoxError> {
    sensor(graph, "left", "left")?;
    sensor(graph, "right", "right")?;
    let stereo = graph.create_node("stereo", Vec::new())?;
    let gain = stereo.declare_parameter("gain", 0i64)?;
    for topic in ["left", "right"] {
        let gain = gain.clone();
        let on = move |gains: &mut Vec<i64>, _: &Message<u32>, _: &mut Context<'_>| {
            gains.push(gain.get());
            match gains.len().is_multiple_of(2) && gains[gains.len() - 2] != gain.get() {
                true => Err("two halves had two gains"),
                false => Ok(()),
            }
        };
        stereo.create_subscription(topic, QoS::default(), on)?;
    }
    let tuner = graph.create_node("tuner", ())?;
    let client = graph.parameter_client("/stereo").ok_or("no such node")?;
    tuner.create_one_shot_timer(7 * PERIOD, move |_, _| client.set("gain", 1i64))?;
    Ok(())
}

/// Fails at the end if `count` was exactly one.
fn not_once(graph: &Graph, count: Arc<AtomicU32>) -> Result<(), BoxError> {
    let judge = graph.create_node("judge", ())?;
    judge.create_one_shot_timer(12 * PERIOD + 5 * MS, move |_, _| match count.load(SeqCst) {
        1 => Err("it happened exactly once"),
        _ => Ok(()),
    })?;
    Ok(())
}

fn swapped_once(graph: &Graph) -> Result<(), BoxError> {
    let (ticks, swaps) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    for name in ["first", "second"] {
        let (node, ticks, swaps) = (graph.create_node(name, ())?, ticks.clone(), swaps.clone());
        node.create_timer(PERIOD, move |_, _| {
            let is_early = ticks.fetch_add(1, SeqCst).is_multiple_of(2);
            swaps.fetch_add(u32::from(is_early && name == "second"), SeqCst);
        })?;
    }
    not_once(graph, swaps)
}

fn full_once(graph: &Graph) -> Result<(), BoxError> {
    let (sent, full) = (burst(graph, 5)?, Arc::new(AtomicU32::new(0)));
    let (worker, times) = (graph.create_node("worker", 0u32)?, full.clone());
    let on = move |handled: &mut u32, _: &Message<u32>, _: &mut Context<'_>| {
        let waiting = sent.load(SeqCst) - *handled;
        *handled += 1;
        times.fetch_add(u32::from(waiting == 5), SeqCst);
    };
    worker.create_subscription("work", QoS::keep_last(5), on)?;
    not_once(graph, full)
}
