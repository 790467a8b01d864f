//! Nothing is allocated between an event and its callback once the pools have their size; the
//! allocations that remain are counted.

use allocation_counter::measure;
use ringspin_executor::{
    ApproximateTime, CallRefused, Context, ExactTime, Input, Message, QoS, Stamped, StopHandle,
    Time, WaitStrategy,
};
use ringspin_modes::Executor;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The executors that run callbacks on the spinning thread, which can be measured.
fn executors() -> [Executor; 2] {
    let single = Executor::single_core().with_wait_strategy(WaitStrategy::Spin);
    [single, Executor::deterministic(Default::default())]
}

/// The tests take turns: the workers of one test may free values that another one replaced.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spins until it is stopped for the first time, and counts the allocations until the second.
fn allocations_after_warming_up(mut executor: Executor) -> u64 {
    executor.spin().unwrap();
    executor.stop_handle().reset();
    measure(|| executor.spin().unwrap()).count_total
}

/// Stops at every `rounds`th call.
fn every(rounds: u64, stop: StopHandle) -> impl FnMut() + Send {
    let mut round = 0;
    move || {
        round += 1;
        if round % rounds == 0 {
            stop.stop();
        }
    }
}

/// Circulates a message of 4 kB through three nodes, with a fan-out of two and a timer beside it,
/// and counts the allocations after a warm-up.
fn allocations_in_the_steady_state(mut executor: Executor) -> u64 {
    type Payload = (u64, [u8; 4088]);
    const ROUNDS: u64 = 5_000;
    let mut first = None;
    for (name, from, to) in [("a", "x", "y"), ("b", "y", "z"), ("c", "z", "x")] {
        let node = executor.create_node(name, None).unwrap();
        let out = node.create_publisher::<Payload>(to, QoS::default()).unwrap();
        let relay = out.clone();
        node.create_subscription(from, QoS::keep_last(2), move |kept, m: &Message<Payload>, cx| {
            *kept = Some(m.clone());
            if m.0.is_multiple_of(ROUNDS) {
                cx.stop();
            }
            relay.publish((m.0 + 1, m.1)).unwrap();
        })
        .unwrap();
        first.get_or_insert(out);
        let observer = executor.create_node(&format!("{name}_observer"), 0).unwrap();
        observer
            .create_subscription(from, QoS::keep_last(1), |sum, m: &Message<Payload>, _| {
                *sum += m.0;
            })
            .unwrap();
        observer.create_timer(Duration::from_millis(1), |_, _| ()).unwrap();
    }
    executor.freeze().unwrap();
    first.unwrap().publish((1, [7; 4088])).unwrap();
    executor.spin().unwrap();
    executor.stop_handle().reset();
    let mut dispatched = executor.statistics().dispatched();
    let info = measure(|| executor.spin().unwrap());
    dispatched = executor.statistics().dispatched() - dispatched;
    assert!(dispatched >= ROUNDS, "only {dispatched} dispatches");
    info.count_total
}

/// Sends a text of growing length in circles through a loaned `String`.
fn allocations_with_loans(mut executor: Executor) -> u64 {
    const ROUNDS: usize = 2_000;
    let node = executor.create_node("scribe", 0).unwrap();
    let out = node.create_publisher::<String>("text", QoS::default()).unwrap();
    let again = out.clone();
    node.create_subscription(
        "text",
        QoS::keep_last(1),
        move |round, text: &Message<String>, cx| {
            *round += 1;
            if *round % ROUNDS == 0 {
                cx.stop();
            }
            let mut next = again.loan().unwrap();
            next.clear();
            next.push_str(if text.len() < 100 { text } else { "" });
            next.push('x');
            next.publish()
        },
    )
    .unwrap();
    executor.freeze().unwrap();
    out.publish("x".into()).unwrap();
    allocations_after_warming_up(executor)
}

/// A timer triggers a guard condition, which publishes; two tasks await the messages, another one
/// the ticks of an interval, a fourth one sleeps; a watchdog is reset by each message.
fn allocations_with_timers_guards_and_tasks(executor: Executor) -> u64 {
    const PERIOD: Duration = Duration::from_micros(20);
    let node = executor.create_node("node", 0u64).unwrap();
    let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let guard = node
        .create_guard_condition("guard", move |count, _| {
            *count += 1;
            out.publish(*count)
        })
        .unwrap();
    node.create_timer(PERIOD, move |_, _| guard.trigger()).unwrap();
    let watchdog = node.create_one_shot_timer(Duration::from_secs(9), |_, _| ()).unwrap();
    let other = executor.create_node("other", ()).unwrap();
    let mut numbers = other.create_stream::<u64>("numbers", QoS::keep_last(4)).unwrap();
    let mut round = every(500, executor.stop_handle());
    other
        .spawn("numbers", async move {
            loop {
                numbers.next().await;
                watchdog.reset();
                round();
            }
        })
        .unwrap();
    let qos = QoS::keep_last(4);
    let mut detached = other.create_detached_stream::<u64>("numbers", qos).unwrap();
    other.spawn("detached", async move { while *detached.next().await < u64::MAX {} }).unwrap();
    let mut interval = other.create_interval(PERIOD).unwrap();
    other.spawn("ticks", async move { while interval.tick().await.number < u64::MAX {} }).unwrap();
    let mut pause = other.create_sleeper().unwrap();
    let sleep = async move { while pause.sleep(PERIOD).await.number < u64::MAX {} };
    other.spawn("sleep", sleep).unwrap();
    allocations_after_warming_up(executor)
}

/// How a call is made in [`allocations_per_call`].
#[derive(Clone, Copy, Debug)]
enum Call {
    Callback,
    WithTimeout,
    Async,
}

/// Calls a service again and again, each time after the response arrived.
fn allocations_per_call(executor: Executor, kind: Call) -> u64 {
    const CALLS: u64 = 500;
    let server = executor.create_node("server", 0u64).unwrap();
    server.create_service("add", QoS::services(), |sum, n: &u64, _| *sum + n).unwrap();
    let node = executor.create_node("node", 0u64).unwrap();
    let mut client = node.create_client::<u64, u64>("add", QoS::services()).unwrap();
    if let Call::WithTimeout = kind {
        client = client.with_timeout(Duration::from_secs(3600));
    }
    let mut round = every(CALLS, executor.stop_handle());
    if let Call::Async = kind {
        node.spawn("call", async move {
            loop {
                client.call_async(1).await.unwrap();
                round();
            }
        })
        .unwrap();
    } else {
        // The first time several calls at once: the boxes of their closures serve all later ones,
        // of which two or three wait at a time.
        let mut calls = QoS::services().depth() / 2;
        node.create_timer(Duration::from_micros(20), move |_, _| {
            round();
            for _ in 0..std::mem::replace(&mut calls, 1) {
                let number = 7;
                // One number is captured: the box of a closure without any would need no memory.
                client.call(1, move |sum, reply, _| *sum += *reply.unwrap() + number)?;
            }
            Ok::<(), CallRefused<u64>>(())
        })
        .unwrap();
    }
    let allocations = allocations_after_warming_up(executor);
    assert_eq!(allocations % CALLS, 0, "{kind:?}: {allocations} allocations");
    allocations / CALLS
}

/// A task that uses its state in every round.
fn allocations_per_use_of_the_state(executor: Executor) -> u64 {
    const USES: u64 = 500;
    let node = executor.create_node("node", 0u64).unwrap();
    let mut interval = node.create_interval(Duration::from_micros(20)).unwrap();
    let mut round = every(USES, executor.stop_handle());
    node.spawn_with_state("use", |state| async move {
        loop {
            let number = interval.tick().await.number;
            state.with(move |sum, _| *sum += number).await;
            round();
        }
    })
    .unwrap();
    let allocations = allocations_after_warming_up(executor);
    assert_eq!(allocations % USES, 0, "{allocations} allocations");
    allocations / USES
}

/// Creates and destroys entities of each kind in every call of a timer, and those of a node with
/// the node. Stops the executor whenever `cycles` more were destroyed.
fn create_and_destroy(executor: &Executor, cycles: u64) {
    let graph = executor.graph().clone();
    let root = executor.create_node("root", 0u64).unwrap();
    let out = root.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let mut cycle = every(cycles, executor.stop_handle());
    let sum = |sum: &mut u64, n: &Message<u64>, _: &mut Context<'_>| *sum += **n;
    let home = root.clone();
    root.create_timer(Duration::from_micros(20), move |_, _| {
        let subscription = home.create_subscription("numbers", QoS::default(), sum).unwrap();
        let timer = home.create_timer(Duration::from_millis(1), |_, _| ()).unwrap();
        let node = graph.create_node("child", 0u64).unwrap();
        node.create_subscription("numbers", QoS::default(), sum).unwrap();
        node.create_timer(Duration::from_millis(1), |_, _| ()).unwrap();
        node.create_service("echo", QoS::services(), |_, n: &u64, _| *n).unwrap();
        let client = home.create_client::<u64, u64>("echo", QoS::services()).unwrap();
        client.call(1, |sum, reply, _| *sum += reply.map_or(0, |reply| *reply)).unwrap();
        let group = home.create_callback_group("group", 0u64).unwrap();
        group.create_subscription("numbers", QoS::default(), sum).unwrap();
        let own = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        own.publish(1).unwrap();
        out.publish(2).unwrap();
        subscription.destroy();
        timer.destroy();
        group.destroy();
        node.destroy();
        cycle();
    })
    .unwrap();
}

/// Spawns a task in every call of a timer, which awaits a message of a stream and a tick of a new
/// interval. Stops the executor whenever `cycles` more were spawned.
fn spawn_and_finish(executor: &Executor, cycles: u64) {
    let node = executor.create_node("root", 0u64).unwrap();
    let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
    let mut cycle = every(cycles, executor.stop_handle());
    let home = node.clone();
    node.create_timer(Duration::from_micros(20), move |_, _| {
        let mut numbers = home.create_stream::<u64>("numbers", QoS::default()).unwrap();
        let mut interval = home.create_interval(Duration::from_micros(10)).unwrap();
        out.publish(1).unwrap();
        home.spawn_with_state("once", |state| async move {
            let number = numbers.next().await;
            interval.tick().await;
            state.with(move |sum, _| *sum += *number).await;
        })
        .unwrap();
        cycle();
    })
    .unwrap();
}

/// Adds to an executor what stops it whenever it has made so many more cycles.
type Create = fn(&Executor, u64);

/// Runs rounds of cycles, and compares the live memory after the first one and at the end.
fn memory_is_flat(mut executor: Executor, create: Create, cycles: u64, rounds: u64) {
    create(&executor, cycles);
    let mut round = || {
        executor.stop_handle().reset();
        executor.spin().unwrap();
    };
    round();
    let info = measure(|| (1..rounds).for_each(|_| round()));
    let (count, bytes) = (info.count_current, info.bytes_current);
    println!("{rounds} times {cycles} cycles: {count} more allocations, {bytes} more bytes");
    // The last cycles may be further on in their destruction, or less.
    assert!(count <= 200 && bytes <= 64 << 10, "{count} more allocations, {bytes} more bytes");
}

#[test]
fn entities_that_come_and_go_keep_no_memory() {
    let _turn = turn();
    for create in [create_and_destroy as Create, spawn_and_finish] {
        executors().into_iter().for_each(|executor| memory_is_flat(executor, create, 100, 5));
    }
}

#[test]
#[ignore = "slow: a hundred thousand cycles"]
fn slow_entities_that_come_and_go_a_hundred_thousand_times_keep_no_memory() {
    let _turn = turn();
    memory_is_flat(Executor::single_core(), create_and_destroy, 10_000, 10);
    memory_is_flat(Executor::single_core(), spawn_and_finish, 10_000, 10);
}

#[test]
fn timers_guard_conditions_ticks_and_streams_allocate_nothing() {
    let _turn = turn();
    for executor in executors() {
        println!("{executor:?}");
        assert_eq!(allocations_with_timers_guards_and_tasks(executor), 0);
    }
}

/// Closures and what futures wait for lie in the memory of earlier ones.
#[test]
fn calls_allocate_nothing() {
    let _turn = turn();
    for kind in [Call::Callback, Call::WithTimeout, Call::Async] {
        for executor in executors() {
            assert_eq!(allocations_per_call(executor, kind), 0, "{kind:?}");
        }
    }
}

#[test]
fn uses_of_the_state_by_a_task_allocate_nothing() {
    let _turn = turn();
    for executor in executors() {
        assert_eq!(allocations_per_use_of_the_state(executor), 0);
    }
}

/// A transient-local topic with a subscription and a publisher that overwrite in each round, and a
/// keep-all topic that refuses one message of two.
fn allocations_beyond_depths(executor: Executor) -> u64 {
    const ROUNDS: u64 = 500;
    let node = executor.create_node("node", (0u64, 0u64)).unwrap();
    let latched = QoS::keep_last(1).transient_local();
    let map = node.create_publisher::<[u64; 9]>("map", latched).unwrap();
    let all = node.create_publisher::<[u64; 9]>("all", QoS::default()).unwrap();
    for name in ["one", "other"] {
        let listener = executor.create_node(name, 0).unwrap();
        let sum = |sum: &mut u64, n: &Message<[u64; 9]>, _: &mut Context<'_>| *sum += n[8];
        listener.create_subscription("map", latched, sum).unwrap();
        listener.create_subscription("all", QoS::keep_all(1), sum).unwrap();
    }
    let mut round = every(ROUNDS, executor.stop_handle());
    node.create_timer(Duration::from_micros(20), move |(sent, refused), _| {
        for _ in 0..3 {
            map.publish([*sent; 9]).unwrap();
            match all.publish([*sent; 9]) {
                Ok(()) => *sent += 1,
                Err(error) => *refused += error.into_message().map_or(0, |_| 1),
            }
        }
        assert!(*refused >= *sent, "{refused} refused and {sent} sent");
        round();
    })
    .unwrap();
    allocations_after_warming_up(executor)
}

#[test]
fn full_keep_all_and_overwritten_transient_local_topics_allocate_nothing() {
    let _turn = turn();
    for executor in executors() {
        assert_eq!(allocations_beyond_depths(executor), 0);
    }
}

/// Two inputs that match every hundredth time, and in between fill a queue of 32 until messages
/// fall out. Counted from the first message on, so the pools must have their size from the start.
fn allocations_of_synchronizers(mut executor: Executor) -> u64 {
    const ROUNDS: u64 = 5_000;
    struct Sample(u64, [u64; 64]);
    impl Stamped for Sample {
        fn stamp(&self) -> Time {
            Time::from_nanos(self.0)
        }
    }
    let node = executor.create_node("join", 0).unwrap();
    let qos = QoS::keep_last(1);
    let inputs = || (Input::<Sample>::new("fast", qos), Input::<Sample>::new("slow", qos));
    let join =
        |sum: &mut u64, (a, b): (&Message<Sample>, &Message<Sample>), _: &mut Context<'_>| {
            *sum += a.1[0] + b.1[0];
        };
    node.create_synchronized_subscription(inputs(), ApproximateTime::new(32), join).unwrap();
    node.create_synchronized_subscription(inputs(), ExactTime::new(32), join).unwrap();
    let fast = node.create_publisher::<Sample>("fast", qos).unwrap();
    let slow = node.create_publisher::<Sample>("slow", qos).unwrap();
    node.create_timer(Duration::from_micros(1), move |_, cx| {
        let stamp = cx.event().sequence + 1;
        assert!(fast.publish(Sample(stamp, [1; 64])).is_ok());
        if stamp.is_multiple_of(100) {
            assert!(slow.publish(Sample(stamp, [2; 64])).is_ok());
        }
        if stamp == ROUNDS {
            cx.stop();
        }
    })
    .unwrap();
    executor.freeze().unwrap();
    // The executor allocates for its first spin; nothing is dispatched.
    executor.stop_handle().stop();
    executor.spin().unwrap();
    assert_eq!(executor.statistics().dispatched(), 0);
    executor.stop_handle().reset();
    let info = measure(|| executor.spin().unwrap());
    let statistics = executor.statistics();
    assert!(statistics.dispatched() > 3 * ROUNDS && statistics.unmatched() > ROUNDS);
    info.count_total
}

#[test]
fn synchronizers_allocate_nothing_and_their_pools_are_large_enough() {
    let _turn = turn();
    for executor in [Executor::single_core(), Executor::deterministic(Default::default())] {
        println!("{executor:?}");
        assert_eq!(allocations_of_synchronizers(executor), 0);
    }
}

#[test]
fn loaned_messages_keep_their_buffers() {
    let _turn = turn();
    for executor in executors() {
        assert_eq!(allocations_with_loans(executor), 0);
    }
}

#[test]
fn the_hot_path_allocates_nothing() {
    let _turn = turn();
    for executor in executors() {
        println!("{executor:?}");
        assert_eq!(allocations_in_the_steady_state(executor), 0);
    }
}

#[test]
fn a_number_among_the_parameters_is_read_without_allocation() {
    let _turn = turn();
    let executor = Executor::single_core();
    let node = executor.create_node("pilot", ()).unwrap();
    let gain = node.declare_parameter("gain", 1.5).unwrap();
    let name = node.declare_parameter("name", String::from("text")).unwrap();
    let mut sum = 0.0;
    let info = measure(|| (0..1000).for_each(|_| sum += gain.get()));
    assert_eq!((sum, info.count_total), (1500.0, 0));
    assert_eq!(measure(|| drop(name.get())).count_total, 1, "a text is cloned");
}
