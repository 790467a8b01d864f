//! Settings of nodes while the graph runs: in force at the first event of a node that is created
//! then.

use crate::{Log, entries, in_every_mode, log, on_one_core};
use ringspin_executor::{Context, ErrorKind, FailurePolicy, Graph, GuardCondition, Node};
use ringspin_modes::{Cores, Executor, Mapping, Simulation, allowed_cores};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const NAMES: [&str; 2] = ["a", "b"];

/// Calls `create` in a callback of a running graph.
pub(crate) fn while_it_runs(executor: &Executor, create: impl Fn(&Graph) + Send + 'static) {
    let graph = executor.graph().clone();
    let node = executor.create_node("creator", ()).unwrap();
    node.create_one_shot_timer(MS, move |_, _| create(&graph)).unwrap();
}

/// Creates a node with a callback that notes the node's name.
fn create_noting(graph: &Graph, name: &'static str, seen: &Log<&'static str>) -> Noting {
    let node = graph.create_node(name, ()).unwrap();
    let seen = seen.clone();
    let note = move |_: &mut (), cx: &mut Context<'_>| {
        let mut seen = seen.lock().unwrap();
        seen.push(name);
        if seen.len() == NAMES.len() {
            cx.stop();
        }
    };
    let guard = node.create_guard_condition("guard", note).unwrap();
    (node, guard)
}

type Noting = (Node<()>, GuardCondition);

/// Two nodes that get these priorities in a callback, and have an event each when it returns. They
/// are created there, too, if they are `late`. Returns the order of the events.
fn order(mut executor: Executor, priorities: [u8; 2], late: bool) -> Vec<&'static str> {
    let seen: Log<&'static str> = log();
    let called = seen.clone();
    let create = move |graph: &Graph| NAMES.map(|name| create_noting(graph, name, &called));
    let early = (!late).then(|| create(executor.graph()));
    while_it_runs(&executor, move |graph| {
        let nodes = early.clone().unwrap_or_else(|| create(graph));
        for ((node, _), priority) in nodes.iter().zip(priorities) {
            node.set_priority(priority).unwrap();
        }
        nodes.iter().for_each(|(_, guard)| guard.trigger());
    });
    executor.spin().unwrap();
    entries(&seen)
}

#[test]
fn priority_holds_from_the_end_of_the_callback_that_sets_it() {
    let virtual_core = || {
        let cores = Cores::Mapped(Mapping::new().default_core(allowed_cores()[0]));
        Executor::deterministic(Simulation { cores, ..Simulation::default() })
    };
    for of_mode in [&Executor::single_core as &dyn Fn() -> Executor, &on_one_core, &virtual_core] {
        for late in [false, true] {
            assert_eq!(order(of_mode(), [0, 0], late), ["a", "b"]);
            assert_eq!(order(of_mode(), [0, 1], late), ["b", "a"]);
            assert_eq!(order(of_mode(), [2, 1], late), ["a", "b"]);
        }
    }
}

#[test]
fn late_node_has_its_failure_policy_at_its_first_event() {
    in_every_mode(|executor| {
        let mut executor = executor.with_failure_policy(FailurePolicy::StopAll);
        let isolated = Arc::new(AtomicBool::new(false));
        let retired = isolated.clone();
        while_it_runs(&executor, move |graph| {
            let node = graph.create_node("late", RaiseOnDrop(retired.clone())).unwrap();
            node.set_failure_policy(FailurePolicy::IsolateNode).unwrap();
            let fail = |_: &mut RaiseOnDrop, _: &mut Context<'_>| Err("it fails");
            node.create_guard_condition("guard", fail).unwrap().trigger();
        });
        let node = executor.create_node("stopping", ()).unwrap();
        node.create_timer(MS, move |_, cx| {
            if isolated.load(SeqCst) {
                cx.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(executor.failures().len(), 1);
    });
}

/// The state of a node that is out of service is dropped.
struct RaiseOnDrop(Arc<AtomicBool>);

impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn late_callback_has_its_deadline_at_its_first_event() {
    for mut executor in [Executor::single_core(), on_one_core()] {
        while_it_runs(&executor, |graph| {
            let node = graph.create_node("late", ()).unwrap();
            let set = |node: &Node<()>| {
                node.set_deadline("guard condition guard", Duration::from_nanos(1))
            };
            set(&node).unwrap();
            let dawdle = |_: &mut (), cx: &mut Context<'_>| {
                let start = Instant::now();
                while start.elapsed() < MS / 100 {
                    std::hint::spin_loop();
                }
                cx.stop();
            };
            node.create_guard_condition("guard", dawdle).unwrap().trigger();
            assert_eq!(set(&node).unwrap_err().kind(), ErrorKind::InvalidState, "it exists");
        });
        executor.spin().unwrap();
        let late: Vec<_> = executor.statistics().of("/late").map(|of| of.late).collect();
        assert_eq!(late, [1]);
    }
}

#[test]
fn late_node_shows_its_state_from_its_first_event_on() {
    let digest = |state: u64, is_shown: bool| {
        let mut executor = Executor::deterministic(Simulation::default());
        while_it_runs(&executor, move |graph| {
            let node = graph.create_node("late", state).unwrap();
            if is_shown {
                node.digest_state().unwrap();
            }
            node.create_guard_condition("guard", |_, cx| cx.stop()).unwrap().trigger();
        });
        executor.spin().unwrap();
        executor.digest().unwrap()
    };
    assert_eq!(digest(1, true), digest(1, true));
    assert_ne!(digest(1, true), digest(2, true));
    assert_eq!(digest(1, false), digest(2, false));
}
