//! The way in: what a middleware announced, taken by the event loop that it is for.

use super::{Arrivals, RemoteEvents, RemoteSubscription};
use crate::event::{EventId, SourceId};
use crate::event_loop::BoxError;
use crate::notifier::Notifier;
use std::sync::Arc;

/// What became of an attempt to take an item.
pub(crate) enum Taken {
    /// It is in the place that it was to be put into.
    Item,
    /// It concerns nobody any more: a response that came too late, say.
    Stale,
    /// There is none: what was announced was overwritten.
    Nothing,
    /// There is none, and what was announced may not have been meant for this end.
    NotMeant,
    /// Nobody brings any yet. Who will then announces it.
    NotYet,
}

impl Taken {
    /// The next message of `subscription`, put into `item`. One that was there and did not come is
    /// no reason to give up those behind it.
    pub(crate) fn from<M: 'static>(
        subscription: &mut dyn RemoteSubscription,
        item: &mut Option<M>,
    ) -> Result<Self, BoxError> {
        let was_there = subscription.take(item)?;
        Ok(match item {
            Some(_) => Self::Item,
            None if was_there => Self::Stale,
            None if !subscription.announces_exactly() => Self::NotMeant,
            None => Self::Nothing,
        })
    }
}

/// Takes items, one at a time, into a place that is empty.
pub(crate) type Take<M> = Box<dyn FnMut(&mut Option<M>) -> Result<Taken, BoxError> + Send>;

/// Where items of type `M` come from, besides the process.
///
/// There is one token for all that was announced, and it is passed on until nothing is left. So
/// the ready ring needs one place, whatever the middleware holds.
pub(crate) struct Remote<M> {
    /// For errors.
    name: Box<str>,
    take: Take<M>,
    /// What was fetched. It stays here until it goes to where it is needed: messages may be large,
    /// and moving them from hand to hand took longer than taking them. (On the heap, so that
    /// creating a subscription needs no stack for it.)
    item: Box<Option<M>>,
    pub(crate) arrivals: Arrivals,
    /// Where to watch what happens besides.
    pub(crate) events: Option<Arc<dyn RemoteEvents>>,
    source: SourceId,
    sequence: u64,
    /// How many of those that were announced are taken, or known to be gone.
    handled: u64,
    /// Whether it brings what is published in the process, too.
    pub(crate) is_exclusive: bool,
    /// Whether it is preferred to the queue of the process.
    pub(crate) has_turn: bool,
}

/// What an event loop gets.
pub(crate) struct Arrival {
    /// That of the item that was [fetched](Remote::take_fetched), if there is one.
    pub(crate) id: Option<EventId>,
    /// Items that were announced and are gone, because newer ones took their places.
    pub(crate) overwritten: u64,
    /// Items that could not be taken.
    pub(crate) lost: u64,
}

impl<M: 'static> Remote<M> {
    pub(crate) fn new(name: &str, source: SourceId, take: Take<M>, arrivals: Arrivals) -> Self {
        let (name, item, sequence, handled) = (name.into(), Box::new(None), 0, 0);
        let (is_exclusive, has_turn) = (false, false);
        Self {
            name,
            take,
            item,
            arrivals,
            events: None,
            source,
            sequence,
            handled,
            is_exclusive,
            has_turn,
        }
    }

    /// The messages of `subscription`.
    pub(crate) fn messages(
        name: &str,
        source: SourceId,
        mut subscription: Box<dyn RemoteSubscription>,
        arrivals: Arrivals,
    ) -> Self {
        let events = subscription.events();
        let take = move |item: &mut Option<M>| Taken::from(&mut *subscription, item);
        Self { events, ..Self::new(name, source, Box::new(take), arrivals) }
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
    pub(crate) fn fetch(&mut self) -> Arrival {
        let mut arrival = Arrival { id: None, overwritten: 0, lost: 0 };
        *self.item = None; // of an attempt that panicked
        // Read before the attempt: what is announced later brings a notice of its own. What is
        // counted here is there, because a middleware keeps it behind a lock or the like.
        let announced = self.arrivals.announced();
        let waiting = announced - self.handled;
        if waiting == 0 {
            return arrival;
        }
        self.handled += 1;
        let mut rest = Rest { notifier: self.arrivals.notifier(), is_left: waiting > 1 };
        match (self.take)(&mut self.item) {
            Ok(Taken::Item) => {
                arrival.id = Some(EventId { source: self.source, sequence: self.sequence });
                self.sequence += 1;
            }
            Ok(Taken::Stale) => {}
            Ok(Taken::Nothing) => {
                arrival.overwritten = waiting;
                self.handled = announced;
                rest.is_left = false;
            }
            Ok(Taken::NotMeant) => {
                self.handled = announced;
                rest.is_left = false;
            }
            Ok(Taken::NotYet) => {
                self.handled -= 1;
                rest.is_left = false;
            }
            Err(error) => {
                tracing::error!(name = &*self.name, %error, "cannot take what has come");
                arrival.lost = 1;
            }
        }
        arrival
    }

    /// The item of the last [fetch](Self::fetch).
    #[inline]
    pub(crate) fn take_fetched(&mut self) -> Option<M> {
        self.item.take()
    }
}

/// Passes the token on for what is left, when it goes: after an attempt that panics, too.
struct Rest<'a> {
    notifier: &'a Notifier,
    is_left: bool,
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        if self.is_left {
            self.notifier.notify();
        }
    }
}
