//! Limits of simulated time: instants with many events, instants that do not end, and the end of
//! what 64 bits can tell.

use ringspin_executor::{
    BoxError, Delivery, Error, ErrorKind, ExternalInput, Graph, Message, Publisher, QoS, Time,
};
use ringspin_modes::{Jitter, TiePolicy};
use ringspin_simulation::models::Links;
use ringspin_simulation::{Counterexample, Exploration, Job};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const LIMIT: u64 = 100;

/// The policies under which an instant has to end, or is found not to.
fn policies() -> [TiePolicy; 4] {
    let pct = TiePolicy::Pct { seed: 2, depth: 3, steps: 1000 };
    [TiePolicy::Fifo, TiePolicy::Reverse, TiePolicy::Shuffle { seed: 1 }, pct]
}

/// Ten timers of one millisecond that publish `each` messages, which `hops` nodes in turn forward.
fn fan_out(graph: &Graph, each: u32, hops: usize) -> Result<(), BoxError> {
    let qos = QoS::keep_all(20_000);
    for n in 0..10 {
        let node = graph.create_node(&format!("source_{n}"), ())?;
        let out = node.create_publisher::<u32>("t0", qos)?;
        node.create_timer(MS, move |(), _| (0..each).try_for_each(|n| out.publish(n)))?;
    }
    for hop in 0..hops {
        let node = graph.create_node(&format!("hop_{hop}"), 0u64)?;
        let out = node.create_publisher::<u32>(&format!("t{}", hop + 1), qos)?;
        node.create_subscription(&format!("t{hop}"), qos, move |sum, n: &Message<u32>, _| {
            *sum += u64::from(**n);
            out.publish(**n)
        })?;
    }
    Ok(())
}

#[test]
fn many_events_of_one_instant_are_no_cycle() {
    for ties in policies() {
        for (each, hops) in [(60, 1), (24, 5), (2, 30)] {
            let job = Job::new(|graph| fan_out(graph, each, hops)).run_for(2 * MS);
            let job = job.simulate(|s| {
                s.instant_dispatches_max = LIMIT;
                s.ties = ties.clone();
            });
            let report = job.run().unwrap_or_else(|error| panic!("{ties:?} {each}: {error}"));
            assert_eq!(report.dispatches(), 20 + 20 * u64::from(each) * hops as u64);
        }
    }
}

#[test]
fn many_timers_of_one_instant_are_no_cycle() {
    let job = Job::new(|graph| {
        for n in 0..5000 {
            graph.create_node(&format!("n{n}"), ())?.create_timer(MS, |(), _| {})?;
        }
        Ok(())
    });
    let report = job.run_for(2 * MS).simulate(|s| s.instant_dispatches_max = LIMIT).run();
    assert_eq!(report.unwrap().dispatches(), 10_000);
}

/// Two nodes that feed each other without delay, beside the fan-out.
fn cycle(graph: &Graph) -> Result<(), BoxError> {
    fan_out(graph, 50, 2)?;
    for (name, from, to) in [("ping", "a", "b"), ("pong", "b", "a")] {
        let node = graph.create_node(name, ())?;
        let out = node.create_publisher::<u32>(to, QoS::default())?;
        let first = out.clone();
        node.create_subscription(from, QoS::default(), move |(), n: &Message<u32>, _| {
            out.publish(**n)
        })?;
        if name == "ping" {
            node.create_one_shot_timer(MS, move |(), _| first.publish(1))?;
        }
    }
    Ok(())
}

#[test]
fn a_cycle_is_found_beside_many_other_events_and_names_its_members_only() {
    for ties in policies() {
        let job = Job::new(cycle).run_for(2 * MS);
        let job = job.simulate(|s| {
            s.instant_dispatches_max = LIMIT;
            s.ties = ties.clone();
        });
        let error = job.run().unwrap_err();
        assert_eq!(error.downcast_ref().map(Error::kind), Some(ErrorKind::ZeroDelayCycle));
        // Under PCT, the cycle may starve the rest, but not the other way round.
        let expected = format!(
            "more than {LIMIT} callbacks ran at the simulated instant {}, and it does not end: \
             these feed each other without delay: /ping `subscription /a`, /pong `subscription \
             /b`; ",
            Time::ZERO + MS
        );
        assert!(error.to_string().starts_with(&expected), "{ties:?}: {error}");
        assert!(error.to_string().contains("`instant_dispatches_max`"), "{error}");
    }
}

/// A loop that ends by itself after so many turns.
fn countdown(turns: u32) -> impl Fn(&Graph) -> Result<(), BoxError> {
    move |graph| {
        let node = graph.create_node("n", ())?;
        let out = node.create_publisher::<u32>("t", QoS::default())?;
        let first = out.clone();
        node.create_subscription("t", QoS::default(), move |(), n: &Message<u32>, _| match **n {
            0 => Ok(()),
            n => out.publish(n - 1),
        })?;
        node.create_one_shot_timer(MS, move |(), _| first.publish(turns))?;
        Ok(())
    }
}

#[test]
fn a_loop_that_ends_by_itself_needs_a_limit_above_its_length() {
    let job = Job::new(countdown(3000)).run_for(2 * MS);
    let job = job.simulate(|s| s.instant_dispatches_max = LIMIT);
    let error = job.run().unwrap_err().to_string();
    let way_out = "raise `instant_dispatches_max` if this ends by itself";
    assert!(error.contains(way_out), "{error}");
    let job = job.simulate(|s| s.instant_dispatches_max = 3002);
    assert_eq!(job.run().unwrap().dispatches(), 3002);
}

/// Publishes at each quiet instant, or has items of one time without end.
struct Tireless {
    at_quiet: bool,
    out: Publisher<u32>,
}

impl ExternalInput for Tireless {
    fn next_time(&mut self) -> Option<Time> {
        (!self.at_quiet).then_some(Time::ZERO)
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        self.out.publish(1)?;
        Ok(Delivery::Done)
    }

    fn quiet(&mut self, _: Time) -> Result<(), BoxError> {
        if self.at_quiet {
            self.out.publish(1)?;
        }
        Ok(())
    }
}

#[test]
fn an_input_that_does_not_let_time_go_on_is_found() {
    for at_quiet in [true, false] {
        let job = Job::new(|graph| {
            let node = graph.create_node("n", ())?;
            let out = node.create_publisher::<u32>("t", QoS::default())?;
            node.create_subscription("t", QoS::default(), |(), _: &Message<u32>, _| {})?;
            Ok(graph.add_input("tireless", Tireless { at_quiet, out })?)
        });
        let job = job.simulate(|s| s.instant_dispatches_max = LIMIT);
        let error = job.run().unwrap_err().to_string();
        assert!(error.contains("`instant_dispatches_max`"), "{error}");
        let named = if at_quiet { "/n `subscription /t`" } else { "input \"tireless\"" };
        assert!(error.contains(named), "{error}");
    }
}

/// Two timers that are due together, and messages: each instant has a choice, each message a delay.
fn busy(graph: &Graph) -> Result<(), BoxError> {
    for name in ["a", "b"] {
        let node = graph.create_node(name, ())?;
        let out = node.create_publisher::<u32>("t", QoS::default())?;
        node.create_timer(MS, move |(), _| out.publish(1))?;
    }
    let to = graph.create_node("to", ())?;
    to.create_subscription("t", QoS::keep_last(100), |(), _: &Message<u32>, _| {})?;
    Ok(())
}

#[test]
fn a_long_run_keeps_a_bounded_number_of_deviations() {
    let job = Job::new(busy).simulate(|s| {
        s.jitter = Jitter { max: MS / 2, seed: 1 };
        s.ties = TiePolicy::Reverse;
    });
    let short = job.run_for(5000 * MS);
    let report = short.run().unwrap();
    assert!(report.is_schedule_complete());
    assert_eq!(report.deviations_count(), 5_000 + 10_000, "an order for each instant");
    let certificate = short.certificate(&report);
    assert_eq!((certificate.deviations, certificate.schedule.is_empty()), (15_000, false));
    let long = short.run_for(30_000 * MS);
    let report = long.run().unwrap();
    assert!(!report.is_schedule_complete());
    assert_eq!(report.deviations_count(), 30_000 + 60_000);
    let schedule = report.schedule();
    assert_eq!((schedule.deviations.len(), schedule.perturbations.len()), (10_000, 10_000));
    assert_eq!(report.deviations().len(), 20_000);
    let certificate = long.certificate(&report);
    assert_eq!((certificate.deviations, &*certificate.schedule), (90_000, ""));
}

/// Exploring shrinks all deviations of a run, however many there are.
#[test]
fn exploring_keeps_all_deviations() {
    let job = Job::new(busy).run_for(5_100 * MS).check(|session| {
        match session.report().schedule().perturbations.len() {
            0..=10_000 => Ok(()),
            perturbations => Err(format!("{perturbations} delays").into()),
        }
    });
    let exploration =
        Exploration { seeds: 0..1, jitter: Some(MS), shrink_runs_max: 0, ..Default::default() };
    let error = job.explore(&exploration).unwrap_err();
    let found = error.cause::<Counterexample>().unwrap();
    assert!(found.deviations > 10_000, "{}", found.deviations);
}

/// Two seconds before the end of what 64 bits can tell.
fn late() -> Time {
    Time::from_nanos(u64::MAX - 2_000_000_000)
}

fn end_of_time(job: &Job<'_>) -> String {
    let error = job.run().unwrap_err();
    assert!(error.to_string().starts_with("simulated time ends at "), "{error}");
    error.to_string()
}

#[test]
fn a_timer_that_reaches_the_end_of_time_says_so() {
    let job = Job::new(|graph| {
        graph.create_node("n", ())?.create_timer(Duration::from_secs(1), |(), _| {})?;
        Ok(())
    });
    let job = job.start_at(late());
    let error = end_of_time(&job);
    let expected = "simulated time ends at 18446744073.709551615 s, 584 years after its epoch";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains("/n `timer 1s`"), "{error}");
    // Up to there all is well.
    let report = job.end_at(late() + Duration::from_secs(1)).run().unwrap();
    assert!((1..=2).contains(&report.dispatches()), "{}", report.dispatches());
}

#[test]
fn a_timer_that_waits_for_longer_than_there_is_time_does_nothing() {
    let job = Job::new(|graph| {
        let node = graph.create_node("n", ())?;
        let years = Duration::from_nanos(u64::MAX - 1);
        let once = node.create_one_shot_timer(years, |(), _| panic!("never"))?;
        let often = node.create_timer(years, |(), _| panic!("never"))?;
        node.create_one_shot_timer(MS, move |(), _| {
            once.reset();
            often.reset();
        })?;
        Ok(())
    });
    assert_eq!(job.run().unwrap().end(), Time::ZERO + MS);
}

#[test]
fn messages_with_a_delay_that_reach_the_end_of_time_are_no_cycle() {
    let links = "[[link]]\ntopic = \"/t\"\ndelay = \"1 s\"";
    let job = Job::new(countdown(u32::MAX)).start_at(late());
    let job = job.simulate(|s| {
        s.instant_dispatches_max = LIMIT;
        s.links = Links::from_toml(links).unwrap().into();
    });
    end_of_time(&job);
}
