//! A deterministic run in a few words: for tests and CI.

use crate::deterministic::{RunDigest, Simulation};
use crate::error::SpinError;
use crate::executor::Executor;
use ringspin_executor::{Arguments, BoxError, Failure, Graph, Statistics, Time};
use std::time::Duration;

/// A deterministic run of a graph: where it starts, when it ends.
///
/// ```
/// use ringspin_modes::Job;
/// use std::time::Duration;
///
/// let job = || Job::new(|graph| {
///     let node = graph.create_node("blinker", false)?;
///     node.create_timer(Duration::from_millis(500), |on, _| *on = !*on)?;
///     Ok(())
/// });
/// let report = job().run_for(Duration::from_secs(60)).run()?;
/// assert_eq!(report.dispatches(), 120);
/// assert_eq!(report.digest(), job().run_for(Duration::from_secs(60)).run()?.digest());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Job<'a> {
    build: Build<'a>,
    simulation: Simulation,
    arguments: Arguments,
    end: End,
}

type Build<'a> = Box<dyn FnOnce(&Graph) -> Result<(), BoxError> + 'a>;

enum End {
    Quiet,
    At(Time),
    After(Duration),
}

impl<'a> Job<'a> {
    /// A job with the graph that `build` declares. It starts at time zero and ends when nothing is
    /// left to do or a node stops it; a graph with timers wants an end.
    pub fn new(build: impl FnOnce(&Graph) -> Result<(), BoxError> + 'a) -> Self {
        Self {
            build: Box::new(build),
            simulation: Simulation::default(),
            arguments: Arguments::default(),
            end: End::Quiet,
        }
    }

    /// Has `arguments` decide about names and parameters of the graph.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = arguments;
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
        self.end = End::At(end);
        self
    }

    /// Ends with the instant `duration` after the start, inclusive.
    #[must_use]
    pub fn run_for(mut self, duration: Duration) -> Self {
        self.end = End::After(duration);
        self
    }

    /// Builds the graph and runs it.
    ///
    /// # Errors
    /// What `build` returns, or a [`SpinError`].
    pub fn run(self) -> Result<Report, BoxError> {
        let mut executor = Executor::deterministic(self.simulation).with_arguments(self.arguments);
        (self.build)(executor.graph())?;
        match self.end {
            End::Quiet => executor.spin()?,
            End::At(end) => executor.spin_until(end)?,
            End::After(duration) => executor.spin_for(duration)?,
        }
        Report::of(executor).map_err(Into::into)
    }
}

/// What a deterministic run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    digest: RunDigest,
    dispatches: u64,
    end: Time,
    statistics: Statistics,
    failures: Vec<Failure>,
}

impl Report {
    fn of(mut executor: Executor) -> Result<Self, SpinError> {
        executor.freeze()?;
        let (digest, dispatches) = executor.digest().expect("the executor is deterministic");
        Ok(Self {
            digest,
            dispatches,
            end: executor.now(),
            statistics: executor.statistics(),
            failures: executor.failures(),
        })
    }

    /// The stable hash of all dispatch records.
    pub fn digest(&self) -> RunDigest {
        self.digest
    }

    /// How many events were dispatched.
    pub fn dispatches(&self) -> u64 {
        self.dispatches
    }

    /// Simulated time at the end.
    pub fn end(&self) -> Time {
        self.end
    }

    /// All counters.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The failures of isolated nodes.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }
}
