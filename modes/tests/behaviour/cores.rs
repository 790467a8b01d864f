//! The multi-core mode by its mapping: placement, priorities, wait strategies, and requirements on
//! the machine.

use crate::escapes::that_returns;
use crate::{entries, log, this_program, thread_name, two_cores};
use ringspin_executor::{BoxError, Context, ErrorKind, Graph, Message, Node, QoS, WaitStrategy};
use ringspin_modes::{Executor, Machine, Mapping, Mode, allowed_cores};
use ringspin_ringbuf::Counter;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// A source that sends to `a` and to `b`, once; the nodes themselves prefer `a`. The names of the
/// two are logged, and the second one stops the executor.
fn order_on_one_core(mapping: Mapping) -> Vec<&'static str> {
    let mut executor = Executor::multi_core(mapping.default_core(allowed_cores()[0]));
    let source = executor.create_node("source", ()).unwrap();
    let out = source.create_publisher::<u32>("t", QoS::default()).unwrap();
    source.create_one_shot_timer(MS, move |_, _| out.publish(1)).unwrap();
    let seen = log();
    for (name, priority) in [("a", 1), ("b", 0)] {
        let node = executor.create_node(name, ()).unwrap();
        node.set_priority(priority).unwrap();
        let (seen, stop) = (seen.clone(), executor.stop_handle());
        node.create_subscription("t", QoS::default(), move |_, _: &Message<u32>, _| {
            let mut seen = seen.lock().unwrap();
            seen.push(name);
            if seen.len() == 2 {
                stop.stop();
            }
        })
        .unwrap();
    }
    executor.spin().unwrap();
    entries(&seen)
}

#[test]
fn a_mapping_says_who_goes_first_on_a_core() {
    assert_eq!(order_on_one_core(Mapping::new()), ["a", "b"]);
    assert_eq!(order_on_one_core(Mapping::new().dispatch_priority("/b", 2)), ["b", "a"]);
    let turned = Mapping::new().dispatch_priority("a", 0).dispatch_priority("b", 1);
    assert_eq!(order_on_one_core(turned), ["b", "a"]);
}

/// The cores on which a callback may run.
fn cores_of_a_callback(mapping: Mapping) -> Vec<usize> {
    let mut executor = Executor::multi_core(mapping.default_core(allowed_cores()[0]));
    let seen = log();
    let node = executor.create_node("node", seen.clone()).unwrap();
    node.create_one_shot_timer(MS, |seen, cx| {
        seen.lock().unwrap().extend(allowed_cores());
        cx.stop();
    })
    .unwrap();
    executor.spin().unwrap();
    entries(&seen)
}

#[test]
fn workers_that_are_not_pinned_may_run_on_all_cores() {
    assert_eq!(cores_of_a_callback(Mapping::new()), allowed_cores()[..1]);
    assert_eq!(cores_of_a_callback(Mapping::new().unpinned()), allowed_cores());
}

/// Creates nodes in a callback, one of them with a group, and notes on which thread each runs.
fn late_threads(mapping: Option<Mapping>) -> Vec<(&'static str, String)> {
    let mut executor = Executor::new(Mode::MultiCore(mapping));
    let (graph, stop, seen) = (executor.graph().clone(), executor.stop_handle(), log());
    let note = {
        let seen = seen.clone();
        move |name: &'static str, node: &Node<()>| {
            let (seen, stop) = (seen.clone(), stop.clone());
            let once = move |_: &mut (), _: &mut Context<'_>| {
                let mut seen = seen.lock().unwrap();
                seen.push((name, thread_name()));
                if seen.len() == 4 {
                    stop.stop();
                }
            };
            node.create_one_shot_timer(MS, once).unwrap();
        }
    };
    let root = executor.create_node("root", ()).unwrap();
    let root_of = root.clone();
    root.create_one_shot_timer(MS, move |_, _| {
        note("root", &root_of);
        for name in ["first", "second"] {
            note(name, &graph.create_node(name, ()).unwrap());
        }
        note("group", &root_of.create_callback_group("group", ()).unwrap());
        let _ = graph.create_node("third", ()).map(drop);
    })
    .unwrap();
    executor.spin().unwrap();
    let mut seen = entries(&seen);
    seen.sort_unstable();
    seen
}

#[test]
fn later_nodes_run_where_the_mapping_says() {
    let Some([first, second]) = two_cores() else { return };
    let on_second = format!("ringspin-{second}");
    let threads = |mapping| {
        let seen = late_threads(mapping);
        assert_eq!(
            seen.iter().map(|of| of.0).collect::<Vec<_>>(),
            ["first", "group", "root", "second"]
        );
        seen.into_iter().map(|of| of.1 == on_second).collect::<Vec<_>>()
    };
    let mapping = Mapping::new().core(second, ["/root", "/second"]).default_core(first);
    let mapping = mapping.later(["/second"]).wait(first, WaitStrategy::Spin);
    assert_eq!(threads(Some(mapping)), [false, true, true, true]);
    let apart = Mapping::new().core(first, ["/root", "/third"]).later(["/third", "/root:group"]);
    let apart = apart.core(second, ["/root:group"]).default_core(second);
    assert_eq!(threads(Some(apart)), [true, true, false, true]);
    threads(None); // on either core, as there is time
}

#[test]
fn later_node_without_a_core_is_refused() {
    let mapping = Mapping::new().core(allowed_cores()[0], ["/root"]).unbalanced();
    let mut executor = Executor::new(Mode::MultiCore(Some(mapping)));
    let (graph, root) = (executor.graph().clone(), executor.create_node("root", ()).unwrap());
    root.create_one_shot_timer(MS, move |_, cx| {
        for _ in 0..2 {
            let refused = graph.create_node("other", ());
            let error = refused.unwrap_err();
            assert_eq!((error.kind(), error.node()), (ErrorKind::NotFound, Some("/other")));
        }
        cx.stop();
    })
    .unwrap();
    executor.spin().unwrap();
}

/// A node with two groups, each with a timer that waits in its callback for the other one: they
/// have to run at the same time, each on the thread of its core.
#[test]
fn groups_of_one_node_can_live_apart() {
    let Some([first, second]) = two_cores() else { return };
    let mapping = Mapping::new().core(first, ["/node"]).core(second, ["/node:group"]);
    let mut executor = Executor::multi_core(mapping);
    let node = executor.create_node("node", ()).unwrap();
    let group = node.create_callback_group("group", ()).unwrap();
    let both = Arc::new(std::sync::Barrier::new(2));
    let seen = log();
    for (name, group) in [("default", &node), ("group", &group)] {
        let (both, seen, stop) = (both.clone(), seen.clone(), executor.stop_handle());
        group
            .create_one_shot_timer(MS, move |_, _| {
                seen.lock().unwrap().push((name, thread_name()));
                both.wait();
                stop.stop();
            })
            .unwrap();
    }
    executor.spin().unwrap();
    let mut seen = entries(&seen);
    seen.sort_unstable();
    let expected =
        [("default", format!("ringspin-{first}")), ("group", format!("ringspin-{second}"))];
    assert_eq!(seen, expected);
}

/// Whether this thread has the scheduling policy SCHED_FIFO: field 41 of its `stat`.
fn has_fifo_priority() -> bool {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // The name, field 2, can contain spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.clone().nth(41 - 3) == Some("1")
}

/// A callback of the higher thread that begins while one of the lower thread runs, and ends after
/// a while in which that one does nothing. Where SCHED_FIFO is not permitted, they take turns.
#[test]
fn thread_of_higher_priority_preempts_a_running_callback() {
    let core = allowed_cores()[0];
    let mapping = Mapping::new().core(core, ["/long"]).thread(core, 1, ["/urgent"]);
    let mut executor = Executor::multi_core(mapping).with_wait_strategy(WaitStrategy::Spin);
    let turns = Arc::new(Counter::default());
    let (counted, done) = (turns.clone(), Arc::new(OnceLock::new()));
    let is_done = done.clone();
    let long = executor.create_node("long", ()).unwrap();
    long.create_one_shot_timer(MS, move |_, cx| {
        // It returns only after the urgent callback.
        while is_done.get().is_none() {
            counted.add(1);
        }
        cx.stop();
    })
    .unwrap();
    let urgent = executor.create_node("urgent", ()).unwrap();
    let seen = done.clone();
    urgent
        .create_timer(MS, move |_, _| {
            let before = turns.get();
            if before == 0 || seen.get().is_some() {
                return; // the other one has not begun
            }
            let began = Instant::now();
            while began.elapsed() < 5 * MS {
                std::hint::spin_loop();
            }
            let result = (has_fifo_priority(), turns.get() - before, thread_name());
            assert!(seen.set(result).is_ok(), "it is done once");
        })
        .unwrap();
    executor.spin().unwrap();
    let (is_fifo, turns, thread) = done.get().unwrap();
    assert_eq!(*thread, format!("ringspin-{core}-1"));
    if *is_fifo {
        assert_eq!(*turns, 0, "the lower thread had turns meanwhile");
    } else {
        println!("SCHED_FIFO is not permitted");
    }
}

/// How many events the other core handles while one callback has its own.
const EVENTS: u32 = 1000;

/// A callback that does not return before the other core has handled a thousand events, each of
/// which also sends something to the busy node: other cores do not wait for the overloaded one.
#[test]
fn an_overloaded_core_does_not_delay_other_cores() {
    let Some([first, second]) = two_cores() else { return };
    let mapping = Mapping::new().core(first, ["/hog"]).core(second, ["/steady"]);
    let mut executor = Executor::multi_core(mapping);
    let (done, when_done) = channel();
    let when_done = Mutex::new(when_done);

    let hog = executor.create_node("hog", ()).unwrap();
    let go = hog.create_publisher::<u32>("next", QoS::default()).unwrap();
    hog.create_one_shot_timer(MS, move |_, _| {
        go.publish(1).map_err(BoxError::from)?;
        Ok::<_, BoxError>(when_done.lock().unwrap().recv()?)
    })
    .unwrap();
    let stop = executor.stop_handle();
    let seen = log();
    let newest = seen.clone();
    hog.create_subscription("result", QoS::keep_last(1), move |_, n: &Message<u32>, _| {
        newest.lock().unwrap().push(**n);
        stop.stop();
    })
    .unwrap();

    let steady = executor.create_node("steady", 0u32).unwrap();
    let next = steady.create_publisher::<u32>("next", QoS::default()).unwrap();
    let result = steady.create_publisher::<u32>("result", QoS::default()).unwrap();
    steady
        .create_subscription("next", QoS::default(), move |_, n: &Message<u32>, _| {
            result.publish(**n)?;
            match **n {
                EVENTS => done.send(()).map_err(|_| BoxError::from("the hog is gone")),
                n => Ok(next.publish(n + 1)?),
            }
        })
        .unwrap();
    executor.spin().unwrap();

    assert_eq!(entries(&seen), [EVENTS], "of all that it was sent it sees the newest");
    let statistics = executor.statistics();
    let of = |node: &str| {
        let callbacks = statistics.of(node);
        callbacks.fold((0, 0), |(done, lost), c| (done + c.dispatched, lost + c.overwritten))
    };
    assert_eq!(of("/steady"), (u64::from(EVENTS), 0));
    assert_eq!(of("/hog"), (2, u64::from(EVENTS) - 1));
}

/// One core never sleeps, the other one always: the first runs until it has seen that.
#[test]
fn each_core_waits_in_its_own_way() {
    let Some([first, second]) = two_cores() else { return };
    let mapping = Mapping::new()
        .core(first, ["/spins"])
        .wait(first, WaitStrategy::Spin)
        .core(second, ["/parks"])
        .wait(second, WaitStrategy::SpinThenPark(Duration::ZERO));
    let mut executor = Executor::multi_core(mapping);
    let monitor = Arc::new(OnceLock::<ringspin_executor::Monitor>::new());
    let (seen, stop) = (monitor.clone(), executor.stop_handle());
    let node = executor.create_node("spins", ()).unwrap();
    node.create_timer(MS, move |_, _| {
        if seen.get().unwrap().statistics().workers[1].sleeps > 0 {
            stop.stop();
        }
    })
    .unwrap();
    executor.create_node("parks", ()).unwrap();
    executor.freeze().unwrap();
    monitor.set(executor.monitor().unwrap()).unwrap_or_else(|_| panic!("it is set once"));
    executor.spin().unwrap();
    assert_eq!(executor.statistics().workers[0].sleeps, 0);
}

fn refused(mapping: Mapping) -> String {
    let mut executor = Executor::multi_core(mapping);
    let node = |graph: &Graph| graph.create_node("node", ()).map(drop);
    node(executor.graph()).unwrap();
    executor.spin().unwrap_err().to_string()
}

#[test]
fn mappings_that_the_machine_cannot_satisfy_are_refused() {
    let (core, isolated) = (allowed_cores()[0], Machine::this().isolated);
    if !isolated.contains(&core) {
        let text = refused(Mapping::new().core(core, ["/node"]).isolated(core));
        assert!(text.contains(&format!("core {core} is to be isolated, and is not")), "{text}");
    }
    let text = refused(Mapping::new().default_core(isolated.len()).use_isolated());
    assert!(text.contains(&format!("isolated core number {}", isolated.len())), "{text}");
    let text = refused(Mapping::new().default_core(core).dispatch_priority("/node:x", 1));
    assert!(text.contains("`dispatch_priorities` names `/node:x`"), "{text}");
    let text = refused(Mapping::new().core(core, ["/node:x"]));
    assert!(text.contains(&format!("core {core} names `/node:x`")), "{text}");
}

/// Tells this program that it is the child: locked memory is the whole process's.
const CHILD: &str = "RINGSPIN_TEST_PRIVILEGED";

#[test]
#[cfg(target_os = "linux")]
fn priority_and_memory_lock_are_applied_or_refused_with_a_warning() {
    if std::env::var_os(CHILD).is_some() {
        return privileged_child();
    }
    let mut command = this_program();
    let test = "cores::priority_and_memory_lock_are_applied_or_refused_with_a_warning";
    let output = command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let refused = text.contains("memory is not locked");
    let locked = text.contains("memory: locked");
    // ThreadSanitizer replaces mlockall by a function that succeeds and locks nothing.
    match std::env::var_os("TSAN_OPTIONS").is_some() {
        true => assert!(!refused && !locked, "{text}"),
        false => assert!(refused ^ locked, "{text}"),
    }
    let fifo = "scheduling: SCHED_FIFO 7";
    assert!(text.contains("SCHED_FIFO is not permitted") ^ text.contains(fifo), "{text}");
    assert!(text.contains("scheduling: "), "its callback ran: {text}");
}

#[cfg(target_os = "linux")]
fn privileged_child() {
    tracing_subscriber::fmt().with_writer(std::io::stdout).init();
    let core = allowed_cores()[0];
    let mapping = Mapping::new().default_core(core).priority(core, 7).lock_memory();
    let mut executor = Executor::multi_core(mapping);
    let stop = executor.stop_handle();
    let node = executor.create_node("node", ()).unwrap();
    node.create_one_shot_timer(MS, move |_, _| {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields: Vec<_> = stat[stat.rfind(')').unwrap()..].split(' ').collect();
        // Of proc(5), the fields 40 and 41; the first here is the end of the second.
        let (priority, policy) = (fields[38], fields[39]);
        let policy = if policy == "1" { "SCHED_FIFO" } else { "policy" };
        println!("scheduling: {policy} {priority}");
        stop.stop();
    })
    .unwrap();
    executor.spin().unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap_or("0");
    if locked.trim_start() != "0 kB" {
        println!("memory: locked");
    }
}

/// Without events to wait for, a worker parks at once, whatever its wait strategy.
#[test]
fn worker_without_loops_parks() {
    let Some([first, second]) = two_cores() else { return };
    let mapping = Mapping::new().core(second, ["/node"]).default_core(first);
    let mut executor = Executor::multi_core(mapping).with_wait_strategy(WaitStrategy::Spin);
    let node = executor.create_node("node", 0).unwrap();
    node.create_timer(MS, |count, cx| {
        *count += 1;
        if *count == 50 {
            cx.stop();
        }
    })
    .unwrap();
    executor.spin().unwrap();
    let idle: Vec<u64> = executor.statistics().workers.iter().map(|worker| worker.idle).collect();
    assert_eq!(idle.len(), 2);
    // The other one searches all the time, some 10,000 times in a period.
    assert!(idle.iter().min() < Some(&100), "{idle:?}");
}

/// The second thread does not fit into the memory that a process may have.
#[test]
#[cfg(target_os = "linux")]
fn worker_whose_thread_does_not_start_stops_the_others() {
    let Some(cores) = two_cores() else { return };
    if std::env::var_os(CHILD).is_some() {
        return child_without_memory(cores);
    }
    let mut command = this_program();
    let test = "cores::worker_whose_thread_does_not_start_stops_the_others";
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    let output = that_returns(command);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
fn child_without_memory([first, second]: [usize; 2]) {
    use nix::sys::resource::{Resource, setrlimit};
    const STACK: usize = 4 << 30;
    let mapping = Mapping::new().core(first, ["/a"]).core(second, ["/b"]);
    let mut executor = Executor::multi_core(mapping).with_stack_size(STACK);
    for name in ["a", "b"] {
        let node = executor.create_node(name, ()).unwrap();
        node.create_timer(MS, |_, _| ()).unwrap();
    }
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = sizes.split(' ').next().unwrap().parse().unwrap();
    let limit = (pages * 4096 + STACK * 3 / 2) as u64;
    setrlimit(Resource::RLIMIT_AS, limit, limit).unwrap();
    let error = executor.spin().unwrap_err();
    assert!(error.to_string().contains("thread"), "{error}");
}
