//! The key performance indicators: measurement and counting rules.
//!
//! The hot path's latency has two definitions, both read from the samples that reach a Command
//! node:
//!
//! * *sample to start*, upstream's: from the newer lidar stamp, the start of its timer's callback,
//!   to the start of the collision estimator. A schedule can improve it by delaying a lidar.
//! * *release to end*: from the newer lidar's release, when its timer was due, to the end of the
//!   collision estimator's callback. It is what a user feels.
//!
//! The first ten such samples are start-up, as upstream, and the behaviour planner's period is the
//! distance of successive starts.
//!
//! Callbacks on several threads share one [`Collector`]. Its storage is bounded and reserved on
//! creation, so recording does not allocate (except for the first sample of each command node when
//! histories are kept). Each lock guards one series and is held for a few stores; no callback
//! holds two at once.

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

/// The number of whole samples that [`Collector::keeping_samples`] keeps: 5 min at 50 Hz.
pub const KEPT_SAMPLES: usize = 16_384;

/// History entries reserved for the kept samples: the mean is about 6 each, the longest has 22.
const KEPT_ENTRIES: usize = KEPT_SAMPLES * 8;

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
    /// Counted samples whose release or whose callback's end was unknown, or no longer known, when
    /// they arrived.
    pub end_unknown: u64,
    /// Samples that name the estimator but no lidar, and thus have no latency; 0 in a correct
    /// graph.
    pub without_lidar: u64,
    /// Values dropped because their storage was full: counted samples, planner starts, kept
    /// samples.
    pub not_recorded: u64,
}

/// The path of a sample through the graph to a Command node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SamplePath {
    /// The Command node.
    pub command_node: String,
    /// Its arrival time, in nanoseconds of the executor's clock.
    pub arrived_ns: u64,
    /// The nodes on its path, in the order of its history.
    pub history: Vec<PathEntry>,
    /// Its latency from sample to start, in nanoseconds; `None` if it did not take the hot path.
    pub sample_to_start_ns: Option<u64>,
    /// Its latency from release to end, in nanoseconds; `None` without the hot path, or if the
    /// release or the end was unknown when it arrived.
    pub release_to_end_ns: Option<u64>,
    /// Whether the KPIs include that latency.
    pub counted: bool,
}

/// A node on the path of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathEntry {
    /// The node's name.
    pub node: String,
    /// The node's output sequence number.
    pub sequence_number: u32,
    /// The start of its callback, in nanoseconds of the executor's clock.
    pub timestamp_ns: u64,
    /// The number of samples that it saw dropped on its inputs.
    pub dropped_samples: u32,
}

/// Collects the measurements of one run from callbacks on any thread; shared by [`Arc`].
#[derive(Debug)]
pub struct Collector {
    hot_path: Mutex<HotPath>,
    ends: Mutex<Recent>,
    /// Of the front lidar, and of the rear one.
    releases: [Mutex<Recent>; 2],
    planner: Mutex<Planner>,
    kept: Option<Mutex<Kept>>,
}

#[derive(Debug)]
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

#[derive(Debug)]
struct Planner {
    capacity: usize,
    last_start_ns: Option<u64>,
    periods_ns: Vec<u64>,
    not_recorded: u64,
}

/// The latency of one sample in nanoseconds, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
struct HotPathLatency {
    sample_to_start: Option<u64>,
    release_to_end: Option<u64>,
}

/// Kept samples in two flat arenas, so that keeping one does not allocate.
#[derive(Debug)]
struct Kept {
    command_nodes: Vec<String>,
    samples: Vec<KeptSample>,
    entries: Vec<TransmissionStats>,
    not_recorded: u64,
}

#[derive(Debug)]
struct KeptSample {
    command_node: usize,
    arrived_ns: u64,
    entries: std::ops::Range<usize>,
    latency: HotPathLatency,
    counted: bool,
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
                drops: 0,
                warm_up_samples: 0,
                end_unknown: 0,
                without_lidar: 0,
                not_recorded: 0,
            }),
            ends: Mutex::default(),
            releases: Default::default(),
            planner: Mutex::new(Planner {
                capacity,
                last_start_ns: None,
                periods_ns: Vec::with_capacity(capacity),
                not_recorded: 0,
            }),
            kept: None,
        }
    }

    /// Additionally keeps the whole history of the first [`KEPT_SAMPLES`] samples that reach a
    /// Command node, for [`samples`](Self::samples). Reserves about 9 MiB.
    #[must_use]
    pub fn keeping_samples(mut self) -> Self {
        self.kept = Some(Mutex::new(Kept {
            command_nodes: Vec::new(),
            samples: Vec::with_capacity(KEPT_SAMPLES),
            entries: Vec::with_capacity(KEPT_ENTRIES),
            not_recorded: 0,
        }));
        self
    }

    /// Records that `sample` reached the Command node `command_node` at `arrived_ns`.
    ///
    /// A sample whose history names the collision estimator yields one hot path latency, except the
    /// first ten of a run.
    pub fn sample_arrived(&self, command_node: &str, sample: &Message4kb, arrived_ns: u64) {
        let mut latency = HotPathLatency::default();
        let mut counted = false;
        if let Some(estimator) = sample.find(COLLISION_ESTIMATOR) {
            match newer_lidar_ns(sample) {
                Some(lidar_ns) => {
                    latency.sample_to_start = Some(estimator.timestamp.saturating_sub(lidar_ns));
                    let end_ns = locked(&self.ends).get(estimator.sequence_number);
                    let times = end_ns.zip(self.release_ns(sample));
                    latency.release_to_end =
                        times.map(|(end, release)| end.saturating_sub(release));
                    counted = locked(&self.hot_path).record(sample, latency);
                }
                None => locked(&self.hot_path).without_lidar += 1,
            }
        }
        if let Some(kept) = &self.kept {
            locked(kept).keep(command_node, sample, arrived_ns, latency, counted);
        }
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
        if let Some(index) = lidar_index(lidar) {
            locked(&self.releases[index]).put(sequence_number, release_ns);
        }
    }

    /// Records the start of the behaviour planner's timer callback.
    pub fn planner_started(&self, start_ns: u64) {
        locked(&self.planner).started(start_ns);
    }

    /// The KPIs so far. Copies and sorts the series; not for use in callbacks.
    #[must_use]
    pub fn report(&self) -> Kpis {
        let hot_path = locked(&self.hot_path);
        let planner = locked(&self.planner);
        let kept = self.kept.as_ref().map_or(0, |kept| locked(kept).not_recorded);
        Kpis {
            sample_to_start: Summary::of(&hot_path.sample_to_start_ns),
            release_to_end: Summary::of(&hot_path.release_to_end_ns),
            hot_path_drops: hot_path.drops,
            planner_period: Summary::of(&planner.periods_ns),
            samples: hot_path.sample_to_start_ns.len() as u64,
            warm_up_samples: hot_path.warm_up_samples,
            end_unknown: hot_path.end_unknown,
            without_lidar: hot_path.without_lidar,
            not_recorded: hot_path.not_recorded + planner.not_recorded + kept,
        }
    }

    /// The kept samples in order of arrival; empty without
    /// [`keeping_samples`](Self::keeping_samples).
    #[must_use]
    pub fn samples(&self) -> Vec<SamplePath> {
        self.kept.as_ref().map(|kept| locked(kept).paths()).unwrap_or_default()
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

const LIDARS: [&str; 2] = [FRONT_LIDAR, REAR_LIDAR];

fn lidar_index(name: &str) -> Option<usize> {
    LIDARS.iter().position(|lidar| *lidar == name)
}

/// Whether the releases of this node are collected.
pub(crate) fn is_lidar(name: &str) -> bool {
    lidar_index(name).is_some()
}

/// The times of the last 64 samples of a node: 6 s at 10 Hz.
#[derive(Debug)]
pub(crate) struct Recent([Option<(u32, u64)>; Self::COUNT]);

impl Default for Recent {
    fn default() -> Self {
        Self([None; Self::COUNT])
    }
}

impl Recent {
    const COUNT: usize = 64;

    pub(crate) fn put(&mut self, sequence_number: u32, time_ns: u64) {
        self.0[sequence_number as usize % Self::COUNT] = Some((sequence_number, time_ns));
    }

    pub(crate) fn get(&self, sequence_number: u32) -> Option<u64> {
        let kept = self.0[sequence_number as usize % Self::COUNT];
        kept.filter(|(number, _)| *number == sequence_number).map(|(_, time_ns)| time_ns)
    }
}

impl HotPath {
    /// Records one hot-path sample; returns whether the KPIs include it.
    fn record(&mut self, sample: &Message4kb, latency: HotPathLatency) -> bool {
        if self.warm_up_samples < WARM_UP_SAMPLES {
            self.warm_up_samples += 1;
            return false;
        }
        if self.sample_to_start_ns.len() >= self.capacity {
            self.not_recorded += 1;
            return false;
        }
        self.sample_to_start_ns.extend(latency.sample_to_start);
        match latency.release_to_end {
            Some(to_end_ns) => self.release_to_end_ns.push(to_end_ns),
            None => self.end_unknown += 1,
        }
        self.drops += hot_path_drops(sample);
        true
    }
}

impl Planner {
    fn started(&mut self, start_ns: u64) {
        let Some(last_ns) = self.last_start_ns.replace(start_ns) else {
            return;
        };
        if self.periods_ns.len() < self.capacity {
            self.periods_ns.push(start_ns.saturating_sub(last_ns));
        } else {
            self.not_recorded += 1;
        }
    }
}

impl Kept {
    fn keep(
        &mut self,
        command_node: &str,
        sample: &Message4kb,
        arrived_ns: u64,
        latency: HotPathLatency,
        counted: bool,
    ) {
        let (first, history) = (self.entries.len(), sample.history());
        if self.samples.len() == KEPT_SAMPLES || first + history.len() > KEPT_ENTRIES {
            self.not_recorded += 1;
            return;
        }
        self.entries.extend_from_slice(history);
        let command_node = self.index_of(command_node);
        let entries = first..self.entries.len();
        self.samples.push(KeptSample { command_node, arrived_ns, entries, latency, counted });
    }

    fn index_of(&mut self, command_node: &str) -> usize {
        let known = self.command_nodes.iter().position(|name| name == command_node);
        known.unwrap_or_else(|| {
            self.command_nodes.push(command_node.to_owned());
            self.command_nodes.len() - 1
        })
    }

    fn paths(&self) -> Vec<SamplePath> {
        let path = |sample: &KeptSample| SamplePath {
            command_node: self.command_nodes[sample.command_node].clone(),
            arrived_ns: sample.arrived_ns,
            history: self.entries[sample.entries.clone()].iter().map(PathEntry::from).collect(),
            sample_to_start_ns: sample.latency.sample_to_start,
            release_to_end_ns: sample.latency.release_to_end,
            counted: sample.counted,
        };
        self.samples.iter().map(path).collect()
    }
}

impl From<&TransmissionStats> for PathEntry {
    fn from(entry: &TransmissionStats) -> Self {
        Self {
            node: entry.name().to_owned(),
            sequence_number: entry.sequence_number,
            timestamp_ns: entry.timestamp,
            dropped_samples: entry.dropped_samples,
        }
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
