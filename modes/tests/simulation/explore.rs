//! Exploring orders: planted bugs are found, shrunk, and come again.

use ringspin_executor::{BoxError, Graph, Message, QoS, Time};
use ringspin_modes::{Candidate, Exploration, ExploreError, Job, Order, TieBreaker};
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

fn found(error: ExploreError) -> ringspin_modes::Counterexample {
    match error {
        ExploreError::Found(found) => *found,
        other => panic!("{other}"),
    }
}

#[test]
fn a_fusion_that_needs_an_order_is_found_and_shrunk_to_one_deviation() {
    let job = Job::new(fusion).run_for(1000 * MS);
    job.run().unwrap();
    for order in [Order::Shuffle, Order::Pct { depth: 2 }] {
        let exploration = Exploration { seeds: 0..200, order, ..Exploration::default() };
        let counterexample = found(job.explore(&exploration).unwrap_err());
        assert_eq!(counterexample.schedule.len(), 1, "{counterexample}");
        let text = counterexample.to_string();
        for part in ["seed ", "before", "no a for b", "RINGSPIN_SCHEDULE='t"] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        let again = found(job.try_schedule(&counterexample.schedule).unwrap_err());
        assert_eq!(again.failure, counterexample.failure);
        assert_eq!(again.explanation, counterexample.explanation);
    }
}

#[test]
fn shrinking_takes_no_more_runs_than_it_may() {
    let job = Job::new(fusion).run_for(1000 * MS);
    for shrink_runs_max in [0, 2, 3, 5] {
        for order in [Order::Shuffle, Order::Pct { depth: 2 }] {
            let exploration = Exploration { order, shrink_runs_max, ..Exploration::default() };
            let counterexample = found(job.explore(&exploration).unwrap_err());
            // The last one is to see how it fails.
            assert!(counterexample.shrink_runs <= shrink_runs_max + 1, "{counterexample}");
            assert!(counterexample.failure.contains("no a for b"), "{counterexample}");
        }
    }
}

#[test]
fn what_is_found_does_not_depend_on_the_number_of_threads() {
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

/// Sensors half a period apart, so that no order of one instant breaks the fusion.
fn half_a_period_apart(graph: &Graph) -> Result<(), BoxError> {
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
    assert!(matches!(error, ExploreError::Default(_)), "{error}");
    assert!(error.to_string().contains("default order already: a check failed"), "{error}");
}
