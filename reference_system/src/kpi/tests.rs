//! The KPI rules on handmade samples, with the expected latencies computed in comments.

use super::*;
use crate::message::NodeName;

/// A sample through both lidars and the estimator: (name, sequence, dropped, timestamp).
fn sample(entries: &[(&str, u32, u32, u64)]) -> Message4kb {
    let mut message = Message4kb::new();
    for &(name, sequence, dropped, timestamp_ns) in entries {
        message.append(&NodeName::new(name).unwrap(), sequence, dropped, timestamp_ns);
    }
    message
}

/// A hot-path sample of latency `latency_ns` with the number `sequence` in its estimator entry.
fn hot_sample(sequence: u32, latency_ns: u64) -> Message4kb {
    sample(&[
        (FRONT_LIDAR, sequence, 0, 900),
        (REAR_LIDAR, sequence, 0, 1_000),
        (COLLISION_ESTIMATOR, sequence, 0, 1_000 + latency_ns),
    ])
}

/// A collector past its warm-up.
fn warm() -> Collector {
    let collector = Collector::with_capacity(64);
    warm_up(&collector);
    collector
}

fn warm_up(collector: &Collector) {
    for sequence in 0..10 {
        collector.sample_arrived(&hot_sample(sequence, 77));
    }
}

#[test]
fn latency_counts_from_sample_to_start_and_from_release_to_end() {
    let collector = warm();
    // Lidars at 1000 (front) and 1250 (rear, the newer); the estimator starts at 5250 and its
    // callback returns at 6350; their timers were due at 990 and 1000.
    // Sample to start: 5250 - 1250 = 4000. Release to end: 6350 - 1000 = 5350.
    let by_hand = sample(&[
        (FRONT_LIDAR, 41, 0, 1_000),
        ("PointsTransformerFront", 41, 0, 1_300),
        (REAR_LIDAR, 41, 0, 1_250),
        ("PointsTransformerRear", 41, 0, 2_300),
        ("PointCloudFusion", 41, 0, 3_300),
        (COLLISION_ESTIMATOR, 40, 0, 5_250),
        ("BehaviorPlanner", 44, 0, 7_000),
    ]);
    collector.lidar_released(FRONT_LIDAR, 41, 990);
    collector.lidar_released(REAR_LIDAR, 41, 1_000);
    collector.lidar_released("PointCloudMap", 41, 9_999);
    collector.collision_estimator_returned(40, 6_350);
    collector.sample_arrived(&by_hand);
    let kpis = collector.report();
    assert_eq!((kpis.samples, kpis.end_unknown), (1, 0));
    assert_eq!((kpis.sample_to_start.min_ns, kpis.sample_to_start.max_ns), (4_000, 4_000));
    assert_eq!((kpis.release_to_end.count, kpis.release_to_end.p50_ns), (1, 5_350));
    assert_eq!(collector.hot_path_ns(), [[5_350], [4_000]]);
}

#[test]
fn the_first_ten_hot_path_samples_are_not_counted() {
    let collector = Collector::new();
    let cold = sample(&[("EuclideanClusterSettings", 1, 0, 5)]);
    for sequence in 0..13 {
        collector.sample_arrived(&cold);
        collector.sample_arrived(&hot_sample(sequence, 1_000 + u64::from(sequence)));
    }
    let kpis = collector.report();
    assert_eq!((kpis.warm_up_samples, kpis.samples), (10, 3));
    assert_eq!((kpis.sample_to_start.min_ns, kpis.sample_to_start.max_ns), (1_010, 1_012));
}

#[test]
fn drops_are_summed_over_hot_path_entries_of_counted_samples_only() {
    let dropping = sample(&[
        (FRONT_LIDAR, 9, 0, 1),
        ("PointsTransformerFront", 9, 2, 2),
        ("RayGroundFilter", 9, 1, 3),
        (COLLISION_ESTIMATOR, 9, 4, 4),
        ("NDTLocalizer", 9, 100, 5),
    ]);
    let collector = Collector::new();
    collector.sample_arrived(&dropping);
    warm_up(&collector);
    assert_eq!(collector.report().samples, 1);
    assert_eq!(collector.report().hot_path_drops, 0);
    // 2 + 1 + 4 each; the localizer is not on the hot path.
    collector.sample_arrived(&dropping);
    collector.sample_arrived(&dropping);
    assert_eq!(collector.report().hot_path_drops, 14);
}

#[test]
fn unknown_and_forgotten_ends_and_releases_are_counted() {
    let collector = warm();
    for sequence in [20, 21, 20 + Recent::COUNT as u32] {
        collector.lidar_released(FRONT_LIDAR, sequence, 800);
        collector.lidar_released(REAR_LIDAR, sequence, 800);
    }
    collector.collision_estimator_returned(20, 9_000);
    collector.collision_estimator_returned(20 + Recent::COUNT as u32, 9_000);
    for sequence in [20, 21, 20 + Recent::COUNT as u32] {
        collector.sample_arrived(&hot_sample(sequence, 500));
    }
    let kpis = collector.report();
    assert_eq!((kpis.samples, kpis.release_to_end.count, kpis.end_unknown), (3, 1, 2));
    // The end is known, and the release of one lidar is not.
    collector.collision_estimator_returned(22, 9_000);
    collector.lidar_released(FRONT_LIDAR, 22, 800);
    collector.sample_arrived(&hot_sample(22, 500));
    assert_eq!(collector.report().end_unknown, 3);
}

#[test]
fn a_sample_without_lidar_has_no_latency_but_is_reported() {
    let collector = warm();
    collector.sample_arrived(&sample(&[(COLLISION_ESTIMATOR, 1, 0, 9)]));
    let kpis = collector.report();
    assert_eq!((kpis.without_lidar, kpis.samples), (1, 0));
}

#[test]
fn the_planner_period_is_the_interval_between_starts() {
    let collector = Collector::new();
    for start_ns in [1_000, 1_100, 1_210, 1_300] {
        collector.planner_started(start_ns);
    }
    let period = collector.report().planner_period;
    assert_eq!((period.count, period.min_ns, period.max_ns), (3, 90, 110));
    assert_eq!(period.mean_ns, 100.0);
    // Deviations 0, 10, -10: sqrt(200 / 2) = 10.
    assert_eq!(period.std_ns, 10.0);
}

#[test]
fn values_beyond_the_capacity_are_counted_as_not_recorded() {
    let collector = Collector::with_capacity(2);
    warm_up(&collector);
    for index in 0..5 {
        collector.sample_arrived(&hot_sample(index, 1));
        collector.planner_started(u64::from(index) * 100);
    }
    // 3 of 5 samples, and 2 of 4 periods.
    let kpis = collector.report();
    assert_eq!((kpis.samples, kpis.planner_period.count, kpis.not_recorded), (2, 2, 5));
}

#[test]
fn threads_record_into_one_collector_without_loss() {
    let collector = Arc::new(warm());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for sequence in 0..10 {
                    collector.lidar_released(FRONT_LIDAR, sequence, 800);
                    collector.lidar_released(REAR_LIDAR, sequence, 800);
                    collector.collision_estimator_returned(sequence, 3_000);
                    collector.sample_arrived(&hot_sample(sequence, 1_000));
                }
            });
        }
    });
    let kpis = collector.report();
    assert_eq!((kpis.samples, kpis.release_to_end.count), (40, 40));
}

#[test]
fn a_collector_without_samples_reports_zeros() {
    assert_eq!(Collector::new().report(), Kpis::default());
}
