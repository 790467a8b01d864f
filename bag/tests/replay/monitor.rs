//! The monitor.

use crate::support::{MS, Number, ms, numbers, types};
use ringspin_bag::{Player, RunMonitor};
use ringspin_executor::{Graph, QoS, Time};
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::{Job, Report};
use std::time::Duration;

/// Plays `items` under a watchdog of 10 ms, in a run of a second.
fn run(items: &[(u64, u32)], while_playing: bool) -> Report {
    let player = Player::new([numbers("/n", items)]);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        probe.create_collector::<Number>("n", QoS::default())?;
        probe.create_timer(MS, |_, _| ())?;
        let handle = player.add_to(graph, &types())?;
        let mut monitor = RunMonitor::new().watchdog(10 * MS, 3).watch::<Number>("n");
        if while_playing {
            monitor = monitor.while_playing(handle);
        }
        let is_bad = |n: &Number| (n.value > 100).then_some(n.value as u8);
        monitor.exit_on("/n", is_bad).add_to(graph)?;
        Ok(())
    });
    let job = player.apply_times(job, &types()).unwrap().end_at(ms(1000));
    job.run().unwrap()
}

fn end(report: &Report) -> (Option<u8>, Time) {
    (report.exit_code(), report.end())
}

#[test]
fn a_run_without_progress_ends_with_the_exit_code() {
    let items = [(0, 1), (9, 2), (18, 3), (40, 4)];
    assert_eq!(end(&run(&items, false)), (Some(3), ms(28)));
    // With all messages in time, it ends after the last one.
    assert_eq!(end(&run(&items[..3], false)), (Some(3), ms(28)));
    assert_eq!(end(&run(&items[..3], true)), (None, ms(1000)));
    assert_eq!(end(&run(&items, true)), (Some(3), ms(28)));
}

#[test]
fn a_run_without_any_message_ends_after_the_timeout() {
    let job = Job::new(|graph: &Graph| {
        graph.create_node("busy", ())?.create_timer(MS, |_, _| ())?;
        RunMonitor::new().watchdog(10 * MS, 3).watch::<Number>("n").add_to(graph)?;
        Ok(())
    });
    assert_eq!(end(&job.run().unwrap()), (Some(3), Time::ZERO + 10 * MS));
    let report = job.start_at(ms(7)).run().unwrap();
    assert_eq!(end(&report), (Some(3), ms(17)));
}

#[test]
fn an_error_message_ends_the_run_with_its_exit_code() {
    assert_eq!(end(&run(&[(0, 1), (5, 104), (6, 2)], false)), (Some(104), ms(5)));
}

#[test]
fn the_watchdog_ends_a_live_run() {
    for mut executor in [Executor::single_core(), Executor::new(Mode::MultiCore(None))] {
        let monitor = RunMonitor::new().watchdog(2 * MS, 3).watch::<Number>("n");
        monitor.add_to(executor.graph()).unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert_eq!(executor.stop_handle().exit_code(), Some(3));
    }
}

#[test]
fn the_first_bad_message_of_a_burst_ends_the_run_whatever_its_publisher_offers() {
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("burst", ())?;
        let out = node.create_publisher("n", QoS::default().best_effort())?;
        node.create_one_shot_timer(5 * MS, move |_, _| {
            [1, 104, 105, 2].into_iter().try_for_each(|value| out.publish(Number { value }))
        })?;
        let is_bad = |n: &Number| (n.value > 100).then_some(n.value as u8);
        RunMonitor::new().watch::<Number>("n").exit_on("n", is_bad).add_to(graph)?;
        Ok(())
    });
    let report = job.start_at(ms(0)).end_at(ms(9)).run().unwrap();
    assert_eq!(report.exit_code(), Some(104));
}
