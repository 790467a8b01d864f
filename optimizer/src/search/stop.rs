//! A flag that ends a search from outside.

use std::sync::{Arc, OnceLock};

/// Ends a search early, which then answers with the best that it found. Clones are the same flag.
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
    /// Asks the search to end; it looks before every evaluation.
    pub fn stop(&self) {
        // The second time says nothing new.
        let _ = self.0.set(());
    }

    /// Whether the search was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.0.get().is_some()
    }
}
