//! Exploring orders: planted bugs are found, shrunk, and come again.

use ringspin_executor::{BoxError, Context, Error, ErrorKind, Graph, Message, QoS, Time};
use ringspin_modes::{Candidate, Cores, Mapping, Schedule, Simulation, TieBreaker, TiePolicy};
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use ringspin_simulation::{Counterexample, Exploration, Job, Order};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Two sensors of the same rate, and a fusion that takes for granted that `a` comes first.
fn fusion(graph: &Graph) -> Result<(), BoxError> {
    for name in ["a", "b"] {
        let sensor = graph.create_node(&format!("sensor_{name}"), 0u32)?;
        let out = sensor.create_publisher(name, QoS::default())?;
        sensor.create_timer(10 * MS, move |count, _| {
            *count += 1;
            out.publish(*count)
        })?;
    }
    let fusion = graph.create_node("fusion", 0u32)?;
    fusion.create_subscription("a", QoS::default(), |last, a: &Message<u32>, _| *last = **a)?;
    fusion.create_subscription("b", QoS::default(), |last, b: &Message<u32>, _| {
        if *last < **b { Err(format!("no a for b {}", **b)) } else { Ok(()) }
    })?;
    Ok(())
}

fn found(error: Error) -> Counterexample {
    error.cause::<Counterexample>().unwrap_or_else(|| panic!("{error}")).clone()
}

#[test]
fn a_fusion_that_needs_an_order_is_found_and_shrunk_to_one_deviation() {
    let job = Job::new(fusion).run_for(1000 * MS);
    job.run().unwrap();
    for order in [Order::Mixed, Order::Shuffle, Order::Pct { depth: 2 }] {
        let exploration = Exploration { seeds: 0..200, order, ..Exploration::default() };
        let counterexample = found(job.explore(&exploration).unwrap_err());
        assert_eq!(counterexample.schedule.len(), 1, "{counterexample}");
        let text = counterexample.to_string();
        let words = match counterexample.schedule.deviations.len() {
            0 => [" only after ", "RINGSPIN_SCHEDULE='p"],
            _ => [" before ", "RINGSPIN_SCHEDULE='t"],
        };
        for part in ["seed ", "no a for b"].into_iter().chain(words) {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        let again = found(job.try_schedule(&counterexample.schedule).unwrap_err());
        assert_eq!(again.failure, counterexample.failure);
        assert_eq!(again.explanation, counterexample.explanation);
    }
}

/// Whether the subscription gets the only message depends on the order of two timers.
#[test]
fn creation_that_races_with_a_message_is_explored_in_both_orders() {
    let job = Job::new(|graph| {
        let talker = graph.create_node("talker", ())?;
        let out = talker.create_publisher::<u8>("numbers", QoS::default())?;
        talker.create_one_shot_timer(MS, move |_, _| out.publish(1))?;
        let creator = graph.create_node("creator", ())?;
        let late = creator.clone();
        creator.create_one_shot_timer(MS, move |_, _| {
            let on = |_: &mut (), _: &Message<u8>, _: &mut Context<'_>| Err("it is heard");
            late.create_subscription("numbers", QoS::default(), on).map(drop)
        })?;
        Ok(())
    });
    job.run().unwrap();
    for order in [Order::Mixed, Order::Shuffle, Order::Pct { depth: 2 }] {
        let exploration = Exploration { seeds: 0..100, order, ..Exploration::default() };
        let counterexample = found(job.explore(&exploration).unwrap_err());
        assert_eq!(counterexample.schedule.len(), 1, "{counterexample}");
        let text = counterexample.to_string();
        assert!(text.contains("it is heard"), "{text}");
    }
}

#[test]
fn shrinking_takes_no_more_runs_than_it_may() {
    let job = Job::new(fusion).run_for(1000 * MS);
    for shrink_runs_max in [0, 2, 3, 5] {
        for order in [Order::Mixed, Order::Shuffle, Order::Pct { depth: 2 }] {
            let exploration = Exploration { order, shrink_runs_max, ..Exploration::default() };
            let counterexample = found(job.explore(&exploration).unwrap_err());
            // The last one is to see how it fails.
            assert!(counterexample.shrink_runs <= shrink_runs_max + 1, "{counterexample}");
            assert!(counterexample.failure.contains("no a for b"), "{counterexample}");
        }
    }
}

#[test]
fn exploration_does_not_depend_on_the_number_of_threads() {
    let job = Job::new(fusion).run_for(50 * MS);
    let explore = |threads| {
        let exploration = Exploration { seeds: 0..100, threads, ..Exploration::default() };
        found(job.explore(&exploration).unwrap_err())
    };
    assert_eq!(explore(1), explore(2));
    assert_eq!(explore(1), explore(5));
}

#[test]
fn a_sound_job_passes_in_every_order() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", 0u64)?;
        let out = node.create_publisher::<u64>("t", QoS::default())?;
        node.create_timer(MS, move |_, _| out.publish(1))?;
        node.create_timer(MS, |n, _| *n += 1)?;
        node.create_subscription("t", QoS::default(), |n, m: &Message<u64>, _| *n += **m)?;
        Ok(())
    });
    let job = job.run_for(10 * MS).check(|session| {
        assert_eq!(session.state::<u64>("/node")?, &20);
        Ok(())
    });
    let exploration = Exploration { seeds: 0..50, ..Exploration::default() };
    let explored = job.explore(&exploration).unwrap();
    assert_eq!(explored.runs, 50);
    assert!(explored.deviating > 40, "{explored:?}");
}

/// Sensors half a period apart: no order of one instant breaks the fusion, a message that is 5 ms
/// late does.
pub(crate) fn half_a_period_apart(graph: &Graph) -> Result<(), BoxError> {
    let sensors = graph.create_node("sensors", 0u32)?;
    let a = sensors.create_publisher("a", QoS::default())?;
    let b = sensors.create_publisher("b", QoS::default())?;
    sensors.create_timer(5 * MS, move |half, _| {
        *half += 1;
        if *half % 2 == 1 { a.publish(*half) } else { b.publish(*half) }
    })?;
    let fusion = graph.create_node("fusion", 0u32)?;
    fusion.create_subscription("a", QoS::default(), |last, a: &Message<u32>, _| *last = **a)?;
    fusion.create_subscription("b", QoS::default(), |last, b: &Message<u32>, _| {
        assert!(*last + 1 == **b, "a is late")
    })?;
    Ok(())
}

#[test]
fn jitter_finds_what_needs_another_time_and_is_shrunk_as_well() {
    let job = Job::new(half_a_period_apart);
    let job = job.run_for(200 * MS);
    let quiet = Exploration { seeds: 0..50, ..Exploration::default() };
    job.explore(&quiet).unwrap();
    let counterexample =
        found(job.explore(&Exploration { jitter: Some(8 * MS), ..quiet }).unwrap_err());
    assert!(counterexample.deviations > 10, "{counterexample}");
    assert_eq!(counterexample.schedule.len(), 1, "{counterexample}");
    assert!(counterexample.to_string().contains("later for /fusion"), "{counterexample}");
    assert!(counterexample.failure.contains("a is late"), "{counterexample}");
}

#[test]
fn the_jobs_own_jitter_is_explored_and_its_own_tie_breaker_is_not() {
    struct First;
    impl TieBreaker for First {
        fn choose(&mut self, _: Time, _: &[Candidate]) -> usize {
            0
        }
    }
    let exploration = Exploration { seeds: 0..50, ..Exploration::default() };
    let job = Job::new(fusion).run_for(100 * MS).with_tie_breaker(|| First);
    job.run().unwrap();
    found(job.explore(&exploration).unwrap_err());
    let job = Job::new(half_a_period_apart).run_for(200 * MS);
    let counterexample =
        found(job.simulate(|s| s.jitter.max = 8 * MS).explore(&exploration).unwrap_err());
    assert!(counterexample.to_string().contains("later for /fusion"), "{counterexample}");
}

#[test]
fn a_failure_in_the_default_order_is_not_explored() {
    let job = Job::new(|_| Ok(())).check(|_| Err("never".into()));
    let error = job.explore(&Exploration::default()).unwrap_err();
    assert_eq!((error.kind(), error.cause::<Counterexample>()), (ErrorKind::CallbackFailed, None));
    assert!(error.to_string().contains("default order already: a check failed"), "{error}");
}

/// Fails at the third message in a row that is lost.
fn three_lost(graph: &Graph) -> Result<(), BoxError> {
    let sensor = graph.create_node("sensor", 0u32)?;
    let out = sensor.create_publisher("scan", QoS::default())?;
    sensor.create_timer(10 * MS, move |count, _| {
        *count += 1;
        out.publish(*count)
    })?;
    let filter = graph.create_node("filter", 0u32)?;
    filter.create_subscription("scan", QoS::default(), |last, scan: &Message<u32>, _| {
        let lost = **scan - *last - 1;
        *last = **scan;
        if lost >= 3 { Err("three scans in a row were lost") } else { Ok(()) }
    })?;
    Ok(())
}

fn lossy(simulation: &mut Simulation) {
    simulation.links = Links::new().rule(LinkRule::new("/scan").loss(0.15)).into();
}

/// Fails if the sum of its draws in a row is rare.
fn unlucky(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("node", 0u32)?;
    let mut dice = node.create_random("dice")?;
    node.create_timer(10 * MS, move |zeros, _| {
        let is_zero = ringspin_executor::rand_core::Rng::next_u32(&mut dice).is_multiple_of(6);
        *zeros = if is_zero { *zeros + 1 } else { 0 };
        if *zeros == 3 { Err("three in a row") } else { Ok(()) }
    })?;
    Ok(())
}

/// Fails if a message takes longer than the period, which happens at times.
fn slow(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("node", 0u32)?;
    let out = node.create_publisher("work", QoS::default())?;
    node.create_timer(10 * MS, move |count, cx| {
        *count += 1;
        out.publish((*count, cx.now()))
    })?;
    let worker = graph.create_node("worker", ())?;
    worker.create_subscription("work", QoS::default(), |_, m: &Message<(u32, Time)>, cx| {
        let late = cx.now().since(m.1);
        if late > 9 * MS { Err(format!("{} was late by {late:?}", m.0)) } else { Ok(()) }
    })?;
    Ok(())
}

fn uniform(max: Duration) -> Distribution {
    Distribution::uniform(Duration::ZERO, max).unwrap()
}

#[test]
fn seeds_reach_losses_delays_durations_and_what_nodes_draw() {
    reach_by_seeds(30);
}

#[test]
#[ignore = "slow: every seed is explored"]
fn slow_seeds_reach_losses_delays_durations_and_what_nodes_draw() {
    reach_by_seeds(100);
}

/// Runs a hundred seeds, and explores the first `explored_max` of them.
fn reach_by_seeds(explored_max: u64) {
    let jobs: [(&str, Job<'_>); 4] = [
        ("loss", Job::new(three_lost).simulate(lossy)),
        ("random", Job::new(unlucky)),
        (
            "delay",
            Job::new(slow).simulate(|s| {
                let rule = LinkRule::new("/work").delay(uniform(Duration::from_micros(9_050)));
                s.links = Links::new().rule(rule).into();
            }),
        ),
        (
            "duration",
            Job::new(slow).simulate(|s| {
                let takes = uniform(14 * MS);
                s.durations =
                    Durations { rules: vec![DurationRule::new("/worker").duration(takes)] }.into();
            }),
        ),
    ];
    for (name, job) in jobs {
        let mut job = job.run_for(500 * MS);
        let mut fails = |seed| {
            let mut result = Ok(());
            let simulation = ringspin_modes::Simulation { seed, ..job.simulation().clone() };
            take(&mut job, |job| {
                let job = job.with_simulation(simulation);
                result = job.run().map(|_| ());
                job
            });
            result.is_err()
        };
        let failing: Vec<u64> = (0..100).filter(|&seed| fails(seed)).collect();
        println!("{name}: {} of 100 seeds fail", failing.len());
        assert!((8..75).contains(&failing.len()), "{name}: {failing:?}");
        // Each counterexample is shrunk, so only the first seeds are explored.
        let first: Vec<u64> = failing.iter().copied().filter(|&seed| seed < explored_max).collect();
        assert!(!first.is_empty(), "{name}: {failing:?}");
        let sound = (0..100).find(|seed| !failing.contains(seed)).unwrap();
        let job = job.simulate(|simulation| simulation.seed = sound);
        for order in [Order::Default, Order::Mixed, Order::Shuffle] {
            let explored: Vec<u64> = (0..explored_max)
                .filter(|&seed| {
                    let seeds = seed..seed + 1;
                    let exploration =
                        Exploration { seeds, order, threads: 1, ..Exploration::default() };
                    match job.explore(&exploration) {
                        Ok(_) => return false,
                        Err(error) => {
                            let counterexample = found(error);
                            match name {
                                "loss" => names_messages(&counterexample, "lost for", 3),
                                "delay" => names_messages(&counterexample, "later for", 1),
                                _ => names_seed(&counterexample, seed),
                            }
                            let again = job.try_schedule(&counterexample.schedule).unwrap_err();
                            let again = found(again);
                            assert_eq!(again.failure, counterexample.failure);
                        }
                    }
                    true
                })
                .collect();
            assert_eq!(explored, first, "{name} {order:?}");
        }
        let kept = Exploration { seeds: 0..50, keep_seed: true, ..Exploration::default() };
        job.explore(&kept).unwrap();
    }
}

/// Asserts that a counterexample has up to `most` messages and no seed, and names them.
fn names_messages(counterexample: &Counterexample, what: &str, most: usize) {
    let schedule = &counterexample.schedule;
    assert!(schedule.seed.is_none(), "{counterexample}");
    assert!((1..=most).contains(&schedule.len()), "{counterexample}");
    let named = counterexample.explanation.iter().filter(|line| {
        line.starts_with("message ") && line.contains(" of /") && line.contains(what)
    });
    assert_eq!(named.count(), schedule.len(), "{counterexample}");
}

/// Asserts that a counterexample has the seed only.
fn names_seed(counterexample: &Counterexample, seed: u64) {
    let text = counterexample.to_string();
    let only = Schedule { seed: Some(seed), ..Schedule::default() };
    assert_eq!(counterexample.schedule, only, "{text}");
    assert!(text.contains("none is needed"), "{text}");
    assert!(text.contains(&format!("SCHEDULE='s{seed}'")), "{text}");
}

/// Changes a job by value.
fn take<'a>(job: &mut Job<'a>, change: impl FnOnce(Job<'a>) -> Job<'a>) {
    let old = std::mem::replace(job, Job::new(|_| Ok(())));
    *job = change(old);
}

#[test]
fn a_failure_that_needs_a_seed_and_an_order_keeps_both() {
    let job = Job::new(|graph| {
        for name in ["a", "b"] {
            let sensor = graph.create_node(&format!("sensor_{name}"), 0u32)?;
            let out = sensor.create_publisher(name, QoS::default())?;
            sensor.create_timer(10 * MS, move |count, _| {
                *count += 1;
                out.publish(*count)
            })?;
        }
        let node = graph.create_node("lottery", 0u32)?;
        let mut dice = node.create_random("dice")?;
        let wins = ringspin_executor::rand_core::Rng::next_u32(&mut dice).is_multiple_of(5);
        node.create_subscription("a", QoS::default(), |last, a: &Message<u32>, _| *last = **a)?;
        node.create_subscription("b", QoS::default(), move |last, b: &Message<u32>, _| {
            if wins && *last < **b { Err("both at once") } else { Ok(()) }
        })?;
        Ok(())
    });
    let job = job.run_for(100 * MS).simulate(|simulation| simulation.seed = 1);
    let counterexample = found(job.explore(&Exploration::default()).unwrap_err());
    let schedule = &counterexample.schedule;
    assert_eq!((schedule.seed, schedule.len()), (counterexample.seed, 2), "{counterexample}");
    assert!(counterexample.to_string().contains("1 is enough"), "{counterexample}");
    let again = found(job.try_schedule(schedule).unwrap_err());
    assert_eq!(again.failure, counterexample.failure);
}

#[test]
fn orders_on_virtual_cores_are_explored() {
    let takes = |node: &str| DurationRule::new(node).duration(Distribution::fixed(MS));
    let two = Mapping::new().core(0, ["/sensor_a", "/fusion"]).core(1, ["/sensor_b"]);
    for cores in [Cores::Single, Cores::Mapped(two)] {
        let job = Job::new(fusion).run_for(200 * MS).simulate(|simulation| {
            simulation.cores = cores;
            simulation.durations =
                Durations { rules: ["/sensor_a", "/sensor_b", "/fusion"].map(takes).to_vec() }
                    .into();
        });
        job.run().unwrap();
        for order in [Order::Mixed, Order::Shuffle, Order::Pct { depth: 2 }] {
            let exploration = Exploration { order, ..Exploration::default() };
            let counterexample = found(job.explore(&exploration).unwrap_err());
            assert_eq!(counterexample.schedule.len(), 1, "{counterexample}");
            let again = found(job.try_schedule(&counterexample.schedule).unwrap_err());
            assert_eq!(again.failure, counterexample.failure);
        }
    }
}

#[test]
fn entries_of_a_schedule_that_cannot_be_applied_are_an_error() {
    let job = || Job::new(fusion).run_for(100 * MS);
    let swapped: Schedule = "t0.05:0>1".parse().unwrap();
    found(job().try_schedule(&swapped).unwrap_err());
    for stale in [
        "t900:5>77",
        "t0.05:0>2",
        "t0.05:70>1",
        "t0.055:0>1",
        "t0.05:0>0",
        "p0.05:1.0>77.0",
        "p0.05:1.0>0.0",
        "p0.05:0.5>1.0",
        "p1:0.0>1.0",
        "m0.0>999+5",
        "m0.999>3+5",
    ] {
        let schedule: Schedule = stale.parse().unwrap();
        let error = job().try_schedule(&schedule).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ScheduleNotApplied, "{stale}: {error}");
        let start = format!("failed to apply these entries of the schedule: {stale}; ");
        assert!(error.to_string().starts_with(&start), "{error}");
        let scripted = || job().simulate(|s| s.ties = TiePolicy::Scripted(schedule.clone()));
        let error = scripted().run().unwrap_err().to_string();
        assert!(error.starts_with(&start), "{error}");
        let error = scripted().verify(2).unwrap_err().to_string();
        assert!(error.contains(&start), "{error}");
        // An executor outside of a job says so at the end of the run, or when the instant has
        // passed.
        let mut simulation = scripted().simulation().clone();
        simulation.end = Some(Time::ZERO + 100 * MS);
        let mut executor = ringspin_modes::Executor::deterministic(simulation);
        fusion(executor.graph()).unwrap();
        executor.spin_for(40 * MS).unwrap();
        let error = executor.spin().unwrap_err().to_string();
        assert!(error.starts_with(&start), "{error}");
    }
    // Entries that are left after a failure are listed with it.
    let both: Schedule = "t0.05:0>1,t900:5>77".parse().unwrap();
    let counterexample = found(job().try_schedule(&both).unwrap_err());
    assert!(counterexample.explanation.contains(&"not applied: t900:5>77".into()));
    // An event that waits for one that never comes has waited for those before it.
    let endless: Schedule = "p0.05:2.0>77.0".parse().unwrap();
    let counterexample = found(job().try_schedule(&endless).unwrap_err());
    let waited = "at 0.050000000 s: /fusion `subscription /a` only after /fusion `subscription /b`";
    assert_eq!(counterexample.explanation, [waited, "not applied: p0.05:2.0>77.0"]);
    // All entries that were applied are no error.
    let harmless: Schedule = "t0.05:1>1".parse().unwrap();
    let explored = job().try_schedule(&harmless);
    let kind = explored.as_ref().err().map(ringspin_executor::Error::kind);
    assert_ne!(kind, Some(ErrorKind::ScheduleNotApplied), "{explored:?}");
}
