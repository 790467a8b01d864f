//! Exploration of the orders in which threads can run.
//!
//! The calling thread starts one world after the other and waits for its end; within a world, the
//! chooser is asked for the next thread at each point where the world sees a call. Runs do not
//! overlap, because the worlds of a process share its locks, such as that of the standard output.
//! Runs with an even number shuffle, those with an odd one draw priorities: random priorities find
//! bugs that need a few events in a certain order, a shuffle those that need many changes of
//! threads. The number of steps that the priorities need comes from the runs before.

use crate::choice::{Choices, Chooser};
use crate::settings::Settings;
use ringspin_executor::panic_message;
use ringspin_modes::exploration::{SCHEDULE_VARIABLE, minimize, schedule_from_environment};
use ringspin_modes::threads::ThreadDeviation;
use ringspin_modes::{Deviation, Schedule, TiePolicy};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// How many runs shrink a schedule at most.
const SHRINK_RUNS_MAX: usize = 300;

/// The depth of a bug: the number of events that must occur in a certain order. A deadlock of two
/// locks needs four, and one pair of them is in that order without any change.
const DEPTH: u32 = 3;

/// Runs `function` in up to `runs` worlds, in each of which threads run in another order.
///
/// A thread can lose its turn at each call that a world sees: waits and wake-ups, creation of
/// threads, locks of C code, readings of clocks; not at a lock of Rust that is free, and not
/// between two atomic operations, unless the program is instrumented. The first run that fails, by
/// a panic of `function` or because it is [stuck](crate::Stuck), is shrunk to the fewest deviations
/// from the usual order with which it fails in the same way. With `RINGSPIN_SCHEDULE` in the
/// environment, only that schedule is run.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use std::thread;
/// use std::time::Instant;
///
/// // Two threads that lock in different orders.
/// let found = ringspin_simulated_threads::explore(1000, || {
///     let (left, right) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
///     let lock_both = |first: Arc<Mutex<i32>>, second: Arc<Mutex<i32>>| {
///         move || {
///             let first = first.lock();
///             let _now = Instant::now(); // another thread may run from here
///             let second = second.lock();
///             drop((first, second));
///         }
///     };
///     let other = thread::spawn(lock_both(left.clone(), right.clone()));
///     lock_both(right, left)();
///     other.join().unwrap();
/// });
/// assert!(found.unwrap_err().to_string().contains("deadlock"));
/// ```
///
/// # Errors
/// [`ExploreError`]: the failure, and the schedule that repeats it.
pub fn explore(runs: u64, function: impl Fn() + Send + Sync + 'static) -> Result<(), ExploreError> {
    Settings::default().explore(runs, function)
}

type Function = Arc<dyn Fn() + Send + Sync>;

impl Settings {
    /// Explores orders as [`explore`] does, with these settings; run number `n`, from zero, has the
    /// seed of the settings plus `n`.
    ///
    /// # Errors
    /// [`ExploreError`].
    pub fn explore(
        self,
        runs: u64,
        function: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), ExploreError> {
        let function: Function = Arc::new(function);
        if let Some(schedule) = schedule_from_environment()? {
            return self.repeat(schedule, &function);
        }
        let mut steps = 0;
        for n in 0..runs {
            let settings = Self { seed: self.seed.wrapping_add(n), ..self.clone() };
            let order = match n {
                0 => TiePolicy::Scripted(Schedule::default()),
                n if n % 2 == 0 => TiePolicy::Shuffle { seed: settings.seed },
                _ => TiePolicy::Pct { seed: settings.seed, depth: DEPTH, steps },
            };
            let (choices, failure) = settings.run_once(&function, &order);
            steps = steps.max(choices.made);
            if let Some(failure) = failure {
                let found = settings.shrink(&function, n + 1, choices.taken, failure);
                return Err(Box::new(found).into());
            }
        }
        Ok(())
    }

    /// Runs the function with this schedule only.
    fn repeat(self, schedule: Schedule, function: &Function) -> Result<(), ExploreError> {
        let seed = schedule.seed.unwrap_or(self.seed);
        let order = TiePolicy::Scripted(schedule.clone());
        let (choices, failure) = Self { seed, ..self }.run_once(function, &order);
        match failure {
            Some(failure) => {
                let deviations = schedule.threads.len();
                let threads = choices.taken;
                Err(Box::new(Found { runs: 1, deviations, schedule, threads, failure }).into())
            }
            None if choices.taken.len() < schedule.threads.len() => {
                Err(ExploreError::NotApplied(schedule.to_string()))
            }
            None => Ok(()),
        }
    }

    /// Runs the function in a world; the choices, and the failure in words.
    fn run_once(&self, function: &Function, order: &TiePolicy) -> (Choices, Option<String>) {
        let function = function.clone();
        let chooser = Chooser::new(order);
        let (choices, result) = self.clone().run_in_order(chooser, move || function());
        let failure = match result {
            Ok(Ok(())) => None,
            Ok(Err(panic)) => Some(panic_message(&*panic)),
            Err(stuck) => Some(stuck.to_string()),
        };
        (choices, failure)
    }

    /// Removes deviations as long as the run fails in the same way.
    fn shrink(
        &self,
        function: &Function,
        runs: u64,
        mut threads: Vec<ThreadDeviation>,
        mut failure: String,
    ) -> Found {
        let (deviations, seed) = (threads.len(), Some(self.seed));
        let schedule = |threads: &[Deviation]| Schedule {
            seed,
            threads: threads.to_vec(),
            ..Schedule::default()
        };
        let all: Vec<_> = threads.iter().map(|thread| thread.deviation).collect();
        let mut fails = |fewer: &[Deviation]| {
            let ran = self.run_once(function, &TiePolicy::Scripted(schedule(fewer)));
            let (choices, Some(other)) = ran else { return false };
            let is_same = kind(&other) == kind(&failure);
            if is_same {
                (threads, failure) = (choices.taken, other);
            }
            is_same
        };
        let none_needed = fails(&[]);
        let fewest = if none_needed { vec![] } else { minimize(all, fails, SHRINK_RUNS_MAX) };
        Found { runs, deviations, schedule: schedule(&fewest), threads, failure }
    }
}

/// The part of a failure's text that is the same whenever it comes.
fn kind(failure: &str) -> &str {
    let line = failure.lines().next().unwrap_or_default();
    line.split(" at ").next().unwrap_or_default()
}

/// The error of an exploration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// A run failed.
    #[error(transparent)]
    Found(#[from] Box<Found>),
    /// The function has other choices than `RINGSPIN_SCHEDULE`.
    #[error(
        "{SCHEDULE_VARIABLE}='{0}' was not followed: the function has other choices; explore again"
    )]
    NotApplied(String),
    /// `RINGSPIN_SCHEDULE` is not a schedule.
    #[error("{SCHEDULE_VARIABLE}: {0}")]
    Schedule(#[from] ringspin_executor::Error),
}

/// A run that failed, and how to repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of runs up to the one that failed, with it.
    pub runs: u64,
    /// How often that run deviated from the usual order.
    pub deviations: usize,
    /// The seed, and the deviations that are enough for the failure.
    pub schedule: Schedule,
    /// Those deviations with the threads that ran.
    pub threads: Vec<ThreadDeviation>,
    /// The failure with that schedule.
    pub failure: String,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, deviations, schedule, threads, failure } = self;
        let enough = schedule.threads.len();
        write!(f, "{failure}")?;
        threads.iter().try_for_each(|thread| write!(f, "\n  {thread}"))?;
        write!(
            f,
            "\nin run {runs}; {enough} of its {deviations} deviations from the usual \
             order are enough: repeat it with {SCHEDULE_VARIABLE}='{schedule}'"
        )
    }
}

impl std::error::Error for Found {}
