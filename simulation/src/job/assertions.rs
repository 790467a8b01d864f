//! Assertions about a whole run, looked at in each quiet instant: also between the events of which
//! a check at the end sees nothing any more.
//!
//! A quiet instant is one in which nothing is left to do before time jumps. So an assertion never
//! sees half of the consequences of an event, whatever the order of an instant.

use super::{CheckFailed, Job};
use ringspin_executor::Time;
use ringspin_modes::catch_part;
use std::time::Duration;

type Predicate<'a, T> = Box<dyn Fn(&T, Time) -> bool + Send + Sync + 'a>;

pub(super) struct Assertion<'a, T> {
    name: String,
    kind: Kind<'a, T>,
}

enum Kind<'a, T> {
    Always(Predicate<'a, T>),
    Never(Predicate<'a, T>),
    Within { limit: Duration, trigger: Predicate<'a, T>, goal: Predicate<'a, T> },
}

impl<'a, T> Job<'a, T> {
    /// Fails a run at the first quiet instant in which `holds` is false.
    ///
    /// Assertions belong to runs, not to [sessions](Self::start). A failure is a [`CheckFailed`]
    /// with the time of the instant, which [`explore`](Self::explore) finds and shrinks.
    ///
    /// ```
    /// # use ringspin_simulation::Job;
    /// # use std::sync::{Arc, Mutex};
    /// # use std::time::Duration;
    /// let job = Job::new(|graph| {
    ///     let level = Arc::new(Mutex::new(0));
    ///     let (tank, seen) = (graph.create_node("tank", ())?, level.clone());
    ///     tank.create_timer(Duration::from_secs(1), move |_, _| *level.lock().unwrap() += 1)?;
    ///     Ok(seen)
    /// });
    /// let job = job.run_for(Duration::from_secs(60));
    /// let job = job.always("the tank has room", |level, _| *level.lock().unwrap() < 50);
    /// let error = job.run().unwrap_err().to_string();
    /// assert_eq!(error, "a check failed at 50.000000000 s: not always `the tank has room`");
    /// ```
    #[must_use]
    pub fn always(
        self,
        name: impl Into<String>,
        holds: impl Fn(&T, Time) -> bool + Send + Sync + 'a,
    ) -> Self {
        self.assert(name, Kind::Always(Box::new(holds)))
    }

    /// Fails a run at the first quiet instant in which `holds` is true, as [`always`](Self::always)
    /// with the contrary.
    #[must_use]
    pub fn never(
        self,
        name: impl Into<String>,
        holds: impl Fn(&T, Time) -> bool + Send + Sync + 'a,
    ) -> Self {
        self.assert(name, Kind::Never(Box::new(holds)))
    }

    /// Fails a run if `goal` is true in no quiet instant up to `limit` after `trigger` was, the
    /// last one included. While it waits for the goal, it does not look at the trigger.
    ///
    /// If the run ends before the limit, nothing is decided and nothing fails, unless it ends
    /// because nothing is left to do. With a trigger that is always true this is "every `limit`".
    ///
    /// ```
    /// # use ringspin_simulation::Job;
    /// # use std::sync::{Arc, Mutex};
    /// # use std::time::Duration;
    /// let job = Job::new(|graph| {
    ///     let [pressed, moves] = [false, true].map(|is| Arc::new(Mutex::new(is)));
    ///     let handles = (pressed.clone(), moves.clone());
    ///     let button = graph.create_node("button", ())?;
    ///     let motor = graph.create_node("motor", ())?;
    ///     let press = pressed.clone();
    ///     button.create_timer(Duration::from_secs(5), move |_, _| *press.lock().unwrap() = true)?;
    ///     motor.create_timer(Duration::from_millis(300), move |_, _| {
    ///         *moves.lock().unwrap() = !*pressed.lock().unwrap();
    ///     })?;
    ///     Ok(handles)
    /// });
    /// let job = job.run_for(Duration::from_secs(60)).within(
    ///     Duration::from_millis(200),
    ///     "the motor stops after the button",
    ///     |(pressed, _), _| *pressed.lock().unwrap(),
    ///     |(_, moves), _| !*moves.lock().unwrap(),
    /// );
    /// job.run()?;
    /// # Ok::<(), ringspin_executor::BoxError>(())
    /// ```
    #[must_use]
    pub fn within(
        self,
        limit: Duration,
        name: impl Into<String>,
        trigger: impl Fn(&T, Time) -> bool + Send + Sync + 'a,
        goal: impl Fn(&T, Time) -> bool + Send + Sync + 'a,
    ) -> Self {
        let (trigger, goal) = (Box::new(trigger), Box::new(goal));
        self.assert(name, Kind::Within { limit, trigger, goal })
    }

    fn assert(mut self, name: impl Into<String>, kind: Kind<'a, T>) -> Self {
        self.assertions.push(Assertion { name: name.into(), kind });
        self
    }
}

/// The assertions of one run.
pub(super) struct Watch<'j, 'a, T> {
    assertions: &'j [Assertion<'a, T>],
    /// By assertion, when it was triggered, if it waits for its goal.
    triggered: Vec<Option<Time>>,
    failed: Option<CheckFailed>,
}

impl<'j, 'a, T> Watch<'j, 'a, T> {
    pub(super) fn new(assertions: &'j [Assertion<'a, T>]) -> Self {
        Self { assertions, triggered: vec![None; assertions.len()], failed: None }
    }

    /// Looks at a quiet instant; whether an assertion failed, which ends the run.
    pub(super) fn fails_at(&mut self, handles: &T, now: Time) -> bool {
        for (assertion, triggered) in self.assertions.iter().zip(&mut self.triggered) {
            let look = || assertion.look(triggered, handles, now);
            let looked = catch_part("an assertion", Some(now), look);
            let failed = looked
                .unwrap_or_else(|panic| Some(CheckFailed { time: now, reason: panic.to_string() }));
            if failed.is_some() {
                self.failed = failed;
                return true;
            }
        }
        false
    }

    /// The run has ended at `now`, by itself if nothing is left to do.
    pub(super) fn end(self, now: Time, by_itself: bool) -> Result<(), CheckFailed> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        for (assertion, since) in self.assertions.iter().zip(self.triggered) {
            if let (Kind::Within { limit, .. }, Some(since)) = (&assertion.kind, since)
                && (by_itself || since + *limit <= now)
            {
                return Err(assertion.missed(since, *limit));
            }
        }
        Ok(())
    }
}

impl<T> Assertion<'_, T> {
    fn look(&self, triggered: &mut Option<Time>, handles: &T, now: Time) -> Option<CheckFailed> {
        let fails = |reason| Some(CheckFailed { time: now, reason });
        match &self.kind {
            Kind::Always(holds) if !holds(handles, now) => {
                fails(format!("not always `{}`", self.name))
            }
            Kind::Never(holds) if holds(handles, now) => fails(format!("once `{}`", self.name)),
            Kind::Always(_) | Kind::Never(_) => None,
            Kind::Within { limit, trigger, goal } => {
                if let Some(since) = *triggered
                    && since + *limit < now
                {
                    return Some(self.missed(since, *limit));
                }
                let waits = (triggered.is_some() || trigger(handles, now)) && !goal(handles, now);
                *triggered = waits.then(|| triggered.unwrap_or(now));
                None
            }
        }
    }

    fn missed(&self, since: Time, limit: Duration) -> CheckFailed {
        let reason = format!("not within {limit:?} after {since}: `{}`", self.name);
        CheckFailed { time: since + limit, reason }
    }
}
