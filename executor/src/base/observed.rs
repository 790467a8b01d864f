//! Observations of a callback beyond its event: readings of the clock and of counters that other
//! threads write, refused places in queues, and [items](RemoteItem) that a middleware delivered. A
//! recorder of a live run [records](record) them; a [replay](replay) has each callback observe them
//! again.
//!
//! They belong to the callback that runs on the thread, so they are in a variable of the thread.
//! Only clocks of a record or a replay and bounded queues look at it.

use ringspin_ringbuf::Permits;
use std::cell::RefCell;
use std::sync::Arc;

/// A kind of items that a middleware delivers: the messages of a topic, or the requests or
/// responses of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteChannel {
    /// The name of the topic; of a service with `/_request` or `/_response` after it.
    pub topic: String,
    /// The name of the type, such as `std_msgs/msg/String`.
    pub type_name: String,
    /// The definition of the type; empty if it is not known.
    pub definition: String,
    /// The hash of the type; empty if it is not known.
    pub type_hash: String,
}

impl RemoteChannel {
    /// Whether items of `other` can be taken as items of this one.
    pub fn fits(&self, other: &Self) -> bool {
        let is_other_hash = ![&*self.type_hash, &other.type_hash].contains(&"")
            && self.type_hash != other.type_hash;
        self.topic == other.topic && self.type_name == other.type_name && !is_other_hash
    }
}

/// An item that a middleware delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteItem {
    /// Its kind.
    pub channel: Arc<RemoteChannel>,
    /// The number of the call of a response; else zero.
    pub number: i64,
    /// When a message was published, in nanoseconds of the sender's time; zero if not known.
    pub source_ns: u64,
    /// When it came in, in nanoseconds of the middleware's time; zero if not known.
    pub received_ns: u64,
    /// The serialized item.
    pub bytes: Vec<u8>,
}

/// The observations of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// Its readings, in order: times in nanoseconds, and counts.
    pub readings: Vec<u64>,
    /// The reservations of a place in a queue that were refused: the number of the receiving
    /// callback, and that of the reservation there, from zero.
    pub refused: Vec<(u32, u32)>,
    /// The items of a middleware that it took, in order.
    pub items: Vec<Arc<RemoteItem>>,
}

/// The use of the observations on this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    None,
    Recorded,
    Replayed,
}

struct Observed {
    is: Use,
    observations: Observations,
    /// The number of readings so far.
    read: usize,
    /// The receivers of the reservations so far.
    reserved: Vec<u32>,
}

thread_local! {
    static OBSERVED: RefCell<Observed> = const {
        RefCell::new(Observed {
            is: Use::None,
            observations: Observations {
                readings: Vec::new(),
                refused: Vec::new(),
                items: Vec::new(),
            },
            read: 0,
            reserved: Vec::new(),
        })
    };
}

impl Observed {
    fn begin(&mut self, is: Use) {
        (self.is, self.read) = (is, 0);
        self.reserved.clear();
    }
}

/// Records observations on this thread, until [`end_record`].
#[inline]
pub fn record() {
    OBSERVED.with_borrow_mut(|observed| {
        observed.observations.readings.clear();
        observed.observations.refused.clear();
        observed.observations.items.clear();
        observed.begin(Use::Recorded);
    });
}

/// Ends [`record`]; calls `take` with the observations.
#[inline]
pub fn end_record(take: impl FnOnce(&Observations)) {
    OBSERVED.with_borrow_mut(|observed| {
        observed.is = Use::None;
        take(&observed.observations);
    });
}

/// Has `observations` be observed on this thread, until [`end_replay`].
pub fn replay(observations: &Observations) {
    OBSERVED.with_borrow_mut(|observed| {
        observed.observations.clone_from(observations);
        observed.begin(Use::Replayed);
    });
}

/// Ends [`replay`]; returns the number of readings of the clock.
pub fn end_replay() -> usize {
    OBSERVED.with_borrow_mut(|observed| {
        observed.is = Use::None;
        observed.read
    })
}

/// The first item of the last [`replay`] that was not taken.
pub fn untaken() -> Option<Arc<RemoteItem>> {
    OBSERVED.with_borrow(|observed| observed.observations.items.first().cloned())
}

/// Adds the item that `make` copies, if this thread is recorded: for a middleware, when an item was
/// taken.
#[inline]
pub fn note_item(make: impl FnOnce() -> RemoteItem) {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::Recorded {
            observed.observations.items.push(Arc::new(make()));
        }
    });
}

/// Hands the items that were noted so far to `take`.
#[inline]
pub fn take_items(take: impl FnMut(Arc<RemoteItem>)) {
    OBSERVED.with_borrow_mut(|observed| observed.observations.items.drain(..).for_each(take));
}

/// Withdraws the item that was noted last: it is handled later, or never.
pub(crate) fn withdraw_item() -> Option<Arc<RemoteItem>> {
    OBSERVED.with_borrow_mut(|observed| match observed.is {
        Use::Recorded => observed.observations.items.pop(),
        Use::None | Use::Replayed => None,
    })
}

/// Adds an item that was withdrawn.
pub(crate) fn note_again(item: Option<Arc<RemoteItem>>) {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::Recorded {
            observed.observations.items.extend(item);
        }
    });
}

/// The next item of a replay, if it is one of `channel`: for the middleware of a replay.
pub fn next_item(channel: &RemoteChannel) -> Option<Arc<RemoteItem>> {
    OBSERVED.with_borrow_mut(|observed| {
        let items = &mut observed.observations.items;
        let is_next = observed.is == Use::Replayed
            && items.first().is_some_and(|item| channel.fits(&item.channel));
        is_next.then(|| items.remove(0))
    })
}

/// Whether a middleware may have an item: in a replay only where the record has one.
pub(crate) fn may_have_item() -> bool {
    OBSERVED.with_borrow(|observed| {
        observed.is != Use::Replayed || !observed.observations.items.is_empty()
    })
}

/// Adds a reading of this thread, if it is recorded.
#[inline]
pub fn note(reading: u64) {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::Recorded {
            observed.observations.readings.push(reading);
        }
    });
}

/// The next reading of a replay; after the last one, that once more.
pub(crate) fn next() -> Option<u64> {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is != Use::Replayed {
            return None;
        }
        let readings = &observed.observations.readings;
        let reading = readings.get(observed.read).or(readings.last()).copied();
        observed.read += 1;
        reading
    })
}

/// Reads a value that other threads write, or takes it from the record.
pub(crate) fn reading(read: impl FnOnce() -> u64) -> u64 {
    next().unwrap_or_else(|| {
        let reading = read();
        note(reading);
        reading
    })
}

/// Takes one of the `permits` of a receiver, or does as in the record: a place may then be given
/// twice, because the record has another order of its release.
pub(crate) fn reserve(receiver: u32, permits: &Permits) -> bool {
    let is_free = permits.try_acquire();
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::None {
            return is_free;
        }
        let number = observed.reserved.iter().filter(|other| **other == receiver).count() as u32;
        observed.reserved.push(receiver);
        let refused = &mut observed.observations.refused;
        if observed.is == Use::Recorded {
            if !is_free {
                refused.push((receiver, number));
            }
            return is_free;
        }
        let is_refused = refused.contains(&(receiver, number));
        if is_refused && is_free {
            permits.release();
        }
        !is_refused
    })
}
