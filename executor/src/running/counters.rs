//! The counters of all callbacks, and the totals of destroyed ones. Workers write the counters of
//! their callbacks and publishers those of lost messages, without a lock; the monitor reads all of
//! them. The graph adds and removes entries under a lock, for which no worker waits.

use crate::base::directory::CallbackName;
use crate::base::event::CallbackId;
use crate::base::lock::ByCallback;
use crate::base::table::Table;
use crate::delivery::control::{CallbackCounters, CallbackStatistics};
use ringspin_ringbuf::Counter;
use std::sync::Arc;

/// The number of calls of each callback of a worker, by token.
///
/// They lie close together, because each event writes one of them, and on cache lines that no other
/// worker writes.
#[derive(Default)]
pub(crate) struct Calls(Vec<Arc<CallLine>>);

const PER_LINE: usize = 8;

/// The counters of some tokens in a row.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct CallLine([Counter; PER_LINE]);

impl CallLine {
    /// The counter of a token that belongs to this line.
    #[inline]
    pub(crate) fn of(&self, token: usize) -> &Counter {
        &self.0[token % PER_LINE]
    }
}

impl Calls {
    /// The line of `token`, which is added if there is none.
    pub(crate) fn line(&mut self, token: usize) -> &Arc<CallLine> {
        while self.0.len() <= token / PER_LINE {
            self.0.push(Arc::default());
        }
        &self.0[token / PER_LINE]
    }

    /// Takes over the line of `token`.
    pub(crate) fn set_line(&mut self, token: usize, line: Arc<CallLine>) {
        self.line(token);
        self.0[token / PER_LINE] = line;
    }

    /// The counter of `token`; its line was added before.
    #[inline]
    pub(crate) fn of(&self, token: usize) -> &Counter {
        self.0[token / PER_LINE].of(token)
    }
}

pub(crate) struct Counted {
    pub(crate) name: Arc<CallbackName>,
    /// All but one.
    pub(crate) counters: Arc<CallbackCounters>,
    pub(crate) calls: Arc<CallLine>,
    pub(crate) token: usize,
}

impl Counted {
    fn statistics(&self) -> CallbackStatistics {
        let Self { name, counters, calls, token } = self;
        CallbackStatistics::of(name, calls.of(*token).get(), counters)
    }
}

/// The counters of a graph. Clones share them.
#[derive(Clone)]
pub(crate) struct Counters(Arc<ByCallback<All>>);

impl Default for Counters {
    fn default() -> Self {
        Self(Arc::new(ByCallback::new(All::forget)))
    }
}

#[derive(Default)]
struct All {
    callbacks: Table<CallbackId, Counted>,
    /// The counters of destroyed callbacks that may still count messages on their way.
    leaving: Table<CallbackId, Counted>,
    removed: CallbackStatistics,
}

impl All {
    /// Adds the counters of a callback to the totals, and makes its token's ready for another one.
    fn forget(&mut self, callback: CallbackId) {
        if let Some(counted) = self.leaving.remove(callback) {
            self.removed.add(&counted.statistics());
            counted.calls.of(counted.token).set(0);
        }
    }
}

impl Counters {
    pub(crate) fn add(&self, callback: CallbackId, counted: Counted) {
        self.0.lock().callbacks.insert(callback, counted);
    }

    /// Removes a callback that is destroyed; its counters stay in the totals.
    pub(crate) fn remove(&self, callback: CallbackId) {
        let All { callbacks, leaving, .. } = &mut *self.0.lock();
        if let Some(counted) = callbacks.remove(callback) {
            leaving.insert(callback, counted);
        }
    }

    /// A callback that was removed counts no more, and its token is used again after the next
    /// [`add`](Self::add). Lock-free.
    pub(crate) fn forget(&self, callback: CallbackId) {
        self.0.remove(callback);
    }

    /// The statistics of the callbacks that exist, in order of creation, and the totals of those
    /// that were removed.
    pub(crate) fn statistics(&self) -> (Vec<CallbackStatistics>, CallbackStatistics) {
        let All { callbacks, leaving, removed } = &*self.0.lock();
        let mut removed = removed.clone();
        leaving.values().for_each(|counted| removed.add(&counted.statistics()));
        // Faster than `collect`: the iterator does not know its length.
        let mut each = Vec::with_capacity(callbacks.len());
        callbacks.values().for_each(|counted| each.push(counted.statistics()));
        (each, removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::directory::LoopName;
    use crate::base::event::LoopId;
    use crate::delivery::control::Statistics;

    #[test]
    fn counters_of_removed_callbacks_stay_in_the_totals() {
        let (counters, calls) = (Counters::default(), Arc::<CallLine>::default());
        for token in 0..2 {
            let of = Arc::new(LoopName::default());
            let name = CallbackName { callback: format!("{token}"), event_loop: LoopId(0), of };
            calls.of(token).add_by_owner(10 + token as u64);
            let own = Arc::<CallbackCounters>::default();
            own.lose(3);
            own.overwritten.add(1 + token as u64);
            let (name, calls) = (Arc::new(name), calls.clone());
            counters.add(CallbackId(token as u32), Counted { name, counters: own, calls, token });
        }
        let statistics = || {
            let (callbacks, removed) = counters.statistics();
            Statistics { callbacks, removed, ..Statistics::default() }
        };
        let totals = |of: &Statistics| (of.dispatched(), of.lost(), of.overwritten());
        assert_eq!(totals(&statistics()), (21, 6, 3));
        assert_eq!(statistics().removed, CallbackStatistics::default());
        counters.remove(CallbackId(1));
        counters.remove(CallbackId(1));
        assert_eq!(totals(&statistics()), (21, 6, 3));
        counters.forget(CallbackId(1));
        counters.forget(CallbackId(1));
        let after = statistics();
        assert_eq!(after.callbacks.len(), 1);
        assert_eq!((after.removed.dispatched, after.removed.overwritten), (11, 2));
        assert_eq!(totals(&after), (21, 6, 3));
    }
}
