//! A flag that ends a search from outside.

use std::sync::{Arc, OnceLock};

/// Ends a search early; the search then returns its best result. Clones share the flag.
///
/// ```
/// use ringspin_optimizer::Stop;
///
/// let stop = Stop::default();
/// let for_the_signal_handler = stop.clone();
/// for_the_signal_handler.stop();
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<OnceLock<()>>);

impl Stop {
    /// Requests the end of the search, which checks before every evaluation.
    pub fn stop(&self) {
        // A second call has no effect.
        let _ = self.0.set(());
    }

    /// Whether the end of the search was requested.
    pub fn is_stopped(&self) -> bool {
        self.0.get().is_some()
    }
}
