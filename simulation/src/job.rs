//! A deterministic run in a few words: for tests and CI.
//!
//! A [`Job`] only describes: each run calls its closure for a new graph and a new executor. So runs
//! leave nothing to each other but what the closures capture, and an exploration has many at the
//! same time, on several threads, which is why the closures are `Fn + Send + Sync`. Within a run,
//! one thread builds, dispatches, asks for the end, and checks; a watchdog reads the number of
//! dispatches and the running callback from another thread. A run that reused a graph would begin
//! with the states of the run before, and would not be the same in another process.

mod assertions;
mod cause;
#[cfg(feature = "json")]
mod certificate;
mod ending;
mod explore;
mod fresh;
mod outcome;
mod report;
mod session;
mod shrink;
mod verify;
mod watchdog;

#[cfg(feature = "json")]
pub use certificate::{Certificate, Platform, certificate_differences};
pub use explore::{Counterexample, Exploration, Explored, Order};
pub use fresh::FreshProcess;
pub use outcome::{CallbackCounts, Counts, Uncontrolled};
pub use report::Report;
pub use session::{Session, Step};
pub use verify::{Difference, Divergence, describe};
pub use watchdog::WatchdogTimeout;

use assertions::{Assertion, Watch};
use ending::Ending;
use ringspin_executor::{
    Arguments, BoxError, Error, ErrorKind, FailurePolicy, Graph, Result, Time,
};
use ringspin_modes::deterministic::{Schedule, Simulation, TieBreaker, TiePolicy};
use ringspin_modes::{Chain, Executor, catch_part, threads};
use std::fmt;
use std::time::Duration;
use watchdog::{Watchdog, WatchdogThread};

/// A deterministic run of a graph: its simulation and its end.
///
/// ```
/// use ringspin_simulation::Job;
/// use std::time::Duration;
///
/// let job = Job::new(|graph| {
///     let node = graph.create_node("blinker", false)?;
///     node.create_timer(Duration::from_millis(500), |on, _| *on = !*on)?;
///     Ok(())
/// });
/// let job = job.run_for(Duration::from_secs(60));
/// let report = job.run()?;
/// assert_eq!(report.dispatches(), 120);
/// assert_eq!(report.digest(), job.run()?.digest());
/// # Ok::<(), ringspin_executor::BoxError>(())
/// ```
///
/// The closure returns the handles of the job: publishers, collectors and other values that a test
/// needs while it [steps](Self::start), or when it [checks](Self::check).
///
/// ```
/// # use ringspin_simulation::Job;
/// # use ringspin_executor::{Message, QoS};
/// let job = Job::new(|graph| {
///     let node = graph.create_node("square", ())?;
///     let out = node.create_publisher("squares", QoS::default())?;
///     node.create_subscription("numbers", QoS::default(), move |_, n: &Message<i64>, _| {
///         out.publish(**n * **n)
///     })?;
///     let test = graph.create_node("test", ())?;
///     let numbers = test.create_publisher::<i64>("numbers", QoS::default())?;
///     let squares = test.create_collector::<i64>("squares", QoS::default())?;
///     Ok((numbers, squares))
/// });
/// let mut session = job.start()?;
/// session.handles.0.publish(7)?;
/// session.settle()?;
/// assert_eq!(session.handles.1.values(), [49]);
/// # Ok::<(), ringspin_executor::BoxError>(())
/// ```
pub struct Job<'a, T = ()> {
    build: Build<'a, T>,
    simulation: Simulation,
    arguments: Arguments,
    policy: FailurePolicy,
    run_for: Option<Duration>,
    over: Option<Over<'a, T>>,
    ending: Option<Ending>,
    checks: Vec<Check<'a, T>>,
    assertions: Vec<Assertion<'a, T>>,
    breaker: Option<Create<'a>>,
    watchdog: Option<Watchdog<'a>>,
    chains: Vec<Chain>,
    after_run: Option<Box<dyn Fn() + Send + Sync + 'a>>,
    /// The job file, if its run must have an end.
    must_end: Option<String>,
}

type Build<'a, T> = Box<dyn Fn(&Graph) -> Result<T, BoxError> + Send + Sync + 'a>;
type Create<'a> = Box<dyn Fn() -> Box<dyn TieBreaker> + Send + Sync + 'a>;
type Over<'a, T> = Box<dyn Fn(&T, Time) -> bool + Send + Sync + 'a>;
type Check<'a, T> = Box<dyn Fn(&mut Session<T>) -> Result<(), BoxError> + Send + Sync + 'a>;

/// The outcome of a run that started or not, and ended well or not.
#[derive(Debug)]
pub struct Ran {
    /// The report; `None` if the run did not start.
    pub report: Option<Report>,
    /// The error with which it ended.
    pub error: Option<BoxError>,
}

/// Records of a run that are kept on request.
#[derive(Clone, Copy, Default)]
struct Records {
    trace: bool,
    /// One instant, in detail.
    instant: Option<Time>,
    /// All deviations from the default order, not only the first ones: for shrinking.
    all_deviations: bool,
}

impl Ran {
    /// Why it failed, without the values that differ from run to run: times, event numbers, and
    /// the numbers in a message. Runs that fail for the same reason have the same text.
    pub fn cause(&self) -> Option<String> {
        self.error.as_ref().map(|error| cause::Cause::of(error).0)
    }

    /// With an error if the run ended well, but entries of a schedule were not applied.
    fn and_applied(mut self) -> Self {
        if let (Some(report), None) = (&self.report, &self.error)
            && !report.not_applied.is_empty()
        {
            self.error = Some(report.not_applied.not_applied().into());
        }
        self
    }

    fn into_report(self) -> Result<Report, BoxError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.report.expect("what did not start has an error")),
        }
    }
}

/// A check of a job did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailed {
    /// The end of the run.
    pub time: Time,
    /// The error of the check.
    pub reason: String,
}

impl fmt::Display for CheckFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a check failed at {}: {}", self.time, self.reason)
    }
}

impl std::error::Error for CheckFailed {}

impl<'a, T> Job<'a, T> {
    /// A job with the graph that `build` declares, which is called for each run. It starts at time
    /// zero and ends when nothing is left to do or a node stops it; a graph with timers wants an
    /// end.
    pub fn new(build: impl Fn(&Graph) -> Result<T, BoxError> + Send + Sync + 'a) -> Self {
        Self {
            build: Box::new(build),
            simulation: Simulation::default(),
            arguments: Arguments::default(),
            policy: FailurePolicy::default(),
            run_for: None,
            over: None,
            ending: None,
            checks: Vec::new(),
            assertions: Vec::new(),
            breaker: None,
            watchdog: None,
            chains: Vec::new(),
            after_run: None,
            must_end: None,
        }
    }

    /// Has `arguments` decide about names and parameters of the graph.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = arguments;
        self
    }

    /// Replaces the settings of the simulation.
    #[must_use]
    pub fn with_simulation(mut self, simulation: Simulation) -> Self {
        self.simulation = simulation;
        self
    }

    /// Changes the settings of the simulation.
    ///
    /// ```
    /// # use ringspin_modes::TiePolicy;
    /// # use ringspin_simulation::Job;
    /// let job = Job::new(|_| Ok(())).simulate(|simulation| {
    ///     simulation.seed = 7;
    ///     simulation.ties = TiePolicy::Reverse;
    /// });
    /// # drop(job);
    /// ```
    #[must_use]
    pub fn simulate(mut self, change: impl FnOnce(&mut Simulation)) -> Self {
        change(&mut self.simulation);
        self
    }

    /// Sets the reaction to a failed callback; by default the run ends with an error.
    #[must_use]
    pub fn with_failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Starts at simulated time `start`.
    #[must_use]
    pub fn start_at(mut self, start: Time) -> Self {
        self.simulation.start = start;
        self
    }

    /// Ends with the instant `end`, inclusive.
    #[must_use]
    pub fn end_at(mut self, end: Time) -> Self {
        self.simulation.end = Some(end);
        self
    }

    /// Ends with the instant `duration` after the start, inclusive.
    #[must_use]
    pub fn run_for(mut self, duration: Duration) -> Self {
        self.run_for = Some(duration);
        self
    }

    /// Ends at the first quiet instant at which `over` says so.
    #[must_use]
    pub fn end_when(mut self, over: impl Fn(&T, Time) -> bool + Send + Sync + 'a) -> Self {
        self.over = Some(Box::new(over));
        self
    }

    /// Has `check` look at each run when it has ended well. A check that panics has failed, too.
    #[must_use]
    pub fn check(
        mut self,
        check: impl Fn(&mut Session<T>) -> Result<(), BoxError> + Send + Sync + 'a,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Has a tie breaker choose the order of the events of an instant. [Exploring](Self::explore)
    /// tries its own orders instead.
    #[must_use]
    pub fn with_tie_breaker<B: TieBreaker + 'static>(
        mut self,
        breaker: impl Fn() -> B + Send + Sync + 'a,
    ) -> Self {
        self.breaker = Some(Box::new(move || Box::new(breaker())));
        self
    }

    /// Has a thread call `report` with the callback that has run for `limit` of real time. It
    /// cannot end the callback: by default (see [`WatchdogTimeout::abort`]) end the process.
    #[must_use]
    pub fn with_watchdog(
        mut self,
        limit: Duration,
        report: impl Fn(&WatchdogTimeout) + Send + Sync + 'a,
    ) -> Self {
        self.watchdog = Some(Watchdog::new(limit, report));
        self
    }

    /// Has these chains followed, as [`Executor::with_chains`]; their samples are in the report.
    #[must_use]
    pub fn with_chains(mut self, chains: impl IntoIterator<Item = Chain>) -> Self {
        self.chains = chains.into_iter().collect();
        self
    }

    /// Has `tell` called after each run, from whichever thread it ran on: [`verify`](Self::verify)
    /// and [`explore`](Self::explore) have many.
    #[must_use]
    pub fn after_each_run(mut self, tell: impl Fn() + Send + Sync + 'a) -> Self {
        self.after_run = Some(Box::new(tell));
        self
    }

    /// Refuses runs without an end; `origin` is the job file that has none.
    pub(crate) fn must_end(mut self, origin: String) -> Self {
        self.must_end = Some(origin);
        self
    }

    /// Checks that something ends the run of a job file.
    ///
    /// # Errors
    /// An error that names the file.
    pub fn check_end(&self) -> Result<(), Error> {
        let ends = self.simulation.end.is_some()
            || self.run_for.is_some()
            || self.ending.is_some()
            || self.over.is_some();
        match &self.must_end {
            Some(origin) if !ends => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "{origin} does not say when the run ends, so its timers would fire for ever; \
                     add `for = \"60 s\"`, `end`, or `end_when`, or `endless = true` if a node \
                     ends it or nothing is left to do at some time"
                ),
            )
            .at_path(origin)),
            _ => Ok(()),
        }
    }

    /// The settings of the simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Builds the graph and stops before the first event, for a test that steps.
    ///
    /// # Errors
    /// The error of `build`. [`Error`] if `build` panics, or the graph cannot run.
    pub fn start(&self) -> Result<Session<T>, BoxError> {
        let mut session = self.start_with(self.simulation.clone(), Records::default())?;
        session.executor().run_options().applies_schedule = true;
        Ok(session)
    }

    fn start_with(&self, simulation: Simulation, records: Records) -> Result<Session<T>, BoxError> {
        let mut simulation = simulation;
        if let Some(duration) = self.run_for {
            simulation.end = Some(simulation.start + duration);
        }
        let own_ties = simulation.ties == self.simulation.ties;
        let mut executor = Executor::deterministic(simulation)
            .with_arguments(self.arguments.clone())
            .with_failure_policy(self.policy)
            .with_chains(self.chains.iter().cloned());
        let options = executor.run_options();
        (options.is_traced, options.watched) = (records.trace, records.instant);
        // The job itself looks at that, when the run has ended.
        options.applies_schedule = false;
        if records.all_deviations {
            options.deviations_max = usize::MAX;
        }
        // An order that is explored, shrunk or repeated comes before one's own.
        if own_ties {
            let create =
                |breaker: &Create<'a>| catch_part("creating the tie breaker", None, breaker);
            options.tie_breaker = self.breaker.as_ref().map(create).transpose()?;
        }
        let graph = executor.graph();
        let handles = catch_part("building the graph", None, || (self.build)(graph))??;
        let ended = self.ending.as_ref().map(|ending| ending.watch(&mut executor)).transpose()?;
        executor.freeze()?;
        Ok(Session::new(executor, handles, ended))
    }

    /// Builds the graph and runs it.
    ///
    /// # Errors
    /// The error of `build`. [`Error`] if a callback fails, if entries of a schedule were not
    /// applied, or if other code panics: an end condition, a tie breaker, the drop of a state.
    /// [`CheckFailed`] if a check does not hold.
    pub fn run(&self) -> Result<Report, BoxError> {
        self.run_with_report(false).into_report()
    }

    /// Builds the graph and runs it, as [`run`](Self::run), with the report also of a run that
    /// failed; with a trace if `trace` is set.
    pub fn run_with_report(&self, trace: bool) -> Ran {
        let records = Records { trace, ..Records::default() };
        self.run_with(self.simulation.clone(), records).and_applied()
    }

    /// A run of another simulation. Entries of a schedule that were not applied are no error.
    fn run_with(&self, simulation: Simulation, records: Records) -> Ran {
        // Panics that no inner part names are caught here, such as the drop of a queued message.
        let seed = simulation.effective_seed();
        let ties = simulation.ties.clone();
        let run = || threads::isolated(seed, &ties, || self.run_once(simulation, records));
        let ran = catch_part("the run", None, run);
        let mut ran = ran.unwrap_or_else(|panic| Ran { report: None, error: Some(panic.into()) });
        if let Err(panic) = self.tell_of_run() {
            ran.error.get_or_insert(panic.into());
        }
        ran
    }

    fn tell_of_run(&self) -> Result<()> {
        let Some(tell) = &self.after_run else { return Ok(()) };
        catch_part("the observer of runs", None, tell)
    }

    fn run_once(&self, simulation: Simulation, records: Records) -> Ran {
        let started = self.start_with(simulation, records);
        match started.and_then(|session| Ok(self.check_end().map(|()| session)?)) {
            Err(error) => Ran { report: None, error: Some(error) },
            Ok(mut session) => {
                let error = self.run_session(&mut session).err();
                let report = Some(session.report());
                let at_the_end = session.end();
                Ran { report, error: error.or(at_the_end) }
            }
        }
    }

    fn run_session(&self, session: &mut Session<T>) -> Result<(), BoxError> {
        let (dispatches, stop) = session.progress();
        std::thread::scope(|scope| {
            let watchdog = self.watchdog.as_ref();
            let watchdog = watchdog.map(|watchdog| watchdog.watch(scope, dispatches, stop));
            let over = self.over.as_ref();
            let mut assertions = Watch::new(&self.assertions);
            let mut is_over = false;
            let ran = session.run_until_true(|handles, now| {
                is_over = assertions.fails_at(handles, now)
                    || over.is_some_and(|over| over(handles, now));
                is_over
            });
            let has_end = self.run_for.is_some() || self.simulation.end.is_some();
            let by_itself = !has_end && !is_over && !session.is_ended();
            let ran = ran.map_err(BoxError::from);
            let ran = ran.and_then(|()| Ok(assertions.end(session.now(), by_itself)?));
            let watched = watchdog.and_then(WatchdogThread::end);
            ran.and(watched.map_or(Ok(()), |error| Err(error.into())))
        })?;
        for check in &self.checks {
            session.check(check)?;
        }
        Ok(())
    }

    /// Runs the job in one order; a trace is not kept.
    fn run_scripted(&self, schedule: &Schedule, instant: Option<Time>) -> Ran {
        let ties = TiePolicy::Scripted(schedule.clone());
        let simulation = Simulation { ties, ..self.simulation.clone() };
        self.run_with(simulation, Records { instant, all_deviations: true, ..Records::default() })
    }
}
