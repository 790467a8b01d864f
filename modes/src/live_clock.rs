//! What time it is in the live modes: that of the machine, or one that is followed.

use crate::error::SpinError;
use ringspin_executor::{Clock, FollowedClock, LiveClock, Middleware, Time, Worker};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The clock of the live modes.
pub(crate) enum LiveTime {
    Real(LiveClock),
    Followed {
        clock: Arc<FollowedClock>,
        /// What sets the clock, as long as it is kept.
        _follows: Box<dyn Any + Send + Sync>,
    },
}

impl LiveTime {
    /// Follows the clock that `middleware` brings.
    pub(crate) fn follow(middleware: Option<&dyn Middleware>) -> Result<Self, SpinError> {
        let Some(middleware) = middleware else {
            return Err(SpinError::Clock("there is no middleware that brings one".into()));
        };
        let clock = Arc::new(FollowedClock::new());
        match middleware.follow_clock(clock.clone()) {
            Ok(Some(follows)) => Ok(Self::Followed { clock, _follows: follows }),
            Ok(None) => Err(SpinError::Clock(format!("{} brings none", middleware.name()))),
            Err(error) => Err(SpinError::Clock(format!("{}: {error}", middleware.name()))),
        }
    }

    /// The clock that others set, if it is one.
    pub(crate) fn followed(&self) -> Option<&Arc<FollowedClock>> {
        match self {
            Self::Real(_) => None,
            Self::Followed { clock, .. } => Some(clock),
        }
    }

    /// Has `workers` woken when the clock is set, if others set it.
    pub(crate) fn wakes(&self, workers: &[Worker]) {
        if let Some(clock) = self.followed() {
            workers.iter().for_each(|worker| clock.wake(worker.ready_set().clone()));
        }
    }

    /// The end of a spin that lasts `duration` from now, or from when the clock begins.
    pub(crate) fn end_after(&self, duration: Duration) -> End {
        match self.has_begun() {
            true => End::At(self.now() + duration),
            false => End::AfterBegin(duration),
        }
    }
}

impl Clock for LiveTime {
    #[inline]
    fn now(&self) -> Time {
        match self {
            Self::Real(clock) => clock.now(),
            Self::Followed { clock, .. } => clock.now(),
        }
    }

    fn begun_at(&self) -> Option<Time> {
        match self {
            Self::Real(_) => Some(Time::ZERO),
            Self::Followed { clock, .. } => clock.begun_at(),
        }
    }
}

/// When to return.
#[derive(Clone, Copy)]
pub(crate) enum End {
    At(Time),
    /// So long after the clock begins.
    AfterBegin(Duration),
}

impl End {
    /// The time, as far as it is known.
    #[inline]
    pub(crate) fn by(self, clock: &LiveTime) -> Time {
        match self {
            Self::At(time) => time,
            Self::AfterBegin(duration) => {
                clock.begun_at().map_or(Time::MAX, |begun_at| begun_at + duration)
            }
        }
    }
}
