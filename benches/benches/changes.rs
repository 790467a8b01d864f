//! The price of changes of a graph that runs: to the thread that makes them, and to others.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench changes              # two minutes
//! cargo bench -p ringspin-benches --bench changes -- --test    # everything once
//! ```
//!
//! # Method
//! The graph has 10, 1,000 or 10,000 subscriptions, each of another topic.
//!
//! * `add and remove`: the time to create another subscription and to destroy it, with the part of
//!   the worker, which adopts both, on the same pinned thread. In turns of about a millisecond, see
//!   [`ringspin_benches::rounds`]; the ratio is the time by that among 10. The others are one for
//!   each node, or all of the same node.
//! * `pause`: how late a timer of a period of a millisecond is called, by a worker that spins. On
//!   another core a thread makes a change of the same worker every millisecond: it creates a
//!   subscription, or destroys it, 0 to 20 microseconds before the timer expires. In every other
//!   turn it does not, for comparison. `highest` is the median of the turns' maxima.
//! * `gap`: the longest time between two callbacks in a row of a worker that is never idle, in each
//!   of many windows of 100 microseconds. In every other window, another thread makes a change.
//!   This is the delay of an event by a change, interruptions by the other thread included; a
//!   window is so short that few have anything else in them.
//!
//! # Limits
//! On a shared virtual machine the host suspends the worker for longer than any change: compare the
//! turns.

use ringspin_benches::on_core;
use ringspin_benches::rounds::{Cell, Options, Unit, quartiles};
use ringspin_executor::{Context, Message, Node, QoS, Subscription, WaitStrategy};
use ringspin_modes::{Executor, allowed_cores};
use ringspin_ringbuf::{Counter, Flag};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SIZES: [(&str, usize); 3] = [("10", 10), ("1,000", 1_000), ("10,000", 10_000)];

const PERIOD: Duration = Duration::from_millis(1);

/// The span before an expiry in which a change is made.
const AIM: Duration = Duration::from_micros(20);

const HEADER: &str = "| | us | p99 | p99.9 | highest | maximum |\n|---|--:|--:|--:|--:|--:|";

fn subscribe(node: &Node<()>, topic: &str) -> Subscription {
    let added = node.create_subscription(topic, QoS::keep_last(1), |_, _: &Message<u64>, _| ());
    added.expect("a valid name")
}

/// Adds `subscriptions` subscriptions of `nodes` nodes, and returns the last node.
fn idle(executor: &Executor, subscriptions: usize, nodes: usize) -> Node<()> {
    let new_node = |n| executor.create_node(&format!("idle_{n}"), ()).expect("a valid name");
    let mut node = new_node(0);
    for n in 0..subscriptions {
        if (1..nodes).contains(&n) {
            node = new_node(n);
        }
        subscribe(&node, &format!("idle_{n}"));
    }
    node
}

fn add_and_remove(options: &Options, core: usize, title: &str, nodes: impl Fn(usize) -> usize) {
    let title = format!("add and remove, {title}");
    if !options.wants(&title) {
        return;
    }
    let mut cell = Cell::new(title, Unit::Time, 100);
    for (name, size) in SIZES {
        let mut executor = Executor::single_core();
        let node = idle(&executor, size, nodes(size));
        executor.freeze().expect("a valid graph");
        cell.add(name, move |n| {
            on_core(core, || {
                let start = Instant::now();
                for _ in 0..n {
                    let added = subscribe(&node, "added");
                    executor.spin_all(PERIOD).expect("no callback fails");
                    added.destroy();
                    executor.spin_all(PERIOD).expect("no callback fails");
                }
                start.elapsed().as_secs_f64() * 1e9 / n as f64
            })
        });
    }
    cell.run(options);
}

/// The calls of a timer.
#[derive(Default)]
struct Calls {
    /// How late they were, in microseconds: of each turn, without and with changes.
    lateness: [Vec<Vec<f64>>; 2],
    /// The time for which the last one was scheduled.
    scheduled: Option<Instant>,
}

/// Adds a timer to `node` that notes its calls.
fn add_timer(node: &Node<()>, calls: &Arc<Mutex<Calls>>, changing: &Arc<Flag>) {
    let (calls, changing) = (calls.clone(), changing.clone());
    let note = move |_: &mut (), cx: &mut Context<'_>| {
        let late = cx.now() - cx.scheduled_time().expect("it is a timer's callback");
        let mut calls = calls.lock().expect("nothing panics");
        calls.scheduled = Instant::now().checked_sub(late);
        let of = &mut calls.lateness[usize::from(changing.is_raised())];
        of.last_mut().into_iter().for_each(|turn| turn.push(late.as_secs_f64() * 1e6));
    };
    node.create_timer(PERIOD, note).expect("a valid period");
}

fn wait_until(due: Instant) {
    let sleep = due.saturating_duration_since(Instant::now()).saturating_sub(PERIOD / 5);
    std::thread::sleep(sleep);
    while Instant::now() < due {
        std::hint::spin_loop();
    }
}

/// Takes the time of `steps` changes, and makes them if this is `changing`.
fn take_a_turn(node: &Node<()>, scheduled: Instant, steps: u32, changing: bool) {
    let mut added = None;
    for step in 0..steps {
        // Multiples of the golden ratio reach the whole span evenly.
        let before = AIM.mul_f64((f64::from(step) * 0.618_034).fract());
        wait_until(scheduled + PERIOD * (step + 2) - before);
        match added.take() {
            _ if !changing => {}
            None => added = Some(subscribe(node, "added")),
            Some(added) => added.destroy(),
        }
    }
}

fn pause(options: &Options, [core, other]: [usize; 2], (name, size): (&str, usize)) {
    let title = format!("pause among {name}");
    if !options.wants(&title) {
        return;
    }
    let (turns, steps) = (options.rounds().div_ceil(4), 500);
    let mut executor = Executor::single_core().with_wait_strategy(WaitStrategy::Spin);
    let node = idle(&executor, size, size);
    let (calls, changing) = (Arc::<Mutex<Calls>>::default(), Arc::<Flag>::default());
    add_timer(&node, &calls, &changing);
    executor.freeze().expect("a valid graph");
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| on_core(core, || executor.spin().expect("no callback fails")));
        on_core(other, || {
            while calls.lock().expect("nothing panics").scheduled.is_none() {
                std::thread::sleep(PERIOD);
            }
            for turn in 0..2 * turns {
                let is_changing = turn % 2 == 1;
                match is_changing {
                    true => changing.raise(),
                    false => changing.lower(),
                }
                let scheduled = {
                    let mut calls = calls.lock().expect("nothing panics");
                    calls.lateness[usize::from(is_changing)].push(Vec::new());
                    calls.scheduled.expect("the timer has run")
                };
                take_a_turn(&node, scheduled, steps, is_changing);
            }
        });
        stop.stop();
    });
    let calls = calls.lock().expect("nothing panics");
    println!("\n## {title}\n\n{HEADER}");
    for (name, turns) in ["without changes", "1,000 changes a second"].iter().zip(&calls.lateness) {
        print_row(name, turns);
    }
}

/// The longest gaps between two callbacks, in microseconds, by the number of the window.
struct Gaps {
    last: Instant,
    longest: Vec<f64>,
}

/// Adds a node that is never idle, and notes its gaps.
fn add_busy_node(executor: &Executor, gaps: &Arc<Mutex<Gaps>>, window: &Arc<Counter>) {
    let (gaps, window) = (gaps.clone(), window.clone());
    let node = executor.create_node("busy", ()).expect("a valid name");
    let again = node.create_publisher("again", QoS::keep_last(1)).expect("a valid name");
    let start = again.clone();
    let note = move |_: &mut (), _: &Message<()>, _: &mut Context<'_>| {
        let Gaps { last, longest } = &mut *gaps.lock().expect("nothing panics");
        let now = Instant::now();
        let of = &mut longest[window.get() as usize];
        *of = of.max((now - std::mem::replace(last, now)).as_secs_f64() * 1e6);
        again.publish(())
    };
    node.create_subscription("again", QoS::keep_last(1), note).expect("a valid name");
    node.create_timer(PERIOD, move |_, cx| {
        cx.cancel_timer();
        start.publish(())
    })
    .expect("a valid period");
}

fn gap(options: &Options, [core, other]: [usize; 2], (name, size): (&str, usize)) {
    const WINDOW: Duration = Duration::from_micros(100);
    let title = format!("gap among {name}");
    if !options.wants(&title) {
        return;
    }
    let (turns, windows) = (options.rounds(), 500);
    let mut executor = Executor::single_core();
    let node = idle(&executor, size, size);
    let longest = vec![0.0; 2 * turns * windows + 1];
    let gaps = Arc::new(Mutex::new(Gaps { last: Instant::now(), longest }));
    let window = Arc::<Counter>::default();
    add_busy_node(&executor, &gaps, &window);
    executor.freeze().expect("a valid graph");
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| on_core(core, || executor.spin().expect("no callback fails")));
        on_core(other, || {
            while gaps.lock().expect("nothing panics").longest[0] == 0.0 {
                std::thread::sleep(PERIOD);
            }
            let mut added = None;
            for _ in 0..turns * windows {
                window.next();
                wait_until(Instant::now() + WINDOW);
                let end = Instant::now() + WINDOW;
                window.next();
                match added.take() {
                    None => added = Some(subscribe(&node, "added")),
                    Some(added) => added.destroy(),
                }
                wait_until(end);
            }
        });
        stop.stop();
    });
    let gaps = gaps.lock().expect("nothing panics");
    println!("\n## {title}\n\n{HEADER}");
    for (name, first) in [("without a change", 1), ("with a change", 2)] {
        // Without those in which the worker was suspended all the time.
        let all = gaps.longest[first..].iter().copied().step_by(2).filter(|gap| *gap > 0.0);
        let all: Vec<_> = all.collect();
        print_row(name, &all.chunks(windows).map(<[f64]>::to_vec).collect::<Vec<_>>());
    }
}

fn print_row(name: &str, turns: &[Vec<f64>]) {
    let mut all = turns.concat();
    all.sort_by(f64::total_cmp);
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize];
    let highest = turns.iter().map(|turn| turn.iter().copied().fold(0.0, f64::max)).collect();
    let [_, highest, _] = quartiles(highest);
    let [median, p99, p99_9, maximum] = [0.5, 0.99, 0.999, 1.0].map(at);
    println!("| {name} | {median:.2} | {p99:.2} | {p99_9:.2} | {highest:.2} | {maximum:.2} |");
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let cores = allowed_cores();
    let core = *cores.first().expect("a process may run somewhere");
    add_and_remove(&options, core, "a node for each", |size| size);
    add_and_remove(&options, core, "one node", |_| 1);
    match cores[..] {
        [first, second, ..] => {
            SIZES.into_iter().for_each(|size| pause(&options, [first, second], size));
            SIZES.into_iter().for_each(|size| gap(&options, [first, second], size));
        }
        _ => println!("pause and gap: skipped, for this process may use only one core"),
    }
    ExitCode::SUCCESS
}
