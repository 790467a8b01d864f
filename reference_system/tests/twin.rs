//! The hot path of the reference system: its latency as a chain, as a key figure, and on the twin
//! of the whole system.

use reference_system::description::{AUTOWARE, HOT_PATH, Kind};
use reference_system::kpi::{Collector, EstimatorWatch};
use reference_system::optimize::TuningTarget;
use reference_system::system::{Work, build};
use ringspin_executor::{BoxError, Graph};
use ringspin_modes::{Chain, Cores, Executor, Mapping, Simulation};
use ringspin_optimizer::{Assignment, Model};
use ringspin_simulation::models::{CallbackProfile, Distribution, DurationRule, Durations};
use std::sync::Arc;
use std::time::Duration;

/// From the lidars to the collision estimator; the later of the two branches counts.
fn hot_path() -> Chain {
    let branches = HOT_PATH[..4].chunks(2);
    let joined = branches.map(|pair| format!("/{} | /{}", pair[0], pair[1]));
    let path = joined.chain(HOT_PATH[4..].iter().map(|name| format!("/{name}")));
    Chain::new("hot path", path)
}

/// Every node but the sensors takes 1 to 5 ms; both lidars are stamped at the same time.
fn durations() -> Durations {
    let works = AUTOWARE.iter().filter(|node| !matches!(node.kind, Kind::Sensor { .. }));
    works.fold(Durations::new(), |durations, node| {
        let ms = Duration::from_millis;
        let uniform = Distribution::uniform(ms(1), ms(5)).expect("one is below five");
        durations.rule(DurationRule::new(node.name).duration(uniform))
    })
}

/// Runs for 20 simulated seconds; returns the number of compared samples.
fn compare(cores: Cores) -> Result<usize, BoxError> {
    let simulation =
        Simulation { durations: durations().into(), cores, seed: 3, ..Default::default() };
    let collector = Arc::new(Collector::with_capacity(1000));
    let watched = collector.clone();
    let mut executor = Executor::deterministic(simulation)
        .with_chains([hot_path()])
        .with_recorders(move |info, _| EstimatorWatch::new(watched.clone(), info));
    let work = Work { n: 0, crunch: false, sleep_max: Duration::ZERO };
    build(executor.graph(), &work, &collector)?;
    executor.spin_for(Duration::from_secs(20))?;
    let chain = &executor.chains()[0];
    // Each call of the estimator publishes once, and ends one sample of the chain.
    let [released_ns, started_ns] = collector.hot_path_ns();
    let compared = started_ns.len() + 10; // ten of warm-up
    assert_eq!(chain.sample_to_start_ns[10..compared], started_ns);
    assert_eq!(chain.release_to_end_ns[10..compared], released_ns);
    Ok(compared)
}

#[test]
fn chain_latencies_equal_the_key_figures() {
    let nodes = AUTOWARE.iter().map(|node| format!("/{}", node.name));
    let (even, odd): (Vec<_>, Vec<_>) = nodes.enumerate().partition(|(n, _)| n % 2 == 0);
    let names = |of: Vec<(usize, String)>| of.into_iter().map(|(_, name)| name);
    let mapping = Mapping::new().core(0, names(even)).core(1, names(odd));
    for cores in [Cores::Unlimited, Cores::Single, Cores::Mapped(mapping)] {
        let compared = compare(cores.clone()).unwrap();
        assert!(compared > 100, "{cores:?}: {compared}");
    }
}

#[test]
fn a_branch_that_never_comes_last_has_no_samples() {
    let mut executor = Executor::deterministic(Simulation::default()).with_chains([
        Chain::new("front", [HOT_PATH[0], HOT_PATH[2], HOT_PATH[4], HOT_PATH[5]]),
        Chain::new("rear", [HOT_PATH[1], HOT_PATH[3], HOT_PATH[4], HOT_PATH[5]]),
    ]);
    let work = Work { n: 0, crunch: false, sleep_max: Duration::ZERO };
    build(executor.graph(), &work, &Arc::new(Collector::with_capacity(10))).unwrap();
    executor.spin_for(Duration::from_secs(1)).unwrap();
    let [front, rear] = &executor.chains()[..] else { panic!("two chains were asked for") };
    assert_eq!((front.release_to_end_ns.len(), front.steps_reached), (0, 3));
    assert_eq!((rear.release_to_end_ns.len(), rear.steps_reached), (10, 4));
    let graph = Graph::new();
    build(&graph, &work, &Arc::new(Collector::with_capacity(10))).unwrap();
    assert!(hot_path().resolve(&graph.info()).is_ok());
}

/// A callback of higher priority on the core of either branch delays the fusion.
#[test]
fn nominal_twin_waits_for_the_input_that_comes_last() {
    let target = TuningTarget::autoware(64);
    let profile = target.nominal(Duration::ZERO).unwrap();
    let twin = target.twin(&profile).unwrap().with_variants(1);
    let is_transform = |of: &&CallbackProfile| of.node == "/PointsTransformerFront";
    let crunch_ns = profile.callbacks.iter().find(is_transform).unwrap().durations.max_ns;
    // The two inputs on different cores; each in turn shares its core with the settings, and their
    // callback takes a crunch and has the higher priority.
    let late = ["/PointsTransformerFront", "/PointsTransformerRear"];
    for late in late {
        let on_first =
            [late, "/EuclideanClusterSettings", "/EuclideanClusterDetector:EuclideanIntersection"];
        let loops = twin.loops();
        let cores: Vec<usize> =
            loops.iter().map(|name| usize::from(!on_first.contains(&&**name))).collect();
        let priorities = loops.iter().map(|name| match name.as_str() {
            "/PointsTransformerFront" | "/PointsTransformerRear" => 1,
            "/FrontLidarDriver" | "/RearLidarDriver" | "/EuclideanClusterSettings" => 3,
            "/EuclideanClusterDetector:EuclideanIntersection" | "/PointCloudFusion" => 2,
            "/RayGroundFilter" | "/EuclideanClusterDetector" | "/ObjectCollisionEstimator" => 2,
            _ => 0,
        });
        let assignment =
            Assignment::new(loops.to_vec(), cores, 2).with_priorities(priorities.collect());
        let evaluation = twin.evaluate(&assignment).unwrap();
        assert_eq!(evaluation.chains[0].release_to_end.p50_ns, 6 * crunch_ns, "{late}");
    }
}
