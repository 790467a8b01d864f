//! Deadlines of callbacks: how long after its event became ready a callback may return.
//!
//! Only callbacks with a deadline pay: the times of their events are in a second queue, beside the
//! tokens. If publishers on several threads push at the same moment, two of these times may change
//! places.

use crate::base::time::{Clock, NodeClock, Time};
use ringspin_ringbuf::{Counter, Pool, keep_last};
use std::sync::Arc;
use std::time::Duration;

/// Records the times at which events of a callback become ready.
#[derive(Clone)]
pub(crate) struct Stamper(Arc<Stamps>);

struct Stamps {
    pool: Pool<Time>,
    queue: keep_last::Producer<Time>,
    clock: NodeClock,
    /// The number of stamps that lost their tokens.
    withdrawn: Counter,
}

impl std::fmt::Debug for Stamper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stamper")
    }
}

impl Stamper {
    /// Records that an event becomes ready: at `since`, or now.
    pub(crate) fn stamp(&self, since: Option<Time>) {
        let Stamps { pool, queue, clock, .. } = &*self.0;
        // There is room: the token that follows has a place in its ring for the same reason.
        let _ = queue.push(pool.insert(since.unwrap_or_else(|| clock.now())));
    }

    /// The token of a stamp is left out.
    #[cold]
    pub(crate) fn withdraw(&self) {
        self.0.withdrawn.next();
    }
}

pub(crate) struct DeadlineWatch {
    deadline: Duration,
    stamps: keep_last::Consumer<Time>,
    stamper: Stamper,
    /// The number of withdrawn stamps that were removed.
    dropped: u64,
}

impl DeadlineWatch {
    /// Creates the deadline of a callback of which `capacity` events can be ready.
    pub(crate) fn new(deadline: Duration, capacity: usize, clock: NodeClock) -> (Stamper, Self) {
        let pool = Pool::new();
        pool.reserve(capacity + 2);
        let (queue, stamps) = keep_last::queue(&pool, capacity);
        let withdrawn = Counter::default();
        let stamper = Stamper(Arc::new(Stamps { pool, queue, clock, withdrawn }));
        (stamper.clone(), Self { deadline, stamps, stamper, dropped: 0 })
    }

    /// The time at which the event of the popped token became ready.
    pub(crate) fn ready_since(&mut self) -> Option<Time> {
        while self.dropped < self.stamper.0.withdrawn.get() {
            self.dropped += 1;
            drop(self.stamps.take());
        }
        self.stamps.take().map(|time| *time)
    }

    /// The callback has returned at `now`: counts and logs if that is too late. The log has the
    /// first late return, and then one whenever their number has doubled.
    pub(crate) fn returned(
        &self,
        since: Time,
        now: Time,
        late: &Counter,
        name: impl FnOnce() -> String,
    ) {
        let took = now.since(since);
        if took <= self.deadline {
            return;
        }
        late.add_by_owner(1);
        let late = late.get();
        if late.is_power_of_two() {
            let deadline = self.deadline;
            tracing::warn!(callback = name(), ?took, ?deadline, late, "a deadline was missed");
        }
    }
}
