//! Budgets of event loops: periods in which their callbacks ran for longer are counted.

use crate::failure_of;
use crate::late_settings::while_it_runs;
use ringspin_executor::{Budget, Context, GuardCondition, Node};
use ringspin_modes::{Executor, Mapping, Mode, allowed_cores};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn budget(time: Duration, period: Duration) -> Budget {
    Budget::new(time, period).unwrap()
}

/// Computes for `time`, by the clock that measures.
fn compute(time: Duration, cx: &mut Context<'_>) {
    let start = cx.now();
    while cx.now() < start + time {
        std::hint::spin_loop();
    }
}

/// The loops with a budget, and how often each was exceeded.
fn exceeded(executor: &Executor) -> Vec<(String, u64)> {
    let budgets = executor.statistics().budgets;
    budgets.into_iter().map(|of| (of.event_loop, of.exceeded)).collect()
}

fn counts(of: &[(&str, u64)]) -> Vec<(String, u64)> {
    of.iter().map(|(name, count)| ((*name).into(), *count)).collect()
}

#[test]
fn each_group_has_its_own_budget() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let mut executor = Executor::new(mode);
        let node = executor.create_node("node", ()).unwrap();
        let group = node.create_callback_group("calm", ()).unwrap();
        node.set_budget(budget(MS, 10 * MS)).unwrap();
        group.set_budget(budget(600_000 * MS, 3_600_000 * MS)).unwrap();
        group.create_timer(MS, |_, _| ()).unwrap();
        node.create_one_shot_timer(2 * MS, |_, cx| {
            compute(2 * MS, cx);
            cx.stop();
        })
        .unwrap();
        executor.freeze().unwrap();
        assert_eq!(exceeded(&executor), counts(&[("/node", 0), ("/node:calm", 0)]));
        executor.spin().unwrap();
        assert_eq!(exceeded(&executor), counts(&[("/node", 1), ("/node:calm", 0)]));
    }
}

/// A budget of a running graph holds for each event of later callbacks.
#[test]
fn budgets_are_set_and_taken_while_the_graph_runs() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let mut executor = Executor::new(mode);
        let node = executor.create_node("node", ()).unwrap();
        let freed = executor.create_node("freed", ()).unwrap();
        freed.set_budget(budget(MS, 10 * MS)).unwrap();
        while_it_runs(&executor, move |graph| {
            freed.set_budget(None).unwrap();
            let late = graph.create_node("late", ()).unwrap();
            late.set_budget(budget(MS, 10 * MS)).unwrap();
            node.set_budget(budget(MS, 10 * MS)).unwrap();
            let go = |node: &Node<()>, next: Option<GuardCondition>| {
                let run = move |_: &mut (), cx: &mut Context<'_>| {
                    compute(2 * MS, cx);
                    match &next {
                        Some(next) => next.trigger(),
                        None => cx.stop(),
                    }
                };
                node.create_guard_condition("go", run).unwrap()
            };
            let last = go(&late, None);
            let middle = go(&freed, Some(last));
            go(&node, Some(middle)).trigger();
        });
        executor.spin().unwrap();
        assert_eq!(exceeded(&executor), counts(&[("/node", 1), ("/late", 1)]));
    }
}

#[test]
fn budgets_of_a_mapping_hold_for_nodes_of_the_start_and_later_ones() {
    let mapping = Mapping::new().default_core(allowed_cores()[0]).later(["/late"]);
    let mapping = mapping.budget("/late", budget(MS, 10 * MS)).budget("now", budget(MS, 20 * MS));
    let mut executor = Executor::multi_core(mapping);
    let node = executor.create_node("now", ()).unwrap();
    node.set_budget(budget(5 * MS, 10 * MS)).unwrap(); // the mapping's holds
    node.create_one_shot_timer(MS, |_, cx| compute(2 * MS, cx)).unwrap();
    while_it_runs(&executor, |graph| {
        let late = graph.create_node("late", ()).unwrap();
        late.create_one_shot_timer(3 * MS, |_, cx| {
            compute(2 * MS, cx);
            cx.stop();
        })
        .unwrap();
    });
    executor.spin().unwrap();
    assert_eq!(exceeded(&executor), counts(&[("/now", 1), ("/late", 1)]));
}

#[test]
fn callback_that_panics_has_run_too() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("node", ()).unwrap();
    node.set_budget(budget(MS, 10 * MS)).unwrap();
    node.create_one_shot_timer(MS, |_, cx| {
        compute(2 * MS, cx);
        panic!("the callback");
    })
    .unwrap();
    let failure = failure_of(&mut executor);
    assert!(failure.to_string().contains("the callback"), "{failure}");
    assert_eq!(exceeded(&executor), counts(&[("/node", 1)]));
}

#[test]
fn destroyed_node_has_no_budget() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("node", ()).unwrap();
    node.set_budget(budget(MS, 10 * MS)).unwrap();
    executor.freeze().unwrap();
    assert_eq!(exceeded(&executor), counts(&[("/node", 0)]));
    node.destroy();
    assert_eq!(exceeded(&executor), []);
}
