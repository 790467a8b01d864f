//! The mapping of a running executor, improved while it runs.
//!
//! ```text
//! spin ─▶ profile, live ─▶ search on the twin ─▶ compare, live in turns ─▶ keep or revert ─▶ spin
//!   └──────────────────────── a chain became slower or faster ◀──────────────────────────────┘
//! ```
//!
//! The executor runs all the time: the search has a thread of the lowest priority, and watching the
//! chains another one that wakes once a span. Between two spins the thread that spins exchanges
//! recorders or moves loops, which takes a fraction of a millisecond. So a spin is interrupted only
//! around a decision.

use crate::assignment::Assignment;
use crate::confirm::median;
use crate::evaluation::{ChainLatency, Evaluation};
use crate::objective::{Objective, Score};
use crate::search::{Found, SearchOptions, search};
use crate::twin::Twin;
use ringspin_executor::{BoxError, Error, ErrorKind, Graph, Recorder, Result, Time};
use ringspin_modes::{Chain, ChainReader, Executor, Mapping, Optimize, catch_part, thread};
use ringspin_simulation::models::{Profile, Profiler};
use std::any::Any;
use std::iter::repeat_with;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// The cost of a message between cores on the twin: about the wake-up of a parked worker on two
/// virtual cores (`cargo bench -p ringspin-benches --bench delivery`, parked). A live profile
/// cannot tell it, because loops move meanwhile.
const CROSSING: Duration = Duration::from_micros(20);

/// The number of calls of each worker from which a profile learns when callbacks send: 640 KB.
const CALLS: usize = 1 << 14;

/// How the mapping of a running executor is improved.
#[derive(Clone, Debug)]
pub struct OnlineOptions {
    /// The budget of a search. Its number of cores is ignored: a search is for the
    /// [shared cores](Executor::shared_cores) of the executor.
    pub search: SearchOptions,
    /// The simulated time in which the twin judges a mapping.
    pub horizon: Duration,
    /// The order of mappings.
    pub objective: Objective,
    /// The length of a profile, of a turn of a comparison, and of the watch for a drift: several
    /// periods of the slowest timer.
    pub span: Duration,
    /// The number of turns in a comparison, of each of the two mappings.
    pub turns: usize,
    /// The part by which the mean latency of a chain has to differ from that of the last decision,
    /// in two spans one after the other, for a new search.
    pub drift: f64,
}

impl Default for OnlineOptions {
    /// 600 evaluations, spans of 10 s, 3 turns, and a drift of a quarter.
    fn default() -> Self {
        Self {
            search: SearchOptions { evaluations: 600, ..SearchOptions::new(1) },
            horizon: Twin::HORIZON,
            objective: Objective::default(),
            span: Duration::from_secs(10),
            turns: 3,
            drift: 0.25,
        }
    }
}

/// A decision about a mapping.
#[derive(Clone, Debug)]
pub struct Decision {
    /// When, in the time of the executor.
    pub at: Time,
    /// The mapping that the search found.
    pub mapping: Mapping,
    /// The median of the turns without it.
    pub before: Evaluation,
    /// The median of the turns with it.
    pub after: Evaluation,
    /// Whether it stays: it was better in the median, and in more than half of the turns.
    pub is_kept: bool,
}

/// Improves the mapping of an executor while it runs.
///
/// `build` declares the graph once more, without its work, for the [`Twin`]; the twin's figures
/// only propose, and a comparison of the running system decides. All loops are placed: entries of
/// the mapping that the executor starts with hold until the first decision.
///
/// ```
/// use ringspin_executor::{BoxError, Graph, Message, QoS};
/// use ringspin_modes::{Executor, Mapping};
/// use ringspin_optimizer::{Chain, Online, OnlineOptions};
/// use std::time::Duration;
///
/// fn build(graph: &Graph) -> Result<(), BoxError> {
///     let lidar = graph.create_node("lidar", 0u32)?;
///     let out = lidar.create_publisher("points", QoS::sensor_data())?;
///     lidar.create_timer(Duration::from_millis(1), move |n, _| {
///         *n += 1;
///         out.publish(*n)
///     })?;
///     let fusion = graph.create_node("fusion", ())?;
///     fusion.create_subscription("points", QoS::sensor_data(), |_, _: &Message<u32>, _| ())?;
///     Ok(())
/// }
///
/// let chains = vec![Chain::new("points", ["/lidar", "/fusion"])];
/// let mapping: Mapping = "optimize = \"online\"".parse()?; // from RINGSPIN_MAPPING, for example
/// let mut executor = Executor::multi_core(mapping).with_chains(chains.clone());
/// build(executor.graph())?;
/// let options = OnlineOptions { span: Duration::from_millis(20), ..OnlineOptions::default() };
/// let mut online = Online::new(build, chains, options);
/// online.spin_for(&mut executor, Duration::from_millis(50))?;
/// # Ok::<(), BoxError>(())
/// ```
pub struct Online<'a> {
    build: Build<'a>,
    chains: Vec<Chain>,
    options: OnlineOptions,
    /// Whether a search has ended, with a mapping or an error.
    has_searched: bool,
    /// The latencies of the chains at the last decision.
    reference: Option<Vec<ChainLatency>>,
    decisions: Vec<Decision>,
}

type Build<'a> = Box<dyn Fn(&Graph) -> Result<Box<dyn Any>, BoxError> + Send + Sync + 'a>;

impl<'a> Online<'a> {
    /// Improves the mappings of executors that [follow](Executor::with_chains) these chains and
    /// have the graph that `build` declares.
    pub fn new<T: 'static>(
        build: impl Fn(&Graph) -> Result<T, BoxError> + Send + Sync + 'a,
        chains: Vec<Chain>,
        options: OnlineOptions,
    ) -> Self {
        let build: Build<'a> = Box::new(move |graph| Ok(Box::new(build(graph)?)));
        let (reference, decisions) = (None, Vec::new());
        Self { build, chains, options, has_searched: false, reference, decisions }
    }

    /// The decisions so far.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Runs like [`Executor::spin`], see [`spin_for`](Self::spin_for).
    ///
    /// # Errors
    /// The errors of the executor; it does not follow the chains.
    pub fn spin(&mut self, executor: &mut Executor) -> Result<()> {
        self.spin_to(executor, Time::MAX)
    }

    /// Runs like [`Executor::spin_for`]. In multi-core mode, with a mapping that has `optimize =
    /// "online"`, it improves the mapping at first and after each drift, unless the loops are fixed
    /// or there is one core. A search that fails is a warning in the log.
    ///
    /// # Errors
    /// The errors of the executor; it does not follow the chains.
    pub fn spin_for(&mut self, executor: &mut Executor, duration: Duration) -> Result<()> {
        executor.freeze()?;
        let end = executor.now() + duration;
        self.spin_to(executor, end)
    }

    fn spin_to(&mut self, executor: &mut Executor, end: Time) -> Result<()> {
        executor.freeze()?;
        let mapping = executor.mode().mapping().filter(|_| has_several_cores(executor));
        if mapping.is_none_or(|mapping| mapping.optimize != Some(Optimize::Online)) {
            return executor.spin_until(end);
        }
        let mut is_wanted = !self.has_searched;
        loop {
            if is_wanted {
                self.optimize(executor, end)?;
            }
            if is_over(executor, end) {
                return Ok(());
            }
            let (reader, span) = (self.reader(executor)?, self.options.span);
            let reference = self.reference.clone();
            let mut watch = Watch { online: self, reader, reference, drifted: 0 };
            is_wanted = beside(executor, end, move |ending| {
                loop {
                    match ending.recv_timeout(span) {
                        Err(RecvTimeoutError::Timeout) if watch.has_drifted() => return true,
                        Err(RecvTimeoutError::Timeout) => {}
                        Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
                    }
                }
            })??;
            if !is_wanted {
                return Ok(());
            }
        }
    }

    /// Runs the executor until it has profiled it, searched and compared, and keeps the better
    /// mapping. `None` if there is no decision: the executor was stopped, `end` came, or no mapping
    /// was found, of which the log has the reason.
    ///
    /// # Errors
    /// The errors of the executor; it does not follow the chains, its loops are fixed, or there is
    /// one core.
    pub fn optimize(&mut self, executor: &mut Executor, end: Time) -> Result<Option<&Decision>> {
        executor.freeze()?;
        let reader = self.reader(executor)?;
        if !has_several_cores(executor) {
            let text = "the executor has no loops that another mapping could move: give it several \
                        cores, the multi-core mode, and a mapping without a default core and \
                        `balance = false`";
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let cores = executor.shared_cores();
        let Some(profile) = self.profile(executor, end)? else { return Ok(None) };
        let searched = beside(executor, end, |ending| self.search(&profile, cores.len(), ending))?;
        if is_over(executor, end) {
            return Ok(None);
        }
        self.has_searched = true;
        let found = match searched.flatten() {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "found no mapping for the running executor");
                return Ok(None);
            }
        };
        let mappings = mappings(executor, &found.assignment, &cores);
        let decision = self.compare(executor, &reader, mappings, end)?;
        let Some(decision) = decision else { return Ok(None) };
        let last = if decision.is_kept { &decision.after } else { &decision.before };
        self.reference = Some(last.chains.clone());
        self.decisions.push(decision);
        Ok(self.decisions.last())
    }

    fn reader(&self, executor: &mut Executor) -> Result<ChainReader> {
        executor.freeze()?;
        let reader = executor.chain_reader();
        reader.filter(|reader| reader.take().len() == self.chains.len()).ok_or_else(|| {
            let text = "the executor does not follow the chains that decide about its mapping: \
                        give it the same ones, with `Executor::with_chains`";
            Error::new(ErrorKind::InvalidArgument, text)
        })
    }

    /// The durations of callbacks in a span; `None` if the executor ends before.
    fn profile(&self, executor: &mut Executor, end: Time) -> Result<Option<Profile>> {
        let info = executor.graph().info();
        let profiler = || Box::new(Profiler::with_calls(&info, CALLS)) as Box<dyn Recorder>;
        let recorders = executor.swap_recorders(repeat_with(profiler));
        let ran = executor.spin_until(end.min(executor.now() + self.options.span));
        let profilers = executor.swap_recorders(recorders);
        ran?;
        if is_over(executor, end) {
            return Ok(None);
        }
        let mut profile = Profile::of(&executor.graph().info(), profilers);
        profile.assume_hops(CROSSING);
        Ok(Some(profile))
    }

    /// Searches until `ending` has no sender any more.
    fn search(&self, profile: &Profile, cores: usize, ending: Receiver<()>) -> Result<Found> {
        thread::lower_priority();
        let twin = Twin::new(|graph: &Graph| (self.build)(graph), profile, self.chains.clone())?;
        let OnlineOptions { search: options, horizon, objective, .. } = &self.options;
        let twin = twin.with_horizon(*horizon);
        let options = SearchOptions { cores, ..options.clone() };
        search(&twin, objective, &options, &mut move |_| match ending.try_recv() {
            Err(TryRecvError::Empty) => ControlFlow::Continue(()),
            Ok(()) | Err(TryRecvError::Disconnected) => ControlFlow::Break(()),
        })
    }

    /// Runs with each of two mappings in turns, and leaves the executor with the better one.
    fn compare(
        &self,
        executor: &mut Executor,
        reader: &ChainReader,
        [before, after]: [Mapping; 2],
        end: Time,
    ) -> Result<Option<Decision>> {
        let mut turns = [Vec::new(), Vec::new()];
        for _ in 0..self.options.turns.max(1) {
            for (mapping, turns) in [&before, &after].into_iter().zip(&mut turns) {
                let turn = match is_set(executor, mapping) {
                    true => self.turn(executor, reader, end)?,
                    false => None,
                };
                let Some(evaluation) = turn else {
                    is_set(executor, &before);
                    return Ok(None);
                };
                turns.push(evaluation);
            }
        }
        let pairs = turns[0].iter().zip(&turns[1]);
        let pairs: Vec<_> = pairs.map(|(of, with)| [self.score(of), self.score(with)]).collect();
        let [without, with] = turns.map(|turns| median(&self.chains, &turns));
        let medians = [&without, &with].map(|evaluation| self.score(evaluation));
        let is_kept = is_better(&pairs, &medians);
        if !is_kept {
            is_set(executor, &before);
        }
        let [without_it, with_it] = medians.map(|score| self.options.objective.describe(&score));
        tracing::info!(is_kept, without_it, with_it, "compared a mapping");
        let at = executor.now();
        Ok(Some(Decision { at, mapping: after, before: without, after: with, is_kept }))
    }

    /// Runs for a span; `None` if the executor ends before.
    fn turn(
        &self,
        executor: &mut Executor,
        reader: &ChainReader,
        end: Time,
    ) -> Result<Option<Evaluation>> {
        let drops = |executor: &Executor| {
            let statistics = executor.statistics();
            let callbacks = statistics.callbacks.iter().chain([&statistics.removed]);
            callbacks.map(|callback| callback.overwritten + callback.missed).sum::<u64>()
        };
        reader.take();
        let before = drops(executor);
        executor.spin_until(end.min(executor.now() + self.options.span))?;
        let chains = self.latencies(reader, executor.now());
        let drops = drops(executor) - before;
        let evaluation = Evaluation { chains, drops, ..Evaluation::default() };
        Ok((!is_over(executor, end)).then_some(evaluation))
    }

    /// The latencies of the samples since they were taken last.
    fn latencies(&self, reader: &ChainReader, now: Time) -> Vec<ChainLatency> {
        let samples = self.chains.iter().zip(reader.take());
        samples.map(|(chain, of)| ChainLatency::of_samples(of, chain.deadline, now)).collect()
    }

    fn score(&self, evaluation: &Evaluation) -> Score {
        self.options.objective.score_of(&self.chains, &[], evaluation)
    }
}

/// Sets a mapping, unless it names loops that were destroyed since.
fn is_set(executor: &mut Executor, mapping: &Mapping) -> bool {
    let set = executor.set_mapping(mapping.clone());
    if let Err(error) = &set {
        tracing::warn!(%error, "cannot use a mapping for the running executor");
    }
    set.is_ok()
}

/// Whether the second of two mappings is better in the median and in more than half of the turns.
fn is_better(turns: &[[Score; 2]], medians: &[Score; 2]) -> bool {
    let wins = turns.iter().filter(|[first, second]| second < first).count();
    medians[1] < medians[0] && 2 * wins > turns.len()
}

/// Looks at the chains once a span.
struct Watch<'a, 'b> {
    online: &'a Online<'b>,
    reader: ChainReader,
    /// Without a decision, the first span.
    reference: Option<Vec<ChainLatency>>,
    /// How many of the last spans differed.
    drifted: u32,
}

impl Watch<'_, '_> {
    fn has_drifted(&mut self) -> bool {
        let now = self.online.latencies(&self.reader, Time::ZERO);
        let reference = &*self.reference.get_or_insert_with(|| now.clone());
        let differs = |(now, before): (&ChainLatency, &ChainLatency)| {
            let [mean, before] = [now, before].map(|of| of.release_to_end.mean_ns as f64);
            now.samples > 0 && (mean - before).abs() > self.online.options.drift * before
        };
        let differs = now.iter().zip(reference).any(differs);
        self.drifted = if differs { self.drifted + 1 } else { 0 };
        self.drifted >= 2
    }
}

/// Spins until `end` or until `work` returns on a thread beside, which it is told to do when the
/// spin ends before: `work` gets a channel without a sender then. A panic of `work` is the inner
/// error.
fn beside<R: Send>(
    executor: &mut Executor,
    end: Time,
    work: impl FnOnce(Receiver<()>) -> R + Send,
) -> Result<Result<R>> {
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        let (sender, ending) = mpsc::channel();
        let pause = stop.clone();
        let thread = scope.spawn(move || {
            let result = catch_part("a thread beside the executor", None, || work(ending));
            pause.pause();
            result
        });
        let ran = executor.spin_until(end);
        drop(sender);
        let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        stop.resume();
        ran.map(|()| result)
    })
}

/// Whether loops can move.
fn has_several_cores(executor: &Executor) -> bool {
    executor.shared_cores().len() > 1
}

fn is_over(executor: &Executor, end: Time) -> bool {
    executor.stop_handle().is_stopped() || executor.now() >= end
}

/// The present mapping, with the priorities of all loops if the other one has any, and that of
/// `assignment`.
fn mappings(executor: &Executor, assignment: &Assignment, cores: &[usize]) -> [Mapping; 2] {
    let mut before = executor.mode().mapping().cloned().unwrap_or_default();
    let mut after = assignment.to_mapping(cores);
    if !after.dispatch_priorities.is_empty() {
        let info = executor.graph().info();
        let priorities = info.loops.values().map(|of| (of.full_name(), of.priority));
        before.dispatch_priorities = priorities.collect();
    }
    (before.optimize, after.optimize) = (Some(Optimize::Online), Some(Optimize::Online));
    after.balance = None; // for loops that are created later
    [before, after]
}

#[cfg(test)]
mod tests;
