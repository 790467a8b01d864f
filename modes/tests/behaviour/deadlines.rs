//! Deadlines of callbacks: late returns are counted, from the moment an event became ready.

use crate::in_every_mode;
use ringspin_executor::{ErrorKind, Graph, Message, QoS};
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::Job;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A callback that returns late, after one that keeps its loop busy: both have missed theirs.
#[test]
fn waiting_counts_as_much_as_working() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let mut executor = Executor::new(mode);
        let node = executor.create_node("node", ()).unwrap();
        let out = node.create_publisher::<u8>("numbers", QoS::default()).unwrap();
        node.create_one_shot_timer(MS, move |_, cx| {
            out.publish(1).unwrap();
            let start = cx.now();
            while cx.now() < start + 2 * MS {
                std::hint::spin_loop();
            }
        })
        .unwrap();
        node.create_subscription("numbers", QoS::default(), |_, _: &Message<u8>, cx| cx.stop())
            .unwrap();
        node.set_deadline("one-shot timer 1ms", MS).unwrap();
        node.set_deadline("subscription /numbers", MS).unwrap();
        executor.spin().unwrap();
        let late: Vec<_> = executor.statistics().callbacks.iter().map(|c| c.late).collect();
        assert_eq!(late, [1, 1]);
    }
}

#[test]
fn callbacks_in_time_or_without_deadline_are_never_late() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", 0).unwrap();
        let out = node.create_publisher::<u32>("numbers", QoS::default()).unwrap();
        node.create_timer(MS, move |count, _| {
            *count += 1;
            out.publish(*count)
        })
        .unwrap();
        let count = |_: &mut u32, n: &Message<u32>, cx: &mut ringspin_executor::Context<'_>| {
            if **n == 10 {
                cx.stop();
            }
        };
        node.create_subscription("numbers", QoS::keep_last(1), count).unwrap();
        node.set_deadline("subscription /numbers", Duration::from_secs(3600)).unwrap();
        executor.spin().unwrap();
        let statistics = executor.statistics();
        assert!(statistics.dispatched() >= 20);
        assert!(statistics.callbacks.iter().all(|callback| callback.late == 0));
    });
}

/// In a simulation callbacks take no time, but an event may wait for its loop's turn in none.
#[test]
fn nothing_is_late_in_a_simulation() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", ())?;
        node.create_timer(MS, |_, _| std::thread::sleep(MS))?;
        node.set_deadline("timer 1ms", Duration::ZERO)?;
        Ok(())
    });
    let report = job.run_for(10 * MS).run().unwrap();
    assert_eq!((report.dispatches(), report.statistics().callbacks[0].late), (10, 0));
}

#[test]
fn a_deadline_for_no_callback_lists_those_there_are() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    node.create_timer(MS, |_, _| ()).unwrap();
    let error = node.set_deadline("timer 2ms", MS).unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::NotFound, Some("/node")));
    assert!(error.to_string().ends_with("choose one of: `timer 1ms`"), "{error}");
    assert!(error.to_string().contains("/node") && error.to_string().contains("timer 2ms"));
}
