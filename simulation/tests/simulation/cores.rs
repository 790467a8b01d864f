//! Virtual cores by a mapping: loops that share a core wait, by priority; others run.

use ringspin_executor::{BoxError, Graph, Message, Node, QoS, Time};
use ringspin_modes::{Cores, Mapping};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use ringspin_simulation::{Job, Session};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// When a loop's callbacks were called, in milliseconds.
type Calls = Vec<u64>;

fn call(calls: &mut Calls, time: Time) {
    assert_eq!(time.as_nanos() % 1_000_000, 0, "{time}");
    calls.push(time.as_nanos() / 1_000_000);
}

fn takes(node: &str, duration: Duration) -> DurationRule {
    DurationRule::new(node).duration(Distribution::fixed(duration))
}

/// Runs `graph` for 60 ms of simulated time.
fn session(
    graph: fn(&Graph) -> Result<(), BoxError>,
    rules: [DurationRule; 2],
    mapping: Mapping,
) -> Session<()> {
    let job = Job::new(graph).simulate(|simulation| {
        simulation.durations = Durations { rules: rules.to_vec() }.into();
        simulation.cores = Cores::Mapped(mapping);
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::from_nanos(60_000_000)).unwrap();
    session
}

fn calls(session: &mut Session<()>, name: &str) -> Calls {
    session.state::<Calls>(name).unwrap().clone()
}

/// A source that sends to `a` and to `b` every 20 ms; the nodes themselves prefer `a`.
fn fork(graph: &Graph) -> Result<(), BoxError> {
    let source = graph.create_node("source", ())?;
    let out = source.create_publisher::<u32>("t", QoS::default())?;
    source.create_timer(20 * MS, move |_, _| out.publish(1))?;
    for (name, priority) in [("a", 1), ("b", 0)] {
        let node = graph.create_node(name, Calls::new())?;
        node.set_priority(priority)?;
        node.create_subscription("t", QoS::default(), |calls, _: &Message<u32>, cx| {
            call(calls, cx.now());
        })?;
    }
    Ok(())
}

#[test]
fn a_mapping_says_who_goes_first_on_a_virtual_core() {
    let order = |mapping: Mapping| {
        let mut session = session(fork, [takes("/a", 3 * MS), takes("/b", 5 * MS)], mapping);
        [calls(&mut session, "/a"), calls(&mut session, "/b")]
    };
    let plain = Mapping::new().default_core(0);
    assert_eq!(order(plain.clone()), [[20, 40, 60].to_vec(), [23, 43].to_vec()]);
    let tuned = plain.clone().dispatch_priority("b", 7);
    assert_eq!(order(tuned), [[25, 45].to_vec(), [20, 40, 60].to_vec()]);
    // Zero overrides the priority that the node asks for: turns, in the order of the graph.
    let level = plain.dispatch_priority("/a", 0).dispatch_priority("/b", 1);
    assert_eq!(order(level), [[25, 45].to_vec(), [20, 40, 60].to_vec()]);
    let apart = Mapping::new().default_core(0).core(1, ["/b"]).dispatch_priority("b", 7);
    assert_eq!(order(apart), [[20, 40, 60].to_vec(), [20, 40, 60].to_vec()]);
}

#[test]
fn priorities_of_unknown_loops_are_refused() {
    let mapping = Mapping::new().default_core(0).dispatch_priority("/a:fast", 1);
    let job = Job::new(fork).simulate(|simulation| simulation.cores = Cores::Mapped(mapping));
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("`dispatch_priorities` names `/a:fast`"), "{error}");
    assert!(error.contains("use one of /a"), "{error}");
}

/// A node that creates others at 10 ms, and destroys one of them at 35 ms, which it creates anew at
/// 45 ms. All have a timer of 20 ms; those of the second node are in a group.
fn late(graph: &Graph) -> Result<(), BoxError> {
    let (root, graph) = (graph.create_node("root", None::<Node<Calls>>)?, graph.clone());
    let create = move |name: &str| -> Result<Node<Calls>, BoxError> {
        let node = graph.create_node(name, Calls::new())?;
        node.create_timer(20 * MS, |calls, cx| call(calls, cx.now()))?;
        let group = node.create_callback_group("group", Calls::new())?;
        group.create_timer(20 * MS, |calls, cx| call(calls, cx.now()))?;
        Ok(node)
    };
    root.create_timer(5 * MS, move |first, cx| -> Result<(), BoxError> {
        match cx.now().as_nanos() / 1_000_000 {
            10 => (*first, _) = (Some(create("first")?), create("second")?),
            35 => first.take().into_iter().for_each(|node| node.destroy()),
            45 => drop(create("first")?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(())
}

#[test]
fn later_nodes_run_where_the_mapping_says() {
    let run = |mapping: Mapping| {
        let rules = [takes("/first", 4 * MS).later(true), takes("/second", 4 * MS).later(true)];
        let mapping = mapping.dispatch_priority("/second:group", 1).later(["/first", "/second"]);
        let mut session = session(late, rules, mapping);
        let names = ["/first", "/first:group", "/second", "/second:group"];
        names.map(|name| calls(&mut session, name))
    };
    let (none, default) = (Vec::new, Mapping::new().default_core(0).core(2, ["/root"]));
    // From 45 ms on the first node is another one; its timers are not due yet.
    assert_eq!(run(default.clone()), [none(), none(), vec![38, 54], vec![30, 50]]);
    let node = default.clone().core(1, ["/first"]);
    assert_eq!(run(node), [none(), none(), vec![34, 54], vec![30, 50]]);
    let group = default.core(1, ["/first", "/second:group"]);
    assert_eq!(run(group), [none(), none(), vec![30, 50], vec![30, 50]]);
}

#[test]
fn node_that_no_core_is_named_for_is_refused_when_it_is_created() {
    let mapping = Mapping::new().core(0, ["/root", "/first"]).later(["/first"]);
    let job = Job::new(late).simulate(|simulation| simulation.cores = Cores::Mapped(mapping));
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("failed to create node /second: the mapping names no core"), "{error}");
}

/// Requirements on the hardware do not apply to virtual cores.
#[test]
fn virtual_cores_need_neither_isolation_nor_memory() {
    let mapping =
        Mapping::new().core(70_000, ["/a"]).isolated(70_000).lock_memory().default_core(1);
    let mut session = session(fork, [takes("/a", MS), takes("/b", MS)], mapping.use_isolated());
    assert_eq!(calls(&mut session, "/a"), [20, 40, 60]);
}

/// One node with two groups, each with a timer.
fn two_groups(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("node", Calls::new())?;
    node.create_timer(20 * MS, |calls, cx| call(calls, cx.now()))?;
    let group = node.create_callback_group("group", Calls::new())?;
    group.create_timer(20 * MS, |calls, cx| call(calls, cx.now()))?;
    Ok(())
}

#[test]
fn groups_of_one_node_can_live_apart() {
    let run = |mapping: Mapping| {
        let rules = [takes("/node:", 8 * MS), takes("/node:group", 6 * MS)];
        let mut session = session(two_groups, rules, mapping);
        [calls(&mut session, "/node"), calls(&mut session, "/node:group")]
    };
    let together = |first: &str| Mapping::new().core(0, ["/node"]).dispatch_priority(first, 1);
    assert_eq!(run(together("/node:")), [[20, 40, 60].to_vec(), [28, 48].to_vec()]);
    assert_eq!(run(together("/node:group")), [[26, 46].to_vec(), [20, 40, 60].to_vec()]);
    let apart = Mapping::new().core(0, ["/node"]).core(1, ["/node:group"]);
    assert_eq!(run(apart), [[20, 40, 60].to_vec(), [20, 40, 60].to_vec()]);
}

/// Two nodes with a timer of 10 ms each: one takes 25 ms, which is more than there is.
fn hog_and_steady(graph: &Graph) -> Result<(), BoxError> {
    for name in ["hog", "steady"] {
        let node = graph.create_node(name, Calls::new())?;
        node.create_timer(10 * MS, |calls, cx| call(calls, cx.now()))?;
    }
    Ok(())
}

#[test]
fn an_overloaded_core_does_not_delay_other_cores() {
    let run = |mapping: Mapping| {
        let rules = [takes("/hog", 25 * MS), takes("/steady", 4 * MS)];
        let mut session = session(hog_and_steady, rules, mapping);
        let missed = |node| session.report().statistics().of(node).next().unwrap().missed;
        let missed = ["/hog", "/steady"].map(missed);
        (calls(&mut session, "/hog"), calls(&mut session, "/steady"), missed)
    };
    let apart = Mapping::new().core(0, ["/hog"]).core(1, ["/steady"]);
    let steady = (1..=6).map(|n| 10 * n).collect::<Vec<_>>();
    assert_eq!(run(apart), ([10, 35, 60].to_vec(), steady, [3, 0]));
    let together = Mapping::new().core(0, ["/hog", "/steady"]).dispatch_priority("/hog", 1);
    let (_, starved, [_, missed]) = run(together);
    assert_eq!((starved, missed), (Vec::new(), 5), "on one core it would have waited");
}
