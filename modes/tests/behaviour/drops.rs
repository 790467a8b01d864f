//! Values of which several panic when they are dropped: the executor drops each, reports panics,
//! and never aborts the process by a second panic during the first.

use crate::{in_every_mode, in_every_mode_isolating};
use ringspin_executor::{
    Cause, Completion, Context, Dispatch, Message, Publisher, QoS, Recorder, Verdict,
};
use ringspin_modes::{Executor, Mode};
use ringspin_ringbuf::Counter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Number of values that panic in each test.
const BOMBS: usize = 5;

/// Panics when it is dropped.
#[derive(Clone)]
struct Bomb(#[expect(dead_code)] Arc<()>);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("boom");
    }
}

fn boom() -> Cause {
    Cause::Panic("boom".into())
}

/// A topic with a subscription of [`BOMBS`] messages that handles none before the executor stops:
/// it publishes them all in the callback that stops. Returns the publisher, too.
fn full_queue(executor: &Executor, held: &Arc<()>) {
    let talker = executor.create_node("talker", ()).unwrap();
    let out = talker.create_publisher::<Bomb>("topic", QoS::default()).unwrap();
    let listener = executor.create_node("listener", ()).unwrap();
    let callback = |_: &mut (), _: &Message<Bomb>, _: &mut Context<'_>| ();
    listener.create_subscription("topic", QoS::keep_last(BOMBS), callback).unwrap();
    let held = held.clone();
    // The listener is busy when they come, and stops before it takes one.
    let busy = listener.create_publisher::<Bomb>("topic", QoS::default()).unwrap();
    drop(out);
    listener
        .create_one_shot_timer(MS, move |_, cx| {
            for _ in 0..BOMBS {
                assert!(busy.publish(Bomb(held.clone())).is_ok());
            }
            cx.stop();
        })
        .unwrap();
}

#[test]
fn executor_reports_waiting_messages_whose_drops_panic() {
    in_every_mode(|mut executor| {
        let held = Arc::new(());
        full_queue(&executor, &held);
        executor.spin().unwrap();
        let monitor = executor.monitor().unwrap();
        drop(executor);
        assert_eq!(Arc::strong_count(&held), 1, "each message is dropped");
        let failures = monitor.failures();
        let [failure] = &failures[..] else { panic!("one failure of the queue: {failures:?}") };
        assert_eq!((&*failure.node, &failure.cause), ("/listener", &boom()));
        assert_eq!(failure.callback, "drop of the waiting messages");
    });
}

/// The same while the thread unwinds for another reason.
#[test]
fn executor_that_is_dropped_by_a_panic_drops_messages_that_panic() {
    in_every_mode(|mut executor| {
        let held = Arc::new(());
        full_queue(&executor, &held);
        executor.spin().unwrap();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _executor = executor;
            panic!("an earlier panic");
        }));
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"an earlier panic"));
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

/// A graph that never runs drops its states, callbacks, and the messages of its latched topics.
#[test]
fn executor_that_never_spins_drops_all_that_panics() {
    in_every_mode(|executor| {
        let held = Arc::new(());
        for n in 0..2 {
            let node = executor.create_node(&format!("node_{n}"), Bomb(held.clone())).unwrap();
            let qos = QoS::keep_last(BOMBS).transient_local();
            let out = node.create_publisher::<Bomb>(&format!("topic_{n}"), qos).unwrap();
            for _ in 0..BOMBS {
                assert!(out.publish(Bomb(held.clone())).is_ok());
            }
            let captured = Bomb(held.clone());
            node.create_timer(MS, move |_, _| _ = (&captured, &out)).unwrap();
            let captured = Bomb(held.clone());
            executor
                .graph()
                .intercept(&format!("topic_{n}"), move |_: &Message<Bomb>, _| {
                    let _ = &captured;
                    Verdict::Pass
                })
                .unwrap();
        }
        drop(executor);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

#[test]
fn isolated_node_drops_messages_and_captures_that_panic() {
    in_every_mode_isolating(|mut executor| {
        let held = Arc::new(());
        let node = executor.create_node("fragile", Bomb(held.clone())).unwrap();
        let out = node.create_publisher::<Bomb>("topic", QoS::default()).unwrap();
        for _ in 0..2 {
            let captured = Bomb(held.clone());
            let callback = move |_: &mut Bomb, _: &Message<Bomb>, _: &mut Context<'_>| {
                let _ = &captured;
            };
            node.create_subscription("topic", QoS::keep_last(BOMBS), callback).unwrap();
        }
        let client = node.create_client::<u32, u32>("service", QoS::keep_all(BOMBS)).unwrap();
        let (kept, calls) = (held.clone(), client.clone());
        node.create_one_shot_timer(MS, move |_, _| {
            for n in 0..BOMBS {
                assert!(out.publish(Bomb(kept.clone())).is_ok());
                let captured = Bomb(kept.clone());
                calls.call(n as u32, move |_, _, _| _ = &captured).unwrap();
            }
            Err::<(), _>("broken")
        })
        .unwrap();
        let server = executor.create_node("server", Vec::new()).unwrap();
        let keep = |kept: &mut Vec<_>, _: &u32, responder, _: &mut Context<'_>| {
            kept.push(responder);
        };
        server.create_deferred_service::<u32, u32, _, _>("service", QoS::services(), keep).unwrap();
        let observer = executor.create_node("observer", ()).unwrap();
        let witness = held.clone();
        // It ends when all of them are dropped: the closures, the state and the messages.
        let mut ticks = 0;
        observer
            .create_timer(MS, move |_, cx| {
                ticks += 1;
                // This one, that of the test, and that of the timer's callback, if it is not gone.
                let is_gone = Arc::strong_count(&witness) == 2;
                if is_gone || ticks == 3_000 {
                    assert!(is_gone, "{} are left", Arc::strong_count(&witness) - 2);
                    cx.stop();
                }
            })
            .unwrap();
        executor.spin().unwrap();
        let failures = executor.failures();
        assert_eq!(failures[0].cause, Cause::Error("broken".into()));
        let dropped = failures.iter().filter(|failure| failure.cause == boom());
        assert!(dropped.clone().all(|failure| failure.node == "/fragile"), "{failures:?}");
        let states = dropped.filter(|failure| failure.callback.starts_with("drop of its state"));
        assert_eq!(states.count(), 1, "{failures:?}");
    });
}

/// Counts as a value that panics, too.
struct BadRecorder(#[expect(dead_code)] Bomb);

impl Recorder for BadRecorder {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, _: &Dispatch, _: Completion) {}
}

#[test]
fn executor_drops_the_recorders_of_all_workers_when_each_panics() {
    in_every_mode(|executor| {
        let held = Arc::new(());
        let witness = held.clone();
        let recorder = move |_: &_, _| BadRecorder(Bomb(witness.clone()));
        let mut executor = executor.with_recorders(recorder);
        for n in 0..4 {
            let node = executor.create_node(&format!("node_{n}"), ()).unwrap();
            node.create_timer(MS, |_, cx| cx.stop()).unwrap();
        }
        executor.spin().unwrap();
        drop(executor);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

/// Handles outside keep topics alive: their messages are dropped with the last handle.
#[test]
fn publishers_drop_kept_messages_that_panic_with_the_last_handle() {
    in_every_mode(|mut executor| {
        let held = Arc::new(());
        let node = executor.create_node("node", ()).unwrap();
        let publishers: Vec<Publisher<Option<Bomb>>> = (0..2)
            .map(|n| node.create_publisher(&format!("topic_{n}"), QoS::default()).unwrap())
            .collect();
        executor.freeze().unwrap();
        for publisher in &publishers {
            let loans: Vec<_> = (0..BOMBS)
                .map(|_| {
                    let mut loan = publisher.loan().unwrap();
                    *loan = Some(Bomb(held.clone()));
                    loan
                })
                .collect();
            drop(loans);
        }
        drop((executor, node));
        let dropped = AssertUnwindSafe(move || drop(publishers));
        assert!(catch_unwind(dropped).is_err(), "the first panic is the user's");
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

/// Kept messages of a publisher that ends while the executor runs: neither a publisher on another
/// thread nor a worker gets their panics.
#[test]
fn kept_messages_that_panic_when_dropped_disturb_neither_publishers_nor_workers() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let mut executor = Executor::new(mode);
        let (held, heard) = (Arc::new(()), Arc::new(Counter::default()));
        let node = executor.create_node("node", heard.clone()).unwrap();
        let count = |heard: &mut Arc<Counter>, _: &Message<u32>, _: &mut Context<'_>| {
            heard.next();
        };
        node.create_subscription("numbers", QoS::keep_all(8), count).unwrap();
        let out = node.create_publisher::<u32>("numbers", QoS::keep_all(8)).unwrap();
        let (graph, stop) = (executor.graph().clone(), executor.stop_handle());
        executor.freeze().unwrap();
        thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin());
            let publishing = scope.spawn(|| {
                while !stop.is_stopped() {
                    let _ = out.publish(1);
                }
            });
            let before = heard.get();
            for n in 0..50 {
                let node = graph.create_node(&format!("guest_{n}"), ()).unwrap();
                let qos = QoS::keep_last(BOMBS).transient_local();
                let kept = node.create_publisher::<Bomb>("bombs", qos).unwrap();
                (0..BOMBS).for_each(|_| assert!(kept.publish(Bomb(held.clone())).is_ok()));
                // A panic here is of the thread's own values.
                let _ = catch_unwind(AssertUnwindSafe(|| drop(kept)));
                let _ = catch_unwind(AssertUnwindSafe(|| node.destroy()));
            }
            while heard.get() < before + 100 && !spinning.is_finished() {
                thread::yield_now();
            }
            stop.stop();
            publishing.join().expect("a publisher got the panic of another one's message");
            spinning.join().unwrap().expect("the executor goes on");
        });
        drop(executor);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

/// One executor's callback is blocked meanwhile: memory of another graph does not wait for it.
#[test]
fn memory_of_a_graph_does_not_wait_for_a_callback_of_another_one() {
    let mut blocked = Executor::new(Mode::SingleCore);
    let ((begin, begun), (end, ended)) = (channel(), channel::<()>());
    let node = blocked.create_node("blocked", ()).unwrap();
    let block = move |_: &mut (), cx: &mut Context<'_>| {
        begin.send(()).unwrap();
        let _ = ended.recv();
        cx.stop();
    };
    node.create_guard_condition("block", block).unwrap().trigger();
    let mut executor = Executor::new(Mode::SingleCore);
    let graph = executor.graph().clone();
    executor.freeze().unwrap();
    thread::scope(|scope| {
        let end = end; // also when an assertion fails
        scope.spawn(|| blocked.spin().unwrap());
        begun.recv().unwrap();
        let held = Arc::new(());
        for n in 0..10 {
            let node = graph.create_node(&format!("guest_{n}"), ()).unwrap();
            let qos = QoS::keep_last(1).transient_local();
            let hear = |_: &mut (), _: &Message<Arc<()>>, _: &mut Context<'_>| ();
            node.create_subscription("kept", QoS::keep_last(1), hear).unwrap();
            let kept = node.create_publisher("kept", qos).unwrap();
            assert!(kept.publish(held.clone()).is_ok());
            drop(kept);
            node.destroy();
        }
        executor.spin_for(Duration::ZERO).unwrap();
        assert_eq!(Arc::strong_count(&held), 1, "memory waits for the other executor");
        drop(end);
    });
}
