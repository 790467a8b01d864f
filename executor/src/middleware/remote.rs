//! The way in: items that a middleware announced, taken by the event loop that they are for.

use super::{RemoteEvents, RemoteNotifier, RemoteSubscription};
use crate::escape::BoxError;
use crate::event::{EventId, SourceId};
use crate::notifier::Notifier;
use ringspin_ringbuf::{Attempt, Round, Takes};
use std::sync::Arc;

/// The outcome of an attempt to take an item.
pub(crate) enum Taken {
    /// It is in the place that it was to be put into.
    Item,
    /// An item was taken that needs no delivery: a response that came too late, say.
    Stale,
    /// There is none. This says nothing about items behind it.
    Nothing,
    /// The source does not exist yet. It announces when it does.
    NotYet,
}

/// Where items of type `M` come from, besides the process.
pub(crate) trait Source<M>: Send {
    /// Takes one item into `item`, which is empty.
    fn take(&mut self, item: &mut Option<M>) -> Result<Taken, BoxError>;

    /// How many of `missing` announced items, which were not there, were overwritten. The others
    /// were not meant for this end.
    fn overwritten(&mut self, missing: u64) -> u64;

    /// Puts into `item` what the source has to say besides, when all announced items are taken;
    /// false if nothing. Announced by a count of zero.
    fn conclude(&mut self, item: &mut Option<M>) -> bool {
        let _ = item;
        false
    }
}

impl<M: 'static> Source<M> for Box<dyn RemoteSubscription> {
    fn take(&mut self, item: &mut Option<M>) -> Result<Taken, BoxError> {
        let was_there = (**self).take(item)?;
        Ok(match item {
            Some(_) => Taken::Item,
            None if was_there => Taken::Stale,
            None => Taken::Nothing,
        })
    }

    fn overwritten(&mut self, missing: u64) -> u64 {
        (**self).overwritten(missing)
    }
}

/// The items of a middleware for one end.
///
/// There is one token for all that was announced, and it is passed on until nothing is left. So
/// the ready ring needs one place, whatever the middleware holds.
pub(crate) struct Remote<M> {
    /// For errors.
    name: Box<str>,
    source: Box<dyn Source<M>>,
    /// The item that was fetched. It stays here until it goes to where it is needed: messages may
    /// be large, and moving them from hand to hand took longer than taking them. (On the heap, so
    /// that creating a subscription needs no stack for it.)
    item: Box<Option<M>>,
    pub(crate) remote_notifier: RemoteNotifier,
    /// Where to watch what happens besides.
    pub(crate) events: Option<Arc<dyn RemoteEvents>>,
    source_id: SourceId,
    sequence: u64,
    takes: Takes,
    /// Whether it brings what is published in the process, too.
    pub(crate) is_exclusive: bool,
    /// Whether it is preferred to the queue of the process.
    pub(crate) has_turn: bool,
}

/// The outcome of a [fetch](Remote::fetch).
pub(crate) struct Arrival {
    /// The identity of the item, if there is one to [take](Remote::take_fetched).
    pub(crate) id: Option<EventId>,
    /// Items that were announced and are gone, because newer ones took their places.
    pub(crate) overwritten: u64,
    /// Items that could not be taken.
    pub(crate) lost: u64,
}

impl<M: 'static> Remote<M> {
    pub(crate) fn new(
        name: &str,
        source_id: SourceId,
        source: Box<dyn Source<M>>,
        remote_notifier: RemoteNotifier,
    ) -> Self {
        Self {
            name: name.into(),
            source,
            item: Box::new(None),
            remote_notifier,
            events: None,
            source_id,
            sequence: 0,
            takes: Takes::default(),
            is_exclusive: false,
            has_turn: false,
        }
    }

    /// The messages of `subscription`.
    pub(crate) fn messages(
        name: &str,
        source_id: SourceId,
        subscription: Box<dyn RemoteSubscription>,
        remote_notifier: RemoteNotifier,
    ) -> Self {
        let events = subscription.events();
        Self { events, ..Self::new(name, source_id, Box::new(subscription), remote_notifier) }
    }

    pub(crate) fn notifier(&self) -> &Arc<Notifier> {
        self.remote_notifier.notifier()
    }

    /// Whether something was announced; then the caller has to [fetch](Self::fetch) it.
    #[inline]
    pub(crate) fn take_notice(&self) -> bool {
        self.remote_notifier.notifier().take()
    }

    /// Takes the next item, and passes the token on if there may be more.
    pub(crate) fn fetch(&mut self) -> Arrival {
        let Self { name, source, item, remote_notifier, takes, .. } = self;
        **item = None; // of an attempt that panicked
        let notifier = remote_notifier.notifier();
        let take = || match source.take(item) {
            Ok(Taken::Item) => Attempt::Item,
            Ok(Taken::Stale) => Attempt::Dropped,
            Ok(Taken::Nothing) => Attempt::Empty,
            Ok(Taken::NotYet) => Attempt::NotConnected,
            Err(error) => {
                tracing::error!(name = &**name, %error, "cannot take what has come");
                Attempt::Failed
            }
        };
        let round = takes.round(remote_notifier.announcements(), || notifier.notify(), take);
        let Round { mut has_item, missing, failed, is_drained } = round;
        let overwritten = if missing > 0 { source.overwritten(missing) } else { 0 };
        if is_drained && source.conclude(item) {
            notifier.notify(); // there may be more of the kind
            has_item = true;
        }
        let id = has_item.then(|| {
            self.sequence += 1;
            EventId { source: self.source_id, sequence: self.sequence - 1 }
        });
        Arrival { id, overwritten, lost: failed }
    }

    /// The item of the last [fetch](Self::fetch).
    #[inline]
    pub(crate) fn take_fetched(&mut self) -> Option<M> {
        self.item.take()
    }
}
