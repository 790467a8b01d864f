//! The latencies of chains, measured at the callbacks themselves.
//!
//! A chain's sample is known by its history, which has the start of the chain's first callback. Its
//! end is the end of the last callback, which need not publish anything: the callback says which
//! start it got, and a [`Watch`], told by the worker that it has returned, when that was. So in
//! simulated time the last callback's duration counts, too.

use crate::kpi::Summary;
use crate::lame::{CHAINS, Chain};
use crate::message::Message4kb;
use ringspin_executor::{Completion, Dispatch, GraphInfo, Recorder};
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Latencies that are kept for each chain: 1.8 h at 10 Hz.
const CAPACITY: usize = 65_536;

/// What was measured of one chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainReport {
    /// The chain, with what was published for others.
    #[serde(flatten)]
    pub chain: Chain,
    /// The work on its path, in nanoseconds.
    pub floor_ns: u64,
    /// From the start of its first callback to the end of its last.
    pub latency: Summary,
    /// How many of these were over the deadline.
    pub misses: u64,
    /// How often it was started. What was started and did not end was overwritten on its way, or
    /// was still under way at the end of the run.
    pub started: u64,
    /// Ends that found the storage full.
    pub not_recorded: u64,
}

/// Takes the measurements of one run from callbacks on any thread; share it by [`Arc`].
#[derive(Debug)]
pub struct Collector([Mutex<Series>; CHAINS.len()]);

#[derive(Debug)]
struct Series {
    started: u64,
    /// The start that the last callback, which is running, was called for.
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
    /// Reserves what it will need: 1.5 MiB.
    #[must_use]
    pub fn new() -> Self {
        let series = |_| {
            let latencies_ns = Vec::with_capacity(CAPACITY);
            Mutex::new(Series { started: 0, ending: None, latencies_ns, not_recorded: 0 })
        };
        Self([0, 1, 2].map(series))
    }

    /// What the callback of `node` for messages on `input`, or of its timer, has to tell.
    pub(crate) fn probe(self: &Arc<Self>, node: &str, input: Option<&str>) -> Probe {
        let starts = CHAINS.iter().position(|chain| input.is_none() && chain.starts_at(node));
        let ends = CHAINS.iter().position(|chain| input.is_some_and(|i| chain.ends_at(node, i)));
        Probe { collector: Some(self.clone()), starts, ends }
    }

    /// The figures so far. Copies and sorts the series: not for callbacks.
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

    fn ended(&self, chain: usize, end_ns: u64) {
        let mut series = locked(&self.0[chain]);
        let Some(start_ns) = series.ending.take() else { return };
        match series.latencies_ns.len() < CAPACITY {
            true => series.latencies_ns.push(end_ns.saturating_sub(start_ns)),
            false => series.not_recorded += 1,
        }
    }
}

/// What one callback has to tell of the chains; usually nothing.
#[derive(Clone, Default)]
pub(crate) struct Probe {
    collector: Option<Arc<Collector>>,
    starts: Option<usize>,
    ends: Option<usize>,
}

impl Probe {
    /// The callback has started.
    pub(crate) fn started(&self) {
        if let (Some(collector), Some(chain)) = (&self.collector, self.starts) {
            locked(&collector.0[chain]).started += 1;
        }
    }

    /// The callback was called for `sample`.
    pub(crate) fn reached_by(&self, sample: &Message4kb) {
        if let (Some(collector), Some(chain)) = (&self.collector, self.ends) {
            let start = sample.find(CHAINS[chain].nodes[0]).map(|entry| entry.timestamp);
            locked(&collector.0[chain]).ending = start;
        }
    }
}

/// A recorder that sees when the last callback of a chain has returned.
pub struct Watch {
    collector: Arc<Collector>,
    /// By callback, which chain ends with it.
    ends: Vec<Option<usize>>,
}

impl Watch {
    /// For the workers of this graph.
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

/// A callback that panicked while recording leaves at worst one value out: the rest stays readable.
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
    fn a_latency_is_from_the_stamp_to_the_return_and_a_miss_is_over_the_deadline() {
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
        collector.ended(1, 9); // of no sample that is known
        let report = &collector.report()[1];
        assert_eq!((report.chain.name, report.started, report.misses), ("RT1", 4, 1));
        assert_eq!((report.latency.count, report.latency.min_ns), (3, 1_000));
        assert_eq!(report.latency.max_ns, 200_000_001);
    }
}
