//! The counters of all callbacks, and the totals of those that are gone.

use crate::calls::CallLine;
use crate::control::{CallbackCounters, CallbackStatistics};
use crate::directory::CallbackName;
use crate::event::CallbackId;
use crate::lock::lock;
use crate::table::Table;
use std::sync::{Arc, Mutex};

/// The counters of one callback.
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
        CallbackStatistics {
            node: name.of.full_name(),
            callback: name.callback.clone(),
            dispatched: calls.of(*token).get() + counters.handed_over.get(),
            overwritten: counters.overwritten.get(),
            lost: counters.lost.get(),
            discarded: counters.discarded.get(),
            missed: counters.missed.get(),
            coalesced: counters.coalesced.get(),
            late: counters.late.get(),
            unmatched: counters.unmatched.get(),
            irregular: counters.irregular.get(),
            expired: counters.expired.get(),
        }
    }
}

/// The counters of a graph. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Counters(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    callbacks: Table<CallbackId, Counted>,
    /// Of callbacks that are destroyed, and may still count what is on its way to them.
    leaving: Table<CallbackId, Counted>,
    removed: CallbackStatistics,
}

impl Counters {
    pub(crate) fn add(&self, callback: CallbackId, counted: Counted) {
        lock(&self.0).callbacks.insert(callback, counted);
    }

    /// Removes a callback that is destroyed; its counters stay in the totals.
    pub(crate) fn remove(&self, callback: CallbackId) {
        let All { callbacks, leaving, .. } = &mut *lock(&self.0);
        if let Some(counted) = callbacks.remove(callback) {
            leaving.insert(callback, counted);
        }
    }

    /// A callback that was removed counts no more.
    pub(crate) fn forget(&self, callback: CallbackId) {
        let All { leaving, removed, .. } = &mut *lock(&self.0);
        if let Some(counted) = leaving.remove(callback) {
            removed.add(&counted.statistics());
        }
    }

    /// The statistics of the callbacks that exist, in order of creation, and the totals of those
    /// that were removed.
    pub(crate) fn statistics(&self) -> (Vec<CallbackStatistics>, CallbackStatistics) {
        let All { callbacks, leaving, removed } = &*lock(&self.0);
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
    use crate::control::Statistics;
    use crate::directory::LoopName;
    use crate::event::LoopId;

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
