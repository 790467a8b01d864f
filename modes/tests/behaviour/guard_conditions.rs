//! Guard conditions: triggers from anywhere reach their callback, each counted.

use crate::{Log, entries, in_every_mode, log, spawn_beside};
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn triggers_from_other_threads_are_answered_or_counted_as_coalesced() {
    in_every_mode(|mut executor| {
        const TRIGGERS: u64 = 1_000;
        let node = executor.create_node("node", 0u64).unwrap();
        let stop = executor.stop_handle();
        let guard = node
            .create_guard_condition("poke", move |_, cx| {
                if cx.event().sequence == 2 * TRIGGERS - 1 {
                    stop.stop();
                }
            })
            .unwrap();
        // The deterministic mode ends when nothing is left to do in it.
        node.create_timer(MS, |_, _| ()).unwrap();
        let threads = [guard.clone(), guard].map(|guard| {
            spawn_beside(&executor, move || (0..TRIGGERS).for_each(|_| guard.trigger()))
        });
        executor.spin().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let statistics = executor.statistics();
        let poke = &statistics.callbacks[0];
        assert_eq!(poke.callback, "guard condition poke");
        assert_eq!(poke.dispatched + poke.coalesced, 2 * TRIGGERS);
        assert!(poke.dispatched > 0);
    });
}

#[test]
fn a_trigger_before_the_start_is_not_lost() {
    in_every_mode(|mut executor| {
        let calls: Log<u64> = log();
        let node = executor.create_node("node", calls.clone()).unwrap();
        let record = |calls: &mut Log<u64>, cx: &mut ringspin_executor::Context<'_>| {
            calls.lock().unwrap().push(cx.event().sequence);
            cx.stop();
        };
        let early = node.create_guard_condition("early", record).unwrap();
        node.create_guard_condition("never", |_, _| panic!("it is never triggered")).unwrap();
        early.trigger();
        early.trigger();
        executor.spin().unwrap();
        assert_eq!(entries(&calls), [1], "one call for both");
        executor.stop_handle().reset();
        early.trigger();
        executor.spin().unwrap();
        assert_eq!(entries(&calls), [1, 2]);
    });
}

#[test]
fn a_trigger_from_a_callback_is_an_event_in_order() {
    let order: Log<&str> = log();
    let seen = order.clone();
    let job = Job::new(move |graph| {
        let node = graph.create_node("node", seen.clone())?;
        let second = node.create_guard_condition("second", |seen: &mut Log<_>, _| {
            seen.lock().unwrap().push("second");
        })?;
        let first = node.create_guard_condition("first", |seen: &mut Log<_>, _| {
            seen.lock().unwrap().push("first");
        })?;
        node.create_one_shot_timer(MS, move |_, _| {
            first.trigger();
            second.trigger();
            first.trigger();
        })?;
        Ok(())
    });
    job.run().unwrap();
    assert_eq!(entries(&order), ["first", "second"]);
}

#[test]
fn a_trigger_after_the_stop_does_no_harm() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("node", ()).unwrap();
    let guard = node.create_guard_condition("late", |_, _| ()).unwrap();
    executor.stop_handle().stop();
    executor.spin().unwrap();
    guard.trigger();
    drop(executor);
    guard.trigger();
}
