//! Timers with ticks that a task awaits.

use crate::context::Context;
use crate::departure::{Departure, End};
use crate::entity::{CallbackSpec, Entity, Outcome};
use crate::event::{EventId, SourceId};
use crate::graph::{AddError, CreateTimerError};
use crate::node::Node;
use crate::time::{Clock, NodeClock, Time};
use crate::timer::Timer;
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

/// A timer whose ticks are awaited in a task. The timer ends with it if it was created while the
/// graph runs, otherwise with the node.
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

struct IntervalEntity {
    pool: Pool<Tick>,
    latest: keep_last::Producer<Tick>,
    shared: Arc<Shared>,
    source: SourceId,
}

impl<S> Entity<S> for IntervalEntity {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let number = self.shared.ticks.get();
        cx.begin(EventId { source: self.source, sequence: number });
        let tick = Tick { number, time: cx.now(), scheduled: cx.scheduled, missed: 0 };
        let _ = self.latest.push(self.pool.insert(tick));
        self.shared.ticks.happen();
        self.shared.waker.wake();
        Outcome::Done
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
    /// The errors of [`create_timer`](Node::create_timer).
    pub fn create_interval(&self, period: Duration) -> Result<Interval, CreateTimerError> {
        let period_ns = self.period_ns(period)?;
        Ok(self.add_interval(format!("interval {period:?}"), period_ns, true)?)
    }

    /// Creates an interval without ticks of its own, for [`Interval::sleep`].
    ///
    /// # Errors
    /// [`AddError`].
    pub fn create_sleeper(&self) -> Result<Interval, AddError> {
        let interval = self.add_interval("sleeper".into(), 1, false)?;
        interval.timer.cancel();
        Ok(interval)
    }

    fn add_interval(
        &self,
        name: String,
        period_ns: u64,
        repeats: bool,
    ) -> Result<Interval, AddError> {
        let mut builder = self.builder(&name)?;
        let timer = self.new_timer(&builder, &name, period_ns, repeats);
        let source = builder.next_source();
        let target = builder.next_target(self.event_loop());
        let spec = CallbackSpec::of_timer(target, &timer);
        let id = builder.add_callback(self.event_loop(), name, spec);
        timer.control().registration.get_or_init(|| self.graph.registration(id));
        let pool = Pool::new();
        pool.reserve(4); // one waits, one gives way, one is pushed, one is taken
        let (sender, latest) = keep_last::queue(&pool, 1);
        let shared = Arc::<Shared>::default();
        let entity = IntervalEntity { pool, latest: sender, shared: shared.clone(), source };
        builder.add_entity::<S>(self.event_loop(), Box::new(entity));
        let clock = builder.clock().clone();
        let _departure = self.graph.late_departure(&builder, End::Awaited(id));
        Ok(Interval { timer, clock, latest, shared, seen: 0, _departure })
    }
}
