//! Timers whose ticks are awaited.

use crate::context::Context;
use crate::event::{EventId, SourceId};
use crate::event_loop::{Entity, Outcome};
use crate::graph::{CallbackSpec, CreateError};
use crate::lock::lock;
use crate::node::Node;
use crate::time::{Clock, NodeClock, Time};
use crate::timer::Timer;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Waker};
use std::time::Duration;

/// A tick of an [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Which one, from zero.
    pub number: u64,
    /// When its event was handled, by the executor's clock.
    pub time: Time,
    /// When it was due; see [`Context::scheduled_time`].
    pub scheduled: Time,
    /// Ticks before this one that nobody awaited in time.
    pub missed: u64,
}

/// A timer whose ticks are awaited in a task.
pub struct Interval {
    timer: Timer,
    clock: NodeClock,
    ticks: Arc<Mutex<Ticks>>,
    /// Ticks that were awaited or missed.
    seen: u64,
}

#[derive(Debug, Default)]
struct Ticks {
    count: u64,
    latest: Time,
    scheduled: Time,
    waker: Option<Waker>,
}

impl Interval {
    /// The next tick; at once if there was one since the last. Cancel safe.
    pub async fn tick(&mut self) -> Tick {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    fn poll_tick(&mut self, cx: &task::Context<'_>) -> Poll<Tick> {
        let mut ticks = lock(&self.ticks);
        if ticks.count == self.seen {
            ticks.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let missed = ticks.count - self.seen - 1;
        self.seen = ticks.count;
        let (number, time, scheduled) = (ticks.count - 1, ticks.latest, ticks.scheduled);
        Poll::Ready(Tick { number, time, scheduled, missed })
    }

    /// Waits until the executor's time is `delay` after now: the interval is moved, and goes on
    /// from there.
    pub async fn sleep(&mut self, delay: Duration) -> Tick {
        self.sleep_until(self.clock.now() + delay).await
    }

    /// Waits until the executor's time is `time`: the interval is moved, and goes on from there.
    pub async fn sleep_until(&mut self, time: Time) -> Tick {
        self.seen = lock(&self.ticks).count;
        self.timer.start_at(time);
        self.tick().await
    }

    /// The timer, to be cancelled or given another period.
    pub fn timer(&self) -> &Timer {
        &self.timer
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval").field("period", &self.timer.period()).finish_non_exhaustive()
    }
}

struct IntervalEntity {
    ticks: Arc<Mutex<Ticks>>,
    source: SourceId,
}

impl<S> Entity<S> for IntervalEntity {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let mut ticks = lock(&self.ticks);
        cx.begin(EventId { source: self.source, sequence: ticks.count });
        ticks.count += 1;
        ticks.latest = cx.now();
        ticks.scheduled = cx.scheduled;
        let waker = ticks.waker.take();
        drop(ticks);
        if let Some(waker) = waker {
            waker.wake();
        }
        Outcome::Done(Ok(()))
    }

    fn discard(&mut self, _port: usize) -> bool {
        true
    }

    fn retire(&mut self) {}
}

impl<S: Send + 'static> Node<S> {
    /// Creates a timer for a [task](Node::spawn) that awaits its ticks, every `period`, anchored as
    /// those of [`create_timer`](Node::create_timer).
    ///
    /// # Errors
    /// As [`create_timer`](Node::create_timer).
    pub fn create_interval(&self, period: Duration) -> Result<Interval, CreateError> {
        self.add_interval(format!("interval {period:?}"), period, true)
    }

    /// Creates an interval without ticks of its own, for [`Interval::sleep`].
    ///
    /// # Errors
    /// As [`create_timer`](Node::create_timer).
    pub fn create_sleeper(&self) -> Result<Interval, CreateError> {
        let interval = self.add_interval("sleeper".into(), Duration::from_nanos(1), false)?;
        interval.timer.cancel();
        Ok(interval)
    }

    fn add_interval(
        &self,
        name: String,
        period: Duration,
        repeats: bool,
    ) -> Result<Interval, CreateError> {
        let mut builder = self.builder(&name)?;
        let timer = self.new_timer(&builder, &name, period, repeats)?;
        let source = builder.next_source();
        let target = builder.next_target(self.event_loop());
        builder.add_callback(self.event_loop(), name, CallbackSpec::of_timer(target, &timer));
        let ticks = Arc::<Mutex<Ticks>>::default();
        let entity = IntervalEntity { ticks: ticks.clone(), source };
        builder.body::<S>(self.event_loop()).add(Box::new(entity));
        Ok(Interval { timer, clock: builder.clock.clone(), ticks, seen: 0 })
    }
}
