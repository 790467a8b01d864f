//! The watch of an idle thread for callbacks that last longer than expected.
//!
//! A thread that expects a long callback tells the others, and they help the loops that wait. It
//! tells no other thread of a callback that was short so far. So while there are events, one idle
//! thread looks at the others once in a while, and marks those as busy that are in the same
//! callback as one look before. An idle executor has no watch: the thread that wakes first calls
//! an idle one.

use super::LONG;
use super::hints::Shared;
use ringspin_ringbuf::ticks;
use std::time::Duration;

/// The time between two looks: a surprise delays others by two of these at most. With 20 ms the
/// looks took 0.2 % of a core in the reference system.
pub(super) const WATCH: Duration = Duration::from_millis(50);

/// After so many looks without an event there is no watch: one second.
const LOOKS_MAX: u32 = 20;

/// The looks of one thread at the others.
#[derive(Default)]
pub(super) struct Watch {
    /// This thread was idle, and has to [call] another one.
    pub(super) is_wanted: bool,
    /// In ticks.
    last: u64,
    /// The number of the event of each thread.
    events: Vec<u64>,
    /// How many looks found no event, up to the last one.
    in_vain: u32,
}

/// Calls an idle thread, unless one keeps the watch. Thread `number` calls in its first event.
pub(super) fn call(shared: &Shared, number: usize) {
    let watcher = shared.watcher.get();
    if watcher == 0 || watcher == number as u64 + 1 {
        shared.watcher.set(0); // for the next one that is idle
        shared.idle(0).into_iter().for_each(|thread| shared.threads[thread].set.wake());
    }
}

impl Watch {
    /// Whether idle thread `number` keeps the watch from now on.
    pub(super) fn keeps(&self, shared: &Shared, number: usize) -> bool {
        let keeps = self.in_vain < LOOKS_MAX && shared.threads[number].shares;
        let (watcher, number) = (shared.watcher.get(), number as u64 + 1);
        if keeps && watcher == 0 {
            shared.watcher.set(number);
        } else if !keeps && watcher == number {
            shared.watcher.set(0);
        }
        keeps && (watcher == 0 || watcher == number)
    }

    /// Looks for threads that are in the same callback as one look before. `long` is [`LONG`] in
    /// ticks.
    pub(super) fn look(&mut self, shared: &Shared, number: usize, long: u64) {
        let between = long.saturating_mul((WATCH.as_nanos() / LONG.as_nanos()) as u64);
        let now = ticks();
        if now.wrapping_sub(self.last) < between - between / 8 {
            return;
        }
        self.last = now;
        self.in_vain = self.in_vain.saturating_add(1);
        self.events.resize(shared.threads.len(), 0);
        for (thread, last) in shared.threads.iter().zip(&mut self.events) {
            let event = thread.event.number.get();
            let is_same = event == std::mem::replace(last, event);
            if is_same && thread.event.strand.get() != 0 {
                thread.is_busy.announce();
            } else if is_same {
                continue;
            }
            self.in_vain = 0;
        }
        tracing::trace!(thread = number, in_vain = self.in_vain, "looked");
    }
}
