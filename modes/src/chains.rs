//! Chains: the latency from the first event of a path to its last callback, in every mode.
//!
//! An event of the first step begins a sample. Two times are kept of it: its *release*, when a
//! timer was due or a message ready to be taken, and the *start* of its callback. Messages of that
//! callback to the second step carry both as their causal stamp (see [`CausalStamps`]), and so on
//! to the last step, where the sample ends. The recorder of each worker reads the stamps of the
//! messages that its callbacks take, and adds the samples that end there.
//!
//! A node that joins two inputs hands on the release of the input that made it send, which is the
//! last one to come, and the newest start among the latest messages of its inputs, as the reference
//! system counts. A node that keeps its input until a timer sends it ends every sample, because the
//! timer, not the message, is the cause of its messages.

use crate::edges::{GraphEdge, graph_edges};
use crate::names::{callback_labels, names_loop, way_out};
use ringspin_executor::{
    CallbackId, CausalStamp, CausalStamps, Completion, Dispatch, Error, ErrorKind, EventOrigin,
    GraphChange, GraphInfo, LoopId, Recorder, Result, SourceId, StampHop, StepId, Table, Time,
};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A path through the graph, to be followed while it runs, and how fast it should be.
///
/// A step is an event loop, `/node` (any of its callback groups) or `/node:group`, or one of its
/// callbacks: `/node subscription /points`. Steps that are as good as each other, such as two
/// branches of which the last one to arrive counts, are joined by `|`.
///
/// ```
/// use ringspin_modes::Chain;
/// use std::time::Duration;
/// let chain = Chain::new("points", ["/front | /rear", "/fusion", "/filter:points"])
///     .with_deadline(Duration::from_millis(50));
/// assert_eq!(chain.steps.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The name of the chain.
    pub name: String,
    /// The steps, first to last.
    pub steps: Vec<String>,
    /// The longest latency, for a benchmark and the optimizer; a longer one is a miss.
    pub deadline: Option<Duration>,
    /// The weight in the objective of the optimizer relative to other chains, 1.0 unless set. A
    /// chain of weight 0.0 is measured and reported, but not optimized.
    pub weight: f64,
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
    /// From the start of the first callback, the newest one of joined inputs, to the end of the
    /// last callback, in nanoseconds.
    pub start_to_end_ns: Vec<u64>,
    /// The release of each of these samples, in nanoseconds.
    pub released_ns: Vec<u64>,
    /// The release of each sample that was sent to the second step, in nanoseconds, whether it
    /// ended or not. Of parallel first steps, those of the branch with the fewest.
    pub started_ns: Vec<u64>,
    /// Number of samples above the [limit](ChainSamples::KEPT_MAX), which are not kept.
    pub not_kept: u64,
    /// Number of steps, from the first one, that an event reached.
    pub steps_reached: usize,
}

impl ChainSamples {
    /// Maximum number of samples of a chain that are kept.
    pub const KEPT_MAX: usize = CausalStamps::RELEASES_MAX;

    /// With the releases that were sent to the second of so many steps, by branch. Samples of one
    /// step start where they end.
    fn with_started(mut self, branches: Vec<Vec<u64>>, steps: usize) -> Self {
        self.started_ns = if steps == 1 {
            self.released_ns.clone()
        } else {
            let branches = branches.into_iter().filter(|branch| !branch.is_empty());
            branches.min_by_key(Vec::len).unwrap_or_default()
        };
        self
    }
}

impl Chain {
    /// A chain of weight 1.0 through `steps`, without a deadline.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        steps: impl IntoIterator<Item = S>,
    ) -> Self {
        let steps = steps.into_iter().map(Into::into).collect();
        Self { name: name.into(), steps, deadline: None, weight: 1.0 }
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Sets the weight. It must be finite and not negative, which the optimizer checks.
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The callbacks that each step can mean, ascending: of the first step all that it names, of
    /// the others those that the step before it feeds. O(steps * (callbacks + edges)).
    ///
    /// # Errors
    /// Fails if the graph cannot have such a path.
    pub fn resolve(&self, info: &GraphInfo) -> Result<Vec<Vec<CallbackId>>> {
        Ok(self.callbacks_and_edges(info, &graph_edges(info))?.0)
    }

    /// The callbacks of each step, and by which edges they are reached: none for the first.
    #[expect(clippy::type_complexity, reason = "two lists that are taken apart at once")]
    fn callbacks_and_edges<'a>(
        &self,
        info: &GraphInfo,
        edges: &[GraphEdge<'a>],
    ) -> Result<(Vec<Vec<CallbackId>>, Vec<Vec<GraphEdge<'a>>>)> {
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
            true => {
                let chain = &self.name;
                let text =
                    format!("chain {chain:?} has no steps; name the event loops that it visits");
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
            false => Ok((callbacks, ways)),
        }
    }

    fn named(
        &self,
        step: &str,
        info: &GraphInfo,
        labels: &Table<CallbackId, String>,
    ) -> Result<Vec<CallbackId>> {
        let mut named = Vec::new();
        for one in step.split('|').map(str::trim) {
            let (name, callback) = match one.split_once(' ') {
                Some((name, callback)) => (name, Some(callback.trim())),
                None => (one, None),
            };
            let unknown = |way_out: String| {
                let chain = &self.name;
                let text = format!(
                    "chain {chain:?} visits `{step}`, which the graph does not have; {way_out}"
                );
                Error::new(ErrorKind::NotFound, text)
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
    ) -> Error {
        let fed = edges.iter().filter(|edge| from.contains(&edge.from));
        let fed = fed.map(|edge| info.loops[edge.to].full_name());
        let none = "it has no successor: end the chain there";
        let (chain, from, to) = (&self.name, &self.steps[step - 1], &self.steps[step]);
        let way_out = way_out(to, fed, none);
        let text = format!(
            "chain {chain:?} goes from `{from}` to `{to}`, but nothing is sent there; {way_out}"
        );
        Error::new(ErrorKind::NotFound, text)
    }
}

/// Follows chains for one worker; clones serve the other workers of the graph.
#[derive(Clone)]
pub(crate) struct Follower {
    stamps: CausalStamps,
    /// By callback: its steps, each with its chain.
    steps_of: Arc<Table<CallbackId, Vec<ChainStep>>>,
    chains: Arc<Mutex<Vec<Followed>>>,
    /// The storage of the steps of the last callback, for the next one.
    spare: RunningSteps,
}

/// The steps of a callback that has not ended, with the origins of their samples.
pub(crate) type RunningSteps = Vec<(StepId, CausalStamp)>;

#[derive(Clone, Copy)]
struct ChainStep {
    chain: usize,
    step: usize,
    id: StepId,
}

struct Followed {
    /// The first of its steps; the others follow.
    first: StepId,
    /// By step: the sources that feed it, with the start of the sample of the latest message taken.
    latest: Vec<Vec<(SourceId, Time)>>,
    samples: ChainSamples,
}

impl Follower {
    /// Of `paths` through this graph; `None` if there are none.
    pub(crate) fn new(paths: &[Chain], info: &GraphInfo) -> Result<Option<Self>> {
        let edges = graph_edges(info);
        let mut steps_of = Table::<_, Vec<_>>::new();
        let (mut chains, mut hops) = (Vec::new(), Vec::new());
        let mut next = 0;
        for (chain, path) in paths.iter().enumerate() {
            let (callbacks, ways) = path.callbacks_and_edges(info, &edges)?;
            let first = StepId(next);
            let ids = (next..).map(StepId);
            next += callbacks.len() as u32;
            for (step, (id, callbacks)) in ids.zip(&callbacks).enumerate() {
                for &callback in callbacks {
                    let steps = steps_of.get_or_insert_with(callback, Vec::new);
                    steps.push(ChainStep { chain, step, id });
                }
                let is_first = |edge: &&GraphEdge<'_>| callbacks.contains(&edge.callback);
                let way: Vec<_> = match step {
                    0 => edges.iter().filter(is_first).copied().collect(),
                    _ => ways[step].clone(),
                };
                hops.extend(way.iter().map(|edge| StampHop {
                    source: edge.source,
                    callback: edge.callback,
                    from: (step > 0).then(|| StepId(id.0 - 1)),
                    to: id,
                    is_counted: step == 1,
                }));
            }
            let latest = ways.iter().map(|way| {
                let mut sources: Vec<_> =
                    way.iter().map(|edge| (edge.source, Time::ZERO)).collect();
                sources.sort_unstable();
                sources.dedup();
                sources
            });
            let latest = latest.collect();
            chains.push(Followed { first, latest, samples: ChainSamples::default() });
        }
        Ok((!chains.is_empty()).then(|| Self {
            stamps: CausalStamps::new(hops),
            steps_of: Arc::new(steps_of),
            chains: Arc::new(Mutex::new(chains)),
            spare: Vec::new(),
        }))
    }

    /// The stamps that the messages of the graph are to carry.
    pub(crate) fn stamps(&self) -> &CausalStamps {
        &self.stamps
    }

    /// A callback begins for an event of this origin. If `released` is `None`, the origin tells the
    /// release of the event.
    pub(crate) fn started(
        &mut self,
        dispatch: &Dispatch,
        origin: EventOrigin,
        released: Option<Time>,
    ) {
        let Some(steps) = self.steps_of.get(dispatch.callback) else { return };
        let mut running = std::mem::take(&mut self.spare);
        let mut chains = locked(&self.chains);
        for step in steps {
            let chain = &mut chains[step.chain];
            let carried = match origin {
                EventOrigin::Message { slot } => {
                    self.stamps.get(dispatch.callback, step.id, dispatch.event.source, slot)
                }
                _ => None,
            };
            let stamp = match step.step {
                0 => {
                    let released = released.unwrap_or_else(|| match origin {
                        EventOrigin::Timer(due) => due,
                        _ => carried.map_or(dispatch.time, |stamp| stamp.released),
                    });
                    Some(CausalStamp { released, started: dispatch.time })
                }
                n => carried.and_then(|stamp| chain.join(n, dispatch, stamp)),
            };
            if let Some(stamp) = stamp {
                chain.samples.steps_reached = chain.samples.steps_reached.max(step.step + 1);
                running.push((step.id, stamp));
            }
        }
        drop(chains);
        self.stamps.enter(running);
    }

    /// The callback has returned, but in simulated time it still runs. Its steps are to be
    /// [ended](Self::ended).
    pub(crate) fn suspend(&mut self, dispatch: &Dispatch) -> RunningSteps {
        match self.steps_of.contains(dispatch.callback) {
            true => self.stamps.leave(),
            false => Vec::new(),
        }
    }

    /// The callback that began last ends at `end`.
    pub(crate) fn finished(&mut self, dispatch: &Dispatch, end: Time) {
        let steps = self.suspend(dispatch);
        self.ended(steps, dispatch, end);
    }

    /// A callback that was these steps ends at `end`.
    pub(crate) fn ended(&mut self, mut running: RunningSteps, dispatch: &Dispatch, end: Time) {
        let Some(steps) = self.steps_of.get(dispatch.callback) else { return };
        let mut chains = locked(&self.chains);
        for step in steps {
            let chain = &mut chains[step.chain];
            let stamp = running.iter().find(|(id, _)| *id == step.id);
            if let Some((_, stamp)) = stamp.filter(|_| step.step + 1 == chain.latest.len()) {
                chain.samples.add(stamp, dispatch.time, end);
            }
        }
        running.clear();
        self.spare = running;
    }

    /// The samples so far, in the order of the chains.
    pub(crate) fn samples(&self) -> Vec<ChainSamples> {
        let of_chain = |chain: &Followed| {
            let branches = self.stamps.releases_ns(StepId(chain.first.0 + 1));
            chain.samples.clone().with_started(branches, chain.latest.len())
        };
        locked(&self.chains).iter().map(of_chain).collect()
    }

    /// Takes the samples so far: the next ones begin anew.
    fn take_samples(&self) -> Vec<ChainSamples> {
        let of_chain = |chain: &mut Followed| {
            let steps_reached = chain.samples.steps_reached;
            let next = ChainSamples { steps_reached, ..ChainSamples::default() };
            let samples = std::mem::replace(&mut chain.samples, next);
            let branches = self.stamps.take_releases_ns(StepId(chain.first.0 + 1));
            samples.with_started(branches, chain.latest.len())
        };
        locked(&self.chains).iter_mut().map(of_chain).collect()
    }

    pub(crate) fn reader(&self) -> ChainReader {
        ChainReader(self.clone())
    }
}

/// Reads the samples of the chains of a running executor, from any thread.
#[derive(Clone)]
pub struct ChainReader(Follower);

impl ChainReader {
    /// The samples since the last call, in the order of the chains.
    pub fn take(&self) -> Vec<ChainSamples> {
        self.0.take_samples()
    }
}

impl std::fmt::Debug for ChainReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChainReader").finish_non_exhaustive()
    }
}

/// Locks the chains. A panic of a recorder stops the executor, so poisoning is ignored.
fn locked(chains: &Mutex<Vec<Followed>>) -> MutexGuard<'_, Vec<Followed>> {
    chains.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Followed {
    /// The stamp of the message that a step takes, with the newest start of its inputs.
    fn join(
        &mut self,
        step: usize,
        dispatch: &Dispatch,
        stamp: CausalStamp,
    ) -> Option<CausalStamp> {
        let inputs = &mut self.latest[step];
        let input = inputs.iter_mut().find(|(source, _)| *source == dispatch.event.source)?;
        input.1 = stamp.started;
        let newest = inputs.iter().map(|(_, started)| *started).max();
        Some(CausalStamp { started: newest.unwrap_or(stamp.started), ..stamp })
    }
}

impl ChainSamples {
    fn add(&mut self, stamp: &CausalStamp, start: Time, end: Time) {
        if self.release_to_end_ns.len() >= Self::KEPT_MAX {
            self.not_kept += 1;
            return;
        }
        self.sample_to_start_ns.push((start - stamp.started).as_nanos() as u64);
        self.release_to_end_ns.push((end - stamp.released).as_nanos() as u64);
        self.start_to_end_ns.push((end - stamp.started).as_nanos() as u64);
        self.released_ns.push(stamp.released.as_nanos());
    }
}

/// The recorder of a live worker: follows chains, and tells the user's recorder.
pub(crate) struct ChainRecorder {
    follower: Follower,
    next: Option<Box<dyn Recorder>>,
}

impl ChainRecorder {
    pub(crate) fn boxed(follower: &Follower, next: Option<Box<dyn Recorder>>) -> Box<dyn Recorder> {
        Box::new(Self { follower: follower.clone(), next })
    }

    /// The user's recorder within `recorder`, which may be that itself.
    pub(crate) fn unwrap(recorder: Box<dyn Recorder>) -> Option<Box<dyn Recorder>> {
        match (&*recorder as &dyn Any).is::<Self>() {
            true => (recorder as Box<dyn Any>).downcast::<Self>().ok()?.next,
            false => Some(recorder),
        }
    }
}

impl Recorder for ChainRecorder {
    fn started(&mut self, dispatch: &Dispatch) {
        self.started_by(dispatch, EventOrigin::Other);
    }

    fn started_by(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        self.follower.started(dispatch, origin, None);
        self.next.iter_mut().for_each(|next| next.started_by(dispatch, origin));
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.follower.finished(dispatch, completion.time);
        self.next.iter_mut().for_each(|next| next.finished(dispatch, completion));
    }

    fn changed(&mut self, change: &GraphChange) {
        self.next.iter_mut().for_each(|next| next.changed(change));
    }
}
