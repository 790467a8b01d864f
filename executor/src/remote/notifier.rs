//! The announcements of a middleware: a count, a notice, and one token.

use crate::notifier::Notifier;
use crate::time::{Clock, NodeClock, Time};
use ringspin_ringbuf::{Announcements, Counter};
use std::sync::{Arc, OnceLock};

/// Where a middleware announces what has come for one end: its event loop will take it. Cheap to
/// clone.
#[derive(Clone, Debug, Default)]
pub struct RemoteNotifier(Arc<Arrived>);

#[derive(Debug, Default)]
struct Arrived {
    notifier: Arc<Notifier>,
    announced: Announcements,
    /// If somebody wants to know when something came: the clock, and what it said then.
    heard: OnceLock<(NodeClock, Counter)>,
}

impl RemoteNotifier {
    /// Says that `count` more items have come, which can be taken by now. From any thread, while
    /// the graph is being built, too. Lock-free, and short: it may be called within a publisher's
    /// call.
    ///
    /// The loop makes an attempt for each announced item, and goes on until one yields nothing. So
    /// an item may be gone when the loop comes to take it, because a newer one has taken its place
    /// or because it was meant for another end; and it may be announced after it was taken.
    pub fn announce(&self, count: usize) {
        if let Some((clock, at)) = self.0.heard.get().filter(|_| count > 0) {
            // Of two threads at a time either may be the last: they differ by microseconds.
            at.set(clock.now().as_nanos());
        }
        self.0.announced.announce(count as u64, || self.0.notifier.notify());
    }

    /// Has it note, from now on, when something came last, by `clock`.
    pub(crate) fn note_time(&self, clock: NodeClock) {
        self.0.heard.get_or_init(|| (clock, Counter::default()));
    }

    /// When something came last, if that is noted; else zero.
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
