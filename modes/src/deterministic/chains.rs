//! Chains: the latency from the first event of a path to its last callback, in two definitions.
//!
//! A chain is followed from event to event. An event of the first step begins a sample. Two times
//! are kept of it: its *release*, when a timer was due or a message ready to be taken, and the
//! *start* of its callback. Messages of that callback to the second step carry both, and so on to
//! the last step, where the sample ends.
//!
//! A node that joins two inputs hands on the release of the input that made it send, which is the
//! last one to come, and the newest start among the latest messages of its inputs, as the reference
//! system counts. A node that keeps its input until a timer sends it ends every sample, because the
//! timer, not the message, is the cause of what it sends.
//!
//! Nothing else of the run is kept: for each message on its way to a step its number and origin, in
//! the order of sending, until a later one has come far enough.

use crate::edges::{GraphEdge, graph_edges};
use crate::error::ChainError;
use crate::names::{callback_labels, names_loop, way_out};
use ringspin_executor::{CallbackId, Dispatch, EventId, GraphInfo, LoopId, SourceId, Table, Time};
use std::collections::VecDeque;

/// A path through the graph, to be followed in simulated time.
///
/// A step is an event loop, `/node` (any of its callback groups) or `/node:group`, or one of its
/// callbacks: `/node subscription /points`. Steps that are as good as each other, such as two
/// branches of which the last one to arrive counts, are joined by `|`.
///
/// ```
/// use ringspin_modes::ChainPath;
/// let path = ChainPath::new("points", ["/front | /rear", "/fusion", "/filter:points"]);
/// assert_eq!(path.steps.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPath {
    /// The name of the chain.
    pub name: String,
    /// The steps, first to last.
    pub steps: Vec<String>,
}

/// Latency samples of a chain, one for each message that reached its end, in the order in which
/// they came there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainSamples {
    /// From the start of the first callback, the newest one of joined inputs, to the start of the
    /// last callback, in nanoseconds: the *sample to start* of the reference system. It leaves out
    /// how long the first event waited for its own callback, so that a schedule can improve it by
    /// delaying a source.
    pub sample_to_start_ns: Vec<u64>,
    /// From the release of the first event (a timer was due, or a message ready to be taken) to the
    /// end of the last callback, in nanoseconds.
    pub release_to_end_ns: Vec<u64>,
    /// The release of each of these samples, in nanoseconds.
    pub released_ns: Vec<u64>,
    /// The release of each sample that was sent to the second step, in nanoseconds, whether it
    /// ended or not. Of parallel first steps, those of the branch with the fewest.
    pub started_ns: Vec<u64>,
    /// Number of samples above the [limit](ChainSamples::KEPT_MAX), which are not kept.
    pub not_kept: u64,
    /// Number of origins that were dropped because [too many](ChainSamples::UNDER_WAY_MAX) messages
    /// were under way to a step.
    pub given_up: u64,
    /// Number of steps, from the first one, that an event reached.
    pub steps_reached: usize,
}

impl ChainSamples {
    /// Maximum number of samples of a chain that are kept.
    pub const KEPT_MAX: usize = 1 << 20;
    /// Maximum number of messages of one publisher under way to a step.
    pub const UNDER_WAY_MAX: usize = 1 << 16;
}

impl ChainPath {
    /// A chain through `steps`.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        steps: impl IntoIterator<Item = S>,
    ) -> Self {
        Self { name: name.into(), steps: steps.into_iter().map(Into::into).collect() }
    }

    /// The callbacks that each step can mean, ascending: of the first step all that it names, of
    /// the others those that the step before it feeds. O(steps * (callbacks + edges)).
    ///
    /// # Errors
    /// [`ChainError`] if the graph cannot have such a path.
    pub fn resolve(&self, info: &GraphInfo) -> Result<Vec<Vec<CallbackId>>, ChainError> {
        Ok(self.callbacks_and_edges(info, &graph_edges(info))?.0)
    }

    /// The callbacks of each step, and by which edges they are reached: none for the first.
    #[expect(clippy::type_complexity, reason = "two lists that are taken apart at once")]
    fn callbacks_and_edges<'a>(
        &self,
        info: &GraphInfo,
        edges: &[GraphEdge<'a>],
    ) -> Result<(Vec<Vec<CallbackId>>, Vec<Vec<GraphEdge<'a>>>), ChainError> {
        let labels = callback_labels(info);
        let (mut callbacks, mut ways) = (Vec::<Vec<CallbackId>>::new(), Vec::new());
        for (n, step) in self.steps.iter().enumerate() {
            let mut named = self.named(step, info, &labels)?;
            let mut way = Vec::new();
            if n > 0 {
                let loops: Vec<LoopId> =
                    callbacks[n - 1].iter().map(|&c| info.callbacks[c].event_loop).collect();
                let is_way = |edge: &&GraphEdge<'_>| {
                    loops.contains(&edge.from) && named.contains(&edge.callback)
                };
                way.extend(edges.iter().filter(is_way).copied());
                if way.is_empty() {
                    return Err(self.not_connected(n, &loops, info, edges));
                }
                named.retain(|&c| way.iter().any(|edge| edge.callback == c));
            }
            callbacks.push(named);
            ways.push(way);
        }
        match callbacks.is_empty() {
            true => Err(ChainError::Empty { chain: self.name.clone() }),
            false => Ok((callbacks, ways)),
        }
    }

    /// The callbacks that `step` names.
    fn named(
        &self,
        step: &str,
        info: &GraphInfo,
        labels: &Table<CallbackId, String>,
    ) -> Result<Vec<CallbackId>, ChainError> {
        let mut named = Vec::new();
        for one in step.split('|').map(str::trim) {
            let (name, callback) = match one.split_once(' ') {
                Some((name, callback)) => (name, Some(callback.trim())),
                None => (one, None),
            };
            let unknown = |way_out| ChainError::Unknown {
                chain: self.name.clone(),
                step: one.to_owned(),
                way_out,
            };
            let mut loops = info.loops.values().filter(|of| names_loop(name, of)).peekable();
            if loops.peek().is_none() {
                let known = info.loops.values().map(|of| of.full_name());
                return Err(unknown(way_out(name, known, "it has no nodes at all")));
            }
            let of_loops: Vec<_> = loops.flat_map(|of| of.callbacks.iter().copied()).collect();
            let is_it = |&&c: &&CallbackId| {
                callback.is_none_or(|name| name == labels[c] || name == info.callbacks[c].name)
            };
            let before = named.len();
            named.extend(of_loops.iter().filter(is_it));
            if named.len() == before {
                let known = of_loops.iter().map(|&c| format!("{name} {}", labels[c]));
                return Err(unknown(way_out(one, known, "it has no callbacks at all")));
            }
        }
        named.sort_unstable();
        named.dedup();
        Ok(named)
    }

    fn not_connected(
        &self,
        step: usize,
        from: &[LoopId],
        info: &GraphInfo,
        edges: &[GraphEdge<'_>],
    ) -> ChainError {
        let fed = edges.iter().filter(|edge| from.contains(&edge.from));
        let fed = fed.map(|edge| info.loops[edge.to].full_name());
        let none = "it has no successor: end the chain there";
        ChainError::NotConnected {
            chain: self.name.clone(),
            from: self.steps[step - 1].clone(),
            to: self.steps[step].clone(),
            way_out: way_out(&self.steps[step], fed, none),
        }
    }
}

/// Follows chains.
pub(crate) struct Follower {
    chains: Vec<Chain>,
    /// By callback: which steps of which chains it is, if it is any.
    steps_of: Table<CallbackId, Vec<NodeConfig>>,
    /// Of the callback that runs.
    running: Vec<(NodeConfig, Origin)>,
}

/// The steps of a callback that has not ended.
pub(super) struct SuspendedSteps(Vec<(NodeConfig, Origin)>);

/// The first event of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    /// The release of the event.
    released: Time,
    /// The start of its callback; of several joined samples, the newest one.
    started: Time,
}

#[derive(Clone, Copy)]
struct NodeConfig {
    chain: usize,
    step: usize,
}

struct Chain {
    /// By step: what is under way to it.
    arrivals: Vec<Vec<Arrivals>>,
    /// By source of the second step: the releases of what it was sent. One for a single step.
    started_ns: Vec<Vec<u64>>,
    samples: ChainSamples,
}

/// The messages that one source has sent to one step.
struct Arrivals {
    source: SourceId,
    /// Number and origin, in the order of their numbers.
    under_way: VecDeque<(u64, Origin)>,
    /// When the sample of the latest message that the step took started.
    latest: Time,
}

/// How far behind a message that has arrived others are still waited for that it has overtaken.
const OVERTAKEN_MAX: u64 = 64;

impl Follower {
    /// Of `paths` through this graph; `None` if there are none.
    pub(crate) fn new(paths: &[ChainPath], info: &GraphInfo) -> Result<Option<Self>, ChainError> {
        let edges = graph_edges(info);
        let mut steps_of = Table::<_, Vec<_>>::new();
        let mut chains = Vec::new();
        for (chain, path) in paths.iter().enumerate() {
            let (callbacks, ways) = path.callbacks_and_edges(info, &edges)?;
            for (step, callbacks) in callbacks.iter().enumerate() {
                for &callback in callbacks {
                    let steps = steps_of.get_or_insert_with(callback, Vec::new);
                    steps.push(NodeConfig { chain, step });
                }
            }
            let arrivals = ways.iter().map(|way| {
                let mut sources: Vec<_> = way.iter().map(|edge| edge.source).collect();
                sources.sort_unstable();
                sources.dedup();
                let arrivals =
                    |source| Arrivals { source, under_way: VecDeque::new(), latest: Time::ZERO };
                sources.into_iter().map(arrivals).collect()
            });
            let arrivals: Vec<Vec<Arrivals>> = arrivals.collect();
            let started_ns = vec![Vec::new(); arrivals.get(1).map_or(1, Vec::len)];
            chains.push(Chain { arrivals, started_ns, samples: ChainSamples::default() });
        }
        Ok((!chains.is_empty()).then_some(Self { chains, steps_of, running: Vec::new() }))
    }

    /// A callback begins, for an event that was released then.
    pub(super) fn started(&mut self, dispatch: &Dispatch, released: Time) {
        self.running.clear();
        for &place in self.steps_of.get(dispatch.callback).into_iter().flatten() {
            let chain = &mut self.chains[place.chain];
            let origin = match place.step {
                0 => Some(Origin { released, started: dispatch.time }),
                step => Arrivals::take(&mut chain.arrivals[step], dispatch.event),
            };
            if let Some(origin) = origin {
                chain.samples.steps_reached = chain.samples.steps_reached.max(place.step + 1);
                self.running.push((place, origin));
            }
        }
    }

    /// The steps that the callback that began last is, to be [resumed](Self::resume) at its end.
    pub(super) fn suspend(&mut self) -> SuspendedSteps {
        SuspendedSteps(std::mem::take(&mut self.running))
    }

    /// A callback goes on that was suspended.
    pub(super) fn resume(&mut self, steps: SuspendedSteps) {
        self.running = steps.0;
    }

    /// The callback that began or went on last returns at `end`, and has sent these.
    pub(super) fn finished(&mut self, dispatch: &Dispatch, end: Time, sent: &[EventId]) {
        for &(NodeConfig { chain, step }, origin) in &self.running {
            let Chain { arrivals, started_ns, samples } = &mut self.chains[chain];
            let Some(next) = arrivals.get_mut(step + 1) else {
                if step == 0 {
                    note_start(&mut started_ns[0], origin);
                }
                samples.add(origin, dispatch.time, end);
                continue;
            };
            for event in sent {
                if let Some(index) = next.iter().position(|of| of.source == event.source) {
                    if step == 0 {
                        note_start(&mut started_ns[index], origin);
                    }
                    samples.given_up += u64::from(!next[index].add(event.sequence, origin));
                }
            }
        }
        self.running.clear();
    }

    /// The samples so far, in the order of the chains.
    pub(super) fn samples(&self) -> Vec<ChainSamples> {
        let of_chain = |chain: &Chain| {
            let branches = chain.started_ns.iter().filter(|branch| !branch.is_empty());
            let started_ns = branches.min_by_key(|branch| branch.len()).cloned();
            ChainSamples { started_ns: started_ns.unwrap_or_default(), ..chain.samples.clone() }
        };
        self.chains.iter().map(of_chain).collect()
    }
}

impl ChainSamples {
    fn add(&mut self, origin: Origin, start: Time, end: Time) {
        if self.release_to_end_ns.len() >= Self::KEPT_MAX {
            self.not_kept += 1;
            return;
        }
        self.sample_to_start_ns.push((start - origin.started).as_nanos() as u64);
        self.release_to_end_ns.push((end - origin.released).as_nanos() as u64);
        self.released_ns.push(origin.released.as_nanos());
    }
}

/// Notes that a sample was sent to the second step; several messages of one callback are one.
fn note_start(started_ns: &mut Vec<u64>, origin: Origin) {
    let released_ns = origin.released.as_nanos();
    if started_ns.last() != Some(&released_ns) && started_ns.len() < ChainSamples::KEPT_MAX {
        started_ns.push(released_ns);
    }
}

impl Arrivals {
    /// Those from `source`; most steps have one source.
    #[inline]
    fn of(all: &mut [Self], source: SourceId) -> Option<&mut Self> {
        all.iter_mut().find(|arrivals| arrivals.source == source)
    }

    /// The origin of an event that a step takes, with the newest start of its inputs.
    fn take(all: &mut [Self], event: EventId) -> Option<Origin> {
        let arrivals = Self::of(all, event.source)?;
        let origin = arrivals.origin(event.sequence)?;
        arrivals.latest = origin.started;
        let newest = all.iter().map(|arrivals| arrivals.latest).max();
        Some(Origin { started: newest.unwrap_or(origin.started), ..origin })
    }

    /// Notes what was sent; false if another one had to be given up for it.
    fn add(&mut self, sequence: u64, origin: Origin) -> bool {
        if self.under_way.back().is_some_and(|(last, _)| *last >= sequence) {
            return true; // it goes to another callback as well
        }
        let given_up = self.under_way.len() >= ChainSamples::UNDER_WAY_MAX;
        if given_up {
            self.under_way.pop_front();
        }
        self.under_way.push_back((sequence, origin));
        !given_up
    }

    /// The origin of what has arrived. It is kept for a while, because it may arrive at another
    /// callback, too, or again; what lies far behind it was overwritten or lost.
    fn origin(&mut self, sequence: u64) -> Option<Origin> {
        while self.under_way.front().is_some_and(|(n, _)| n + OVERTAKEN_MAX < sequence) {
            self.under_way.pop_front();
        }
        let place = self.under_way.binary_search_by_key(&sequence, |(n, _)| *n).ok()?;
        Some(self.under_way[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_under_way_are_bounded() {
        let mut arrivals =
            Arrivals { source: SourceId(0), under_way: VecDeque::new(), latest: Time::ZERO };
        let max = ChainSamples::UNDER_WAY_MAX as u64;
        let origin = |n| Origin { released: Time::from_nanos(n), started: Time::from_nanos(n + 1) };
        assert!((0..max).all(|n| arrivals.add(n, origin(n))));
        assert!(arrivals.add(max - 1, origin(0)), "the same message, for another callback");
        assert!(!arrivals.add(max, origin(max)));
        assert_eq!(arrivals.under_way.len() as u64, max);
        assert_eq!(arrivals.origin(0), None);
        assert_eq!(arrivals.origin(1000), Some(origin(1000)));
        assert_eq!(arrivals.origin(1000), Some(origin(1000)), "a copy");
        assert_eq!(arrivals.origin(1000 - OVERTAKEN_MAX), Some(origin(1000 - OVERTAKEN_MAX)));
        assert_eq!(arrivals.origin(1000 - OVERTAKEN_MAX - 1), None);
        arrivals.origin(max);
        assert_eq!(arrivals.under_way.len() as u64, OVERTAKEN_MAX + 1);
    }
}
