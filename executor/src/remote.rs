//! Incoming items of a middleware, which announces them and whose counterpart's event loop takes
//! them.

mod events;
mod notifier;

pub(crate) use events::Reports;
pub use events::{RemoteEvent, RemoteEventKind, RemoteEvents, RemoteStatus};
pub use notifier::RemoteNotifier;

use crate::escape::BoxError;
use crate::event::{EventId, SourceId};
use crate::message_times::MessageTimes;
use crate::notifier::Notifier;
use ringspin_ringbuf::{Attempt, Next, Round, Takes};
use std::any::Any;
use std::sync::Arc;

/// Publishes outside of the process, from any thread.
pub trait RemotePublisher: Send + Sync {
    /// Publishes `message`, which has the type that was advertised.
    ///
    /// # Errors
    /// The reason of a failure.
    fn publish(&self, message: &dyn Any) -> Result<(), BoxError>;

    /// Asserts the liveliness of the publisher.
    ///
    /// # Errors
    /// The reason of a failure.
    fn assert_liveliness(&self) -> Result<(), BoxError>;

    /// The number of subscriptions that are matched with the publisher; those of this process
    /// among them if its [events](Self::events) include them.
    ///
    /// # Errors
    /// The reason of a failure.
    fn subscription_count(&self) -> Result<usize, BoxError>;

    /// The source of its QoS events; `None` if none is ever reported.
    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        None
    }
}

/// The source of messages of other processes.
pub trait RemoteSubscription: Send {
    /// Takes the next message into `into`, which is an `&mut Option<M>` of the type that was
    /// subscribed to. False if there is none.
    ///
    /// # Errors
    /// The reason of a failure; the message is lost then, and the next one may be taken.
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError>;

    /// The times of the message that was [taken](Self::take) last, for
    /// [`Message::times`](crate::Message::times): `source_timestamp` and `received_timestamp` of
    /// `rmw_message_info_t`. Called only for subscriptions that ask for them
    /// ([`QoS::message_times`](crate::QoS::message_times)). Zero where it is not known: the time of
    /// the take stands for it.
    fn times(&self) -> MessageTimes {
        MessageTimes::UNKNOWN
    }

    /// Returns the number of overwritten messages among the `missing` ones, which were announced
    /// and are not there. The others were not meant for this subscription. Called once for each
    /// missing message.
    fn overwritten(&mut self, missing: u64) -> u64 {
        missing
    }

    /// The source of its QoS events; `None` if none is ever reported.
    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        None
    }
}

/// The outcome of an attempt to take an item.
pub(crate) enum Taken {
    /// The item was put into its place.
    Item,
    /// An item was taken that needs no delivery: a response that came too late, say.
    Stale,
    /// There is no item for this announcement; later ones may still have one.
    Nothing,
}

/// A source of items of type `M` outside of the process.
pub(crate) trait Source<M>: Send {
    /// Takes one item into `item`, which is empty.
    fn take(&mut self, item: &mut Option<M>) -> Result<Taken, BoxError>;

    /// Returns the number of overwritten items among the `missing` ones, which were announced and
    /// are not there. The others were not meant for this end.
    fn overwritten(&mut self, missing: u64) -> u64;

    /// The times of the message that was taken last.
    fn times(&self) -> MessageTimes {
        MessageTimes::UNKNOWN
    }

    /// Puts into `item` a further report of the source, once all announced items are taken; false
    /// if there is none. Announced by a count of zero.
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

    fn times(&self) -> MessageTimes {
        (**self).times()
    }
}

/// The items of a middleware for one end.
///
/// One token stands for all announced items, and is passed on until none is left. So the ready ring
/// needs one place, however many items the middleware holds.
pub(crate) struct Remote<M> {
    /// The name, for errors.
    name: Box<str>,
    source: Box<dyn Source<M>>,
    /// The fetched item. It stays here until it goes to its destination: messages may be large, and
    /// moving them several times took longer than taking them. (On the heap, so that creating a
    /// subscription needs no stack for it.)
    item: Box<Option<M>>,
    pub(crate) remote_notifier: RemoteNotifier,
    /// The source of QoS events.
    pub(crate) events: Option<Arc<dyn RemoteEvents>>,
    source_id: SourceId,
    sequence: u64,
    takes: Takes,
    /// Whether it delivers messages that this process published, too.
    pub(crate) is_exclusive: bool,
}

/// The outcome of a [fetch](Remote::fetch).
pub(crate) struct Arrival {
    /// The identity of the item, if there is one to [take](Remote::take_fetched).
    pub(crate) id: Option<EventId>,
    /// Items that were announced and then overwritten by newer ones.
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

    /// Chooses between `take_queued` and announced items; the caller [fetches](Self::fetch) the
    /// latter.
    #[inline]
    pub(crate) fn next<T>(&mut self, take_queued: impl FnOnce() -> Option<T>) -> Next<T> {
        let Self { takes, remote_notifier, .. } = self;
        takes.next(|| remote_notifier.notifier().take(), take_queued)
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
            Err(error) => {
                tracing::error!(name = &**name, %error, "failed to take an item of the middleware");
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

    /// The times of the item of the last [fetch](Self::fetch).
    pub(crate) fn times(&self) -> MessageTimes {
        self.source.times()
    }

    /// The item of the last [fetch](Self::fetch).
    #[inline]
    pub(crate) fn take_fetched(&mut self) -> Option<M> {
        self.item.take()
    }
}
