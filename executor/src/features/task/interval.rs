//! Timers with ticks that a task awaits.
//!
//! The event loop pushes each tick into a queue of depth one, counts it, and wakes the waker; the
//! task takes it on any executor of futures: it looks, registers its waker and looks again, so
//! either it sees the tick or the loop sees the waker. The depth is one, so that a task that was
//! late continues with the newest tick and not with a backlog; the number of the tick tells how
//! many it missed. A sleep reads the count and empties the queue before it moves the timer, so no
//! earlier tick ends it.

use crate::base::departure::{Departure, End};
use crate::base::error::Result;
use crate::base::time::{Clock, NodeClock, Time};
use crate::delivery::context::Context;
use crate::delivery::timer::Timer;
use crate::running::node::Node;
use atomic_waker::AtomicWaker;
use ringspin_ringbuf::{Counter, Pool, keep_last};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

/// A tick of an [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The zero-based number of the tick.
    pub number: u64,
    /// The time at which its event was handled, by the executor's clock.
    pub time: Time,
    /// The time at which it was due; see [`Context::scheduled_time`].
    pub scheduled: Time,
    /// The number of ticks before this one that were not awaited in time.
    pub missed: u64,
}

/// A timer with ticks that a task awaits. The timer ends with it if it was created while the graph
/// runs, otherwise with the node.
pub struct Interval {
    timer: Timer,
    clock: NodeClock,
    /// The latest tick, if it was not awaited yet.
    latest: keep_last::Consumer<Tick>,
    shared: Arc<Shared>,
    /// Ticks that were awaited or missed.
    seen: u64,
    _departure: Option<Departure>,
}

/// The parts that the event's entity and the interval share, besides the tick between them.
#[derive(Debug, Default)]
struct Shared {
    ticks: Counter,
    waker: AtomicWaker,
}

impl Interval {
    /// Waits for the next tick; returns at once if there was one since the last call. Cancel safe.
    pub async fn tick(&mut self) -> Tick {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    fn poll_tick(&mut self, cx: &task::Context<'_>) -> Poll<Tick> {
        if let Some(tick) = self.take() {
            return Poll::Ready(tick);
        }
        self.shared.waker.register(cx.waker());
        // A tick that came before the waker did woke no task.
        self.take().map_or(Poll::Pending, Poll::Ready)
    }

    fn take(&mut self) -> Option<Tick> {
        let mut tick = *self.latest.take()?;
        tick.missed = tick.number - self.seen;
        self.seen = tick.number + 1;
        Some(tick)
    }

    /// Waits until the executor's time is `delay` after now: the interval's next tick moves there,
    /// and later ticks follow from it.
    pub async fn sleep(&mut self, delay: Duration) -> Tick {
        self.sleep_until(self.clock.now() + delay).await
    }

    /// Waits until the executor's time is `time`: the interval's next tick moves there, and later
    /// ticks follow from it.
    pub async fn sleep_until(&mut self, time: Time) -> Tick {
        // A tick that is counted is found below.
        self.seen = self.shared.ticks.happened();
        while self.latest.take().is_some() {}
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

impl Interval {
    pub(crate) fn create<S: Send + 'static>(
        node: &Node<S>,
        name: String,
        period: Duration,
        repeats: bool,
    ) -> Result<Interval> {
        let pool = Pool::new();
        pool.reserve(4); // one waits, one gives way, one is pushed, one is taken
        let (sender, latest) = keep_last::queue(&pool, 1);
        let shared = Arc::<Shared>::default();
        let to = shared.clone();
        let tick = move |_: &mut S, cx: &mut Context<'_>| {
            let number = to.ticks.get();
            let tick = Tick { number, time: cx.now(), scheduled: cx.scheduled, missed: 0 };
            let _ = sender.push(pool.insert(tick));
            to.ticks.happen();
            to.waker.wake();
        };
        let (builder, timer, id) = node.add_timer(name, period, repeats, tick)?;
        let clock = builder.clock.clone();
        let _departure = node.handle.graph.late_departure(&builder, End::Awaited(id));
        Ok(Interval { timer, clock, latest, shared, seen: 0, _departure })
    }

    /// An interval that ticks only at the end of a sleep.
    pub(crate) fn create_sleeper<S: Send + 'static>(node: &Node<S>) -> Result<Self> {
        let interval = Self::create(node, "sleeper".into(), Duration::from_nanos(1), false)?;
        interval.timer.cancel();
        Ok(interval)
    }
}
