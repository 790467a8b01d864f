//! Bounds computed by hand, and compared with simulations of random graphs.

use proptest::prelude::*;
use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_modes::{ChainPath, Cores, Executor, Simulation};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};

use super::*;
use crate::evaluation::Model;
use crate::search::tests::toy::{Input, Toy};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn timer(period_ms: u64, duration_ms: u64) -> Callback {
    let trigger = Trigger::Timer(ms(period_ms));
    Callback { name: "timer".into(), event_loop: 0, duration_max: ms(duration_ms), trigger }
}

fn after(from: &[usize], duration_ms: u64) -> Callback {
    let sources = from.iter().map(|&from| Source::immediate(from)).collect();
    let trigger = Trigger::Messages(sources);
    Callback { name: "after".into(), event_loop: 0, duration_max: ms(duration_ms), trigger }
}

/// Puts every callback in a loop of its own, on the given cores.
fn on(cores: &[usize], callbacks: &[Callback]) -> (Vec<Callback>, Assignment) {
    let numbered = callbacks.iter().enumerate().map(|(index, callback)| {
        let name = format!("{} {index}", callback.name);
        Callback { name, event_loop: index, ..callback.clone() }
    });
    let loops: Vec<String> = (0..cores.len()).map(|index| format!("/{index}")).collect();
    (numbered.collect(), Assignment::new(loops, cores.to_vec(), 8))
}

fn chain(cores: &[usize], callbacks: &[Callback], path: &[usize]) -> Result<Duration, NoBound> {
    let (callbacks, assignment) = on(cores, callbacks);
    Analysis::new(&callbacks, &assignment)?.chain(path)
}

#[test]
fn an_undisturbed_chain_takes_the_sum_of_its_durations() {
    let callbacks = [timer(100, 2), after(&[0], 3), after(&[1], 5)];
    assert_eq!(chain(&[0, 0, 0], &callbacks, &[0, 1, 2]), Ok(ms(10)));
    assert_eq!(chain(&[0, 1, 2], &callbacks, &[0, 1, 2]), Ok(ms(10)));
    assert_eq!(chain(&[0, 1, 2], &callbacks, &[1, 2]), Ok(ms(8)));
}

#[test]
fn other_work_delays_a_chain_once_per_core() {
    let callbacks = [timer(1000, 2), after(&[0], 3), timer(1000, 50), timer(1000, 70)];
    assert_eq!(chain(&[0, 0, 0, 5], &callbacks, &[0, 1]), Ok(ms(55)));
    assert_eq!(chain(&[0, 1, 0, 1], &callbacks, &[0, 1]), Ok(ms(125)));
    assert_eq!(chain(&[0, 1, 5, 1], &callbacks, &[0, 1]), Ok(ms(75)));
}

#[test]
fn a_frequent_timer_delays_a_chain_at_each_period() {
    // The chain needs 20 ms, and the other timer 4 of every 10 ms.
    let callbacks = [timer(1000, 20), timer(10, 4)];
    // The other timer fires at 0 and ends at 4 ms: the latest start of the chain.
    assert_eq!(chain(&[0, 0], &callbacks, &[0]), Ok(ms(24)));
    // The other timer waits for the 20 ms of the chain, then runs.
    assert_eq!(chain(&[0, 0], &callbacks, &[1]), Ok(ms(24)));
}

#[test]
fn transit_time_counts_towards_the_bound() {
    let mut callbacks = [timer(100, 2), after(&[0], 3)];
    let source = Source { callback: 0, same_core_max: ms(1), cross_core_max: ms(7) };
    callbacks[1].trigger = Trigger::Messages(vec![source]);
    // On one core, each step counts alone, because the core may run another callback in between,
    // for example the first one of the next period.
    assert_eq!(chain(&[0, 0], &callbacks, &[0, 1]), Ok(ms(2 + 3 + 1 + 3 + 2)));
    assert_eq!(chain(&[0, 1], &callbacks, &[0, 1]), Ok(ms(2 + 7 + 3)));
}

#[test]
fn every_event_chain_to_a_callback_adds_work() {
    // Two timers trigger one callback: its two calls delay each other.
    let callbacks = [timer(100, 1), timer(100, 1), after(&[0, 1], 10)];
    assert_eq!(chain(&[0, 1, 2], &callbacks, &[0, 2]), Ok(ms(21)));
}

#[test]
fn delay_on_one_core_causes_bursts_on_the_next() {
    // The other timer delays the first message by up to 8 ms, so the second one follows closely.
    let callbacks = [timer(10, 1), timer(100, 8), after(&[0], 4), timer(100, 1)];
    assert_eq!(chain(&[0, 0, 1, 1], &callbacks, &[3]), Ok(ms(4 + 4 + 1)));
    assert_eq!(chain(&[0, 2, 1, 1], &callbacks, &[3]), Ok(ms(4 + 1)));
}

#[test]
fn violated_assumptions_are_refused() {
    let outside = Callback { trigger: Trigger::Unknown, ..timer(1, 1) };
    let error = chain(&[0, 1], &[outside, timer(10, 1)], &[1]).unwrap_err();
    assert!(error.to_string().starts_with("`timer 0` is triggered from outside"), "{error}");
    let error = chain(&[0, 0], &[timer(10, 6), timer(10, 5)], &[0]).unwrap_err();
    assert_eq!(error, NoBound::Overloaded { core: 0, percent: 110 });
    let error = chain(&[0, 1], &[after(&[1], 1), after(&[0], 1)], &[0]).unwrap_err();
    assert_eq!(error, NoBound::Cycle { callback: "after 0".into() });
    let callbacks = [timer(10, 1), timer(20, 1), after(&[0], 1)];
    let error = chain(&[0, 0, 0], &callbacks, &[0, 1, 2]).unwrap_err();
    assert_eq!(error, NoBound::NotTriggered { from: "timer 0".into(), to: "timer 1".into() });
    let error = chain(&[0, 0, 0], &callbacks, &[1, 2]).unwrap_err();
    assert_eq!(error, NoBound::NotTriggered { from: "timer 1".into(), to: "after 2".into() });
    assert_eq!(chain(&[0], &[timer(10, 1)], &[]), Err(NoBound::NoChain));
    assert_eq!(chain(&[0], &[timer(10, 1)], &[1]), Err(NoBound::NoChain));
    let malformed = |callback: &str| NoBound::Malformed { callback: callback.into() };
    assert_eq!(chain(&[0], &[timer(0, 1)], &[0]), Err(malformed("timer 0")));
    assert_eq!(chain(&[0], &[after(&[7], 1)], &[0]), Err(malformed("after 0")));
    assert_eq!(chain(&[], &[timer(10, 1)], &[0]), Err(malformed("timer 0")));
}

#[test]
fn a_thousand_event_chains_are_refused() {
    // Each step doubles the number of event chains.
    let mut callbacks = vec![timer(1000, 0)];
    for step in 0..10 {
        callbacks.push(after(&[step, step], 0));
    }
    let error = chain(&[0; 11], &callbacks, &[0]).unwrap_err();
    assert_eq!(
        error,
        NoBound::TooManyEventChains {
            callback: "after 9".into(),
            max: event_chains::EVENT_CHAINS_MAX
        }
    );
}

#[test]
fn too_many_event_chains_in_total_and_diverging_cores_are_refused() {
    // 200 event chains for each of six callbacks.
    let mut callbacks = vec![timer(1000, 0)];
    callbacks.push(after(&[0; 200], 0));
    (0..5).for_each(|_| callbacks.push(after(&[1], 0)));
    let error = chain(&[0; 7], &callbacks, &[0]).unwrap_err();
    assert_eq!(error, NoBound::TooManyInTotal { count: 1201, max: event_chains::TOTAL_MAX });
    assert!(error.to_string().contains("1201 event chains"), "{error}");
    // A cycle between two almost full cores: each delay increases the next one.
    let mut callbacks = vec![timer(10, 1)];
    (0..8).for_each(|step| callbacks.push(after(&[step], 2)));
    let error = chain(&[0, 1, 0, 1, 0, 1, 0, 1, 0], &callbacks, &[0]).unwrap_err();
    assert!(matches!(error, NoBound::Diverged { .. }), "{error}");
}

/// The callbacks of a toy graph. Its second inputs count as triggers although they are not passed
/// on: the analysis sees slightly more work than there is.
fn callbacks_of_toy(toy: &Toy) -> Vec<Callback> {
    let callback = |(index, input): (usize, &Input)| Callback {
        name: format!("/{index}"),
        event_loop: index,
        duration_max: Duration::from_nanos(toy.durations_ns[index]),
        trigger: match input {
            Input::Timer(period_ns) => Trigger::Timer(Duration::from_nanos(*period_ns)),
            Input::Messages(own, other) => {
                let sources = [Some(*own), *other].into_iter().flatten();
                Trigger::Messages(sources.map(Source::immediate).collect())
            }
        },
    };
    toy.inputs.iter().enumerate().map(callback).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn no_simulated_latency_exceeds_its_bound(
        loops in 3_usize..9,
        load in 0.1..0.5,
        graph: u64,
        cores in prop::collection::vec(0_usize..3, 9),
        priorities in prop::collection::vec(0_u8..3, 9),
    ) {
        let toy = Toy::random(loops, 2.0, load, graph);
        let assignment = Assignment::new(toy.loops().to_vec(), cores[..loops].to_vec(), 3)
            .with_priorities(priorities[..loops].to_vec());
        let callbacks = callbacks_of_toy(&toy);
        if let Ok(analysis) = Analysis::new(&callbacks, &assignment) {
            for (path, samples) in toy.paths().iter().zip(toy.latencies_ns(&assignment)) {
                let bound = analysis.chain(path).unwrap();
                let longest = Duration::from_nanos(samples.into_iter().max().unwrap_or(0));
                prop_assert!(longest <= bound, "{longest:?} of {path:?} exceeds {bound:?}");
            }
        }
    }
}

/// Pipelines `/P.S` of a timer and subscriptions; the last node of each joins all of them.
fn pipelines(graph: &Graph, periods_ms: &[u64], length: usize) -> Result<(), BoxError> {
    let join = graph.create_node("join", 0)?;
    for (p, &period_ms) in periods_ms.iter().enumerate() {
        let first = graph.create_node(&format!("p{p}_0"), 0_u32)?;
        let out = first.create_publisher(&format!("t{p}_0"), QoS::sensor_data())?;
        first.create_timer(ms(period_ms), move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        for step in 1..length {
            let node = graph.create_node(&format!("p{p}_{step}"), ())?;
            let out = node.create_publisher(&format!("t{p}_{step}"), QoS::sensor_data())?;
            let topic = format!("t{p}_{}", step - 1);
            node.create_subscription(
                &topic,
                QoS::sensor_data(),
                move |(), n: &Message<u32>, _| out.publish(**n),
            )?;
        }
        let last = format!("t{p}_{}", length - 1);
        join.create_subscription(&last, QoS::sensor_data(), |sum, n: &Message<u32>, _| {
            *sum += **n;
        })?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    })]

    #[test]
    fn no_latency_on_the_deterministic_mode_exceeds_its_bound(
        periods_ms in prop::collection::vec(prop::sample::select(vec![10_u64, 20, 50]), 1..4),
        length in 1_usize..4,
        durations_us in prop::collection::vec(50_u64..2500, 10),
        cores in prop::collection::vec(0_usize..2, 10),
        priorities in prop::collection::vec(0_u8..3, 10),
    ) {
        let graph = Graph::new();
        pipelines(&graph, &periods_ms, length).unwrap();
        let info = graph.info();
        let names: Vec<String> = info.loops.values().map(|it| it.full_name()).collect();
        let duration = |event_loop: usize| Duration::from_micros(durations_us[event_loop]);
        let callbacks = callbacks_of(
            &info,
            |id| duration(info.callbacks[id].event_loop.0 as usize),
            |_, _| 1,
            |_| [Duration::ZERO; 2],
        );
        let assignment = Assignment::new(names.clone(), cores[..names.len()].to_vec(), 2);
        let analysis = match Analysis::new(&callbacks, &assignment) {
            Ok(analysis) => analysis,
            Err(NoBound::Overloaded { .. } | NoBound::Diverged { .. }) => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        let paths: Vec<ChainPath> = (0..periods_ms.len())
            .map(|p| {
                let steps = (0..length).map(|step| format!("/p{p}_{step}"));
                ChainPath::new(format!("chain {p}"), steps.chain(["/join".to_owned()]))
            })
            .collect();
        let rules = names.iter().enumerate().fold(Durations::new(), |rules, (index, name)| {
            rules.rule(DurationRule::new(name).duration(Distribution::fixed(duration(index))))
        });
        let mapping = names.iter().zip(&priorities).fold(
            assignment.to_mapping(&[0, 1]),
            |mapping, (name, priority)| mapping.dispatch_priority(name, *priority),
        );
        let (durations, cores) = (rules.into(), Cores::Mapped(mapping));
        let simulation = Simulation { durations, cores, ..Default::default() };
        let mut executor = Executor::deterministic(simulation).with_chains(paths.clone());
        pipelines(executor.graph(), &periods_ms, length).unwrap();
        executor.spin_for(ms(1000)).unwrap();
        for (path, samples) in paths.iter().zip(executor.chains()) {
            let steps = places_of(&info, &path.resolve(&info).unwrap());
            let bound = analysis.longest(&steps).unwrap();
            let ends = samples.release_to_end_ns.iter().copied();
            let longest = ends.max().expect("samples come through");
            let longest = Duration::from_nanos(longest);
            prop_assert!(longest <= bound, "{longest:?} of {path:?} exceeds {bound:?}");
            // A single pipeline on one core never waits.
            if periods_ms.len() == 1 && assignment.cores_used() == 1 {
                prop_assert_eq!(longest, bound);
            }
        }
    }
}

#[test]
fn many_random_graphs_have_a_bound_and_some_reach_it() {
    let (mut bounded, mut reached) = (0, 0);
    for graph in 0..100 {
        let toy = Toy::random(6, 2.0, 0.3, graph);
        let cores = (0..6).map(|index| index % 3).collect();
        let assignment = Assignment::new(toy.loops().to_vec(), cores, 3);
        let callbacks = callbacks_of_toy(&toy);
        let Ok(analysis) = Analysis::new(&callbacks, &assignment) else { continue };
        bounded += 1;
        let longest = toy.latencies_ns(&assignment)[0].iter().copied().max();
        let bound = analysis.chain(&toy.paths()[0]).unwrap();
        reached += usize::from(longest.map(Duration::from_nanos) >= Some(bound / 2));
    }
    assert!(bounded > 50 && reached > 10, "{bounded} bounded, {reached} within a factor of two");
}
