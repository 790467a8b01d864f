//! Timers, whose ticks are awaited.

use crate::error::{Error, Result};
use crate::link::Link;
use crate::lock;
use atomic_waker::AtomicWaker;
use ringspin::Time;
use ringspin::task::{Interval, Tick};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

/// A timer. It ends when it is dropped, or with its node.
pub struct Timer {
    interval: Interval,
    link: Link,
    /// The time of the last tick, or of the creation.
    last: Time,
    /// For a timer of ROS time.
    of_clock: Option<Arc<ClockTimer>>,
}

impl Timer {
    pub(crate) fn new(
        interval: Interval,
        link: Link,
        created: Time,
        of_clock: Option<Arc<ClockTimer>>,
    ) -> Self {
        Self { interval, link, last: created, of_clock }
    }

    /// Waits for the next tick; returns the time since the last one, or since the creation of the
    /// timer. Ticks that were not awaited in time are one. Cancel safe.
    ///
    /// # Errors
    /// [`Error::RCL_RET_TIMER_INVALID`] once the node is destroyed.
    pub async fn tick(&mut self) -> Result<Duration> {
        poll_fn(|cx| self.poll_tick(cx)).await.ok_or(Error::RCL_RET_TIMER_INVALID)
    }

    fn poll_tick(&mut self, cx: &Context<'_>) -> Poll<Option<Duration>> {
        let Self { interval, link, last, of_clock } = self;
        link.poll(cx, |cx| {
            let by_clock = of_clock.as_ref().and_then(|timer| timer.poll(cx));
            if let Some(elapsed) = by_clock {
                return elapsed;
            }
            let tick: Poll<Tick> = pin!(interval.tick()).poll(cx);
            tick.map(|tick| tick.time.since(std::mem::replace(last, tick.time)))
        })
    }
}

/// The part of a timer that follows `/clock`.
pub(crate) struct ClockTimer {
    period: Duration,
    state: Mutex<State>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct State {
    /// Whether the clock is followed.
    is_on: bool,
    /// The next deadline, once the clock is known.
    next: Option<Duration>,
    last: Duration,
    /// The time between the last tick and the one before, until it is awaited.
    elapsed: Option<Duration>,
}

impl ClockTimer {
    pub(crate) fn new(period: Duration) -> Self {
        Self { period, state: Mutex::default(), waker: AtomicWaker::new() }
    }

    /// Follows the clock, or the system time again.
    pub(crate) fn switch(&self, is_on: bool) {
        *lock(&self.state) = State { is_on, ..State::default() };
        self.waker.wake();
    }

    /// The clock shows `now`.
    pub(crate) fn set(&self, now: Duration) {
        let mut state = lock(&self.state);
        // The first time, and when the clock was set back.
        if state.next.is_none_or(|next| now + self.period < next) {
            (state.last, state.next) = (now, Some(now + self.period));
        }
        let Some(next) = state.next.filter(|next| now >= *next) else { return };
        state.elapsed = Some(now.saturating_sub(state.last));
        let missed = (now - next).as_nanos() / self.period.as_nanos().max(1);
        let periods = u32::try_from(missed + 1).unwrap_or(u32::MAX);
        (state.last, state.next) = (now, Some(next + self.period * periods));
        drop(state);
        self.waker.wake();
    }

    /// `None` if the clock is not followed.
    fn poll(&self, cx: &Context<'_>) -> Option<Poll<Duration>> {
        self.waker.register(cx.waker());
        let mut state = lock(&self.state);
        let elapsed = state.elapsed.take();
        state.is_on.then(|| elapsed.map_or(Poll::Pending, Poll::Ready))
    }
}
