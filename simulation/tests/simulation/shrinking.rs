//! Shrinking: a failure is shown with the fewest and smallest deviations that are enough.

use crate::explore::half_a_period_apart;
use ringspin_executor::{BoxError, Context, Error, Graph, Message, QoS};
use ringspin_modes::{Schedule, TiePolicy};
use ringspin_simulation::{Counterexample, Exploration, Job, Order};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn found<T>(result: Result<T, Error>) -> Counterexample {
    let error = result.err().expect("no failure was found");
    error.cause::<Counterexample>().unwrap_or_else(|| panic!("{error}")).clone()
}

/// The counterexamples of `count` explorations, which have no seed in common.
fn shrinks(job: &Job<'_>, order: Order, count: u64) -> Vec<Counterexample> {
    let explore = |n: u64| {
        let seeds = n * 10_000..(n + 1) * 10_000;
        found(job.explore(&Exploration { seeds, order, threads: 1, ..Exploration::default() }))
    };
    (0..count).map(explore).collect()
}

/// Asserts that each counterexample has `entries` entries, and comes again.
#[track_caller]
fn are_minimal(job: &Job<'_>, order: Order, entries: usize) -> Vec<Counterexample> {
    let all = shrinks(job, order, 8);
    let lengths: Vec<_> = all.iter().map(|found| found.schedule.len()).collect();
    let runs: Vec<_> = all.iter().map(|found| found.shrink_runs).collect();
    println!("{order:?}: entries {lengths:?}, runs {runs:?}");
    for counterexample in &all {
        assert_eq!(counterexample.schedule.len(), entries, "{lengths:?} {counterexample}");
        let text = counterexample.schedule.to_string();
        let again = found(job.try_schedule(&text.parse().unwrap()));
        assert_eq!(again.failure, counterexample.failure);
    }
    all
}

/// A chain of `hops` nodes from topic `from` to topic `to`.
fn chain(graph: &Graph, from: &str, to: &str, hops: u32) -> Result<(), BoxError> {
    for hop in 0..hops {
        let node = graph.create_node(&format!("{from}_{hop}"), ())?;
        let input = if hop == 0 { from.to_owned() } else { format!("{from}_to_{hop}") };
        let output = if hop + 1 == hops { to.to_owned() } else { format!("{from}_to_{}", hop + 1) };
        let out = node.create_publisher(&output, QoS::default())?;
        node.create_subscription(&input, QoS::default(), move |_, m: &Message<u32>, _| {
            out.publish(**m)
        })?;
    }
    Ok(())
}

/// Publishes its count on each of `topics`, every 10 ms.
fn source(graph: &Graph, name: &str, topics: &[&str]) -> Result<(), BoxError> {
    let node = graph.create_node(name, 0u32)?;
    let outs = topics.iter().map(|topic| node.create_publisher(topic, QoS::default()));
    let outs: Vec<_> = outs.collect::<Result<_, _>>()?;
    node.create_timer(10 * MS, move |count, _| {
        *count += 1;
        outs.iter().try_for_each(|out| out.publish(*count))
    })?;
    Ok(())
}

/// Fails if one of its inputs, from number `least` on, comes before that of the one before it.
fn judge(graph: &Graph, name: &str, inputs: &[&str], least: u32) -> Result<(), BoxError> {
    let node = graph.create_node(name, vec![0u32; inputs.len()])?;
    for (n, input) in inputs.iter().enumerate() {
        let name = input.to_string();
        let hear = move |seen: &mut Vec<u32>, m: &Message<u32>, _: &mut Context<'_>| {
            seen[n] = **m;
            match n > 0 && **m >= least && seen[n - 1] < **m {
                true => Err(format!("{name} {} came too early", **m)),
                false => Ok(()),
            }
        };
        node.create_subscription(input, QoS::default(), hear)?;
    }
    Ok(())
}

/// Two chains that end at one node, beside others that make for many choices.
fn two_chains(graph: &Graph) -> Result<(), BoxError> {
    for name in ["a", "b", "c", "d"] {
        source(graph, name, &[name])?;
        chain(graph, name, &format!("{name}_end"), 6)?;
    }
    judge(graph, "judge", &["a_end", "b_end"], 6)
}

#[test]
fn one_deviation_is_found_where_one_is_enough() {
    let job = Job::new(two_chains).run_for(100 * MS);
    for order in [Order::Shuffle, Order::Pct { depth: 2 }] {
        are_minimal(&job, order, 1);
    }
}

/// An input that comes at once, and one that takes 14 hops.
fn long_way(graph: &Graph) -> Result<(), BoxError> {
    source(graph, "source", &["direct", "start"])?;
    chain(graph, "start", "end", 14)?;
    // `end` is expected after `direct`.
    judge(graph, "judge", &["direct", "end"], 3)
}

#[test]
fn an_event_that_waits_for_the_end_of_a_chain_is_one_deviation() {
    let job = Job::new(long_way).run_for(100 * MS);
    for counterexample in are_minimal(&job, Order::Pct { depth: 2 }, 1) {
        let text = counterexample.to_string();
        let waits = "/judge `subscription /direct` only after /judge `subscription /end`";
        assert!(text.contains(waits), "{text}");
        assert!(text.contains("SCHEDULE='p0."), "{text}");
    }
}

#[test]
fn two_deviations_of_one_instant_or_of_two_are_two() {
    let same = Job::new(|graph| {
        for name in ["a", "b", "c", "d"] {
            source(graph, name, &[name])?;
            chain(graph, name, &format!("{name}_end"), 2)?;
        }
        let node = graph.create_node("judge", ([0u32; 4], false))?;
        for (n, input) in ["a_end", "b_end", "c_end", "d_end"].into_iter().enumerate() {
            let hear =
                move |state: &mut ([u32; 4], bool), m: &Message<u32>, _: &mut Context<'_>| {
                    let (seen, both) = state;
                    seen[n] = **m;
                    // At some time, both second ones are there, and neither of the first ones.
                    *both |= *seen == [**m - 1, **m, **m - 1, **m];
                };
            node.create_subscription(input, QoS::default(), hear)?;
        }
        Ok(())
    });
    let same = same.check(|session| match session.state::<([u32; 4], bool)>("/judge")?.1 {
        true => Err("both pairs are swapped".into()),
        false => Ok(()),
    });
    are_minimal(&same.run_for(50 * MS), Order::Shuffle, 2);
    let different = Job::new(|graph| {
        source(graph, "a", &["a"])?;
        source(graph, "b", &["b"])?;
        source(graph, "c", &["c"])?;
        let node = graph.create_node("judge", (0u32, 0u32))?;
        node.create_subscription("a", QoS::default(), |(a, _), m: &Message<u32>, _| *a = **m)?;
        node.create_subscription("b", QoS::default(), |(a, swaps), m: &Message<u32>, _| {
            *swaps += u32::from(*a < **m);
            if *swaps == 2 { Err("swapped twice") } else { Ok(()) }
        })?;
        Ok(())
    });
    are_minimal(&different.run_for(100 * MS), Order::Shuffle, 2);
}

#[test]
fn delays_are_as_short_as_is_enough() {
    let job = Job::new(half_a_period_apart).run_for(200 * MS);
    let job = job.simulate(|simulation| simulation.jitter.max = 8 * MS);
    for counterexample in are_minimal(&job, Order::Shuffle, 1) {
        let [perturbation] = counterexample.schedule.perturbations[..] else {
            panic!("{counterexample}")
        };
        // At 5 ms it arrives in the instant of `b`, and after it.
        assert!((5_000_000..=5_000_001).contains(&perturbation.delay_ns), "{counterexample}");
        let shorter = ringspin_modes::DelayPerturbation {
            delay_ns: perturbation.delay_ns - 1,
            ..perturbation
        };
        let schedule = Schedule { perturbations: vec![shorter], ..Schedule::default() };
        job.try_schedule(&schedule).expect("a shorter delay is harmless");
    }
}

/// Like [`two_chains`], with another fault that an easier order shows.
fn two_faults(graph: &Graph) -> Result<(), BoxError> {
    for name in ["a", "b", "c"] {
        source(graph, name, &[name])?;
    }
    judge(graph, "first", &["a", "b", "c"], 1)?;
    judge(graph, "second", &["a", "b"], 1)
}

#[test]
fn only_the_same_failure_counts() {
    let job = Job::new(two_faults).run_for(50 * MS);
    let words = |text: &str| {
        let end = text.find(" on event").unwrap();
        let last = text.rsplit_once(": ").unwrap().1.split(' ').next().unwrap();
        format!("{} {last}", &text[..end])
    };
    let mut kinds = Vec::new();
    for counterexample in shrinks(&job, Order::Shuffle, 25) {
        let seed = counterexample.seed.unwrap();
        let again = Job::new(two_faults).run_for(50 * MS).simulate(|simulation| {
            simulation.seed = seed;
            simulation.ties = TiePolicy::Shuffle { seed };
        });
        let first = words(&again.run().unwrap_err().to_string());
        assert_eq!(words(&counterexample.failure), first, "{counterexample}");
        kinds.push(first);
    }
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() > 2, "{kinds:?}");
}

/// Sixteen sources and their judge. The check fails if the order of its inputs in one instant, as
/// numbers, satisfies `is_wrong`.
fn sixteen(is_wrong: impl Fn(&[usize]) -> bool + Copy + Send + Sync + 'static) -> Job<'static> {
    let job = Job::new(move |graph| {
        let node = graph.create_node("judge", (Vec::<usize>::new(), false))?;
        for n in 0..16 {
            let topic = format!("in_{n}");
            source(graph, &format!("source_{n}"), &[&topic])?;
            node.create_subscription(
                &topic,
                QoS::default(),
                move |(order, wrong): &mut (Vec<usize>, bool), _: &Message<u32>, _| {
                    order.push(n);
                    if order.len() == 16 {
                        *wrong |= is_wrong(&std::mem::take(order));
                    }
                },
            )?;
        }
        Ok(())
    });
    let job = job.check(|session| match session.state::<(Vec<usize>, bool)>("/judge")?.1 {
        true => Err("the order is wrong".into()),
        false => Ok(()),
    });
    job.run_for(20 * MS)
}

fn before(order: &[usize], first: usize, second: usize) -> bool {
    order.iter().position(|of| *of == first) < order.iter().position(|of| *of == second)
}

#[test]
fn of_sixteen_inputs_two_deviations_are_enough() {
    let swapped = sixteen(|order| before(order, 9, 3) && before(order, 7, 5));
    let last = sixteen(|order| order[14..].contains(&3) && order[14..].contains(&7));
    let first = sixteen(|order| order[..2].contains(&15) && order[..2].contains(&11));
    for job in [swapped, last, first] {
        for counterexample in shrinks(&job, Order::Shuffle, 1) {
            assert_eq!(counterexample.schedule.len(), 2, "{counterexample}");
            let again = found(job.try_schedule(&counterexample.schedule));
            assert_eq!(again.explanation, counterexample.explanation);
        }
    }
}

#[test]
fn explanations_name_the_callbacks_that_matter() {
    let swapped = "/judge `subscription /in_3` only after /judge `subscription /in_9`";
    let first = "/source_15 `timer 10ms` before /source_0 `timer 10ms` and 14 others";
    // Each order at a relay explains the failure of the node behind it, which is named.
    let relayed = Job::new(|graph| {
        let relay = graph.create_node("relay", ())?;
        for name in ["a", "b"] {
            source(graph, name, &[name])?;
            let out = relay.create_publisher(&format!("{name}_end"), QoS::default())?;
            let hear = move |_: &mut (), m: &Message<u32>, _: &mut Context<'_>| out.publish(**m);
            relay.create_subscription(name, QoS::default(), hear)?;
        }
        judge(graph, "judge", &["a_end", "b_end"], 1)
    });
    let behind = "/judge `subscription /a_end` only after /judge `subscription /b_end`";
    for (job, expected) in [
        (sixteen(|order| before(order, 9, 3)), swapped),
        (sixteen(|order| order[0] == 15), first),
        (relayed.run_for(50 * MS), behind),
    ] {
        for found in shrinks(&job, Order::Shuffle, 2) {
            let [line] = &found.explanation[..] else { panic!("{found}") };
            assert!(line.ends_with(expected), "{found}");
        }
    }
}
