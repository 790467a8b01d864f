//! Incoming items of a middleware. Threads of the middleware announce them; the event loop of the
//! subscription, server or client takes them. One token in the ready ring stands for all announced
//! items, so the ring needs one place, however many items the middleware holds.

mod events;

pub(crate) use events::Reports;
pub use events::{RemoteEvent, RemoteEventKind, RemoteEvents, RemoteStatus};

use crate::base::escape::BoxError;
use crate::base::event::{EventId, SourceId};
use crate::base::message_times::MessageTimes;
use crate::base::observed;
use crate::base::qos::{History, QoS};
use crate::base::time::{Clock, NodeClock, Time};
use crate::delivery::ready::Notifier;
use ringspin_ringbuf::{Announcements, Attempt, Counter, Next, Round, Takes};
use std::any::Any;
use std::sync::{Arc, OnceLock};

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

    /// The number of messages that the publishers numbered between those that were taken:
    /// overwritten here, unreadable, or lost on their way. `None` before a message with a number.
    fn skipped(&self) -> Option<u64> {
        None
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

    /// The number of messages that are missing between those that were taken, if it is known.
    fn skipped(&self) -> Option<u64> {
        None
    }

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

    fn skipped(&self) -> Option<u64> {
        (**self).skipped()
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
    pub(crate) events: Option<Arc<dyn RemoteEvents>>,
    source_id: SourceId,
    sequence: u64,
    takes: Takes,
    /// The skipped messages that are counted as overwritten or lost.
    counted: u64,
    /// Whether it delivers messages that this process published, too.
    pub(crate) is_exclusive: bool,
}

pub(crate) struct Arrival {
    /// The identity of the item, if there is one to [take](Remote::take_fetched).
    pub(crate) id: Option<EventId>,
    /// Items that were announced and then overwritten by newer ones.
    pub(crate) overwritten: u64,
    /// Items that could not be taken, or did not arrive.
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
            counted: 0,
            is_exclusive: false,
        }
    }

    pub(crate) fn messages(
        name: &str,
        source_id: SourceId,
        subscription: Box<dyn RemoteSubscription>,
        remote_notifier: RemoteNotifier,
    ) -> Self {
        let events = subscription.events();
        Self { events, ..Self::new(name, source_id, Box::new(subscription), remote_notifier) }
    }

    /// The same, of a source that keeps as many items as `qos` says.
    pub(crate) fn keeping(mut self, qos: QoS) -> Self {
        if qos.history() == History::KeepLast {
            self.takes = Takes::of_newest(qos.depth().max(1));
        }
        self
    }

    pub(crate) fn notifier(&self) -> &Arc<Notifier> {
        self.remote_notifier.notifier()
    }

    /// Chooses between `take_queued` and announced items; the caller [fetches](Self::fetch) the
    /// latter.
    #[inline]
    pub(crate) fn next<T>(&mut self, take_queued: impl FnOnce() -> Option<T>) -> Next<T> {
        let Self { takes, remote_notifier, .. } = self;
        let take_notice = || remote_notifier.notifier().take() && observed::may_have_item();
        takes.next(take_notice, take_queued)
    }

    /// Takes the next item, and passes the token on if there may be more.
    pub(crate) fn fetch(&mut self) -> Arrival {
        let Self { name, source, item, remote_notifier, takes, counted, .. } = self;
        **item = None; // of an attempt that panicked
        let has_numbers = source.skipped().is_some();
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
        let mut lost = failed;
        if has_numbers {
            *counted += overwritten + failed;
        }
        // While announcements are under way, those of overwritten messages may be among them.
        if is_drained
            && takes.are_all_announced()
            && let Some(skipped) = source.skipped()
        {
            let unexplained = skipped.saturating_sub(*counted);
            *counted += unexplained;
            lost += unexplained;
        }
        if is_drained && source.conclude(item) {
            notifier.notify(); // there may be more of the kind
            has_item = true;
        }
        let id = has_item.then(|| {
            self.sequence += 1;
            EventId { source: self.source_id, sequence: self.sequence - 1 }
        });
        Arrival { id, overwritten, lost }
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

/// Announces items of a middleware to the event loop that takes them. Cheap to clone.
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
    /// The loop makes an attempt for each announced item, and more until one yields nothing. So an
    /// item may be gone when the loop comes to take it, because a newer one has taken its place or
    /// because it was meant for another end; and it may be announced after it was taken.
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
