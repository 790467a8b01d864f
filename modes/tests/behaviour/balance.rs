//! The multi-core mode with event loops that no mapping names: they run where there is time for
//! them.

use crate::{entries, log, thread_name};
use ringspin_executor::{Context, Message, QoS};
use ringspin_modes::{Executor, Mapping, Mode, allowed_cores};
use ringspin_ringbuf::{Counter, Flag};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(20);

/// An executor, unless this machine has one core.
fn balanced() -> Option<Executor> {
    if allowed_cores().len() < 2 {
        println!("this needs two cores");
        return None;
    }
    Some(Executor::new(Mode::MultiCore(None)))
}

/// Computes until `done`; whether that came in time.
fn busy_until(done: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !done() {
        if start.elapsed() > LIMIT {
            return false;
        }
        std::hint::spin_loop();
    }
    true
}

/// A node with a callback that lasts until the timers of twenty others have been called again and
/// again: they run on another core meanwhile. The first such callbacks are a surprise.
#[test]
fn timers_run_during_a_long_callback_of_another_node() {
    const SURPRISES: u64 = 10;
    let Some(mut executor) = balanced() else { return };
    let ticks: Vec<Arc<Counter>> = (0..20).map(|_| Arc::default()).collect();
    for (n, count) in ticks.iter().enumerate() {
        let node = executor.create_node(&format!("light_{n}"), count.clone()).unwrap();
        node.create_timer(MS, |count, _| count.add_by_owner(1)).unwrap();
    }
    let heavy = executor.create_node("heavy", 0u64).unwrap();
    heavy
        .create_timer(5 * MS, move |calls, cx| {
            *calls += 1;
            let before: Vec<u64> = ticks.iter().map(|count| count.get()).collect();
            let have_run =
                || ticks.iter().zip(&before).all(|(count, before)| count.get() > before + 2);
            if *calls <= SURPRISES {
                let start = Instant::now();
                busy_until(|| start.elapsed() > 2 * MS);
            } else {
                assert!(busy_until(have_run), "a timer waits for the long callback");
                if *calls == SURPRISES + 50 {
                    cx.stop();
                }
            }
        })
        .unwrap();
    executor.spin().unwrap();
}

/// A callback that was short so far lasts until others have run that wait for it: timers, and one
/// that gets a message of it.
#[test]
fn callback_that_is_suddenly_long_delays_no_other() {
    let Some(mut executor) = balanced() else { return };
    let counts: Vec<Arc<Counter>> = (0..4).map(|_| Arc::default()).collect();
    for (n, count) in counts[1..].iter().enumerate() {
        let node = executor.create_node(&format!("light_{n}"), count.clone()).unwrap();
        node.create_timer(5 * MS, |count, _| count.add_by_owner(1)).unwrap();
    }
    let listener = executor.create_node("listener", counts[0].clone()).unwrap();
    let hear = |count: &mut Arc<Counter>, _: &Message<u64>, _: &mut Context<'_>| {
        count.add_by_owner(1);
    };
    listener.create_subscription("topic", QoS::default(), hear).unwrap();
    let sudden = executor.create_node("sudden", 0u64).unwrap();
    let out = sudden.create_publisher("topic", QoS::default()).unwrap();
    sudden
        .create_timer(MS, move |calls, cx| {
            *calls += 1;
            if calls.is_multiple_of(200) {
                let before: Vec<u64> = counts.iter().map(|count| count.get()).collect();
                out.publish(*calls).unwrap();
                let have_run = || counts.iter().zip(&before).all(|(n, before)| n.get() > *before);
                assert!(busy_until(have_run), "one waits for the long callback");
            }
            if *calls == 1000 {
                cx.stop();
            }
        })
        .unwrap();
    executor.spin().unwrap();
    assert!(executor.failures().is_empty());
}

/// Many nodes with short callbacks that wait together are shared, too: a callback that was short so
/// far waits for one of those behind it. In one of the attempts both threads have to be free.
#[test]
fn nodes_that_wait_long_together_are_shared() {
    const NODES: usize = 12;
    let attempt = |mut executor: Executor| {
        let calls: Vec<Arc<Counter>> = (0..NODES).map(|_| Arc::default()).collect();
        let shared = Arc::new(Flag::default());
        for n in 0..NODES {
            let (calls, shared) = (calls.clone(), shared.clone());
            let node = executor.create_node(&format!("node_{n}"), 0).unwrap();
            let work = move |round: &mut u64, cx: &mut Context<'_>| {
                *round += 1;
                let start = Instant::now();
                busy_until(|| start.elapsed() > Duration::from_micros(50));
                calls[n].set(*round);
                if n == 3 && *round == 30 {
                    let behind = || calls[n + 1..].iter().filter(|of| of.get() == 30).count();
                    let before = behind();
                    busy_until(|| behind() > before || start.elapsed() > 50 * MS);
                    if behind() > before {
                        shared.raise();
                    }
                    cx.stop();
                }
            };
            node.create_timer(2 * MS, work).unwrap();
        }
        executor.spin().unwrap();
        shared.is_raised()
    };
    let shared = (0..300).map_while(|_| balanced()).any(attempt);
    assert!(shared || balanced().is_none(), "a core rests while many callbacks wait");
}

/// An event that another thread causes while the node's usual core is in a long callback.
#[test]
fn events_of_other_threads_are_handled_during_a_long_callback() {
    let Some(mut executor) = balanced() else { return };
    let pressed = Arc::new(Counter::default());
    let node = executor.create_node("button", pressed.clone()).unwrap();
    let guard = node.create_guard_condition("pressed", |count, _| count.add_by_owner(1)).unwrap();
    let heavy = executor.create_node("heavy", 0u64).unwrap();
    heavy
        .create_timer(2 * MS, move |calls, cx| {
            *calls += 1;
            let start = Instant::now();
            busy_until(|| start.elapsed() > MS);
            if *calls > 10 {
                let (before, guard) = (pressed.get(), guard.clone());
                std::thread::spawn(move || guard.trigger());
                assert!(busy_until(|| pressed.get() > before), "the event waits");
                cx.stop();
            }
        })
        .unwrap();
    executor.spin().unwrap();
}

/// Short callbacks stay on one core: a chain runs on the thread of its first node.
#[test]
fn chain_of_short_callbacks_stays_on_one_thread() {
    let Some(mut executor) = balanced() else { return };
    let seen = log::<(usize, ThreadId)>();
    let source = executor.create_node("source", 0u64).unwrap();
    let out = source.create_publisher("topic_0", QoS::default()).unwrap();
    let note = seen.clone();
    source
        .create_timer(MS, move |n, _| {
            *n += 1;
            note.lock().unwrap().push((0, std::thread::current().id()));
            out.publish(*n)
        })
        .unwrap();
    for n in 1..8 {
        let node = executor.create_node(&format!("node_{n}"), ()).unwrap();
        let out = node.create_publisher(&format!("topic_{n}"), QoS::default()).unwrap();
        let note = seen.clone();
        let pass_on = move |_: &mut (), number: &Message<u64>, cx: &mut Context<'_>| {
            note.lock().unwrap().push((n, std::thread::current().id()));
            if (n, **number) == (7, 200) {
                cx.stop();
            }
            out.publish(**number)
        };
        node.create_subscription(&format!("topic_{}", n - 1), QoS::default(), pass_on).unwrap();
    }
    executor.spin().unwrap();
    let seen = entries(&seen);
    assert!(seen.len() >= 200 * 8); // the other thread may begin another round meanwhile
    // A callback during which the kernel runs something else is long, too, for a while.
    let moved = seen.windows(2).filter(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
    assert!(moved.count() < 20 * 8, "chains of short callbacks change the thread");
}

const NODES: usize = 12;

/// Twelve nodes send each other messages, in callbacks of any length, so that loops change their
/// threads all the time: nothing is lost, and each loop handles one event at a time, in order.
/// Returns nodes with the threads on which they ran, by name.
fn storm(executor: &mut Executor) -> BTreeSet<(usize, String)> {
    const ROUNDS: u64 = 300;
    let (heard, threads) = (Arc::new(Counter::default()), log::<(usize, String)>());
    let qos = QoS::keep_all(1 << 12);
    for n in 0..NODES {
        let node = executor.create_node(&format!("node_{n}"), [0u64; NODES]).unwrap();
        let out = node.create_publisher(&format!("topic_{n}"), qos).unwrap();
        let mut sent = 0;
        node.create_timer(MS / 4, move |_, cx| {
            sent += 1;
            if sent == ROUNDS {
                cx.cancel_timer();
            }
            out.publish((n, sent)).unwrap();
        })
        .unwrap();
        for from in (0..NODES).filter(|from| *from != n) {
            let (heard, threads) = (heard.clone(), threads.clone());
            let hear =
                move |last: &mut [u64; NODES], m: &Message<(usize, u64)>, cx: &mut Context<'_>| {
                    let (from, number) = **m;
                    assert_eq!(number, last[from] + 1, "a message of node {from} is lost");
                    last[from] = number;
                    if (number + n as u64).is_multiple_of(40) {
                        threads.lock().unwrap().push((n, thread_name()));
                        let start = Instant::now();
                        busy_until(|| start.elapsed() > MS / 2);
                    }
                    if heard.next() + 1 == (NODES * (NODES - 1)) as u64 * ROUNDS {
                        cx.stop();
                    }
                };
            node.create_subscription(&format!("topic_{from}"), qos, hear).unwrap();
        }
    }
    executor.spin_for(LIMIT).unwrap();
    assert!(executor.failures().is_empty(), "{:?}", executor.failures());
    assert_eq!(heard.get(), (NODES * (NODES - 1)) as u64 * ROUNDS);
    entries(&threads).into_iter().collect()
}

#[test]
fn loops_that_move_lose_no_message() {
    let Some(mut executor) = balanced() else { return };
    let seen = storm(&mut executor);
    let threads: BTreeSet<_> = seen.iter().map(|(_, thread)| thread).collect();
    assert!(threads.len() > 1, "{seen:?}");
}

/// Many executors share the cores, so that the kernel takes the core from their threads anywhere,
/// also while they hand on a loop with a timer.
#[test]
fn timers_go_on_while_threads_are_preempted() {
    const TICKS: u64 = 1_000;
    let run = |mut executor: Executor| {
        let talker = executor.create_node("talker", 0u64).unwrap();
        let out = talker.create_publisher("topic", QoS::default()).unwrap();
        talker
            .create_timer(MS / 50, move |ticks, cx| {
                *ticks += 1;
                if *ticks == TICKS {
                    cx.stop();
                }
                out.publish(*ticks)
            })
            .unwrap();
        for n in 0..3 {
            let listener = executor.create_node(&format!("listener_{n}"), 0).unwrap();
            let hear = move |_: &mut i32, number: &Message<u64>, _: &mut Context<'_>| {
                let start = Instant::now();
                if (**number + n).is_multiple_of(8) {
                    busy_until(|| start.elapsed() > MS / 8); // a long callback hands loops on
                }
            };
            listener.create_subscription("topic", QoS::keep_last(1), hear).unwrap();
        }
        executor.spin_for(LIMIT).unwrap();
        assert!(executor.stop_handle().is_stopped(), "the timer has no deadline any more");
    };
    std::thread::scope(|scope| {
        for executor in (0..16).filter_map(|_| balanced()) {
            scope.spawn(move || run(executor));
        }
    });
}

/// Two nodes have a core, one of them on a thread with a priority: they stay there. The others go
/// from core to core, and never to the thread with the priority.
#[test]
fn loops_that_a_mapping_names_stay_while_the_others_move() {
    let Some(_) = balanced() else { return };
    let [first, second] = [0, 1].map(|n| allowed_cores()[n]);
    let mapping = Mapping::new().core(first, ["/node_3"]).thread(second, 1, ["/node_7"]);
    let seen = storm(&mut Executor::multi_core(mapping));
    let urgent = format!("ringspin-{second}-1");
    for (node, thread) in &seen {
        match node {
            3 => assert_eq!(*thread, format!("ringspin-{first}")),
            7 => assert_eq!(*thread, urgent),
            _ => assert_ne!(*thread, urgent, "node {node}"),
        }
    }
    let others = seen.iter().filter(|(node, _)| ![3, 7].contains(node));
    let threads: BTreeSet<_> = others.map(|(_, thread)| thread).collect();
    assert!(threads.len() > 1, "{seen:?}");
}

/// A loop with a long callback waits for no other, though its core has a loop that may not leave.
#[test]
fn named_loop_with_long_callbacks_delays_no_other() {
    let Some(_) = balanced() else { return };
    let mapping = Mapping::new().core(allowed_cores()[0], ["/heavy", "/beside"]);
    let mut executor = Executor::multi_core(mapping);
    let counts: [Arc<Counter>; 2] = Default::default();
    for (name, count) in ["light", "beside"].into_iter().zip(&counts) {
        let node = executor.create_node(name, count.clone()).unwrap();
        node.create_timer(MS, |count, _| count.add_by_owner(1)).unwrap();
    }
    let heavy = executor.create_node("heavy", 0).unwrap();
    heavy
        .create_timer(5 * MS, move |calls, cx| {
            *calls += 1;
            let [light, beside] = [&counts[0], &counts[1]].map(|count| count.get());
            let start = Instant::now();
            if *calls <= 10 {
                busy_until(|| start.elapsed() > 2 * MS);
            } else {
                assert!(busy_until(|| counts[0].get() > light + 2), "it waits");
                assert_eq!(counts[1].get(), beside, "it has to wait");
                cx.stop();
            }
        })
        .unwrap();
    executor.spin().unwrap();
}

/// Nodes that are created later, of which the mapping names one.
#[test]
fn later_nodes_share_the_threads_unless_they_are_named() {
    let Some(_) = balanced() else { return };
    let core = allowed_cores()[1];
    let mapping = Mapping::new().core(core, ["/late_0"]).later(["/late_0"]);
    let mut executor = Executor::multi_core(mapping);
    let (graph, seen) = (executor.graph().clone(), log::<(usize, String)>());
    let root = executor.create_node("root", Vec::new()).unwrap();
    let note = seen.clone();
    root.create_one_shot_timer(MS, move |nodes, _| {
        for n in 0..100 {
            let node = graph.create_node(&format!("late_{n}"), note.clone()).unwrap();
            node.create_one_shot_timer(MS, move |note, cx| {
                let mut note = note.lock().unwrap();
                note.push((n, thread_name()));
                if note.len() == 100 {
                    cx.stop();
                }
            })
            .unwrap();
            nodes.push(node);
        }
    })
    .unwrap();
    executor.spin_for(LIMIT).unwrap();
    let seen: BTreeMap<_, _> = entries(&seen).into_iter().collect();
    assert_eq!((seen.len(), &seen[&0]), (100, &format!("ringspin-{core}")));
}
