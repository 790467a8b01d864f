//! Executors in deterministic mode that share their time with threads.

use ringspin_executor::{QoS, Time};
use ringspin_modes::Executor;
use ringspin_simulated_threads::{Settings, progress, run};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const MILLI: Duration = Duration::from_millis(1);

/// The log and the digest of a node with a timer of 10 ms, and a topic to which a thread publishes,
/// too.
fn node_with_a_thread(seed: u64) -> (Vec<String>, String) {
    Settings { seed, ..Settings::default() }
        .run(|| {
            let log = Arc::new(Mutex::new(Vec::new()));
            let mut executor = Executor::deterministic(Default::default());
            let node = executor.create_node("node", 0u32).unwrap();
            let out =
                node.create_publisher::<(&'static str, u32)>("samples", QoS::default()).unwrap();
            let threads_out = out.clone();
            node.create_timer(10 * MILLI, move |n, _| {
                *n += 1;
                out.publish(("timer", *n))
            })
            .unwrap();
            let written = log.clone();
            type Sample = (&'static str, u32);
            node.create_subscription::<Sample, _, _>("samples", QoS::default(), {
                move |_, sample, context| {
                    let (now, (by, n)) = (context.now().as_nanos() / 1_000_000, **sample);
                    written.lock().unwrap().push(format!("{now} {by} {n}"));
                }
            })
            .unwrap();
            thread::spawn(move || {
                for n in 0.. {
                    let pause = rand::random_range(1..20);
                    thread::sleep(pause * MILLI);
                    threads_out.publish(("thread", n)).unwrap();
                }
            });
            executor.spin_for(Duration::from_secs(1)).unwrap();
            assert_eq!(executor.now(), Time::from_nanos(1_000_000_000));
            let (digest, _) = executor.digest().unwrap();
            let log = log.lock().unwrap().clone();
            (log, digest.to_string())
        })
        .unwrap()
}

#[test]
fn threads_publish_in_the_order_of_simulated_time() {
    let (log, digest) = node_with_a_thread(1);
    let times: Vec<u64> =
        log.iter().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted(), "{log:?}");
    let of = |by: &str| log.iter().filter(|line| line.contains(by)).count();
    assert_eq!(of("timer"), 100);
    assert!(of("thread") > 60, "{log:?}");
    for _ in 0..20 {
        assert_eq!(node_with_a_thread(1), (log.clone(), digest.clone()));
    }
    assert_ne!(node_with_a_thread(2).1, digest);
}

#[test]
fn executor_without_other_threads_has_the_same_digest_as_outside() {
    let digest = || {
        let mut executor = Executor::deterministic(Default::default());
        let node = executor.create_node("node", 0u32).unwrap();
        node.create_timer(10 * MILLI, |n, _| *n += 1).unwrap();
        executor.spin_for(Duration::from_secs(1)).unwrap();
        executor.digest()
    };
    assert_eq!(run(digest).unwrap(), digest());
}

#[test]
fn callback_that_sleeps_takes_simulated_time() {
    let ticks = run(|| {
        let mut executor = Executor::deterministic(Default::default());
        let node = executor.create_node("node", Vec::new()).unwrap();
        let (ticks, got) = mpsc::channel();
        node.create_timer(10 * MILLI, move |_: &mut Vec<()>, context| {
            ticks.send(context.now().as_nanos() / 1_000_000).unwrap();
            thread::sleep(25 * MILLI);
        })
        .unwrap();
        executor.spin_for(100 * MILLI).unwrap();
        drop(executor);
        got.into_iter().collect::<Vec<_>>()
    });
    // Each deadline that passed meanwhile is missed, and the phase is kept.
    assert_eq!(ticks.unwrap(), [10, 35, 60, 85]);
}

#[test]
fn thread_waits_for_a_callback_and_stops_the_executor() {
    let took = run(|| {
        let begin = Instant::now();
        let mut executor = Executor::deterministic(Default::default());
        let node = executor.create_node("node", ()).unwrap();
        let (done, wait) = mpsc::channel();
        node.create_timer(70 * MILLI, move |_, _| done.send(()).unwrap()).unwrap();
        let stop = executor.stop_handle();
        thread::spawn(move || {
            wait.recv().unwrap();
            thread::sleep(5 * MILLI);
            stop.stop();
        });
        executor.spin().unwrap();
        begin.elapsed()
    });
    assert_eq!(took.unwrap(), 75 * MILLI);
}

#[test]
fn executors_in_one_world_take_their_turns_by_time() {
    let log = run(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let spin = |name: &'static str, period: u32| {
            let log = log.clone();
            thread::spawn(move || {
                let mut executor = Executor::deterministic(Default::default());
                let node = executor.create_node(name, ()).unwrap();
                node.create_timer(period * MILLI, move |_, context| {
                    log.lock().unwrap().push((name, context.now().as_nanos() / 1_000_000));
                })
                .unwrap();
                executor.spin_for(30 * MILLI).unwrap();
            })
        };
        for spinning in [spin("slow", 15), spin("fast", 10)] {
            spinning.join().unwrap();
        }
        assert_eq!(progress().unwrap().time, 30 * MILLI);
        log.lock().unwrap().clone()
    });
    let expected = [("fast", 10), ("slow", 15), ("fast", 20), ("slow", 30), ("fast", 30)];
    assert_eq!(log.unwrap(), expected);
}

#[test]
fn later_start_of_a_simulation_is_waited_for() {
    let times = run(|| {
        let start = Time::from_nanos(5_000_000_000);
        let simulation = ringspin_modes::Simulation { start, ..Default::default() };
        let mut executor = Executor::deterministic(simulation);
        let node = executor.create_node("node", ()).unwrap();
        node.create_timer(Duration::from_secs(2), |_, _| {}).unwrap();
        let begin = Instant::now();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_secs(3));
            begin.elapsed()
        });
        executor.spin_for(Duration::from_secs(1)).unwrap();
        (other.join().unwrap(), begin.elapsed(), executor.now())
    });
    let seconds = Duration::from_secs;
    assert_eq!(times.unwrap(), (seconds(3), seconds(6), Time::from_nanos(6_000_000_000)));
}

#[test]
fn the_digest_of_a_world_has_the_time_and_the_thread_of_each_switch() {
    let digest = |pauses: [u32; 2]| {
        let sleep = move || {
            for pause in pauses {
                thread::spawn(move || thread::sleep(pause * MILLI));
            }
            thread::sleep(10 * MILLI);
            progress().unwrap().digest
        };
        run(sleep).unwrap()
    };
    assert_eq!(digest([1, 2]), digest([1, 2]));
    assert_ne!(digest([1, 2]), digest([1, 3]));
    assert_ne!(digest([1, 2]), digest([2, 1]));
}

#[test]
fn the_digest_of_a_world_has_that_of_its_executor() {
    let published = |value: u32| {
        let digest = move || {
            let mut executor = Executor::deterministic(Default::default());
            let node = executor.create_node("node", ()).unwrap();
            let out = node.create_publisher("values", QoS::default()).unwrap().digested();
            node.create_timer(10 * MILLI, move |_, _| out.publish(value)).unwrap();
            thread::spawn(|| thread::sleep(15 * MILLI));
            executor.spin_for(20 * MILLI).unwrap();
            progress().unwrap().digest
        };
        run(digest).unwrap()
    };
    assert_eq!(published(1), published(1));
    assert_ne!(published(1), published(2));
}

#[test]
fn loop_of_spin_once_without_a_wait_reaches_the_next_event() {
    let (ticks, switches) = run(|| {
        let mut executor = Executor::deterministic(Default::default());
        let node = executor.create_node("node", ()).unwrap();
        let ticks = Arc::new(AtomicU32::new(0));
        let counted = ticks.clone();

        node.create_timer(100 * MILLI, move |(), _| {
            counted.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        while ticks.load(Ordering::SeqCst) < 10 {
            executor.spin_once(Duration::ZERO).unwrap();
        }
        (ticks.load(Ordering::SeqCst), progress().unwrap().switches)
    })
    .unwrap();
    assert_eq!(ticks, 10);
    assert!(switches < 100_000, "{switches}");
}
