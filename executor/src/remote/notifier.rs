//! The announcements of a middleware: a count, a notice, and one token.

use crate::notifier::Notifier;
use crate::time::{Clock, NodeClock, Time};
use ringspin_ringbuf::{Announcements, Counter};
use std::sync::{Arc, OnceLock};

/// Announces items of a middleware for one end, whose event loop then takes them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RemoteNotifier(Arc<Arrived>);

#[derive(Debug, Default)]
struct Arrived {
    notifier: Arc<Notifier>,
    announced: Announcements,
    /// The clock and the time of the last arrival, if arrival times are observed.
    heard: OnceLock<(NodeClock, Counter)>,
}

impl RemoteNotifier {
    /// Announces that `count` more items can be taken. May be called from any thread, also while
    /// the graph is being built. Lock-free, and short: it may be called within a publisher's call.
    ///
    /// The loop makes an attempt for each announced item, and goes on until one yields nothing. So
    /// an item may be gone when the loop comes to take it, because a newer one has taken its place
    /// or because it was meant for another end; and it may be announced after it was taken.
    pub fn announce(&self, count: usize) {
        if let Some((clock, at)) = self.0.heard.get().filter(|_| count > 0) {
            // Of two simultaneous calls either may be recorded: they differ by microseconds.
            at.set(clock.now().as_nanos());
        }
        self.0.announced.announce(count as u64, || self.0.notifier.notify());
    }

    /// Records the time of the last arrival by `clock` from now on.
    pub(crate) fn note_time(&self, clock: NodeClock) {
        self.0.heard.get_or_init(|| (clock, Counter::default()));
    }

    /// The time of the last arrival, if it is recorded; else zero.
    pub(crate) fn last_heard(&self) -> Time {
        self.0.heard.get().map_or(Time::ZERO, |(_, at)| Time::from_nanos(at.get()))
    }

    pub(crate) fn notifier(&self) -> &Arc<Notifier> {
        &self.0.notifier
    }

    pub(crate) fn announcements(&self) -> &Announcements {
        &self.0.announced
    }
}
