//! Latencies of the LaME chains, measured at the callbacks.
//!
//! The history of a sample holds the start of its chain's first callback. A chain ends when its
//! last callback returns, which need not publish anything: the callback reports the start it
//! received, and a [`Watch`] records when the worker reports its return. In simulated time, the
//! duration of the last callback is therefore included.

use crate::lame::{CHAINS, Chain};
use crate::message::Message4kb;
use ringspin_executor::{Completion, Dispatch, GraphInfo, Recorder};
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
    /// From the start of its first callback to the end of its last.
    pub latency: Summary,
    /// The number of latencies above the deadline.
    pub misses: u64,
    /// The number of samples started. Samples that did not end were overwritten, or were in transit
    /// at the end of the run.
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
    /// The start of the sample that the running last callback received.
    ending: Option<u64>,
    latencies_ns: Vec<u64>,
    not_recorded: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector {
    /// Creates a collector and reserves its storage of 1.5 MiB.
    #[must_use]
    pub fn new() -> Self {
        let series = |_| {
            let latencies_ns = Vec::with_capacity(CAPACITY);
            Mutex::new(Series { started: 0, ending: None, latencies_ns, not_recorded: 0 })
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
            let Series { started, ref latencies_ns, not_recorded, .. } = *locked(series);
            let deadline_ns = chain.deadline().as_nanos() as u64;
            ChainReport {
                chain: *chain,
                floor_ns: chain.floor().as_nanos() as u64,
                latency: Summary::of(latencies_ns),
                misses: latencies_ns.iter().filter(|&&ns| ns > deadline_ns).count() as u64,
                started,
                not_recorded,
            }
        };
        CHAINS.iter().zip(&self.0).map(report).collect()
    }

    /// The latencies so far, by chain, in nanoseconds. Copies the series; not for use in callbacks.
    #[must_use]
    pub fn latencies_ns(&self) -> [Vec<u64>; CHAINS.len()] {
        std::array::from_fn(|chain| locked(&self.0[chain]).latencies_ns.clone())
    }

    fn ended(&self, chain: usize, end_ns: u64) {
        let mut series = locked(&self.0[chain]);
        let Some(start_ns) = series.ending.take() else { return };
        match series.latencies_ns.len() < CAPACITY {
            true => series.latencies_ns.push(end_ns.saturating_sub(start_ns)),
            false => series.not_recorded += 1,
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
    /// Records that the callback has started.
    pub(crate) fn started(&self) {
        if let (Some(collector), Some(chain)) = (&self.collector, self.starts) {
            locked(&collector.0[chain]).started += 1;
        }
    }

    /// Records that the callback received `sample`.
    pub(crate) fn reached_by(&self, sample: &Message4kb) {
        if let (Some(collector), Some(chain)) = (&self.collector, self.ends) {
            let start = sample.find(CHAINS[chain].nodes[0]).map(|entry| entry.timestamp);
            locked(&collector.0[chain]).ending = start;
        }
    }
}

/// A recorder that records when the last callback of a chain returns.
pub struct Watch {
    collector: Arc<Collector>,
    /// By callback: the chain that ends with it.
    ends: Vec<Option<usize>>,
}

impl Watch {
    /// Creates a watch for one worker of this graph.
    #[must_use]
    pub fn new(collector: Arc<Collector>, info: &GraphInfo) -> Self {
        let ends = info.callbacks.iter().map(|callback| {
            let node = info.loops[callback.event_loop.0 as usize].node.trim_start_matches('/');
            let topic = callback.name.strip_prefix("subscription /")?;
            CHAINS.iter().position(|chain| chain.ends_at(node, topic))
        });
        Self { collector, ends: ends.collect() }
    }
}

impl Recorder for Watch {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if let Some(&Some(chain)) = self.ends.get(dispatch.callback.0 as usize) {
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

    fn sample(node: &str, started_ns: u64) -> Message4kb {
        let mut message = Message4kb::new();
        message.append(&NodeName::new(node).unwrap(), 0, 0, started_ns);
        message
    }

    #[test]
    fn a_latency_lasts_from_the_stamp_to_the_return_and_a_miss_exceeds_the_deadline() {
        let collector = Arc::new(Collector::new());
        let timer = collector.probe("RearLidarDriver", None);
        let end = collector.probe("PointCloudFusion", Some("PointsTransformerRear"));
        let other = collector.probe("PointCloudFusion", Some("PointsTransformerFront"));
        for (start_ns, end_ns) in [(1_000, 200_001_000), (2_000, 200_002_001), (3_000, 4_000)] {
            timer.started();
            other.reached_by(&sample("RearLidarDriver", 1));
            end.reached_by(&sample("RearLidarDriver", start_ns));
            collector.ended(1, end_ns);
        }
        timer.started();
        collector.ended(1, 9); // unknown sample
        let report = &collector.report()[1];
        assert_eq!((report.chain.name, report.started, report.misses), ("RT1", 4, 1));
        assert_eq!((report.latency.count, report.latency.min_ns), (3, 1_000));
        assert_eq!(report.latency.max_ns, 200_000_001);
    }
}
