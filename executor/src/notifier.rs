//! Events that are no messages: a task's wake-up, a trigger, a change of a timer.

use crate::ready::Ready;
use crate::sim_network::SimNetwork;
use ringspin_ringbuf::Notifier as Source;
use std::sync::Arc;

/// Makes one event ready, however often it is notified before that is handled; from any thread.
///
/// The protocol is that of [`ringspin_ringbuf::Notifier`]; this type adds simulated time.
#[derive(Debug, Default)]
pub(crate) struct Notifier(Arc<Source<Ready>>);

impl Notifier {
    /// Makes the event ready, unless it is ready already. Lock-free.
    #[inline]
    pub(crate) fn notify(&self) {
        match self.0.connection() {
            Some(Ready { sim_network: Some(sim_network), .. }) if sim_network.departs_later() => {
                self.notify_later(sim_network);
            }
            _ => self.0.notify(),
        }
    }

    /// Notifies at the end of the running callback, in simulated time. The notifier stays unset
    /// until then, so that other callbacks may notify earlier.
    #[cold]
    fn notify_later(&self, sim_network: &SimNetwork) {
        let source = self.0.clone();
        sim_network.fly(sim_network.departure(), move || source.notify());
    }

    /// Whether the event is to be handled; the answer may be a moment old.
    pub(crate) fn is_given(&self) -> bool {
        self.0.is_given()
    }

    /// Takes the notice when the event is handled; only afterwards may the worker look for the
    /// reason of the notification. False if an earlier event took the notice.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        self.0.take()
    }

    pub(crate) fn connect(&self, ready: Ready) {
        assert!(self.0.connect(ready).is_ok(), "a graph is frozen once");
    }

    /// Makes the first event ready.
    pub(crate) fn start(&self) {
        self.0.start();
    }
}
