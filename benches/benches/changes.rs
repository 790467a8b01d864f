//! The price of changes of a graph that runs: to those who make them, and to the others.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench changes              # two minutes
//! cargo bench -p ringspin-benches --bench changes -- --test    # everything once
//! ```
//!
//! # Method
//! The graph has 10, 1,000 or 10,000 subscriptions, each of a topic of its own.
//!
//! * `add and remove`: the time to create another subscription and to destroy it, with the part of
//!   the worker, which adopts both, on the same pinned thread. In turns of about a millisecond, see
//!   [`ringspin_benches::rounds`]; the ratio is the time by that among 10. The others are one for
//!   each node, or all of the same node.
//! * `pause`: how late a timer of a period of a millisecond is called, by a worker that spins. On
//!   another core a thread makes a change of the same worker every millisecond, in turns: it
//!   creates a subscription, or destroys it. In every other turn it does not, for comparison. The
//!   phase between timer and change goes through the whole period. `highest` is the median of the
//!   turns' maxima.
//!
//! # Limits
//! On a shared virtual machine the host suspends the worker for longer than any change: compare the
//! turns.

use ringspin_benches::on_core;
use ringspin_benches::rounds::{Cell, Options, Unit, quartiles};
use ringspin_executor::{Context, Message, Node, QoS, Subscription, WaitStrategy};
use ringspin_modes::{Executor, allowed_cores};
use ringspin_ringbuf::Flag;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SIZES: [(&str, usize); 3] = [("10", 10), ("1,000", 1_000), ("10,000", 10_000)];

const PERIOD: Duration = Duration::from_millis(1);

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

/// How late the calls of a timer were, in microseconds: of each turn, without and with changes.
type Lateness = [Vec<Vec<f64>>; 2];

/// Adds a timer to `node` that notes in `lateness` how late it is called.
fn add_timer(node: &Node<()>, lateness: &Arc<Mutex<Lateness>>, changing: &Arc<Flag>) {
    let (lateness, changing) = (lateness.clone(), changing.clone());
    let note = move |_: &mut (), cx: &mut Context<'_>| {
        let late = cx.now() - cx.scheduled_time().expect("it is a timer's callback");
        let of = &mut lateness.lock().expect("nothing panics")[usize::from(changing.is_raised())];
        of.last_mut().into_iter().for_each(|turn| turn.push(late.as_secs_f64() * 1e6));
    };
    node.create_timer(PERIOD, note).expect("a valid period");
}

/// Takes the time of `steps` changes, and makes them if this is `changing`.
fn take_a_turn(node: &Node<()>, steps: u32, changing: bool) {
    let mut added = None;
    let start = Instant::now();
    for step in 0..steps {
        // Multiples of the golden ratio reach all phases evenly.
        let phase = (f64::from(step) * 0.618_034).fract();
        let due = PERIOD.mul_f64(f64::from(step) + phase);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
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
    let (lateness, changing) = (Arc::default(), Arc::<Flag>::default());
    add_timer(&node, &lateness, &changing);
    executor.freeze().expect("a valid graph");
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| on_core(core, || executor.spin().expect("no callback fails")));
        on_core(other, || {
            for turn in 0..2 * turns {
                let is_changing = turn % 2 == 1;
                let begin = || lateness.lock().expect("nothing panics");
                begin()[usize::from(is_changing)].push(Vec::new());
                match is_changing {
                    true => changing.raise(),
                    false => changing.lower(),
                }
                take_a_turn(&node, steps, is_changing);
            }
        });
        stop.stop();
    });
    let lateness = lateness.lock().expect("nothing panics");
    println!(
        "\n## {title}\n\n| | us | p99 | p99.9 | highest | maximum |\n|---|--:|--:|--:|--:|--:|"
    );
    for (name, turns) in ["without changes", "1,000 changes a second"].iter().zip(&*lateness) {
        print_row(name, turns);
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
        }
        _ => println!("pause: skipped, because this process may use only one core"),
    }
    ExitCode::SUCCESS
}
