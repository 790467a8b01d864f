//! Tasks: futures as ordered as callbacks.

use crate::{Log, entries, failure_of, in_every_mode, in_every_mode_isolating, log};
use ringspin_executor::{BoxError, CallError, FailurePolicy, GraphChange, QoS, Task, Time};
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use std::future::{pending, poll_fn};
use std::task::Poll;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_task_awaits_ticks_messages_and_responses_and_uses_its_state() {
    in_every_mode(|mut executor| {
        let sums: Log<u64> = log();
        let source = executor.create_node("source", ()).unwrap();
        let out = source.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let mut interval = source.create_interval(MS).unwrap();
        let count = async move {
            for number in 0..20 {
                interval.tick().await;
                out.publish(number)?;
            }
            Ok::<(), ringspin_executor::PublishError<u64>>(())
        };
        let counting = source.spawn("count", count).unwrap();
        let server = executor.create_node("server", ()).unwrap();
        server.create_service("double", QoS::services(), |_, n: &u64, _| 2 * n).unwrap();
        let node = executor.create_node("sum", 0u64).unwrap();
        let mut numbers = node.create_stream::<u64>("numbers", QoS::keep_all(20)).unwrap();
        let double = node.create_client::<u64, u64>("double", QoS::services()).unwrap();
        let seen = sums.clone();
        let summing = node
            .spawn_with_state("sum", |state| async move {
                loop {
                    let number = numbers.next().await;
                    let doubled = *double.call_async(*number).await?;
                    let sum = state.with(move |sum, _| {
                        *sum += doubled;
                        *sum
                    });
                    let sum = sum.await;
                    seen.lock().unwrap().push(sum);
                    if *number == 19 {
                        state.with(|_, cx| cx.stop()).await;
                        return Ok::<(), CallError>(());
                    }
                }
            })
            .unwrap();
        executor.spin().unwrap();
        assert!(counting.is_finished() && summing.is_finished());
        assert_eq!(entries(&sums), (0..20).map(|n| n * (n + 1)).collect::<Vec<_>>());
    });
}

#[test]
fn a_task_is_as_deterministic_as_a_callback() {
    let run = || {
        let times: Log<(u64, u64)> = log();
        let seen = times.clone();
        let job = Job::new(move |graph| {
            for (n, period) in [(1u64, 30), (2, 20)] {
                let node = graph.create_node(&format!("node{n}"), seen.clone())?;
                let mut interval = node.create_interval(period * MS)?;
                node.spawn_with_state("log", |state| async move {
                    loop {
                        let tick = interval.tick().await;
                        let time = tick.time.as_nanos() / 1_000_000;
                        state.with(move |seen, _| seen.lock().unwrap().push((time, n))).await;
                    }
                })?;
            }
            Ok(())
        });
        let report = job.run_for(100 * MS).run().unwrap();
        (entries(&times), report.digest(), report.dispatches())
    };
    let first = run();
    assert_eq!(first.0, [(20, 2), (30, 1), (40, 2), (60, 1), (60, 2), (80, 2), (90, 1), (100, 2)]);
    // Each tick is an event and a poll; each task is polled once at the start.
    assert_eq!(first.2, 2 * 8 + 2);
    assert_eq!(first, run());
}

#[test]
fn a_task_sleeps_in_the_executors_time() {
    let mut executor = Executor::deterministic(Default::default());
    let times: Log<Time> = log();
    let node = executor.create_node("node", times.clone()).unwrap();
    let mut sleeper = node.create_sleeper().unwrap();
    node.spawn_with_state("sleep", |state| async move {
        for seconds in [3, 1, 2] {
            sleeper.sleep(Duration::from_secs(seconds)).await;
            state.with(|times, cx| times.lock().unwrap().push(cx.now())).await;
        }
    })
    .unwrap();
    executor.spin().unwrap();
    assert_eq!(entries(&times), [3, 4, 6].map(Time::from_secs));
}

#[test]
fn a_wake_from_another_thread_reaches_the_task() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        // The deterministic mode ends when nothing is left to do in it.
        node.create_timer(MS, |_, _| ()).unwrap();
        let (stop, mut thread) = (executor.stop_handle(), None);
        let rounds = poll_fn(move |cx| {
            let waker = cx.waker().clone();
            let spawned = thread.replace(std::thread::spawn(move || waker.wake()));
            match spawned {
                None => Poll::Pending,
                Some(before) => {
                    before.join().unwrap();
                    stop.stop();
                    Poll::Ready(())
                }
            }
        });
        let task = node.spawn("rounds", rounds).unwrap();
        executor.spin().unwrap();
        assert!(task.is_finished());
    });
}

#[test]
fn a_failing_task_is_a_failure_of_its_node() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let task = node.spawn("fail", async { Err::<(), _>("no luck") }).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!((&*failure.node, &*failure.callback), ("/node", "task fail"));
        assert!(failure.to_string().contains("no luck") && task.is_finished());
    });
}

#[test]
fn a_panicking_task_is_never_polled_again() {
    let mut executor = Executor::single_core();
    let restarts = log();
    let counted = restarts.clone();
    let factory = move || counted.lock().unwrap().push(());
    let node = executor.graph().create_restartable_node("node", 3, factory).unwrap();
    let task = node.spawn("panic", async { panic!("at once") }).unwrap();
    let ticks: Log<()> = log();
    let seen = ticks.clone();
    node.create_timer(MS, move |_, cx| {
        seen.lock().unwrap().push(());
        cx.stop();
    })
    .unwrap();
    executor.spin().unwrap();
    assert!(task.is_finished() && !entries(&ticks).is_empty(), "the node went on");
    assert_eq!((executor.failures().len(), entries(&restarts).len()), (1, 2));
}

#[test]
fn a_cancelled_task_drops_its_future_in_its_loop() {
    in_every_mode(|mut executor| {
        let witness = log::<()>();
        let node = executor.create_node("node", ()).unwrap();
        let held = witness.clone();
        let task = node
            .spawn("wait", async move {
                let _held = held;
                pending::<()>().await;
            })
            .unwrap();
        let handle = task.clone();
        node.create_timer(MS, move |_, cx| match handle.is_finished() {
            true => cx.stop(),
            false => handle.cancel(),
        })
        .unwrap();
        executor.spin().unwrap();
        assert!(task.is_finished());
        assert_eq!(std::sync::Arc::strong_count(&witness), 1);
    });
}

#[test]
fn a_slow_task_keeps_the_newest_messages() {
    let mut executor = Executor::deterministic(Default::default());
    let received: Log<u32> = log();
    let source = executor.create_node("source", 0u32).unwrap();
    let out = source.create_publisher::<u32>("numbers", QoS::default()).unwrap();
    source
        .create_timer(10 * MS, move |n, _| {
            *n += 1;
            out.publish(*n)
        })
        .unwrap();
    let node = executor.create_node("slow", received.clone()).unwrap();
    let mut numbers = node.create_stream::<u32>("numbers", QoS::keep_last(2)).unwrap();
    let mut pause = node.create_sleeper().unwrap();
    node.spawn_with_state("read", |state| async move {
        loop {
            pause.sleep(35 * MS).await;
            let number = *numbers.next().await;
            state.with(move |received, _| received.lock().unwrap().push(number)).await;
        }
    })
    .unwrap();
    executor.spin_for(150 * MS).unwrap();
    // At 35 ms 2 and 3 are kept, at 70 ms 6 and 7, at 105 ms 9 and 10, at 140 ms 13 and 14.
    assert_eq!(entries(&received), [2, 6, 9, 13]);
    assert_eq!(executor.statistics().overwritten(), 15 - 4 - 2);
}

/// Ten tasks at a time, each with a stream and an interval, until so many have finished.
fn spawn_in_turn(executor: &Executor, rounds: u64) {
    let node = executor.create_node("node", 0u64).unwrap();
    let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let own = node.clone();
    node.create_timer(MS / 10, move |round, cx| {
        out.publish(*round)?;
        *round += 1;
        for _ in 0..10 {
            let mut numbers = own.create_stream::<u64>("numbers", QoS::default())?;
            let mut interval = own.create_interval(MS / 10)?;
            own.spawn("once", async move {
                numbers.next().await;
                interval.tick().await;
            })?;
        }
        if *round == rounds {
            cx.cancel_timer();
            out.publish(*round)?;
            cx.stop();
        }
        Ok::<(), BoxError>(())
    })
    .unwrap();
}

#[test]
fn finished_tasks_dropped_streams_and_intervals_leave_the_graph() {
    in_every_mode(|mut executor| {
        spawn_in_turn(&executor, 100);
        executor.spin().unwrap();
        assert_eq!(executor.failures(), []);
        executor.stop_handle().reset();
        // On a busy machine a short spin is over before its threads run.
        for doublings in 0..18 {
            if executor.graph().info().callbacks.len() == 1 {
                break;
            }
            executor.spin_for(MS / 10 * (1 << doublings)).unwrap();
        }
        let info = executor.graph().info();
        assert_eq!(info.callbacks.len(), 1, "{:?}", info.callbacks);
        // Polls: the first one, and at least one for each awaited event.
        assert!(executor.statistics().dispatched() >= 100 + 1_000 * 3);
    });
}

#[test]
fn task_that_fails_panics_or_is_cancelled_leaves_the_graph() {
    in_every_mode(|executor| {
        let mut executor = executor.with_failure_policy(FailurePolicy::IsolateNode);
        let node = executor.graph().create_restartable_node("node", 3, || ()).unwrap();
        let fail = node.spawn("fail", async { Err::<(), _>("no luck") }).unwrap();
        let panics = node.spawn("panic", async { panic!("at once") }).unwrap();
        let cancelled = node.spawn("wait", pending::<()>()).unwrap();
        let canceller = cancelled.clone();
        let tasks = [fail, panics, cancelled];
        let ends = tasks.clone();
        node.create_timer(MS, move |_, cx| {
            canceller.cancel();
            if ends.iter().all(Task::is_finished) {
                cx.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(executor.failures().len(), 2);
        assert_eq!(executor.graph().info().callbacks.len(), 1);
    });
}

#[test]
fn end_of_a_task_is_in_the_trace_and_not_in_the_digest() {
    let run = |ends: bool| {
        let mut executor = Executor::deterministic(Default::default()).with_trace();
        let node = executor.create_node("node", ()).unwrap();
        let task = async move {
            if !ends {
                pending::<()>().await;
            }
        };
        node.spawn("once", task).unwrap();
        node.create_one_shot_timer(MS, |_, _| ()).unwrap();
        executor.spin().unwrap();
        (executor.digest().unwrap(), executor.take_trace().unwrap())
    };
    let ((ended, trace), (going_on, same)) = (run(true), run(false));
    assert_eq!(ended, going_on);
    let [(1, GraphChange::CallbackEnded { callback })] = trace.changes[..] else {
        panic!("{:?}", trace.changes)
    };
    assert_eq!((callback, &same.changes[..]), (trace.records[0].dispatch.callback, &[][..]));
}

#[test]
fn the_state_of_another_task_is_refused() {
    in_every_mode_isolating(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let (mut taken, give) = (None, &mut None);
        node.spawn_with_state("owner", |state| {
            *give = Some(state);
            pending::<()>()
        })
        .unwrap();
        std::mem::swap(&mut taken, give);
        let other = executor.create_node("other", ()).unwrap();
        let state = taken.unwrap();
        other.spawn("thief", async move { state.with(|_, _| ()).await }).unwrap();
        while executor.failures().is_empty() {
            executor.spin_for(10 * MS).unwrap();
        }
        let [failure] = &executor.failures()[..] else { panic!("one failure") };
        assert!(failure.to_string().contains("outside of that task"), "{failure}");
    });
}
