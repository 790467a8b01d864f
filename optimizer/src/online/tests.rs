//! Decisions, ends and drifts on short spans.

use super::*;
use ringspin_executor::{Context, Message, QoS, WaitStrategy};
use ringspin_modes::{Mode, Simulation, allowed_cores};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};

const MS: Duration = Duration::from_millis(1);

/// Two sensors with callbacks that sleep for `rest`, and a listener for each.
fn build(graph: &Graph, rest: Duration) -> Result<(), BoxError> {
    for n in 0..2 {
        let sensor = graph.create_node(&format!("sensor_{n}"), 0u64)?;
        let topic = format!("topic_{n}");
        let out = sensor.create_publisher(&topic, QoS::default())?;
        sensor.create_timer(2 * MS, move |count, _| {
            *count += 1;
            std::thread::sleep(rest);
            out.publish(*count)
        })?;
        let listener = graph.create_node(&format!("listener_{n}"), 0u64)?;
        let hear = |last: &mut u64, count: &Message<u64>, _: &mut Context<'_>| *last = **count;
        listener.create_subscription(&topic, QoS::default(), hear)?;
    }
    Ok(())
}

fn chains() -> Vec<Chain> {
    let chain =
        |n: usize| Chain::new(format!("{n}"), [format!("/sensor_{n}"), format!("/listener_{n}")]);
    (0..2).map(chain).collect()
}

fn options() -> OnlineOptions {
    let search = SearchOptions { evaluations: 20, population: 10, ..SearchOptions::new(2) };
    OnlineOptions { search, horizon: 100 * MS, span: 20 * MS, ..OnlineOptions::default() }
}

fn online<'a>() -> Online<'a> {
    Online::new(|graph: &Graph| build(graph, Duration::ZERO), chains(), options())
}

fn executor(mapping: Mapping) -> Executor {
    let executor = Executor::multi_core(mapping).with_chains(chains());
    build(executor.graph(), MS / 2).unwrap();
    executor
}

fn online_mapping() -> Mapping {
    Mapping { optimize: Some(Optimize::Online), ..Mapping::new() }
}

/// One core of two is not for loops without a name.
#[test]
fn cores_that_a_mapping_isolates_stay_empty() {
    let cores = allowed_cores();
    let Some(last) = cores.get(1..).and_then(<[usize]>::last).copied() else { return };
    let spins = Mapping::new().core(last, ["/sensor_0"]).wait(last, WaitStrategy::Spin);
    let mapping = Mapping { optimize: Some(Optimize::Online), ..spins.priority(last, 1) };
    let mut executor = executor(mapping.clone());
    executor.freeze().unwrap();
    assert_eq!(executor.shared_cores(), cores[..cores.len() - 1]);
    if cores.len() == 2 {
        online().spin_for(&mut executor, 30 * MS).unwrap();
        assert_eq!(executor.mode().mapping(), Some(&mapping));
    }
}

/// Spins until there are further events.
fn spin_on(executor: &mut Executor) {
    let dispatched = executor.statistics().dispatched();
    while executor.statistics().dispatched() == dispatched {
        executor.spin_for(20 * MS).unwrap();
    }
}

fn has_two_cores() -> bool {
    let has_two = allowed_cores().len() > 1;
    if !has_two {
        println!("this needs two cores");
    }
    has_two
}

#[test]
fn mapping_is_better_in_most_turns_and_in_the_median() {
    let scores = |of: [u64; 2]| of.map(|mean| Score::new([0, mean]));
    let verdict = |turns: &[[u64; 2]], medians| {
        let turns: Vec<_> = turns.iter().map(|turn| scores(*turn)).collect();
        is_better(&turns, &scores(medians))
    };
    assert!(verdict(&[[5, 4], [5, 4], [5, 9]], [5, 4]));
    assert!(!verdict(&[[5, 4], [5, 6], [5, 6]], [5, 4]), "one lucky turn");
    assert!(!verdict(&[[5, 4], [5, 5]], [5, 4]), "half of the turns");
    assert!(!verdict(&[[5, 4], [5, 4], [5, 4]], [5, 5]));
}

#[test]
fn comparison_leaves_the_executor_with_the_better_mapping() {
    if !has_two_cores() {
        return;
    }
    let (mut online, mut executor) = (online(), executor(online_mapping()));
    let is_measured = |of: &Decision| of.before.chains[0].samples > 0;
    let decision = loop {
        let decision = online.optimize(&mut executor, Time::MAX).unwrap().unwrap();
        if is_measured(decision) {
            break decision.clone(); // after the first turns, unless the machine is busy
        }
    };
    online.decisions.drain(..online.decisions.len() - 1);
    let [before, after] = [&decision.before, &decision.after].map(|of| online.score(of));
    assert!(!decision.is_kept || after < before);
    let mapping = executor.mode().mapping().unwrap();
    assert_eq!(*mapping == decision.mapping, decision.is_kept);
    assert_eq!(mapping.optimize, Some(Optimize::Online));
    // The mapping that was taken back or kept is the one to compare with next time.
    let before = mapping.clone();
    online.optimize(&mut executor, Time::MAX).unwrap().unwrap();
    let [_, second] = online.decisions() else { panic!("two decisions") };
    let mapping = executor.mode().mapping().unwrap();
    assert_eq!(*mapping, if second.is_kept { second.mapping.clone() } else { before });
    assert!(executor.failures().is_empty());
}

#[test]
fn executor_runs_all_the_time_and_ends_where_it_should() {
    if !has_two_cores() {
        return;
    }
    let (mut online, mut executor) = (online(), executor(online_mapping()));
    executor.freeze().unwrap();
    // In a profile, in a search or comparison, and while it watches.
    for ms in [10, 50, 30] {
        let end = executor.now() + ms * MS;
        online.spin_for(&mut executor, ms * MS).unwrap();
        assert!(executor.now() >= end);
        if ms == 50 {
            while online.optimize(&mut executor, Time::MAX).unwrap().is_none() {}
        }
    }
    spin_on(&mut executor);
    spin_on(&mut executor);
}

#[test]
fn stop_ends_the_spin_while_it_searches_or_watches() {
    if !has_two_cores() {
        return;
    }
    for wait in [5 * MS, 60 * MS, 400 * MS] {
        let (mut online, mut executor) = (online(), executor(online_mapping()));
        let stop = executor.stop_handle();
        let stopping = std::thread::spawn(move || {
            std::thread::sleep(wait);
            stop.stop();
        });
        online.spin(&mut executor).unwrap();
        assert!(executor.stop_handle().is_stopped());
        stopping.join().unwrap();
    }
}

#[test]
fn nothing_changes_unless_the_mapping_allows_it() {
    let mut modes = vec![Mode::SingleCore, Mode::Deterministic(Box::default())];
    modes.push(Mode::MultiCore(None));
    modes.push(Mode::MultiCore(Some(Mapping::new().default_core(allowed_cores()[0]))));
    let fixed = online_mapping().default_core(allowed_cores()[0]);
    modes.push(Mode::MultiCore(Some(fixed)));
    for mode in modes {
        let mut executor = Executor::new(mode).with_chains(chains());
        build(executor.graph(), Duration::ZERO).unwrap();
        let before = executor.mode().mapping().cloned();
        let mut online = online();
        online.spin_for(&mut executor, 50 * MS).unwrap();
        assert!(online.decisions().is_empty());
        if executor.shared_cores().is_empty() {
            let refused = online.optimize(&mut executor, Time::MAX).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unsupported);
        }
        assert_eq!(executor.mode().mapping(), before.as_ref());
        spin_on(&mut executor);
    }
}

#[test]
fn executor_has_to_follow_the_chains() {
    if !has_two_cores() {
        return;
    }
    let mut executor = Executor::multi_core(online_mapping());
    build(executor.graph(), Duration::ZERO).unwrap();
    let error = online().spin_for(&mut executor, MS).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("`Executor::with_chains`"), "{error}");
}

/// A twin that cannot be built is no reason to stop a robot.
#[test]
fn search_that_fails_leaves_the_mapping() {
    if has_two_cores() {
        leaves_the_mapping(|| Err(BoxError::from("no twin")));
        leaves_the_mapping(|| panic!("no twin"));
    }
}

fn leaves_the_mapping(fail: impl Fn() -> Result<(), BoxError> + Send + Sync) {
    let mut online = Online::new(move |_: &Graph| fail(), chains(), options());
    let mut executor = executor(online_mapping());
    assert!(online.optimize(&mut executor, Time::MAX).unwrap().is_none());
    let end = executor.now() + 50 * MS;
    online.spin_for(&mut executor, 50 * MS).unwrap();
    assert!(executor.now() >= end);
    assert!(online.decisions().is_empty());
    assert_eq!(executor.mode().mapping(), Some(&online_mapping()));
    assert!(online.has_searched, "the next search is after a drift");
}

#[test]
fn drift_is_a_difference_in_two_spans() {
    let took = Distribution::fixed(MS);
    let rule = DurationRule::new("/sensor_0").duration(took);
    let durations = Durations::new().rule(rule).into();
    let simulation = Simulation { durations, ..Simulation::default() };
    let mut executor = Executor::deterministic(simulation).with_chains(chains());
    build(executor.graph(), Duration::ZERO).unwrap();
    executor.freeze().unwrap();
    let reader = executor.chain_reader().unwrap();
    let online = online();
    let mut spans = |reference: Option<Duration>, count: usize| {
        let latency = |of: Duration| ChainLatency::of(vec![of.as_nanos() as u64], vec![0], None, 0);
        let reference = reference.map(|of| vec![latency(of), ChainLatency::default()]);
        let mut watch = Watch { online: &online, reader: reader.clone(), reference, drifted: 0 };
        let mut drifts = Vec::new();
        for _ in 0..count {
            executor.spin_for(10 * MS).unwrap();
            drifts.push(watch.has_drifted());
        }
        drifts
    };
    assert_eq!(spans(Some(MS), 3), [false; 3]);
    assert_eq!(spans(Some(MS * 5 / 4), 3), [false; 3], "less than a quarter");
    assert_eq!(spans(Some(2 * MS), 3), [false, true, true], "half as long");
    assert_eq!(spans(Some(MS / 2), 3), [false, true, true], "twice as long");
    assert_eq!(spans(None, 3), [false; 3], "there was no decision");
}
