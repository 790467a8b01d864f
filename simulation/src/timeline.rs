//! Timelines: callbacks over time and cores, of any graph in any mode.
//!
//! A table of latencies says that a chain was late; only a picture of all cores shows the callbacks
//! that it waited for. Each worker has a [`TimelineRecorder`], which keeps its newest callbacks in
//! bounded memory; a [`Timeline`] is what several of them saw, as data to draw, to keep as JSON, or
//! to write in the format of trace viewers (`write_chrome_trace`, feature `json`).
//!
//! ```
//! use ringspin_simulation::timeline::{Timeline, TimelineRecorder};
//! use ringspin_modes::{Executor, Mode};
//! use std::time::Duration;
//! let mode = Mode::SingleCore;
//! let mut executor = Executor::new(mode.clone())
//!     .with_recorders(|_, _| TimelineRecorder::new(1000));
//! let node = executor.create_node("node", ())?;
//! node.create_timer(Duration::from_millis(1), |_, cx| cx.stop())?;
//! executor.spin()?;
//! let (recorders, info) = (executor.take_recorders(), executor.graph().info());
//! let timeline = Timeline::of(recorders, &info, &mode)?;
//! assert_eq!(timeline.spans().len(), 1);
//! assert_eq!(timeline.callback(&timeline.spans()[0]).name, "timer 1ms");
//! # Ok::<(), ringspin_executor::Error>(())
//! ```

#[cfg(feature = "json")]
mod chrome;
mod lanes;

#[cfg(feature = "json")]
pub use chrome::write_chrome_trace;

use ringspin_executor::{
    CallbackId, CallbackInfo, Completion, Dispatch, Error, ErrorKind, GraphInfo, Recorder, Table,
    Time,
};
use ringspin_modes::Mode;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

/// Callbacks that a recorder keeps where nothing else is asked for: some 2.5 MiB.
pub const DEFAULT_CAPACITY: usize = 65_536;

/// The callbacks that ran on each core, with their start and end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Timeline(Parts);

/// The contents of a timeline, in the form in which it is written and read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// The time that spans count from, in nanoseconds of the executor's clock.
    pub origin_ns: u64,
    /// A lane runs one callback at a time: a core, or an event loop where each has its core.
    pub lanes: Vec<Lane>,
    /// The callbacks of the graph.
    pub callbacks: Vec<TimelineCallback>,
    /// The calls, by rising start.
    pub spans: Vec<Span>,
    /// Earlier callbacks that are missing, because recorders keep only the newest.
    #[serde(default)]
    pub displaced: u64,
}

/// A core, thread or event loop that runs one callback at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// An example is `core 2`.
    pub name: String,
    /// The number of the core, if it is one of a mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<usize>,
}

/// A callback and its event loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineCallback {
    /// Its event loop: `/node`, or `/node:group`.
    pub event_loop: String,
    /// An example is `subscription /points`.
    pub name: String,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The lane that it ran on, an index of the lanes.
    pub lane: usize,
    /// The callback, an index of the callbacks.
    pub callback: usize,
    /// Start time, in nanoseconds since the origin.
    pub start_ns: u64,
    /// End time, in nanoseconds since the origin.
    pub end_ns: u64,
    /// The source of its event, as in a trace.
    pub source: u32,
    /// Zero-based sequence number of its event within the source.
    pub sequence: u64,
}

impl TryFrom<Parts> for Timeline {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self, Error> {
        let mut last_ns = 0;
        for (n, span) in parts.spans.iter().enumerate() {
            let wrong = |problem: String| {
                Error::new(ErrorKind::InvalidArgument, format!("span {n} {problem}"))
            };
            let unknown = |kind, index, count| {
                wrong(format!(
                    "names {kind} {index}, of which there are {count}: list it, or correct the span"
                ))
            };
            if span.lane >= parts.lanes.len() {
                return Err(unknown("lane", span.lane, parts.lanes.len()));
            }
            if span.callback >= parts.callbacks.len() {
                return Err(unknown("callback", span.callback, parts.callbacks.len()));
            }
            if span.end_ns < span.start_ns {
                return Err(wrong("ends before it starts; swap its times".into()));
            }
            if span.start_ns < last_ns {
                let problem = "starts before the one in front of it; sort the spans by their start";
                return Err(wrong(problem.into()));
            }
            last_ns = span.start_ns;
        }
        Ok(Self(parts))
    }
}

impl From<Timeline> for Parts {
    fn from(timeline: Timeline) -> Self {
        timeline.0
    }
}

impl Timeline {
    /// Merges the [`TimelineRecorder`]s among `recorders`, which belong to the workers of an
    /// executor of the given graph and mode. It has the calls of destroyed callbacks, and nothing
    /// of destroyed loops. Simulated times count from zero, live ones from the first callback. O(n
    /// log n) in the callbacks.
    ///
    /// # Errors
    /// Fails when the mode's mapping is not one of this graph or machine.
    pub fn of(
        recorders: impl IntoIterator<Item = Box<dyn Recorder>>,
        info: &GraphInfo,
        mode: &Mode,
    ) -> ringspin_executor::Result<Self> {
        let (lanes, lane_of) = lanes::of(info, mode)?;
        let any = recorders.into_iter().map(|recorder| recorder as Box<dyn Any>);
        let recorders: Vec<_> = any.filter_map(|r| r.downcast::<TimelineRecorder>().ok()).collect();
        let kept = || recorders.iter().flat_map(|recorder| &recorder.kept);
        let origin = match mode {
            Mode::Deterministic(_) => Time::ZERO,
            _ => kept().map(|(dispatch, _)| dispatch.time).min().unwrap_or_default(),
        };
        let since = |time: Time| time.as_nanos().saturating_sub(origin.as_nanos());
        let callback = |of: &Arc<CallbackInfo>| TimelineCallback {
            event_loop: info.loops[of.event_loop].full_name(),
            name: of.name.clone(),
        };
        let mut callbacks: Vec<_> = info.callbacks.values().map(callback).collect();
        let mut index_of: Table<CallbackId, usize> = info.callbacks.keys().zip(0..).collect();
        let span = |(dispatch, end): &(Dispatch, Time)| {
            let of = info.loops.get(dispatch.event_loop)?;
            let gone = || {
                let (event_loop, name) = (of.full_name(), info.name_of(dispatch.callback));
                callbacks.push(TimelineCallback { event_loop, name });
                callbacks.len() - 1
            };
            Some(Span {
                lane: *lane_of.get(dispatch.event_loop)?,
                callback: *index_of.get_or_insert_with(dispatch.callback, gone),
                start_ns: since(dispatch.time),
                end_ns: since(*end).max(since(dispatch.time)),
                source: dispatch.event.source.0,
                sequence: dispatch.event.sequence,
            })
        };
        let mut spans: Vec<_> = kept().filter_map(span).collect();
        spans.sort_by_key(|span| (span.start_ns, span.lane));
        Ok(Self(Parts {
            origin_ns: origin.as_nanos(),
            lanes,
            callbacks,
            spans,
            displaced: recorders.iter().map(|recorder| recorder.displaced).sum(),
        }))
    }

    /// The time that spans count from, in nanoseconds of the executor's clock.
    pub fn origin_ns(&self) -> u64 {
        self.0.origin_ns
    }

    /// Cores, or event loops where each has its own.
    pub fn lanes(&self) -> &[Lane] {
        &self.0.lanes
    }

    /// The callbacks of the graph, in order of creation.
    pub fn callbacks(&self) -> &[TimelineCallback] {
        &self.0.callbacks
    }

    /// The calls, by rising start.
    pub fn spans(&self) -> &[Span] {
        &self.0.spans
    }

    /// The callback of one of its spans.
    ///
    /// # Panics
    /// When the span is another timeline's, which has more callbacks.
    pub fn callback(&self, span: &Span) -> &TimelineCallback {
        &self.0.callbacks[span.callback]
    }

    /// Earlier callbacks that are missing, because recorders keep only the newest.
    pub fn displaced(&self) -> u64 {
        self.0.displaced
    }

    /// The part that runs between two times, in nanoseconds since the origin, both inclusive. Spans
    /// that reach over the limits keep their times.
    #[must_use]
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Self {
        let is_within = |span: &&Span| span.end_ns >= from_ns && span.start_ns <= to_ns;
        let spans = self.0.spans.iter().filter(is_within).copied().collect();
        let Parts { origin_ns, lanes, callbacks, displaced, .. } = &self.0;
        let (lanes, callbacks) = (lanes.clone(), callbacks.clone());
        Self(Parts { origin_ns: *origin_ns, lanes, callbacks, spans, displaced: *displaced })
    }
}

/// A recorder that keeps when the newest callbacks of its worker ran.
///
/// Its memory, 40 bytes for each callback that it may keep, is allocated when it is made; after
/// that recording takes constant time. In deterministic mode it sees the time of the simulation.
pub struct TimelineRecorder {
    kept: VecDeque<(Dispatch, Time)>,
    capacity: usize,
    displaced: u64,
}

impl TimelineRecorder {
    /// Keeps the newest `capacity` callbacks (at least one). For
    /// [`with_recorders`](ringspin_modes::Executor::with_recorders).
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self { kept: VecDeque::with_capacity(capacity), capacity, displaced: 0 }
    }
}

impl Recorder for TimelineRecorder {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if self.kept.len() == self.capacity {
            self.kept.pop_front();
            self.displaced += 1;
        }
        self.kept.push_back((*dispatch, completion.time));
    }
}

#[cfg(test)]
mod tests;
