//! Entries of a flight record: a few for each event, of 40 bytes each.

use ringspin_executor::{CallbackId, EventId, SourceId, Time};

/// The kind of an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EntryKind {
    /// A callback begins for a message, a request or a response.
    Message = 0,
    /// A callback begins for a timer, which was due at `extra`.
    Timer = 1,
    /// A callback begins for another event.
    Other = 2,
    /// An event was handled without a callback; a timer, if `extra` is not zero, was due then.
    Skipped = 3,
    /// Reservation `extra` of the running callback found no place in the queue of this one.
    Refused = 4,
    /// The running callback has read `extra`: a time in nanoseconds, or a count.
    Read = 5,
    /// The running callback has returned; `extra` is the digest of the values that it showed, if
    /// `sequence` is one.
    Finished = 6,
    /// A spin of the executor has ended.
    Spun = 7,
    /// The running callback, or its event, has taken item `extra` of this log from the middleware;
    /// `u64::MAX` if there was no room for it: the replay ends here.
    Item = 8,
}

impl EntryKind {
    const ALL: [Self; 9] = [
        Self::Message,
        Self::Timer,
        Self::Other,
        Self::Skipped,
        Self::Refused,
        Self::Read,
        Self::Finished,
        Self::Spun,
        Self::Item,
    ];
}

/// The bits of [`Entry::what`] that hold the callback.
const CALLBACK_BITS: u32 = 28;
const CALLBACK_MASK: u32 = (1 << CALLBACK_BITS) - 1;

/// One entry of a flight record. It is plain numbers, so that any tool reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Nanoseconds of the real clock: the order among all workers.
    pub order: u64,
    /// Nanoseconds of the executor's time, which may be that of a `/clock`.
    pub time: u64,
    /// The number of the event within its source.
    pub sequence: u64,
    /// See [`EntryKind`].
    pub extra: u64,
    /// The source of the event; `u32::MAX` for none.
    pub source: u32,
    /// The callback in the lower 28 bits, the [kind](Self::kind) in the upper 4.
    pub what: u32,
}

impl Entry {
    pub(crate) fn new(kind: EntryKind, callback: CallbackId, event: EventId, time: Time) -> Self {
        let what = (kind as u32) << CALLBACK_BITS | callback.0 & CALLBACK_MASK;
        let EventId { source: SourceId(source), sequence } = event;
        let time = time.as_nanos();
        Self { order: time, time, sequence, extra: 0, source, what }
    }

    /// The kind; of a number that is none, [`Spun`](EntryKind::Spun).
    pub fn kind(&self) -> EntryKind {
        let kind = EntryKind::ALL.get((self.what >> CALLBACK_BITS) as usize);
        kind.copied().unwrap_or(EntryKind::Spun)
    }

    /// The callback.
    pub fn callback(&self) -> CallbackId {
        CallbackId(self.what & CALLBACK_MASK)
    }

    /// The event.
    pub fn event(&self) -> EventId {
        EventId { source: SourceId(self.source), sequence: self.sequence }
    }
}
