//! Examples of tests of a system of nodes in simulated time, on the reference system: build the
//! graph, push messages, step, inspect outputs, drop and delay messages in transit.
//!
//! Everything runs on the test's own thread: no process, no ROS, and no waiting. The nodes are the
//! nodes of the benchmark without their work, and are unaware of the tests.

use reference_system::kpi;
use reference_system::message::{Message4kb, NodeName, TransmissionStats};
use reference_system::system::{Work, build};
use ringspin_executor::{BoxError, Collector, Graph, Message, Publisher, QoS, Time, Verdict};
use ringspin_simulation::models::Links;
use ringspin_simulation::{Exploration, Job};
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

/// The handles of a test: an input, outputs, and the key figures.
struct Bench {
    detections: Publisher<Message4kb>,
    clouds: Collector<Message4kb>,
    estimates: Collector<Message4kb>,
    plans: Collector<Message4kb>,
    figures: Arc<kpi::Collector>,
}

/// The system with a test node that holds a publisher and collectors.
fn system(graph: &Graph) -> Result<Bench, BoxError> {
    let figures = Arc::new(kpi::Collector::new());
    build(graph, &Work { n: 0, crunch: false, sleep_max: Duration::ZERO }, &figures)?;
    let test = graph.create_node("test", ())?;
    let collect = |topic| test.create_collector(topic, QoS::keep_last(1));
    Ok(Bench {
        detections: test.create_publisher("EuclideanClusterDetector", QoS::keep_last(1))?,
        clouds: collect("PointCloudFusion")?,
        estimates: collect("ObjectCollisionEstimator")?,
        plans: collect("BehaviorPlanner")?,
        figures,
    })
}

fn without_front_lidar(graph: &Graph) -> Result<Bench, BoxError> {
    graph.intercept("FrontLidarDriver", |_: &Message<Message4kb>, _| Verdict::Drop)?;
    system(graph)
}

/// A message published by the test.
fn detection(now: Time) -> Message4kb {
    let mut detection = Message4kb::new();
    detection.append(&NodeName::new("test").unwrap(), 0, 0, now.as_nanos());
    detection
}

fn names(message: &Message4kb) -> Vec<&str> {
    message.history().iter().map(TransmissionStats::name).collect()
}

/// The age difference between the rear and the front scan of a cloud.
fn halves_apart(cloud: &Message4kb) -> Duration {
    stamp(cloud, "FrontLidarDriver").since(stamp(cloud, "RearLidarDriver"))
}

/// The time of `node`'s entry.
fn stamp(message: &Message4kb, node: &str) -> Time {
    let entry = message.find(node).unwrap_or_else(|| panic!("{node} is not in {message:?}"));
    Time::from_nanos(entry.timestamp)
}

// Push a message, step event by event, and inspect the outputs.

#[test]
fn a_detection_becomes_an_estimate_in_one_step() {
    let mut session = Job::new(system).start().unwrap();
    session.handles.detections.publish(detection(session.now())).unwrap();

    let step = session.step().unwrap().unwrap();
    let callback = "/ObjectCollisionEstimator `subscription /EuclideanClusterDetector`";
    assert_eq!((step.time, &*step.callback), (Time::ZERO, callback));
    let step = session.step().unwrap().unwrap();
    assert_eq!(step.callback, "/BehaviorPlanner `subscription /ObjectCollisionEstimator`");
    session.settle().unwrap();

    let estimates = session.handles.estimates.values();
    assert_eq!(estimates.len(), 1);
    assert_eq!(names(&estimates[0]), ["test", "ObjectCollisionEstimator"]);
}

// Advance simulated time; events that are due in between run.

#[test]
fn the_planner_uses_an_estimate_in_its_next_period_and_only_once() {
    let mut session = Job::new(without_front_lidar).start().unwrap();
    session.run_until(ms(130)).unwrap();
    session.handles.plans.take();
    session.handles.detections.publish(detection(session.now())).unwrap();
    session.run_until(ms(300)).unwrap();
    let plans = session.handles.plans.take();
    let plans = plans.iter().map(|(time, plan)| (*time, plan.find("test").is_some()));
    assert_eq!(plans.collect::<Vec<_>>(), [(ms(200), true), (ms(300), false)]);
}

// Drop messages in transit, without a change to the nodes.

#[test]
fn without_the_front_lidar_the_planner_continues_without_estimates() {
    let mut session = Job::new(without_front_lidar).start().unwrap();
    session.run_until(ms(1000)).unwrap();
    assert!(session.handles.clouds.is_empty(), "a fusion of one half");
    assert!(session.handles.estimates.is_empty());
    let plans = session.handles.plans.values();
    assert_eq!(plans.len(), 10);
    assert!(plans.iter().all(|plan| plan.find("ObjectCollisionEstimator").is_none()));

    let report = session.report();
    let of = |node| report.statistics().of(node).next().unwrap();
    assert_eq!(of("/PointsTransformerFront").lost, 10);
    assert_eq!(of("/PointsTransformerFront").dispatched, 0);
    assert_eq!(of("/PointsTransformerRear").dispatched, 10);
    assert_eq!(session.handles.figures.report().samples, 0);
}

/// A fault that only such a test finds: the fusion joins any two messages, so the effect of one
/// lost scan persists.
#[test]
fn one_lost_front_scan_shifts_all_later_clouds_by_a_period() {
    let job = Job::new(|graph| {
        graph.intercept("FrontLidarDriver", |_: &Message<Message4kb>, in_flight| {
            if in_flight.event.sequence == 3 { Verdict::Drop } else { Verdict::Pass }
        })?;
        system(graph)
    });
    let mut session = job.start().unwrap();
    session.run_until(ms(1000)).unwrap();
    let clouds = session.handles.clouds.values();
    let apart_ms: Vec<_> = clouds.iter().map(|cloud| halves_apart(cloud).as_millis()).collect();
    assert_eq!(apart_ms, [0, 0, 0, 100, 100, 100, 100, 100, 100]);
}

// Change messages in transit.

#[test]
fn a_forged_sequence_number_shows_as_dropped_samples() {
    let job = Job::new(|graph| {
        graph.intercept("RearLidarDriver", |scan: &Message<Message4kb>, in_flight| {
            if in_flight.event.sequence < 5 {
                return Verdict::Pass;
            }
            let mut forged = Message4kb::clone(scan);
            forged.stats[0].sequence_number += 7;
            Verdict::Replace(forged)
        })?;
        system(graph)
    });
    let mut session = job.start().unwrap();
    session.run_until(ms(1000)).unwrap();
    let clouds = session.handles.clouds.values();
    let dropped = clouds.iter().map(|cloud| {
        let entry = cloud.find("PointsTransformerRear").unwrap();
        entry.dropped_samples
    });
    assert_eq!(dropped.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 7, 0, 0, 0, 0]);
}

// Delays come from a file or from code; latencies follow to the nanosecond.

#[test]
fn the_slower_lidar_determines_the_hot_path() {
    let links = Links::from_toml(
        r#"
        link = [
            { topic = "/FrontLidarDriver", delay = "7ms" },
            { topic = "/RearLidarDriver", delay = "12345678ns" },
            { topic = "/EuclideanClusterDetector", delay = "1ms" },
        ]
        "#,
    )
    .unwrap();
    let job = Job::new(system).simulate(|simulation| simulation.links = links.into());
    let mut session = job.start().unwrap();
    session.run_until(Time::from_secs(5)).unwrap();
    for (arrived, estimate) in session.handles.estimates.take() {
        let latency = arrived.since(stamp(&estimate, "FrontLidarDriver"));
        assert_eq!(latency, Duration::from_nanos(13_345_678));
    }
    let latency = session.handles.figures.report().sample_to_start;
    assert_eq!((latency.min_ns, latency.max_ns), (13_345_678, 13_345_678));
    assert_eq!(latency.count, 39, "of 49 plans with an estimate, ten are warm-up");
}

// On a robot, simultaneous events run in any order.

#[test]
fn the_planner_keeps_10_hz_in_any_order_of_an_instant() {
    let job = Job::new(system).run_for(1000 * MS).check(|session| {
        let plans = session.handles.plans.take();
        let times: Vec<_> = plans.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, (1..=10).map(|n| ms(100 * n)).collect::<Vec<_>>());
        let clouds = session.handles.clouds.values();
        assert_eq!(clouds.len(), 10);
        let [front, rear] = ["FrontLidarDriver", "RearLidarDriver"];
        assert!(clouds.iter().all(|cloud| stamp(cloud, front) == stamp(cloud, rear)));
        // An estimate is in the plan of its instant or in the next one, but only in one of them.
        let estimates = plans.iter().filter_map(|(_, plan)| plan.find("ObjectCollisionEstimator"));
        let numbers: Vec<_> = estimates.map(|entry| entry.sequence_number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b) && !numbers.is_empty(), "{numbers:?}");
        Ok(())
    });
    let exploration = Exploration { seeds: 0..30, ..Exploration::default() };
    let explored = job.explore(&exploration).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((explored.runs, explored.deviating), (30, 30));
}

// Every run gives the same result.

#[test]
fn repeated_runs_are_equal() {
    let links = Links::from_toml(
        r#"
        [[link]]
        topic = "/PointCloudFusion"
        delay = { normal = { mean = "10ms", deviation = "3ms" } }
        loss = 0.1
        "#,
    )
    .unwrap();
    let job =
        Job::new(system).run_for(2000 * MS).simulate(|simulation| simulation.links = links.into());
    let report = job.verify(3).unwrap_or_else(|divergence| panic!("{divergence}"));
    assert!(report.statistics().lost() > 0, "{:?}", report.statistics());
}
