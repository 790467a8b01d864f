//! Latencies of the LaME chains, measured at the callbacks, in the two definitions of
//! [`kpi`](crate::kpi).
//!
//! The history of a sample holds the start of its chain's first callback, and a probe remembers
//! its release. A chain ends when its last callback returns, which need not publish anything: the
//! callback reports the sample that it received, and a [`Watch`] records when the worker reports
//! its return. In simulated time, the duration of the last callback is therefore included.

use crate::kpi::Recent;
use crate::lame::{CHAINS, Chain};
use crate::message::Message4kb;
use ringspin_executor::{CallbackId, Completion, Dispatch, GraphInfo, Recorder, Table, Time};
use ringspin_optimizer::lost_samples;
use ringspin_report::Summary;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of latencies kept for each chain: 1.8 h at 10 Hz.
const CAPACITY: usize = 65_536;

/// The measured latencies of one chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainReport {
    /// The chain, with published figures of other systems.
    #[serde(flatten)]
    pub chain: Chain,
    /// The work on its path, in nanoseconds.
    pub floor_ns: u64,
    /// From the start of its first callback to the start of its last.
    pub sample_to_start: Summary,
    /// From the release of its first callback, when its timer was due, to the end of its last.
    pub release_to_end: Summary,
    /// The number of samples that missed the deadline: latencies from release to end above it, and
    /// lost samples.
    pub misses: u64,
    /// The number of samples that started, and had not ended when their deadline was over.
    pub lost: u64,
    /// The number of samples started. Samples that did not end were lost, or were under way at the
    /// end of the run.
    pub started: u64,
    /// Samples that ended when the storage was full.
    pub not_recorded: u64,
}

/// Collects the measurements of one run from callbacks on any thread; shared by [`Arc`].
#[derive(Debug)]
pub struct Collector([Mutex<Series>; CHAINS.len()]);

#[derive(Debug)]
struct Series {
    started: u64,
    releases: Recent,
    /// The sample that the running last callback received.
    ending: Option<Ending>,
    release_to_end_ns: Vec<u64>,
    sample_to_start_ns: Vec<u64>,
    /// The releases of all samples, and of those that ended.
    started_ns: Vec<u64>,
    ended_ns: Vec<u64>,
    /// The latest release or end.
    latest_ns: u64,
    not_recorded: u64,
}

#[derive(Clone, Copy, Debug)]
struct Ending {
    release_ns: u64,
    sample_to_start_ns: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector {
    /// Creates a collector and reserves its storage of 6 MiB.
    #[must_use]
    pub fn new() -> Self {
        let series = |_| {
            Mutex::new(Series {
                started: 0,
                releases: Recent::default(),
                ending: None,
                release_to_end_ns: Vec::with_capacity(CAPACITY),
                sample_to_start_ns: Vec::with_capacity(CAPACITY),
                started_ns: Vec::with_capacity(CAPACITY),
                ended_ns: Vec::with_capacity(CAPACITY),
                latest_ns: 0,
                not_recorded: 0,
            })
        };
        Self([0, 1, 2].map(series))
    }

    /// The probe for the callback of `node` for messages on `input`, or for its timer.
    pub(crate) fn probe(self: &Arc<Self>, node: &str, input: Option<&str>) -> Probe {
        let starts = CHAINS.iter().position(|chain| input.is_none() && chain.starts_at(node));
        let ends = CHAINS.iter().position(|chain| input.is_some_and(|i| chain.ends_at(node, i)));
        Probe { collector: Some(self.clone()), starts, ends }
    }

    /// The figures so far. Copies and sorts the series; not for use in callbacks.
    #[must_use]
    pub fn report(&self) -> Vec<ChainReport> {
        let report = |(chain, series): (&Chain, &Mutex<Series>)| {
            let series = locked(series);
            let deadline_ns = chain.deadline().as_nanos() as u64;
            let late = series.release_to_end_ns.iter().filter(|&&ns| ns > deadline_ns);
            let Series { started_ns, ended_ns, latest_ns, .. } = &*series;
            let lost = lost_samples(chain.deadline(), started_ns, ended_ns, *latest_ns);
            ChainReport {
                chain: *chain,
                floor_ns: chain.floor().as_nanos() as u64,
                sample_to_start: Summary::of(&series.sample_to_start_ns),
                release_to_end: Summary::of(&series.release_to_end_ns),
                misses: late.count() as u64 + lost,
                lost,
                started: series.started,
                not_recorded: series.not_recorded,
            }
        };
        CHAINS.iter().zip(&self.0).map(report).collect()
    }

    /// The latencies so far in nanoseconds, by chain: from release to end, and from sample to
    /// start. Copies the series; not for use in callbacks.
    #[must_use]
    pub fn latencies_ns(&self) -> [[Vec<u64>; 2]; CHAINS.len()] {
        std::array::from_fn(|chain| {
            let series = locked(&self.0[chain]);
            [series.release_to_end_ns.clone(), series.sample_to_start_ns.clone()]
        })
    }

    fn ended(&self, chain: usize, end_ns: u64) {
        let mut series = locked(&self.0[chain]);
        let Some(Ending { release_ns, sample_to_start_ns }) = series.ending.take() else { return };
        series.latest_ns = series.latest_ns.max(end_ns);
        if series.release_to_end_ns.len() < CAPACITY {
            series.release_to_end_ns.push(end_ns.saturating_sub(release_ns));
            series.sample_to_start_ns.push(sample_to_start_ns);
            series.ended_ns.push(release_ns);
        } else {
            series.not_recorded += 1;
        }
    }
}

/// Reports the starts and ends of chains from one callback; usually nothing.
#[derive(Clone, Default)]
pub(crate) struct Probe {
    collector: Option<Arc<Collector>>,
    starts: Option<usize>,
    ends: Option<usize>,
}

impl Probe {
    /// Records that the timer's callback, which was due at `released`, has started and will send
    /// the sample `sequence_number`.
    pub(crate) fn started(&self, sequence_number: u32, released: Time) {
        if let (Some(collector), Some(chain)) = (&self.collector, self.starts) {
            let mut series = locked(&collector.0[chain]);
            let release_ns = released.as_nanos();
            series.started += 1;
            series.releases.put(sequence_number, release_ns);
            series.latest_ns = series.latest_ns.max(release_ns);
            if series.started_ns.len() < CAPACITY {
                series.started_ns.push(release_ns);
            }
        }
    }

    /// Records that the callback received `sample`, and started at `started`.
    pub(crate) fn reached_by(&self, sample: &Message4kb, started: Time) {
        if let (Some(collector), Some(chain)) = (&self.collector, self.ends) {
            let mut series = locked(&collector.0[chain]);
            let first = sample.find(CHAINS[chain].nodes[0]);
            series.ending = first.and_then(|first| {
                Some(Ending {
                    release_ns: series.releases.get(first.sequence_number)?,
                    sample_to_start_ns: started.as_nanos().saturating_sub(first.timestamp),
                })
            });
        }
    }
}

/// A recorder that records when the last callback of a chain returns.
pub struct Watch {
    collector: Arc<Collector>,
    /// The chains that end with a callback.
    ends: Table<CallbackId, usize>,
}

impl Watch {
    /// Creates a watch for one worker of this graph.
    #[must_use]
    pub fn new(collector: Arc<Collector>, info: &GraphInfo) -> Self {
        let ends = info.callbacks.iter().filter_map(|(id, callback)| {
            let node = info.loops[callback.event_loop].node.trim_start_matches('/');
            let topic = callback.name.strip_prefix("subscription /")?;
            Some((id, CHAINS.iter().position(|chain| chain.ends_at(node, topic))?))
        });
        Self { collector, ends: ends.collect() }
    }
}

impl Recorder for Watch {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if let Some(&chain) = self.ends.get(dispatch.callback) {
            self.collector.ended(chain, completion.time.as_nanos());
        }
    }
}

/// Locks a series. A panic while recording loses at most one value, so poisoning is ignored.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::NodeName;

    fn sample(number: u32, started_ns: u64) -> Message4kb {
        let mut message = Message4kb::new();
        message.append(&NodeName::new("RearLidarDriver").unwrap(), number, 0, started_ns);
        message
    }

    #[test]
    fn a_lost_sample_misses_the_deadline_and_one_under_way_does_not() {
        let collector = Arc::new(Collector::new());
        let timer = collector.probe("RearLidarDriver", None);
        let end = collector.probe("PointCloudFusion", Some("PointsTransformerRear"));
        const PERIOD_NS: u64 = 150_000_000; // the deadline is 200 ms
        for number in 0..4_u32 {
            let release_ns = PERIOD_NS * u64::from(number);
            timer.started(number, Time::from_nanos(release_ns));
            if number == 0 {
                let reached = Time::from_nanos(release_ns + 1);
                end.reached_by(&sample(number, release_ns), reached);
                collector.ended(1, release_ns + 2);
            }
        }
        let report = &collector.report()[1];
        // At 450 ms, the deadline of the second sample is over, not that of the third and fourth.
        assert_eq!((report.started, report.lost, report.misses), (4, 1, 1));
    }

    #[test]
    fn latencies_last_to_the_start_and_to_the_return_and_a_miss_exceeds_the_deadline() {
        let collector = Arc::new(Collector::new());
        let timer = collector.probe("RearLidarDriver", None);
        let end = collector.probe("PointCloudFusion", Some("PointsTransformerRear"));
        let other = collector.probe("PointCloudFusion", Some("PointsTransformerFront"));
        let samples = [(1_000, 200_000_900), (2_000, 200_001_901), (3_000, 4_000)];
        for (number, (start_ns, end_ns)) in (0..).zip(samples) {
            timer.started(number, Time::from_nanos(start_ns - 100));
            other.reached_by(&sample(number, 1), Time::from_nanos(1));
            end.reached_by(&sample(number, start_ns), Time::from_nanos(start_ns + 7));
            collector.ended(1, end_ns);
        }
        timer.started(9, Time::from_nanos(200_001_900));
        collector.ended(1, 9); // unknown sample
        let report = &collector.report()[1];
        assert_eq!((report.chain.name, report.started, report.misses), ("RT1", 4, 1));
        assert_eq!((report.release_to_end.count, report.release_to_end.min_ns), (3, 1_100));
        assert_eq!(report.release_to_end.max_ns, 200_000_001);
        assert_eq!((report.sample_to_start.min_ns, report.sample_to_start.max_ns), (7, 7));
    }
}
