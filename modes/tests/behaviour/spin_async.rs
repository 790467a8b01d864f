//! Spinning as a task of tokio, in every mode.

use crate::{Log, entries, in_every_mode, log};
use ringspin_executor::{ErrorKind, Message, QoS};
use ringspin_modes::{Executor, Mode};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const MS: Duration = Duration::from_millis(1);

/// A runtime with one thread, or with two.
fn runtime(threads: usize) -> tokio::runtime::Runtime {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if threads > 1 {
        builder.worker_threads(threads);
    }
    builder.enable_all().build().unwrap()
}

/// A timer that publishes its count, a subscription in another node, and a stop at `last`.
fn counting(executor: &Executor, last: u32) -> Log<u32> {
    let seen = log();
    let node = executor.create_node("talker", 0u32).unwrap();
    let out = node.create_publisher::<u32>("n", QoS::default()).unwrap();
    node.create_timer(MS, move |count, _| {
        *count += 1;
        out.publish(*count)
    })
    .unwrap();
    let listener = executor.create_node("listener", seen.clone()).unwrap();
    let stop = executor.stop_handle();
    listener
        .create_subscription(
            "n",
            QoS::default(),
            move |seen: &mut Log<u32>, n: &Message<u32>, _| {
                seen.lock().unwrap().push(**n);
                if **n == last {
                    stop.stop();
                }
            },
        )
        .unwrap();
    seen
}

#[test]
fn timers_and_messages_run_beside_other_tasks() {
    in_every_mode(|mut executor| {
        let seen = counting(&executor, 30);
        runtime(1).block_on(async {
            let beside = tokio::spawn(async {
                for _ in 0..10 {
                    sleep(MS).await;
                }
            });
            executor.spin_async(sleep).await.unwrap();
            beside.await.unwrap();
        });
        assert_eq!(entries(&seen), (1..=30).collect::<Vec<_>>());
    });
}

/// A task that may move between threads, spawned: the future is `Send`.
#[test]
fn spin_moves_between_threads_of_a_runtime() {
    in_every_mode(|mut executor| {
        let seen = counting(&executor, 50);
        let spin = async move { executor.spin_async(sleep).await };
        runtime(2).block_on(async { tokio::spawn(spin).await.unwrap().unwrap() });
        assert_eq!(entries(&seen), (1..=50).collect::<Vec<_>>());
    });
}

/// Drops the future at any point, and spins again: on this thread and as a task, by turns.
#[test]
fn dropped_spin_loses_nothing() {
    in_every_mode(|mut executor| {
        let seen = counting(&executor, 100);
        let stop = executor.stop_handle();
        for turn in 0.. {
            runtime(1).block_on(async {
                tokio::select! {
                    ended = executor.spin_async(sleep) => ended.unwrap(),
                    () = sleep(3 * MS) => {}
                }
            });
            if stop.is_stopped() {
                break;
            }
            if turn % 2 == 0 {
                executor.spin_for(2 * MS).unwrap();
            }
        }
        assert_eq!(entries(&seen), (1..=100).collect::<Vec<_>>());
    });
}

/// Without a timer only the event itself can wake the task.
#[test]
fn event_of_another_thread_wakes_the_task() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let mut executor = Executor::new(mode);
        let (node, stop) = (executor.create_node("node", 0u32).unwrap(), executor.stop_handle());
        let triggers = node
            .create_guard_condition("trigger", move |count, _| {
                *count += 1;
                if *count == 1_000 {
                    stop.stop();
                }
            })
            .unwrap();
        runtime(1).block_on(async {
            let stop = executor.stop_handle();
            let beside = std::thread::spawn(move || {
                while !stop.is_stopped() {
                    triggers.trigger();
                    std::thread::yield_now();
                }
            });
            let spin = timeout(Duration::from_secs(20), executor.spin_async(sleep)).await;
            executor.stop_handle().stop();
            beside.join().unwrap();
            spin.expect("each event wakes the task").unwrap();
        });
    }
}

/// A graph that is never idle leaves the thread to other tasks from time to time.
#[test]
fn endless_events_leave_time_for_other_tasks() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let out = node.create_publisher::<u64>("again", QoS::default()).unwrap();
        let first = out.clone();
        node.create_subscription("again", QoS::default(), move |_, n: &Message<u64>, _| {
            out.publish(**n + 1)
        })
        .unwrap();
        // In simulated time an instant has to end.
        node.create_timer(MS, |_, _| ()).unwrap();
        executor.freeze().unwrap();
        if executor.deterministic_run().is_none() {
            first.publish(0).unwrap();
        }
        runtime(1).block_on(async {
            let others = async {
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                ended = executor.spin_async(sleep) => panic!("{ended:?}"),
                () = others => {}
            }
        });
    });
}

/// The digest of a simulation is that of a spin without interruption.
#[test]
fn simulation_has_the_same_digest_in_steps() {
    let digest = |in_steps: bool| {
        let mut executor = Executor::deterministic(Default::default());
        counting(&executor, 20_000);
        match in_steps {
            true => runtime(1).block_on(executor.spin_async(sleep)),
            false => executor.spin(),
        }
        .unwrap();
        executor.digest().unwrap()
    };
    assert_eq!(digest(true), digest(false));
}

#[test]
fn failure_ends_the_task() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        node.create_timer(MS, |_, _| Err::<(), _>("no fuel")).unwrap();
        let error = runtime(1).block_on(executor.spin_async(sleep)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CallbackFailed);
        assert!(error.to_string().contains("no fuel"), "{error}");
    });
}

#[test]
fn spin_after_a_dropped_one_sleeps() {
    let mut executor = Executor::single_core();
    counting(&executor, u32::MAX);
    runtime(1).block_on(async {
        tokio::select! {
            ended = executor.spin_async(sleep) => ended.unwrap(),
            () = sleep(3 * MS) => {}
        }
    });
    assert_eq!(executor.statistics().workers[0].sleeps, 0, "it rested, and its thread did not");
    let before = executor.statistics().dispatched();
    executor.spin_for(20 * MS).unwrap();
    let statistics = executor.statistics();
    let (events, sleeps) = (statistics.dispatched() - before, statistics.workers[0].sleeps);
    assert!((1..10 * (events + 2)).contains(&sleeps), "{sleeps} sleeps for {events} events");
}
