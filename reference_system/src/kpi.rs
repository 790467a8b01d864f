//! The key performance indicators: measurement and counting rules.
//!
//! The hot path's latency has two definitions, both read from the samples that reach a Command
//! node:
//!
//! * *sample to start*, upstream's: from the newer lidar stamp, the start of its timer's callback,
//!   to the start of the collision estimator. A schedule can improve it by delaying a lidar.
//! * *release to end*: from the newer lidar's release, when its timer was due, to the end of the
//!   collision estimator's callback. A user feels this latency.
//!
//! The first ten such samples are start-up, as upstream, and the behaviour planner's period is the
//! distance of successive starts.
//!
//! Callbacks on several threads share one [`Collector`]. Its storage is bounded and reserved on
//! creation, so recording does not allocate. Each lock guards one series and is held for a few
//! stores; no callback holds two at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringspin_executor::{Completion, Dispatch, GraphInfo, LoopId, LoopInfo, Recorder};
use ringspin_report::Summary;
use serde::Serialize;

use crate::description::{COLLISION_ESTIMATOR, FRONT_LIDAR, HOT_PATH, REAR_LIDAR};
use crate::message::{Message4kb, TransmissionStats};

/// Hot-path samples at the start of a run that do not count.
pub const WARM_UP_SAMPLES: u64 = 10;

/// The name of the series of the behaviour planner's periods.
pub const PLANNER_PERIOD: &str = "planner period";

/// The default capacity for latencies, and for planner starts: 1.8 h at 10 Hz.
pub const DEFAULT_CAPACITY: usize = 65_536;

/// The KPIs of one run, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Kpis {
    /// The hot path from sample to start: from the newer lidar stamp to the start of the collision
    /// estimator's callback, as published.
    pub sample_to_start: Summary,
    /// The hot path from release to end: from the due time of the newer lidar's timer to the end of
    /// the collision estimator's callback.
    pub release_to_end: Summary,
    /// Sum of the samples that hot-path nodes saw dropped, over the counted samples.
    pub hot_path_drops: u64,
    /// Distance of successive starts of the behaviour planner's timer callback.
    pub planner_period: Summary,
    /// Hot-path samples counted.
    pub samples: u64,
    /// Hot-path samples not counted because they were the first ten of their run.
    pub warm_up_samples: u64,
    /// Counted samples that arrived when their release or the end of their callback was not known,
    /// or not any more.
    pub end_unknown: u64,
    /// Samples that name the estimator but no lidar, and thus have no latency; 0 in a correct
    /// graph.
    pub without_lidar: u64,
    /// Values dropped because their storage was full: counted samples and planner starts.
    pub not_recorded: u64,
}

/// Collects the measurements of one run from callbacks on any thread; shared by [`Arc`].
#[derive(Debug)]
pub struct Collector {
    hot_path: Mutex<HotPath>,
    ends: Mutex<Recent>,
    /// Of the front lidar, and of the rear one.
    releases: [Mutex<Recent>; 2],
    planner: Mutex<Planner>,
}

#[derive(Debug, Default)]
struct HotPath {
    capacity: usize,
    sample_to_start_ns: Vec<u64>,
    release_to_end_ns: Vec<u64>,
    drops: u64,
    warm_up_samples: u64,
    end_unknown: u64,
    without_lidar: u64,
    not_recorded: u64,
}

#[derive(Debug, Default)]
struct Planner {
    capacity: usize,
    last_start_ns: Option<u64>,
    periods_ns: Vec<u64>,
    not_recorded: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector {
    /// Creates a collector for [`DEFAULT_CAPACITY`] hot-path samples and planner starts.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }

    /// Creates a collector for `capacity` hot-path samples and as many planner periods; later
    /// values are counted in [`Kpis::not_recorded`]. Reserves 24 bytes for each.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            hot_path: Mutex::new(HotPath {
                capacity,
                sample_to_start_ns: Vec::with_capacity(capacity),
                release_to_end_ns: Vec::with_capacity(capacity),
                ..HotPath::default()
            }),
            ends: Mutex::default(),
            releases: Default::default(),
            planner: Mutex::new(Planner {
                capacity,
                periods_ns: Vec::with_capacity(capacity),
                ..Planner::default()
            }),
        }
    }

    /// Records that `sample` reached a Command node. A sample with the collision estimator in its
    /// history yields one hot path latency, except the first ten of a run.
    pub fn sample_arrived(&self, sample: &Message4kb) {
        let Some(estimator) = sample.find(COLLISION_ESTIMATOR) else { return };
        let Some(lidar_ns) = newer_lidar_ns(sample) else {
            locked(&self.hot_path).without_lidar += 1;
            return;
        };
        let end_ns = locked(&self.ends).get(estimator.sequence_number);
        let times = end_ns.zip(self.release_ns(sample));
        let to_end_ns = times.map(|(end, release)| end.saturating_sub(release));
        let to_start_ns = estimator.timestamp.saturating_sub(lidar_ns);
        locked(&self.hot_path).record(sample, to_start_ns, to_end_ns);
    }

    /// Records that the collision estimator's callback that published `sequence_number` returned.
    ///
    /// The last 64 ends are remembered until their samples reach a Command node. A sample that
    /// arrives later, or before this call, counts in [`Kpis::end_unknown`]. A callback that takes
    /// simulated time does not see its own end: an [`EstimatorWatch`] corrects it.
    pub fn collision_estimator_returned(&self, sequence_number: u32, end_ns: u64) {
        locked(&self.ends).put(sequence_number, end_ns);
    }

    /// Records that the timer of the sample `sequence_number` of `lidar` was due at `release_ns`.
    ///
    /// Of each lidar, the last 64 are remembered; another sensor is ignored.
    pub fn lidar_released(&self, lidar: &str, sequence_number: u32, release_ns: u64) {
        let found = LIDARS.iter().zip(&self.releases).find(|(name, _)| **name == lidar);
        if let Some((_, releases)) = found {
            locked(releases).put(sequence_number, release_ns);
        }
    }

    /// Records the start of the behaviour planner's timer callback.
    pub fn planner_started(&self, start_ns: u64) {
        let mut planner = locked(&self.planner);
        let Some(last_ns) = planner.last_start_ns.replace(start_ns) else { return };
        if planner.periods_ns.len() < planner.capacity {
            planner.periods_ns.push(start_ns.saturating_sub(last_ns));
        } else {
            planner.not_recorded += 1;
        }
    }

    /// The KPIs so far. Copies and sorts the series; not for use in callbacks.
    #[must_use]
    pub fn report(&self) -> Kpis {
        let hot_path = locked(&self.hot_path);
        let planner = locked(&self.planner);
        Kpis {
            sample_to_start: Summary::of(&hot_path.sample_to_start_ns),
            release_to_end: Summary::of(&hot_path.release_to_end_ns),
            hot_path_drops: hot_path.drops,
            planner_period: Summary::of(&planner.periods_ns),
            samples: hot_path.sample_to_start_ns.len() as u64,
            warm_up_samples: hot_path.warm_up_samples,
            end_unknown: hot_path.end_unknown,
            without_lidar: hot_path.without_lidar,
            not_recorded: hot_path.not_recorded + planner.not_recorded,
        }
    }

    /// The counted latencies of the hot path in nanoseconds: from release to end, and from sample
    /// to start. Copies the series; not for use in callbacks.
    #[must_use]
    pub fn hot_path_ns(&self) -> [Vec<u64>; 2] {
        let hot_path = locked(&self.hot_path);
        [hot_path.release_to_end_ns.clone(), hot_path.sample_to_start_ns.clone()]
    }

    /// The planner's periods in nanoseconds. Copies the series; not for use in callbacks.
    #[must_use]
    pub fn planner_periods_ns(&self) -> Vec<u64> {
        locked(&self.planner).periods_ns.clone()
    }

    /// The newer release of the lidar samples of `sample`; `None` unless those of all are known.
    fn release_ns(&self, sample: &Message4kb) -> Option<u64> {
        let lidars = LIDARS.iter().zip(&self.releases);
        let released = lidars.filter_map(|(lidar, releases)| {
            let entry = sample.find(lidar)?;
            Some(locked(releases).get(entry.sequence_number))
        });
        released.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten()
    }
}

/// A recorder that tells a [`Collector`] the simulated ends of the collision estimator's callback.
pub struct EstimatorWatch {
    collector: Arc<Collector>,
    event_loop: Option<LoopId>,
    /// The number of calls so far: each publishes one sample.
    calls: u32,
}

impl EstimatorWatch {
    /// Creates a watch for the one worker of a deterministic run of this graph.
    #[must_use]
    pub fn new(collector: Arc<Collector>, info: &GraphInfo) -> Self {
        let is_it = |of: &LoopInfo| of.node.trim_start_matches('/') == COLLISION_ESTIMATOR;
        let event_loop = info.loops.iter().find(|(_, of)| is_it(of)).map(|(id, _)| id);
        Self { collector, event_loop, calls: 0 }
    }
}

impl Recorder for EstimatorWatch {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if Some(dispatch.event_loop) == self.event_loop {
            self.collector.collision_estimator_returned(self.calls, completion.time.as_nanos());
            self.calls = self.calls.wrapping_add(1);
        }
    }
}

/// The sensors that have their releases collected.
pub(crate) const LIDARS: [&str; 2] = [FRONT_LIDAR, REAR_LIDAR];

/// The times of the last 64 samples of a node: 6 s at 10 Hz.
#[derive(Debug)]
struct Recent([Option<(u32, u64)>; Self::COUNT]);

impl Default for Recent {
    fn default() -> Self {
        Self([None; Self::COUNT])
    }
}

impl Recent {
    const COUNT: usize = 64;

    fn put(&mut self, sequence_number: u32, time_ns: u64) {
        self.0[sequence_number as usize % Self::COUNT] = Some((sequence_number, time_ns));
    }

    fn get(&self, sequence_number: u32) -> Option<u64> {
        let kept = self.0[sequence_number as usize % Self::COUNT];
        kept.filter(|(number, _)| *number == sequence_number).map(|(_, time_ns)| time_ns)
    }
}

impl HotPath {
    /// Records one hot-path sample; the first ten of a run do not count.
    fn record(&mut self, sample: &Message4kb, to_start_ns: u64, to_end_ns: Option<u64>) {
        if self.warm_up_samples < WARM_UP_SAMPLES {
            self.warm_up_samples += 1;
            return;
        }
        if self.sample_to_start_ns.len() >= self.capacity {
            self.not_recorded += 1;
            return;
        }
        self.sample_to_start_ns.push(to_start_ns);
        match to_end_ns {
            Some(to_end_ns) => self.release_to_end_ns.push(to_end_ns),
            None => self.end_unknown += 1,
        }
        self.drops += hot_path_drops(sample);
    }
}

fn newer_lidar_ns(sample: &Message4kb) -> Option<u64> {
    let stamp = |name| sample.find(name).map(|entry| entry.timestamp);
    stamp(FRONT_LIDAR).max(stamp(REAR_LIDAR))
}

fn hot_path_drops(sample: &Message4kb) -> u64 {
    let on_hot_path = |entry: &&TransmissionStats| HOT_PATH.iter().any(|name| entry.is_from(name));
    sample.history().iter().filter(on_hot_path).map(|entry| u64::from(entry.dropped_samples)).sum()
}

/// Locks a series. A panic while recording loses at most one value, so poisoning is ignored.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
