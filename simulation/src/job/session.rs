//! Sessions: a job that a test steps through.
//!
//! The thread of the test owns the executor, and is the thread of the run whenever it steps.
//! Nothing runs between two steps, so a state is lent as `&mut`, and a message that the test
//! publishes is an event of the instant at which time stands. With a run on a separate thread, the
//! test would need locks for the states, and its messages would come at times that no other run
//! repeats. At the end all parts are dropped one by one, and panics are caught: two at once would
//! end the process.

use super::ending::Ended;
use super::{CheckFailed, Report};
use ringspin_executor::{
    BoxError, CallbackId, Error, ErrorKind, GraphInfo, Monitor, Result, StopHandle, Time,
    catch_panic, error_message,
};
use ringspin_modes::deterministic::Sequencer;
use ringspin_modes::{Executor, catch_part};
use ringspin_ringbuf::Counter;
use std::sync::Arc;
use std::time::Duration;

/// A job under way: a test steps it, publishes, reads messages and the states of nodes.
///
/// Between the steps time stands still. A message of the test is an event of that instant.
///
/// ```
/// use ringspin_executor::QoS;
/// use ringspin_simulation::Job;
/// use std::time::Duration;
///
/// let job = Job::new(|graph| {
///     let counter = graph.create_node("counter", 0u32)?;
///     counter.create_timer(Duration::from_secs(1), |count, _| *count += 1)?;
///     Ok(())
/// });
/// let mut session = job.start()?;
/// session.run_for(Duration::from_secs(5))?;
/// assert_eq!(session.state::<u32>("/counter")?, &5);
/// *session.state::<u32>("/counter")? = 40;
/// let step = session.step()?.expect("there is a timer");
/// assert_eq!(step.callback, "/counter `timer 1s`");
/// assert_eq!((session.now().as_nanos(), *session.state::<u32>("/counter")?), (6_000_000_000, 41));
/// # Ok::<(), ringspin_executor::BoxError>(())
/// ```
pub struct Session<T> {
    executor: Executor,
    /// The handles that the job's `build` returned.
    pub handles: T,
    /// Whether the messages that end the run were handled, if some do.
    ended: Option<Ended>,
}

/// An event was dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The simulated time.
    pub time: Time,
    /// The loop and the callback, as in "/planner `subscription /points`".
    pub callback: String,
}

impl<T> Session<T> {
    pub(super) fn new(executor: Executor, handles: T, ended: Option<Ended>) -> Self {
        Self { executor, handles, ended }
    }

    /// The graph that runs.
    pub fn graph(&mut self) -> Arc<GraphInfo> {
        self.parts().0.info()
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.executor.now()
    }

    /// Dispatches the next event, to which time jumps; `None` if nothing is left to do.
    ///
    /// # Errors
    /// Fails if a callback fails under the policy that stops or if the callbacks of one instant
    /// never end.
    pub fn step(&mut self) -> Result<Option<Step>> {
        let stop = self.executor.stop_handle();
        let (monitor, sequencer) = self.parts();
        let dispatched = sequencer.dispatch_one(Time::MAX, &stop, monitor)?;
        let step = |callback: CallbackId| Step {
            time: sequencer.now(),
            callback: monitor.info().name_of(callback),
        };
        let step = dispatched.map(step);
        self.executor.failed().map(|()| step)
    }

    /// Runs until this instant is quiet; returns how many events that were.
    ///
    /// # Errors
    /// Fails if a callback fails under the policy that stops, or if the callbacks of one instant
    /// never end.
    pub fn settle(&mut self) -> Result<u64> {
        self.executor.spin_all(Duration::ZERO)
    }

    /// Runs up to `end`, inclusive.
    ///
    /// # Errors
    /// Fails if a callback fails under the policy that stops, or if the callbacks of one instant
    /// never end.
    pub fn run_until(&mut self, end: Time) -> Result<()> {
        self.executor.spin_until(end)
    }

    /// Runs for `duration` of simulated time.
    ///
    /// # Errors
    /// Fails if a callback fails under the policy that stops, or if the callbacks of one instant
    /// never end.
    pub fn run_for(&mut self, duration: Duration) -> Result<()> {
        self.executor.spin_for(duration)
    }

    /// Runs until a quiet instant at which `condition` holds, or nothing is left to do.
    ///
    /// # Errors
    /// Fails if a callback fails under the policy that stops, or if the callbacks of one instant
    /// never end. A condition that panics is an error, too.
    pub fn run_until_true(&mut self, mut condition: impl FnMut(&T, Time) -> bool) -> Result<()> {
        let (handles, ended) = (&self.handles, &self.ended);
        let mut panicked = None;
        let mut over = |now| {
            ended.as_ref().is_some_and(Ended::is_over)
                || catch_part("the end condition", Some(now), || condition(handles, now))
                    .unwrap_or_else(|panic| {
                        panicked = Some(panic);
                        true
                    })
        };
        self.executor.spin_until_over(Time::MAX, &mut over)?;
        panicked.map_or(Ok(()), Err)
    }

    /// Whether messages or a node have ended the run.
    pub(super) fn is_ended(&self) -> bool {
        let stopped = self.executor.stop_handle().is_stopped();
        stopped || self.ended.as_ref().is_some_and(Ended::is_over)
    }

    /// Drops all parts of the run, each on its own; returns the drops that panicked.
    pub(super) fn end(mut self) -> Option<BoxError> {
        let time = Some(self.now());
        let mut panics = self.parts().1.dismantle();
        let Self { executor, handles, .. } = self;
        let dropped = [
            catch_part("dropping the job's handles", time, || drop(handles)),
            catch_part("dropping the executor", time, || drop(executor)),
        ];
        panics.extend(dropped.into_iter().filter_map(Result::err));
        if panics.len() < 2 {
            return panics.pop().map(BoxError::from);
        }
        let sentences: Vec<_> = panics.iter().map(Error::to_string).collect();
        Some(sentences.join("; ").into())
    }

    /// The state of an event loop: `/node`, or `/node:group`.
    ///
    /// # Errors
    /// An error if there is no such loop, or its state has another type.
    pub fn state<S: Send + 'static>(&mut self, event_loop: &str) -> Result<&mut S> {
        let (monitor, sequencer) = self.parts();
        let info = monitor.info();
        let loops = &info.loops;
        let Some((id, _)) = loops.iter().find(|(_, l)| l.full_name() == event_loop) else {
            let loops: Vec<_> = loops.values().map(|l| l.full_name()).collect();
            let text =
                format!("there is no event loop {event_loop}; there are {}", loops.join(", "));
            return Err(Error::new(ErrorKind::NotFound, text).in_node(event_loop));
        };
        sequencer.worker_mut().state_mut(id).ok_or_else(|| {
            let requested = std::any::type_name::<S>();
            let text = format!(
                "the state of {event_loop} is not of type {requested}, or was dropped because its \
                 node failed"
            );
            Error::new(ErrorKind::TypeMismatch, text).in_node(event_loop)
        })
    }

    /// The executor, for everything else.
    pub fn executor(&mut self) -> &mut Executor {
        &mut self.executor
    }

    /// The report of the run so far.
    pub fn report(&mut self) -> Report {
        let (statistics, failures) = (self.executor.statistics(), self.executor.failures());
        let exit_code = self.executor.stop_handle().exit_code();
        let (monitor, sequencer) = self.parts();
        let info = monitor.info();
        let (digest, dispatches) = sequencer.digest();
        let (schedule, deviations, deviations_count) = sequencer.schedule(&info);
        Report {
            digest,
            dispatches,
            end: sequencer.now(),
            statistics,
            failures,
            exit_code,
            schedule,
            deviations,
            not_applied: sequencer.not_applied(&info),
            links: sequencer.link_effects(),
            instant: sequencer.instant_log().cloned().unwrap_or_default(),
            deviations_count,
            choices: sequencer.choices(),
            overruns: sequencer.overruns(&info),
            foreign: sequencer.foreign(&info),
            chains: sequencer.chains(),
            info,
            trace: sequencer.take_trace(),
        }
    }

    /// Whether `check` holds; a panic is a no.
    pub(super) fn check(
        &mut self,
        check: &dyn Fn(&mut Self) -> Result<(), BoxError>,
    ) -> Result<(), CheckFailed> {
        let time = self.now();
        let failed = |reason| CheckFailed { time, reason };
        match catch_panic(|| check(self)) {
            Ok(checked) => checked.map_err(|error| failed(error_message(error))),
            Err(panic) => Err(failed(panic)),
        }
    }

    /// The number of dispatches, and the handle that stops the run: for a watchdog.
    pub(super) fn progress(&mut self) -> (Arc<Counter>, StopHandle) {
        (self.parts().1.dispatches(), self.executor.stop_handle())
    }

    fn parts(&mut self) -> (&Monitor, &mut Sequencer) {
        self.executor.deterministic_run().expect("a session has a frozen, deterministic graph")
    }
}
