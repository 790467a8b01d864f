//! Building: refused additions, and the places of loops.

use crate::{entries, in_every_mode, log};
use ringspin_executor::{
    BoxError, Context, Delivery, ErrorKind, ExternalInput, Frozen, Graph, InFlight, Message, Plan,
    QoS, ReadyOrder, SimClock, Time, TimeSource, Verdict,
};
use ringspin_modes::{Executor, Mapping, Mode, allowed_cores};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_second_message_type_on_a_topic_is_refused_by_name() {
    let graph = Graph::new();
    let a = graph.create_node_in("ns", "a", ()).unwrap();
    let b = graph.create_node("b", ()).unwrap();
    let _values = a.create_publisher::<u32>("value", QoS::default()).unwrap();
    let error = b
        .create_subscription("/ns/value", QoS::default(), |_, _: &Message<f64>, _| ())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to use topic /ns/value with f64 in node /b: node /ns/a uses it with u32; use the \
         same type, or give one of them another name"
    );
    assert!(graph.info().callbacks.is_empty(), "nothing of the refused subscription is left");
}

#[test]
fn duplicate_names_are_refused_and_namespaces_tell_nodes_apart() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    graph.create_node_in("other", "node", ()).unwrap();
    let error = graph.create_node("node", ()).unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::AlreadyExists, Some("/node")));
    node.create_callback_group("lane", ()).unwrap();
    let error = node.create_callback_group("lane", ()).unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::AlreadyExists, Some("/node")));
    assert!(error.to_string().contains("callback group /node:lane"), "{error}");
}

#[test]
fn impossible_depths_periods_and_names_are_refused() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let subscribe =
        |depth| node.create_subscription("t", QoS::keep_last(depth), |_, _: &Message<u8>, _| ());
    for depth in [0, usize::MAX] {
        let error = subscribe(depth).unwrap_err();
        assert_eq!((error.kind(), error.topic()), (ErrorKind::InvalidArgument, Some("/t")));
        assert!(error.to_string().contains(&format!("its depth of {depth} is out")), "{error}");
    }
    for period in [Duration::ZERO, Duration::MAX] {
        let error = node.create_timer(period, |_, _| ()).unwrap_err();
        assert_eq!((error.kind(), error.node()), (ErrorKind::InvalidArgument, Some("/node")));
        assert!(error.to_string().contains(&format!("timer period {period:?}")), "{error}");
    }
    let publisher = node.create_publisher::<u8>("two words", QoS::default());
    assert_eq!(publisher.unwrap_err().kind(), ErrorKind::InvalidName);
    assert_eq!(graph.create_node("1st", ()).unwrap_err().kind(), ErrorKind::InvalidName);
}

struct NoInput;

impl ExternalInput for NoInput {
    fn next_time(&mut self) -> Option<Time> {
        None
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        unreachable!("there is nothing to deliver")
    }
}

#[test]
fn a_running_graph_takes_further_nodes_but_no_inputs_or_interceptors() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", 0u32).unwrap();
        executor.freeze().unwrap();
        let late = executor.create_node("late", 0u32).unwrap();
        late.create_callback_group("lane", ()).unwrap();
        for node in [node, late] {
            node.create_timer(Duration::from_secs(1), |_, _| ()).unwrap();
            node.create_publisher::<u8>("t", QoS::default()).unwrap();
            let error = node.set_deadline("timer 1s", Duration::from_millis(1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidState);
            assert_eq!(
                error.to_string(),
                format!(
                    "failed to add deadline of timer 1s of node {}: the executor has started; add \
                     it before spinning",
                    node.full_name()
                )
            );
        }
        let input = executor.graph().add_input("input", NoInput).unwrap_err();
        assert!(input.to_string().contains("the executor has started"), "{input}");
        let interceptor = |_: &Message<u8>, _: &InFlight| Verdict::Pass;
        let error = executor.graph().intercept("t", interceptor).unwrap_err();
        assert!(error.to_string().contains("the executor has started"), "{error}");
    });
}

/// Another thread may create and destroy nodes between the plan and the start.
#[test]
fn plan_follows_loops_that_have_come_and_gone_since_it_was_made() {
    let graph = Graph::new();
    let [first, second] = ["first", "second"].map(|name| graph.create_node(name, 0u64).unwrap());
    let workers = vec![vec![first.event_loop()], vec![second.event_loop()]];
    let plan = Plan::new(workers, ReadyOrder::RoundRobin);
    first.destroy();
    let lane = second.create_callback_group("lane", 0u64).unwrap();
    let third = graph.create_node("third", 0u64).unwrap();
    let numbers = [(&second, 1), (&lane, 1), (&third, 0)].map(|(node, worker)| {
        let on = |sum: &mut u64, n: &Message<u64>, _: &mut Context<'_>| *sum += **n;
        node.create_subscription("numbers", QoS::default(), on).unwrap();
        (node.event_loop(), worker)
    });
    let out = third.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let time = TimeSource::Live(Arc::new(SimClock::default()));
    let frozen = graph.freeze(&plan, &Default::default(), Default::default(), &time);
    let Frozen { mut workers, .. } = frozen.unwrap();
    workers.iter_mut().for_each(|worker| worker.start(Time::ZERO));
    out.publish(7).unwrap();
    for worker in &mut workers {
        while worker.dispatch_next().is_some() || worker.has_ready() {}
    }
    for (event_loop, worker) in numbers {
        assert_eq!(workers[worker].state_mut::<u64>(event_loop), Some(&mut 7));
    }
}

#[test]
fn a_plan_with_a_loop_on_two_workers_or_none_is_refused() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let time = TimeSource::Live(Arc::new(SimClock::default()));
    for (workers, count) in [(vec![vec![node.event_loop()]; 2], 2), (vec![], 0)] {
        let plan = Plan::new(workers, ReadyOrder::RoundRobin);
        let error = graph.freeze(&plan, &Default::default(), Default::default(), &time).err();
        let error = error.unwrap().to_string();
        assert!(error.starts_with(&format!("the plan gives /node to {count} workers")), "{error}");
    }
}

#[test]
fn a_mapping_that_does_not_fit_says_so() {
    let spin = |mapping| {
        let mut executor = Executor::multi_core(mapping);
        executor.create_node("lidar", ()).unwrap();
        executor.spin().unwrap_err()
    };
    let message = |mapping| spin(mapping).to_string();
    assert!(message(Mapping::new().core(4096, ["lidar"])).contains("4096"));
    assert!(message(Mapping::new().unbalanced()).contains("/lidar"), "unmapped");
    let core = allowed_cores()[0];
    assert!(message(Mapping::new().core(core, ["lidra"])).contains("lidar"), "a suggestion");
}

#[test]
fn the_groups_of_a_node_run_where_the_mapping_says() {
    let cores = allowed_cores();
    let (first, last) = (cores[0], cores[cores.len() - 1]);
    let mapping = Mapping::new().core(first, ["node:"]);
    let mapping = match first == last {
        true => Mapping::new().default_core(first),
        false => mapping.core(last, ["/node:lane"]),
    };
    let mut executor = Executor::multi_core(mapping);
    let threads = log();
    let node = executor.create_node("node", threads.clone()).unwrap();
    let lane = node.create_callback_group("lane", threads.clone()).unwrap();
    for group in [&node, &lane] {
        group
            .create_timer(Duration::from_millis(1), |threads, cx| {
                let mut threads = threads.lock().unwrap();
                let thread = std::thread::current().name().unwrap_or_default().to_owned();
                threads.push((cx.group().to_owned(), thread));
                if threads.len() == 20 {
                    cx.stop();
                }
            })
            .unwrap();
    }
    executor.spin().unwrap();
    for (group, thread) in entries(&threads) {
        let core = if group.is_empty() { first } else { last };
        assert_eq!(thread, format!("ringspin-{core}"), "group {group:?}");
    }
}

#[test]
fn modes_are_read_by_name() {
    assert_eq!("single".parse::<Mode>().unwrap(), Mode::SingleCore);
    assert_eq!("multi".parse::<Mode>().unwrap(), Mode::MultiCore(None));
    assert!(matches!("deterministic".parse::<Mode>().unwrap(), Mode::Deterministic(_)));
    let error = "dual".parse::<Mode>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown mode \"dual\"; use `single`, `multi` or `deterministic`"
    );
}

#[test]
fn the_topological_order_follows_chains_and_survives_cycles() {
    let graph = Graph::new();
    let edges = [("d", None, Some("x")), ("b", Some("y"), Some("z")), ("c", Some("x"), Some("y"))];
    let mut publishers = Vec::new();
    for (name, from, to) in edges {
        let node = graph.create_node(name, ()).unwrap();
        if let Some(to) = to {
            publishers.push(node.create_publisher::<u8>(to, QoS::default()).unwrap());
        }
        if let Some(from) = from {
            node.create_subscription(from, QoS::default(), |_, _: &Message<u8>, _| ()).unwrap();
        }
    }
    let names = |graph: &Graph| {
        let info = graph.info();
        let order = info.topological_order().into_iter();
        order.map(|id| info.loops[id].node.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&graph), ["/d", "/c", "/b"]);
    let back = graph.create_node("a", ()).unwrap();
    publishers.push(back.create_publisher::<u8>("x", QoS::default()).unwrap());
    back.create_subscription("z", QoS::default(), |_, _: &Message<u8>, _| ()).unwrap();
    assert_eq!(names(&graph).len(), 4);
    drop(publishers);
}
