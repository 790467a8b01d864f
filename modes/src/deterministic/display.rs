//! Simulated time for observers outside.

use ringspin_executor::{Middleware, Time, catch_panic};
use std::sync::Arc;
use std::time::Duration;

/// Publishes the time as it advances, at most once in a period of it.
pub(super) struct ClockDisplay {
    middleware: Arc<dyn Middleware>,
    period: Duration,
    next: Time,
}

impl ClockDisplay {
    /// Creates a display for the processes that `middleware` connects with; `None` if it publishes
    /// no clock.
    pub(super) fn new(middleware: Option<Arc<dyn Middleware>>) -> Option<Self> {
        let middleware = middleware?;
        let period = middleware.clock_period()?;
        Some(Self { middleware, period, next: Time::ZERO })
    }

    pub(super) fn show(&mut self, now: Time) {
        if now < self.next {
            return;
        }
        self.next = now + self.period;
        let published = catch_panic(|| self.middleware.publish_clock(now));
        if let Err(error) = published.unwrap_or_else(|panic| Err(panic.into())) {
            tracing::warn!(%now, %error, "failed to publish the clock");
        }
    }
}
