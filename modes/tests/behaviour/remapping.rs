//! Mappings that replace each other while an executor lives.

use crate::{entries, log, thread_name, two_cores};
use ringspin_executor::{Context, ErrorKind, Message, Node, PublishError, Publisher, QoS};
use ringspin_modes::{Executor, Mapping, Mode, allowed_cores};
use ringspin_ringbuf::{Counter, Flag};
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

fn balanced() -> Executor {
    Executor::new(Mode::MultiCore(None))
}

const CALLS: usize = 5;

/// A node that logs the thread of each of its timer's callbacks, and stops at one of them.
fn logging(executor: &Executor, name: &str) -> crate::Log<String> {
    let threads = log();
    let node = executor.create_node(name, threads.clone()).unwrap();
    node.create_timer(MS, |threads, cx| {
        let mut threads = threads.lock().unwrap();
        threads.push(thread_name());
        if threads.len() == CALLS {
            cx.stop();
        }
    })
    .unwrap();
    threads
}

fn spin_until_called(executor: &mut Executor, calls: &crate::Log<String>) -> Vec<String> {
    calls.lock().unwrap().clear();
    while entries(calls).len() < CALLS {
        executor.stop_handle().reset(); // another node may have stopped it
        executor.spin().unwrap();
    }
    entries(calls)
}

#[test]
fn loops_run_where_the_newest_mapping_says() {
    let Some([first, second]) = two_cores() else { return };
    let mut executor = Executor::multi_core(Mapping::new().thread(second, 1, ["/b"]));
    let (a, b) = (logging(&executor, "a"), logging(&executor, "b"));
    let on = |core| vec![format!("ringspin-{core}")];
    let urgent = vec![format!("ringspin-{second}-1")];
    let threads = |executor: &mut Executor, calls| {
        let mut threads = spin_until_called(executor, calls);
        threads.dedup();
        threads
    };
    assert_eq!(threads(&mut executor, &b), urgent);
    for (core, other) in [(first, second), (second, first), (first, second)] {
        executor.set_mapping(Mapping::new().core(core, ["/a"]).core(other, ["/b"])).unwrap();
        assert_eq!(threads(&mut executor, &a), on(core));
        assert_eq!(threads(&mut executor, &b), on(other));
        let default = Mapping::new().default_core(core);
        executor.set_mapping(default.clone()).unwrap();
        assert_eq!(threads(&mut executor, &b), on(core));
        assert_eq!(executor.mode().mapping(), Some(&default));
        executor.set_mapping(Mapping::new().thread(second, 1, ["/b"]).core(core, ["/a"])).unwrap();
        assert_eq!(threads(&mut executor, &a), on(core));
        assert_eq!(threads(&mut executor, &b), urgent);
    }
    executor.set_mapping(Mapping::new()).unwrap();
    assert!(spin_until_called(&mut executor, &b).iter().all(|thread| *thread != urgent[0]));
}

#[test]
fn mapping_that_does_not_fit_changes_nothing() {
    let Some([first, second]) = two_cores() else { return };
    let mut executor = balanced();
    let a = logging(&executor, "a");
    executor.freeze().unwrap();
    let kept = Mapping::new().core(second, ["/a"]);
    executor.set_mapping(kept.clone()).unwrap();
    for (mapping, kind) in [
        (Mapping::new().core(first, ["/absent"]), ErrorKind::NotFound),
        (Mapping::new().core(100_000, ["/a"]), ErrorKind::NotFound),
        (Mapping::new().thread(first, 1, ["/a"]), ErrorKind::InvalidArgument),
        (Mapping::new().unbalanced(), ErrorKind::NotFound),
        (Mapping::new().dispatch_priority("/absent", 1), ErrorKind::NotFound),
    ] {
        let error = executor.set_mapping(mapping.clone()).unwrap_err();
        assert_eq!(error.kind(), kind, "{mapping:?}: {error}");
    }
    assert_eq!(executor.mode().mapping(), Some(&kept));
    let threads = spin_until_called(&mut executor, &a);
    assert!(threads.iter().all(|thread| *thread == format!("ringspin-{second}")), "{threads:?}");
}

#[test]
fn executors_with_fixed_loops_refuse_another_mapping() {
    let core = allowed_cores()[0];
    for mode in [
        Mode::SingleCore,
        Mode::Deterministic(Box::default()),
        Mode::MultiCore(Some(Mapping::new().default_core(core))),
    ] {
        let mut executor = Executor::new(mode);
        executor.create_node("node", ()).unwrap();
        executor.freeze().unwrap();
        let error = executor.set_mapping(Mapping::new().core(core, ["/node"])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
    // Before the start, any mapping is fine.
    let mut executor = Executor::multi_core(Mapping::new().core(100_000, ["/node"]));
    executor.create_node("node", ()).unwrap();
    executor.set_mapping(Mapping::new().default_core(core)).unwrap();
    executor.spin_for(MS).unwrap();
}

#[test]
fn priorities_of_a_mapping_hold_from_then_on() {
    let Some(_) = two_cores() else { return };
    let mut executor = balanced();
    let node = executor.create_node("node", ()).unwrap();
    executor.spin_for(MS).unwrap();
    executor.set_mapping(Mapping::new().dispatch_priority("/node", 7)).unwrap();
    let priority = |executor: &Executor| {
        executor.graph().info().loops.values().map(|of| of.priority).collect::<Vec<_>>()
    };
    assert_eq!(priority(&executor), [7]);
    node.set_priority(2).unwrap();
    assert_eq!(priority(&executor), [2]);
}

const NODES: usize = 8;

/// The messages of all.
#[derive(Default)]
struct All {
    /// Those that nodes sent, until they shall be quiet.
    inside: Counter,
    is_quiet: Flag,
    heard: Counter,
    /// The number at which the executor stops.
    end: Counter,
}

/// The state of a node: the last number that it heard from each sender.
type Heard = [u64; NODES + 1];

/// Subscribes `node`, number `n`, to numbers of a sender: they come in order, and where the mapping
/// of the moment says.
fn hear(node: &Node<Heard>, topic: &str, of: usize, place: &Arc<Counter>, all: &Arc<All>) {
    let (place, all) = (place.clone(), all.clone());
    let hear = move |last: &mut Heard, number: &Message<u64>, cx: &mut Context<'_>| {
        assert_eq!(**number, last[of] + 1, "a message of sender {of}");
        last[of] = **number;
        if all.heard.next() + 1 == all.end.get() {
            cx.stop();
        }
        if let Some(core) = place.get().checked_sub(1) {
            assert_eq!(thread_name(), format!("ringspin-{core}"), "node {of} has a core");
        }
    };
    node.create_subscription(topic, QoS::keep_all(1 << 12), hear).unwrap();
}

/// Publishes numbers from outside until `over`, without a pause; returns how many.
fn send(out: &Publisher<u64>, over: &Flag) -> u64 {
    let mut sent = 0;
    while !over.is_raised() {
        match out.publish(sent + 1) {
            Ok(()) => sent += 1,
            Err(PublishError::Full(_)) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
    sent
}

/// Ends the senders, also when the test fails.
struct RaisedAtEnd<'a>(&'a Flag);

impl Drop for RaisedAtEnd<'_> {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Loops are moved hundreds of times, while they send each other messages and threads outside send
/// to them without a pause: each message comes once, in order, on the core of its node.
#[test]
fn loops_lose_nothing_while_mappings_change() {
    let Some(cores) = two_cores() else { return };
    let mut executor = balanced();
    let all = Arc::new(All::default());
    let places: [Arc<Counter>; NODES] = Default::default();
    let mut outside = Vec::new();
    for (n, place) in places.iter().enumerate() {
        let node = executor.create_node(&format!("node_{n}"), [0; NODES + 1]).unwrap();
        let qos = QoS::keep_all(1 << 12);
        let out = node.create_publisher(&format!("topic_{n}"), qos).unwrap();
        let (mut number, of) = (0u64, all.clone());
        node.create_timer(MS / 4, move |_, _| {
            if !of.is_quiet.is_raised() {
                number += 1;
                of.inside.next();
                out.publish(number).unwrap();
            }
        })
        .unwrap();
        hear(&node, &format!("topic_{}", (n + 1) % NODES), (n + 1) % NODES, place, &all);
        hear(&node, &format!("outside_{n}"), NODES, place, &all);
        outside.push(node.create_publisher(&format!("outside_{n}"), qos).unwrap());
    }
    executor.freeze().unwrap();
    let over = Flag::default();
    let sent = std::thread::scope(|scope| {
        let over = &over;
        let senders: Vec<_> =
            outside.iter().step_by(4).map(|out| scope.spawn(move || send(out, over))).collect();
        let ends = RaisedAtEnd(over);
        for round in 0..400usize {
            let mut nodes = [Vec::new(), Vec::new()];
            for (n, place) in places.iter().enumerate() {
                // Each node now on a core, now on the other one, now where there is time.
                let choice = (round * (n + 1) + round / 3) % 3;
                place.set(cores.get(choice).map_or(0, |core| *core as u64 + 1));
                nodes.get_mut(choice).into_iter().for_each(|of| of.push(format!("/node_{n}")));
            }
            let nodes = cores.into_iter().zip(nodes);
            let mapping = nodes.fold(Mapping::new(), |mapping, (core, of)| mapping.core(core, of));
            executor.set_mapping(mapping).unwrap();
            executor.spin_for(MS).unwrap();
        }
        drop(ends);
        senders.into_iter().map(|sender| sender.join().unwrap()).sum::<u64>()
    });
    // Messages are still under way.
    executor.set_mapping(Mapping::new()).unwrap();
    places.iter().for_each(|place| place.set(0));
    all.is_quiet.raise();
    all.end.set(sent + all.inside.get());
    if all.heard.get() < all.end.get() {
        executor.spin_for(LIMIT).unwrap();
    }
    assert_eq!(all.heard.get(), all.end.get());
    assert!(executor.failures().is_empty(), "{:?}", executor.failures());
    assert!(sent > 0 && all.inside.get() > 0);
}
