//! Assertions about a whole run.

use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_simulation::models::{LinkRule, Links};
use ringspin_simulation::{CheckFailed, Counterexample, Exploration, Job};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Counts to 10, one each 10 ms; then nothing is left to do.
fn count(graph: &Graph) -> Result<Arc<AtomicU64>, BoxError> {
    let count = Arc::new(AtomicU64::new(0));
    let node = graph.create_node("counter", ())?;
    for n in 1..=10 {
        let count = count.clone();
        node.create_one_shot_timer(n as u32 * 10 * MS, move |_, _| count.store(n, Relaxed))?;
    }
    Ok(count)
}

#[track_caller]
fn failure<T>(job: &Job<'_, T>) -> Option<String> {
    let error = job.run().err()?;
    Some(error.downcast_ref::<CheckFailed>().unwrap_or_else(|| panic!("{error}")).to_string())
}

#[test]
fn always_and_never_fail_at_the_first_instant_that_differs() {
    let job = Job::new(count).always("low", |count, _| count.load(Relaxed) < 7);
    let failed = failure(&job).unwrap();
    assert_eq!(failed, "a check failed at 0.070000000 s: not always `low`");
    let job = Job::new(count).never("three", |count, _| count.load(Relaxed) == 3);
    let failed = failure(&job).unwrap();
    assert_eq!(failed, "a check failed at 0.030000000 s: once `three`");
    let job = Job::new(count)
        .always("low", |count, _| count.load(Relaxed) < 11)
        .never("eleven", |count, _| count.load(Relaxed) == 11);
    assert_eq!(failure(&job), None);
}

#[test]
fn a_goal_is_due_within_the_limit() {
    let within = |limit: u32, trigger: u64, goal: u64, end: Option<u32>| {
        let job = Job::new(count).within(
            limit * MS,
            "goal",
            move |count: &Arc<AtomicU64>, _| count.load(Relaxed) == trigger,
            move |count, _| count.load(Relaxed) == goal,
        );
        failure(&match end {
            None => job,
            Some(end) => job.run_for(end * MS),
        })
    };
    let missed = |text: &str| Some(format!("a check failed at {text}: `goal`"));
    assert_eq!(within(30, 2, 5, None), None, "the limit is included");
    let late = missed("0.049000000 s: not within 29ms after 0.020000000 s");
    assert_eq!(within(29, 2, 5, None), late);
    assert_eq!(within(0, 4, 4, None), None, "trigger and goal at one instant");
    assert_eq!(within(1, 11, 0, None), None, "never triggered");
    // The run ends before the limit, at it, or because nothing is left to do.
    assert_eq!(within(30, 2, 11, Some(49)), None);
    let late = missed("0.050000000 s: not within 30ms after 0.020000000 s");
    assert_eq!(within(30, 2, 11, Some(50)), late);
    let never = missed("1.020000000 s: not within 1s after 0.020000000 s");
    assert_eq!(within(1000, 2, 11, None), never);
}

#[test]
fn a_run_that_a_node_stops_leaves_a_goal_undecided() {
    let stopped = |graph: &Graph| {
        let node = graph.create_node("stopper", ())?;
        node.create_one_shot_timer(50 * MS, |_, cx| cx.stop())?;
        count(graph)
    };
    let job = Job::new(stopped).within(MS * 40, "goal", |n, _| n.load(Relaxed) == 2, |_, _| false);
    assert_eq!(failure(&job), None);
}

#[test]
fn a_predicate_that_panics_has_failed() {
    let job = Job::new(count).always("low", |count, _| match count.load(Relaxed) {
        4 => panic!("four"),
        _ => true,
    });
    let failed = failure(&job).unwrap();
    assert!(failed.starts_with("a check failed at 0.040000000 s: "), "{failed}");
    assert!(failed.contains("an assertion") && failed.contains("four"), "{failed}");
}

/// A button stops a motor by a message that may be lost, and that is sent twice.
#[test]
fn exploration_finds_the_losses_that_break_an_assertion() {
    let job = Job::new(|graph| {
        let state = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let (button, motor) = (graph.create_node("button", ())?, graph.create_node("motor", ())?);
        let stop = button.create_publisher("stop", QoS::default())?;
        let pressed = state.clone();
        button.create_timer(100 * MS, move |_, cx| {
            if cx.now() >= ringspin_executor::Time::from_secs(1) {
                pressed[0].store(1, Relaxed);
                return stop.publish(());
            }
            Ok(())
        })?;
        let stopped = state.clone();
        motor.create_subscription("stop", QoS::default(), move |_, _: &Message<()>, _| {
            stopped[1].store(1, Relaxed);
        })?;
        Ok(state)
    });
    let job = job.run_for(Duration::from_secs(2)).within(
        150 * MS,
        "the motor stops",
        |state: &Arc<[AtomicU64; 2]>, _| state[0].load(Relaxed) == 1,
        |state, _| state[1].load(Relaxed) == 1,
    );
    assert!(job.run().is_ok());
    let lossy = LinkRule::new("/stop").loss(0.3);
    let job = job.simulate(|simulation| simulation.links = Links::new().rule(lossy).into());
    let error = job.explore(&Exploration::default()).unwrap_err();
    let found = error.cause::<Counterexample>().unwrap_or_else(|| panic!("{error}"));
    let text = found.to_string();
    assert!(text.contains("not within 150ms after 1.000000000 s: `the motor stops`"), "{text}");
    assert_eq!(found.schedule.len(), 2, "{text}");
}
