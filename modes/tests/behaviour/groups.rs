//! Callback groups of both kinds.

use crate::{entries, in_every_mode, log};
use ringspin_executor::{Message, QoS};
use ringspin_modes::{Executor, Mapping, allowed_cores};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_reentrant_group_shares_its_state_in_every_mode() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let out = node.create_publisher::<u32>("numbers", QoS::default()).unwrap();
        node.create_one_shot_timer(MS, move |_, _| (0..10).try_for_each(|n| out.publish(n)))
            .unwrap();
        let seen = log();
        let group = node.create_reentrant_group("group", seen.clone());
        let stop = executor.stop_handle();
        for name in ["a", "b"] {
            let stop = stop.clone();
            group
                .create_subscription(
                    name,
                    "numbers",
                    QoS::keep_all(10),
                    move |seen, n: &Message<u32>, _| {
                        let mut seen = seen.lock().unwrap();
                        seen.push((name, **n));
                        if seen.len() == 20 {
                            stop.stop();
                        }
                    },
                )
                .unwrap();
        }
        executor.spin().unwrap();
        for name in ["a", "b"] {
            let of_one = entries(&seen).into_iter().filter(|(of, _)| *of == name);
            assert!(of_one.map(|(_, n)| n).eq(0..10), "each in its order");
        }
        let statistics = executor.statistics();
        let dispatched = |name| statistics.of(name).map(|c| c.dispatched).sum::<u64>();
        assert_eq!(["/node", "/node:group_a", "/node:group_b"].map(dispatched), [1, 10, 10]);
        let names: Vec<_> = executor.graph().info().loops.values().map(|l| l.full_name()).collect();
        assert_eq!(names, ["/node", "/node:group_a", "/node:group_b"]);
    });
}

/// Two callbacks of one reentrant group that wait for each other: with a core each they can.
#[test]
fn reentrant_callbacks_run_at_the_same_time_on_two_cores() {
    let cores = allowed_cores();
    let [first, second, ..] = cores[..] else {
        println!("this needs two cores");
        return;
    };
    let mapping = Mapping::new().core(second, ["/node:group_b"]).default_core(first);
    let mut executor = Executor::multi_core(mapping);
    let node = executor.create_node("node", ()).unwrap();
    let group = node.create_reentrant_group("group", (Mutex::new(0), Condvar::new()));
    for name in ["a", "b"] {
        let stop = executor.stop_handle();
        group
            .create_timer(name, MS, move |(arrived, both), _| {
                let mut arrived = arrived.lock().unwrap();
                *arrived += 1;
                both.notify_all();
                drop(both.wait_while(arrived, |arrived| *arrived < 2).unwrap());
                stop.stop();
            })
            .unwrap();
    }
    executor.spin().unwrap();
}
