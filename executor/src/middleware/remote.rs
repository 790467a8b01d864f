//! The way in: what a middleware announced, taken by the event loop that it is for.

use super::{Arrivals, RemoteSubscription};
use crate::event::{EventId, SourceId};
use crate::event_loop::BoxError;
use crate::notifier::Notifier;
use std::sync::Arc;

/// What became of an attempt to take an item.
pub(crate) enum Taken<M> {
    Item(M),
    /// It concerns nobody any more: a response that came too late, say.
    Stale,
    /// There is none.
    Nothing,
}

/// Takes items, one at a time.
pub(crate) type Take<M> = Box<dyn FnMut() -> Result<Taken<M>, BoxError> + Send>;

/// Where items of type `M` come from, besides the process.
///
/// There is one token for all that was announced, and it is passed on until nothing is left. So
/// the ready ring needs one place, whatever the middleware holds.
pub(crate) struct Remote<M> {
    /// For errors.
    name: Box<str>,
    take: Take<M>,
    arrivals: Arrivals,
    source: SourceId,
    sequence: u64,
    /// How many of those that were announced are taken, or known to be gone.
    handled: u64,
    /// Whether what was announced and is not there was overwritten.
    is_exact: bool,
    /// Whether it brings what is published in the process, too.
    pub(crate) is_exclusive: bool,
    /// Whether it is preferred to the queue of the process.
    pub(crate) has_turn: bool,
}

/// What an event loop gets.
pub(crate) struct Arrival<M> {
    pub(crate) item: Option<(EventId, M)>,
    /// Items that were announced and are gone, because newer ones took their places.
    pub(crate) overwritten: u64,
    /// Items that could not be taken.
    pub(crate) lost: u64,
}

impl<M: 'static> Remote<M> {
    pub(crate) fn new(name: &str, source: SourceId, take: Take<M>, arrivals: Arrivals) -> Self {
        let (name, sequence, handled) = (name.into(), 0, 0);
        let (is_exact, is_exclusive, has_turn) = (true, false, false);
        Self { name, take, arrivals, source, sequence, handled, is_exact, is_exclusive, has_turn }
    }

    /// The messages of `subscription`.
    pub(crate) fn messages(
        name: &str,
        source: SourceId,
        mut subscription: Box<dyn RemoteSubscription>,
        arrivals: Arrivals,
    ) -> Self {
        let is_exact = subscription.announces_exactly();
        let take = move || {
            let mut message: Option<M> = None;
            subscription.take(&mut message)?;
            Ok(message.map_or(Taken::Nothing, Taken::Item))
        };
        Self { is_exact, ..Self::new(name, source, Box::new(take), arrivals) }
    }

    pub(crate) fn notifier(&self) -> &Arc<Notifier> {
        self.arrivals.notifier()
    }

    /// Whether something was announced; then the caller has to [fetch](Self::fetch) it.
    #[inline]
    pub(crate) fn take_notice(&self) -> bool {
        self.arrivals.notifier().take()
    }

    /// Takes the next item, and passes the token on if there may be more.
    pub(crate) fn fetch(&mut self) -> Arrival<M> {
        let mut arrival = Arrival { item: None, overwritten: 0, lost: 0 };
        // Read before the attempt: what is announced later brings a notice of its own.
        let announced = self.arrivals.announced();
        if announced == self.handled {
            return arrival;
        }
        match (self.take)() {
            Ok(Taken::Item(item)) => {
                arrival.item =
                    Some((EventId { source: self.source, sequence: self.sequence }, item));
                self.sequence += 1;
                self.handled += 1;
            }
            Ok(Taken::Stale) => self.handled += 1,
            Ok(Taken::Nothing) => {
                if self.is_exact {
                    arrival.overwritten = announced - self.handled;
                }
                self.handled = announced;
            }
            Err(error) => {
                tracing::error!(name = &*self.name, %error, "cannot take what has come");
                arrival.lost = 1;
                self.handled += 1;
            }
        }
        if self.handled < announced {
            self.notifier().notify();
        }
        arrival
    }
}
