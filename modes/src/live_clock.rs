//! The end of a spin in the live modes, by a clock that may switch its source meanwhile.

use ringspin_executor::{Clock, RosClock, Time};
use std::time::Duration;

/// The time at which a spin returns.
#[derive(Clone, Copy)]
pub(crate) enum SpinEnd {
    At(Time),
    After {
        duration: Duration,
        /// The begin of the spin; `None` for that of the clock.
        from: Option<Time>,
        /// The value of [`Clock::switches`] then.
        switches: u64,
    },
}

impl SpinEnd {
    /// The end of a spin that lasts `duration` from now, or from the begin of a clock that has not
    /// begun. If the clock gets another source meanwhile, `duration` counts from there.
    pub(crate) fn after(duration: Duration, clock: &RosClock) -> Self {
        let switches = clock.switches();
        let from = clock.has_begun().then(|| clock.now());
        Self::After { duration, from, switches }
    }

    /// The time, as far as it is known.
    #[inline]
    pub(crate) fn by(self, clock: &RosClock) -> Time {
        match self {
            Self::At(time) => time,
            Self::After { duration, from, switches } => {
                let from = from.filter(|_| clock.switches() == switches);
                from.or_else(|| clock.begun_at()).map_or(Time::MAX, |from| from + duration)
            }
        }
    }

    #[inline]
    pub(crate) fn has_come(self, now: Time, clock: &RosClock) -> bool {
        now >= self.by(clock) && self.has_come_by_one_source(clock)
    }

    /// Whether it is due, where time and end are of the same source of `clock`.
    #[cold]
    fn has_come_by_one_source(self, clock: &RosClock) -> bool {
        let switches = clock.switches();
        clock.now() >= self.by(clock) && switches == clock.switches()
    }
}
